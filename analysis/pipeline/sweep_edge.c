/* sweep_edge.c - sums by device and part: an array while they change, then a list of those that are
 * not 0, often a dozen of half a hundred. */
#include "analysis/pipeline/sweep_edge.h"

#include <string.h>

static int is_zero(const struct vpa_sweep_sums *sums, uint32_t part)
{
	return !sums->ns[part] && (part >= VPA_SWEEP_PARTS || !sums->count[part]);
}

void vpa_edge_pack(struct vpa_sweep_edge *e)
{
	uint32_t device, part, count = 0;

	if (e->parts || !e->device_count)
		return;
	for (device = 0; device < e->device_count; device++)
		for (part = 0; part < VPA_SWEEP_ALL; part++)
			count += !is_zero(&e->devices[device], part);
	e->parts = vpt_alloc(count + (size_t)1, sizeof(*e->parts));
	if (!e->parts)
		return;
	e->part_count = 0;
	for (device = 0; device < e->device_count; device++) {
		const struct vpa_sweep_sums *sums = &e->devices[device];

		for (part = 0; part < VPA_SWEEP_ALL; part++)
			if (!is_zero(sums, part))
				e->parts[e->part_count++] = (struct vpa_sweep_part){sums->ns[part],
					part < VPA_SWEEP_PARTS ? sums->count[part] : 0,
					(uint16_t)device, (uint16_t)part};
	}
	vpt_free(e->devices);
	e->devices = NULL;
	e->device_cap = 0;
}

int vpa_edge_unpack(struct vpa_sweep_edge *e)
{
	uint32_t i;

	e->devices = vpt_calloc(e->device_count, sizeof(*e->devices));
	if (!e->devices)
		return VPT_ENOMEM;
	e->device_cap = e->device_count;
	for (i = 0; i < e->part_count; i++) {
		const struct vpa_sweep_part *p = &e->parts[i];

		e->devices[p->device].ns[p->part] = p->ns;
		if (p->part < VPA_SWEEP_PARTS)
			e->devices[p->device].count[p->part] = p->count;
	}
	vpt_free(e->parts);
	e->parts = NULL;
	return VPT_OK;
}

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

	if ((e->parts && vpa_edge_unpack(e)) || (into->parts && vpa_edge_unpack(into)))
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
	uint32_t i, part;

	for (i = 0; e->parts && i < e->part_count; i++) {
		const struct vpa_sweep_part *p = &e->parts[i];

		if (!(mask >> p->device & 1))
			continue;
		if (sums) {
			sums->ns[p->part] += p->ns;
			if (p->part < VPA_SWEEP_PARTS)
				sums->count[p->part] += p->count;
		}
		if (busy_ns && p->part < VPA_SWEEP_IDLE)
			busy_ns[p->device] += p->ns;
	}
	for (i = 0; !e->parts && i < e->device_count; i++) {
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
	vpt_free(e->parts);
}
