/* test_compare_rates.c - which units and which rate a comparison has: blocks without the VAE's work make no FPS, and steps
 * are paired with the same steps. The scripts' times are microseconds. */
#include "analysis/analyze.h"
#include "analysis/compare/baseline.h"
#include "analysis/compare/comparison.h"
#include "analysis/compare/conditions/fail_conditions.h"
#include "analysis/render/renderer.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "tests/support/traces/script.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { BLOCKS = 4, STEPS = 3, STEP_US = 100, VAE_US = 50 };

/* A pipeline: blocks of steps, each followed by a VAE, or with all VAE work after the last block. */
struct pipeline {
	unsigned requests; /* 0: none is marked */
	int vae_at_end, without_blocks;
	unsigned frames, step_us; /* step_us 0: STEP_US */
	unsigned first;           /* blocks that are missing at the beginning */
};

struct script {
	char text[100000];
	size_t used;
	unsigned at, corr;
};

__attribute__((format(printf, 2, 3))) static void put(struct script *s, const char *form, ...)
{
	va_list args;

	va_start(args, form);
	s->used += (size_t)vsnprintf(s->text + s->used, sizeof(s->text) - s->used, form, args);
	va_end(args);
	assert_true(s->used < sizeof(s->text));
}

/* A kernel that starts 10 us after its launch, inside a range of its own. */
static void put_kernel(struct script *s, const char *name, unsigned us, const char *range)
{
	s->corr++;
	put(s, "call t1 cudaLaunchKernel %uus+1us corr %u\n", s->at + 1, s->corr);
	put(s, "kernel s7 %uus+%uus corr %u \"%s\"\n", s->at + 10, us, s->corr, name);
	put(s, "range t1 %uus-%uus \"%s\"\n", s->at, s->at + 10 + us, range);
	s->at += 10 + us;
}

static void put_request(struct script *s, const struct pipeline *p)
{
	unsigned block, step, from;
	char name[32];

	for (block = p->first; block < BLOCKS; block++) {
		from = s->at;
		for (step = 0; step < STEPS; step++) {
			snprintf(name, sizeof(name), "step %u", step);
			put_kernel(s, "gemm", p->step_us ? p->step_us : STEP_US, name);
		}
		if (!p->vae_at_end)
			put_kernel(s, "conv", VAE_US, "vae_decode");
		if (!p->without_blocks)
			put(s, "range t1 %uus-%uus \"block %u\"\n", from, s->at, block);
		s->at += 5;
	}
	for (block = 0; block < BLOCKS && p->vae_at_end; block++)
		put_kernel(s, "conv", VAE_US, "vae_decode");
}

static struct vpa_report *report_of(const struct pipeline *p)
{
	const struct vpa_options options = {
		.all_kernels = 1, .step_parts = 1, .frames_per_block = p->frames};
	struct script s = {.used = 0};
	unsigned i = 0;

	do {
		unsigned from = s.at;

		put_request(&s, p);
		s.at += 5;
		if (p->requests)
			put(&s, "range t1 %uus-%uus \"request %u\"\n", from, s.at - 1, i);
	} while (++i < p->requests);
	return vpt_script_report(s.text, &options);
}

struct pair {
	struct vpa_report *a, *b;
	struct vpa_comparison *c;
};

static struct pair pair_of(struct pipeline a, struct pipeline b)
{
	static const struct vpa_compare_options usual = {.margin = 0.005};
	struct pair pair = {report_of(&a), report_of(&b), NULL};
	const struct vpa_report *const ra = pair.a, *const rb = pair.b;
	struct vpt_err err = {0};

	if (vpa_compare(
		    &(struct vpa_side){&ra, 1}, &(struct vpa_side){&rb, 1}, &usual, &pair.c, &err))
		fail_msg("%s", err.text);
	return pair;
}

static void free_pair(struct pair *pair)
{
	vpa_comparison_free(pair->c);
	vpa_report_free(pair->a);
	vpa_report_free(pair->b);
}

static int has_note(const struct vpa_comparison *c, const char *text)
{
	size_t i;

	for (i = 0; i < c->note_count; i++)
		if (strstr(c->notes[i], text))
			return 1;
	return 0;
}

/* ---- the rate ---- */

