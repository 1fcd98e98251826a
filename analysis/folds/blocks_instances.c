/* blocks_instances.c - which ranges are something to the pipeline, and where an op stands among them.
 *
 * Unannotated ranges go by their names: a block does not stand inside a step, a stage or another block of the same
 * thread, a step not inside a step, a request not inside a request. */
#include "analysis/folds/blocks.h"

#include "formats/memory.h"

#include <string.h>

enum { DEPTH_MAX = 64 };

/* What a name says. Rules are asked once for each. */
static int label_of_name(struct vpa_blocks_state *s, const struct vpa_fold_context *c,
	uint32_t name, struct vpa_stage_label *out)
{
	struct vpt_text text = vpa_name(c->model, name);
	size_t before = s->known_cap;

	if (vpt_grow(&s->known, &s->known_cap, (size_t)name + 1, sizeof(*s->known)))
		return VPT_ENOMEM;
	if (s->known_cap > before)
		memset(s->known + before, 0, (s->known_cap - before) * sizeof(*s->known));
	if (s->known[name] > 1) {
		*out = s->labels[s->known[name] - 2];
		return VPT_OK;
	}
	out->kind = VPA_STAGE_NONE;
	if (s->known[name] == 1)
		return VPT_OK;
	vpa_stage_of_name(c->stage_rules, text.text, text.len, out);
	if (out->kind == VPA_STAGE_NONE) {
		s->known[name] = 1;
		return VPT_OK;
	}
	if (s->label_count == VPA_LABELS_MAX)
		return VPT_OK;
	if (vpt_grow(&s->labels, &s->label_cap, s->label_count + 1, sizeof(*s->labels)))
		return VPT_ENOMEM;
	s->labels[s->label_count++] = *out;
	s->known[name] = (uint32_t)s->label_count + 1;
	return VPT_OK;
}

int vpa_blocks_label(struct vpa_blocks_state *s, const struct vpa_fold_context *c,
	const struct vpa_range *range, struct vpa_stage_label *out)
{
	struct vpa_stage_label named;
	struct vpt_text text;

	if (range->payload) {
		text = vpa_name(c->model, range->payload);
		if (!vpa_stage_read(text.text, text.len, out) && out->kind != VPA_STAGE_FRAMES) {
			/* What a part works on is told by its name. */
			text = vpa_name(c->model, range->name);
			vpa_stage_builtin(text.text, text.len, &named);
			out->work = out->kind == VPA_STAGE_PART ? named.work : VPA_WORK_OTHER;
			return VPT_OK;
		}
	}
	return label_of_name(s, c, range->name, out);
}

uint32_t vpa_blocks_row(struct vpa_blocks_state *s, const struct vpa_fold_context *c,
	const struct vpa_stage_label *label, uint32_t name)
{
	size_t before = s->row_cap;
	uint32_t row;
	uint64_t id;

	if (label->kind != VPA_STAGE_PART && label->kind != VPA_STAGE_REQUEST)
		name = 0;
	if (label->name) {
		id = vpt_strings_put(&c->model->names, label->name, strlen(label->name));
		if (id == VPT_NO_ID)
			return VPA_NONE;
		name = (uint32_t)id;
	}
	/* Many different stages: what is too many has no name of its own. */
	if (s->row_index.count >= VPA_STAGE_ROWS_MAX - VPA_STAGE_KINDS)
		name = 0;
	row = vpa_index_put(&s->row_index, (uint64_t)label->kind << 8 | label->source, name);
	if (row == UINT32_MAX || vpt_grow(&s->rows, &s->row_cap, (size_t)row + 1, sizeof(*s->rows)))
		return VPA_NONE;
	if (s->row_cap > before)
		memset(s->rows + before, 0, (s->row_cap - before) * sizeof(*s->rows));
	s->rows[row].kind = label->kind;
	s->rows[row].source = label->source;
	s->rows[row].name = name;
	return row;
}

uint32_t vpa_blocks_new_instance(struct vpa_blocks_state *s)
{
	uint32_t at = s->unused;

	if (at != VPA_NONE) {
		s->unused = s->instances[at].block;
		return at;
	}
	if (s->instance_count >= VPA_NONE - VPA_FIRST_INSTANCE ||
		vpt_grow(&s->instances, &s->instance_cap, s->instance_count + 1,
			sizeof(*s->instances)))
		return VPA_NONE;
	return (uint32_t)s->instance_count++;
}

int vpa_blocks_stays(enum vpa_stage_kind kind)
{
	return kind == VPA_STAGE_REQUEST || kind == VPA_STAGE_BLOCK;
}

