/* kernel_rules.c - tries a user's kernel rules one after another, in the order of their lines. */
#include "analysis/kernel_rules.h"

#include "analysis/frame_rules.h"
#include "analysis/rule_file.h"
#include "analysis/scopes.h"
#include "formats/memory.h"

#include <string.h>

struct user_rule {
	enum vpa_family family;
	regex_t regex;
};

struct vpa_rules {
	struct user_rule *rules;
	size_t count;
};

static int read_rule(struct vpa_rules *r, const struct vpa_rule_line *line, struct vpt_err *err)
{
	const char *tab = memchr(line->text, '\t', line->len);
	struct user_rule *rule = &r->rules[r->count];
	size_t name = tab ? (size_t)(tab - line->text) : 0;
	int rc;

	if (!tab || name + 1 == line->len || memchr(line->text, '\0', line->len))
		return vpt_fail(err, VPT_EDATA,
			"line %zu of the rules: expected a family, a tab and a pattern, found "
			"\"%.*s\"",
			line->number, (int)(line->len < 80 ? line->len : 80), line->text);
	if (vpa_family_find(line->text, name, &rule->family))
		return vpt_fail(err, VPT_EDATA,
			"line %zu of the rules: expected a family such as \"attention\" or "
			"\"gemm\", found \"%.*s\"",
			line->number, (int)(name < 80 ? name : 80), line->text);
	rc = vpa_rule_compile(line, name + 1, REG_NOSUB, &rule->regex, err);
	if (!rc)
		r->count++;
	return rc;
}

struct vpa_rules *vpa_rules_read(const char *text, size_t len, struct vpt_err *err)
{
	struct vpa_rules *r = vpt_calloc(1, sizeof(*r));
	struct vpa_rule_file file;
	struct vpa_rule_line line;

	vpa_rule_file_begin(&file, text, len);
	if (r)
		r->rules = vpt_calloc(file.lines, sizeof(*r->rules));
	if (!r || !r->rules) {
		vpt_fail(err, VPT_ENOMEM, "no memory for %zu lines of rules", file.lines);
		goto fail;
	}
	while (vpa_rule_file_next(&file, &line))
		if (!vpa_scope_is_rule(line.text, line.len) &&
			!vpa_frame_is_rule(line.text, line.len) && read_rule(r, &line, err))
			goto fail;
	return r;
fail:
	vpa_rules_free(r);
	return NULL;
}

void vpa_rules_free(struct vpa_rules *r)
{
	if (!r)
		return;
	while (r->count)
		regfree(&r->rules[--r->count].regex);
	vpt_free(r->rules);
	vpt_free(r);
}

void vpa_rules_classify(
	const struct vpa_rules *r, const char *name, size_t len, struct vpa_kernel_class *out)
{
	char text[4096];
	size_t i;

	vpa_classify(name, len, out);
	if (!r || !r->count)
		return;
	vpa_kernel_name_plain(text, sizeof(text), name, len);
	for (i = 0; i < r->count; i++)
		if (!regexec(&r->rules[i].regex, text, 0, NULL, 0))
			break;
	if (i == r->count)
		return;
	out->family = r->rules[i].family;
	if (!vpa_family_has_backend(out->family))
		out->backend = NULL;
	else if (!out->backend)
		out->backend = "user";
}
