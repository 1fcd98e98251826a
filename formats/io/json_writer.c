/* json_writer.c - a streaming JSON writer: exports of 10^8 numbers without a tree in memory.
 *
 * All output passes through one buffer. It is flushed only to make room for more bytes, so its last
 * byte is always the last byte of the output; this is how the writer detects a second top-level
 * value without a line end before it. Numbers and plain text are formatted in place in the buffer.
 *
 * Left out: checking that an object's keys differ. */
#include "formats/io/json_writer.h"

#include "formats/base/utf8.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	HAS_MEMBER = 1, /* flags of one level in has_member[] */
	IS_ARRAY = 2,
	LEVELS = sizeof(((struct vpt_json *)0)->has_member),
	DECIMALS_MAX = 20,
	DOUBLE_BYTES = 320 + DECIMALS_MAX /* -DBL_MAX as digits, a point, the decimals, a NUL */
};

/* Reports misuse by the caller. The first fault stays; later ones are dropped. */
static void fail(struct vpt_json *j, const char *expected, const char *found)
{
	j->failed = vpt_fail(&j->err, VPT_EINVAL, "JSON output: expected %s, found %s at depth %d",
		expected, found, j->depth);
}

/* ---- bytes ---- */

static void flush(struct vpt_json *j)
{
	if (!j->failed && j->used)
		j->failed = vpt_sink_write(j->sink, j->buf, j->used, &j->err);
	j->used = 0;
}

/* Room for up to `size` bytes (at most the whole buffer); the caller adds to j->used. */
static char *room(struct vpt_json *j, size_t size)
{
	if (size > sizeof(j->buf) - j->used)
		flush(j);
	return j->buf + j->used;
}

static void put_char(struct vpt_json *j, char c)
{
	*room(j, 1) = c;
	j->used++;
}

static void put(struct vpt_json *j, const char *data, size_t size)
{
	while (size) {
		char *to = room(j, 1);
		size_t part = sizeof(j->buf) - j->used;

		if (part > size)
			part = size;
		memcpy(to, data, part);
		j->used += part;
		data += part;
		size -= part;
	}
}

static void put_line(struct vpt_json *j)
{
	int level;

	put_char(j, '\n');
	for (level = 0; level < j->depth; level++)
		put(j, "  ", 2);
}

/* ---- text ---- */

static void put_escape(struct vpt_json *j, unsigned code)
{
	static const char hex[] = "0123456789abcdef";
	static const char letters[128] = {['"'] = '"',
		['\\'] = '\\',
		['\b'] = 'b',
		['\f'] = 'f',
		['\n'] = 'n',
		['\r'] = 'r',
		['\t'] = 't'};
	char text[6] = {'\\', 'u'};

	if (code < sizeof(letters) && letters[code]) {
		text[1] = letters[code];
		put(j, text, 2);
		return;
	}
	text[2] = hex[code >> 12 & 15];
	text[3] = hex[code >> 8 & 15];
	text[4] = hex[code >> 4 & 15];
	text[5] = hex[code & 15];
	put(j, text, 6);
}

/* Puts one character beyond ASCII. Escapes it if a terminal would obey or hide it, which keeps the
 * value. */
static size_t put_wide(struct vpt_json *j, const unsigned char *s, size_t left)
{
	size_t bad, len = vpt_utf8_length((const char *)s, left, &bad);
	uint32_t code;

	if (!len) {
		put(j, "\xef\xbf\xbd", 3);
		return bad;
	}
	code = vpt_utf8_code((const char *)s, len);
	if (!vpt_utf8_is_unseen(code)) {
		put(j, (const char *)s, len);
	} else if (code > 0xffff) {
		put_escape(j, 0xd800u | ((code - 0x10000u) >> 10));
		put_escape(j, 0xdc00u | (code & 0x3ffu));
	} else {
		put_escape(j, code);
	}
	return len;
}