static const struct vpa_instance *instance_at(const struct vpa_blocks_state *s, uint32_t at)
{
	return at == VPA_NONE ? NULL : &s->instances[at];
}

static unsigned inside_of(const struct vpa_blocks_state *s, const struct vpa_blocks_around *around)
{
	const struct vpa_instance *block = instance_at(s, around->block);
	const struct vpa_instance *part = instance_at(s, around->part);

	return (around->request != VPA_NONE ? VPA_INSIDE_REQUEST : 0u) |
	       (block && block->nests ? VPA_INSIDE_BLOCK : 0u) |
	       (around->step != VPA_NONE ? VPA_INSIDE_STEP : 0u) |
	       (part && part->label.work != VPA_WORK_WHOLE ? VPA_INSIDE_PART : 0u);
}

/* Makes an instance of a range. Leaves range->stage at VPA_STAGE_NOTHING if it is none. */
int vpa_blocks_begin(struct vpa_blocks_state *s, const struct vpa_fold_context *c,
	struct vpa_range *range, const struct vpa_blocks_around *around)
{
	int nests = range->kind != VPT_RANGEKIND_START_END;
	struct vpa_instance i = {.start_ns = range->start_ns,
		.first_ns = UINT64_MAX,
		.cut = VPA_NONE,
		.pin = VPA_NONE,
		.row = VPA_NONE,
		.name = range->name,
		.thread = range->thread,
		.block = around->block,
		.request = around->request,
		.nested = around->iteration != VPA_NONE || around->step != VPA_NONE ||
			  around->part != VPA_NONE,
		.nests = (uint8_t)nests};
	uint32_t at;

	if (around->lap && range->start_ns >= around->lap->start_ns)
		i.lap = around->lap->stage;
	range->stage = VPA_STAGE_NOTHING;
	if (vpa_blocks_label(s, c, range, &i.label))
		return VPT_ENOMEM;
	if (i.label.kind == VPA_STAGE_NONE ||
		vpa_stage_is_misplaced(&i.label, inside_of(s, around), nests))
		return VPT_OK;
	range->placed = (uint8_t)i.label.kind;
	s->has_blocks |= i.label.kind == VPA_STAGE_BLOCK;
	if (vpa_blocks_stays(i.label.kind)) {
		if (s->block_count == VPA_BLOCKS_MAX) {
			s->too_many++;
			return VPT_OK;
		}
		s->block_count++;
		i.cut = vpa_sweep_cut_new(&s->sweep);
		if (i.cut == VPA_NONE)
			return VPT_ENOMEM;
	}
	if (!vpa_blocks_stays(i.label.kind) || i.label.work == VPA_WORK_WHOLE) {
		i.row = vpa_blocks_row(s, c, &i.label, range->name);
		if (i.row == VPA_NONE)
			return VPT_ENOMEM;
		if (i.label.kind != VPA_STAGE_PART && around->part != VPA_NONE)
			s->rows[s->instances[around->part].row].holds_steps = 1;
	}
	at = vpa_blocks_new_instance(s);
	if (at == VPA_NONE)
		return VPT_ENOMEM;
	s->instances[at] = i;
	range->stage = at + VPA_FIRST_INSTANCE;
	return VPT_OK;
}

/* ---- where an op belongs ---- */

/* An annotation is not put aside by a rule further in. */
static void set_around(const struct vpa_blocks_state *s, uint32_t *around, uint32_t at)
{
	const struct vpa_instance *old = instance_at(s, *around);

	if (!old || old->label.source != VPA_SOURCE_ANNOTATION ||
		s->instances[at].label.source == VPA_SOURCE_ANNOTATION)
		*around = at;
}

static void go_inside(
	const struct vpa_blocks_state *s, struct vpa_blocks_around *around, uint32_t at)
{
	switch (s->instances[at].label.kind) {
	case VPA_STAGE_REQUEST:
		set_around(s, &around->request, at);
		break;
	case VPA_STAGE_BLOCK:
		set_around(s, &around->block, at);
		/* What stands in a block is not in what is around it. */
		around->iteration = around->step = around->part = VPA_NONE;
		break;
	case VPA_STAGE_ITERATION:
		set_around(s, &around->iteration, at);
		break;
	case VPA_STAGE_PART:
		set_around(s, &around->part, at);
		break;
	default:
		set_around(s, &around->step, at);
	}
}

