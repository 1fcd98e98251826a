/* config_yaml.c - the part of YAML that config_file.h describes, in one pass over the bytes.
 *
 * Scalars are those of YAML's core schema, version 1.2: true and false are words, null is refused, and everything else is a text as it is
 * written, which the option that has it checks. `off`, `on`, `yes` and `no` are texts. */
#include "tracer/command/options/config_reader.h"

#include <string.h>

/* ---- lines ---- */

static int ends_line(const char *p)
{
	return !*p || *p == '\n' || (p[0] == '\r' && p[1] == '\n');
}

static int is_blank_or_end(const char *p)
{
	return *p == ' ' || *p == '\t' || ends_line(p);
}

/* How many bytes of its line are before r->at. */
static size_t column(const struct vtr_config_reader *r)
{
	const char *p = r->at;

	while (p > r->begin && p[-1] != '\n')
		p--;
	return (size_t)(r->at - p);
}

/* Blanks, and a comment: # begins one after a blank or at the line's begin. */
static void skip_comment(struct vtr_config_reader *r)
{
	vtr_config_skip_blanks(r);
	if (*r->at == '#' && (!column(r) || r->at[-1] == ' ' || r->at[-1] == '\t'))
		r->at += strcspn(r->at, "\n");
	if (r->at[0] == '\r' && r->at[1] == '\n')
		r->at++;
}

/* Past blanks, comments and ends of lines. */
static void skip_lines(struct vtr_config_reader *r)
{
	for (skip_comment(r); *r->at == '\n'; skip_comment(r)) {
		r->at++;
		r->line++;
	}
}

static int end_line(struct vtr_config_reader *r)
{
	skip_comment(r);
	return ends_line(r->at) ? VPT_OK : vtr_config_fail(r, "the end of the line after a value");
}

/* ---- scalars ---- */

/* 'a text', in which two quotes are one, or "a text" with escapes. */
static const struct vtr_config_quotes quotes = {.letters = "abtnvfre \"/\\",
	.meant = "\a\b\t\n\v\f\r\033 \"/\\",
	.is_yaml = 1,
	.end = "a quote at the end of a text of one line"};

static int ends_value(const char *p, int in_flow)
{
	return is_blank_or_end(p) || (in_flow && strchr(",[]{}", *p));
}

/* Whether a text without quotes may begin here. */
static int begins_plain(const char *p, int in_flow)
{
	if (*p == '-')
		return !ends_value(p + 1, in_flow);
	return !ends_line(p) && !strchr("?:,[]{}#&*!|>'\"%@`", *p);
}

/* The length of a text without quotes. Blanks at its end are no part of it. */
static size_t plain_length(const char *p, int in_flow)
{
	size_t len = 0, i;

	for (i = 0; !ends_line(p + i); i++) {
		if (p[i] == ' ' || p[i] == '\t') {
			if (p[i + 1] == '#')
				break;
			continue;
		}
		if (ends_value(p + i, in_flow) || (p[i] == ':' && ends_value(p + i + 1, in_flow)))
			break;
		if ((unsigned char)p[i] < 0x20 || p[i] == 0x7f)
			break;
		len = i + 1;
	}
	return len;
}

/* The word that the text is, in YAML's three ways of writing each; NULL: it is none of them. */
static const char *word_of(const char *text, const char *const ways[3])
{
	int i;

	for (i = 0; i < 3; i++)
		if (!strcmp(text, ways[i]))
			return ways[0];
	return NULL;
}

static int read_plain(struct vtr_config_reader *r, int in_flow, struct vtr_config_value *v)
{
	static const char *const yes[] = {"true", "True", "TRUE"},
				 *const no[] = {"false", "False", "FALSE"},
				 *const nothing[] = {"null", "Null", "NULL"};
	size_t len = begins_plain(r->at, in_flow) ? plain_length(r->at, in_flow) : 0;
	const char *word;

	memcpy(r->to, r->at, len);
	r->to[len] = '\0';
	if (!len || !strcmp(r->to, "~") || word_of(r->to, nothing))
		return vtr_config_fail(r, "a text of one line, a number, true, false or a list");
	word = word_of(r->to, yes);
	word = word ? word : word_of(r->to, no);
	v->is_word = word != NULL;
	v->text = word ? word : r->to;
	r->to += len + 1;
	r->at += len;
	return VPT_OK;
}

