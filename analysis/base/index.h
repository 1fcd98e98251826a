/* index.h - maps a pair of numbers to a row number, for the folds' tables that are keyed by more
 * than one name. */
#ifndef VPA_ANALYSIS_BASE_INDEX_H
#define VPA_ANALYSIS_BASE_INDEX_H

#include "formats/base/map.h"
#include "formats/base/memory.h"

#include <stddef.h>
#include <stdint.h>

struct vpa_index_entry {
	uint64_t a, b;
};

struct vpa_index {
	struct vpa_index_entry *entries; /* by row, in order of arrival */
	size_t count, cap;
	struct vpt_map map; /* rows by (a, b) */
	uint32_t recent
		[2]; /* rows put or found last: many pairs are those of the call before, or take turns */
};

/* Private: vpa_index_put() of a pair that is not among the recent ones. */
uint32_t vpa_index_put_other(struct vpa_index *x, uint64_t a, uint64_t b);

static inline int vpa_index_is_at(const struct vpa_index *x, uint32_t row, uint64_t a, uint64_t b)
{
	return x->entries[row].a == a && x->entries[row].b == b;
}

/* The row of (a, b), appended if it is new. UINT32_MAX: no memory. */
static inline uint32_t vpa_index_put(struct vpa_index *x, uint64_t a, uint64_t b)
{
	if (x->count && vpa_index_is_at(x, x->recent[0], a, b))
		return x->recent[0];
	if (x->count && vpa_index_is_at(x, x->recent[1], a, b))
		return x->recent[1];
	return vpa_index_put_other(x, a, b);
}

/* The same, and grows the caller's array of `size` bytes a row to hold it. `array` and `cap` are as
 * in vpt_grow_zeroed(). */
static inline uint32_t vpa_index_row(
	struct vpa_index *x, uint64_t a, uint64_t b, void *array, size_t *cap, size_t size)
{
	uint32_t row = vpa_index_put(x, a, b);

	return row != UINT32_MAX && vpt_grow_zeroed(array, cap, (size_t)row + 1, size) ? UINT32_MAX
										       : row;
}

/* The row of (a, b); UINT32_MAX: there is none. */
uint32_t vpa_index_find(const struct vpa_index *x, uint64_t a, uint64_t b);

/* Whether (a, b) has a row, or may get one: there are fewer than `most`. */
static inline int vpa_index_has_room(const struct vpa_index *x, size_t most, uint64_t a, uint64_t b)
{
	return x->count < most || vpa_index_find(x, a, b) != UINT32_MAX;
}

void vpa_index_free(struct vpa_index *x);

#endif
