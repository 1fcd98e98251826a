/* rank_parts.h - what rank_read.c makes a rank from: who it is, what its device did, why its collectives start. */
#ifndef VPA_ANALYSIS_RANKS_RANK_RANK_PARTS_H
#define VPA_ANALYSIS_RANKS_RANK_RANK_PARTS_H

#include "analysis/ranks/rank/rank_summary.h"
#include "analysis/report/report.h"

/* ---- rank_facts.c: who a rank is: what its report says of the process, the machine and the GPU ---- */

/* Which ranks a report has. */
struct vpa_rank_company {
	int is_only; /* one, so what the report says of a rank is of this one */
	int is_one_process; /* of one process: else units of several are one series in the report, and none of a rank */
	int is_whole; /* no window: what the file says of a rank's units holds */
};

/* Sets the members of a rank that a report decides, those of its clock, its unit and what is missing included; `pid` and
 * `device` are set already. 0 or VPT_ENOMEM. */
int vpa_rank_describe(
	struct vpa_rank *rank, const struct vpa_report *r, struct vpa_rank_company company);

/* Gives it the number of its GPU that its process has, where the file says it: in a file of several ranks GPUs have other numbers, by
 * which vpa_condense() knows them. */
void vpa_rank_number_device(struct vpa_rank *rank, const struct vpa_report *r);

/* ---- rank_timeline.c: what a device did at each moment, cut into stretches at given times.
 *
 *	compute   ======      ====
 *	comm         =======         ===
 *	copies                  ====
 *	idle                           ~~~~
 *	          |    :     |       :    |       cut at marks: each stretch is a sum of parts
 *
 * Of what runs at the same time the first class counts, of one class what began first. Every nanosecond between the
 * first start and the last end has one part. */

struct vpa_timeline_stretch {
	uint64_t start_ns, end_ns;
	uint32_t part;
};

/* All zeros is empty. */
struct vpa_rank_timeline {
	struct vpa_timeline_class {
		struct vpa_timeline_stretch *items;
		size_t count, cap;
	} classes[VPA_TIME_CLASSES];
};

/* Adds what ran, or why nothing did. Of a class but IDLE, in order of start; what an earlier one of the class covers is
 * left out. 0 or VPT_ENOMEM. */
int vpa_rank_timeline_put(struct vpa_rank_timeline *t, enum vpa_part_class klass, uint64_t start_ns,
	uint64_t end_ns, uint32_t part);

/* Fills the parts of the rank's detail with the stretches before each of its marks, from `first_ns` on, and sets their part_end. Adds to
 * rank->class_ns and part_ns what is between `first_ns` and `last_ns`; there is room for each part. `unknown`: the part of
 * time of which nothing is known. 0 or VPT_ENOMEM. */
int vpa_rank_timeline_cut(struct vpa_rank_timeline *t, uint64_t first_ns, uint64_t last_ns,
	uint32_t unknown, struct vpa_rank *rank);

void vpa_rank_timeline_free(struct vpa_rank_timeline *t);

/* ---- condense.c: why a rank's collectives start when they do: the replay of its capture, for all ends of collectives at once.
 *
 * A time of a replay is the latest of earlier times plus lengths, see retime/edges.h. Followed back to the ends of
 * collectives, which other ranks decide, a start is
 *
 *	start = max(end of collective i + a, end of collective j + b, ..., the rank's first op + z)
 *
 * with one to a few terms: a term that another one always outweighs is left out. So all ranks can be replayed together,
 * with other ends, from these numbers alone. */

struct vpt_trace;

enum { VPA_CONDENSED_MOST = 8000000 /* calls and ops of a trace that is replayed */ };

/* Sets the terms of the trace's ranks, which are not folded. A trace that cannot be replayed or is too large has none, nor has a rank whose
 * terms do not give what was recorded. 0, VPT_ENOMEM or VPT_EIO. */
int vpa_condense(const struct vpt_trace *trace, unsigned jobs, struct vpa_rank *const *ranks,
	size_t count, struct vpt_err *err);

#endif
