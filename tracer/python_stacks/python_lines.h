/* python_lines.h - decodes the table that gives the line of each instruction of a code object.
 *
 * Any bytes are fine: what is no table gives some line. */
#ifndef VPTRACE_TRACER_PYTHON_STACKS_PYTHON_LINES_H
#define VPTRACE_TRACER_PYTHON_STACKS_PYTHON_LINES_H

#include "tracer/python_stacks/python_layout.h"

#include <stddef.h>
#include <stdint.h>

/* The line of the instruction at offset `at` (bytes), or -1: it has none. `first` is the code's
 * first line. */
int32_t vtr_python_line(
	enum vtr_python_lines kind, const uint8_t *table, size_t bytes, int32_t first, int32_t at);

#endif
