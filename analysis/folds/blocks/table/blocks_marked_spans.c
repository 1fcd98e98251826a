/* blocks_marked_spans.c - steps and iterations that run from mark to mark, see marked_spans.h.
 *
 * Each is a scope like a range, of a source that counts only if there is no other: a denoising step if
 * no step is annotated or named, an iteration if there is no block, no step and no iteration of a
 * profiler. That is known only at the end, so all are retained until then.
 *
 * Ops launched in a step's range, or in a pass over the context, belong to no such step. A step does
 * not continue from one block or request into the next: what came before is dropped, since a forward
 * pass that no scheduler follows writes the context. */
#include "analysis/folds/blocks/table/blocks_marked_spans.h"

#include "analysis/pipeline/projection.h"
#include "formats/base/memory.h"

static const char *const names[VPA_MARKED_SPAN_KINDS] = {
	[VPA_MARKED_SPAN_OPTIMIZER] = VPA_MARKED_SPAN_OPTIMIZER_NAME,
	[VPA_MARKED_SPAN_LOADER] = "iteration (DataLoader)"};

static void drop_projections(struct vpa_scope_gpu *g)
{
	struct vpa_projection *p = g->marked_span_gpu, *next;

	for (; p; p = next) {
		next = p->next;
		vpt_free(p);
	}
	g->marked_span_gpu = NULL;
}

int vpa_blocks_begin_marked_span(struct vpa_blocks_table *s, const struct vpa_fold_context *c,
	enum vpa_marked_span_kind kind, uint32_t thread, struct vpa_marked_span *marked_span)
{
	struct vpa_scope scope = {.start_ns = marked_span->start_ns,
		.thread = thread,
		.request = VPA_NONE,
		.block = VPA_NONE,
		.stage = VPA_NONE};
	uint32_t at;

	scope.label = (struct vpa_scope_label){
		.kind = kind == VPA_MARKED_SPAN_STEP ? VPA_SCOPE_STEP : VPA_SCOPE_ITERATION,
		.source = VPA_SOURCE_MARKS,
		.index = -1,
		.frames = -1,
		.latents = -1,
		.timestep = -1,
		.name = names[kind]};
	/* Such a step has a scheduler. */
	s->pipeline->is_diffusion |= kind == VPA_MARKED_SPAN_STEP;
	at = vpa_pipeline_add(s->pipeline, &scope);
	if (at == VPA_NONE || vpa_blocks_know_scopes(s) || vpa_blocks_begin_scope(s, c, at, 0))
		return VPT_ENOMEM;
	s->rows[s->gpu[at].row].marked_span = (uint8_t)kind;
	marked_span->scope = at + VPA_FIRST_SCOPE;
	return VPT_OK;
}

static uint64_t start_of(const struct vpa_blocks_table *s, uint32_t at)
{
	return at == VPA_NONE ? 0 : vpa_blocks_scope(s, at)->start_ns;
}

/* Whether an op in these scopes belongs to the marked span; a marked span from an earlier block or request restarts. */
static int stays_in(
	struct vpa_blocks_table *s, struct vpa_scope_gpu *g, const struct vpa_around *around)
{
	uint64_t block = start_of(s, around->block), request = start_of(s, around->request);
	uint64_t old_block = start_of(s, g->block), old_request = start_of(s, g->request);

	if (g->first_ns == UINT64_MAX) {
		g->block = around->block;
		g->request = around->request;
	}
	if (g->block == around->block && g->request == around->request)
		return 1;
	if (request < old_request || (request == old_request && block < old_block))
		return 0;
	drop_projections(g);
	g->block = around->block;
	g->request = around->request;
	g->first_ns = UINT64_MAX;
	g->attention_ns = 0;
	return 1;
}

int vpa_blocks_find_marked_spans(struct vpa_blocks_table *s, const struct vpa_fold_context *c,
	uint64_t at_ns, struct vpa_blocks_stay *p)
{
	const struct vpa_marked_spans *marked_spans = &c->resolver->marked_spans;
	const struct vpa_around *around = &p->position->around;
	uint32_t process = c->model->threads[p->thread].process;
	int kind;

	for (kind = 0; kind < VPA_MARKED_SPAN_KINDS; kind++) {
		struct vpa_marked_span *marked_span =
			vpa_marked_spans_at(marked_spans, (enum vpa_marked_span_kind)kind,
				kind == VPA_MARKED_SPAN_STEP ? p->thread : process, at_ns,
				&p->at_ns, &p->until_ns);
		uint32_t at;

		if (!marked_span || (kind == VPA_MARKED_SPAN_STEP && around->step != VPA_NONE) ||
			p->count == VPA_STAY_SCOPES_MAX)
			continue;
		if (!marked_span->scope &&
			vpa_blocks_begin_marked_span(
				s, c, (enum vpa_marked_span_kind)kind, p->thread, marked_span))
			return VPT_ENOMEM;
		at = marked_span->scope - VPA_FIRST_SCOPE;
		if (kind == VPA_MARKED_SPAN_STEP && !stays_in(s, &s->gpu[at], around))
			continue;
		p->scopes[p->count++] = at;
		p->marked_spans[p->marked_span_count++] = at;
	}
	return VPT_OK;
}

