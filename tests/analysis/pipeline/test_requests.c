/* test_requests.c - several requests: RESULT and conditions are of the steady ones, any can be the window. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/compare/conditions/fail_conditions.h"
#include "analysis/pipeline/unit.h"
#include "tests/support/traces/findings_rig.h"

/* Requests of three blocks with 10 frames each, whose kernels run for a whole period; periods in ms. */
static const char *requests(const unsigned *periods_ms, size_t count)
{
	static char script[16384];
	size_t used = (size_t)snprintf(script, sizeof(script), "start 1s\n"), i, k, id = 0;
	unsigned at = 1000;

	for (i = 0; i < count; i++) {
		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"range t1 %ums+%ums \"request %zu\"\n", at, 3 * periods_ms[i], i);
		for (k = 0; k < 3; k++, at += periods_ms[i], id++)
			used += (size_t)snprintf(script + used, sizeof(script) - used,
				"range t1 %ums+1ms \"block %zu\"\n"
				"call t1 cudaLaunchKernel %ums+1us corr %zu\n"
				"kernel s7 %ums+%ums corr %zu" GEMM,
				at, k, at, id + 1, at, periods_ms[i], id + 1);
	}
	return script;
}

static struct vpa_report *report_of(const unsigned *periods_ms, size_t count, struct vpa_options o)
{
	o.frames_per_block = 10;
	return vpt_script_report(requests(periods_ms, count), &o);
}

/* The first takes three times as long; of the others the one in the middle, of two the slower. */
static void result_is_of_the_steady_requests(void **state)
{
	static const struct {
		const char *rule;
		unsigned periods_ms[5];
		size_t count, main;
		const char *result;
	} cases[] = {
		{"a request alone", {100}, 1, 0, "RESULT 100 FPS. A block takes"},
		{"of two the second", {300, 100}, 2, 1,
			"The first one, which sets up what others reuse, has 33.3 FPS."},
		{"of four the median", {300, 103, 101, 102}, 4, 3,
			"This is request 4 of 4, the median without the first. The first"},
		{"of five the slower one in the middle", {300, 100, 103, 101, 102}, 5, 4,
			"RESULT 98.0 FPS. A block"},
		{"an outlier later on is none", {100, 900, 100, 100}, 4, 2,
			"This is request 3 of 4, the median without the first. CAUSE"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vpa_report *r =
			report_of(cases[i].periods_ms, cases[i].count, (struct vpa_options){0});
		size_t main = (size_t)(vpa_main_request(r) - r->requests);
		char *page = page_of(r), *words;

		if (main != cases[i].main)
			fail_msg("%s: expected request %zu, found %zu", cases[i].rule,
				cases[i].main, main);
		/* as one line */
		for (words = page; (words = strstr(words, "\n        "));)
			memmove(words, words + 8, strlen(words + 8) + 1), *words = ' ';
		if (!strstr(page, cases[i].result))
			fail_msg("%s: no \"%s\" in %s", cases[i].rule, cases[i].result, page);
		vpt_free(page);
		vpa_report_free(r);
	}
}

static void conditions_are_of_the_steady_requests(void **state)
{
	static const unsigned periods_ms[] = {300, 100, 100, 100};
	struct vpa_report *r = report_of(periods_ms, 4, (struct vpa_options){0});
	struct vpa_condition condition;
	struct vpt_err err = {0};
	char what[160];
	int holds;

	(void)state;
	assert_int_equal(vpa_condition_read("fps<99", 1, &condition, &err), VPT_OK);
	assert_int_equal(vpa_condition_holds_of(&condition, r, &holds, what, &err), VPT_OK);
	assert_false(holds);
	assert_int_equal(vpa_condition_read("fps<101", 1, &condition, &err), VPT_OK);
	assert_int_equal(vpa_condition_holds_of(&condition, r, &holds, what, &err), VPT_OK);
	assert_true(holds);
	vpa_report_free(r);
}

/* The host waits for a step of 10 ms of work, runs its own code for 2 ms, after a request for 3 ms more. In the second
 * step of the first request the code takes 200 ms more. */
static const char *unlike_requests(size_t count, int has_steps)
{
	static char script[1 << 16];
	size_t used = (size_t)snprintf(script, sizeof(script), "start 1s\n"), i, k, id = 0;
	unsigned at = 1000, from;

	for (i = 0; i < count; i++) {
		for (k = 0, from = at; k < 4; k++) {
			unsigned code = 2 + (!i && k == 1 ? 200 : 0);

			if (has_steps)
				used += (size_t)snprintf(script + used, sizeof(script) - used,
					"range t1 %ums+%ums \"step %zu\"\n", at, 10 + code, k);
			used += (size_t)snprintf(script + used, sizeof(script) - used,
				"call t1 cudaLaunchKernel %ums+1us corr %zu\n"
				"kernel s7 %ums+10ms corr %zu" GEMM
				"call t1 cudaStreamSynchronize %ums+9ms corr %zu\n",
				at, id + 1, at, id + 1, at + 1, id + 2);
			id += 2;
			at += 10 + code;
		}
		at += 3;
		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"range t1 %ums-%ums \"request %zu\"\n", from, at, i);
	}
	return script;
}

