/* test_tracer_two_profiles.c - a profile of PyTorch's profiler around, inside of and beside a capture.
 *
 * Each case launches kernels by the hundred and says who got them: the profile all that were launched in it, unless it did
 * not record; the capture all others, with a loss where some are missing. */
#include "analysis/trust/completeness.h"
#include "formats/capture_layout.h"
#include "formats/import/any_trace.h"
#include "tests/standin/clients/client.h"
#include "tests/standin/clients/kineto.h"
#include "tests/standin/clients/rig.h"
#include "tracer/vptrace.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HUNDRED = 100, FLUSH_MS = 10, PATIENCE_MS = 20000 };

static cudaKernel_t kernel;
static cudaStream_t stream;

static void open_gpu(enum kineto_age age)
{
	kernel = rig_kernel("profiled");
	stream = rig_stream(1);
	kineto_open(age);
}

static void launch_hundred(void)
{
	for (int i = 0; i < HUNDRED; i++)
		rig_launch(kernel, 1000, stream);
	RIG_EQUAL(cudaStreamSynchronize(stream), 0);
}

static int start(void)
{
	struct vptrace_options o = {.struct_bytes = sizeof(o),
		.path = rig_file("profiles.zst"),
		.overwrite = 1,
		.flush_interval_ms = FLUSH_MS,
		.memory_limit_bytes = 64 << 20};

	return vptrace_start(&o);
}

/* Waits until the tracer knows; whether it does. */
static int becomes(enum vptrace_state state)
{
	for (int i = 0; i < PATIENCE_MS && vptrace_status() != state; i++)
		usleep(1000);
	return vptrace_status() == state;
}

/* Waits until this many records have been received. */
static int arrives(uint64_t records)
{
	struct vptrace_stats stats = {.struct_bytes = sizeof(stats)};

	for (int i = 0; i < PATIENCE_MS && stats.received < records; i++) {
		usleep(1000);
		RIG_EQUAL(vptrace_statistics(&stats), 0);
	}
	return stats.received >= records;
}

/* Operations that CUPTI was asked for so far, by whoever. */
static uint64_t recorded(void)
{
	struct standin_counts counts;

	standin_counts(&counts);
	return counts.op_records;
}

/* Launches until the tracer has noticed that kernels were switched off, and has one of them. */
static int notices(void)
{
	uint64_t before = recorded();

	for (int i = 0; i < PATIENCE_MS && recorded() == before; i++) {
		usleep(1000);
		rig_launch(kernel, 1000, stream);
		RIG_EQUAL(cudaStreamSynchronize(stream), 0);
	}
	return recorded() > before;
}

/* ---- the capture ---- */

struct seen {
	unsigned kernels, losses;
	uint64_t lost_from_ns; /* UINT64_MAX: nothing is lost */
	int complete;
	char words[2048]; /* all remarks */
};

static void say(void *ctx, const struct vpa_remark *remark)
{
	struct seen *seen = ctx;
	size_t used = strlen(seen->words);

	snprintf(seen->words + used, sizeof(seen->words) - used, "%s: %s\n", remark->text,
		remark->remedy);
}

static struct seen read_capture(void)
{
	struct vpt_decoder *decoder = vpt_decoder_new();
	struct seen seen = {.lost_from_ns = UINT64_MAX};
	struct vpa_completeness reading;
	struct vpt_trace *trace;
	struct vpt_batch batch;

	RIG_EQUAL(vpt_trace_open(rig_file("profiles.zst"), &trace, NULL), 0);
	vpt_batch_init(&batch);
	vpa_completeness_begin(&reading, trace);
	for (size_t i = 0; i < vpt_trace_chunks(trace); i++) {
		const struct vpt_section *s;

		RIG_EQUAL(vpt_trace_chunk(trace, decoder, i, &batch, NULL), 0);
		RIG_EQUAL(vpa_completeness_chunk(&reading, i, &batch), 0);
		s = vpt_batch_find(&batch, VPT_KERNEL);
		seen.kernels += s ? s->row_count : 0;
		s = vpt_batch_find(&batch, VPT_LOSS);
		seen.losses += s ? s->row_count : 0;
		for (uint32_t row = 0; s && row < s->row_count; row++)
			if (s->col[VPT_LOSS_START][row] < seen.lost_from_ns)
				seen.lost_from_ns = s->col[VPT_LOSS_START][row];
	}
	RIG_EQUAL(vpa_completeness_end(&reading), 0);
	seen.complete = vpa_completeness_judge(&reading, say, &seen);
	vpa_completeness_free(&reading);
	vpt_batch_free(&batch);
	vpt_decoder_free(decoder);
	vpt_trace_close(trace);
	return seen;
}

