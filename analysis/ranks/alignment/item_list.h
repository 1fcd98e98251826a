/* item_list.h - collectives of a rank, as indexes, in memory that several ranks use: ranks that make the same calls have the same
 * list. Any thread may take and drop it. */
#ifndef VPA_ANALYSIS_RANKS_ALIGNMENT_ITEM_LIST_H
#define VPA_ANALYSIS_RANKS_ALIGNMENT_ITEM_LIST_H

#include "formats/base/memory.h"

#include <stddef.h>
#include <stdint.h>

struct vpa_item_list {
	size_t users; /* the last one that drops it frees it */
	size_t count;
	uint32_t items[]; /* ascending */
};

/* An empty list of one user, with room for `count` items. NULL: no memory. */
static inline struct vpa_item_list *vpa_item_list_new(size_t count)
{
	struct vpa_item_list *list =
		count < SIZE_MAX / 2 ? vpt_alloc(sizeof(*list) + count * sizeof(*list->items), 1)
				     : NULL;

	if (list) {
		list->users = 1;
		list->count = 0;
	}
	return list;
}

static inline struct vpa_item_list *vpa_item_list_take(struct vpa_item_list *list)
{
	__atomic_add_fetch(&list->users, 1, __ATOMIC_RELAXED);
	return list;
}

/* Accepts NULL. */
static inline void vpa_item_list_drop(struct vpa_item_list *list)
{
	if (list && !__atomic_sub_fetch(&list->users, 1, __ATOMIC_ACQ_REL))
		vpt_free(list);
}

#endif
