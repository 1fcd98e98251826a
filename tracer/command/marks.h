/* marks.h - checks VPTRACE_MARK before the command runs: Python would find a mistake only in it, and must then
 * go on without marks. */
#ifndef VPTRACE_TRACER_COMMAND_MARKS_H
#define VPTRACE_TRACER_COMMAND_MARKS_H

#include "formats/error.h"

/* `text`: items between commas, each auto, none, modules:N, a preset or a file; NULL passes. `site`: the folder
 * with sitecustomize.py, beside which the presets are. VPT_EINVAL, with a sentence that begins with
 * VPTRACE_MARK: an item is none of these, or a file cannot be read. What a file says is not checked. */
int vtr_marks_check(const char *text, const char *site, struct vpt_err *err);

#endif
