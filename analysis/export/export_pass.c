/* export_pass.c - runs an exporter over a trace: the pass, the output, and the end.
 *
 * The exporter observes the analysis (observer.h). It begins at the first chunk, not at the start of the
 * pass, since only then does the report describe the trace. */
#include "analysis/export/export_pass.h"

#include "analysis/analyze.h"
#include "formats/base/memory.h"

struct run {
	const struct vpa_exporter *exporter;
	void *state;
	int begun;
	struct vpa_export_context context;
	struct vpa_export_totals totals;
	struct vpt_err err; /* the exporter's own failure */
};

/* ---- the observer ---- */

static int observe_begin(void *ctx, const struct vpa_observer_view *view)
{
	((struct run *)ctx)->context.view = *view;
	return VPT_OK;
}

static inline int begin(struct run *r)
{
	if (__builtin_expect(r->begun, 1))
		return VPT_OK;
	r->begun = 1;
	return r->exporter->begin(r->state, &r->context);
}

static int is_stopped(struct run *r)
{
	int (*stop)(void) = r->context.options->stop;

	return stop && stop() ? vpt_fail(&r->err, VPT_EIO, "interrupted") : VPT_OK;
}

static int observe_chunk(void *ctx, const struct vpt_batch *b, uint64_t times_from_ns)
{
	struct run *r = ctx;
	int rc = is_stopped(r);

	if (!rc)
		rc = begin(r);
	return rc ? rc : r->exporter->chunk(r->state, b, times_from_ns);
}

static int observe_ops(void *ctx, const struct vpa_ops *ops)
{
	struct run *r = ctx;
	int rc = begin(r);

	return rc ? rc : r->exporter->ops(r->state, ops);
}

static int observe_instants(void *ctx, const struct vpa_ops *ops)
{
	struct run *r = ctx;
	int rc = begin(r);

	return rc ? rc : r->exporter->instants(r->state, ops);
}

static int observe_gap(void *ctx, const struct vpa_gap *gap)
{
	struct run *r = ctx;
	int rc = begin(r);

	return rc ? rc : r->exporter->gap(r->state, gap);
}

static int observe_range(void *ctx, const struct vpa_range *range)
{
	struct run *r = ctx;
	int rc = begin(r);

	return rc ? rc : r->exporter->range(r->state, range);
}

static int observe_end(void *ctx)
{
	struct run *r = ctx;
	int rc = begin(r);

	if (!rc)
		rc = r->exporter->end(r->state);
	if (!rc && r->context.groups)
		rc = vpa_groups_flush(r->context.groups, &r->err);
	return rc;
}

/* ---- the output ---- */

static int open_target(const struct vpa_export_job *job, struct run *r)
{
	const struct vpa_export_options *o = job->options;

	if (job->exporter->is_folder)
		return vpa_export_folder_new(job->folder, job->force, o->container, o->level,
			&r->context.folder, &r->err);
	return vpa_groups_start(
		job->sink, o->container, o->level, o->jobs, &r->context.groups, &r->err);
}

/* Ends the output after the pass. `before`: bytes the sink had received before the export. */
static int close_target(const struct vpa_export_job *job, struct run *r, uint64_t before)
{
	int rc;

	if (!r->context.folder) {
		r->totals.bytes = job->sink->written_bytes - before;
		return VPT_OK;
	}
	/* After a late interrupt the folder must not appear. */
	rc = is_stopped(r);
	return rc ? rc : vpa_export_folder_commit(r->context.folder, &r->totals.bytes, &r->err);
}

/* ---- the pass ---- */

static int analyze(const struct vpa_export_job *job, struct run *r, struct vpt_err *err)
{
	const struct vpa_exporter *e = job->exporter;
	const struct vpa_observer observer = {.ctx = r,
		.begin = observe_begin,
		.chunk = observe_chunk,
		.ops = e->ops ? observe_ops : NULL,
		.instants = e->instants ? observe_instants : NULL,
		.gap = e->gap ? observe_gap : NULL,
		.range = e->range ? observe_range : NULL,
		.end = observe_end,
		.min_gap_ns = job->options->min_gap_ns};
	struct vpa_options options = *job->analysis;
	struct vpa_report *report;
	int rc;

	options.observer = &observer;
	/* The report's tables are those of `analyze`, with more rows. */
	if (e->tables)
		options.step_parts = options.only_sums = options.kernel_sources = 1;
	if (e->tables && !options.top)
		options.top = VPA_EXPORT_TOP;
	rc = vpa_analyze(job->trace, job->path, &options, &report, err);
	if (!rc)
		r->totals.complete = report->verdict.complete;
	vpa_report_free(report);
	return rc;
}

int vpa_export(
	const struct vpa_export_job *job, struct vpa_export_totals *totals, struct vpt_err *err)
{
	const struct vpa_exporter *e = job->exporter;
	const struct vpa_options *a = job->analysis;
	struct run r = {.exporter = e,
		.state = vpt_calloc(1, e->state_bytes),
		.context = {.trace = job->trace,
			.options = job->options,
			.windowed = a->has_from || a->has_to || a->range || a->request,
			.scratch = job->scratch,
			.totals = &r.totals,
			.err = &r.err}};
	uint64_t before = job->sink ? job->sink->written_bytes : 0;
	int rc;

	*totals = (struct vpa_export_totals){0};
	if (!r.state)
		return vpt_fail(err, VPT_ENOMEM, "no memory to export a trace");
	rc = open_target(job, &r);
	if (!rc)
		rc = analyze(job, &r, err);
	if (!rc)
		rc = close_target(job, &r, before);
	rc = vpa_observer_outcome(rc, &r.err, err);
	if (!rc)
		*totals = r.totals;
	e->free(r.state);
	vpa_groups_free(r.context.groups);
	vpa_export_folder_free(r.context.folder);
	vpt_free(r.state);
	return rc;
}

void vpa_export_totals_add(struct vpa_export_totals *sum, const struct vpa_export_totals *t)
{
	sum->kernels += t->kernels;
	sum->copies += t->copies;
	sum->calls += t->calls;
	sum->ranges += t->ranges;
	sum->gaps += t->gaps;
	sum->packets += t->packets;
	sum->raw_bytes += t->raw_bytes;
	sum->complete &= t->complete;
}
