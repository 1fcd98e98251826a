/* test_compare_stats.c - the statistics and the exact accounts of comparisons, against tables, hand
 * calculation and slower ways. */
#include "analysis/compare/comparison.h"
#include "analysis/compare/series_stats.h"
#include "formats/base/count.h"
#include "tests/support/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void near(const char *what, double found, double expected, double tolerance)
{
	if (fabs(found - expected) > tolerance)
		fail_msg("%s: found %.9g, expected %.9g", what, found, expected);
}

/* ---- Student's t: values of printed tables ---- */

static void t_table(void **state)
{
	static const struct {
		double p, nu, t;
	} cases[] = {
		{0.975, 1, 12.7062047},
		{0.975, 2, 4.30265273},
		{0.975, 5, 2.57058184},
		{0.975, 10, 2.22813885},
		{0.975, 30, 2.04227246},
		{0.975, 1000, 1.96233908},
		{0.80, 5, 0.91954378},
		{0.80, 1, 1.37638192},
		{0.95, 3, 2.35336343},
		{0.5, 4, 0},
		{0.025, 5, -2.57058184},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		near("quantile", vpa_t_quantile(cases[i].p, cases[i].nu), cases[i].t, 1e-6);
		near("cdf", vpa_t_cdf(cases[i].t, cases[i].nu), cases[i].p, 1e-8);
	}
}

/* ---- series ---- */

/* Copies, since the function changes its arrays. */
static struct vpa_shift shift_of(const double *a, const double *b, size_t count)
{
	double own_a[16], own_b[16];
	struct vpa_shift s;

	assert_true(count <= COUNT(own_a));
	memcpy(own_a, a, count * sizeof(*a));
	memcpy(own_b, b, count * sizeof(*b));
	assert_int_equal(vpa_shift_of_series(own_a, own_b, count, &s), 0);
	return s;
}

static void series_by_hand(void **state)
{
	static const double turns[] = {2, 4, 2, 4, 2, 4, 2, 4}, none[8] = {0};
	static const double halves[] = {1, 1, 1, 1, 3, 3, 3, 3}, rises[] = {10, 20, 30, 40, 50, 60};
	static const double higher[] = {11, 21.5, 31, 41.5, 51, 61.5};
	struct vpa_shift s;
	double squares;

	(void)state;
	/* Squares 8, with 14 degrees: the error sqrt(2 * 8 / 14 / 8), and Student's t of 14 degrees. Its waves are quick. */
	s = shift_of(none, turns, 8);
	near("mean", s.shift, 3, 1e-12);
	near("low", s.low, 3 - 2.14478669 * 0.37796447, 1e-6);
	near("high", s.high, 3 + 2.14478669 * 0.37796447, 1e-6);
	near("level", s.level, 0.95, 1e-12);
	assert_int_equal(s.outliers, 0);
	/* The slowest half wave has nearly all: cos(pi (i + 1/2) / 8) from 7 to 4 sum to 2.5629, so 2/8 * (2 * 2.5629)^2 =
	 * 6.5685, with 4 degrees; the second one nothing. Neighbours resemble each other (5/8): widened by 1 + 24 / 8. */
	squares = 2.5629154 * 2.5629154;
	s = shift_of(none, halves, 8);
	near("slow", s.high - s.shift, 4 * 2.77644511 * sqrt(2 * squares / 4 / 8), 1e-5);
	/* Both rise: what they differ by, 1 and 1.5, counts: squares 0.375, 5 degrees, but the slowest waves of
	 * -+-+-+ have less. */
	s = shift_of(rises, higher, 6);
	near("paired", s.shift, 1.25, 1e-12);
	near("paired", s.high - s.shift, 2.57058184 * sqrt(0.375 / 5 / 6), 1e-6);
	s = shift_of(turns, turns, 3);
	near("equal ones", s.shift, 0, 0);
	s = shift_of(none, none + 1, 3);
	near("without noise", s.high, 0, 0);
	s = shift_of(none, turns, 1);
	near("a single one has no interval", s.level, 0, 0);
}

