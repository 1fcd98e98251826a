/* test_account.c - the exact accounts of a comparison, of times and counts at the ends of their types. */
#include "analysis/compare/comparison.h"

#include "analysis/analyze.h"
#include "analysis/compare/conditions/fail_conditions.h"
#include "formats/base/memory.h"
#include "tests/support/random.h"
#include "tests/support/traces/script.h"

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

/* ---- captures ---- */

static struct vpa_report *report_of(const char *script)
{
	static const struct vpa_options options = {.jobs = 1, .all_kernels = 1, .step_parts = 1};

	return vpt_script_report(script, &options);
}

static void render(const struct vpa_comparison *c)
{
	int form;

	for (form = 0; form < 4; form++) {
		struct vpt_buffer text;
		struct vpt_err err = {0};
		struct vpt_sink *sink;

		assert_int_equal(vpt_sink_memory(&text, &sink, &err), 0);
		assert_int_equal(form == 0   ? vpa_compare_text(c, 80, 0, 0, sink, &err)
				 : form == 1 ? vpa_compare_html(c, NULL, sink, &err)
				 : form == 2 ? vpa_compare_markdown(c, sink, &err)
					     : vpa_compare_json(c, sink, &err),
			0);
		assert_int_equal(sink->finish(sink, 1, &err), 0);
		vpt_free(text.data);
	}
}

static struct vpa_comparison *compare(const struct vpa_report *a, const struct vpa_report *b)
{
	const struct vpa_compare_options how = {.margin = 0.005};
	const struct vpa_side sides[] = {{&a, 1}, {&b, 1}};
	struct vpa_comparison *c = NULL;
	struct vpt_err err = {0};

	assert_int_equal(vpa_compare(&sides[0], &sides[1], &how, &c, &err), 0);
	render(c);
	return c;
}

/* A kernel of 2^64 - 3 ns beside one of 10. */
static void captures_of_all_time_compare(void **state)
{
	struct vpa_report *a = report_of("start 1; kernel s1 1-18446744073709551614 \"k\"");
	struct vpa_report *b = report_of("start 1; kernel s1 1-11 \"k\"");
	struct vpa_comparison *c = compare(a, b), *back = compare(b, a), *same = compare(a, a);

	(void)state;
	assert_int_equal(c->a_total_ns, UINT64_MAX - 2);
	assert_int_equal(c->b_total_ns, 10);
	assert_true(c->delta_ns == -INT64_MAX && c->window_delta_ns == -INT64_MAX);
	assert_true(back->delta_ns == INT64_MAX && back->busy_delta_ns == INT64_MAX);
	assert_true(!same->delta_ns && !same->window_delta_ns);
	assert_int_equal(same->verdict, VPA_CHANGE_SAME);
	vpa_comparison_free(c);
	vpa_comparison_free(back);
	vpa_comparison_free(same);
	vpa_report_free(a);
	vpa_report_free(b);
}

/* Two families share all time, so that their changes add up to more than 64 bits. */
static void conditions_of_all_time_hold(void **state)
{
	struct vpa_report *a = report_of("start 1; kernel s1 1-11 \"gemm\"");
	struct vpa_report *b = report_of("start 1; kernel s1 1-18446744073709551614 \"gemm\"\n"
					 "kernel s2 1-18446744073709551614 \"flash_fwd_kernel\"");
	struct vpa_comparison *c = compare(a, b);
	struct vpt_err err = {0};
	struct vpa_condition condition;
	char what[160];
	int holds = 0;

	(void)state;
	assert_true(c->busy_delta_ns == INT64_MAX && c->part_count >= 2);
	assert_int_equal(vpa_condition_read("busy+1%", 0, &condition, &err), 0);
	assert_int_equal(vpa_condition_holds(&condition, c, &holds, what, &err), 0);
	assert_int_equal(holds, VPA_CONDITION_HOLDS);
	vpa_comparison_free(c);
	vpa_report_free(a);
	vpa_report_free(b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_difference_beyond_64_bits_stops),
		cmocka_unit_test(a_sum_beyond_64_bits_stops),
		cmocka_unit_test(the_largest_difference_adds_up),
		cmocka_unit_test(any_number_of_units_divides),
		cmocka_unit_test(extremes_turn_around),
		cmocka_unit_test(captures_of_all_time_compare),
		cmocka_unit_test(conditions_of_all_time_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
