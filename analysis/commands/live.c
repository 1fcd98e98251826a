/* live.c - takes what a line says from the report of its window. */
#include "analysis/commands/live.h"

#include "analysis/base/intervals.h"
#include "analysis/pipeline/unit.h"
#include "formats/base/saturate.h"

enum { UNITS_BACK = 8 }; /* of the last ones, whatever the time from line to line */

uint64_t vpa_live_window_from(const struct vpa_live *l, uint64_t period_ns)
{
	const struct vpa_live_units *u = &l->units;
	uint64_t from_ns = l->now_ns, back_ns = period_ns;

	if (u->done) {
		from_ns = u->last_end_ns;
		if (l->span_units)
			back_ns = vpa_later(back_ns, UNITS_BACK * (l->span_ns / l->span_units));
		back_ns = vpa_later(back_ns, UNITS_BACK * u->last_ns);
	} else if (l->ops) {
		/* Nothing has ended yet: the first unit may have begun with the capture. */
		return 0;
	}
	return from_ns > back_ns && from_ns - back_ns > l->start_ns
		       ? from_ns - back_ns - l->start_ns
		       : 0;
}

/* Units begin one after the other. One counts once the GPUs have done something after it: its last op may not have
 * come yet. */
static void count_unit(const struct vpa_live_units *before, struct vpa_live_units *now,
	uint64_t start_ns, uint64_t end_ns, uint64_t ns)
{
	now->done += start_ns > before->last_start_ns || !before->done;
	if (start_ns < now->last_start_ns)
		return;
	now->last_start_ns = start_ns;
	now->last_end_ns = end_ns;
	now->last_ns = ns;
}

/* The units so far, with those of the window; of a kind that the line has not counted yet, those of the window. */
static struct vpa_live_units count_blocks(
	struct vpa_live *l, const struct vpa_report *r, uint64_t until_ns)
{
	const struct vpa_live_units before =
		l->kind == VPA_UNIT_BLOCK ? l->units : (struct vpa_live_units){0};
	struct vpa_live_units now = before;
	size_t i, k;

	for (i = 0; i < r->request_count; i++)
		for (k = 0; k < r->requests[i].blocks.count; k++) {
			const struct vpa_block_row *row = &r->requests[i].blocks.series[k];

			if (row->end_ns >= until_ns)
				continue;
			count_unit(&before, &now, row->start_ns, row->end_ns, row->period_ns);
			if (now.last_start_ns == row->start_ns)
				l->is_late = row->missed;
		}
	return now;
}

static struct vpa_live_units count_steps(const struct vpa_live *l, enum vpa_unit_kind kind,
	const struct vpa_report *r, uint64_t until_ns)
{
	const struct vpa_live_units before =
		l->kind == kind ? l->units : (struct vpa_live_units){0};
	struct vpa_live_units now = before;
	size_t i;

	for (i = 0; i < r->step_part_count; i++) {
		const struct vpa_step_part *row = &r->step_parts[i];
		uint64_t end_ns = vpt_sat_add(row->start_ns, row->period_ns);

		if (end_ns < until_ns)
			count_unit(&before, &now, row->start_ns, end_ns, row->period_ns);
	}
	return now;
}

static void count_units(struct vpa_live *l, const struct vpa_report *r, uint64_t until_ns)
{
	const struct vpa_live_units blocks = count_blocks(l, r, until_ns);
	enum vpa_unit_kind kind =
		vpa_unit_count(r, VPA_UNIT_STEP) ? VPA_UNIT_STEP : VPA_UNIT_ITERATION;

	if (blocks.done) {
		l->kind = VPA_UNIT_BLOCK;
		l->units = blocks;
	} else if (!l->units.done || kind <= l->kind) {
		l->units = count_steps(l, kind, r, until_ns);
		l->kind = kind;
	}
}

/* The end of the last op. */
static uint64_t last_op_ns(const struct vpa_report *r)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < r->device_count; i++)
		ns = vpa_later(ns, r->devices[i].last_ns);
	return ns;
}

static double mean_of(const struct vpa_report *r, int64_t device, enum vpt_series series)
{
	const struct vpa_counter *c = vpa_find_counter(r, device, series);

	return c ? c->mean : -1;
}

static double most_of(const struct vpa_report *r, int64_t device, enum vpt_series series)
{
	const struct vpa_counter *c = vpa_find_counter(r, device, series);

	return c ? c->max : -1;
}

static struct vpa_live_gpu *gpu_of(struct vpa_live *l, int64_t device)
{
	size_t i;

	for (i = 0; i < l->gpu_count; i++)
		if (l->gpus[i].device == device)
			return &l->gpus[i];
	if (l->gpu_count == VPA_LIVE_GPUS)
		return NULL;
	l->gpus[l->gpu_count] = (struct vpa_live_gpu){device, -1, -1, -1, -1, -1};
	return &l->gpus[l->gpu_count++];
}

static void take_gpu(struct vpa_live *l, const struct vpa_report *r, int64_t device)
{
	struct vpa_live_gpu *g = gpu_of(l, device);

	if (!g)
		return;
	g->memory_used = most_of(r, device, VPT_SERIES_MEMORY_USED);
	g->memory_total = most_of(r, device, VPT_SERIES_MEMORY_TOTAL);
	g->power_w = mean_of(r, device, VPT_SERIES_POWER);
	g->temperature_c = most_of(r, device, VPT_SERIES_TEMPERATURE);
}

/* The GPUs that worked in the window, and those that were sampled in it. */
static void take_gpus(struct vpa_live *l, const struct vpa_report *r)
{
	size_t i;

	l->gpu_count = 0;
	for (i = 0; i < r->device_count; i++) {
		const struct vpa_device *d = &r->devices[i];

		take_gpu(l, r, d->device);
		if (gpu_of(l, d->device) && vpa_device_window_ns(d))
			gpu_of(l, d->device)->busy =
				(double)d->busy_ns / (double)vpa_device_window_ns(d);
	}
	for (i = 0; i < r->counter_count; i++)
		if (r->counters[i].device >= 0)
			take_gpu(l, r, r->counters[i].device);
}

void vpa_live_take(struct vpa_live *l, const struct vpa_report *r, uint64_t start_ns, int has_ended)
{
	uint64_t until_ns = has_ended ? UINT64_MAX : last_op_ns(r);
	const struct vpa_request *main = vpa_main_request(r);
	const struct vpa_mean_unit mean = vpa_mean_unit_of(r);

	l->start_ns = start_ns;
	l->now_ns = r->window_end_ns;
	l->is_simulated = r->simulated > 0;
	l->target_millifps = r->target_millifps;
	l->ops = r->counts.kernels + r->counts.memcpy + r->counts.memset;
	count_units(l, r, until_ns);
	l->fps = vpa_unit_fps(r, VPA_UNIT_BLOCK);
	l->units_per_s = 0;
	l->span_ns = l->span_units = 0;
	if (main && main->blocks.measured && main->blocks.span_ns) {
		l->span_ns = main->blocks.span_ns;
		l->span_units = main->blocks.measured;
		l->units_per_s = main->blocks.bps;
	} else if (main && main->steps.steps_per_s > 0 && l->kind != VPA_UNIT_BLOCK) {
		l->units_per_s = main->steps.steps_per_s;
	} else if (mean.kind == VPA_UNIT_ITERATION && mean.units > 0 && l->kind == mean.kind) {
		l->units_per_s = 1e9 / (double)vpa_mean_unit_ns(&mean);
	}
	l->cpu_percent = mean_of(r, -1, VPT_SERIES_PROCESS_CPU);
	take_gpus(l, r);
}
