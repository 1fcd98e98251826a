/* test_gain_unit.c - how much of a gain is in steps that nothing marks: the last one, which no other follows, is one too. */
#include "analysis/advice/gain_unit.h"
#include "formats/base/count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Four steps of 90 ns of work and 10 ns of waits, of which three are followed. */
static void steps_that_none_follows_have_their_part_of_a_gain(void **state)
{
	static const struct {
		uint64_t busy_ns, idle_ns; /* of the window */
		uint64_t gain_ns;
		uint64_t busy_inside, idle_inside;
	} cases[] = {
		{360, 40, 20, 15, 15}, /* all work is in steps: three of four have three quarters */
		{370, 45, 20, 15, 15}, /* half of the gain or less may lie outside */
		{371, 51, 20, 0, 0},   /* more may */
		{400, 80, 100, 75, 0}, /* a gain of waits is at most these */
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpa_inferred_step steps[4];
		struct vpa_inferred row = {.steps = steps, .step_count = COUNT(steps)};
		struct vpa_device device = {.busy_ns = cases[i].busy_ns,
			.active_ns = cases[i].busy_ns + cases[i].idle_ns};
		struct vpa_report r = {.inferred = &row,
			.inferred_count = 1,
			.devices = &device,
			.device_count = 1};
		struct vpa_mean_unit unit;
		size_t k;

		for (k = 0; k < COUNT(steps); k++)
			steps[k] = (struct vpa_inferred_step){.start_ns = 100 * k,
				.end_ns = 100 * k + 100,
				.period_ns = 100,
				.busy_ns = 90,
				.idle_ns = 10,
				.followed = k + 1 < COUNT(steps)};
		unit = vpa_mean_unit_of(&r);
		assert_int_equal(unit.kind, VPA_UNIT_INFERRED);
		assert_true(unit.units > 2.5 && unit.units < 3.5);
		assert_int_equal(vpa_gain_unit_busy(&r, cases[i].gain_ns, VPA_FAMILY_UNKNOWN),
			cases[i].busy_inside);
		assert_int_equal(vpa_gain_unit_idle(&r, &unit, ~0u, cases[i].gain_ns / 2,
					 cases[i].gain_ns / 2),
			cases[i].idle_inside / 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_that_none_follows_have_their_part_of_a_gain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
