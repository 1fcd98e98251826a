/* config_reader.c - places, keys, characters and values, which the two languages write alike. */
#include "tracer/command/options/config_reader.h"

#include "formats/base/memory.h"
#include "formats/base/text.h"
#include "formats/base/utf8.h"

#include <stdlib.h>
#include <string.h>

int vtr_config_fail(struct vtr_config_reader *r, const char *expected)
{
	int len = (int)strcspn(r->at, "\r\n");

	if (r->at == r->end || !len)
		return vpt_fail(r->err, VPT_EINVAL,
			"%.200s:%u: expected %s, found the end of the %s", r->name, r->line,
			expected, r->at == r->end ? "file" : "line");
	return vpt_fail(r->err, VPT_EINVAL, "%.200s:%u: expected %s, found: %.*s", r->name, r->line,
		expected, len < 60 ? len : 60, r->at);
}

void vtr_config_skip_blanks(struct vtr_config_reader *r)
{
	while (*r->at == ' ' || *r->at == '\t')
		r->at++;
}

static int is_bare(char c)
{
	return vpt_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       c == '-';
}

const char *vtr_config_bare_key(struct vtr_config_reader *r)
{
	const char *key = r->to;
	size_t len = 0;

	while (is_bare(r->at[len]))
		len++;
	if (!len)
		return NULL;
	memcpy(r->to, r->at, len);
	r->to[len] = '\0';
	r->to += len + 1;
	r->at += len;
	return key;
}

int vtr_config_check_once(struct vtr_config_reader *r, const char *key)
{
	size_t i;

	for (i = 0; i < r->out->count; i++)
		if (!strcmp(r->out->values[i].key, key))
			return vpt_fail(r->err, VPT_EINVAL,
				"%.200s:%u: expected each key once, found %.60s, which line %u has",
				r->name, r->line, key, r->out->values[i].line);
	return VPT_OK;
}

/* The character that as many digits of base 16 after r->at mean. 0, or -1: none. */
static int read_code(struct vtr_config_reader *r, size_t digits)
{
	unsigned long code;
	char text[9] = "";

	memcpy(text, r->at + 1, strnlen(r->at + 1, digits));
	if (strspn(text, "0123456789abcdefABCDEF") != digits)
		return -1;
	code = strtoul(text, NULL, 16);
	if (!code || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return -1;
	r->at += 1 + digits;
	r->to += vpt_utf8_put(r->to, (uint32_t)code);
	return 0;
}

/* What a backslash and the letter after it mean. 0, or -1: nothing. */
static int read_escape(struct vtr_config_reader *r, const struct vtr_config_quotes *q)
{
	const char *letter;

	r->at++;
	if (*r->at == 'u' || *r->at == 'U' || (*r->at == 'x' && q->is_yaml))
		return read_code(r, *r->at == 'x' ? 2 : *r->at == 'u' ? 4 : 8);
	letter = *r->at ? strchr(q->letters, *r->at) : NULL;
	if (!letter)
		return -1;
	*r->to++ = q->meant[letter - q->letters];
	r->at++;
	return 0;
}

int vtr_config_read_quoted(
	struct vtr_config_reader *r, const struct vtr_config_quotes *q, const char **out)
{
	const char quote = *r->at;
	const int is_doubled = q->is_yaml && quote == '\'';

	*out = r->to;
	for (r->at++; *r->at != quote || (is_doubled && r->at[1] == quote);) {
		unsigned char c = (unsigned char)*r->at;

		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return vtr_config_fail(r, q->end);
		if (c == '\\' && quote == '"') {
			if (read_escape(r, q))
				return vtr_config_fail(r, "an escape such as \\n, \\\" or \\u00e4");
			continue;
		}
		r->at += c == '\'' && is_doubled;
		*r->to++ = *r->at++;
	}
	r->at++;
	*r->to++ = '\0';
	return VPT_OK;
}

int vtr_config_put(struct vtr_config_reader *r, const struct vtr_config_value *v)
{
	struct vtr_config *c = r->out;

	if (vpt_grow(&c->values, &r->cap, c->count + 1, sizeof(*c->values)))
		return vpt_fail(r->err, VPT_ENOMEM, "no memory for %.200s", r->name);
	c->values[c->count++] = *v;
	return VPT_OK;
}
