/* blocks_step_parts.c - the period of each marked step, else of each iteration, by part: see blocks_periods.h. A pass
 * over the context belongs to the step before it. */
#include "analysis/folds/blocks/blocks_write.h"

#include "analysis/base/intervals.h"
#include "analysis/base/sort.h"
#include "analysis/folds/blocks/blocks_loop.h"
#include "analysis/folds/blocks/blocks_parts.h"
#include "analysis/folds/blocks/blocks_periods.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdlib.h>
#include <string.h>

enum {
	ITERATIONS = 3, /* of fewer nothing shows how they differ */
	APART = 50      /* of their time */
};
static const double vary_from = 1.3;

static int by_start(const void *pa, const void *pb)
{
	const struct vpa_step_part *a = pa, *b = pb;

	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

struct sums {
	struct vpa_parts_sum parts;
	uint64_t work_ns[VPA_SWEEP_DEVICES];
};

/* Of all periods, and of those after the first request with steps. */
struct totals {
	struct sums all, steady;
};

static void add_to(struct sums *to, const struct vpa_sweep *sweep, uint32_t pin, uint32_t end,
	const struct vpa_sweep_sums *sums, uint64_t paused_ns)
{
	vpa_work_add(sweep, pin, end, sweep->worked, to->work_ns);
	vpa_parts_sum_add(&to->parts, sums);
	to->parts.paused_ns += paused_ns;
}

static int write_totals(
	const struct sums *sums, struct vpa_report *out, struct vpa_step_totals *totals)
{
	totals->work_ns = vpa_work_most(sums->work_ns);
	return vpa_parts_sum_write(&sums->parts, &out->arena, &totals->parts, &totals->part_count);
}

/* Where a step stands in its group. */
struct place {
	size_t group;
	int64_t block, order_in_block;
};

/* A step's period, which lasts to the edge `end`. */
static int add_period(struct vpa_blocks_writer *w, struct place place,
	const struct vpa_marked_step *step, uint32_t end, uint64_t period_ns, struct totals *total)
{
	struct vpa_report *out = w->out;
	struct vpa_step_part *row = &out->step_parts[out->step_part_count];
	uint32_t mask = w->s->sweep.worked;
	struct vpa_sweep_sums sums = {.count = {0}};
	uint64_t all;
	size_t i;

	*row = (struct vpa_step_part){.request = place.group,
		.order = step->order,
		.block = place.block,
		.order_in_block = place.order_in_block,
		.start_ns = step->first_ns,
		.period_ns = period_ns,
		.devices = (unsigned)__builtin_popcount(mask)};
	vpa_sweep_between(&w->s->sweep, step->pin, end, mask, &sums, NULL, NULL);
	for (i = 0; i < VPA_SWEEP_PARTS; i++)
		*(i < VPA_SWEEP_IDLE ? &row->busy_ns : &row->idle_ns) += sums.ns[i];
	for (i = 0; i < VPA_SWEEP_IDLE; i++)
		row->ops += sums.count[i];
	if (!w->c->options->only_sums) {
		row->parts_ns = vpa_arena_alloc(&out->arena, 1, sizeof(sums.ns));
		if (!row->parts_ns)
			return VPT_ENOMEM;
		memcpy(row->parts_ns, sums.ns, sizeof(sums.ns));
	}
	all = row->period_ns * row->devices;
	row->paused_ns = all > row->busy_ns + row->idle_ns ? all - row->busy_ns - row->idle_ns : 0;
	add_to(&total->all, &w->s->sweep, step->pin, end, &sums, row->paused_ns);
	if (place.group)
		add_to(&total->steady, &w->s->sweep, step->pin, end, &sums, row->paused_ns);
	out->step_part_count++;
	return VPT_OK;
}

/* The same for the devices that work in steps, as the loop of a request whose measured blocks have none. */
static int write_loop(struct vpa_blocks_writer *w, const struct vpa_blocks_group *g,
	const struct vpa_marked_step *steps, size_t count)
{
	struct vpa_request_gpu *loop = &g->request->loop;
	uint32_t devices = vpa_blocks_loop_devices(w, g);
	struct vpa_parts_sum total = {.paused_ns = 0};
	size_t i;

	for (i = 0; i + 1 < count; i++) {
		uint64_t period_ns = vpa_marked_period(w, &steps[i]);
		struct vpa_sweep_sums sums = {.count = {0}};

		if (!period_ns || steps[i].pin == VPA_NONE || steps[i + 1].pin == VPA_NONE)
			continue;
		vpa_sweep_between(
			&w->s->sweep, steps[i].pin, steps[i + 1].pin, devices, &sums, NULL, NULL);
		vpa_blocks_loop_add(loop, devices, period_ns, &sums, &total);
	}
	return vpa_parts_sum_write(&total, &w->out->arena, &loop->parts, &loop->part_count);
}

/* The index of a block; -1: it has none, or is left out. */
static int64_t index_of(const struct vpa_blocks_group *g, uint32_t loop)
{
	size_t i;

	for (i = 0; i < g->block_count; i++)
		if (g->blocks[i].id == loop)
			return g->blocks[i].scope->label.index;
	return -1;
}

/* Whether the blocks around the steps have indices, and these rise. */
static int indices_rise(
	const struct vpa_blocks_group *g, const struct vpa_marked_step *steps, size_t count)
{
	int64_t last = -1, index;
	size_t i;

	for (i = 0; i < count && steps[i].loop != VPA_NONE; i++) {
		if (i && steps[i].loop == steps[i - 1].loop)
			continue;
		index = index_of(g, steps[i].loop);
		if (index <= last)
			return 0;
		last = index;
	}
	return 1;
}

/* The place of step `i`, after that of the one before it. */
static struct place place_after(struct place last, const struct vpa_blocks_group *g,
	const struct vpa_marked_step *steps, size_t i, int by_index)
{
	if (i && steps[i].loop == steps[i - 1].loop) {
		last.order_in_block++;
		return last;
	}
	last.order_in_block = 0;
	if (steps[i].loop == VPA_NONE)
		last.block = -1;
	else
		last.block = by_index ? index_of(g, steps[i].loop) : last.block + 1;
	return last;
}

/* The edge at the end of a step's last op; VPA_NONE: not known. */
static uint32_t end_of(const struct vpa_blocks_table *s, const struct vpa_marked_step *step)
{
	uint32_t cut;
	size_t i = s->step_count;

	while (i && s->steps[i - 1].sample != step->sample)
		i--;
	cut = i ? s->steps[i - 1].end_cut : VPA_NONE;
	return cut == VPA_NONE ? VPA_NONE : s->sweep.cuts[cut].edge;
}

/* Whether times, which this sorts, differ much, and are not of two kinds: those may come in turns, see unit.h. */
static int vary(uint64_t *ns, size_t count)
{
	size_t jumps = 0, i;

	qsort(ns, count, sizeof(*ns), vpa_by_u64);
	for (i = 1; i < count; i++)
		jumps += (double)ns[i] > vary_from * (double)ns[i - 1];
	return jumps != 1 && (double)ns[count - 1] > vary_from * (double)ns[0];
}

/* Whether the last of iterations counts with its own end: where they vary, a mean without it is of other work. They must follow each
 * other, the last op of one and the first of the next, so that its own time is as theirs. Below 0: an error code. */
static int last_counts(
	const struct vpa_blocks_writer *w, const struct vpa_marked_step *steps, size_t count)
{
	uint64_t *ns, all_ns = 0, apart_ns = 0;
	size_t i;
	int out;

	if (count < ITERATIONS)
		return 0;
	ns = vpt_alloc(count, sizeof(*ns));
	if (!ns)
		return VPT_ENOMEM;
	ns[count - 1] = steps[count - 1].last_ns - steps[count - 1].first_ns;
	for (i = 0; i + 1 < count; i++) {
		ns[i] = vpa_marked_period(w, &steps[i]);
		if (!ns[i])
			break;
		all_ns += ns[i];
		apart_ns += vpt_sat_sub(steps[i + 1].first_ns, steps[i].last_ns) +
			    vpt_sat_sub(steps[i].last_ns, steps[i + 1].first_ns);
	}
	out = i + 1 == count && apart_ns <= all_ns / APART && vary(ns, count);
	vpt_free(ns);
	return out;
}

static int add_last(struct vpa_blocks_writer *w, struct place place,
	const struct vpa_marked_step *step, struct totals *total)
{
	uint32_t end = end_of(w->s, step);

	return step->pin == VPA_NONE || end == VPA_NONE
		       ? VPT_OK
		       : add_period(w, place, step, end, step->last_ns - step->first_ns, total);
}

/* The periods of the steps of the group `at`, by time; `group` is its number among those with such
 * steps. Only the first steps have pins. */
static int add_group(struct vpa_blocks_writer *w, size_t at, size_t group, enum vpa_scope_kind kind,
	const struct vpa_marked_step *steps, size_t count, struct totals *total)
{
	const struct vpa_blocks_group *g = &w->groups[at];
	size_t before = w->out->step_part_count, i;
	int by_index = indices_rise(g, steps, count), rc = VPT_OK;
	struct place place = {.group = group, .block = -1};

	for (i = 0; i + 1 < count && !rc; i++) {
		uint64_t period_ns = vpa_marked_period(w, &steps[i]);

		place = place_after(place, g, steps, i, by_index);
		if (period_ns && steps[i].pin != VPA_NONE && steps[i + 1].pin != VPA_NONE)
			rc = add_period(w, place, &steps[i], steps[i + 1].pin, period_ns, total);
	}
	if (!rc && kind == VPA_SCOPE_ITERATION)
		rc = last_counts(w, steps, count);
	if (rc > 0)
		rc = add_last(w, place_after(place, g, steps, i, by_index), &steps[i], total);
	qsort(w->out->step_parts + before, w->out->step_part_count - before,
		sizeof(*w->out->step_parts), by_start);
	return rc;
}

static int write_kind(struct vpa_blocks_writer *w, enum vpa_scope_kind kind,
	struct vpa_marked_step *steps, struct totals *total)
{
	size_t g, count, group = 0;
	int rc = VPT_OK;

	w->out->steps_marked = 0;
	for (g = 0; g < w->group_count && !rc; g++) {
		size_t before = w->out->step_part_count;

		count = vpa_marked_steps(w, &w->groups[g], kind, steps);
		w->out->steps_marked += count;
		rc = add_group(w, g, group, kind, steps, count, total);
		if (!rc && kind == VPA_SCOPE_STEP && count && w->groups[g].request &&
			w->groups[g].request->steps.per_block < 0)
			rc = write_loop(w, &w->groups[g], steps, count);
		group += w->out->step_part_count > before;
	}
	return rc;
}

/* The only range of a kind; NULL: there are none, or more. */
static const struct vpa_step_kept *only_of(
	const struct vpa_blocks_table *s, enum vpa_scope_kind kind, size_t *count)
{
	const struct vpa_step_kept *only = NULL;
	size_t i;

	*count = 0;
	for (i = 0; i < s->step_count; i++) {
		const struct vpa_stage_kept *row = &s->rows[s->samples[s->steps[i].sample].row];

		if (row->kind != kind || row->source == VPA_SOURCE_MARKS)
			continue;
		++*count;
		only = &s->steps[i];
	}
	return *count == 1 ? only : NULL;
}

/* What the devices did from its first op's start to its last op's end. */
static int write_only_parts(
	struct vpa_blocks_writer *w, const struct vpa_step_kept *step, struct vpa_only_step *out)
{
	const struct vpa_sweep *sweep = &w->s->sweep;
	uint32_t pin = w->s->samples[step->sample].pin;
	struct vpa_sweep_sums sums = {.count = {0}};
	struct vpa_parts_sum total = {.paused_ns = 0};
	uint64_t work[VPA_SWEEP_DEVICES] = {0};
	uint32_t end = step->end_cut == VPA_NONE ? VPA_NONE : sweep->cuts[step->end_cut].edge;

	if (pin == VPA_NONE || end == VPA_NONE)
		return VPT_OK;
	vpa_sweep_between(sweep, pin, end, sweep->worked, &sums, NULL, NULL);
	vpa_work_add(sweep, pin, end, sweep->worked, work);
	vpa_parts_sum_add(&total, &sums);
	out->work_ns = vpa_work_most(work);
	return vpa_parts_sum_write(&total, &w->out->arena, &out->parts, &out->part_count);
}

static int write_only_step(struct vpa_blocks_writer *w)
{
	struct vpa_only_step *out = &w->out->only_step;
	size_t count;
	const struct vpa_step_kept *step = only_of(w->s, VPA_SCOPE_STEP, &count);
	const struct vpa_stage_sample *sample;
	uint64_t last_ns;
	int is_iteration = !count;

	if (is_iteration)
		step = only_of(w->s, VPA_SCOPE_ITERATION, &count);
	if (!step)
		return VPT_OK;
	sample = &w->s->samples[step->sample];
	last_ns = sample->first_ns + sample->ns;
	*out = (struct vpa_only_step){.start_ns = vpa_earlier(sample->start_ns, sample->first_ns),
		.end_ns = vpa_later(sample->end_ns, last_ns),
		.first_ns = sample->first_ns,
		.last_ns = last_ns,
		.busy_ns = step->busy_ns,
		.idle_ns = step->idle_ns,
		.idle_before_ns = is_iteration ? out->idle_before_ns : 0,
		.is_iteration = is_iteration};
	return write_only_parts(w, step, out);
}

int vpa_blocks_step_parts(struct vpa_blocks_writer *w)
{
	struct vpa_report *out = w->out;
	struct totals total = {.all = {.parts = {.paused_ns = 0}}};
	size_t count = w->s->sample_count;
	struct vpa_marked_step *steps = vpt_alloc(count + 1, sizeof(*steps));
	int rc;

	/* A row has a sample of its own. */
	count = count < VPA_STEP_PARTS_MAX ? count : VPA_STEP_PARTS_MAX;
	out->step_parts = vpa_arena_alloc(&out->arena, count, sizeof(*out->step_parts));
	if (!steps || !out->step_parts) {
		vpt_free(steps);
		return VPT_ENOMEM;
	}
	rc = write_kind(w, VPA_SCOPE_STEP, steps, &total);
	if (!rc && !out->step_part_count) {
		rc = write_kind(w, VPA_SCOPE_ITERATION, steps, &total);
		out->steps_are_iterations = 1;
	}
	vpt_free(steps);
	if (!rc && !out->step_part_count)
		rc = write_only_step(w);
	if (!rc)
		rc = write_totals(&total.all, out, &out->step_totals);
	if (!rc)
		rc = write_totals(&total.steady, out, &out->steady_totals);
	return rc;
}
