/* json_text.c - a reader of JSON text. */
#include "analysis/compare/baseline.h"

#include "formats/base/saturate.h"
#include "formats/base/utf8.h"

#include <string.h>

static int fault(struct vpa_json_text *t, const char *what)
{
	if (!t->fault)
		t->fault = what;
	return 0;
}

static void skip_blanks(struct vpa_json_text *t)
{
	while (t->at < t->end && strchr(" \t\r\n", *t->at) && *t->at)
		t->at++;
}

char vpa_json_next(struct vpa_json_text *t)
{
	skip_blanks(t);
	if (t->fault || t->at == t->end)
		return 0;
	return *t->at;
}

static int take(struct vpa_json_text *t, char c)
{
	if (vpa_json_next(t) != c || !c)
		return 0;
	t->at++;
	return 1;
}

int vpa_json_enter(struct vpa_json_text *t, char bracket)
{
	if (!take(t, bracket))
		return fault(t, bracket == '{' ? "expected an object" : "expected an array");
	if (++t->depth > VPA_JSON_DEPTH_MAX)
		return fault(t, "nested too deep");
	return 1;
}

int vpa_json_member(struct vpa_json_text *t, char bracket, int *first)
{
	if (t->fault)
		return 0;
	if (take(t, bracket == '{' ? '}' : ']')) {
		t->depth--;
		return 0;
	}
	if (!*first && !take(t, ','))
		return fault(t, "expected a comma");
	*first = 0;
	return 1;
}

/* ---- texts ---- */

static int hex(const char *p, uint32_t *out)
{
	int i;

	for (*out = 0, i = 0; i < 4; i++) {
		const char *digits = "0123456789abcdef0123456789ABCDEF", *d = strchr(digits, p[i]);

		if (!d || !p[i])
			return 0;
		*out = *out * 16 + (uint32_t)((d - digits) % 16);
	}
	return 1;
}

/* A "\u" escape, and the second one of a pair, whose "u" is at `p`. Returns the bytes written; *read: those
 * read. 0: a fault. */
static size_t unicode(const char *p, const char *end, char *out, size_t *read)
{
	uint32_t code, low;

	if (end - p < 5 || !hex(p + 1, &code))
		return 0;
	*read = 5;
	if (code >= 0xd800 && code < 0xdc00 && end - p >= 11 && p[5] == '\\' && p[6] == 'u' &&
		hex(p + 7, &low) && low >= 0xdc00 && low < 0xe000) {
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
		*read = 11;
	}
	return vpt_utf8_put(out, code ? code : ' ');
}

/* The end of a text that begins at `p`, after its quote; NULL: it has none. */
static const char *closing_quote(const char *p, const char *end)
{
	for (; p < end && *p != '"'; p++)
		if (*p == '\\' && ++p == end)
			return NULL;
	return p < end ? p : NULL;
}

const char *vpa_json_string(struct vpa_json_text *t, struct vpa_arena *arena)
{
	static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *p, *end, *known;
	size_t used = 0, read;
	char *out;

	if (!take(t, '"')) {
		fault(t, "expected a text");
		return NULL;
	}
	p = t->at;
	end = closing_quote(p, t->end);
	out = end ? vpa_arena_alloc(arena, (size_t)(end - p) + 4, 1) : NULL;
	if (!out) {
		fault(t, end ? "no memory" : "a text has no end");
		return NULL;
	}
	while (p < end) {
		if (*p != '\\') {
			out[used++] = *p ? *p : ' ';
			p++;
			continue;
		}
		known = strchr(escapes, *++p);
		read = 1;
		if (*p == 'u')
			used += unicode(p, end, out + used, &read);
		else if (known && *p)
			out[used++] = meant[known - escapes];
		else
			fault(t, "an unknown escape");
		p += read;
	}
	t->at = end + 1;
	return t->fault ? NULL : out;
}

const char *vpa_json_key(struct vpa_json_text *t, struct vpa_arena *arena)
{
	const char *key = vpa_json_string(t, arena);

	if (key && !take(t, ':'))
		fault(t, "expected a colon");
	return t->fault ? NULL : key;
}

/* ---- numbers, words ---- */

static int is_digit(const struct vpa_json_text *t)
{
	return t->at < t->end && *t->at >= '0' && *t->at <= '9';
}

/* The exponent after "e", and the power of ten that it means. */
static double power_of(struct vpa_json_text *t)
{
	int minus = 0, exponent = 0;
	double power = 1;

	t->at++;
	if (t->at < t->end && (*t->at == '-' || *t->at == '+'))
		minus = *t->at++ == '-';
	if (!is_digit(t))
		fault(t, "expected an exponent");
	for (; is_digit(t); t->at++)
		exponent = exponent < 100 ? exponent * 10 + (*t->at - '0') : exponent;
	for (; exponent > 0; exponent--)
		power *= 10;
	return minus ? 1 / power : power;
}

int vpa_json_number(struct vpa_json_text *t, struct vpa_json_number *out)
{
	double real = 0, place = 1;
	uint64_t whole = 0;

	*out = (struct vpa_json_number){.minus = take(t, '-')};
	if (t->fault || !is_digit(t))
		return fault(t, "expected a number");
	for (; is_digit(t); t->at++) {
		real = real * 10 + (*t->at - '0');
		whole = vpt_sat_add(vpt_sat_mul(whole, 10), (uint64_t)(*t->at - '0'));
	}
	if (t->at < t->end && *t->at == '.')
		for (t->at++; is_digit(t); t->at++)
			real += (*t->at - '0') * (place /= 10);
	if (t->at < t->end && (*t->at == 'e' || *t->at == 'E')) {
		real *= power_of(t);
		whole = vpt_sat_u64(real);
	}
	if (!(real <= 0x1p64)) /* too large, or 0 times infinity */
		real = 0x1p64;
	out->real = out->minus ? -real : real;
	out->whole = whole;
	return !t->fault;
}

int vpa_json_word(struct vpa_json_text *t)
{
	static const struct {
		const char *word;
		int value;
	} words[] = {{"true", 1}, {"false", 0}, {"null", -1}};
	size_t i;

	skip_blanks(t);
	for (i = 0; i < 3 && !t->fault; i++) {
		size_t len = strlen(words[i].word);

		if ((size_t)(t->end - t->at) >= len && !memcmp(t->at, words[i].word, len)) {
			t->at += len;
			return words[i].value;
		}
	}
	fault(t, "expected true, false or null");
	return -2;
}

/* ---- skipping ---- */

static void skip_text(struct vpa_json_text *t)
{
	const char *end = closing_quote(t->at + 1, t->end);

	if (end)
		t->at = end + 1;
	else
		fault(t, "a text has no end");
}

/* Without recursion: what follows a value depends on the bracket around it only, which entering checks. */
void vpa_json_skip(struct vpa_json_text *t)
{
	unsigned depth = 0;
	struct vpa_json_number number;

	do {
		char c = vpa_json_next(t);

		if (c == '{' || c == '[') {
			depth++;
			t->at++;
		} else if (depth && (c == '}' || c == ']')) {
			depth--;
			t->at++;
		} else if (depth && (c == ',' || c == ':'))
			t->at++;
		else if (c == '"')
			skip_text(t);
		else if (c == '-' || (c >= '0' && c <= '9'))
			vpa_json_number(t, &number);
		else
			vpa_json_word(t);
	} while (depth && !t->fault);
}
