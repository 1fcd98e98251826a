/* test_modules.c - which torch.nn.Module launched the work, by the calls that a profiler recorded. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "formats/base/count.h"
#include "tests/support/traces/rows_rig.h"

#define STACK(at, stack) "sample t1 " at " \"" stack "\" flags 1\n"
#define OP(corr, call, from, to)                                                                   \
	"call t1 cudaLaunchKernel " call " corr " corr "\nkernel s7 " from "-" to " corr " corr    \
	" \"add\"\n"

/* Each row: label, instances, ops, time, own time. */
static const struct rows_case cases[] = {
	{"the work of a module is that of those inside it and its own",
		STACK("100",
			"main (run.py:1);nn.Module: Wan_0;forward (wan.py:3);nn.Module: Linear_7")
			OP("1", "110-120", "1000", "1600")
				STACK("200", "main (run.py:1);nn.Module: Wan_0;forward (wan.py:4)")
					OP("2", "210-220", "2000", "2100"),
		"Wan 1 2 700 100|  Linear 1 1 600 600|"},
	{"instances of a class in one place are one row, in two places two",
		STACK("100", "nn.Module: Wan_0;nn.Module: Block_0;nn.Module: Linear_0")
			OP("1", "110-120", "1000", "1100") STACK(
				"200", "nn.Module: Wan_0;nn.Module: Block_11;nn.Module: Linear_9")
				OP("2", "210-220", "2000", "2100")
					STACK("300", "nn.Module: Wan_0;nn.Module: Linear_9")
						OP("3", "310-320", "3000", "3050"),
		"Wan 1 3 250 0|  Block 2 2 200 0|    Linear 2 2 200 200|  Linear 1 1 50 50|"},
	{"larger ones come first, and each after the one around it",
		STACK("100", "nn.Module: Text_0") OP("1", "110-120", "1000", "1100") STACK("200",
			"nn.Module: Vae_0;nn.Module: Conv2d_0") OP("2", "210-220", "2000", "2200")
			STACK("300", "nn.Module: Vae_0;nn.Module: GroupNorm_0")
				OP("3", "310-320", "3000", "3300"),
		"Vae 1 2 500 0|  GroupNorm 1 1 300 300|  Conv2d 1 1 200 200|Text 1 1 100 100|"},
	{"a class may end with a number, and a name may lack one",
		STACK("100", "nn.Module: Conv2d_3") OP("1", "110-120", "1000", "1100") STACK(
			"200", "nn.Module: Block_2_5") OP("2", "210-220", "2000", "2200")
			STACK("300", "nn.Module: Conv2d") OP("3", "310-320", "3000", "3300")
				STACK("400", "nn.Module: _4") OP("4", "410-420", "4000", "4050"),
		"Conv2d 2 2 400 400|Block_2 1 1 200 200|_4 1 1 50 50|"},
	{"a recursion is a path of its own",
		STACK("100", "nn.Module: Sequential_0;nn.Module: Sequential_1")
			OP("1", "110-120", "1000", "1100"),
		"Sequential 1 1 100 0|  Sequential 1 1 100 100|"},
	{"what no module launches is in no row",
		STACK("100", "main (run.py:1);nn.Module (x.py:2);nn.Module: ")
			OP("1", "110-120", "1000", "1100"),
		""},
};

static void list_rows(struct rows_text *to, const struct vpa_report *r)
{
	size_t k;

	for (k = 0; k < r->lines.module_count; k++) {
		const struct vpa_module_row *m = &r->lines.modules[k];

		add_row(to, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "|", m->label,
			m->instances, m->ops, m->gpu_ns, m->own_ns);
	}
}

static void modules_have_the_work_that_they_launch(void **state)
{
	(void)state;
	expect_rows(cases, COUNT(cases), list_rows);
}

/* The two largest of four, which are not those of the first two rows. */
static void the_largest_are_listed_with_those_around_them(void **state)
{
	struct vpa_options options = {.top = 2};
	struct vpa_report *r = vpt_script_report(cases[2].script, &options);

	(void)state;
	assert_int_equal(r->lines.modules_used, 4);
	assert_int_equal(r->lines.module_count, 2);
	assert_string_equal(r->lines.modules[0].path, "Vae");
	assert_string_equal(r->lines.modules[1].path, "Vae/GroupNorm");
	expect_page("how many there are", r, "MODULES, by the work that they launch, 2 of 4", 1);
	vpa_report_free(r);
}

/* More places than there are nodes, and deeper ones: nothing is lost, and no row is beyond the limits. */
static void the_work_of_too_many_places_is_that_of_the_module_around_them(void **state)
{
	struct vpa_options options = {.top = 10000};
	static char script[1 << 20];
	struct vpa_report *r;
	uint64_t own_ns = 0;
	size_t i, used = 0;

	(void)state;
	for (i = 0; i < 5000; i++)
		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"sample t1 %zuus \"nn.Module: All_0;nn.Module: Kind%zux_0\" flags 1\n"
			"call t1 cudaLaunchKernel %zuus-%zuus corr %zu\n"
			"kernel s7 %zuus-%zuus corr %zu \"add\"\n",
			10 * i + 1, i, 10 * i + 2, 10 * i + 3, i + 1, 10 * i + 4, 10 * i + 5,
			i + 1);
	r = vpt_script_report(script, &options);
	assert_int_equal(r->lines.module_count, 4095);
	for (i = 0; i < r->lines.module_count; i++)
		own_ns += r->lines.modules[i].own_ns;
	assert_int_equal(own_ns, 5000000);
	assert_int_equal(r->lines.modules[0].gpu_ns, 5000000);
	vpa_report_free(r);
	for (i = used = 0; i < 200; i++)
		used += (size_t)snprintf(script + used, sizeof(script) - used, "%sM_%zu",
			i ? ";nn.Module: " : "sample t1 1us \"nn.Module: ", i);
	snprintf(script + used, sizeof(script) - used, "\" flags 1\n%s",
		OP("1", "2us-3us", "4us", "5us"));
	r = vpt_script_report(script, &options);
	assert_int_equal(r->lines.module_count, 64);
	assert_int_equal(r->lines.modules[63].own_ns, 1000);
	vpa_report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules_have_the_work_that_they_launch),
		cmocka_unit_test(the_largest_are_listed_with_those_around_them),
		cmocka_unit_test(the_work_of_too_many_places_is_that_of_the_module_around_them),
	};

	return cmocka_run_group_tests_name("modules", tests, NULL, NULL);
}
