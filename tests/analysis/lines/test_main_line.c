/* test_main_line.c - which line of Python a sentence names, and for how much of what it speaks of; on traces whose answers
 * a person can compute, and against sums of all lines. */
#include "analysis/analyze.h"
#include "analysis/render/renderer.h"
#include "analysis/report/main_line.h"
#include "analysis/report/similar_names.h"
#include "formats/io/io.h"
#include "formats/base/memory.h"
#include "tests/support/random.h"
#include "tests/support/traces/random_lines.h"
#include "tests/support/traces/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/outputs/page.h"

static struct vpa_report *report_of(struct random_text *text)
{
	const struct vpa_options options = {.min_gap_ns = 1, .top = 100};
	struct vpa_report *report = vpt_script_report(text->data, &options);

	vpt_free(text->data);
	return report;
}

/* The part of the page from CAUSE to the checklist or what else follows FIX FIRST. */
static void expect_words(const char *rule, const struct vpa_report *r, const char *words, int there)
{
	char *page = page_of(r), *begin = strstr(page, "CAUSE"), *end;

	assert_non_null(begin);
	end = strstr(begin, "if nothing else limits");
	assert_non_null(end);
	*end = '\0';
	if ((strstr(begin, words) != NULL) != there)
		fail_msg("%s: %s \"%s\" in\n%s", rule, there ? "no" : "there is", words, begin);
	vpt_free(page);
}

static const char *note_of(const struct vpa_report *r, const char *id)
{
	size_t i;

	for (i = 0; i < r->finding_count; i++)
		if (!strcmp(vpa_finding_text(r->findings[i].id), id))
			return r->findings[i].note ? r->findings[i].note : "";
	fail_msg("no finding %s", id);
	return NULL;
}

/* A launch of thread `thread` at `us`, whose kernel runs for 10 us. */
static void add_op(struct random_text *text, unsigned thread, unsigned us, unsigned corr)
{
	random_text_add(text,
		"call t%u cudaLaunchKernel %uus-%uus corr %u\n"
		"kernel s1 %uus-%uus corr %u \"k\"\n",
		thread, us, us + 2, corr, us + 3, us + 13, corr);
}

enum { GAPS = 10 };

/* Ten gaps of 1 ms of host code; `at_one` of them at one line, each other at its own. `ranged`: each in its own step. */
static void add_gaps(struct random_text *text, unsigned at_one, int ranged)
{
	unsigned i, us = 1000;

	random_text_add(text, "start 0\n");
	add_op(text, 1, us, 1);
	for (i = 0; i < GAPS; i++, us += 1013) {
		if (ranged)
			random_text_add(
				text, "range t1 %uus-%uus \"IO %u\"\n", us + 4, us + 1016, i);
		random_text_add(text, "sample t1 %uus \"main (/run.py:%u)\" flags 1\n", us + 3,
			i < at_one ? 7 : 100 + i);
		add_op(text, 1, us + 1013, i + 2);
	}
}

/* ---- shares ---- */

static void most_is_half_and_less_than_a_quarter_is_nothing(void **state)
{
	static const struct {
		const char *rule;
		unsigned at_one;
		const char *cause, *note;
	} cases[] = {
		{"all", 10, "ran other code, at /run.py:7 (innermost for 100 % of its time).",
			"at /run.py:7 (innermost for 100 % of its time)"},
		{"six tenths", 6, "ran other code, at /run.py:7 (innermost for 60 % of its time).",
			"at /run.py:7 (innermost for 60 % of its time)"},
		{"three tenths", 3,
			"ran other code, the largest part at /run.py:7 (innermost for 30 % of its "
			"time).",
			"the largest part at /run.py:7 (innermost for 30 % of its time)"},
		{"two tenths", 2, NULL, ""},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct random_text text = {0};
		struct vpa_report *r;

		add_gaps(&text, cases[i].at_one, 0);
		r = report_of(&text);
		if (cases[i].cause)
			expect_words(cases[i].rule, r, cases[i].cause, 1);
		else
			expect_words(cases[i].rule, r, "run.py", 0);
		assert_string_equal(note_of(r, "host-stall"), cases[i].note);
		vpa_report_free(r);
	}
}

