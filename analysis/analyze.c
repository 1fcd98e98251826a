/* analyze.c - one pass over a trace.
 *
 *	chunks -> resolver -> take_ops() and its neighbours -> folds -> report
 *
 * The take_ functions are the order in which an event passes through the rooms. */
#include "analysis/analyze.h"

#include "analysis/advice/checklist.h"
#include "analysis/advice/findings.h"
#include "analysis/folds/observer.h"
#include "analysis/folds/pass.h"
#include "analysis/idle/idle_gaps.h"
#include "analysis/join/prefetch.h"
#include "analysis/names/frame_rules.h"
#include "analysis/names/kernel_rules.h"
#include "analysis/names/long_names.h"
#include "analysis/pipeline/range_choice.h"
#include "analysis/pipeline/range_scopes.h"
#include "analysis/trust/recorded_facts.h"
#include "analysis/trust/verdict.h"
#include "analysis/trust/window_errors.h"
#include "formats/base/memory.h"
#include "formats/chunk/chunk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct vpa_observer no_observer;

struct pass {
	const struct vpt_trace *trace;
	const struct vpa_options *options;
	struct vpa_model model;
	struct vpa_resolver resolver;
	struct vpa_idle idle;
	struct vpa_pipeline pipeline;
	struct vpa_fold_pass folds;
	const struct vpa_observer *observer; /* without functions where there is none */
	struct vpa_rules *rules;
	struct vpa_range_rules *stage_rules;
	struct vpa_frame_rules *frame_rules;
	struct vpa_completeness reading;
	struct vpt_chunk_choice chosen; /* for the window */
	struct vpa_long_names long_names;
	struct vpa_report *report;
	uint64_t last_clock_ns, last_event_ns;
	/* Looking for a range's window. */
	int looking;
	int found;
	uint64_t found_start_ns, found_end_ns;
	struct vpa_range_choice choice;
	struct vpa_range_census census; /* until the range is found */
};

/* ---- what the resolver emits ---- */

static int observe_gap(const struct vpa_observer *o, const struct vpa_gap *gap)
{
	struct vpa_gap named = *gap;

	if (!o->gap || gap->end_ns - gap->start_ns < o->min_gap_ns)
		return VPT_OK;
	vpa_cause_headline(&named);
	return o->gap(o->ctx, &named);
}

/* The gaps that ops->gap_cause describes, one by one, then the ops. */
static int observe_ops(struct pass *p, const struct vpa_ops *ops)
{
	const struct vpa_observer *o = p->observer;
	struct vpa_whole_gap whole;
	size_t i;
	int rc = VPT_OK;

	for (i = 0; o->gap && i < ops->count && !rc; i++) {
		if (!ops->gap_cause[i] || ops->gap_ns[i] < o->min_gap_ns)
			continue;
		vpa_idle_gap(&p->idle, ops, i, &whole);
		rc = observe_gap(o, &whole.gap);
	}
	return rc || !o->ops ? rc : o->ops(o->ctx, ops);
}

/* Gaps that need more than a cause, found while idle time takes ops. */
static int take_gap(void *ctx, const struct vpa_gap *gap)
{
	struct pass *p = ctx;
	int rc = vpa_folds_gap(&p->folds, gap);

	return rc ? rc : observe_gap(p->observer, gap);
}

static int take_ops(void *ctx, struct vpa_ops *ops)
{
	struct pass *p = ctx;
	int rc;

	/* Where lines of Python are known, each gap has its own. */
	p->idle.each = p->observer->gap || vpa_stacks_count(&p->model.stacks) > 1;
	rc = vpa_idle_ops(&p->idle, ops);
	if (!rc)
		rc = vpa_pipeline_ops(&p->pipeline, ops);
	if (!rc)
		rc = vpa_folds_ops(&p->folds, ops);
	if (!rc)
		rc = observe_ops(p, ops);
	vpa_idle_done(&p->idle, ops);
	return rc;
}

static struct vpa_ops *make_room(void *ctx)
{
	return vpa_folds_room(&((struct pass *)ctx)->folds);
}

static int settle_ops(void *ctx)
{
	return vpa_lanes_settle_ops(&((struct pass *)ctx)->folds.lanes);
}

static int settle_folds(void *ctx)
{
	return vpa_folds_settle(&((struct pass *)ctx)->folds);
}

static int take_instants(void *ctx, const struct vpa_ops *ops)
{
	struct pass *p = ctx;
	int rc = vpa_folds_instants(&p->folds, ops);

	return rc || !p->observer->instants ? rc : p->observer->instants(p->observer->ctx, ops);
}

