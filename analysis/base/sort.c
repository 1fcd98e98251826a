/* sort.c - rows by their runs; numbers by their digits; the middle of numbers by parting. */
#include "analysis/base/sort.h"

#include "formats/base/run_sort.h"

#include <stdlib.h>
#include <string.h>

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

/* ---- by digits ---- */

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* How far a number is above the least one. */
static inline uint64_t above(const struct vpa_numbered *x, int64_t least)
{
	return (uint64_t)x->number - (uint64_t)least;
}

/* Puts the items in order of the digit from bit `shift` on. */
static void sort_by_digit(const struct vpa_numbered *from, size_t count, int64_t least,
	unsigned shift, struct vpa_numbered *to)
{
	size_t ends[DIGITS] = {0}, i, sum = 0;

	for (i = 0; i < count; i++)
		ends[above(&from[i], least) >> shift & (DIGITS - 1)]++;
	for (i = 0; i < DIGITS; i++) {
		size_t n = ends[i];

		ends[i] = sum;
		sum += n;
	}
	for (i = 0; i < count; i++)
		to[ends[above(&from[i], least) >> shift & (DIGITS - 1)]++] = from[i];
}

int vpa_sort_numbered(struct vpa_numbered *items, size_t count)
{
	struct vpa_numbered *room, *from = items, *to;
	int64_t least = count ? items[0].number : 0, most = least;
	int is_in_order = 1;
	unsigned shift;
	size_t i;

	for (i = 1; i < count; i++) {
		is_in_order &= items[i - 1].number <= items[i].number;
		least = items[i].number < least ? items[i].number : least;
		most = items[i].number > most ? items[i].number : most;
	}
	if (is_in_order)
		return VPT_OK;
	to = room = vpt_alloc(count, sizeof(*room));
	if (!room)
		return VPT_ENOMEM;
	for (shift = 0; shift < 64 && ((uint64_t)most - (uint64_t)least) >> shift;
		shift += DIGIT_BITS) {
		struct vpa_numbered *kept = from;

		sort_by_digit(from, count, least, shift, to);
		from = to;
		to = kept;
	}
	if (from != items)
		memcpy(items, from, count * sizeof(*items));
	vpt_free(room);
	return VPT_OK;
}

/* ---- numbers ---- */

int vpa_by_i64(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int vpa_by_u64(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int vpa_by_u32(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* ---- the middle ---- */

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
		qsort(numbers, count, sizeof(*numbers), vpa_by_i64);
	return numbers[index];
}
