/* test_window_definitions.c - the window and what is listed: each rule on a trace whose answer a person can compute. */
#include "tests/analysis/report/definitions_rig.h"

#include <cmocka.h>

/* ---- the window, and what is listed ---- */

#define WINDOW                                                                                     \
	"start 100\nend 1100\n" RUN("t1", "110", "200-300", "1") RUN("t1", "210", "500-600", "2")  \
		RUN("t1", "610", "900-1000",                                                       \
			"3") "range t1 205-215 \"step\"\nrange t1 120-140 \"empty\"\nrange t1 "    \
			     "105-116 \"twice\"\n"                                                 \
			     "range t1 605-615 \"twice\"\nstartend t1 104-700 \"request\"\n"

static const struct {
	const char *rule;
	struct vpa_options options;
	const char *is; /* window, busy and idle time, kernels, calls, ranges; or the error */
} windows[] = {
	{"the whole capture", {0}, "100-1100, busy 300, idle 700, kernels 3, calls 3, ranges 5"},
	{"--from cuts ops at its edge", {.has_from = 1, .from_ns = 150},
		"250-1100, busy 250, idle 600, kernels 3, calls 1, ranges 1"},
	{"--to cuts ops at its edge", {.has_to = 1, .to_ns = 150},
		"100-250, busy 50, idle 100, kernels 1, calls 2, ranges 4"},
	{"--from and --to", {.has_from = 1, .from_ns = 150, .has_to = 1, .to_ns = 450},
		"250-550, busy 100, idle 200, kernels 2"},
	{"--to beyond the end is the end", {.has_to = 1, .to_ns = 9999},
		"100-1100, busy 300, idle 700, kernels 3, calls 3, ranges 5"},
	{"--from beyond the end is refused", {.has_from = 1, .from_ns = 9999}, "refused"},
	{"--from at the end is refused", {.has_from = 1, .from_ns = 1000}, "refused"},
	{"--from just before the end leaves that", {.has_from = 1, .from_ns = 999}, "1099-1100"},
	{"--from behind --to is refused",
		{.has_from = 1, .from_ns = 200, .has_to = 1, .to_ns = 200}, "refused"},
	{"--range: from its start to the end of its last op", {.range = "step"},
		"205-600, busy 195, idle 200, kernels 2, calls 1, ranges 1"},
	{"--range: its own end, where it launched nothing", {.range = "empty"}, "120-140"},
	{"--range of several instances: the first", {.range = "twice"},
		"105-300, busy 100, idle 95, kernels 1, calls 2, ranges 3"},
	{"--range of a process-wide range", {.range = "request"},
		"104-1000, busy 300, idle 596, kernels 3, calls 3, ranges 5"},
	{"--range of no range is refused", {.range = "nothing"}, "refused"},
};

static void say_window(struct words *w, const struct vpa_report *r)
{
	say(w, "%" PRIu64 "-%" PRIu64, r->window_start_ns, r->window_end_ns);
	if (r->device_count) {
		say_number(w, "busy", r->devices[0].busy_ns);
		say_number(w, "idle", r->devices[0].window_idle_ns);
		say_number(w, "kernels", r->counts.kernels);
		say_number(w, "calls", r->counts.calls);
		say_number(w, "ranges", r->counts.ranges);
	}
}

static void the_window_is_what_was_asked_for(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(windows); i++) {
		struct vpt_trace *trace;
		struct vpa_report *r;
		struct vpt_err err = {0};
		struct words w = {0};

		assert_int_equal(vpt_script_trace(WINDOW, &trace, &err), 0);
		if (!vpa_analyze(trace, "case", &windows[i].options, &r, &err))
			say_window(&w, r);
		else
			say(&w, err.code == VPT_EINVAL ? "refused" : "failed");
		expect(windows[i].rule, WINDOW, &w, windows[i].is);
		vpa_report_free(r);
		vpt_trace_close(trace);
	}
}

