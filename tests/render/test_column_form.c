/* test_column_form.c - numbers in the cells of pages: below 0 they are shown as above it. */
#include "analysis/render/html/page_tables.h"
#include "formats/base/count.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static const struct {
	double value;
	const char *unit;
	int is_change;
	const char *text;
} cases[] = {
	{22080120, "ns", 0, "22.1 ms"},
	{-22080120, "ns", 0, "-22.1 ms"},
	{22080120, "ns", 1, "+22.1 ms"},
	{-22080120, "ns", 1, "-22.1 ms"},
	{-1500, "ns idle", 0, "-1.50 us"},
	{-3, "ms", 0, "-3.00 ms"},
	{-2000000, "bytes", 1, "-2.00 MB"},
	{-0.25, "fraction", 0, "-25.0 %"},
	{0.25, "fraction", 1, "+25.0 %"},
	{-12.5, "frames/s", 1, "-12.5 frames/s"},
	{-5, NULL, 0, "-5.00"},
	{0, "ns", 1, "0 ns"},
};

static void reals_have_the_same_form_below_zero(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		const struct vpa_value v = {.kind = VPA_VALUE_REAL, .real = cases[i].value};

		assert_string_equal(
			vpa_html_number(&v, cases[i].unit, cases[i].is_change).text, cases[i].text);
	}
}

/* Beyond what a duration can hold. */
static void values_beyond_all_reason_are_numbers(void **state)
{
	const struct vpa_value huge = {.kind = VPA_VALUE_REAL, .real = -1e30},
			       nothing = {.kind = VPA_VALUE_REAL, .real = NAN};

	(void)state;
	assert_int_equal(vpa_html_number(&huge, "ns", 0).text[0], '-');
	assert_int_not_equal(vpa_html_number(&nothing, "ns", 0).text[0], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reals_have_the_same_form_below_zero),
		cmocka_unit_test(values_beyond_all_reason_are_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
