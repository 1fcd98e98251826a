/* python_code.h - what a frame's code object and instruction are for a person: function, file, line.
 *
 * Functions are qualified names from Python 3.11 on, "Class.method", and plain ones before; a line is
 * the function's first one if the instruction has none.
 *
 * Code objects are remembered by address. An address may be used again for another one. So each time
 * a stack is named, file, first line, line table and function name are compared: the texts of the
 * innermost frames by content, those of others by address, and every eighth time by content. That it
 * is a code object was seen when it was learnt, and a frame keeps its own alive. The line of an
 * instruction is decoded from the code's table once. Results are places, see code_places.h. Memory is
 * bounded: codes and lines are forgotten when there are too many.
 *
 * One thread at a time, that of the reader. */
#ifndef VPTRACE_TRACER_PYTHON_STACKS_PYTHON_CODE_H
#define VPTRACE_TRACER_PYTHON_STACKS_PYTHON_CODE_H

#include "tracer/python_stacks/code_places.h"
#include "tracer/python_stacks/python_layout.h"
#include "tracer/python_stacks/python_stack.h"

#include <stddef.h>
#include <stdint.h>

enum {
	VTR_FUNCTION_CHARACTERS_MAX = 256, /* longer names and paths are cut */
	VTR_FILE_CHARACTERS_MAX = 1024
};

struct vtr_python_codes;

/* NULL: no memory. Borrows all. */
struct vtr_python_codes *vtr_python_codes_new(
	struct vtr_own_memory *m, const struct vtr_python *python, struct vtr_code_places *places);
void vtr_python_codes_free(struct vtr_python_codes *c); /* accepts NULL */

/* Names a stack's frames, innermost first. `places` has room for stack->depth numbers; *count is how
 * many there are: fewer if functions are still being called, which Python does not show either.
 *
 * 0. 1: the stack has code that was not known; it is now. Between the reading of a stack and of a
 * code object that one may have been freed, and another have its address: read the stack again, and
 * name that. -1: a frame's code is none, so the stack is not one. */
int vtr_python_codes_name(struct vtr_python_codes *c, const struct vtr_python_stack *stack,
	uint32_t *places, uint32_t *count);

/* ---- python_lines.c: decodes the table that gives the line of each instruction of a code object.
 *
 * Any bytes are fine: what is no table gives some line. */

/* The line of the instruction at offset `at` (bytes), or -1: it has none. `first` is the code's
 * first line. */
int32_t vtr_python_line(
	enum vtr_python_lines kind, const uint8_t *table, size_t bytes, int32_t first, int32_t at);

#endif
