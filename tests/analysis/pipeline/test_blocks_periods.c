/* test_blocks_periods.c - periods of blocks: drift, outliers, and what they are made of. */
#include "analysis/folds/blocks/blocks_math.h"
#include "analysis/report/overview.h"
#include "formats/base/count.h"
#include "tests/support/traces/block_rig.h"
#include "tests/support/random.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- drift, outliers ---- */

static void drift_is_a_median_slope(void **state)
{
	static const uint64_t line_of[] = {100, 110, 120, 130, 140, 150, 160},
			      full[] = {100, 110, 120, 130, 140, 140, 140, 140, 140},
			      spoilt[] = {100, 110, 120, 9000, 140, 150, 160},
			      flat[] = {100, 101, 100, 99, 100, 101, 100};
	uint64_t *many = calloc(5000, sizeof(*many));
	double slope;
	size_t i;

	(void)state;
	assert_int_equal(vpa_slope_of(line_of, COUNT(line_of), &slope), 0);
	assert_true(slope == 10);
	assert_int_equal(vpa_slope_of(spoilt, COUNT(spoilt), &slope), 0);
	assert_true(slope == 10);
	assert_int_equal(vpa_saturation_of(line_of, COUNT(line_of)), -1);
	assert_int_equal(vpa_saturation_of(full, COUNT(full)), 4);
	assert_int_equal(vpa_saturation_of(flat, COUNT(flat)), -1);
	assert_int_equal(vpa_saturation_of(full, 5), -1);
	assert_non_null(many);
	for (i = 0; i < 5000; i++)
		many[i] = 1000 + 3 * i;
	assert_int_equal(vpa_slope_of(many, 5000, &slope), 0);
	assert_true(slope == 3);
	free(many);
}

static int compare_doubles(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return a < b ? -1 : a > b;
}

static uint64_t slope_value(int kind, size_t i, size_t count, struct vpt_random *r)
{
	switch (kind) {
	case 0:
		return vpt_random_below(r, 1000000);
	case 1:
		return 100 * i + vpt_random_below(r, 3);
	case 2:
		return vpt_random_below(r, 2);
	case 3:
		return i % 2;
	default:
		return i < count / 2 ? 0 : 1000;
	}
}

/* Against sorting them all: most slopes in a small part of their bounds, many or most of them equal, an even number or an
 * odd one. */
static void a_median_slope_is_that_of_all_pairs(void **state)
{
	enum { MOST = 702, PAIRS = MOST * (MOST - 1) / 2, KINDS = 5 };
	uint64_t values[MOST];
	double *slopes = calloc(PAIRS, sizeof(*slopes)), slope, expected;
	struct vpt_random r = {7};
	size_t count, i, k, pairs;
	int kind;

	(void)state;
	for (count = MOST - 1; count <= MOST; count++)
		for (kind = 0; kind < KINDS; kind++) {
			for (i = 0; i < count; i++)
				values[i] = slope_value(kind, i, count, &r);
			/* A few that spread the bounds. */
			for (i = 0; kind < 3 && i < 5; i++)
				values[vpt_random_below(&r, count)] = (uint64_t)1 << 50;
			for (pairs = 0, i = 0; i < count; i++)
				for (k = i + 1; k < count; k++)
					slopes[pairs++] = ((double)values[k] - (double)values[i]) /
							  (double)(k - i);
			qsort(slopes, pairs, sizeof(*slopes), compare_doubles);
			expected = (slopes[(pairs - 1) / 2] + slopes[pairs / 2]) / 2;
			assert_int_equal(vpa_slope_of(values, count, &slope), 0);
			if (slope != expected)
				fail_msg("kind %d, %zu values: %.17g, expected %.17g", kind, count,
					slope, expected);
		}
	free(slopes);
}

/* Differences of such numbers are rounded: slopes of values far apart may lie beyond those of all neighbours. */
static void drift_of_numbers_that_a_double_cannot_hold(void **state)
{
	const uint64_t step = 7300000000000012;
	const uint64_t values[] = {4, 4 + step, 4 + 2 * step, 4 + 3 * step, 4 + 4 * step,
		4 + 5 * step, 4 + 6 * step - 4};
	double slope;

	(void)state;
	assert_int_equal(vpa_slope_of(values, COUNT(values), &slope), 0);
	assert_true(slope > (double)step - 2 && slope < (double)step + 2);
}

static void attention_that_grows_until_its_window_is_full(void **state)
{
	struct vpa_report *r;
	const struct vpa_blocks *b;
	unsigned k, t = 0;

	(void)state;
	begin();
	for (k = 0; k < 10; k++) {
		unsigned attention = 100 + 20 * (k < 6 ? k : 6);

		block(t, t + attention + 100, k, 12);
		kernel(t, t, t + attention, ATTENTION);
		kernel(t, t + attention, t + attention + 100, GEMM);
		t += attention + 100;
	}
	r = analyze(NULL);
	check_sums(r);
	b = &r->requests[0].blocks;
	assert_int_equal(b->warmup, 1);
	assert_true(b->has_drift);
	assert_true(b->attention_drift_ns == 20e6);
	assert_true(b->period_drift_ns == 20e6);
	assert_int_equal(b->saturated_at, 6);
	assert_int_equal(b->grown_until, 6);
	assert_null(b->grown_stage);
	vpa_report_free(r);
}

