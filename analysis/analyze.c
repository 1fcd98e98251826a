/* analyze.c - one pass over a trace.
 *
 *	chunks -> resolver -> take_ops() and its neighbours -> folds -> report
 *
 * The take_ functions are the order in which an event passes through the rooms. */
#include "analysis/analyze.h"

#include "analysis/advice/findings.h"
#include "analysis/trace_pass.h"
#include "analysis/trust/window_errors.h"
#include "formats/base/memory.h"

#include <string.h>

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
static int observe_ops(struct vpa_trace_pass *p, const struct vpa_ops *ops)
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
	struct vpa_trace_pass *p = ctx;
	int rc = vpa_folds_gap(&p->folds, gap);

	return rc ? rc : observe_gap(p->observer, gap);
}

static int take_ops(void *ctx, struct vpa_ops *ops)
{
	struct vpa_trace_pass *p = ctx;
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

static int settle_ops(void *ctx)
{
	return vpa_lanes_settle_ops(&((struct vpa_trace_pass *)ctx)->folds.lanes);
}

static int settle_folds(void *ctx)
{
	return vpa_folds_settle(&((struct vpa_trace_pass *)ctx)->folds);
}

static int take_instants(void *ctx, const struct vpa_ops *ops)
{
	struct vpa_trace_pass *p = ctx;
	int rc = vpa_folds_instants(&p->folds, ops);

	return rc || !p->observer->instants ? rc : p->observer->instants(p->observer->ctx, ops);
}

static int take_early_op(void *ctx, const struct vpa_ops *ops, size_t i)
{
	return vpa_idle_early(&((struct vpa_trace_pass *)ctx)->idle, ops, i);
}

static int take_range(void *ctx, struct vpa_range *range)
{
	struct vpa_trace_pass *p = ctx;
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
	return vpa_folds_call(&((struct vpa_trace_pass *)ctx)->folds, call);
}

static int take_setup(void *ctx, const struct vpa_call *call)
{
	return vpa_folds_setup(&((struct vpa_trace_pass *)ctx)->folds, call);
}

static int take_mark(void *ctx, const struct vpa_mark *mark)
{
	return vpa_folds_mark(&((struct vpa_trace_pass *)ctx)->folds, mark);
}

/* ---- the window ---- */

/* The time `ns` after the start; the end of time where there is none. */
static uint64_t time_after(uint64_t start_ns, uint64_t ns)
{
	return start_ns + ns < start_ns ? UINT64_MAX : start_ns + ns;
}

/* The window: as requested, of the range if there is one, else from the capture's start to its last clock point. */
static int choose_window(
	struct vpa_trace_pass *p, const struct vpa_interval *range, struct vpt_err *err)
{
	const struct vpa_options *o = p->options;
	struct vpa_model *m = &p->model;
	struct vpa_report *r = p->report;
	uint64_t start = vpt_trace_start(p->trace);

	m->window_start_ns = range->end_ns ? range->start_ns : start;
	m->window_end_ns = range->end_ns ? range->end_ns : UINT64_MAX;
	if (o->has_from)
		m->window_start_ns = vpa_later(m->window_start_ns, time_after(start, o->from_ns));
	if (o->has_to)
		m->window_end_ns = vpa_earlier(m->window_end_ns, time_after(start, o->to_ns));
	if (!range->end_ns && (o->has_from || o->has_to))
		r->window_note = "--from/--to";
	/* A window that begins at the end of time has no end before it; check_from() refuses it. */
	if (m->window_end_ns > m->window_start_ns || m->window_start_ns == UINT64_MAX)
		return VPT_OK;
	return vpt_fail(err, VPT_EINVAL,
		"the window is empty: --from and --to, relative to the capture's start, leave no "
		"time between them");
}

/* Whether --from is after everything in the trace. */
static int check_from(struct vpa_trace_pass *p, struct vpt_err *err)
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
static uint64_t paused_ns(const struct vpa_trace_pass *p)
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

static int finish_report(struct vpa_trace_pass *p, struct vpt_err *err)
{
	struct vpa_report *r = p->report;
	int rc = check_from(p, err);

	if (rc)
		return rc;
	rc = vpa_trace_pass_release(p, UINT64_MAX);
	vpa_trace_pass_end_window(p);
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
	if (!rc && !p->options->only_screen)
		rc = vpa_checklist_write(r);
	vpa_mark_touched(r);
	if (!rc && r->arena.failed)
		rc = VPT_ENOMEM;
	if (!rc && p->observer->end)
		rc = p->observer->end(p->observer->ctx);
	return rc ? vpt_fail(err, rc, "no memory for the report") : VPT_OK;
}

/* ---- entry points ---- */

static int choose_chunks(
	struct vpa_trace_pass *p, const struct vpa_interval *range, struct vpt_err *err)
{
	const struct vpa_options *o = p->options;

	if (o->whole_file || !(o->has_from || o->has_to || range->end_ns))
		return VPT_OK;
	return vpt_choose_for_window(vpt_trace_reader(p->trace), p->model.window_start_ns,
		p->model.window_end_ns, &p->chosen, err);
}

static int begin_observer(struct vpa_trace_pass *p)
{
	const struct vpa_observer_view view = {&p->resolver, &p->folds.context, p->report};

	return p->observer->begin ? p->observer->begin(p->observer->ctx, &view) : VPT_OK;
}

static int run(struct vpa_trace_pass *p, struct vpt_err *err)
{
	struct vpa_resolver_sink sink = {.ops = take_ops,
		.grow_names = settle_ops,
		.grow = settle_folds,
		.instants = take_instants,
		.early = take_early_op,
		.call = take_call,
		.setup = take_setup,
		.range = take_range,
		.mark = take_mark,
		.ctx = p};
	const struct vpa_options *o = p->options;
	struct vpa_interval range = {0, 0};
	int rc = VPT_OK;

	if (o->range || o->request)
		rc = vpa_range_window(p->trace, o, p->report, &range, err);

	/* The second pass reads again the tables that the first one read. */
	p->report->gpu_count = p->report->meta_count = 0;
	if (!rc)
		rc = choose_window(p, &range, err);
	if (!rc)
		rc = choose_chunks(p, &range, err);
	p->idle.gap = take_gap;
	if (!rc)
		rc = vpa_trace_pass_start(p, &sink, err);
	if (!rc && begin_observer(p))
		rc = vpt_fail(err, VPT_ENOMEM, "no memory to export a trace");
	if (!rc)
		rc = vpa_trace_pass_read(p, err);
	return rc ? rc : finish_report(p, err);
}

int vpa_analyze(const struct vpt_trace *trace, const char *path, const struct vpa_options *options,
	struct vpa_report **out, struct vpt_err *err)
{
	static const struct vpa_options defaults;
	const struct vpt_header *h = vpt_trace_header(trace);
	struct vpa_trace_pass p = {.trace = trace, .options = options ? options : &defaults};
	int rc;

	*out = NULL;
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
	vpa_trace_pass_free(&p);
	if (rc) {
		vpa_report_free(p.report);
		return rc;
	}
	*out = p.report;
	return VPT_OK;
}
