/* lanes.h - batches of ops on their way to the folds that take them beside the pass.
 *
 *	thread of the pass            any thread
 *	makes   batch n + 2
 *	copy of batch n + 1  ------>  lane of a fold: batch n - 3
 *	                              lane of a fold: batch n - 1
 *
 * The pass makes each batch in the same place, which its own core has in its cache, and puts a copy of what folds need
 * among those that other cores read.
 *
 * Each fold has a lane of its own: it gets every batch, in order, one at a time. So its result does not depend on who
 * feeds it, and no fold needs to merge anything. Batches stay where they are until all lanes have passed them; there are
 * a few dozen, and the pass feeds lanes itself while there is no room.
 *
 * While ops are under way, the pass takes more ops, and nothing else: it settles the lanes before ranges end, calls are
 * dropped, a chunk is added or the model grows. While ranges are, it takes no ops, and the model gets nothing new but
 * names. What a fold may read beside the pass follows from that, see vpa_fold. All functions are for the thread of the
 * pass, but for those of notes. */
#ifndef VPA_ANALYSIS_FOLDS_LANES_H
#define VPA_ANALYSIS_FOLDS_LANES_H

#include "analysis/base/crew.h"
#include "analysis/model/model.h"
#include "formats/base/error.h"

enum { VPA_LANES_MAX = 32, VPA_LANE_BATCHES = 32, VPA_LANE_RANGES = 256 };

struct vpa_lane_batch {
	size_t range_count; /* 0: it is of ops */
	union {
		struct vpa_ops ops;
		struct vpa_range ranges[VPA_LANE_RANGES]; /* copies */
	};
};

struct vpa_lanes {
	struct vpa_crew *crew; /* NULL: lanes are fed by the pass, at once */
	/* Gives a batch to the fold of a lane: 0 or VPT_ENOMEM. */
	int (*feed)(void *ctx, int fold, const struct vpa_lane_batch *batch);
	void *ctx;
	struct vpa_lane_batch *batches; /* batch n is the one at n modulo their number */
	uint64_t put;                   /* how many batches there were so far */
	struct vpa_lane_batch *open;    /* ranges that are no batch yet; NULL: none */
	struct vpa_lane {
		int fold;
		int is_fed;     /* somebody is feeding it */
		uint64_t taken; /* batches of `put` */
	} lanes[VPA_LANES_MAX];
	size_t count;
	int settles; /* the pass waits for all lanes */
	/* No batch is under way; none of ops is. Of the pass, without the lock. */
	int is_settled, are_ops_settled;
	int rc; /* of the first feed() that failed */
};

/* Adds the lane of a fold. */
void vpa_lanes_add(struct vpa_lanes *l, int fold);

/* From now on a crew feeds the lanes too; NULL, or without memory: none does. */
void vpa_lanes_share(struct vpa_lanes *l, struct vpa_crew *crew);
/* Ends that, after what is under way. 0, or the code of a fold that failed. */
int vpa_lanes_unshare(struct vpa_lanes *l);

/* Adds a copy of a batch of ops, without correlation, launch_end_ns, gap_before and firsts. Only with a crew. 0, or the code of a
 * fold that failed. */
int vpa_lanes_put(struct vpa_lanes *l, const struct vpa_ops *ops);

/* Adds a copy of a range. Only with a crew. 0, or the code of a fold that failed. */
int vpa_lanes_put_range(struct vpa_lanes *l, const struct vpa_range *range);

/* Waits until every lane, or that of a fold, has all batches. 0, or the code of a fold that failed. */
int vpa_lanes_settle(struct vpa_lanes *l);
int vpa_lanes_wait(struct vpa_lanes *l, int fold);

/* The first of them where ops may be under way. */
static inline int vpa_lanes_settle_ops(struct vpa_lanes *l)
{
	return !l->crew || l->are_ops_settled ? VPT_OK : vpa_lanes_settle(l);
}

/* The second of them where a batch may be under way: most of the time there is none. */
static inline int vpa_lanes_catch_up(struct vpa_lanes *l, int fold)
{
	return !l->crew || l->is_settled ? VPT_OK : vpa_lanes_wait(l, fold);
}

/* ---- notes ---- */

/* Some of what a fold needs may be read on the thread of the pass only: it is a number for each stretch of ops that
 * share it. ops() of a fold notes it, and aside() of the same fold, which gets the same batches in the same order,
 * takes it. No more batches are under way than the ring has, so the two never have the same slot. */
enum { VPA_BATCH_NOTES = VPA_LANE_BATCHES + 1 };

struct vpa_batch_note {
	uint32_t end; /* of its ops, which begin where those of the note before end */
	uint32_t value;
};

/* All zeros is empty. */
struct vpa_batch_notes {
	uint32_t made, taken; /* modulo VPA_BATCH_NOTES */
	struct vpa_batch_note slots[VPA_BATCH_NOTES][VPA_OPS_MAX];
};

/* Where the notes of the next batch go, for ops(): they must cover all of its ops. */
static inline struct vpa_batch_note *vpa_batch_notes_make(struct vpa_batch_notes *n)
{
	struct vpa_batch_note *slot = n->slots[n->made];

	n->made = n->made + 1 < VPA_BATCH_NOTES ? n->made + 1 : 0;
	return slot;
}

/* The notes of the next batch, for aside(). */
static inline const struct vpa_batch_note *vpa_batch_notes_take(struct vpa_batch_notes *n)
{
	const struct vpa_batch_note *slot = n->slots[n->taken];

	n->taken = n->taken + 1 < VPA_BATCH_NOTES ? n->taken + 1 : 0;
	return slot;
}

#endif
