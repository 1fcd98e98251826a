/* small.c - a program with threads whose stacks are as small as they may be, 16 KiB.
 *
 *	host_small FILE WHERE   a capture of the work of such threads, in which every function of the library is called. WHERE is
 *	                        "stop": the main thread stops; "exit": such a thread calls exit() */
#include "tests/host/host.h"
#include "tracer/vptrace.h"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define PUSH(name)      nvtxRangePushA(name)
#define PUSH_WIDE(name) nvtxRangePushW(name)
#define POP()           nvtxRangePop()
#else
#define PUSH(name)      vptrace_range_push(name)
#define PUSH_WIDE(name) vptrace_range_push("wide")
#define POP()           vptrace_range_pop()
#endif

#include <limits.h>
#include <pthread.h>
#include <string.h>

static struct host_gpu gpu;

static void expect(int found, int expected, const char *what)
{
	if (found == expected)
		return;
	fprintf(stderr, "%s: expected %d, found %d: %s\n", what, expected, found,
		vptrace_last_error());
	_Exit(8);
}

static void *start(void *unused)
{
	expect(vptrace_start(NULL), VPTRACE_ENOMEM, "start");
	if (!strstr(vptrace_last_error(), "less than 128 KiB of its stack"))
		_Exit(7);
	return unused;
}

static void *work(void *unused)
{
	struct vptrace_stats st = {.struct_bytes = sizeof(st)};
	struct vptrace_note note = {VPTRACE_NOTE_STEP, 1, -1, -1, 500.0};
	uint64_t id;
	int i;

	for (i = 0; i < 100; i++) {
		PUSH("small");
		PUSH_WIDE(L"w\u00efde");
		host_launch(gpu.gemm, 1000, NULL);
		POP();
		POP();
		vptrace_note_push("step", &note);
		vptrace_mark("mark");
		vptrace_counter("counter", i, "things");
		vptrace_range_pop();
		id = vptrace_range_start("across");
		vptrace_range_end(id);
	}
	HOST_CHECK(cudaDeviceSynchronize());
	expect(vptrace_metadata("key", "value"), VPTRACE_OK, "metadata");
	expect(vptrace_pause(), VPTRACE_OK, "pause");
	expect(vptrace_resume(), VPTRACE_OK, "resume");
	vptrace_step();
	expect(vptrace_statistics(&st), VPTRACE_OK, "statistics");
	expect((int)vptrace_status(), VPTRACE_RUNNING, "status");
	expect(vptrace_snapshot(NULL) != 0, 1, "snapshot");
	expect(vptrace_start(NULL), VPTRACE_ENOMEM, "start while it runs");
	expect(vptrace_stop(&st), VPTRACE_ENOMEM, "stop");
	expect(*vptrace_path() == '/', 1, "path");
	return unused;
}

static void *leave(void *unused)
{
	(void)unused;
	exit(0);
}

static void in_a_small_thread(void *(*run)(void *))
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	HOST_CHECK(pthread_attr_setstacksize(&attr, 16384));
	HOST_CHECK(pthread_create(&thread, &attr, run, NULL));
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
}

int main(int argc, char **argv)
{
	struct vptrace_options o = {.struct_bytes = sizeof(o), .path = argc > 1 ? argv[1] : NULL};

	if (argc != 3)
		return 2;
	gpu = host_open();
	in_a_small_thread(start);
	expect(vptrace_start(&o), VPTRACE_OK, "start");
	in_a_small_thread(work);
	if (!strcmp(argv[2], "exit"))
		in_a_small_thread(leave);
	expect(vptrace_stop(NULL), VPTRACE_OK, "stop");
	puts("done");
	return 0;
}
