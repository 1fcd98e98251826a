/* idle_clock.h - how long a device had stood idle in the window up to any moment.
 *
 * The stream of ops says it for the start of each op; for any other moment it is that of the op behind it, less what of the
 * gap in front of that op had not passed. Exact for the newest 8,192 ops of a device. Of what lies further back ever longer
 * stretches are kept, each with its longest gap: in one the other gaps are taken as spread evenly. So memory does not
 * grow with the trace, and what is asked about long ago is off by less than a stretch's short gaps. */
#ifndef VPA_ANALYSIS_FOLDS_IDLE_CLOCK_H
#define VPA_ANALYSIS_FOLDS_IDLE_CLOCK_H

#include "analysis/idle.h"

/* Of former ops; it ends where the next one begins. */
struct vpa_idle_stretch {
	uint64_t start_ns, idle_ns;                     /* idle time up to its start */
	uint64_t gap_start_ns, gap_end_ns, gap_idle_ns; /* its longest gap; idle time up to that */
};

/* All zeros is a clock that has seen no op. */
struct vpa_idle_clock {
	/* Of the newest ops: start, and idle time of the device up to it. The gap that ends with one is the difference. */
	uint64_t *start_ns, *idle_ns;
	size_t count;
	uint64_t before_idle_ns; /* the same of the op before them; 0: there was none */
	size_t hint;             /* where the last answer was found */
	struct vpa_idle_stretch *stretches;
	size_t stretch_count;
};

/* Takes ops [begin, end), which are of the clock's device. 0 or VPT_ENOMEM. */
int vpa_idle_clock_add(
	struct vpa_idle_clock *k, const struct vpa_ops *ops, size_t begin, size_t end);

/* Idle time of the device up to `at_ns`, which lies in the window, pauses left out. All ops that begin before it have been
 * added. */
uint64_t vpa_idle_clock_at(
	struct vpa_idle_clock *k, const struct vpa_idle *idle, uint32_t device, uint64_t at_ns);

void vpa_idle_clock_free(struct vpa_idle_clock *k);

#endif
