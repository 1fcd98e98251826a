/* blocks_write.c - instances become requests with their blocks, and a table of stages.
 *
 * A request is a range of that kind; without any it is the whole window. It ends with the last op launched in
 * it; one that launched nothing itself (a thread that waits for others) ends on the host. A block belongs to the request
 * around it, else to the one that is open when it begins on the host. Indices restart with each
 * request, and no period spans two. A frames-ready mark belongs to the newest block of its index in its
 * request that had begun on the host; of requests that are open at once its own is the newest of its thread, else of any. */
#include "analysis/folds/blocks.h"

#include "analysis/spread.h"
#include "formats/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NOTES_MAX = 6 };

void vpa_block_note(struct vpa_blocks_writer *w, const char *text)
{
	struct vpa_report *out = w->out;
	size_t i;

	for (i = 0; i < out->block_note_count; i++)
		if (!strcmp(out->block_notes[i], text))
			return;
	if (out->block_note_count < NOTES_MAX)
		out->block_notes[out->block_note_count++] = text;
}

/* ---- annotations put rules aside ---- */

/* Kinds that stand for each other. */
static enum vpa_stage_kind family_of(enum vpa_stage_kind kind)
{
	return kind == VPA_STAGE_CONTEXT ? VPA_STAGE_STEP : kind;
}

static int counts(
	const struct vpa_blocks_writer *w, enum vpa_stage_kind kind, enum vpa_stage_source source)
{
	return source == VPA_SOURCE_ANNOTATION || !w->has_annotation[family_of(kind)];
}

enum vpa_stage_kind vpa_row_kind(
	const struct vpa_blocks_writer *w, const struct vpa_stage_kept *row)
{
	if (!row->count || !counts(w, row->kind, row->source))
		return VPA_STAGE_NONE;
	if (row->source == VPA_SOURCE_MARKS && row != w->laps)
		return VPA_STAGE_NONE;
	return row->kind;
}

/* Of the rows that are laps one counts at most: steps where there are no others, else iterations where there is neither a
 * block nor a step, nor another iteration; by their optimizer rather than by their loader. */
static void choose_laps(struct vpa_blocks_writer *w)
{
	const struct vpa_blocks_state *s = w->s;
	const struct vpa_stage_kept *best = NULL;
	int has_steps = 0, has_iterations = 0;
	size_t i;

	for (i = 0; i < s->row_index.count; i++) {
		const struct vpa_stage_kept *row = &s->rows[i];

		if (!row->count || !counts(w, row->kind, row->source))
			continue;
		if (row->source != VPA_SOURCE_MARKS) {
			has_steps |= row->kind == VPA_STAGE_STEP;
			has_iterations |= row->kind == VPA_STAGE_ITERATION;
		} else if (!best || row->lap < best->lap) {
			best = row;
		}
	}
	if (!best || has_steps || (best->lap != VPA_LAP_STEP && (s->has_blocks || has_iterations)))
		return;
	w->laps = best;
}

static void find_sources(struct vpa_blocks_writer *w)
{
	const struct vpa_blocks_state *s = w->s;
	size_t i;

	for (i = 0; i < s->instance_count; i++)
		if (s->instances[i].cut != VPA_NONE &&
			s->instances[i].label.source == VPA_SOURCE_ANNOTATION)
			w->has_annotation[s->instances[i].label.kind] = 1;
	for (i = 0; i < s->row_index.count; i++)
		if (s->rows[i].count && s->rows[i].source == VPA_SOURCE_ANNOTATION)
			w->has_annotation[family_of(s->rows[i].kind)] = 1;
	choose_laps(w);
}

const struct vpa_stage_sum *vpa_stage_sum_of(
	const struct vpa_blocks_writer *w, uint32_t block, uint32_t row)
{
	uint32_t at = vpa_index_find(&w->s->sum_index, (uint64_t)(block + 1), row);

	return at == UINT32_MAX ? NULL : &w->s->sums[at];
}

