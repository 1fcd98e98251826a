/* sweep_edge.h - what the devices did between the previous edge of the sweep and this one. */
#ifndef VPA_ANALYSIS_PIPELINE_SWEEP_EDGE_H
#define VPA_ANALYSIS_PIPELINE_SWEEP_EDGE_H

#include "analysis/model/model.h"
#include "formats/base/memory.h"

#include <string.h>

enum {
	/* The parts of a device's time: kernel families, then causes of idle time. */
	VPA_SWEEP_IDLE = VPA_FAMILY_COUNT,
	VPA_SWEEP_PARTS = VPA_FAMILY_COUNT + VPA_CAUSES,
	/* Then, of the causes, what the host did in time that counts to an earlier call. */
	VPA_SWEEP_ALL = VPA_SWEEP_PARTS + VPA_HOST_DIDS,
	/* Devices beyond this number are left out of the sums. */
	VPA_SWEEP_DEVICES = 16
};

struct vpa_sweep_sums {
	uint64_t ns[VPA_SWEEP_ALL];
	uint32_t count[VPA_SWEEP_PARTS]; /* ops, and pieces of gaps, that begin here */
};

/* Durations and bytes of all devices, counted where the op begins, see blocks.c. */
struct vpa_sweep_notes {
	uint64_t vae_ns, conv_ns, frame_bytes;
};

struct vpa_sweep_edge {
	uint64_t time_ns;
	uint32_t references, previous, next; /* VPA_NONE at the ends */
	uint32_t device_count;
	size_t device_cap;
	struct vpa_sweep_sums *devices; /* since the previous edge; NULL: see packed */
	uint8_t *packed;                /* NULL: see devices */
	uint32_t packed_bytes;
	struct vpa_sweep_notes notes;
};

/* Packs an edge's sums to those that are not 0. Without memory they stay unpacked. */
void vpa_edge_pack(struct vpa_sweep_edge *e);
/* Undoes that. 0 or VPT_ENOMEM. */
int vpa_edge_unpack(struct vpa_sweep_edge *e);
void vpa_edge_free(struct vpa_sweep_edge *e); /* its sums */

/* Moves the sums since the last edge to a new one, allocated without spare room, since edges are
 * many. 0 or VPT_ENOMEM. */
int vpa_edge_take(struct vpa_sweep_edge *e, struct vpa_sweep_edge *now);

/* Moves the sums of `e` to the next edge, or to those since the last. On VPT_ENOMEM nothing has
 * moved. */
int vpa_edge_merge(struct vpa_sweep_edge *into, struct vpa_sweep_edge *e);

/* Adds the edge's sums over the devices of the mask, see vpa_sweep_between(). */
void vpa_edge_add(const struct vpa_sweep_edge *e, uint32_t mask, struct vpa_sweep_sums *sums,
	uint64_t *busy_ns, struct vpa_sweep_notes *notes);

/* The sums of a device, made zeroed on first use; NULL: no memory. */
static inline struct vpa_sweep_sums *vpa_edge_sums(struct vpa_sweep_edge *e, uint32_t device)
{
	if (e->packed && vpa_edge_unpack(e))
		return NULL;
	if (device >= e->device_count) {
		if (vpt_grow(&e->devices, &e->device_cap, (size_t)device + 1, sizeof(*e->devices)))
			return NULL;
		memset(e->devices + e->device_count, 0,
			(device + 1 - e->device_count) * sizeof(*e->devices));
		e->device_count = device + 1;
	}
	return &e->devices[device];
}

#endif
