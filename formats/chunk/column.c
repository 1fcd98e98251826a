/* column.c - transforms and byte planes. A capture spends most of its time in these loops, so a
 * column is read only twice, to find its width and to split it, without a temporary copy of it. The
 * decoder has one copy of its loop per width: with the width a constant, the compiler vectorises
 * it. */
#include "formats/chunk/column.h"

#include "formats/base/vectorise.h"
#include "formats/event_schema.h"

static unsigned width_of(uint64_t bits)
{
	return bits ? (unsigned)(71 - __builtin_clzll(bits)) / 8 : 0;
}

static uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

/* ---- the width of a column: loops without writes or early exits ---- */

/* The width of all numbers ORed together is that of the largest. */
VPT_VECTORISE
static uint64_t plan_plain(const uint64_t *values, size_t count, uint64_t *base)
{
	uint64_t least = values[0], largest = values[0];
	size_t i;

	for (i = 1; i < count; i++) {
		least = values[i] < least ? values[i] : least;
		largest = values[i] > largest ? values[i] : largest;
	}
	*base = least;
	return largest - least;
}

VPT_VECTORISE
static uint64_t plan_delta(const uint64_t *values, size_t count)
{
	uint64_t bits = 0;
	size_t i;

	for (i = 1; i < count; i++)
		bits |= zigzag(values[i] - values[i - 1]);
	return bits;
}

/* The number of a row, computed from its values and those of the row before. */
static inline __attribute__((always_inline)) uint64_t gap_number(
	uint64_t start, uint64_t duration, uint64_t previous_end, uint64_t *bad)
{
	uint64_t parent = start < previous_end;
	uint64_t distance = start - previous_end + (duration & (0 - parent));

	/* To fit, a leaf's distance has its two top bits clear, and a parent's has them equal. */
	*bad |= parent ? distance ^ distance << 1 : distance | distance << 1;
	return distance << 1 | parent;
}

/* Returns 0 if a distance does not fit in 62 bits and a sign. */
VPT_VECTORISE
static int plan_gap(const uint64_t *starts, const uint64_t *durations, size_t count, uint64_t *bits)
{
	uint64_t seen = 0, bad = 0;
	size_t i;

	for (i = 1; i < count; i++)
		seen |= gap_number(starts[i], durations[i], starts[i - 1] + durations[i - 1], &bad);
	*bits = seen;
	return !(bad >> 63);
}

struct vpt_column_code vpt_column_plan(
	uint8_t enc, const uint64_t *values, const uint64_t *durations, size_t count)
{
	struct vpt_column_code code = {.enc = enc, .base = values[0]};
	uint64_t bits = 0;

	if (enc == VPT_ENC_GAP && !plan_gap(values, durations, count, &bits))
		code.enc = VPT_ENC_DELTA;
	if (code.enc == VPT_ENC_DELTA)
		bits = plan_delta(values, count);
	if (code.enc == VPT_ENC_PLAIN)
		bits = plan_plain(values, count, &code.base);
	code.width = (uint8_t)width_of(bits);
	return code;
}

/* ---- planes, one stretch at a time, which stays in the first-level cache ---- */

enum { SPLIT_STRETCH = 512 };

/* Computes the numbers of rows [from, from + count); `from` > 0 unless PLAIN. In 32 bits if they
 * fit: half the work. */
#define MAKE_NUMBERS(type, name)                                                                   \
	static inline __attribute__((always_inline)) void name(const struct vpt_column_code *code, \
		const uint64_t *values, const uint64_t *durations, size_t from, size_t count,      \
		type *restrict out)                                                                \
	{                                                                                          \
		const uint64_t *v = values + from, *d = durations + from;                          \
		uint64_t base = code->base, bad = 0;                                               \
		size_t i;                                                                          \
                                                                                                   \
		if (code->enc == VPT_ENC_PLAIN)                                                    \
			for (i = 0; i < count; i++)                                                \
				out[i] = (type)(v[i] - base);                                      \
		else if (code->enc == VPT_ENC_DELTA)                                               \
			for (i = 0; i < count; i++)                                                \
				out[i] = (type)zigzag(v[i] - (v - 1)[i]);                          \
		else                                                                               \
			for (i = 0; i < count; i++)                                                \
				out[i] = (type)gap_number(                                         \
					v[i], d[i], (v - 1)[i] + (d - 1)[i], &bad);                \
	}                                                                                          \
	VPT_VECTORISE                                                                              \
	static void split_##name(const struct vpt_column_code *code, const uint64_t *values,       \
		const uint64_t *durations, size_t from, size_t count, size_t stride,               \
		unsigned char *restrict planes)                                                    \
	{                                                                                          \
		type numbers[SPLIT_STRETCH];                                                       \
		unsigned plane;                                                                    \
		size_t i;                                                                          \
                                                                                                   \
		name(code, values, durations, from, count, numbers);                               \
		for (plane = 0; plane < code->width; plane++) {                                    \
			unsigned char *out = planes + plane * stride + from;                       \
                                                                                                   \
			for (i = 0; i < count; i++)                                                \
				out[i] = (unsigned char)(numbers[i] >> plane * 8);                 \
		}                                                                                  \
	}

