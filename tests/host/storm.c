/* storm.c - a traced program that makes more than can be written, and says how much memory that took, one NAME VALUE a
 * line.
 *
 *	host_storm CAPTURE|- KINDS...
 *
 * With "-" it is not traced, and shows what it needs itself.
 *
 * Kinds, all at once: "ranges", two threads that make as many as they can; "graphs", one that launches a graph of 1,000
 * kernels again and again; "threads", 2,000 that each leave 20 ranges with notes open and make some more; "names", 30,000
 * of 500 bytes. The tracer's writer runs only when nothing else does, on the same processor: it gets next to no turn. */
#include "tests/host/host.h"
#include "tests/standin/standin.h"
#include "tests/support/process.h"

#include "tracer/vptrace.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS = 1, CROWD = 2000, NODES = 1000 };

static int traced;
static atomic_int over;
static atomic_ulong made; /* ranges and marks */
static pthread_barrier_t gate;

/* Resets the peak of resident memory. */
static int forget_peak(void)
{
	FILE *f = fopen("/proc/self/clear_refs", "w");
	int failed = !f || fputs("5", f) < 0;

	return (f && fclose(f)) || failed;
}

static void schedule_writer(int policy)
{
	const struct sched_param none = {0};
	cpu_set_t one;
	pid_t writer = 0;

	if (!traced)
		return;
	/* A new thread has its name once it has had its first turn. */
	while (vpt_process_threads("vptrace-writer", &writer, 1) != 1)
		usleep(1000);
	sched_getaffinity(0, sizeof(one), &one);
	HOST_CHECK(sched_setaffinity(writer, sizeof(one), &one));
	sched_setscheduler(writer, policy, &none);
}

/* All threads made from here on, and the writer, run on one processor, the writer when that is idle. */
static void starve_the_writer(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	schedule_writer(SCHED_IDLE);
}

static void *ranges(void *arg)
{
	unsigned long count;

	(void)arg;
	for (count = 0; traced && !over; count++) {
		vptrace_range_push("storm");
		vptrace_range_pop();
	}
	atomic_fetch_add(&made, count);
	return NULL;
}

static void *graphs(void *arg)
{
	struct host_gpu gpu = host_open();
	cudaGraphExec_t exec;
	cudaStream_t stream;
	cudaGraph_t graph;
	int i;

	(void)arg;
	HOST_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	HOST_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (i = 0; i < NODES; i++)
		host_launch(gpu.gemm, 1000, stream);
	HOST_CHECK(cudaStreamEndCapture(stream, &graph));
	HOST_CHECK(cudaGraphInstantiate(&exec, graph, 0));
	while (!over)
		HOST_CHECK(cudaGraphLaunch(exec, stream));
	HOST_CHECK(cudaStreamSynchronize(stream));
	return NULL;
}

static void *one_of_many(void *arg)
{
	struct vptrace_note note = {VPTRACE_NOTE_STEP, 1, -1, -1, 500};
	int i;

	for (i = 0; traced && i < 20; i++)
		vptrace_note_push("open", &note);
	pthread_barrier_wait(&gate);
	for (i = 0; traced && i < 100; i++)
		vptrace_note_mark("mark", &note);
	if (traced)
		atomic_fetch_add(&made, 20 + 100);
	pthread_barrier_wait(&gate);
	(void)arg;
	return NULL;
}

static void *threads(void *arg)
{
	static pthread_t all[CROWD];
	pthread_attr_t attr;
	int i;

	(void)arg;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	pthread_barrier_init(&gate, NULL, CROWD);
	for (i = 0; i < CROWD; i++)
		HOST_CHECK(pthread_create(&all[i], &attr, one_of_many, NULL));
	for (i = 0; i < CROWD; i++)
		pthread_join(all[i], NULL);
	return NULL;
}

static void *names(void *arg)
{
	char text[501];
	int i;

	(void)arg;
	memset(text, 'n', 500);
	text[500] = 0;
	for (i = 0; traced && i < 30000; i++) {
		text[snprintf(text, sizeof(text), "%d", i)] = ' ';
		vptrace_mark(text);
	}
	if (traced)
		atomic_fetch_add(&made, 30000);
	return NULL;
}

static const struct {
	const char *name;
	void *(*run)(void *arg);
	int count;
} kinds[] = {
	{"ranges", ranges, 2}, {"graphs", graphs, 1}, {"threads", threads, 1}, {"names", names, 1}};

static void storm(int count, char **words)
{
	pthread_t all[16];
	size_t running = 0, k;
	int i, n;

	for (i = 0; i < count; i++)
		for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
			for (n = 0; !strcmp(words[i], kinds[k].name) && n < kinds[k].count; n++)
				HOST_CHECK(
					pthread_create(&all[running++], NULL, kinds[k].run, NULL));
	sleep(SECONDS);
	over = 1;
	for (k = 0; k < running; k++)
		pthread_join(all[k], NULL);
}

int main(int argc, char **argv)
{
	struct vptrace_options options = {.struct_bytes = sizeof(options)};
	struct vptrace_stats stats = {.struct_bytes = sizeof(stats)};
	struct standin_counts counts;
	long before;

	if (argc < 3)
		return 2;
	options.path = argv[1];
	host_open(); /* what the stand-in needs of its own */
	before = vpt_process_kib("VmRSS:");
	if (forget_peak())
		return 77;
	traced = strcmp(argv[1], "-") != 0;
	if (traced)
		HOST_CHECK(vptrace_start(&options));
	starve_the_writer();
	storm(argc - 2, argv + 2);
	schedule_writer(SCHED_OTHER);
	if (traced)
		printf("stop %d\n", vptrace_stop(&stats));
	printf("growth_kib %ld\nend_kib %ld\n", vpt_process_kib("VmHWM:") - before,
		vpt_process_kib("VmRSS:") - before);
	standin_counts(&counts);
	printf("made %lu\nreceived %llu\nwritten %llu\ndropped %llu\n", atomic_load(&made),
		(unsigned long long)stats.received, (unsigned long long)stats.written,
		(unsigned long long)stats.dropped);
	printf("cupti_records %llu\nfiltered %llu\ncupti_dropped %llu\nlost %llu\nrecords %llu\n",
		(unsigned long long)stats.cupti_records, (unsigned long long)stats.filtered,
		(unsigned long long)stats.cupti_dropped, (unsigned long long)counts.dropped,
		(unsigned long long)counts.records);
	return 0;
}
