/* utf8.c - reads and writes well-formed sequences (the Unicode Standard, table 3-7). The first byte determines the
 * length and the range of the second; later bytes are 80..BF. The ranges exclude overlong forms,
 * surrogates and everything past U+10FFFF. */
#include "formats/base/utf8.h"

#include <stdio.h>
#include <string.h>

static const struct {
	unsigned char lo, hi, len, second_lo, second_hi;
} rows[] = {
	{0xc2, 0xdf, 2, 0x80, 0xbf},
	{0xe0, 0xe0, 3, 0xa0, 0xbf},
	{0xe1, 0xec, 3, 0x80, 0xbf},
	{0xed, 0xed, 3, 0x80, 0x9f},
	{0xee, 0xef, 3, 0x80, 0xbf},
	{0xf0, 0xf0, 4, 0x90, 0xbf},
	{0xf1, 0xf3, 4, 0x80, 0xbf},
	{0xf4, 0xf4, 4, 0x80, 0x8f},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

size_t vpt_utf8_length(const char *text, size_t left, size_t *bad)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t row, i = 1;

	if (s[0] < 0x80)
		return 1;
	for (row = 0; row < ROWS; row++)
		if (s[0] >= rows[row].lo && s[0] <= rows[row].hi)
			break;
	for (; row < ROWS && i < rows[row].len; i++) {
		unsigned lo = i == 1 ? rows[row].second_lo : 0x80;
		unsigned hi = i == 1 ? rows[row].second_hi : 0xbf;

		if (i >= left || s[i] < lo || s[i] > hi)
			break;
	}
	if (row < ROWS && i == rows[row].len)
		return i;
	if (bad)
		*bad = i;
	return 0;
}

uint32_t vpt_utf8_code(const char *text, size_t length)
{
	const unsigned char *s = (const unsigned char *)text;
	uint32_t code = length == 1 ? s[0] : s[0] & (0x7fu >> length);
	size_t i;

	for (i = 1; i < length; i++)
		code = code << 6 | (s[i] & 0x3fu);
	return code;
}

size_t vpt_utf8_put(char out[4], uint32_t code)
{
	static const unsigned char first[] = {
		0, 0, 0xc0, 0xe0, 0xf0}; /* of a sequence of this length */
	size_t len, i;

	if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		code = 0xfffd;
	len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	for (i = len; i-- > 1; code >>= 6)
		out[i] = (char)(0x80 | (code & 0x3f));
	out[0] = (char)(first[len] | code);
	return len;
}

int vpt_utf8_is_unseen(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} unseen[] = {
		{0, 0x1f},
		{0x7f, 0x9f},
		{0xad, 0xad},
		{0x61c, 0x61c},
		{0x200b, 0x200f},
		{0x2028, 0x202e},
		{0x2060, 0x206f},
		{0xfeff, 0xfeff},
		{0xfff9, 0xfffb},
		{0xe0000, 0xe0fff},
	};
	size_t i;

	for (i = 0; i < sizeof(unseen) / sizeof(unseen[0]) && unseen[i].first <= code; i++)
		if (code <= unseen[i].last)
			return 1;
	return 0;
}

static void escape(struct vpt_shown *out, const char *form, uint32_t code)
{
	out->len = (unsigned)snprintf(out->bytes, sizeof(out->bytes), form, (unsigned)code);
	out->escaped = 1;
}

size_t vpt_utf8_show(const char *text, size_t left, struct vpt_shown *out)
{
	size_t len = vpt_utf8_length(text, left, NULL);
	uint32_t code = vpt_utf8_code(text, len);

	*out = (struct vpt_shown){{0}, 0, 0};
	if (!len) {
		escape(out, "\\x%02x", (unsigned char)text[0]);
		return 1;
	}
	if (vpt_utf8_is_unseen(code)) {
		escape(out, code < 0x100 ? "\\x%02x" : code > 0xffff ? "\\u%5x" : "\\u%04x", code);
		return len;
	}
	memcpy(out->bytes, text, len);
	out->len = (unsigned)len;
	return len;
}
