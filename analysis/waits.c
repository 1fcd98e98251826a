/* waits.c - a sorted array that grows at its end and is cut at its front. */
#include "analysis/waits.h"

#include "formats/error.h"
#include "formats/memory.h"

#include <string.h>

enum { KEPT_MAX = 1 << 17 };

static void drop(struct vpa_waits *w, size_t count)
{
	w->count -= count;
	w->settled = w->settled > count ? w->settled - count : 0;
	w->seen = w->seen > count ? w->seen - count : 0;
	memmove(w->items, w->items + count, w->count * sizeof(*w->items));
}

int vpa_waits_add(struct vpa_waits *w, uint64_t time_ns, uint64_t id)
{
	size_t at;

	if (w->count >= KEPT_MAX)
		drop(w, KEPT_MAX / 2);
	if (vpt_grow(&w->items, &w->cap, w->count + 1, sizeof(*w->items)))
		return VPT_ENOMEM;
	for (at = w->count++; at && w->items[at - 1].time_ns > time_ns; at--)
		w->items[at] = w->items[at - 1];
	w->items[at] = (struct vpa_wait){time_ns, id};
	if (at < w->settled)
		w->settled = at;
	return VPT_OK;
}

void vpa_waits_move(struct vpa_waits *w, size_t i, uint64_t time_ns)
{
	struct vpa_wait wait = {time_ns, w->items[i].id};

	for (; i && w->items[i - 1].time_ns > time_ns; i--)
		w->items[i] = w->items[i - 1];
	for (; i + 1 < w->count && w->items[i + 1].time_ns < time_ns; i++)
		w->items[i] = w->items[i + 1];
	w->items[i] = wait;
}

size_t vpa_waits_before(const struct vpa_waits *w, uint64_t t)
{
	size_t low = 0, high = w->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (w->items[middle].time_ns < t)
			low = middle + 1;
		else
			high = middle;
	}
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
	memset(w, 0, sizeof(*w));
}
