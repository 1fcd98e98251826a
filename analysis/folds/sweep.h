/* sweep.h - device time cut at moments that are known only later.
 *
 * A block ends with the last of its ops, and which one that was shows only when no more come. So a *cut*
 * has a moment that moves on while ops extend it. When the sweep passes a cut's moment an *edge* is set
 * there, and what the devices did is added up between edges; if the cut moves on after all, its edge goes
 * and the sums on both sides become one. In the end every cut stands on an edge, and between any two
 * of them
 *
 *	exclusive time of each kernel family + idle time by cause = time between them
 *
 * to the nanosecond for each device, pauses of the recording apart. Memory: an edge for each cut at most, not for
 * each op. */
#ifndef VPA_ANALYSIS_FOLDS_SWEEP_H
#define VPA_ANALYSIS_FOLDS_SWEEP_H

#include "analysis/folds/sweep_edge.h"

struct vpa_sweep_cut {
	uint64_t time_ns;
	uint32_t edge; /* VPA_NONE: not passed yet */
	int waits;
};

struct vpa_sweep {
	struct vpa_sweep_edge *edges;
	size_t edge_count, edge_cap;
	uint32_t first, last, unused; /* edges; VPA_NONE: none */
	struct vpa_sweep_cut *cuts;
	size_t cut_count, cut_cap;
	uint32_t *waiting; /* cuts that are still to be passed */
	size_t waiting_count, waiting_cap;
	uint64_t earliest_ns; /* none of them is before this */
	uint64_t at_ns;       /* everything before it has been seen */
	struct vpa_sweep_device *devices;
	size_t device_count, device_cap;
	struct vpa_sweep_edge now; /* since the last edge */
	int failed; /* VPT_ENOMEM where nobody could be told; vpa_sweep_end() tells */
	struct vpa_sweep_gap_part {
		uint64_t start_ns, end_ns;
		uint32_t device, part;
	} * gaps; /* known, but ahead of the sweep */
	size_t gap_count, gap_cap, gap_taken;
};

void vpa_sweep_init(struct vpa_sweep *s);
void vpa_sweep_free(struct vpa_sweep *s);

/* A cut that has no moment yet. VPA_NONE: no memory. */
uint32_t vpa_sweep_cut_new(struct vpa_sweep *s);
/* Puts a cut where another is. */
int vpa_sweep_cut_copy(struct vpa_sweep *s, uint32_t cut, uint32_t from);
/* A cut that is about to move on is not passed until it has. */
void vpa_sweep_hold(struct vpa_sweep *s, uint32_t cut);
/* Moves a cut that is held to `time_ns`, which lies ahead of the sweep, unless it stands later already, and ends
 * the hold. 0 or VPT_ENOMEM. */
int vpa_sweep_extend(struct vpa_sweep *s, uint32_t cut, uint64_t time_ns);

/* Passes the cuts up to `time_ns`, an op's start. Hold the cuts that go with the op first. */
int vpa_sweep_reach(struct vpa_sweep *s, uint64_t time_ns);
/* Adds an op of a kernel family, or VPA_FAMILY_MEMCPY or _MEMSET, and reaches its start first. Ops come in order
 * of start. */
int vpa_sweep_op(
	struct vpa_sweep *s, uint32_t device, uint32_t family, uint64_t start_ns, uint64_t end_ns);
/* The same for ops [begin, end) of a batch, which are of this run and come with the gaps before them that
 * ops->gap_cause has. */
int vpa_sweep_ops(struct vpa_sweep *s, const struct vpa_ops *ops, const struct vpa_op_run *run,
	size_t begin, size_t end);
/* Of ops that come later too: what the device did in it is looked at when the sweep gets there. */
int vpa_sweep_gap(struct vpa_sweep *s, uint32_t device, enum vpa_cause cause, uint64_t start_ns,
	uint64_t end_ns);
/* An edge that stays, where the sweep is. VPA_NONE: no memory. */
uint32_t vpa_sweep_pin(struct vpa_sweep *s);
void vpa_sweep_release(struct vpa_sweep *s, uint32_t edge); /* accepts VPA_NONE */

/* No more ops: passes everything. */
int vpa_sweep_end(struct vpa_sweep *s);

/* Adds up the sums between two edges (VPA_NONE: from the beginning, to the end) over the devices of the
 * mask; any of the outputs may be NULL. busy_ns has VPA_SWEEP_DEVICES numbers. */
void vpa_sweep_between(const struct vpa_sweep *s, uint32_t from, uint32_t to, uint32_t device_mask,
	struct vpa_sweep_sums *sums, uint64_t *busy_ns, struct vpa_sweep_notes *notes);

#endif