static void numbered_names_are_one(void **state)
{
	static const struct {
		const char *rule, *names[4], *all;
	} cases[] = {
		{"one is itself", {"step 7"}, "step 7"},
		{"in any order", {"section 2", "section 0", "section 1"}, "section 0..2"},
		{"with some between left out", {"IO 0", "IO 200", "IO 40"},
			"IO 0..200 (3 of them)"},
		{"in the middle", {"layers.0.attn", "layers.1.attn"}, "layers.0..1.attn"},
		{"what all have stays", {"conv2d 1", "conv2d 2"}, "conv2d 1..2"},
		{"zeros before a number", {"step_009", "step_010"}, "step_009..010"},
		{"two numbers",
			{"block 0 step 3", "block 0 step 4", "block 1 step 3", "block 1 step 4"},
			"block 0..1 step 3..4"},
		{"two numbers, not all pairs", {"block 0 step 3", "block 1 step 4"},
			"block 0..1 step 3..4 (2 of them)"},
		{"with parentheses", {"context_1(8)", "context_2(8)"}, "context_1..2(8)"},
		{"beyond those that are kept", {"1.2.3.4.5", "1.2.3.4.6"}, "1.2.3.4.5"},
		{"a number beyond all", {"id 99999999999999999999999", "id 1"},
			"id 1..18446744073709551615 (2 of them)"},
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vpa_alike all = {.count = 0};
		struct vpa_label label;

		for (k = 0; k < 4 && cases[i].names[k]; k++)
			vpa_alike_add(&all, cases[i].names[k]);
		label = vpa_alike_label(&all, cases[i].names[0]);
		if (strcmp(label.text, cases[i].all) != 0)
			fail_msg("%s: %s", cases[i].rule, label.text);
	}
}

