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

static inline __attribute__((always_inline)) void join_width(
	const unsigned char *planes, size_t count, unsigned width, uint64_t base, uint64_t *out)
{
	unsigned plane;
	size_t i;

	for (i = 0; i < count; i++) {
		uint64_t value = 0;

		for (plane = 0; plane < width; plane++)
			value |= (uint64_t)planes[plane * count + i] << (plane * 8);
		out[i] = value + base;
	}
}

VPT_VECTORISE
static void join_planes(const unsigned char *planes, size_t count, unsigned width, uint64_t base,
	uint64_t *restrict out)
{
	switch (width) {
	case 0:
		join_width(planes, count, 0, base, out);
		break;
	case 1:
		join_width(planes, count, 1, base, out);
		break;
	case 2:
		join_width(planes, count, 2, base, out);
		break;
	case 3:
		join_width(planes, count, 3, base, out);
		break;
	case 4:
		join_width(planes, count, 4, base, out);
		break;
	case 5:
		join_width(planes, count, 5, base, out);
		break;
	case 6:
		join_width(planes, count, 6, base, out);
		break;
	case 7:
		join_width(planes, count, 7, base, out);
		break;
	default:
		join_width(planes, count, 8, base, out);
		break;
	}
}

void vpt_column_join(const unsigned char *planes, size_t count, unsigned width, uint8_t enc,
	uint64_t base, uint64_t *out)
{
	uint64_t value = base;
	size_t i;

	if (enc == VPT_ENC_PLAIN) {
		join_planes(planes, count, width, base, out);
		return;
	}
	join_planes(planes, count, width, 0, out);
	for (i = 0; i < count; i++) {
		value += unzigzag(out[i]);
		out[i] = value;
	}
}

void vpt_column_join_gap(const unsigned char *planes, size_t count, unsigned width, uint64_t base,
	const uint64_t *durations, uint64_t *out)
{
	uint64_t previous_end = base;
	size_t i;

	join_planes(planes, count, width, 0, out);
	for (i = 0; i < count; i++) {
		uint64_t number = out[i], gap = (uint64_t)((int64_t)number >> 1);
		/* Even: the gap leads to the start. Odd: it leads to the end. */
		uint64_t start = previous_end + gap - (durations[i] & (0 - (number & 1)));

		out[i] = start;
		previous_end = start + durations[i];
	}
}