static int take_early_op(void *ctx, const struct vpa_ops *ops, size_t i)
{
	return vpa_idle_early(&((struct pass *)ctx)->idle, ops, i);
}

static int take_range(void *ctx, struct vpa_range *range)
{
	struct pass *p = ctx;
	int rc = vpa_pipeline_end(&p->pipeline, range);

	if (!rc)
		rc = vpa_folds_range(&p->folds, range);
	if (!rc && p->observer->range)
		rc = p->observer->range(p->observer->ctx, range);
	vpa_pipeline_forget(&p->pipeline, range);
	return rc;
}

static int take_call(void *ctx, const struct vpa_call *call)
{
	return vpa_folds_call(&((struct pass *)ctx)->folds, call);
}

static int take_setup(void *ctx, const struct vpa_call *call)
{
	return vpa_folds_setup(&((struct pass *)ctx)->folds, call);
}

static int take_mark(void *ctx, const struct vpa_mark *mark)
{
	return vpa_folds_mark(&((struct pass *)ctx)->folds, mark);
}

/* ---- the pass ---- */

/* Joins devices that have worked with the rows that describe them, whichever comes last. */
static void pass_on_sm_counts(void *ctx)
{
	struct pass *p = ctx;
	const struct vpa_report *r = p->report;
	size_t i, k;

	for (i = 0; i < p->idle.device_count; i++)
		for (k = 0; k < r->gpu_count; k++)
			if (r->gpus[k].device == p->model.devices[i])
				p->idle.devices[i].sm_count = r->gpus[k].sm_count;
}

static int read_tables(struct pass *p, const struct vpt_batch *b)
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
static int has_gaps(const struct pass *p)
{
	return !p->looking && p->resolver.released_ns <= p->model.window_end_ns;
}

/* No future gap or launch will ask for anything before this time. */
static uint64_t frontier_of(const struct pass *p, uint64_t times_from)
{
	uint64_t idle = has_gaps(p) ? vpa_idle_frontier(&p->idle) : times_from;

	return idle < times_from ? idle : times_from;
}

/* Gaps inside a newly found unreadable place have a cause of their own. */
static int add_hole(struct pass *p, uint64_t holes)
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

/* Releases ops to folds, and waits for those that take them aside: first for the ranges of the last chunk, which read
 * idle time, then for the ops, whose ranges are about to end. */
static int release(struct pass *p, uint64_t until_ns)
{
	int rc = vpa_folds_settle(&p->folds), own;

	if (!rc)
		rc = vpa_resolver_release(&p->resolver, until_ns);
	own = vpa_folds_settle(&p->folds);
	return rc ? rc : own;
}

static int add_chunk(struct pass *p, size_t index, struct vpt_batch *b, enum vpt_chunk_use use)
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
	if (!rc && !p->looking)
		rc = vpa_folds_sections(&p->folds, b);
	if (!rc)
		rc = release(p, times_from);
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

static int add_damage(struct pass *p, size_t index, const char *text)
{
	uint64_t holes = p->reading.holes;
	int rc = vpa_completeness_damage(&p->reading, index, text);

	if (!rc)
		rc = add_hole(p, holes);
	if (!rc && p->observer->damage)
		rc = p->observer->damage(p->observer->ctx, text);
	/* Releases what this chunk held back. */
	return rc ? rc : release(p, vpt_trace_times_from(p->trace, index + 1));
}

/* A chunk without a row that matters to the window. */
static int leave_chunk(struct pass *p, size_t index)
{
	const uint64_t *values = vpt_chunk_contents(&p->chosen, index);
	int rc = vpa_folds_settle(&p->folds);

	if (rc)
		return rc;
	vpa_resolver_leave(&p->resolver, values);
	if (values[VPT_CONTENTS_T_MAX] > p->last_event_ns)
		p->last_event_ns = values[VPT_CONTENTS_T_MAX];
	return vpa_completeness_left(&p->reading, index, values);
}

static int is_found(struct pass *p);

static int take_chunk(
	struct pass *p, struct vpa_prefetch *chunks, size_t index, struct vpt_err *err)
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

