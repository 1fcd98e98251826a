/* test_step_kinds.c - steps by their kernels: traces of a small model whose figures a person can compute.
 *
 * An op takes 10 ns and the next one starts 3 ns after it, so n ops take 13 n - 3 ns. A pass of the model is
 * an embedding of two ops, layers of two ops each, and a head of two ops. */
#include "analysis/analyze.h"
#include "analysis/steps/step_kinds.h"
#include "formats/base/count.h"
#include "formats/base/error.h"
#include "tests/support/traces/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- a trace in the making ---- */

struct maker {
	char text[1 << 18];
	size_t used;
	unsigned at, corr, steps, step_at;
	const char *stream;
	int bare;         /* without ranges */
	int is_wide;      /* layers have two more ops */
	unsigned late_ns; /* ops run so long after their launch */
};

static struct maker made;

static void put(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	made.used +=
		(size_t)vsnprintf(made.text + made.used, sizeof(made.text) - made.used, fmt, args);
	va_end(args);
	assert_true(made.used < sizeof(made.text));
}

static void begin_trace(void)
{
	made.used = 0;
	made.at = 2000;
	made.corr = made.steps = 0;
	made.bare = made.is_wide = 0;
	made.late_ns = 0;
	made.stream = "s7";
	put("start 1us\n");
}

static void op(const char *name, unsigned grid)
{
	made.corr++;
	put("call t1 cudaLaunchKernel %u-%u corr %u\n", made.at, made.at + 1, made.corr);
	put("kernel %s %u-%u corr %u \"%s\" grid %u\n", made.stream, made.at + made.late_ns + 2,
		made.at + made.late_ns + 12, made.corr, name, grid);
	made.at += 13;
}

static void pass(unsigned layers)
{
	op("embed", 1);
	op("time", 2);
	for (; layers; layers--) {
		op("attention", 8);
		op("mlp", 16);
		if (made.is_wide) {
			op("up", 32);
			op("down", 8);
		}
	}
	op("norm", 3);
	op("head", 4);
}

static void begin_step(void)
{
	made.step_at = made.at;
	made.steps++;
}

static void end_step(void)
{
	op("scheduler", 5);
	if (!made.bare)
		put("range t1 %u-%u \"step %u\"\n", made.step_at, made.at - 1, made.steps);
	made.at += 20;
}

static void step(unsigned passes, unsigned layers)
{
	begin_step();
	for (; passes; passes--)
		pass(layers);
	end_step();
}

static struct vpa_report *analyze_with(const struct vpa_options *options)
{
	return vpt_script_report(made.text, options);
}

static struct vpa_report *analyze(void)
{
	return analyze_with(NULL);
}

/* The time of `steps` steps of `ops` ops. */
static uint64_t time_of(unsigned steps, unsigned ops)
{
	return (uint64_t)steps * (13 * ops - 3);
}

#define EXPECT_KIND(k, role_, steps_, ops_)                                                        \
	do {                                                                                       \
		assert_int_equal((k)->role, role_);                                                \
		assert_int_equal((k)->steps, steps_);                                              \
		assert_int_equal((k)->ops, ops_);                                                  \
		assert_int_equal((k)->total_ns, time_of(steps_, ops_));                            \
	} while (0)

/* ---- which steps are alike ---- */

static void equal_steps_are_one_kind(void **state)
{
	struct vpa_report *r;
	const struct vpa_step_kinds *k;
	unsigned i;

	(void)state;
	begin_trace();
	for (i = 0; i < 3; i++)
		step(1, 4);
	r = analyze();
	k = &r->expert.step_kinds;
	assert_int_equal(k->source, VPA_STEPS_MARKED);
	assert_int_equal(k->steps, 3);
	assert_int_equal(k->distinct, 1);
	assert_int_equal(k->full_ops, 13);
	assert_int_equal(k->total_ns, time_of(3, 13));
	EXPECT_KIND(&k->rows[0], VPA_STEP_FULL, 3, 13);
	/* Four layers are two and two, but only one pass. */
	assert_int_equal(k->paired, 0);
	assert_int_equal(k->fewer, 0);
	vpa_report_free(r);
}

/* Steps of the ops "a" and "b", in the order and on the streams of `how`: a capital is on stream 8, a
 * figure begins the next step. */
