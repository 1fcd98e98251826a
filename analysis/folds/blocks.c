/* blocks.c - requests, blocks, denoising steps and stages as the trace goes by.
 *
 * An op belongs to the ranges around its launch. Of those that stages.h knows an instance is kept: for
 * requests and blocks to the end, for steps and stages until the range is over, when they are added to
 * the sums of their block. Where blocks end is found by sweep.h, which also cuts device time there.
 *
 * Block k runs from s_k, the start of its first op, to e_k, the end of its last; a mark that says that its
 * frames are ready makes e_k the end of the last op that the mark's thread launched before it. Its period is
 * e_k - e_k-1, of the first block of a request e - s. Blocks stand in order of e.
 *
 * Unannotated ranges go by their names: a block does not stand inside a step, a stage or another block of the same
 * thread, a step not inside a step, a request not inside a request. If a capture annotates blocks (steps,
 * stages, requests), then rules find none of these.
 *
 * What the numbers made of it mean stands in report.h and blocks_write.c. */
#include "analysis/folds/blocks.h"

#include "formats/memory.h"

#include <string.h>

enum { FRAME_COPY_BYTES = 1 << 16 };

static struct vpa_blocks_state *begun(void *state)
{
	struct vpa_blocks_state *s = state;

	if (!s->begun) {
		vpa_sweep_init(&s->sweep);
		s->unused = VPA_NONE;
		s->begun = 1;
	}
	return s;
}

/* ---- ops ---- */

VPA_RARE static int thread_room(struct vpa_blocks_state *s, uint32_t thread)
{
	if (vpt_grow(&s->threads, &s->thread_cap, (size_t)thread + 1, sizeof(*s->threads)))
		return VPT_ENOMEM;
	for (; s->thread_count <= thread; s->thread_count++)
		s->threads[s->thread_count] = (struct vpa_blocks_thread){0, VPA_NONE, VPA_NONE};
	return VPT_OK;
}

static int add_cut(struct vpa_blocks_place *p, uint32_t cut)
{
	if (vpt_grow(&p->cuts, &p->cut_cap, p->cut_count + 1, sizeof(*p->cuts)))
		return VPT_ENOMEM;
	p->cuts[p->cut_count++] = cut;
	return VPT_OK;
}

/* The first block begins. Ends that lie behind do not matter any more. */
VPA_RARE static int watch_threads(struct vpa_blocks_state *s)
{
	int rc = VPT_OK;
	size_t i;

	s->watches_threads = 1;
	for (i = 0; i < s->thread_count && !rc; i++) {
		struct vpa_blocks_thread *t = &s->threads[i];

		if (t->end_ns <= s->sweep.at_ns)
			continue;
		t->cut = vpa_sweep_cut_new(&s->sweep);
		rc = t->cut == VPA_NONE ? VPT_ENOMEM
					: vpa_sweep_extend(&s->sweep, t->cut, t->end_ns);
	}
	for (i = 0; i < s->mark_count && !rc; i++)
		if (s->marks[i].end_ns > s->sweep.at_ns)
			rc = vpa_sweep_extend(&s->sweep, s->marks[i].cut, s->marks[i].end_ns);
	return rc;
}

/* No mark of the thread may lie among the launches of a place, one of which is at `at_ns`. */
static void limit_to_marks(
	const struct vpa_blocks_state *s, uint64_t at_ns, struct vpa_blocks_place *p)
{
	uint32_t mark = s->threads[p->thread].mark;

	for (; mark != VPA_NONE && s->marks[mark].time_ns > p->at_ns;
		mark = s->marks[mark].previous) {
		uint64_t time_ns = s->marks[mark].time_ns;

		if (time_ns <= at_ns)
			p->at_ns = time_ns;
		else if (time_ns < p->until_ns)
			p->until_ns = time_ns;
	}
}

/* The end of what a thread has launched so far, and of what it had launched before its marks. */
static int add_thread(struct vpa_blocks_state *s, struct vpa_blocks_place *p)
{
	struct vpa_blocks_thread *t = &s->threads[p->thread];
	uint32_t mark = t->mark;

	if (t->cut == VPA_NONE)
		t->cut = vpa_sweep_cut_new(&s->sweep);
	if (t->cut == VPA_NONE || add_cut(p, t->cut))
		return VPT_ENOMEM;
	for (; mark != VPA_NONE && s->marks[mark].time_ns > p->at_ns;
		mark = s->marks[mark].previous)
		if (add_cut(p, s->marks[mark].cut))
			return VPT_ENOMEM;
	return VPT_OK;
}

