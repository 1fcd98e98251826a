/* sort.h - rows most of which are in order, and the middle of numbers in no order. */
#ifndef VPA_ANALYSIS_BASE_SORT_H
#define VPA_ANALYSIS_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* As qsort(), but rows that are equal keep their order, and rows that are in order already cost one comparison each:
 * stretches that are in order are merged. `count` may be 0. 0 or VPT_ENOMEM. */
int vpa_sort(void *rows, size_t count, size_t size, int (*compare)(const void *a, const void *b));

/* The number that would stand at `index` if all were in order; they are in another order afterwards. index < count. */
int64_t vpa_nth(int64_t *numbers, size_t count, size_t index);

#endif
