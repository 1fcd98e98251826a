/* export.h - writing a trace for others' tools. */
#ifndef VPA_ANALYSIS_EXPORT_EXPORT_H
#define VPA_ANALYSIS_EXPORT_EXPORT_H

#include "analysis/export/exporter.h"

struct vpa_export_job {
	const struct vpa_exporter *exporter;
	const struct vpt_trace *trace;
	const char *path;                   /* the trace's name in reports */
	const struct vpa_options *analysis; /* as for vpa_analyze(); its `tap` is not used */
	const struct vpa_export_options *options;
	struct vpt_sink *sink; /* of a file; it stays the caller's */
	const char *folder;    /* of a folder */
	int force;             /* 1: replace a folder that holds such an export */
};

/* Writes a trace in the format of job->exporter, in one pass. Equal input and options but for the numbers of jobs give
 * equal bytes. A folder appears when all of it is there: a failure, an interrupt or a death leaves nothing under its name.
 * A window leaves out the rows that do not touch it. 0 and *totals; or what vpa_analyze() returns; VPT_EUNSUPPORTED: this
 * build lacks the container; VPT_EINVAL: see vpa_export_folder_check(). */
int vpa_export(
	const struct vpa_export_job *job, struct vpa_export_totals *totals, struct vpt_err *err);

#endif
