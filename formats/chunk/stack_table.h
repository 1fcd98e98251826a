/* stack_table.h - Python stacks: the tables FRAME and STACK of a chunk, as they are built and checked.
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
 * with those of a collector (collect.h); batch_stacks.h reads. */
#ifndef VPT_FORMATS_CHUNK_STACK_TABLE_H
#define VPT_FORMATS_CHUNK_STACK_TABLE_H

#include "formats/chunk/strings.h"
#include "formats/event_schema.h"

#include <stddef.h>
#include <stdint.h>

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

/* Checks a STACK section of `count` rows, at least 1, that was read, and records the depths. 0;
 * VPT_EDATA if a caller is no smaller row, or a stack deeper than VPT_STACK_DEPTH_MAX, or if there was
 * such a section already; VPT_ENOMEM. */
int vpt_stack_table_read(struct vpt_stack_table *t, const uint64_t *callers, size_t count);

#endif
