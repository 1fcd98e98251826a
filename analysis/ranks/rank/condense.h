/* condense.h - why a rank's collectives start when they do: the replay of its capture, for all ends of collectives at once.
 *
 * A time of a replay is the latest of earlier times plus lengths, see retime/edges.h. Followed back to the ends of
 * collectives, which other ranks decide, a start is
 *
 *	start = max(end of collective i + a, end of collective j + b, ..., the rank's first op + z)
 *
 * with one to a few terms: a term that another one always outweighs is left out. So all ranks can be replayed together,
 * with other ends, from these numbers alone. */
#ifndef VPA_ANALYSIS_RANKS_RANK_CONDENSE_H
#define VPA_ANALYSIS_RANKS_RANK_CONDENSE_H

#include "analysis/ranks/rank/rank_summary.h"

struct vpt_trace;

enum { VPA_CONDENSED_MOST = 8000000 /* calls and ops of a trace that is replayed */ };

/* Sets the terms of the trace's ranks, which are not folded. A trace that cannot be replayed or is too large has none, nor has a rank whose
 * terms do not give what was recorded. 0, VPT_ENOMEM or VPT_EIO. */
int vpa_condense(const struct vpt_trace *trace, unsigned jobs, struct vpa_rank *const *ranks,
	size_t count, struct vpt_err *err);

#endif
