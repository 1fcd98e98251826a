/* test_unit_limit.c - what limits is the group of causes with most time, then its largest cause; RESULT, the checklist
 * and a comparison say the same. */
#include "formats/base/count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/compare/comparison.h"
#include "analysis/pipeline/unit_limit.h"
#include "tests/support/traces/findings_rig.h"

/* ---- the groups ---- */

#define NS(name, ns) [VPA_CAUSE_##name] = ns

static const struct {
	const char *rule;
	uint64_t cause_ns[VPA_CAUSES];
	enum vpa_cause_group group;
	enum vpa_cause cause;
	uint64_t group_ns;
	int is_largest;
} limits[] = {
	{"three causes of a group against a larger one of another",
		{NS(SCHEDULING, 147), NS(LAUNCH_RATE, 120), NS(HOST_CODE, 110),
			NS(LAUNCH_CALL, 80)},
		VPA_GROUP_PACE, VPA_CAUSE_LAUNCH_RATE, 310, 0},
	{"one cause larger than three of a group together",
		{NS(SCHEDULING, 311), NS(LAUNCH_RATE, 120), NS(HOST_CODE, 110),
			NS(LAUNCH_CALL, 80)},
		VPA_GROUP_STARTS, VPA_CAUSE_SCHEDULING, 311, 1},
	{"of equal groups the first", {NS(SYNC, 100), NS(LAUNCH_CALL, 60), NS(HOST_CODE, 40)},
		VPA_GROUP_PACE, VPA_CAUSE_LAUNCH_CALL, 100, 0},
	{"of equal causes the first", {NS(HOST_CODE, 50), NS(LAUNCH_RATE, 50)}, VPA_GROUP_PACE,
		VPA_CAUSE_LAUNCH_RATE, 100, 1},
	{"both kinds of wait are waits", {NS(HOST_CODE, 90), NS(SYNC, 50), NS(BLOCKING_COPY, 60)},
		VPA_GROUP_WAITS, VPA_CAUSE_BLOCKING_COPY, 110, 0},
	{"set-up is one thing",
		{NS(SYNC, 90), NS(MODULE_LOAD, 40), NS(FIRST_USE, 30), NS(GRAPH_BUILD, 30)},
		VPA_GROUP_SETUP, VPA_CAUSE_MODULE_LOAD, 100, 0},
	{"head and tail of the window limit nothing",
		{NS(BEFORE_FIRST_WORK, 900), NS(AFTER_LAST_WORK, 900), NS(DEPENDENCY, 1)},
		VPA_GROUP_STREAMS, VPA_CAUSE_DEPENDENCY, 1, 1},
	{"without idle time nothing does", {NS(NOT_IDLE, 0)}, VPA_GROUP_NONE, VPA_CAUSE_NOT_IDLE, 0,
		1},
	{"no sum wraps", {NS(LAUNCH_RATE, UINT64_MAX), NS(HOST_CODE, 2), NS(SYNC, 5)},
		VPA_GROUP_PACE, VPA_CAUSE_LAUNCH_RATE, UINT64_MAX, 1},
};

static void the_group_is_chosen_before_its_cause(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(limits); i++) {
		struct vpa_idle_limit l = vpa_idle_limit_of(limits[i].cause_ns);

		if (l.group != limits[i].group || l.cause != limits[i].cause ||
			l.group_ns != limits[i].group_ns || l.is_largest != limits[i].is_largest)
			fail_msg("%s: %s, %s, %llu ns", limits[i].rule,
				vpa_cause_group_words(l.group), vpa_cause_text(l.cause),
				(unsigned long long)l.group_ns);
	}
}

/* A cause that nobody gave a group would limit nothing. */
static void every_cause_is_in_a_group(void **state)
{
	uint32_t all = 0;
	unsigned i;

	(void)state;
	for (i = 0; i < VPA_GROUPS; i++) {
		assert_int_equal(all & vpa_cause_group_causes((enum vpa_cause_group)i), 0);
		all |= vpa_cause_group_causes((enum vpa_cause_group)i);
		assert_true(vpa_cause_group_words((enum vpa_cause_group)i)[0] != '\0');
	}
	assert_int_equal(all, ((uint32_t)1 << VPA_CAUSES) - 1);
	assert_int_equal(vpa_cause_group_causes(VPA_GROUP_NONE),
		1u << VPA_CAUSE_NOT_IDLE | 1u << VPA_CAUSE_BEFORE_FIRST_WORK |
			1u << VPA_CAUSE_AFTER_LAST_WORK);
}

/* ---- on traces ---- */

