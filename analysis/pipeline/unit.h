/* unit.h - what a user counts in, decided once for a report: blocks, requests, steps, iterations, inferred steps,
 * inferred rounds of steps, instances of a range, or nothing but the window.
 *
 * RESULT, gains, the checklist, comparisons, conditions and trends ask here, so they speak of the same unit. A comparison takes
 * the first in the order that all of its captures have; of one capture that is the unit of its report.
 *
 * Ranges that the program numbers, "section 0" to "section 4", come before steps that nothing marks: its user counts in them. Instances
 * of other ranges come after these.
 *
 * Rounds come before their steps, since what is between the steps is part of what a user waits for.
 *
 * Requests hold all work, so they come before steps, but fewer than VPA_UNIT_REQUESTS differ by chance more than steps
 * do: these come last of what is marked. Blocks that lack the VAE's work make no frames that can be shown: then requests
 * come before blocks. */
#ifndef VPA_ANALYSIS_PIPELINE_UNIT_H
#define VPA_ANALYSIS_PIPELINE_UNIT_H

#include "analysis/base/numbers.h"
#include "analysis/names/families.h"
#include "analysis/report/report.h"
#include "analysis/report/rows/unit_kind.h"

enum {
	/* Of four requests, since the last one has no time. */
	VPA_UNIT_REQUESTS = 3,
	VPA_UNIT_INSTANCES = 3 /* of a range */
};

/* A place in the order: a kind, and how many of it a report must have. */
struct vpa_unit_choice {
	enum vpa_unit_kind kind;
	size_t least;
	int of_series; /* of instances: of a series, see struct vpa_report */
};

/* The place after this one, the best first; after NULL, the first. The last is the window; after it, NULL.
 * `lacks_vae`: blocks lack the VAE's work. */
const struct vpa_unit_choice *vpa_unit_next(const struct vpa_unit_choice *choice, int lacks_vae);

/* Frames per second of units of the kind, as RESULT has them; 0: unavailable. */
double vpa_unit_fps(const struct vpa_report *r, enum vpa_unit_kind kind);

/* Frames per second as RESULT has them: of blocks, else end to end; 0: unavailable. */
double vpa_result_fps(const struct vpa_report *r);

/* What of the frames' way comes after the last measured block; VPA_REST_NONE: nothing, or not known. */
enum vpa_rest vpa_unit_after_blocks(const struct vpa_report *r);

/* How many units of the kind the report has: of one request, steps and iterations also the only one, which has no
 * period. */
size_t vpa_unit_count(const struct vpa_report *r, enum vpa_unit_kind kind);

/* The same range, or series, of another report, if it has enough instances; NULL: none. */
const struct vpa_range_row *vpa_unit_range_like(
	const struct vpa_report *r, const struct vpa_range_row *range);
/* Of its time on the GPUs, of the window of a report; below 0: too few instances, or a series that lies in inferred steps. They may
 * overlap. */
double vpa_unit_range_share(const struct vpa_report *r, const struct vpa_range_row *range);
/* The range, or series, as the first report has it, that has most of each report's time, if that is a tenth or more; NULL: none. The
 * same whichever report is first. */
const struct vpa_range_row *vpa_unit_range(
	const struct vpa_report *const *reports, size_t count, int of_series);
/* That of one report: of a series, which comes before all others. */
const struct vpa_range_row *vpa_unit_range_of(const struct vpa_report *r);

/* The device whose instances take longest together: the others wait for it, and their passes may be shorter than the time from one
 * pass to the next. There must be instances. */
uint32_t vpa_unit_slowest_device(const struct vpa_range_row *range);

/* N, if the optimizer runs in every N-th iteration, and gradients are summed in between. 0: it runs in each, or that is not known. */
size_t vpa_unit_cycle(const struct vpa_report *r);
/* How many of the last iterations are whole cycles, which RESULT is of. 0: there are no cycles. */
size_t vpa_unit_in_cycles(const struct vpa_report *r);
/* Whether GPUs communicate in each step or iteration, and nowhere more than twice as long as elsewhere. */
int vpa_unit_reduces_in_each(const struct vpa_report *r);

