/* kineto_parse.c - JSON text becomes an array of values, each before those inside it.
 *
 * Every function reads at s->p and moves it. A NUL ends the text: what runs into it knows by the address
 * whether more may come. */
#include "formats/import/kineto/text/kineto_parse.h"

#include "formats/base/count.h"
#include "formats/base/error.h"
#include "formats/base/memory.h"
#include "formats/import/kineto/text/kineto_scan.h"

#include <string.h>
#include <strings.h>

enum {
	DEPTH_MAX = 64, /* nesting of values; real events have 5 */
	REPLACEMENT = 0xfffd
};

struct scan {
	const unsigned char *p, *begin, *end;
	struct vpt_kineto_parser *out;
	unsigned depth; /* of the value that is read; 1: the outermost */
};

/* Something else was expected at the next byte. */
static int stop(struct scan *s, const char *expected)
{
	if (s->p == s->end)
		return VPT_END;
	s->out->wrong = *s->p ? expected : "unexpected end of data";
	return VPT_EDATA;
}

/* The same after the NUL at `p`, in what has no end. */
static int stop_after(struct scan *s, const unsigned char *p)
{
	int rc;

	s->p = p;
	rc = stop(s, "");
	s->p += rc == VPT_EDATA;
	return rc;
}

/* ---- white space ---- */

static int skip_comments(struct scan *s)
{
	const unsigned char *p = s->p;

	while (*p == '/') {
		s->p = ++p;
		if (*p != '/' && *p != '*')
			return stop(s, "expected comment");
		if (*p == '/') {
			while (*p && *p != '\n')
				p++;
		} else {
			for (p++; *p && (p[0] != '*' || p[1] != '/');)
				p++;
		}
		if (!*p)
			return stop_after(s, p);
		p += *p == '*' ? 2 : 1;
		s->p = p = vpt_scan_space(p);
	}
	return VPT_OK;
}

static inline int skip_space(struct scan *s)
{
	s->p = vpt_scan_space(s->p);
	return __builtin_expect(*s->p == '/', 0) ? skip_comments(s) : VPT_OK;
}

/* ---- strings ---- */

static void put_unescaped(struct scan *s, const void *bytes, size_t size)
{
	memcpy(s->out->unescaped + s->out->unescaped_size, bytes, size);
	s->out->unescaped_size += size;
}

/* Puts a character as UTF-8, half of a surrogate pair as U+FFFD. */
static void put_code(struct scan *s, unsigned code)
{
	unsigned char bytes[4];
	size_t count = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4, i;

	if ((code & 0xfffff800) == 0xd800)
		code = REPLACEMENT;
	for (i = count; i-- > 1; code >>= 6)
		bytes[i] = (unsigned char)(0x80 | (code & 0x3f));
	bytes[0] = (unsigned char)(count == 1 ? code : (0xf00u >> count & 0xffu) | code);
	put_unescaped(s, bytes, count);
}

static int read_hex(struct scan *s, unsigned *code)
{
	int i;

	*code = 0;
	for (i = 0; i < 4; i++, s->p++) {
		unsigned c = *s->p, letter = c | 0x20;

		if (c >= '0' && c <= '9')
			*code = *code << 4 | (c - '0');
		else if (letter >= 'a' && letter <= 'f')
			*code = *code << 4 | (letter - 'a' + 10);
		else
			return stop(s, "invalid string sequence");
	}
	return VPT_OK;
}

/* After "\u". */
static int read_unicode(struct scan *s)
{
	unsigned code, low;
	int rc = read_hex(s, &code);

	while (!rc && (code & 0xfffffc00) == 0xd800 && s->p[0] == '\\' && s->p[1] == 'u') {
		s->p += 2;
		rc = read_hex(s, &low);
		if (!rc && (low & 0xfffffc00) == 0xdc00) {
			code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
		} else if (!rc) {
			put_code(s, code);
			code = low;
		}
	}
	if (!rc)
		put_code(s, code);
	return rc;
}

static int read_escape(struct scan *s)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *found;

	if (*++s->p == 'u') {
		s->p++;
		return read_unicode(s);
	}
	found = *s->p ? strchr(letters, *s->p) : NULL;
	if (!found)
		return stop(s, "invalid string sequence");
	s->p++;
	put_unescaped(s, &meant[found - letters], 1);
	return VPT_OK;
}

/* Copies the string from `begin` on, of which the first byte that is not plain is at s->p. */
static int read_escaped(
	struct scan *s, const unsigned char *begin, unsigned char quote, struct vpt_text *text)
{
	struct vpt_kineto_parser *out = s->out;
	size_t before = out->unescaped_size;
	int rc;

