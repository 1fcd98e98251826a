/* index.c - row numbers by pair, found with the map of formats/base/map.h. */
#include "analysis/base/index.h"

#include "formats/base/hash.h"
#include "formats/base/memory.h"

#include <string.h>

static inline uint32_t find(const struct vpa_index *x, uint64_t hash, uint64_t a, uint64_t b)
{
	uint64_t at = hash;
	uint32_t row;

	while ((row = vpt_map_next(&x->map, hash, &at)) != VPT_MAP_NONE)
		if (vpa_index_is_at(x, row, a, b))
			break;
	return row;
}

uint32_t vpa_index_put_other(struct vpa_index *x, uint64_t a, uint64_t b)
{
	uint64_t hash = vpt_hash_pair(a, b);
	uint32_t row = find(x, hash, a, b);

	x->recent[1] = x->recent[0];
	if (row != VPT_MAP_NONE)
		return x->recent[0] = row;
	row = (uint32_t)x->count;
	if (vpt_grow(&x->entries, &x->cap, x->count + 1, sizeof(*x->entries)) ||
		vpt_map_put(&x->map, hash, row))
		return UINT32_MAX;
	x->entries[x->count++] = (struct vpa_index_entry){a, b};
	return x->recent[0] = row;
}

uint32_t vpa_index_find(const struct vpa_index *x, uint64_t a, uint64_t b)
{
	return find(x, vpt_hash_pair(a, b), a, b);
}

void vpa_index_free(struct vpa_index *x)
{
	vpt_free(x->entries);
	vpt_map_free(&x->map);
	memset(x, 0, sizeof(*x));
}
