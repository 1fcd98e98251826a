/* trace_clocks.h - the clocks of several traces that become one file, laid onto one as `ranks` lays them.
 *
 * Each trace is analysed once for that: which collectives it has, and when they ended. */
#ifndef VPA_ANALYSIS_EXPORT_TRACE_CLOCKS_H
#define VPA_ANALYSIS_EXPORT_TRACE_CLOCKS_H

#include "analysis/ranks/alignment/rank_clocks.h"
#include "analysis/report/analysis_options.h"
#include "formats/base/error.h"

struct vpa_trace_clock {
	/* Of its machine. A trace without a GPU is no rank of the job: its clock begins with the others, and is not placed. */
	struct vpa_clock clock;
	uint64_t start_ns; /* of the trace, on its own clock */
	int64_t number;    /* of its first rank; -1: it has none */
	int is_rank;
	const struct vpa_rank
		*rank; /* the only one of the trace, and the job's; NULL: none, or several */
};

struct vpa_trace_clocks {
	struct vpa_trace_clock *items; /* in the order of the traces */
	size_t count;
	size_t machines; /* with a clock of their own; 0: not known yet */
	size_t unplaced; /* of these, how many have no collective in common with the first one */
	uint64_t
		uncertainty_ns; /* of the clocks that are placed beside the first one, the largest */
	uint64_t base_ns;       /* the job's time 0 as a time of day; 0: not known */
	struct vpa_job *job;    /* NULL: none yet */
};

/* Finds the clocks of traces. `options` as for vpa_analyze(); its observer is not used. The caller frees *out in all cases. 0;
 * VPT_EINVAL: fewer than two of them are ranks of one job; else an error as of vpa_ranks_read() or vpa_job_new(). */
int vpa_trace_clocks_find(const char *const *paths, size_t count, const struct vpa_options *options,
	struct vpa_trace_clocks *out, struct vpt_err *err);
void vpa_trace_clocks_free(struct vpa_trace_clocks *c); /* accepts one of zeros */

#endif
