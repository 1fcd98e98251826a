/* scaling.h - why N ranks take longer than an Nth of what one takes.
 *
 *	T_N - T_1 / N = communication + waiting + host + other idle time + copies + compute that does not shrink
 *
 * Each part is the mean over ranks less an Nth of the base's, and they sum exactly. T is the mean unit, of which each part
 * has the share that it has of the time from the first op to the last. Where each rank does units of its own, N ranks should
 * take no longer than one. */
#ifndef VPA_ANALYSIS_RANKS_SCALING_H
#define VPA_ANALYSIS_RANKS_SCALING_H

#include "analysis/ranks/job.h"

/* Compares a job with one rank alone, in the same units, and sets job->scaling. `is_weak`: each rank does units of its
 * own. 0, VPT_ENOMEM, or VPT_EINVAL: they count in different units. */
int vpa_scaling_find(
	struct vpa_job *job, const struct vpa_rank *base, int is_weak, struct vpt_err *err);

/* The mean unit of a job's ranks by part, which sum to job->unit_ns. */
void vpa_scaling_unit(const struct vpa_job *job, int64_t part_ns[VPA_SCALING_PARTS]);

#endif
