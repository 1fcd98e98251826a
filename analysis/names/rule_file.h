/* rule_file.h - reads a --rules file: lines of a target, a tab and a POSIX extended regular expression, for
 * kernel families, for ranges, and for files of Python.
 *
 * A kind of rules says how its lines begin and what its targets are. Lines of other kinds, empty lines and
 * lines that begin with # are skipped. */
#ifndef VPA_ANALYSIS_NAMES_RULE_FILE_H
#define VPA_ANALYSIS_NAMES_RULE_FILE_H

#include "formats/base/error.h"
#include "formats/base/text.h"

#include <regex.h>
#include <stddef.h>

/* How lines begin that are no rule for kernels. */
#define VPA_RANGE_RULE "range "
#define VPA_FRAME_RULE "frame "

struct vpa_rule_kind {
	const char *prefix; /* "": the lines that none of the above begins */
	/* Reads the text between prefix and tab into zeroed memory. Returns 0 if it is no target. */
	int (*read)(struct vpt_text text, void *target);
	size_t target_bytes;
	int flags; /* of regcomp(3), besides REG_EXTENDED */
	/* In words: a line, and a target. expected_target NULL: the words for a line say it. */
	const char *expected, *expected_target;
};

/* The rules of a kind, in the order of their lines. */
struct vpa_rule_list {
	const struct vpa_rule_kind *kind;
	regex_t *regexes;
	char *targets; /* kind->target_bytes each */
	size_t count;
};

/* Reads the rules of a kind from `len` bytes, borrowed for the call. The caller frees the result with
 * vpa_rule_list_free(). NULL and a message with the line number if a line is wrong (VPT_EDATA) or there
 * is no memory (VPT_ENOMEM). Zero rules are fine. */
struct vpa_rule_list *vpa_rule_list_read(
	const struct vpa_rule_kind *kind, const char *text, size_t len, struct vpt_err *err);
void vpa_rule_list_free(struct vpa_rule_list *list); /* accepts NULL */

static inline const void *vpa_rule_target(const struct vpa_rule_list *list, size_t rule)
{
	return list->targets + rule * list->kind->target_bytes;
}

/* The target of the first rule that matches the text; NULL: none does. Any thread. */
const void *vpa_rule_list_find(const struct vpa_rule_list *list, const char *text);

#endif
