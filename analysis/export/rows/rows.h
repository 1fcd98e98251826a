/* rows.h - a trace as a folder of tables: CSV or JSON lines, one file for each kind of row.
 *
 * Rows are those of `cat`, with what the analysis knows beside them: a kernel's family, the call that launched it, the
 * range it belongs to. What the analysis finds has files of its own: gaps, and ranges as they were on each device.
 * schema.json says of every file what its columns are. */
#ifndef VPA_ANALYSIS_EXPORT_ROWS_ROWS_H
#define VPA_ANALYSIS_EXPORT_ROWS_ROWS_H

#include "analysis/export/export.h"

enum vpa_rows_format { VPA_ROWS_CSV, VPA_ROWS_JSONL };

/* Writes the folder `output`, which appears when all of it is there: a failure, an interrupt or a death leaves nothing
 * under that name. One that is there is VPT_EINVAL, unless `force` and it holds nothing but such an export; then it is
 * replaced. Of the options, container (none or zstd), level, no_api, min_gap_ns and stop count. A window leaves out the
 * rows that do not touch it. Memory does not grow with the length of the trace. 0, or what vpa_analyze() returns. */
int vpa_export_rows(const struct vpt_trace *trace, const char *path,
	const struct vpa_options *analysis, const struct vpa_export_options *options,
	enum vpa_rows_format format, const char *output, int force,
	struct vpa_export_totals *totals, struct vpt_err *err);

/* Whether such a folder could be written, so that nobody computes for an hour and is refused then. */
int vpa_export_rows_check(const char *output, int force, struct vpt_err *err);

#endif
