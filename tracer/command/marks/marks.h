/* marks.h - VPTRACE_MARK before the command runs: Python would find a mistake only in it, and must then go on
 * without marks, in each process; and it may look for a relative file in another folder. */
#ifndef VPTRACE_TRACER_COMMAND_MARKS_MARKS_H
#define VPTRACE_TRACER_COMMAND_MARKS_MARKS_H

#include "formats/base/error.h"

/* `text`: items between commas, each auto, none, modules:N, a preset, a rule or a file. `site`: the folder with
 * sitecustomize.py, beside which the presets are. `*out`: the same with absolute files, which the
 * caller frees. VPT_EINVAL: an item is none of these, or a file cannot be read, with a sentence that begins with
 * VPTRACE_MARK; or a line of a file or rule is wrong, as `python` says, see mark_check.h. VPT_ENOMEM. */
int vtr_marks_resolve(
	const char *text, const char *site, const char *python, char **out, struct vpt_err *err);

#endif
