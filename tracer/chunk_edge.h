/* chunk_edge.h - cuts the threads' events into chunks so that every range open around a call is in
 * the chunk of that call.
 *
 * The stacks are copied first and the rings drained second:
 *
 *	copy of the stacks    drain of the rings       in the chunk
 *	open                  not there                OPEN: it is still open
 *	open                  there: it just ended     RANGE, and no OPEN
 *	not there             there                    RANGE
 *
 * In the other order, a range that ended in between would be in neither. Events that ended after
 * the copy began stay in their ring for the next chunk: a range around them may have begun after
 * the copy too, and would be in neither. The writer's thread only. */
#ifndef VPTRACE_TRACER_CHUNK_EDGE_H
#define VPTRACE_TRACER_CHUNK_EDGE_H

#include "tracer/recorder.h"
#include "tracer/threads.h"

#include <stddef.h>
#include <stdint.h>

struct vtr_edge_list {
	struct vtr_edge_event *events;
	size_t count, cap;
};

/* All zeros is a valid empty edge. */
struct vtr_edge {
	struct vtr_recorder *recorder; /* borrowed */
	struct vtr_edge_list open;     /* when the stacks were copied */
	struct vtr_edge_list late;     /* open at the cut, not when the stacks were copied */
	uint64_t cut_ns;               /* just before the stacks were copied */
	int draining, closing;
	void (*seen)(void *ctx, const struct vtr_event *event); /* each event; may be NULL */
	void *seen_ctx;
};

/* Makes rows of what the rings hold and counts them in *drained. Returns whether that was all; the
 * rest follows in the next round. */
int vtr_edge_drain(struct vtr_edge *e, size_t *drained);
/* The open chunk ends: drains the rings and puts open ranges as OPEN rows. May be called during
 * vtr_edge_drain(). */
void vtr_edge_close(struct vtr_edge *e);
/* Ranges that are open now end at `stop_ns`, the capture's end. */
void vtr_edge_end_open(struct vtr_edge *e, uint64_t stop_ns);
void vtr_edge_free(struct vtr_edge *e);

#endif
