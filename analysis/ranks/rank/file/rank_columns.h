/* rank_columns.h - many numbers of a rank as bytes, fast to read.
 *
 *	least     the least number; the others are how much more they are
 *	width     a byte: of how many bytes the largest one of these is, 1 to 8
 *	planes    the low bytes of all of them, then those above them, ...
 *
 * Low bytes of times are as good as random. Apart from the others they are not packed, and cost nothing to unpack. Before version 6
 * a column was
 *
 *	lengths   four bits each, the first one low: 0 to 8 bytes
 *	bytes     those of each number, the low one first; of those with a sign as put alone
 */
#ifndef VPA_ANALYSIS_RANKS_RANK_FILE_RANK_COLUMNS_H
#define VPA_ANALYSIS_RANKS_RANK_FILE_RANK_COLUMNS_H

#include "analysis/ranks/rank/file/rank_numbers.h"
#include "formats/base/memory.h"

#include <stddef.h>
#include <stdint.h>

/* ---- writing ---- */

enum vpa_sign { VPA_UNSIGNED, VPA_SIGNED };

/* Numbers that become columns, each with the number of its column; those with a sign are cast. All zeros is empty. */
struct vpa_numbers {
	struct vpa_columned {
		uint64_t number;
		uint32_t column;
	} * items;
	uint64_t *sorted;
	size_t *ends; /* by column */
	size_t count, cap, sorted_cap, end_cap;
	int failed; /* no memory */
};

/* Makes room for `more` numbers, which vpa_add_number() then takes; 0: no memory. */
static inline int vpa_room_for_numbers(struct vpa_numbers *n, size_t more)
{
	n->failed |= vpt_grow(&n->items, &n->cap, n->count + more, sizeof(*n->items)) != 0;
	return !n->failed;
}

static inline void vpa_add_number(struct vpa_numbers *n, uint64_t number, uint32_t column)
{
	n->items[n->count++] = (struct vpa_columned){number, column};
}

/* Writes the numbers, of which there are none afterwards: of `count` columns those that are not empty; without numbers the first one.
 * After what is written VPA_COLUMN_PADDING bytes can be read. */
void vpa_put_number_columns(
	struct vpa_number_writer *w, struct vpa_numbers *n, size_t count, enum vpa_sign sign);
void vpa_numbers_free(struct vpa_numbers *n);

/* ---- reading ---- */

enum {
	VPA_COLUMN_PADDING = 8,
	VPA_NUMBERS_AHEAD = 64 /* that are unpacked at a time */
};

struct vpa_number_column {
	uint64_t ahead[VPA_NUMBERS_AHEAD];
	size_t next, end;        /* of those ahead */
	size_t left;             /* numbers that are not ahead yet */
	const unsigned char *at; /* their bytes, of the first plane */
	size_t stride;           /* from plane to plane */
	uint64_t least;
	unsigned width;               /* 0: before version 6 */
	const unsigned char *lengths; /* then, as the sign */
	enum vpa_sign sign;
};

/* Begins a column of `count` numbers, and moves the reader to its end. Bytes are counted here: at most `count` numbers can then be
 * taken without a check, if VPA_COLUMN_PADDING bytes after the reader's end can be read, whatever they are. 0: the reader
 * failed. */
int vpa_begin_number_column(struct vpa_number_reader *r, size_t count, enum vpa_sign sign,
	struct vpa_number_column *out);

/* Unpacks the next numbers into `ahead`, from the first place on; those that are there must have been taken. Returns how many:
 * VPA_NUMBERS_AHEAD, or all that are left. */
size_t vpa_take_numbers(struct vpa_number_column *c);

static inline uint64_t vpa_next_number(struct vpa_number_column *c)
{
	if (c->next == c->end) {
		c->end = vpa_take_numbers(c);
		c->next = 0;
	}
	return c->ahead[c->next++];
}

#endif
