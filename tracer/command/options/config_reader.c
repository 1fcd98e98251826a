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

int vtr_config_read_code(struct vtr_config_reader *r, size_t digits)
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

int vtr_config_put(struct vtr_config_reader *r, const struct vtr_config_value *v)
{
	struct vtr_config *c = r->out;

	if (vpt_grow(&c->values, &r->cap, c->count + 1, sizeof(*c->values)))
		return vpt_fail(r->err, VPT_ENOMEM, "no memory for %.200s", r->name);
	c->values[c->count++] = *v;
	return VPT_OK;
}
