/* test_standin.c - the simulated time: each rule of standin.h at least once, with schedules
 * computed by hand.
 *
 * In the pictures and numbers, t0 is the clock before the first call; a launch takes 3000 ns, the
 * device starts 2000 ns later.
 * Long, since each rule of the simulation is a case with its schedule. */
#include "tests/standin/clients/rig.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { US = 1000, MB = 1048576 };

static void *on_device(size_t bytes)
{
	void *p;

	RIG_EQUAL(cudaMalloc(&p, bytes), 0);
	return p;
}

static void *pinned(size_t bytes)
{
	void *p;

	RIG_EQUAL(cudaMallocHost(&p, bytes), 0);
	return p;
}

/* ---- the clock ---- */

static void clock_starts_at_the_epoch_and_stands_still(void)
{
	struct timespec t;

	RIG_EQUAL(standin_now(), STANDIN_EPOCH_NS);
	standin_work(1234567);
	clock_gettime(CLOCK_REALTIME, &t);
	RIG_EQUAL(
		(uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec, STANDIN_EPOCH_NS + 1234567);
	RIG_EQUAL(standin_now(), STANDIN_EPOCH_NS + 1234567);
}

static void other_clocks_are_real(void)
{
	struct timespec a, b, nap = {0, 2000000};

	clock_gettime(CLOCK_MONOTONIC, &a);
	nanosleep(&nap, NULL);
	clock_gettime(CLOCK_MONOTONIC, &b);
	RIG_TRUE((b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec >= 2000000);
	RIG_EQUAL(standin_now(), STANDIN_EPOCH_NS);
}

static void calls_cost_what_the_table_says(void)
{
	uint64_t t = standin_now();
	cudaKernel_t k = rig_kernel("k"); /* LibraryLoadData 500000, LibraryGetKernel 500 */
	cudaStream_t s;
	cudaEvent_t e;
	void *p, *q;
	int device;

#define COSTS(call, ns)                                                                            \
	do {                                                                                       \
		RIG_EQUAL(call, 0);                                                                \
		RIG_EQUAL(standin_now() - t, ns);                                                  \
		t = standin_now();                                                                 \
	} while (0)
	RIG_EQUAL(standin_now() - t, 500500);
	t = standin_now();
	COSTS(cudaStreamCreate(&s), 500);
	COSTS(cudaGetDevice(&device), 500);
	COSTS(cudaMalloc(&p, 100), 50000);
	COSTS(cudaMallocHost(&q, 100), 50000);
	COSTS(cudaFreeHost(q), 20000);
	COSTS(cudaFree(p), 20000);
	COSTS(cudaMallocAsync(&p, 100, s), 2000);
	COSTS(cudaFreeAsync(p, s), 500);
	COSTS(cudaEventCreate(&e), 500);
	COSTS(cudaEventRecord(e, s), 1000);
	COSTS(cudaStreamWaitEvent(s, e, 0), 1000);
	COSTS(cudaStreamSynchronize(s), 1500);
	COSTS(cudaDeviceSynchronize(), 1500);
	COSTS(cudaEventSynchronize(e), 1500);
	COSTS(cuCtxSynchronize(), 1500);
	rig_launch(k, 5, s);
	RIG_EQUAL(standin_now() - t, 3000);
	t = standin_now();
	p = on_device(100);
	t = standin_now();
	COSTS(cudaMemsetAsync(p, 0, 100, s), 2500);
}

static void time_is_shared_by_threads(void)
{
	pthread_t thread;
	uint64_t t0 = standin_now();

	RIG_EQUAL(cudaFree(NULL), 0);
	RIG_EQUAL(pthread_create(&thread, NULL,
			  (void *(*)(void *))(void (*)(void))cudaDeviceSynchronize, NULL),
		0);
	RIG_EQUAL(pthread_join(thread, NULL), 0);
	RIG_EQUAL(standin_now() - t0, 20000 + 1500);
}

static void real_time_passes_by_itself(void)
{
	struct timespec nap = {0, 3000000};
	cudaKernel_t k = rig_kernel("k");
	uint64_t t0 = standin_now(), t1;
	struct rig_op op;

	RIG_TRUE(t0 > STANDIN_EPOCH_NS + UINT64_C(1000000000000000)); /* not virtual: past 2023 */
	rig_launch(k, 500000000, NULL); /* longer than this thread may be without a turn */
	RIG_EQUAL(cudaStreamQuery(NULL), cudaErrorNotReady);
	RIG_EQUAL(cudaDeviceSynchronize(), 0);
	RIG_TRUE(standin_now() - t0 >= 500000000);
	t1 = standin_now();
	nanosleep(&nap, NULL);
	RIG_TRUE(standin_now() - t1 >= 3000000);
	t1 = standin_now();
	standin_work(2000000);
	RIG_TRUE(standin_now() - t1 >= 2000000);
	RIG_EQUAL(rig_ops(&op, 1), 1);
	RIG_EQUAL(op.end_ns - op.start_ns, 500000000);
	RIG_TRUE(op.start_ns >= t0 + STANDIN_SUBMIT_NS);
}

/* ---- kernels and streams ---- */

static void kernel_starts_after_its_launch(void)
{
	cudaKernel_t k = rig_kernel("k");
	uint64_t t0 = standin_now();
	struct rig_op op;

	rig_launch(k, 10 * US, NULL);
	RIG_EQUAL(standin_now(), t0 + 3000);
	RIG_EQUAL(rig_ops(&op, 1), 1);
	rig_op_is(&op, t0 + 5000, 10 * US);
	RIG_EQUAL(strcmp(op.name, "k"), 0);
	RIG_EQUAL(strcmp(op.kind, "kernel"), 0);
}

static void kernel_without_arguments_is_short(void)
{
	const dim3 one = {1, 1, 1};
	cudaKernel_t k = rig_kernel("k");
	uint64_t t0 = standin_now();
	struct rig_op op;

	RIG_EQUAL(cudaLaunchKernel(k, one, one, NULL, 0, NULL), 0);
	RIG_EQUAL(rig_ops(&op, 1), 1);
	rig_op_is(&op, t0 + 5000, STANDIN_PLAIN_NS);
}

/* The first runs 5000..105000; the second is queued at 6000 and follows at once; the third is
 * launched after it has ended. */
static void kernels_of_a_stream_follow_each_other(void)
{
	cudaKernel_t k = rig_kernel("k");
	uint64_t t0 = standin_now();
	struct rig_op op[3];

	rig_launch(k, 100 * US, NULL);
	rig_launch(k, 50 * US, NULL);
	standin_work(200 * US);
	rig_launch(k, 1 * US, NULL);
	RIG_EQUAL(rig_ops(op, 3), 3);
	rig_op_is(&op[0], t0 + 5000, 100 * US);
	rig_op_is(&op[1], t0 + 105000, 50 * US);
	rig_op_is(&op[2], t0 + 206000 + 3000 + 2000, 1 * US);
}

static void streams_do_not_disturb_each_other(void)
{
	cudaKernel_t k = rig_kernel("k");
	cudaStream_t a = rig_stream(0), b = rig_stream(0);
	uint64_t t0 = standin_now();
	struct rig_op op[2];

	rig_launch(k, 100 * US, a);
	rig_launch(k, 100 * US, b);
	RIG_EQUAL(rig_ops(op, 2), 2);
	rig_op_is(&op[0], t0 + 5000, 100 * US);
	rig_op_is(&op[1], t0 + 8000, 100 * US);
	RIG_TRUE(op[0].stream != op[1].stream);
}

static void driver_launches_are_the_same(void)
{
	cudaKernel_t k = rig_kernel("k");
	uint64_t t0 = standin_now(), ns = 7 * US;
	void *arguments[] = {&ns};
	CUlaunchConfig c = {1, 1, 1, 32, 1, 1, 0, NULL, NULL, 0};
	struct rig_op op[2];

	RIG_EQUAL(cuLaunchKernel((CUfunction)k, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL), 0);
	RIG_EQUAL(cuLaunchKernelEx(&c, (CUfunction)k, arguments, NULL), 0);
	RIG_EQUAL(rig_ops(op, 2), 2);
	rig_op_is(&op[0], t0 + 5000, 7 * US);
	rig_op_is(&op[1], t0 + 12000, 7 * US);
}

/* a: 5000..105000 on a blocking stream; the legacy stream waits for it, the other blocking one for
 * the legacy one; the non-blocking one waits for nobody. */
static void legacy_stream_waits_and_is_waited_for(void)
{
	cudaKernel_t k = rig_kernel("k");
	cudaStream_t a = rig_stream(0), b = rig_stream(0),
		     free_one = rig_stream(cudaStreamNonBlocking);
	uint64_t t0 = standin_now();
	struct rig_op op[4];

	rig_launch(k, 100 * US, a);
	rig_launch(k, 10 * US, NULL);
	rig_launch(k, 20 * US, b);
	rig_launch(k, 30 * US, free_one);
	RIG_EQUAL(rig_ops(op, 4), 4);
	rig_op_is(&op[0], t0 + 5000, 100 * US);
	rig_op_is(&op[1], t0 + 105000, 10 * US);
	rig_op_is(&op[2], t0 + 115000, 20 * US);
	rig_op_is(&op[3], t0 + 12000 + 2000, 30 * US);
}

static void devices_do_not_disturb_each_other(void)
{
	cudaKernel_t k = rig_kernel("k");
	struct rig_op op[2];
	uint64_t t0;
	int count;

	RIG_EQUAL(cudaGetDeviceCount(&count), 0);
	RIG_EQUAL(count, 2);
	t0 = standin_now();
	rig_launch(k, 100 * US, NULL);
	RIG_EQUAL(cudaSetDevice(1), 0); /* 500 */
	rig_launch(k, 100 * US, NULL);
	RIG_EQUAL(cudaSetDevice(2), cudaErrorInvalidDevice);
	RIG_EQUAL(rig_ops(op, 2), 2);
	rig_op_is(&op[0], t0 + 5000, 100 * US);
	rig_op_is(&op[1], t0 + 3000 + 500 + 5000, 100 * US);
	RIG_EQUAL(op[0].device, 0);
	RIG_EQUAL(op[1].device, 1);
}

/* 1024 launches fit, the next one is let in when the first has ended: at 5000 + 10 ms. It was
 * called at 1024 x 3000. */
static void full_queue_holds_the_launch(void)
{
	cudaKernel_t k = rig_kernel("k");
	uint64_t t0 = standin_now();

	for (int i = 0; i < STANDIN_QUEUE; i++)
		rig_launch(k, 10000 * US, NULL);
	RIG_EQUAL(standin_now(), t0 + 3000 * STANDIN_QUEUE);
	rig_launch(k, 1, NULL);
	RIG_EQUAL(standin_now(), t0 + 5000 + 10000 * US);
	rig_launch(k, 1, NULL);
	RIG_EQUAL(standin_now(), t0 + 5000 + 20000 * US);
}

/* ---- copies and memsets ---- */

static void copies_take_their_bytes_over_the_rate(void)
{
	static char pageable[MB];
	char *host = pinned(MB);
	char *device = on_device(2 * MB);
	struct rig_op op[6];

	RIG_EQUAL(cudaMemcpyAsync(device, host, MB, cudaMemcpyHostToDevice, NULL), 0);
	RIG_EQUAL(cudaMemcpyAsync(host, device, MB, cudaMemcpyDeviceToHost, NULL), 0);
	RIG_EQUAL(cudaMemcpyAsync(device + MB, device, MB, cudaMemcpyDefault, NULL), 0);
	RIG_EQUAL(cudaMemcpyAsync(device, pageable, MB, cudaMemcpyHostToDevice, NULL), 0);
	RIG_EQUAL(cudaMemsetAsync(device, 7, MB, NULL), 0);
	RIG_EQUAL(cudaMemcpyAsync(device, host + 5, 1, cudaMemcpyHostToDevice, NULL), 0);
	RIG_EQUAL(rig_ops(op, 6), 6);
	RIG_EQUAL(op[0].end_ns - op[0].start_ns, 1000 + 41944); /* 1048576 / 25, up */
	RIG_EQUAL(op[1].end_ns - op[1].start_ns, 1000 + 41944);
	RIG_EQUAL(op[2].end_ns - op[2].start_ns, 1000 + 1049);   /* 1048576 / 1000, up */
	RIG_EQUAL(op[3].end_ns - op[3].start_ns, 1000 + 174763); /* 1048576 / 6, up */
	RIG_EQUAL(op[4].end_ns - op[4].start_ns, 1000 + 1049);
	RIG_EQUAL(op[5].end_ns - op[5].start_ns, 1001);
	RIG_EQUAL(op[3].bytes, MB);
	RIG_EQUAL(strcmp(op[4].kind, "memset"), 0);
}

static void peer_copies_have_a_rate_of_their_own(void)
{
	void *here = on_device(MB), *there;
	struct rig_op op;

	RIG_EQUAL(cudaSetDevice(1), 0);
	there = on_device(MB);
	RIG_EQUAL(cudaMemcpyPeerAsync(there, 1, here, 0, MB, NULL), 0);
	RIG_EQUAL(rig_ops(&op, 1), 1);
	RIG_EQUAL(op.end_ns - op.start_ns, 1000 + 20972); /* 1048576 / 50, up */
}

/* 6000 pageable bytes: 1000 + 1000. Entry t0, queued t0 + 3500, runs 5500..7500, the call is back
 * 5000 later. */
static void blocking_copies_wait_for_their_end(void)
{
	static char pageable[6000];
	char *host = pinned(6000), *device = on_device(6000);
	uint64_t t0 = standin_now();
	struct rig_op op[4];

	RIG_EQUAL(cudaMemcpy(device, pageable, 6000, cudaMemcpyHostToDevice), 0);
	RIG_EQUAL(standin_now() - t0, 7500 + STANDIN_WAKE_NS);
	t0 = standin_now();
	RIG_EQUAL(cudaMemcpyAsync(pageable, device, 6000, cudaMemcpyDeviceToHost, NULL), 0);
	RIG_EQUAL(standin_now() - t0, 7500 + STANDIN_WAKE_NS);
	t0 = standin_now();
	RIG_EQUAL(cudaMemcpy(host, device, 5000, cudaMemcpyDeviceToHost), 0); /* 1000 + 200 */
	RIG_EQUAL(standin_now() - t0, 3500 + 2000 + 1200 + STANDIN_WAKE_NS);
	t0 = standin_now();
	RIG_EQUAL(cudaMemcpyAsync(host, device, 5000, cudaMemcpyDeviceToHost, NULL), 0);
	RIG_EQUAL(standin_now() - t0, 3500);
	RIG_EQUAL(rig_ops(op, 4), 4);
	rig_op_is(&op[3], t0 + 5500, 1200);
}

/* ---- waiting ---- */

/* The kernel runs 5000..15000. The call enters at 3000, begins to wait at 4500, is back at
 * 20000. */
static void synchronising_wakes_late(void)
{
	cudaKernel_t k = rig_kernel("k");
	cudaStream_t other = rig_stream(cudaStreamNonBlocking);
	uint64_t t0 = standin_now();

	rig_launch(k, 10 * US, NULL);
	RIG_EQUAL(cudaStreamSynchronize(other), 0); /* nothing to wait for: 1500 */
	RIG_EQUAL(standin_now(), t0 + 4500);
	RIG_EQUAL(cudaStreamSynchronize(NULL), 0);
	RIG_EQUAL(standin_now(), t0 + 20000);
	RIG_EQUAL(cudaDeviceSynchronize(), 0);
	RIG_EQUAL(standin_now(), t0 + 21500);
}

static void device_synchronise_waits_for_all_streams(void)
{
	cudaKernel_t k = rig_kernel("k");
	cudaStream_t a = rig_stream(0), b = rig_stream(cudaStreamNonBlocking);
	uint64_t t0 = standin_now();

	rig_launch(k, 10 * US, a);
	rig_launch(k, 90 * US, b); /* 8000..98000 */
	RIG_EQUAL(cudaDeviceSynchronize(), 0);
	RIG_EQUAL(standin_now(), t0 + 98000 + 5000);
}

/* An op that ends exactly when the wait begins is not waited for: 5000..5001 against 3000 + 1500
 * is; 4500 is not possible, so the host works until the kernel's end minus the call's cost. */
static void nothing_to_wait_for_is_no_wait(void)
{
	cudaKernel_t k = rig_kernel("k");
	uint64_t t0 = standin_now();

	rig_launch(k, 10 * US, NULL); /* ends 15000 */
	standin_work(10500);          /* until 13500 */
	RIG_EQUAL(cudaStreamSynchronize(NULL), 0);
	RIG_EQUAL(standin_now(), t0 + 15000);
	RIG_EQUAL(cudaStreamQuery(NULL), 0);
}

/* a: k 5000..105000, e there. b waits for e: its kernel, queued at 3000 + 1000 + 1000 + 3000,
 * starts at 105000. f after the wait alone would be at 105000 too; on an empty stream an event is
 * recorded at the exit of its call. */
static void events_order_streams(void)
{
	cudaKernel_t k = rig_kernel("k");
	cudaStream_t a = rig_stream(cudaStreamNonBlocking), b = rig_stream(cudaStreamNonBlocking);
	cudaStream_t c = rig_stream(cudaStreamNonBlocking);
	cudaEvent_t e, f, g;
	struct rig_op op[2];
	uint64_t t0;
	float ms;

	RIG_EQUAL(cudaEventCreate(&e), 0);
	RIG_EQUAL(cudaEventCreate(&f), 0);
	RIG_EQUAL(cudaEventCreate(&g), 0);
	t0 = standin_now();
	rig_launch(k, 100 * US, a);
	RIG_EQUAL(cudaEventRecord(e, a), 0);        /* exit 4000 */
	RIG_EQUAL(cudaStreamWaitEvent(b, e, 0), 0); /* exit 5000 */
	RIG_EQUAL(cudaEventRecord(f, b), 0);        /* exit 6000 */
	RIG_EQUAL(cudaEventRecord(g, c), 0);        /* exit 7000 */
	rig_launch(k, 10 * US, b);
	RIG_EQUAL(cudaEventQuery(e), cudaErrorNotReady);
	RIG_EQUAL(cudaEventQuery(g), 0);
	RIG_EQUAL(cudaEventSynchronize(f), 0);
	RIG_EQUAL(standin_now(), t0 + 105000 + 5000);
	RIG_EQUAL(cudaEventElapsedTime(&ms, g, f), 0);
	RIG_EQUAL(ms * 1e6f + 0.5f, 98000); /* 105000 - 7000 */
	RIG_EQUAL(rig_ops(op, 2), 2);
	rig_op_is(&op[1], t0 + 105000, 10 * US);
}

static int runs;

static void count_run(void *by)
{
	runs += *(int *)by;
}

/* The function's turn comes when the kernel has ended at 15000. */
static void host_functions_run_in_turn(void)
{
	cudaKernel_t k = rig_kernel("k");
	uint64_t t0 = standin_now();
	int by = 3;

	rig_launch(k, 10 * US, NULL);
	RIG_EQUAL(cudaLaunchHostFunc(NULL, count_run, &by), 0);
	RIG_EQUAL(runs, 0);
	standin_work(t0 + 14999 - standin_now());
	RIG_EQUAL(runs, 0);
	standin_work(1);
	RIG_EQUAL(runs, 3);
}

/* ---- the rest ---- */

static void memory_is_counted(void)
{
	size_t free_bytes, total_bytes;
	void *p, *q;

	RIG_EQUAL(cudaMalloc(&p, (size_t)60 << 30), 0);
	RIG_EQUAL(cudaMalloc(&q, (size_t)30 << 30), cudaErrorMemoryAllocation);
	RIG_EQUAL(cudaMemGetInfo(&free_bytes, &total_bytes), 0);
	RIG_EQUAL(total_bytes, UINT64_C(80) << 30);
	RIG_EQUAL(free_bytes, UINT64_C(20) << 30);
	RIG_EQUAL(cudaFree(p), 0);
	RIG_EQUAL(cudaFree(p), cudaErrorInvalidValue);
	for (int i = 0; i < 5000; i++) {
		RIG_EQUAL(cudaMallocAsync(&p, (size_t)1 << 30, NULL), 0);
		RIG_EQUAL(cudaFreeAsync(p, NULL), 0);
	}
	RIG_EQUAL(cudaMemGetInfo(&free_bytes, &total_bytes), 0);
	RIG_EQUAL(free_bytes, total_bytes);
}

static void ops_count_when_they_have_ended(void)
{
	cudaKernel_t k = rig_kernel("k");
	void *p = on_device(100);
	struct standin_counts c;

	rig_launch(k, 10 * US, NULL);
	rig_launch(k, 10 * US, NULL);
	RIG_EQUAL(cudaMemsetAsync(p, 0, 100, NULL), 0);
	standin_counts(&c);
	RIG_EQUAL(c.kernels, 0);
	standin_work(
		7 *
		US); /* launch at 0 and 3000, memset at 6000..8500, now 15500; the first ended at 15000 */
	standin_counts(&c);
	RIG_EQUAL(c.kernels, 1);
	RIG_EQUAL(cudaDeviceSynchronize(), 0);
	standin_counts(&c);
	RIG_EQUAL(c.kernels, 2);
	RIG_EQUAL(c.memsets, 1);
	RIG_EQUAL(c.copies, 0);
}

static void without_a_driver_nothing_works(void)
{
	int n;

	RIG_EQUAL(cudaGetDeviceCount(&n), cudaErrorInsufficientDriver);
	RIG_EQUAL(cuInit(0), CUDA_ERROR_NO_DEVICE);
}

static void ptx_is_read_for_its_entries(void)
{
	static const char ptx[] =
		"// .visible .func no\n.visible .func f()\n{}\n"
		".visible  .entry\tone (\n.param .u64 a\n) {}\n"
		".visible .entry two() { }\n.visible .entry _Z3abcPf(.param .u64 n)";
	const dim3 one = {1, 1, 1};
	uint64_t ns = 9 * US, t0;
	void *arguments[] = {&ns};
	struct rig_op op[2];
	CUfunction f;
	CUmodule m;

	RIG_EQUAL(cudaSetDevice(0), 0);
	RIG_EQUAL(cuModuleLoadData(&m, "no entry"), CUDA_ERROR_INVALID_PTX);
	RIG_EQUAL(cuModuleLoadData(&m, ptx), 0);
	RIG_EQUAL(cuModuleGetFunction(&f, m, "f"), CUDA_ERROR_NOT_FOUND);
	RIG_EQUAL(cuModuleGetFunction(&f, m, "_Z3abcPf"), 0);
	t0 = standin_now();
	RIG_EQUAL(cudaLaunchKernel((const void *)f, one, one, arguments, 0, NULL), 0);
	RIG_EQUAL(cuModuleGetFunction(&f, m, "two"), 0);
	RIG_EQUAL(cudaLaunchKernel((const void *)f, one, one, arguments, 0, NULL), 0);
	RIG_EQUAL(cuModuleUnload(m), 0);
	RIG_EQUAL(rig_ops(op, 2), 2);
	rig_op_is(&op[0], t0 + 5000, 9 * US);
	RIG_EQUAL(op[1].end_ns - op[1].start_ns, STANDIN_PLAIN_NS);
	RIG_EQUAL(strcmp(op[0].name, "_Z3abcPf"), 0);
}

/* The same program on the stand-in and on the real runtime: the version is the runtime's, the time
 * is virtual or the machine's. */
static void programs_run_on_the_real_runtime(void)
{
	const char *bin = getenv("VPT_BIN"), *real = "/usr/local/cuda/lib64";
	char command[1024];
	long long seconds;
	int version;

	for (int on_real = 0; on_real < 2; on_real++) {
		FILE *f;

		if (on_real && access("/usr/local/cuda/lib64/libcudart.so.13", R_OK)) {
			fprintf(stderr, "skipped: no libcudart.so.13 in %s\n", real);
			_exit(RIG_SKIP);
		}
		snprintf(command, sizeof(command),
			"LD_LIBRARY_PATH='%s' '%s/standin/standin_plain'", on_real ? real : "",
			bin);
		f = popen(command, "re");
		RIG_TRUE(f);
		RIG_EQUAL(fscanf(f, "%d %lld", &version, &seconds), 2);
		RIG_EQUAL(pclose(f), 0);
		RIG_EQUAL(version / 1000, 13);
		RIG_EQUAL(seconds == STANDIN_EPOCH_NS / 1000000000, !on_real);
	}
}

static void fork_leaves_the_log_alone(void)
{
	cudaKernel_t k = rig_kernel("k");
	struct rig_op op[3];
	pid_t child;
	int status;

	rig_launch(k, 10 * US, NULL);
	child = fork();
	if (!child)
		exit(0); /* writes out what stdio still holds */
	RIG_EQUAL(waitpid(child, &status, 0), child);
	RIG_EQUAL(status, 0);
	rig_launch(k, 10 * US, NULL);
	RIG_EQUAL(rig_ops(op, 3), 2);
	RIG_EQUAL(op[1].start_ns, op[0].end_ns);
}

/* A child that forks in turn, and calls in between. */
static void forks_of_forks_go_on(void)
{
	cudaKernel_t k = rig_kernel("k");
	pid_t child;
	int status;

	rig_launch(k, 10 * US, NULL);
	child = fork();
	if (!child) {
		alarm(10);
		child = fork();
		if (!child) {
			struct timespec t;

			_exit(clock_gettime(CLOCK_REALTIME, &t) != 0);
		}
		_exit(waitpid(child, &status, 0) != child || status);
	}
	RIG_EQUAL(waitpid(child, &status, 0), child);
	RIG_EQUAL(status, 0);
}

#define CASE(name, environment)                                                                    \
	{                                                                                          \
#name, environment, name, 0                                                        \
	}

static const struct rig_case cases[] = {
	CASE(clock_starts_at_the_epoch_and_stands_still, ""),
	CASE(other_clocks_are_real, ""),
	CASE(calls_cost_what_the_table_says, ""),
	CASE(time_is_shared_by_threads, ""),
	CASE(real_time_passes_by_itself, "VPT_STANDIN_TIME=real"),
	CASE(kernel_starts_after_its_launch, ""),
	CASE(kernel_without_arguments_is_short, ""),
	CASE(kernels_of_a_stream_follow_each_other, ""),
	CASE(streams_do_not_disturb_each_other, ""),
	CASE(driver_launches_are_the_same, ""),
	CASE(legacy_stream_waits_and_is_waited_for, ""),
	CASE(devices_do_not_disturb_each_other, "VPT_STANDIN_DEVICES=2"),
	CASE(full_queue_holds_the_launch, ""),
	CASE(copies_take_their_bytes_over_the_rate, ""),
	CASE(peer_copies_have_a_rate_of_their_own, "VPT_STANDIN_DEVICES=2"),
	CASE(blocking_copies_wait_for_their_end, ""),
	CASE(synchronising_wakes_late, ""),
	CASE(device_synchronise_waits_for_all_streams, ""),
	CASE(nothing_to_wait_for_is_no_wait, ""),
	CASE(events_order_streams, ""),
	CASE(host_functions_run_in_turn, ""),
	CASE(memory_is_counted, ""),
	CASE(ops_count_when_they_have_ended, ""),
	CASE(without_a_driver_nothing_works, "VPT_STANDIN_FAULTS=no-driver"),
	CASE(ptx_is_read_for_its_entries, ""),
	CASE(programs_run_on_the_real_runtime, ""),
	CASE(fork_leaves_the_log_alone, ""),
	CASE(forks_of_forks_go_on, ""),
};

int main(int argc, char **argv)
{
	return rig_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
