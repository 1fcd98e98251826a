/* blocks_loop.h - where the denoising steps of each request begin and end on the devices, so that sweep.h sums what
 * they did from the first step to the last one: time between steps is included, time after them is not. */
#ifndef VPA_ANALYSIS_FOLDS_BLOCKS_LOOP_H
#define VPA_ANALYSIS_FOLDS_BLOCKS_LOOP_H

#include "analysis/folds/blocks_groups.h"
#include "analysis/folds/blocks_table.h"

/* Before an op in a scope: if the scope is a step whose first op it is, the step joins the loop of its
 * request. 0 or VPT_ENOMEM. */
int vpa_blocks_loop_join(struct vpa_blocks_table *s, uint32_t scope);
/* The same, once the sweep has reached the op. 0 or VPT_ENOMEM. */
int vpa_blocks_loop_start(struct vpa_blocks_table *s, uint32_t scope);

/* Fills group->request->loop from the start of the first step's first op to the end of the last step's
 * last one. 0 or VPT_ENOMEM. */
int vpa_blocks_loop_write(struct vpa_blocks_writer *w, const struct vpa_blocks_group *g,
	uint64_t first_ns, uint64_t last_ns);

#endif
