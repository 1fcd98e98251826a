/* slow_gpus.h - whether a late rank's kernels take longer throughout, as on a GPU with a lower clock, and not those of one layer. */
#ifndef VPA_ANALYSIS_RANKS_SLOW_GPUS_H
#define VPA_ANALYSIS_RANKS_SLOW_GPUS_H

#include "analysis/ranks/job.h"

/* How many times as long kernels take as on the median of the other ranks, by family, of those that are longer: nearly all. It may
 * be more work too: a trace does not tell. */
struct vpa_slow_gpu {
	size_t family_count; /* 0: it is not like that; else at least two */
	double least, most;
};

/* Of an index in job->ranks. 0 or VPT_ENOMEM; *out is of no family then. */
int vpa_slow_gpu_of(const struct vpa_job *job, size_t rank, struct vpa_slow_gpu *out);

#endif
