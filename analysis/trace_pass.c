/* trace_pass.c - a trace's chunks, one after the other: read, joined, and handed on until no future chunk can change them. */
#include "analysis/trace_pass.h"

#include "analysis/trust/verdict.h"
#include "formats/base/memory.h"
#include "formats/chunk/chunk.h"

#include <malloc.h>

/* ---- chunks ---- */

/* Whether it only looks for something, which needs no folds. */
static int is_looking(const struct vpa_trace_pass *p)
{
	return p->is_enough != NULL;
}

/* Joins devices that have worked with the rows that describe them, whichever comes last. */
static void pass_on_sm_counts(void *ctx)
{
	struct vpa_trace_pass *p = ctx;
	const struct vpa_report *r = p->report;
	size_t i, k;

	for (i = 0; i < p->idle.device_count; i++)
		for (k = 0; k < r->gpu_count; k++)
			if (r->gpus[k].device == p->model.devices[i])
				p->idle.devices[i].sm_count = r->gpus[k].sm_count;
}

static int read_tables(struct vpa_trace_pass *p, const struct vpt_batch *b)
{
	size_t i;
	uint32_t row;

	if (vpa_recorded_facts_read(p->report, b))
		return VPT_ENOMEM;
	pass_on_sm_counts(p);
	p->model.zero_is_time = p->reading.zero_is_time;
	if (p->reading.clocks_disagree_ns)
		vpa_resolver_doubt_launches(&p->resolver);
	for (i = 0; i < b->section_count; i++) {
		const struct vpt_section *s = &b->sections[i];

		for (row = 0; s->kind == VPT_CLOCK && row < s->row_count; row++)
			p->last_clock_ns = s->col[VPT_CLOCK_TRACE][row];
	}
	p->model.capture_end_ns = p->last_clock_ns;
	if (b->t_max_ns > p->last_event_ns)
		p->last_event_ns = b->t_max_ns;
	return VPT_OK;
}

/* Whether there may be gaps yet: the one at the window's end has a cause of its own. */
static int has_gaps(const struct vpa_trace_pass *p)
{
	return !is_looking(p) && p->resolver.released_ns <= p->model.window_end_ns;
}

/* No future gap or launch will ask for anything before this time. */
static uint64_t frontier_of(const struct vpa_trace_pass *p, uint64_t times_from)
{
	uint64_t idle = has_gaps(p) ? vpa_idle_frontier(&p->idle) : times_from;

	return idle < times_from ? idle : times_from;
}

/* Gaps inside a newly found unreadable place have a cause of their own. */
static int add_hole(struct vpa_trace_pass *p, uint64_t holes)
{
	const struct vpa_interval *hole = &p->reading.hole;

	return p->reading.holes > holes
		       ? vpa_resolver_lose(&p->resolver, hole->start_ns, hole->end_ns)
		       : VPT_OK;
}

/* Ranges are left out that begin after the chunks of the window, or are in a chunk that is read for something else, before the
 * first that is read for the window: they are around nothing in it, and the chunk in which they end may be left out. */
static void leave_ranges(struct vpt_batch *b, uint64_t last_ns)
{
	size_t i;

	for (i = 0; i < b->section_count; i++) {
		struct vpt_section *s = &b->sections[i];

		if (s->kind == VPT_OPEN || s->kind == VPT_RANGE)
			vpt_section_keep_until(
				s, s->kind == VPT_OPEN ? VPT_OPEN_START : VPT_RANGE_START, last_ns);
	}
}

/* First for the ranges of the last chunk, which read idle time, then for the ops, whose ranges are about to end. */
int vpa_trace_pass_release(struct vpa_trace_pass *p, uint64_t until_ns)
{
	int rc = vpa_folds_settle(&p->folds), own;

	if (!rc)
		rc = vpa_resolver_release(&p->resolver, until_ns);
	own = vpa_folds_settle(&p->folds);
	return rc ? rc : own;
}

static int add_chunk(
	struct vpa_trace_pass *p, size_t index, struct vpt_batch *b, enum vpt_chunk_use use)
{
	uint64_t times_from = vpt_trace_times_from(p->trace, index + 1), holes = p->reading.holes;
	uint64_t until;
	int rc;