/* Steps with 500 us of work, then idle: `sync_us` in a synchronisation, `rate_us` in which the host is slow to
 * launch, five times, below 100 us each, `code_us` in code of its own, 100 us or more. */
struct pace {
	unsigned sync_us, rate_us, code_us;
};

enum { STEPS = 8 };

static void put_steps(char *script, size_t size, struct pace p, const char *name, const char *more)
{
	size_t used, i, at = 0, corr = 0;

	used = (size_t)snprintf(script, size, "start %s\n%s", *more ? "960ms" : "1s", more);
	for (i = 0; i < STEPS; i++) {
		size_t period = 570 + p.sync_us + 5 * p.rate_us + p.code_us,
		       t = 1000000 + i * period, begin = t;

		used += (size_t)snprintf(script + used, size - used,
			"range t1 %zuus-%zuus \"%s%zu\"\n", t, t + period - 10, name, i);
		used += (size_t)snprintf(script + used, size - used,
			"call t1 cudaLaunchKernel %zuus+1us corr %zu\n"
			"kernel s7 %zuus-%zuus corr %zu \"k\"\n"
			"call t1 cudaStreamSynchronize %zuus-%zuus corr %zu\n",
			t, corr + 1, t + 2, t + 500, corr + 1, t + 3, t + 500 + p.sync_us,
			corr + 2);
		corr += 2;
		for (at = t + 500 + p.sync_us, t = 0; t < 6; t++) {
			at += t < 5 ? p.rate_us : p.code_us;
			used += (size_t)snprintf(script + used, size - used,
				"call t1 cudaLaunchKernel %zuus-%zuus corr %zu\n"
				"kernel s7 %zuus+4us corr %zu \"k\"\n",
				at, at + 1, corr + 1, at + 1, corr + 1);
			at += 5;
			corr++;
		}
		assert_true(at < begin + period && used < size);
	}
}

static struct vpa_report *paced(struct pace p, const char *name, const char *more)
{
	static const struct vpa_options options = {.step_parts = 1, .overview = 1};
	char script[16384];

	put_steps(script, sizeof(script), p, name, more);
	return vpt_script_report(script, &options);
}

/* The host waits 50 us for the GPU, is late by 60 after that, and takes 4 x 60 and more for launches. */
static void result_and_the_checklist_name_the_group(void **state)
{
	static const struct pace p = {.sync_us = 50, .rate_us = 60, .code_us = 0};
	struct vpa_report *r = paced(p, "step ", "");
	struct vpa_unit_limit limit = vpa_unit_limit_of(r);

	(void)state;
	assert_int_equal(limit.bound, VPA_LIMIT_IDLE);
	assert_int_equal(limit.idle.group, VPA_GROUP_PACE);
	expect_page("RESULT", r,
		"CAUSE HOST-BOUND: the GPU works 522 us of a step and waits 398 us.", 1);
	expect_page("the checklist", r, "the rest is mostly launch rate", 1);
	expect_page("CAUSE", r, "398 us. For 280 us the host launched too slowly", 1);
	vpa_report_free(r);
}

/* 180 us count to the wait, 4 x 30 and 40 to launches, 110 to code. */
static void a_larger_cause_of_another_group_is_named_next(void **state)
{
	static const struct pace p = {.sync_us = 150, .rate_us = 30, .code_us = 110};
	struct vpa_report *r = paced(p, "step ", "");
	struct vpa_unit_limit limit = vpa_unit_limit_of(r);

	(void)state;
	assert_int_equal(limit.idle.group, VPA_GROUP_PACE);
	assert_false(limit.idle.is_largest);
	expect_page("RESULT", r,
		"For 160 us the host launched too slowly. For 180 us the host waited for the GPU",
		1);
	expect_page("the checklist", r, "the rest is mostly the host's pace", 1);
	vpa_report_free(r);
}

/* Before the steps the host runs code for 30 ms, which no step is limited by. */
static void the_unit_is_what_is_limited(void **state)
{
	static const struct pace p = {.sync_us = 300, .rate_us = 10, .code_us = 0};
	static const char before[] = "call t1 cudaLaunchKernel 960ms+1us corr 9001\n"
				     "kernel s7 960002us-965ms corr 9001 \"k\"\n";
	struct vpa_report *r = paced(p, "step ", before);

	(void)state;
	assert_int_equal(vpa_unit_limit_of(r).idle.cause, VPA_CAUSE_SYNC);
	expect_page("RESULT", r,
		"of a step and waits 398 us. For 310 us the host waited for the GPU, "
		"cudaStreamSynchronize",
		1);
	expect_page("the checklist", r, "the rest is mostly sync", 1);
	vpa_report_free(r);
}

