/* test_completeness.c - a trace is complete if nothing of it is missing, and only then: kernels that a profiler
 * lost, launches whose absence of a kernel has another reason, and ops whose launch cannot be there. */
#include "analysis/report/device_limit.h"
#include "formats/base/count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/traces/findings_rig.h"

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
		r = vpt_script_report(t.bytes, NULL);
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
		r = vpt_script_report(t.bytes, NULL);
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

/* ---- times that cannot be ---- */

#define TEN_HOURS "36000000000000"

static const struct {
	const char *rule, *script;
	unsigned kernels;
	uint64_t window_ns;
	const char *reason; /* is in one; NULL: complete without any */
} times[] = {
	{"ordinary times", "start 1ms\nend 3ms\n", 20, 2000000, NULL},
	{"an op hours after the last clock point is invalid",
		"start 1ms\nend 3ms\ncall t1 cudaLaunchKernel 2990us+1us corr 50\n"
		"kernel s7 " TEN_HOURS "+1us corr 50 \"gemm\"\n",
		21, 2000000, "1 operation has invalid times: left out of all sums"},
};

static void times_outside_the_capture_are_doubted(void **state)
{
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(times); i++) {
		struct text t = {.used = 0};
		struct vpa_report *r;
		int found = 0;

		add(&t, "%s", times[i].script);
		add_lane(&t, &(struct lane){T1});
		r = vpt_script_report(t.bytes, NULL);
		for (k = 0; times[i].reason && k < r->verdict.reason_count; k++)
			found |= strstr(r->verdict.reasons[k], times[i].reason) != NULL;
		if (r->counts.kernels != times[i].kernels ||
			vpa_window_ns(r) != times[i].window_ns ||
			r->verdict.complete != !times[i].reason ||
			found != (times[i].reason != NULL))
			fail_msg("%s: %u kernels, window %u ns, %s, %s", times[i].rule,
				(unsigned)r->counts.kernels, (unsigned)vpa_window_ns(r),
				r->verdict.complete ? "complete" : "incomplete",
				r->verdict.reason_count ? r->verdict.reasons[0] : "-");
		vpa_report_free(r);
	}
}

/* Every kernel of 20 begins `lead_us` before its launch, the first `count` of them. */
static void expect_clocks(unsigned lead_us, unsigned count, const char *reason)
{
	struct text t = {.used = 0};
	struct vpa_report *r;
	unsigned i;

	add(&t, "start 1ms\n");
	for (i = 0; i < LAUNCHES; i++) {
		unsigned us = 2000 + i * STEP_US;

		add(&t,
			"call t1 cudaLaunchKernel %uus+5us corr %u\nkernel s7 %uus+80us corr %u "
			"\"a\"\n",
			us, i + 1, i < count ? us - lead_us : us + 10, i + 1);
	}
	r = vpt_script_report(t.bytes, NULL);
	if (reason) {
		assert_int_equal(r->verdict.gaps, VPA_UNAVAILABLE);
		assert_non_null(strstr(r->verdict.reasons[0], reason));
	} else {
		assert_int_equal(r->verdict.gaps, VPA_OK);
		assert_int_equal(r->verdict.reason_count, 0);
	}
	vpa_report_free(r);
}

static void ops_before_their_launch_show_that_clocks_disagree(void **state)
{
	(void)state;
	expect_clocks(50, 20,
		"20 of 20 operations begin before their launch, up to 50.0 us: the clocks "
		"of GPU and host disagree by at least that");
	expect_clocks(900, 20, "up to 900 us");
	expect_clocks(50, 3, "3 of 20 operations");
	expect_clocks(50, 2, NULL);
	expect_clocks(2, 20, NULL); /* whole microseconds explain it */
}

/* ---- kernels that cannot last, or that wait ---- */

