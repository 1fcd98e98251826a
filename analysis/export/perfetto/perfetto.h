/* perfetto.h - a trace in Perfetto's format. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_PERFETTO_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_PERFETTO_H

#include "analysis/export/export.h"

/* Writes a trace in Perfetto's format: one pass, chunk by chunk; memory does not grow with the length of the trace.
 * `analysis` is what vpa_analyze() takes, its member `tap` aside. The sink stays the caller's. Equal input and options
 * but for the numbers of jobs give equal bytes. 0, or what vpa_analyze() returns; VPT_EUNSUPPORTED: this build
 * lacks the container. */
int vpa_export_perfetto(const struct vpt_trace *trace, const char *path,
	const struct vpa_options *analysis, const struct vpa_export_options *options,
	struct vpt_sink *sink, struct vpa_export_totals *totals, struct vpt_err *err);

#endif
