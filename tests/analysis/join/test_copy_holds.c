/* test_copy_holds.c - until when ops wait for copies that may still turn out to block. */
#include "analysis/join/pending/op_queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { HOLDS = 4096 };

static void ops_wait_from_the_earliest_hold_that_is_not_over(void **state)
{
	static const struct {
		uint64_t known_ns, expected_ns;
	} steps[] = {{5, 5}, {10, 10}, {15, 10}, {20, 12}, {29, 12}, {30, 30}, {100, 100}};
	struct vpa_copy_holds h = {0};
	size_t i;

	(void)state;
	assert_int_equal(vpa_copy_holds_add(&h, 12, 30), 0);
	assert_int_equal(vpa_copy_holds_add(&h, 10, 20), 0);
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		assert_int_equal(vpa_copy_holds_pass(&h, steps[i].known_ns), steps[i].expected_ns);
	assert_int_equal(h.count, 0);
	vpa_copy_holds_free(&h);
}

static void no_more_than_a_stated_number_is_kept(void **state)
{
	struct vpa_copy_holds h = {0};
	uint64_t i;

	(void)state;
	for (i = 0; i < HOLDS + 100; i++)
		assert_int_equal(vpa_copy_holds_add(&h, 1000 - i % 7, 2000 + i), 0);
	assert_int_equal(vpa_copy_holds_pass(&h, 1500), 994);
	assert_int_equal(h.count, HOLDS);
	/* Those that are over make room before others are given up. */
	for (i = 0; i < 100; i++)
		assert_int_equal(vpa_copy_holds_add(&h, 900, 9000), 0);
	assert_int_equal(vpa_copy_holds_pass(&h, 3000), 900);
	assert_int_equal(vpa_copy_holds_pass(&h, 9000), 9000);
	vpa_copy_holds_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ops_wait_from_the_earliest_hold_that_is_not_over),
		cmocka_unit_test(no_more_than_a_stated_number_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