static const struct {
	const char *rule, *script, *reason; /* NULL: complete without any */
	uint64_t doubted_ns, fault_ns;
	enum vpa_device_limit limit;
} lengths[] = {
	{"a busy GPU",
		"kernel s7 1000us-2900us corr 1 \"a\"\nkernel s7 2900us-3000us corr 2 \"a\"\n",
		NULL, 0, 0, VPA_LIMIT_WORK},
	{"a kernel over later ones of its stream",
		"kernel s7 1000us-3000us corr 1 \"a\"\nkernel s7 1100us-1200us corr 2 \"a\"\n"
		"kernel s7 1300us-1400us corr 3 \"a\"\nkernel s7 1500us-1600us corr 4 \"a\"\n",
		"1 operation lasts over several later ones of the same stream, which cannot be: "
		"busy "
		"time may be up to 1.90 ms too long",
		1900000, 0, VPA_LIMIT_IDLE},
	{"the next one may end early (programmatic dependent launch)",
		"kernel s7 1000us-3000us corr 1 \"a\"\nkernel s7 1100us-1200us corr 2 \"a\"\n"
		"kernel s7 2900us-3100us corr 3 \"a\"\n",
		NULL, 0, 0, VPA_LIMIT_WORK},
	{"nodes of a graph run at once",
		"kernel s7 1000us-3000us corr 1 \"a\" node 1\n"
		"kernel s7 1100us-1200us corr 1 \"a\" node 2\n"
		"kernel s7 1300us-1400us corr 1 \"a\" node 3\n",
		NULL, 0, 0, VPA_LIMIT_WORK},
	{"other streams too",
		"kernel s7 1000us-3000us corr 1 \"a\"\nkernel s8 1100us-1200us corr 2 \"a\"\n"
		"kernel s8 1300us-1400us corr 3 \"a\"\n",
		NULL, 0, 0, VPA_LIMIT_WORK},
	{"a kernel that mostly waits for pages",
		"stream u device 0 context 0 stream -1\nkernel s7 1000us-3000us corr 1 \"a\"\n"
		"overhead u \"page faults\" 1100us-2000us\n"
		"copy u \"unified HtoD\" 1900us-2100us bytes 4096 source_memory managed "
		"target_memory managed\n",
		"pages of unified memory were on their way during 1.00 ms of the 2.00 ms that "
		"kernels "
		"ran",
		0, 1000000, VPA_LIMIT_FAULTS},
	{"or hardly does",
		"stream u device 0 context 0 stream -1\nkernel s7 1000us-3000us corr 1 \"a\"\n"
		"overhead u \"page faults\" 1100us-1200us\n",
		NULL, 0, 100000, VPA_LIMIT_WORK},
};

static void kernels_that_wait_or_cannot_last_are_no_work(void **state)
{
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(lengths); i++) {
		struct text t = {.used = 0};
		struct vpa_report *r;
		struct vpa_load load;

		add(&t, "start 1ms\n");
		for (k = 1; k < 5; k++)
			add(&t, "call t1 cudaLaunchKernel %uus+1us corr %u\n",
				(unsigned)(980 + 4 * k), (unsigned)k);
		add(&t, "%s", lengths[i].script);
		r = vpt_script_report(t.bytes, NULL);
		load = vpa_load_of_device(r, &r->devices[0]);
		if (r->devices[0].doubted_ns != lengths[i].doubted_ns ||
			r->devices[0].fault_ns != lengths[i].fault_ns ||
			vpa_device_limit_of(&load) != lengths[i].limit)
			fail_msg("%s: doubted %u ns, faults %u ns, limit %s", lengths[i].rule,
				(unsigned)r->devices[0].doubted_ns,
				(unsigned)r->devices[0].fault_ns,
				vpa_device_limit_text(vpa_device_limit_of(&load)));
		if (lengths[i].reason)
			assert_non_null(strstr(r->verdict.reasons[0], lengths[i].reason));
		assert_int_equal(r->verdict.complete, !lengths[i].doubted_ns);
		vpa_report_free(r);
	}
}

/* It is missing after the file's end: what is before is whole. */
static void what_found_no_room_in_the_file_is_named(void **state)
{
	static const char script[] = "start 1ms\nend 9ms\n"
				     "call t1 cudaLaunchKernel 1100us+3us corr 1\n"
				     "kernel s7 1200us-1400us corr 1 \"a\"\n"
				     "call t1 cudaLaunchKernel 1500us+3us corr 2\n"
				     "loss all paused 5000us-9000us\n"
				     "loss all refused 5000us-9000us count %u\n";
	static const struct {
		unsigned count;
		const char *reason;
	} rows[] = {
		{1, "1 record had no room in the file: launched or begun before it was full"},
		{12, "12 records had no room in the file: launched or begun before it was full"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		struct text t = {.used = 0};
		struct vpa_report *r;

		add(&t, script, rows[i].count);
		r = vpt_script_report(t.bytes, NULL);
		assert_false(r->verdict.complete);
		assert_string_equal(r->verdict.reasons[0], rows[i].reason);
		assert_string_equal(r->verdict.remedies[0], "raise --max-bytes");
		assert_int_equal(r->verdict.loss_count, 1);
		assert_int_equal(r->verdict.losses[0].start_ns, 5000000);
		assert_int_equal(r->devices[0].busy_ns, 200000);
		vpa_report_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(launches_without_kernel_are_judged),
		cmocka_unit_test(work_queued_before_the_recording_is_no_loss),
		cmocka_unit_test(times_outside_the_capture_are_doubted),
		cmocka_unit_test(ops_before_their_launch_show_that_clocks_disagree),
		cmocka_unit_test(kernels_that_wait_or_cannot_last_are_no_work),
		cmocka_unit_test(what_found_no_room_in_the_file_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
