/* overview_lanes.c - instances of stages, a bounded number of them.
 *
 * Beyond VPA_OVERVIEW_SPANS of a stage, neighbours become one span in pairs; of durations, every second
 * one is dropped. Requests and blocks are in the report in full and have no lane. */
#include "analysis/folds/over_time/overview_lanes.h"

#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

static int has_lane(enum vpa_scope_kind kind)
{
	return kind == VPA_SCOPE_STAGE || kind == VPA_SCOPE_STEP || kind == VPA_SCOPE_CONTEXT;
}

static struct vpa_overview_span join(struct vpa_overview_span a, struct vpa_overview_span b)
{
	return (struct vpa_overview_span){a.start_ns < b.start_ns ? a.start_ns : b.start_ns,
		a.end_ns > b.end_ns ? a.end_ns : b.end_ns, a.count + b.count};
}

static void join_pairs(struct vpa_lane_state *lane)
{
	size_t i;

	for (i = 0; i + 1 < lane->span_count; i += 2)
		lane->spans[i / 2] = join(lane->spans[i], lane->spans[i + 1]);
	if (i < lane->span_count)
		lane->spans[i / 2] = lane->spans[i];
	lane->span_count = (lane->span_count + 1) / 2;
	lane->per_span *= 2;
}

static void add_span(struct vpa_lane_state *lane, struct vpa_overview_span span)
{
	struct vpa_overview_span *last =
		lane->span_count ? &lane->spans[lane->span_count - 1] : NULL;

	if (last && last->count < lane->per_span) {
		*last = join(*last, span);
		return;
	}
	if (lane->span_count == VPA_OVERVIEW_SPANS)
		join_pairs(lane);
	lane->spans[lane->span_count++] = span;
}

static void add_sample(struct vpa_lane_state *lane, uint64_t ns)
{
	size_t i;

	if (lane->count++ % lane->stride)
		return;
	if (lane->sample_count == VPA_OVERVIEW_SAMPLES) {
		for (i = 0; i < VPA_OVERVIEW_SAMPLES / 2; i++)
			lane->samples_ns[i] = lane->samples_ns[2 * i];
		lane->sample_count = VPA_OVERVIEW_SAMPLES / 2;
		lane->stride *= 2;
	}
	lane->samples_ns[lane->sample_count++] = ns;
}

static int begin_lane(struct vpa_lane_state *lane, const struct vpa_stage_at *at)
{
	lane->at = *at;
	lane->per_span = lane->stride = 1;
	lane->spans = vpt_alloc(VPA_OVERVIEW_SPANS, sizeof(*lane->spans));
	lane->samples_ns = vpt_alloc(VPA_OVERVIEW_SAMPLES, sizeof(*lane->samples_ns));
	return lane->spans && lane->samples_ns ? VPT_OK : VPT_ENOMEM;
}

int vpa_overview_lanes_add(struct vpa_overview_lanes *l, const struct vpa_fold_context *c,
	const struct vpa_range *range)
{
	struct vpa_stage_at at;
	uint32_t row;

	if (!vpa_stage_at_of(c, range, &at) || !has_lane(at.kind) || at.first_ns >= at.last_ns)
		return VPT_OK;
	row = vpa_index_find(&l->index, at.key, at.key_name);
	if (row == UINT32_MAX) {
		if (l->index.count == VPA_OVERVIEW_LANES)
			return VPT_OK;
		row = vpa_index_row(
			&l->index, at.key, at.key_name, &l->items, &l->cap, sizeof(*l->items));
		if (row == UINT32_MAX || begin_lane(&l->items[row], &at))
			return VPT_ENOMEM;
	}
	add_span(&l->items[row], (struct vpa_overview_span){at.first_ns, at.last_ns, 1});
	add_sample(&l->items[row], at.last_ns - at.first_ns);
	return VPT_OK;
}

/* ---- writing down ---- */

static int compare_spans(const void *pa, const void *pb)
{
	const struct vpa_overview_span *a = pa, *b = pb;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->end_ns < b->end_ns ? -1 : a->end_ns > b->end_ns;
}

static int compare_lanes(const void *pa, const void *pb)
{
	const struct vpa_overview_lane *a = pa, *b = pb;

	return compare_spans(a->spans, b->spans);
}

static int write_lane(struct vpa_lane_state *from, const struct vpa_fold_context *c,
	struct vpa_report *out, struct vpa_overview_lane *lane)
{
	qsort(from->spans, from->span_count, sizeof(*from->spans), compare_spans);
	lane->spans = vpa_arena_alloc(&out->arena, from->span_count, sizeof(*lane->spans));
	lane->samples_ns =
		vpa_arena_alloc(&out->arena, from->sample_count, sizeof(*lane->samples_ns));
	if (!lane->spans || !lane->samples_ns)
		return VPT_ENOMEM;
	memcpy(lane->spans, from->spans, from->span_count * sizeof(*lane->spans));
	memcpy(lane->samples_ns, from->samples_ns, from->sample_count * sizeof(*lane->samples_ns));
	lane->name = from->at.kind == VPA_SCOPE_STEP ? vpa_pipeline_step_name(c->pipeline)
		     : from->at.kind == VPA_SCOPE_CONTEXT
			     ? "context pass"
			     : vpa_stage_at_name(out, c->model, &from->at);
	lane->kind = from->at.kind;
	lane->span_count = from->span_count;
	lane->sample_count = from->sample_count;
	lane->count = from->count;
	lane->stride = from->stride;
	return VPT_OK;
}

int vpa_overview_lanes_write(
	struct vpa_overview_lanes *l, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_overview *o = out->overview;
	size_t i;

	o->lanes = vpa_arena_alloc(&out->arena, l->index.count, sizeof(*o->lanes));
	if (!o->lanes)
		return VPT_ENOMEM;
	for (i = 0; i < l->index.count; i++, o->lane_count++)
		if (write_lane(&l->items[i], c, out, &o->lanes[i]))
			return VPT_ENOMEM;
	qsort(o->lanes, o->lane_count, sizeof(*o->lanes), compare_lanes);
	return VPT_OK;
}

void vpa_overview_lanes_free(struct vpa_overview_lanes *l)
{
	size_t i;

	for (i = 0; i < l->index.count && i < l->cap; i++) {
		vpt_free(l->items[i].spans);
		vpt_free(l->items[i].samples_ns);
	}
	vpt_free(l->items);
	vpa_index_free(&l->index);
}
