/* script_text.c - lines into words, words into numbers, strings and lanes. */
#include "formats/base/memory.h"
#include "tests/support/traces/script_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

__attribute__((format(printf, 2, 3))) int script_bad(struct script *s, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return vpt_fail(s->err, VPT_EINVAL, "script line %u: %s", s->line, text);
}

int script_no_memory(struct script *s)
{
	return vpt_fail(s->err, VPT_ENOMEM, "no memory for a script, line %u", s->line);
}

/* ---- tokens ---- */

int script_is(const struct token *t, const char *word)
{
	return !t->quoted && t->len == strlen(word) && !strncasecmp(t->text, word, t->len);
}

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 0x20) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Unescapes quoted text in place. `*p` stands behind the opening quote, then behind the closing one. */
static int take_quoted(struct script *s, char **p, struct token *t)
{
	char *in = *p, *out = *p;

	*t = (struct token){*p, 0, 1};
	for (; *in && *in != '"' && *in != '\n'; in++) {
		if (*in != '\\') {
			*out++ = *in;
			continue;
		}
		in++;
		if (*in == 'x' && hex_digit(in[1]) >= 0 && hex_digit(in[2]) >= 0) {
			*out++ = (char)(hex_digit(in[1]) * 16 + hex_digit(in[2]));
			in += 2;
		} else if (*in == 'n') {
			*out++ = '\n';
		} else if (*in == '"' || *in == '\\') {
			*out++ = *in;
		} else {
			return script_bad(s, "expected \\\" \\\\ \\n or \\xHH in quoted text");
		}
	}
	if (*in != '"')
		return script_bad(s, "expected a closing quote");
	t->len = (size_t)(out - t->text);
	*p = in + 1;
	return VPT_OK;
}

/* Splits one line into tokens and moves `*p` behind it. */
int script_line(struct script *s, char **p)
{
	s->token_count = s->at = 0;
	for (;;) {
		struct token *t = &s->tokens[s->token_count];
		int rc;

		*p += strspn(*p, " \t\r");
		if (**p == '#')
			*p += strcspn(*p, "\n");
		if (!**p)
			return VPT_OK;
		if (**p == '\n' || **p == ';') {
			++*p;
			return VPT_OK;
		}
		if (s->token_count == TOKENS_MAX)
			return script_bad(s, "more than %d words", TOKENS_MAX);
		if (**p == '"') {
			++*p;
			rc = take_quoted(s, p, t);
			if (rc)
				return rc;
		} else {
			*t = (struct token){*p, strcspn(*p, " \t\r\n;\"#"), 0};
			*p += t->len;
		}
		s->token_count++;
	}
}

int script_next(struct script *s, const char *what, struct token *t)
{
	*t = (struct token){"", 0, 0};
	if (s->at == s->token_count)
		return script_bad(s, "expected %s, found the end of the line", what);
	*t = s->tokens[s->at++];
	return VPT_OK;
}

/* ---- values ---- */

static const struct {
	const char *text;
	uint64_t factor;
} number_units[] = {{"", 1}, {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000},
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};

static int apply_unit(const char *text, size_t len, uint64_t whole, const char *fraction,
	size_t digits, uint64_t *out)
{
	uint64_t part = 0, scale = 1;
	size_t i;

	for (i = 0; i < digits && i < 9; i++, scale *= 10)
		part = part * 10 + (uint64_t)(fraction[i] - '0');
	for (i = 0; i < sizeof(number_units) / sizeof(number_units[0]); i++)
		if (strlen(number_units[i].text) == len &&
			!strncmp(number_units[i].text, text, len)) {
			*out = whole * number_units[i].factor +
			       part * number_units[i].factor / scale;
			return VPT_OK;
		}
	return VPT_EINVAL;
}

size_t script_count_digits(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && text[n] >= '0' && text[n] <= '9')
		n++;
	return n;
}

/* [-] digits [. digits] [unit], or [-] 0x digits. */
int script_parse_number(const char *text, size_t len, uint64_t *out)
{
	int negative = len && *text == '-';
	size_t n, digits = 0, i;
	uint64_t value = 0;

	text += negative;
	len -= (size_t)negative;
	if (len > 2 && text[0] == '0' && text[1] == 'x') {
		for (i = 2; i < len; i++) {
			if (hex_digit(text[i]) < 0)
				return VPT_EINVAL;
			value = value << 4 | (uint64_t)hex_digit(text[i]);
		}
	} else {
		n = script_count_digits(text, len);
		if (!n)
			return VPT_EINVAL;
		for (i = 0; i < n; i++)
			value = value * 10 + (uint64_t)(text[i] - '0');
		if (n < len && text[n] == '.')
			digits = script_count_digits(text + n + 1, len - n - 1);
		i = n + (digits ? digits + 1 : 0);
		if (apply_unit(text + i, len - i, value, text + n + 1, digits, &value))
			return VPT_EINVAL;
	}
	*out = negative ? 0 - value : value;
	return VPT_OK;
}

