/* stack_rows.h - samples of stacks become SAMPLE rows, and their stacks rows of FRAME and STACK. The
 * writer's thread only.
 *
 * A stack is put into a chunk when the first sample there needs it. */
#ifndef VPTRACE_TRACER_WRITE_STACK_ROWS_H
#define VPTRACE_TRACER_WRITE_STACK_ROWS_H

#include "tracer/python_stacks/stack_samples.h"
#include "tracer/write/recorder.h"

#include <stdint.h>

/* All zeros is the beginning. */
struct vtr_stack_rows {
	uint64_t chunk; /* of `ids` */
	uint32_t *ids;  /* of a chunk's STACK, by the number of the stack; 0: not put yet */
	size_t id_cap;
};

/* Puts all samples that wait. */
void vtr_stack_rows_put(
	struct vtr_stack_rows *rows, struct vtr_stack_samples *samples, struct vtr_recorder *r);

void vtr_stack_rows_free(struct vtr_stack_rows *rows);

#endif
