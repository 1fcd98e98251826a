/* sorted_runs.h - orders items that come nearly in order: a chunk's rows come stream by stream, those of a
 * stream in order or nearly.
 *
 * An item that belongs a few places back in the newest run is moved there; one that belongs further
 * back begins a run. Then neighbouring runs are merged in pairs, as run_sort.h does with an array that is
 * complete. Equal items keep their order. */
#ifndef VPA_ANALYSIS_EXPORT_SORTED_RUNS_H
#define VPA_ANALYSIS_EXPORT_SORTED_RUNS_H

#include "formats/base/run_sort.h"

#include <assert.h>
#include <string.h>

/* All zeros is empty. */
struct vpa_runs {
	void *items, *spare; /* [0, count) wait; spare: room for as many, to merge into */
	size_t count, cap, spare_cap;
	size_t *begins; /* of the runs */
	size_t run_count, run_cap;
};

static inline int vpa_runs_begin(struct vpa_runs *r)
{
	if (vpt_grow(&r->begins, &r->run_cap, r->run_count + 1, sizeof(*r->begins)))
		return VPT_ENOMEM;
	r->begins[r->run_count++] = r->count;
	return VPT_OK;
}

/* Makes room for `count` more items of the newest run. 0 or VPT_ENOMEM. */
static inline int vpa_runs_room(struct vpa_runs *r, size_t count, size_t size)
{
	if (vpt_grow(&r->items, &r->cap, r->count + count, size) ||
		vpt_grow(&r->spare, &r->spare_cap, r->cap, size))
		return VPT_ENOMEM;
	return r->run_count ? VPT_OK : vpa_runs_begin(r);
}

/* The same for a run that begins here. */
static inline int vpa_runs_reserve(struct vpa_runs *r, size_t count, size_t size)
{
	return vpa_runs_begin(r) ? VPT_ENOMEM : vpa_runs_room(r, count, size);
}

/* Adds the item that was written after the others, into the room reserved. 0 or VPT_ENOMEM. */
VPT_RUNS_INLINE int vpa_runs_put(struct vpa_runs *r, size_t size, vpt_run_order *is_after)
{
	enum { BACK_MAX = 16, ITEM_MAX = 96 };
	size_t first = r->begins[r->run_count - 1], last = r->count, at = last;
	char *items = r->items, moved[ITEM_MAX];

	assert(size <= ITEM_MAX);
	while (at > first && last - at < BACK_MAX &&
		is_after(items + (at - 1) * size, items + last * size, NULL))
		at--;
	if (last - at == BACK_MAX) {
		if (vpa_runs_begin(r))
			return VPT_ENOMEM;
	} else if (at < last) {
		memcpy(moved, items + last * size, size);
		memmove(items + (at + 1) * size, items + at * size, (last - at) * size);
		memcpy(items + at * size, moved, size);
	}
	r->count++;
	return VPT_OK;
}

/* Merges all runs into one. */
VPT_RUNS_INLINE void vpa_runs_sort(struct vpa_runs *r, size_t size, vpt_run_order *is_after)
{
	while (r->run_count > 1) {
		char *merged = r->spare;
		size_t i, count = 0, cap = r->spare_cap;

		for (i = 0; i < r->run_count; i += 2) {
			size_t begin = r->begins[i],
			       middle = i + 1 < r->run_count ? r->begins[i + 1] : r->count,
			       end = i + 2 < r->run_count ? r->begins[i + 2] : r->count;

			vpt_runs_merge(merged, r->items, (size_t[]){begin, middle, end}, size,
				is_after, NULL);
			r->begins[count++] = begin;
		}
		r->run_count = count;
		r->spare = r->items;
		r->items = merged;
		r->spare_cap = r->cap;
		r->cap = cap;
	}
}

/* Removes the first `done` items of the only run; the others stay in it. 0 or VPT_ENOMEM. */
static inline int vpa_runs_drop(struct vpa_runs *r, size_t done, size_t size)
{
	size_t left = r->count - done;

	if (left)
		memmove(r->items, (char *)r->items + done * size, left * size);
	r->count = r->run_count = 0;
	if (left && vpa_runs_begin(r))
		return VPT_ENOMEM;
	r->count = left;
	return VPT_OK;
}

static inline void vpa_runs_free(struct vpa_runs *r)
{
	vpt_free(r->items);
	vpt_free(r->spare);
	vpt_free(r->begins);
	*r = (struct vpa_runs){0};
}

#endif
