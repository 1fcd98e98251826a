/* test_compare_series.c - what a comparison says of generated series of blocks: equal sides are seldom called
 * different, and a planted change of the size that the comparison says it would show is found. */
#include "analysis/compare/comparison.h"
#include "analysis/compare/conditions/fail_conditions.h"
#include "formats/base/count.h"
#include "tests/support/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct vpa_comparison *compared(
	const struct vpa_report *const *a, const struct vpa_report *const *b, size_t runs)
{
	static const struct vpa_compare_options usual = {.margin = 0.005};
	struct vpa_side sa = {a, runs}, sb = {b, runs};
	struct vpa_comparison *c;
	struct vpt_err err = {0};

	if (vpa_compare(&sa, &sb, &usual, &c, &err))
		fail_msg("%s", err.text);
	return c;
}

enum { BLOCKS_MOST = 100 };

/* A report with a series of blocks, and no more than a comparison reads. */
struct series {
	struct vpa_report report;
	struct vpa_device device;
	struct vpa_request request;
	struct vpa_block_row rows[BLOCKS_MOST];
};

static double uniform(struct vpt_random *r)
{
	return ((double)(vpt_random(r) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(struct vpt_random *r)
{
	return sqrt(-2 * log(uniform(r))) * cos(6.283185307179586 * uniform(r));
}

struct shape {
	size_t blocks;
	double noise, run_noise, memory; /* relative; memory: correlation of neighbours */
	double change;
	double white; /* relative: noise without memory besides */
};

/* Blocks that grow from 500 ms by 5 % each, with noise that remembers. */
static void make_series(struct series *s, struct vpt_random *r, const struct shape *shape)
{
	double state = normal(r), run = shape->run_noise * normal(r);
	struct vpa_blocks *b = &s->request.blocks;
	size_t i;

	memset(s, 0, sizeof(*s));
	s->report = (struct vpa_report){.path = "series",
		.requests = &s->request,
		.request_count = 1,
		.devices = &s->device,
		.device_count = 1};
	s->report.verdict.complete = 1;
	b->series = s->rows;
	b->count = b->measured = shape->blocks;
	for (i = 0; i < shape->blocks; i++) {
		double ns = 500e6 * (1 + 0.05 * (double)i) * (1 + shape->change) *
			    (1 + run + shape->noise * state);

		if (shape->white > 0)
			ns *= 1 + shape->white * normal(r);

		s->rows[i] = (struct vpa_block_row){.index = (int64_t)i,
			.frames = 12,
			.period_ns = (uint64_t)ns,
			.busy_ns = (uint64_t)ns,
			.devices = 1};
		b->span_ns += s->rows[i].period_ns;
		state = shape->memory * state + sqrt(1 - shape->memory * shape->memory) * normal(r);
	}
}

/* How often `pairs` pairs of `runs` runs a side are called different, in the direction of the change;
 * the mean of what they say they would show. */
static size_t called_different(uint64_t seed, size_t pairs, size_t runs, struct shape shape,
	double change, double *detectable)
{
	static struct series all[12];
	const struct vpa_report *reports[12];
	struct vpt_random r = {seed};
	size_t i, k, found = 0;

	*detectable = 0;
	for (i = 0; i < pairs; i++) {
		struct vpa_comparison *c;

		for (k = 0; k < 2 * runs; k++) {
			shape.change = k < runs ? 0 : change;
			make_series(&all[k], &r, &shape);
			reports[k] = &all[k].report;
		}
		c = compared(reports, reports + runs, runs);
		found += c->verdict == VPA_CHANGE_SLOWER ||
			 (change == 0 && c->verdict == VPA_CHANGE_FASTER);
		*detectable += c->detectable / (double)pairs;
		vpa_comparison_free(c);
	}
	return found;
}

static void equal_pairs(void **state)
{
	/* 5 % of 1,000, and two standard deviations of that many. */
	enum { PAIRS = 1000, MOST = 50 + 14 };
	static const struct {
		const char *name;
		size_t runs;
		struct shape shape;
	} cases[] = {
		{"6 blocks", 1, {6, 0.02, 0, 0, 0, 0}},
		{"20 blocks that resemble their neighbours", 1, {20, 0.02, 0, 0.5, 0, 0}},
		{"60 blocks that resemble their neighbours", 1, {60, 0.02, 0, 0.7, 0, 0}},
		{"20 blocks, correlation 0.8", 1, {20, 0.02, 0, 0.8, 0, 0}},
		{"20 blocks, correlation 0.9", 1, {20, 0.02, 0, 0.9, 0, 0}},
		{"40 blocks, correlation 0.8", 1, {40, 0.02, 0, 0.8, 0, 0}},
		{"40 blocks, correlation 0.9", 1, {40, 0.02, 0, 0.9, 0, 0}},
		{"100 blocks, correlation 0.8", 1, {100, 0.02, 0, 0.8, 0, 0}},
		{"100 blocks, correlation 0.9", 1, {100, 0.02, 0, 0.9, 0, 0}},
		{"40 blocks, 0.8 and noise", 1, {40, 0.02, 0, 0.8, 0, 0.01}},
		{"100 blocks, 0.8 and noise", 1, {100, 0.02, 0, 0.8, 0, 0.01}},
		{"100 blocks, 0.9 and noise", 1, {100, 0.02, 0, 0.9, 0, 0.01}},
		{"2 runs a side", 2, {20, 0.02, 0, 0.3, 0, 0}},
		{"4 runs a side", 4, {6, 0.01, 0.02, 0, 0, 0}},
		{"6 runs a side", 6, {6, 0.01, 0.02, 0.3, 0, 0}},
	};
	double detectable;
	size_t i, found;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		found = called_different(
			100 + i, PAIRS, cases[i].runs, cases[i].shape, 0, &detectable);
		printf("equal pairs, %s: %zu of %d called different, detectable %.2f %%\n",
			cases[i].name, found, (int)PAIRS, 100 * detectable);
		if (found > MOST)
			fail_msg("%s: %zu of %d", cases[i].name, found, (int)PAIRS);
	}
}

static void planted_changes(void **state)
{
	enum { PAIRS = 300 };
	static const struct {
		const char *name;
		size_t runs;
		double change;
		struct shape shape;
	} cases[] = {
		{"20 blocks", 1, 0.01, {20, 0.006, 0, 0, 0, 0}},
		{"20 blocks", 1, 0.02, {20, 0.012, 0, 0, 0, 0}},
		{"20 blocks", 1, 0.05, {20, 0.03, 0, 0, 0, 0}},
		{"40 blocks", 1, 0.01, {40, 0.01, 0, 0, 0, 0}},
		{"100 blocks", 1, 0.01, {100, 0.015, 0, 0, 0, 0}},
		{"60 blocks that resemble their neighbours", 1, 0.01, {60, 0.01, 0, 0.5, 0, 0}},
		{"60 blocks that resemble their neighbours", 1, 0.05, {60, 0.05, 0, 0.5, 0, 0}},
		{"4 runs a side", 4, 0.02, {6, 0.003, 0.005, 0, 0, 0}},
		{"6 runs a side", 6, 0.01, {6, 0.002, 0.003, 0, 0, 0}},
		{"6 runs a side", 6, 0.05, {6, 0.01, 0.02, 0, 0, 0}},
	};
	size_t i, found, larger;
	double detectable, ignored;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		found = called_different(200 + i, PAIRS, cases[i].runs, cases[i].shape,
			cases[i].change, &detectable);
		/* A change of the size that it says it would show. */
		larger = called_different(
			300 + i, PAIRS, cases[i].runs, cases[i].shape, detectable, &ignored);
		printf("planted %.0f %%, %s: %zu of %d found; of %.2f %%, the detectable one, "
		       "%zu\n",
			100 * cases[i].change, cases[i].name, found, (int)PAIRS, 100 * detectable,
			larger);
		/* Four of five, less three standard deviations of 300 tries. */
		if (larger < PAIRS * 73 / 100)
			fail_msg("%s: %zu of %d", cases[i].name, larger, (int)PAIRS);
		if (cases[i].change >= detectable && found < PAIRS * 73 / 100)
			fail_msg("%s: %zu of %d", cases[i].name, found, (int)PAIRS);
	}
}

/* ---- conditions ---- */

/* How often a condition holds for pairs of 8 blocks, of which 70 % are busy, that differ by `change` in idle time. */
static void count_answers(const char *text, double change, size_t answers[3])
{
	static struct series sides[2];
	const struct vpa_report *reports[2] = {&sides[0].report, &sides[1].report};
	static const struct shape shape = {8, 0.02, 0, 0, 0, 0};
	struct vpt_random r = {41};
	struct vpa_condition condition;
	struct vpt_err err = {0};
	char what[160];
	size_t i, k, side;
	int holds;

	memset(answers, 0, 3 * sizeof(*answers));
	assert_int_equal(vpa_condition_read(text, 0, &condition, &err), 0);
	for (i = 0; i < 500; i++) {
		struct vpa_comparison *c;

		for (side = 0; side < 2; side++) {
			make_series(&sides[side], &r, &shape);
			for (k = 0; k < shape.blocks; k++) {
				struct vpa_block_row *row = &sides[side].rows[k];

				row->busy_ns = (uint64_t)350e6;
				row->idle_ns = (uint64_t)(150e6 + 10e6 * normal(&r));
				row->idle_ns += side ? (uint64_t)(change * 500e6) : 0;
				row->period_ns = row->busy_ns + row->idle_ns;
			}
		}
		c = compared(reports, reports + 1, 1);
		assert_int_equal(vpa_condition_holds(&condition, c, &holds, what, &err), 0);
		answers[holds]++;
		if (holds == VPA_CONDITION_CHANCE)
			assert_non_null(strstr(what, ", which is within noise"));
		vpa_comparison_free(c);
	}
}

static void conditions_carry_the_test_of_the_verdict(void **state)
{
	static const char *const conditions[] = {
		"idle+1%", "period+1%", "fps-1%", "bps-1%", "busy+0%"};
	size_t i, answers[3];

	(void)state;
	for (i = 0; i < COUNT(conditions); i++) {
		size_t by_chance;

		count_answers(conditions[i], 0, answers);
		by_chance = answers[VPA_CONDITION_HOLDS];
		printf("%s: of 500 equal pairs, %zu hold, %zu are within noise", conditions[i],
			by_chance, answers[VPA_CONDITION_CHANCE]);
		assert_true(by_chance <= 500 * 6 / 100);
		count_answers(conditions[i], 0.2, answers);
		printf("; of 500 that take 20 %% longer, %zu hold\n", answers[VPA_CONDITION_HOLDS]);
		if (strcmp(conditions[i], "busy+0%"))
			assert_true(answers[VPA_CONDITION_HOLDS] >= 490);
		else
			assert_int_equal(answers[VPA_CONDITION_HOLDS], 0);
	}
	count_answers("idle+1%", 0, answers);
	assert_true(answers[VPA_CONDITION_CHANCE] > 50);
}

/* Below 20 blocks a comparison says how many it takes; where neighbours resemble each other, it mostly has no answer. */
static void few_blocks_say_how_many_it_takes(void **state)
{
	enum { PAIRS = 300 };
	static const struct {
		struct shape shape;
		size_t needed, least, most; /* of PAIRS whose neighbours resemble each other */
	} cases[] = {
		{{8, 0.02, 0, 0, 0, 0}, 20, 10, 75},
		{{8, 0.02, 0, 0.9, 0, 0}, 20, 150, PAIRS},
		{{19, 0.02, 0, 0, 0, 0}, 20, 10, 45},
		{{20, 0.02, 0, 0.9, 0, 0}, 0, 150, PAIRS},
	};
	static struct series sides[2];
	const struct vpa_report *reports[2] = {&sides[0].report, &sides[1].report};
	struct vpt_random r = {47};
	size_t i, k, n, resembling, silent;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		for (k = resembling = silent = 0; k < PAIRS; k++) {
			struct vpa_comparison *c;
			size_t told = 0;

			make_series(&sides[0], &r, &cases[i].shape);
			make_series(&sides[1], &r, &cases[i].shape);
			c = compared(reports, reports + 1, 1);
			assert_int_equal(c->units_needed, cases[i].needed);
			for (n = 0; n < c->note_count; n++)
				told += strstr(c->notes[n], "from 20 on they can") != NULL;
			assert_int_equal(told, cases[i].needed ? 1 : 0);
			resembling += (size_t)c->resembles;
			silent += c->resembles && c->verdict == VPA_CHANGE_INCONCLUSIVE;
			vpa_comparison_free(c);
		}
		printf("%zu blocks, correlation %.1f: %zu of %d resemble, %zu of them "
		       "inconclusive\n",
			cases[i].shape.blocks, cases[i].shape.memory, resembling, (int)PAIRS,
			silent);
		assert_in_range(resembling, cases[i].least, cases[i].most);
		assert_true(silent * 10 >= resembling * 9);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_pairs),
		cmocka_unit_test(planted_changes),
		cmocka_unit_test(conditions_carry_the_test_of_the_verdict),
		cmocka_unit_test(few_blocks_say_how_many_it_takes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