static void outliers_are_left_out(void **state)
{
	static const struct {
		const char *name;
		double values[10];
		size_t outliers;
	} cases[] = {
		{"one alone", {1, 2, 1, 2, 90, 1, 2, 1, 2, 1}, 1},
		{"two, one at the end", {1, 2, 1, 90, 2, 1, 2, 1, 2, 90}, 2},
		{"two side by side", {1, 2, 1, 2, 90, 90, 1, 2, 1, 2}, 2},
		{"three in ten are a part of it", {1, 90, 2, 1, 90, 2, 1, 90, 2, 1}, 0},
		{"a level", {1, 2, 1, 2, 1, 2, 1, 90, 90, 91}, 0},
	};
	static const double usual[] = {2, 1, 2, 1, 2, 1, 2, 1, 2, 1};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpa_shift s = shift_of(usual, cases[i].values, 10);

		if (s.outliers != cases[i].outliers)
			fail_msg("%s: %zu", cases[i].name, s.outliers);
		if (s.outliers)
			near(cases[i].name, s.shift, 0, 0.3);
	}
}

/* ---- between runs ---- */

static void runs_by_hand(void **state)
{
	static const double a[] = {4, 2, 1, 3}, b[] = {8, 5, 7, 6};
	struct vpa_runs_test test;

	(void)state;
	assert_int_equal(vpa_runs_test(a, 4, b, 4, &test), 0);
	near("4 against 4, apart: 2 of 70", test.p, 2.0 / 70, 1e-12);
	near("the least there is", test.least_p, 2.0 / 70, 1e-12);
	near("median of differences", test.shift.shift, 4, 0);
	near("least difference", test.shift.low, 1, 0);
	near("greatest difference", test.shift.high, 7, 0);
	near("level", test.shift.level, 1 - 2.0 / 70, 1e-12);
	assert_int_equal(vpa_runs_test(a, 3, b, 3, &test), 0);
	near("3 against 3, apart: 2 of 20", test.p, 0.1, 1e-12);
	near("level", test.shift.level, 0.9, 1e-12);
	assert_int_equal(vpa_runs_test(a, 4, a, 4, &test), 0);
	near("equal sides", test.p, 1, 1e-12);
	near("equal sides", test.shift.shift, 0, 0);
	assert_int_equal(vpa_runs_test(a, 0, a, 4, &test), -1);
}

static void intervals_of_tables(void **state)
{
	/* Differences that may be left out at each end at 95 %, by printed tables of the rank sum: the
	 * critical value of U is 2 for 5 and 5, 5 for 6 and 6, 13 for 8 and 8, 23 for 10 and 10. */
	static const size_t sizes[] = {5, 6, 8, 10}, critical[] = {2, 5, 13, 23};
	double a[10], b[10];
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(sizes); i++) {
		size_t n = sizes[i];
		struct vpa_runs_test test;
		double all[100];

		for (k = 0; k < n; k++) {
			a[k] = (double)(k * k);
			b[k] = 0.37 + (double)(k * 11);
		}
		for (k = 0; k < n * n; k++)
			all[k] = b[k % n] - a[k / n];
		vpa_median(all, n * n);
		assert_int_equal(vpa_runs_test(a, n, b, n, &test), 0);
		near("low", test.shift.low, all[critical[i]], 1e-9);
		near("high", test.shift.high, all[n * n - 1 - critical[i]], 1e-9);
		assert_true(test.shift.level >= 0.95);
	}
}

/* The share of all ways to choose a's values whose rank sum is as far from the middle: by trying all. */
static double p_by_trying(const double *all, size_t a_count, size_t count)
{
	double ranks[12], middle = (double)a_count * ((double)count + 1) / 2, own = 0;
	size_t i, k, far = 0, ways = 0;
	unsigned mask;

	for (i = 0; i < count; i++) {
		ranks[i] = 0.5;
		for (k = 0; k < count; k++)
			ranks[i] += all[k] < all[i] ? 1 : all[k] == all[i] ? 0.5 : 0;
		own += i < a_count ? ranks[i] : 0;
	}
	for (mask = 0; mask < 1u << count; mask++) {
		double sum = 0;

		if ((size_t)__builtin_popcount(mask) != a_count)
			continue;
		for (i = 0; i < count; i++)
			sum += mask >> i & 1 ? ranks[i] : 0;
		ways++;
		far += fabs(sum - middle) >= fabs(own - middle) - 1e-9;
	}
	return (double)far / (double)ways;
}

