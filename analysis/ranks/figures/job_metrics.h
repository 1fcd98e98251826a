/* job_metrics.h - what is known of every rank beside each other: least, mean and most of each metric, which rank stands out, and why.
 *
 * Times are of a unit, as in the table of ranks. What a capture does not have is not known: it counts in no figure, and a metric of
 * fewer than two ranks is none. */
#ifndef VPA_ANALYSIS_RANKS_FIGURES_JOB_METRICS_H
#define VPA_ANALYSIS_RANKS_FIGURES_JOB_METRICS_H

#include "analysis/base/numbers.h"
#include "analysis/ranks/job.h"

/* Sets job->metrics, and metrics and idle causes of its ranks. 0 or VPT_ENOMEM. */
int vpa_job_metrics_find(struct vpa_job *job);
/* This, and job->rates, of a job whose patterns are found. 0 or VPT_ENOMEM. */
int vpa_job_figures_find(struct vpa_job *job, struct vpt_err *err);

/* In words: "SM clock", "idle: host code". A constant. */
const char *vpa_metric_words(enum vpa_metric kind, enum vpa_cause cause);
/* Its key in JSON, and its unit; a constant. */
const char *vpa_metric_name(enum vpa_metric kind);
const char *vpa_metric_unit(enum vpa_metric kind);
/* A value of the metric as people read it: "1.98 GHz", "49.8 ms", "16.2". */
struct vpa_num vpa_metric_number(enum vpa_metric kind, double value);

#endif
