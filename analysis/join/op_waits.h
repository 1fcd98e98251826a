/* op_waits.h - which ops an op waited for because its stream was made to wait for an event. */
#ifndef VPA_ANALYSIS_JOIN_OP_WAITS_H
#define VPA_ANALYSIS_JOIN_OP_WAITS_H

#include "formats/chunk/batch.h"

#include <stddef.h>
#include <stdint.h>

struct vpa_resolver;
struct vpa_op_waits;

/* An op as seen here. The caller numbers the ops in order of start, from 1. */
struct vpa_numbered_op {
	uint64_t start_ns, end_ns;
	uint64_t correlation; /* of the call that launched it; 0: unknown */
	uint32_t stream;      /* of the model */
	uint32_t number;
};

enum { VPA_OP_WAITS_MAX = 8 };

struct vpa_op_waits *vpa_op_waits_new(struct vpa_resolver *resolver); /* NULL: no memory */
void vpa_op_waits_free(struct vpa_op_waits *w);                       /* accepts NULL */

/* Adds an EVENT or SYNC section, after the resolver took it. 0 or VPT_ENOMEM. */
int vpa_op_waits_add(struct vpa_op_waits *w, const struct vpt_section *s);

/* Stores the numbers of the ops that the next op waited for; returns how many. Ignores the op's own
 * number. */
size_t vpa_op_waits_of(struct vpa_op_waits *w, const struct vpa_numbered_op *op,
	uint32_t numbers[VPA_OP_WAITS_MAX]);
/* Makes it the newest op of its stream. */
void vpa_op_waits_done(struct vpa_op_waits *w, const struct vpa_numbered_op *op);

/* Finds the call that recorded the event a wait for `sync_id` waits for, and its stream. Returns
 * whether it is known. */
int vpa_op_waits_record(const struct vpa_op_waits *w, int64_t pid, uint64_t sync_id,
	uint32_t *stream, uint64_t *correlation);

#endif