static int read_chunks(struct pass *p, struct vpt_err *err)
{
	struct vpa_prefetch *chunks;
	size_t i, count = vpt_trace_chunks(p->trace);
	int rc = vpa_prefetch_start(p->trace, &p->chosen, p->options->jobs, &chunks, err), own;

	vpa_long_names_begin(&p->long_names, vpt_trace_size_bytes(p->trace));
	if (rc)
		return rc;
	vpa_folds_share(&p->folds, vpa_prefetch_crew(chunks));
	for (i = 0; i < count && !rc; i++) {
		rc = take_chunk(p, chunks, i, err);
		if (!rc && p->options->progress)
			p->options->progress(p->options->progress_ctx, i + 1, count);
		if (!rc && p->looking && is_found(p))
			break;
	}
	own = vpa_folds_unshare(&p->folds);
	vpa_prefetch_stop(chunks);
	rc = rc ? rc : own;
	if (rc == VPT_ENOMEM)
		vpt_fail(err, rc, "no memory after %zu of %zu chunks", i, count);
	return rc;
}

static void free_pass(struct pass *p)
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
	vpa_range_census_free(&p->census);
	vpa_range_choice_free(&p->choice);
	vpt_strings_free(&p->model.names);
	vpt_strings_free(&p->model.recorded);
	vpa_stacks_free(&p->model.stacks);
	vpt_free(p->model.kernels);
	vpt_free(p->model.streams);
	vpt_free(p->model.threads);
	vpt_free(p->model.devices);
}

static int start_pass(struct pass *p, const struct vpa_resolver_sink *sink, struct vpt_err *err)
{
	const struct vpa_options *o = p->options;

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
	p->idle.gap = take_gap;
	p->idle.grown = pass_on_sm_counts;
	p->idle.ctx = p;
	p->folds.context = (struct vpa_fold_context){&p->model, &p->idle, o,
		o->top ? o->top : VPA_TOP_USUAL, &p->pipeline, &p->folds.lanes};
	vpa_pipeline_init(&p->pipeline, &p->model, p->stage_rules);
	p->pipeline.is_diffusion = o->frames_per_block || o->latents_per_block;
	return vpa_folds_begin(&p->folds)
		       ? vpt_fail(err, VPT_ENOMEM, "no memory to analyze a trace")
		       : VPT_OK;
}

/* The time `ns` after the start; the end of time where there is none. */
static uint64_t time_after(uint64_t start_ns, uint64_t ns)
{
	return start_ns + ns < start_ns ? UINT64_MAX : start_ns + ns;
}

/* The window: as requested, else from the capture's start to its last clock point. */
static int choose_window(struct pass *p, struct vpt_err *err)
{
	const struct vpa_options *o = p->options;
	struct vpa_model *m = &p->model;
	struct vpa_report *r = p->report;
	uint64_t start = vpt_trace_start(p->trace);

	m->window_start_ns = start;
	m->window_end_ns = UINT64_MAX;
	if (p->found) {
		m->window_start_ns = p->found_start_ns;
		m->window_end_ns = p->found_end_ns;
	}
	if (o->has_from)
		m->window_start_ns = vpa_later(m->window_start_ns, time_after(start, o->from_ns));
	if (o->has_to)
		m->window_end_ns = vpa_earlier(m->window_end_ns, time_after(start, o->to_ns));
	if (!p->found && (o->has_from || o->has_to))
		r->window_note = "--from/--to";
	/* A window that begins at the end of time has no end before it; check_from() refuses it. */
	if (m->window_end_ns > m->window_start_ns || m->window_start_ns == UINT64_MAX)
		return VPT_OK;
	return vpt_fail(err, VPT_EINVAL,
		"the window is empty: --from and --to, relative to the capture's start, leave no "
		"time between them");
}

static void end_window(struct pass *p)
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

/* Whether --from is after everything in the trace. */
static int check_from(struct pass *p, struct vpt_err *err)
{
	uint64_t from = p->model.window_start_ns, start = vpt_trace_start(p->trace);
	uint64_t last = p->last_clock_ns > p->last_event_ns ? p->last_clock_ns : p->last_event_ns;

	if (!p->options->has_from || last <= start || last > from)
		return VPT_OK;
	if (vpa_completeness_end(&p->reading))
		return vpt_fail(err, VPT_ENOMEM, "no memory for the report");
	return vpa_window_beyond(&p->reading, p->options->from_ns, last - start, err);
}

/* Time of the window in which nothing was recorded. Ops that began before a pause run on in it: that part of
 * it was recorded, and the window is no shorter than what a device was busy and idle. */
static uint64_t paused_ns(const struct pass *p)
{
	uint64_t ns = vpa_intervals_total(&p->resolver.paused, p->model.window_end_ns),
		 recorded = 0;
	uint64_t window = p->model.window_end_ns - p->model.window_start_ns;
	size_t i;

	for (i = 0; i < p->idle.device_count; i++)
		recorded = vpa_later(
			recorded, p->idle.devices[i].busy_ns + p->idle.devices[i].idle_ns);
	return vpa_earlier(ns, window > recorded ? window - recorded : 0);
}

