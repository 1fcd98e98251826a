/* gap_line.c - finds the line of a gap among its stacks.
 *
 * The time of each exact stack is added to it and to all its callers. Those that have more than half of the
 * time are one chain, whose end has the highest number: a caller's number is lower. Samples are counted by line. */
#include "analysis/folds/gap_line.h"

#include "analysis/base/index.h"
#include "analysis/base/intervals.h"
#include "analysis/folds/exact_stacks.h"
#include "formats/base/memory.h"

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

static int find_exact(const struct vpa_fold_context *c, const struct vpa_gap *gap,
	const struct vpa_stack_samples *all, struct vpa_gap_line *out)
{
	struct cover v = {.stacks = &c->model->stacks};
	int rc = VPT_OK;
	size_t i;

	for (i = 0; i < gap->piece_count && !rc; i++)
		if (gap->pieces[i].cause == gap->cause)
			rc = add_piece(&v, all, &gap->pieces[i]);
	if (!rc)
		choose(&v, c->model, out);
	vpa_index_free(&v.index);
	vpt_free(v.ns);
	return rc;
}

/* ---- samples ---- */

/* What samples of a gap weigh. */
struct weights {
	struct vpa_index index; /* (frame, 0) */
	uint64_t *ns;
	size_t cap;
	uint64_t all_ns;
	uint32_t samples;
	uint64_t until_ns; /* samples before this are counted */
};

/* Adds the samples in [from, to) that are not counted yet. */
static int weigh(struct weights *w, struct vpa_model *m, const struct vpa_stack_samples *all,
	uint64_t from, uint64_t to)
{
	size_t i = vpa_stack_samples_from(all, vpa_later(from, w->until_ns));
	uint32_t row;

	for (; i < all->count && all->items[i].time_ns < to; i++) {
		const struct vpa_stack_sample *sample = &all->items[i];

		if (sample->is_exact)
			continue;
		row = vpa_index_row(&w->index, vpa_stacks_line(m, sample->stack), 0, &w->ns,
			&w->cap, sizeof(*w->ns));
		if (row == UINT32_MAX)
			return VPT_ENOMEM;
		w->ns[row] += sample->weight_ns;
		w->all_ns += sample->weight_ns;
		w->samples++;
	}
	w->until_ns = vpa_later(w->until_ns, to);
	return VPT_OK;
}

/* A piece of the host's own code begins before its thread was first sampled. */
static int weigh_before(struct weights *w, const struct vpa_fold_context *c, uint32_t thread,
	const struct vpa_cause_piece *p)
{
	uint64_t own_ns = c->resolver->pasts[thread].samples.first_ns;
	uint32_t other;
	const struct vpa_stack_samples *all = vpa_resolver_stand_in(c->resolver, thread, &other);

	return all ? weigh(w, c->model, all, p->start_ns, vpa_earlier(own_ns, p->end_ns)) : VPT_OK;
}

static void choose_heaviest(const struct weights *w, struct vpa_gap_line *out)
{
	size_t i;

	out->samples = w->samples & INT32_MAX;
	for (i = 0; i < w->index.count; i++) {
		if (w->ns[i] <= w->all_ns / 2)
			continue;
		out->frame = (uint32_t)w->index.entries[i].a;
		out->share = (double)w->ns[i] / (double)w->all_ns;
	}
}

/* Samples of a piece are those in the call that held the host, else those in the piece. */
static int find_sampled(const struct vpa_fold_context *c, const struct vpa_gap *gap,
	const struct vpa_stack_samples *all, struct vpa_gap_line *out)
{
	struct weights w = {.samples = 0};
	int rc = VPT_OK;
	size_t i;

	for (i = 0; i < gap->piece_count && !rc; i++) {
		const struct vpa_cause_piece *p = &gap->pieces[i];
		int is_call = p->call_end_ns != 0;

		if (p->cause == gap->cause && !is_call && all->first_ns > p->start_ns)
			rc = weigh_before(&w, c, gap->thread, p);
		if (p->cause == gap->cause && !rc)
			rc = weigh(&w, c->model, all, is_call ? p->call_start_ns : p->start_ns,
				is_call ? p->call_end_ns : p->end_ns);
	}
	if (!rc)
		choose_heaviest(&w, out);
	vpa_index_free(&w.index);
	vpt_free(w.ns);
	return rc;
}

int vpa_gap_line(
	const struct vpa_fold_context *c, const struct vpa_gap *gap, struct vpa_gap_line *out)
{
	const struct vpa_stack_samples *all;
	int rc;

	*out = (struct vpa_gap_line){.frame = VPA_NONE};
	if (vpa_stacks_count(&c->model->stacks) < 2)
		return VPT_OK;
	all = gap->thread != VPA_NONE ? &c->resolver->pasts[gap->thread].samples : NULL;
	if (!all || !all->count) {
		out->is_foreign = 1;
		return VPT_OK;
	}
	rc = find_exact(c, gap, all, out);
	return rc || out->frame != VPA_NONE ? rc : find_sampled(c, gap, all, out);
}
