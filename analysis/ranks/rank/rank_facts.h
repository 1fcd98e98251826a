/* rank_facts.h - who a rank is: what its report says of the process, the machine and the GPU. */
#ifndef VPA_ANALYSIS_RANKS_RANK_RANK_FACTS_H
#define VPA_ANALYSIS_RANKS_RANK_RANK_FACTS_H

#include "analysis/ranks/rank/rank_summary.h"
#include "analysis/report/report.h"

/* Which ranks a report has. */
struct vpa_rank_company {
	int is_only; /* one, so what the report says of a rank is of this one */
	int is_one_process; /* of one process: else units of several are one series in the report, and none of a rank */
};

/* Sets the members of a rank that a report decides, those of its clock, its unit and what is missing included; `pid` and
 * `device` are set already. 0 or VPT_ENOMEM. */
int vpa_rank_describe(
	struct vpa_rank *rank, const struct vpa_report *r, struct vpa_rank_company company);

#endif