	vpa_long_names_cut(&p->long_names, &b->strings);
	p->resolver.names_cut = p->long_names.cut;
	rc = vpa_completeness_chunk(&p->reading, index, b);
	if (!rc)
		rc = add_hole(p, holes);
	if (!rc)
		rc = read_tables(p, b);
	if (p->chosen.uses)
		leave_ranges(b, use == VPT_CHUNK_KNOWN ? 0 : p->chosen.until_ns);
	if (!rc)
		rc = vpa_resolver_add(&p->resolver, b);
	if (!rc && !is_looking(p))
		rc = vpa_folds_sections(&p->folds, b);
	if (!rc)
		rc = vpa_trace_pass_release(p, times_from);
	/* Some ops may have to wait for more than the next chunks. */
	if (p->resolver.released_ns < times_from)
		times_from = p->resolver.released_ns;
	if (!rc && p->observer->chunk)
		rc = vpt_chunk_unpack(b);
	if (!rc && p->observer->chunk)
		rc = p->observer->chunk(p->observer->ctx, b, times_from);
	if (rc)
		return rc;
	until = frontier_of(p, times_from);
	if (has_gaps(p))
		vpa_idle_pass(&p->idle, until);
	return vpa_resolver_trim(&p->resolver, until);
}

static int add_damage(struct vpa_trace_pass *p, size_t index, const char *text)
{
	uint64_t holes = p->reading.holes;
	int rc = vpa_completeness_damage(&p->reading, index, text);

	if (!rc)
		rc = add_hole(p, holes);
	if (!rc && p->observer->damage)
		rc = p->observer->damage(p->observer->ctx, text);
	/* Releases what this chunk held back. */
	return rc ? rc : vpa_trace_pass_release(p, vpt_trace_times_from(p->trace, index + 1));
}

/* A chunk without a row that matters to the window. */
static int leave_chunk(struct vpa_trace_pass *p, size_t index)
{
	const uint64_t *values;
	int rc = vpa_folds_settle(&p->folds);

	/* What is left out of a search says nothing of its range. */
	if (rc || is_looking(p))
		return rc;
	values = vpt_chunk_contents(&p->chosen, index);
	vpa_resolver_leave(&p->resolver, values);
	if (values[VPT_CONTENTS_T_MAX] > p->last_event_ns)
		p->last_event_ns = values[VPT_CONTENTS_T_MAX];
	return vpa_completeness_left(&p->reading, index, values);
}

static int take_chunk(
	struct vpa_trace_pass *p, struct vpa_prefetch *chunks, size_t index, struct vpt_err *err)
{
	enum vpt_chunk_use use = vpt_chunk_use(&p->chosen, index);
	struct vpt_err damage = {0};
	struct vpt_batch *b;
	int rc;

	if (use == VPT_CHUNK_LEFT)
		return leave_chunk(p, index);
	rc = vpa_prefetch_next(chunks, &b, &damage);
	if (rc == VPT_EDATA)
		return add_damage(p, index, damage.text);
	if (rc)
		*err = damage;
	return rc ? rc : add_chunk(p, index, b, use);
}