static size_t kinds_of(const char *how)
{
	struct vpa_report *r;
	size_t kinds;

	begin_trace();
	for (; *how; how++) {
		char name[2] = {*how, 0};

		if (*how == '1') {
			begin_step();
			continue;
		}
		made.stream = "s7";
		if (*how == '.') {
			end_step();
			continue;
		}
		if (*how < 'a') {
			made.stream = "s8";
			name[0] = (char)(*how - 'A' + 'a');
		}
		op(name, 1);
	}
	r = analyze();
	kinds = r->expert.step_kinds.distinct;
	vpa_report_free(r);
	return kinds;
}

static void order_counts_on_one_stream_only(void **state)
{
	static const struct {
		const char *rule, *steps;
		size_t kinds;
	} cases[] = {
		{"the same order", "1ab.1ab.", 1},
		{"another order", "1ab.1ba.", 2},
		{"another kernel", "1ab.1ac.", 2},
		{"one more", "1ab.1abb.", 2},
		{"of two streams in any order", "1aBc.1caB.", 1},
		{"but the same ops", "1aBc.1caBB.", 2},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		size_t kinds = kinds_of(cases[i].steps);

		if (kinds != cases[i].kinds)
			fail_msg("%s: %zu kinds, expected %zu", cases[i].rule, kinds,
				cases[i].kinds);
	}
}

static void another_grid_is_another_kind(void **state)
{
	struct vpa_report *r;

	(void)state;
	begin_trace();
	begin_step();
	op("a", 1);
	end_step();
	begin_step();
	op("a", 2);
	end_step();
	r = analyze();
	assert_int_equal(r->expert.step_kinds.distinct, 2);
	/* Neither has two steps: there is nothing to compare with. */
	assert_int_equal(r->expert.step_kinds.full_ops, 0);
	assert_int_equal(r->expert.step_kinds.rows[0].role, VPA_STEP_OTHER);
	assert_true(r->expert.step_kinds.rows[0].of_full < 0);
	vpa_report_free(r);
}

static void nodes_of_a_graph_run_in_any_order(void **state)
{
	struct vpa_report *r;
	unsigned i;

	(void)state;
	begin_trace();
	for (i = 0; i < 2; i++) {
		unsigned at = 2000 + 100 * i;

		put("range t1 %u-%u \"step %u\"\ncall t1 cudaGraphLaunch %u-%u corr %u\n", at,
			at + 50, i, at, at + 1, i + 1);
		put("kernel s7 %u-%u corr %u \"%s\" node 1\n", at + 2, at + 12, i + 1,
			i ? "a" : "b");
		put("kernel s7 %u-%u corr %u \"%s\" node 2\n", at + 12, at + 22, i + 1,
			i ? "b" : "a");
	}
	r = analyze();
	assert_int_equal(r->expert.step_kinds.steps, 2);
	assert_int_equal(r->expert.step_kinds.distinct, 1);
	vpa_report_free(r);
}

/* Of four of eight steps a pause hides all layers but one; else that would be a step cache. The row of a pause is
 * written at its end: after the step, perhaps in the next chunk. */
static void a_step_that_a_pause_cuts_is_none(void **state)
{
	struct vpa_report *r;
	unsigned i, is_apart;

	(void)state;
	for (is_apart = 0; is_apart < 2; is_apart++) {
		begin_trace();
		for (i = 0; i < 8; i++) {
			unsigned from;

			begin_step();
			pass(i % 2 ? 1 : 8);
			from = made.at;
			made.at += i % 2 ? 14 * 13 : 0;
			if (i % 2)
				put("range t1 %u-%u \"step %u\"\n", made.step_at, made.at, i + 1);
			else
				end_step();
			if (i % 2 && is_apart)
				put("chunk %u\n", made.at);
			made.at += 20;
			if (i % 2)
				put("loss all paused %u-%u\n", from, made.at - 10);
		}
		r = analyze();
		assert_int_equal(r->expert.step_kinds.steps, 4);
		assert_int_equal(r->expert.step_kinds.fewer, 0);
		vpa_report_free(r);
	}
}

/* ---- step caches ---- */