/* Nothing is marked: the window is the unit, and its head is no limit. */
static void of_a_window_the_time_between_its_ops_counts(void **state)
{
	static const struct vpa_options options = {.step_parts = 1};
	struct vpa_report *r =
		vpt_script_report("start 1s\ncall t1 cudaLaunchKernel 1500ms+1us corr 1\n"
				  "kernel s7 1500002us-1510ms corr 1 \"a\"\n"
				  "call t1 cudaStreamSynchronize 1501ms-1530ms corr 2\n"
				  "call t1 cudaLaunchKernel 1530ms+1us corr 3\nkernel s7 "
				  "1530002us-1540ms corr 3 \"b\"\n",
			&options);

	(void)state;
	assert_int_equal(vpa_unit_of(r), VPA_UNIT_WINDOW);
	assert_int_equal(vpa_unit_limit_of(r).idle.cause, VPA_CAUSE_SYNC);
	vpa_report_free(r);
}

/* Where the GPU is busy for 99 % of a step, what it waits for is no limit. */
static void a_busy_unit_is_bound_by_its_work(void **state)
{
	static const struct vpa_options options = {.step_parts = 1, .overview = 1};
	char script[4096];
	size_t i, used = (size_t)snprintf(script, sizeof(script), "start 1s\n");
	struct vpa_report *r;

	(void)state;
	for (i = 0; i < STEPS; i++)
		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"range t1 %zums-%zums \"step %zu\"\n"
			"call t1 cudaLaunchKernel %zums+1us corr %zu\n"
			"kernel s7 %zuus-%zuus corr %zu \"k\"\n",
			1000 + 10 * i, 1009 + 10 * i, i, 1000 + 10 * i, i + 1,
			(1000 + 10 * i) * 1000 + 2, (1010 + 10 * i) * 1000 - 50, i + 1);
	r = vpt_script_report(script, &options);
	assert_int_equal(vpa_unit_limit_of(r).bound, VPA_LIMIT_WORK);
	expect_page("RESULT", r, "GPU-BOUND", 1);
	expect_page("no cause", r, "the host waited", 0);
	vpa_report_free(r);
}

static char *compared_page(const struct vpa_report *a, const struct vpa_report *b)
{
	const struct vpa_compare_options how = {.kinds = 0};
	struct vpa_comparison *c;
	struct vpt_buffer out;
	struct vpt_sink *sink;
	struct vpt_err err = {0};
	char *from, *to;

	if (vpa_compare(&(struct vpa_side){&a, 1}, &(struct vpa_side){&b, 1}, &how, &c, &err))
		fail_msg("%s", err.text);
	assert_int_equal(vpt_sink_memory(&out, &sink, NULL), VPT_OK);
	if (vpa_compare_text(c, 80, 0, 0, sink, &err) || vpt_sink_write(sink, "", 1, &err) ||
		sink->finish(sink, 1, &err))
		fail_msg("%s", err.text);
	vpa_comparison_free(c);
	for (from = to = out.data; *from; from++) {
		*from = *from == '\n' ? ' ' : *from;
		if (*from != ' ' || (to != out.data && to[-1] != ' '))
			*to++ = *from;
	}
	*to = '\0';
	return out.data;
}

static void a_comparison_says_where_the_limit_moves(void **state)
{
	static const struct pace waits = {.sync_us = 300, .rate_us = 10, .code_us = 0},
				 launches = {.sync_us = 0, .rate_us = 80, .code_us = 150};
	struct vpa_report *a = paced(waits, "step ", ""), *b = paced(launches, "step ", "");
	char *page = compared_page(a, b), *same = compared_page(a, a);

	(void)state;
	if (!strstr(page, "A is limited by sync: host waited for the GPU. B is limited by ") ||
		strstr(same, "A is limited by"))
		fail_msg("%s\n%s", page, same);
	vpt_free(page);
	vpt_free(same);
	vpa_report_free(a);
	vpa_report_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_group_is_chosen_before_its_cause),
		cmocka_unit_test(every_cause_is_in_a_group),
		cmocka_unit_test(result_and_the_checklist_name_the_group),
		cmocka_unit_test(a_larger_cause_of_another_group_is_named_next),
		cmocka_unit_test(the_unit_is_what_is_limited),
		cmocka_unit_test(of_a_window_the_time_between_its_ops_counts),
		cmocka_unit_test(a_busy_unit_is_bound_by_its_work),
		cmocka_unit_test(a_comparison_says_where_the_limit_moves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
