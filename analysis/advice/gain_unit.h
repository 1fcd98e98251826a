/* gain_unit.h - what a gain is a part of: the unit that a user counts in.
 *
 * That is the mean measured block; without blocks the mean marked step or iteration, then the mean
 * inferred step. Where none is known, or where a gain lies elsewhere, it is the active time, from the first op of
 * any device to the last.
 *
 * A gain is known for the whole window: its part inside the units is the same share as of the idle time of its
 * cause, or of the busy time of its kernel family. Of units whose time is not known by cause and family, such as
 * inferred steps, all of it may be inside that there is room for, if at least half of it must be; else how much
 * is inside is not known. */
#ifndef VPA_ANALYSIS_ADVICE_GAIN_UNIT_H
#define VPA_ANALYSIS_ADVICE_GAIN_UNIT_H

#include "analysis/report/report.h"

struct vpa_gain_unit {
	const char *name; /* "block", "step", "iteration", "inferred step"; NULL: none is known */
	double units;     /* how many the figures below are of */
	int has_rate;     /* units follow each other as steps do: so many in a second */
	double stretch;   /* length of a unit as the report shows it / span_ns per unit */
	uint64_t span_ns; /* of all of them */
	uint64_t busy_ns, idle_ns; /* in them, summed over devices */
	/* At least so much some device did in them itself, see vpa_work_ns(). 0: not known. */
	uint64_t work_ns;
	/* The same by kernel family and cause; NULL: not known. */
	const struct vpa_block_part *parts;
	size_t part_count;
	int from_host;    /* the only unit is measured from its start on the host */
	uint64_t head_ns; /* part of the only unit before the first op of all; 0: none */
};

struct vpa_gain_unit vpa_gain_unit_of(const struct vpa_report *r);

/* How much of `gain_ns` is inside the units, if devices waited `ns` for the causes, a bit each; 0: nothing, or not
 * known. */
uint64_t vpa_gain_unit_idle(const struct vpa_report *r, const struct vpa_gain_unit *base,
	uint32_t causes, uint64_t gain_ns, uint64_t ns);

/* How much of `ns` of busy time is inside them; of a kernel family's time, or NULL. 0: nothing, or not known. */
uint64_t vpa_gain_unit_busy(const struct vpa_report *r, uint64_t ns, const char *family);

#endif