int script_number(struct script *s, const char *what, uint64_t *out)
{
	struct token t;
	int rc = script_next(s, what, &t);

	if (!rc && script_parse_number(t.text, t.len, out))
		rc = script_bad(s, "expected %s, found \"%.*s\"", what, (int)t.len, t.text);
	return rc;
}

/* START-END or START+DURATION. */
int script_span(struct script *s, uint64_t *start, uint64_t *duration)
{
	struct token t;
	size_t cut = 1;
	int rc = script_next(s, "a span", &t);

	if (rc)
		return rc;
	while (cut < t.len && t.text[cut] != '-' && t.text[cut] != '+')
		cut++;
	if (cut >= t.len || script_parse_number(t.text, cut, start) ||
		script_parse_number(t.text + cut + 1, t.len - cut - 1, duration))
		return script_bad(s, "expected START-END or START+DURATION, found \"%.*s\"",
			(int)t.len, t.text);
	if (t.text[cut] == '-')
		*duration -= *start;
	return VPT_OK;
}

int script_string(struct script *s, const struct token *t, uint64_t *id)
{
	*id = t->len ? vpt_strings_put(&s->strings, t->text, t->len) : 0;
	return *id == VPT_NO_ID ? script_no_memory(s) : VPT_OK;
}

int script_add_lane(
	struct script *s, const struct token *name, const struct vpt_lane *row, uint64_t *key)
{
	if (vpt_grow(&s->lanes, &s->lane_cap, s->lane_count + 1, sizeof(*s->lanes)))
		return script_no_memory(s);
	s->lanes[s->lane_count] = (struct lane){*name, *row};
	*key = s->lanes[s->lane_count].row.key = s->lane_count + 1;
	s->lane_count++;
	return VPT_OK;
}

/* s7, s2.7, t5: lanes that nobody declared. */
static int guess_lane(const struct token *t, struct vpt_lane *row)
{
	size_t n = t->len ? script_count_digits(t->text + 1, t->len - 1) : 0, m;
	uint64_t first = 0, second = 0;

	if (!n || script_parse_number(t->text + 1, n, &first))
		return VPT_EINVAL;
	*row = (struct vpt_lane){
		.pid = 1, .tid = (uint64_t)-1, .device = (uint64_t)-1, .stream = (uint64_t)-1};
	if (*t->text == 't' && n + 1 == t->len) {
		row->lane_type = VPT_LANETYPE_THREAD;
		row->tid = first;
		return VPT_OK;
	}
	if (*t->text != 's')
		return VPT_EINVAL;
	row->lane_type = VPT_LANETYPE_STREAM;
	row->stream = first;
	row->device = 0;
	if (n + 1 < t->len) {
		m = script_count_digits(t->text + n + 2, t->len - n - 2);
		if (t->text[n + 1] != '.' || !m || n + 2 + m != t->len ||
			script_parse_number(t->text + n + 2, m, &second))
			return VPT_EINVAL;
		row->device = first;
		row->stream = second;
	}
	row->context = row->device + 1;
	return VPT_OK;
}

static int find_lane(struct script *s, const struct token *t, uint64_t *key)
{
	struct vpt_lane row;
	size_t i;

	*key = 0;
	if (script_is(t, "all") || script_is(t, "-"))
		return VPT_OK;
	for (i = 0; i < s->lane_count; i++)
		if (s->lanes[i].name.len == t->len &&
			!memcmp(s->lanes[i].name.text, t->text, t->len)) {
			*key = i + 1;
			return VPT_OK;
		}
	if (guess_lane(t, &row))
		return script_bad(s, "expected a lane, found \"%.*s\"", (int)t->len, t->text);
	return script_add_lane(s, t, &row, key);
}

int script_lane(struct script *s, uint64_t *key)
{
	struct token t;
	int rc = script_next(s, "a lane", &t);

	return rc ? rc : find_lane(s, &t, key);
}

/* The number of a word of events.def, or a number itself. */
int script_word(const struct token *t, enum vpt_unit unit, uint64_t *out)
{
	uint64_t number;

	for (number = 0; number < 64; number++) {
		const char *word = vpt_word(unit, number);

		if (word && strlen(word) == t->len && !strncasecmp(word, t->text, t->len)) {
			*out = number;
			return VPT_OK;
		}
	}
	return script_parse_number(t->text, t->len, out);
}

int script_value(struct script *s, const struct vpt_column_desc *column, uint64_t *out)
{
	struct token t;
	char copy[64];
	double real;
	int rc = script_next(s, column->name, &t);

	if (rc)
		return rc;
	switch (column->unit) {
	case VPT_UNIT_STRING:
		return script_string(s, &t, out);
	case VPT_UNIT_LANE:
		return find_lane(s, &t, out);
	case VPT_UNIT_F64:
		if (t.len < sizeof(copy)) {
			memcpy(copy, t.text, t.len);
			copy[t.len] = '\0';
			real = strtod(copy, NULL);
			memcpy(out, &real, sizeof(real));
			return VPT_OK;
		}
		break;
	default:
		if (!script_word(&t, column->unit, out))
			return VPT_OK;
	}
	return script_bad(s, "%s cannot be \"%.*s\"", column->name, (int)t.len, t.text);
}