static void runs_by_trying(void **state)
{
	struct vpt_random r = {7};
	size_t i, k;

	(void)state;
	for (i = 0; i < 200; i++) {
		size_t a_count = 2 + vpt_random_below(&r, 4),
		       count = a_count + 2 + vpt_random_below(&r, 4);
		double all[12];
		struct vpa_runs_test test;

		for (k = 0; k < count; k++)
			all[k] = (double)vpt_random_below(&r, i % 2 ? 5 : 1000);
		assert_int_equal(
			vpa_runs_test(all, a_count, all + a_count, count - a_count, &test), 0);
		near("p", test.p, p_by_trying(all, a_count, count), 1e-9);
	}
}

static void holm_by_hand(void **state)
{
	double p[] = {0.01, 0.04, -1, 0.03, 0.5}, expected[] = {0.04, 0.09, -1, 0.09, 0.5};
	size_t i;

	(void)state;
	assert_int_equal(vpa_holm(p, 5), 0);
	for (i = 0; i < 5; i++)
		near("Holm", p[i], expected[i], 1e-12);
}

/* ---- accounts ---- */

static void account_by_hand(void **state)
{
	/* Means over 3 and 2: 10/3, 10/3, 10/3 -> 0, 5, 7/2: differences -10/3, 5/3, 1/6; together -3/2. */
	struct vpa_account_part parts[] = {{10, 0, 0}, {10, 10, 0}, {10, 7, 0}};
	int64_t delta;

	(void)state;
	assert_int_equal(vpa_account(parts, 3, 3, 2, &delta), 0);
	assert_int_equal(delta, -2); /* half away from zero */
	assert_int_equal(parts[0].delta_ns, -3);
	assert_int_equal(parts[1].delta_ns, 1);
	assert_int_equal(parts[2].delta_ns, 0);
	/* 5/3, 5/3, 5/3 less: each -1, and -2 of the whole -5 left, for the first two. */
	memset(parts, 0, sizeof(parts));
	parts[0].a_ns = parts[1].a_ns = parts[2].a_ns = 5;
	assert_int_equal(vpa_account(parts, 3, 3, 1, &delta), 0);
	assert_int_equal(delta, -5);
	assert_int_equal(parts[0].delta_ns, -2);
	assert_int_equal(parts[1].delta_ns, -2);
	assert_int_equal(parts[2].delta_ns, -1);
}

/* Parts add up exactly, stay within a nanosecond of their own means, and change sign with the sides. */
static void accounts_add_up(void **state)
{
	struct vpt_random r = {11};
	size_t i, k;

	(void)state;
	for (i = 0; i < 20000; i++) {
		struct vpa_account_part parts[20], turned[20];
		size_t count = vpt_random_below(&r, 21);
		uint64_t na = 1 + vpt_random_below(&r, 100), nb = 1 + vpt_random_below(&r, 100);
		unsigned bits = 1 + (unsigned)vpt_random_below(&r, 50);
		int64_t delta, back, sum = 0;
		double all = 0;

		for (k = 0; k < count; k++) {
			parts[k].a_ns = vpt_random(&r) >> (64 - bits);
			parts[k].b_ns = vpt_random(&r) >> (64 - bits);
			turned[k] = (struct vpa_account_part){parts[k].b_ns, parts[k].a_ns, 0};
		}
		assert_int_equal(vpa_account(parts, count, na, nb, &delta), 0);
		assert_int_equal(vpa_account(turned, count, nb, na, &back), 0);
		assert_int_equal(delta, -back);
		for (k = 0; k < count; k++) {
			double exact = (double)parts[k].b_ns / (double)nb -
				       (double)parts[k].a_ns / (double)na;

			sum += parts[k].delta_ns;
			all += exact;
			assert_int_equal(parts[k].delta_ns, -turned[k].delta_ns);
			if (bits < 40)
				assert_true(fabs((double)parts[k].delta_ns - exact) < 1.001);
		}
		assert_int_equal(sum, delta);
		if (bits < 40)
			assert_true(fabs((double)delta - all) < 0.501);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(t_table),
		cmocka_unit_test(series_by_hand),
		cmocka_unit_test(outliers_are_left_out),
		cmocka_unit_test(runs_by_hand),
		cmocka_unit_test(intervals_of_tables),
		cmocka_unit_test(runs_by_trying),
		cmocka_unit_test(holm_by_hand),
		cmocka_unit_test(account_by_hand),
		cmocka_unit_test(accounts_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
