/* column.h - one column of numbers as bytes.
 *
 * A column is first transformed into small numbers, which are then split in byte planes: all low bytes,
 * then all second bytes, and so on, as many planes as the largest number needs. zstd compresses planes
 * far better than values, since noise stays in the low ones.
 *
 *	PLAIN  value - base, base the smallest value
 *	DELTA  zigzag(value - previous value), base what comes before the first
 *	GAP    starts of spans in completion order, with pe the end of the row before (base for the first):
 *	         start >= pe ? (start - pe) << 1 : (end - pe) << 1 | 1
 *	       The first form is a serial kernel or the next call; the second a parent that ends just after
 *	       its last child, or an op that overlaps the one before. Both stay small.
 *
 * All arithmetic is modulo 2^64, so every input comes back exactly. */
#ifndef VPT_FORMATS_COLUMN_H
#define VPT_FORMATS_COLUMN_H

#include <stddef.h>
#include <stdint.h>

struct vpt_column_code {
	uint8_t enc; /* may differ from the one asked for: GAP falls back to DELTA where it cannot hold */
	uint8_t width; /* planes, 0..8 */
	uint64_t base;
};

/* What becomes of `count` > 0 rows. `durations` is needed for GAP only. */
struct vpt_column_code vpt_column_plan(
	uint8_t enc, const uint64_t *values, const uint64_t *durations, size_t count);

/* Writes the `width` planes of `count` bytes that were planned for just these rows. */
void vpt_column_planes(const struct vpt_column_code *code, const uint64_t *values,
	const uint64_t *durations, size_t count, unsigned char *planes);

/* The reverse, in place in `out`. `enc` PLAIN or DELTA. */
void vpt_column_join(const unsigned char *planes, size_t count, unsigned width, uint8_t enc,
	uint64_t base, uint64_t *out);
/* The same for GAP, given the durations. */
void vpt_column_join_gap(const unsigned char *planes, size_t count, unsigned width, uint64_t base,
	const uint64_t *durations, uint64_t *out);

/* A column that is joined a stretch at a time. */
struct vpt_column_cursor {
	const unsigned char *planes; /* of the next row */
	size_t stride;               /* rows of the column */
	uint64_t value;              /* of the row before, or the base */
	uint8_t enc, width;
};

/* Joins the next `count` rows. For GAP `durations` are theirs, and durations[-1] that of the row before, 0 for the
 * first. */
void vpt_column_next(
	struct vpt_column_cursor *c, size_t count, const uint64_t *durations, uint64_t *out);

#endif