const char *vpa_stage_row_name(const struct vpa_blocks_writer *w, const struct vpa_stage_kept *row)
{
	switch (row->kind) {
	case VPA_STAGE_STEP:
		return "denoise step";
	case VPA_STAGE_CONTEXT:
		return "context pass";
	case VPA_STAGE_ITERATION:
		return row->name ? vpa_fold_name(w->out, w->c->model, row->name)
				 : "iteration (ProfilerStep)";
	default:
		return row->name ? vpa_fold_name(w->out, w->c->model, row->name) : "(other stages)";
	}
}

/* ---- requests ---- */

int vpa_instance_is_whole(const struct vpa_blocks_writer *w, const struct vpa_instance *i)
{
	const struct vpa_model *m = w->c->model;

	return i->finished && !i->cut_off && i->start_ns >= m->window_start_ns &&
	       i->end_ns <= m->window_end_ns;
}

/* The outermost request around an instance. */
static uint32_t outermost(const struct vpa_blocks_writer *w, uint32_t request)
{
	const struct vpa_instance *all = w->s->instances;

	while (request != VPA_NONE && all[request].request != VPA_NONE &&
		counts(w, VPA_STAGE_REQUEST, all[all[request].request].label.source))
		request = all[request].request;
	return request;
}

static int compare_groups(const void *pa, const void *pb)
{
	const struct vpa_blocks_group *a = pa, *b = pb;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	/* The window's own group goes first, then longer requests. */
	if (!a->instance != !b->instance)
		return a->instance ? 1 : -1;
	return a->host_end_ns > b->host_end_ns ? -1 : a->host_end_ns < b->host_end_ns;
}

static int find_requests(struct vpa_blocks_writer *w)
{
	struct vpa_blocks_state *s = w->s;
	const struct vpa_model *m = w->c->model;
	size_t i;

	w->groups = vpt_calloc(s->block_count + 1, sizeof(*w->groups));
	w->group_of = vpt_calloc(s->instance_count + 1, sizeof(*w->group_of));
	w->measured = vpt_calloc(s->instance_count + 1, 1);
	if (!w->groups || !w->group_of || !w->measured)
		return VPT_ENOMEM;
	w->groups[w->group_count++] = (struct vpa_blocks_group){.start_ns = m->window_start_ns,
		.host_end_ns = m->window_end_ns,
		.end_edge = VPA_NONE};
	for (i = 0; i < s->instance_count; i++) {
		const struct vpa_instance *r = &s->instances[i];

		if (r->cut == VPA_NONE || r->label.kind != VPA_STAGE_REQUEST ||
			!counts(w, r->label.kind, r->label.source) ||
			outermost(w, (uint32_t)i) != i || r->start_ns < m->window_start_ns)
			continue;
		w->groups[w->group_count++] = (struct vpa_blocks_group){.instance = r,
			.start_ns = r->start_ns,
			.host_end_ns = r->finished ? r->end_ns : m->window_end_ns,
			.end_edge = s->sweep.cuts[r->cut].edge};
	}
	qsort(w->groups, w->group_count, sizeof(*w->groups), compare_groups);
	for (i = 0; i < w->group_count; i++)
		if (w->groups[i].instance)
			w->group_of[w->groups[i].instance - s->instances] = (uint32_t)i + 1;
	return VPT_OK;
}

/* The newest request that is open on the host at a moment, of a thread or (VPA_NONE) of any, else the window's own
 * group. Groups stand in order of start, the window's first. */
static uint32_t group_of_thread_at(const struct vpa_blocks_writer *w, uint32_t thread, uint64_t t)
{
	size_t low = 1, high = w->group_count, i;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (w->groups[middle].start_ns <= t)
			low = middle + 1;
		else
			high = middle;
	}
	for (i = low; i-- > 1;)
		if (w->groups[i].host_end_ns >= t &&
			(thread == VPA_NONE || w->groups[i].instance->thread == thread))
			return (uint32_t)i;
	return 0;
}

static uint32_t group_at(const struct vpa_blocks_writer *w, uint64_t t)
{
	return group_of_thread_at(w, VPA_NONE, t);
}

