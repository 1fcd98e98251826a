/* idle_clock.h - how long a device had been idle in the window up to a given moment.
 *
 * The stream of ops gives this for the start of each op. For any other moment it is the value of the
 * next op, less the part of the gap before that op that had not passed. Exact for the newest 8,192
 * ops of a device. Older ops are merged into ever longer stretches, each with its longest gap; the
 * other gaps of a stretch are assumed to be spread evenly. So memory does not grow with the trace,
 * and the error for an old moment is less than the sum of its stretch's other gaps. */
#ifndef VPA_ANALYSIS_IDLE_IDLE_CLOCK_H
#define VPA_ANALYSIS_IDLE_IDLE_CLOCK_H

#include "analysis/idle/idle.h"

/* A stretch of older ops; it ends where the next one begins. */
struct vpa_idle_stretch {
	uint64_t start_ns, idle_ns;                     /* idle time up to its start */
	uint64_t gap_start_ns, gap_end_ns, gap_idle_ns; /* its longest gap; idle time up to that */
};

/* All zeros is a clock without ops. */
struct vpa_idle_clock {
	/* Of the newest ops: start, and idle time of the device up to it. Differences are the gaps. Rings. */
	uint64_t *starts_ns, *idle_ns;
	size_t first, count;     /* the oldest op's place in them; how many ops */
	uint64_t before_idle_ns; /* idle_ns of the op before them; 0: none */
	size_t hint;             /* index of the last answer */
	struct vpa_idle_stretch *stretches;
	size_t stretch_count;
	size_t stretch_hint; /* the last answer among stretches */
};

/* Adds ops [begin, end), all of the clock's device. 0 or VPT_ENOMEM. */
int vpa_idle_clock_add(
	struct vpa_idle_clock *k, const struct vpa_ops *ops, size_t begin, size_t end);

/* Idle time of the device up to `at_ns`, which lies in the window, without pauses. Every op that
 * begins before it must have been added. */
uint64_t vpa_idle_clock_at(
	struct vpa_idle_clock *k, const struct vpa_idle *idle, uint32_t device, uint64_t at_ns);

void vpa_idle_clock_free(struct vpa_idle_clock *k);

#endif
