/* pipeline.c - judges ranges from the outermost inwards, by one rule for all callers: what each is
 * by itself, see range_scopes.h, and whether that may be inside what is around it.
 *
 * Unannotated ranges go by their names: a block cannot be inside a step, a stage or another block
 * of the same thread, a step not inside a step, a request not inside a request. Which ranges are around a moment, what they make of
 * it, and what ends with them is one state of a thread: more than 600 lines. */
#include "analysis/pipeline/pipeline.h"

#include "formats/base/hash.h"
#include "formats/base/memory.h"

#include <string.h>

/* Names with a meaning; any beyond this are looked up each time. */
enum { LABELS_MAX = 4096 };

/* Values of vpa_pipeline.elsewhere: how many ranges of a name were no part of a block before the question is settled, or that one was. */
enum { ELSEWHERE = 8, IN_BLOCKS = 255 };

static const struct vpa_around nothing_around = {VPA_NONE, VPA_NONE, VPA_NONE, VPA_NONE, VPA_NONE};

void vpa_pipeline_init(
	struct vpa_pipeline *p, const struct vpa_model *model, const struct vpa_range_rules *rules)
{
	*p = (struct vpa_pipeline){.model = model, .rules = rules, .unused = VPA_NONE};
}

void vpa_pipeline_free(struct vpa_pipeline *p)
{
	vpt_free(p->scopes);
	vpt_free(p->positions);
	vpt_free(p->known);
	vpt_free(p->elsewhere);
	vpt_free(p->labels);
}

int vpa_scope_is_kept(enum vpa_scope_kind kind)
{
	return kind == VPA_SCOPE_REQUEST || kind == VPA_SCOPE_BLOCK;
}

/* ---- what a range is by itself ---- */

/* The meaning of a name. Applies the rules once per name. */
static int label_of_name(struct vpa_pipeline *p, uint32_t name, struct vpa_scope_label *out)
{
	struct vpt_text text = vpa_name(p->model, name);

	if (vpt_grow_zeroed(&p->known, &p->known_cap, (size_t)name + 1, sizeof(*p->known)))
		return VPT_ENOMEM;
	if (p->known[name] > 1) {
		*out = p->labels[p->known[name] - 2];
		return VPT_OK;
	}
	*out = vpa_no_scope();
	if (p->known[name] == 1)
		return VPT_OK;
	vpa_scope_of_name(p->rules, text.text, text.len, out);
	if (out->kind == VPA_SCOPE_NONE) {
		p->known[name] = 1;
		return VPT_OK;
	}
	if (p->label_count == LABELS_MAX)
		return VPT_OK;
	if (vpt_grow(&p->labels, &p->label_cap, p->label_count + 1, sizeof(*p->labels)))
		return VPT_ENOMEM;
	p->labels[p->label_count++] = *out;
	p->known[name] = (uint32_t)p->label_count + 1;
	return VPT_OK;
}

/* An operator's annotation is about its work. */
static int is_annotated(const struct vpa_range *range)
{
	return range->payload && range->level != VPA_LEVEL_OPERATOR;
}

/* The meaning of an annotated range: what its annotation leaves out, its name may say. */
static int label_of_annotation(
	struct vpa_pipeline *p, const struct vpa_range *range, struct vpa_scope_label *out)
{
	struct vpt_text text = vpa_name(p->model, range->payload);
	struct vpa_scope_label named;

	if (vpa_scope_read(text.text, text.len, out) || vpa_scope_is_of_marks(out->kind))
		return label_of_name(p, range->name, out);
	text = vpa_name(p->model, range->name);
	if (out->kind == VPA_SCOPE_NONE) {
		vpa_scope_of_rules(p->rules, text.text, text.len, out);
		return VPT_OK;
	}
	/* A stage's name says what it works on; any name may say of what program. */
	vpa_scope_builtin(text.text, text.len, &named);
	out->work = out->kind == VPA_SCOPE_STAGE ? named.work : VPA_WORK_OTHER;
	out->is_diffusion |= named.is_diffusion;
	return VPT_OK;
}

static int is_kept(const struct vpa_annotated *kept, const struct vpa_range *range)
{
	return kept->payload == range->payload && kept->name == range->name;
}

