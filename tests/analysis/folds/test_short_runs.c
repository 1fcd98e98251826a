/* test_short_runs.c - sequences of short kernels: what is one, what ends it, and how often it ran. */
#include "formats/base/count.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/traces/rows_rig.h"

#define START            "start 1us\n"
#define K(s, from, name) "kernel " s " " from "+2us corr 0 \"" name "\"\n"
#define LONG(s, from)    "kernel " s " " from "+10us corr 0 \"gemm\"\n"

/* Each row: kernels; their number, how often, ns in them, ns in all. */
static const struct rows_case cases[] = {
	{"a pair that runs twice",
		START K("s7", "10us", "void at::native::(anonymous namespace)::add<a::b>(c::d)") K(
			"s7", "13us", "mul(int)") LONG("s7", "20us")
			K("s7", "40us", "void at::native::(anonymous namespace)::add<a::b>(c::d)")
				K("s7", "42us", "mul(int)"),
		"add, mul: 2 2 8000 9000\n"},
	{"what runs once is left out, and so is a kernel alone",
		START K("s7", "10us", "a") K("s7", "13us", "b") LONG("s7", "20us")
			K("s7", "40us", "a") LONG("s7", "50us") K("s7", "70us", "a"),
		""},
	{"order and number make another sequence",
		START K("s7", "10us", "a") K("s7", "13us", "b") LONG("s7", "20us")
			K("s7", "40us", "b") K("s7", "43us", "a") LONG("s7", "50us")
				K("s7", "70us", "a") K("s7", "73us", "b") K("s7", "76us", "a"),
		""},
	{"another stream, a copy and a pause end one",
		START K("s7", "10us", "a") K("s9", "12us", "b")
			K("s7", "14us", "c") "copy s7 DtoH 18us-19us corr 0 bytes 4\n" K(
				"s7", "20us", "a") K("s7", "23us", "c") K("s7", "200us", "a")
				K("s7", "203us", "c") K("s9", "300us", "b"),
		"a, c: 2 3 12000 16000\n"},
};

static void list_rows(struct rows_text *to, const struct vpa_report *r)
{
	size_t k;

	for (k = 0; k < r->expert.short_run_count; k++) {
		const struct vpa_short_run_row *s = &r->expert.short_runs[k];

		add_row(to, "%s: %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", s->kernels,
			s->count, s->runs, s->busy_ns, s->span_ns);
	}
}

static void short_kernels_in_a_row_are_a_sequence(void **state)
{
	(void)state;
	expect_rows(cases, COUNT(cases), list_rows);
}

/* 80 kernels: two sequences of 32, and one of 16. */
static void a_long_one_is_cut(void **state)
{
	static char script[16384];
	size_t used = (size_t)snprintf(script, sizeof(script), START), i;
	struct vpa_report *r;

	(void)state;
	for (i = 0; i < 80; i++)
		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"kernel s7 %zuus+2us corr 0 \"k\"\n", 10 + 3 * i);
	r = vpt_script_report(script, NULL);
	assert_int_equal(r->expert.short_run_count, 1);
	assert_int_equal(r->expert.short_runs[0].count, 32);
	assert_int_equal(r->expert.short_runs[0].runs, 2);
	assert_string_equal(r->expert.short_runs[0].kernels, "k, k, k, k, k, k and 26 more");
	assert_int_equal(r->expert.short_kernels, 80);
	assert_int_equal(r->expert.short_kernel_ns, 160000);
	expect_page("the text has them", r, "SHORT KERNELS IN A ROW", 1);
	vpa_report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_kernels_in_a_row_are_a_sequence),
		cmocka_unit_test(a_long_one_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
