/* test_compare_lines.c - idle time of a comparison by line of Python: what changed, what the samples cannot show, and that
 * the rows add up. */
#include "analysis/compare/comparison.h"
#include "formats/base/count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { LINES = 4, MS = 1000000 };

/* A report of one window: a GPU that is busy for 10 ms, and idle as the lines say. */
struct run {
	struct vpa_report report;
	struct vpa_device device;
	struct vpa_idle_part causes[2];
	struct vpa_idle_line lines[LINES];
};

/* Times in ms: of host code at sched.py:30 and model.py:50 and without a line, and of a wait at model.py:50. */
static void make_run(struct run *run, const uint64_t ms[LINES], const uint64_t samples[LINES])
{
	static const struct vpa_code_line at[LINES] = {{"step", "sched.py", 30},
		{"forward", "model.py", 50}, {NULL, NULL, 0}, {"forward", "model.py", 50}};
	uint64_t host = 0;
	size_t i;

	memset(run, 0, sizeof(*run));
	for (i = 0; i < LINES; i++) {
		run->lines[i] = (struct vpa_idle_line){
			.cause = i == 3 ? VPA_CAUSE_SYNC : VPA_CAUSE_HOST_CODE,
			.line = at[i],
			.ns = ms[i] * MS,
			.samples = samples ? samples[i] : 0};
		host += i == 3 ? 0 : ms[i] * MS;
	}
	run->causes[0] = (struct vpa_idle_part){.cause = VPA_CAUSE_HOST_CODE, .ns = host};
	run->causes[1] = (struct vpa_idle_part){.cause = VPA_CAUSE_SYNC, .ns = ms[3] * MS};
	run->device = (struct vpa_device){.busy_ns = 10 * MS,
		.window_idle_ns = host + ms[3] * MS,
		.causes = run->causes,
		.cause_count = 2};
	run->report = (struct vpa_report){.path = "run",
		.window_end_ns = 10 * MS + host + ms[3] * MS,
		.devices = &run->device,
		.device_count = 1,
		.lines = {.idle = run->lines, .idle_count = LINES}};
	run->report.verdict.complete = 1;
}

static struct vpa_comparison *compared(const struct run *a, const struct run *b)
{
	static const struct vpa_compare_options usual = {.margin = 0.005};
	const struct vpa_report *const ra = &a->report, *const rb = &b->report;
	struct vpa_comparison *c;
	struct vpt_err err = {0};

	if (vpa_compare(&(struct vpa_side){&ra, 1}, &(struct vpa_side){&rb, 1}, &usual, &c, &err))
		fail_msg("%s", err.text);
	return c;
}

static void a_line_has_the_change_of_its_cause(void **state)
{
	static const struct {
		const char *name;
		uint64_t a[LINES], b[LINES], a_samples[LINES], b_samples[LINES];
		const char *file; /* of the line of host code; NULL: none */
		int is_sampled;
	} cases[] = {
		{"a line alone", {8, 5, 1, 2}, {14, 5, 1, 2}, {0}, {0}, "sched.py", 0},
		{"and another one", {8, 5, 1, 2}, {14, 9, 1, 2}, {0}, {0}, "sched.py", 0},
		{"less than half", {8, 5, 1, 2}, {10, 5, 4, 2}, {0}, {0}, NULL, 0},
		{"most without a line", {8, 5, 1, 2}, {8, 5, 9, 2}, {0}, {0}, NULL, 0},
		{"less", {8, 5, 1, 2}, {2, 5, 1, 2}, {0}, {0}, "sched.py", 0},
		{"the other way", {8, 5, 1, 2}, {14, 5, 1, 2}, {0}, {0}, "sched.py", 0},
		{"no change", {8, 5, 1, 2}, {8, 5, 1, 2}, {0}, {0}, NULL, 0},
		/* 22 samples of 1 ms: 6 ms are 1.3 standard errors. */
		{"within the samples", {8, 5, 1, 2}, {14, 5, 1, 2}, {8, 5, 0, 2}, {14, 5, 0, 2},
			NULL, 1},
		{"beyond them", {8, 5, 1, 2}, {14, 5, 1, 2}, {800, 500, 0, 200},
			{1400, 500, 0, 200}, "sched.py", 1},
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		const struct vpa_code_line *line;
		struct vpa_comparison *c;
		int64_t sum = 0, change = 0;
		struct run a, b;

		make_run(&a, cases[i].a, cases[i].is_sampled ? cases[i].a_samples : NULL);
		make_run(&b, cases[i].b, cases[i].is_sampled ? cases[i].b_samples : NULL);
		c = compared(&a, &b);
		assert_int_equal(c->line_count, LINES);
		for (k = 0; k < LINES; k++) {
			sum += c->lines[k].times.delta_ns;
			change += ((int64_t)cases[i].b[k] - (int64_t)cases[i].a[k]) * MS;
		}
		assert_int_equal(sum, change);
		assert_int_equal(c->lines_delta_ns, change);
		assert_int_equal(c->idle_delta_ns, change);
		line = vpa_compare_line_of(c, VPA_CAUSE_HOST_CODE, change);
		if ((line ? strcmp(line->file, cases[i].file ? cases[i].file : "")
			  : cases[i].file != NULL) != 0)
			fail_msg("%s: %s", cases[i].name, line ? line->file : "no line");
		assert_null(vpa_compare_line_of(c, VPA_CAUSE_SYNC, change ? change : 1));
		vpa_comparison_free(c);
	}
}

static void without_stacks_on_a_side_there_are_no_lines(void **state)
{
	static const uint64_t ms[LINES] = {8, 5, 1, 2};
	struct vpa_comparison *c;
	struct run a, b;

	(void)state;
	make_run(&a, ms, NULL);
	make_run(&b, ms, NULL);
	b.report.lines.idle_count = 0;
	c = compared(&a, &b);
	assert_int_equal(c->line_count, 0);
	assert_null(vpa_compare_line_of(c, VPA_CAUSE_HOST_CODE, 1));
	vpa_comparison_free(c);
}

/* What the sampler counted is no choice of the user's; the rate is. */
static void counts_of_the_sampler_are_no_setup(void **state)
{
	static struct vpa_pair in_a[] = {{"stacks.ticks", "77"}, {"stacks.samples", "78"},
		{"stacks.hz", "200"}, {"stacks.python", "3.11.7"}},
			       in_b[] = {{"stacks.ticks", "70"}, {"stacks.torn", "1"},
				       {"stacks.hz", "100"}, {"stacks.python", "3.12.1"},
				       {"stacks.unavailable", "no interpreter"}};
	static const uint64_t ms[LINES] = {8, 5, 1, 2};
	static const char *const expected[] = {"stacks.hz", "stacks.python", "stacks.unavailable"};
	struct vpa_comparison *c;
	struct run a, b;
	size_t i, found = 0;

	(void)state;
	make_run(&a, ms, NULL);
	make_run(&b, ms, NULL);
	a.report.meta = in_a;
	a.report.meta_count = COUNT(in_a);
	b.report.meta = in_b;
	b.report.meta_count = COUNT(in_b);
	c = compared(&a, &b);
	for (i = 0; i < c->fact_count; i++)
		if (!strncmp(c->facts[i].name, "stacks.", 7)) {
			assert_true(found < COUNT(expected));
			assert_string_equal(c->facts[i].name, expected[found++]);
		}
	assert_int_equal(found, COUNT(expected));
	vpa_comparison_free(c);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_has_the_change_of_its_cause),
		cmocka_unit_test(without_stacks_on_a_side_there_are_no_lines),
		cmocka_unit_test(counts_of_the_sampler_are_no_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