/* What only the first request needs is in no mean, no place, and behind what the others need. */
static void the_unit_leaves_out_the_first_request(void **state)
{
	static const struct {
		const char *rule;
		size_t count;
		int has_steps;
		double units;
		uint64_t us;
		const char *result;
	} cases[] = {
		{"one request", 1, 0, 1, 246000, "RESULT The only request takes 246 ms."},
		{"one request with steps", 1, 1, 3, 78667, "A step takes 78.7 ms, the mean of 3"},
		/* to its last op: nothing follows it */
		{"two requests", 2, 0, 1, 46000,
			"RESULT A request takes 46.0 ms, without the first. The first one, which "
			"sets up "
			"what others reuse, takes 246 ms."},
		{"two requests with steps", 2, 1, 3, 12000,
			"A step takes 12.0 ms, the mean of 3. This is request 2 of 2. The first "
			"one, "
			"which sets up what others reuse, takes 78.7 ms a step."},
		{"three requests", 3, 0, 1, 51000,
			"A request takes 51.0 ms, without the first and the last."},
		{"five requests", 5, 0, 3, 51000,
			"A request takes 51.0 ms, the mean of 3 without the first and the last."},
		{"five requests with steps", 5, 1, 3, 51000,
			"A request takes 51.0 ms, the mean of 3 without the first and the last."},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vpa_report *r =
			vpt_script_report(unlike_requests(cases[i].count, cases[i].has_steps),
				&(struct vpa_options){.step_parts = 1});
		struct vpa_mean_unit unit = vpa_mean_unit_of(r);
		const struct vpa_finding *code = finding(r, "host-stall");

		if (unit.units < cases[i].units || unit.units > cases[i].units ||
			(vpa_mean_unit_ns(&unit) + 500) / 1000 != cases[i].us)
			fail_msg("%s: %.0f units of %llu ns", cases[i].rule, unit.units,
				(unsigned long long)vpa_mean_unit_ns(&unit));
		assert_int_equal(unit.without_first, cases[i].count > 1);
		expect_page(cases[i].rule, r, cases[i].result, 1);
		/* 2 ms after each step, 200 more in a step of the first request. */
		assert_non_null(code);
		if (cases[i].count > 1 && (code->base_gain_ms > 11.1 || code->where))
			fail_msg("%s: saves %.1f ms %s", cases[i].rule, code->base_gain_ms,
				code->where ? code->where : "");
		if (cases[i].count == 1)
			assert_true(code->base_gain_ms > 60 && code->where);
		vpa_report_free(r);
	}
}

