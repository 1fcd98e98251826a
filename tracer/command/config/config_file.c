/* config_file.c - one pass over the file's bytes, which end with NUL. Keys and values are copied one after another, each with
 * a NUL: what separates them in the file takes at least as much room, and an escape is never shorter than what it means. */
#include "tracer/command/config/config_file.h"

#include "formats/base/memory.h"
#include "formats/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct reader {
	const char *name;
	const char *at; /* the next byte */
	const char *end;
	char *to; /* where the next key or value goes */
	unsigned line;
	struct vtr_config *out;
	size_t cap; /* of its values */
	struct vpt_err *err;
};

/* "NAME:LINE: expected WHAT, found the rest of the line" */
static int fail(struct reader *r, const char *expected)
{
	int len = (int)strcspn(r->at, "\r\n");

	if (r->at == r->end || !len)
		return vpt_fail(r->err, VPT_EINVAL,
			"%.200s:%u: expected %s, found the end of the %s", r->name, r->line,
			expected, r->at == r->end ? "file" : "line");
	return vpt_fail(r->err, VPT_EINVAL, "%.200s:%u: expected %s, found: %.*s", r->name, r->line,
		expected, len < 60 ? len : 60, r->at);
}

static void skip_blanks(struct reader *r)
{
	while (*r->at == ' ' || *r->at == '\t')
		r->at++;
}

/* Blanks, and a comment. Leaves r->at at the line's end, or at something else. */
static void skip_comment(struct reader *r)
{
	skip_blanks(r);
	if (*r->at == '#')
		r->at += strcspn(r->at, "\n");
	if (r->at[0] == '\r' && r->at[1] == '\n')
		r->at++;
}

/* Past blanks, comments and ends of lines. */
static void skip_lines(struct reader *r)
{
	for (skip_comment(r); *r->at == '\n'; skip_comment(r)) {
		r->at++;
		r->line++;
	}
}

/* ---- strings ---- */

static char *put_utf8(char *to, unsigned long code)
{
	if (code < 0x80) {
		*to++ = (char)code;
	} else if (code < 0x800) {
		*to++ = (char)(0xc0 | code >> 6);
		*to++ = (char)(0x80 | (code & 0x3f));
	} else if (code < 0x10000) {
		*to++ = (char)(0xe0 | code >> 12);
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
		*to++ = (char)(0x80 | (code & 0x3f));
	} else {
		*to++ = (char)(0xf0 | code >> 18);
		*to++ = (char)(0x80 | (code >> 12 & 0x3f));
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
		*to++ = (char)(0x80 | (code & 0x3f));
	}
	return to;
}