static void blocks_of_different_work_are_not_compared(void **state)
{
	static const struct {
		const char *name, *rate;
		struct pipeline a, b;
		enum vpa_unit_kind unit;
		enum vpa_verdict_change verdict;
	} cases[] = {
		{"the VAE in the blocks", "FPS", {.frames = 12}, {.frames = 12}, VPA_UNIT_BLOCK,
			VPA_CHANGE_SAME},
		{"only in A's", "FPS end to end", {.frames = 12}, {.frames = 12, .vae_at_end = 1},
			VPA_UNIT_WINDOW, VPA_CHANGE_INCONCLUSIVE},
		{"only in B's", "FPS end to end", {.frames = 12, .vae_at_end = 1}, {.frames = 12},
			VPA_UNIT_WINDOW, VPA_CHANGE_INCONCLUSIVE},
		{"only in A's, a request", "FPS end to end", {.frames = 12, .requests = 1},
			{.frames = 12, .requests = 1, .vae_at_end = 1}, VPA_UNIT_REQUEST,
			VPA_CHANGE_INCONCLUSIVE},
		{"only in A's, several requests", "FPS end to end", {.frames = 12, .requests = 6},
			{.frames = 12, .requests = 6, .vae_at_end = 1}, VPA_UNIT_REQUEST,
			VPA_CHANGE_SAME},
		{"only in A's, unknown frames", "requests/s", {.requests = 6},
			{.requests = 6, .vae_at_end = 1}, VPA_UNIT_REQUEST, VPA_CHANGE_SAME},
		{"in none", "denoise rate", {.frames = 12, .vae_at_end = 1},
			{.frames = 12, .vae_at_end = 1}, VPA_UNIT_BLOCK, VPA_CHANGE_SAME},
		{"in none, unknown frames", "blocks/s", {.vae_at_end = 1}, {.vae_at_end = 1},
			VPA_UNIT_BLOCK, VPA_CHANGE_SAME},
		{"in none, several requests", "FPS end to end",
			{.frames = 12, .vae_at_end = 1, .requests = 6},
			{.frames = 12, .vae_at_end = 1, .requests = 6}, VPA_UNIT_REQUEST,
			VPA_CHANGE_SAME},
		{"no blocks in B", "steps/s", {.frames = 12, .vae_at_end = 1},
			{.without_blocks = 1, .vae_at_end = 1}, VPA_UNIT_STEP, VPA_CHANGE_SAME},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct pair pair = pair_of(cases[i].a, cases[i].b);
		const struct vpa_comparison *c = pair.c;

		if (c->unit != cases[i].unit || c->verdict != cases[i].verdict ||
			strcmp(c->rate_name, cases[i].rate) != 0)
			fail_msg("%s: %s by %s, %s", cases[i].name, c->rate_name,
				vpa_unit_kind_name(c->unit), vpa_change_name(c->verdict));
		assert_int_equal(has_note(c, "not compared by block: the VAE's work comes after"),
			cases[i].a.vae_at_end != cases[i].b.vae_at_end);
		free_pair(&pair);
	}
}

static void frames_end_to_end_are_those_of_the_reports(void **state)
{
	struct pair pair = pair_of((struct pipeline){.frames = 12},
		(struct pipeline){.frames = 12, .vae_at_end = 1, .step_us = 200});
	const struct vpa_comparison *c = pair.c;

	(void)state;
	assert_true(fabs(c->a_rate - pair.a->requests[0].fps_end_to_end) < 1e-6);
	assert_true(fabs(c->b_rate - pair.b->requests[0].fps_end_to_end) < 1e-6);
	assert_true(fabs(c->rate_change - (c->b_rate / c->a_rate - 1)) < 1e-9);
	assert_true(c->level == 0);
	free_pair(&pair);
}

/* ---- steps ---- */

