/* drain.c - hosts that stop a capture, or end, while the GPU has work: one a case.
 *
 *	host_drain CAPTURE CASE
 *
 * Says how many kernels were launched, how long the stop took, what it returned and what it counted. Ends with 1 where
 * the host found that the tracer did something to its work. */
#include "tests/host/host.h"

#include "tracer/vptrace.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MS       UINT64_C(1000000)
#define FOR_EVER (UINT64_C(3600000) * MS)

enum { MANY = 200 };

static struct vptrace_options options = {
	.struct_bytes = sizeof(options), .flush_interval_ms = 1000};
static struct vptrace_stats stats = {.struct_bytes = sizeof(stats)};
static struct host_gpu gpu;
static unsigned launched;

static void start(void)
{
	int rc = vptrace_start(&options);

	if (!rc)
		return;
	printf("start: %s\n", vptrace_last_error());
	exit(1);
}

static void launch(uint64_t duration_ns, cudaStream_t stream)
{
	host_launch(gpu.gemm, duration_ns, stream);
	launched++;
}

static void launch_many(cudaStream_t stream)
{
	int i;

	for (i = 0; i < MANY; i++)
		launch(MS, stream);
}

static cudaStream_t new_stream(unsigned flags)
{
	cudaStream_t stream;

	HOST_CHECK(cudaStreamCreateWithFlags(&stream, flags));
	return stream;
}

static void stop(void)
{
	struct timespec a, b;
	int rc;

	clock_gettime(CLOCK_MONOTONIC, &a);
	rc = vptrace_stop(&stats);
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("stop %d\nms %lld\nunfinished %llu\ninvalid %llu\nkept %llu\n", rc,
		((long long)b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000,
		(unsigned long long)stats.unfinished, (unsigned long long)stats.invalid,
		(unsigned long long)stats.buffers_kept);
	if (rc)
		printf("%s\n", vptrace_last_error());
}

/* ---- the cases ---- */

static void queued(void)
{
	start();
	launch_many(new_stream(cudaStreamNonBlocking));
	stop();
}

static void default_stream(void)
{
	start();
	launch_many(NULL);
	stop();
}

static void *stop_in_thread(void *arg)
{
	stop();
	return arg;
}

/* One from before the start, one since; the thread that stops has none. */
static void two_contexts(void)
{
	pthread_t thread;

	HOST_CHECK(cudaSetDevice(0));
	HOST_CHECK(cudaDeviceSynchronize());
	start();
	launch_many(new_stream(cudaStreamNonBlocking));
	HOST_CHECK(cudaSetDevice(1));
	launch_many(new_stream(cudaStreamNonBlocking));
	if (!pthread_create(&thread, NULL, stop_in_thread, NULL))
		pthread_join(thread, NULL);
}

static void *launch_in_thread(void *arg)
{
	int i;

	for (i = 0; i < MANY; i++)
		host_launch(gpu.attention, MS, arg);
	return NULL;
}

static void two_threads(void)
{
	pthread_t a, b;

	start();
	if (pthread_create(&a, NULL, launch_in_thread, new_stream(cudaStreamNonBlocking)) ||
		pthread_create(&b, NULL, launch_in_thread, new_stream(0)))
		exit(9);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	launched += 2 * MANY;
	stop();
}

static void endless(void)
{
	cudaStream_t stream = new_stream(cudaStreamNonBlocking);

	start();
	launch(FOR_EVER, new_stream(cudaStreamNonBlocking));
	launch(MS, stream);
	stop();
}

/* While a thread of the tracer still waits for the first one's work. */
static void endless_then_another(void)
{
	endless();
	setenv("VPTRACE_STOP_MS", "30000", 1); /* this one ends, if late on a busy machine */
	options.path = getenv("SECOND");
	launched = 0;
	start();
	launch_many(new_stream(cudaStreamNonBlocking));
	stop();
}

static atomic_int enough;

static void *launch_on(void *arg)
{
	while (!atomic_load(&enough)) {
		host_launch(gpu.attention, 2 * MS, arg);
		usleep(1000);
	}
	return NULL;
}

/* Another thread keeps its stream busy all the time. */
static void launched_on(void)
{
	pthread_t thread;

	start();
	if (pthread_create(&thread, NULL, launch_on, new_stream(cudaStreamNonBlocking)))
		exit(9);
	usleep(50000);
	launch_many(new_stream(cudaStreamNonBlocking));
	stop();
	atomic_store(&enough, 1);
	pthread_join(thread, NULL);
}

/* The stop comes while a stream is captured: the graph must be what it would have been. */
static void end_capture(cudaStream_t stream)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	size_t nodes = 0;

	HOST_CHECK(cudaStreamEndCapture(stream, &graph));
	HOST_CHECK(cudaGraphGetNodes(graph, NULL, &nodes));
	HOST_CHECK(cudaGraphInstantiate(&exec, graph, 0));
	HOST_CHECK(cudaGraphLaunch(exec, stream));
	HOST_CHECK(cudaStreamSynchronize(stream));
	if (nodes != 2)
		exit(1);
}

