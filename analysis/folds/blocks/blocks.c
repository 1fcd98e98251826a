/* blocks.c - gathers requests, blocks, denoising steps and stages during the pass.
 *
 * An op belongs to the scopes around its launch, see pipeline.h. What a scope did on the devices is
 * retained to the end for requests and blocks; for others until their range is over, when it is added
 * to the sums of their block. sweep.h finds where blocks end and cuts device time there.
 *
 * Block k runs from s_k, the start of its first op, to e_k, the end of its last; a frames-ready mark
 * makes e_k the end of the last op that the mark's thread launched before it. The period of block k is
 * e_k - e_k-1; of the first block of a request, e - s. Blocks are in order of e.
 *
 * If a capture annotates blocks (steps, stages, requests), no rule finds more of them.
 *
 * report.h and blocks_write.c define the resulting numbers. */
#include "analysis/folds/blocks/blocks_facts.h"
#include "analysis/folds/blocks/blocks_loop.h"
#include "analysis/folds/blocks/table/blocks_marked_spans.h"
#include "analysis/folds/blocks/blocks_write.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

enum { FRAME_COPY_BYTES = 1 << 16 };

static struct vpa_blocks_table *begun(void *state, const struct vpa_fold_context *c)
{
	struct vpa_blocks_table *s = state;

	if (!s->pipeline) {
		vpa_sweep_init(&s->sweep);
		s->pipeline = c->pipeline;
		s->pins_steps = c->options->step_parts;
	}
	return s;
}

/* ---- ops ---- */

VPA_RARE static int thread_room(struct vpa_blocks_table *s, uint32_t thread)
{
	if (vpt_grow(&s->threads, &s->thread_cap, (size_t)thread + 1, sizeof(*s->threads)))
		return VPT_ENOMEM;
	for (; s->thread_count <= thread; s->thread_count++)
		s->threads[s->thread_count] = (struct vpa_blocks_thread){.cut = VPA_NONE};
	return VPT_OK;
}

static int add_cut(struct vpa_blocks_stay *p, uint32_t cut)
{
	if (vpt_grow(&p->cuts, &p->cut_cap, p->cut_count + 1, sizeof(*p->cuts)))
		return VPT_ENOMEM;
	p->cuts[p->cut_count++] = cut;
	return VPT_OK;
}

/* At the first block: makes the threads' cuts. Ends before it no longer matter. */
VPA_RARE static int watch_threads(struct vpa_blocks_table *s)
{
	int rc = VPT_OK;
	size_t i;

	s->watches_threads = 1;
	for (i = 0; i < s->thread_count && !rc; i++) {
		struct vpa_blocks_thread *t = &s->threads[i];

		rc = vpa_thread_marks_watch(t, &s->sweep);
		if (rc || t->end_ns <= s->sweep.at_ns)
			continue;
		t->cut = vpa_sweep_cut_new(&s->sweep);
		rc = t->cut == VPA_NONE ? VPT_ENOMEM
					: vpa_sweep_extend(&s->sweep, t->cut, t->end_ns);
	}
	return rc;
}

/* Adds to the stay the cuts at the end of what its thread launched so far, and before its later marks. */
static int add_thread(struct vpa_blocks_table *s, struct vpa_blocks_stay *p, uint64_t start_ns)
{
	struct vpa_blocks_thread *t = &s->threads[p->thread];
	uint32_t cut;

	if (t->cut == VPA_NONE)
		t->cut = vpa_sweep_cut_new(&s->sweep);
	if (t->cut == VPA_NONE || add_cut(p, t->cut) ||
		vpa_thread_marks_begin(t, &s->sweep, s->marks, p->at_ns, start_ns, &cut))
		return VPT_ENOMEM;
	return cut == VPA_NONE ? VPT_OK : add_cut(p, cut);
}

/* The stay's last op has ended. */
static int end_thread(struct vpa_blocks_table *s, const struct vpa_blocks_stay *p)
{
	struct vpa_blocks_thread *t = &s->threads[p->thread];
	uint32_t cut;

	if (!s->watches_threads) {
		t->end_ns = p->end_ns > t->end_ns ? p->end_ns : t->end_ns;
		if (vpa_thread_marks_begin(t, &s->sweep, s->marks, p->at_ns, 0, &cut))
			return VPT_ENOMEM;
	}
	return vpa_thread_marks_end(t, &s->sweep, s->marks, p->at_ns, p->end_ns);
}