/* The few ranges around a moment are asked for again and again. Two of them may share a hash. */
int vpa_pipeline_label(
	struct vpa_pipeline *p, const struct vpa_range *range, struct vpa_scope_label *out)
{
	struct vpa_annotated *kept;

	if (!is_annotated(range))
		return label_of_name(p, range->name, out);
	kept = p->annotated[vpt_hash_pair(range->payload, range->name) % VPA_ANNOTATED_SETS];
	if (!is_kept(&kept[0], range) && !is_kept(&kept[1], range)) {
		kept[1] = kept[0];
		kept[0].payload = 0;
		if (label_of_annotation(p, range, &kept[0].label))
			return VPT_ENOMEM;
		kept[0].payload = range->payload;
		kept[0].name = range->name;
	}
	*out = kept[!is_kept(&kept[0], range)].label;
	return VPT_OK;
}

void vpa_pipeline_read(const struct vpa_pipeline *p, struct vpt_text name,
	struct vpt_text annotation, struct vpa_scope_label *out)
{
	if (!annotation.len || vpa_scope_read(annotation.text, annotation.len, out))
		vpa_scope_of_name(p->rules, name.text, name.len, out);
	else if (out->kind == VPA_SCOPE_NONE)
		vpa_scope_of_rules(p->rules, name.text, name.len, out);
}

/* ---- the ranges around a moment ---- */

/* Ranges open at a moment that may be scopes, outermost first. Others take no room: there may be
 * hundreds, one for each frame of a stack. */
struct open {
	struct vpa_range *items[VPA_SCOPES_OPEN_MAX];
	size_t count;
	uint64_t from_ns, until_ns; /* launches in [from, until) have these ranges around them */
};

static int nests(const struct vpa_range *range)
{
	return range->kind != VPT_RANGEKIND_START_END;
}

/* The range around one that may be a plain part of it; NULL: the range can be none. */
static const struct vpa_range *around_part(const struct vpa_range *range)
{
	if (range->level != VPA_LEVEL_ANNOTATION || range->like_operator || !nests(range) ||
		vpa_range_is_operator(range))
		return NULL;
	return vpa_range_around(range, range->start_ns);
}

/* Whether a range without a meaning may be a plain part: the one around it is a block, or may become one. */
static int may_be_part(struct vpa_pipeline *p, const struct vpa_range *range, int *out)
{
	const struct vpa_range *around = around_part(range);
	struct vpa_scope_label label;

	*out = around && around->placed == VPA_SCOPE_BLOCK;
	if (!around || around->scope)
		return VPT_OK;
	if (vpa_pipeline_label(p, around, &label))
		return VPT_ENOMEM;
	*out = label.kind == VPA_SCOPE_BLOCK;
	return VPT_OK;
}

/* Notes whether a range of this name may be a plain part. A name that many others had before stays none. */
static int note_part(struct vpa_pipeline *p, const struct vpa_range *range, int *is_open)
{
	uint8_t *elsewhere;

	*is_open = 0;
	if (vpt_grow_zeroed(&p->elsewhere, &p->elsewhere_cap, (size_t)range->name + 1, 1))
		return VPT_ENOMEM;
	elsewhere = &p->elsewhere[range->name];
	if (!is_annotated(range) && *elsewhere == ELSEWHERE)
		return VPT_OK;
	if (may_be_part(p, range, is_open))
		return VPT_ENOMEM;
	if (*is_open)
		*elsewhere = IN_BLOCKS;
	else if (!is_annotated(range) && *elsewhere != IN_BLOCKS)
		++*elsewhere;
	return VPT_OK;
}

/* Marks an unjudged range that is no scope in any place. */
static int know(struct vpa_pipeline *p, struct vpa_range *range)
{
	struct vpa_scope_label label;
	int is_open;

	if (range->scope)
		return VPT_OK;
	if (vpa_pipeline_label(p, range, &label))
		return VPT_ENOMEM;
	if (label.kind != VPA_SCOPE_NONE)
		return VPT_OK;
	if (note_part(p, range, &is_open))
		return VPT_ENOMEM;
	if (!is_open)
		range->scope = VPA_NO_SCOPE;
	return VPT_OK;
}

