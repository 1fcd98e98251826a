/* gap_instead.h - what the host did in idle time that counts to an earlier call, which had held it: added up
 * by device, cause, call and place, and by what the host did, in which call, where. */
#ifndef VPA_ANALYSIS_FOLDS_GAPS_GAP_INSTEAD_H
#define VPA_ANALYSIS_FOLDS_GAPS_GAP_INSTEAD_H

#include "analysis/base/index.h"
#include "analysis/folds/fold.h"

struct vpa_instead_part {
	uint64_t ns, gaps;
	uint64_t newest_gap; /* the number of the last gap counted */
};

/* All zeros is empty. */
struct vpa_instead {
	struct vpa_index pairs; /* (place, call): of the call that held the host, of what it did */
	/* (device << 16 | host << 8 | cause, pair that held it << 32 | pair that it did) */
	struct vpa_index index;
	struct vpa_instead_part *parts;
	size_t part_cap;
	/* The row found last, and for what: the next piece is often like it. */
	struct vpa_cause_piece newest;
	uint32_t newest_device, row;
};

/* Adds a piece of a gap, if it has such a call. `gap` is the gap's number, from 1 on: pieces of one gap come
 * one after the other. 0 or VPT_ENOMEM. */
int vpa_instead_add(
	struct vpa_instead *h, uint32_t device, const struct vpa_cause_piece *piece, uint64_t gap);

/* Writes the rows of a device into the report's arena, the longest time first; those beyond 64 as one row for
 * each cause and what the host did. 0 or VPT_ENOMEM. */
int vpa_instead_write(const struct vpa_instead *h, const struct vpa_fold_context *c,
	uint32_t device, struct vpa_report *out, struct vpa_device *to);

void vpa_instead_free(struct vpa_instead *h);

#endif
