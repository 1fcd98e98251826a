/* overhead.h - when the profiling library or the driver's loader was at work, as one thread sees it. */
#ifndef VPA_ANALYSIS_IDLE_OVERHEAD_H
#define VPA_ANALYSIS_IDLE_OVERHEAD_H

#include "analysis/join/resolver.h"

/* Sets of records that may cover part of a thread's time. */
struct vpa_overheads {
	const struct vpa_overhead *of[2];
};

/* Whether overhead of all threads of the process counts for a call with this cause: they share the locks of the calls
 * they are in, but a wait for the device holds none. */
static inline int vpa_overhead_is_shared(enum vpa_cause cause)
{
	return cause != VPA_CAUSE_SYNC && cause != VPA_CAUSE_BLOCKING_COPY;
}

/* Those of no particular thread, and the thread's own; `shares`: of all threads of its process. */
struct vpa_overheads vpa_overheads_of(const struct vpa_resolver *r, uint32_t thread, int shares);

/* Whether the profiling library, else the loader, was at work at `t`: sets *cause. Lowers *until_ns to where the
 * answer may change. */
int vpa_overhead_at(
	const struct vpa_overheads *o, uint64_t t, uint64_t *until_ns, enum vpa_cause *cause);

#endif
