/* ending.c - a traced program that ends in one of many ways, with ranges open.
 *
 *	host_ending CAPTURE HOW
 *
 * HOW: return, exit, _exit, quick_exit, abort, segv, term, exec, exit-in-thread, pthread_exit,
 * fork, fork-before, dlclose, stop. A fork's child must leave the capture alone; its number of bytes
 * before and after is what the test looks at. One that is forked before the start has a capture of its
 * own, in which nothing of its parent is. */
#include "tests/host/host.h"

#include "tracer/vptrace.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct host_gpu gpu;

static void work(void)
{
	int i;

	for (i = 0; i < 100; i++)
		host_launch(gpu.gemm, 1000, NULL);
	HOST_CHECK(cudaDeviceSynchronize());
}

static void wait_a_moment(struct vptrace_stats *stats)
{
	vptrace_mark("waiting");
	usleep(1000);
	vptrace_statistics(stats);
}

/* Until what was done so far is in the file: CUPTI's buffers have come, and the chunk they went to is written. */
static void wait_for_chunk(void)
{
	struct vptrace_stats stats = {.struct_bytes = sizeof(stats)};
	uint64_t before;

	while (vptrace_status() == VPTRACE_RUNNING && stats.cupti_records < 200)
		wait_a_moment(&stats);
	before = stats.chunks;
	while (stats.chunks < before + 2)
		wait_a_moment(&stats);
}

static void end_return(void)
{
}

static void end_exit(void)
{
	exit(0);
}

static void end_exit_now(void)
{
	_exit(0);
}

static void end_quick(void)
{
	quick_exit(0);
}

static void end_abort(void)
{
	abort();
}

static void end_segv(void)
{
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
}

static void end_term(void)
{
	raise(SIGTERM);
}

static void end_exec(void)
{
	execl("/bin/true", "true", (char *)NULL);
}

static void *exit_thread(void *arg)
{
	(void)arg;
	vptrace_range_push("in the second thread");
	work();
	exit(0);
}

static void end_in_thread(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, exit_thread, NULL))
		pthread_join(thread, NULL);
}

static void *last_thread(void *arg)
{
	(void)arg;
	usleep(20000);
	work();
	return NULL;
}

static void end_pthread_exit(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, last_thread, NULL))
		exit(9);
	pthread_detach(thread);
	pthread_exit(NULL);
}

static void end_fork(void)
{
	int status, i;

	for (i = 0; i < 20; i++) {
		pid_t child = fork();

		if (!child) {
			vptrace_range_push("in the child");
			vptrace_range_pop();
			if (vptrace_start(NULL) != VPTRACE_EFORKED ||
				vptrace_stop(NULL) != VPTRACE_EFORKED ||
				vptrace_status() != VPTRACE_INERT)
				_exit(1);
			exit(0);
		}
		if (child < 0 || waitpid(child, &status, 0) != child || status)
			exit(9);
	}
	work();
	exit(0);
}

static pthread_barrier_t opened;

static void *hold_range(void *unused)
{
	vptrace_range_push("of the parent's thread");
	pthread_barrier_wait(&opened);
	pause();
	return unused;
}

/* Returns in the child alone, which ends the ranges that only its parent has open. */
static void fork_before(void)
{
	pthread_t thread;
	uint64_t id;
	int status;
	pid_t child;

	pthread_barrier_init(&opened, NULL, 2);
	if (pthread_create(&thread, NULL, hold_range, NULL))
		exit(9);
	pthread_barrier_wait(&opened);
	id = vptrace_range_start("of the parent");
	vptrace_range_push("of the parent");
	vptrace_range_start("of the parent");
	child = fork();
	if (!child) {
		vptrace_range_end(id);
		vptrace_range_pop();
		vptrace_range_pop();
		return;
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		exit(9);
	exit(vptrace_status() == VPTRACE_STOPPED ? WEXITSTATUS(status) : 9);
}

static void end_dlclose(void)
{
	void *self = dlopen(VPTRACE_SONAME, RTLD_NOW | RTLD_NOLOAD);

	if (!self)
		exit(9);
	dlclose(self);
	dlclose(self);
	vptrace_range_push("after dlclose");
	vptrace_range_pop();
	work();
}

static void end_stop(void)
{
	struct vptrace_stats stats = {.struct_bytes = sizeof(stats)};
	int rc = vptrace_stop(&stats);

	if (rc || stats.received != stats.written + stats.dropped ||
		vptrace_stop(NULL) != VPTRACE_EIDLE)
		exit(9);
}

static const struct {
	const char *name;
	void (*end)(void);
} ends[] = {
	{"return", end_return},
	{"exit", end_exit},
	{"_exit", end_exit_now},
	{"quick_exit", end_quick},
	{"abort", end_abort},
	{"segv", end_segv},
	{"term", end_term},
	{"exec", end_exec},
	{"exit-in-thread", end_in_thread},
	{"pthread_exit", end_pthread_exit},
	{"fork", end_fork},
	{"fork-before", end_return},
	{"dlclose", end_dlclose},
	{"stop", end_stop},
};

int main(int argc, char **argv)
{
	struct vptrace_options options = {.struct_bytes = sizeof(options), .flush_interval_ms = 10};
	size_t i;

	if (argc != 3)
		return 2;
	options.path = argv[1];
	/* CUPTI's own thread would keep the process alive, with or without a tracer. */
	if (!strcmp(argv[2], "pthread_exit"))
		options.profile = VPTRACE_PROFILE_NONE;
	if (!strcmp(argv[2], "fork-before"))
		fork_before();
	if (vptrace_start(&options)) {
		fprintf(stderr, "%s\n", vptrace_last_error());
		return 9;
	}
	gpu = host_open();
	vptrace_range_push("request");
	vptrace_range_push("block 0");
	work();
	wait_for_chunk();
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!strcmp(argv[2], ends[i].name)) {
			ends[i].end();
			return 0;
		}
	fprintf(stderr, "HOW: '%s' is not one of them\n", argv[2]);
	return 2;
}