static int is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void put_text(struct vpt_json *j, const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t i = 0;

	put_char(j, '"');
	while (i < len && !j->failed) {
		size_t start = i;

		while (i < len && is_plain(s[i]))
			i++;
		put(j, text + start, i - start);
		if (i == len)
			break;
		if (s[i] < 0x80)
			put_escape(j, s[i++]);
		else
			i += put_wide(j, s + i, len - i);
	}
	put_char(j, '"');
}

/* ---- places ---- */

static void begin_top_level(struct vpt_json *j, const char *key)
{
	if (key)
		fail(j, "no key at top level", "one");
	else if (j->used && j->buf[j->used - 1] != '\n')
		fail(j, "a line end between top-level values", "none");
}

/* Writes what precedes every value: comma, line end, key. Returns 0 if nothing may be written. */
static int begin(struct vpt_json *j, const char *key)
{
	unsigned char *level;

	if (j->failed)
		return 0;
	if (j->depth == 0) {
		begin_top_level(j, key);
		return !j->failed;
	}
	level = &j->has_member[j->depth - 1];
	if (!key != !!(*level & IS_ARRAY)) {
		fail(j, key ? "no key in an array" : "a key in an object", key ? "one" : "none");
		return 0;
	}
	if (*level & HAS_MEMBER)
		put_char(j, ',');
	*level |= HAS_MEMBER;
	if (j->pretty)
		put_line(j);
	if (key) {
		put_text(j, key, strlen(key));
		put(j, ": ", j->pretty ? 2 : 1);
	}
	return !j->failed;
}

static void open_level(struct vpt_json *j, const char *key, unsigned char kind)
{
	if (!begin(j, key))
		return;
	if (j->depth == LEVELS) {
		fail(j, "at most 64 levels", "one more");
		return;
	}
	put_char(j, kind & IS_ARRAY ? '[' : '{');
	j->has_member[j->depth++] = kind;
}

void vpt_json_init(struct vpt_json *j, struct vpt_sink *sink, int pretty)
{
	memset(j, 0, offsetof(struct vpt_json, buf));
	j->sink = sink;
	j->pretty = pretty;
}

void vpt_json_object(struct vpt_json *j, const char *key)
{
	open_level(j, key, 0);
}

void vpt_json_array(struct vpt_json *j, const char *key)
{
	open_level(j, key, IS_ARRAY);
}

void vpt_json_end(struct vpt_json *j)
{
	unsigned char level;

	if (j->failed)
		return;
	if (!j->depth) {
		fail(j, "an open object or array", "an end");
		return;
	}
	level = j->has_member[--j->depth];
	if (j->pretty && level & HAS_MEMBER)
		put_line(j);
	put_char(j, level & IS_ARRAY ? ']' : '}');
}

void vpt_json_newline(struct vpt_json *j)
{
	if (j->failed)
		return;
	if (j->depth) {
		fail(j, "a line end at top level", "one");
		return;
	}
	put_char(j, '\n');
}

int vpt_json_finish(struct vpt_json *j, struct vpt_err *err)
{
	if (!j->failed && j->depth)
		fail(j, "every object and array closed", "an open one");
	flush(j);
	if (j->failed && err)
		*err = j->err;
	return j->failed;
}

/* ---- values ---- */

static void put_u64(struct vpt_json *j, uint64_t value)
{
	char text[20], *p = text + sizeof(text);

	/* Two digits per division, since the divisions take most of the time. */
	while (value >= 100) {
		unsigned pair = (unsigned)(value % 100);

		value /= 100;
		*--p = (char)('0' + pair % 10);
		*--p = (char)('0' + pair / 10);
	}
	*--p = (char)('0' + value % 10);
	if (value >= 10)
		*--p = (char)('0' + value / 10);
	put(j, p, (size_t)(text + sizeof(text) - p));
}