/* `count` gaps of `ns` between ops of 1 us, and some of a millisecond. */
static void expect_listed(
	uint64_t ns, unsigned count, unsigned longer, uint64_t asked, uint64_t min, uint64_t listed)
{
	const struct vpa_options options = {.min_gap_ns = asked};
	struct vpa_report *r;
	struct words w = {0};
	uint64_t at = 1000;
	unsigned i;

	say(&w, "start 1000\n");
	for (i = 0; i <= count; i++, at += 1000 + ns)
		say(&w, "kernel s7 %" PRIu64 "+1us \"a\"\n", at);
	for (i = 0, at += 1000000 - ns; i < longer; i++, at += 1001000)
		say(&w, "kernel s7 %" PRIu64 "+1us \"b\"\n", at);
	r = vpt_script_report(w.text, &options);
	assert_int_equal(r->min_gap_ns, min);
	assert_int_equal(r->gaps_listed_of, listed);
	assert_int_equal(r->gap_count, listed);
	vpa_report_free(r);
}

static void short_gaps_are_summed_and_not_listed(void **state)
{
	(void)state;
	expect_listed(1000, 24, 10, 0, 10000, 10);     /* 5 times the median is less than 10 us */
	expect_listed(3000, 24, 10, 0, 15000, 10);     /* 5 times the median */
	expect_listed(900000, 24, 10, 0, 1000000, 10); /* a millisecond is listed in any case */
	expect_listed(3000, 24, 9, 0, 10000, 9);       /* the tenth longest, if that is 10 us */
	expect_listed(10000, 0, 1, 0, 1000000, 1);     /* of few gaps all from 10 us on */
	expect_listed(900000, 9, 1, 0, 900000, 10);
	expect_listed(900000, 9, 9, 0, 900000, 18);
	expect_listed(3000, 9, 1, 3000, 3000, 10);
	expect_listed(3000, 9, 1, 3001, 3001, 1);
}

/* Busy time of the only device. */
static uint64_t busy_of(const char *script)
{
	static const struct vpa_options plain = {.jobs = 1};
	struct vpa_report *r = vpt_script_report(script, &plain);
	uint64_t ns = r->devices[0].busy_ns;

	assert_int_equal(r->device_count, 1);
	vpa_report_free(r);
	return ns;
}

static void times_beyond_the_middle_of_their_range(void **state)
{
	(void)state;
	/* The second ends before it starts. */
	assert_int_equal(
		busy_of("start 1\nend 100000\n"
			"call t1 cudaLaunchKernel 100-110 corr 1\n"
			"call t1 cudaLaunchKernel 120-130 corr 2\n"
			"kernel s7 200-300 corr 1 \"a\"\n"
			"kernel s7 9223372036854775808+9223372036854775808 corr 2 \"b\"\n"),
		100);
	/* The third runs during the second. */
	assert_int_equal(busy_of("start 1\nend 18446744073709551000\n"
				 "call t1 cudaLaunchKernel 100-110 corr 1\n"
				 "call t1 cudaLaunchKernel 120-130 corr 2\n"
				 "call t1 cudaLaunchKernel 130-140 corr 3\n"
				 "kernel s7 200-300 corr 1 \"a\"\n"
				 "kernel s7 1000-18446744073709550000 corr 2 \"b\"\n"
				 "kernel s7 2000-3000 corr 3 \"c\"\n"),
		100 + 18446744073709549000u);
}

static void processes_may_use_the_same_numbers(void **state)
{
	/* The gap before b is of process 1's thread, the one before c of process 2's. */
	const char *script =
		"thread x pid 2 tid 200\nstream y device 1 context 1 stream 7 pid 2\nstart 1ms\n"
		"call t1 cudaLaunchKernel 1000us-1001us corr 1\nkernel s7 1002us-1003us corr 1 "
		"\"a\"\n"
		"call x cudaMemcpyAsync 1000us-1001us corr 1\nkernel y 1002us-1003us corr 1 \"a\"\n"
		"call t1 cudaLaunchKernel 1101us-1102us corr 2\nkernel s7 1103us-1104us corr 2 "
		"\"b\"\n"
		"call x cudaLaunchKernelExC 1201us-1202us corr 2\nkernel y 1203us-1204us corr 2 "
		"\"c\"\n";
	const struct vpa_options all = {.min_gap_ns = 1};
	struct vpa_report *r = vpt_script_report(script, &all);
	struct words w = {0};
	size_t i;

	(void)state;
	for (i = 0; i < r->gap_count; i++)
		if (r->gaps[i].after && r->gaps[i].before)
			say(&w, "%s%" PRId64 ":%" PRId64 " before %s", w.len ? ", " : "",
				r->gaps[i].pid, r->gaps[i].tid, r->gaps[i].before);
	expect("a launch is looked for in the op's process", script, &w,
		"2:200 before c, 1:1 before b");
	vpa_report_free(r);
}

