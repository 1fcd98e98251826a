/* range_window.h - the window of the range or request that the options name. */
#ifndef VPA_ANALYSIS_RANGE_WINDOW_H
#define VPA_ANALYSIS_RANGE_WINDOW_H

#include "analysis/base/intervals.h"
#include "analysis/report/analysis_options.h"
#include "analysis/report/report.h"
#include "formats/base/error.h"

struct vpt_trace;

/* Fills in the window, which is not empty, and the report's note on it. 0; VPT_EINVAL: there is no such range, or nothing can be inside it;
 * VPT_EDATA, VPT_ENOMEM, VPT_EIO. */
int vpa_range_window(const struct vpt_trace *trace, const struct vpa_options *options,
	struct vpa_report *report, struct vpa_interval *out, struct vpt_err *err);

#endif
