/* launches.c - linear probing with removal by shifting back, so the table never fills with tombstones. */
#include "analysis/launches.h"

#include "formats/error.h"
#include "formats/memory.h"
#include "formats/strings.h"

#include <string.h>

size_t vpa_launch_home(const struct vpa_launches *l, uint64_t correlation)
{
	return (size_t)((vpt_hash_mix(correlation >> 3) << 3) + (correlation & 7)) & (l->slot_count - 1);
}

static int place(struct vpa_launches *l, struct vpa_launch entry)
{
	size_t i = vpa_launch_home(l, entry.correlation), probes;

	for (probes = 0; probes < VPA_LAUNCH_PROBES; probes++, i = (i + 1) & (l->slot_count - 1))
		if (!l->slots[i].correlation) {
			l->slots[i] = entry;
			l->used++;
			return 1;
		}
	return 0;
}

static int grow(struct vpa_launches *l)
{
	struct vpa_launches bigger = {.slot_count = l->slot_count ? l->slot_count * 2 : 1024,
		.ambiguous = l->ambiguous};
	size_t i;

	bigger.slots = vpt_calloc(bigger.slot_count, sizeof(*bigger.slots));
	if (!bigger.slots)
		return VPT_ENOMEM;
	for (i = 0; i < l->slot_count; i++)
		if (l->slots[i].correlation)
			bigger.ambiguous += !place(&bigger, l->slots[i]);
	vpt_free(l->slots);
	*l = bigger;
	return VPT_OK;
}

int vpa_launches_add(struct vpa_launches *l, struct vpa_launch entry)
{
	if (l->used * 2 >= l->slot_count && grow(l))
		return VPT_ENOMEM;
	while (!place(l, entry)) {
		/* Crowded although the table is nearly empty: the same id over and over. */
		if (l->used < l->slot_count / 16) {
			l->ambiguous++;
			return VPT_OK;
		}
		if (grow(l))
			return VPT_ENOMEM;
	}
	return VPT_OK;
}

void vpa_launches_remove(struct vpa_launches *l, struct vpa_launch entry)
{
	size_t mask = l->slot_count - 1, i, hole, probes;

	if (!l->slot_count)
		return;
	i = vpa_launch_home(l, entry.correlation);
	for (probes = 0;; probes++, i = (i + 1) & mask) {
		struct vpa_launch *s = &l->slots[i];

		if (!s->correlation || probes == VPA_LAUNCH_PROBES)
			return;
		if (s->correlation == entry.correlation && s->thread == entry.thread &&
			s->position == entry.position)
			break;
	}
	for (hole = i;;) {
		size_t home;

		i = (i + 1) & mask;
		if (!l->slots[i].correlation)
			break;
		home = vpa_launch_home(l, l->slots[i].correlation);
		/* An entry may move into the hole unless its home lies between the hole and itself. */
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			l->slots[hole] = l->slots[i];
			hole = i;
		}
	}
	l->slots[hole].correlation = 0;
	l->used--;
}

void vpa_launches_free(struct vpa_launches *l)
{
	vpt_free(l->slots);
	memset(l, 0, sizeof(*l));
}
