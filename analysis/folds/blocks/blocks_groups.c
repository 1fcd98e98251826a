/* blocks_groups.c - groups scopes into requests with their blocks.
 *
 * A request is a range of that kind; without any it is the whole window. It ends with the last op
 * launched in it; one that launched nothing itself (a thread that waits for others) ends on the host.
 * A block belongs to the request around it, else to the one open when it begins on the host. Indices
 * restart with each request, and no period spans two. A frames-ready mark belongs to the newest block
 * of its index in its request that had begun on the host. If several requests are open, the mark's
 * request is the newest of its thread, else of any thread. */
#include "analysis/folds/blocks/blocks_groups.h"

#include "formats/base/memory.h"
#include "formats/base/search.h"

#include <stdlib.h>
#include <string.h>

void vpa_block_note(struct vpa_blocks_writer *w, const char *text)
{
	struct vpa_report *out = w->out;
	size_t i;

	for (i = 0; i < out->block_note_count; i++)
		if (!strcmp(out->block_notes[i], text))
			return;
	if (out->block_note_count < VPA_BLOCK_NOTES_MAX)
		out->block_notes[out->block_note_count++] = text;
}

/* ---- annotations override rules ---- */

/* The family of a kind: kinds that can replace each other. */
static enum vpa_scope_kind family_of(enum vpa_scope_kind kind)
{
	return kind == VPA_SCOPE_CONTEXT ? VPA_SCOPE_STEP : kind;
}

static int counts(
	const struct vpa_blocks_writer *w, enum vpa_scope_kind kind, enum vpa_scope_source source)
{
	return source == VPA_SOURCE_ANNOTATION || !w->has_annotation[family_of(kind)];
}

enum vpa_scope_kind vpa_row_kind(
	const struct vpa_blocks_writer *w, const struct vpa_stage_kept *row)
{
	if (row->source == VPA_SOURCE_PLACE)
		return row->is_part ? row->kind : VPA_SCOPE_NONE;
	if (!row->count || !counts(w, row->kind, row->source))
		return VPA_SCOPE_NONE;
	if (row->source == VPA_SOURCE_MARKS && row != w->marked_spans)
		return VPA_SCOPE_NONE;
	return row->kind;
}

/* At most one row of marked spans counts: steps if there are no other steps, else iterations if there are no
 * blocks, steps or other iterations; those of the optimizer rather than of the loader. */
static void choose_marked_spans(struct vpa_blocks_writer *w)
{
	const struct vpa_blocks_table *s = w->s;
	const struct vpa_stage_kept *best = NULL;
	int has_steps = 0, has_iterations = 0;
	size_t i;

	for (i = 0; i < s->row_index.count; i++) {
		const struct vpa_stage_kept *row = &s->rows[i];

		if (!row->count || !counts(w, row->kind, row->source))
			continue;
		if (row->source != VPA_SOURCE_MARKS) {
			has_steps |= row->kind == VPA_SCOPE_STEP;
			has_iterations |= row->kind == VPA_SCOPE_ITERATION;
		} else if (!best || row->marked_span < best->marked_span) {
			best = row;
		}
	}
	if (!best || has_steps ||
		(best->marked_span != VPA_MARKED_SPAN_STEP && (s->has_blocks || has_iterations)))
		return;
	w->marked_spans = best;
}

/* Whether a scope is a request or a block. */
static int is_kept(const struct vpa_blocks_table *s, uint32_t scope)
{
	return s->gpu[scope].known && s->gpu[scope].cut != VPA_NONE;
}

static void find_sources(struct vpa_blocks_writer *w)
{
	const struct vpa_blocks_table *s = w->s;
	size_t i;

	for (i = 0; i < s->gpu_count; i++) {
		const struct vpa_scope_label *label = &vpa_blocks_scope(s, (uint32_t)i)->label;

		if (is_kept(s, (uint32_t)i) && label->source == VPA_SOURCE_ANNOTATION)
			w->has_annotation[label->kind] = 1;
	}
	for (i = 0; i < s->row_index.count; i++)
		if (s->rows[i].count && s->rows[i].source == VPA_SOURCE_ANNOTATION)
			w->has_annotation[family_of(s->rows[i].kind)] = 1;
	choose_marked_spans(w);
}

