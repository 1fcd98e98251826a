/* place.c - where something stands among stages, blocks and steps: in the nearest range around it that is
 * one. What a range is, it says itself: by its annotation, else its name. */
#include "analysis/export/rows/place.h"

/* What a name says, so that it need not be worked out again. */
struct vpa_rows_known {
	uint8_t known;
	struct vpa_stage_label label;
};

void vpa_rows_place_free(struct vpa_rows *x)
{
	vpt_free(x->known);
	vpt_strings_free(&x->stages);
}

struct vpa_stage_label vpa_rows_label_of(
	struct vpa_rows *x, struct vpt_text name, struct vpt_text payload)
{
	struct vpa_stage_label label = {0};

	if (!payload.len || vpa_stage_read(payload.text, payload.len, &label))
		vpa_stage_of_name(x->view.context->stage_rules, name.text, name.len, &label);
	return label;
}

struct vpa_stage_label vpa_rows_label(struct vpa_rows *x, const struct vpa_range *range)
{
	const struct vpa_model *m = x->view.context->model;
	struct vpt_text none = {"", 0};
	size_t before = x->known_cap;

	if (range->payload)
		return vpa_rows_label_of(x, vpa_name(m, range->name), vpa_name(m, range->payload));
	if (vpt_grow(&x->known, &x->known_cap, (size_t)range->name + 1, sizeof(*x->known))) {
		x->cat.out.failed = 1;
		return (struct vpa_stage_label){0};
	}
	if (x->known_cap > before)
		memset(x->known + before, 0, (x->known_cap - before) * sizeof(*x->known));
	if (!x->known[range->name].known) {
		x->known[range->name].known = 1;
		x->known[range->name].label = vpa_rows_label_of(x, vpa_name(m, range->name), none);
	}
	return x->known[range->name].label;
}

enum { DEPTH_MAX = 64 };

/* A range that is something. */
struct known_range {
	const struct vpa_range *range;
	struct vpa_stage_label label;
};

/* Those of both chains that are open at `at_ns`, outermost first. Until last.until_ns no range of theirs ends. */
static size_t find_known(struct vpa_rows *x, const struct vpa_range *const heads[2], uint64_t at_ns,
	struct known_range out[DEPTH_MAX])
{
	const struct vpa_range *range;
	size_t count = 0, place, k;

	for (k = 0; k < 2; k++)
		for (range = heads[k]; range; range = vpa_range_around(range, at_ns)) {
			struct vpa_stage_label label = vpa_rows_label(x, range);

			if (range->end_ns < x->last.until_ns)
				x->last.until_ns = range->end_ns;
			if (label.kind == VPA_STAGE_NONE || count == DEPTH_MAX)
				continue;
			/* A chain comes with starts falling: mostly this is the front. */
			for (place = 0;
				place < count && out[place].range->start_ns <= range->start_ns &&
				(k || out[place].range->start_ns < range->start_ns);
				place++)
				;
			memmove(out + place + 1, out + place, (count - place) * sizeof(*out));
			out[place] = (struct known_range){range, label};
			count++;
		}
	return count;
}

/* An annotation is not put aside by a rule further in. */
static void set_around(const struct known_range **around, const struct known_range *k)
{
	if (!*around || (*around)->label.source != VPA_SOURCE_ANNOTATION ||
		k->label.source == VPA_SOURCE_ANNOTATION)
		*around = k;
}

static void put_stage(struct vpa_rows *x, const struct known_range *k, struct vpa_rows_place *place)
{
	struct vpt_text name = vpa_name(x->view.context->model, k->range->name);
	uint64_t stage;

	if (k->label.name)
		name = (struct vpt_text){k->label.name, strlen(k->label.name)};
	stage = vpt_strings_put(&x->stages, name.text, name.len);
	x->cat.out.failed |= stage == VPT_NO_ID;
	place->stage = (uint32_t)(stage + 1);
}

static void look_around(struct vpa_rows *x, const struct vpa_range *own,
	const struct vpa_range *wide, uint64_t at_ns, struct vpa_rows_place *place)
{
	const struct vpa_range *const heads[2] = {own, wide};
	const struct known_range *block = NULL, *step = NULL;
	struct known_range known[DEPTH_MAX];
	size_t count = find_known(x, heads, at_ns, known), i;
	unsigned inside = 0;

	for (i = 0; i < count; i++) {
		const struct known_range *k = &known[i];
		int nests = k->range->kind != VPT_RANGEKIND_START_END;

		if (vpa_stage_is_misplaced(&k->label, inside, nests))
			continue;
		inside = vpa_stage_inside(&k->label, inside, nests);
		switch (k->label.kind) {
		case VPA_STAGE_BLOCK:
			set_around(&block, k);
			place->block = block->label.index;
			step = NULL;
			break;
		case VPA_STAGE_STEP:
			set_around(&step, k);
			place->step = step->label.index;
			break;
		case VPA_STAGE_CONTEXT:
			set_around(&step, k);
			break;
		case VPA_STAGE_PART:
			put_stage(x, k, place);
			break;
		default:
			break;
		}
	}
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
