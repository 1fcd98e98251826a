/* kineto_value.c - reads single JSON values as integers and text.
 *
 * The profiler writes microseconds with three decimals. As a double, 1365627862757.064 would lose
 * its nanoseconds, so numbers are read from their digits. */
#include "formats/import/kineto/text/kineto_value.h"

#include "formats/base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* The parts of a decimal: digits with an optional point, and a power of ten. */
struct decimal {
	const char *digits, *end; /* mantissa, may hold one '.' */
	int64_t whole_digits;     /* mantissa digits before the point */
	int64_t exponent;
	int negative;
};

/* Far out of range: no text is long enough to bring such a number back into range. */
enum { EXPONENT_MAX = 1000000000 };

static const char *skip_sign(const char *p, const char *end, int *negative)
{
	*negative = 0;
	if (p < end && (*p == '-' || *p == '+'))
		*negative = *p++ == '-';
	return p;
}

static int parse_exponent(const char *p, const char *end, int64_t *exponent)
{
	int negative;

	p = skip_sign(p, end, &negative);
	if (p == end)
		return 0;
	for (*exponent = 0; p < end; p++) {
		if (!vpt_is_digit(*p))
			return 0;
		if (*exponent < EXPONENT_MAX)
			*exponent = *exponent * 10 + (*p - '0');
	}
	if (negative)
		*exponent = -*exponent;
	return 1;
}

static int parse_decimal(const char *p, const char *end, struct decimal *d)
{
	int64_t digits = 0;
	int point = 0;

	memset(d, 0, sizeof(*d));
	p = skip_sign(p, end, &d->negative);
	d->digits = p;
	for (; p < end && (vpt_is_digit(*p) || (*p == '.' && !point)); p++) {
		if (*p == '.') {
			point = 1;
			d->whole_digits = digits;
		} else {
			digits++;
		}
	}
	d->end = p;
	if (!point)
		d->whole_digits = digits;
	if (!digits)
		return 0;
	if (p == end)
		return 1;
	return (*p == 'e' || *p == 'E') && parse_exponent(p + 1, end, &d->exponent);
}

static int next_digit(struct decimal *d)
{
	while (d->digits < d->end && *d->digits == '.')
		d->digits++;
	return d->digits < d->end ? *d->digits++ - '0' : -1;
}

/* Compares the rest after the last digit kept with one half: -1 less, 0 equal, 1 more. *nothing:
 * whether the rest is zero. */
static int compare_rest_to_half(struct decimal *d, int64_t places, int *nothing)
{
	int first = places < 0 ? 0 : next_digit(d), digit, tail = 0;

	while ((digit = next_digit(d)) >= 0)
		tail |= digit;
	*nothing = first <= 0 && !tail;
	if (first != 5)
		return first > 5 ? 1 : -1;
	return tail ? 1 : 0;
}

enum vpt_kineto_number vpt_kineto_decimal(const char *text, size_t len, int scale, int64_t *value)
{
	struct decimal d;
	int64_t places, i;
	uint64_t v = 0;
	int digit, nothing, half;

	if (!parse_decimal(text, text + len, &d))
		return VPT_KINETO_BAD;
	places = d.whole_digits + d.exponent + scale;
	for (i = 0; i < places; i++) {
		digit = next_digit(&d);
		if (digit < 0 && !v)
			break;
		if (v > (INT64_MAX - 9) / 10)
			return VPT_KINETO_BAD;
		v = v * 10 + (uint64_t)(digit < 0 ? 0 : digit);
	}
	half = compare_rest_to_half(&d, places, &nothing);
	if (half > 0 || (half == 0 && (v & 1)))
		v++;
	*value = d.negative ? -(int64_t)v : (int64_t)v;
	return nothing ? VPT_KINETO_EXACT : VPT_KINETO_ROUNDED;
}

int vpt_kineto_is_decimal(const char *text, size_t len)
{
	struct decimal d;

	return parse_decimal(text, text + len, &d);
}

/* An integer in JSON. Its limits are no values: other readers give them for what is beyond. */
static enum vpt_kineto_number scaled_int(struct vpt_text text, int scale, int64_t *value)
{
	int negative, i;
	const char *end = text.text + text.len, *p = skip_sign(text.text, end, &negative);
	int64_t v = 0;

