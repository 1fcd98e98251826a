/* chrome_merge.h - the traces of several ranks as one file of Chrome's JSON: "[rank 3] 100" are the processes of rank 3, and all
 * times are on one clock. */
#ifndef VPA_ANALYSIS_EXPORT_CHROME_CHROME_MERGE_H
#define VPA_ANALYSIS_EXPORT_CHROME_CHROME_MERGE_H

#include "analysis/export/export_pass.h"

/* Reads each trace twice: as a rank, so that collectives align the clocks of machines, and as events. See exporter.h. */
int vpa_chrome_merge(const struct vpa_export_job *job, const char *const *paths, size_t count,
	const char *folder, struct vpa_export_totals *totals, struct vpt_err *err);

#endif
