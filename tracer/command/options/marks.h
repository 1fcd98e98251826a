/* marks.h - VPTRACE_MARK before the command runs: Python would find a mistake only in it, and must then go on
 * without marks, in each process; and it may look for a relative file in another folder. */
#ifndef VPTRACE_TRACER_COMMAND_OPTIONS_MARKS_H
#define VPTRACE_TRACER_COMMAND_OPTIONS_MARKS_H

#include "formats/base/error.h"

/* `text`: items between commas, each auto, none, modules:N, a preset, a rule or a file. `site`: the folder with
 * sitecustomize.py, beside which the presets are. `*out`: the same with absolute files, which the
 * caller frees. VPT_EINVAL: an item is none of these, or a file cannot be read, with a sentence that begins with
 * VPTRACE_MARK; or a line of a file or rule is wrong, as `python` says, see vtr_mark_check(). VPT_ENOMEM. */
int vtr_marks_resolve(
	const char *text, const char *site, const char *python, char **out, struct vpt_err *err);

/* Asks Python whether the lines of a mark file or rule can be read: mark_check.c. vptrace_marks reads them in the traced
 * processes, which must go on whatever is wrong, so the same code looks first, in the Python that will run the command.
 *
 * `what`: "file" or "rule"; `item`: its path or its text. `python`: a path; `site`: the folder beside that of
 * vptrace_marks. VPT_EINVAL: "NAME:LINE: expected ..., found ...". 0 also if Python cannot say: there is none, it is too
 * old, it fails. */
int vtr_mark_check(const char *python, const char *site, const char *what, const char *item,
	struct vpt_err *err);

#endif
