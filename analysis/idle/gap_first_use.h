/* gap_first_use.h - idle time before the first op of a name: a library sets itself up, compiles, and loads code.
 *
 * Its items are the time that counts as module load, and queries of 1 ms and more that make a library load code,
 * whose time then counts as module load too. With at least one item, first use is all time between the start of
 * the first and the end of the last, and long host code beside them. Never time inside a sync or a blocking copy,
 * nor the profiling library's. */
#ifndef VPA_ANALYSIS_IDLE_GAP_FIRST_USE_H
#define VPA_ANALYSIS_IDLE_GAP_FIRST_USE_H

#include "analysis/idle/gap_causes.h"

/* An end of an item. */
struct vpa_setup_edge {
	uint64_t at_ns;
	int queries; /* +1: a query begins, -1: one ends, 0: the items' first start or last end */
};

/* Judges `pieces` again, which are the late and the call stretch of a gap before the first op of its name; `thread`
 * launched it. Scratch memory is the answer's. 0 or VPT_ENOMEM. */
int vpa_cause_first_use(const struct vpa_resolver *r, uint32_t thread, struct vpa_answer *a,
	struct vpa_cause_pieces *pieces);

#endif
