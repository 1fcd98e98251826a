/* render_steps_report.h - a report made by hand of a loop that nothing marks, for test_render.c. */
#ifndef VPT_TESTS_RENDER_RENDER_STEPS_REPORT_H
#define VPT_TESTS_RENDER_RENDER_STEPS_REPORT_H

#include "tests/render/render_reports.h"

static struct vpa_inferred_step inferred_steps[] = {{MS(10), MS(108), MS(100), MS(96), MS(4), 1},
	{MS(110), MS(208), MS(100), MS(96), MS(4), 1},
	{MS(210), MS(312), MS(104), MS(98), MS(6), 1},
	{MS(314), MS(412), MS(98), MS(96), MS(2), 0}};

static struct vpa_inferred inferred_rows[] = {{.device = 0,
	.stream = 7,
	.confidence = 0.964,
	.explained = 0.984,
	.steps = inferred_steps,
	.step_count = 4,
	.period = {4, MS(402), MS(98), MS(100), MS(104), MS(104), MS(104), MS(104), 100500000,
		2179449, 0},
	.steps_per_s = 9.868421,
	.s_per_it = 0.101333333,
	.busy_ns = MS(386),
	.idle_ns = MS(16),
	.passes_per_step = 2,
	.layers = 24,
	.rows = 2,
	.row_steps = 2,
	.context_passes = 1,
	.cut = 1,
	.ops_left_out = 1234}};

/* Of another GPU. */
static struct vpa_step_rival step_rivals[] = {{152, MS(1.6)}, {4, MS(247)}};

static struct vpa_report unmarked_steps(void)
{
	struct vpa_report r = host_limited();

	r.inferred = inferred_rows;
	r.inferred_count = 1;
	r.step_rivals = step_rivals;
	r.step_rival_count = 2;
	return r;
}

#endif