/* \uXXXX or \UXXXXXXXX, after the backslash. 0, or -1: it is no character. */
static int read_code(struct reader *r)
{
	size_t digits = *r->at == 'u' ? 4 : 8;
	unsigned long code;
	char text[9] = "";

	memcpy(text, r->at + 1, strnlen(r->at + 1, digits));
	if (strspn(text, "0123456789abcdefABCDEF") != digits)
		return -1;
	code = strtoul(text, NULL, 16);
	if (!code || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return -1;
	r->at += 1 + digits;
	r->to = put_utf8(r->to, code);
	return 0;
}

/* What a backslash and the letter after it mean. 0, or -1: nothing. */
static int read_escape(struct reader *r)
{
	static const char letters[] = "btnfr\"\\", meant[] = "\b\t\n\f\r\"\\";
	const char *letter;

	r->at++;
	if (*r->at == 'u' || *r->at == 'U')
		return read_code(r);
	letter = *r->at ? strchr(letters, *r->at) : NULL;
	if (!letter)
		return -1;
	*r->to++ = meant[letter - letters];
	r->at++;
	return 0;
}

/* A string in quotes, '...' as it stands, "..." with escapes. */
static int read_string(struct reader *r, const char **out)
{
	char quote = *r->at;

	if (r->at[1] == quote && r->at[2] == quote)
		return fail(r, "a string of one line");
	*out = r->to;
	for (r->at++; *r->at != quote;) {
		unsigned char c = (unsigned char)*r->at;

		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return fail(r, "a quote at the end of a string");
		if (c == '\\' && quote == '"') {
			if (read_escape(r))
				return fail(r, "an escape such as \\n, \\\" or \\u00e4");
			continue;
		}
		*r->to++ = *r->at++;
	}
	r->at++;
	*r->to++ = '\0';
	return VPT_OK;
}

/* ---- values ---- */

static int put(struct reader *r, const struct vtr_config_value *v)
{
	struct vtr_config *c = r->out;

	if (vpt_grow(&c->values, &r->cap, c->count + 1, sizeof(*c->values)))
		return vpt_fail(r->err, VPT_ENOMEM, "no memory for %.200s", r->name);
	c->values[c->count++] = *v;
	return VPT_OK;
}

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
static int read_word(struct reader *r, struct vtr_config_value *v)
{
	size_t len = strcspn(r->at, " \t\r\n,]#");

	memcpy(r->to, r->at, len);
	r->to[len] = '\0';
	v->is_word = !strcmp(r->to, "true") || !strcmp(r->to, "false");
	if (!v->is_word && !is_number(r->to))
		return fail(r, "a string in quotes, a number, true, false or an array");
	v->text = r->to;
	r->to += len + 1;
	r->at += len;
	return VPT_OK;
}

static int read_value(struct reader *r, struct vtr_config_value *v)
{
	int rc;

	v->line = r->line;
	v->is_word = 0;
	rc = *r->at == '"' || *r->at == '\'' ? read_string(r, &v->text) : read_word(r, v);
	return rc ? rc : put(r, v);
}

/* [ value, value ], over several lines if need be. */
static int read_array(struct reader *r, struct vtr_config_value *v)
{
	int rc = VPT_OK;

	v->in_array = 1;
	r->at++;
	for (skip_lines(r); !rc && *r->at != ']'; skip_lines(r)) {
		if (*r->at == '[')
			return fail(r, "a value in the array");
		rc = read_value(r, v);
		if (rc)
			return rc;
		skip_lines(r);
		if (*r->at == ',')
			r->at++;
		else if (*r->at != ']')
			return fail(r, ", or ] after a value of an array");
	}
	r->at++;
	return rc;
}

static int is_bare(char c)
{
	return vpt_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       c == '-';
}

static int read_key(struct reader *r, const char **key)
{
	size_t len = 0;
	int rc;

	if (*r->at == '[')
		return fail(r, "KEY = VALUE without tables");
	if (*r->at == '"' || *r->at == '\'') {
		rc = read_string(r, key);
		if (rc)
			return rc;
	} else {
		while (is_bare(r->at[len]))
			len++;
		if (!len)
			return fail(r, "KEY = VALUE");
		*key = r->to;
		memcpy(r->to, r->at, len);
		r->to[len] = '\0';
		r->to += len + 1;
		r->at += len;
	}
	skip_blanks(r);
	if (*r->at != '=')
		return fail(r, "= after a key");
	r->at++;
	return VPT_OK;
}

static int check_once(struct reader *r, const char *key)
{
	size_t i;

	for (i = 0; i < r->out->count; i++)
		if (!strcmp(r->out->values[i].key, key))
			return vpt_fail(r->err, VPT_EINVAL,
				"%.200s:%u: expected each key once, found %.60s, which line %u has",
				r->name, r->line, key, r->out->values[i].line);
	return VPT_OK;
}

static int read_line(struct reader *r)
{
	struct vtr_config_value v = {.key = NULL};
	int rc = read_key(r, &v.key);

	if (!rc)
		rc = check_once(r, v.key);
	if (rc)
		return rc;
	skip_blanks(r);
	rc = *r->at == '[' ? read_array(r, &v) : read_value(r, &v);
	if (rc)
		return rc;
	skip_comment(r);
	return *r->at == '\n' || r->at == r->end ? VPT_OK
						 : fail(r, "the end of the line after a value");
}

static int read_all(const char *name, const char *text, size_t size, struct vtr_config *out,
	struct vpt_err *err)
{
	struct reader r = {name, text, text + size, NULL, 1, out, 0, err};
	int rc = VPT_OK;

	out->bytes = r.to = vpt_alloc(size + 1, 1);
	if (!r.to)
		return vpt_fail(err, VPT_ENOMEM, "no memory for %.200s", name);
	for (skip_lines(&r); !rc && r.at < r.end; skip_lines(&r))
		rc = read_line(&r);
	if (rc)
		vtr_config_free(out);
	return rc;
}

/* ---- the file ---- */

/* Its bytes, and a NUL after them. */
static char *read_bytes(int fd, const char *path, size_t *size, struct vpt_err *err)
{
	char *bytes = vpt_alloc(VTR_CONFIG_BYTES_MAX + 1, 1);
	ssize_t got = 0;

	*size = 0;
	if (!bytes) {
		vpt_fail(err, VPT_ENOMEM, "no memory for %.200s", path);
		return NULL;
	}
	do {
		got = read(fd, bytes + *size, VTR_CONFIG_BYTES_MAX + 1 - *size);
		*size += got > 0 ? (size_t)got : 0;
	} while (got > 0 || (got < 0 && errno == EINTR));
	if (got < 0)
		vpt_fail(err, VPT_EINVAL, "%.200s: cannot read: %s", path, strerror(errno));
	else if (*size > VTR_CONFIG_BYTES_MAX)
		vpt_fail(err, VPT_EINVAL, "%.200s: expected at most %d bytes", path,
			VTR_CONFIG_BYTES_MAX);
	else if (memchr(bytes, '\0', *size))
		vpt_fail(err, VPT_EINVAL, "%.200s: expected text, found a byte of 0", path);
	else {
		bytes[*size] = '\0';
		return bytes;
	}
	vpt_free(bytes);
	return NULL;
}

int vtr_config_read(const char *path, struct vtr_config *out, struct vpt_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;
	size_t size;
	char *bytes;

	*out = (struct vtr_config){.values = NULL};
	if (fd < 0)
		return vpt_fail(err, VPT_EINVAL, "%.200s: cannot open: %s", path, strerror(errno));
	bytes = read_bytes(fd, path, &size, err);
	close(fd);
	if (!bytes)
		return err->code;
	rc = read_all(path, bytes, size, out, err);
	vpt_free(bytes);
	return rc;
}

void vtr_config_free(struct vtr_config *c)
{
	vpt_free(c->values);
	vpt_free(c->bytes);
	*c = (struct vtr_config){.values = NULL};
}