/* The same before there are blocks: without cuts. */
static void note_end(struct vpa_blocks_state *s, const struct vpa_blocks_place *p)
{
	struct vpa_blocks_thread *t = &s->threads[p->thread];
	uint32_t mark = t->mark;

	t->end_ns = p->end_ns > t->end_ns ? p->end_ns : t->end_ns;
	for (; mark != VPA_NONE && s->marks[mark].time_ns > p->at_ns;
		mark = s->marks[mark].previous)
		if (p->end_ns > s->marks[mark].end_ns)
			s->marks[mark].end_ns = p->end_ns;
}

/* The first op of what stays: a block's start is an edge. */
static int note_first(struct vpa_blocks_state *s, struct vpa_instance *i, uint64_t start_ns)
{
	i->first_ns = start_ns;
	if (i->label.kind != VPA_STAGE_BLOCK)
		return VPT_OK;
	i->pin = vpa_sweep_pin(&s->sweep);
	return i->pin == VPA_NONE ? VPT_ENOMEM : VPT_OK;
}

/* Begins the place of op `i`, which is of this stretch. */
VPA_RARE static int enter(struct vpa_blocks_state *s, const struct vpa_fold_context *c,
	const struct vpa_ops *ops, size_t i, const struct vpa_op_stretch *stretch,
	struct vpa_blocks_place *p)
{
	uint64_t start_ns = ops->start_ns[i];
	size_t k;
	int rc;

	p->known = stretch->thread != VPA_NONE;
	p->count = p->cut_count = p->lap_count = 0;
	p->vae = 0;
	if (!p->known)
		return VPT_OK;
	p->thread = stretch->thread;
	p->devices = 0;
	p->end_ns = p->attention_ns = 0;
	if (p->thread >= s->thread_count && thread_room(s, p->thread))
		return VPT_ENOMEM;
	rc = vpa_blocks_find_place(s, c, stretch, ops->launch_start_ns[i], p);
	limit_to_marks(s, ops->launch_start_ns[i], p);
	if (!rc && s->has_blocks && !s->watches_threads)
		rc = watch_threads(s);
	for (k = 0; k < p->count && !rc; k++)
		if (s->instances[p->items[k]].cut != VPA_NONE)
			rc = add_cut(p, s->instances[p->items[k]].cut);
	if (!rc && s->watches_threads)
		rc = add_thread(s, p);
	for (k = 0; k < p->cut_count && !rc; k++)
		vpa_sweep_hold(&s->sweep, p->cuts[k]);
	if (!rc)
		rc = vpa_sweep_reach(&s->sweep, start_ns);
	for (k = 0; k < p->count && !rc; k++)
		if (s->instances[p->items[k]].first_ns == UINT64_MAX)
			rc = note_first(s, &s->instances[p->items[k]], start_ns);
	return rc;
}

VPA_RARE static int leave(struct vpa_blocks_state *s, struct vpa_blocks_place *p)
{
	size_t k;
	int rc = VPT_OK;

	p->known = 0;
	if (!s->watches_threads)
		note_end(s, p);
	for (k = 0; k < p->cut_count && !rc; k++)
		rc = vpa_sweep_extend(&s->sweep, p->cuts[k], p->end_ns);
	for (k = 0; k < p->count; k++) {
		s->instances[p->items[k]].devices |= p->devices;
		s->instances[p->items[k]].attention_ns += p->attention_ns;
	}
	return rc;
}

/* Where those of the ops [begin, end) of a stretch end that belong to the place. */
static size_t same_until(const struct vpa_blocks_state *s, const struct vpa_blocks_place *p,
	const struct vpa_ops *ops, const struct vpa_op_stretch *stretch, size_t begin, size_t end)
{
	uint64_t at_ns = ops->launch_start_ns[begin];
	size_t i = begin;

	if (stretch->thread == VPA_NONE)
		return p->known ? begin : end;
	if (!p->known || stretch->thread != p->thread ||
		vpa_blocks_inner(s, stretch->range, at_ns) != p->own ||
		vpa_blocks_inner(s, stretch->process_range, at_ns) != p->wide)
		return begin;
	if (stretch->from_ns >= p->at_ns && stretch->until_ns <= p->until_ns)
		return end;
	for (; i < end && ops->launch_start_ns[i] >= p->at_ns &&
		ops->launch_start_ns[i] < p->until_ns;
		i++)
		;
	return i;
}

/* A batch as this fold sees it. */
struct view {
	const struct vpa_ops *ops;
	size_t special_taken;
};

/* Counts what ops of one run add to notes, once they have been reached. */
static void take_notes(struct vpa_blocks_state *s, struct view *v, size_t begin, size_t end,
	struct vpa_blocks_place *p)
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

