/* cupti_late_ops.h - ops that began in a pause and wait for the record of the call that launched them.
 *
 * That record follows the op's, as a rule in the same buffer, else in the next one of its thread: until it has come
 * nobody knows whether the op was launched in the pause. Records are copied; a kernel's name is read when it is
 * decoded, as that of any record. The writer's thread only. */
#ifndef VPTRACE_TRACER_CUPTI_RECORDS_CUPTI_LATE_OPS_H
#define VPTRACE_TRACER_CUPTI_RECORDS_CUPTI_LATE_OPS_H

#include "tracer/cupti/library/cupti_sizes.h"
#include "tracer/write/recorder.h"

enum { VTR_LATE_OPS_MAX = 256 };

/* All zeros: none. */
struct vtr_late_ops {
	struct vtr_late_op *ops; /* VTR_LATE_OPS_MAX of them; NULL: not needed yet */
	size_t count;
};

/* What the caller does with a record; `widen` extends its correlation id. */
struct vtr_late_ops_owner {
	uint64_t (*widen)(void *ctx, uint32_t id);
	void (*decode)(void *ctx, const uint8_t *record, size_t size);
	void *ctx;
};

/* Takes a copy of the record if it is of an op that has to wait, and there is room. Returns whether it did.
 * `now_ns`: CLOCK_MONOTONIC. */
int vtr_late_ops_take(struct vtr_late_ops *l, const struct vtr_late_ops_owner *owner,
	const struct vtr_recorder *r, uint32_t kind, const uint8_t *record, size_t size,
	uint64_t now_ns);

/* Decodes those whose launch is known by now, or that came before `until_ns`, in their order. Returns how
 * many. */
size_t vtr_late_ops_release(struct vtr_late_ops *l, const struct vtr_late_ops_owner *owner,
	struct vtr_recorder *r, uint64_t until_ns);

void vtr_late_ops_free(struct vtr_late_ops *l);

#endif