/* The VAE lies between two steps only where no block ends there. */
static void steps_are_paired_with_themselves(void **state)
{
	static const struct {
		const char *name;
		struct pipeline a, b;
		size_t pairs;
	} cases[] = {
		{"blocks only in A", {.first = 0}, {.without_blocks = 1}, BLOCKS * (STEPS - 1)},
		{"blocks only in B", {.without_blocks = 1}, {.first = 0}, BLOCKS * (STEPS - 1)},
		{"no blocks", {.without_blocks = 1}, {.without_blocks = 1}, BLOCKS * STEPS - 1},
	};
	static const struct vpa_compare_options steps = {
		.margin = 0.005, .kinds = 1u << VPA_UNIT_STEP};
	struct vpa_comparison *c;
	struct vpt_err err = {0};
	struct pair pair;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		pair = pair_of(cases[i].a, cases[i].b);
		if (pair.c->unit != VPA_UNIT_STEP || pair.c->verdict != VPA_CHANGE_SAME ||
			pair.c->pairs != cases[i].pairs || pair.c->delta_ns)
			fail_msg("%s: %zu pairs, %s, %s", cases[i].name, pair.c->pairs,
				vpa_unit_kind_name(pair.c->unit), vpa_change_name(pair.c->verdict));
		free_pair(&pair);
	}
	/* Block 2 is paired with block 2, although it is the first one of B. */
	pair = pair_of((struct pipeline){.first = 0}, (struct pipeline){.first = 2});
	{
		const struct vpa_report *const a = pair.a, *const b = pair.b;

		assert_int_equal(vpa_compare(&(struct vpa_side){&a, 1}, &(struct vpa_side){&b, 1},
					 &steps, &c, &err),
			0);
	}
	assert_int_equal(c->unit, VPA_UNIT_STEP);
	assert_int_equal(c->pairs, 2 * (STEPS - 1));
	assert_int_equal(c->verdict, VPA_CHANGE_SAME);
	vpa_comparison_free(c);
	free_pair(&pair);
}

/* ---- few or many times the same ---- */

/* `count` ranges, each with a kernel of `us` that varies by a `varies` part of it, as a range with numbers or without. */
static struct vpa_report *repeated(const char *range, unsigned count, unsigned us, unsigned varies)
{
	static const unsigned turns[] = {3, 0, 4, 1, 2, 4, 1, 3, 0, 2, 1};
	const struct vpa_options options = {.all_kernels = 1, .step_parts = 1};
	struct script s = {.used = 0};
	char name[32];
	unsigned i;

	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), range, i);
		put_kernel(&s, "gemm", us + us * turns[i % COUNT(turns)] / 2 / varies, name);
		s.at += 5;
	}
	return vpt_script_report(s.text, &options);
}

/* A report as --baseline reads it from JSON. */
static struct vpa_report *read_back(const struct vpa_report *r)
{
	struct vpa_report *back = NULL;
	struct vpt_buffer text = {0};
	struct vpt_sink *sink;
	struct vpt_err err = {0};

	assert_int_equal(vpt_sink_memory(&text, &sink, &err), 0);
	assert_int_equal(vpa_render_json(r, sink, &err), 0);
	assert_int_equal(sink->finish(sink, 1, &err), 0);
	assert_int_equal(
		vpa_baseline_read((const char *)text.data, text.size, "back", &back, &err), 0);
	vpt_free(text.data);
	return back;
}

static struct vpa_comparison *compared(const struct vpa_report *a, const struct vpa_report *b)
{
	static const struct vpa_compare_options usual = {.margin = 0.005};
	struct vpa_comparison *c;
	struct vpt_err err = {0};

	assert_int_equal(
		vpa_compare(&(struct vpa_side){&a, 1}, &(struct vpa_side){&b, 1}, &usual, &c, &err),
		0);
	return c;
}

/* Instances too; reports of earlier versions do not have these. */
static void a_report_in_json_has_the_same_units(void **state)
{
	struct vpa_report *a = repeated("decode", 50, 20000, 400);
	struct vpa_report *b = repeated("decode", 400, 10000, 400), *back = read_back(a);
	struct vpa_comparison *c = compared(a, b), *again = compared(back, b);
	size_t i;

	(void)state;
	assert_int_equal(again->unit, VPA_UNIT_INSTANCE);
	assert_int_equal(again->verdict, VPA_CHANGE_FASTER);
	assert_int_equal(again->pairs, c->pairs);
	assert_true(again->time_low == c->time_low && again->time_high == c->time_high);
	vpa_comparison_free(again);
	vpa_comparison_free(c);
	/* A bounded number of them. */
	for (i = 0; i < b->range_count; i++)
		assert_int_equal(b->ranges[i].instance_count, VPA_INSTANCES_MOST);
	assert_int_equal(b->range_count, 1);
	back->ranges[0].instance_count = 0;
	c = compared(back, b);
	assert_int_equal(c->unit, VPA_UNIT_WINDOW);
	vpa_comparison_free(c);
	vpa_report_free(a);
	vpa_report_free(b);
	vpa_report_free(back);
}

