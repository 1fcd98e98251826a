/* refused.h - what finds no room in a file that has reached its limit, though it belongs before the end.
 *
 * The recording ends where the first row of the host begins that finds no room: a moment that moves back as long as
 * rows come late. What was launched before it belongs to the recording, and the GPU may begin it much later. A
 * record of an op has the id of its launch but not the time, so the newest calls are remembered with both, and how
 * many ops were launched before the end is known once the end is. */
#ifndef VPTRACE_TRACER_WRITE_REFUSED_H
#define VPTRACE_TRACER_WRITE_REFUSED_H

#include <stddef.h>
#include <stdint.h>

enum { VTR_REFUSED_CALLS = 1 << 16, VTR_REFUSED_OPS_MAX = 1 << 16 };

struct vtr_refused_call {
	uint64_t id, start_ns;
};

/* Ops with the same id, as the nodes of a graph. */
struct vtr_refused_ops {
	uint64_t id, count;
};

/* All zeros is empty. The recorder's. */
struct vtr_refused {
	struct vtr_refused_call *calls; /* NULL, or VTR_REFUSED_CALLS of them, a ring */
	uint64_t call_count;            /* ever */
	int is_sorted;                  /* by id: no call may be noted any more */
	struct vtr_refused_ops *ops;
	size_t op_count, op_cap;
	uint64_t more_ops; /* beyond VTR_REFUSED_OPS_MAX ids, or without memory: they count */
	uint64_t ranges;   /* that were open at the end */
	uint64_t from_ns;  /* the earliest start of these */
};

void vtr_refused_call(struct vtr_refused *r, uint64_t id, uint64_t start_ns);
void vtr_refused_op(struct vtr_refused *r, uint64_t id);
void vtr_refused_range(struct vtr_refused *r, uint64_t start_ns);

/* Whether an op was launched before `end_ns`, as far as the calls show it: no if none was noted. After the last call. */
int vtr_refused_is_before(struct vtr_refused *r, uint64_t id, uint64_t end_ns);

/* How many of the ops were. After the last call. */
uint64_t vtr_refused_ops_before(struct vtr_refused *r, uint64_t end_ns);

void vtr_refused_free(struct vtr_refused *r);

#endif
