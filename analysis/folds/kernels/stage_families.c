/* stage_families.c - exclusive time of each kernel family in each stage: an op belongs to the innermost
 * stage, step, block or request around its launch. All rows sum to the busy time of the devices. */
#include "analysis/folds/fold.h"

#include "analysis/base/intervals.h"
#include "analysis/folds/kernels/stage_names.h"
#include "analysis/folds/lanes.h"
#include "analysis/names/range_names.h"
#include "analysis/pipeline/sharing.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdlib.h>
#include <string.h>

enum {
	/* A family's time, and of these families again the part in kernels that use tensor cores. */
	TENSOR_FAMILIES = VPA_FAMILY_CONV + 1,
	CELLS = VPA_FAMILY_COUNT + TENSOR_FAMILIES
};

/* If a row decodes: of kernels that join tensors, and that change types. */
struct moved {
	uint64_t cat_ns, cast_ns;
};

struct state {
	/* Of ops(): */
	struct vpa_stage_names stages;
	uint8_t *is_decoder; /* by row: 1 no, 2 yes */
	size_t is_decoder_cap;
	struct vpa_batch_notes notes; /* row * 2, + 1 if it decodes */
	/* Of aside(): */
	uint64_t *cells; /* by row * CELLS + the cell of a family */
	size_t cell_cap;
	struct vpa_sharing *devices;
	size_t device_cap;
	struct moved *moved; /* by row */
	size_t moved_cap;
	uint8_t *tensor_cores; /* by kernel: 1 it uses them */
	size_t tensor_cap, tensor_known;
};

static int is_decoder(struct state *s, const struct vpa_fold_context *c, uint32_t row)
{
	const struct vpa_index_entry *e = &s->stages.index.entries[row];
	struct vpt_text name;

	if (!s->is_decoder[row]) {
		name = vpa_name(c->model, e->a == VPA_SCOPE_STAGE ? (uint32_t)e->b : 0);
		s->is_decoder[row] = (uint8_t)(1 + vpa_range_is_decoder(name.text, name.len));
	}
	return s->is_decoder[row] == 2;
}

/* The note of a position; VPA_NONE: no memory. */
static uint32_t value_of(
	struct state *s, const struct vpa_fold_context *c, const struct vpa_position *p)
{
	uint32_t row = vpa_stage_names_row(&s->stages, c, p);

