/* rule_file.c - lines of a file, and regcomp(3) with error messages. */
#include "analysis/rule_file.h"

#include "formats/memory.h"

#include <string.h>

void vpa_rule_file_begin(struct vpa_rule_file *file, const char *text, size_t len)
{
	size_t i;

	*file = (struct vpa_rule_file){.at = text, .end = text + len, .lines = 1};
	for (i = 0; i < len; i++)
		file->lines += text[i] == '\n';
}

int vpa_rule_file_next(struct vpa_rule_file *file, struct vpa_rule_line *out)
{
	while (file->at < file->end) {
		const char *stop = memchr(file->at, '\n', (size_t)(file->end - file->at));

		out->text = file->at;
		out->len = (size_t)((stop ? stop : file->end) - file->at);
		out->len -= out->len && out->text[out->len - 1] == '\r';
		out->number = ++file->number;
		file->at = stop ? stop + 1 : file->end;
		if (out->len && *out->text != '#')
			return 1;
	}
	return 0;
}

int vpa_rule_compile(
	const struct vpa_rule_line *line, size_t from, int flags, regex_t *out, struct vpt_err *err)
{
	char *pattern = vpt_strndup(line->text + from, line->len - from), why[128];
	int rc;

	if (!pattern)
		return vpt_fail(
			err, VPT_ENOMEM, "no memory for line %zu of the rules", line->number);
	rc = regcomp(out, pattern, REG_EXTENDED | flags);
	if (rc) {
		regerror(rc, out, why, sizeof(why));
		rc = vpt_fail(err, rc == REG_ESPACE ? VPT_ENOMEM : VPT_EDATA,
			"line %zu of the rules: expected a POSIX extended regular expression, "
			"found \"%.80s\" (%s)",
			line->number, pattern, why);
	}
	vpt_free(pattern);
	return rc;
}