/* The period is that of the mean unit that the report shows. */
static void conditions_of_a_period_leave_out_the_first_request(void **state)
{
	static const struct {
		const char *holds;
		size_t count;
		int has_steps;
	} cases[] = {{"period>245ms", 1, 0}, {"period<47ms", 2, 0}, {"period<12.1ms", 2, 1},
		{"period<52ms", 5, 0}, {"period<52ms", 5, 1}};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vpa_report *r =
			vpt_script_report(unlike_requests(cases[i].count, cases[i].has_steps),
				&(struct vpa_options){.step_parts = 1});
		struct vpa_condition condition;
		struct vpt_err err = {0};
		char what[160];
		int holds;

		assert_int_equal(vpa_condition_read(cases[i].holds, 1, &condition, &err), VPT_OK);
		assert_int_equal(vpa_condition_holds_of(&condition, r, &holds, what, &err), VPT_OK);
		if (!holds)
			fail_msg("%s of %zu requests: %s", cases[i].holds, cases[i].count, what);
		vpa_report_free(r);
	}
}

/* The requests before and after it touch the window of a request, and are none of it. */
static void a_window_has_no_request_that_only_touches_it(void **state)
{
	uint64_t request;

	(void)state;
	for (request = 1; request <= 3; request++) {
		struct vpa_report *r = vpt_script_report(unlike_requests(3, 1),
			&(struct vpa_options){.step_parts = 1, .request = request});

		assert_int_equal(r->request_count, 1);
		assert_int_equal(r->requests[0].name[8] - '0', request - 1);
		vpa_report_free(r);
	}
}

#define ANNOTATED " domain vptrace json \"{\\\"kind\\\":\\\"request\\\"}\""
#define CALL      "WanPipeline.__call__"
#define OP        "call t%d cudaLaunchKernel %ums+1us corr %u\nkernel s%d %ums+1ms corr %u" GEMM

/* The report lists what --request counts: ranges that are in no other request of their thread, in order of their starts. */
static void a_request_in_another_one_has_no_number(void **state)
{
	static const struct {
		const char *rule;
		struct {
			unsigned thread, from_ms, to_ms;
			const char *name, *more;
			int has_no_op;
		} ranges[4];
		unsigned starts_ms[4];
	} cases[] = {
		{"one name, nested",
			{{1, 1000, 1090, CALL, "", 0}, {1, 1020, 1080, CALL, "", 0},
				{1, 1100, 1190, CALL, "", 0}, {1, 1120, 1180, CALL, "", 0}},
			{1000, 1100}},
		{"the inner one launches nothing",
			{{1, 1000, 1090, CALL, "", 0}, {1, 1020, 1030, CALL, "", 1},
				{1, 1100, 1190, CALL, "", 0}},
			{1000, 1100}},
		{"two names",
			{{1, 1000, 1090, "request 0", "", 0}, {1, 1020, 1080, CALL, "", 0},
				{1, 1100, 1190, "request 1", "", 0}, {1, 1120, 1180, CALL, "", 0}},
			{1000, 1100}},
		{"in a step",
			{{1, 1000, 1090, "request 0", "", 0}, {1, 1020, 1080, "step 0", "", 0},
				{1, 1030, 1060, CALL, "", 0}, {1, 1100, 1190, "request 1", "", 0}},
			{1000, 1100}},
		{"in turns on two threads",
			{{1, 1000, 1090, CALL, "", 0}, {2, 1040, 1130, CALL, "", 0},
				{1, 1100, 1190, CALL, "", 0}, {2, 1140, 1230, CALL, "", 0}},
			{1000, 1040, 1100, 1140}},
		{"an annotated one in a call",
			{{1, 1000, 1090, CALL, "", 0}, {1, 1020, 1080, "video", ANNOTATED, 0},
				{1, 1100, 1190, CALL, "", 0},
				{1, 1120, 1180, "video", ANNOTATED, 0}},
			{1020, 1120}},
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		static char script[8192];
		size_t used = (size_t)snprintf(script, sizeof(script), "start 1s\n"), count = 0;
		struct vpa_report *r;

		for (k = 0; k < 4 && cases[i].ranges[k].thread; k++) {
			unsigned at = cases[i].ranges[k].from_ms, id = (unsigned)k + 1;
			int thread = (int)cases[i].ranges[k].thread;

			used += (size_t)snprintf(script + used, sizeof(script) - used,
				"range t%d %ums-%ums \"%s\"%s\n", thread, at,
				cases[i].ranges[k].to_ms, cases[i].ranges[k].name,
				cases[i].ranges[k].more);
			if (!cases[i].ranges[k].has_no_op)
				used += (size_t)snprintf(script + used, sizeof(script) - used, OP,
					thread, at + 2, id, thread + 6, at + 3, id);
		}
		r = vpt_script_report(script, NULL);
		while (count < 4 && cases[i].starts_ms[count])
			count++;
		if (r->request_count != count)
			fail_msg("%s: %zu requests", cases[i].rule, r->request_count);
		vpa_report_free(r);
		for (k = 0; k < count; k++) {
			r = vpt_script_report(script, &(struct vpa_options){.request = k + 1});
			if (r->window_start_ns != cases[i].starts_ms[k] * (uint64_t)1000000)
				fail_msg("%s: request %zu begins at %llu ns", cases[i].rule, k + 1,
					(unsigned long long)r->window_start_ns);
			vpa_report_free(r);
		}
	}
}

