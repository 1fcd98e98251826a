/* joint.h - all ranks replayed together, with some of them changed.
 *
 *	arrival of rank r at a collective = max over its terms, see condense.h
 *	end on rank r                     = latest arrival of all + what r took from the last arrival to its end
 *
 * A change takes host code or work away between collectives. So it says what a late rank really costs: where the others
 * would be late by themselves, or next, making it faster brings nothing. */
#ifndef VPA_ANALYSIS_RANKS_JOINT_H
#define VPA_ANALYSIS_RANKS_JOINT_H

#include "analysis/ranks/job.h"

/* Fills in job->replay_error_ns and job->fixes of a job whose waits are found; where not all ranks have terms,
 * job->is_replayed stays 0. 0 or VPT_ENOMEM. */
int vpa_joint_find(struct vpa_job *job);

#endif
