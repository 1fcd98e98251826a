/* index.c - an open-addressing hash that only grows. */
#include "analysis/index.h"

#include "formats/error.h"
#include "formats/memory.h"
#include "formats/strings.h"

#include <string.h>

static uint32_t *slot_of(const struct vpa_index *x, uint64_t a, uint64_t b)
{
	size_t mask = x->slot_count - 1;
	size_t i = vpt_hash_mix(vpt_hash_mix(a) + b) & mask;

	while (x->slots[i] &&
		(x->entries[x->slots[i] - 1].a != a || x->entries[x->slots[i] - 1].b != b))
		i = (i + 1) & mask;
	return &x->slots[i];
}

static int grow(struct vpa_index *x)
{
	size_t want = x->slot_count ? x->slot_count * 2 : 64, i;
	uint32_t *slots = vpt_calloc(want, sizeof(*slots));

	if (!slots)
		return VPT_ENOMEM;
	vpt_free(x->slots);
	x->slots = slots;
	x->slot_count = want;
	for (i = 0; i < x->count; i++)
		*slot_of(x, x->entries[i].a, x->entries[i].b) = (uint32_t)(i + 1);
	return VPT_OK;
}

uint32_t vpa_index_put(struct vpa_index *x, uint64_t a, uint64_t b)
{
	uint32_t *slot;

	if (x->count * 2 >= x->slot_count && grow(x))
		return UINT32_MAX;
	slot = slot_of(x, a, b);
	if (!*slot) {
		if (vpt_grow(&x->entries, &x->cap, x->count + 1, sizeof(*x->entries)))
			return UINT32_MAX;
		x->entries[x->count++] = (struct vpa_index_entry){a, b};
		*slot = (uint32_t)x->count;
	}
	return *slot - 1;
}

uint32_t vpa_index_find(const struct vpa_index *x, uint64_t a, uint64_t b)
{
	uint32_t *slot = x->slot_count ? slot_of(x, a, b) : NULL;

	return slot && *slot ? *slot - 1 : UINT32_MAX;
}

void vpa_index_free(struct vpa_index *x)
{
	vpt_free(x->entries);
	vpt_free(x->slots);
	memset(x, 0, sizeof(*x));
}

uint32_t *vpa_rows_new(size_t count)
{
	uint32_t *rows = vpt_alloc(count, sizeof(*rows));
	size_t i;

	for (i = 0; rows && i < count; i++)
		rows[i] = (uint32_t)i;
	return rows;
}
