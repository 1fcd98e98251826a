/* joint_links.c - the first link of each event in columns, the others in chains, found by event and by where they are from. */
#include "analysis/ranks/replay/joint_links.h"

#include "analysis/ranks/rank/rank_threads.h"
#include "formats/base/error.h"
#include "formats/base/memory.h"

#include <string.h>

/* Memory that is used first is slow: each thread does it for the slabs that it takes. */
static int begin_slab(void *ctx, unsigned thread, size_t slab)
{
	struct vpa_links *x = ctx;
	size_t first = slab * VPA_LINK_SLAB, left = x->count - first, i;
	size_t events = left < VPA_LINK_SLAB ? left : VPA_LINK_SLAB;

	(void)thread;
	for (i = first * x->lanes; i < (first + events) * x->lanes; i++)
		x->fixed_ns[i] = INT64_MIN;
	memset(&x->from[first], 0xff, events * sizeof(*x->from));
	memset(&x->more[first], 0xff, events * sizeof(*x->more));
	return VPT_OK;
}
_Static_assert(VPA_NO_LINK == UINT32_MAX, "all bits of no link are set");

int vpa_links_init(struct vpa_links *x, size_t events, unsigned lanes, unsigned threads)
{
	*x = (struct vpa_links){.lanes = lanes, .count = events};
	x->fixed_ns = vpt_alloc(events, lanes * sizeof(*x->fixed_ns));
	x->ns = vpt_alloc(events, lanes * sizeof(*x->ns));
	x->from = vpt_alloc(events, sizeof(*x->from));
	x->more = vpt_alloc(events, sizeof(*x->more));
	x->slabs = vpt_calloc(events / VPA_LINK_SLAB + 1, sizeof(*x->slabs));
	if (!x->fixed_ns || !x->ns || !x->from || !x->more || !x->slabs)
		return VPT_ENOMEM;
	for (; x->slab_count < events / VPA_LINK_SLAB + 1; x->slab_count++)
		if (pthread_mutex_init(&x->slabs[x->slab_count].lock, NULL))
			return VPT_ENOMEM;
	return vpa_in_threads(threads, x->slab_count, begin_slab, x);
}

void vpa_links_free(struct vpa_links *x)
{
	size_t i;

	for (i = 0; i < x->slab_count; i++) {
		pthread_mutex_destroy(&x->slabs[i].lock);
		vpa_index_free(&x->slabs[i].links);
		vpt_free(x->slabs[i].ns);
		vpt_free(x->slabs[i].next);
	}
	vpt_free(x->fixed_ns);
	vpt_free(x->ns);
	vpt_free(x->from);
	vpt_free(x->more);
	vpt_free(x->slabs);
	*x = (struct vpa_links){.count = 0};
}

enum { NEWEST = 4 };

/* The link of an event from another one, if it is one of its newest: ranks of one machine, which come from the same event, mostly come
 * one after the other, in each thread. VPA_NO_LINK: it is none of them. */
static uint32_t newest_from(const struct vpa_link_slab *b, uint32_t link, uint32_t from)
{
	unsigned n;

	for (n = 0; n < NEWEST && link != VPA_NO_LINK; n++, link = b->next[link])
		if (b->links.entries[link].b == from)
			return link;
	return VPA_NO_LINK;
}

int vpa_links_put_more(struct vpa_links *x, uint32_t event, uint32_t from, const int64_t *ns)
{
	struct vpa_link_slab *b = &x->slabs[event / VPA_LINK_SLAB];
	uint32_t link = newest_from(b, x->more[event], from);
	size_t count = b->links.count;
	unsigned l;

	if (link == VPA_NO_LINK)
		link = vpa_index_put(&b->links, event, from);
	if (link == UINT32_MAX)
		return VPT_ENOMEM;
	if (link < count) {
		vpa_lanes_join(&b->ns[(size_t)link * x->lanes], ns, x->lanes);
		return VPT_OK;
	}
	if (vpt_grow(&b->ns, &b->ns_cap, (count + 1) * x->lanes, sizeof(*b->ns)) ||
		vpt_grow(&b->next, &b->next_cap, count + 1, sizeof(*b->next)))
		return VPT_ENOMEM;
	for (l = 0; l < x->lanes; l++)
		b->ns[(size_t)link * x->lanes + l] = ns[l];
	b->next[link] = x->more[event];
	x->more[event] = link;
	return VPT_OK;
}

/* at = max(at, from + ns) in each lane. Sums of what a file says may wrap. */
static inline void follow(int64_t *at, const int64_t *from, const int64_t *ns, unsigned lanes)
{
	unsigned l;

	for (l = 0; l < lanes; l++) {
		int64_t to = (int64_t)((uint64_t)from[l] + (uint64_t)ns[l]);

		at[l] = to > at[l] ? to : at[l];
	}
}

const int64_t *vpa_links_arrive(struct vpa_links *x, uint32_t event)
{
	const struct vpa_link_slab *b = &x->slabs[event / VPA_LINK_SLAB];
	unsigned lanes = x->lanes, l;
	int64_t *first = &x->ns[(size_t)event * lanes], *at = &x->fixed_ns[(size_t)event * lanes];
	uint32_t link;

	if (x->from[event] != VPA_NO_LINK)
		follow(at, &x->ns[(size_t)x->from[event] * lanes], first, lanes);
	for (link = x->more[event]; link != VPA_NO_LINK; link = b->next[link])
		follow(at, &x->ns[b->links.entries[link].b * lanes], &b->ns[(size_t)link * lanes],
			lanes);
	for (l = 0; l < lanes; l++)
		first[l] = at[l];
	return first;
}
