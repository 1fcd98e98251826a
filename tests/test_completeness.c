/* test_completeness.c - a trace is complete if nothing of it is missing, and only then: kernels that a profiler
 * lost, launches whose absence of a kernel has another reason, and ops whose launch cannot be there. */
#include "formats/count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/findings_rig.h"

/* Builds a script: every launch of 20 has an id of its own from `id` on and comes 100 us after the one before;
 * its kernel of 80 us begins 10 us later, except those in [lost_from, lost_to). */
struct lane {
	const char *thread, *stream;
	unsigned id, lost_from, lost_to;
	const char *other; /* stream of every second kernel; NULL: the same */
};

struct text {
	char bytes[16384];
	size_t used;
};

static void add(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->bytes + t->used, sizeof(t->bytes) - t->used, format, args);
	va_end(args);
	assert_true(n >= 0 && (size_t)n < sizeof(t->bytes) - t->used);
	t->used += (size_t)n;
}

enum { FIRST_US = 1000, STEP_US = 100, LAUNCHES = 20, END_US = FIRST_US + LAUNCHES * STEP_US };

static void add_lane(struct text *t, const struct lane *l)
{
	unsigned i;

	for (i = 0; i < LAUNCHES; i++) {
		unsigned us = FIRST_US + i * STEP_US;

		add(t, "call %s cudaLaunchKernel %uus+5us corr %u\n", l->thread, us, l->id + i);
		if (i < l->lost_from || i >= l->lost_to)
			add(t, "kernel %s %uus+80us corr %u \"gemm\"\n",
				i % 2 && l->other ? l->other : l->stream, us + 10, l->id + i);
	}
}

#define WAIT(name)   "call t1 " name " 3000us+5us corr 900\n"
#define MANY_STREAMS .other = "s8"
#define LAST(n)      .lost_from = LAUNCHES - (n), .lost_to = LAUNCHES
#define T1           .thread = "t1", .stream = "s7", .id = 1
#define T2           .thread = "t2", .stream = "s1.9", .id = 101

/* `lost`: how many launches are found to lack their kernel. */
static const struct {
	const char *rule;
	struct lane lanes[2];
	const char *more;
	unsigned lost;
} cases[] = {
	{"nothing is missing", {{T1}}, WAIT("cudaDeviceSynchronize"), 0},
	{"all kernels are lost", {{T1, LAST(20)}}, WAIT("cudaDeviceSynchronize"), 20},
	{"all, and a stream was waited for", {{T1, LAST(20)}}, WAIT("cudaStreamSynchronize"), 20},
	{"all, and an event was", {{T1, LAST(20)}}, WAIT("cudaEventSynchronize"), 20},
	{"all, and a copy was", {{T1, LAST(20)}}, WAIT("cudaMemcpy"), 20},
	{"all, and the driver's context was", {{T1, LAST(20)}}, WAIT("cuCtxSynchronize"), 20},
	{"all, by HIP's names", {{T1, LAST(20)}}, WAIT("hipDeviceSynchronize"), 20},
	{"all, but nothing was waited for", {{T1, LAST(20)}}, "", 0},
	{"the first half is lost", {{T1, .lost_to = 10}}, WAIT("cudaDeviceSynchronize"), 10},
	{"the first half, which a capture may explain that nothing shows", {{T1, .lost_to = 10}},
		"", 0},
	{"the middle is lost", {{T1, .lost_from = 5, .lost_to = 7}}, "", 2},
	{"the end is lost", {{T1, LAST(4)}}, WAIT("cudaDeviceSynchronize"), 4},
	{"the end, and a stream was waited for", {{T1, LAST(4)}}, WAIT("cuStreamSynchronize"), 4},
	{"the end, and a copy was", {{T1, LAST(4)}}, WAIT("cudaMemcpy"), 4},
	/* The event may have been recorded before the last launch, 100 us before: that is longer
	 * than any kernel took. */
	{"the end, and an event was waited for", {{T1, LAST(4)}}, WAIT("cudaEventSynchronize"), 4},
	{"the end of a thread with two streams", {{T1, MANY_STREAMS, LAST(4)}},
		WAIT("cudaDeviceSynchronize"), 4},
	{"the end of two streams, and one was waited for", {{T1, MANY_STREAMS, LAST(4)}},
		WAIT("cudaStreamSynchronize"), 4},
	{"the end of one of two devices", {{T1, LAST(4)}, {T2}}, WAIT("cudaDeviceSynchronize"), 4},
	{"the end of one of two devices, and a stream was waited for", {{T1, LAST(4)}, {T2}},
		WAIT("cudaStreamSynchronize"), 4},
	{"another thread's wait is for its own device", {{T2, LAST(4)}, {T1}},
		WAIT("cudaDeviceSynchronize"), 0},
	{"another thread waited for the only device",
		{{.thread = "t2", .stream = "s9", .id = 101, LAST(4)}, {T1}},
		WAIT("cudaDeviceSynchronize"), 4},
	/* 19.9 of them lie further before the last kernel than 4 * 90 us + 1 ms. */
	{"one device is silent while another works on", {{T1, LAST(19)}, {T2}}, "", 5},
	{"the recording ends before the last kernels", {{T1, LAST(2)}}, "", 0},
	{"a launch after the wait may not have run yet", {{T1}},
		WAIT("cudaDeviceSynchronize") "call t1 cudaLaunchKernel 3006us+1us corr 901\n", 0},
	{"a wait that failed proves nothing", {{T1, LAST(4)}},
		"call t1 cudaDeviceSynchronize 3000us+5us corr 900 ret 700\n", 0},
	{"a launch that failed has no kernel", {{T1}},
		"call t1 cudaLaunchKernel 2950us+5us corr 901 ret 9\n" WAIT(
			"cudaDeviceSynchronize"),
		0},
	{"a captured launch has no kernel", {{T1}},
		"call t1 cudaStreamBeginCapture 2940us+1us corr 902\n"
		"call t1 cudaLaunchKernel 2950us+5us corr 901\n"
		"call t1 cudaStreamEndCapture 2960us+1us corr 903\n" WAIT("cudaDeviceSynchronize"),
		0},
	{"nor has one of a capture that began before the recording", {{T1}},
		"call t3 cudaLaunchKernel 1000us+5us corr 901\n"
		"call t3 cudaStreamEndCapture 1100us+1us corr 903\n"
		"call t3 cudaDeviceSynchronize 2990us+1us corr 904\n",
		0},
	{"a graph without any op is lost", {{T1}},
		"call t1 cudaGraphLaunch 2950us+5us corr 901\n" WAIT("cudaDeviceSynchronize"), 1},
	{"the op may be that of the call inside", {{T1}},
		"call t1 cuLaunchKernel 2951us+2us corr 902\n"
		"call t1 cudaLaunchKernel 2950us+5us corr 901\n"
		"kernel s7 2960us+8us corr 902 \"gemm\"\n" WAIT("cudaDeviceSynchronize"),
		0},
	{"of a call inside another one launch is lost", {{T1}},
		"call t1 cuLaunchKernel 2951us+2us corr 902\n"
		"call t1 cudaLaunchKernel 2950us+5us corr 901\n" WAIT("cudaDeviceSynchronize"),
		1},
	{"a pause explains it", {{T1, LAST(4)}},
		"loss all paused 2000us-2990us\n" WAIT("cudaDeviceSynchronize"), 0},
};

