/* uneven_units.c - lists the units of a report, and tells the slow ones from the others. */
#include "analysis/pipeline/uneven_units.h"

#include "analysis/base/intervals.h"
#include "analysis/base/sort.h"
#include "analysis/pipeline/unit.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A slow unit takes more than 1.3 times the usual time, and at least 1.15 times that of the longest usual one. */
static const double slow_from = 1.3, slow_beyond = 1.15;
/* A unit is longer than the one before from here on. */
static const double rise = 1.01;
/* As many ops, to this share. */
static const double alike = 0.02;

enum { PERIODS = 3 /* slow ones that show how often they come */ };

/* ---- the units ---- */

static void put(struct vpa_uneven_units *u, struct vpa_unit_span span)
{
	u->last++;
	span.number = u->last;
	if (span.end_ns > span.start_ns)
		u->rows[u->count++] = span;
}

static void list_blocks(const struct vpa_report *r, struct vpa_uneven_units *u)
{
	const struct vpa_blocks *b = &vpa_main_request(r)->blocks;
	size_t i;

	for (i = 0; i < b->count; i++) {
		const struct vpa_block_row *row = &b->series[i];
		uint64_t start_ns = row->end_ns - vpa_earlier(row->period_ns, row->end_ns);

		put(u, (struct vpa_unit_span){.start_ns = start_ns,
			       .end_ns = row->warmup ? start_ns : row->end_ns,
			       .busy_ns = row->busy_ns,
			       .idle_ns = row->idle_ns,
			       .ops = row->ops,
			       .devices = row->devices,
			       .parts_ns = row->parts_ns});
	}
}

static uint64_t ops_of(const struct vpa_request_gpu *gpu)
{
	uint64_t ops = 0;
	size_t i;

	for (i = 0; i < gpu->part_count; i++)
		if (gpu->parts[i].kind == VPA_PART_BUSY)
			vpt_sat_add_to(&ops, gpu->parts[i].count);
	return ops;
}

static void list_requests(const struct vpa_report *r, struct vpa_uneven_units *u)
{
	size_t i;

	for (i = 0; i < r->request_count; i++) {
		const struct vpa_request *q = &r->requests[i];

		put(u, (struct vpa_unit_span){.start_ns = q->start_ns,
			       .end_ns = vpt_sat_add(q->start_ns, q->gpu.period_ns),
			       .busy_ns = q->gpu.busy_ns,
			       .idle_ns = q->gpu.idle_ns,
			       .ops = ops_of(&q->gpu),
			       .devices = q->gpu.devices});
	}
}

static void list_periods(const struct vpa_report *r, struct vpa_uneven_units *u)
{
	size_t i;

	for (i = 0; i < r->step_part_count; i++) {
		const struct vpa_step_part *s = &r->step_parts[i];

		/* The first request of several sets up what the others reuse. */
		if (r->steady_totals.part_count && !s->request)
			continue;
		put(u, (struct vpa_unit_span){.start_ns = s->start_ns,
			       .end_ns = vpt_sat_add(s->start_ns, s->period_ns),
			       .busy_ns = s->busy_ns,
			       .idle_ns = s->idle_ns,
			       .ops = s->ops,
			       .devices = s->devices,
			       .parts_ns = s->parts_ns});
	}
}

static void list_inferred(const struct vpa_report *r, struct vpa_uneven_units *u)
{
	struct vpa_unit_turns turns = vpa_unit_turns_of(&r->inferred[0], u->kind);
	size_t i;

	for (i = 0; i < turns.count; i++) {
		const struct vpa_inferred_step *s = &turns.at[i];

		put(u, (struct vpa_unit_span){.start_ns = s->start_ns,
			       .end_ns = vpt_sat_add(s->start_ns, s->followed ? s->period_ns : 0),
			       .busy_ns = s->busy_ns,
			       .idle_ns = s->idle_ns,
			       .devices = 1});
	}
}

/* Of the device that the report's figure is of. */
static void list_instances(const struct vpa_report *r, struct vpa_uneven_units *u)
{
	const struct vpa_range_row *range = vpa_unit_range_of(r);
	uint32_t device = vpa_unit_slowest_device(range);
	size_t i;

	for (i = 0; i < range->instance_count; i++) {
		const struct vpa_range_instance *s = &range->instances[i];

		if (s->device == device)
			put(u, (struct vpa_unit_span){.start_ns = s->first_ns,
				       .end_ns = vpt_sat_add(s->first_ns, s->envelope_ns),
				       .busy_ns = vpt_sat_sub(s->envelope_ns, s->idle_ns),
				       .idle_ns = s->idle_ns,
				       .devices = 1});
	}
}

