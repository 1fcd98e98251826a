/* frame_rules.c - a user's rules for files of Python, then the built-in table. */
#include "analysis/frame_rules.h"

#include "analysis/frame_rules.def"
#include "analysis/rule_file.h"
#include "formats/memory.h"

#include <regex.h>
#include <string.h>

enum { SUBJECT_MAX = 4096 };

static const char prefix[] = "frame ";

struct vpa_frame_rules {
	struct rule {
		int is_users;
		regex_t regex;
	} * rules;
	size_t count;
};

/* ---- reading ---- */

int vpa_frame_is_rule(const char *line, size_t len)
{
	return len >= sizeof(prefix) - 1 && !memcmp(line, prefix, sizeof(prefix) - 1);
}

static int read_rule(
	struct vpa_frame_rules *r, const struct vpa_rule_line *line, struct vpt_err *err)
{
	const char *tab = memchr(line->text, '\t', line->len),
		   *whose = line->text + sizeof(prefix) - 1;
	struct vpt_text word = {whose, tab && tab > whose ? (size_t)(tab - whose) : 0};
	struct rule *rule = &r->rules[r->count];
	int is_users = vpt_text_is(word, "user"), rc;

	if (!tab || tab + 1 == line->text + line->len || memchr(line->text, '\0', line->len) ||
		(!is_users && !vpt_text_is(word, "framework")))
		return vpt_fail(err, VPT_EDATA,
			"line %zu of the rules: expected \"frame\" and user or framework, a tab "
			"and a pattern, found \"%.*s\"",
			line->number, (int)(line->len < 80 ? line->len : 80), line->text);
	rc = vpa_rule_compile(line, (size_t)(tab + 1 - line->text), REG_NOSUB, &rule->regex, err);
	if (rc)
		return rc;
	rule->is_users = is_users;
	r->count++;
	return VPT_OK;
}

struct vpa_frame_rules *vpa_frame_rules_read(const char *text, size_t len, struct vpt_err *err)
{
	struct vpa_frame_rules *r = vpt_calloc(1, sizeof(*r));
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
		if (vpa_frame_is_rule(line.text, line.len) && read_rule(r, &line, err))
			goto fail;
	return r;
fail:
	vpa_frame_rules_free(r);
	return NULL;
}

void vpa_frame_rules_free(struct vpa_frame_rules *r)
{
	if (!r)
		return;
	while (r->count)
		regfree(&r->rules[--r->count].regex);
	vpt_free(r->rules);
	vpt_free(r);
}

/* ---- the built-in table ---- */

/* Whether a path holds `part`, or begins with it without its first slash. */
static int has_part(struct vpt_text path, const char *part)
{
	size_t len = strlen(part + 1);

	return vpt_text_holds(path, part) || (path.len >= len && !memcmp(path.text, part + 1, len));
}

/* The part of a path after the folder of installed packages; all of it if there is none. */
static struct vpt_text in_packages(struct vpt_text path)
{
#define LIST(part) part,
	static const char *const folders[] = {VPA_PACKAGES(LIST)};
#undef LIST
	size_t i, k;

	for (i = path.len; i > 0; i--)
		for (k = 0; k < sizeof(folders) / sizeof(*folders); k++) {
			size_t len = strlen(folders[k]);

			if (path.len - (i - 1) >= len &&
				!memcmp(path.text + i - 1, folders[k], len))
				return (struct vpt_text){
					path.text + i - 2 + len, path.len - (i - 2 + len)};
		}
	return path;
}

static int is_of_framework(struct vpt_text file)
{
#define LIST(part) part,
	static const char *const frameworks[] = {VPA_FRAMEWORKS(LIST)};
#undef LIST
	size_t i;

	file = in_packages(file);
	for (i = 0; i < sizeof(frameworks) / sizeof(*frameworks); i++)
		if (has_part(file, frameworks[i]))
			return 1;
	return 0;
}

/* ---- asking ---- */

int vpa_frame_is_users(const struct vpa_frame_rules *r, struct vpt_text file)
{
	char text[SUBJECT_MAX];
	size_t cut = file.len < sizeof(text) ? 0 : file.len - sizeof(text) + 1, i;

	if (!file.len)
		return 0;
	if (!r || !r->count)
		return !is_of_framework(file);
	for (i = cut; i < file.len; i++)
		text[i - cut] = file.text[i] ? file.text[i] : '?';
	text[file.len - cut] = '\0';
	for (i = 0; i < r->count; i++)
		if (!regexec(&r->rules[i].regex, text, 0, NULL, 0))
			return r->rules[i].is_users;
	return !is_of_framework(file);
}
