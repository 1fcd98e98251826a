/* open.c - ranges whose end was unknown when they were met.
 *
 * Each chunk lists all ranges open when it closes, and there may be very many: pushed and never
 * popped. So they are in a hash table, and free items in a chain. */
#include "analysis/export/perfetto/open.h"

#include "formats/memory.h"
#include "formats/strings.h"

#include <string.h>

static uint32_t *bucket_of(const struct vpa_ex_open_ranges *o, uint64_t start_ns, uint32_t name)
{
	return &o->buckets[vpt_hash_mix(vpt_hash_mix(start_ns) + name) & (o->bucket_count - 1)];
}

void vpa_ex_open_free(struct vpa_ex_open_ranges *o)
{
	vpt_free(o->items);
	vpt_free(o->buckets);
}

uint32_t vpa_ex_open_find(
	const struct vpa_ex_open_ranges *o, uint64_t start_ns, uint32_t name, uint32_t domain)
{
	uint32_t at = o->bucket_count ? *bucket_of(o, start_ns, name) : 0;

	for (; at; at = o->items[at - 1].next) {
		const struct vpa_ex_open_range *r = &o->items[at - 1];

		if (r->start_ns == start_ns && r->name == name && r->domain == domain)
			return at - 1;
	}
	return EX_NO_INDEX;
}

static void enter(struct vpa_ex_open_ranges *o, uint32_t at)
{
	uint32_t *bucket = bucket_of(o, o->items[at].start_ns, o->items[at].name);

	o->items[at].next = *bucket;
	*bucket = at + 1;
}

static int grow_buckets(struct vpa_ex_open_ranges *o)
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

uint32_t vpa_ex_open_add(struct vpa_ex_open_ranges *o, const struct vpa_ex_open_range *range)
{
	uint32_t at = o->unused - 1;

	if (o->open_count >= o->bucket_count && grow_buckets(o))
		return EX_NO_INDEX;
	if (o->unused) {
		o->unused = o->items[at].next;
	} else {
		if (vpt_grow(&o->items, &o->cap, o->count + 1, sizeof(*o->items)))
			return EX_NO_INDEX;
		at = (uint32_t)o->count++;
	}
	o->items[at] = *range;
	o->items[at].end_ns = UINT64_MAX;
	o->items[at].used = 1;
	enter(o, at);
	o->open_count++;
	return at;
}

void vpa_ex_open_end(struct vpa_ex_open_ranges *o, uint32_t at, uint64_t end_ns)
{
	uint32_t *link = bucket_of(o, o->items[at].start_ns, o->items[at].name);

	while (*link != at + 1)
		link = &o->items[*link - 1].next;
	*link = o->items[at].next;
	o->items[at].end_ns = end_ns;
	o->open_count--;
}

void vpa_ex_open_drop(struct vpa_ex_open_ranges *o, uint32_t at)
{
	o->items[at].used = 0;
	o->items[at].next = o->unused;
	o->unused = at + 1;
}
