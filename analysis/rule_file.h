/* rule_file.h - reads a --rules file, with lines for kernel families, for ranges, and for files of Python. */
#ifndef VPA_ANALYSIS_RULE_FILE_H
#define VPA_ANALYSIS_RULE_FILE_H

#include "formats/error.h"

#include <regex.h>
#include <stddef.h>

struct vpa_rule_file {
	const char *at, *end; /* borrowed */
	size_t number;        /* of the line before `at` */
	size_t lines;         /* maximum number of lines */
};

struct vpa_rule_line {
	const char *text; /* borrowed; without line end, not empty, not a comment */
	size_t len, number;
};

void vpa_rule_file_begin(struct vpa_rule_file *file, const char *text, size_t len);
/* Returns 1 and the next line that is neither empty nor begins with #; 0: no more. */
int vpa_rule_file_next(struct vpa_rule_file *file, struct vpa_rule_line *out);

/* Compiles the line from byte `from` as a POSIX extended regular expression; `flags` are further
 * regcomp(3) flags. 0, VPT_EDATA (naming the line and the pattern) or VPT_ENOMEM; *out needs
 * regfree() only after 0. */
int vpa_rule_compile(const struct vpa_rule_line *line, size_t from, int flags, regex_t *out,
	struct vpt_err *err);

#endif