/* How many there may be; 0: they are not told apart. */
static size_t room_for(const struct vpa_report *r, enum vpa_unit_kind kind)
{
	switch (kind) {
	case VPA_UNIT_BLOCK:
		return vpa_main_request(r)->blocks.count;
	case VPA_UNIT_REQUEST:
		return r->request_count;
	case VPA_UNIT_STEP:
	case VPA_UNIT_ITERATION:
		return r->step_part_count;
	case VPA_UNIT_INFERRED:
	case VPA_UNIT_ROUND:
		return vpa_unit_turns_of(&r->inferred[0], kind).count;
	case VPA_UNIT_INSTANCE:
		return vpa_unit_range_of(r)->instance_count;
	default:
		return 0;
	}
}

static void list(const struct vpa_report *r, struct vpa_uneven_units *u)
{
	switch (u->kind) {
	case VPA_UNIT_BLOCK:
		list_blocks(r, u);
		break;
	case VPA_UNIT_REQUEST:
		list_requests(r, u);
		break;
	case VPA_UNIT_INFERRED:
	case VPA_UNIT_ROUND:
		list_inferred(r, u);
		break;
	case VPA_UNIT_INSTANCE:
		list_instances(r, u);
		break;
	default:
		list_periods(r, u);
		break;
	}
}

static uint64_t length_of(const struct vpa_unit_span *span)
{
	return span->end_ns - span->start_ns;
}

static void leave_first(struct vpa_uneven_units *u)
{
	memmove(u->rows, u->rows + 1, --u->count * sizeof(*u->rows));
}

/* Without a last one that is cut short. */
static void leave_last(struct vpa_uneven_units *u)
{
	uint64_t least_ns = UINT64_MAX;
	size_t i;

	for (i = 0; i + 1 < u->count; i++)
		least_ns = vpa_earlier(least_ns, length_of(&u->rows[i]));
	if (u->count > 1 && length_of(&u->rows[u->count - 1]) < least_ns)
		u->count--;
}

/* ---- the slow ones ---- */

/* Sets the usual time, and the slow ones' if they are of a kind of their own, without the first `skip` units. */
static int tell_apart(struct vpa_uneven_units *u, size_t skip)
{
	size_t i, quick = 0, count = u->count - skip;
	uint64_t *sorted_ns = vpt_alloc(count, sizeof(*sorted_ns));

	if (!sorted_ns)
		return VPT_ENOMEM;
	for (i = 0; i < count; i++)
		sorted_ns[i] = length_of(&u->rows[i + skip]);
	qsort(sorted_ns, count, sizeof(*sorted_ns), vpa_by_u64);
	u->usual_ns = sorted_ns[(count - 1) / 4];
	while (quick < count && (double)sorted_ns[quick] <= slow_from * (double)u->usual_ns)
		quick++;
	u->quick_ns = (struct vpa_span_of_times){sorted_ns[0], sorted_ns[quick - 1]};
	if (quick > 1 && quick < count &&
		(double)sorted_ns[quick] >= slow_beyond * (double)sorted_ns[quick - 1]) {
		u->slow_ns = (struct vpa_span_of_times){sorted_ns[quick], sorted_ns[count - 1]};
		u->slow = count - quick;
	}
	vpt_free(sorted_ns);
	return VPT_OK;
}

/* Most units take longer than the one before. */
static int grow(const struct vpa_uneven_units *u)
{
	size_t i, rises = 0;

	for (i = 1; i < u->count; i++)
		rises += (double)length_of(&u->rows[i]) > rise * (double)length_of(&u->rows[i - 1]);
	return 4 * rises > 3 * (u->count - 1);
}

static void mark_slow(struct vpa_uneven_units *u)
{
	size_t i, before = 0, seen = 0;

	for (i = 0; i < u->count; i++) {
		struct vpa_unit_span *span = &u->rows[i];

		span->is_slow = length_of(span) >= u->slow_ns.least_ns;
		if (!span->is_slow)
			continue;
		vpt_sat_add_to(&u->excess_ns, length_of(span) - u->usual_ns);
		if (seen == 1)
			u->every = span->number - before;
		else if (seen && span->number - before != u->every)
			u->every = 0;
		before = span->number;
		seen++;
	}
	if (seen < PERIODS)
		u->every = 0;
}

/* Of a figure: what the slow units have beyond as many quick ones. */
static double beyond(const struct vpa_uneven_units *u, double slow, double quick)
{
	return slow - quick / (double)(u->count - u->slow) * (double)u->slow;
}

static int64_t beyond_ns(
	const struct vpa_uneven_units *u, uint64_t (*of)(const struct vpa_unit_span *))
{
	double sums[2] = {0, 0};
	size_t i;

	for (i = 0; i < u->count; i++)
		sums[u->rows[i].is_slow] += (double)of(&u->rows[i]);
	return (int64_t)beyond(u, sums[1], sums[0]);
}

static uint64_t busy_of(const struct vpa_unit_span *span)
{
	return span->busy_ns;
}

static uint64_t idle_of(const struct vpa_unit_span *span)
{
	return span->idle_ns;
}

static uint64_t ops_of_span(const struct vpa_unit_span *span)
{
	return span->ops;
}