static void steps_that_leave_work_out_save_time(void **state)
{
	struct vpa_report *r;
	const struct vpa_step_kinds *k;
	unsigned i;

	(void)state;
	begin_trace();
	/* Of each three steps the first is full; the others run one layer of eight. */
	for (i = 0; i < 9; i++)
		step(1, i % 3 ? 1 : 8);
	r = analyze();
	k = &r->expert.step_kinds;
	assert_int_equal(k->distinct, 2);
	EXPECT_KIND(&k->rows[0], VPA_STEP_FULL, 3, 21);
	EXPECT_KIND(&k->rows[1], VPA_STEP_FEWER, 6, 7);
	assert_int_equal(k->rows[0].first, 0);
	assert_int_equal(k->rows[1].first, 1);
	assert_int_equal(k->fewer, 6);
	assert_int_equal(k->saved_ns, time_of(6, 21) - time_of(6, 7));
	assert_int_equal(k->rows[1].saved_ns, k->saved_ns);
	vpa_report_free(r);
}

static void little_less_is_no_cache(void **state)
{
	struct vpa_report *r;
	unsigned i;

	(void)state;
	begin_trace();
	for (i = 0; i < 6; i++)
		step(1, i % 3 ? 7 : 8); /* 19 of 21 ops */
	r = analyze();
	assert_int_equal(r->expert.step_kinds.fewer, 0);
	assert_int_equal(r->expert.step_kinds.rows[0].role, VPA_STEP_OTHER);
	vpa_report_free(r);
}

static void a_single_short_step_is_no_cache(void **state)
{
	struct vpa_report *r;
	unsigned i;

	(void)state;
	begin_trace();
	for (i = 0; i < 6; i++) /* the last two run less, each something else */
		step(1, i < 4 ? 8 : i - 3);
	r = analyze();
	assert_int_equal(r->expert.step_kinds.distinct, 3);
	assert_int_equal(r->expert.step_kinds.fewer, 0);
	vpa_report_free(r);
}

static void another_model_is_no_cache(void **state)
{
	struct vpa_report *r;
	unsigned i;

	(void)state;
	begin_trace();
	for (i = 0; i < 3; i++)
		step(1, 8);
	for (i = 0; i < 3; i++) { /* a refiner of other kernels and grids */
		begin_step();
		op("embed", 11);
		op("refine", 12);
		op("head", 13);
		end_step();
	}
	r = analyze();
	assert_int_equal(r->expert.step_kinds.fewer, 0);
	assert_int_equal(r->expert.step_kinds.rows[1].role, VPA_STEP_OTHER);
	vpa_report_free(r);
}

static void a_step_that_the_window_cuts_is_none(void **state)
{
	struct vpa_options options = {.has_to = 1};
	struct vpa_report *r;
	unsigned i;

	(void)state;
	begin_trace();
	for (i = 0; i < 4; i++)
		step(1, 8);
	options.to_ns = 1000 + 3 * (21 * 13 + 20) + 5 * 13; /* five ops of the last one */
	r = analyze_with(&options);
	assert_int_equal(r->expert.step_kinds.steps, 3);
	assert_int_equal(r->expert.step_kinds.distinct, 1);
	vpa_report_free(r);
}

/* ---- guidance ---- */

static void halves_that_repeat_are_found(void **state)
{
	struct vpa_report *r;
	const struct vpa_step_kinds *k;
	unsigned i;

	(void)state;
	begin_trace();
	for (i = 0; i < 3; i++)
		step(2, 4);
	r = analyze();
	k = &r->expert.step_kinds;
	assert_int_equal(k->distinct, 1);
	assert_int_equal(k->paired, 3);
	assert_int_equal(k->rows[0].half_ops, 12);
	/* Up to the scheduler's start. */
	assert_int_equal(k->second_ns, 3 * 12 * 13);
	assert_int_equal(k->total_ns, time_of(3, 25));
	vpa_report_free(r);
}

static void guidance_that_ends_is_no_cache(void **state)
{
	struct vpa_report *r;
	const struct vpa_step_kinds *k;
	unsigned i;

	(void)state;
	begin_trace();
	for (i = 0; i < 6; i++)
		step(i < 4 ? 2 : 1, 4);
	r = analyze();
	k = &r->expert.step_kinds;
	assert_int_equal(k->distinct, 2);
	assert_int_equal(k->paired, 4);
	assert_int_equal(k->fewer, 0);
	EXPECT_KIND(&k->rows[1], VPA_STEP_HALF, 2, 13);
	assert_int_equal(k->rows[1].half_ops, 0);
	vpa_report_free(r);
}

