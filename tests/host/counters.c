/* counters.c - a traced program in whose pauses the sampler takes its rounds.
 *
 *	host_counters CAPTURE HOW SECONDS
 *
 * HOW video: a request of one stage "encode" of a second with 1 MiB of memory, blocks of two seconds, and a stage
 * "decode" of a second, up to SECONDS of virtual time; the GPU is busy all of it. After each second
 * the program waits for a round of NVML, so that each has a whole second. HOW blind: the same
 * without these waits. HOW host: the same, but it waits once, for samples of the host. HOW idle: it does nothing with a GPU,
 * for SECONDS tenths of a real second. It prints NAME VALUE lines. */
#include "tests/host/host.h"
#include "tests/standin/standin.h"

#include "tracer/vptrace.h"

#include <string.h>
#include <time.h>

enum { SECOND_NS = 1000000000, LATENTS = 3, FRAMES = 12, PATIENCE_MS = 5000 };

static int waits; /* for rounds of NVML */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void sleep_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static uint64_t rounds(void)
{
	struct standin_counts counts;

	standin_counts(&counts);
	return counts.gpu_rounds;
}

/* Waits for a round that begins after the call: the first to end may have begun before it. Where
 * none ends once, because NVML hangs, none will. */
static void wait_for_round(void)
{
	uint64_t before = rounds();
	int i;

	for (i = 0; waits && rounds() < before + 2; i++) {
		sleep_ms(1);
		waits = i < PATIENCE_MS;
	}
}

/* Which the capture has with its first records. */
static void wait_for_samples(void)
{
	struct vptrace_stats stats = {.struct_bytes = sizeof(stats)};
	int i;

	for (i = 0; i < PATIENCE_MS && !stats.samples; i++) {
		sleep_ms(1);
		vptrace_statistics(&stats);
	}
}

static void second(const struct host_gpu *gpu)
{
	host_launch(gpu->gemm, SECOND_NS, NULL);
	HOST_CHECK(cudaDeviceSynchronize());
	wait_for_round();
}

static void run_video(long seconds, int needs_samples)
{
	struct vptrace_note request = {VPTRACE_NOTE_REQUEST, 0, -1, -1, -1};
	struct vptrace_note stage = {VPTRACE_NOTE_STAGE, -1, -1, -1, -1};
	struct vptrace_note block = {VPTRACE_NOTE_BLOCK, 0, FRAMES, LATENTS, -1};
	struct host_gpu gpu = host_open();
	long done = 1;
	void *memory;

	wait_for_round();
	vptrace_note_push("video", &request);
	vptrace_note_push("encode", &stage);
	HOST_CHECK(cudaMalloc(&memory, 1 << 20));
	second(&gpu);
	vptrace_range_pop();
	for (; done + 3 <= seconds; done += 2, block.index++) {
		vptrace_note_push("block", &block);
		second(&gpu);
		second(&gpu);
		vptrace_range_pop();
	}
	vptrace_note_push("decode", &stage);
	second(&gpu);
	vptrace_range_pop();
	if (needs_samples)
		wait_for_samples();
	vptrace_range_pop();
}

int main(int argc, char **argv)
{
	struct vptrace_options options = {.struct_bytes = sizeof(options)};
	struct vptrace_stats stats = {.struct_bytes = sizeof(stats)};
	uint64_t from_ns;
	long seconds;
	int rc;

	if (argc != 4)
		return 2;
	options.path = argv[1];
	seconds = host_number(argv[3], "SECONDS");
	rc = vptrace_start(&options);
	printf("start %d\n", rc);
	waits = !strcmp(argv[2], "video");
	if (waits || !strcmp(argv[2], "blind") || !strcmp(argv[2], "host"))
		run_video(seconds, !strcmp(argv[2], "host"));
	else
		sleep_ms(100 * seconds);
	from_ns = now_ns();
	rc = vptrace_stop(&stats);
	printf("stop %d\nstop_ms %llu\nsamples %llu\n", rc,
		(unsigned long long)((now_ns() - from_ns) / 1000000),
		(unsigned long long)stats.samples);
	printf("received %llu\nwritten %llu\ndropped %llu\ncupti_records %llu\nfiltered %llu\n",
		(unsigned long long)stats.received, (unsigned long long)stats.written,
		(unsigned long long)stats.dropped, (unsigned long long)stats.cupti_records,
		(unsigned long long)stats.filtered);
	return 0;
}
