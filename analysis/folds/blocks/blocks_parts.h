/* blocks_parts.h - sums of device time as rows of a report. */
#ifndef VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_PARTS_H
#define VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_PARTS_H

#include "analysis/base/arena.h"
#include "analysis/pipeline/sweep.h"
#include "analysis/report/overview.h"

/* Sums of several stretches. */
struct vpa_parts_sum {
	uint64_t ns[VPA_SWEEP_ALL], count[VPA_SWEEP_PARTS], paused_ns;
};

void vpa_parts_sum_add(struct vpa_parts_sum *to, const struct vpa_sweep_sums *sums);

/* Adds what each device of the mask does itself between two edges, as vpa_work_ns(); `work_ns` has
 * VPA_SWEEP_DEVICES numbers. The part of communication that compute hides is left out too. */
void vpa_work_add(const struct vpa_sweep *sweep, uint32_t from, uint32_t to, uint32_t device_mask,
	uint64_t *work_ns);
uint64_t vpa_work_most(const uint64_t *work_ns);

/* The parts with any time, by kind, then time, descending, in the arena. 0 or VPT_ENOMEM. */
int vpa_parts_sum_write(const struct vpa_parts_sum *sum, struct vpa_arena *arena,
	struct vpa_block_part **parts, size_t *count);

#endif