/* Begins the scopes that begin with the position of a launch at `at_ns`, and its plain part. The row of a marked span precedes
 * those of the scopes in it. */
static int begin_scopes(struct vpa_blocks_table *s, const struct vpa_fold_context *c,
	const struct vpa_position *position, uint64_t at_ns)
{
	uint64_t from_ns = 0, until_ns = UINT64_MAX;
	struct vpa_marked_span *marked_span = vpa_marked_spans_at(&c->resolver->marked_spans,
		VPA_MARKED_SPAN_STEP, position->thread, at_ns, &from_ns, &until_ns);
	size_t k;

	for (k = 0; k < position->begun_count + (position->part != VPA_NONE); k++) {
		uint32_t scope = k < position->begun_count ? position->begun[k] : position->part;
		int in_marked_span = marked_span &&
				     vpa_blocks_scope(s, scope)->start_ns >= marked_span->start_ns;

		if (s->gpu[scope].known)
			continue;
		if (in_marked_span && !marked_span->scope &&
			vpa_blocks_begin_marked_span(
				s, c, VPA_MARKED_SPAN_STEP, position->thread, marked_span))
			return VPT_ENOMEM;
		if (vpa_blocks_begin_scope(s, c, scope, in_marked_span ? marked_span->scope : 0))
			return VPT_ENOMEM;
	}
	return VPT_OK;
}

/* Finds the scopes of a stay that begins with a launch at `at_ns`, and its range of launches. */
static int find_scopes(struct vpa_blocks_table *s, const struct vpa_fold_context *c, uint64_t at_ns,
	struct vpa_blocks_stay *p)
{
	const struct vpa_position *position = p->position;
	size_t k;

	if (vpa_blocks_know_scopes(s) || ((position->begun_count || position->part != VPA_NONE) &&
						 begin_scopes(s, c, position, at_ns)))
		return VPT_ENOMEM;
	p->at_ns = position->from_ns;
	p->until_ns = position->until_ns;
	for (k = 0; k < position->count; k++) {
		uint32_t scope = position->scopes[k];

		p->vae |= vpa_blocks_scope(s, scope)->label.work == VPA_WORK_VAE;
		if (p->count < VPA_STAY_SCOPES_MAX)
			p->scopes[p->count++] = scope;
	}
	if (position->part != VPA_NONE && p->count < VPA_STAY_SCOPES_MAX)
		p->scopes[p->count++] = position->part;
	return vpa_blocks_find_marked_spans(s, c, at_ns, p);
}

/* Whether the start of a scope becomes an edge. */
static int has_pin(struct vpa_blocks_table *s, enum vpa_scope_kind kind)
{
	if (kind == VPA_SCOPE_BLOCK)
		return 1;
	if (kind == VPA_SCOPE_REQUEST && s->pins_steps)
		return s->pinned_requests < VPA_REQUEST_PARTS_MAX && ++s->pinned_requests;
	if ((kind != VPA_SCOPE_STEP && kind != VPA_SCOPE_ITERATION) || !s->pins_steps)
		return 0;
	return s->pinned_steps < VPA_STEP_PARTS_MAX && ++s->pinned_steps;
}

/* Notes the first op of a scope. */
static int note_first(struct vpa_blocks_table *s, uint32_t scope, uint64_t start_ns)
{
	struct vpa_scope_gpu *g = &s->gpu[scope];

	if (g->first_ns != UINT64_MAX)
		return VPT_OK;
	g->first_ns = start_ns;
	if (!has_pin(s, vpa_blocks_scope(s, scope)->label.kind))
		return VPT_OK;
	g->pin = vpa_sweep_pin(&s->sweep);
	return g->pin == VPA_NONE ? VPT_ENOMEM : VPT_OK;
}

/* Adds to the stay the cuts that end with the scope's ops. */
static int add_scope_cuts(struct vpa_blocks_table *s, struct vpa_blocks_stay *p, uint32_t scope)
{
	const struct vpa_scope_gpu *g = &s->gpu[scope];

	if (vpa_blocks_loop_join(s, scope))
		return VPT_ENOMEM;
	if (g->end_cut != VPA_NONE && add_cut(p, g->end_cut))
		return VPT_ENOMEM;
	return g->cut == VPA_NONE ? VPT_OK : add_cut(p, g->cut);
}

/* Begins the stay of op `i`, which has this position. */
VPA_RARE static int enter(struct vpa_blocks_table *s, const struct vpa_fold_context *c,
	const struct vpa_ops *ops, size_t i, const struct vpa_position *position,
	struct vpa_blocks_stay *p)
{
	uint64_t start_ns = ops->start_ns[i], launch_ns = ops->launch_start_ns[i];
	size_t k;
	int rc;

