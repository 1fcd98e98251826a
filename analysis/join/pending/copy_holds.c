/* copy_holds.c - an unordered list: it is short between two chunks, since most copies end before the
 * next begins. */
#include "analysis/join/pending/op_queue.h"

#include "formats/base/error.h"
#include "formats/base/memory.h"

#include <string.h>

enum { HOLDS_MAX = 4096 };

int vpa_copy_holds_add(struct vpa_copy_holds *h, uint64_t start_ns, uint64_t end_ns)
{
	if (vpt_grow(&h->items, &h->cap, h->count + 1, sizeof(*h->items)))
		return VPT_ENOMEM;
	h->items[h->count++] = (struct vpa_copy_hold){start_ns, end_ns};
	return VPT_OK;
}

uint64_t vpa_copy_holds_pass(struct vpa_copy_holds *h, uint64_t until_ns)
{
	uint64_t from_ns = until_ns;
	size_t kept = 0, i;

	for (i = 0; i < h->count && kept < HOLDS_MAX; i++) {
		const struct vpa_copy_hold hold = h->items[i];

		if (hold.end_ns <= until_ns)
			continue;
		from_ns = hold.start_ns < from_ns ? hold.start_ns : from_ns;
		h->items[kept++] = hold;
	}
	h->count = kept;
	return from_ns;
}

void vpa_copy_holds_free(struct vpa_copy_holds *h)
{
	vpt_free(h->items);
	memset(h, 0, sizeof(*h));
}
