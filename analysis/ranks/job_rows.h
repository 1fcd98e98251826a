/* job_rows.h - the collectives of a job: when the last rank came to each, and the first one left it.
 *
 * All passes over a job go rank by rank, since a rank's times lie together; what they share are these rows. */
#ifndef VPA_ANALYSIS_RANKS_JOB_ROWS_H
#define VPA_ANALYSIS_RANKS_JOB_ROWS_H

#include "analysis/ranks/job.h"

struct vpa_job_row {
	/* Of the ranks whose clocks are placed, on the job's clock: the first and the last arrival, and the first end. */
	int64_t first_ns, last_ns, first_end_ns;
	uint64_t uncertainty_ns; /* of the least certain of their clocks */
	uint32_t last;           /* the member of the group that came last; of several the first */
	uint32_t count;          /* of such ranks */
};

struct vpa_job_rows {
	struct vpa_job_row *items; /* group by group, as they are in the matching */
	size_t *firsts;            /* by group: its first row */
	size_t count;
};

/* Finds the rows of a job, with `threads` threads. Its ranks are matched, and its clocks placed. 0 or VPT_ENOMEM; the caller
 * frees the rows after either. */
int vpa_job_rows_find(const struct vpa_job *job, unsigned threads, struct vpa_job_rows *out);
void vpa_job_rows_free(struct vpa_job_rows *rows);

/* Frees those that a job keeps, if it does. */
void vpa_job_drop_rows(struct vpa_job *job);

static inline const struct vpa_clock *vpa_job_clock(const struct vpa_job *job, size_t rank)
{
	return &job->clocks.items[job->clocks.of_rank[rank]];
}

/* When a member of a group came to a row, and left it, in the job's time. 0: it lacks it, or its clock is not placed. */
int vpa_member_times(const struct vpa_job *job, const struct vpa_group *g, size_t row,
	size_t member, int64_t *start_ns, int64_t *end_ns);

/* ---- sends and receives ----
 *
 * A rank does not wait for all that are there, but for its own partners. Who they are no trace says; those that come after it
 * has left are none. */

enum {
	VPA_PAIRED_MOST =
		64 /* ranks of a group: in larger ones partners are not looked for, it would take too long */
};

/* Whether a row is of sends and receives, and partners are looked for. */
int vpa_row_is_messages(const struct vpa_job *job, const struct vpa_group *g, size_t row);

struct vpa_partner {
	/* Of the group: the latest of those that were there when a member left, of several the nearest in a ring; or itself. */
	size_t member;
	int64_t arrival_ns;
};

/* Of a member that has the row and leaves it at `end_ns` of the job's time. */
struct vpa_partner vpa_partner_of(const struct vpa_job *job, const struct vpa_group *g, size_t row,
	size_t member, int64_t end_ns);

#endif