static void captured_on(unsigned flags, int before)
{
	cudaStream_t stream = new_stream(flags);

	gpu = host_open();
	if (!before)
		start();
	HOST_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	if (before)
		start();
	host_launch(gpu.attention, MS, stream);
	launch_many(new_stream(cudaStreamNonBlocking));
	stop();
	host_launch(gpu.attention, MS, stream);
	end_capture(stream);
}

static void captured(void)
{
	captured_on(cudaStreamNonBlocking, 0);
}

static void captured_blocking(void)
{
	captured_on(0, 0);
}

static void captured_before(void)
{
	captured_on(0, 1);
}

/* Captures that have ended, or that could not begin, are not in the way. */
static void captured_and_ended(void)
{
	cudaStream_t stream = new_stream(cudaStreamNonBlocking);

	start();
	HOST_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	host_launch(gpu.attention, MS, stream);
	host_launch(gpu.attention, MS, stream);
	if (!cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal))
		exit(1);
	end_capture(stream);
	launched += 2;
	launch_many(stream);
	stop();
}

static atomic_int fact = 1;

static void call_the_tracer(void *arg)
{
	(void)arg;
	atomic_store(&fact, vptrace_metadata("from", "a host function"));
}

/* Work that waits for a function that waits for the tracer. */
static void host_function(void)
{
	cudaStream_t stream = new_stream(cudaStreamNonBlocking);

	start();
	launch(50 * MS, stream);
	HOST_CHECK(cudaLaunchHostFunc(stream, call_the_tracer, NULL));
	launch(50 * MS, stream);
	stop();
	printf("fact %d\n", atomic_load(&fact));
}

static void exits(void)
{
	start();
	launch_many(new_stream(cudaStreamNonBlocking));
}

static void exits_endless(void)
{
	start();
	launch(FOR_EVER, new_stream(cudaStreamNonBlocking));
}

static void *exit_in_thread(void *arg)
{
	usleep(100000);
	puts("exits");
	fflush(stdout);
	exit(0);
	return arg;
}

/* Another thread ends the process in the middle of a stop's wait. */
static void exits_while_it_waits(void)
{
	pthread_t thread;

	start();
	launch(FOR_EVER, new_stream(cudaStreamNonBlocking));
	if (pthread_create(&thread, NULL, exit_in_thread, NULL))
		exit(9);
	vptrace_stop(NULL);
	pthread_join(thread, NULL);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{"queued", queued},
	{"default-stream", default_stream},
	{"two-contexts", two_contexts},
	{"two-threads", two_threads},
	{"endless", endless},
	{"endless-then-another", endless_then_another},
	{"launched-on", launched_on},
	{"captured", captured},
	{"captured-blocking", captured_blocking},
	{"captured-before", captured_before},
	{"captured-and-ended", captured_and_ended},
	{"host-function", host_function},
	{"exits", exits},
	{"exits-endless", exits_endless},
	{"exits-while-it-waits", exits_while_it_waits},
};

int main(int argc, char **argv)
{
	size_t i;

	if (argc != 3)
		return 2;
	options.path = argv[1];
	gpu = host_open();
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(argv[2], cases[i].name)) {
			cases[i].run();
			printf("launched %u\n", launched);
			return 0;
		}
	fprintf(stderr, "CASE: '%s' is not one of them\n", argv[2]);
	return 2;
}