/* Where requests overlap, a mark is of the one of its thread, if that has one. */
static uint32_t group_of_mark(const struct vpa_blocks_writer *w, const struct vpa_ready_mark *mark)
{
	uint32_t group = group_of_thread_at(w, mark->thread, mark->time_ns);

	return group ? group : group_at(w, mark->time_ns);
}

/* ---- blocks ---- */

/* A name that stands inside another block for all of its time is no block of the video. */
static int is_inside(const struct vpa_blocks_writer *w, const struct vpa_instance *i)
{
	const struct vpa_instance *around;

	if (i->label.source == VPA_SOURCE_ANNOTATION || i->block == VPA_NONE)
		return 0;
	around = &w->s->instances[i->block];
	return counts(w, VPA_STAGE_BLOCK, around->label.source) &&
	       around->start_ns <= i->start_ns &&
	       (!around->finished || i->end_ns <= around->end_ns);
}

static uint32_t group_of_block(const struct vpa_blocks_writer *w, const struct vpa_instance *i)
{
	uint32_t request = outermost(w, i->request);

	if (request != VPA_NONE && w->group_of[request])
		return w->group_of[request] - 1;
	return group_at(w, i->start_ns);
}

static int compare_host(const void *pa, const void *pb)
{
	const struct vpa_kept_block *a = pa, *b = pb;

	if (a->instance->start_ns != b->instance->start_ns)
		return a->instance->start_ns < b->instance->start_ns ? -1 : 1;
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

/* Hands each group its part of the blocks, which come in any order. */
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
	struct vpa_blocks_state *s = w->s;
	size_t i;

	w->blocks = vpt_alloc(s->block_count, sizeof(*w->blocks));
	if (!w->blocks)
		return VPT_ENOMEM;
	for (i = 0; i < s->instance_count; i++) {
		const struct vpa_instance *b = &s->instances[i];
		uint32_t group;

		if (b->cut == VPA_NONE || b->label.kind != VPA_STAGE_BLOCK ||
			!counts(w, b->label.kind, b->label.source) || is_inside(w, b))
			continue;
		group = group_of_block(w, b);
		if (!vpa_instance_is_whole(w, b) || b->first_ns == UINT64_MAX) {
			w->groups[group].left_out++;
			continue;
		}
		w->group_of[i] = group + 1;
		w->groups[group].block_count++;
		w->blocks[w->block_count++] = (struct vpa_kept_block){.instance = b,
			.id = (uint32_t)i,
			.edge = s->sweep.cuts[b->cut].edge,
			.start_ns = b->first_ns,
			.end_ns = s->sweep.cuts[b->cut].time_ns,
			.mark_frames = -1};
	}
	return split_blocks(w);
}

/* The newest block of this index that had begun at a moment; any index if it is -1. Blocks by host start. */
static struct vpa_kept_block *block_before(struct vpa_blocks_group *g, uint64_t t, int64_t index)
{
	size_t low = 0, high = g->block_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (g->blocks[middle].instance->start_ns <= t)
			low = middle + 1;
		else
			high = middle;
	}
	while (low-- > 0)
		if (index < 0 || g->blocks[low].instance->label.index == index)
			return &g->blocks[low];
	return NULL;
}

