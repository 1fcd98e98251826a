/* ranks.h - the traces of several processes as one file for Perfetto. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_RANKS_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_RANKS_H

#include "analysis/export/export.h"

/* Writes a tar archive of an export of each trace and a manifest that says which machine each is of. One after the other;
 * in between each is a file without name in `folder` (NULL: the usual one for temporary files). GPUs get the numbers that
 * they have among those of all traces of their machine. Members are called as the paths' last words; equal ones get a
 * number. `*totals` are sums; complete only if all are.
 *
 * `job` is for vpa_export(), which runs once for each trace; its options' `gpus` are not used. */
int vpa_export_ranks(const struct vpa_export_job *job, const char *const *paths, size_t count,
	const char *folder, struct vpa_export_totals *totals, struct vpt_err *err);

#endif
