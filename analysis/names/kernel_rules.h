/* kernel_rules.h - a user's own rules for kernels, applied before the built-in families.
 *
 * One rule per line: a family's name, a tab, a POSIX extended regular expression. The first match
 * wins. Empty lines, lines that begin with #, rules for ranges (range_scopes.h) and for frames
 * (frame_rules.h) are skipped. */
#ifndef VPA_ANALYSIS_NAMES_KERNEL_RULES_H
#define VPA_ANALYSIS_NAMES_KERNEL_RULES_H

#include "analysis/names/families.h"
#include "formats/base/error.h"

struct vpa_rules;

/* Reads rules from `len` bytes, borrowed for the call. The caller frees the result with
 * vpa_rules_free(). NULL and a message with the line number if a line is wrong (VPT_EDATA) or there
 * is no memory (VPT_ENOMEM). Zero rules are fine. */
struct vpa_rules *vpa_rules_read(const char *text, size_t len, struct vpt_err *err);

void vpa_rules_free(struct vpa_rules *rules); /* accepts NULL */

/* Like vpa_classify(), with the user's rules first; `rules` may be NULL. A rule sees the first
 * 4,095 bytes of the name, without the file names of anonymous namespaces and with NUL as "?". An
 * attention kernel keeps the back-end that its name gives, else gets "user". Speed and memory are
 * those of regexec(3). Any thread. */
void vpa_rules_classify(
	const struct vpa_rules *rules, const char *name, size_t len, struct vpa_kernel_class *out);

#endif
