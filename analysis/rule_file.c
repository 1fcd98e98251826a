/* rule_file.c - lines of a file, and regcomp(3) with error messages. */
#include "analysis/rule_file.h"

#include "formats/memory.h"

#include <string.h>

/* ---- lines ---- */

struct file {
	const char *at, *end;
	size_t number; /* of the line before `at` */
};

struct line {
	const char *text; /* without line end, not empty, not a comment */
	size_t len, number;
};

static size_t count_lines(const char *text, size_t len)
{
	size_t count = 1, i;

	for (i = 0; i < len; i++)
		count += text[i] == '\n';
	return count;
}

/* Returns 1 and the next line that is neither empty nor begins with #; 0: no more. */
static int next_line(struct file *file, struct line *out)
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

static int begins(const struct line *line, const char *prefix)
{
	size_t len = strlen(prefix);

	return line->len >= len && !memcmp(line->text, prefix, len);
}

static int is_of_kind(const struct line *line, const struct vpa_rule_kind *kind)
{
	if (*kind->prefix)
		return begins(line, kind->prefix);
	return !begins(line, VPA_RANGE_RULE) && !begins(line, VPA_FRAME_RULE);
}

/* ---- rules ---- */

static int compile(
	const struct line *line, size_t from, int flags, regex_t *out, struct vpt_err *err)
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

static int refuse(const struct line *line, size_t len, const char *expected, struct vpt_err *err)
{
	return vpt_fail(err, VPT_EDATA, "line %zu of the rules: expected %s, found \"%.*s\"",
		line->number, expected, (int)(len < 80 ? len : 80), line->text);
}

static int read_rule(struct vpa_rule_list *list, const struct line *line, struct vpt_err *err)
{
	const struct vpa_rule_kind *kind = list->kind;
	const char *target = line->text + strlen(kind->prefix),
		   *tab = memchr(line->text, '\t', line->len);
	size_t before = tab ? (size_t)(tab - line->text) : 0;
	int rc;

	if (!tab || before + 1 == line->len || memchr(line->text, '\0', line->len))
		return refuse(line, line->len, kind->expected, err);
	if (!kind->read((struct vpt_text){target, (size_t)(tab - target)},
		    list->targets + list->count * kind->target_bytes))
		return kind->expected_target ? refuse(line, before, kind->expected_target, err)
					     : refuse(line, line->len, kind->expected, err);
	rc = compile(line, before + 1, kind->flags, &list->regexes[list->count], err);
	if (!rc)
		list->count++;
	return rc;
}

struct vpa_rule_list *vpa_rule_list_read(
	const struct vpa_rule_kind *kind, const char *text, size_t len, struct vpt_err *err)
{
	struct vpa_rule_list *list = vpt_calloc(1, sizeof(*list));
	size_t lines = count_lines(text, len);
	struct file file = {text, text + len, 0};
	struct line line;

	if (list) {
		list->kind = kind;
		list->regexes = vpt_calloc(lines, sizeof(*list->regexes));
		list->targets = vpt_calloc(lines, kind->target_bytes);
	}
	if (!list || !list->regexes || !list->targets) {
		vpt_fail(err, VPT_ENOMEM, "no memory for %zu lines of rules", lines);
		goto fail;
	}
	while (next_line(&file, &line))
		if (is_of_kind(&line, kind) && read_rule(list, &line, err))
			goto fail;
	return list;
fail:
	vpa_rule_list_free(list);
	return NULL;
}

void vpa_rule_list_free(struct vpa_rule_list *list)
{
	if (!list)
		return;
	while (list->count)
		regfree(&list->regexes[--list->count]);
	vpt_free(list->regexes);
	vpt_free(list->targets);
	vpt_free(list);
}

const void *vpa_rule_list_find(const struct vpa_rule_list *list, const char *text)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (!regexec(&list->regexes[i], text, 0, NULL, 0))
			return vpa_rule_target(list, i);
	return NULL;
}