/* The index of a range among those found so far: each chain is in descending order of start, so
 * usually the front. Of equal starts, one with an end of its own is inside. */
static size_t rank_of(const struct open *open, const struct vpa_range *range)
{
	int is_inside = range->kind == VPT_RANGEKIND_START_END;
	size_t rank = 0;

	while (rank < open->count &&
		(open->items[rank]->start_ns < range->start_ns ||
			(is_inside && open->items[rank]->start_ns == range->start_ns)))
		rank++;
	return rank;
}

static void put_open(struct open *open, struct vpa_range *range)
{
	size_t rank;

	if (open->count == VPA_SCOPES_OPEN_MAX)
		return;
	rank = rank_of(open, range);
	memmove(open->items + rank + 1, open->items + rank,
		(open->count - rank) * sizeof(*open->items));
	open->items[rank] = range;
	open->count++;
}

/* The ranges of both chains that are open at `at_ns`. `at_ns` is not before `since_ns`, when all of
 * the chains were open. */
static int find_open(struct vpa_pipeline *p, struct vpa_range *own, struct vpa_range *wide,
	uint64_t since_ns, uint64_t at_ns, struct open *open)
{
	struct vpa_range *heads[2] = {own, wide}, *range;
	size_t k;

	open->count = 0;
	open->from_ns = since_ns;
	open->until_ns = UINT64_MAX;
	for (k = 0; k < 2; k++) {
		for (range = vpa_range_open_at(heads[k], since_ns); range;
			range = vpa_range_around(range, since_ns)) {
			if (know(p, range))
				return VPT_ENOMEM;
			if (range->scope == VPA_NO_SCOPE && !range->placed)
				continue;
			if (range->end_ns <= at_ns) {
				if (range->end_ns > open->from_ns)
					open->from_ns = range->end_ns;
				continue;
			}
			if (range->end_ns < open->until_ns)
				open->until_ns = range->end_ns;
			put_open(open, range);
		}
	}
	return VPT_OK;
}

/* The innermost range, from `range` outwards, that is open at `at_ns` and may be a scope; NULL:
 * none. */
static const struct vpa_range *find_inner(
	const struct vpa_pipeline *p, struct vpa_range *range, uint64_t at_ns)
{
	range = vpa_range_open_at(range, at_ns);
	for (; range; range = vpa_range_around(range, at_ns)) {
		/* Most ranges by far have names without a meaning. */
		if (!range->scope && !is_annotated(range) && range->name < p->elsewhere_cap &&
			p->elsewhere[range->name] == ELSEWHERE)
			range->scope = VPA_NO_SCOPE;
		if (range->scope != VPA_NO_SCOPE)
			break;
	}
	return range;
}

/* ---- scopes ---- */

uint32_t vpa_pipeline_add(struct vpa_pipeline *p, const struct vpa_scope *scope)
{
	uint32_t at = p->unused;

	if (at != VPA_NONE) {
		p->unused = p->scopes[at].block;
	} else {
		if (p->scope_count >= VPA_NONE - VPA_FIRST_SCOPE ||
			vpt_grow(&p->scopes, &p->scope_cap, p->scope_count + 1, sizeof(*p->scopes)))
			return VPA_NONE;
		at = (uint32_t)p->scope_count++;
	}
	p->scopes[at] = *scope;
	return at;
}

const char *vpa_pipeline_step_name(const struct vpa_pipeline *p)
{
	return p->is_diffusion ? "denoise step" : "step";
}

/* Makes a range without a meaning a plain part if it is in its place. */
static void judge_part(struct vpa_scope *scope, const struct vpa_range *range)
{
	const struct vpa_range *around = around_part(range);

	if (!around || around->placed != VPA_SCOPE_BLOCK || scope->nested)
		return;
	scope->label.kind = VPA_SCOPE_STAGE;
	scope->label.source = VPA_SOURCE_PLACE;
}

