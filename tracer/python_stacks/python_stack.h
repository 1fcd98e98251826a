/* python_stack.h - reads the Python stack of a thread that goes on running meanwhile.
 *
 * The thread is not stopped, and takes part in nothing. Its frames may be pushed, popped and freed
 * while they are copied, so a single walk can join frames that were never on one stack. Therefore
 * all frames are copied six times, in three rounds, before and after the pointer to the innermost
 * frame is read (python_copies.h).
 *
 * A frame that has the same code, caller and instruction in all copies, and was in use whenever that
 * pointer was read, was on the stack; unless the thread left it and came back to the same instruction
 * in between. For a false stack it would have to do so in step with every round. An interruption of
 * our own thread gives it time once, not three times.
 *
 * Where the innermost frames come and go too fast, the outer ones that stood still are a stack that
 * is true and lacks its innermost functions: it is *cut*. That is weaker evidence, so
 * two attempts must agree on it. Anything else is *torn*, and not shown.
 * (Whether the thread used processor time meanwhile would be a simpler proof. But virtual machines
 * do not count all of it.)
 *
 * Which addresses to copy is known from the thread's previous stack. If that has changed, the stack
 * is discovered frame by frame, and then copied as above.
 *
 * One reader for one thread at a time. After vtr_python_reader_new(), no call allocates. */
#ifndef VPTRACE_TRACER_PYTHON_STACKS_PYTHON_STACK_H
#define VPTRACE_TRACER_PYTHON_STACKS_PYTHON_STACK_H

#include "tracer/python_stacks/python_copies.h"

#include <stdint.h>

enum vtr_python_outcome {
	VTR_PYTHON_WHOLE,
	VTR_PYTHON_CUT,
	VTR_PYTHON_TORN,
	VTR_PYTHON_DEEP, /* more frames, or regions, than python_copies.h allows */
	VTR_PYTHON_NONE, /* the thread runs no Python now */
	VTR_PYTHON_ENDED /* there is no such thread */
};

struct vtr_python_frame {
	uint64_t code;       /* address of its code object */
	int32_t instruction; /* offset in the code, bytes; negative: before the first one */
	uint32_t is_generator;
};

struct vtr_python_stack {
	uint32_t depth;
	struct vtr_python_frame frames[VTR_PYTHON_DEPTH_MAX]; /* innermost first */
};

struct vtr_python_reader;

/* NULL: no memory. Borrows both. */
struct vtr_python_reader *vtr_python_reader_new(
	struct vtr_own_memory *m, const struct vtr_python *python);
void vtr_python_reader_free(struct vtr_python_reader *r); /* accepts NULL */

/* Reads the stack of the thread plan->tid. `out` is filled for WHOLE and CUT. Any state of the
 * thread, or none, is fine; but of one that has ended without returning from its functions, its last
 * stack may be read. */
enum vtr_python_outcome vtr_python_stack_read(
	struct vtr_python_reader *r, struct vtr_python_plan *plan, struct vtr_python_stack *out);

#endif