static void apply_marks(struct vpa_blocks_writer *w)
{
	struct vpa_blocks_state *s = w->s;
	size_t i, g;

	for (i = 0; i < s->mark_count; i++) {
		const struct vpa_ready_mark *mark = &s->marks[i];
		const struct vpa_sweep_cut *cut = &s->sweep.cuts[mark->cut];
		struct vpa_kept_block *b = block_before(
			&w->groups[group_of_mark(w, mark)], mark->time_ns, mark->index);

		/* Of a thread that launched nothing, or nothing since the block began, nothing is learned. */
		if (!b || cut->edge == VPA_NONE || cut->time_ns <= b->start_ns)
			continue;
		/* Of several the last counts, of equal ones the later end. */
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
	for (g = 0; g < w->group_count; g++)
		qsort(w->groups[g].blocks, w->groups[g].block_count, sizeof(*w->blocks),
			compare_ends);
}

/* ---- steps and parts ---- */

/* By the block around it, else by the request, else by time. */
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
	const struct vpa_blocks_state *s = w->s;
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

/* What a request that launched nothing itself has behind its blocks ends where the next one's begin. */
static void find_ends(struct vpa_blocks_writer *w)
{
	uint32_t next = VPA_NONE;
	size_t g;

	for (g = w->group_count; g-- > 0;) {
		struct vpa_blocks_group *group = &w->groups[g];

		if (group->instance && group->end_edge == VPA_NONE)
			group->end_edge = next;
		if (group->instance && group->block_count)
			next = group->blocks[0].instance->pin;
	}
}

/* ---- the tables ---- */

/* The window is a request only where it holds something that no other does. */
static int is_shown(const struct vpa_blocks_writer *w, const struct vpa_blocks_group *g)
{
	size_t i;

	if (g->instance || g->block_count)
		return 1;
	if (w->group_count > 1)
		return 0;
	for (i = 0; i < w->s->row_index.count; i++)
		if (vpa_row_kind(w, &w->s->rows[i]) == VPA_STAGE_STEP)
			return 1;
	return 0;
}

static const char *source_name(enum vpa_stage_source source)
{
	return source == VPA_SOURCE_ANNOTATION ? "annotation"
	       : source == VPA_SOURCE_MARKS    ? "marks"
					       : "rule";
}

static int write_requests(struct vpa_blocks_writer *w)
{
	struct vpa_report *out = w->out;
	size_t i;
	int rc = VPT_OK;

	out->requests = vpa_arena_alloc(&out->arena, w->group_count, sizeof(*out->requests));
	if (!out->requests)
		return VPT_ENOMEM;
	for (i = 0; i < w->group_count && !rc; i++) {
		struct vpa_blocks_group *g = &w->groups[i];
		struct vpa_request *r = &out->requests[out->request_count];

		if (!is_shown(w, g))
			continue;
		out->request_count++;
		g->request = r;
		r->start_ns = g->start_ns;
		r->end_ns = w->s->last_end_ns;
		if (g->instance) {
			r->end_ns = w->s->sweep.cuts[g->instance->cut].time_ns;
			r->end_ns = r->end_ns ? r->end_ns : g->host_end_ns;
			r->name = vpa_fold_name(out, w->c->model, g->instance->name);
			r->source = source_name(g->instance->label.source);
		}
		rc = vpa_group_measure(w, g);
	}
	return rc;
}

struct stage_total {
	struct vpa_stage_sum all, measured;
};

static int spread_of_row(
	const struct vpa_blocks_writer *w, uint32_t row, int measured, struct vpa_spread *out)
{
	struct vpa_spread_builder builder = {0};
	const struct vpa_blocks_state *s = w->s;
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < s->sample_count && !rc; i++) {
		const struct vpa_stage_sample *sample = &s->samples[i];

		if (sample->row != row ||
			(measured && (sample->block == VPA_NONE || !w->measured[sample->block])))
			continue;
		rc = vpa_spread_add(&builder, sample->ns);
	}
	if (!rc)
		*out = vpa_spread_of(&builder);
	vpa_spread_free(&builder);
	return rc ? VPT_ENOMEM : VPT_OK;
}

static void add_sum(struct vpa_stage_sum *to, const struct vpa_stage_sum *from)
{
	to->count += from->count;
	to->total_ns += from->total_ns;
	to->top_ns += from->top_ns;
	to->lap_top_ns += from->lap_top_ns;
	to->busy_ns += from->busy_ns;
	to->idle_ns += from->idle_ns;
	to->attention_ns += from->attention_ns;
}

/* Of all requests together. */
struct measured_blocks {
	uint64_t count, span_ns;
};

