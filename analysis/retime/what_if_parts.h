/* what_if_parts.h - the stages and steps of a report as stretches of its trace, and how long they are, on average: what an
 * answer to "what if" has by part.
 *
 * A part is a stage, the step, the pass over the context, or the step of a number in its block. Instances of warm-up
 * blocks, which come first, do not count.
 *
 * A replay knows when everything was done that had been done by a moment, not whose work that was. So a part that overlaps
 * another one is left out, unless one of them is always inside the other. */
#ifndef VPA_ANALYSIS_RETIME_WHAT_IF_PARTS_H
#define VPA_ANALYSIS_RETIME_WHAT_IF_PARTS_H

#include "analysis/report/report.h"
#include "analysis/retime/retime.h"

enum vpa_part_kind {
	VPA_PART_OF_STAGE,   /* from its first op's start to its last op's end */
	VPA_PART_OF_CONTEXT, /* the same */
	VPA_PART_OF_STEP, /* from its first op's start to that of the next step; as a stage, as these */
	VPA_PART_KINDS
};

/* "stage", "context", "step" */
const char *vpa_part_kind_name(enum vpa_part_kind kind);

struct vpa_timed_part {
	enum vpa_part_kind kind;
	const char *name; /* the report's */
	size_t from, to;  /* its instances: stretches of the list, by time */
};

struct vpa_timed_parts {
	struct vpa_span *spans;
	/* By stretch: of a step the number of its block, from 0; else 0. A step of the same block as the one before it has the
	 * next number in it. */
	uint32_t *groups;
	size_t span_count;
	struct vpa_timed_part *parts;
	size_t part_count;
	const char **
		left_out; /* names of parts that overlap others, or of which the report has not each instance */
	size_t left_out_count;
};

enum { VPA_TIMED_SPANS_MOST = 8192, VPA_TIMED_STEPS_MOST = 64 };

/* Lists them in the arena: stages and passes over the context of the overview, if the options request its lanes; steps of
 * step_parts, or, with `steps_are_stages`, those of the overview as a stage, if it has each. 0 or VPT_ENOMEM. */
int vpa_timed_parts_of(const struct vpa_report *r, int steps_are_stages, struct vpa_arena *arena,
	struct vpa_timed_parts *out);

/* The mean length of a part's instances in a world, whose spans begin at `first`; those without length are gone, and do not
 * count. `number`: only the one of that number in each block, from 0, among those that are not gone; -1: all. *count: how
 * many. 0 where there is none. `t` NULL: as they are in the list. */
double vpa_timed_mean_ns(const struct vpa_timed_parts *p, const struct vpa_timed_part *part,
	const struct vpa_retiming *t, size_t world, size_t first, int64_t number, uint64_t *count);

/* ---- unit_stages.c: the stages that the mean unit is made of, in the worlds of a replay ---- */

struct vpa_spans;

/* Lists, in the arena, the stages and passes over the context that are in no other one, if the unit is a block or a request
 * and all their instances are inside the units' span; else none. 0 or VPT_ENOMEM. */
int vpa_unit_stages_of(const struct vpa_report *r, const struct vpa_spans *s,
	struct vpa_arena *arena, struct vpa_timed_parts *out);

/* Fills in forecast.stages. The parts' spans begin at `first`; `world` is the one that predicted_ms is of,
 * VPA_WORLD_RECORDED where there is none. The forecast's base and paces must be known. 0 or VPT_ENOMEM. */
int vpa_unit_stages_write(struct vpa_report *r, const struct vpa_spans *s,
	const struct vpa_timed_parts *p, const struct vpa_retiming *t, size_t first, size_t world);

#endif
