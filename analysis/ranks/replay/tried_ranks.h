/* tried_ranks.h - which ranks of a job may be late: what they would bring is asked of the replay. */
#ifndef VPA_ANALYSIS_RANKS_REPLAY_TRIED_RANKS_H
#define VPA_ANALYSIS_RANKS_REPLAY_TRIED_RANKS_H

#include "analysis/ranks/job.h"

/* Those for whom others would wait a tenth of all waits, and whose captures do not end early: what such a rank would bring is not
 * known. Where some wait less than most do, who waits as long as these only passes
 * on what it waited for itself. For a rank without a partner nobody waits.
 *
 * Sets indexes in job->ranks, the most likely first, and their number. 0 or VPT_ENOMEM. */
int vpa_tried_ranks(const struct vpa_job *job, size_t ranks[VPA_FIX_RANKS_MOST], size_t *count);

#endif
