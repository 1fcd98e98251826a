/* sweep.h - cuts device time at moments that become known later.
 *
 * A block ends with its last op, which is known only when no more come. So a *cut* has a moment that
 * moves on while ops extend it. When the sweep passes a cut's moment it sets an *edge* there and sums
 * what the devices do between edges; if the cut moves on after all, its edge is removed and the sums
 * on both sides are merged. In the end every cut has an edge, and between any two edges
 *
 *	exclusive time of each kernel family + idle time by cause = time between them
 *
 * to the nanosecond for each device, except pauses of the recording. Memory: at most an edge per cut,
 * not per op. */
#ifndef VPA_ANALYSIS_PIPELINE_SWEEP_H
#define VPA_ANALYSIS_PIPELINE_SWEEP_H

#include "analysis/model/model.h"
#include "formats/base/memory.h"

#include <string.h>

/* ---- sweep_edge.c: what the devices did between the previous edge of the sweep and this one ---- */

enum {
	/* The parts of a device's time: kernel families, then causes of idle time. */
	VPA_SWEEP_IDLE = VPA_FAMILY_COUNT,
	VPA_SWEEP_PARTS = VPA_FAMILY_COUNT + VPA_CAUSES,
	/* Then, of the causes, what the host did in time that counts to an earlier call. */
	VPA_SWEEP_ALL = VPA_SWEEP_PARTS + VPA_INSTEADS,
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

struct vpa_sweep_cut {
	uint64_t time_ns;
	uint32_t edge;  /* VPA_NONE: not passed yet */
	uint32_t waits; /* 1 + its place among those that wait; 0: it does not */
};

struct vpa_sweep {
	struct vpa_sweep_edge *edges;
	size_t edge_count, edge_cap;
	uint32_t first, last, unused; /* edges; VPA_NONE: none */
	struct vpa_sweep_cut *cuts;
	size_t cut_count, cut_cap;
	/* A heap of the cuts not passed yet: none is before that at half its place. */
	uint32_t *waiting;
	size_t waiting_count, waiting_cap;
	uint32_t unused_cut;  /* chained by `edge`; VPA_NONE: none */
	uint64_t earliest_ns; /* the earliest waiting cut; UINT64_MAX: none */
	uint64_t at_ns;       /* the sweep has seen everything before this */
	struct vpa_sharing *devices;
	size_t device_count, device_cap;
	uint32_t worked;           /* bits of the devices that had an op so far */
	struct vpa_sweep_edge now; /* since the last edge */
	int failed; /* VPT_ENOMEM of a call that cannot return it; vpa_sweep_end() does */
	struct vpa_sweep_gap_part {
		uint64_t start_ns, end_ns;
		uint32_t device, part;
	} * gaps; /* known, but ahead of the sweep */
	size_t gap_count, gap_cap, gap_taken;
};

void vpa_sweep_init(struct vpa_sweep *s);
void vpa_sweep_free(struct vpa_sweep *s);

/* Makes a cut that has no moment yet. VPA_NONE: no memory. */
uint32_t vpa_sweep_cut_new(struct vpa_sweep *s);
/* Accepts VPA_NONE. */
void vpa_sweep_cut_free(struct vpa_sweep *s, uint32_t cut);
/* Moves a cut to where another is. 0 or VPT_ENOMEM. */
int vpa_sweep_cut_copy(struct vpa_sweep *s, uint32_t cut, uint32_t from);
/* Keeps the sweep from passing a cut that is about to move, until vpa_sweep_extend(). */
void vpa_sweep_hold(struct vpa_sweep *s, uint32_t cut);
/* Moves a held cut to `time_ns`, which lies ahead of the sweep, unless it is later already, and ends
 * the hold. 0 or VPT_ENOMEM. */
int vpa_sweep_extend(struct vpa_sweep *s, uint32_t cut, uint64_t time_ns);

/* Passes the cuts up to `time_ns`, an op's start. Hold the cuts that the op extends first. */
int vpa_sweep_reach(struct vpa_sweep *s, uint64_t time_ns);
/* Reaches an op's start, then adds the op, of a kernel family or VPA_FAMILY_MEMCPY or _MEMSET. Ops
 * come in order of start. */
int vpa_sweep_op(
	struct vpa_sweep *s, uint32_t device, uint32_t family, uint64_t start_ns, uint64_t end_ns);
/* The same for ops [begin, end) of a batch, all of this run, with the gaps before them that
 * ops->gap_cause describes. */
int vpa_sweep_ops(struct vpa_sweep *s, const struct vpa_ops *ops, const struct vpa_op_run *run,
	size_t begin, size_t end);
/* Adds a gap, also one ahead of the sweep: it is counted when the sweep gets there. */
int vpa_sweep_gap(struct vpa_sweep *s, uint32_t device, enum vpa_cause cause, uint64_t start_ns,
	uint64_t end_ns);
/* Adds what the host did in a part of a gap of that cause. */
int vpa_sweep_instead(struct vpa_sweep *s, uint32_t device, enum vpa_cause cause,
	enum vpa_cause host, uint64_t start_ns, uint64_t end_ns);
/* Sets an edge where the sweep is; it stays until released. VPA_NONE: no memory. */
uint32_t vpa_sweep_pin(struct vpa_sweep *s);
void vpa_sweep_release(struct vpa_sweep *s, uint32_t edge); /* accepts VPA_NONE */

/* After the last op: passes everything. 0 or VPT_ENOMEM. */
int vpa_sweep_end(struct vpa_sweep *s);

/* Adds up the sums between two edges (VPA_NONE: the beginning, the end) over the devices of the
 * mask. Any output may be NULL; busy_ns has VPA_SWEEP_DEVICES numbers. */
void vpa_sweep_between(const struct vpa_sweep *s, uint32_t from, uint32_t to, uint32_t device_mask,
	struct vpa_sweep_sums *sums, uint64_t *busy_ns, struct vpa_sweep_notes *notes);

#endif
