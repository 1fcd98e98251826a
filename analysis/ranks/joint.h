/* joint.h - what a late rank really costs, and what a change of all would bring: all ranks replayed together.
 *
 * A change takes host code or work away between collectives. Where the others would be late by themselves, or next, making a rank
 * faster brings nothing. */
#ifndef VPA_ANALYSIS_RANKS_JOINT_H
#define VPA_ANALYSIS_RANKS_JOINT_H

#include "analysis/ranks/job_rows.h"

struct vpa_joint;

/* Chooses what is tried, of a job whose ranks' blame is known. *out is NULL where not all ranks have terms, and on failure: 0
 * or VPT_ENOMEM. Job and rows are borrowed. */
int vpa_joint_begin(struct vpa_job *job, const struct vpa_job_rows *rows, unsigned threads,
	struct vpa_joint **out);
/* Of each rank once, in any thread of those. 0 or VPT_ENOMEM. */
int vpa_joint_take(
	struct vpa_joint *j, unsigned thread, size_t rank, const struct vpa_rank_detail *d);
/* Fills in job->fixes and job->replay_error_ns. 0, VPT_ENOMEM or VPT_EDATA. */
int vpa_joint_end(struct vpa_joint *j, struct vpt_err *err);
void vpa_joint_free(struct vpa_joint *j); /* accepts NULL */

#endif
