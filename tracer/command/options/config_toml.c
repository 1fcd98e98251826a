/* config_toml.c - the part of TOML that config_file.h describes, in one pass over the bytes. */
#include "tracer/command/options/config_reader.h"

#include <string.h>

/* Blanks, and a comment. Leaves r->at at the line's end, or at something else. */
static void skip_comment(struct vtr_config_reader *r)
{
	vtr_config_skip_blanks(r);
	if (*r->at == '#')
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

/* ---- strings ---- */

static const struct vtr_config_quotes quotes = {
	.letters = "btnfr\"\\", .meant = "\b\t\n\f\r\"\\", .end = "a quote at the end of a string"};

/* '...' as it stands, "..." with escapes. */
static int read_string(struct vtr_config_reader *r, const char **out)
{
	if (r->at[1] == *r->at && r->at[2] == *r->at)
		return vtr_config_fail(r, "a string of one line");
	return vtr_config_read_quoted(r, &quotes, out);
}

/* ---- values ---- */

/* Whether the text is a number as TOML writes it: 3, -1, 0.25; no sign but minus, no zero in front, no exponent. */
static int is_number(const char *text)
{
	const char *p = text + (*text == '-');
	size_t whole = strspn(p, "0123456789"), parts;

	if (!whole || (whole > 1 && *p == '0'))
		return 0;
	p += whole;
	if (*p != '.')
		return !*p;
	parts = strspn(p + 1, "0123456789");
	return parts && !p[1 + parts];
}

/* A number, true or false: a word that ends at a blank, a comma, a bracket, a comment or the line's end. */
static int read_word(struct vtr_config_reader *r, struct vtr_config_value *v)
{
	size_t len = strcspn(r->at, " \t\r\n,]#");

	memcpy(r->to, r->at, len);
	r->to[len] = '\0';
	v->is_word = !strcmp(r->to, "true") || !strcmp(r->to, "false");
	if (!v->is_word && !is_number(r->to))
		return vtr_config_fail(r, "a string in quotes, a number, true, false or an array");
	v->text = r->to;
	r->to += len + 1;
	r->at += len;
	return VPT_OK;
}

static int read_value(struct vtr_config_reader *r, struct vtr_config_value *v)
{
	int rc;

	v->line = r->line;
	v->is_word = 0;
	rc = *r->at == '"' || *r->at == '\'' ? read_string(r, &v->text) : read_word(r, v);
	return rc ? rc : vtr_config_put(r, v);
}

/* [ value, value ], over several lines if need be. */
static int read_array(struct vtr_config_reader *r, struct vtr_config_value *v)
{
	int rc = VPT_OK;

	v->in_array = 1;
	r->at++;
	for (skip_lines(r); !rc && *r->at != ']'; skip_lines(r)) {
		if (*r->at == '[')
			return vtr_config_fail(r, "a value in the array");
		rc = read_value(r, v);
		if (rc)
			return rc;
		skip_lines(r);
		if (*r->at == ',')
			r->at++;
		else if (*r->at != ']')
			return vtr_config_fail(r, ", or ] after a value of an array");
	}
	r->at++;
	return rc;
}

static int read_key(struct vtr_config_reader *r, const char **key)
{
	int rc;

	if (*r->at == '[')
		return vtr_config_fail(r, "KEY = VALUE without tables");
	if (*r->at == '"' || *r->at == '\'') {
		rc = read_string(r, key);
		if (rc)
			return rc;
	} else {
		*key = vtr_config_bare_key(r);
		if (!*key)
			return vtr_config_fail(r, "KEY = VALUE");
	}
	vtr_config_skip_blanks(r);
	if (*r->at != '=')
		return vtr_config_fail(r, "= after a key");
	r->at++;
	return VPT_OK;
}

static int read_line(struct vtr_config_reader *r)
{
	struct vtr_config_value v = {.key = NULL};
	int rc = read_key(r, &v.key);

	if (!rc)
		rc = vtr_config_check_once(r, v.key);
	if (rc)
		return rc;
	vtr_config_skip_blanks(r);
	rc = *r->at == '[' ? read_array(r, &v) : read_value(r, &v);
	if (rc)
		return rc;
	skip_comment(r);
	return *r->at == '\n' || r->at == r->end
		       ? VPT_OK
		       : vtr_config_fail(r, "the end of the line after a value");
}

int vtr_config_read_toml(struct vtr_config_reader *r)
{
	int rc = VPT_OK;

	for (skip_lines(r); !rc && r->at < r->end; skip_lines(r))
		rc = read_line(r);
	return rc;
}
