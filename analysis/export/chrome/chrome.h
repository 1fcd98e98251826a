/* chrome.h - a trace as Chrome's JSON, in the form that PyTorch's profiler writes: for chrome://tracing, Perfetto,
 * and the tools that read the profiler's files, such as Holistic Trace Analysis.
 *
 * What the profiler has a form for has that form. All else a row knows stands in members of our own beside it, which
 * others' tools pass over; vptrace-analyze reads them back, so the report of an export is the report of its input.
 * README.md says what is lost. */
#ifndef VPA_ANALYSIS_EXPORT_CHROME_CHROME_H
#define VPA_ANALYSIS_EXPORT_CHROME_CHROME_H

#include "analysis/export/export.h"

/* As vpa_export_perfetto(), but for the containers (gzip and none) and min_gap_ns, which does not matter: gaps are no
 * events of the profiler's. A window leaves out the rows that do not touch it. */
int vpa_export_chrome(const struct vpt_trace *trace, const char *path,
	const struct vpa_options *analysis, const struct vpa_export_options *options,
	struct vpt_sink *sink, struct vpa_export_totals *totals, struct vpt_err *err);

#endif