/* Whether the unit is iterations of training: kernels are of an optimizer, or of a backward pass. A decoder may use those of
 * convolutions, too. */
int vpa_unit_trains(const struct vpa_report *r);

/* Inferred repetitions of one device. */
struct vpa_unit_turns {
	const struct vpa_inferred_step *at;
	size_t count;
	uint64_t left_first_ns; /* as of struct vpa_inferred */
};

/* Those that the kind counts: rounds, or steps. */
struct vpa_unit_turns vpa_unit_turns_of(const struct vpa_inferred *row, enum vpa_unit_kind kind);
/* Whether the kind counts inferred repetitions. */
static inline int vpa_unit_is_inferred(enum vpa_unit_kind kind)
{
	return kind == VPA_UNIT_INFERRED || kind == VPA_UNIT_ROUND;
}

/* The unit's kind. */
enum vpa_unit_kind vpa_unit_of(const struct vpa_report *r);

/* The report's units, summed: of blocks, those that RESULT shows. */
struct vpa_mean_unit {
	enum vpa_unit_kind kind;
	double units; /* how many the figures below are of; 0: these are not known */
	int has_rate; /* units follow each other, as steps do: a rate per second makes sense */
	int without_first; /* of several requests, and their steps: the first one sets up what the others reuse */
	double stretch;   /* length of a unit as the report shows it / span_ns per unit */
	uint64_t span_ns; /* of all of them */
	uint64_t start_ns, first_end_ns, end_ns; /* on the trace clock; all 0: see checklist.c */
	uint64_t busy_ns, idle_ns;               /* in them, summed over devices */
	/* The same in inferred steps that no other follows, which have no period: not in the sums. */
	uint64_t rest_busy_ns, rest_idle_ns;
	/* At least so much some device did in them itself, see vpa_work_ns(). 0: not known. */
	uint64_t work_ns;
	unsigned devices; /* of the sums */
	int has_parts;    /* the same by kernel family and cause is known */
	uint64_t family_ns[VPA_FAMILY_COUNT], cause_ns[VPA_CAUSES];
	uint64_t ops;     /* in the parts */
	int from_host;    /* the only unit is measured from its start on the host */
	uint64_t head_ns; /* part of the only unit before the first op of all; 0: none */
	uint64_t tail_ns; /* part of it after the last op of all; 0: none */
	/* Idle time in it before its first op, while the devices had earlier work; summed over devices. */
	uint64_t idle_before_ns;
	const struct vpa_range_row *range; /* of instances; else NULL */
};

/* The window has no figures: `units` is 0. */
struct vpa_mean_unit vpa_mean_unit_of(const struct vpa_report *r);

/* The mean unit's length, as RESULT shows it; 0: not known. */
uint64_t vpa_mean_unit_ns(const struct vpa_mean_unit *u);
/* Idle time in the units of these causes, a bit each. */
uint64_t vpa_mean_unit_idle(const struct vpa_mean_unit *u, uint32_t causes);
/* How much of these causes in the units is at a place that has `place_ns` of the window's `all_ns`: all or nearly all of it
 * only if it must be so, however the rest lies; else most or half, as in the window, from half on; else some, as also where
 * most of these causes is outside the units, and what of the place must be inside is less than half. `u` NULL: in the window. */
enum vpa_amount vpa_mean_unit_amount_at(
	const struct vpa_mean_unit *u, uint32_t causes, uint64_t place_ns, uint64_t all_ns);
/* Adds the time before the first op of the only unit, by what the host did in it, as far as known: VPA_CAUSES of them. */
void vpa_mean_unit_head(
	const struct vpa_report *r, const struct vpa_mean_unit *u, uint64_t *cause_ns);
/* Busy time in the units of a kernel family. */
uint64_t vpa_mean_unit_busy(const struct vpa_mean_unit *u, enum vpa_family family);

#endif
