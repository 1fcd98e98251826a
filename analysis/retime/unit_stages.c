/* unit_stages.c - cuts the unit's span at the edges of its stages.
 *
 * The stages are one after the other, in every world, so their times, and those between them, add up to the unit's. */
#include "analysis/retime/what_if_parts.h"

#include "analysis/pipeline/unit.h"
#include "analysis/retime/predictions.h"

/* Whether each instance of a part is inside one of another part. */
static int is_inside(const struct vpa_span *spans, const struct vpa_timed_part *inner,
	const struct vpa_timed_part *outer)
{
	size_t i, k = outer->from;

	for (i = inner->from; i < inner->to; i++) {
		while (k < outer->to && spans[k].to_ns < spans[i].to_ns)
			k++;
		if (k == outer->to || spans[k].from_ns > spans[i].from_ns)
			return 0;
	}
	return 1;
}

/* Of parts with the same spans a stage is around its only step; else the first one is the outer one. */
static int is_around(const struct vpa_timed_parts *p, size_t outer, size_t inner)
{
	int outer_steps = p->parts[outer].kind == VPA_PART_OF_STEP,
	    inner_steps = p->parts[inner].kind == VPA_PART_OF_STEP;

	if (!is_inside(p->spans, &p->parts[inner], &p->parts[outer]))
		return 0;
	if (!is_inside(p->spans, &p->parts[outer], &p->parts[inner]))
		return 1;
	return outer_steps != inner_steps ? inner_steps : outer < inner;
}

static int is_top(const struct vpa_timed_parts *p, size_t part)
{
	size_t i;

	for (i = 0; i < p->part_count; i++)
		if (i != part && is_around(p, i, part))
			return 0;
	return 1;
}

/* Keeps the instances inside the units, and parts with any: those of other requests, and of what follows, are outside. Returns
 * 0 if one is only in part inside. */
static int keep_inside(struct vpa_timed_parts *p, const struct vpa_span *units)
{
	size_t i, k, count = 0, kept = 0;

	for (i = 0; i < p->part_count; i++) {
		struct vpa_timed_part part = p->parts[i];
		size_t from = count;

		for (k = part.from; k < part.to; k++) {
			const struct vpa_span *s = &p->spans[k];

			if (s->to_ns <= units->from_ns || s->from_ns >= units->to_ns)
				continue;
			if (s->from_ns < units->from_ns || s->to_ns > units->to_ns)
				return 0;
			p->spans[count++] = *s;
		}
		if (count > from)
			p->parts[kept++] =
				(struct vpa_timed_part){part.kind, part.name, from, count};
	}
	p->part_count = kept;
	p->span_count = count;
	return 1;
}

int vpa_unit_stages_of(const struct vpa_report *r, const struct vpa_spans *s,
	struct vpa_arena *arena, struct vpa_timed_parts *out)
{
	enum vpa_unit_kind kind = vpa_unit_of(r);
	size_t i, kept = 0;
	uint8_t *top;

	*out = (struct vpa_timed_parts){.part_count = 0};
	if (s->unit_count != 1 || (kind != VPA_UNIT_BLOCK && kind != VPA_UNIT_REQUEST))
		return VPT_OK;
	if (vpa_timed_parts_of(r, 1, arena, out))
		return VPT_ENOMEM;
	/* With one that is mixed with others the rest would not be all of the unit. */
	if (out->left_out_count) {
		*out = (struct vpa_timed_parts){.part_count = 0};
		return VPT_OK;
	}
	top = vpa_arena_alloc(arena, out->part_count + 1, 1);
	if (!top)
		return VPT_ENOMEM;
	for (i = 0; i < out->part_count; i++)
		top[i] = (uint8_t)is_top(out, i);
	for (i = 0; i < out->part_count; i++)
		if (top[i])
			out->parts[kept++] = out->parts[i];
	out->part_count = kept;
	if (!keep_inside(out, &s->at[0]))
		*out = (struct vpa_timed_parts){.part_count = 0};
	return VPT_OK;
}

/* ---- in the worlds ---- */

/* A part's time in the mean unit, of which `base_ms` has the length in that world. */
static double ms_of(const struct vpa_timed_part *part, const struct vpa_retiming *t, size_t first,
	size_t world, double base_ms)
{
	double ns = 0, all_ns = (double)vpa_retimed_ns(t, world, 0);
	size_t i;

	for (i = part->from; i < part->to; i++)
		ns += (double)vpa_retimed_ns(t, world, first + i);
	return all_ns > 0 ? base_ms * ns / all_ns : 0;
}

/* Whether some replayed part of the trace has some of it. */
static int is_replayed(
	const struct vpa_timed_part *part, const struct vpa_retiming *t, size_t first)
{
	size_t i;

	for (i = part->from; i < part->to; i++)
		if (vpa_retimed_ns(t, VPA_WORLD_RECORDED, first + i))
			return 1;
	return 0;
}

int vpa_unit_stages_write(struct vpa_report *r, const struct vpa_spans *s,
	const struct vpa_timed_parts *p, const struct vpa_retiming *t, size_t first, size_t world)
{
	struct vpa_forecast *f = &r->forecast;
	double predicted_ms = f->base_ms * vpa_spans_ratio(r, s, t, world, f->base);
	struct vpa_forecast_stage *rest;
	size_t i;

	if (!p->part_count)
		return VPT_OK;
	f->stages = vpa_arena_alloc(&r->arena, p->part_count + 1, sizeof(*f->stages));
	if (!f->stages)
		return VPT_ENOMEM;
	rest = &f->stages[p->part_count];
	*rest = (struct vpa_forecast_stage){NULL, 1, f->host_ms, f->base_ms, predicted_ms};
	for (i = 0; i < p->part_count; i++) {
		struct vpa_forecast_stage *row = &f->stages[i];

		*row = (struct vpa_forecast_stage){p->parts[i].name,
			is_replayed(&p->parts[i], t, first),
			ms_of(&p->parts[i], t, first, VPA_WORLD_HOST, f->host_ms),
			ms_of(&p->parts[i], t, first, VPA_WORLD_RECORDED, f->base_ms),
			ms_of(&p->parts[i], t, first, world, predicted_ms)};
		rest->host_ms -= row->host_ms;
		rest->recorded_ms -= row->recorded_ms;
		rest->predicted_ms -= row->predicted_ms;
	}
	f->stage_count = p->part_count + 1;
	return VPT_OK;
}