static int write_stage(struct vpa_blocks_writer *w, uint32_t row, const struct stage_total *t,
	const struct measured_blocks *blocks)
{
	const struct vpa_stage_kept *kept = &w->s->rows[row];
	const struct vpa_stage_sum *sum = t->measured.count ? &t->measured : &t->all;
	uint64_t of_ns = t->measured.count ? blocks->span_ns : vpa_window_ns(w->out);
	int has_laps = w->laps && w->laps->kind == VPA_STAGE_STEP;
	struct vpa_stage_row *out = &w->out->stages[w->out->stage_count++];

	*out = (struct vpa_stage_row){.name = vpa_stage_row_name(w, kept),
		.kind = vpa_stage_kind_name(kept->kind),
		.source = source_name(kept->source),
		.count = kept->count,
		.in_blocks = t->measured.count,
		.nested = (has_laps ? kept->in_lap : kept->nested) == kept->count,
		.holds_steps = kept->holds_steps,
		.top_ns = sum->top_ns + (has_laps ? 0 : sum->lap_top_ns),
		.busy_ns = sum->busy_ns,
		.idle_ns = sum->idle_ns,
		.attention_ns = sum->attention_ns,
		.share = of_ns ? (double)sum->total_ns / (double)of_ns : 0};
	if (blocks->count)
		out->per_block = (double)t->measured.count / (double)blocks->count;
	return spread_of_row(w, row, t->measured.count > 0, &out->time);
}

static int write_stages(struct vpa_blocks_writer *w)
{
	const struct vpa_blocks_state *s = w->s;
	struct stage_total *totals = vpt_calloc(s->row_index.count, sizeof(*totals));
	struct measured_blocks blocks = {0};
	uint32_t row;
	size_t i;
	int rc = VPT_OK;

	w->out->stages =
		vpa_arena_alloc(&w->out->arena, s->row_index.count, sizeof(*w->out->stages));
	if (!totals || !w->out->stages) {
		vpt_free(totals);
		return VPT_ENOMEM;
	}
	for (i = 0; i < w->out->request_count; i++) {
		blocks.count += w->out->requests[i].blocks.measured;
		blocks.span_ns += w->out->requests[i].blocks.span_ns;
	}
	for (i = 0; i < s->sum_index.count; i++) {
		uint64_t block = s->sum_index.entries[i].a;
		struct stage_total *t = &totals[s->sum_index.entries[i].b];

		add_sum(&t->all, &s->sums[i]);
		if (block && w->measured[block - 1])
			add_sum(&t->measured, &s->sums[i]);
	}
	for (row = 0; row < s->row_index.count && !rc; row++)
		if (vpa_row_kind(w, &s->rows[row]) != VPA_STAGE_NONE)
			rc = write_stage(w, row, &totals[row], &blocks);
	vpt_free(totals);
	return rc;
}

static void write_notes(struct vpa_blocks_writer *w)
{
	uint64_t left_out = w->s->without_ops;
	size_t i;

	for (i = 0; i < w->group_count; i++)
		left_out += w->groups[i].left_out;
	if (left_out)
		vpa_block_note(w, vpa_arena_printf(&w->out->arena,
					  "%" PRIu64 " block%s left out: cut by the window's edge, "
					  "or without work on a GPU",
					  left_out, left_out == 1 ? " is" : "s are"));
	if (w->s->too_many)
		vpa_block_note(w, vpa_arena_printf(&w->out->arena,
					  "%" PRIu64 " ranges are left out of blocks and stages: "
					  "there are too many",
					  w->s->too_many));
}

int vpa_blocks_write(
	struct vpa_blocks_state *s, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_blocks_writer w = {.s = s, .c = c, .out = out};
	int rc = VPT_OK;

	out->target_millifps = c->options->target_millifps;
	out->block_notes = vpa_arena_alloc(&out->arena, NOTES_MAX, sizeof(*out->block_notes));
	if (!out->block_notes)
		return VPT_ENOMEM;
	if (!s->row_index.count && !s->block_count)
		return VPT_OK;
	find_sources(&w);
	rc = find_requests(&w);
	if (!rc)
		rc = find_blocks(&w);
	if (!rc) {
		apply_marks(&w);
		find_ends(&w);
		rc = split_samples(&w);
	}
	if (!rc) {
		rc = write_requests(&w);
	}
	if (!rc)
		rc = write_stages(&w);
	if (!rc)
		write_notes(&w);
	vpt_free(w.groups);
	vpt_free(w.samples);
	vpt_free(w.group_of);
	vpt_free(w.measured);
	vpt_free(w.blocks);
	return rc;
}
