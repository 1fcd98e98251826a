/* job_rows.h - the collectives of a job: when the last rank came to each, and the first one left it.
 *
 * All passes over a job go rank by rank, since a rank's times lie together; what they share are these rows. */
#ifndef VPA_ANALYSIS_RANKS_JOB_ROWS_H
#define VPA_ANALYSIS_RANKS_JOB_ROWS_H

#include "analysis/ranks/job.h"

struct vpa_job_row {
	int64_t last_ns,
		first_end_ns;    /* of the ranks whose clocks are placed, on the job's clock */
	uint64_t uncertainty_ns; /* of the least certain of their clocks */
	uint32_t last;           /* the member of the group that came last; of several the first */
	uint32_t count;          /* of such ranks */
};

struct vpa_job_rows {
	struct vpa_job_row *items; /* group by group, as they are in the matching */
	size_t *firsts;            /* by group: its first row */
	size_t count;
};

/* Finds the rows of a job whose ranks are matched and whose clocks are placed. The caller frees them, whatever this returns:
 * 0 or VPT_ENOMEM. */
int vpa_job_rows_find(const struct vpa_job *job, struct vpa_job_rows *out);
void vpa_job_rows_free(struct vpa_job_rows *rows);

static inline const struct vpa_clock *vpa_job_clock(const struct vpa_job *job, size_t rank)
{
	return &job->clocks.items[job->clocks.of_rank[rank]];
}

#endif