/* Sequences as letters: an op is alike if its letter is. */
static void halves_are_passes_of_a_model(void **state)
{
	static const struct {
		const char *rule, *ops;
		unsigned first, second, end;
	} cases[] = {
		{"two passes", "efababababghefababababghs", 0, 12, 24},
		{"something before them", "xefababababghefababababghs", 1, 13, 25},
		{"passes that differ in one op", "efijababababababghefijabababababacghs", 0, 18,
			36},
		{"one pass of layers", "efababababababababghs", 0, 0, 0},
		{"three passes", "efababababghefababababghefababababghs", 0, 0, 0},
		{"two layers, no passes", "efabcdabcdghs", 0, 0, 0},
		{"much besides the passes", "efababababghefababababghstuvwxyzSTUVWXYZ", 0, 0, 0},
		{"nothing twice", "abcdefghijklmnop", 0, 0, 0},
		{"all the same", "aaaaaaaaaaaaaaaaaaaaaaaa", 0, 0, 0},
		{"too short", "ab", 0, 0, 0},
		{"empty", "", 0, 0, 0},
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpa_step_halves h;
		uint32_t symbols[64];
		size_t count = strlen(cases[i].ops);

		for (k = 0; k < count; k++)
			symbols[k] = (uint32_t)cases[i].ops[k] * 0x9e3779b1u;
		assert_int_equal(vpa_step_halves_find(symbols, count, &h), VPT_OK);
		if (h.first != cases[i].first || h.second != cases[i].second ||
			h.end != cases[i].end)
			fail_msg("%s: [%u, %u, %u), expected [%u, %u, %u)", cases[i].rule, h.first,
				h.second, h.end, cases[i].first, cases[i].second, cases[i].end);
	}
}

/* ---- where steps come from ---- */

static void steps_from_mark_to_mark_are_steps(void **state)
{
	struct vpa_report *r;
	const struct vpa_step_kinds *k;
	unsigned i;

	(void)state;
	begin_trace();
	made.bare = 1;
	for (i = 0; i < 6; i++) {
		unsigned at = made.at, scheduler;

		pass(i % 2 ? 1 : 8);
		put("range t1 %u-%u \"transformer_forward\"\n", at, made.at - 5);
		scheduler = made.at - 2;
		op("scheduler", 5);
		put("range t1 %u-%u \"scheduler_step\"\n", scheduler, made.at - 5);
		made.at += 20;
	}
	r = analyze();
	k = &r->expert.step_kinds;
	assert_int_equal(k->source, VPA_STEPS_MARKED);
	assert_int_equal(k->steps, 6);
	EXPECT_KIND(&k->rows[0], VPA_STEP_FULL, 3, 21);
	EXPECT_KIND(&k->rows[1], VPA_STEP_FEWER, 3, 7);
	vpa_report_free(r);
}

static void inferred_steps_are_steps(void **state)
{
	struct vpa_report *r;
	const struct vpa_step_kinds *k;
	unsigned i;

	(void)state;
	begin_trace();
	made.bare = made.is_wide = 1;
	for (i = 0; i < 8; i++)
		step(1, i == 3 || i == 5 ? 4 : 12);
	r = analyze();
	k = &r->expert.step_kinds;
	assert_int_equal(r->inferred_count, 1);
	assert_int_equal(k->source, VPA_STEPS_INFERRED);
	assert_int_equal(k->steps, r->inferred[0].step_count);
	assert_int_equal(k->rows[0].role, VPA_STEP_FULL);
	assert_int_equal(k->fewer, 2);
	assert_int_equal(k->saved_ns, 2 * 13 * 8 * 4);
	vpa_report_free(r);
}

/* Nothing marks eight steps of 45 ops; a pause is between two ops of one, or behind it. */
static struct vpa_report *bare_steps_with_pause(unsigned at, int is_inside)
{
	unsigned i;

	begin_trace();
	made.bare = made.is_wide = 1;
	for (i = 0; i < 8; i++) {
		step(1, 10);
		if (i == at && is_inside) {
			put("loss all paused %u-%u\n", made.step_at + 64, made.step_at + 66);
		} else if (i == at) {
			put("loss all paused %u-%u\n", made.at - 10, made.at + 990);
			made.at += 1000;
		}
	}
	return analyze();
}

