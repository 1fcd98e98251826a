/* rank_archive.h - the traces of several processes as one file for Perfetto. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_RANK_ARCHIVE_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_RANK_ARCHIVE_H

#include "analysis/export/export_pass.h"

/* Writes a tar archive: an export of each trace, and a manifest with the machine of each. Exports the
 * traces one after the other, each first to an unnamed file in `folder` (NULL: the default one for
 * temporary files). Numbers GPUs among those of all traces of their machine. Times are on one clock, or
 * where there is none all traces begin together, which totals->unaligned says. Members are named after
 * the paths' last parts; equal names get a number. *totals are sums, complete only if all are.
 *
 * `job` is for vpa_export(), which runs once per trace; GPUs and clock of its options are ignored. */
int vpa_export_ranks(const struct vpa_export_job *job, const char *const *paths, size_t count,
	const char *folder, struct vpa_export_totals *totals, struct vpt_err *err);

#endif
