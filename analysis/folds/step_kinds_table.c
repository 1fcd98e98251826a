/* step_kinds_table.c - gathers the ops of each marked step, and groups the steps by them, see
 * analysis/steps/step_kinds.h. Steps that nothing marks come from unmarked_steps_table.c.
 *
 * A step is a range, else a marked span from mark to mark. As elsewhere, annotations win over names, and both over
 * marked spans; which of them a capture has is known at its end, so each source has its own groups. Passes over the
 * context are no steps, and a step that the window or a pause cuts is like no other. */
#include "analysis/folds/fold.h"

#include "analysis/folds/lanes.h"
#include "analysis/join/resolver.h"
#include "analysis/past/marked_spans.h"
#include "analysis/steps/step_kinds.h"
#include "formats/base/memory.h"
#include "formats/base/search.h"
#include "formats/base/vectorise.h"

#include <string.h>

enum { SOURCES = VPA_SOURCE_MARKS + 1 };

struct step {
	struct vpa_step_ops ops;
	uint32_t stream; /* of its first op */
};

/* A thread's two newest marked spans: the ops of one may run while those of the next have begun. */
struct marked_span {
	uint64_t start_ns;             /* 0: none */
	uint64_t block_ns, request_ns; /* starts of those that its ops were launched in; 0: none */
	struct step step;
};

struct marked_span_thread {
	struct marked_span marked_spans[2]; /* newest first */
};

struct state {
	/* Of ops(): */
	struct marked_span_thread *threads;
	size_t thread_cap;
	struct vpa_batch_notes notes; /* the scope of the step; VPA_NONE: in none */
	/* Of aside(): */
	struct step *steps; /* by number of their scope */
	size_t step_cap;
	/* Of neither, but for that of marked spans, which is of ops(): */
	struct vpa_step_groups groups[SOURCES];
};

/* ---- ops ---- */

VPT_VECTORISE
static void make_symbols(const uint32_t *restrict kernels, const uint32_t *restrict blocks,
	uint32_t *restrict out, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		out[i] = vpa_op_symbol(kernels[i], blocks[i]);
}

static int has_graph(const struct vpa_ops *ops, size_t begin, size_t end)
{
	size_t i;

	for (i = begin; ops->graph_launches && i < end; i++)
		if (vpa_op_is_of_graph(ops, i))
			return 1;
	return 0;
}

/* Ops [begin, end) of one run. */
static void see_run(struct step *s, const struct vpa_ops *ops, const struct vpa_op_run *run,
	size_t begin, size_t end)
{
	/* In a serial run each op begins after all before it have ended. */
	size_t i = run->serial ? end - 1 : begin;

	if (!s->ops.ops) {
		s->stream = ops->stream[begin];
		s->ops.first_ns = ops->start_ns[begin];
	}
	for (; i < end; i++)
		if (ops->end_ns[i] > s->ops.last_ns)
			s->ops.last_ns = ops->end_ns[i];
	s->ops.in_any_order |= s->stream != ops->stream[begin];
	s->ops.ops += end - begin;
}

static int add_ops(struct step *s, const struct vpa_ops *ops, size_t begin, size_t end, size_t *run)
{
	size_t count = end - begin, at;

	if (vpa_step_ops_reserve(&s->ops, count))
		return VPT_ENOMEM;
	for (at = begin; at < end; at = ops->runs[*run].end) {
		while (ops->runs[*run].end <= at)
			++*run;
		see_run(s, ops, &ops->runs[*run], at,
			ops->runs[*run].end < end ? ops->runs[*run].end : end);
	}
	if (!s->ops.in_any_order)
		s->ops.in_any_order = has_graph(ops, begin, end);
	if (count > VPA_STEP_OPS_MAX - s->ops.kept)
		count = VPA_STEP_OPS_MAX - s->ops.kept;
	make_symbols(ops->kernel + begin, ops->blocks + begin, s->ops.symbols + s->ops.kept, count);
	memcpy(s->ops.starts_ns + s->ops.kept, ops->start_ns + begin,
		count * sizeof(*ops->start_ns));
	s->ops.kept += count;
	return VPT_OK;
}

/* ---- marked spans ---- */

static uint64_t start_of(const struct vpa_fold_context *c, uint32_t scope)
{
	return scope == VPA_NONE ? 0 : c->pipeline->scopes[scope].start_ns;
}