	p->position = position;
	p->known = position->thread != VPA_NONE;
	p->count = p->cut_count = p->marked_span_count = 0;
	p->vae = 0;
	p->owner = vpa_blocks_owner(s, NULL, 0);
	if (!p->known)
		return VPT_OK;
	p->thread = position->thread;
	p->devices = 0;
	p->end_ns = p->attention_ns = 0;
	if (p->thread >= s->thread_count && thread_room(s, p->thread))
		return VPT_ENOMEM;
	rc = find_scopes(s, c, launch_ns, p);
	vpa_thread_marks_limit(
		&s->threads[p->thread], s->marks, launch_ns, &p->at_ns, &p->until_ns);
	if (!rc && s->has_blocks && !s->watches_threads)
		rc = watch_threads(s);
	for (k = 0; k < p->count && !rc; k++)
		rc = add_scope_cuts(s, p, p->scopes[k]);
	if (!rc && s->watches_threads)
		rc = add_thread(s, p, start_ns);
	for (k = 0; k < p->cut_count && !rc; k++)
		vpa_sweep_hold(&s->sweep, p->cuts[k]);
	if (!rc)
		rc = vpa_sweep_reach(&s->sweep, start_ns);
	for (k = 0; k < p->count && !rc; k++)
		rc = note_first(s, p->scopes[k], start_ns);
	p->owner = vpa_blocks_owner(s, p->scopes, p->count - p->marked_span_count);
	return rc;
}

VPA_RARE static int leave(struct vpa_blocks_table *s, struct vpa_blocks_stay *p)
{
	size_t k;
	int rc = VPT_OK;

	p->known = 0;
	for (k = 0; k < p->cut_count && !rc; k++)
		rc = vpa_sweep_extend(&s->sweep, p->cuts[k], p->end_ns);
	if (!rc)
		rc = end_thread(s, p);
	for (k = 0; k < p->count; k++) {
		struct vpa_scope_gpu *g = &s->gpu[p->scopes[k]];

		g->devices |= p->devices;
		g->attention_ns += p->attention_ns;
		if (g->loop != VPA_NONE)
			s->loops[g->loop].devices |= p->devices;
	}
	return rc;
}

/* The end of the leading ops of [begin, end), all of one position, that belong to the stay. */
static size_t same_until(const struct vpa_blocks_stay *p, const struct vpa_ops *ops,
	const struct vpa_position *position, size_t begin, size_t end)
{
	size_t i = begin;

	if (position != p->position)
		return begin;
	if (!p->known || (p->at_ns <= position->from_ns && p->until_ns >= position->until_ns))
		return end;
	while (i < end && ops->launch_start_ns[i] >= p->at_ns &&
		ops->launch_start_ns[i] < p->until_ns)
		i++;
	return i;
}

/* A batch as seen by this fold. */
struct view {
	const struct vpa_ops *ops;
	size_t special_taken;
};

/* Adds ops of one run to the notes once the sweep has reached them. */
static void take_notes(struct vpa_blocks_table *s, struct view *v, size_t begin, size_t end,
	struct vpa_blocks_stay *p)
{
	struct vpa_sweep_notes *n = &s->sweep.now.notes;
	const struct vpa_ops *ops = v->ops;
	uint64_t end_ns = ops->end_ns[end - 1];
	size_t i;

	p->end_ns = end_ns > p->end_ns ? end_ns : p->end_ns;
	s->last_end_ns = end_ns > s->last_end_ns ? end_ns : s->last_end_ns;
	if (ops->device[begin] < VPA_SWEEP_DEVICES)
		p->devices |= (uint32_t)1 << ops->device[begin];
	for (i = begin; p->vae && i < end; i++)
		n->vae_ns += ops->end_ns[i] - ops->start_ns[i];
	for (; v->special_taken < ops->special_count && ops->specials[v->special_taken] < end;
		v->special_taken++) {
		uint64_t ns;

		i = ops->specials[v->special_taken];
		ns = ops->end_ns[i] - ops->start_ns[i];
		if (ops->kind[i] != VPA_KERNEL)
			n->frame_bytes += ops->copy[i].kind == VPT_COPYKIND_DTOH &&
							  ops->copy[i].bytes >= FRAME_COPY_BYTES
						  ? ops->copy[i].bytes
						  : 0;
		else if (ops->role[i] == VPA_ROLE_CONV)
			n->conv_ns += ns;
		else
			p->attention_ns += ns;
	}
}

