/* sort.c - rows by their runs; the middle of numbers by parting. */
#include "analysis/base/sort.h"

#include "formats/base/run_sort.h"

#include <stdlib.h>

struct comparison {
	int (*compare)(const void *a, const void *b);
};

static inline int is_after(const void *a, const void *b, void *comparison)
{
	return ((const struct comparison *)comparison)->compare(a, b) > 0;
}

int vpa_sort(void *rows, size_t count, size_t size, int (*compare)(const void *a, const void *b))
{
	struct comparison comparison = {compare};

	return vpt_run_sort(rows, count, size, is_after, &comparison);
}

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int64_t middle_of_three(int64_t a, int64_t b, int64_t c)
{
	int64_t least = a < b ? a : b, most = a < b ? b : a;

	return c < least ? least : c > most ? most : c;
}

/* Parts that shrink too slowly, as made on purpose, are sorted. */
int64_t vpa_nth(int64_t *numbers, size_t count, size_t index)
{
	int rounds = 2 * 64;

	while (count > 1 && rounds--) {
		int64_t pivot = middle_of_three(numbers[0], numbers[count / 2], numbers[count - 1]);
		size_t low = 0, high = count - 1;
		int64_t kept;

		for (;; low++, high--) {
			while (numbers[low] < pivot)
				low++;
			while (numbers[high] > pivot)
				high--;
			if (low >= high)
				break;
			kept = numbers[low];
			numbers[low] = numbers[high];
			numbers[high] = kept;
		}
		/* Up to `high` they are at most the pivot, from high + 1 on at least. */
		if (index <= high) {
			if (high + 1 == count)
				break;
			count = high + 1;
		} else {
			numbers += high + 1;
			count -= high + 1;
			index -= high + 1;
		}
	}
	if (count > 1)
		qsort(numbers, count, sizeof(*numbers), by_number);
	return numbers[index];
}
