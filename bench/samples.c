/* sampled_series.c - bytes per sample of Python stacks in a capture, and the time to intern one.
 *
 *	bench_samples [SECONDS [FILE]]          FILE: also write the capture of chunks of one second
 *
 * The stream is made up: two threads, 200 samples a second each, 300 distinct stacks of 40 frames, of
 * which those of one thread have their outer 20 to 39 in common. A thread stays in a stack for some
 * samples, then goes on in one that is near in the tree, as code in loops does. Times have the jitter
 * of a timer thread. The stream is written in chunks of one second, as the tracer flushes, and in
 * chunks as long as the format allows. */
#include "bench/bench.h"
#include "formats/capture_layout.h"
#include "formats/file/capture_writer.h"

#include <stdio.h>
#include <string.h>

enum { THREADS = 2, HERTZ = 200, STACKS = 300, DEPTH = 40, FUNCTIONS = 420, COMMON_LEAST = 20 };

struct stream {
	uint64_t state;                    /* of the random numbers */
	uint16_t functions[STACKS][DEPTH]; /* outermost first */
	uint8_t lines[STACKS][DEPTH];
	unsigned current[THREADS];
	char names[FUNCTIONS][32], files[FUNCTIONS][96];
	uint64_t intern_ns, samples;
};

static uint32_t below(struct stream *s, uint32_t limit)
{
	s->state = s->state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((s->state >> 33) % limit);
}

/* Each stack but the first of a thread has its outer frames from one before; the first frame that
 * differs is the same function at another line. Two of three frames are those through which modules
 * call each other, and the same everywhere. */
static void make_stacks(struct stream *s)
{
	unsigned i, d;

	for (i = 0; i < STACKS; i++) {
		unsigned from = i < THREADS ? 0 : i % THREADS + THREADS * below(s, i / THREADS);
		unsigned common = i < THREADS ? 0 : COMMON_LEAST + below(s, DEPTH - COMMON_LEAST);

		for (d = 0; d < DEPTH; d++) {
			s->functions[i][d] = s->functions[from][d];
			s->lines[i][d] = s->lines[from][d];
			if (d % 3)
				s->functions[i][d] = (uint16_t)(d % 3);
			else if (d > common || i < THREADS)
				s->functions[i][d] = (uint16_t)(3 + below(s, FUNCTIONS - 3));
			if (!(d % 3) && d >= common)
				s->lines[i][d] = (uint8_t)below(s, 12);
		}
	}
}

static void make_names(struct stream *s)
{
	static const char *const folders[] = {"/usr/lib/python3.11/site-packages/torch/nn/modules",
		"/usr/lib/python3.11/site-packages/diffusers/pipelines/wan",
		"/usr/lib/python3.11/site-packages/diffusers/models/transformers",
		"/home/user/wan"};
	unsigned f;

	for (f = 0; f < FUNCTIONS; f++) {
		snprintf(s->names[f], sizeof(s->names[f]), "%s_%u",
			f % 5 ? "forward_block" : "__call__", f);
		snprintf(
			s->files[f], sizeof(s->files[f]), "%s/module_%u.py", folders[f % 4], f / 6);
	}
}

static uint64_t intern(const struct stream *s, struct vpt_batch *b, unsigned which)
{
	uint64_t stack = 0;
	unsigned d;

	for (d = 0; d < DEPTH; d++) {
		unsigned f = s->functions[which][d];
		struct vpt_frame frame = {
			.function = vpt_batch_string(b, s->names[f], strlen(s->names[f])),
			.file = vpt_batch_string(b, s->files[f], strlen(s->files[f])),
			.line = 20 + f * 7u % 900 + s->lines[which][d]};

		stack = vpt_batch_stack(b, stack, vpt_batch_frame(b, &frame));
	}
	return stack;
}

/* Processor time of this thread, since a busy machine takes more. */
static uint64_t cpu_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void put_sample(struct stream *s, struct vpt_batch *b, unsigned thread, uint64_t time_ns)
{
	uint64_t begin = cpu_now_ns();
	unsigned *at = &s->current[thread];
	struct vpt_sample row = {.time_ns = time_ns + below(s, 90000)};

	if (!below(s, 3))
		*at = below(s, 4) ? (*at + THREADS * (1 + below(s, 3))) % STACKS
				  : thread + THREADS * below(s, STACKS / THREADS);
	row.stack = intern(s, b, *at);
	if (below(s, 4)) {
		row.state = VPT_THREADSTATE_RUNNING;
		row.cpu_us = 4300 + below(s, 700);
		row.wait_us = below(s, 5) ? 0 : below(s, 90);
	} else {
		row.state = VPT_THREADSTATE_SLEEPING;
		row.cpu_us = below(s, 3000);
	}
	vpt_batch_put(b, VPT_SAMPLE, thread + 1, &row);
	s->intern_ns += cpu_now_ns() - begin;
	s->samples++;
}

static int write_stream(
	struct stream *s, struct vpt_sink *sink, uint64_t seconds, uint64_t ticks_a_chunk)
{
	struct vpt_header header = {.t0_ns = 1000};
	uint64_t ticks = seconds * HERTZ, tick;
	struct vpt_writer *w = NULL;
	struct vpt_batch b;
	unsigned thread;
	int rc = vpt_writer_open(sink, &header, 0, &w, NULL);

	vpt_batch_init(&b);
	for (tick = 1; !rc && tick <= ticks; tick++) {
		for (thread = 0; thread < THREADS; thread++)
			put_sample(s, &b, thread, tick * (1000000000u / HERTZ));
		if (tick % ticks_a_chunk && tick < ticks && !vpt_batch_full(&b))
			continue;
		rc = vpt_writer_put(w, &b, NULL);
		vpt_batch_reset(&b);
	}
	vpt_writer_free(w);
	vpt_batch_free(&b);
	return rc;
}

static int measure(const char *what, uint64_t seconds, uint64_t ticks_a_chunk, const char *path)
{
	static struct stream s;
	struct vpt_err err = {0};
	struct vpt_sink counter = bench_counting_sink(), *file = NULL;
	int rc;

	s = (struct stream){.state = 7, .current = {0, 1}};
	make_names(&s);
	make_stacks(&s);
	if (path && vpt_sink_open(path, VPT_SINK_FORCE, &file, &err)) {
		fprintf(stderr, "bench_samples: %s\n", err.text);
		return 1;
	}
	rc = write_stream(&s, file ? file : &counter, seconds, ticks_a_chunk);
	printf("%-28s %10llu samples %10.2f bytes a sample %8.2f us to intern and put one\n", what,
		(unsigned long long)s.samples,
		(double)(file ? file : &counter)->written_bytes / (double)s.samples,
		(double)s.intern_ns / (double)s.samples / 1000);
	return file ? file->finish(file, !rc, &err) : rc;
}

int main(int argc, char **argv)
{
	uint64_t seconds = argc > 1 ? strtoull(argv[1], NULL, 10) : 600;

	return measure("chunks of one second", seconds, HERTZ, argc > 2 ? argv[2] : NULL) ||
	       measure("chunks as long as possible", seconds, UINT64_MAX, NULL);
}
