/* ranks_strips.h - what ranks did over a window of the job's time, in columns of equal length.
 *
 * Between two marks of a rank it is known how long it did what, but not when: there it is spread evenly. Where a
 * collective ran beside nothing, its time until the last rank came is waiting, the rest transfer. */
#ifndef VPA_ANALYSIS_RANKS_RENDER_RANKS_STRIPS_H
#define VPA_ANALYSIS_RANKS_RENDER_RANKS_STRIPS_H

#include "analysis/ranks/job.h"

/* In the order in which they stand in a column, from below. */
enum vpa_rank_doing {
	VPA_DOING_COMPUTE,
	VPA_DOING_COPY,
	VPA_DOING_TRANSFER,
	VPA_DOING_WAIT,
	VPA_DOING_IDLE,
	VPA_DOINGS
};

const char *vpa_doing_words(enum vpa_rank_doing doing); /* "waits for other ranks" */

struct vpa_rank_column {
	uint64_t ns[VPA_DOINGS];
};

struct vpa_rank_strips {
	int64_t start_ns; /* of the window, in the job's time */
	uint64_t length_ns, column_ns;
	size_t column_count;
	struct vpa_rank_column *columns; /* by rank and column */
};

/* The job's time from the first op to the last; a rank whose clock is not placed begins at 0. */
void vpa_job_window(const struct vpa_job *job, int64_t *start_ns, uint64_t *length_ns);

/* Fills strips of a window, of at most `most` columns. vpa_rank_strips_free() frees them, whatever this returns: 0 or
 * VPT_ENOMEM. */
int vpa_rank_strips_find(const struct vpa_job *job, int64_t start_ns, uint64_t length_ns,
	size_t most, struct vpa_rank_strips *out);
void vpa_rank_strips_free(struct vpa_rank_strips *s);

/* Adds up the columns of several ranks. */
void vpa_rank_column_add(struct vpa_rank_column *sum, const struct vpa_rank_column *c);

/* ---- one collective, as the page draws it ---- */

struct vpa_job_meeting {
	int64_t last_ns;   /* the last arrival, in the job's time */
	size_t last;       /* who came last: an index in job->ranks */
	size_t rank_count; /* that were there */
	uint64_t wait_ns;  /* of all of them */
};

/* Calls `put` for each collective of which two ranks or more are known. */
void vpa_job_meetings(const struct vpa_job *job,
	void (*put)(
		void *ctx, const struct vpa_group *g, size_t row, const struct vpa_job_meeting *m),
	void *ctx);

#endif