	/* No string is longer without its escapes: these do not move while their text is parsed. */
	if (vpt_grow(&out->unescaped, &out->unescaped_cap, (size_t)(s->end - s->begin), 1))
		return VPT_ENOMEM;
	for (;;) {
		put_unescaped(s, begin, (size_t)(s->p - begin));
		if (*s->p == quote)
			break;
		if (!*s->p)
			return stop_after(s, s->p);
		rc = read_escape(s);
		if (rc)
			return rc;
		begin = s->p;
		s->p = vpt_scan_string(begin, quote);
	}
	s->p++;
	*text = (struct vpt_text){out->unescaped + before, out->unescaped_size - before};
	put_unescaped(s, "", 1);
	return VPT_OK;
}

/* The text of the string whose quote is the next byte. */
static inline int read_string(struct scan *s, struct vpt_text *text)
{
	const unsigned char quote = *s->p, *begin = s->p + 1;

	s->p = vpt_scan_string(begin, quote);
	if (__builtin_expect(*s->p != quote, 0))
		return read_escaped(s, begin, quote, text);
	*text = (struct vpt_text){(const char *)begin, (size_t)(s->p - begin)};
	s->p++;
	return VPT_OK;
}

/* ---- values ---- */

static inline int put(
	struct scan *s, size_t at, enum vpt_kineto_type type, const void *text, size_t len)
{
	struct vpt_kineto_value *v = &s->out->values[at];

	v->text = text;
	v->len = (uint32_t)len;
	v->span = (uint32_t)(s->out->count - at);
	v->type = (uint8_t)type;
	return VPT_OK;
}

/* Makes room for one more, which is at the former count. */
static inline int add(struct scan *s, struct vpt_text name)
{
	struct vpt_kineto_parser *out = s->out;

	if (out->count == VPT_KINETO_VALUES_MAX) {
		out->wrong = NULL;
		return VPT_EDATA;
	}
	if (vpt_grow(&out->values, &out->cap, out->count + 1, sizeof(*out->values)))
		return VPT_ENOMEM;
	out->values[out->count].name = name.text;
	out->values[out->count++].name_len = (uint32_t)name.len;
	return VPT_OK;
}

/* A word, or the most of it that is there; `minus` if there was one before it. */
static int read_word(struct scan *s, size_t at, int minus)
{
	static const struct {
		const char *word, *wrong, *text;
		enum vpt_kineto_type type;
	} words[] = {
		{"null", "null expected", "null", VPT_KINETO_NULL},
		{"nan", "null expected", "NaN", VPT_KINETO_NOT_FINITE},
		{"true", "boolean expected", "true", VPT_KINETO_BOOLEAN},
		{"false", "boolean expected", "false", VPT_KINETO_BOOLEAN},
		{"infinity", "unexpected character", "-Infinity", VPT_KINETO_NOT_FINITE},
	};
	size_t best = 0, longest = 0, i, n;
	const char *text;

	for (i = 0; i < COUNT(words); i++) {
		for (n = 0; words[i].word[n] && (s->p[n] | 0x20) == words[i].word[n];)
			n++;
		if (n > longest) {
			best = i;
			longest = n;
		}
	}
	if (!longest)
		return stop(s, "unexpected character");
	s->p += longest;
	/* A word at the end of the text may go on. */
	if (words[best].word[longest] || s->p == s->end)
		return stop(s, words[best].wrong);
	text = words[best].text + (*words[best].text == '-' && !minus);
	return put(s, at, words[best].type, text, strlen(text));
}

static int ends_number(unsigned char c)
{
	return vpt_is_space(c) || c == ',' || c == ']' || c == '}' || c == '/' || (c | 0x20) == 'i';
}

/* The end of the number: digits, one point, one exponent, and a sign before each. */
static const unsigned char *skip_number(const unsigned char *p, int *is_decimal)
{
	int may_be_sign = 1, is_exponent = 0;

	for (*is_decimal = 0;; p++) {
		if ((*p | 0x20) == 'e' && !is_exponent)
			is_exponent = *is_decimal = may_be_sign = 1;
		else if (*p == '.' && !*is_decimal)
			*is_decimal = may_be_sign = 1;
		else if (vpt_is_digit((char)*p) || (may_be_sign && (*p == '-' || *p == '+')))
			may_be_sign = 0;
		else
			return p;
	}
}