static void put_i64(struct vpt_json *j, int64_t value)
{
	if (value < 0)
		put_char(j, '-');
	put_u64(j, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* The only effect of the locale on printf(3) here is the decimal point, which may be several
 * bytes. */
static void put_number(struct vpt_json *j, const char *text)
{
	int in_point = 0;

	for (; *text; text++) {
		int known = (*text >= '0' && *text <= '9') || *text == '-' || *text == '+' ||
			    *text == 'e';

		if (known)
			put_char(j, *text);
		else if (!in_point)
			put_char(j, '.');
		in_point = !known;
	}
}

/* The fast path for numbers with up to three decimals, such as nanoseconds in microseconds: formats
 * them as integers, twenty times faster than printf(3) and back. Such a number has at most 15
 * digits, and the quotient of two exact doubles is the double nearest to it, so put_double() would
 * write the same digits. Returns 0, with nothing written, for any other value. */
static int put_short(struct vpt_json *j, double value)
{
	double thousandths = fabs(value) * 1000;
	uint64_t whole;
	unsigned rest;
	char text[4];
	size_t len = sizeof(text);

	if (!(thousandths < 1e15) || thousandths != (double)(uint64_t)thousandths ||
		thousandths / 1000 != fabs(value))
		return 0;
	if (signbit(value))
		put_char(j, '-');
	whole = (uint64_t)thousandths / 1000;
	rest = (unsigned)((uint64_t)thousandths % 1000);
	put_u64(j, whole);
	text[0] = '.';
	text[1] = (char)('0' + rest / 100);
	text[2] = (char)('0' + rest / 10 % 10);
	text[3] = (char)('0' + rest % 10);
	while (text[len - 1] == '0')
		len--;
	if (rest)
		put(j, text, len);
	return 1;
}

/* 15 digits suffice for every double that came from a decimal of 15. Below the normal range
 * precision fades, and fewer digits can suffice. (46 powers of two, whose lower neighbour is nearer
 * than the upper one, get 17 digits although 16 different ones would do.) */
static void put_double(struct vpt_json *j, double value)
{
	char text[40];
	int digits = fabs(value) < DBL_MIN ? 1 : 15;

	for (; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (digits == 17 || strtod(text, NULL) == value)
			break;
	}
	put_number(j, text);
}

void vpt_json_u64(struct vpt_json *j, const char *key, uint64_t value)
{
	if (begin(j, key))
		put_u64(j, value);
}

void vpt_json_i64(struct vpt_json *j, const char *key, int64_t value)
{
	if (begin(j, key))
		put_i64(j, value);
}

void vpt_json_double(struct vpt_json *j, const char *key, double value)
{
	if (!begin(j, key))
		return;
	if (!isfinite(value))
		put(j, "null", 4);
	else if (!put_short(j, value))
		put_double(j, value);
}

void vpt_json_fixed(struct vpt_json *j, const char *key, double value, int decimals)
{
	char text[DOUBLE_BYTES];
	const char *start = text;

	if (!begin(j, key))
		return;
	if (!isfinite(value)) {
		put(j, "null", 4);
		return;
	}
	if (decimals < 0)
		decimals = 0;
	if (decimals > DECIMALS_MAX)
		decimals = DECIMALS_MAX;
	snprintf(text, sizeof(text), "%.*f", decimals, value);
	/* Do not write "-0.00", which suggests a value that is not there. */
	if (text[0] == '-' && !strpbrk(text, "123456789"))
		start++;
	put_number(j, start);
}

void vpt_json_bool(struct vpt_json *j, const char *key, int value)
{
	if (begin(j, key))
		put(j, value ? "true" : "false", value ? 4 : 5);
}

void vpt_json_null(struct vpt_json *j, const char *key)
{
	if (begin(j, key))
		put(j, "null", 4);
}

void vpt_json_text(struct vpt_json *j, const char *key, const char *text, size_t len)
{
	if (begin(j, key))
		put_text(j, text, text ? len : 0);
}

void vpt_json_string(struct vpt_json *j, const char *key, const char *text)
{
	if (text)
		vpt_json_text(j, key, text, strlen(text));
	else
		vpt_json_null(j, key);
}
