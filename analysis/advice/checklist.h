/* checklist.h - the questions that a person asks of a profile before anything else, with answers. */
#ifndef VPA_ANALYSIS_ADVICE_CHECKLIST_H
#define VPA_ANALYSIS_ADVICE_CHECKLIST_H

#include "analysis/report/report.h"

/* Finds the loop among the report's blocks, steps and inferred steps; of marked steps it leaves the
 * moments on the host to the caller. */
void vpa_check_loop_find(const struct vpa_report *r, struct vpa_check_loop *out);

/* Fills expert.checks, in the order of the page; none without GPU work. Needs the verdict. 0 or
 * VPT_ENOMEM. */
int vpa_checklist_write(struct vpa_report *r);

#endif
