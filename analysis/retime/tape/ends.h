/* ends.h - what has begun and not ended, the first to end on top. Of what ends together the lower row comes first. */
#ifndef VPA_ANALYSIS_RETIME_ENDS_H
#define VPA_ANALYSIS_RETIME_ENDS_H

#include "analysis/retime/tape/order.h"
#include "formats/base/memory.h"

/* All zeros is empty. A heap. */
struct vpa_ends {
	struct vpa_timed *items;
	size_t count, cap;
};

static inline int vpa_ends_before(const struct vpa_timed *a, const struct vpa_timed *b)
{
	return a->ns < b->ns || (a->ns == b->ns && a->row < b->row);
}

/* 0, or -1: no memory. */
static inline int vpa_ends_push(struct vpa_ends *e, uint64_t end_ns, uint32_t row)
{
	struct vpa_timed item = {end_ns, row};
	size_t at = e->count;

	if (vpt_grow(&e->items, &e->cap, at + 1, sizeof(*e->items)))
		return -1;
	e->count++;
	for (; at && vpa_ends_before(&item, &e->items[(at - 1) / 2]); at = (at - 1) / 2)
		e->items[at] = e->items[(at - 1) / 2];
	e->items[at] = item;
	return 0;
}

/* Takes the first off, if there is one that ends by `until_ns`: its row is in *row. */
static inline int vpa_ends_pop(struct vpa_ends *e, uint64_t until_ns, uint32_t *row)
{
	struct vpa_timed item;
	size_t at = 0, child;

	if (!e->count || e->items[0].ns > until_ns)
		return 0;
	*row = e->items[0].row;
	item = e->items[--e->count];
	for (; (child = 2 * at + 1) < e->count; at = child) {
		if (child + 1 < e->count && vpa_ends_before(&e->items[child + 1], &e->items[child]))
			child++;
		if (vpa_ends_before(&item, &e->items[child]))
			break;
		e->items[at] = e->items[child];
	}
	e->items[at] = item;
	return 1;
}

#endif