MAKE_NUMBERS(uint32_t, narrow_numbers)
MAKE_NUMBERS(uint64_t, wide_numbers)

void vpt_column_planes(const struct vpt_column_code *code, const uint64_t *values,
	const uint64_t *durations, size_t count, unsigned char *planes)
{
	size_t from = 0, rows;
	unsigned plane;

	if (!durations)
		durations = values; /* never read, but must be a valid pointer */
	/* If numbers depend on the row before, the first is 0. */
	if (code->enc != VPT_ENC_PLAIN)
		for (from = 1, plane = 0; plane < code->width; plane++)
			planes[plane * count] = 0;
	for (; code->width && from < count; from += rows) {
		rows = count - from < SPLIT_STRETCH ? count - from : SPLIT_STRETCH;
		(code->width <= 4 ? split_narrow_numbers : split_wide_numbers)(
			code, values, durations, from, rows, count, planes);
	}
}

/* ---- and back ---- */

/* In 32 bits if they fit: half the work. `signs`: the numbers are zigzag differences; if 0, offsets
 * from `base`. */
#define MAKE_JOIN(type, difference, name)                                                          \
	static inline __attribute__((always_inline)) void name(const unsigned char *planes,        \
		size_t stride, size_t count, unsigned width, int signs, uint64_t base,             \
		uint64_t *restrict out)                                                            \
	{                                                                                          \
		unsigned plane;                                                                    \
		size_t i;                                                                          \
                                                                                                   \
		for (i = 0; i < count; i++) {                                                      \
			type value = 0;                                                            \
                                                                                                   \
			for (plane = 0; plane < width; plane++)                                    \
				value |= (type)planes[plane * stride + i] << (plane * 8);          \
			if (signs)                                                                 \
				out[i] = (uint64_t)(difference)(value >> 1 ^ (0 - (value & 1)));   \
			else                                                                       \
				out[i] = value + base;                                             \
		}                                                                                  \
	}

MAKE_JOIN(uint32_t, int32_t, join_narrow)
MAKE_JOIN(uint64_t, int64_t, join_wide)

#define MAKE_JOIN_PLANES(name, signs)                                                              \
	VPT_VECTORISE                                                                              \
	static void name(const unsigned char *planes, size_t stride, size_t count, unsigned width, \
		uint64_t base, uint64_t *restrict out)                                             \
	{                                                                                          \
		switch (width) {                                                                   \
		case 0:                                                                            \
			join_narrow(planes, stride, count, 0, signs, base, out);                   \
			break;                                                                     \
		case 1:                                                                            \
			join_narrow(planes, stride, count, 1, signs, base, out);                   \
			break;                                                                     \
		case 2:                                                                            \
			join_narrow(planes, stride, count, 2, signs, base, out);                   \
			break;                                                                     \
		case 3:                                                                            \
			join_narrow(planes, stride, count, 3, signs, base, out);                   \
			break;                                                                     \
		case 4:                                                                            \
			join_narrow(planes, stride, count, 4, signs, base, out);                   \
			break;                                                                     \
		case 5:                                                                            \
			join_wide(planes, stride, count, 5, signs, base, out);                     \
			break;                                                                     \
		case 6:                                                                            \
			join_wide(planes, stride, count, 6, signs, base, out);                     \
			break;                                                                     \
		case 7:                                                                            \
			join_wide(planes, stride, count, 7, signs, base, out);                     \
			break;                                                                     \
		default:                                                                           \
			join_wide(planes, stride, count, 8, signs, base, out);                     \
			break;                                                                     \
		}                                                                                  \
	}

/* Joins `count` numbers from planes that are `stride` bytes apart. */
MAKE_JOIN_PLANES(join_planes, 0)
/* The same for differences. */
MAKE_JOIN_PLANES(join_differences, 1)

/* DELTA and GAP are decoded to differences between neighbours, which are then summed. All but the
 * sum is vectorised, one stretch at a time, which stays in the first-level cache. */
enum { STRETCH = 1024 };

/* An even number is the gap from the end of the row before to the start, an odd one the gap to the
 * end. `previous` are the durations of the rows before. */
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

/* Replaces each number by `value` plus the sum up to and including it; returns the last. */
static uint64_t add_up(uint64_t *numbers, size_t count, uint64_t value)
{
	size_t i;

	/* The loop costs as much as its body. */
#pragma GCC unroll 8
	for (i = 0; i < count; i++)
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
		join_differences(planes + at, count, rows, width, 0, out + at);
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

void vpt_column_next(
	struct vpt_column_cursor *c, size_t count, const uint64_t *durations, uint64_t *out)
{
	int plain = c->enc == VPT_ENC_PLAIN;

	if (c->enc == VPT_ENC_DELTA)
		join_differences(c->planes, c->stride, count, c->width, 0, out);
	else
		join_planes(c->planes, c->stride, count, c->width, plain ? c->value : 0, out);
	c->planes += count;
	if (plain)
		return;
	if (c->enc == VPT_ENC_GAP)
		undo_gap(out, durations, durations - 1, count);
	c->value = add_up(out, count, c->value);
}
