/* mark_check.h - asks Python whether the lines of a mark file or rule can be read.
 *
 * vptrace_marks reads them in the traced processes, which must go on whatever is wrong, so `vptrace run` looks first:
 * it lets the same code read them, in the Python that will run the command. */
#ifndef VPTRACE_TRACER_COMMAND_MARKS_MARK_CHECK_H
#define VPTRACE_TRACER_COMMAND_MARKS_MARK_CHECK_H

#include "formats/base/error.h"

/* `what`: "file" or "rule"; `item`: its path or its text. `python`: a path; `site`: the folder beside that of
 * vptrace_marks. VPT_EINVAL: "NAME:LINE: expected ..., found ...". 0 also if Python cannot say: there is none, it is too
 * old, it fails. */
int vtr_mark_check(const char *python, const char *site, const char *what, const char *item,
	struct vpt_err *err);

#endif
