/* test_account.c - the exact accounts of a comparison, of times and counts at the ends of their types. */
#include "analysis/compare/account.h"
#include "tests/support/random.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static void a_difference_beyond_64_bits_stops(void **state)
{
	struct vpa_account_part parts[] = {{UINT64_MAX, 0, 0}, {0, 5, 0}};
	int64_t delta;

	(void)state;
	assert_int_equal(vpa_account(parts, 1, 1, 1, &delta), 0);
	assert_true(delta == -INT64_MAX && parts[0].delta_ns == -INT64_MAX);
	assert_int_equal(vpa_account(parts, 2, 1, 1, &delta), 0);
	assert_true(delta == -INT64_MAX && parts[0].delta_ns == -INT64_MAX);
	assert_int_equal(parts[1].delta_ns, 5);
}

/* Two differences of 2^62 each are 2^63 together. */
static void a_sum_beyond_64_bits_stops(void **state)
{
	const uint64_t half = (uint64_t)1 << 62;
	struct vpa_account_part parts[] = {{0, half, 0}, {0, half, 0}};
	int64_t delta;

	(void)state;
	assert_int_equal(vpa_account(parts, 2, 1, 1, &delta), 0);
	assert_true(delta == INT64_MAX);
	assert_true(parts[0].delta_ns == (int64_t)half && parts[1].delta_ns == (int64_t)half);
}

/* The last nanosecond that fits is still divided exactly. */
static void the_largest_difference_adds_up(void **state)
{
	struct vpa_account_part parts[] = {{0, INT64_MAX, 0}, {1, 0, 0}, {0, 1, 0}};
	int64_t delta;

	(void)state;
	assert_int_equal(vpa_account(parts, 3, 1, 1, &delta), 0);
	assert_true(delta == INT64_MAX);
	assert_true(parts[0].delta_ns == INT64_MAX);
	assert_int_equal(parts[1].delta_ns, -1);
	assert_int_equal(parts[2].delta_ns, 1);
}

/* As many units as 64 bits hold: each part is 0, and nothing is left over. */
static void any_number_of_units_divides(void **state)
{
	struct vpa_account_part parts[] = {{1000, 0, 0}, {0, 5000, 0}};
	int64_t delta;

	(void)state;
	assert_int_equal(vpa_account(parts, 2, UINT64_MAX, UINT64_MAX, &delta), 0);
	assert_int_equal(delta, 0);
	assert_int_equal(parts[0].delta_ns, 0);
	assert_int_equal(parts[1].delta_ns, 0);
}

/* Whatever the numbers: exchanging the sides negates all, and what fits adds up. */
static void extremes_turn_around(void **state)
{
	enum { PARTS = 40 };
	struct vpa_account_part parts[PARTS], turned[PARTS];
	struct vpt_random random = {7};
	size_t i, k, exact = 0;

	(void)state;
	for (i = 0; i < 20000; i++) {
		size_t count = vpt_random_below(&random, PARTS + 1);
		uint64_t na = vpt_random_nasty(&random), nb = vpt_random_nasty(&random);
		int64_t delta, back;
		__int128 sum = 0;
		int fits = 1;

		for (k = 0; k < count; k++) {
			parts[k] = (struct vpa_account_part){
				vpt_random_nasty(&random), vpt_random_nasty(&random), 0};
			turned[k] = (struct vpa_account_part){parts[k].b_ns, parts[k].a_ns, 0};
		}
		assert_int_equal(vpa_account(parts, count, na, nb, &delta), 0);
		assert_int_equal(vpa_account(turned, count, nb, na, &back), 0);
		assert_true(delta == -back);
		for (k = 0; k < count; k++) {
			assert_true(parts[k].delta_ns == -turned[k].delta_ns);
			sum += parts[k].delta_ns;
			fits &= parts[k].delta_ns != INT64_MAX && parts[k].delta_ns != -INT64_MAX;
		}
		if (fits && delta != INT64_MAX && delta != -INT64_MAX) {
			assert_true(sum == delta);
			exact++;
		}
	}
	assert_true(exact > 2000 && exact < 19000);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_difference_beyond_64_bits_stops),
		cmocka_unit_test(a_sum_beyond_64_bits_stops),
		cmocka_unit_test(the_largest_difference_adds_up),
		cmocka_unit_test(any_number_of_units_divides),
		cmocka_unit_test(extremes_turn_around),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