/* ---- the verdict ---- */

static void ranges_outside_the_window_are_not_its_unmatched_ones(void **state)
{
	static const struct vpa_options part = {
		.has_from = 1, .from_ns = 2000000, .has_to = 1, .to_ns = 5000000};
	struct vpa_report *r = vpt_script_report("start 1ms; end 10ms\n"
						 "range t1 1500us-2000us \"before\" unmatched\n"
						 "range t1 2500us-3500us \"into it\" unmatched\n"
						 "open t1 4ms \"across its end\"\n"
						 "open t1 7ms \"behind\"\n",
		&part);

	(void)state;
	assert_int_equal(r->verdict.unmatched_ranges, 2);
	vpa_report_free(r);
}

/* What is listed is a matter of the page. */
static void findings_do_not_depend_on_how_much_is_listed(void **state)
{
	static const struct vpa_options one = {.top = 1};
	struct vpa_report *r =
		vpt_script_report("start 1ms\n"
				  "call t1 cudaLaunchKernel 1000us-1001us corr 1\n"
				  "kernel s7 1000us-1900us corr 1 \"gemm\"\n"
				  "call t1 cudaLaunchKernel 1002us-1003us corr 2\n"
				  "kernel s7 1900us-2000us corr 2 \"vol2col_kernel\"\n",
			&one);

	(void)state;
	assert_int_equal(r->kernel_count, 1);
	assert_true(finding_called(r, "vol2col")->gain_at_most_ms == 0.1);
	vpa_report_free(r);
}

/* A host far ahead launches long work in a short range. */
static void ranges_are_in_order_of_the_larger_of_their_times(void **state)
{
	struct vpa_report *r =
		vpt_script_report("start 1ms\nend 2ms\n"
				  "range t1 1000us-1010us \"short, with long work\"\n"
				  "call t1 cudaLaunchKernel 1001us-1002us corr 1\n"
				  "kernel s7 1010us-1410us corr 1 \"a\"\n"
				  "range t1 1100us-1400us \"long, with short work\"\n"
				  "call t1 cudaLaunchKernel 1101us-1102us corr 2\n"
				  "kernel s7 1410us-1420us corr 2 \"a\"\n"
				  "range t1 1500us-1850us \"long, without work\"\n",
			NULL);

	(void)state;
	assert_int_equal(r->range_count, 3);
	assert_string_equal(r->ranges[0].name, "short, with long work");
	assert_int_equal(r->ranges[0].busy_ns, 400000);
	assert_string_equal(r->ranges[1].name, "long, without work");
	assert_string_equal(r->ranges[2].name, "long, with short work");
	vpa_report_free(r);
}

