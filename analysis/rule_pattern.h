/* rule_pattern.h - the pattern of a line of --rules, for kernel families and for ranges alike. */
#ifndef VPA_ANALYSIS_RULE_PATTERN_H
#define VPA_ANALYSIS_RULE_PATTERN_H

#include "formats/error.h"

#include <regex.h>
#include <stddef.h>

/* Compiles `len` bytes of text as a POSIX extended regular expression; `flags` are regcomp(3)'s further ones. 0,
 * VPT_EINVAL (naming the line and the pattern) or VPT_ENOMEM; *out needs regfree() after 0 only. */
int vpa_rule_compile(
	const char *text, size_t len, int flags, size_t line, regex_t *out, struct vpt_err *err);

#endif
