/* rank_timeline.h - what a device did at each moment, cut into stretches at given times.
 *
 *	compute   ======      ====
 *	comm         =======         ===
 *	copies                  ====
 *	idle                           ~~~~
 *	          |    :     |       :    |       cut at marks: each stretch is a sum of parts
 *
 * Of what runs at the same time the first class counts, of one class what began first. Every nanosecond between the
 * first start and the last end has one part. */
#ifndef VPA_ANALYSIS_RANKS_RANK_RANK_TIMELINE_H
#define VPA_ANALYSIS_RANKS_RANK_RANK_TIMELINE_H

#include "analysis/ranks/rank/rank_summary.h"

struct vpa_timeline_stretch {
	uint64_t start_ns, end_ns;
	uint32_t part;
};

/* All zeros is empty. */
struct vpa_rank_timeline {
	struct vpa_timeline_class {
		struct vpa_timeline_stretch *items;
		size_t count, cap;
	} classes[VPA_TIME_CLASSES];
};

/* Adds what ran, or why nothing did. Of a class but IDLE, in order of start; what an earlier one of the class covers is
 * left out. 0 or VPT_ENOMEM. */
int vpa_rank_timeline_put(struct vpa_rank_timeline *t, enum vpa_part_class klass, uint64_t start_ns,
	uint64_t end_ns, uint32_t part);

/* Fills the parts of the rank's detail with the stretches before each of its marks, from `first_ns` on, and sets their part_end. Adds to
 * rank->class_ns and part_ns what is between `first_ns` and `last_ns`; there is room for each part. `unknown`: the part of
 * time of which nothing is known. 0 or VPT_ENOMEM. */
int vpa_rank_timeline_cut(struct vpa_rank_timeline *t, uint64_t first_ns, uint64_t last_ns,
	uint32_t unknown, struct vpa_rank *rank);

void vpa_rank_timeline_free(struct vpa_rank_timeline *t);

#endif
