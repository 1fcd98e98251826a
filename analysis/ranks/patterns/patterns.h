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
int vpa_find_shared_attention(struct vpa_job *job, const struct vpa_job_rows *rows);
int vpa_find_guidance_pairs(struct vpa_job *job, const struct vpa_job_rows *rows);
int vpa_find_pipelines(struct vpa_job *job, const struct vpa_job_rows *rows);
int vpa_find_lockstep(struct vpa_job *job, const struct vpa_job_rows *rows);

/* ---- apart.c: ranks of a group that can not have met: one left before the other came, or each has collectives that the other lacks.
 *
 *	rank 0  |--------|
 *	rank 1   |-------|
 *	rank 2             |-------|        0 and 1 can be of one communicator, 2 is of another */

/* Sets of members of a group: each member of one set is apart from each of another. `sets` has room for rank_count numbers; it
 * receives that of each member's set, from 0. Returns how many sets there are, 1: all may have met; 0: no memory. *apart_rows:
 * in how many somebody left before somebody came, or was lacking. */
size_t vpa_apart_sets(const struct vpa_job *job, const struct vpa_job_rows *rows, size_t group,
	uint32_t *sets, uint64_t *apart_rows);

#endif