/* Judges a range. Leaves range->scope at VPA_NO_SCOPE if it is no scope. */
static int begin(struct vpa_pipeline *p, struct vpa_range *range, const struct vpa_around *around,
	unsigned inside)
{
	struct vpa_scope scope = {.start_ns = range->start_ns,
		.name = range->name,
		.thread = range->thread,
		.annotation = range->payload,
		.request = around->request,
		.block = around->block,
		.stage = around->stage,
		.nested = around->iteration != VPA_NONE || around->step != VPA_NONE ||
			  around->stage != VPA_NONE,
		.nests = (uint8_t)nests(range)};
	uint32_t at;

	range->scope = VPA_NO_SCOPE;
	if (vpa_pipeline_label(p, range, &scope.label))
		return VPT_ENOMEM;
	if (scope.label.kind == VPA_SCOPE_NONE)
		judge_part(&scope, range);
	if (scope.label.kind == VPA_SCOPE_NONE ||
		vpa_scope_is_misplaced(&scope.label, inside, scope.nests))
		return VPT_OK;
	/* Nothing else is to take a plain part for more than a range. */
	if (scope.label.source != VPA_SOURCE_PLACE)
		range->placed = (uint8_t)scope.label.kind;
	p->is_diffusion |= scope.label.is_diffusion;
	if (vpa_scope_is_kept(scope.label.kind)) {
		if (p->kept_count == VPA_BLOCKS_MAX) {
			p->left_out++;
			return VPT_OK;
		}
		p->kept_count++;
	}
	at = vpa_pipeline_add(p, &scope);
	if (at == VPA_NONE)
		return VPT_ENOMEM;
	range->scope = at + VPA_FIRST_SCOPE;
	return VPT_OK;
}

/* Whether a scope replaces one further out: a rule does not override an annotation. */
static int takes_over(enum vpa_scope_source source, enum vpa_scope_source outer)
{
	return outer != VPA_SOURCE_ANNOTATION || source == VPA_SOURCE_ANNOTATION;
}

static void set_around(const struct vpa_pipeline *p, uint32_t *around, uint32_t at)
{
	if (*around == VPA_NONE ||
		takes_over(p->scopes[at].label.source, p->scopes[*around].label.source))
		*around = at;
}

static void go_inside(const struct vpa_pipeline *p, struct vpa_around *around, uint32_t at)
{
	switch (p->scopes[at].label.kind) {
	case VPA_SCOPE_REQUEST:
		set_around(p, &around->request, at);
		break;
	case VPA_SCOPE_BLOCK:
		set_around(p, &around->block, at);
		/* What is inside a block is not in the steps and stages around it. */
		around->iteration = around->step = around->stage = VPA_NONE;
		break;
	case VPA_SCOPE_ITERATION:
		set_around(p, &around->iteration, at);
		break;
	case VPA_SCOPE_STAGE:
		set_around(p, &around->stage, at);
		break;
	default:
		set_around(p, &around->step, at);
	}
}

/* ---- positions ---- */

/* The next scope inwards. The part around it is no plain one. */
static void put_scope(struct vpa_pipeline *p, struct vpa_position *out, uint32_t at)
{
	if (out->part != VPA_NONE)
		p->scopes[out->part].holds_scopes = 1;
	out->part = VPA_NONE;
	go_inside(p, &out->around, at);
	out->scopes[out->count++] = at;
}

/* Fills in the scopes around a launch of this stretch at `at_ns`. */
static int find_scopes(struct vpa_pipeline *p, const struct vpa_op_stretch *stretch, uint64_t at_ns,
	struct vpa_position *out)
{
	struct open open;
	unsigned inside = 0;
	size_t i;

	if (find_open(p, stretch->range, stretch->process_range, stretch->from_ns, at_ns, &open))
		return VPT_ENOMEM;
	out->from_ns = open.from_ns;
	out->until_ns = open.until_ns;
	for (i = 0; i < open.count; i++) {
		struct vpa_range *range = open.items[i];
		int begins = !range->scope;
		uint32_t at;

		if (begins && begin(p, range, &out->around, inside))
			return VPT_ENOMEM;
		if (range->scope < VPA_FIRST_SCOPE)
			continue;
		at = range->scope - VPA_FIRST_SCOPE;
		if (p->scopes[at].label.source == VPA_SOURCE_PLACE) {
			out->part = at;
			continue;
		}
		put_scope(p, out, at);
		inside = vpa_scope_inside(&p->scopes[at].label, inside, p->scopes[at].nests);
		if (begins)
			out->begun[out->begun_count++] = at;
	}
	out->own = find_inner(p, stretch->range, at_ns);
	out->wide = find_inner(p, stretch->process_range, at_ns);
	return VPT_OK;
}

