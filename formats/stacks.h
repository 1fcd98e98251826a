/* stacks.h - Python stacks: the tables FRAME and STACK of a chunk.
 *
 * A stack is its innermost frame and the stack of the caller. So stacks that have their outer frames
 * in common share them, and a stack is one number:
 *
 *	STACK  row  caller  frame            FRAME  row  function  file      line
 *	         0       -      -                     0  main      train.py    12
 *	         1       0      0                     1  forward   model.py    40
 *	         2       1      1                     2  backward  model.py    71
 *	         3       1      2
 *
 * Stack 3 is main, backward; stack 0 is empty. A caller's row is smaller than its own rows, so no
 * stack contains itself. Writers intern with vpt_batch_frame() and vpt_batch_stack() (batch.h), or
 * with those of a collector (collect.h). */
#ifndef VPT_FORMATS_STACKS_H
#define VPT_FORMATS_STACKS_H

#include "formats/schema.h"
#include "formats/strings.h"

#include <stddef.h>
#include <stdint.h>

struct vpt_batch;
struct vpt_section;

/* ---- reading ---- */

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

/* ---- for batch.c, collect.c and chunk_decode.c ---- */

/* Distinct frames and stacks, numbered in order of arrival; stacks from 1. All zeros is empty. */
struct vpt_stack_table {
	struct vpt_strings frames, stacks; /* rows of FRAME and STACK, each as a string of bytes */
	uint16_t *depths;                  /* of the rows of STACK */
	size_t depth_count, depth_cap;
};

void vpt_stack_table_reset(struct vpt_stack_table *t); /* empty, memory kept */
void vpt_stack_table_free(struct vpt_stack_table *t);

/* Intern; VPT_NO_ID when there is no memory, or no such caller. A caller of VPT_STACK_DEPTH_MAX frames takes no further
 * one: the result is the caller. */
uint64_t vpt_stack_table_frame(struct vpt_stack_table *t, const struct vpt_frame *frame);
uint64_t vpt_stack_table_stack(struct vpt_stack_table *t, uint64_t caller, uint64_t frame);

/* The row of an id that the table has returned. */
struct vpt_frame vpt_stack_table_frame_row(const struct vpt_stack_table *t, uint64_t id);
struct vpt_stack vpt_stack_table_stack_row(const struct vpt_stack_table *t, uint64_t id);

/* Checks a STACK section that was read, and records the depths. 0; VPT_EDATA if a caller is no
 * smaller row, or a stack deeper than VPT_STACK_DEPTH_MAX, or if there was such a section already;
 * VPT_ENOMEM. */
int vpt_stack_table_read(struct vpt_stack_table *t, const struct vpt_section *s);

#endif
