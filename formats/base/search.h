/* search.h - finds the place of a value in a sorted list.
 *
 *	size_t low = 0, high = count;
 *
 *	VPT_SEARCH(low, high, middle, items[middle].start_ns <= t);
 *	low: the first item that starts after t; count, if there is none
 *
 * A macro, since each list compares items of its own, and some are searched for each op of a trace. */
#ifndef VPT_FORMATS_BASE_SEARCH_H
#define VPT_FORMATS_BASE_SEARCH_H

#include <stddef.h>

/* Sets `low` and `high` to the first index of [low, high) for which `is_before`, a condition that names the index `middle`,
 * does not hold; to `high`, if it holds for all. It holds for none after the first one for which it does not. */
#define VPT_SEARCH(low, high, middle, is_before)                                                   \
	do {                                                                                       \
		while ((low) < (high)) {                                                           \
			size_t middle = (low) + ((high) - (low)) / 2;                              \
                                                                                                   \
			if (is_before)                                                             \
				(low) = middle + 1;                                                \
			else                                                                       \
				(high) = middle;                                                   \
		}                                                                                  \
	} while (0)

#endif
