/* column.h - encodes one column of numbers as bytes.
 *
 * A column is transformed into small numbers, then split into byte planes: all low bytes, then all
 * second bytes, and so on, as many planes as the largest number needs. zstd compresses planes far
 * better than values, since noise stays in the low planes.
 *
 *	PLAIN  value - base, base the smallest value
 *	DELTA  zigzag(value - previous value), base the value before the first
 *	GAP    starts of spans in completion order, with pe the end of the row before (base for the first):
 *	         start >= pe ? (start - pe) << 1 : (end - pe) << 1 | 1
 *	       The first form is a serial kernel or the next call. The second is a parent that ends just
 *	       after its last child, or an op that overlaps the one before. Both stay small.
 *
 * All arithmetic is modulo 2^64, so decoding restores every input exactly. */
#ifndef VPT_FORMATS_CHUNK_COLUMN_H
#define VPT_FORMATS_CHUNK_COLUMN_H

#include <stddef.h>
#include <stdint.h>

struct vpt_column_code {
	/* may differ from the one requested: GAP falls back to DELTA where it cannot hold */
	uint8_t enc;
	uint8_t width; /* planes, 0..8 */
	uint64_t base;
};

/* Plans the encoding of `count` > 0 rows. Only GAP needs `durations`. */
struct vpt_column_code vpt_column_plan(
	uint8_t enc, const uint64_t *values, const uint64_t *durations, size_t count);

/* Writes `width` planes of `count` bytes, as planned for these same rows. */
void vpt_column_planes(const struct vpt_column_code *code, const uint64_t *values,
	const uint64_t *durations, size_t count, unsigned char *planes);

/* Decodes planes into `out`. `enc` is PLAIN or DELTA. */
void vpt_column_join(const unsigned char *planes, size_t count, unsigned width, uint8_t enc,
	uint64_t base, uint64_t *out);
/* The same for GAP, given the durations. */
void vpt_column_join_gap(const unsigned char *planes, size_t count, unsigned width, uint64_t base,
	const uint64_t *durations, uint64_t *out);

/* Decodes a column one stretch at a time. */
struct vpt_column_cursor {
	const unsigned char *planes; /* of the next row */
	size_t stride;               /* rows of the column */
	uint64_t value;              /* value of the row before, or the base */
	uint8_t enc, width;
};

/* Decodes the next `count` rows. GAP needs their durations, and in durations[-1] that of the row
 * before, 0 for the first row. */
void vpt_column_next(
	struct vpt_column_cursor *c, size_t count, const uint64_t *durations, uint64_t *out);

#endif
