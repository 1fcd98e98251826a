/* stack_lines.h - the Python stacks of a whole trace, each with one number, and the line it points at.
 *
 * A chunk numbers its stacks from 1 (formats/chunk/batch_stacks.h). Here equal stacks of all chunks have the
 * same number; 0 is the empty stack. Functions and files are names of the model. */
#ifndef VPA_ANALYSIS_MODEL_STACK_LINES_H
#define VPA_ANALYSIS_MODEL_STACK_LINES_H

#include "formats/chunk/batch_stacks.h"

#include <stddef.h>
#include <stdint.h>

struct vpa_frame_rules;
struct vpa_model;

enum {
	/* Further stacks are empty ones. Python programs have thousands. */
	VPA_STACKS_MAX = 1 << 18
};

/* All zeros is empty. */
struct vpa_stacks {
	struct vpt_stack_table table;
	uint32_t *of_row; /* by row of the current chunk */
	size_t row_count, row_cap;
	uint32_t *lines; /* by stack: 1 + frame, see vpa_stacks_line(); 0: not looked up yet */
	size_t line_cap;
	uint64_t left_out;                   /* stacks beyond the limit */
	const struct vpa_frame_rules *rules; /* the user's, borrowed; NULL: none */
	uint8_t *files;                      /* by file's name: whose it is, see stack_lines.c */
	size_t file_cap;
};

void vpa_stacks_free(struct vpa_stacks *s);

/* How many there are, with the empty one. */
size_t vpa_stacks_count(const struct vpa_stacks *s);

/* The stack's number for a row of the current chunk; 0 if there is no such row. */
static inline uint32_t vpa_stacks_of_row(const struct vpa_stacks *s, uint64_t row)
{
	return row < s->row_count ? s->of_row[row] : 0;
}

/* How many frames a stack has. */
uint32_t vpa_stacks_depth(const struct vpa_stacks *s, uint32_t stack);

/* The innermost frame and the caller of a stack, which is not 0. */
struct vpt_frame vpa_stacks_frame(const struct vpa_stacks *s, uint32_t stack, uint32_t *caller);

/* A frame by its number. */
struct vpt_frame vpa_stacks_frame_at(const struct vpa_stacks *s, uint32_t frame);

/* Whether a frame is that of a mark's wrapper (vpa_frame_is_wrapper()). The resolver leaves them out:
 * no stack has one. */
int vpa_stacks_is_wrapper(struct vpa_model *m, const struct vpt_frame *frame);

/* Whether a frame is of the user's code, as frame_rules.h says: it has a file, and that is not a
 * framework's. */
int vpa_stacks_is_users(struct vpa_model *m, const struct vpt_frame *frame);

/* The line to show for a stack: the number of the innermost frame of the user's code, as
 * frame_rules.h says, else of the innermost frame. VPA_NONE: the stack is empty, or there is no
 * memory. */
uint32_t vpa_stacks_line(struct vpa_model *m, uint32_t stack);

#endif