static void compare_ops(struct vpa_uneven_units *u)
{
	double quick = 0;
	size_t i;

	u->ops_are_known = 1;
	for (i = 0; i < u->count; i++) {
		u->ops_are_known &= u->rows[i].ops > 0;
		quick += u->rows[i].is_slow ? 0 : (double)u->rows[i].ops;
	}
	u->more_ops = (double)beyond_ns(u, ops_of_span) / (double)u->slow;
	quick /= (double)(u->count - u->slow);
	if (!u->ops_are_known || (u->more_ops <= alike * quick && -u->more_ops <= alike * quick))
		u->more_ops = 0;
}

static void compare_families(struct vpa_uneven_units *u)
{
	size_t i, k;

	for (i = 0; i < u->count; i++)
		if (!u->rows[i].parts_ns)
			return;
	for (k = 0; k < VPA_FAMILY_COUNT; k++) {
		double sums[2] = {0, 0}, ns;

		for (i = 0; i < u->count; i++)
			sums[u->rows[i].is_slow] += (double)u->rows[i].parts_ns[k];
		ns = beyond(u, sums[1], sums[0]);
		if (ns > (double)u->family_ns) {
			u->family = (enum vpa_family)k;
			u->family_ns = (int64_t)ns;
		}
	}
}

int vpa_uneven_units_of(const struct vpa_report *r, struct vpa_uneven_units *out)
{
	size_t room, skip;

	*out = (struct vpa_uneven_units){.kind = vpa_unit_of(r)};
	room = room_for(r, out->kind);
	if (room < VPA_UNEVEN_LEAST)
		return VPT_OK;
	out->rows = vpt_alloc(room, sizeof(*out->rows));
	if (!out->rows)
		return VPT_ENOMEM;
	list(r, out);
	leave_last(out);
	skip = out->count && (out->rows[0].number == 1 || out->kind == VPA_UNIT_REQUEST);
	if (out->count < VPA_UNEVEN_LEAST + skip || grow(out))
		return VPT_OK;
	if (tell_apart(out, skip))
		return VPT_ENOMEM;
	if (!out->slow)
		return VPT_OK;
	if (skip &&
		(out->kind == VPA_UNIT_REQUEST || length_of(&out->rows[0]) > out->slow_ns.most_ns))
		leave_first(out);
	else if (skip && length_of(&out->rows[0]) >= out->slow_ns.least_ns)
		out->slow++;
	mark_slow(out);
	out->busy_ns = beyond_ns(out, busy_of);
	out->idle_ns = beyond_ns(out, idle_of);
	compare_ops(out);
	compare_families(out);
	return VPT_OK;
}

void vpa_uneven_units_free(struct vpa_uneven_units *u)
{
	vpt_free(u->rows);
	u->rows = NULL;
}

struct vpa_label vpa_times_text(struct vpa_span_of_times span)
{
	struct vpa_label out;

	if (span.most_ns - span.least_ns < span.most_ns / 20)
		snprintf(out.text, sizeof(out.text), "%s",
			vpa_duration(span.least_ns + (span.most_ns - span.least_ns) / 2).text);
	else
		snprintf(out.text, sizeof(out.text), "%s to %s", vpa_duration(span.least_ns).text,
			vpa_duration(span.most_ns).text);
	return out;
}

/* ---- what lasts longer in them ---- */

/* The first unit that ends after a time. */
static size_t first_after(const struct vpa_uneven_units *u, uint64_t ns)
{
	size_t low = 0, high = u->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (u->rows[middle].end_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int vpa_unit_find_cycles(struct vpa_report *r)
{
	struct vpa_uneven_units u;
	int rc;

	r->iterations_per_cycle = vpa_unit_cycle(r);
	if (r->iterations_per_cycle || vpa_unit_of(r) != VPA_UNIT_ITERATION)
		return VPT_OK;
	rc = vpa_uneven_units_of(r, &u);
	if (!rc && u.every > 1 && u.every <= r->step_part_count)
		r->iterations_per_cycle = u.every;
	vpa_uneven_units_free(&u);
	return rc;
}

void vpa_uneven_sum_add(struct vpa_uneven_sum *sum, const struct vpa_uneven_units *u,
	uint64_t start_ns, uint64_t end_ns)
{
	size_t i;

	for (i = first_after(u, start_ns); i < u->count && u->rows[i].start_ns < end_ns; i++)
		vpt_sat_add_to(u->rows[i].is_slow ? &sum->slow_ns : &sum->quick_ns,
			vpt_sat_sub(vpa_earlier(end_ns, u->rows[i].end_ns),
				vpa_later(start_ns, u->rows[i].start_ns)));
}

uint64_t vpa_uneven_sum_excess(const struct vpa_uneven_sum *sum, const struct vpa_uneven_units *u)
{
	double ns = beyond(u, (double)sum->slow_ns, (double)sum->quick_ns);

	return ns > 0 ? vpt_sat_u64(ns) : 0;
}