static void repetitions_give_an_answer(void **state)
{
	static const struct {
		const char *name, *range;
		unsigned a_count, b_count, a_us, b_us, varies;
		enum vpa_unit_kind unit;
		enum vpa_verdict_change verdict;
	} cases[] = {
		{"50 instances, twice as fast", "decode", 50, 50, 20000, 10000, 400,
			VPA_UNIT_INSTANCE, VPA_CHANGE_FASTER},
		{"one more in B", "decode", 50, 51, 10000, 20000, 400, VPA_UNIT_INSTANCE,
			VPA_CHANGE_SLOWER},
		{"the same", "decode", 50, 50, 20000, 20000, 400, VPA_UNIT_INSTANCE,
			VPA_CHANGE_SAME},
		{"two are too few", "decode", 2, 2, 20000, 10000, 400, VPA_UNIT_WINDOW,
			VPA_CHANGE_INCONCLUSIVE},
		{"4 iterations, 3 from start to start", "ProfilerStep#%u", 4, 4, 18500, 10000, 30,
			VPA_UNIT_ITERATION, VPA_CHANGE_FASTER},
		{"3 iterations", "ProfilerStep#%u", 3, 3, 18500, 10000, 30, VPA_UNIT_ITERATION,
			VPA_CHANGE_FASTER},
		{"5 steps", "step %u", 5, 5, 10000, 18500, 30, VPA_UNIT_STEP, VPA_CHANGE_SLOWER},
	};
	static const struct vpa_compare_options usual = {.margin = 0.005};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpa_report *a =
			repeated(cases[i].range, cases[i].a_count, cases[i].a_us, cases[i].varies);
		struct vpa_report *b =
			repeated(cases[i].range, cases[i].b_count, cases[i].b_us, cases[i].varies);
		const struct vpa_report *const ra = a, *const rb = b;
		struct vpa_comparison *c;
		struct vpa_condition condition;
		struct vpt_err err = {0};
		char what[160];
		int holds;

		assert_int_equal(vpa_compare(&(struct vpa_side){&ra, 1}, &(struct vpa_side){&rb, 1},
					 &usual, &c, &err),
			0);
		if (c->unit != cases[i].unit || c->verdict != cases[i].verdict)
			fail_msg("%s: %s by %s, %g to %g", cases[i].name,
				vpa_change_name(c->verdict), vpa_unit_kind_name(c->unit),
				c->time_low, c->time_high);
		assert_int_equal(has_note(c, "compared by the instances of the range decode"),
			c->unit == VPA_UNIT_INSTANCE);
		/* Parts of the window stay available. */
		assert_int_equal(vpa_condition_read("busy:gemm+10%", 0, &condition, &err), 0);
		assert_int_equal(vpa_condition_holds(&condition, c, &holds, what, &err), 0);
		assert_int_equal(holds == VPA_CONDITION_HOLDS, cases[i].b_us > cases[i].a_us);
		vpa_comparison_free(c);
		vpa_report_free(a);
		vpa_report_free(b);
	}
}

/* ---- conditions ---- */

