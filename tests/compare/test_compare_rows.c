/* test_compare_rows.c - kernels of a comparison: on one side only, or of another shape. */
#include "analysis/analyze.h"
#include "analysis/compare/comparison.h"
#include "formats/base/count.h"
#include "tests/support/traces/script.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct vpa_report *script_report(const char *script)
{
	const struct vpa_options options = {.all_kernels = 1};

	return vpt_script_report(script, &options);
}

static struct vpa_comparison *pair(const struct vpa_report *a, const struct vpa_report *b)
{
	static const struct vpa_compare_options usual = {.margin = 0.005};
	struct vpa_side sa = {&a, 1}, sb = {&b, 1};
	struct vpa_comparison *c;
	struct vpt_err err = {0};

	if (vpa_compare(&sa, &sb, &usual, &c, &err))
		fail_msg("%s", err.text);
	return c;
}

static const struct vpa_compared_row *row_called(const struct vpa_comparison *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->row_count; i++)
		if (!strcmp(c->rows[i].name, name))
			return &c->rows[i];
	fail_msg("no row of %s", name);
	return NULL;
}

static void places_that_differ_by_a_number_are_one_row(void **state)
{
#define GAP(from, to, n, range)                                                                    \
	"call t1 cudaLaunchKernel " #to "us+0us corr " #n "\nkernel s7 " #to "us+10us corr " #n    \
	" \"k\"\nrange t1 " #from "us-" #to "us \"" range "\"\n"
	struct vpa_report *a = script_report("start 1000us\n" GAP(1000, 1001, 1, "x") GAP(
				  1011, 1111, 2, "step 0") GAP(1121, 1221, 3, "step 1")),
			  *b = script_report("start 1000us\n" GAP(1000, 1001, 1, "x") GAP(
				  1011, 1211, 2, "step 0") GAP(1221, 1421, 3, "step 12"));
	struct vpa_comparison *c = pair(a, b);
	const struct vpa_compared_row *row = row_called(c, "host code");

	(void)state;
	assert_string_equal(row->place.text, "step 0");
	assert_int_equal(row->similar, 2);
	assert_string_equal(
		vpa_alike_label(&row->ranges, row->place.text).text, "step 0..12 (3 of them)");
	assert_int_equal(row->a_count, 2);
	assert_int_equal(row->b_count, 2);
	assert_int_equal(row->times.a_ns, 200000);
	assert_int_equal(row->times.b_ns, 400000);
	vpa_comparison_free(c);
	vpa_report_free(a);
	vpa_report_free(b);
}

/* What the host did after a wait, in ranges that differ by a number. */
static void places_of_the_host_are_one_row(void **state)
{
#define WAIT(start, end, next, n, range)                                                           \
	"call t1 cudaLaunchKernel " #start "us+0us corr " #n "\nkernel s7 " #start                 \
	"us+10us corr " #n " \"k\"\ncall t1 cudaDeviceSynchronize " #start "us-" #end              \
	"us\nrange t1 " #end "us-" #next "us \"" range "\"\n"
	struct vpa_report *a = script_report("start 1000us\n" WAIT(1001, 1011, 1111, 1, "part 0")
					  WAIT(1111, 1121, 1221, 2, "part 1")
						  WAIT(1221, 1231, 1232, 3, "end")),
			  *b = script_report("start 1000us\n" WAIT(1001, 1011, 1211, 1, "part 0")
					  WAIT(1211, 1221, 1421, 2, "part 12")
						  WAIT(1421, 1431, 1432, 3, "end"));
	struct vpa_comparison *c = pair(a, b);
	size_t i, found = 0;

	(void)state;
	for (i = 0; i < c->row_count; i++)
		if (c->rows[i].host) {
			found++;
			assert_string_equal(c->rows[i].host_place.text, "part 0");
			assert_int_equal(c->rows[i].similar, 2);
			assert_int_equal(c->rows[i].a_count, 2);
			assert_int_equal(c->rows[i].b_count, 2);
		}
	assert_int_equal(found, 1);
	vpa_comparison_free(c);
	vpa_report_free(a);
	vpa_report_free(b);
}

static void kernels_are_new_gone_or_of_another_shape(void **state)
{
#define K(start, grid) "kernel s7 " #start "+100 corr 1 \"k\" grid " #grid "\n"
#define BESIDE         "kernel s7 10+1 corr 1 \"beside\" grid 3\n"
	static const struct {
		const char *rule, *a, *b, *state;
		double a_blocks, b_blocks;
	} cases[] = {
		{"the same grid", K(100, 132), K(100, 132), "both", 132, 132},
		{"the same grid, more calls", K(100, 132), K(100, 132) K(300, 132), "both", 132,
			132},
		{"a larger grid", K(100, 132), K(100, 264), "other shape", 132, 264},
		{"a smaller one, of three dimensions", K(100, 8x4x4), K(100, 8x4x1), "other shape",
			128, 32},
		{"some calls have another one", K(100, 100) K(300, 100), K(100, 100) K(300, 200),
			"other shape", 100, 150},
		{"5 % of the larger mean are none", K(100, 95), K(100, 100), "both", 95, 100},
		{"more than 5 % are", K(100, 94), K(100, 100), "other shape", 94, 100},
		{"a grid that is not known", K(100, 0), K(100, 100), "both", 0, 100},
		{"only in B", "", K(100, 100), "new", 0, 100},
		{"only in A", K(100, 100), "", "gone", 100, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		char a[512], b[512];
		struct vpa_report *ra, *rb;
		const struct vpa_compared_row *row;
		struct vpa_comparison *c;

		snprintf(a, sizeof(a), BESIDE "%s", cases[i].a);
		snprintf(b, sizeof(b), BESIDE "%s", cases[i].b);
		ra = script_report(a);
		rb = script_report(b);
		c = pair(ra, rb);
		row = row_called(c, "k");
		if (strcmp(vpa_row_state_name(row->state), cases[i].state))
			fail_msg("%s: %s, expected %s", cases[i].rule,
				vpa_row_state_name(row->state), cases[i].state);
		assert_true(fabs(row->a_blocks - cases[i].a_blocks) < 1e-9);
		assert_true(fabs(row->b_blocks - cases[i].b_blocks) < 1e-9);
		assert_int_equal(row_called(c, "beside")->state, VPA_ROW_BOTH);
		vpa_comparison_free(c);
		vpa_report_free(ra);
		vpa_report_free(rb);
	}
#undef K
#undef BESIDE
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_that_differ_by_a_number_are_one_row),
		cmocka_unit_test(places_of_the_host_are_one_row),
		cmocka_unit_test(kernels_are_new_gone_or_of_another_shape),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
