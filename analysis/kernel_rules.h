/* kernel_rules.h - a user's own rules for kernels, which come before the built-in families.
 *
 * One a line: a family's name, a tab, a POSIX extended regular expression. The first that matches
 * decides. Empty lines, lines that begin with # and rules for ranges (scopes.h) are passed over. */
#ifndef VPA_ANALYSIS_KERNEL_RULES_H
#define VPA_ANALYSIS_KERNEL_RULES_H

#include "analysis/families.h"
#include "formats/error.h"

struct vpa_rules;

/* Reads rules from `len` bytes, borrowed for the call. The caller frees the result with
 * vpa_rules_free(). NULL and a sentence with the line's number if a line is wrong (VPT_EDATA) or
 * there is no memory (VPT_ENOMEM). No rule at all is fine. */
struct vpa_rules *vpa_rules_read(const char *text, size_t len, struct vpt_err *err);

void vpa_rules_free(struct vpa_rules *rules); /* accepts NULL */

/* Like vpa_classify(), the user's rules first; `rules` NULL: none. A rule sees the first 4,095
 * bytes of the name without the file names of anonymous namespaces, and a NUL in it as "?". What it
 * calls attention keeps the backend that the name tells, else has "user". Speed and memory are
 * those of regexec(3). Any thread. */
void vpa_rules_classify(
	const struct vpa_rules *rules, const char *name, size_t len, struct vpa_kernel_class *out);

#endif
