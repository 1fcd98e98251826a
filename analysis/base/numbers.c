/* numbers.c - formats numbers and untrusted text for a terminal.
 *
 * printf(3) writes a locale's decimal point and separators, and a terminal obeys control sequences in a
 * name; this file prevents both. Numbers are rounded as integers and then spelled; text goes through
 * one decoder that gives each character's form and width.
 *
 * Left out: the exact width of combined characters. A mark that joins its neighbour counts one
 * column, so a line can come out narrower than allowed, never wider. */
#include "analysis/base/numbers.h"

#include "formats/base/count.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"
#include "formats/base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
enum { DECIMALS_MAX = sizeof(powers) / sizeof(powers[0]) - 1 };

static unsigned at_most(unsigned decimals)
{
	return decimals < DECIMALS_MAX ? decimals : DECIMALS_MAX;
}

struct vpa_num vpa_missing(void)
{
	return (struct vpa_num){"-"};
}

int vpa_is_missing(const struct vpa_num *n)
{
	return n->text[0] == '-' && !n->text[1];
}

/* `digits` is the number times 10^decimals. Written from its end: "-1,234.50 ms". */
static struct vpa_num spell(uint64_t digits, unsigned decimals, int negative, const char *unit)
{
	struct vpa_num out;
	char buf[sizeof(out.text)], *p = buf + sizeof(buf) - 1;
	size_t unit_len = strlen(unit);
	unsigned place = 0;

	*p = '\0';
	p -= unit_len;
	memcpy(p, unit, unit_len);
	for (; digits || place <= decimals; place++) {
		if (decimals && place == decimals)
			*--p = '.';
		if (place > decimals && (place - decimals) % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + digits % 10);
		digits /= 10;
	}
	if (negative)
		*--p = '-';
	memcpy(out.text, p, (size_t)(buf + sizeof(buf) - p));
	return out;
}

/* value * factor / divisor, rounded half up; UINT64_MAX where that does not fit. */
static uint64_t ratio(uint64_t value, uint64_t factor, uint64_t divisor)
{
	unsigned __int128 q = ((unsigned __int128)value * factor + divisor / 2) / divisor;

	return q > UINT64_MAX ? UINT64_MAX : (uint64_t)q;
}

struct vpa_num vpa_count(uint64_t n)
{
	return spell(n, 0, 0, "");
}

/* How many digits at `text` are a whole number to group, or the whole part of one; 0: none. */
static size_t digits_to_group(const char *text)
{
	size_t n = strspn(text, "0123456789"), end = n;

	if (n < 4 || *text == '0')
		return 0;
	if (text[end] == '.' && text[end + 1] >= '0' && text[end + 1] <= '9')
		end += 1 + strspn(text + end + 1, "0123456789");
	if (text[end])
		end += strspn(text + end, ",.;:)");
	return !text[end] || text[end] == ' ' ? n : 0;
}

struct vpa_sentence vpa_grouped(const char *text)
{
	struct vpa_sentence out;
	size_t used = 0, i = 0, left = 0;

	for (; text && text[i] && used + 2 < sizeof(out.text); i++) {
		if (!left && (!i || strchr(" (", text[i - 1])))
			left = digits_to_group(text + i);
		out.text[used++] = text[i];
		left -= left > 0;
		if (left && left % 3 == 0)
			out.text[used++] = ',';
	}
	out.text[used] = '\0';
	return out;
}

struct vpa_num vpa_ordinal(uint64_t n)
{
	static const char *const ends[] = {"th", "st", "nd", "rd"};
	struct vpa_num out;

	snprintf(out.text, sizeof(out.text), "%.34s%s", vpa_count(n).text,
		ends[n / 10 % 10 == 1 || n % 10 > 3 ? 0 : n % 10]);
	return out;
}

struct vpa_num vpa_scaled(uint64_t value, uint64_t unit, unsigned decimals)
{
	decimals = at_most(decimals);
	if (!unit)
		return vpa_missing();
	return spell(ratio(value, powers[decimals], unit), decimals, 0, "");
}

struct unit {
	uint64_t size;
	const char *name;
};

/* A value as it is written: digits, of which the last `decimals` are behind the point, and a unit. */
struct written {
	uint64_t digits;
	unsigned decimals;
	const struct unit *unit;
};

