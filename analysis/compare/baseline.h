/* baseline.h - a report read back from its JSON, to be compared with. */
#ifndef VPA_ANALYSIS_COMPARE_BASELINE_H
#define VPA_ANALYSIS_COMPARE_BASELINE_H

#include "analysis/report/report.h"

/* Reads a report of `analyze --format json`. It has what its keys hold: no overview, no parts of single blocks or steps,
 * and only the kernels that are listed. `text` may hold any bytes, and is copied; `path` is the name in messages and
 * in the report. The caller frees *out. VPT_EDATA with a sentence if it is no such report; VPT_ENOMEM. */
int vpa_baseline_read(const char *text, size_t len, const char *path, struct vpa_report **out,
	struct vpt_err *err);

#endif
