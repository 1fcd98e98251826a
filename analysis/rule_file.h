/* rule_file.h - a file of --rules, with lines for kernel families and lines for ranges. */
#ifndef VPA_ANALYSIS_RULE_FILE_H
#define VPA_ANALYSIS_RULE_FILE_H

#include "formats/error.h"

#include <regex.h>
#include <stddef.h>

struct vpa_rule_file {
	const char *at, *end; /* borrowed */
	size_t number;        /* of the line before `at` */
	size_t lines;         /* there are at most so many */
};

struct vpa_rule_line {
	const char *text; /* borrowed; without its end, not empty, no comment */
	size_t len, number;
};

void vpa_rule_file_begin(struct vpa_rule_file *file, const char *text, size_t len);
/* 1 and the next line that is neither empty nor begins with #; 0: there is none. */
int vpa_rule_file_next(struct vpa_rule_file *file, struct vpa_rule_line *out);

/* Compiles what stands from byte `from` on as a POSIX extended regular expression; `flags` are regcomp(3)'s further ones.
 * 0, VPT_EDATA (naming the line and the pattern) or VPT_ENOMEM; *out needs regfree() after 0 only. */
int vpa_rule_compile(const struct vpa_rule_line *line, size_t from, int flags, regex_t *out,
	struct vpt_err *err);

#endif
