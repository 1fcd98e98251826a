/* gap_line.c - finds the line of a gap among exact stacks.
 *
 * The time of each stack is added to it and to all its callers. Those that have more than half of the
 * time are one chain, whose end has the highest number: a caller's number is lower. */
#include "analysis/folds/gap_line.h"

#include "analysis/folds/exact_stacks.h"
#include "analysis/index.h"
#include "formats/memory.h"

enum { STACKS_MAX = 1 << 16 }; /* of one gap; the time of others counts for none */

struct cover {
	const struct vpa_stacks *stacks;
	struct vpa_index index; /* (stack, 0) */
	uint64_t *ns;
	size_t cap, added;
	uint64_t all_ns;
};

static int add(struct cover *v, uint32_t stack, uint64_t ns)
{
	uint32_t caller, row;

	if (v->added++ >= STACKS_MAX)
		return VPT_OK;
	for (; stack; stack = caller) {
		row = vpa_index_row(&v->index, stack, 0, &v->ns, &v->cap, sizeof(*v->ns));
		if (row == UINT32_MAX)
			return VPT_ENOMEM;
		v->ns[row] += ns;
		vpa_stacks_frame(v->stacks, stack, &caller);
	}
	return VPT_OK;
}

static int add_piece(
	struct cover *v, const struct vpa_stack_samples *all, const struct vpa_cause_piece *piece)
{
	struct vpa_exact_stacks w;
	int rc = VPT_OK;

	v->all_ns += piece->end_ns - piece->start_ns;
	vpa_exact_stacks_begin(&w, all, piece);
	while (!rc && vpa_exact_stacks_next(&w))
		rc = add(v, w.stack, w.ns);
	return rc;
}

/* The line of the innermost stack with more than half of the time. */
static void choose(const struct cover *v, struct vpa_model *m, struct vpa_gap_line *out)
{
	uint32_t best = 0, caller;
	uint64_t frame;
	size_t i;

	for (i = 0; i < v->index.count; i++)
		if (v->ns[i] > v->all_ns / 2 && v->index.entries[i].a > best)
			best = (uint32_t)v->index.entries[i].a;
	if (!best)
		return;
	out->frame = vpa_stacks_line(m, best);
	/* The frame's own stack may cover more than the chain's end. */
	for (; best; best = caller) {
		frame = vpt_stack_table_stack_row(&v->stacks->table, best).frame;
		vpa_stacks_frame(v->stacks, best, &caller);
		if (frame == out->frame)
			break;
	}
	i = best ? vpa_index_find(&v->index, best, 0) : UINT32_MAX;
	if (i == UINT32_MAX)
		out->frame = VPA_NONE;
	else
		out->share = (double)v->ns[i] / (double)v->all_ns;
}

int vpa_gap_line(
	const struct vpa_fold_context *c, const struct vpa_gap *gap, struct vpa_gap_line *out)
{
	const struct vpa_stack_samples *all;
	struct cover v = {.stacks = &c->model->stacks};
	int rc = VPT_OK;
	size_t i;

	*out = (struct vpa_gap_line){VPA_NONE, 0};
	if (gap->thread == VPA_NONE || vpa_stacks_count(v.stacks) < 2)
		return VPT_OK;
	all = &c->idle->resolver->pasts[gap->thread].samples;
	for (i = 0; all->count && i < gap->piece_count && !rc; i++)
		if (gap->pieces[i].cause == gap->cause)
			rc = add_piece(&v, all, &gap->pieces[i]);
	if (!rc)
		choose(&v, c->model, out);
	vpa_index_free(&v.index);
	vpt_free(v.ns);
	return rc;
}
