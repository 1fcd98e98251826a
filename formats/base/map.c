/* map.c - a growing table of slots. Each slot keeps its hash, so growing never rehashes the
 * elements. */
#include "formats/base/map.h"

#include "formats/base/error.h"
#include "formats/base/memory.h"

#include <string.h>

enum { FIRST_SLOTS = 64 };

static void place(struct vpt_map *m, struct vpt_map_slot slot)
{
	size_t at = slot.hash;

	while (m->slots[at & (m->slot_count - 1)].number)
		at++;
	m->slots[at & (m->slot_count - 1)] = slot;
}

/* Starts after a free slot, so that numbers of one hash keep their order. */
static int grow(struct vpt_map *m)
{
	struct vpt_map bigger = {
		.slot_count = m->slot_count ? m->slot_count * 2 : FIRST_SLOTS, .count = m->count};
	size_t begin = 0, i;

	bigger.slots = vpt_calloc(bigger.slot_count, sizeof(*bigger.slots));
	if (!bigger.slots)
		return VPT_ENOMEM;
	while (m->slot_count && m->slots[begin].number)
		begin++;
	for (i = 0; i < m->slot_count; i++) {
		struct vpt_map_slot slot = m->slots[(begin + i) & (m->slot_count - 1)];

		if (slot.number)
			place(&bigger, slot);
	}
	vpt_free(m->slots);
	*m = bigger;
	return VPT_OK;
}

int vpt_map_put(struct vpt_map *m, uint64_t hash, uint32_t number)
{
	if (number == VPT_MAP_NONE || (m->count * 2 >= m->slot_count && grow(m)))
		return VPT_ENOMEM;
	place(m, (struct vpt_map_slot){(uint32_t)hash, number + 1});
	m->count++;
	return VPT_OK;
}

void vpt_map_reset(struct vpt_map *m)
{
	m->count = 0;
	if (m->slots)
		memset(m->slots, 0, m->slot_count * sizeof(*m->slots));
}

void vpt_map_free(struct vpt_map *m)
{
	vpt_free(m->slots);
	*m = (struct vpt_map){0};
}
