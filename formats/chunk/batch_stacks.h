/* batch_stacks.h - reads the Python stacks of a batch. batch.h describes what a stack is. */
#ifndef VPT_FORMATS_CHUNK_BATCH_STACKS_H
#define VPT_FORMATS_CHUNK_BATCH_STACKS_H

#include "formats/chunk/batch.h"

#include <stdint.h>

/* The stacks of a batch, which is borrowed. */
struct vpt_stacks {
	const struct vpt_batch *batch;
	const struct vpt_section *stacks, *frames; /* NULL: none */
};

void vpt_stacks_view(struct vpt_stacks *s, const struct vpt_batch *b);

/* How many frames a stack has, at most VPT_STACK_DEPTH_MAX. 0: none, or there is no such stack. */
uint32_t vpt_stacks_depth(const struct vpt_stacks *s, uint64_t stack);

/* The innermost frame of a stack, and in *stack the stack of its caller, 0 after the outermost frame.
 * Strings are ids of the batch; a frame beyond its table has a string id beyond that of strings, which
 * reads as "?". The stack must have a depth:
 *
 *	for (left = vpt_stacks_depth(&s, stack); left; left--)
 *		use(vpt_stacks_pop(&s, &stack)); */
struct vpt_frame vpt_stacks_pop(const struct vpt_stacks *s, uint64_t *stack);

#endif
