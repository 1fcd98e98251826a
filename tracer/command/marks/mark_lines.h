/* mark_lines.h - whether the lines of a mark file can be read.
 *
 * vptrace_marks/lines.py reads them in the traced processes, which must go on whatever is wrong, so
 * `vptrace run` looks first. What it refuses, lines.py refuses in the same words (tests/python/cli_mark_lines.sh);
 * a line with other bytes than ASCII before its comment is left to lines.py. */
#ifndef VPTRACE_TRACER_COMMAND_MARKS_MARK_LINES_H
#define VPTRACE_TRACER_COMMAND_MARKS_MARK_LINES_H

#include "formats/base/error.h"

#include <stddef.h>

/* `text` has `len` bytes and a NUL after them, and is overwritten. `name` is that of the file, for the
 * message. VPT_EINVAL: "NAME:LINE: expected ..., found ...". VPT_ENOMEM. */
int vtr_mark_lines_check(const char *name, char *text, size_t len, struct vpt_err *err);

/* The same for a file. One that cannot be read is in order: others say so. */
int vtr_mark_file_check(const char *path, struct vpt_err *err);

#endif