/* The first unit, and in it the most decimals, that leave three digits. */
static struct written written_of(uint64_t value, const struct unit *units, size_t count)
{
	size_t i;
	unsigned decimals;

	if (value < 1000)
		return (struct written){value, 0, &units[0]};
	for (i = 1; i < count; i++) {
		for (decimals = 3; decimals-- > 0;) {
			uint64_t digits = ratio(value, powers[decimals], units[i].size);

			if (digits < 1000)
				return (struct written){digits, decimals, &units[i]};
		}
	}
	return (struct written){ratio(value, 1, units[count - 1].size), 0, &units[count - 1]};
}

static struct vpa_num with_unit(uint64_t value, const struct unit *units, size_t count)
{
	struct written w = written_of(value, units, count);

	return spell(w.digits, w.decimals, 0, w.unit->name);
}

static const struct unit time_units[] = {
	{1, " ns"}, {1000, " us"}, {1000000, " ms"}, {1000000000, " s"}};

struct vpa_num vpa_duration(uint64_t ns)
{
	return with_unit(ns, time_units, sizeof(time_units) / sizeof(time_units[0]));
}

struct vpa_label vpa_duration_range(uint64_t from_ns, uint64_t to_ns)
{
	size_t units = sizeof(time_units) / sizeof(time_units[0]);
	struct written from = written_of(from_ns, time_units, units);
	struct written to = written_of(to_ns, time_units, units);
	struct vpa_label out;

	if (!from_ns || from_ns >= to_ns)
		snprintf(out.text, sizeof(out.text), "%s", vpa_duration(to_ns).text);
	else
		snprintf(out.text, sizeof(out.text), "%s-%s",
			spell(from.digits, from.decimals, 0,
				from.unit == to.unit ? "" : from.unit->name)
				.text,
			vpa_duration(to_ns).text);
	return out;
}

struct vpa_num vpa_bytes(uint64_t bytes)
{
	static const struct unit units[] = {{1, " B"}, {1000, " kB"}, {1000000, " MB"},
		{1000000000, " GB"}, {1000000000000, " TB"}};

	return with_unit(bytes, units, sizeof(units) / sizeof(units[0]));
}

static struct vpa_num tenths(uint64_t n, int something)
{
	return !n && something ? (struct vpa_num){"<0.1"} : spell(n, 1, 0, "");
}

struct vpa_num vpa_percent(uint64_t part, uint64_t whole)
{
	return whole ? tenths(ratio(part, 1000, whole), part > 0) : vpa_missing();
}

/* From which share on, in per cent. */
static const struct {
	double percent;
	const char *word;
} amounts[] = {
	[VPA_AMOUNT_ALL] = {99.95, "all"},
	[VPA_AMOUNT_NEARLY_ALL] = {95, "nearly all"},
	[VPA_AMOUNT_MOST] = {60, "most"},
	[VPA_AMOUNT_HALF] = {40, "about half"},
	[VPA_AMOUNT_THIRD] = {28, "about a third"},
	[VPA_AMOUNT_SOME] = {0, "some"},
};

enum vpa_amount vpa_amount_of(uint64_t part, uint64_t whole)
{
	unsigned i = 0;

	while (i < VPA_AMOUNT_SOME && 100 * (double)part < amounts[i].percent * (double)whole)
		i++;
	return (enum vpa_amount)i;
}

const char *vpa_part_word(uint64_t part, uint64_t whole)
{
	return amounts[vpa_amount_of(part, whole)].word;
}

struct vpa_num vpa_share(double share)
{
	if (!isfinite(share) || share < 0 || share >= 1e12)
		return vpa_missing();
	return tenths(vpt_sat_u64(share * 1000 + 0.5), share > 0);
}

struct vpa_num vpa_fixed(double value, unsigned decimals)
{
	uint64_t digits;

	decimals = at_most(decimals);
	if (!isfinite(value) || fabs(value) * (double)powers[decimals] >= 1e15)
		return vpa_missing();
	digits = vpt_sat_u64(fabs(value) * (double)powers[decimals] + 0.5);
	return spell(digits, decimals, value < 0 && digits, "");
}

const char *vpa_decimal_read(const char *p, double *value)
{
	enum { DIGITS_MAX = 15 };
	double place = 1;
	int digits = 0, has_point = 0;

	for (*value = 0; vpt_is_digit(*p) || (*p == '.' && !has_point); p++) {
		if (*p == '.') {
			has_point = 1;
			continue;
		}
		place /= has_point ? 10 : 1;
		*value = has_point ? *value + (*p - '0') * place : *value * 10 + (*p - '0');
		digits++;
	}
	return digits && digits <= DIGITS_MAX ? p : NULL;
}

