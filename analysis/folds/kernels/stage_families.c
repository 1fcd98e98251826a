/* stage_families.c - exclusive time of each kernel family in each stage: an op belongs to the innermost
 * stage, step, block or request around its launch. All rows sum to the busy time of the devices. */
#include "analysis/folds/fold.h"

#include "analysis/base/index.h"
#include "analysis/base/intervals.h"
#include "analysis/folds/lanes.h"
#include "analysis/names/range_names.h"
#include "analysis/pipeline/sharing.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdlib.h>
#include <string.h>

enum { STAGES_MAX = 64 }; /* those after it count as "(other stages)" */

struct state {
	/* Of ops(): */
	struct vpa_index index; /* kind, name; row 0: outside all */
	uint8_t *is_decoder;    /* by row: 1 no, 2 yes */
	size_t is_decoder_cap;
	int has_stage, has_last;
	uint32_t last_name, last_kind, last_value; /* of the newest position */
	struct vpa_batch_notes notes;              /* row * 2, + 1 if it decodes */
	/* Of aside(): */
	uint64_t *cells; /* by row * VPA_FAMILY_COUNT + family */
	size_t cell_cap;
	struct vpa_sharing *devices;
	size_t device_cap;
	uint64_t *cat_ns; /* by row: of kernels that join tensors, if it decodes */
	size_t cat_cap;
	uint8_t *is_cat; /* by kernel: 1 no, 2 yes */
	size_t is_cat_cap;
};

/* The row of a stage of this kind and name; VPA_NONE: no memory. */
VPA_RARE static uint32_t find_row(struct state *s, const struct vpa_fold_context *c,
	const struct vpa_scope_label *label, uint64_t name)
{
	uint64_t kind = label ? label->kind : VPA_SCOPE_NONE;

	if (kind != VPA_SCOPE_STAGE)
		name = 0;
	else if (label->name)
		name = vpa_fold_intern(c, label->name);
	if (name == VPT_NO_ID)
		return VPA_NONE;
	if (s->index.count >= STAGES_MAX && kind == VPA_SCOPE_STAGE &&
		vpa_index_find(&s->index, kind, name) == UINT32_MAX)
		name = 0;
	s->has_stage |= label != NULL;
	return vpa_index_put(&s->index, kind, name);
}

static int is_decoder(struct state *s, const struct vpa_fold_context *c, uint32_t row)
{
	const struct vpa_index_entry *e = &s->index.entries[row];
	struct vpt_text name;

	if (!s->is_decoder[row]) {
		name = vpa_name(c->model, e->a == VPA_SCOPE_STAGE ? (uint32_t)e->b : 0);
		s->is_decoder[row] = (uint8_t)(1 + vpa_range_is_decoder(name.text, name.len));
	}
	return s->is_decoder[row] == 2;
}

/* The note of a position, which is mostly that of the one before; VPA_NONE: no memory. */
static uint32_t value_of(
	struct state *s, const struct vpa_fold_context *c, const struct vpa_position *p)
{
	const struct vpa_scope *scope =
		p->count ? &c->pipeline->scopes[p->scopes[p->count - 1]] : NULL;
	uint32_t name = scope ? scope->name : 0, kind = scope ? scope->label.kind : VPA_SCOPE_NONE;
	uint32_t row;

	if (s->has_last && name == s->last_name && kind == s->last_kind)
		return s->last_value;
	row = find_row(s, c, scope ? &scope->label : NULL, name);
	if (row == VPA_NONE ||
		vpt_grow_zeroed(&s->is_decoder, &s->is_decoder_cap, (size_t)row + 1, 1))
		return VPA_NONE;
	s->has_last = 1;
	s->last_name = name;
	s->last_kind = kind;
	s->last_value = row * 2 + (uint32_t)is_decoder(s, c, row);
	return s->last_value;
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	const struct vpa_pipeline *p = c->pipeline;
	struct state *s = state;
	struct vpa_batch_note *notes = vpa_batch_notes_make(&s->notes);
	size_t i;