const struct vpa_stage_sum *vpa_stage_sum_of(
	const struct vpa_blocks_writer *w, uint32_t block, uint32_t row)
{
	uint32_t at = vpa_index_find(&w->s->sum_index, (uint64_t)(block + 1), row);

	return at == UINT32_MAX || !w->s->sums[at].count ? NULL : &w->s->sums[at];
}

const char *vpa_stage_row_name(const struct vpa_blocks_writer *w, const struct vpa_stage_kept *row)
{
	switch (row->kind) {
	case VPA_SCOPE_STEP:
		return vpa_pipeline_step_name(w->c->pipeline);
	case VPA_SCOPE_CONTEXT:
		return "context pass";
	case VPA_SCOPE_ITERATION:
		return row->name ? vpa_fold_name(w->out, w->c->model, row->name)
				 : "iteration (ProfilerStep)";
	default:
		return row->name ? vpa_fold_name(w->out, w->c->model, row->name) : "(other stages)";
	}
}

/* ---- requests ---- */

static int is_paused(const struct vpa_blocks_writer *w, uint64_t from_ns, uint64_t to_ns)
{
	return vpa_intervals_between(&w->c->resolver->paused, from_ns, to_ns);
}

/* Whether a pause may hide the launch of the last op of a scope that ends on the host at `until_ns`. */
static int end_is_paused(const struct vpa_blocks_writer *w, uint64_t last_ns, uint64_t until_ns)
{
	return is_paused(w, vpa_earlier(last_ns, until_ns) - 1, until_ns);
}

int vpa_scope_is_whole(const struct vpa_blocks_writer *w, uint32_t id)
{
	const struct vpa_model *m = w->c->model;
	const struct vpa_scope *scope = vpa_blocks_scope(w->s, id);
	const struct vpa_scope_gpu *gpu = &w->s->gpu[id];
	uint64_t first_ns = scope->start_ns, last_ns = scope->end_ns;

	if (!scope->finished || scope->cut_off || scope->start_ns < m->window_start_ns ||
		scope->end_ns > m->window_end_ns)
		return 0;
	if (gpu->first_ns != UINT64_MAX) {
		first_ns = gpu->first_ns;
		last_ns = w->s->sweep.cuts[gpu->cut].time_ns;
	}
	return !vpa_intervals_cut(
		&w->c->resolver->paused, scope->start_ns, first_ns, last_ns, scope->end_ns);
}

/* Whether the window or a pause cuts off the end of a block with ops. */
static int end_is_cut(
	const struct vpa_blocks_writer *w, const struct vpa_scope *scope, uint64_t last_ns)
{
	return !scope->finished || scope->cut_off || scope->end_ns > w->c->model->window_end_ns ||
	       end_is_paused(w, last_ns, scope->end_ns);
}

/* The outermost request around a scope. */
static uint32_t outermost(const struct vpa_blocks_writer *w, uint32_t request)
{
	const struct vpa_scope *all = w->s->pipeline->scopes;

	while (request != VPA_NONE && all[request].request != VPA_NONE &&
		counts(w, VPA_SCOPE_REQUEST, all[all[request].request].label.source))
		request = all[request].request;
	return request;
}

static int compare_groups(const void *pa, const void *pb)
{
	const struct vpa_blocks_group *a = pa, *b = pb;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	/* The window's own group goes first, then longer requests. */
	if (!a->scope != !b->scope)
		return a->scope ? 1 : -1;
	return a->host_end_ns > b->host_end_ns ? -1 : a->host_end_ns < b->host_end_ns;
}