/* A capture that nobody disturbs has all. */
static void expect_whole_capture(void)
{
	struct seen seen;

	RIG_EQUAL(start(), VPTRACE_OK);
	launch_hundred();
	RIG_EQUAL(vptrace_stop(NULL), VPTRACE_OK);
	seen = read_capture();
	RIG_EQUAL(seen.kernels, HUNDRED);
	RIG_TRUE(seen.complete);
}

/* Ours has lost what theirs has, and says so. */
static void expect_taken(unsigned received)
{
	struct seen seen = read_capture();

	RIG_EQUAL(seen.kernels, received);
	RIG_TRUE(seen.losses >= 1);
	RIG_TRUE(!seen.complete);
	RIG_TRUE(strstr(seen.words, "another client of CUPTI") != NULL);
	RIG_TRUE(strstr(seen.words, "at the same time") != NULL);
	RIG_TRUE(!strstr(seen.words, "VPTRACE_STOP_MS"));
}

/* ---- a profile inside of a capture ---- */

/* It cannot subscribe, and so does nothing. */
static void inside_subscribing(void)
{
	struct seen seen;

	open_gpu(KINETO_SUBSCRIBES);
	RIG_EQUAL(start(), VPTRACE_OK);
	launch_hundred();
	RIG_EQUAL(kineto_begin(), 0);
	launch_hundred();
	usleep(5000 * FLUSH_MS);
	RIG_EQUAL(vptrace_status(), VPTRACE_RUNNING);
	RIG_EQUAL(vptrace_stop(NULL), VPTRACE_OK);
	seen = read_capture();
	RIG_EQUAL(seen.kernels, 2 * HUNDRED);
	RIG_TRUE(seen.complete);
}

static void begin_inside(void)
{
	open_gpu(KINETO_DOES_NOT);
	RIG_EQUAL(start(), VPTRACE_OK);
	launch_hundred();
	RIG_TRUE(arrives(2 * HUNDRED)); /* what is in buffers goes to the profile */
	RIG_EQUAL(vptrace_status(), VPTRACE_RUNNING);
	RIG_EQUAL(kineto_begin(), 1);
	launch_hundred();
	RIG_TRUE(becomes(VPTRACE_RANGES_ONLY));
	RIG_TRUE(strstr(vptrace_last_error(), "another client of CUPTI") != NULL);
	launch_hundred();
}

static void end_inside(void (*end)(void))
{
	begin_inside();
	end();
	RIG_TRUE(becomes(VPTRACE_RUNNING));
	launch_hundred();
	RIG_EQUAL(vptrace_stop(NULL), VPTRACE_ETAKEN);
	expect_taken(2 * HUNDRED);
	RIG_EQUAL(kineto_kernels(), 2 * HUNDRED);
	expect_whole_capture();
}

/* The attribute of per-thread buffers tells. */
static void inside(void)
{
	end_inside(kineto_end);
}

static void end_without_attribute(void)
{
	kineto_disable();
	kineto_flush(1);
}

/* The enabled kinds tell. */
static void inside_13_2(void)
{
	end_inside(end_without_attribute);
}

/* Nothing tells: what it has it keeps. */
static void inside_for_good(void)
{
	begin_inside();
	end_without_attribute();
	usleep(20000 * FLUSH_MS);
	RIG_EQUAL(vptrace_status(), VPTRACE_RANGES_ONLY);
	launch_hundred();
	RIG_EQUAL(vptrace_stop(NULL), VPTRACE_ETAKEN);
	expect_taken(HUNDRED);
	RIG_EQUAL(kineto_kernels(), 2 * HUNDRED);
	expect_whole_capture();
}

/* Our stop leaves it what it needs. */
static void stop_inside(void)
{
	begin_inside();
	RIG_EQUAL(vptrace_stop(NULL), VPTRACE_ETAKEN);
	launch_hundred();
	kineto_end();
	RIG_EQUAL(kineto_kernels(), 3 * HUNDRED);
	expect_taken(HUNDRED);
	expect_whole_capture();
}

