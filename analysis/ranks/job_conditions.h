/* job_conditions.h - conditions under which a check of a job fails: "efficiency<80%", "waits>5%". */
#ifndef VPA_ANALYSIS_RANKS_JOB_CONDITIONS_H
#define VPA_ANALYSIS_RANKS_JOB_CONDITIONS_H

#include "analysis/ranks/job.h"

enum vpa_job_figure {
	VPA_JOB_EFFICIENCY, /* needs a base */
	VPA_JOB_WAITS       /* of a rank's time, the mean */
};

struct vpa_job_condition {
	const char *text; /* borrowed */
	enum vpa_job_figure figure;
	char relation; /* '<' or '>' */
	double share;  /* of one */
};

/* Reads "80%" as 0.8. Returns 0 if the text is anything else. */
int vpa_percent_read(const char *text, double *share);

/* VPT_EINVAL with a sentence if the text is none. */
int vpa_job_condition_read(const char *text, struct vpa_job_condition *out, struct vpt_err *err);

/* Whether it holds; `what` receives the figure in words. VPT_EINVAL: the figure is not known. */
int vpa_job_condition_holds(const struct vpa_job_condition *c, const struct vpa_job *job,
	int *holds, char what[160], struct vpt_err *err);

/* Of the time from a rank's first op to its last, what it waits for others: the mean. */
double vpa_job_wait_share(const struct vpa_job *job);

#endif