static void any_request_can_be_the_window(void **state)
{
	static const unsigned periods_ms[] = {300, 100, 200};
	static const struct {
		const char *range;
		uint64_t request, start_ms, end_ms;
		const char *note;
	} cases[] = {
		{NULL, 1, 1000, 1900, "request 1"},
		{NULL, 2, 1900, 2200, "request 2"},
		{NULL, 3, 2200, 2800, "request 3"},
		{"request 1", 0, 1900, 2200, "range \"request 1\", first instance"},
		/* its kernel starts and ends with it */
		{"block 1", 0, 1300, 1600, "range \"block 1\", first instance"},
		{"block 1:1", 0, 1300, 1600, "range \"block 1\", first instance"},
		{"block 1:3", 0, 2400, 2600, "range \"block 1\", instance 3"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vpa_report *r = report_of(periods_ms, 3,
			(struct vpa_options){.range = cases[i].range, .request = cases[i].request});

		assert_int_equal(r->window_start_ns, cases[i].start_ms * 1000000);
		assert_int_equal(r->window_end_ns, cases[i].end_ms * 1000000);
		assert_string_equal(r->window_note, cases[i].note);
		vpa_report_free(r);
	}
}

/* A range that is called so comes before a number. */
static void a_name_with_a_number_is_a_name(void **state)
{
	static const char script[] =
		"start 1ms\nrange t1 1000us-1100us \"a\"\nrange t1 1200us-1300us \"a\"\n"
		"range t1 1400us-1500us \"a:2\"\nrange t1 1600us-1700us \"a:2\"\n"
		"call t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		"kernel s7 1001us-1700us corr 1" GEMM;
	struct vpa_report *r = vpt_script_report(script, &(struct vpa_options){.range = "a:2"});

	(void)state;
	assert_int_equal(r->window_start_ns, 1400000);
	assert_string_equal(r->window_note, "range \"a:2\", first instance");
	vpa_report_free(r);
	r = vpt_script_report(script, &(struct vpa_options){.range = "a:2:2"});
	assert_int_equal(r->window_start_ns, 1600000);
	vpa_report_free(r);
}

static void what_is_not_there_is_refused(void **state)
{
	static const unsigned periods_ms[] = {300, 100, 200};
	static const struct {
		struct vpa_options options;
		const char *error;
	} cases[] = {
		{{.request = 4}, "--request: expected a number from 1 to 3, found 4"},
		{{.range = "block 1:4"},
			"--range: expected an instance of \"block 1\" from 1 to 3, found 4"},
		{{.range = "blocks:1"}, "--range: no range is called \"blocks:1\"; the trace has"},
	};
	struct vpt_trace *trace = NULL;
	struct vpa_report *r = NULL;
	struct vpt_err err = {0};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(vpt_script_trace(requests(periods_ms, 3), &trace, &err), VPT_OK);
		assert_int_equal(
			vpa_analyze(trace, "case", &cases[i].options, &r, &err), VPT_EINVAL);
		if (!strstr(err.text, cases[i].error))
			fail_msg("expected %s, found %s", cases[i].error, err.text);
		vpt_trace_close(trace);
	}
}

