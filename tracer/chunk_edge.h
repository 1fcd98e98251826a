/* chunk_edge.h - what application threads did, cut into chunks, such that each range open around a call of a chunk stands in the chunk.
 *
 * The stacks are copied first and the rings drained second:
 *
 *	copy of the stacks    drain of the rings       in the chunk
 *	open                  not there                OPEN: it is open still
 *	open                  there: it just ended     RANGE, and no OPEN
 *	not there             there                    RANGE
 *
 * The other way round, a range that ended in between would be in neither. What ended after the
 * stacks began to be copied stays in its ring, for the next chunk, since a range around it may have
 * begun after them too and stand in neither. The writer's thread alone. */
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

/* All zeros is an edge that nothing has reached. */
struct vtr_edge {
	struct vtr_recorder *recorder; /* borrowed */
	struct vtr_edge_list open;     /* when the stacks were copied */
	struct vtr_edge_list late;     /* open at the cut, not when the stacks were copied */
	uint64_t cut_ns;               /* just before the stacks were copied */
	int draining, closing;
};

/* Rows of what the rings hold, counted in *drained. Returns whether it was all; the rest has its turn in the next round. */
int vtr_edge_drain(struct vtr_edge *e, size_t *drained);
/* The open chunk ends: drains, and puts what is open as OPEN rows. May come while the rings are being drained. */
void vtr_edge_close(struct vtr_edge *e);
/* Ranges that are open now end at `stop_ns`, the capture's end. */
void vtr_edge_end_open(struct vtr_edge *e, uint64_t stop_ns);
void vtr_edge_free(struct vtr_edge *e);

#endif
