/* job_conditions.h - conditions under which a check of a job fails.
 *
 *	efficiency<80%  waits>5%      percent: of full efficiency, which needs a base; of a rank's time, the mean
 *	fps<16  bps<2                 rates of the job, see job_rates.h
 *	steps/s<8  s/it>120ms         of ranks whose units are steps, the mean
 *	period>750ms                  its mean unit
 *	idle>10%  busy<90%  idle:sync>5%  busy:gemm>50%   of a rank's time from its first op to its last, the mean
 *
 * Names of causes and families are those of the report; "-" and "_" stand for a space. */
#ifndef VPA_ANALYSIS_RANKS_FIGURES_JOB_CONDITIONS_H
#define VPA_ANALYSIS_RANKS_FIGURES_JOB_CONDITIONS_H

#include "analysis/ranks/job.h"

enum vpa_job_figure {
	VPA_JOB_EFFICIENCY,
	VPA_JOB_WAITS,
	VPA_JOB_FPS,
	VPA_JOB_BPS,
	VPA_JOB_STEPS,
	VPA_JOB_STEP_TIME,
	VPA_JOB_PERIOD,
	VPA_JOB_BUSY,
	VPA_JOB_IDLE,
	VPA_JOB_FIGURES
};

struct vpa_job_condition {
	const char *text; /* borrowed */
	enum vpa_job_figure figure;
	int has_part;  /* 1: only busy time of a family, idle time of a cause */
	unsigned part; /* enum vpa_family, or enum vpa_cause */
	char relation; /* '<' or '>' */
	double value;  /* shares: of one; a period: ns */
};

/* VPT_EINVAL with a sentence if the text is none. */
int vpa_job_condition_read(const char *text, struct vpa_job_condition *out, struct vpt_err *err);

/* Whether it holds of a job whose rates are found; `what` receives the figure in words. VPT_EINVAL: the figure is not known. */
int vpa_job_condition_holds(const struct vpa_job_condition *c, const struct vpa_job *job,
	int *holds, char what[160], struct vpt_err *err);

/* Of the time from a rank's first op to its last, what it waits for others: the mean. */
double vpa_job_wait_share(const struct vpa_job *job);

#endif
