/* findings.h - conclusions: what to change, and the most that could save. */
#ifndef VPA_ANALYSIS_ADVICE_FINDINGS_H
#define VPA_ANALYSIS_ADVICE_FINDINGS_H

#include "analysis/report/report.h"

/* Fills out->findings and out->attention.fallbacks from the tables. 0 or VPT_ENOMEM. */
int vpa_findings_write(struct vpa_report *out);

/* Puts the findings in order: problems of the recording, then by the share of its base that a finding saves, as predicted
 * or else likely. */
void vpa_findings_sort(struct vpa_report *r);

/* ---- checklist.c: the questions that a person asks of a profile before anything else, with answers ---- */

/* Fills expert.checks, in the order of the page; none without GPU work. Needs the verdict. 0 or
 * VPT_ENOMEM. */
int vpa_checklist_write(struct vpa_report *r);

#endif
