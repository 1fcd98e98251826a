/* launch_shape.h - how large a launch of a kernel is, and how much of a GPU it takes by that. */
#ifndef VPA_ANALYSIS_MODEL_LAUNCH_SHAPE_H
#define VPA_ANALYSIS_MODEL_LAUNCH_SHAPE_H

#include "analysis/base/index.h"
#include "analysis/report/report.h"
#include "formats/chunk/chunk.h"

struct vpa_launch_shape {
	uint32_t kernel;                           /* as in vpa_ops; of vpa_launch_shape_of() 0 */
	uint64_t blocks;                           /* of the grid */
	uint64_t threads, registers, shared_bytes; /* of a block; registers: of a thread */
};

/* A row of a chunk's CONFIG section. */
struct vpa_launch_shape vpa_launch_shape_of(const struct vpt_section *configs, uint64_t row);

/* The number of a shape in a model; VPA_NONE: it does not fit, or there are too many. 0 or VPT_ENOMEM. */
int vpa_launch_shape_put(
	struct vpa_index *shapes, const struct vpa_launch_shape *shape, uint32_t *number);
struct vpa_launch_shape vpa_launch_shape_get(const struct vpa_index *shapes, size_t number);

struct vpa_launch_figures {
	double blocks_per_sm, warps_per_sm; /* of the grid, for each multiprocessor */
	/* Warps that a multiprocessor holds at once, of the most that it can: by its limits, and if the grid has fewer blocks, by
	 * those. PyTorch's profiler calls it the estimated achieved occupancy. */
	double occupancy;
	double sm_efficiency; /* multiprocessors that have a block of the grid, of all */
};

/* Returns whether all that they depend on is known. */
int vpa_launch_figures(const struct vpa_gpu *gpu, const struct vpa_launch_shape *shape,
	struct vpa_launch_figures *out);

/* The GPU that all GPUs of a report are like; NULL: there is none, or they differ. */
const struct vpa_gpu *vpa_common_gpu(const struct vpa_report *r);

/* The most multiprocessors that a GPU of a report has; 0: not known. */
uint32_t vpa_most_multiprocessors(const struct vpa_report *r);

#endif
