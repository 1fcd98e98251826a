/* column.c - transforms and byte planes. The two loops over planes are where a capture's time goes, so
 * each width has its own copy with the width known to the compiler, which then vectorises it. */
#include "formats/column.h"

#include "formats/schema.h"
#include "formats/vectorise.h"

#include <string.h>

static unsigned width_of(uint64_t bits)
{
	return bits ? (unsigned)(71 - __builtin_clzll(bits)) / 8 : 0;
}

static uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static uint64_t unzigzag(uint64_t number)
{
	return number >> 1 ^ (0 - (number & 1));
}

VPT_VECTORISE
static uint64_t transform_plain(
	const uint64_t *restrict values, size_t count, uint64_t *restrict out, uint64_t *base)
{
	uint64_t least = values[0], bits = 0;
	size_t i;

	for (i = 1; i < count; i++)
		least = values[i] < least ? values[i] : least;
	for (i = 0; i < count; i++) {
		out[i] = values[i] - least;
		bits |= out[i];
	}
	*base = least;
	return bits;
}

VPT_VECTORISE
static uint64_t transform_delta(
	const uint64_t *restrict values, size_t count, uint64_t *restrict out, uint64_t *base)
{
	uint64_t bits = 0;
	size_t i;

	*base = values[0];
	out[0] = 0;
	for (i = 1; i < count; i++) {
		out[i] = zigzag(values[i] - values[i - 1]);
		bits |= out[i];
	}
	return bits;
}

/* Returns 0 when some distance does not fit in 62 bits and a sign. Nothing here depends on the row before
 * but its input, and nothing leaves the loop early, so that it can be vectorised. */
VPT_VECTORISE
static int transform_gap(const uint64_t *restrict starts, const uint64_t *restrict durations,
	size_t count, uint64_t *restrict out, uint64_t *bits)
{
	uint64_t seen = 0, bad = 0;
	size_t i;

	out[0] = 0; /* the base is the first start */
	for (i = 1; i < count; i++) {
		uint64_t previous_end = starts[i - 1] + durations[i - 1];
		uint64_t parent = starts[i] < previous_end;
		uint64_t distance = starts[i] - previous_end + (durations[i] & (0 - parent));

		/* A leaf's distance has its two top bits clear, a parent's has them equal to its sign. */
		bad |= parent ? distance ^ distance << 1 : distance | distance << 1;
		out[i] = distance << 1 | parent;
		seen |= out[i];
	}
	*bits = seen;
	return !(bad >> 63);
}

struct vpt_column_code vpt_column_transform(
	uint8_t enc, const uint64_t *values, const uint64_t *durations, size_t count, uint64_t *out)
{
	struct vpt_column_code code = {.enc = enc};
	uint64_t bits = 0;

	if (enc == VPT_ENC_GAP) {
		code.base = values[0];
		if (!transform_gap(values, durations, count, out, &bits))
			code.enc = VPT_ENC_DELTA;
	}
	if (code.enc == VPT_ENC_DELTA)
		bits = transform_delta(values, count, out, &code.base);
	if (code.enc == VPT_ENC_PLAIN)
		bits = transform_plain(values, count, out, &code.base);
	code.width = (uint8_t)width_of(bits);
	return code;
}

VPT_VECTORISE
void vpt_column_split(const uint64_t *numbers, size_t count, unsigned width, unsigned char *planes)
{
	unsigned plane;
	size_t i;

	for (plane = 0; plane < width; plane++) {
		unsigned char *out = planes + plane * count;
		unsigned shift = plane * 8;

		for (i = 0; i < count; i++)
			out[i] = (unsigned char)(numbers[i] >> shift);
	}
}

static inline __attribute__((always_inline)) void join_width(const unsigned char *planes,
	size_t stride, size_t count, unsigned width, uint64_t base, uint64_t *out)
{
	unsigned plane;
	size_t i;

	for (i = 0; i < count; i++) {
		uint64_t value = 0;

		for (plane = 0; plane < width; plane++)
			value |= (uint64_t)planes[plane * stride + i] << (plane * 8);
		out[i] = value + base;
	}
}

/* Joins `count` numbers of planes that stand `stride` bytes apart. */
VPT_VECTORISE
static void join_planes(const unsigned char *planes, size_t stride, size_t count, unsigned width,
	uint64_t base, uint64_t *restrict out)
{
	switch (width) {
	case 0:
		join_width(planes, stride, count, 0, base, out);
		break;
	case 1:
		join_width(planes, stride, count, 1, base, out);
		break;
	case 2:
		join_width(planes, stride, count, 2, base, out);
		break;
	case 3:
		join_width(planes, stride, count, 3, base, out);
		break;
	case 4:
		join_width(planes, stride, count, 4, base, out);
		break;
	case 5:
		join_width(planes, stride, count, 5, base, out);
		break;
	case 6:
		join_width(planes, stride, count, 6, base, out);
		break;
	case 7:
		join_width(planes, stride, count, 7, base, out);
		break;
	default:
		join_width(planes, stride, count, 8, base, out);
		break;
	}
}

/* Both other encodings become differences between neighbours, which are then added up: all but the adding is
 * vectorised, a stretch at a time that stays in the first-level cache. */
enum { STRETCH = 1024 };

VPT_VECTORISE
static void undo_zigzag(uint64_t *numbers, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		numbers[i] = unzigzag(numbers[i]);
}

/* Even: the gap leads from the end of the row before to the start. Odd: it leads to the end. `previous` are the rows
 * before. */
VPT_VECTORISE
static void undo_gap(uint64_t *restrict numbers, const uint64_t *durations,
	const uint64_t *previous, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		uint64_t gap = (uint64_t)((int64_t)numbers[i] >> 1);

		numbers[i] = gap - (durations[i] & (0 - (numbers[i] & 1))) + previous[i];
	}
}

/* Each becomes the sum of all up to it and `value`; returns the last. */
static uint64_t add_up(uint64_t *numbers, size_t count, uint64_t value)
{
	size_t i;

	for (i = 0; i + 4 <= count; i += 4) {
		numbers[i] = value += numbers[i];
		numbers[i + 1] = value += numbers[i + 1];
		numbers[i + 2] = value += numbers[i + 2];
		numbers[i + 3] = value += numbers[i + 3];
	}
	for (; i < count; i++)
		numbers[i] = value += numbers[i];
	return value;
}

void vpt_column_join(const unsigned char *planes, size_t count, unsigned width, uint8_t enc,
	uint64_t base, uint64_t *out)
{
	uint64_t value = base;
	size_t at, rows;

	if (enc == VPT_ENC_PLAIN) {
		join_planes(planes, count, count, width, base, out);
		return;
	}
	for (at = 0; at < count; at += rows) {
		rows = count - at < STRETCH ? count - at : STRETCH;
		join_planes(planes + at, count, rows, width, 0, out + at);
		undo_zigzag(out + at, rows);
		value = add_up(out + at, rows, value);
	}
}

void vpt_column_join_gap(const unsigned char *planes, size_t count, unsigned width, uint64_t base,
	const uint64_t *durations, uint64_t *out)
{
	static const uint64_t none[1];
	uint64_t value = base;
	size_t at, rows;

	for (at = 0; at < count; at += rows) {
		rows = at ? count - at : 1; /* the first has no row before it */
		rows = rows < STRETCH ? rows : STRETCH;
		join_planes(planes + at, count, rows, width, 0, out + at);
		undo_gap(out + at, durations + at, at ? durations + at - 1 : none, rows);
		value = add_up(out + at, rows, value);
	}
}
