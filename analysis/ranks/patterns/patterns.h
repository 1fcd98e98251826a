/* patterns.h - the patterns of a job, each found by a file of its own: a new one is a row of the table in patterns.c. */
#ifndef VPA_ANALYSIS_RANKS_PATTERNS_PATTERNS_H
#define VPA_ANALYSIS_RANKS_PATTERNS_PATTERNS_H

#include "analysis/ranks/job_rows.h"

/* Fills in the patterns of a job, once, by kind, then by ns; it keeps no rows afterwards. 0 or VPT_ENOMEM. */
int vpa_patterns_find(struct vpa_job *job, struct vpt_err *err);

/* ---- what finders share ---- */

/* Appends a pattern. 0 or VPT_ENOMEM. */
int vpa_pattern_put(struct vpa_job *job, struct vpa_job_pattern pattern);
/* The numbers of ranks as a list, "3, 5 to 7"; `ranks` are indexes in job->ranks, in any order. NULL: no memory. */
const char *vpa_pattern_ranks(struct vpa_job *job, const size_t *ranks, size_t count);
/* The time of a rank from its first op to its last. */
static inline uint64_t vpa_pattern_span(const struct vpa_job *job, size_t rank)
{
	return job->ranks[rank].rank->last_ns - job->ranks[rank].rank->first_ns;
}

/* Below a fiftieth of the time nothing is worth a name. */
enum { VPA_PATTERN_LEAST = 50 };

int vpa_find_turns(struct vpa_job *job, const struct vpa_job_rows *rows);
int vpa_find_truncated(struct vpa_job *job, const struct vpa_job_rows *rows);
int vpa_find_slow_links(struct vpa_job *job, const struct vpa_job_rows *rows);
int vpa_find_late_peers(struct vpa_job *job, const struct vpa_job_rows *rows);
int vpa_find_lockstep(struct vpa_job *job, const struct vpa_job_rows *rows);

#endif
