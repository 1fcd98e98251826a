/* row_places.c - the stage, block and step of an op or a call: from the nearest range around it that is
 * one, see pipeline.h. */
#include "analysis/export/rows/row_places.h"

#include "analysis/pipeline/pipeline.h"

void vpa_rows_place_free(struct vpa_rows *x)
{
	vpt_strings_free(&x->stages);
}

static void look_around(struct vpa_rows *x, const struct vpa_range *own,
	const struct vpa_range *wide, uint64_t at_ns, struct vpa_rows_place *place)
{
	struct vpt_text name;
	struct vpa_where where;
	uint64_t stage;

	if (vpa_pipeline_where(x->view.context->pipeline, own, wide, at_ns, &where)) {
		x->failed = 1;
		return;
	}
	x->last.until_ns = where.until_ns;
	place->block = where.block;
	place->step = where.step;
	if (!where.stage)
		return;
	name = vpa_name(x->view.context->model, where.stage->name);
	if (where.stage_name)
		name = vpt_text_from(where.stage_name);
	stage = vpt_strings_put(&x->stages, name.text, name.len);
	x->failed |= stage == VPT_NO_ID;
	place->stage = (uint32_t)(stage + 1);
}

static int is_same(const struct vpa_range *range, const struct vpa_range *last, uint64_t start_ns,
	uint32_t name)
{
	return range == last && (!range || (range->start_ns == start_ns && range->name == name));
}

struct vpa_rows_place vpa_rows_place_of(struct vpa_rows *x, const struct vpa_range *own,
	const struct vpa_range *wide, uint64_t at_ns)
{
	const struct vpa_range *inner = vpa_inner_range(own, wide);
	struct vpa_rows_place place = {.block = -1, .step = -1};
	struct vpa_rows_asked *last = &x->last;

	if (!inner)
		return place;
	if (at_ns >= last->at_ns && at_ns < last->until_ns &&
		is_same(own, last->own, last->own_start_ns, last->own_name) &&
		is_same(wide, last->wide, last->wide_start_ns, last->wide_name))
		return last->place;
	*last = (struct vpa_rows_asked){own, wide, at_ns, UINT64_MAX, own ? own->start_ns : 0,
		wide ? wide->start_ns : 0, own ? own->name : 0, wide ? wide->name : 0, place};
	place.range = inner->name;
	look_around(x, own, wide, at_ns, &place);
	last->place = place;
	return place;
}