static int find_requests(struct vpa_blocks_writer *w)
{
	struct vpa_blocks_table *s = w->s;
	const struct vpa_model *m = w->c->model;
	uint32_t i;

	w->groups = vpt_calloc(s->pipeline->kept_count + 1, sizeof(*w->groups));
	w->group_of = vpt_calloc(s->gpu_count + 1, sizeof(*w->group_of));
	w->measured = vpt_calloc(s->gpu_count + 1, 1);
	if (!w->groups || !w->group_of || !w->measured)
		return VPT_ENOMEM;
	w->groups[w->group_count++] = (struct vpa_blocks_group){.id = VPA_NONE,
		.start_ns = m->window_start_ns,
		.host_end_ns = m->window_end_ns,
		.end_edge = VPA_NONE};
	for (i = 0; i < s->gpu_count; i++) {
		const struct vpa_scope *r = vpa_blocks_scope(s, i);

		if (!is_kept(s, i) || r->label.kind != VPA_SCOPE_REQUEST ||
			!counts(w, r->label.kind, r->label.source) || outermost(w, i) != i ||
			r->start_ns < m->window_start_ns)
			continue;
		w->groups[w->group_count++] = (struct vpa_blocks_group){.id = i,
			.scope = r,
			.start_ns = r->start_ns,
			.host_end_ns = r->finished ? r->end_ns : m->window_end_ns,
			.end_edge = s->sweep.cuts[s->gpu[i].cut].edge};
	}
	qsort(w->groups, w->group_count, sizeof(*w->groups), compare_groups);
	for (i = 0; i < w->group_count; i++)
		if (w->groups[i].scope)
			w->group_of[w->groups[i].id] = i + 1;
	return VPT_OK;
}

/* The newest request open on the host at a moment, of a thread or (VPA_NONE) of any, else the
 * window's own group. Groups are in order of start, the window's first. */
static uint32_t group_of_thread_at(const struct vpa_blocks_writer *w, uint32_t thread, uint64_t t)
{
	size_t low = 1, high = w->group_count, i;

	VPT_SEARCH(low, high, middle, w->groups[middle].start_ns <= t);
	for (i = low; i-- > 1;)
		if (w->groups[i].host_end_ns >= t &&
			(thread == VPA_NONE || w->groups[i].scope->thread == thread))
			return (uint32_t)i;
	return 0;
}

static uint32_t group_at(const struct vpa_blocks_writer *w, uint64_t t)
{
	return group_of_thread_at(w, VPA_NONE, t);
}

/* If requests overlap, a mark belongs to its thread's, if there is one. */
static uint32_t group_of_mark(const struct vpa_blocks_writer *w, const struct vpa_ready_mark *mark)
{
	uint32_t group = group_of_thread_at(w, mark->thread, mark->time_ns);

	return group ? group : group_at(w, mark->time_ns);
}

/* ---- blocks ---- */

/* A range entirely inside another block is not a block of the video, whatever its name. */
static int is_inside(const struct vpa_blocks_writer *w, const struct vpa_scope *scope)
{
	const struct vpa_scope *around;

	if (scope->label.source == VPA_SOURCE_ANNOTATION || scope->block == VPA_NONE)
		return 0;
	around = vpa_blocks_scope(w->s, scope->block);
	return counts(w, VPA_SCOPE_BLOCK, around->label.source) &&
	       around->start_ns <= scope->start_ns &&
	       (!around->finished || scope->end_ns <= around->end_ns);
}

uint32_t vpa_block_around(const struct vpa_blocks_writer *w, uint32_t block)
{
	while (block != VPA_NONE) {
		const struct vpa_scope *scope = vpa_blocks_scope(w->s, block);

		if (counts(w, VPA_SCOPE_BLOCK, scope->label.source) && !is_inside(w, scope))
			break;
		block = scope->block;
	}
	return block;
}

static uint32_t group_of_block(const struct vpa_blocks_writer *w, const struct vpa_scope *scope)
{
	uint32_t request = outermost(w, scope->request);

	if (request != VPA_NONE && w->group_of[request])
		return w->group_of[request] - 1;
	return group_at(w, scope->start_ns);
}

