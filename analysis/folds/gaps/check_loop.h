/* check_loop.h - the loop that the checklist judges: host_checks.c looks into it, advice/checklist.c judges. */
#ifndef VPA_ANALYSIS_FOLDS_GAPS_CHECK_LOOP_H
#define VPA_ANALYSIS_FOLDS_GAPS_CHECK_LOOP_H

#include "analysis/report/report.h"

/* The first stage of the report of this kind; NULL: there is none. */
const struct vpa_stage_row *vpa_stage_of_kind(const struct vpa_report *r, enum vpa_scope_kind kind);

/* Finds the loop among the report's blocks, steps and inferred steps; of marked steps it leaves the
 * moments on the host to the caller. */
void vpa_check_loop_find(const struct vpa_report *r, struct vpa_check_loop *out);

#endif