/* Adds ops of one run and stay. */
static int add_ops(struct vpa_blocks_table *s, struct view *v, const struct vpa_op_run *run,
	size_t begin, size_t end, struct vpa_blocks_stay *p)
{
	size_t i = begin, next;
	int rc = VPT_OK;

	for (; i < end && !rc; i = next) {
		/* Notes belong before an edge that is set between two of the ops. */
		next = s->sweep.earliest_ns > v->ops->start_ns[end - 1] ? end : i + 1;
		rc = vpa_sweep_ops(&s->sweep, v->ops, run, i, next);
		if (!rc)
			rc = vpa_blocks_marked_span_ops(s, p, v->ops, i, next);
		if (!rc)
			rc = vpa_alone_ops(&s->alone, &p->owner, v->ops, run, i, next);
		if (!rc)
			take_notes(s, v, i, next, p);
	}
	return rc;
}

/* `*k` is the position of the last op before the run. */
static int add_run(struct vpa_blocks_table *s, const struct vpa_fold_context *c, struct view *v,
	const struct vpa_op_run *run, size_t *k, struct vpa_blocks_stay *p)
{
	size_t from = run->begin, i = from;
	int rc = VPT_OK;

	while (i < run->end && !rc) {
		const struct vpa_position *position = &c->pipeline->positions[*k];
		size_t end = position->end < run->end ? position->end : run->end;
		size_t next = same_until(p, v->ops, position, i, end);

		if (next > i) {
			i = next;
			*k += i == position->end;
			continue;
		}
		rc = add_ops(s, v, run, from, i, p);
		if (!rc && p->known)
			rc = leave(s, p);
		if (!rc)
			rc = enter(s, c, v->ops, i, position, p);
		from = i++; /* the stay is this op's in any case */
		*k += i == position->end;
	}
	return rc ? rc : add_ops(s, v, run, from, run->end, p);
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct vpa_blocks_table *s = begun(state, c);
	struct vpa_blocks_stay p = {.owner.stage = VPA_NONE};
	struct view v = {ops, 0};
	size_t r, k = 0;
	int rc = VPT_OK;

	for (r = 0; r < ops->run_count && !rc; r++)
		rc = add_run(s, c, &v, &ops->runs[r], &k, &p);
	if (!rc && p.known)
		rc = leave(s, &p);
	vpt_free(p.cuts);
	return rc;
}

static int fold_gap(void *state, const struct vpa_fold_context *c, const struct vpa_gap *gap)
{
	struct vpa_sweep *sweep = &begun(state, c)->sweep;
	size_t i, last;
	int rc = VPT_OK;

	for (i = 0; i < gap->piece_count && !rc; i = last + 1) {
		unsigned cause = gap->pieces[i].cause;

		for (last = i; last + 1 < gap->piece_count && gap->pieces[last + 1].cause == cause;
			last++)
			;
		rc = vpa_sweep_gap(sweep, gap->device, (enum vpa_cause)cause,
			gap->pieces[i].start_ns, gap->pieces[last].end_ns);
	}
	for (i = 0; i < gap->piece_count && !rc; i++)
		if (gap->pieces[i].host)
			rc = vpa_sweep_instead(sweep, gap->device,
				(enum vpa_cause)gap->pieces[i].cause,
				(enum vpa_cause)gap->pieces[i].host, gap->pieces[i].start_ns,
				gap->pieces[i].end_ns);
	return rc;
}

/* ---- the ends of ranges ---- */

/* Of all devices. */
static uint64_t busy_of(const struct vpa_projection *p)
{
	uint64_t ns = 0;

	for (; p && p->ops; p = p->next)
		ns += p->busy_ns;
	return ns;
}

