/* launch_queue.h - the launches that wait on a device, and how many of them its queue holds.
 *
 * A launch call that finds the queue full returns when a launch long before it has ended. Private to edges_calls.c. */
#ifndef VPA_ANALYSIS_RETIME_EDGES_LAUNCH_QUEUE_H
#define VPA_ANALYSIS_RETIME_EDGES_LAUNCH_QUEUE_H

#include "analysis/retime/edges/edges.h"

/* The last launches of a device, in order. */
struct vpa_launch_queue {
	uint32_t calls[VPA_QUEUE_LAUNCHES + 1];
	uint64_t count; /* of all that passed */
};

/* An empty one for each device of the tape; the caller frees them with vpt_free(). NULL: no memory. */
struct vpa_launch_queue *vpa_launch_queues_new(const struct vpa_tape *t);

/* The queue that a call's ops went to. NULL: it launched none. */
struct vpa_launch_queue *vpa_launch_queue_of(
	const struct vpa_tape *t, struct vpa_launch_queue *queues, const struct vpa_tape_call *c);
/* A launch that has passed: 1 is the last one, 2 the one before it, up to VPA_QUEUE_LAUNCHES + 1. NULL: fewer have passed. */
const struct vpa_tape_call *vpa_launch_before(
	const struct vpa_tape *t, const struct vpa_launch_queue *q, uint32_t launches);
void vpa_launch_pass(struct vpa_launch_queue *q, uint32_t call);

/* When the last op of a launch ended. */
uint64_t vpa_launch_end_ns(const struct vpa_tape *t, const struct vpa_tape_call *c);

/* How many launches fit: as the long launch calls of the tape show, else VPA_QUEUE_LAUNCHES. short_cost: by name of a call. Leaves
 * the queues empty. */
uint32_t vpa_launch_queue_depth(
	const struct vpa_tape *t, struct vpa_launch_queue *queues, const uint64_t *short_cost);

#endif
