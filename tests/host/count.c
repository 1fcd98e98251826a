/* count.c - a traced program that says what it did and what the tracer and the stand-in counted,
 * one NAME VALUE a line.
 *
 *	host_count CAPTURE LAUNCHES THREADS [wait]
 *
 * Each thread launches its share of kernels, a range around every hundred, a synchronisation after
 * it, one copy and one memset. With `wait` it prints "ready" after the start and goes on when a
 * line comes on standard input. */
#include "tests/host/host.h"
#include "tests/standin/standin.h"
#include "tests/support/process.h"

#include "tracer/vptrace.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static struct host_gpu gpu;
static long launches;
static atomic_long ranges;
static long rss_half_kib;
static pthread_barrier_t together; /* all threads have launched something, and none has ended */

static void *work(void *arg)
{
	cudaStream_t stream;
	void *memory;
	long i;

	HOST_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	HOST_CHECK(cudaMalloc(&memory, 4096));
	for (i = 0; i < launches; i++) {
		if (i % 100 == 0) {
			vptrace_range_push("hundred");
			atomic_fetch_add(&ranges, 1);
		}
		host_launch(i % 3 ? gpu.gemm : gpu.attention, 1000, stream);
		if (!i || i == launches - 1)
			pthread_barrier_wait(&together);
		if (i % 100 == 99 || i == launches - 1) {
			HOST_CHECK(cudaStreamSynchronize(stream));
			vptrace_range_pop();
		}
		if (arg && i == launches / 2)
			rss_half_kib = vpt_process_kib("VmRSS:");
	}
	HOST_CHECK(cudaMemsetAsync(memory, 0, 4096, stream));
	HOST_CHECK(cudaMemcpyAsync(memory, memory, 2048, cudaMemcpyDeviceToDevice, stream));
	HOST_CHECK(cudaStreamSynchronize(stream));
	return NULL;
}

static void run_threads(long count)
{
	pthread_t threads[64];
	long i;

	pthread_barrier_init(&together, NULL, (unsigned)count);
	for (i = 1; i < count; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			exit(9);
	work(&gpu);
	for (i = 1; i < count; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	struct vptrace_options options = {.struct_bytes = sizeof(options)};
	struct vptrace_stats stats = {.struct_bytes = sizeof(stats)};
	struct standin_counts counts;
	long threads;
	int rc;

	if (argc < 4)
		return 2;
	options.path = argv[1];
	threads = host_number(argv[3], "THREADS");
	if (threads < 1 || threads > 64)
		return 2;
	launches = host_number(argv[2], "LAUNCHES") / threads;
	rc = vptrace_start(&options);
	printf("start %d\nstatus %d\nerror %s\n", rc, (int)vptrace_status(), vptrace_last_error());
	if (argc > 4) {
		printf("ready\n");
		fflush(stdout);
		if (getchar() == EOF)
			return 9;
	}
	gpu = host_open();
	run_threads(threads);
	rc = vptrace_stop(&stats);
	printf("stop %d\nstop_error %s\n", rc, rc ? vptrace_last_error() : "");
	printf("received %llu\nwritten %llu\ndropped %llu\ncupti_dropped %llu\ninvalid %llu\n",
		(unsigned long long)stats.received, (unsigned long long)stats.written,
		(unsigned long long)stats.dropped, (unsigned long long)stats.cupti_dropped,
		(unsigned long long)stats.invalid);
	printf("chunks %llu\nbuffers_kept %llu\nranges %ld\n", (unsigned long long)stats.chunks,
		(unsigned long long)stats.buffers_kept, atomic_load(&ranges));
	printf("cupti_records %llu\nfiltered %llu\nunfinished %llu\n",
		(unsigned long long)stats.cupti_records, (unsigned long long)stats.filtered,
		(unsigned long long)stats.unfinished);
	standin_counts(&counts);
	printf("kernels %llu\ncopies %llu\nmemsets %llu\ndelivered %llu\nlost %llu\n",
		(unsigned long long)counts.kernels, (unsigned long long)counts.copies,
		(unsigned long long)counts.memsets, (unsigned long long)counts.delivered,
		(unsigned long long)counts.dropped);
	printf("records %llu\nheld %llu\nop_records %llu\nheap_guarded %llu\nheap_calls %llu\n",
		(unsigned long long)counts.records, (unsigned long long)counts.held,
		(unsigned long long)counts.op_records, (unsigned long long)counts.heap_guarded,
		(unsigned long long)counts.heap_calls);
	printf("rss_half %ld\nrss_end %ld\n", rss_half_kib, vpt_process_kib("VmRSS:"));
	return 0;
}
