/* test_saturate.c - arithmetic that stops at the ends of its type, at each end and beside it. */
#include "formats/base/saturate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void sums_differences_and_products_stop(void **state)
{
	(void)state;
	assert_true(vpt_sat_add(2, 3) == 5);
	assert_true(vpt_sat_add(UINT64_MAX - 1, 1) == UINT64_MAX);
	assert_true(vpt_sat_add(UINT64_MAX, 1) == UINT64_MAX);
	assert_true(vpt_sat_add(UINT64_MAX, UINT64_MAX) == UINT64_MAX);
	assert_true(vpt_sat_sub(5, 3) == 2);
	assert_true(vpt_sat_sub(3, 5) == 0);
	assert_true(vpt_sat_sub(0, UINT64_MAX) == 0);
	assert_true(vpt_sat_mul(6, 7) == 42);
	assert_true(vpt_sat_mul((uint64_t)1 << 32, ((uint64_t)1 << 32) - 1) == 0xffffffff00000000u);
	assert_true(vpt_sat_mul((uint64_t)1 << 32, (uint64_t)1 << 32) == UINT64_MAX);
	assert_true(vpt_sat_mul(UINT64_MAX, 0) == 0);
	assert_true(vpt_sat_scale(UINT64_MAX, UINT64_MAX, UINT64_MAX) == UINT64_MAX);
	assert_true(vpt_sat_scale(UINT64_MAX, 3, 2) == UINT64_MAX);
	assert_true(vpt_sat_scale(7, 3, 2) == 10);
	assert_true(vpt_sat_scale(7, 3, 0) == 0);
}

static void numbers_with_a_sign_stop(void **state)
{
	(void)state;
	assert_true(vpt_sat_add_i64(-2, 5) == 3);
	assert_true(vpt_sat_add_i64(INT64_MAX, 1) == INT64_MAX);
	assert_true(vpt_sat_add_i64(-INT64_MAX, -1) == -INT64_MAX);
	assert_true(vpt_sat_add_i64(INT64_MIN, INT64_MIN) == -INT64_MAX);
	assert_true(vpt_sat_diff(3, 5) == -2);
	assert_true(vpt_sat_diff(UINT64_MAX, 0) == INT64_MAX);
	assert_true(vpt_sat_diff(0, UINT64_MAX) == -INT64_MAX);
	assert_true(vpt_sat_diff(UINT64_MAX, UINT64_MAX - 1) == 1);
	assert_true(vpt_sat_diff_i64(INT64_MIN, 1) == -INT64_MAX);
	assert_true(vpt_sat_diff_i64(1, INT64_MIN) == INT64_MAX);
	assert_true(vpt_sat_diff_i64(-3, -5) == 2);
}

static void fractions_become_integers(void **state)
{
	(void)state;
	assert_true(vpt_sat_u64(2.9) == 2);
	assert_true(vpt_sat_u64(-0.1) == 0);
	assert_true(vpt_sat_u64(-INFINITY) == 0);
	assert_true(vpt_sat_u64(NAN) == 0);
	assert_true(vpt_sat_u64(0x1p64) == UINT64_MAX);
	assert_true(vpt_sat_u64(nextafter(0x1p64, 0)) == UINT64_MAX - 2047);
	assert_true(vpt_sat_u64(INFINITY) == UINT64_MAX);
	assert_true(vpt_sat_i64(-2.9) == -2);
	assert_true(vpt_sat_i64(NAN) == 0);
	assert_true(vpt_sat_i64(0x1p63) == INT64_MAX);
	assert_true(vpt_sat_i64(-0x1p63) == -INT64_MAX);
	assert_true(vpt_sat_i64(-INFINITY) == -INT64_MAX);
	assert_true(vpt_sat_u32((uint64_t)1 << 32) == UINT32_MAX);
	assert_true(vpt_sat_u32(7) == 7);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_differences_and_products_stop),
		cmocka_unit_test(numbers_with_a_sign_stop),
		cmocka_unit_test(fractions_become_integers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