	if (row == VPA_NONE ||
		vpt_grow_zeroed(&s->is_decoder, &s->is_decoder_cap, (size_t)row + 1, 1))
		return VPA_NONE;
	return row * 2 + (uint32_t)is_decoder(s, c, row);
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

static int know_kernels(struct state *s, const struct vpa_model *m)
{
	size_t i = s->tensor_known;

	if (vpt_grow_zeroed(&s->tensor_cores, &s->tensor_cap, m->kernel_count, 1))
		return VPT_ENOMEM;
	for (; i < m->kernel_count; i++)
		s->tensor_cores[i] =
			(uint8_t)vpa_is_marked(m->kernels[i].klass.marks, VPA_MARK_TENSOR_CORES);
	s->tensor_known = i;
	return VPT_OK;
}

static inline uint32_t cell_of(const struct state *s, const struct vpa_ops *ops, size_t i)
{
	uint32_t family = ops->family[i];

	/* Only kernels have one of these families. */
	if (family < TENSOR_FAMILIES && family != VPA_FAMILY_UNKNOWN &&
		s->tensor_cores[ops->kernel[i]])
		return VPA_FAMILY_COUNT + family;
	return family;
}

/* Ops [begin, end) of one run, all of one row. */
static void add_ops(struct state *s, const struct vpa_ops *ops, const struct vpa_op_run *run,
	size_t begin, size_t end, uint32_t row)
{
	struct vpa_sharing *d = &s->devices[ops->device[begin]];
	uint64_t *cells = s->cells + (size_t)row * CELLS;
	uint32_t first = row * CELLS;
	size_t i = begin;

	/* In a serial run each op begins after all before it have ended. */
	if (run->serial && end - begin > 1) {
		if (d->count)
			vpa_sharing_advance(
				d, ops->start_ns[begin], vpa_sharing_give_cells, s->cells);
		/* By two: the loop costs as much as its body. */
		for (; i + 2 < end; i += 2) {
			cells[cell_of(s, ops, i)] += ops->end_ns[i] - ops->start_ns[i];
			cells[cell_of(s, ops, i + 1)] += ops->end_ns[i + 1] - ops->start_ns[i + 1];
		}
		if (i + 1 < end) {
			cells[cell_of(s, ops, i)] += ops->end_ns[i] - ops->start_ns[i];
			i++;
		}
		d->at_ns = ops->start_ns[i];
	}
	for (; i < end; i++) {
		vpa_sharing_advance(d, ops->start_ns[i], vpa_sharing_give_cells, s->cells);
		vpa_sharing_begin(d, ops->end_ns[i], first + cell_of(s, ops, i));
	}
}

/* Few stages decode, and they have few ops. */
static void add_moved(struct moved *sum, const struct vpa_fold_context *c,
	const struct vpa_ops *ops, size_t begin, size_t end)
{
	size_t i;

	for (i = begin; i < end; i++) {
		uint64_t ns = ops->end_ns[i] - ops->start_ns[i];
		unsigned marks;

		if (ops->family[i] != VPA_FAMILY_LAYOUT)
			continue;
		marks = c->model->kernels[ops->kernel[i]].klass.marks;
		if (vpa_is_marked(marks, VPA_MARK_CAT))
			vpt_sat_add_to(&sum->cat_ns, ns);
		else if (vpa_is_marked(marks, VPA_MARK_CAST))
			vpt_sat_add_to(&sum->cast_ns, ns);
	}
}

/* Room for a row and all before it. */
static int grow_rows(struct state *s, uint32_t row)
{
	return vpt_grow_zeroed(
		       &s->cells, &s->cell_cap, ((size_t)row + 1) * CELLS, sizeof(*s->cells)) ||
			       vpt_grow_zeroed(
				       &s->moved, &s->moved_cap, (size_t)row + 1, sizeof(*s->moved))
		       ? VPT_ENOMEM
		       : VPT_OK;
}

static int fold_aside(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	const struct vpa_batch_note *note = vpa_batch_notes_take(&s->notes);
	size_t begin = 0, r = 0;

	if (vpt_grow_zeroed(
		    &s->devices, &s->device_cap, c->model->device_count, sizeof(*s->devices)) ||
		know_kernels(s, c->model))
		return VPT_ENOMEM;
	for (; begin < ops->count; note++) {
		uint32_t row = note->value / 2;

		if ((((size_t)row + 1) * CELLS > s->cell_cap || row >= s->moved_cap) &&
			grow_rows(s, row))
			return VPT_ENOMEM;
		if (note->value % 2)
			add_moved(&s->moved[row], c, ops, begin, note->end);
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
	const uint64_t *cells = s->cells + row * CELLS, *tensor = cells + VPA_FAMILY_COUNT;
	const char *stage = vpa_stage_names_text(&s->stages, c, out, (uint32_t)row);
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < CELLS; i++)
		sum += cells[i];
	for (i = 0; i < VPA_FAMILY_COUNT; i++) {
		uint64_t tensor_ns = i < TENSOR_FAMILIES ? tensor[i] : 0, ns = cells[i] + tensor_ns,
			 cat_ns =
				 i == VPA_FAMILY_LAYOUT ? vpa_earlier(s->moved[row].cat_ns, ns) : 0,
			 cast_ns = i == VPA_FAMILY_LAYOUT
					   ? vpa_earlier(s->moved[row].cast_ns, ns - cat_ns)
					   : 0;

		if (ns)
			out->expert.stage_families[out->expert.stage_family_count++] =
				(struct vpa_stage_family_row){.stage = stage ? stage : "(no name)",
					.kind = vpa_stage_names_kind(&s->stages, (uint32_t)row),
					.family = (enum vpa_family)i,
					.exclusive_ns = ns,
					.tensor_ns = tensor_ns,
					.cat_ns = cat_ns,
					.cast_ns = cast_ns,
					.stage_ns = sum};
	}
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_expert *e = &out->expert;
	struct state *s = state;
	size_t i;

	if (!s->stages.has_stage)
		return VPT_OK;
	for (i = 0; i < s->device_cap; i++)
		vpa_sharing_advance(&s->devices[i], UINT64_MAX, vpa_sharing_give_cells, s->cells);
	e->stage_families = vpa_arena_alloc(
		&out->arena, s->stages.index.count * VPA_FAMILY_COUNT, sizeof(*e->stage_families));
	if (!e->stage_families)
		return VPT_ENOMEM;
	for (i = 0; i < s->stages.index.count; i++)
		write_stage(s, c, i, out);
	qsort(e->stage_families, e->stage_family_count, sizeof(*e->stage_families), compare_rows);
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;

	vpa_stage_names_free(&s->stages);
	vpt_free(s->cells);
	vpt_free(s->is_decoder);
	vpt_free(s->moved);
	vpt_free(s->tensor_cores);
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