enum { LONG_S = 40 };

/* A chunk for each of 40 seconds, in it a block and a kernel that runs for half of it. `outer` is a line for a range
 * around. */
static const char *long_script(const char *outer)
{
	static char script[16384];
	size_t used = (size_t)snprintf(script, sizeof(script), "start 1s\n%s\n", outer), i;

	for (i = 1; i <= LONG_S; i++)
		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"range t1 %zus+1ms \"block %zu\"\ncall t1 cudaLaunchKernel %zus+1us corr "
			"%zu\n"
			"kernel s7 %zus+500ms corr %zu" GEMM "chunk\n",
			i, i % 10, i, i, i, i);
	return script;
}

static void count_chunk(void *ctx, uint64_t done, uint64_t total)
{
	(void)done;
	assert_true(total >= LONG_S);
	++*(uint64_t *)ctx;
}

/* The first pass ends some seconds after the range, when no op can be of it any more; the second reads all. */
static void a_range_is_looked_for_until_it_is_found(void **state)
{
	static const struct {
		const char *rule, *outer, *range;
		uint64_t request, start_s, least, most; /* chunks of both passes */
	} cases[] = {
		{"the first of a name", "", "block 2", 0, 2, LONG_S + 10, LONG_S + 20},
		/* Names were counted before, so the first chunks are left out. */
		{"a number: a range of that whole name may yet come", "", "block 2:3", 0, 22,
			LONG_S + 30, LONG_S + 36},
		{"the last", "", "block 0:4", 0, 40, 2 * LONG_S, 2 * LONG_S + 2},
		{"one that began earlier is open to the end", "range t1 900ms-39s \"block 2\"",
			"block 2", 0, 1, 2 * LONG_S - 2, 2 * LONG_S + 2},
		{"another name is open to the end", "range t1 1s-39s \"all\"", "block 2", 0, 2,
			LONG_S + 10, LONG_S + 20},
		{"a request", "range t1 3s-5s \"request 0\"", NULL, 1, 3, LONG_S + 10, LONG_S + 24},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t chunks = 0;
		struct vpa_options o = {.range = cases[i].range,
			.request = cases[i].request,
			.progress = count_chunk,
			.progress_ctx = &chunks};
		struct vpa_report *r = vpt_script_report(long_script(cases[i].outer), &o);

		if (r->window_start_ns / 1000000000 != cases[i].start_s &&
			!(cases[i].start_s == 1 && r->window_start_ns == 900000000))
			fail_msg("%s: the window begins at %llu", cases[i].rule,
				(unsigned long long)r->window_start_ns);
		if (chunks < cases[i].least || chunks > cases[i].most)
			fail_msg("%s: %llu chunks were read", cases[i].rule,
				(unsigned long long)chunks);
		vpa_report_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_range_is_looked_for_until_it_is_found),
		cmocka_unit_test(result_is_of_the_steady_requests),
		cmocka_unit_test(the_unit_leaves_out_the_first_request),
		cmocka_unit_test(conditions_are_of_the_steady_requests),
		cmocka_unit_test(conditions_of_a_period_leave_out_the_first_request),
		cmocka_unit_test(a_window_has_no_request_that_only_touches_it),
		cmocka_unit_test(a_request_in_another_one_has_no_number),
		cmocka_unit_test(any_request_can_be_the_window),
		cmocka_unit_test(a_name_with_a_number_is_a_name),
		cmocka_unit_test(what_is_not_there_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