static void no_period_of_an_inferred_step_spans_a_pause(void **state)
{
	const uint64_t period_ns = 45 * 13 + 20;
	const struct vpa_inferred *row;
	struct vpa_report *r;

	(void)state;
	r = bare_steps_with_pause(3, 0);
	row = &r->inferred[0];
	assert_int_equal(row->step_count, 8);
	assert_int_equal(row->cut, 0);
	assert_false(row->steps[3].followed);
	assert_true(row->steps[4].followed);
	assert_true(row->s_per_it == (double)period_ns / 1e9);
	vpa_report_free(r);
	r = bare_steps_with_pause(3, 1);
	row = &r->inferred[0];
	assert_int_equal(row->step_count, 7);
	assert_int_equal(row->cut, 1);
	assert_true(row->s_per_it == (double)period_ns / 1e9);
	vpa_report_free(r);
}

/* A pause behind the launches of eight steps hides nothing of them; one in the launches of the last hides some. */
static void steps_that_run_in_a_pause_count(void **state)
{
	static const struct {
		int bare, is_inside;
	} cases[] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vpa_report *r;
		uint64_t cut = (uint64_t)cases[i].is_inside;

		begin_trace();
		made.is_wide = 1;
		made.bare = cases[i].bare;
		made.late_ns = 100000;
		for (k = 0; k < 8; k++)
			step(1, 10);
		put("loss all paused %u-%u\n", made.at - (cases[i].is_inside ? 40 : 10),
			made.late_ns + made.at);
		r = analyze();
		assert_int_equal(r->expert.step_kinds.steps, 8 - cut);
		if (cases[i].bare) {
			assert_int_equal(r->inferred[0].step_count, 8 - cut);
			assert_int_equal(r->inferred[0].cut, cut);
		} else {
			assert_int_equal(r->requests[0].steps.count, 8 - cut);
			assert_int_equal(r->requests[0].steps.periods, 7 - cut);
		}
		vpa_report_free(r);
	}
}

static void context_passes_are_no_steps(void **state)
{
	struct vpa_report *r;
	unsigned i;

	(void)state;
	begin_trace();
	made.bare = 1;
	for (i = 0; i < 4; i++) {
		unsigned at = made.at;

		pass(i % 2 ? 1 : 4);
		put("range t1 %u-%u \"pass\" domain vptrace json "
		    "\"{\\\"kind\\\":\\\"step\\\"%s}\"\n",
			at, made.at - 1, i % 2 ? ",\\\"context\\\":1" : "");
	}
	r = analyze();
	assert_int_equal(r->expert.step_kinds.steps, 2);
	assert_int_equal(r->expert.step_kinds.distinct, 1);
	vpa_report_free(r);
}

static void without_steps_there_are_no_kinds(void **state)
{
	struct vpa_report *r;

	(void)state;
	begin_trace();
	op("a", 1);
	r = analyze();
	assert_int_equal(r->expert.step_kinds.source, VPA_STEPS_UNKNOWN);
	vpa_report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_steps_are_one_kind),
		cmocka_unit_test(order_counts_on_one_stream_only),
		cmocka_unit_test(another_grid_is_another_kind),
		cmocka_unit_test(nodes_of_a_graph_run_in_any_order),
		cmocka_unit_test(steps_that_leave_work_out_save_time),
		cmocka_unit_test(little_less_is_no_cache),
		cmocka_unit_test(a_single_short_step_is_no_cache),
		cmocka_unit_test(another_model_is_no_cache),
		cmocka_unit_test(a_step_that_the_window_cuts_is_none),
		cmocka_unit_test(a_step_that_a_pause_cuts_is_none),
		cmocka_unit_test(halves_that_repeat_are_found),
		cmocka_unit_test(guidance_that_ends_is_no_cache),
		cmocka_unit_test(halves_are_passes_of_a_model),
		cmocka_unit_test(steps_from_mark_to_mark_are_steps),
		cmocka_unit_test(inferred_steps_are_steps),
		cmocka_unit_test(no_period_of_an_inferred_step_spans_a_pause),
		cmocka_unit_test(steps_that_run_in_a_pause_count),
		cmocka_unit_test(context_passes_are_no_steps),
		cmocka_unit_test(without_steps_there_are_no_kinds),
	};

	return cmocka_run_group_tests_name("step_kinds", tests, NULL, NULL);
}
