/* python_frame.h - one frame of a Python stack, as bytes that were read.
 *
 * Nothing here reads memory. A frame's address comes from memory that another thread changes: check
 * it with vtr_python_is_address() before any sum. */
#ifndef VPTRACE_TRACER_PYTHON_STACKS_PYTHON_FRAME_H
#define VPTRACE_TRACER_PYTHON_STACKS_PYTHON_FRAME_H

#include "tracer/python_stacks/python_layout.h"

#include <stdint.h>

struct vtr_raw_frame {
	uint64_t at, code, previous, instruction;
	uint8_t is_c;         /* marks a call from C */
	uint8_t is_generator; /* or a coroutine's */
	uint8_t is_entry;     /* called from C; a stack begins with one */
	uint8_t is_dead;      /* not on a stack; up to 3.10, else it cannot be told */
};

/* The bytes of a frame that are read: `bytes` from its address + `from` on. */
struct vtr_frame_span {
	uint32_t from, bytes;
};

void vtr_frame_span_of(const struct vtr_python_layout *at, struct vtr_frame_span *out);

/* Whether a frame may be there; else sums of addresses might wrap. */
static inline int vtr_python_is_address(uint64_t frame)
{
	return frame >= 4096 && frame < UINT64_C(1) << 56 && !(frame & 7);
}

void vtr_raw_frame_parse(const struct vtr_python_layout *at, const struct vtr_frame_span *span,
	uint64_t frame, const uint8_t *bytes, struct vtr_raw_frame *out);

/* Whether two reads show the same call; its instruction may differ. */
int vtr_raw_frame_same(const struct vtr_raw_frame *a, const struct vtr_raw_frame *b);

/* The offset of its instruction in its code, bytes. */
int32_t vtr_raw_frame_offset(const struct vtr_python_layout *at, const struct vtr_raw_frame *f);

#endif
