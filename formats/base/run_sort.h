/* run_sort.h - sorts an array that comes nearly in order, or as a few parts in order one after the other.
 *
 * What is in order already is a run; short ones are extended by insertion. Then neighbouring runs are
 * merged in pairs until one is left. An array in order costs a comparison for each item and no memory.
 *
 *	1 4 6 | 2 3 | 5
 *	1 2 3 4 6 | 5
 *	1 2 3 4 5 6
 *
 * Equal items keep their order. The functions are inline, so that `size` and `is_after` are constants
 * in their loops. */
#ifndef VPT_FORMATS_BASE_RUN_SORT_H
#define VPT_FORMATS_BASE_RUN_SORT_H

#include "formats/base/error.h"
#include "formats/base/memory.h"

#include <string.h>

#define VPT_RUNS_INLINE static inline __attribute__((always_inline))

/* Whether item a belongs after item b. */
typedef int vpt_run_order(const void *a, const void *b, void *ctx);

enum {
	VPT_RUN_SHORT = 12,   /* shorter runs are extended */
	VPT_RUN_ITEM_MAX = 96 /* if their items are at most this large */
};

/* Extends the run [begin, end) to at least `least` items, by insertion. */
VPT_RUNS_INLINE void vpt_run_extend(char *items, size_t begin, size_t end, size_t least,
	size_t size, vpt_run_order *is_after, void *ctx)
{
	char moved[VPT_RUN_ITEM_MAX];
	size_t at;

	for (; end < least; end++) {
		for (at = end;
			at > begin && is_after(items + (at - 1) * size, items + end * size, ctx);
			at--)
			;
		memcpy(moved, items + end * size, size);
		memmove(items + (at + 1) * size, items + at * size, (end - at) * size);
		memcpy(items + at * size, moved, size);
	}
}

/* The end of the run that begins at `begin`. */
VPT_RUNS_INLINE size_t vpt_run_end(
	char *items, size_t begin, size_t count, size_t size, vpt_run_order *is_after, void *ctx)
{
	size_t end = begin + 1,
	       least = count - begin < VPT_RUN_SHORT ? count : begin + VPT_RUN_SHORT;

	while (end < count && !is_after(items + (end - 1) * size, items + end * size, ctx))
		end++;
	if (end >= least || size > VPT_RUN_ITEM_MAX)
		return end;
	vpt_run_extend(items, begin, end, least, size, is_after, ctx);
	return least;
}

/* Merges two neighbouring runs, [a, b) and [b, end), into the same places of `to`. */
VPT_RUNS_INLINE void vpt_runs_merge(char *to, const char *from, const size_t bounds[3], size_t size,
	vpt_run_order *is_after, void *ctx)
{
	const char *i = from + bounds[0] * size, *b = from + bounds[1] * size, *k = b,
		   *end = from + bounds[2] * size;

	to += bounds[0] * size;
	for (; i < b && k < end; to += size) {
		if (is_after(i, k, ctx)) {
			memcpy(to, k, size);
			k += size;
		} else {
			memcpy(to, i, size);
			i += size;
		}
	}
	memcpy(to, i, (size_t)(b - i));
	memcpy(to + (b - i), k, (size_t)(end - k));
}

/* Merges the runs [0, begins[0]), [begins[0], begins[1]) ... of `count` items; `spare` has room for as
 * many. The result is in `items`. */
VPT_RUNS_INLINE void vpt_runs_merge_all(char *items, char *spare, size_t count, size_t *ends,
	size_t run_count, size_t size, vpt_run_order *is_after, void *ctx)
{
	char *from = items, *to = spare, *swap;
	size_t i, kept, begin;

	for (; run_count > 1; run_count = kept) {
		for (i = kept = begin = 0; i < run_count; i += 2) {
			size_t middle = ends[i], end = i + 1 < run_count ? ends[i + 1] : middle;

			vpt_runs_merge(
				to, from, (size_t[]){begin, middle, end}, size, is_after, ctx);
			ends[kept++] = begin = end;
		}
		swap = from;
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, count * size);
}

/* Sorts `count` items. 0, or VPT_ENOMEM: they are in some order. */
VPT_RUNS_INLINE int vpt_run_sort(
	void *items, size_t count, size_t size, vpt_run_order *is_after, void *ctx)
{
	size_t *ends = NULL, run_count = 0, cap = 0, end;
	char *spare = NULL;
	int rc = VPT_OK;

	for (end = 0; end < count && !rc;) {
		end = vpt_run_end(items, end, count, size, is_after, ctx);
		if (end == count && !run_count)
			return VPT_OK;
		rc = vpt_grow(&ends, &cap, run_count + 1, sizeof(*ends));
		if (!rc)
			ends[run_count++] = end;
	}
	if (!rc && count)
		spare = vpt_alloc(count, size);
	if (spare)
		vpt_runs_merge_all(items, spare, count, ends, run_count, size, is_after, ctx);
	else if (count)
		rc = VPT_ENOMEM;
	vpt_free(ends);
	vpt_free(spare);
	return rc;
}

#endif
