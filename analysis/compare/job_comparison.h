/* job_comparison.h - two jobs of several ranks: which takes less time for a unit, who was late in each, and what changed.
 *
 *	unit of B - unit of A = computing + waiting + transfers + host + other idle time + copies      means over ranks
 *
 * A job is one run, and its ranks are condensed: there is no test of chance. */
#ifndef VPA_ANALYSIS_COMPARE_JOB_COMPARISON_H
#define VPA_ANALYSIS_COMPARE_JOB_COMPARISON_H

#include "analysis/ranks/figures/job_conditions.h"
#include "analysis/ranks/late_ranks.h"
#include "analysis/ranks/scaling.h"

struct vpa_job_side {
	const struct vpa_job *job; /* borrowed */
	struct vpa_late_ranks late;
	const char *late_ranks; /* "3, 5"; NULL: none, or all */
	const char *late_by;    /* what they are later by most, in words; NULL: none */
	const char *late_place; /* the range around it; NULL: none */
	/* Of the job, or of a rank, the mean, where it is not known of both; 0: not known. */
	double fps;
	double wait_share; /* of a rank's time, the mean */
	double efficiency; /* beside the base; below 0: there is none */
	uint64_t unit_ns;
	int complete;
};

struct vpa_compared_job_part {
	enum vpa_scaling_part part;
	int64_t a_ns, b_ns, delta_ns;
};

/* What ranks were later by, of a unit, summed over ranks. */
struct vpa_compared_late {
	struct vpa_job_part part; /* its ns is unused */
	int64_t a_ns, b_ns, delta_ns;
};

struct vpa_compared_setup {
	const char *name, *a, *b; /* NULL: not set */
};

enum vpa_job_verdict { VPA_JOBS_SAME, VPA_JOBS_FASTER, VPA_JOBS_SLOWER, VPA_JOBS_UNLIKE };

struct vpa_job_comparison {
	struct vpa_arena arena;
	struct vpa_job_side a, b;
	enum vpa_job_verdict
		verdict; /* UNLIKE: they count in different units, so times are not compared */
	double speedup;  /* A's unit / B's; 0: unlike */
	struct vpa_compared_job_part *parts; /* they sum to the difference; none if unlike */
	size_t part_count;
	struct vpa_compared_late *late; /* by change, the largest first; none if unlike */
	size_t late_count;
	struct vpa_compared_setup *setup; /* what differs, by name */
	size_t setup_count;
};

/* Compares two jobs, which are borrowed and outlive the comparison. `margin`: changes up to this share are none. 0 or
 * VPT_ENOMEM. */
int vpa_compare_jobs(const struct vpa_job *a, const struct vpa_job *b, double margin,
	struct vpa_job_comparison **out, struct vpt_err *err);
void vpa_job_comparison_free(struct vpa_job_comparison *c); /* accepts NULL */

/* ---- conditions of --fail-if ---- */

enum vpa_job_change_figure {
	VPA_CHANGED_FPS,
	VPA_CHANGED_PERIOD,
	VPA_CHANGED_EFFICIENCY, /* in percent of full efficiency */
	VPA_CHANGED_WAITS       /* in percent of a rank's time */
};

/* A change from A to B, "fps-2%", or a limit of B, see job_conditions.h. */
struct vpa_jobs_condition {
	const char *text; /* borrowed */
	int is_limit;
	struct vpa_job_condition limit;
	enum vpa_job_change_figure figure;
	char sign; /* '-' or '+' */
	double share;
};

/* VPT_EINVAL with a sentence if the text is none. */
int vpa_jobs_condition_read(const char *text, struct vpa_jobs_condition *out, struct vpt_err *err);
/* Whether it holds; `what` receives the figures in words. VPT_EINVAL: a figure is not known. */
int vpa_jobs_condition_holds(const struct vpa_jobs_condition *condition,
	const struct vpa_job_comparison *c, int *holds, char what[160], struct vpt_err *err);

#endif
