/* apart.h - ranks of a group that can not have met: one left before the other came, or each has collectives that the other lacks.
 *
 *	rank 0  |--------|
 *	rank 1   |-------|
 *	rank 2             |-------|        0 and 1 can be of one communicator, 2 is of another
 */
#ifndef VPA_ANALYSIS_RANKS_PATTERNS_APART_H
#define VPA_ANALYSIS_RANKS_PATTERNS_APART_H

#include "analysis/ranks/job_rows.h"

/* Sets of members of a group: each member of one set is apart from each of another. `sets` has room for rank_count numbers; it receives that of each member's set, from 0. Returns how many sets there
 * are, 1: all may have met; 0: no memory. *apart_rows: in how many somebody left before somebody came, or was lacking. */
size_t vpa_apart_sets(const struct vpa_job *job, const struct vpa_job_rows *rows, size_t group,
	uint32_t *sets, uint64_t *apart_rows);

#endif
