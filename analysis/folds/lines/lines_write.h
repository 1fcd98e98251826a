/* lines_write.h - from what the fold of lines has added up to the report. Private to it. */
#ifndef VPA_ANALYSIS_FOLDS_LINES_LINES_WRITE_H
#define VPA_ANALYSIS_FOLDS_LINES_LINES_WRITE_H

#include "analysis/folds/lines/lines_state.h"

/* Fills out->lines, and the lines of its causes and gaps. */
int vpa_lines_write(
	struct lines_state *s, const struct vpa_fold_context *c, struct vpa_report *out);

/* Fills out->lines.modules. */
int vpa_modules_write(
	const struct lines_state *s, const struct vpa_fold_context *c, struct vpa_report *out);

#endif
