/* checklist.h - the questions that a person asks of a profile before anything else, with answers. */
#ifndef VPA_ANALYSIS_ADVICE_CHECKLIST_H
#define VPA_ANALYSIS_ADVICE_CHECKLIST_H

#include "analysis/report/report.h"

/* Fills expert.checks, in the order of the page; none without GPU work. Needs the verdict. 0 or
 * VPT_ENOMEM. */
int vpa_checklist_write(struct vpa_report *r);

#endif