/* Hands on ops of one run and place. */
static int add_ops(struct vpa_blocks_state *s, struct view *v, const struct vpa_op_run *run,
	size_t begin, size_t end, struct vpa_blocks_place *p)
{
	size_t i = begin, next;
	int rc = VPT_OK;

	for (; i < end && !rc; i = next) {
		/* Notes belong before an edge that is set between two of the ops. */
		next = s->sweep.earliest_ns > v->ops->start_ns[end - 1] ? end : i + 1;
		rc = vpa_sweep_ops(&s->sweep, v->ops, run, i, next);
		if (!rc)
			rc = vpa_blocks_lap_ops(s, p, v->ops, i, next);
		if (!rc)
			take_notes(s, v, i, next, p);
	}
	return rc;
}

/* `*k` is the stretch that the ops before the run end with. */
static int add_run(struct vpa_blocks_state *s, const struct vpa_fold_context *c, struct view *v,
	const struct vpa_op_run *run, size_t *k, struct vpa_blocks_place *p)
{
	size_t from = run->begin, i = from;
	int rc = VPT_OK;

	while (i < run->end && !rc) {
		const struct vpa_op_stretch *stretch = vpa_ops_stretch(v->ops, i, k);
		size_t end = stretch->end < run->end ? stretch->end : run->end;
		size_t next = same_until(s, p, v->ops, stretch, i, end);

		if (next > i) {
			i = next;
			continue;
		}
		rc = add_ops(s, v, run, from, i, p);
		if (!rc && p->known)
			rc = leave(s, p);
		if (!rc)
			rc = enter(s, c, v->ops, i, stretch, p);
		from = i++; /* the place is this op's in any case */
	}
	return rc ? rc : add_ops(s, v, run, from, run->end, p);
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct vpa_blocks_state *s = begun(state);
	struct vpa_blocks_place p = {.known = 0};
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
	struct vpa_sweep *sweep = &begun(state)->sweep;
	size_t i, last;
	int rc = VPT_OK;

	(void)c;
	for (i = 0; i < gap->piece_count && !rc; i = last + 1) {
		unsigned cause = gap->pieces[i].cause;

		for (last = i; last + 1 < gap->piece_count && gap->pieces[last + 1].cause == cause;
			last++)
			;
		rc = vpa_sweep_gap(sweep, gap->device, (enum vpa_cause)cause,
			gap->pieces[i].start_ns, gap->pieces[last].end_ns);
	}
	return rc;
}

/* ---- the ends of ranges ---- */

struct vpa_stage_sum *vpa_blocks_sum(struct vpa_blocks_state *s, uint32_t block, uint32_t row)
{
	size_t before = s->sum_cap;
	uint32_t at = vpa_index_put(&s->sum_index, (uint64_t)(block + 1), row);

	if (at == UINT32_MAX || vpt_grow(&s->sums, &s->sum_cap, (size_t)at + 1, sizeof(*s->sums)))
		return NULL;
	if (s->sum_cap > before)
		memset(s->sums + before, 0, (s->sum_cap - before) * sizeof(*s->sums));
	return &s->sums[at];
}

static int add_sample(struct vpa_blocks_state *s, const struct vpa_instance *i, uint64_t ns)
{
	if (s->sample_count == VPA_SAMPLES_MAX) {
		s->too_many++;
		return VPT_OK;
	}
	if (vpt_grow(&s->samples, &s->sample_cap, s->sample_count + 1, sizeof(*s->samples)))
		return VPT_ENOMEM;
	s->samples[s->sample_count++] = (struct vpa_stage_sample){
		i->first_ns, ns, i->block, i->request, i->row, i->nested ? 0 : i->lap};
	return VPT_OK;
}

int vpa_blocks_end_stage(
	struct vpa_blocks_state *s, const struct vpa_instance *i, const struct vpa_projection *gpu)
{
	struct vpa_stage_sum *sum = vpa_blocks_sum(s, i->block, i->row);
	const struct vpa_projection *p;
	uint64_t last = 0;

	if (!sum)
		return VPT_ENOMEM;
	for (p = gpu; p && p->ops; p = p->next) {
		last = p->last_ns > last ? p->last_ns : last;
		sum->busy_ns += p->busy_ns;
		sum->idle_ns += p->idle_last_ns - p->idle_first_ns;
	}
	last = last > i->first_ns ? last : i->first_ns;
	sum->count++;
	sum->total_ns += last - i->first_ns;
	if (!i->nested)
		*(i->lap ? &sum->lap_top_ns : &sum->top_ns) += last - i->first_ns;
	sum->attention_ns += i->attention_ns;
	s->rows[i->row].count++;
	s->rows[i->row].nested += i->nested;
	s->rows[i->row].in_lap += i->nested || i->lap;
	return add_sample(s, i, last - i->first_ns);
}