/* Any number. */
static int read_odd_number(struct scan *s, size_t at)
{
	const unsigned char *begin = s->p;
	int is_decimal;
	size_t len;

	s->p = skip_number(begin, &is_decimal);
	if (s->p == s->end || (s->depth > 1 && !ends_number(*s->p)))
		return stop(s, "number expected");
	len = (size_t)(s->p - begin);
	if (len == 1 && *begin == '-' && (*s->p | 0x20) == 'i')
		return read_word(s, at, 1);
	/* An exponent without digits is none. */
	while (is_decimal && len > 1 && memchr("eE+-", begin[len - 1], 4))
		len--;
	if (!vpt_kineto_is_decimal((const char *)begin, len))
		return stop(s, "number expected");
	return put(s, at, is_decimal ? VPT_KINETO_DECIMAL : VPT_KINETO_INTEGER, begin, len);
}

/* Digits, perhaps a point and digits: most numbers. */
static inline int read_number(struct scan *s, size_t at)
{
	const unsigned char *begin = s->p, *digits = begin + (*begin == '-'), *p = digits;
	enum vpt_kineto_type type = VPT_KINETO_INTEGER;

	while (vpt_is_digit((char)*p))
		p++;
	if (p > digits && *p == '.') {
		type = VPT_KINETO_DECIMAL;
		for (p++; vpt_is_digit((char)*p);)
			p++;
	}
	if (p == digits || (*p != ',' && *p != '}' && *p != ']' && !vpt_is_space(*p)))
		return read_odd_number(s, at);
	s->p = p;
	return put(s, at, type, begin, (size_t)(p - begin));
}

static int read_value(struct scan *s, struct vpt_text name);

static int read_member(struct scan *s)
{
	const char *begin = (const char *)s->p + 1;
	struct vpt_text name = {NULL, 0};
	int rc;

	if (*s->p != '"' && *s->p != '\'')
		return stop(s, "quoted object property name expected");
	rc = read_string(s, &name);
	if (!rc)
		rc = skip_space(s);
	if (rc)
		return rc;
	if (*s->p != ':')
		return stop(s, "object property name separator ':' expected");
	s->p++;
	/* An escape may be a NUL, which ends a name. */
	if (name.text != begin)
		name.len = strnlen(name.text, name.len);
	rc = skip_space(s);
	return rc ? rc : read_value(s, name);
}

/* The values of an array or members of an object up to its end. */
static int read_inside(struct scan *s, size_t at, unsigned char end)
{
	static const struct vpt_text none = {NULL, 0};
	const unsigned char *begin = s->p++;
	int is_object = end == '}', rc = skip_space(s);

	while (!rc && *s->p != end) {
		rc = is_object ? read_member(s) : read_value(s, none);
		if (!rc)
			rc = skip_space(s);
		if (rc || *s->p == end)
			break;
		if (*s->p != ',')
			return stop(s, is_object ? "object value separator ',' expected"
						 : "array value separator ',' expected");
		s->p++;
		rc = skip_space(s);
	}
	if (rc)
		return rc;
	s->p++;
	return put(s, at, is_object ? VPT_KINETO_OBJECT : VPT_KINETO_ARRAY, begin,
		(size_t)(s->p - begin));
}

static int read_kind(struct scan *s, size_t at)
{
	struct vpt_text text;
	int rc;

	switch (*s->p) {
	case '"':
	case '\'':
		rc = read_string(s, &text);
		return rc ? rc : put(s, at, VPT_KINETO_STRING, text.text, text.len);
	case '0' ... '9':
	case '-':
		return read_number(s, at);
	case '{':
		return read_inside(s, at, '}');
	case '[':
		return read_inside(s, at, ']');
	default:
		return read_word(s, at, 0);
	}
}

static int read_value(struct scan *s, struct vpt_text name)
{
	size_t at = s->out->count;
	int rc;

	if (s->depth == DEPTH_MAX)
		return stop(s, "nesting too deep");
	rc = add(s, name);
	if (rc)
		return rc;
	s->depth++;
	rc = read_kind(s, at);
	s->depth--;
	return rc;
}

int vpt_kineto_parse(
	struct vpt_kineto_parser *parser, const unsigned char **p, const unsigned char *end)
{
	struct scan s = {.p = *p, .begin = *p, .end = end, .out = parser};
	int rc;

	parser->count = 0;
	parser->unescaped_size = 0;
	rc = skip_space(&s);
	if (!rc)
		rc = read_value(&s, (struct vpt_text){NULL, 0});
	if (!rc)
		rc = skip_space(&s);
	*p = s.p;
	return rc;
}

void vpt_kineto_parser_free(struct vpt_kineto_parser *parser)
{
	vpt_free(parser->values);
	vpt_free(parser->unescaped);
	*parser = (struct vpt_kineto_parser){0};
}