/* ---- a capture inside of a profile ---- */

static void begin_around(enum kineto_age age)
{
	open_gpu(age);
	RIG_EQUAL(kineto_begin(), 1);
	launch_hundred();
}

static void refused_around(enum kineto_age age, const char *words)
{
	begin_around(age);
	RIG_EQUAL(start(), VPTRACE_ETAKEN);
	RIG_TRUE(strstr(vptrace_last_error(), words) != NULL);
	launch_hundred();
	RIG_EQUAL(vptrace_stop(NULL), VPTRACE_OK);
	launch_hundred();
	kineto_end();
	RIG_EQUAL(kineto_kernels(), 3 * HUNDRED);
	RIG_EQUAL(read_capture().kernels, 0);
	RIG_TRUE(!read_capture().complete);
}

static void around_subscribing(void)
{
	refused_around(KINETO_SUBSCRIBES, "holds it from its first profile");
	/* The subscription outlives the profile, until CUPTI is torn down. */
	RIG_EQUAL(start(), VPTRACE_ETAKEN);
	vptrace_stop(NULL);
	RIG_EQUAL(kineto_unsubscribe(), 0);
	expect_whole_capture();
}

static void around_13_2(void)
{
	refused_around(KINETO_DOES_NOT, "is recording in this process");
	expect_whole_capture();
}

/* CUPTI does not tell that it is there: it shows when its buffers come back to us, and when it switches kinds off. */
static void around(void)
{
	struct seen seen;

	begin_around(KINETO_DOES_NOT);
	RIG_EQUAL(start(), VPTRACE_OK);
	launch_hundred();
	usleep(3000 * FLUSH_MS);
	kineto_end();
	launch_hundred();
	RIG_TRUE(notices());
	launch_hundred();
	RIG_EQUAL(vptrace_stop(NULL), VPTRACE_ETAKEN);
	seen = read_capture();
	RIG_TRUE(seen.kernels >= HUNDRED); /* those after it has been noticed */
	RIG_TRUE(!seen.complete);
	expect_whole_capture();
}

/* ---- buffers that outlive their client ---- */

static void queue_hundred(void)
{
	for (int i = 0; i < HUNDRED; i++)
		rig_launch(kernel, 1000, stream);
}

/* Waits until the tracer has looked again: each look takes a buffer. */
static void let_it_look(void)
{
	struct standin_counts counts;
	uint64_t enough;

	standin_counts(&counts);
	enough = counts.buffers_requested + 3;
	for (int i = 0; i < PATIENCE_MS && counts.buffers_requested < enough; i++) {
		usleep(1000);
		standin_counts(&counts);
	}
	RIG_TRUE(counts.buffers_requested >= enough);
}

static void expect_lost_from(uint64_t launched_ns)
{
	expect_taken(HUNDRED);
	RIG_TRUE(read_capture().lost_from_ns <= launched_ns);
}

/* The launching thread still has the other's buffer when the capture starts, so the first kernels are recorded into it. They
 * have not ended when the other registers again: it gets the buffer. */
static void inherited(void)
{
	uint64_t launched_ns;

	open_gpu(KINETO_DOES_NOT);
	expect_whole_capture(); /* leaves the attribute of per-thread buffers set */
	RIG_EQUAL(kineto_begin(), 1);
	queue_hundred();
	RIG_EQUAL(start(), VPTRACE_OK);
	launched_ns = standin_now();
	queue_hundred();
	let_it_look();
	RIG_EQUAL(kineto_begin(), 1);
	RIG_TRUE(becomes(VPTRACE_RANGES_ONLY));
	RIG_EQUAL(cudaStreamSynchronize(stream), 0);
	kineto_end();
	RIG_TRUE(becomes(VPTRACE_RUNNING));
	launch_hundred();
	RIG_EQUAL(vptrace_stop(NULL), VPTRACE_ETAKEN);
	RIG_EQUAL(kineto_kernels(), 2 * HUNDRED);
	expect_lost_from(launched_ns);
}

static sem_t go, went;

static void *queue_twice(void *unused)
{
	for (int i = 0; i < 2; i++) {
		RIG_EQUAL(sem_wait(&go), 0);
		queue_hundred();
		RIG_EQUAL(sem_post(&went), 0);
	}
	RIG_EQUAL(sem_wait(&go), 0); /* a thread that begins would inherit the buffer */
	return unused;
}