	for (; p < end; p++)
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p - '0', &v))
			return VPT_KINETO_BAD;
	if (v == INT64_MAX && !negative)
		return VPT_KINETO_BAD;
	for (i = 0; i < scale; i++)
		if (__builtin_mul_overflow(v, 10, &v))
			return VPT_KINETO_BAD;
	*value = negative ? -v : v;
	return VPT_KINETO_EXACT;
}

/* Digits, and a point among them, that are whole at this scale and in range. Returns 0 for others. */
static int exact_decimal(struct vpt_text text, int scale, int64_t *value)
{
	enum { DIGITS = 19 }; /* of any 64 bits */
	const char *p = text.text, *end = p + text.len;
	uint64_t v = 0;
	int places = 0;

	for (; p < end && vpt_is_digit(*p); p++)
		v = v * 10 + (uint64_t)(*p - '0');
	if (p < end && *p == '.')
		for (p++; p < end && vpt_is_digit(*p); p++, places++)
			v = v * 10 + (uint64_t)(*p - '0');
	if (p < end || places > scale || text.len - 1 + (size_t)(scale - places) > DIGITS)
		return 0;
	for (; places < scale; places++)
		v *= 10;
	*value = (int64_t)v;
	return v <= INT64_MAX - 9;
}

enum vpt_kineto_number vpt_kineto_number(
	const struct vpt_kineto_value *value, int scale, int64_t *out)
{
	struct vpt_text text;

	if (!value)
		return VPT_KINETO_ABSENT;
	text = (struct vpt_text){value->text, value->len};
	switch (value->type) {
	case VPT_KINETO_NULL:
		return VPT_KINETO_ABSENT;
	case VPT_KINETO_INTEGER:
		return scaled_int(text, scale, out);
	case VPT_KINETO_DECIMAL:
		if (exact_decimal(text, scale, out))
			return VPT_KINETO_EXACT;
		return vpt_kineto_decimal(text.text, text.len, scale, out);
	case VPT_KINETO_STRING:
		return vpt_kineto_decimal(text.text, text.len, scale, out);
	default:
		return VPT_KINETO_BAD;
	}
}

double vpt_kineto_double(const struct vpt_kineto_value *value)
{
	double number;
	char *end;

	if (value->type == VPT_KINETO_BOOLEAN)
		return *value->text == 't';
	if (value->type == VPT_KINETO_NULL || value->type > VPT_KINETO_STRING)
		return 0;
	number = strtod(value->text, &end);
	return value->type == VPT_KINETO_STRING && end != value->text + value->len ? 0 : number;
}

const struct vpt_kineto_value *vpt_kineto_element(
	const struct vpt_kineto_value *array, size_t index)
{
	const struct vpt_kineto_value *v = NULL;

	if (array && array->type == VPT_KINETO_ARRAY)
		v = vpt_kineto_first(array);
	while (v && index--)
		v = vpt_kineto_next(array, v);
	return v;
}

struct vpt_text vpt_kineto_text(const struct vpt_kineto_value *value)
{
	struct vpt_text text = {NULL, 0};

	if (value && value->type == VPT_KINETO_STRING)
		text = (struct vpt_text){value->text, value->len};
	return text;
}

/* How many of the first characters are printable ASCII, eight at a time. */
static size_t skip_printable(struct vpt_text text)
{
	const uint64_t each = 0x0101010101010101u;
	uint64_t word;
	size_t i;

	for (i = 0; i + sizeof(word) <= text.len; i += sizeof(word)) {
		memcpy(&word, text.text + i, sizeof(word));
		if ((word | (word - each * 0x20) | (word + each)) & each * 0x80)
			break;
	}
	return i;
}

int vpt_kineto_text_is_clean(struct vpt_text text)
{
	const unsigned char *p = (const unsigned char *)text.text;
	size_t i = skip_printable(text), len;

	while (i < text.len) {
		if (p[i] >= 0x20 && p[i] < 0x7f) {
			i++;
			continue;
		}
		if (p[i] < 0x80)
			return 0;
		len = vpt_utf8_length(text.text + i, text.len - i, NULL);
		if (!len)
			return 0;
		i += len;
	}
	return 1;
}
