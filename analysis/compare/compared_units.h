/* compared_units.h - what two captures are compared by: the units of work that both have.
 *
 * A unit is a measured video block, a request, a step, an iteration, an instance of a range, or the whole window. It has a key, by which units of two
 * captures are paired: the request's number among those with such units, and the unit's index in it; of a step, its
 * place among all steps of the request, also those without a period, or block and place in it. A series drifts and its
 * neighbours resemble each other, so the k-th unit is compared with the k-th. */
#ifndef VPA_ANALYSIS_COMPARE_COMPARED_UNITS_H
#define VPA_ANALYSIS_COMPARE_COMPARED_UNITS_H

#include "analysis/pipeline/unit.h"
#include "analysis/report/overview.h"
#include "analysis/report/report.h"

enum {
	/* Of a unit's time on its devices: those of overview.h, where what the host did is part of the causes; then
	 * what else there is. */
	VPA_UNIT_PAUSED = VPA_OVERVIEW_ALL,
	VPA_UNIT_BUSY, /* busy time without a family, idle time without a cause */
	VPA_UNIT_IDLE,
	VPA_UNIT_PARTS
};

struct vpa_unit {
	uint64_t request;
	int64_t index;
	int64_t block, in_block;    /* of a step: its block, and its place there; block -1: none */
	uint64_t period_ns, frames; /* frames 0: not known */
	unsigned devices;
	/* busy + idle + paused = period * devices. */
	uint64_t busy_ns, idle_ns, paused_ns;
	const uint64_t *parts_ns; /* VPA_OVERVIEW_ALL of them; NULL: not known */
	int lacks_did;            /* what the host did is not known */
	double judged_ns;         /* of a frame: judged by it, not by the period; 0: by that */
	int touched;              /* missing records may change the figures */
	int paired;               /* every capture of the comparison has the key */
};

struct vpa_units {
	const struct vpa_report *report;
	enum vpa_unit_kind kind;
	struct vpa_unit *units; /* by key */
	size_t count;
	uint64_t in_window; /* units in the whole window, measured or not; 1 for windows */
};

/* The report's units of a kind, in the arena; none: count 0. range: whose instances; NULL: of none. 0 or VPT_ENOMEM. */
int vpa_units_of(const struct vpa_report *r, enum vpa_unit_kind kind,
	const struct vpa_range_row *range, struct vpa_arena *arena, struct vpa_units *out);

/* Marks in all series the units whose key is in each of them. Returns how many that are. Where all steps of all
 * series are in blocks, their keys are block and place in it. */
size_t vpa_units_pair(struct vpa_units *all, size_t count);

/* Adds the parts of the paired units to sums[VPA_UNIT_PARTS]. Without `by_part`, busy and idle time are one
 * part each. Returns whether the parts are known. Sets *lacks_did if what the host did is not. */
int vpa_units_sum(const struct vpa_units *u, int by_part, uint64_t *sums, int *lacks_did);

#endif