/* When the marked span that began then has ended in the window; 0: it has not. */
static uint64_t end_of(const struct vpa_fold_context *c, uint32_t thread, uint64_t start_ns)
{
	const struct vpa_marked_span_track *t =
		&c->resolver->marked_spans.tracks[VPA_MARKED_SPAN_STEP][thread];
	size_t low = 0, high = t->count;

	if (start_ns < c->model->window_start_ns)
		return 0;
	VPT_SEARCH(low, high, middle, t->items[middle].start_ns < start_ns);
	if (low == t->count || t->items[low].start_ns != start_ns)
		return 0;
	while (low + 1 < t->count && t->items[low + 1].goes_on)
		low++;
	return t->items[low].end_ns <= c->model->window_end_ns ? t->items[low].end_ns : 0;
}

/* Whether a pause of the recording cuts the step that ends. */
static int is_cut(const struct vpa_fold_context *c, const struct vpa_step_ops *ops,
	uint64_t start_ns, uint64_t end_ns)
{
	return vpa_intervals_cut(
		&c->resolver->paused, start_ns, ops->first_ns, ops->last_ns, end_ns);
}

static int end_marked_span(struct state *s, const struct vpa_fold_context *c, uint32_t thread,
	struct marked_span *marked_span)
{
	uint64_t end_ns = end_of(c, thread, marked_span->start_ns);
	int rc = VPT_OK;

	if (end_ns && !is_cut(c, &marked_span->step.ops, marked_span->start_ns, end_ns))
		rc = vpa_step_groups_add(&s->groups[VPA_SOURCE_MARKS], &marked_span->step.ops);
	marked_span->start_ns = 0;
	vpa_step_ops_reset(&marked_span->step.ops);
	return rc;
}

/* Makes room for a marked span as the newest one of its thread. */
static int begin_marked_span(
	struct state *s, const struct vpa_fold_context *c, uint32_t thread, uint64_t start_ns)
{
	struct marked_span *marked_spans = s->threads[thread].marked_spans, older = marked_spans[0];

	if (marked_spans[1].start_ns && end_marked_span(s, c, thread, &marked_spans[1]))
		return VPT_ENOMEM;
	marked_spans[0] = marked_spans[1];
	marked_spans[1] = older;
	marked_spans[0].start_ns = start_ns;
	marked_spans[0].block_ns = marked_spans[0].request_ns = 0;
	return VPT_OK;
}

/* The thread's marked span that began then; NULL: it is over, or no memory, see *rc. */
static struct marked_span *find_marked_span(struct state *s, const struct vpa_fold_context *c,
	uint32_t thread, uint64_t start_ns, int *rc)
{
	struct marked_span *marked_spans = s->threads[thread].marked_spans;

	if (start_ns > marked_spans[0].start_ns)
		*rc = begin_marked_span(s, c, thread, start_ns);
	if (*rc)
		return NULL;
	return marked_spans[0].start_ns == start_ns   ? &marked_spans[0]
	       : marked_spans[1].start_ns == start_ns ? &marked_spans[1]
						      : NULL;
}

/* Whether ops in these scopes belong to the marked span. It restarts in a later block or request. */
static int stays_in(struct marked_span *marked_span, const struct vpa_fold_context *c,
	const struct vpa_around *around)
{
	uint64_t block_ns = start_of(c, around->block), request_ns = start_of(c, around->request);

	if (!marked_span->step.ops.ops) {
		marked_span->block_ns = block_ns;
		marked_span->request_ns = request_ns;
	}
	if (marked_span->block_ns == block_ns && marked_span->request_ns == request_ns)
		return 1;
	if (request_ns < marked_span->request_ns ||
		(request_ns == marked_span->request_ns && block_ns < marked_span->block_ns))
		return 0;
	vpa_step_ops_reset(&marked_span->step.ops);
	marked_span->block_ns = block_ns;
	marked_span->request_ns = request_ns;
	return 1;
}

/* Ops [begin, end), which are in no marked step. */
static int add_marked_spans(struct state *s, const struct vpa_fold_context *c,
	const struct vpa_ops *ops, const struct vpa_position *p, size_t begin, size_t *run)
{
	const struct vpa_marked_spans *marked_spans = &c->resolver->marked_spans;
	size_t end;
	int rc = VPT_OK;

	if (p->thread >= marked_spans->counts[VPA_MARKED_SPAN_STEP] ||
		!marked_spans->tracks[VPA_MARKED_SPAN_STEP][p->thread].count)
		return VPT_OK;
	if (vpt_grow_zeroed(
		    &s->threads, &s->thread_cap, (size_t)p->thread + 1, sizeof(*s->threads)))
		return VPT_ENOMEM;
	for (; begin < p->end && !rc; begin = end) {
		uint64_t from = 0, until = UINT64_MAX, at = ops->launch_start_ns[begin];
		const struct vpa_marked_span *part = vpa_marked_spans_at(
			marked_spans, VPA_MARKED_SPAN_STEP, p->thread, at, &from, &until);
		struct marked_span *marked_span =
			part ? find_marked_span(s, c, p->thread, part->start_ns, &rc) : NULL;

		for (end = begin + 1; end < p->end && ops->launch_start_ns[end] >= from &&
				      ops->launch_start_ns[end] < until;
			end++)
			;
		if (marked_span && stays_in(marked_span, c, &p->around))
			rc = add_ops(&marked_span->step, ops, begin, end, run);
	}
	return rc;
}

