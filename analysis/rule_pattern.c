/* rule_pattern.c - regcomp(3) with its failure in words. */
#include "analysis/rule_pattern.h"

#include "formats/memory.h"

int vpa_rule_compile(
	const char *text, size_t len, int flags, size_t line, regex_t *out, struct vpt_err *err)
{
	char *pattern = vpt_strndup(text, len), why[128];
	int rc;

	if (!pattern)
		return vpt_fail(err, VPT_ENOMEM, "no memory for line %zu of the rules", line);
	rc = regcomp(out, pattern, REG_EXTENDED | flags);
	if (rc) {
		regerror(rc, out, why, sizeof(why));
		rc = vpt_fail(err, rc == REG_ESPACE ? VPT_ENOMEM : VPT_EINVAL,
			"line %zu of the rules: expected a POSIX extended regular expression, "
			"found \"%.80s\" (%s)",
			line, pattern, why);
	}
	vpt_free(pattern);
	return rc;
}
