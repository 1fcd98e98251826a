/* windows.c - a program with everything that can open and close a capture's window.
 *
 *	host_windows run [linger]   ten iterations, always the same on the stand-in's clock; prints each
 *	                            window's name, its begin and its end. linger: waits until the capture
 *	                            has ended by itself, and prints what the library says then
 *	host_windows many           launches until the capture has ended by itself, and prints the same
 *	host_windows blocks         thousands of blocks, with ranges of three kinds and two threads
 *	host_windows cycles         a thousand windows of cudaProfilerStart and Stop; prints what the
 *	                            process had after a hundred and at the end
 *	host_windows captures       the same with a thousand captures
 *
 * Iterations 2 to 3 and 6 lie between cudaProfilerStart and Stop, 7 between the driver's; "inside" is a
 * range in 3 and 5, which nests itself in 5; "process" is a range of the process from 4 to 6; each
 * iteration is a step, by a note or, with VPT_STEPS=calls, by vptrace_step(); with VPT_UNIT=request or block it is that
 * instead. In iteration 2 the program calls vptrace_start(), or with VPT_API=resume vptrace_resume(); in 8 it pauses, in 9 it
 * resumes. With VPT_SLOW each iteration takes 20 ms of real time, so that the tracer's threads run beside them. */
#include "tests/host/host.h"

#include "tests/standin/standin.h"
#include "tests/support/process.h"
#include "tracer/vptrace.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { ITERATIONS = 10, CYCLES = 1000, EARLY = 100 };
enum { RECORDS_AHEAD = 20000, RECORDS_A_LAUNCH = 2 };

static struct host_gpu gpu;
static uint64_t began[8];

static const char *const names[] = {
	"profiler", "driver", "inside", "process", "step", "api", "paused", "everything"};
enum { PROFILER, DRIVER, INSIDE, PROCESS, STEP, API, PAUSE, EVERYTHING };

static void begin(int window)
{
	began[window] = standin_now();
}

static void end(int window)
{
	printf("%s %llu %llu\n", names[window], (unsigned long long)began[window],
		(unsigned long long)standin_now());
}

static void work(int i)
{
	host_launch(gpu.gemm, 1000 + (uint64_t)i, NULL);
	vptrace_mark("between");
	standin_work(20000);
	host_launch(gpu.attention, 2000 + (uint64_t)i, NULL);
	if (getenv("VPT_QUEUES")) /* the GPU is still busy when windows open and close */
		host_launch(gpu.attention, 50000, NULL);
	else
		HOST_CHECK(cudaDeviceSynchronize());
	standin_work(5000);
}

static void inside(int i)
{
	begin(INSIDE);
	vptrace_range_push("inside");
	work(i);
	if (i == 5) {
		vptrace_range_push("inside");
		work(i);
		vptrace_range_pop();
		work(i);
	}
	vptrace_range_pop();
	end(INSIDE);
}

static void start_by_api(void)
{
	const char *how = getenv("VPT_API");

	begin(API);
	if (how && !strcmp(how, "resume"))
		vptrace_resume();
	else if (how)
		vptrace_start(NULL);
}

/* What comes before the iteration's step. */
static void before(int i)
{
	if (i == 2)
		start_by_api();
	if (i == 2 || i == 6) {
		HOST_CHECK(cudaProfilerStart());
		begin(PROFILER);
	}
	if (i == 7) {
		HOST_CHECK(cuProfilerStart());
		begin(DRIVER);
	}
	if (i == 8 && getenv("VPT_PAUSES")) {
		begin(PAUSE);
		vptrace_pause();
	}
	if (i == 9 && getenv("VPT_PAUSES")) {
		vptrace_resume();
		end(PAUSE);
	}
}

static void after(int i)
{
	if (i == 3 || i == 6) {
		end(PROFILER);
		HOST_CHECK(cudaProfilerStop());
	}
	if (i == 7) {
		end(DRIVER);
		HOST_CHECK(cuProfilerStop());
	}
	if (getenv("VPT_SLOW"))
		usleep(20000);
	standin_work(3000);
}

static int64_t unit_kind(void)
{
	const char *unit = getenv("VPT_UNIT");

	if (!unit)
		return VPTRACE_NOTE_STEP;
	return strcmp(unit, "block") ? VPTRACE_NOTE_REQUEST : VPTRACE_NOTE_BLOCK;
}

static void iterations(void)
{
	const char *steps = getenv("VPT_STEPS");
	uint64_t process = 0;
	int i;

	for (i = 0; i < ITERATIONS; i++) {
		struct vptrace_note note = {unit_kind(), i, -1, -1, -1};

		before(i);
		begin(STEP);
		if (steps)
			vptrace_step();
		else
			vptrace_note_push("denoise step", &note);
		if (i == 4) {
			begin(PROCESS);
			process = vptrace_range_start("process");
		}
		if (i == 3 || i == 5)
			inside(i);
		else
			work(i);
		if (i == 6) {
			vptrace_range_end(process);
			end(PROCESS);
		}
		if (!steps) {
			vptrace_range_pop();
			end(STEP);
		}
		after(i);
		if (steps)
			end(STEP);
	}
	end(API);
}