static void numbered_places_have_a_line_together(void **state)
{
	static const struct {
		const char *rule;
		unsigned at_one;
		const char *cause, *note;
	} cases[] = {
		{"six tenths", 6,
			"ran other code, in IO 0..9, at /run.py:7 (innermost for 60 % "
			"of its time).",
			"all of this wait with the host in IO 0..9, at /run.py:7 "
			"(innermost for "
			"60 % of its "
			"time)"},
		{"three tenths", 3,
			"ran other code, in IO 0..9, the largest part at /run.py:7 "
			"(innermost for 30 % of its time).",
			"all of this wait with the host in IO 0..9, the largest part at "
			"/run.py:7 (innermost "
			"for 30 % of its time)"},
		{"two tenths", 2, "ran other code, in IO 0..9.",
			"all of this wait with the host in IO 0..9"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct random_text text = {0};
		struct vpa_report *r;

		add_gaps(&text, cases[i].at_one, 1);
		r = report_of(&text);
		expect_words(cases[i].rule, r, cases[i].cause, 1);
		assert_string_equal(note_of(r, "host-stall"), cases[i].note);
		vpa_report_free(r);
	}
}

/* Each of four steps is at a line of its own for 600 us, then at line 7 for 400 us. */
static void a_line_second_in_each_place_is_first_in_all(void **state)
{
	struct random_text text = {0};
	struct vpa_report *r;
	unsigned i, us = 1000;

	(void)state;
	random_text_add(&text, "start 0\n");
	add_op(&text, 1, us, 1);
	for (i = 0; i < 4; i++, us += 1013) {
		random_text_add(&text,
			"range t1 %uus-%uus \"IO %u\"\n"
			"sample t1 %uus \"main (/run.py:%u)\" flags 1\n"
			"sample t1 %uus \"main (/run.py:7)\" flags 1\n",
			us + 4, us + 1016, i, us + 3, 100 + i, us + 613);
		add_op(&text, 1, us + 1013, i + 2);
	}
	r = report_of(&text);
	assert_string_equal(note_of(r, "host-stall"), "all of this wait with the host in IO 0..3, "
						      "the largest part at /run.py:7 "
						      "(innermost for 40 "
						      "% of its time)");
	vpa_report_free(r);
}

/* Four steps in each of six blocks of 4 ms; all idle time is at one line. */
static void blocks_name_numbered_places_and_their_line(void **state)
{
	struct random_text text = {0};
	struct vpa_report *r;
	unsigned block, step, us = 1000, corr = 1;

	(void)state;
	random_text_add(&text, "start 0\nsample t1 1us \"main (/run.py:7)\" flags 1\n");
	for (block = 0; block < 6; block++)
		for (step = 0; step < 4; step++, us += 1013) {
			if (!step)
				random_text_add(&text, "range t1 %uus-%uus \"block %u\"\n", us - 2,
					us + 4 * 1013 - 4, block);
			random_text_add(&text, "range t1 %uus-%uus \"step %u\"\n", us - 1,
				us + 1013 - 5, step);
			add_op(&text, 1, us, corr++);
			add_op(&text, 1, us + 900, corr++);
		}
	r = report_of(&text);
	expect_words("blocks", r, "..3, at /run.py:7 (innermost for 100 % of its time). ", 1);
	vpa_report_free(r);
}

/* ---- time without a line ---- */

static const struct vpa_idle_part *host_code_of(const struct vpa_report *r)
{
	size_t i;

	for (i = 0; i < r->devices[0].cause_count; i++)
		if (r->devices[0].causes[i].cause == VPA_CAUSE_HOST_CODE)
			return &r->devices[0].causes[i];
	fail_msg("no host code");
	return NULL;
}

/* 100 ms of host code of a thread with stacks, 75 % of them at line 40, and 300 ms of a thread without. */
static void time_of_a_thread_without_stacks_is_at_no_line(void **state)
{
	unsigned exact, i;

	(void)state;
	for (exact = 0; exact < 2; exact++) {
		struct random_text text = {0};
		const struct vpa_idle_part *part;
		struct vpa_report *r;

		random_text_add(&text, "start 0\n");
		add_op(&text, 1, 1987, 1);
		add_op(&text, 1, 102000, 2);
		add_op(&text, 2, 402013, 3);
		for (i = 0; i < 20; i++)
			random_text_add(&text, "sample t1 %u \"main (/run.py:%u)\" flags %u\n",
				2000000 + i * 5000000 + (exact ? 0 : 1000000), i < 15 ? 40 : 4,
				exact);
		r = report_of(&text);
		part = host_code_of(r);
		assert_int_equal(part->ns, 400000000);
		assert_int_equal(part->top->line.number, 40);
		assert_true(part->top->share == 75.0 / 400);
		assert_int_equal(r->lines.idle[0].ns, 75000000);
		expect_words("a small part", r, "run.py", 0);
		/* The longest gap is that of the thread without stacks. */
		assert_int_equal(r->gaps[0].duration_ns, 300003000);
		assert_null(r->gaps[0].top);
		assert_int_equal(r->gaps[1].top->line.number, 40);
		assert_true(r->gaps[1].top->share == 0.75);
		vpa_report_free(r);
	}
}

/* ---- gaps ---- */

/* Gaps of one place: `own` samples at line 9 in one of 40 ms, the others at line 7 in one of 300 ms, none in one of 30 ms. */
static struct vpa_report *sampled_gaps(unsigned at_seven, unsigned own)
{
	struct random_text text = {0};
	unsigned i;

	random_text_add(&text, "start 0\n");
	add_op(&text, 1, 1000, 1);
	add_op(&text, 1, 301000, 2);
	add_op(&text, 1, 341000, 3);
	add_op(&text, 1, 371000, 4);
	for (i = 0; i < at_seven; i++)
		random_text_add(&text, "sample t1 %uus \"main (/run.py:7)\"\n", 2000 + i * 5000);
	for (i = 0; i < own; i++)
		random_text_add(&text, "sample t1 %uus \"main (/run.py:9)\"\n", 302000 + i * 5000);
	return report_of(&text);
}

static void a_gap_has_a_line_by_its_own_samples(void **state)
{
	struct vpa_report *r = sampled_gaps(59, 5);

	(void)state;
	assert_int_equal(r->gaps[0].top->line.number, 7);
	assert_int_equal(r->gaps[0].top->samples, 59);
	assert_int_equal(r->gaps[1].top->line.number, 9);
	assert_int_equal(r->gaps[1].top->samples, 5);
	assert_true(r->gaps[1].top->share == 1);
	vpa_report_free(r);
}

static void a_gap_without_samples_has_the_line_of_nine_tenths_of_its_place(void **state)
{
	struct vpa_report *r = sampled_gaps(59, 0);

	(void)state;
	assert_int_equal(r->gaps[2].top->line.number, 7);
	assert_int_equal(r->gaps[2].top->samples, 59);
	vpa_report_free(r);

	/* 10 samples at line 7 and 5 at line 9. */
	r = sampled_gaps(10, 5);
	assert_true(host_code_of(r)->top->share < 0.9);
	assert_null(r->gaps[2].top);
	vpa_report_free(r);
}

/* 291 ms of a thread with samples, 10 ms of one without. */
static void a_gap_of_a_thread_without_stacks_has_no_line(void **state)
{
	struct random_text text = {0};
	struct vpa_report *r;
	unsigned i;

	(void)state;
	random_text_add(&text, "start 0\n");
	add_op(&text, 1, 1000, 1);
	add_op(&text, 1, 292000, 2);
	add_op(&text, 2, 302000, 3);
	for (i = 0; i < 50; i++)
		random_text_add(&text, "sample t1 %uus \"main (/run.py:7)\"\n", 2000 + i * 5000);
	r = report_of(&text);
	assert_true(host_code_of(r)->top->share >= 0.9);
	assert_int_equal(r->gaps[0].top->line.number, 7);
	assert_int_equal(r->gaps[1].duration_ns, 9990000);
	assert_null(r->gaps[1].top);
	vpa_report_free(r);
}

static void four_samples_of_a_gap_contradict_its_place(void **state)
{
	struct vpa_report *r = sampled_gaps(59, 4);

	(void)state;
	assert_int_equal(host_code_of(r)->top->line.number, 7);
	assert_true(host_code_of(r)->top->share >= 0.9);
	assert_null(r->gaps[1].top);
	assert_int_equal(r->gaps[2].top->line.number, 7);
	vpa_report_free(r);
}

/* ---- sums ---- */

enum { PLACES = 12, LINES = 20 };

/* Every line with a quarter of random places is found, with all its time, and no other. */
static void sums_of_random_places_are_exact(void **state)
{
	struct vpt_random random = {.state = 7};
	unsigned round, found = 0;

	(void)state;
	for (round = 0; round < 2000; round++) {
		struct vpa_line_time times[PLACES][LINES];
		struct vpa_top_line tops[PLACES];
		uint64_t sums[LINES] = {0}, all_ns = 0, most = 0;
		struct vpa_main_line m = {.ns = 0};
		struct vpa_top_line top;
		unsigned p, l;

		for (p = 0; p < PLACES; p++) {
			uint64_t rest_ns = vpt_random_below(&random, 1000);

			tops[p] = (struct vpa_top_line){.line = {"f", "a.py", 1},
				.share = 1,
				.ns = rest_ns + 1,
				.lines = times[p],
				.line_count = LINES};
			for (l = 0; l < LINES; l++) {
				uint64_t ns = vpt_random_below(&random, l % 7 ? 100 : 1500);

				times[p][l] = (struct vpa_line_time){{"f", "a.py", l + 1}, ns};
				sums[l] += ns;
				tops[p].ns += ns;
			}
			all_ns += tops[p].ns;
		}
		do
			for (p = 0; p < PLACES; p++)
				vpa_main_line_add(&m, &tops[p], tops[p].ns);
		while (vpa_main_line_again(&m));
		top = vpa_main_line_of(&m);
		for (l = 0; l < LINES; l++)
			most = sums[l] > most ? sums[l] : most;
		if ((double)most / (double)all_ns < VPA_LINE_LEAST) {
			assert_null(top.line.file);
			continue;
		}
		found++;
		assert_non_null(top.line.file);
		assert_int_equal(sums[top.line.number - 1], most);
		assert_true(top.share == (double)most / (double)all_ns);
	}
	assert_in_range(found, 100, 1900);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(most_is_half_and_less_than_a_quarter_is_nothing),
		cmocka_unit_test(numbered_names_are_one),
		cmocka_unit_test(numbered_places_have_a_line_together),
		cmocka_unit_test(a_line_second_in_each_place_is_first_in_all),
		cmocka_unit_test(blocks_name_numbered_places_and_their_line),
		cmocka_unit_test(time_of_a_thread_without_stacks_is_at_no_line),
		cmocka_unit_test(a_gap_has_a_line_by_its_own_samples),
		cmocka_unit_test(a_gap_without_samples_has_the_line_of_nine_tenths_of_its_place),
		cmocka_unit_test(a_gap_of_a_thread_without_stacks_has_no_line),
		cmocka_unit_test(four_samples_of_a_gap_contradict_its_place),
		cmocka_unit_test(sums_of_random_places_are_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