const struct vpa_range *vpa_blocks_inner(
	const struct vpa_blocks_state *s, struct vpa_range *range, uint64_t at_ns)
{
	range = vpa_range_open_at(range, at_ns);
	for (; range; range = vpa_range_around(range, at_ns)) {
		/* By far the most ranges have names that are nothing. */
		if (!range->stage && !range->payload && range->name < s->known_cap &&
			s->known[range->name] == 1)
			range->stage = VPA_STAGE_NOTHING;
		if (range->stage != VPA_STAGE_NOTHING)
			break;
	}
	return range;
}

/* Notes of a range that nobody has asked about yet if it is nothing wherever it stands. */
static int ask(
	struct vpa_blocks_state *s, const struct vpa_fold_context *c, struct vpa_range *range)
{
	struct vpa_stage_label label;

	if (range->stage)
		return VPT_OK;
	if (vpa_blocks_label(s, c, range, &label))
		return VPT_ENOMEM;
	if (label.kind == VPA_STAGE_NONE)
		range->stage = VPA_STAGE_NOTHING;
	return VPT_OK;
}

/* Where a range goes among those found so far: each chain comes with starts falling, so mostly to the front. Of equal starts
 * one with an end of its own is inside. */
static size_t place_of(struct vpa_range *const *found, size_t count, const struct vpa_range *range)
{
	int is_inside = range->kind == VPT_RANGEKIND_START_END;
	size_t place = 0;

	while (place < count && (found[place]->start_ns < range->start_ns ||
					(is_inside && found[place]->start_ns == range->start_ns)))
		place++;
	return place;
}

/* The ranges of both chains that are open at the launch and may be something, outermost first. Those that are nothing
 * take no room: there may be hundreds, one for each frame of a stack. */
static int open_ranges(struct vpa_blocks_state *s, const struct vpa_fold_context *c,
	const struct vpa_op_stretch *stretch, uint64_t at, struct vpa_blocks_place *p,
	struct vpa_range **out, size_t *found)
{
	struct vpa_range *heads[2] = {stretch->range, stretch->process_range}, *range;
	size_t count = 0, place, k;

	*found = 0;

	p->at_ns = stretch->from_ns;
	p->until_ns = UINT64_MAX;
	for (k = 0; k < 2; k++) {
		for (range = vpa_range_open_at(heads[k], stretch->from_ns); range;
			range = vpa_range_around(range, stretch->from_ns)) {
			if (ask(s, c, range))
				return VPT_ENOMEM;
			if (range->stage == VPA_STAGE_NOTHING)
				continue;
			if (range->end_ns <= at) {
				p->at_ns = range->end_ns > p->at_ns ? range->end_ns : p->at_ns;
				continue;
			}
			if (range->end_ns < p->until_ns)
				p->until_ns = range->end_ns;
			if (count == DEPTH_MAX)
				continue;
			place = place_of(out, count, range);
			memmove(out + place + 1, out + place, (count - place) * sizeof(*out));
			out[place] = range;
			count++;
		}
	}
	*found = count;
	return VPT_OK;
}

int vpa_blocks_find_place(struct vpa_blocks_state *s, const struct vpa_fold_context *c,
	const struct vpa_op_stretch *stretch, uint64_t at_ns, struct vpa_blocks_place *p)
{
	struct vpa_range *open[DEPTH_MAX];
	struct vpa_blocks_around around = VPA_NOTHING_AROUND;
	struct vpa_lap *lap;
	size_t count, i;

	if (open_ranges(s, c, stretch, at_ns, p, open, &count))
		return VPT_ENOMEM;
	lap = vpa_laps_at(
		&c->idle->resolver->laps, VPA_LAP_STEP, p->thread, at_ns, &p->at_ns, &p->until_ns);
	around.lap = lap;
	for (i = 0; i < count; i++) {
		uint32_t at;

		/* Its row stands before those of what is in it. */
		if (lap && !lap->stage && open[i]->start_ns >= lap->start_ns &&
			vpa_blocks_begin_lap(s, c, VPA_LAP_STEP, p->thread, lap))
			return VPT_ENOMEM;
		if (!open[i]->stage && vpa_blocks_begin(s, c, open[i], &around))
			return VPT_ENOMEM;
		if (open[i]->stage < VPA_FIRST_INSTANCE)
			continue;
		at = open[i]->stage - VPA_FIRST_INSTANCE;
		go_inside(s, &around, at);
		p->vae |= s->instances[at].label.work == VPA_WORK_VAE;
		if (p->count < VPA_PLACE_MAX)
			p->items[p->count++] = at;
	}
	p->own = vpa_blocks_inner(s, stretch->range, at_ns);
	p->wide = vpa_blocks_inner(s, stretch->process_range, at_ns);
	return vpa_blocks_find_laps(s, c, at_ns, &around, p);
}
