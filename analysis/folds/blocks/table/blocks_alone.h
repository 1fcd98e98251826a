/* blocks_alone.h - how long the work of each stage, or of the steps, has a device to itself: the most
 * that removing it would save.
 *
 * A moment counts for a stage if only its ops run then, or if the device is idle between two of its ops
 * with none of others between them. What runs beside other work does not count, since that work would
 * take as long without it. Ops outside of all stages are other work, too. Steps that are laps are not
 * told apart from those. */
#ifndef VPA_ANALYSIS_FOLDS_BLOCKS_TABLE_BLOCKS_ALONE_H
#define VPA_ANALYSIS_FOLDS_BLOCKS_TABLE_BLOCKS_ALONE_H

#include "analysis/base/index.h"
#include "analysis/model/model.h"

/* Ops of so many stages at once are told apart; those of more do not run on a GPU. */
enum { VPA_ALONE_MAX = 16 };

/* Whose work an op is. */
struct vpa_alone_owner {
	uint32_t stage;    /* row of the stages; VPA_NONE: outside of all */
	uint32_t block;    /* scope that it began in; VPA_NONE: none */
	uint64_t first_ns; /* start of the instance's first op */
};

/* One device. */
struct vpa_alone_device {
	uint64_t at_ns; /* counted up to here */
	struct vpa_alone_running {
		uint64_t end_ns;
		uint32_t stage, cell;
	} running[VPA_ALONE_MAX]; /* at most one of a stage, the latest to end */
	size_t count;
	uint32_t last; /* the stage whose op ended last */
};

/* All zeros is empty. */
struct vpa_alone {
	struct vpa_alone_device *devices;
	size_t device_count, device_cap;
	struct vpa_index index; /* (block + 1, stage), device */
	uint64_t *ns;           /* by row of the index */
	size_t cap;
};

static inline uint32_t vpa_alone_block(const struct vpa_index_entry *e)
{
	return (uint32_t)(e->a >> 32) - 1;
}

static inline uint32_t vpa_alone_stage(const struct vpa_index_entry *e)
{
	return (uint32_t)e->a;
}

/* Adds ops [begin, end) of one run, all of one owner. 0 or VPT_ENOMEM. */
int vpa_alone_ops(struct vpa_alone *a, const struct vpa_alone_owner *owner,
	const struct vpa_ops *ops, const struct vpa_op_run *run, size_t begin, size_t end);
/* After the last op. */
void vpa_alone_end(struct vpa_alone *a);
void vpa_alone_free(struct vpa_alone *a);

#endif