	(void)ops;
	for (i = 0; i < p->position_count; i++) {
		notes[i] = (struct vpa_batch_note){
			p->positions[i].end, value_of(s, c, &p->positions[i])};
		if (notes[i].value == VPA_NONE)
			return VPT_ENOMEM;
	}
	return VPT_OK;
}

/* Ops [begin, end) of one run, all of one row. */
static void add_ops(struct state *s, const struct vpa_ops *ops, const struct vpa_op_run *run,
	size_t begin, size_t end, uint32_t row)
{
	struct vpa_sharing *d = &s->devices[ops->device[begin]];
	uint64_t *cells = s->cells + (size_t)row * VPA_FAMILY_COUNT;
	uint32_t first = row * VPA_FAMILY_COUNT;
	size_t i = begin;

	/* In a serial run each op begins after all before it have ended. */
	if (run->serial && end - begin > 1) {
		if (d->count)
			vpa_sharing_advance(d, ops->start_ns[begin], s->cells);
		/* By two: the loop costs as much as its body. */
		for (; i + 2 < end; i += 2) {
			cells[ops->family[i]] += ops->end_ns[i] - ops->start_ns[i];
			cells[ops->family[i + 1]] += ops->end_ns[i + 1] - ops->start_ns[i + 1];
		}
		if (i + 1 < end) {
			cells[ops->family[i]] += ops->end_ns[i] - ops->start_ns[i];
			i++;
		}
		d->at_ns = ops->start_ns[i];
	}
	for (; i < end; i++)
		vpa_sharing_begin(
			d, ops->start_ns[i], ops->end_ns[i], first + ops->family[i], s->cells);
}

static int is_cat(struct state *s, const struct vpa_fold_context *c, uint32_t kernel)
{
	if (!s->is_cat[kernel])
		s->is_cat[kernel] =
			(uint8_t)(1 +
				  vpt_text_holds(vpa_name(c->model, c->model->kernels[kernel].name),
					  "CatArrayBatchedCopy"));
	return s->is_cat[kernel] == 2;
}

/* Few stages decode, and they have few ops. */
static int add_cats(struct state *s, const struct vpa_fold_context *c, const struct vpa_ops *ops,
	size_t begin, size_t end, uint32_t row)
{
	size_t i;

	if (vpt_grow_zeroed(&s->is_cat, &s->is_cat_cap, c->model->kernel_count, sizeof(*s->is_cat)))
		return VPT_ENOMEM;
	for (i = begin; i < end; i++)
		if (ops->family[i] == VPA_FAMILY_LAYOUT && is_cat(s, c, ops->kernel[i]))
			vpt_sat_add_to(&s->cat_ns[row], ops->end_ns[i] - ops->start_ns[i]);
	return VPT_OK;
}

/* Room for a row and all before it. */
static int grow_rows(struct state *s, uint32_t row)
{
	return vpt_grow_zeroed(&s->cells, &s->cell_cap, ((size_t)row + 1) * VPA_FAMILY_COUNT,
		       sizeof(*s->cells)) ||
			       vpt_grow_zeroed(
				       &s->cat_ns, &s->cat_cap, (size_t)row + 1, sizeof(*s->cat_ns))
		       ? VPT_ENOMEM
		       : VPT_OK;
}

