/* occupancy.h - how many blocks of a kernel one multiprocessor of a GPU can hold at once. */
#ifndef VPA_ANALYSIS_OCCUPANCY_H
#define VPA_ANALYSIS_OCCUPANCY_H

#include "analysis/report.h"

/* What a block of a kernel takes. */
struct vpa_block_needs {
	uint64_t threads;
	uint64_t registers;    /* a thread */
	uint64_t shared_bytes; /* static and dynamic */
};

struct vpa_occupancy {
	/* Blocks that there is room for, by what they take up. */
	uint32_t by_blocks, by_registers, by_shared, by_warps;
	uint32_t blocks; /* the least of them */
	double percent;  /* of the warps that could be there; theoretical occupancy */
};

/* Fills *out by the rules of CUDA's occupancy calculator, for the largest part of the cache as shared memory.
 * Returns whether all that it takes is known: the GPU's limits, its compute capability among them, and what a block
 * needs. */
int vpa_occupancy(
	const struct vpa_gpu *gpu, const struct vpa_block_needs *block, struct vpa_occupancy *out);

#endif
