/* frame_rules.h - whose code a Python file is: the user's, or a framework's.
 *
 * The built-in table is frame_rules.def. A user's own rules share a file with those for kernels
 * (kernel_rules.h) and ranges (range_scopes.h): the word "frame", "user" or "framework", a tab, and a POSIX
 * extended regular expression for the path as recorded. The first match applies, before the table.
 *
 *	frame framework	^/opt/engine/
 *	frame user	/site-packages/torch/mine/ */
#ifndef VPA_ANALYSIS_NAMES_FRAME_RULES_H
#define VPA_ANALYSIS_NAMES_FRAME_RULES_H

#include "formats/base/error.h"
#include "formats/base/text.h"

#include <stddef.h>

struct vpa_frame_rules;

/* Reads these rules from `len` bytes, borrowed for the call; skips other lines. The caller frees the
 * result with vpa_frame_rules_free(). NULL and a message with the line number if a line is wrong
 * (VPT_EDATA) or there is no memory (VPT_ENOMEM). Zero rules are fine. */
struct vpa_frame_rules *vpa_frame_rules_read(const char *text, size_t len, struct vpt_err *err);
void vpa_frame_rules_free(struct vpa_frame_rules *r); /* accepts NULL */

/* Whether a file is of the user's code; an empty path, of a built-in function, never is. `r` NULL: only
 * the table. A rule sees the last 4,095 bytes of the path, with NUL as "?". Any thread. */
int vpa_frame_is_users(const struct vpa_frame_rules *r, struct vpt_text file);

/* Whether a file is one of vptrace's own that call the marked functions of a program; no rule changes
 * that. */
int vpa_frame_is_wrapper(struct vpt_text file);

#endif
