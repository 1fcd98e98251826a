/* map.h - finds the elements of an array by content.
 *
 * The caller keeps the elements, numbered from 0, hashes them (hash.h) and compares them; the map holds
 * only numbers. Numbers of one hash are found in the order in which they were put. Single numbers cannot
 * be removed.
 *
 *	elements   0: "vae"   1: "dit"   2: "text"           the caller's
 *	slots      .  | dit 1 | .  | .  | vae 0 | text 2 | .  .     hash and 1 + number; 0: free
 *
 * Open addressing, never more than half full. Tables with another need are their own:
 *
 * - entries leave one by one: open_ranges.c, the exports' launch_links.c and gpu_ranges.c
 * - entries expire, the newest are found first: launches.c, call_waits.c
 * - fixed in size, since the tracer's threads share them or they forget: range_strings.c, recorded_lanes.c,
 *   cupti_configs.c */
#ifndef VPT_FORMATS_BASE_MAP_H
#define VPT_FORMATS_BASE_MAP_H

#include "formats/base/hash.h"

#include <stddef.h>
#include <stdint.h>

/* All zeros is empty. */
struct vpt_map {
	struct vpt_map_slot {
		uint32_t hash, number; /* low half of the hash; 1 + number, 0: free */
	} * slots;
	size_t slot_count, count;
};

#define VPT_MAP_NONE UINT32_MAX

/* The next number that was put with this hash, VPT_MAP_NONE after the last. Set *at to the hash
 * before the first call, then leave it to the map. Elements of other hashes may be among the
 * results, so compare each:
 *
 *	for (at = hash; (n = vpt_map_next(&map, hash, &at)) != VPT_MAP_NONE;)
 *		if (same(&elements[n], key))
 *			return n;
 * */
static inline uint32_t vpt_map_next(const struct vpt_map *m, uint64_t hash, uint64_t *at)
{
	while (m->slot_count) {
		const struct vpt_map_slot *slot = &m->slots[*at & (m->slot_count - 1)];

		if (!slot->number)
			break;
		++*at;
		if (slot->hash == (uint32_t)hash)
			return slot->number - 1;
	}
	return VPT_MAP_NONE;
}

/* Puts a number below VPT_MAP_NONE, even if it is there already. Returns 0, or VPT_ENOMEM and
 * leaves the map as it was. */
int vpt_map_put(struct vpt_map *m, uint64_t hash, uint32_t number);

void vpt_map_reset(struct vpt_map *m); /* empty, memory kept */
void vpt_map_free(struct vpt_map *m);

#endif
