/* sweep_edge.c - sums by device and part: an array while they change, then a list of those that are
 * not 0, often a dozen of half a hundred. */
#include "analysis/pipeline/sweep.h"

#include <string.h>

/* ---- packed sums ---- */

/* A sum that is not 0: `slot` counts the parts of all devices. */
struct part {
	uint32_t slot, count;
	uint64_t ns;
};

/* Seven bits a byte, the lowest first; the highest bit says that more follow. */
static uint8_t *put_number(uint8_t *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*to++ = (uint8_t)(value | 0x80);
	*to++ = (uint8_t)value;
	return to;
}

static uint64_t get_number(const uint8_t **from)
{
	uint64_t value = 0;
	unsigned shift = 0;

	do
		value |= (uint64_t)(**from & 0x7f) << shift;
	while (shift += 7, *(*from)++ & 0x80);
	return value;
}

/* The first part of the edge at or after part->slot. Returns whether there is one. */
static int find_part(const struct vpa_sweep_edge *e, struct part *part)
{
	for (; part->slot < e->device_count * VPA_SWEEP_ALL; part->slot++) {
		const struct vpa_sweep_sums *sums = &e->devices[part->slot / VPA_SWEEP_ALL];
		uint32_t which = part->slot % VPA_SWEEP_ALL;

		part->ns = sums->ns[which];
		part->count = which < VPA_SWEEP_PARTS ? sums->count[which] : 0;
		if (part->ns || part->count)
			return 1;
	}
	return 0;
}

/* The next part of a packed edge; `part` is the one before it, with slot UINT32_MAX at first. */
static int next_part(const struct vpa_sweep_edge *e, const uint8_t **at, struct part *part)
{
	if (*at == e->packed + e->packed_bytes)
		return 0;
	part->slot += 1 + (uint32_t)get_number(at);
	part->ns = get_number(at);
	part->count = (uint32_t)get_number(at);
	return 1;
}

/* How many slots lie between each two parts, and their sums: half a dozen bytes for each of a dozen parts. */
void vpa_edge_pack(struct vpa_sweep_edge *e)
{
	enum { PART_BYTES = 5 + 10 + 5 };
	struct part part;
	uint32_t count = 0, next = 0;
	uint8_t *room, *at, *packed;

	if (e->packed || !e->device_count)
		return;
	for (part.slot = 0; find_part(e, &part); part.slot++)
		count++;
	at = room = vpt_alloc(count + (size_t)1, PART_BYTES);
	if (!room)
		return;
	for (part.slot = 0; find_part(e, &part); next = ++part.slot) {
		at = put_number(at, part.slot - next);
		at = put_number(at, part.ns);
		at = put_number(at, part.count);
	}
	e->packed_bytes = (uint32_t)(at - room);
	packed = vpt_alloc(e->packed_bytes + (size_t)1, 1);
	if (packed) {
		memcpy(packed, room, e->packed_bytes);
		e->packed = packed;
		vpt_free(e->devices);
		e->devices = NULL;
		e->device_cap = 0;
	}
	vpt_free(room);
}

int vpa_edge_unpack(struct vpa_sweep_edge *e)
{
	struct part part = {.slot = UINT32_MAX};
	const uint8_t *at = e->packed;

	e->devices = vpt_calloc(e->device_count, sizeof(*e->devices));
	if (!e->devices)
		return VPT_ENOMEM;
	e->device_cap = e->device_count;
	while (next_part(e, &at, &part)) {
		struct vpa_sweep_sums *sums = &e->devices[part.slot / VPA_SWEEP_ALL];
		uint32_t which = part.slot % VPA_SWEEP_ALL;

		sums->ns[which] = part.ns;
		if (which < VPA_SWEEP_PARTS)
			sums->count[which] = part.count;
	}
	vpt_free(e->packed);
	e->packed = NULL;
	return VPT_OK;
}

/* ---- sums ---- */

static void add_sums(struct vpa_sweep_sums *to, const struct vpa_sweep_sums *from)
{
	size_t i;

	for (i = 0; i < VPA_SWEEP_ALL; i++)
		to->ns[i] += from->ns[i];
	for (i = 0; i < VPA_SWEEP_PARTS; i++)
		to->count[i] += from->count[i];
}

static void add_notes(struct vpa_sweep_notes *to, const struct vpa_sweep_notes *from)
{
	to->vae_ns += from->vae_ns;
	to->conv_ns += from->conv_ns;
	to->frame_bytes += from->frame_bytes;
}

int vpa_edge_take(struct vpa_sweep_edge *e, struct vpa_sweep_edge *now)
{
	size_t bytes = now->device_count * sizeof(*now->devices);

	*e = *now;
	e->devices = vpt_alloc(now->device_count, sizeof(*e->devices));
	e->device_cap = now->device_count;
	if (!e->devices)
		return VPT_ENOMEM;
	if (bytes)
		memcpy(e->devices, now->devices, bytes);
	*now = (struct vpa_sweep_edge){.devices = now->devices, .device_cap = now->device_cap};
	return VPT_OK;
}

int vpa_edge_merge(struct vpa_sweep_edge *into, struct vpa_sweep_edge *e)
{
	uint32_t i;

	if ((e->packed && vpa_edge_unpack(e)) || (into->packed && vpa_edge_unpack(into)))
		return VPT_ENOMEM;
	if (into->device_count < e->device_count) {
		struct vpa_sweep_edge less = *into;

		into->devices = e->devices;
		into->device_count = e->device_count;
		into->device_cap = e->device_cap;
		e->devices = less.devices;
		e->device_count = less.device_count;
	}
	for (i = 0; i < e->device_count; i++)
		add_sums(&into->devices[i], &e->devices[i]);
	add_notes(&into->notes, &e->notes);
	vpt_free(e->devices);
	e->devices = NULL;
	return VPT_OK;
}

void vpa_edge_add(const struct vpa_sweep_edge *e, uint32_t mask, struct vpa_sweep_sums *sums,
	uint64_t *busy_ns, struct vpa_sweep_notes *notes)
{
	struct part packed = {.slot = UINT32_MAX};
	const uint8_t *at = e->packed;
	uint32_t i, part;

	while (e->packed && next_part(e, &at, &packed)) {
		uint32_t device = packed.slot / VPA_SWEEP_ALL;

		part = packed.slot % VPA_SWEEP_ALL;
		if (!(mask >> device & 1))
			continue;
		if (sums) {
			sums->ns[part] += packed.ns;
			if (part < VPA_SWEEP_PARTS)
				sums->count[part] += packed.count;
		}
		if (busy_ns && part < VPA_SWEEP_IDLE)
			busy_ns[device] += packed.ns;
	}
	for (i = 0; !e->packed && i < e->device_count; i++) {
		if (!(mask >> i & 1))
			continue;
		if (sums)
			add_sums(sums, &e->devices[i]);
		for (part = 0; busy_ns && part < VPA_SWEEP_IDLE; part++)
			busy_ns[i] += e->devices[i].ns[part];
	}
	if (notes)
		add_notes(notes, &e->notes);
}

void vpa_edge_free(struct vpa_sweep_edge *e)
{
	vpt_free(e->devices);
	vpt_free(e->packed);
}