static int fold_scope(void *state, const struct vpa_fold_context *c, const struct vpa_range *range)
{
	struct vpa_blocks_table *s = begun(state, c);
	uint32_t scope = range->scope - VPA_FIRST_SCOPE;
	struct vpa_scope_gpu *g;
	int rc;

	if (range->scope < VPA_FIRST_SCOPE)
		return VPT_OK;
	if (vpa_blocks_know_scopes(s))
		return VPT_ENOMEM;
	g = &s->gpu[scope];
	if (g->known && vpa_blocks_scope(s, scope)->label.kind == VPA_SCOPE_BLOCK)
		g->busy_ns = busy_of(&range->gpu);
	if (g->known && g->row != VPA_NONE && vpa_blocks_scope(s, scope)->holds_scopes)
		s->rows[g->row].holds_scopes = 1;
	/* A range that launched nothing begins only now. */
	if (!g->known)
		return vpa_blocks_begin_scope(s, c, scope, 0);
	rc = g->row == VPA_NONE ? VPT_OK
				: vpa_blocks_end_scope(s, scope, range->end_ns, &range->gpu);
	if (!vpa_scope_is_kept(vpa_blocks_scope(s, scope)->label.kind))
		g->known = 0;
	return rc;
}

static int fold_mark(void *state, const struct vpa_fold_context *c, const struct vpa_mark *mark)
{
	struct vpa_blocks_table *s = begun(state, c);
	struct vpt_text text = vpa_name(c->model, mark->payload);
	struct vpa_ready_mark m = {
		.time_ns = mark->time_ns, .thread = mark->thread, .cut = VPA_NONE};
	struct vpa_scope_label label;

	if (vpa_scope_read(text.text, text.len, &label))
		return VPT_OK;
	if (label.kind == VPA_SCOPE_FACT)
		return vpa_blocks_fact_add(s, mark);
	if (label.kind != VPA_SCOPE_FRAMES)
		return VPT_OK;
	if (s->mark_count == VPA_MARKS_MAX) {
		s->too_many++;
		return VPT_OK;
	}
	if ((mark->thread >= s->thread_count && thread_room(s, mark->thread)) ||
		vpt_grow(&s->marks, &s->mark_cap, s->mark_count + 1, sizeof(*s->marks)))
		return VPT_ENOMEM;
	m.index = label.index;
	m.frames = label.frames;
	s->marks[s->mark_count] = m;
	return vpa_thread_marks_add(
		&s->threads[mark->thread], &s->sweep, s->marks, (uint32_t)s->mark_count++);
}

/* Marks that say how many frames are ready, for a program that marks no blocks. */
static void write_frame_marks(const struct vpa_blocks_table *s, struct vpa_frame_marks *out)
{
	size_t i;

	for (i = 0; i < s->mark_count; i++) {
		const struct vpa_ready_mark *m = &s->marks[i];

		if (m->frames <= 0)
			continue;
		if (!out->count++ || m->time_ns < out->first_ns) {
			out->first_ns = m->time_ns;
			out->first_frames = (uint64_t)m->frames;
		}
		out->last_ns = m->time_ns > out->last_ns ? m->time_ns : out->last_ns;
		vpt_sat_add_to(&out->frames, (uint64_t)m->frames);
	}
	out->frames -= out->first_frames;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_blocks_table *s = begun(state, c);
	size_t i;

	s->too_many += s->pipeline->left_out;
	write_frame_marks(s, &out->said.frame_marks);
	for (i = 0; i < s->thread_count; i++)
		vpa_thread_marks_settle(&s->threads[i], s->marks);
	vpa_alone_end(&s->alone);
	if (vpa_blocks_know_scopes(s) || vpa_sweep_end(&s->sweep) ||
		vpa_blocks_end_marked_spans(s, c))
		return VPT_ENOMEM;
	return vpa_blocks_write(s, c, out);
}

static void free_state(void *state)
{
	struct vpa_blocks_table *s = state;
	size_t i;

	for (i = 0; i < s->thread_count; i++)
		vpa_thread_marks_free(&s->threads[i]);
	vpa_sweep_free(&s->sweep);
	vpa_blocks_free_marked_spans(s);
	vpt_free(s->gpu);
	vpa_index_free(&s->row_index);
	vpt_free(s->rows);
	vpa_index_free(&s->sum_index);
	vpt_free(s->sums);
	vpa_alone_free(&s->alone);
	vpt_free(s->samples);
	vpt_free(s->steps);
	vpa_index_free(&s->loop_index);
	vpt_free(s->loops);
	vpt_free(s->marks);
	vpt_free(s->facts);
	vpt_free(s->threads);
}

const struct vpa_fold vpa_fold_blocks = {
	.name = "blocks",
	.help = "requests, video blocks, denoising steps and stages: FPS, BPS and the parts of a "
		"block",
	.state_bytes = sizeof(struct vpa_blocks_table),
	.ops = fold_ops,
	.scope = fold_scope,
	.mark = fold_mark,
	.gap = fold_gap,
	.finish = finish,
	.free = free_state,
};
