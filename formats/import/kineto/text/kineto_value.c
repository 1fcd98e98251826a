/* kineto_value.c - reads single JSON values as integers and text.
 *
 * The profiler writes microseconds with three decimals. As a double, 1365627862757.064 would lose
 * its nanoseconds, so numbers are read from their digits, which json-c keeps beside each double. */
#include "formats/import/kineto/text/kineto_value.h"

#include "formats/base/text.h"
#include "formats/base/utf8.h"

#include <math.h>
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

static enum vpt_kineto_number scaled_int(struct json_object *object, int scale, int64_t *value)
{
	int64_t v = json_object_get_int64(object);

	/* json-c returns the limits for values beyond them. */
	if (v == INT64_MAX || v == INT64_MIN)
		return VPT_KINETO_BAD;
	for (; scale > 0; scale--)
		if (__builtin_mul_overflow(v, 10, &v))
			return VPT_KINETO_BAD;
	*value = v;
	return VPT_KINETO_EXACT;
}

enum vpt_kineto_number vpt_kineto_number(struct json_object *object, int scale, int64_t *value)
{
	const char *digits;

	switch (json_object_get_type(object)) {
	case json_type_null:
		return VPT_KINETO_ABSENT;
	case json_type_int:
		return scaled_int(object, scale, value);
	case json_type_string:
		return vpt_kineto_decimal(json_object_get_string(object),
			(size_t)json_object_get_string_len(object), scale, value);
	case json_type_double:
		if (!isfinite(json_object_get_double(object)))
			return VPT_KINETO_BAD;
		digits = json_object_to_json_string(object);
		return digits ? vpt_kineto_decimal(digits, strlen(digits), scale, value)
			      : VPT_KINETO_BAD;
	default:
		return VPT_KINETO_BAD;
	}
}

struct json_object *vpt_kineto_member(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	if (json_object_is_type(object, json_type_object))
		json_object_object_get_ex(object, key, &value);
	return value;
}

struct vpt_text vpt_kineto_text(struct json_object *object)
{
	struct vpt_text text = {NULL, 0};

	if (json_object_is_type(object, json_type_string)) {
		text.text = json_object_get_string(object);
		text.len = (size_t)json_object_get_string_len(object);
	}
	return text;
}

int vpt_kineto_text_is_clean(struct vpt_text text)
{
	const unsigned char *p = (const unsigned char *)text.text;
	size_t i = 0, len;

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
