/* kineto_parse.c - JSON text becomes an array of values, each before those inside it.
 *
 * Every function gets the place to read at and returns the one after what it has read, or NULL. So the place is in a
 * register: what it depends on decides the speed. A NUL ends the text: what runs into it knows by the
 * address whether more may come. */
#include "formats/import/kineto/text/kineto_json.h"

#include "formats/base/count.h"
#include "formats/base/error.h"
#include "formats/base/memory.h"
#include "formats/import/kineto/text/kineto_scan.h"

#include <string.h>

enum {
	DEPTH_MAX = 64, /* nesting of values; real events have 5 */
	REPLACEMENT = 0xfffd
};

typedef const unsigned char *place;

struct scan {
	place begin, end;
	struct vpt_kineto_parser *out;
	unsigned depth; /* of the value that is read; 1: the outermost */
	/* Once something has returned NULL: what vpt_kineto_parse() returns, and where it was. */
	int rc;
	place stopped;
};

static place fail(struct scan *s, place p, int rc)
{
	s->rc = rc;
	s->stopped = p;
	return NULL;
}

/* Something else was expected at the next byte. */
static place stop(struct scan *s, place p, const char *expected)
{
	if (p == s->end)
		return fail(s, p, VPT_END);
	s->out->wrong = *p ? expected : "unexpected end of data";
	return fail(s, p, VPT_EDATA);
}

/* The same after the NUL at `p`, in what has no end. */
static place stop_after(struct scan *s, place p)
{
	stop(s, p, "");
	s->stopped += s->rc == VPT_EDATA;
	return NULL;
}

/* ---- white space ---- */

static place skip_comments(struct scan *s, place p)
{
	while (*p == '/') {
		p++;
		if (*p != '/' && *p != '*')
			return stop(s, p, "expected comment");
		if (*p == '/') {
			while (*p && *p != '\n')
				p++;
		} else {
			for (p++; *p && (p[0] != '*' || p[1] != '/');)
				p++;
		}
		if (!*p)
			return stop_after(s, p);
		p = vpt_scan_space(p + (*p == '*' ? 2 : 1));
	}
	return p;
}

static inline place skip_space(struct scan *s, place p)
{
	p = vpt_scan_space(p);
	return __builtin_expect(*p == '/', 0) ? skip_comments(s, p) : p;
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

static place read_hex(struct scan *s, place p, unsigned *code)
{
	int i;

	*code = 0;
	for (i = 0; i < 4; i++, p++) {
		unsigned c = *p, letter = c | 0x20;

		if (c >= '0' && c <= '9')
			*code = *code << 4 | (c - '0');
		else if (letter >= 'a' && letter <= 'f')
			*code = *code << 4 | (letter - 'a' + 10);
		else
			return stop(s, p, "invalid string sequence");
	}
	return p;
}

/* After "\u". */
static place read_unicode(struct scan *s, place p)
{
	unsigned code, low;

	p = read_hex(s, p, &code);
	while (p && (code & 0xfffffc00) == 0xd800 && p[0] == '\\' && p[1] == 'u') {
		p = read_hex(s, p + 2, &low);
		if (p && (low & 0xfffffc00) == 0xdc00) {
			code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
		} else if (p) {
			put_code(s, code);
			code = low;
		}
	}
	if (p)
		put_code(s, code);
	return p;
}

static place read_escape(struct scan *s, place p)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *found;

	if (*++p == 'u')
		return read_unicode(s, p + 1);
	found = *p ? strchr(letters, *p) : NULL;
	if (!found)
		return stop(s, p, "invalid string sequence");
	put_unescaped(s, &meant[found - letters], 1);
	return p + 1;
}

/* Copies the string from `begin` on, of which the first byte that is not plain is at `p`. */
static place read_escaped(
	struct scan *s, place begin, place p, unsigned char quote, struct vpt_text *text)
{
	struct vpt_kineto_parser *out = s->out;
	size_t before = out->unescaped_size;

	/* No string is longer without its escapes: these do not move while their text is parsed. */
	if (vpt_grow(&out->unescaped, &out->unescaped_cap, (size_t)(s->end - s->begin), 1))
		return fail(s, p, VPT_ENOMEM);
	for (;;) {
		put_unescaped(s, begin, (size_t)(p - begin));
		if (*p == quote)
			break;
		if (!*p)
			return stop_after(s, p);
		begin = read_escape(s, p);
		if (!begin)
			return NULL;
		p = vpt_scan_string(begin, quote);
	}
	*text = (struct vpt_text){out->unescaped + before, out->unescaped_size - before};
	put_unescaped(s, "", 1);
	return p + 1;
}

/* The text of the string whose quote is the next byte. */
static inline place read_string(struct scan *s, place p, struct vpt_text *text)
{
	const unsigned char quote = *p;
	const place begin = p + 1;

	p = vpt_scan_string(begin, quote);
	if (__builtin_expect(*p != quote, 0))
		return read_escaped(s, begin, p, quote, text);
	*text = (struct vpt_text){(const char *)begin, (size_t)(p - begin)};
	return p + 1;
}

/* ---- values ---- */

/* The text of value `at` is the one from `text` to `end`, what follows it `after`. */
static inline place put(struct scan *s, size_t at, enum vpt_kineto_type type, const void *text,
	size_t len, place after)
{
	struct vpt_kineto_value *v = &s->out->values[at];

	v->text = text;
	v->len = (uint32_t)len;
	v->span = (uint32_t)(s->out->count - at);
	v->type = (uint8_t)type;
	return after;
}

