/* host_stop.h - when the host stands still: for 5 ms and longer it is where others take microseconds, in the launch of a kernel, or in
 * a wait for what has long ended.
 *
 * Nothing records such stops as what they are: other processes have the cores, the CPU quota of a container is used up, pages are read
 * from disk. A quota shows itself, since a thread that it stops goes on when the next period begins: Linux has periods of 100 ms. */
#ifndef VPA_ANALYSIS_REPORT_ROWS_HOST_STOP_H
#define VPA_ANALYSIS_REPORT_ROWS_HOST_STOP_H

#include <stdint.h>

enum {
	VPA_STOP_NS = 5000000,      /* shorter ones are not seen */
	VPA_STOP_NEAR_NS = 2000000, /* stops that end together do so within this time */
	VPA_QUOTA_NS = 100000000    /* the usual period of a quota */
};

/* When stops end: at from_ns, and each every_ns after it, or up to VPA_STOP_NEAR_NS later. */
struct vpa_stop_clock {
	uint64_t every_ns; /* 0: at any time */
	uint64_t from_ns;
};

/* Whether a stop can end then. */
static inline int vpa_stop_ends_at(struct vpa_stop_clock clock, uint64_t ns)
{
	uint64_t every_ns = clock.every_ns;

	if (!every_ns)
		return 1;
	return (ns % every_ns + every_ns - clock.from_ns % every_ns) % every_ns < VPA_STOP_NEAR_NS;
}

#endif
