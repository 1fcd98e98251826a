/* export_pass.h - writes a trace for other tools. */
#ifndef VPA_ANALYSIS_EXPORT_EXPORT_PASS_H
#define VPA_ANALYSIS_EXPORT_EXPORT_PASS_H

#include "analysis/export/exporter.h"

struct vpa_export_job {
	const struct vpa_exporter *exporter;
	const struct vpt_trace *trace;
	const char *path;                   /* the trace's name in reports */
	const struct vpa_options *analysis; /* as for vpa_analyze(); its `observer` is ignored */
	const struct vpa_export_options *options;
	struct vpt_sink *sink; /* where a file goes; owned by the caller */
	const char *folder;    /* path of the folder, for exporters that write one */
	const char *scratch;   /* the folder for temporary files; NULL: $TMPDIR or /tmp */
	int force;             /* 1: replace a folder that holds an export */
};

/* Writes a trace in the format of job->exporter, in one pass. Equal input and options give equal
 * bytes, whatever the number of jobs. A folder appears only when complete: a failure, an interrupt or
 * a death leaves nothing under its name. A window leaves out the rows that do not touch it. Returns 0
 * and fills *totals; or what vpa_analyze() returns; VPT_EUNSUPPORTED: this build lacks the container;
 * VPT_EINVAL: see vpa_export_folder_check(). */
int vpa_export(
	const struct vpa_export_job *job, struct vpa_export_totals *totals, struct vpt_err *err);

/* Adds what went into one of several exports, but for its bytes. */
void vpa_export_totals_add(struct vpa_export_totals *sum, const struct vpa_export_totals *t);

#endif
