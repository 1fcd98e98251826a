/* open_ranges.c - a chained hash. A range goes to the front of its chain, so very many equal ones
 * cost no more than others. Free numbers are in a chain too. */
#include "analysis/past/open_ranges.h"

#include "formats/base/error.h"
#include "formats/base/hash.h"
#include "formats/base/memory.h"

#include <string.h>

static uint32_t *bucket_of(
	const struct vpa_open_ranges *o, uint64_t start_ns, uint32_t name, uint32_t domain)
{
	uint64_t hash = vpt_hash_pair(start_ns, (uint64_t)domain << 32 | name);

	return &o->buckets[hash & (o->bucket_count - 1)];
}

static void enter(struct vpa_open_ranges *o, uint32_t at)
{
	const struct vpa_open_range *r = &o->items[at];
	uint32_t *bucket = bucket_of(o, r->start_ns, r->name, r->domain);

	o->items[at].next = *bucket;
	*bucket = at + 1;
}

static int grow_buckets(struct vpa_open_ranges *o)
{
	size_t want = o->bucket_count ? o->bucket_count * 2 : 16;
	uint32_t *grown = vpt_calloc(want, sizeof(*grown)), i;

	if (!grown)
		return VPT_ENOMEM;
	vpt_free(o->buckets);
	o->buckets = grown;
	o->bucket_count = want;
	for (i = 0; i < o->count; i++)
		if (o->items[i].used && o->items[i].end_ns == UINT64_MAX)
			enter(o, i);
	return VPT_OK;
}

uint32_t vpa_open_add(struct vpa_open_ranges *o, uint64_t start_ns, uint32_t name, uint32_t domain)
{
	uint32_t at = o->unused - 1;

	if (o->open_count >= o->bucket_count && grow_buckets(o))
		return VPA_OPEN_NONE;
	if (o->unused) {
		o->unused = o->items[at].next;
	} else {
		if (vpt_grow(&o->items, &o->cap, o->count + 1, sizeof(*o->items)))
			return VPA_OPEN_NONE;
		at = (uint32_t)o->count++;
	}
	o->items[at] = (struct vpa_open_range){start_ns, UINT64_MAX, name, domain, 0, 1};
	enter(o, at);
	if (!o->open_count++ || start_ns > o->newest_ns)
		o->newest_ns = start_ns;
	return at;
}

uint32_t vpa_open_find(
	const struct vpa_open_ranges *o, uint64_t start_ns, uint32_t name, uint32_t domain)
{
	uint32_t at;

	if (!vpa_open_may_have(o, start_ns))
		return VPA_OPEN_NONE;
	for (at = *bucket_of(o, start_ns, name, domain); at; at = o->items[at - 1].next) {
		const struct vpa_open_range *r = &o->items[at - 1];

		if (r->start_ns == start_ns && r->name == name && r->domain == domain)
			return at - 1;
	}
	return VPA_OPEN_NONE;
}

void vpa_open_end(struct vpa_open_ranges *o, uint32_t at, uint64_t end_ns)
{
	struct vpa_open_range *r = &o->items[at];
	uint32_t *link = bucket_of(o, r->start_ns, r->name, r->domain);

	while (*link != at + 1)
		link = &o->items[*link - 1].next;
	*link = r->next;
	r->end_ns = end_ns;
	o->open_count--;
}

void vpa_open_drop(struct vpa_open_ranges *o, uint32_t at)
{
	o->items[at].used = 0;
	o->items[at].next = o->unused;
	o->unused = at + 1;
}

void vpa_open_clear(struct vpa_open_ranges *o)
{
	if (o->bucket_count)
		memset(o->buckets, 0, o->bucket_count * sizeof(*o->buckets));
	o->count = o->open_count = 0;
	o->unused = 0;
}

void vpa_open_free(struct vpa_open_ranges *o)
{
	vpt_free(o->items);
	vpt_free(o->buckets);
	memset(o, 0, sizeof(*o));
}