static int read_scalar(struct vtr_config_reader *r, int in_flow, struct vtr_config_value *v)
{
	int rc;

	v->line = r->line;
	v->is_word = 0;
	rc = *r->at == '"' || *r->at == '\'' ? vtr_config_read_quoted(r, &quotes, &v->text)
					     : read_plain(r, in_flow, v);
	return rc ? rc : vtr_config_put(r, v);
}

/* ---- lists ---- */

/* [ value, value ], over several lines if need be. */
static int read_flow(struct vtr_config_reader *r, struct vtr_config_value *v)
{
	v->in_array = 1;
	r->at++;
	for (skip_lines(r); *r->at != ']'; skip_lines(r)) {
		int rc = read_scalar(r, 1, v);

		if (rc)
			return rc;
		skip_lines(r);
		if (*r->at == ',')
			r->at++;
		else if (*r->at != ']')
			return vtr_config_fail(r, ", or ] after a value of a list");
	}
	r->at++;
	return end_line(r);
}

static int is_item(const struct vtr_config_reader *r)
{
	return *r->at == '-' && is_blank_or_end(r->at + 1);
}

/* Lines of "- value", which all begin in one column. */
static int read_items(struct vtr_config_reader *r, struct vtr_config_value *v)
{
	struct vtr_config_reader key = *r;
	size_t indent;
	int rc;

	skip_lines(r);
	if (!is_item(r)) {
		*r = key;
		return vtr_config_fail(r, "a value after the key, or lines of - VALUE");
	}
	for (indent = column(r); is_item(r) && column(r) == indent; skip_lines(r)) {
		r->at++;
		vtr_config_skip_blanks(r);
		rc = read_scalar(r, 0, v);
		if (!rc)
			rc = end_line(r);
		if (rc)
			return rc;
	}
	return VPT_OK;
}

/* ---- keys ---- */

static int read_key(struct vtr_config_reader *r, const char **key)
{
	int rc = VPT_OK;

	if (column(r))
		return vtr_config_fail(r, "KEY: VALUE that is not indented");
	if (*r->at == '"' || *r->at == '\'') {
		rc = vtr_config_read_quoted(r, &quotes, key);
	} else {
		*key = *r->at == '-' ? NULL : vtr_config_bare_key(r);
		if (!*key)
			rc = vtr_config_fail(r, "KEY: VALUE");
	}
	if (rc)
		return rc;
	vtr_config_skip_blanks(r);
	if (*r->at != ':' || !is_blank_or_end(r->at + 1))
		return vtr_config_fail(r, ": and a blank after a key");
	r->at++;
	return VPT_OK;
}

static int read_pair(struct vtr_config_reader *r)
{
	struct vtr_config_value v = {.key = NULL};
	int rc = read_key(r, &v.key);

	if (!rc)
		rc = vtr_config_check_once(r, v.key);
	if (rc)
		return rc;
	skip_comment(r);
	if (ends_line(r->at)) {
		v.in_array = 1;
		return read_items(r, &v);
	}
	if (*r->at == '[')
		return read_flow(r, &v);
	rc = read_scalar(r, 0, &v);
	return rc ? rc : end_line(r);
}

/* The line --- that may begin a document. */
static void skip_marker(struct vtr_config_reader *r)
{
	const char *p = r->at + 3;

	if (column(r) || strncmp(r->at, "---", 3) != 0 || !is_blank_or_end(p))
		return;
	p += strspn(p, " \t");
	if (ends_line(p) || *p == '#')
		r->at += 3;
}

int vtr_config_read_yaml(struct vtr_config_reader *r)
{
	int rc = VPT_OK;

	skip_lines(r);
	skip_marker(r);
	for (skip_lines(r); !rc && r->at < r->end; skip_lines(r))
		rc = read_pair(r);
	return rc;
}
