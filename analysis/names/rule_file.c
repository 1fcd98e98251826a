/* rule_file.c - lines of a file, and regcomp(3) with error messages. */
#include "analysis/names/rule_file.h"

#include "formats/base/memory.h"
#include "formats/base/saturate.h"

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

/* ---- patterns ---- */

enum { RULES_MAX = 10000, PATTERN_BYTES_MAX = 4096, DEPTH_MAX = 50, NODES_MAX = 2000 };

/* How large regcomp(3) makes a pattern: it copies what is repeated. */
struct size {
	uint64_t before[DEPTH_MAX + 1]; /* of each group that is open: all but its last part */
	uint64_t last;                  /* part: a character, a set or a group */
	size_t depth;
};

/* Skips a set in brackets; *at is after the opening one. */
static const char *after_set(const char *at)
{
	at += *at == '^';
	at += *at == ']';
	while (*at && *at != ']')
		if (*at == '[' && at[1] && strchr(".:=", at[1])) {
			char end[3] = {at[1], ']', '\0'};
			const char *closed = strstr(at + 2, end);

			at = closed ? closed + 2 : at + 1;
		} else {
			at++;
		}
	return at + (*at != '\0');
}

/* Reads an interval, whose brace is before `at`, and its end. *copies: how many it asks for; 1: it is none. */
static const char *after_interval(const char *at, uint64_t *copies)
{
	const char *from = at;
	uint64_t number = 0;

	for (*copies = 1; (*at >= '0' && *at <= '9') || *at == ','; at++) {
		number = *at == ',' ? 0
				    : vpt_sat_add(vpt_sat_mul(number, 10), (uint64_t)(*at - '0'));
		*copies = number > *copies ? number : *copies;
	}
	return *at == '}' ? at + 1 : from;
}

static void end_part(struct size *s, uint64_t next)
{
	vpt_sat_add_to(&s->before[s->depth], s->last);
	s->last = next;
}

/* Takes a character of a pattern; returns what follows it. */
static const char *add_character(struct size *s, const char *at)
{
	uint64_t copies;

	switch (*at) {
	case '(':
		end_part(s, 1);
		s->before[++s->depth] = 0;
		s->last = 0;
		return at + 1;
	case ')':
		end_part(s, 0);
		s->last = vpt_sat_add(s->before[s->depth], 1);
		s->depth -= s->depth > 0;
		return at + 1;
	case '*':
	case '?':
		return at + 1;
	case '+':
		s->last = vpt_sat_mul(s->last, 2);
		return at + 1;
	case '{':
		at = after_interval(at + 1, &copies);
		s->last = vpt_sat_mul(s->last, copies);
		return at;
	case '[':
		end_part(s, 1);
		return after_set(at + 1);
	case '\\':
		end_part(s, 1);
		return at + 1 + (at[1] != '\0');
	default:
		end_part(s, 1);
		return at + 1;
	}
}

/* regcomp(3) and regexec(3) have no limits of their own: what a pattern is to have less of; NULL: it is in order. */
static const char *excess_of(const char *pattern)
{
	struct size s = {.last = 0};
	const char *at;

	if (strlen(pattern) > PATTERN_BYTES_MAX)
		return "a pattern of at most 4,096 bytes";
	for (at = pattern; *at; at = add_character(&s, at)) {
		if (*at == '\\' && at[1] >= '1' && at[1] <= '9')
			return "a pattern without back-references";
		if (*at == '(' && s.depth == DEPTH_MAX)
			return "at most 50 groups inside each other";
	}
	while (s.depth)
		add_character(&s, ")");
	end_part(&s, 0);
	return s.before[0] > NODES_MAX
		       ? "at most 2,000 characters, groups and sets, repetitions included"
		       : NULL;
}

/* ---- rules ---- */

static int compile(
	const struct line *line, size_t from, int flags, regex_t *out, struct vpt_err *err)
{
	char *pattern = vpt_strndup(line->text + from, line->len - from), why[128];
	const char *expected;
	int rc;

	if (!pattern)
		return vpt_fail(
			err, VPT_ENOMEM, "no memory for line %zu of the rules", line->number);
	expected = excess_of(pattern);
	if (expected) {
		rc = vpt_fail(err, VPT_EDATA, "line %zu of the rules: expected %s, found \"%.80s\"",
			line->number, expected, pattern);
		vpt_free(pattern);
		return rc;
	}
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
	while (next_line(&file, &line)) {
		if (!is_of_kind(&line, kind))
			continue;
		if (list->count == RULES_MAX) {
			vpt_fail(err, VPT_EDATA, "line %zu of the rules: expected at most %d rules",
				line.number, RULES_MAX);
			goto fail;
		}
		if (read_rule(list, &line, err))
			goto fail;
	}
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
