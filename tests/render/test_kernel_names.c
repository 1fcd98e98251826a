/* test_kernel_names.c - names of kernels in little room. */
#include "analysis/analyze.h"
#include "analysis/render/kernel_names.h"
#include "analysis/render/renderer.h"
#include "formats/base/count.h"
#include "formats/io/io.h"
#include "formats/base/memory.h"
#include "tests/support/traces/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { NAMES = 5 };

static const struct {
	const char *rule;
	size_t columns;
	const char *names[NAMES], *labels[NAMES];
} cases[] = {
	{"short names are shown whole", 40, {"attn_fwd", "void f<int>(float*)"},
		{"attn_fwd", "f<int>"}},
	{"namespaces and parameters are left out", 40,
		{"void at::native::(anonymous namespace)::f<4>(int, long)", "g"}, {"f<4>", "g"}},
	{"a long name loses its middle", 20, {"a_very_long_name_of_a_kernel_1", "b"},
		{"a_very_long...rnel_1", "b"}},
	{"Tensile's differ by what is tuned", 40,
		{"Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB1_"
		 "WG16",
			"Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x32x128_MI16x16x1_SN_"
			"LDSB1_WG16",
			"Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI32x32x8_SN_"
			"LDSB1_WG16"},
		{"Cijk_Ailk_Blj...MT256x256x64_MI16x16x1",
			"Cijk_Ailk_Bljk_BBS_BH_Bia...MT128x32x128",
			"Cijk_Ailk_Blj...MT256x256x64_MI32x32x8"}},
	{"templates by the argument that differs", 48,
		{"void elementwise_kernel<128, 2, at::native::gpu_kernel_impl<direct_copy_kernel, "
		 "float, float>>(int)",
			"void elementwise_kernel<128, 2, at::native::gpu_kernel_impl<MulFunctor, "
			"float, float>>(int)"},
		{"elementwise_kernel<128, 2, ...direct_copy_kernel",
			"elementwise_kernel<128, 2, at::nati...MulFunctor"}},
	{"what only namespaces tell apart is shown with them", 40,
		{"void mine::f<int>(float*)", "void yours::f<int>(float*)"},
		{"mine::f<int>(float*)", "yours::f<int>(float*)"}},
	{"or parameters", 40, {"void f<int>(float*)", "void f<int>(double*)"},
		{"f<int>(float*)", "f<int>(double*)"}},
	{"equal names may look equal", 40, {"attn_fwd", "attn_fwd"}, {"attn_fwd", "attn_fwd"}},
	{"one may be the beginning of another", 12,
		{"kernel_with_a_long_name", "kernel_with_a_long_name_and_more"},
		{"kernel...ame", "kernel...ore"}},
	{"no room is no harm", 0, {"abcdef", "abcdeg"}, {"", ""}},
	{"nor little", 3, {"abcdef_x", "abcdef_y"}, {"abx", "aby"}},
	{"no name is a question mark", 10, {"", NULL}, {""}},
};

static void rows_that_differ_look_different(void **state)
{
	size_t i, k, count;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpa_label labels[NAMES];

		for (count = 0; count < NAMES && cases[i].names[count]; count++)
			;
		vpa_kernel_labels(cases[i].names, count, cases[i].columns, labels);
		for (k = 0; k < count; k++) {
			assert_true(vpa_columns(labels[k].text) <= cases[i].columns);
			if (strcmp(labels[k].text, cases[i].labels[k]))
				fail_msg("%s: expected \"%s\", found \"%s\"", cases[i].rule,
					cases[i].labels[k], labels[k].text);
		}
	}
}

static void kernels_of_no_family_are_named(void **state)
{
	const char *names[3] = {"void house::mixer<4>(float*)", "other", "third"};
	struct vpa_report r = {.unknown_kernels = names};
	size_t i;
	static const char *const expected[] = {"unknown", "unknown (mixer<4>)",
		"unknown (mixer<4>, other)", "unknown (mixer<4>, other, third)"};

	(void)state;
	for (i = 0; i < COUNT(expected); i++) {
		r.unknown_count = i;
		assert_string_equal(vpa_unknown_label(&r).text, expected[i]);
	}
}

/* ---- in the report ---- */

static void *text_of(const char *script)
{
	struct vpt_trace *trace = NULL;
	struct vpa_report *report = NULL;
	struct vpt_buffer text = {0};
	struct vpt_sink *sink;
	struct vpt_err err = {0};

	if (vpt_script_trace(script, &trace, &err) ||
		vpa_analyze(trace, "case", NULL, &report, &err))
		fail_msg("%s\n%s", err.text, script);
	assert_int_equal(vpt_sink_memory(&text, &sink, NULL), 0);
	assert_int_equal(
		vpa_render_text(report, &(struct vpa_text){.full = 1, .width = 80}, sink, &err), 0);
	assert_int_equal(vpt_sink_write(sink, "", 1, NULL), 0);
	assert_int_equal(sink->finish(sink, 1, NULL), 0);
	vpa_report_free(report);
	vpt_trace_close(trace);
	return text.data;
}

static void expect_text(const char *text, const char *expected)
{
	if (!strstr(text, expected))
		fail_msg("expected \"%s\" in:\n%s", expected, text);
}

static void the_cause_never_leads_with_the_bare_word(void **state)
{
	char *text = text_of("start 1ms\n"
			     "kernel s7 1000us+30us \"void house::mixer<4>(float*)\"\n"
			     "kernel s7 1030us+40us \"another_mixer\"\n"
			     "kernel s7 1070us+10us \"a_third\"\n"
			     "kernel s7 1080us+20us \"gemm\"\n");

	(void)state;
	/* 70 of 80 us are in two; the third is not needed to make up most of it. */
	expect_text(text, "Most of the work: unknown\n        (another_mixer, mixer<4>) 80.0 us, "
			  "gemm 20.0 us.");
	expect_text(text, "\n  unknown (another_mixer, mixer<4>)  ");
	assert_null(strstr(text, "unknown (another_mixer, mixer<4>, a_third)"));
	vpt_free(text);
}

static void rows_of_the_page_that_differ_look_different(void **state)
{
#define LIKE(tile) "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_" tile "_MI16x16x1_SN_LDSB1_WG16_4"
	char *text = text_of(
		"start 1ms\n"
		"kernel s7 1000us+30us \"" LIKE(
			"MT32x16x1024") "\"\n"
					"kernel s7 1100us+40us \"" LIKE(
						"MT32x16x512") "\"\n"
							       "kernel s7 1200us+20us \"" LIKE(
								       "MT16x16x128") "\"\n");

	(void)state;
	expect_text(text, "K1 Cijk_Alik_Bljk_BBS");
	expect_text(text, "...MT32x16x512  ");
	expect_text(text, "...MT32x16x1024  ");
	expect_text(text, "...MT16x16x128  ");
	vpt_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_that_differ_look_different),
		cmocka_unit_test(kernels_of_no_family_are_named),
		cmocka_unit_test(the_cause_never_leads_with_the_bare_word),
		cmocka_unit_test(rows_of_the_page_that_differ_look_different),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
