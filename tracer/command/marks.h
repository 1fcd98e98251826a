/* marks.h - VPTRACE_MARK before the command runs: Python would find a mistake only in it, and must then go on
 * without marks; and it may look for a relative file in another folder. */
#ifndef VPTRACE_TRACER_COMMAND_MARKS_H
#define VPTRACE_TRACER_COMMAND_MARKS_H

#include "formats/error.h"

/* `text`: items between commas, each auto, none, modules:N, a preset, a rule or a file. `site`: the folder with
 * sitecustomize.py, beside which the presets are. `*out`: the same with absolute files, which the
 * caller frees. VPT_EINVAL, with a sentence that begins with VPTRACE_MARK: an item is none of these,
 * or a file cannot be read. What a file says is not checked. VPT_ENOMEM. */
int vtr_marks_resolve(const char *text, const char *site, char **out, struct vpt_err *err);

#endif