/* Begins the position of op `i` of this stretch. */
VPA_RARE static int add_position(struct vpa_pipeline *p, const struct vpa_ops *ops, size_t i,
	const struct vpa_op_stretch *stretch)
{
	struct vpa_position *out;

	if (vpt_grow(&p->positions, &p->position_cap, p->position_count + 1, sizeof(*p->positions)))
		return VPT_ENOMEM;
	out = &p->positions[p->position_count++];
	out->end = (uint8_t)ops->count;
	out->thread = stretch->thread;
	out->around = nothing_around;
	out->part = VPA_NONE;
	out->count = out->begun_count = 0;
	return stretch->thread == VPA_NONE ? VPT_OK
					   : find_scopes(p, stretch, ops->launch_start_ns[i], out);
}

/* Of the ops [begin, end) of a stretch, the first that no longer has this position. */
static size_t same_until(const struct vpa_pipeline *p, const struct vpa_position *at,
	const struct vpa_ops *ops, const struct vpa_op_stretch *stretch, size_t begin, size_t end)
{
	uint64_t at_ns = ops->launch_start_ns[begin];
	size_t i = begin;

	if (stretch->thread != at->thread)
		return begin;
	if (stretch->thread == VPA_NONE)
		return end;
	if (find_inner(p, stretch->range, at_ns) != at->own ||
		find_inner(p, stretch->process_range, at_ns) != at->wide)
		return begin;
	if (stretch->from_ns >= at->from_ns && stretch->until_ns <= at->until_ns)
		return end;
	while (i < end && ops->launch_start_ns[i] >= at->from_ns &&
		ops->launch_start_ns[i] < at->until_ns)
		i++;
	return i;
}

int vpa_pipeline_ops(struct vpa_pipeline *p, const struct vpa_ops *ops)
{
	size_t i = 0, k = 0;

	p->position_count = 0;
	while (i < ops->count) {
		const struct vpa_op_stretch *stretch = vpa_ops_stretch(ops, i, &k);
		struct vpa_position *at =
			p->position_count ? &p->positions[p->position_count - 1] : NULL;
		size_t next = at ? same_until(p, at, ops, stretch, i, stretch->end) : i;

		if (next > i) {
			i = next;
			continue;
		}
		if (at)
			at->end = (uint8_t)i;
		if (add_position(p, ops, i, stretch))
			return VPT_ENOMEM;
		i++; /* op i itself always has this position */
	}
	return VPT_OK;
}

/* ---- the ends of ranges ---- */

/* What a request is inside of, of what its thread pushed: steps and other requests. Those may have had no op so far, so what they mean
 * decides; a request that only its name shows is none around an annotated one. */
static int find_around(struct vpa_pipeline *p, const struct vpa_range *range,
	const struct vpa_scope_label *request, unsigned *inside)
{
	struct vpa_scope_label label;
	const struct vpa_range *around = range;

	*inside = 0;
	while ((around = vpa_range_around(around, range->start_ns)) != NULL) {
		if (around->scope == VPA_NO_SCOPE)
			continue;
		if (vpa_pipeline_label(p, around, &label))
			return VPT_ENOMEM;
		if (label.kind == VPA_SCOPE_STEP || label.kind == VPA_SCOPE_CONTEXT)
			*inside |= VPA_INSIDE_STEP;
		else if (label.kind == VPA_SCOPE_REQUEST &&
			 takes_over(label.source, request->source))
			*inside |= VPA_INSIDE_REQUEST;
	}
	return VPT_OK;
}

int vpa_pipeline_request(
	struct vpa_pipeline *p, const struct vpa_range *range, struct vpa_scope_label *out)
{
	unsigned inside;

