/* occupancy.h - how many blocks of a kernel one multiprocessor of a GPU can hold at once. */
#ifndef VPA_ANALYSIS_MODEL_OCCUPANCY_H
#define VPA_ANALYSIS_MODEL_OCCUPANCY_H

#include "analysis/report/report.h"

/* What a block of a kernel takes. */
struct vpa_block_needs {
	uint64_t threads;
	uint64_t registers;    /* per thread */
	uint64_t shared_bytes; /* static and dynamic, per block */
};

struct vpa_occupancy {
	/* How many blocks fit, by each resource. */
	uint32_t by_blocks, by_registers, by_shared, by_warps;
	uint32_t blocks; /* the minimum of these */
	double percent;  /* active warps, of the maximum: theoretical occupancy */
};

/* Fills *out by the rules of CUDA's occupancy calculator, with the largest shared memory carve-out.
 * Returns whether all inputs are known: the GPU's limits, its compute capability included, and the
 * block's needs. */
int vpa_occupancy(
	const struct vpa_gpu *gpu, const struct vpa_block_needs *block, struct vpa_occupancy *out);

#endif