/* A range that launched nothing may still be the request around those of other threads. */
static int end_without_ops(
	struct vpa_blocks_state *s, const struct vpa_fold_context *c, const struct vpa_range *range)
{
	const struct vpa_blocks_around nothing = VPA_NOTHING_AROUND;
	struct vpa_range copy = *range;
	struct vpa_stage_label label;

	if (vpa_blocks_label(s, c, range, &label))
		return VPT_ENOMEM;
	s->without_ops += label.kind == VPA_STAGE_BLOCK && label.source == VPA_SOURCE_ANNOTATION;
	if (label.kind != VPA_STAGE_REQUEST)
		return VPT_OK;
	if (vpa_blocks_begin(s, c, &copy, &nothing))
		return VPT_ENOMEM;
	if (copy.stage >= VPA_FIRST_INSTANCE) {
		struct vpa_instance *i = &s->instances[copy.stage - VPA_FIRST_INSTANCE];

		i->end_ns = range->end_ns;
		i->finished = 1;
		i->cut_off = range->unmatched || range->cut;
	}
	return VPT_OK;
}

static int fold_range(void *state, const struct vpa_fold_context *c, const struct vpa_range *range)
{
	struct vpa_blocks_state *s = begun(state);
	struct vpa_instance *i;
	int rc;

	if (!range->stage)
		return end_without_ops(s, c, range);
	if (range->stage < VPA_FIRST_INSTANCE)
		return VPT_OK;
	i = &s->instances[range->stage - VPA_FIRST_INSTANCE];
	i->end_ns = range->end_ns;
	i->finished = 1;
	i->cut_off = range->unmatched || range->cut;
	rc = i->row == VPA_NONE ? VPT_OK : vpa_blocks_end_stage(s, i, &range->gpu);
	if (vpa_blocks_stays(i->label.kind))
		return rc;
	i->block = s->unused;
	s->unused = range->stage - VPA_FIRST_INSTANCE;
	return rc;
}

static int fold_mark(void *state, const struct vpa_fold_context *c, const struct vpa_mark *mark)
{
	struct vpa_blocks_state *s = begun(state);
	struct vpt_text text = vpa_name(c->model, mark->payload);
	struct vpa_ready_mark m = {.time_ns = mark->time_ns, .thread = mark->thread};
	struct vpa_stage_label label;
	struct vpa_blocks_thread *t;

	if (vpa_stage_read(text.text, text.len, &label) || label.kind != VPA_STAGE_FRAMES)
		return VPT_OK;
	if (s->mark_count == VPA_MARKS_MAX) {
		s->too_many++;
		return VPT_OK;
	}
	if ((mark->thread >= s->thread_count && thread_room(s, mark->thread)) ||
		vpt_grow(&s->marks, &s->mark_cap, s->mark_count + 1, sizeof(*s->marks)))
		return VPT_ENOMEM;
	t = &s->threads[mark->thread];
	m.index = label.index;
	m.frames = label.frames;
	m.previous = t->mark;
	m.end_ns = t->end_ns;
	m.cut = vpa_sweep_cut_new(&s->sweep);
	if (m.cut == VPA_NONE ||
		(t->cut != VPA_NONE && vpa_sweep_cut_copy(&s->sweep, m.cut, t->cut)))
		return VPT_ENOMEM;
	t->mark = (uint32_t)s->mark_count;
	s->marks[s->mark_count++] = m;
	return VPT_OK;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_blocks_state *s = begun(state);

	if (vpa_sweep_end(&s->sweep) || vpa_blocks_end_laps(s, c))
		return VPT_ENOMEM;
	return vpa_blocks_write(s, c, out);
}

static void free_state(void *state)
{
	struct vpa_blocks_state *s = state;

	vpa_sweep_free(&s->sweep);
	vpa_blocks_free_laps(s);
	vpt_free(s->instances);
	vpt_free(s->known);
	vpt_free(s->labels);
	vpa_index_free(&s->row_index);
	vpt_free(s->rows);
	vpa_index_free(&s->sum_index);
	vpt_free(s->sums);
	vpt_free(s->samples);
	vpt_free(s->marks);
	vpt_free(s->threads);
}

const struct vpa_fold vpa_fold_blocks = {
	.name = "blocks",
	.help = "requests, video blocks, denoising steps and stages: FPS, BPS and what a block is "
		"made of",
	.state_bytes = sizeof(struct vpa_blocks_state),
	.ops = fold_ops,
	.range = fold_range,
	.mark = fold_mark,
	.gap = fold_gap,
	.gaps_with_ops = 1,
	.finish = finish,
	.free = free_state,
};