static void let_queue(void)
{
	RIG_EQUAL(sem_post(&go), 0);
	RIG_EQUAL(sem_wait(&went), 0);
}

/* The same in a thread that did not start the capture, so nothing shows at first. The kernels end after we have taken CUPTI
 * back: their buffer comes to us. */
static void inherited_by_another_thread(void)
{
	uint64_t launched_ns;
	pthread_t thread;

	open_gpu(KINETO_DOES_NOT);
	expect_whole_capture();
	RIG_EQUAL(sem_init(&go, 0, 0), 0);
	RIG_EQUAL(sem_init(&went, 0, 0), 0);
	RIG_EQUAL(pthread_create(&thread, NULL, queue_twice, NULL), 0);
	RIG_EQUAL(kineto_begin(), 1);
	let_queue();
	RIG_EQUAL(start(), VPTRACE_OK);
	launched_ns = standin_now();
	let_queue();
	let_it_look();
	RIG_EQUAL(kineto_register(), 0);
	RIG_TRUE(becomes(VPTRACE_RANGES_ONLY));
	kineto_clear_attribute(); /* a profile has ended */
	RIG_TRUE(becomes(VPTRACE_RUNNING));
	launch_hundred();
	RIG_EQUAL(sem_post(&go), 0);
	RIG_EQUAL(pthread_join(thread, NULL), 0);
	RIG_EQUAL(vptrace_stop(NULL), VPTRACE_ETAKEN);
	expect_lost_from(launched_ns);
}

/* ---- one after the other ---- */

static void after(void)
{
	begin_around(KINETO_DOES_NOT);
	kineto_end();
	expect_whole_capture();
	RIG_EQUAL(kineto_begin(), 1);
	launch_hundred();
	kineto_end();
	RIG_EQUAL(kineto_kernels(), 2 * HUNDRED);
	expect_whole_capture();
}

/* ---- a kind alone ---- */

static void kernels_switched_off(void)
{
	open_gpu(KINETO_DOES_NOT);
	RIG_EQUAL(start(), VPTRACE_OK);
	launch_hundred();
	RIG_EQUAL(recorded(), HUNDRED);
	RIG_EQUAL(cupti.cuptiActivityDisable(STANDIN_KERNEL), 0);
	launch_hundred();
	RIG_TRUE(notices());
	launch_hundred();
	RIG_TRUE(becomes(VPTRACE_RUNNING)); /* late buffers may look like another client */
	RIG_EQUAL(vptrace_stop(NULL), VPTRACE_ETAKEN);
	RIG_TRUE(recorded() > 2 * HUNDRED);
	expect_taken((unsigned)recorded());
}

int main(int argc, char **argv)
{
#define V12_4 "VPT_STANDIN_CUPTI=22"
#define V13_0 "VPT_STANDIN_CUPTI=130001"
#define V13_2 "VPT_STANDIN_CUPTI=130200"
	static const struct rig_case cases[] = {
		{"a profile that subscribes, inside", V13_0, inside_subscribing, 0},
		{"a profile inside", V13_0, inside, 0},
		{"a profile inside, given back in the call", V13_0 " VPT_STANDIN_COMPLETE=caller",
			inside, 0},
		{"a profile inside, given back after the flush",
			V13_0 " VPT_STANDIN_COMPLETE=after", inside, 0},
		{"a profile inside, given back long after the flush",
			V13_0 " VPT_STANDIN_COMPLETE=after=150", inside, 0},
		{"a profile inside, 13.2", V13_2, inside_13_2, 0},
		{"a profile inside whose end shows nowhere", V13_0, inside_for_good, 0},
		{"a capture that ends inside", V13_0, stop_inside, 0},
		{"a profile that subscribes, around", V13_0, around_subscribing, 0},
		{"a profile around, 13.2", V13_2, around_13_2, 0},
		{"a profile around", V13_0, around, 0},
		{"a buffer inherited by the starting thread", V12_4, inherited, 0},
		{"a buffer inherited by another thread", V12_4, inherited_by_another_thread, 0},
		{"one after the other, 12.4", V12_4, after, 0},
		{"one after the other, 13.0", V13_0, after, 0},
		{"one after the other, 13.2", V13_2, after, 0},
		{"kernels switched off, 13.2", V13_2, kernels_switched_off, 0},
	};

	return rig_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