static void pauses_belong_neither_to_the_window_nor_to_idle_time(void **state)
{
	struct vpa_report *r = vpt_script_report("start 1ms\nend 2ms\n"
						 "call t1 cudaLaunchKernel 1000us-1001us corr 1\n"
						 "kernel s7 1000us-1100us corr 1 \"a\"\n"
						 "call t1 cudaLaunchKernel 1900us-1901us corr 2\n"
						 "kernel s7 1910us-2000us corr 2 \"b\"\n"
						 "range t1 1000us-1950us \"around both\"\n"
						 "loss all paused 1200us-1800us\n",
		NULL);

	(void)state;
	assert_true(r->verdict.complete);
	assert_int_equal(r->paused_ns, 600000);
	assert_int_equal(vpa_window_ns(r), 400000);
	assert_int_equal(r->devices[0].window_idle_ns, 210000);
	assert_int_equal(r->devices[0].busy_ns, 190000);
	assert_int_equal(r->devices[0].longest_gap_ns, 110000);
	/* Neither to what lies between the first and the last op, where nobody saw others' ops either. */
	assert_int_equal(r->devices[0].active_ns, 400000);
	assert_int_equal(r->devices[0].idle_ns, 210000);
	assert_int_equal(r->ranges[0].envelope_ns, 400000);
	assert_int_equal(r->ranges[0].gpu.total_ns, 400000);
	assert_int_equal(r->ranges[0].busy_ns, 190000);
	assert_int_equal(r->ranges[0].idle_ns, 210000);
	assert_int_equal(r->ranges[0].foreign_ns, 0);
	vpa_report_free(r);
	/* An op that began before the pause runs on for 100 us in it. */
	r = vpt_script_report("start 1ms\nend 2ms\n"
			      "call t1 cudaLaunchKernel 1000us-1001us corr 1\n"
			      "kernel s7 1000us-1300us corr 1 \"a\"\n"
			      "call t1 cudaLaunchKernel 1900us-1901us corr 2\n"
			      "kernel s7 1910us-2000us corr 2 \"b\"\n"
			      "loss all paused 1200us-1800us\n",
		NULL);
	assert_int_equal(r->devices[0].busy_ns, 390000);
	assert_int_equal(r->devices[0].window_idle_ns, 110000);
	assert_int_equal(vpa_window_ns(r), 500000);
	assert_int_equal(r->verdict.reason_count, 0);
	vpa_report_free(r);
	/* The host was ahead when the pause ended: what runs then was launched in it. */
	r = vpt_script_report("start 1ms\nend 2ms\n"
			      "call t1 cudaLaunchKernel 1000us-1001us corr 1\n"
			      "kernel s7 1000us-1100us corr 1 \"a\"\n"
			      "loss all paused 1200us-1800us\n"
			      "kernel s7 1810us-1900us corr 2 \"b\"\n"
			      "call t1 cudaLaunchKernel 1890us-1891us corr 3\n"
			      "kernel s7 1910us-2000us corr 3 \"c\"\n",
		NULL);
	assert_true(r->verdict.complete);
	assert_string_equal(r->verdict.reasons[0],
		"1 operation was launched while recording was paused: its launch is unknown");
	assert_null(r->verdict.remedies[0]);
	vpa_report_free(r);
}

/* Device 1 runs on in the pause; what device 0 did then is not known. */
static void each_device_has_a_window_of_its_own(void **state)
{
	struct vpa_report *r = vpt_script_report("start 1ms\nend 2ms\n"
						 "stream y device 1 context 2 stream 7\n"
						 "call t1 cudaLaunchKernel 1000us-1001us corr 1\n"
						 "kernel s7 1100us-1200us corr 1 \"a\"\n"
						 "call t1 cudaLaunchKernel 1002us-1003us corr 2\n"
						 "kernel y 1300us-1500us corr 2 \"b\"\n"
						 "loss all paused 1400us-1700us\n",
		NULL);

	(void)state;
	assert_true(r->verdict.complete);
	assert_int_equal(r->device_count, 2);
	assert_int_equal(r->devices[0].busy_ns, 100000);
	assert_int_equal(r->devices[0].window_idle_ns, 600000);
	assert_int_equal(r->devices[1].busy_ns, 200000);
	assert_int_equal(r->devices[1].window_idle_ns, 600000);
	assert_int_equal(vpa_device_window_ns(&r->devices[0]), 700000);
	assert_int_equal(vpa_device_window_ns(&r->devices[1]), 800000);
	assert_int_equal(vpa_window_ns(r), 800000);
	assert_int_equal(vpa_windows_ns(r), 1500000);
	vpa_report_free(r);
}

/* What the host did in a pause is not known: of 1.9 ms before the first op, 0.9 ms were recorded. */
static void the_head_has_no_time_of_pauses(void **state)
{
	struct vpa_report *r = vpt_script_report("start 1ms\nend 3ms\n"
						 "call t1 cudaMalloc 1000us-1100us corr 1\n"
						 "loss all paused 1200us-2200us\n"
						 "call t1 cudaMalloc 2200us-2300us corr 3\n"
						 "call t1 cudaLaunchKernel 2900us-2901us corr 4\n"
						 "kernel s7 2910us-3000us corr 4 \"a\"\n",
		NULL);
	uint64_t sum = 0, most = 0;
	size_t i;

	(void)state;
	for (i = 0; i < r->devices[0].before_first_work_count; i++) {
		sum += r->devices[0].before_first_work[i].ns;
		if (r->devices[0].before_first_work[i].cause == VPA_CAUSE_HOST_CODE)
			most = r->devices[0].before_first_work[i].ns;
	}
	assert_int_equal(r->devices[0].window_idle_ns, 910000);
	assert_int_equal(sum, 910000);
	assert_int_equal(most, 100000 + 600000);
	vpa_report_free(r);
}