/* Real time: the simulated clock stands still. */
static void linger(void)
{
	struct vptrace_stats stats = {.struct_bytes = sizeof(stats)};
	int i;

	for (i = 0; i < 10000 && vptrace_status() != VPTRACE_STOPPED; i++)
		usleep(1000);
	printf("status %d\n", (int)vptrace_status());
	printf("pause %d\n", vptrace_pause());
	printf("stop %d\n", vptrace_stop(&stats));
	printf("written %llu of %llu\n", (unsigned long long)stats.written,
		(unsigned long long)stats.received);
	printf("again %d\n", vptrace_stop(NULL));
}

/* Lets the writer come so near: the buffers that this thread fills. What is launched further ahead of it finds no room in a file
 * that it then finds full. */
static void wait_for_writer(uint64_t launched)
{
	struct vptrace_stats stats = {.struct_bytes = sizeof(stats)};

	do {
		usleep(1000);
		vptrace_statistics(&stats);
	} while (vptrace_status() == VPTRACE_RUNNING &&
		 stats.received + RECORDS_AHEAD < RECORDS_A_LAUNCH * launched);
}

/* More than a few megabytes of records that hardly compress, until the capture has ended. */
static void many(void)
{
	uint64_t random = 88172645463325252u;
	int i;

	for (i = 0; i < 4000000 && vptrace_status() == VPTRACE_RUNNING; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		host_launch(gpu.gemm, 1000 + random % 1000003, NULL);
		standin_work(random >> 44);
		if (i % 1000)
			continue;
		HOST_CHECK(cudaDeviceSynchronize());
		wait_for_writer((uint64_t)i);
	}
}

/* ---- blocks ---- */

enum { BLOCKS = 6000, BLOCK_STEPS = 4, STEP_LAUNCHES = 3 };

static void *notes(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < BLOCKS; i++) {
		uint64_t id = vptrace_range_start("asset");

		vptrace_range_push("load");
		vptrace_range_push("decode");
		vptrace_range_pop();
		vptrace_range_end(id);
		vptrace_range_pop();
	}
	return NULL;
}

static void blocks(void)
{
	pthread_t thread;
	int i, step, launch;

	if (pthread_create(&thread, NULL, notes, NULL))
		exit(9);
	for (i = 0; i < BLOCKS; i++) {
		struct vptrace_note block = {VPTRACE_NOTE_BLOCK, i, 9, 3, -1};

		vptrace_note_push("block", &block);
		for (step = 0; step < BLOCK_STEPS; step++) {
			struct vptrace_note note = {VPTRACE_NOTE_STEP, step, -1, -1, 250 * step};

			vptrace_note_push("step", &note);
			for (launch = 0; launch < STEP_LAUNCHES; launch++)
				host_launch(gpu.gemm, 20000, NULL);
			standin_work(5000);
			vptrace_range_pop();
		}
		vptrace_range_pop();
		if (i % 100 == 0)
			usleep(1000); /* the writer must keep up */
	}
	pthread_join(thread, NULL);
	HOST_CHECK(cudaDeviceSynchronize());
}

/* ---- cycles ---- */

static void print_process(const char *when)
{
	printf("%s %ld KiB, %ld threads, %ld descriptors\n", when, vpt_process_kib("VmRSS:"),
		vpt_process_threads(NULL, NULL, 0), vpt_process_descriptors());
}

/* Two of the flusher's rounds; then threads that are ending on a busy machine have time to. */
static void settle(void)
{
	static long most = 1000;
	int i;

	usleep(1500000);
	for (i = 0; i < 10000 && vpt_process_threads(NULL, NULL, 0) > most; i++)
		usleep(1000);
	most = vpt_process_threads(NULL, NULL, 0);
}

static void cycle_windows(void)
{
	int i;

	for (i = 0; i < CYCLES; i++) {
		host_launch(gpu.gemm, 1000, NULL);
		HOST_CHECK(cudaDeviceSynchronize());
		HOST_CHECK(cudaProfilerStart());
		host_launch(gpu.attention, 1000, NULL);
		HOST_CHECK(cudaDeviceSynchronize());
		HOST_CHECK(cudaProfilerStop());
		if (i == EARLY || i == CYCLES - 1) {
			settle();
			print_process(i == EARLY ? "early" : "late");
		}
	}
}

static void cycle_captures(void)
{
	struct vptrace_options options = {
		.struct_bytes = sizeof(options), .path = "cycle.zst", .overwrite = 1};
	int i;

	for (i = 0; i < CYCLES; i++) {
		if (vptrace_start(&options))
			exit(9);
		host_launch(gpu.attention, 1000, NULL);
		HOST_CHECK(cudaDeviceSynchronize());
		if (vptrace_stop(NULL))
			exit(9);
		if (i == EARLY || i == CYCLES - 1) {
			settle();
			print_process(i == EARLY ? "early" : "late");
		}
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "run";

	gpu = host_open();
	if (!strcmp(how, "cycles")) {
		cycle_windows();
		return 0;
	}
	if (!strcmp(how, "many")) {
		many();
		linger();
		return 0;
	}
	if (!strcmp(how, "blocks")) {
		blocks();
		return 0;
	}
	if (!strcmp(how, "captures")) {
		cycle_captures();
		return 0;
	}
	begin(EVERYTHING);
	standin_work(1000);
	vptrace_range_push("outer");
	iterations();
	vptrace_range_pop();
	end(EVERYTHING);
	HOST_CHECK(cudaDeviceSynchronize());
	if (argc > 2)
		linger();
	return 0;
}