/* What the chunks took, in every thread's arena: tables are about to take more than the rest of the pass. */
static void give_memory_back(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

int vpa_trace_pass_read(struct vpa_trace_pass *p, struct vpt_err *err)
{
	struct vpa_prefetch *chunks;
	size_t i, count = vpt_trace_chunks(p->trace);
	/* To decode a chunk takes a third of the time that folds need for the one before. */
	unsigned ahead = is_looking(p) ? 0 : 1;
	int rc = vpa_prefetch_start(p->trace, &p->chosen, p->options->jobs, ahead, &chunks, err),
	    own;

	vpa_long_names_begin(&p->long_names, vpt_trace_size_bytes(p->trace));
	if (rc)
		return rc;
	vpa_folds_share(&p->folds, vpa_prefetch_crew(chunks));
	for (i = 0; i < count && !rc; i++) {
		rc = take_chunk(p, chunks, i, err);
		if (!rc && p->options->progress)
			p->options->progress(p->options->progress_ctx, i + 1, count);
		if (!rc && p->is_enough && p->is_enough(p->is_enough_ctx))
			break;
	}
	own = vpa_folds_unshare(&p->folds);
	vpa_prefetch_stop(chunks);
	give_memory_back();
	rc = rc ? rc : own;
	if (rc == VPT_ENOMEM)
		vpt_fail(err, rc, "no memory after %zu of %zu chunks", i, count);
	return rc;
}

/* ---- begin and end ---- */

void vpa_trace_pass_end_window(struct vpa_trace_pass *p)
{
	struct vpa_model *m = &p->model;
	uint64_t end = p->last_clock_ns ? p->last_clock_ns : p->last_event_ns;
	size_t i;

	/* A killed capture has no last clock point after its last event. */
	if (p->last_event_ns > end && !p->reading.has_end && !p->resolver.far_ops)
		end = p->last_event_ns;
	/* An op may end after the last clock point: extend the window to it. */
	for (i = 0; i < p->idle.device_count; i++)
		if (p->idle.devices[i].cursor_ns > end)
			end = p->idle.devices[i].cursor_ns;
	if (end < m->window_start_ns)
		end = m->window_start_ns;
	if (m->window_end_ns > end)
		m->window_end_ns = end;
}

int vpa_trace_pass_start(
	struct vpa_trace_pass *p, const struct vpa_resolver_sink *sink, struct vpt_err *err)
{
	static const struct vpa_observer nobody;
	const struct vpa_options *o = p->options;

	p->observer = o->observer && !is_looking(p) ? o->observer : &nobody;
	if (o->rules) {
		p->rules = vpa_rules_read(o->rules, o->rules_len, err);
		if (!p->rules)
			return err && err->code ? err->code : VPT_EDATA;
		p->stage_rules = vpa_range_rules_read(o->rules, o->rules_len, err);
		if (!p->stage_rules)
			return err && err->code ? err->code : VPT_EDATA;
		p->frame_rules = vpa_frame_rules_read(o->rules, o->rules_len, err);
		if (!p->frame_rules)
			return err && err->code ? err->code : VPT_EDATA;
		p->model.stacks.rules = p->frame_rules;
	}
	vpa_completeness_begin(&p->reading, p->trace);
	if (vpa_resolver_init(&p->resolver, &p->model, p->rules, sink))
		return vpt_fail(err, VPT_ENOMEM, "no memory to analyze a trace");
	p->idle.resolver = &p->resolver;
	p->idle.grown = pass_on_sm_counts;
	p->idle.ctx = p;
	p->folds.context = (struct vpa_fold_context){&p->model, &p->resolver, &p->idle, o,
		o->top ? o->top : VPA_TOP_USUAL, &p->pipeline, &p->folds.lanes, &p->folds.stages};
	vpa_pipeline_init(&p->pipeline, &p->model, p->stage_rules);
	p->pipeline.is_diffusion = o->frames_per_block || o->latents_per_block;
	return vpa_folds_begin(&p->folds)
		       ? vpt_fail(err, VPT_ENOMEM, "no memory to analyze a trace")
		       : VPT_OK;
}

void vpa_trace_pass_free(struct vpa_trace_pass *p)
{
	vpa_folds_free(&p->folds);
	vpa_resolver_free(&p->resolver);
	vpa_idle_free(&p->idle);
	vpa_pipeline_free(&p->pipeline);
	vpa_completeness_free(&p->reading);
	vpt_chunk_choice_free(&p->chosen);
	vpa_rules_free(p->rules);
	vpa_range_rules_free(p->stage_rules);
	vpa_frame_rules_free(p->frame_rules);
	vpt_strings_free(&p->model.names);
	vpt_strings_free(&p->model.recorded);
	vpa_stacks_free(&p->model.stacks);
	vpt_free(p->model.kernels);
	vpa_index_free(&p->model.shapes);
	vpt_free(p->model.streams);
	vpt_free(p->model.threads);
	vpt_free(p->model.devices);
}
