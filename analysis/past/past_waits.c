/* past_waits.c - a sorted array that grows at its end and is trimmed at its front. Waits that arrive out
 * of order, or move, are sorted together once per chunk: inserting them one by one would shift all
 * others each time. */
#include "analysis/past/timeline.h"

#include "formats/base/error.h"
#include "formats/base/memory.h"
#include "formats/base/search.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT_MAX = 1 << 17, LOOKS = 2 };

static void drop(struct vpa_waits *w, size_t count)
{
	w->count -= count;
	w->sorted = w->sorted > count ? w->sorted - count : 0;
	memmove(w->items, w->items + count, w->count * sizeof(*w->items));
}

static int compare_waits(const void *pa, const void *pb)
{
	const struct vpa_wait *a = pa, *b = pb;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* Merges the waits after `sorted` with those before it. */
static int sort(struct vpa_waits *w)
{
	size_t fresh = w->count - w->sorted, left = w->sorted, to = w->count;

	if (!fresh)
		return VPT_OK;
	if (vpt_grow(&w->spare, &w->spare_cap, fresh, sizeof(*w->spare)))
		return VPT_ENOMEM;
	memcpy(w->spare, w->items + w->sorted, fresh * sizeof(*w->spare));
	qsort(w->spare, fresh, sizeof(*w->spare), compare_waits);
	while (fresh)
		w->items[--to] = left && w->items[left - 1].time_ns > w->spare[fresh - 1].time_ns
					 ? w->items[--left]
					 : w->spare[--fresh];
	w->sorted = w->count;
	return VPT_OK;
}

int vpa_waits_add(struct vpa_waits *w, uint64_t time_ns, uint64_t id, int moves)
{
	if (w->count >= KEPT_MAX) {
		if (sort(w))
			return VPT_ENOMEM;
		drop(w, KEPT_MAX / 2);
	}
	if (vpt_grow(&w->items, &w->cap, w->count + 1, sizeof(*w->items)))
		return VPT_ENOMEM;
	if (w->sorted == w->count && (!w->count || w->items[w->count - 1].time_ns <= time_ns))
		w->sorted++;
	w->items[w->count++] = (struct vpa_wait){time_ns, id, moves ? LOOKS : 0};
	w->is_looking |= moves;
	return VPT_OK;
}

/* Looks up the times of waits that may move, and puts those that moved after the others. */
static int look(struct vpa_waits *w, vpa_waits_find *find, void *ctx)
{
	size_t kept = 0, moved = 0, i;

	if (vpt_grow(&w->spare, &w->spare_cap, w->count, sizeof(*w->spare)))
		return VPT_ENOMEM;
	w->is_looking = 0;
	for (i = 0; i < w->count; i++) {
		struct vpa_wait wait = w->items[i];
		uint64_t time_ns = wait.looks ? find(ctx, wait.id) : UINT64_MAX;

		if (wait.looks)
			wait.looks--;
		w->is_looking |= wait.looks != 0;
		if (time_ns == UINT64_MAX || time_ns == wait.time_ns) {
			w->items[kept++] = wait;
		} else {
			wait.time_ns = time_ns;
			w->spare[moved++] = wait;
		}
	}
	if (moved)
		memcpy(w->items + kept, w->spare, moved * sizeof(*w->spare));
	w->sorted = kept;
	return VPT_OK;
}

int vpa_waits_settle(struct vpa_waits *w, vpa_waits_find *find, void *ctx)
{
	if (sort(w))
		return VPT_ENOMEM;
	if (!w->is_looking)
		return VPT_OK;
	return look(w, find, ctx) || sort(w) ? VPT_ENOMEM : VPT_OK;
}

size_t vpa_waits_before(const struct vpa_waits *w, uint64_t t)
{
	size_t low = 0, high = w->count;

	VPT_SEARCH(low, high, middle, w->items[middle].time_ns < t);
	return low ? low - 1 : SIZE_MAX;
}

void vpa_waits_trim(struct vpa_waits *w, uint64_t t)
{
	size_t last = w->count > 1 ? vpa_waits_before(w, t) : SIZE_MAX;

	if (last != SIZE_MAX && last > w->count / 2)
		drop(w, last);
}

void vpa_waits_free(struct vpa_waits *w)
{
	vpt_free(w->items);
	vpt_free(w->spare);
	memset(w, 0, sizeof(*w));
}