/* ---- text ---- */

struct code_range {
	uint32_t first, last;
};

/* Characters that take two columns: East Asian wide and full-width ones, and pictures. */
static const struct code_range wide[] = {
	{0x1100, 0x115f},
	{0x231a, 0x231b},
	{0x2329, 0x232a},
	{0x23e9, 0x23f3},
	{0x25fd, 0x27bf},
	{0x2b1b, 0x2b55},
	{0x2e80, 0xa4cf},
	{0xa960, 0xa97c},
	{0xac00, 0xd7a3},
	{0xf900, 0xfaff},
	{0xfe10, 0xfe6f},
	{0xff00, 0xff60},
	{0xffe0, 0xffe6},
	{0x16fe0, 0x18fff},
	{0x1b000, 0x1b2ff},
	{0x1f000, 0x1faff},
	{0x20000, 0x3fffd},
};

static int is_in(uint32_t code, const struct code_range *ranges, size_t count)
{
	size_t i;

	for (i = 0; i < count && ranges[i].first <= code; i++)
		if (code <= ranges[i].last)
			return 1;
	return 0;
}

/* The glyph at the beginning of `left` bytes, at least 1, of which one may be 0. */
static size_t next_glyph(const char *text, size_t left, struct vpa_glyph *out)
{
	struct vpt_shown shown;
	size_t len;

	if (*text >= ' ' && *text <= '~') {
		*out = (struct vpa_glyph){{*text}, 1, 1};
		return 1;
	}
	len = vpt_utf8_show(text, left, &shown);
	*out = (struct vpa_glyph){{0}, 0, 0};
	memcpy(out->bytes, shown.bytes, sizeof(out->bytes));
	out->len = shown.len;
	if (shown.escaped)
		out->columns = shown.len;
	else
		out->columns = is_in(vpt_utf8_code(text, len), wide, sizeof(wide) / sizeof(wide[0]))
				       ? 2
				       : 1;
	return len;
}

size_t vpa_glyph_next(const char *text, struct vpa_glyph *out)
{
	if (!*text) {
		*out = (struct vpa_glyph){{0}, 0, 0};
		return 0;
	}
	return next_glyph(text, strnlen(text, 4), out);
}

static size_t columns_until(const char *text, const char *end)
{
	struct vpa_glyph g;
	size_t columns = 0;

	while (text < end) {
		text += next_glyph(text, (size_t)(end - text), &g);
		columns += g.columns;
	}
	return columns;
}

size_t vpa_columns(const char *text)
{
	return text ? columns_until(text, text + strlen(text)) : 0;
}

struct vpa_label vpa_fit(const char *text, size_t columns)
{
	return vpa_fit_part(text, text ? strlen(text) : 0, columns);
}

static void append(struct vpa_label *label, size_t *used, const char *bytes, size_t size)
{
	memcpy(label->text + *used, bytes, size);
	*used += size;
}

/* Names of kernels and ranges say most at their beginning, so it gets two thirds of the room. */
struct vpa_label vpa_fit_part(const char *text, size_t len, size_t columns)
{
	struct vpa_label out = {{0}};
	const char *end = len ? text + len : text;
	struct vpa_glyph g;
	size_t total = columns_until(text, end), at = 0, used = 0, dots, head, tail, step;

	if (columns > VPA_COLUMNS_MAX)
		columns = VPA_COLUMNS_MAX;
	dots = columns < 8 ? 0 : 3;
	head = total <= columns ? total : (columns - dots) * 2 / 3;
	tail = total <= columns ? 0 : columns - dots - head;

	for (; text < end; text += step, at += g.columns) {
		step = next_glyph(text, (size_t)(end - text), &g);
		if (at + g.columns > head)
			break;
		append(&out, &used, g.bytes, g.len);
	}
	if (total <= columns)
		return out;
	append(&out, &used, "...", dots);
	for (; text < end; text += step, at += g.columns) {
		step = next_glyph(text, (size_t)(end - text), &g);
		if (total - at <= tail)
			append(&out, &used, g.bytes, g.len);
	}
	return out;
}
