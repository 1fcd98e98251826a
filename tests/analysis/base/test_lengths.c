/* test_lengths.c - groups of durations, against a count over all of them. */
#include "analysis/base/duration_groups.h"

#include "tests/support/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum { DURATIONS = 400 };

static struct vpa_length count_between(const uint64_t *ns, size_t count, uint64_t min, uint64_t max)
{
	struct vpa_length sum = {0};
	size_t i;

	for (i = 0; i < count; i++) {
		if (ns[i] < min || ns[i] > max)
			continue;
		sum.min_ns = sum.count && sum.min_ns < ns[i] ? sum.min_ns : ns[i];
		sum.max_ns = sum.max_ns > ns[i] ? sum.max_ns : ns[i];
		sum.count++;
		sum.total_ns += ns[i];
	}
	return sum;
}

static void assert_same(struct vpa_length a, struct vpa_length b)
{
	assert_int_equal(a.count, b.count);
	assert_int_equal(a.total_ns, b.total_ns);
	assert_int_equal(a.min_ns, b.min_ns);
	assert_int_equal(a.max_ns, b.max_ns);
}

static struct vpa_lengths lengths_of(const uint64_t *ns, size_t count)
{
	struct vpa_lengths l = {0};
	size_t i;

	for (i = 0; i < count; i++)
		vpa_lengths_add(&l, ns[i]);
	return l;
}

/* Two groups in any order, each wide, the second from twice the end of the first. */
static void two_groups_are_found(void **state)
{
	uint64_t seed, ns[DURATIONS];

	(void)state;
	for (seed = 1; seed <= 500; seed++) {
		struct vpt_random random = {.state = seed};
		uint64_t first = 1 + vpt_random_below(&random, 100000);
		uint64_t second =
			2 * (first + first * 9 / 10) + vpt_random_below(&random, 5 * first);
		struct vpa_length short_ones, long_ones;
		struct vpa_lengths l;
		size_t i;

		for (i = 0; i < DURATIONS; i++) {
			uint64_t from = vpt_random_below(&random, 5) < 2 ? first : second;

			ns[i] = from + vpt_random_below(&random, from * 9 / 10 + 1);
		}
		l = lengths_of(ns, DURATIONS);
		assert_true(vpa_lengths_split(&l, &short_ones, &long_ones));
		assert_same(short_ones, count_between(ns, DURATIONS, 0, 2 * first - 1));
		assert_same(long_ones, count_between(ns, DURATIONS, 2 * first, UINT64_MAX));
		assert_same(vpa_lengths_all(&l), count_between(ns, DURATIONS, 0, UINT64_MAX));
	}
}

/* Whatever the durations: the sum is exact, and so are two groups that are found. */
static void sums_are_exact(void **state)
{
	uint64_t seed, ns[DURATIONS];

	(void)state;
	for (seed = 1; seed <= 500; seed++) {
		struct vpt_random random = {.state = seed};
		size_t count = 1 + (size_t)vpt_random_below(&random, DURATIONS), i;
		struct vpa_length short_ones, long_ones;
		struct vpa_lengths l;

		for (i = 0; i < count; i++)
			ns[i] = vpt_random_below(
				&random, 1 + ((uint64_t)1 << vpt_random_below(&random, 40)));
		l = lengths_of(ns, count);
		assert_same(vpa_lengths_all(&l), count_between(ns, count, 0, UINT64_MAX));
		if (!vpa_lengths_split(&l, &short_ones, &long_ones))
			continue;
		assert_true(long_ones.min_ns >= 2 * short_ones.max_ns);
		assert_same(short_ones, count_between(ns, count, 0, short_ones.max_ns));
		assert_same(long_ones, count_between(ns, count, long_ones.min_ns, UINT64_MAX));
	}
}

static void few_or_close_ones_are_not_split(void **state)
{
	const uint64_t three[] = {10, 100, 11, 101, 12, 102},
		       close[] = {10, 19, 11, 19, 12, 19, 10, 19},
		       rare[] = {10, 10, 10, 10, 90, 90, 90, 90, 90, 90, 90, 90, 90, 90, 90, 90,
			       90},
		       enough[] = {10, 100, 11, 101, 12, 102, 13, 103};
	struct vpa_length a, b;
	struct vpa_lengths l = {0};

	(void)state;
	assert_false(vpa_lengths_split(&l, &a, &b));
	l = lengths_of(three, 6);
	assert_false(vpa_lengths_split(&l, &a, &b));
	l = lengths_of(close, 8);
	assert_false(vpa_lengths_split(&l, &a, &b));
	l = lengths_of(rare, 17);
	assert_false(vpa_lengths_split(&l, &a, &b));
	l = lengths_of(enough, 8);
	assert_true(vpa_lengths_split(&l, &a, &b));
	assert_int_equal(a.max_ns, 13);
	assert_int_equal(b.min_ns, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_groups_are_found),
		cmocka_unit_test(sums_are_exact),
		cmocka_unit_test(few_or_close_ones_are_not_split),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
