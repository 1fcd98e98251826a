/* chunk_edge.h - cuts the threads' events into chunks so that every range open around a call is in
 * the chunk of that call, or an earlier one, and no range comes after one that began later.
 *
 * Events leave the rings in steps of time: all that ended by the cut are in rows, all later ones in
 * the rings. A chunk may therefore end at any moment. Its OPEN rows are the ranges that were open at
 * the cut: they have begun, and no row of theirs has been made. They are on a stack still, or have
 * ended since and are in a ring. The stacks are copied first, and the rings looked at second:
 *
 *	copy of the stacks    look at the rings    in the chunk
 *	open                  not there            OPEN: it is still open
 *	open                  there                OPEN: it just ended, its RANGE follows
 *	not there             there                OPEN, if it began before the cut
 *
 * In the other order, a range that ended in between would be in neither. Very long names may force a
 * chunk to end inside a step; OPEN rows then tell the rest of that step too. Calls may be put once the
 * cut is after their ends. The writer's thread only. */
#ifndef VPTRACE_TRACER_WRITE_CHUNK_EDGE_H
#define VPTRACE_TRACER_WRITE_CHUNK_EDGE_H

#include "tracer/ranges/app_threads.h"
#include "tracer/write/recorder.h"

#include <stddef.h>
#include <stdint.h>

struct vtr_edge_list {
	struct vtr_edge_event *events;
	size_t count, cap;
};

/* All zeros is a valid empty edge, at the beginning of time. */
struct vtr_edge {
	struct vtr_recorder *recorder; /* borrowed */
	struct vtr_edge_list open;     /* when the stacks were copied */
	struct vtr_edge_list late;     /* open at the cut, not when the stacks were copied */
	/* What ended by `done_ns` is in rows, what ended after `cut_ns` in the rings. Equal, except
	 * while a step is drained. */
	uint64_t done_ns, cut_ns;
	void (*seen)(void *ctx, const struct vtr_event *event); /* each event; may be NULL */
	void *seen_ctx;
};

/* Makes rows of what the rings hold that ended by `now_ns`, the time of the call, or of a part of
 * it; counts them in *drained. Ends chunks that are full. Returns whether that was all; the rest
 * follows in the next round. */
int vtr_edge_drain(struct vtr_edge *e, uint64_t now_ns, size_t *drained);
/* The open chunk ends: puts the ranges open at the cut as OPEN rows. */
void vtr_edge_close(struct vtr_edge *e);
/* After vtr_threads_stop(): makes rows of what is still in the rings, and of ranges that are still
 * open, which end at `stop_ns`. */
void vtr_edge_end_open(struct vtr_edge *e, uint64_t stop_ns);
void vtr_edge_free(struct vtr_edge *e);

#endif