/* ---- the pass ---- */

/* The step of a position; VPA_NONE: it is in none. */
static uint32_t step_of(const struct vpa_pipeline *p, const struct vpa_position *at)
{
	uint32_t step = at->thread == VPA_NONE ? VPA_NONE : at->around.step;

	return step == VPA_NONE || p->scopes[step].label.kind == VPA_SCOPE_STEP ? step : VPA_NONE;
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	const struct vpa_pipeline *p = c->pipeline;
	size_t begin = 0, run = 0, i;
	struct state *s = state;
	struct vpa_batch_note *notes = vpa_batch_notes_make(&s->notes);
	int rc = VPT_OK;

	for (i = 0; i < p->position_count && !rc; begin = p->positions[i++].end) {
		const struct vpa_position *at = &p->positions[i];

		notes[i] = (struct vpa_batch_note){at->end, step_of(p, at)};
		if (at->thread != VPA_NONE && at->around.step == VPA_NONE)
			rc = add_marked_spans(s, c, ops, at, begin, &run);
	}
	return rc;
}

static int fold_aside(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	size_t begin = 0, run = 0;
	struct state *s = state;
	const struct vpa_batch_note *note = vpa_batch_notes_take(&s->notes);
	int rc = VPT_OK;

	(void)c;
	for (; begin < ops->count && !rc; begin = note++->end) {
		if (note->value == VPA_NONE)
			continue;
		rc = vpt_grow_zeroed(
			&s->steps, &s->step_cap, (size_t)note->value + 1, sizeof(*s->steps));
		if (!rc)
			rc = add_ops(&s->steps[note->value], ops, begin, note->end, &run);
	}
	return rc;
}

static int fold_scope(void *state, const struct vpa_fold_context *c, const struct vpa_range *range)
{
	uint32_t scope = range->scope - VPA_FIRST_SCOPE;
	struct state *s = state;
	int rc = VPT_OK;

	if (vpa_pipeline_kind(range) != VPA_SCOPE_STEP || range->scope < VPA_FIRST_SCOPE)
		return VPT_OK;
	/* A step whose ops all belong to another one has none. */
	if (vpt_grow_zeroed(&s->steps, &s->step_cap, (size_t)scope + 1, sizeof(*s->steps)))
		return VPT_ENOMEM;
	if (!range->unmatched && !range->cut &&
		!is_cut(c, &s->steps[scope].ops, range->start_ns, range->end_ns))
		rc = vpa_step_groups_add(
			&s->groups[c->pipeline->scopes[scope].label.source], &s->steps[scope].ops);
	/* A long trace has very many steps, and few of them at once. */
	vpa_step_ops_free(&s->steps[scope].ops);
	return rc;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct state *s = state;
	size_t i, k;
	int rc = VPT_OK;

	for (i = 0; i < s->thread_cap; i++)
		for (k = 2; k-- && !rc;)
			if (s->threads[i].marked_spans[k].start_ns)
				rc = end_marked_span(
					s, c, (uint32_t)i, &s->threads[i].marked_spans[k]);
	for (i = 0; i < SOURCES && !rc; i++)
		if (s->groups[i].steps)
			return vpa_step_groups_write(&s->groups[i], VPA_STEPS_MARKED, c->top,
				&out->arena, &out->expert.step_kinds);
	return rc;
}

static void free_state(void *state)
{
	struct state *s = state;
	size_t i;

	for (i = 0; i < s->step_cap; i++)
		vpa_step_ops_free(&s->steps[i].ops);
	for (i = 0; i < s->thread_cap; i++) {
		vpa_step_ops_free(&s->threads[i].marked_spans[0].step.ops);
		vpa_step_ops_free(&s->threads[i].marked_spans[1].step.ops);
	}
	for (i = 0; i < SOURCES; i++)
		vpa_step_groups_free(&s->groups[i]);
	vpt_free(s->steps);
	vpt_free(s->threads);
}

const struct vpa_fold vpa_fold_step_kinds = {
	.name = "step_kinds",
	.help = "denoising steps by their kernels: alike, with fewer of them, with two equal "
		"halves",
	.state_bytes = sizeof(struct state),
	.wanted = vpa_fold_is_table,
	.ops = fold_ops,
	.aside = fold_aside,
	.scope = fold_scope,
	.finish = finish,
	.free = free_state,
};