static int finish_report(struct pass *p, struct vpt_err *err)
{
	struct vpa_report *r = p->report;
	int rc = check_from(p, err);

	if (rc)
		return rc;
	rc = release(p, UINT64_MAX);
	end_window(p);
	if (!rc)
		rc = vpa_idle_end(&p->idle, p->model.window_end_ns);
	if (!rc)
		rc = vpa_resolver_end(&p->resolver, p->model.window_end_ns);
	r->window_start_ns = p->model.window_start_ns;
	r->window_end_ns = p->model.window_end_ns;
	r->paused_ns = paused_ns(p);
	r->counts = p->resolver.counts;
	if (!rc)
		rc = vpa_folds_finish(&p->folds, r);
	if (!rc)
		rc = vpa_completeness_end(&p->reading) ||
				     vpa_verdict_write(&p->resolver, &p->reading, r)
			     ? VPT_ENOMEM
			     : VPT_OK;
	if (!rc)
		rc = vpa_findings_write(r);
	if (!rc)
		rc = vpa_checklist_write(r);
	vpa_mark_touched(r);
	if (!rc && r->arena.failed)
		rc = VPT_ENOMEM;
	if (!rc && p->observer->end)
		rc = p->observer->end(p->observer->ctx);
	return rc ? vpt_fail(err, rc, "no memory for the report") : VPT_OK;
}

/* ---- the window of a range ---- */

static void look_chain(struct vpa_range *range, uint64_t launch_ns, uint64_t end_ns)
{
	range = vpa_range_open_at(range, launch_ns);
	for (; range; range = vpa_range_around(range, launch_ns))
		if (end_ns > range->gpu.last_ns)
			range->gpu.last_ns = end_ns;
}

static int look_ops(void *ctx, struct vpa_ops *ops)
{
	size_t i, k = 0;

	(void)ctx;
	for (i = 0; i < ops->count; i++) {
		const struct vpa_op_stretch *s = vpa_ops_stretch(ops, i, &k);

		look_chain(s->range, ops->launch_start_ns[i], ops->end_ns[i]);
		look_chain(s->process_range, ops->launch_start_ns[i], ops->end_ns[i]);
	}
	return VPT_OK;
}

/* Whether the window may be this range's. */
static int is_meant(void *ctx, const struct vpa_range *range)
{
	struct pass *p = ctx;
	struct vpa_scope_label label = {.kind = VPA_SCOPE_NONE};

	if (p->options->range)
		return vpa_range_choice_takes(&p->choice, vpa_name(&p->model, range->name),
			vpa_range_name(&p->model, range));
	p->resolver.failed |= vpa_pipeline_label(&p->pipeline, range, &label);
	return label.kind == VPA_SCOPE_REQUEST;
}

/* Whether the rest of the file changes nothing. */
static int is_found(struct pass *p)
{
	const struct vpa_range_time *time;

	if (p->choice.count < p->choice.number)
		return 0;
	time = vpa_range_choice_early(
		&p->choice, vpa_resolver_unfinished(&p->resolver, is_meant, p));
	return time && time->end_ns > time->start_ns;
}

static int look_range(void *ctx, struct vpa_range *range)
{
	struct pass *p = ctx;
	struct vpa_range_choice *choice = &p->choice;
	uint64_t end_ns = range->end_ns > range->gpu.last_ns ? range->end_ns : range->gpu.last_ns;

	if (is_meant(p, range))
		return vpa_range_choice_add(choice, range->start_ns, end_ns);
	return choice->count ? VPT_OK : vpa_range_census_add(&p->census, range->name);
}

/* The range was not found, or nothing can be inside it. */
static int fail_range(struct pass *look, struct vpt_err *err)
{
	if (vpa_completeness_end(&look->reading))
		return vpt_fail(err, VPT_ENOMEM, "no memory for the report");
	if (look->found)
		return vpa_window_of_nothing(&look->reading, look->options->range, err);
	if (look->choice.count || !look->options->range)
		return vpa_window_of_too_many(&look->reading, &look->choice, err);
	return vpa_range_census_fail(
		&look->census, &look->model, &look->reading, look->options->range, err);
}

static const char *note_of(struct vpa_report *r, const struct vpa_range_choice *c)
{
	if (!c->text)
		return vpa_arena_printf(&r->arena, "request %" PRIu64, c->number);
	if (c->number == 1)
		return vpa_arena_printf(
			&r->arena, "range \"%.*s\", first instance", (int)c->name_len, c->text);
	return vpa_arena_printf(&r->arena, "range \"%.*s\", instance %" PRIu64, (int)c->name_len,
		c->text, c->number);
}

