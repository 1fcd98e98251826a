/* blocks_loop.h - what the devices that work in denoising steps did from each step of a request to the next: time
 * between steps is included, time after the last one of a loop is not. */
#ifndef VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_LOOP_H
#define VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_LOOP_H

#include "analysis/folds/blocks/blocks_groups.h"
#include "analysis/folds/blocks/blocks_parts.h"
#include "analysis/folds/blocks/table/blocks_table.h"

/* Before an op in a scope: if the scope is a step whose first op it is, the step joins the loop of its
 * request. 0 or VPT_ENOMEM. */
int vpa_blocks_loop_join(struct vpa_blocks_table *s, uint32_t scope);

/* Mask of the devices that worked in the steps of a request. */
uint32_t vpa_blocks_loop_devices(
	const struct vpa_blocks_writer *w, const struct vpa_blocks_group *g);

/* Adds a period, in which the devices of the mask did this, to `loop`; its parts are those of `total`. */
void vpa_blocks_loop_add(struct vpa_request_gpu *loop, uint32_t devices, uint64_t period_ns,
	const struct vpa_sweep_sums *sums, struct vpa_parts_sum *total);

#endif