/* Attention grows by 10 ms a block until block 6, and a stage by 30; from there on the stage grows by `later`. */
static struct vpa_report *blocks_that_remember(unsigned later)
{
	unsigned k, t = 0;

	begin();
	for (k = 0; k < 12; k++) {
		unsigned grown = k < 6 ? k : 6, attention = 100 + 10 * grown,
			 memory = 50 + 30 * grown + (k - grown) * later;

		block(t, t + attention + memory, k, 12);
		line("range t1 %ums-%ums \"update_memory\"", at(t), at(t + memory));
		kernel(t, t, t + memory, GEMM);
		step(t + memory, t + memory + attention, 0, 0);
		kernel(t + memory, t + memory, t + memory + attention, ATTENTION);
		t += attention + memory;
	}
	return analyze(NULL);
}

/* Attention grows by 1 ms a block until block 6; from block 4 on a player has 300 ms between blocks, less what they work. */
static void a_pace_is_no_growth(void **state)
{
	const struct vpa_blocks *b;
	struct vpa_report *r;
	unsigned k, t = 0;

	(void)state;
	begin();
	for (k = 0; k < 12; k++) {
		unsigned work = 100 + (k < 6 ? k : 6), all = k < 3 ? work : k == 3 ? 200 : 300;

		block(t, t + all, k, 12);
		kernel(t, t, t + work, ATTENTION);
		kernel(t + all - 1, t + all - 1, t + all, GEMM);
		t += all;
	}
	r = analyze(NULL);
	check_sums(r);
	b = &r->requests[0].blocks;
	assert_int_equal(b->saturated_at, 6);
	assert_int_equal(b->grown_until, -1);
	assert_true(b->period_drift_ns == 0);
	vpa_report_free(r);
}

static void growth_is_of_the_blocks_that_grow(void **state)
{
	struct vpa_report *r = blocks_that_remember(0);
	const struct vpa_blocks *b = &r->requests[0].blocks;

	(void)state;
	check_sums(r);
	assert_int_equal(b->saturated_at, 6);
	assert_int_equal(b->grown_until, 6);
	assert_true(b->period_drift_ns == 40e6);
	assert_true(b->attention_drift_ns == 10e6);
	assert_true(b->grown_drift_ns == 30e6);
	assert_string_equal(b->grown_stage, "update_memory");
	assert_true(b->grown_stage_drift_ns == 30e6);
	vpa_report_free(r);
	/* If blocks go on to grow, it is of all. */
	r = blocks_that_remember(30);
	b = &r->requests[0].blocks;
	assert_int_equal(b->saturated_at, 6);
	assert_int_equal(b->grown_until, -1);
	assert_true(b->grown_stage_drift_ns == 30e6);
	assert_true(b->period_drift_ns > 30e6 && b->period_drift_ns < 40e6);
	vpa_report_free(r);
}

static void an_outlier_has_someone_to_blame(void **state)
{
	struct vpa_report *r;
	const struct vpa_blocks *b;
	unsigned k, t = 0;

	(void)state;
	begin();
	for (k = 0; k < 12; k++) {
		unsigned late = k == 7 ? 60 : 0;

		block(t, t + 100 + late, k, 12);
		annotated("range", t, t + 60, "work", "{'kind':'stage'}");
		kernel(t, t, t + 60, GEMM);
		annotated("range", t + 60, t + 100 + late, "to_host", "{'kind':'stage'}");
		kernel(t + 60 + late / 2, t + 60 + late / 2, t + 70 + late / 2, ATTENTION);
		kernel(t + 90 + late, t + 90 + late, t + 100 + late, ATTENTION);
		t += 100 + late;
	}
	r = analyze(NULL);
	check_sums(r);
	b = &r->requests[0].blocks;
	assert_int_equal(b->outlier_count, 1);
	assert_int_equal(b->outliers[0].block, 7);
	assert_int_equal(b->series[7].index, 7);
	assert_int_equal(b->outliers[0].delta_ns, 60 * MS);
	assert_int_equal(vpa_part_cause(b->outliers[0].part), VPA_CAUSE_HOST_CODE);
	assert_int_equal(b->outliers[0].part_delta_ns, 60 * MS);
	assert_string_equal(b->outliers[0].stage, "to_host");
	assert_int_equal(b->outliers[0].stage_delta_ns, 30 * MS);
	vpa_report_free(r);
}

