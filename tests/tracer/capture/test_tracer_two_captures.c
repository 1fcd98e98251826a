/* test_tracer_two_captures.c - captures one after the other in a process without another client of CUPTI: none may say that there
 * was one, however late CUPTI's buffers come back and whichever thread has them.
 *
 * On a busy machine CUPTI's thread gets its turn late, and a thread that ends with running kernels leaves its buffer to the next one
 * that calls CUDA, which may be the tracer's own. */
#include "analysis/trust/completeness.h"
#include "formats/capture_layout.h"
#include "formats/import/any_trace.h"
#include "tests/standin/clients/rig.h"
#include "tracer/vptrace.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CAPTURES = 2, TRIES = 5, MOST = 3, THREADS = 4, KERNELS = 20, KERNEL_NS = 100000000 };

static cudaKernel_t kernel;
static cudaStream_t stream;

static void open_gpu(void)
{
	kernel = rig_kernel("alone");
	stream = rig_stream(1);
}

static void start(uint32_t flush_ms)
{
	struct vptrace_options o = {.struct_bytes = sizeof(o),
		.path = rig_file("alone.zst"),
		.overwrite = 1,
		.flush_interval_ms = flush_ms,
		.memory_limit_bytes = 64 << 20};

	RIG_EQUAL(vptrace_start(&o), VPTRACE_OK);
}

static pthread_barrier_t all_have_queued;

static void *queue(void *alone)
{
	for (int i = 0; i < KERNELS; i++)
		rig_launch(kernel, KERNEL_NS, stream);
	if (!alone)
		pthread_barrier_wait(
			&all_have_queued); /* or it would leave its buffer to the next */
	return NULL;
}

/* Threads that end while their kernels run: more than the tracer has, each of which may get such a buffer. */
static void queue_and_go(void)
{
	pthread_t threads[THREADS];

	RIG_EQUAL(pthread_barrier_init(&all_have_queued, NULL, THREADS), 0);
	for (int i = 0; i < THREADS; i++)
		RIG_EQUAL(pthread_create(&threads[i], NULL, queue, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		RIG_EQUAL(pthread_join(threads[i], NULL), 0);
	pthread_barrier_destroy(&all_have_queued);
}

static void say(void *ctx, const struct vpa_remark *remark)
{
	(void)ctx;
	fprintf(stderr, "%s\n", remark->text);
}

/* Reads the capture: it is complete and has this many kernels. */
static void expect_whole(unsigned expected)
{
	struct vpt_decoder *decoder = vpt_decoder_new();
	struct vpa_completeness reading;
	struct vpt_trace *trace;
	struct vpt_batch batch;
	unsigned kernels = 0;

	RIG_EQUAL(vpt_trace_open(rig_file("alone.zst"), &trace, NULL), 0);
	vpt_batch_init(&batch);
	vpa_completeness_begin(&reading, trace);
	for (size_t i = 0; i < vpt_trace_chunks(trace); i++) {
		const struct vpt_section *s;

		RIG_EQUAL(vpt_trace_chunk(trace, decoder, i, &batch, NULL), 0);
		RIG_EQUAL(vpa_completeness_chunk(&reading, i, &batch), 0);
		s = vpt_batch_find(&batch, VPT_KERNEL);
		kernels += s ? s->row_count : 0;
	}
	RIG_EQUAL(vpa_completeness_end(&reading), 0);
	RIG_TRUE(vpa_completeness_judge(&reading, say, NULL));
	RIG_EQUAL(kernels, expected);
	vpa_completeness_free(&reading);
	vpt_batch_free(&batch);
	vpt_decoder_free(decoder);
	vpt_trace_close(trace);
}

static void stop(unsigned kernels)
{
	RIG_EQUAL(vptrace_stop(NULL), VPTRACE_OK);
	expect_whole(kernels);
}

/* Looks of the tracer, which each take a while if buffers are late, with kernels in between. */
static void look_on(unsigned ms)
{
	for (unsigned i = 0; i < ms; i++) {
		RIG_EQUAL(vptrace_status(), VPTRACE_RUNNING);
		usleep(1000);
	}
}

/* The tracer's thread inherits a buffer that running kernels hold back, longer than a late one is waited for. */
static void inherited(void)
{
	open_gpu();
	for (int i = 0; i < CAPTURES; i++) {
		start(200); /* the thread ends before the first look */
		queue_and_go();
		look_on(700);
		RIG_EQUAL(cudaStreamSynchronize(stream), 0);
		stop(THREADS * KERNELS);
	}
}

/* The capture ends when the tracer has looked and found nothing. A busy machine may delay the buffers further, and they are then too
 * late, but not most of the times. */
static void late(void)
{
	int tries, whole = 0;

	open_gpu();
	for (tries = 0; tries < TRIES && whole < MOST; tries++) {
		start(10);
		queue(&kernel);
		RIG_EQUAL(cudaStreamSynchronize(stream), 0);
		usleep(60000);
		if (vptrace_stop(NULL) == VPTRACE_ETAKEN)
			continue;
		expect_whole(KERNELS);
		whole++;
	}
	RIG_EQUAL(whole, MOST);
}

/* Threads come and go, captures begin and end, and the device runs on. */
static void busy(void)
{
	open_gpu();
	for (int i = 0; i < 12; i++) {
		queue_and_go();
		start(10);
		queue_and_go();
		look_on((unsigned)(i % 7) * 5);
		queue(&kernel);
		look_on((unsigned)(i % 5) * 5);
		RIG_EQUAL(cudaStreamSynchronize(stream), 0);
		queue_and_go();
		RIG_EQUAL(vptrace_stop(NULL), VPTRACE_OK);
	}
}

int main(int argc, char **argv)
{
#define EACH(words, run)                                                                           \
	{"11.8, " words, "VPT_STANDIN_CUPTI=18", run, 0},                                          \
		{"12.4, " words, "VPT_STANDIN_CUPTI=22", run, 0},                                  \
		{"13.0, " words, "VPT_STANDIN_CUPTI=130001", run, 0},                              \
	{                                                                                          \
		"13.2, " words, "VPT_STANDIN_CUPTI=130200", run, 0                                 \
	}
#define LATE(ms)                                                                                   \
	{"11.8, buffers " ms " ms late", "VPT_STANDIN_CUPTI=18 VPT_STANDIN_COMPLETE=after=" ms,    \
		late, 0},                                                                          \
	{                                                                                          \
		"13.0, buffers " ms " ms late",                                                    \
			"VPT_STANDIN_CUPTI=130001 VPT_STANDIN_COMPLETE=after=" ms, late, 0         \
	}
	static const struct rig_case cases[] = {
		EACH("a thread that has ended", inherited),
		EACH("threads that come and go", busy),
		LATE("150"),
		LATE("400"),
	};

	return rig_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
