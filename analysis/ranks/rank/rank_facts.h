/* rank_facts.h - who a rank is: what its report says of the process, the machine and the GPU. */
#ifndef VPA_ANALYSIS_RANKS_RANK_RANK_FACTS_H
#define VPA_ANALYSIS_RANKS_RANK_RANK_FACTS_H

#include "analysis/ranks/rank/rank_summary.h"
#include "analysis/report/report.h"

/* Sets the members of a rank that a report decides, those of its clock, its unit and what is missing included; `pid` and
 * `device` are set already. `is_only`: no other device of the report is a rank, so what the report says of a rank is of
 * this one. 0 or VPT_ENOMEM. */
int vpa_rank_describe(struct vpa_rank *rank, const struct vpa_report *r, int is_only);

#endif