static int fold_aside(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	const struct vpa_batch_note *note = vpa_batch_notes_take(&s->notes);
	size_t begin = 0, r = 0;

	if (vpt_grow_zeroed(
		    &s->devices, &s->device_cap, c->model->device_count, sizeof(*s->devices)))
		return VPT_ENOMEM;
	for (; begin < ops->count; note++) {
		uint32_t row = note->value / 2;

		if ((((size_t)row + 1) * VPA_FAMILY_COUNT > s->cell_cap || row >= s->cat_cap) &&
			grow_rows(s, row))
			return VPT_ENOMEM;
		if (note->value % 2 && add_cats(s, c, ops, begin, note->end, row))
			return VPT_ENOMEM;
		while (begin < note->end) {
			size_t end = note->end;

			while (ops->runs[r].end <= begin)
				r++;
			end = ops->runs[r].end < end ? ops->runs[r].end : end;
			add_ops(s, ops, &ops->runs[r], begin, end, row);
			begin = end;
		}
	}
	return VPT_OK;
}

/* ---- writing down ---- */

static const char *name_of(
	const struct vpa_fold_context *c, struct vpa_report *out, uint64_t kind, uint64_t name)
{
	switch (kind) {
	case VPA_SCOPE_NONE:
		return "outside all stages";
	case VPA_SCOPE_STEP:
		return vpa_pipeline_step_name(c->pipeline);
	case VPA_SCOPE_CONTEXT:
		return "context pass";
	case VPA_SCOPE_STAGE:
		return name ? vpa_fold_name(out, c->model, (uint32_t)name) : "(other stages)";
	default:
		return vpa_scope_kind_name((enum vpa_scope_kind)kind);
	}
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct vpa_stage_family_row *a = pa, *b = pb;
	int order;

	if (a->stage_ns != b->stage_ns)
		return a->stage_ns > b->stage_ns ? -1 : 1;
	order = strcmp(a->stage, b->stage);
	if (!order && a->exclusive_ns != b->exclusive_ns)
		return a->exclusive_ns > b->exclusive_ns ? -1 : 1;
	return order ? order : strcmp(vpa_family_name(a->family), vpa_family_name(b->family));
}

static void write_stage(
	const struct state *s, const struct vpa_fold_context *c, size_t row, struct vpa_report *out)
{
	const struct vpa_index_entry *e = &s->index.entries[row];
	const uint64_t *cells = s->cells + row * VPA_FAMILY_COUNT;
	const char *stage = name_of(c, out, e->a, e->b);
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < VPA_FAMILY_COUNT; i++)
		sum += cells[i];
	for (i = 0; i < VPA_FAMILY_COUNT; i++)
		if (cells[i])
			out->expert.stage_families[out->expert.stage_family_count++] =
				(struct vpa_stage_family_row){.stage = stage ? stage : "(no name)",
					.kind = (enum vpa_scope_kind)e->a,
					.family = (enum vpa_family)i,
					.exclusive_ns = cells[i],
					.cat_ns = i == VPA_FAMILY_LAYOUT
							  ? vpa_earlier(s->cat_ns[row], cells[i])
							  : 0,
					.stage_ns = sum};
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_expert *e = &out->expert;
	struct state *s = state;
	size_t i;

	if (!s->has_stage)
		return VPT_OK;
	for (i = 0; i < s->device_cap; i++)
		vpa_sharing_advance(&s->devices[i], UINT64_MAX, s->cells);
	e->stage_families = vpa_arena_alloc(
		&out->arena, s->index.count * VPA_FAMILY_COUNT, sizeof(*e->stage_families));
	if (!e->stage_families)
		return VPT_ENOMEM;
	for (i = 0; i < s->index.count; i++)
		write_stage(s, c, i, out);
	qsort(e->stage_families, e->stage_family_count, sizeof(*e->stage_families), compare_rows);
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;

	vpa_index_free(&s->index);
	vpt_free(s->cells);
	vpt_free(s->is_decoder);
	vpt_free(s->cat_ns);
	vpt_free(s->is_cat);
	vpt_free(s->devices);
}

const struct vpa_fold vpa_fold_stage_families = {
	.name = "stage_families",
	.help = "exclusive time of each kernel family in each stage",
	.state_bytes = sizeof(struct state),
	.ops = fold_ops,
	.aside = fold_aside,
	.finish = finish,
	.free = free_state,
};