	if (vpa_pipeline_label(p, range, out))
		return VPT_ENOMEM;
	if (out->kind != VPA_SCOPE_REQUEST)
		return VPT_OK;
	if (find_around(p, range, out, &inside))
		return VPT_ENOMEM;
	if (inside & VPA_INSIDE_REQUEST || vpa_scope_is_misplaced(out, inside, nests(range)))
		out->kind = VPA_SCOPE_NONE;
	return VPT_OK;
}

static int end_without_ops(struct vpa_pipeline *p, struct vpa_range *range)
{
	struct vpa_scope_label label;

	if (vpa_pipeline_request(p, range, &label))
		return VPT_ENOMEM;
	p->blocks_without_ops +=
		label.kind == VPA_SCOPE_BLOCK && label.source == VPA_SOURCE_ANNOTATION;
	return label.kind == VPA_SCOPE_REQUEST ? begin(p, range, &nothing_around, 0) : VPT_OK;
}

/* A range of several chunks may tell more at its end than when it was judged. It stays what it became. */
static int read_again(
	struct vpa_pipeline *p, struct vpa_scope *scope, const struct vpa_range *range)
{
	struct vpa_scope_label label;

	if (vpa_pipeline_label(p, range, &label))
		return VPT_ENOMEM;
	if (label.kind == scope->label.kind)
		scope->label = label;
	return VPT_OK;
}

int vpa_pipeline_end(struct vpa_pipeline *p, struct vpa_range *range)
{
	struct vpa_scope *scope;

	if (!range->scope && end_without_ops(p, range))
		return VPT_ENOMEM;
	if (range->scope < VPA_FIRST_SCOPE)
		return VPT_OK;
	scope = &p->scopes[range->scope - VPA_FIRST_SCOPE];
	scope->end_ns = range->end_ns;
	scope->finished = 1;
	scope->cut_off = range->unmatched || range->cut;
	return range->payload == scope->annotation ? VPT_OK : read_again(p, scope, range);
}

void vpa_pipeline_forget(struct vpa_pipeline *p, const struct vpa_range *range)
{
	uint32_t at = range->scope - VPA_FIRST_SCOPE;

	if (range->scope < VPA_FIRST_SCOPE || vpa_scope_is_kept(p->scopes[at].label.kind))
		return;
	p->scopes[at].block = p->unused;
	p->unused = at;
}

/* ---- queries ---- */

/* A walk from the outermost range inwards. */
struct walk {
	struct vpa_scope_label block, step; /* kind NONE: none so far */
	unsigned inside;
};

static void walk_to(struct walk *w, const struct vpa_range *range,
	const struct vpa_scope_label *label, struct vpa_where *out)
{
	w->inside = vpa_scope_inside(label, w->inside, nests(range));
	switch (label->kind) {
	case VPA_SCOPE_BLOCK:
		if (takes_over(label->source, w->block.source))
			w->block = *label;
		out->block = w->block.index;
		w->step.source = VPA_SOURCE_NONE;
		break;
	case VPA_SCOPE_STEP:
	case VPA_SCOPE_CONTEXT:
		if (takes_over(label->source, w->step.source))
			w->step = *label;
		if (label->kind == VPA_SCOPE_STEP)
			out->step = w->step.index;
		break;
	case VPA_SCOPE_STAGE:
		out->stage = range;
		out->stage_name = label->name;
		break;
	default:
		break;
	}
}

int vpa_pipeline_where(struct vpa_pipeline *p, const struct vpa_range *own,
	const struct vpa_range *wide, uint64_t at_ns, struct vpa_where *out)
{
	struct walk w = {.inside = 0};
	struct open open;
	size_t i;

	*out = (struct vpa_where){.block = -1, .step = -1};
	/* Only the pipeline sees what is noted on ranges here. */
	if (find_open(p, (struct vpa_range *)own, (struct vpa_range *)wide, at_ns, at_ns, &open))
		return VPT_ENOMEM;
	out->until_ns = open.until_ns;
	for (i = 0; i < open.count; i++) {
		struct vpa_scope_label label;

		if (vpa_pipeline_label(p, open.items[i], &label))
			return VPT_ENOMEM;
		if (open.items[i]->placed ||
			!vpa_scope_is_misplaced(&label, w.inside, nests(open.items[i])))
			walk_to(&w, open.items[i], &label, out);
	}
	return VPT_OK;
}
