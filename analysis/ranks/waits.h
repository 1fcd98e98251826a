/* waits.h - the waits of a job's collectives, and who is to blame for them. */
#ifndef VPA_ANALYSIS_RANKS_WAITS_H
#define VPA_ANALYSIS_RANKS_WAITS_H

#include "analysis/ranks/job.h"

/* Fills in the figures of waits of a job whose ranks are matched and whose clocks are placed. 0 or VPT_ENOMEM. */
int vpa_waits_find(struct vpa_job *job);

#endif
