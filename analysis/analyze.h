/* analyze.h - from an opened trace to a report. */
#ifndef VPA_ANALYSIS_ANALYZE_H
#define VPA_ANALYSIS_ANALYZE_H

#include "analysis/report/analysis_options.h"
#include "analysis/report/report.h"
#include "formats/base/error.h"

struct vpt_trace;

/* Analyses an opened trace, in one pass (two with `range`). `options` NULL: all defaults. The caller
 * frees *out. Reports are byte-identical for any number of jobs. 0, VPT_EINVAL (no such range, empty
 * window: window_errors.h), VPT_EDATA (bad rules), VPT_ENOMEM, VPT_EIO. Damage is not an error: the verdict reports it. */
int vpa_analyze(const struct vpt_trace *trace, const char *path, const struct vpa_options *options,
	struct vpa_report **out, struct vpt_err *err);

#endif