/* A first pass that only finds the range, from its start on the host to its last op's end, and reads no further. */
static int find_range(struct pass *p, struct vpt_err *err)
{
	struct pass look = {.trace = p->trace,
		.options = p->options,
		.observer = &no_observer,
		.report = p->report};
	struct vpa_resolver_sink sink = {.ops = look_ops, .range = look_range, .ctx = &look};
	const struct vpa_range_time *time;
	int rc;

	look.looking = 1;
	vpa_range_choice_init(&look.choice, p->options->range, p->options->request);
	look.model.window_end_ns = UINT64_MAX;
	rc = start_pass(&look, &sink, err);
	if (!rc)
		rc = read_chunks(&look, err);
	if (!rc)
		rc = vpa_resolver_release(&look.resolver, UINT64_MAX);
	end_window(&look);
	if (!rc)
		rc = vpa_resolver_end(&look.resolver, look.model.window_end_ns);
	time = vpa_range_choice_get(&look.choice);
	if (time) {
		look.found = p->found = 1;
		p->found_start_ns = time->start_ns;
		p->found_end_ns = time->end_ns;
	}
	p->report->window_note = note_of(p->report, &look.choice);
	if (!rc && !(p->found && p->found_end_ns > p->found_start_ns))
		rc = fail_range(&look, err);
	free_pass(&look);
	return rc;
}

/* ---- entry points ---- */

static int choose_chunks(struct pass *p, struct vpt_err *err)
{
	const struct vpa_options *o = p->options;

	if (o->whole_file || !(o->has_from || o->has_to || p->found))
		return VPT_OK;
	return vpt_choose_for_window(vpt_trace_reader(p->trace), p->model.window_start_ns,
		p->model.window_end_ns, &p->chosen, err);
}

static int begin_observer(struct pass *p)
{
	const struct vpa_observer_view view = {&p->resolver, &p->folds.context, p->report};

	return p->observer->begin ? p->observer->begin(p->observer->ctx, &view) : VPT_OK;
}

static int run(struct pass *p, struct vpt_err *err)
{
	struct vpa_resolver_sink sink = {.ops = take_ops,
		.room = make_room,
		.grow_names = settle_ops,
		.grow = settle_folds,
		.instants = take_instants,
		.early = take_early_op,
		.call = take_call,
		.setup = take_setup,
		.range = take_range,
		.mark = take_mark,
		.ctx = p};
	int rc = p->options->range || p->options->request ? find_range(p, err) : VPT_OK;

	/* The second pass reads again the tables that the first one read. */
	p->report->gpu_count = p->report->meta_count = 0;
	if (!rc)
		rc = choose_window(p, err);
	if (!rc)
		rc = choose_chunks(p, err);
	if (!rc)
		rc = start_pass(p, &sink, err);
	if (!rc && begin_observer(p))
		rc = vpt_fail(err, VPT_ENOMEM, "no memory to export a trace");
	if (!rc)
		rc = read_chunks(p, err);
	return rc ? rc : finish_report(p, err);
}

int vpa_analyze(const struct vpt_trace *trace, const char *path, const struct vpa_options *options,
	struct vpa_report **out, struct vpt_err *err)
{
	static const struct vpa_options defaults;
	const struct vpt_header *h = vpt_trace_header(trace);
	struct pass p = {.trace = trace, .options = options ? options : &defaults};
	int rc;

	*out = NULL;
	p.observer = p.options->observer ? p.options->observer : &no_observer;
	p.report = vpt_calloc(1, sizeof(*p.report));
	if (!p.report)
		return vpt_fail(err, VPT_ENOMEM, "no memory for a report");
	p.report->top = p.options->top;
	p.report->path = vpa_arena_text(&p.report->arena, path, strlen(path));
	p.report->format = vpt_trace_format_name(trace);
	p.report->is_import = vpt_trace_format(trace) != VPT_FORMAT_CAPTURE;
	p.report->has_realtime = h->t0_unix_ns != 0 && !vpt_trace_start_is_doubted(trace);
	p.report->unix_offset_ns = p.report->has_realtime ? h->t0_unix_ns - h->t0_ns : 0;
	rc = run(&p, err);
	free_pass(&p);
	if (rc) {
		vpa_report_free(p.report);
		return rc;
	}
	*out = p.report;
	return VPT_OK;
}
