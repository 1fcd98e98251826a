/* rank_read.h - the ranks of a trace, from the pass that makes its report.
 *
 *	trace -> vpa_analyze() -> ops, gaps -> a rank for each device -> cut at its collectives */
#ifndef VPA_ANALYSIS_RANKS_RANK_RANK_READ_H
#define VPA_ANALYSIS_RANKS_RANK_RANK_READ_H

#include "analysis/ranks/rank/rank_summary.h"
#include "analysis/report/analysis_options.h"
#include "formats/base/error.h"

struct vpt_trace;

enum { VPA_RANKS_MISSING = 512 };

/* Analyzes a trace and appends its ranks, one for each device that worked, by ordinal. `capture` is its name. `options` as
 * for vpa_analyze(); its observer is not used. `missing` gets the most important thing that the trace lacks, for one without
 * ranks: a sentence, cut where it is long; "": it is complete; NULL: it is not wanted. 0, or an error as of vpa_analyze();
 * nothing is appended then. */
int vpa_ranks_read(const struct vpt_trace *trace, const char *capture,
	const struct vpa_options *options, struct vpa_rank_list *out,
	char missing[VPA_RANKS_MISSING], struct vpt_err *err);

#endif
