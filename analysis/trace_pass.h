/* trace_pass.h - one pass over a trace: its chunks, in order, and the rooms that see what is in them.
 *
 *	struct vpa_trace_pass p = {.trace = t, .options = o, .report = r, .model.window_end_ns = UINT64_MAX};
 *	vpa_trace_pass_start(&p, &sink, err)    what the resolver emits goes to the sink
 *	vpa_trace_pass_read(&p, err)            all chunks, or until it is enough
 *	vpa_trace_pass_release(&p, UINT64_MAX)
 *	vpa_trace_pass_end_window(&p)
 *	vpa_trace_pass_free(&p)                 in any case
 *
 * The caller sets the window, model.window_start_ns and model.window_end_ns, and chooses chunks for it. Private to the
 * files of this folder. */
#ifndef VPA_ANALYSIS_TRACE_PASS_H
#define VPA_ANALYSIS_TRACE_PASS_H

#include "analysis/base/intervals.h"
#include "analysis/folds/observer.h"
#include "analysis/folds/pass.h"
#include "analysis/idle/idle_gaps.h"
#include "analysis/join/prefetch.h"
#include "analysis/names/frame_rules.h"
#include "analysis/names/kernel_rules.h"
#include "analysis/names/long_names.h"
#include "analysis/pipeline/range_scopes.h"
#include "analysis/report/analysis_options.h"
#include "analysis/report/report.h"
#include "analysis/trust/verdict.h"
#include "formats/base/error.h"

struct vpa_trace_pass {
	const struct vpt_trace *trace;
	const struct vpa_options *options;
	struct vpa_report *report; /* gets the tables of devices and metadata */
	/* After each chunk: whether the rest of the file is of no use. NULL: the pass is for a report, and reads all. */
	int (*is_enough)(void *ctx);
	void *is_enough_ctx;
	struct vpa_model model;
	struct vpa_resolver resolver;
	struct vpa_idle idle; /* the caller sets idle.gap */
	struct vpa_pipeline pipeline;
	struct vpa_fold_pass folds;
	const struct vpa_observer *observer; /* without functions where there is none */
	struct vpa_rules *rules;
	struct vpa_range_rules *stage_rules;
	struct vpa_frame_rules *frame_rules;
	struct vpa_completeness reading;
	struct vpt_chunk_choice chosen; /* for the window */
	struct vpa_long_names long_names;
	uint64_t last_clock_ns, last_event_ns;
};

/* 0, VPT_EDATA (bad rules), VPT_ENOMEM. */
int vpa_trace_pass_start(
	struct vpa_trace_pass *p, const struct vpa_resolver_sink *sink, struct vpt_err *err);
int vpa_trace_pass_read(struct vpa_trace_pass *p, struct vpt_err *err);
/* Releases ops to folds, and waits for those that take them aside. */
int vpa_trace_pass_release(struct vpa_trace_pass *p, uint64_t until_ns);
/* Ends the window with the trace at the latest. */
void vpa_trace_pass_end_window(struct vpa_trace_pass *p);
void vpa_trace_pass_free(struct vpa_trace_pass *p);

/* ---- range_window.c: the window of the range or request that the options name ---- */

struct vpt_trace;

/* Fills in the window, which is not empty, and the report's note on it. 0; VPT_EINVAL: there is no such range, or nothing can be inside it;
 * VPT_EDATA, VPT_ENOMEM, VPT_EIO. */
int vpa_range_window(const struct vpt_trace *trace, const struct vpa_options *options,
	struct vpa_report *report, struct vpa_interval *out, struct vpt_err *err);

#endif