static int compare_host(const void *pa, const void *pb)
{
	const struct vpa_kept_block *a = pa, *b = pb;

	if (a->scope->start_ns != b->scope->start_ns)
		return a->scope->start_ns < b->scope->start_ns ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static int compare_ends(const void *pa, const void *pb)
{
	const struct vpa_kept_block *a = pa, *b = pb;

	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return compare_host(pa, pb);
}

/* Gives each group its part of the blocks, which come in any order. */
static int split_blocks(struct vpa_blocks_writer *w)
{
	struct vpa_kept_block *sorted = vpt_alloc(w->block_count, sizeof(*sorted));
	size_t at = 0, g, i;

	if (!sorted)
		return VPT_ENOMEM;
	for (g = 0; g < w->group_count; g++) {
		w->groups[g].blocks = sorted + at;
		at += w->groups[g].block_count;
		w->groups[g].block_count = 0;
	}
	for (i = 0; i < w->block_count; i++) {
		struct vpa_blocks_group *group = &w->groups[w->group_of[w->blocks[i].id] - 1];

		group->blocks[group->block_count++] = w->blocks[i];
	}
	vpt_free(w->blocks);
	w->blocks = sorted;
	for (g = 0; g < w->group_count; g++)
		qsort(w->groups[g].blocks, w->groups[g].block_count, sizeof(*sorted), compare_host);
	return VPT_OK;
}

static int find_blocks(struct vpa_blocks_writer *w)
{
	struct vpa_blocks_table *s = w->s;
	uint32_t i;

	w->blocks = vpt_alloc(s->pipeline->kept_count, sizeof(*w->blocks));
	if (!w->blocks)
		return VPT_ENOMEM;
	for (i = 0; i < s->gpu_count; i++) {
		const struct vpa_scope *b = vpa_blocks_scope(s, i);
		const struct vpa_scope_gpu *gpu = &s->gpu[i];
		uint32_t group;

		if (!is_kept(s, i) || b->label.kind != VPA_SCOPE_BLOCK ||
			!counts(w, b->label.kind, b->label.source) || is_inside(w, b))
			continue;
		group = group_of_block(w, b);
		if (gpu->first_ns == UINT64_MAX) {
			w->groups[group].left_out++;
			continue;
		}
		w->group_of[i] = group + 1;
		w->groups[group].block_count++;
		w->blocks[w->block_count++] = (struct vpa_kept_block){.scope = b,
			.id = i,
			.edge = s->sweep.cuts[gpu->cut].edge,
			.start_ns = gpu->first_ns,
			.end_ns = s->sweep.cuts[gpu->cut].time_ns,
			.is_cut = !vpa_scope_is_whole(w, i),
			.end_is_cut = end_is_cut(w, b, s->sweep.cuts[gpu->cut].time_ns),
			.mark_frames = -1};
	}
	return split_blocks(w);
}

/* The newest block of this index (-1: any) that had begun at a moment. Blocks are in order of host
 * start. */
static struct vpa_kept_block *block_before(struct vpa_blocks_group *g, uint64_t t, int64_t index)
{
	size_t low = 0, high = g->block_count;

	VPT_SEARCH(low, high, middle, g->blocks[middle].scope->start_ns <= t);
	while (low-- > 0)
		if (index < 0 || g->blocks[low].scope->label.index == index)
			return &g->blocks[low];
	return NULL;
}

static uint64_t host_end(const struct vpa_kept_block *b)
{
	return vpa_later(b->scope->end_ns, b->mark_ns);
}

/* Leaves out the blocks that are cut, once all are in order of their ends. The end of one whose beginning alone
 * is cut is where the next one's period begins. */
static void leave_out_cut(struct vpa_blocks_writer *w, struct vpa_blocks_group *g)
{
	struct vpa_kept_block before = {.end_is_cut = 1};
	size_t kept = 0, i;

	for (i = 0; i < g->block_count; i++) {
		struct vpa_kept_block b = g->blocks[i];

		if (b.is_cut) {
			w->group_of[b.id] = 0;
			g->left_out++;
		} else {
			b.has_before = kept && !before.end_is_cut &&
				       !is_paused(w, host_end(&before), b.scope->start_ns);
			b.before = before.edge;
			b.before_ns = before.end_ns;
			g->after_pause += kept && !b.has_before;
			g->blocks[kept++] = b;
		}
		before = b;
	}
	g->block_count = kept;
}

/* The end of a block whose frames became ready while recording paused is not known. */
static void cut_paused_marks(struct vpa_blocks_writer *w, struct vpa_blocks_group *g)
{
	size_t i;

	for (i = 0; i < g->block_count; i++) {
		struct vpa_kept_block *b = &g->blocks[i];

		if (!b->ready_mark)
			continue;
		b->end_is_cut |= end_is_paused(w, b->end_ns, b->mark_ns);
		b->is_cut |= b->end_is_cut;
	}
}

static void apply_marks(struct vpa_blocks_writer *w)
{
	struct vpa_blocks_table *s = w->s;
	size_t i, g;

	for (i = 0; i < s->mark_count; i++) {
		const struct vpa_ready_mark *mark = &s->marks[i];
		const struct vpa_sweep_cut *cut =
			mark->cut == VPA_NONE ? NULL : &s->sweep.cuts[mark->cut];
		struct vpa_kept_block *b = block_before(
			&w->groups[group_of_mark(w, mark)], mark->time_ns, mark->index);

		/* A thread that launched nothing, or nothing since the block began, gives no end. */
		if (!b || !cut || cut->edge == VPA_NONE || cut->time_ns <= b->start_ns)
			continue;
		/* The last of several marks counts; among equal ones, the later end. */
		if (b->ready_mark &&
			(mark->time_ns < b->mark_ns ||
				(mark->time_ns == b->mark_ns && cut->time_ns <= b->end_ns)))
			continue;
		b->edge = cut->edge;
		b->end_ns = cut->time_ns;
		b->mark_frames = mark->frames;
		b->mark_ns = mark->time_ns;
		b->ready_mark = 1;
	}
	for (g = 0; g < w->group_count; g++) {
		cut_paused_marks(w, &w->groups[g]);
		qsort(w->groups[g].blocks, w->groups[g].block_count, sizeof(*w->blocks),
			compare_ends);
		leave_out_cut(w, &w->groups[g]);
	}
}

/* ---- steps and parts ---- */

/* The group of its block, else of its request, else by time. */
static uint32_t group_of_sample(
	const struct vpa_blocks_writer *w, const struct vpa_stage_sample *sample)
{
	uint32_t request;

	if (sample->block != VPA_NONE && w->group_of[sample->block])
		return w->group_of[sample->block] - 1;
	request = outermost(w, sample->request);
	if (request != VPA_NONE && w->group_of[request])
		return w->group_of[request] - 1;
	return group_at(w, sample->first_ns);
}

static int split_samples(struct vpa_blocks_writer *w)
{
	const struct vpa_blocks_table *s = w->s;
	size_t at = 0, g, i;

	w->samples = vpt_alloc(s->sample_count, sizeof(*w->samples));
	if (!w->samples)
		return VPT_ENOMEM;
	for (i = 0; i < s->sample_count; i++)
		w->groups[group_of_sample(w, &s->samples[i])].sample_count++;
	for (g = 0; g < w->group_count; g++) {
		w->groups[g].samples = w->samples + at;
		at += w->groups[g].sample_count;
		w->groups[g].sample_count = 0;
	}
	for (i = 0; i < s->sample_count; i++) {
		struct vpa_blocks_group *group = &w->groups[group_of_sample(w, &s->samples[i])];

		w->samples[(size_t)(group->samples - w->samples) + group->sample_count++] =
			(uint32_t)i;
	}
	return VPT_OK;
}

/* A request that launched nothing itself ends where the next one's blocks begin. */
static void find_ends(struct vpa_blocks_writer *w)
{
	uint32_t next = VPA_NONE;
	size_t g;

	for (g = w->group_count; g-- > 0;) {
		struct vpa_blocks_group *group = &w->groups[g];

		if (group->scope && group->end_edge == VPA_NONE)
			group->end_edge = next;
		if (group->scope && group->block_count)
			next = w->s->gpu[group->blocks[0].id].pin;
	}
}

int vpa_blocks_groups_find(struct vpa_blocks_writer *w)
{
	int rc;

	find_sources(w);
	rc = find_requests(w);
	if (!rc)
		rc = find_blocks(w);
	if (rc)
		return rc;
	apply_marks(w);
	find_ends(w);
	vpa_plain_parts_choose(w);
	return split_samples(w);
}

void vpa_blocks_groups_free(struct vpa_blocks_writer *w)
{
	vpt_free(w->groups);
	vpt_free(w->samples);
	vpt_free(w->group_of);
	vpt_free(w->measured);
	vpt_free(w->blocks);
}