static void an_outlier_is_far_from_its_neighbours(void **state)
{
	static const struct {
		const char *rule;
		unsigned values_ms[9];
		size_t count, at;
		int expected;
	} cases[] = {
		{"alone", {100}, 1, 0, 0},
		{"a fifth more is not", {100, 100, 120, 100, 100}, 5, 2, 0},
		{"more than that is", {100, 100, 121, 100, 100}, 5, 2, 1},
		{"less is one too", {100, 100, 79, 100, 100}, 5, 2, 1},
		{"4 ms are always allowed", {10, 10, 14, 10, 10}, 5, 2, 0},
		{"but not 5", {10, 10, 15, 10, 10}, 5, 2, 1},
		{"five times the usual distance is allowed",
			{90, 110, 150, 90, 110, 100, 100, 90, 110}, 9, 2, 0},
		{"a trend is none", {100, 120, 140, 160, 180}, 5, 4, 0},
	};
	size_t i, k, reference;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		uint64_t values[9];

		for (k = 0; k < cases[i].count; k++)
			values[k] = (uint64_t)cases[i].values_ms[k] * MS;
		if (vpa_is_outlier(values, cases[i].count, cases[i].at, &reference) !=
			cases[i].expected)
			fail_msg("%s", cases[i].rule);
	}
}

/* ---- what a block is made of ---- */

static void parts_of_the_period_add_up(void **state)
{
	static const char expected[] =
		"busy attention 100 2, busy gemm 60 2, busy elementwise 40 2, "
		"idle host code 198 4, idle sync 2 2";
	struct vpa_report *r;
	struct words w = {.len = 0};
	unsigned k;
	size_t i;

	(void)state;
	begin();
	for (k = 0; k < 3; k++) {
		unsigned t = k * 200;

		block(t, t + 200, k, 12);
		kernel(t, t, t + 50, ATTENTION);
		kernel(t, t + 50, t + 80, GEMM);
		line("call t1 cudaStreamSynchronize %ums-%ums", at(t + 1), at(t + 81));
		kernel(t + 110, t + 110, t + 130, "vectorized_elementwise_kernel");
	}
	r = analyze(NULL);
	check_sums(r);
	for (i = 0; i < r->requests[0].blocks.part_count; i++) {
		const struct vpa_block_part *p = &r->requests[0].blocks.parts[i];

		say(&w, "%s%s %s %g %" PRIu64, i ? ", " : "",
			p->kind == VPA_PART_BUSY ? "busy" : "idle", vpa_block_part_name(p->part),
			(double)p->ns / MS, p->count);
	}
	expect("two periods of 200 ms", &w, expected);
	vpa_report_free(r);
}

static void several_devices_are_added_up(void **state)
{
	struct vpa_report *r;
	const struct vpa_blocks *b;
	unsigned k;

	(void)state;
	begin();
	kernel_on(0, "s2.7", 0, 5, GEMM); /* a device that no block uses */
	for (k = 0; k < 4; k++) {
		unsigned t = 10 + k * 100;

		block(t, t + 100, k, 12);
		kernel_on(t, "s0.7", t, t + 90, GEMM);
		kernel_on(t, "s1.7", t + 50, t + 80, GEMM);
		kernel_on(t, "s1.8", t + 60, t + 100, ATTENTION);
	}
	r = analyze(NULL);
	check_sums(r);
	b = &r->requests[0].blocks;
	assert_int_equal(b->devices, 2);
	assert_int_equal(b->span_ns, 300 * MS);
	assert_int_equal(b->busy_ns, 3 * (90 + 50) * MS);
	assert_int_equal(b->idle_ns, 3 * (10 + 50) * MS);
	/* Overlapping kernels share time: 10 of 20 ms each. */
	assert_int_equal(b->attention.p50_ns, 30 * MS);
	/* The busiest one worked 90 ms a block. */
	assert_true(b->fps_busy == 36e9 / 270e6);
	vpa_report_free(r);
}

static void pauses_are_neither_busy_nor_idle(void **state)
{
	struct vpa_report *r;

	(void)state;
	begin();
	plain_blocks(3, 12);
	line("loss all paused %ums-%ums", at(310), at(340));
	block(300, 400, 3, 12);
	kernel(300, 300, 305, GEMM);
	kernel(350, 350, 400, GEMM);
	r = analyze(NULL);
	check_sums(r);
	assert_int_equal(r->requests[0].blocks.paused_ns, 30 * MS);
	assert_int_equal(r->requests[0].blocks.idle_ns, 15 * MS);
	vpa_report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drift_is_a_median_slope),
		cmocka_unit_test(a_median_slope_is_that_of_all_pairs),
		cmocka_unit_test(drift_of_numbers_that_a_double_cannot_hold),
		cmocka_unit_test(attention_that_grows_until_its_window_is_full),
		cmocka_unit_test(growth_is_of_the_blocks_that_grow),
		cmocka_unit_test(a_pace_is_no_growth),
		cmocka_unit_test(an_outlier_has_someone_to_blame),
		cmocka_unit_test(an_outlier_is_far_from_its_neighbours),
		cmocka_unit_test(parts_of_the_period_add_up),
		cmocka_unit_test(several_devices_are_added_up),
		cmocka_unit_test(pauses_are_neither_busy_nor_idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
