/* sort.c - merges stretches that are in order; finds the middle by parting. */
#include "analysis/base/sort.h"

#include "formats/base/error.h"
#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

struct sorting {
	size_t count, size;
	int (*compare)(const void *a, const void *b);
};

/* The end of the stretch that begins at `from` and is in order. */
static size_t stretch_end(const struct sorting *s, const char *rows, size_t from)
{
	size_t i = from + 1;

	while (i < s->count && s->compare(rows + (i - 1) * s->size, rows + i * s->size) <= 0)
		i++;
	return i < s->count ? i : s->count;
}

/* Two neighbours become one. */
static void merge(const struct sorting *s, const char *rows, size_t from, size_t middle, size_t end,
	char *out)
{
	const char *a = rows + from * s->size, *a_end = rows + middle * s->size, *b = a_end,
		   *b_end = rows + end * s->size;

	out += from * s->size;
	for (; a < a_end && b < b_end; out += s->size) {
		const char **least = s->compare(a, b) <= 0 ? &a : &b;

		memcpy(out, *least, s->size);
		*least += s->size;
	}
	memcpy(out, a, (size_t)(a_end - a));
	memcpy(out + (a_end - a), b, (size_t)(b_end - b));
}

/* Merges each two stretches. Returns how many are left. */
static size_t merge_all(const struct sorting *s, const char *rows, char *out)
{
	size_t from, middle, end, stretches = 0;

	for (from = 0; from < s->count; from = end) {
		middle = stretch_end(s, rows, from);
		end = middle < s->count ? stretch_end(s, rows, middle) : middle;
		merge(s, rows, from, middle, end, out);
		stretches++;
	}
	return stretches;
}

int vpa_sort(void *rows, size_t count, size_t size, int (*compare)(const void *a, const void *b))
{
	struct sorting s = {count, size, compare};
	char *other, *from = rows, *to;
	size_t stretches;

	if (!count || stretch_end(&s, rows, 0) == count)
		return VPT_OK;
	other = vpt_alloc(count, size);
	if (!other)
		return VPT_ENOMEM;
	to = other;
	do {
		char *next = from;

		stretches = merge_all(&s, from, to);
		from = to;
		to = next;
	} while (stretches > 1);
	if (from != rows)
		memcpy(rows, from, count * size);
	vpt_free(other);
	return VPT_OK;
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