/* Blocks of 3 * 110 + 5 us, with the VAE 60 us more. */
static void conditions_read_the_rates_of_a_report(void **state)
{
	static const struct {
		const char *name;
		struct pipeline p;
		const char *condition;
		int holds; /* -1: unavailable */
	} cases[] = {
		{"steady FPS, 12 frames in 395 us", {.frames = 12}, "fps<30380", 1},
		{"steady FPS", {.frames = 12}, "fps<30379", 0},
		{"48 frames in 1,580 us: end to end", {.frames = 12, .vae_at_end = 1}, "fps<30380",
			1},
		{"end to end", {.frames = 12, .vae_at_end = 1}, "fps<30379", 0},
		{"named", {.frames = 12}, "fps-end-to-end<30476", 0},
		{"12 frames in 335 us", {.frames = 12, .vae_at_end = 1}, "denoise-rate<35821", 1},
		{"denoise rate", {.frames = 12, .vae_at_end = 1}, "denoise-rate<35820", 0},
		{"in blocks with the VAE", {.frames = 12}, "denoise-rate<1", -1},
		{"unknown frames", {.frames = 0}, "fps<1", -1},
		{"steps in blocks", {.frames = 12}, "steps/s<9091", 1},
		{"steps in blocks", {.frames = 12}, "steps/s<9090", 0},
		{"their time", {.frames = 12}, "s/it>109us", 1},
		{"their time", {.frames = 12}, "s/it>111us", 0},
		{"blocks", {.frames = 0}, "bps<2532", 1},
		{"blocks", {.frames = 0}, "bps<2531", 0},
		{"no blocks", {.without_blocks = 1}, "bps<1", -1},
		{"the mean block", {.requests = 6}, "period>394us", 1},
		{"the mean block", {.requests = 6}, "period>395us", 0},
		{"minutes", {.requests = 6}, "period>0.000006m", 1},
		{"hours", {.requests = 6}, "period>0.000001h", 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpa_report *r = report_of(&cases[i].p);
		struct vpa_condition condition;
		struct vpt_err err = {0};
		char what[160] = "";
		int holds = -1, rc;

		if (vpa_condition_read(cases[i].condition, 1, &condition, &err))
			fail_msg("%s: %s", cases[i].condition, err.text);
		rc = vpa_condition_holds_of(&condition, r, &holds, what, &err);
		if ((rc ? -1 : holds) != cases[i].holds)
			fail_msg("%s, %s: %d, %s %s", cases[i].name, cases[i].condition,
				rc ? -1 : holds, what, err.text);
		vpa_report_free(r);
	}
}

static void conditions_compare_rates_of_their_own_units(void **state)
{
	static const struct {
		const char *name;
		struct pipeline a, b;
		const char *condition;
		int holds; /* -1: unavailable */
	} cases[] = {
		{"slower steps in blocks", {.frames = 12}, {.frames = 12, .step_us = 120},
			"steps/s-10%", 1},
		{"the same steps", {.frames = 12}, {.frames = 12, .vae_at_end = 1}, "steps/s-0%",
			0},
		{"the same steps", {.frames = 12}, {.without_blocks = 1}, "steps/s-0%", 0},
		{"blocks without the VAE", {.frames = 12}, {.frames = 12, .vae_at_end = 1},
			"bps+1%", -1},
		{"FPS end to end", {.frames = 12, .vae_at_end = 1}, {.frames = 12}, "fps-2%", 0},
		{"FPS end to end", {.frames = 12, .vae_at_end = 1}, {.frames = 12, .vae_at_end = 1},
			"fps<31000", 1},
		{"the denoise rate", {.frames = 12, .vae_at_end = 1},
			{.frames = 12, .vae_at_end = 1, .step_us = 120}, "denoise-rate-10%", 1},
		{"blocks of several requests", {.frames = 12, .vae_at_end = 1, .requests = 6},
			{.frames = 12, .vae_at_end = 1, .requests = 6, .step_us = 120}, "bps-10%",
			1},
		{"no steps to infer", {.frames = 12}, {.frames = 12}, "latents/s-1%", -1},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct pair pair = pair_of(cases[i].a, cases[i].b);
		struct vpa_condition condition;
		struct vpt_err err = {0};
		char what[160] = "";
		int holds = -1, rc;

		if (vpa_condition_read(cases[i].condition, 0, &condition, &err))
			fail_msg("%s: %s", cases[i].condition, err.text);
		rc = vpa_condition_holds(&condition, pair.c, &holds, what, &err);
		if ((rc ? -1 : holds) != cases[i].holds)
			fail_msg("%s, %s: %d, %s %s", cases[i].name, cases[i].condition,
				rc ? -1 : holds, what, err.text);
		free_pair(&pair);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_of_different_work_are_not_compared),
		cmocka_unit_test(frames_end_to_end_are_those_of_the_reports),
		cmocka_unit_test(steps_are_paired_with_themselves),
		cmocka_unit_test(repetitions_give_an_answer),
		cmocka_unit_test(a_report_in_json_has_the_same_units),
		cmocka_unit_test(conditions_read_the_rates_of_a_report),
		cmocka_unit_test(conditions_compare_rates_of_their_own_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