static void work_after_the_last_clock_point_is_inside_the_window(void **state)
{
	struct vpa_report *r = vpt_script_report("start 1ms\nend 2ms\n"
						 "call t1 cudaLaunchKernel 1000us-1001us corr 1\n"
						 "kernel s7 1900us-2010us corr 1 \"a\"\n",
		NULL);

	(void)state;
	assert_int_equal(vpa_window_ns(r), 1010000);
	assert_int_equal(r->devices[0].busy_ns, 110000);
	assert_int_equal(r->devices[0].window_idle_ns, 900000);
	vpa_report_free(r);
}

/* Device 1 works once and again after `seconds`, while t1 keeps device 0 busy: 40 kernels and a chunk a second. */
static enum vpa_cause cause_of_long_gap(unsigned seconds)
{
	enum { A_SECOND = 40, LINE = 160 };
	size_t size = (seconds * A_SECOND * 2 + 16) * (size_t)LINE, len, i;
	char *script = vpt_alloc(size, 1);
	enum vpa_cause cause = VPA_CAUSES;
	struct vpa_report *r;
	unsigned n;

	assert_non_null(script);
	len = (size_t)snprintf(script, size,
		"start 1s\ncall t1 cudaMemsetAsync 1s-1s corr 1\nmemset s1.7 1s-1001ms corr 1\n");
	for (n = 0; n < seconds * A_SECOND; n++) {
		unsigned us = 1010000 + n * 25000;

		len += (size_t)snprintf(script + len, size - len,
			"call t1 cudaLaunchKernel %uus-%uus corr %u\nkernel s7 %uus-%uus corr %u "
			"\"k\"\n%s",
			us, us + 5, n + 2, us + 10, us + 20000, n + 2,
			n % A_SECOND == A_SECOND - 1 ? "chunk\n" : "");
	}
	snprintf(script + len, size - len,
		"call t1 cudaMemsetAsync %us-%us corr 999999\n"
		"memset s1.7 %us-%u001ms corr 999999\n",
		seconds + 2, seconds + 2, seconds + 2, seconds + 2);
	r = vpt_script_report(script, NULL);
	for (i = 0; i < r->gap_count; i++)
		if (r->gaps[i].device == 1 && r->gaps[i].before && r->gaps[i].after)
			cause = r->gaps[i].cause;
	vpa_report_free(r);
	vpt_free(script);
	return cause;
}

static void the_past_is_kept_for_half_a_minute_of_an_idle_device(void **state)
{
	(void)state;
	assert_int_equal(cause_of_long_gap(25), VPA_CAUSE_HOST_CODE);
	assert_int_equal(cause_of_long_gap(90), VPA_CAUSE_RECORDS_LOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_window_is_what_was_asked_for),
		cmocka_unit_test(short_gaps_are_summed_and_not_listed),
		cmocka_unit_test(times_beyond_the_middle_of_their_range),
		cmocka_unit_test(processes_may_use_the_same_numbers),
		cmocka_unit_test(ranges_outside_the_window_are_not_its_unmatched_ones),
		cmocka_unit_test(findings_do_not_depend_on_how_much_is_listed),
		cmocka_unit_test(ranges_are_in_order_of_the_larger_of_their_times),
		cmocka_unit_test(pauses_belong_neither_to_the_window_nor_to_idle_time),
		cmocka_unit_test(each_device_has_a_window_of_its_own),
		cmocka_unit_test(the_head_has_no_time_of_pauses),
		cmocka_unit_test(work_after_the_last_clock_point_is_inside_the_window),
		cmocka_unit_test(the_past_is_kept_for_half_a_minute_of_an_idle_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
