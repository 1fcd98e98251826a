/* sort.h - rows most of which are in order, and the middle of numbers in no order. */
#ifndef VPA_ANALYSIS_BASE_SORT_H
#define VPA_ANALYSIS_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* As qsort(), but rows that are equal keep their order, and rows that are in order already cost one comparison each:
 * stretches that are in order are merged. `count` may be 0. 0 or VPT_ENOMEM. */
int vpa_sort(void *rows, size_t count, size_t size, int (*compare)(const void *a, const void *b));

/* For qsort(): numbers that rise. */
int vpa_by_i64(const void *a, const void *b);
int vpa_by_u64(const void *a, const void *b);
int vpa_by_u32(const void *a, const void *b);

struct vpa_numbered {
	int64_t number;
	uint32_t of; /* whatever the caller likes */
};

/* Sorts by number; equal ones keep their order. Faster than vpa_sort(), except that it needs memory for as many again, unless they
 * are in order already. 0 or VPT_ENOMEM. */
int vpa_sort_numbered(struct vpa_numbered *items, size_t count);

/* The number that would stand at `index` if all were in order; they are in another order afterwards. index < count. */
int64_t vpa_nth(int64_t *numbers, size_t count, size_t index);

#endif