static void launches_without_kernel_are_judged(void **state)
{
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct text t = {.used = 0};
		struct vpa_report *r;

		add(&t, "start 1ms\n");
		for (k = 0; k < COUNT(cases[i].lanes) && cases[i].lanes[k].thread; k++)
			add_lane(&t, &cases[i].lanes[k]);
		add(&t, "%s", cases[i].more);
		r = analyze(t.bytes, NULL);
		if (r->verdict.launches_lost != cases[i].lost ||
			r->verdict.complete != !cases[i].lost)
			fail_msg("%s: %u launches are lost, %s; expected %u", cases[i].rule,
				(unsigned)r->verdict.launches_lost,
				r->verdict.complete ? "complete" : "incomplete", cases[i].lost);
		vpa_report_free(r);
	}
}

/* Kernels k of ids 1 to 5, whose launches are not there, then 15 with theirs. */
static void add_backlog(struct text *t, unsigned first_id)
{
	unsigned i;

	for (i = 0; i < LAUNCHES; i++) {
		if (i >= 5)
			add(t, "call t1 cudaLaunchKernel %uus+5us corr %u\n",
				FIRST_US + (i - 5) * STEP_US, 10 + i);
		add(t, "kernel s7 %uus+95us corr %u \"gemm\"\n", FIRST_US + 10 + i * STEP_US,
			i < 5 ? first_id + i : 10 + i);
	}
	add(t, "call t1 cudaDeviceSynchronize 2600us+410us corr 90\n");
}

static const struct {
	const char *rule, *more;
	unsigned first_id, before, unknown;
} backlogs[] = {
	{"ops queued before the recording lack nothing", "", 1, 5, 0},
	{"ids that the recording must have seen do", "", 40, 0, 5},
	{"so does an op after one with a launch", "kernel s7 3020us+5us corr 6 \"gemm\"\n", 1, 5,
		1},
	{"each stream has a backlog of its own",
		"kernel s8 2800us+5us corr 7 \"gemm\"\nkernel s9 2810us+5us corr 8 \"gemm\"\n", 1,
		7, 0},
	{"an op without an id may be anything", "kernel s8 2800us+5us \"gemm\"\n", 1, 5, 1},
};

static void work_queued_before_the_recording_is_no_loss(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(backlogs); i++) {
		struct text t = {.used = 0};
		struct vpa_report *r;

		add(&t, "start 1ms\n");
		add_backlog(&t, backlogs[i].first_id);
		add(&t, "%s", backlogs[i].more);
		r = analyze(t.bytes, NULL);
		if (r->verdict.early_ops != backlogs[i].before ||
			r->verdict.ops_without_launch != backlogs[i].before + backlogs[i].unknown ||
			r->verdict.complete != !backlogs[i].unknown)
			fail_msg("%s: %u of %u ops were launched before, %s", backlogs[i].rule,
				(unsigned)r->verdict.early_ops,
				(unsigned)r->verdict.ops_without_launch,
				r->verdict.complete ? "complete" : "incomplete");
		vpa_report_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(launches_without_kernel_are_judged),
		cmocka_unit_test(work_queued_before_the_recording_is_no_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