int vpa_blocks_marked_span_ops(struct vpa_blocks_table *s, const struct vpa_blocks_stay *p,
	const struct vpa_ops *ops, size_t begin, size_t end)
{
	struct vpa_share share;
	size_t k;

	if (!p->marked_span_count)
		return VPT_OK;
	vpa_share_of(ops, begin, end, &share);
	for (k = 0; k < p->marked_span_count; k++) {
		struct vpa_scope_gpu *g = &s->gpu[p->marked_spans[k]];

		if (!g->marked_span_gpu &&
			!(g->marked_span_gpu = vpt_calloc(1, sizeof(*g->marked_span_gpu))))
			return VPT_ENOMEM;
		if (vpa_project(g->marked_span_gpu, &share))
			return VPT_ENOMEM;
	}
	return VPT_OK;
}

/* The end of the marked span whose first part is `first`; ~0: it does not end. */
static uint64_t end_of(const struct vpa_marked_span_track *t, size_t first)
{
	while (first + 1 < t->count && t->items[first + 1].goes_on)
		first++;
	return t->items[first].end_ns;
}

/* Whether a pause cuts the marked span that is from `start_ns` to `end_ns` on the host. */
static int is_cut(const struct vpa_intervals *paused, const struct vpa_scope_gpu *g,
	uint64_t start_ns, uint64_t end_ns)
{
	const struct vpa_projection *p;
	uint64_t last_ns = g->first_ns;

	for (p = g->marked_span_gpu; p && p->ops; p = p->next)
		last_ns = vpa_later(last_ns, p->last_ns);
	return vpa_intervals_cut(paused, start_ns, g->first_ns, last_ns, end_ns);
}

static int end_track(struct vpa_blocks_table *s, const struct vpa_fold_context *c,
	const struct vpa_marked_span_track *t)
{
	const struct vpa_intervals *paused = &c->resolver->paused;
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < t->count && !rc; i++) {
		const struct vpa_marked_span *marked_span = &t->items[i];
		uint32_t scope = marked_span->scope - VPA_FIRST_SCOPE;
		struct vpa_scope_gpu *g = &s->gpu[scope];
		uint64_t end_ns = end_of(t, i);

		if (!marked_span->scope || marked_span->start_ns < c->model->window_start_ns ||
			end_ns > c->model->window_end_ns || !g->marked_span_gpu)
			continue;
		g->finished = !is_cut(paused, g, marked_span->start_ns, end_ns);
		if (g->finished)
			rc = vpa_blocks_end_scope(s, scope, end_ns, g->marked_span_gpu);
		s->steps_cut += !g->finished;
	}
	return rc;
}

/* Corrects the sums of samples in a marked span that is no step after all, or in a dropped part of one: they
 * are in no marked span. */
static int put_right(struct vpa_blocks_table *s)
{
	size_t i;

	for (i = 0; i < s->sample_count; i++) {
		const struct vpa_stage_sample *sample = &s->samples[i];
		const struct vpa_scope_gpu *marked_span;
		struct vpa_stage_sum *sum;

		if (!sample->marked_span)
			continue;
		marked_span = &s->gpu[sample->marked_span - VPA_FIRST_SCOPE];
		if (marked_span->finished && marked_span->block == sample->block &&
			marked_span->first_ns <= sample->first_ns)
			continue;
		sum = vpa_blocks_sum(s, sample->block, sample->row);
		if (!sum)
			return VPT_ENOMEM;
		sum->marked_span_top_ns -= sample->ns;
		sum->top_ns += sample->ns;
		s->rows[sample->row].in_marked_span--;
	}
	return VPT_OK;
}

int vpa_blocks_end_marked_spans(struct vpa_blocks_table *s, const struct vpa_fold_context *c)
{
	const struct vpa_marked_spans *marked_spans = &c->resolver->marked_spans;
	size_t kind, i;
	int rc = VPT_OK;

	for (kind = 0; kind < VPA_MARKED_SPAN_KINDS; kind++)
		for (i = 0; i < marked_spans->counts[kind] && !rc; i++)
			rc = end_track(s, c, &marked_spans->tracks[kind][i]);
	s->too_many += marked_spans->left_out;
	if (!rc)
		rc = vpa_blocks_drop_cut(s, &c->resolver->paused);
	return rc ? rc : put_right(s);
}

void vpa_blocks_free_marked_spans(struct vpa_blocks_table *s)
{
	size_t i;

	for (i = 0; i < s->gpu_count; i++)
		drop_projections(&s->gpu[i]);
}
