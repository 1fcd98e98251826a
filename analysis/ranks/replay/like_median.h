/* like_median.h - what a rank would do less of if it did no more between its collectives than the median of each of its groups.
 *
 * The median of a thousand ranks is that of 32 of them, spread evenly: so the others need not be in memory together. */
#ifndef VPA_ANALYSIS_RANKS_REPLAY_LIKE_MEDIAN_H
#define VPA_ANALYSIS_RANKS_REPLAY_LIKE_MEDIAN_H

#include "analysis/ranks/job.h"

enum { VPA_MEDIAN_SAMPLE = 32 };

/* Sums of what a rank did, of item i + 1 those up to collective i. */
struct vpa_spent {
	int64_t *busy_ns; /* computing and copying */
	int64_t *idle_ns;
};

/* Makes room for `count` collectives. 0 or VPT_ENOMEM; the caller frees it after either. */
int vpa_spent_init(struct vpa_spent *s, size_t count);
void vpa_spent_free(struct vpa_spent *s);

/* Calls `mark` for each rank, an index in job->ranks, of whom the medians of this one are: it is one of them. Some come twice. */
void vpa_median_ranks(
	const struct vpa_job *job, size_t rank, void (*mark)(void *ctx, size_t rank), void *ctx);

/* Of whom the medians are: spent_of(ctx, r) is what rank r spent, of those above; several threads call it. Medians that more ranks
 * have in common are kept. */
struct vpa_median_source {
	const struct vpa_spent *(*spent_of)(const void *ctx, size_t rank);
	const void *ctx;
	struct vpa_spent *
		of_rows; /* by group, NULL: not known yet; the caller frees them, and sets them to NULL at first */
};

/* What the rank does more than the median before each collective, and all before it, as sums. 0 or VPT_ENOMEM. */
int vpa_above_median(const struct vpa_job *job, const struct vpa_median_source *source,
	unsigned threads, size_t rank, struct vpa_spent *less);

#endif
