/* test_nameless_kernels.c - kernels whose compiler gives all of them one name: their configuration says
 * which are matrix products. */
#include "formats/base/count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/traces/findings_rig.h"

static const struct {
	const char *rule, *kernel, *family;
} cases[] = {
	{"without shared memory it is pointwise", "\"triton_\" regs 40", "elementwise"},
	{"nor has one that transposes a tile many registers", "\"triton_\" shared 17408 regs 40",
		"elementwise"},
	{"a reduction shares a few numbers", "\"triton_\" shared 1024 regs 128", "elementwise"},
	{"a product shares tiles of both factors for two steps",
		"\"triton_\" shared 24KiB regs 128", "gemm"},
	{"whatever its registers, which a file may lack", "\"triton_\" shared 48KiB", "gemm"},
	{"small tiles are those of a product if the sums fill registers",
		"\"triton_\" shared 8KiB regs 168", "gemm"},
	{"shared memory may be dynamic", "\"triton_\" dynamic_shared 72KiB regs 255", "gemm"},
	{"or both", "\"triton_\" static_shared 10KiB dynamic_shared 10KiB", "gemm"},
	{"no size overflows", "\"triton_\" static_shared 18446744073709551615 dynamic_shared 48KiB",
		"gemm"},
	{"arguments in the name change nothing", "\"triton__0d1d2d\" shared 48KiB", "gemm"},
	{"nor AMD's suffix", "\"triton_.kd\" shared 48KiB", "gemm"},
	{"a name that says more decides", "\"triton_poi_fused_add_0\" shared 48KiB", "elementwise"},
	{"so does that of a reduction", "\"triton_red_fused_sum_0\" shared 48KiB", "reduce"},
	{"a kernel of one's own remains unknown", "\"triton_my_own\" shared 48KiB", "unknown"},
};

static void configurations_say_what_names_do_not(void **state)
{
	char script[512];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpa_report *r;

		snprintf(script, sizeof(script),
			"start 1us\nkernel s7 2us-12us corr 1 %s grid 64\n", cases[i].kernel);
		r = vpt_script_report(script, NULL);
		if (r->kernel_count != 1 ||
			strcmp(vpa_family_name(r->kernels[0].family), cases[i].family) != 0)
			fail_msg("%s: expected %s, found %s", cases[i].rule, cases[i].family,
				r->kernel_count ? vpa_family_name(r->kernels[0].family)
						: "no kernel");
		vpa_report_free(r);
	}
}

/* Of 100 us, products take 60. */
static const char mixed[] = "start 1us\n"
			    "kernel s7 2us-32us corr 1 \"triton_\" shared 48KiB grid 64\n"
			    "kernel s7 32us-62us corr 2 \"triton_\" shared 48KiB grid 96\n"
			    "kernel s7 62us-82us corr 3 \"triton_\" grid 4096\n"
			    "kernel s7 82us-102us corr 4 \"triton_\" grid 64\n";

static void one_name_is_divided_among_families(void **state)
{
	struct vpa_report *r = vpt_script_report(mixed, NULL);

	(void)state;
	assert_int_equal(r->family_count, 2);
	assert_int_equal(r->families[0].family, VPA_FAMILY_GEMM);
	assert_int_equal(r->families[0].exclusive_ns, 60000);
	assert_int_equal(r->families[0].calls, 2);
	assert_int_equal(r->families[1].family, VPA_FAMILY_ELEMENTWISE);
	assert_int_equal(r->families[1].exclusive_ns, 40000);
	assert_int_equal(r->kernel_count, 2);
	assert_string_equal(r->kernels[0].name, "triton_");
	assert_int_equal(r->kernels[0].family, VPA_FAMILY_GEMM);
	assert_true(r->kernels[0].blocks_mean == 80);
	assert_string_equal(r->kernels[1].name, "triton_");
	assert_int_equal(r->kernels[1].family, VPA_FAMILY_ELEMENTWISE);
	vpa_report_free(r);
}

static void a_rule_of_the_user_decides_for_all_of_a_name(void **state)
{
	static const char text[] = "quant\t^triton_$\n";
	const struct vpa_options options = {.rules = text, .rules_len = sizeof(text) - 1};
	struct vpa_report *r;

	(void)state;
	r = vpt_script_report(mixed, &options);
	assert_int_equal(r->family_count, 1);
	assert_int_equal(r->families[0].family, VPA_FAMILY_QUANT);
	assert_int_equal(r->families[0].exclusive_ns, 100000);
	vpa_report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(configurations_say_what_names_do_not),
		cmocka_unit_test(one_name_is_divided_among_families),
		cmocka_unit_test(a_rule_of_the_user_decides_for_all_of_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