/* Makes room for one more, which is at the former count. 0, VPT_EDATA: too many, VPT_ENOMEM. */
static inline int add(struct vpt_kineto_parser *out, struct vpt_text name)
{
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
static place read_word(struct scan *s, place p, size_t at, int minus)
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
		for (n = 0; words[i].word[n] && (p[n] | 0x20) == words[i].word[n];)
			n++;
		if (n > longest) {
			best = i;
			longest = n;
		}
	}
	if (!longest)
		return stop(s, p, "unexpected character");
	p += longest;
	/* A word at the end of the text may go on. */
	if (words[best].word[longest] || p == s->end)
		return stop(s, p, words[best].wrong);
	text = words[best].text + (*words[best].text == '-' && !minus);
	return put(s, at, words[best].type, text, strlen(text), p);
}

static int ends_number(unsigned char c)
{
	return vpt_is_space(c) || c == ',' || c == ']' || c == '}' || c == '/' || (c | 0x20) == 'i';
}

/* The end of the number: digits, one point, one exponent, and a sign before each. */
static place skip_number(place p, int *is_decimal)
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
static place read_odd_number(struct scan *s, place begin, size_t at)
{
	int is_decimal;
	const place p = skip_number(begin, &is_decimal);
	size_t len = (size_t)(p - begin);

	if (p == s->end || (s->depth > 1 && !ends_number(*p)))
		return stop(s, p, "number expected");
	if (len == 1 && *begin == '-' && (*p | 0x20) == 'i')
		return read_word(s, p, at, 1);
	/* An exponent without digits is none. */
	while (is_decimal && len > 1 && memchr("eE+-", begin[len - 1], 4))
		len--;
	if (!vpt_kineto_is_decimal((const char *)begin, len))
		return stop(s, p, "number expected");
	return put(s, at, is_decimal ? VPT_KINETO_DECIMAL : VPT_KINETO_INTEGER, begin, len, p);
}

/* Digits, perhaps a point and digits: most numbers. */
static inline place read_number(struct scan *s, place begin, size_t at)
{
	const place digits = begin + (*begin == '-');
	place p = vpt_scan_digits(digits);
	enum vpt_kineto_type type = VPT_KINETO_INTEGER;

	if (*p == '.' && p > digits) {
		type = VPT_KINETO_DECIMAL;
		p = vpt_scan_digits(p + 1);
	}
	if (p == digits || (*p != ',' && *p != '}' && *p != ']' && !vpt_is_space(*p)))
		return read_odd_number(s, begin, at);
	return put(s, at, type, begin, (size_t)(p - begin), p);
}

static place read_value(struct scan *s, place p, struct vpt_text name);

static inline place read_member(struct scan *s, place p)
{
	const char *begin = (const char *)p + 1;
	struct vpt_text name;

	if (*p != '"' && *p != '\'')
		return stop(s, p, "quoted object property name expected");
	p = read_string(s, p, &name);
	if (p)
		p = skip_space(s, p);
	if (!p)
		return NULL;
	if (*p != ':')
		return stop(s, p, "object property name separator ':' expected");
	/* An escape may be a NUL, which ends a name. */
	if (name.text != begin)
		name.len = strnlen(name.text, name.len);
	p = skip_space(s, p + 1);
	return p ? read_value(s, p, name) : NULL;
}

/* The values of an array or members of an object up to its end. */
static inline place read_inside(struct scan *s, const place begin, size_t at, unsigned char end)
{
	static const struct vpt_text none = {NULL, 0};
	const int is_object = end == '}';
	place p = skip_space(s, begin + 1);

	while (p && *p != end) {
		p = is_object ? read_member(s, p) : read_value(s, p, none);
		if (p)
			p = skip_space(s, p);
		if (!p || *p == end)
			break;
		if (*p != ',')
			return stop(s, p,
				is_object ? "object value separator ',' expected"
					  : "array value separator ',' expected");
		p = skip_space(s, p + 1);
	}
	if (!p)
		return NULL;
	return put(s, at, is_object ? VPT_KINETO_OBJECT : VPT_KINETO_ARRAY, begin,
		(size_t)(p + 1 - begin), p + 1);
}

static inline place read_kind(struct scan *s, place p, size_t at)
{
	struct vpt_text text;

	switch (*p) {
	case '"':
	case '\'':
		p = read_string(s, p, &text);
		return p ? put(s, at, VPT_KINETO_STRING, text.text, text.len, p) : NULL;
	case '0' ... '9':
	case '-':
		return read_number(s, p, at);
	case '{':
		return read_inside(s, p, at, '}');
	case '[':
		return read_inside(s, p, at, ']');
	default:
		return read_word(s, p, at, 0);
	}
}

static place read_value(struct scan *s, place p, struct vpt_text name)
{
	size_t at = s->out->count;
	int rc;

	if (s->depth == DEPTH_MAX)
		return stop(s, p, "nesting too deep");
	rc = add(s->out, name);
	if (rc)
		return fail(s, p, rc);
	s->depth++;
	p = read_kind(s, p, at);
	s->depth--;
	return p;
}

int vpt_kineto_parse(
	struct vpt_kineto_parser *parser, const unsigned char **at, const unsigned char *end)
{
	struct scan s = {.begin = *at, .end = end, .out = parser};
	place p;

	parser->count = 0;
	parser->unescaped_size = 0;
	p = skip_space(&s, *at);
	if (p)
		p = read_value(&s, p, (struct vpt_text){NULL, 0});
	if (p)
		p = skip_space(&s, p);
	*at = p ? p : s.stopped;
	return s.rc;
}

void vpt_kineto_parser_free(struct vpt_kineto_parser *parser)
{
	vpt_free(parser->values);
	vpt_free(parser->unescaped);
	*parser = (struct vpt_kineto_parser){0};
}
