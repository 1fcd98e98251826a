/* overview_lanes.h - instances of stages, for the overview: a bounded number of spans and durations
 * each. Private to overview_fold.c. */
#ifndef VPA_ANALYSIS_FOLDS_OVER_TIME_OVERVIEW_LANES_H
#define VPA_ANALYSIS_FOLDS_OVER_TIME_OVERVIEW_LANES_H

#include "analysis/folds/stage_times.h"
#include "analysis/report/overview.h"

struct vpa_lane_state {
	struct vpa_stage_at at; /* of its first instance */
	struct vpa_overview_span *spans;
	size_t span_count;
	/* Instances that a span gets before the next one begins; a power of two. */
	uint64_t per_span;
	uint64_t *samples_ns;
	size_t sample_count;
	uint64_t count, stride;
};

/* All zeros is empty. */
struct vpa_overview_lanes {
	struct vpa_index index;
	struct vpa_lane_state *items;
	size_t cap;
};

/* A range has ended. 0 or VPT_ENOMEM. */
int vpa_overview_lanes_add(struct vpa_overview_lanes *l, const struct vpa_fold_context *c,
	const struct vpa_range *range);
/* Writes them into out->overview. 0 or VPT_ENOMEM. */
int vpa_overview_lanes_write(
	struct vpa_overview_lanes *l, const struct vpa_fold_context *c, struct vpa_report *out);
void vpa_overview_lanes_free(struct vpa_overview_lanes *l);

#endif
