/* test_compare_noise.c - how often the difference of two series is found, by kind of noise, number of values and size.
 *
 * Each cell is 2,000 pairs of generated series. False alarms and power are asserted where they are promised; where no test
 * can have both, the test states what there is. All series are logarithms of times. */
#include "analysis/compare/series_stats.h"
#include "formats/base/count.h"
#include "tests/support/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

enum { TRIALS = 2000, COUNTS = 3, MOST = 100 };
static const size_t counts[COUNTS] = {8, 20, 100};

static double uniform(struct vpt_random *r)
{
	return ((double)(vpt_random(r) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(struct vpt_random *r)
{
	return sqrt(-2 * log(uniform(r))) * cos(6.283185307179586 * uniform(r));
}

/* ---- noise of deviation 1 ---- */

/* First order: `share` of it, the rest has no memory. */
static void remember(struct vpt_random *r, double correlation, double share, double *out, size_t n)
{
	double state = normal(r), fresh = sqrt(1 - correlation * correlation);
	size_t i;

	for (i = 0; i < n; i++) {
		out[i] = share * state + sqrt(1 - share * share) * normal(r);
		state = correlation * state + fresh * normal(r);
	}
}

/* Two levels, five deviations apart, as of a clock; a level ends with this chance. */
static void switch_levels(struct vpt_random *r, double chance, double *out, size_t n)
{
	int is_high = uniform(r) < 0.5;
	size_t i;

	for (i = 0; i < n; i++) {
		out[i] = 0.2 * normal(r) + (is_high ? 5 : 0);
		is_high ^= uniform(r) < chance;
	}
}

static void white(struct vpt_random *r, double *out, size_t n)
{
	remember(r, 0, 0, out, n);
}

static void first_order_half(struct vpt_random *r, double *out, size_t n)
{
	remember(r, 0.5, 1, out, n);
}

static void first_order(struct vpt_random *r, double *out, size_t n)
{
	remember(r, 0.9, 1, out, n);
}

static void mixed(struct vpt_random *r, double *out, size_t n)
{
	remember(r, 0.9, 0.7, out, n);
}

static void levels_of_5(struct vpt_random *r, double *out, size_t n)
{
	switch_levels(r, 0.2, out, n);
}

static void levels_of_10(struct vpt_random *r, double *out, size_t n)
{
	switch_levels(r, 0.1, out, n);
}

static void levels_of_50(struct vpt_random *r, double *out, size_t n)
{
	switch_levels(r, 0.02, out, n);
}

/* 5 % of the values take up to ten times as long; the noise has 1 %. */
static void with_outliers(struct vpt_random *r, double *out, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		out[i] = normal(r) + (uniform(r) < 0.05 ? log(1 + 9 * uniform(r)) / 0.01 : 0);
}

/* ---- the table ---- */

/* Of TRIALS pairs, how many are called different, in the direction of `change` if there is one. */
static size_t called_different(struct vpt_random *r,
	void (*noise)(struct vpt_random *, double *, size_t), size_t n, double deviation,
	double change, double course)
{
	double a[MOST], b[MOST];
	struct vpa_shift s;
	size_t i, k, found = 0;

	for (k = 0; k < TRIALS; k++) {
		noise(r, a, n);
		noise(r, b, n);
		for (i = 0; i < n; i++) {
			a[i] = deviation * a[i] + log(1 + course * (double)i);
			b[i] = deviation * b[i] + log(1 + course * (double)i) + change;
		}
		assert_int_equal(vpa_shift_of_series(a, b, n, &s), 0);
		found += s.low > 0 || (change == 0 && s.high < 0);
	}
	return found;
}

static const struct row {
	const char *name;
	void (*noise)(struct vpt_random *, double *, size_t);
	double deviation, change;
	double alarms[COUNTS]; /* at most, in percent */
	double power; /* with 8 values, at least, in percent; it never falls from there on; 0: from 20 on */
	double course; /* both sides grow by this, of the first value, from one to the next */
} rows[] = {
	{"white", white, 0.02, 0.04, {6, 6, 6}, 80, 0},
	{"5 % outliers", with_outliers, 0.01, 0.03, {6, 6, 6}, 75, 0},
	/* With 8 values no test that has the power of the first row has less than 6, 4 and 19 %. NOTES says how many it takes. */
	{"correlation 0.5", first_order_half, 0.02, 0.04, {12, 6, 6}, 0, 0},
	{"correlation 0.9", first_order, 0.02, 0.04, {15, 6, 6}, 0, 0},
	{"white and 0.9", mixed, 0.02, 0.04, {27, 6, 6}, 0, 0},
	/* A level that lasts throughout is not seen: of 8 and 10 values, of 20 and 50, too many do. */
	{"levels of 5 values", levels_of_5, 0.02, 0.2, {16, 6, 6}, 0, 0},
	{"levels of 10 values", levels_of_10, 0.02, 0.2, {24, 6, 6}, 0, 0},
	{"levels of 50 values", levels_of_50, 0.02, 0.2, {46, 30, 6}, 0, 0},
	/* Values that both grow have half of the information: only their differences are noise. */
	{"white, growing", white, 0.02, 0.04, {6, 6, 6}, 0, 0.05},
	{"0.9, growing", first_order, 0.02, 0.04, {21, 6, 6}, 0, 0.05},
	{"white and 0.9, growing", mixed, 0.02, 0.04, {20, 6, 6}, 0, 0.05},
};

static void noise_by_count_and_size(void **state)
{
	struct vpt_random r = {29};
	size_t i, k;
	int failed = 0;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		const struct row *row = &rows[i];
		double last = 0;

		printf("%-24s", row->name);
		for (k = 0; k < COUNTS; k++) {
			double alarms = 100.0 / TRIALS *
					(double)called_different(&r, row->noise, counts[k],
						row->deviation, 0, row->course);
			double power = 100.0 / TRIALS *
				       (double)called_different(&r, row->noise, counts[k],
					       row->deviation, row->change, row->course);
			int has_power = k > 0 || row->power > 0;

			printf("  %3zu: %4.1f %% false, %5.1f %% found", counts[k], alarms, power);
			failed |= alarms > row->alarms[k];
			failed |= has_power && (power < last || (k == 0 && power < row->power));
			last = has_power ? power : last;
		}
		printf("\n");
	}
	assert_false(failed);
}

/* A change that is large beside the noise needs few values. */
static void few_values_show_a_large_change(void **state)
{
	struct vpt_random r = {31};
	size_t n;

	(void)state;
	for (n = 3; n <= 5; n++)
		assert_true(called_different(&r, white, n, 0.03, log(1.85), 0) > TRIALS * 99 / 100);
	assert_true(called_different(&r, white, 50, 0.002, -log(2), 0) == 0);
	assert_true(called_different(&r, white, 50, 0.002, log(2), 0) == TRIALS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(noise_by_count_and_size),
		cmocka_unit_test(few_values_show_a_large_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
