/* system_clock.h - the kernel's clocks, in nanoseconds.
 *
 * capture_clock.h and tsc.h build on it: the counter is compared with these clocks, and the trace clock
 * falls back to one. */
#ifndef VPTRACE_TRACER_CLOCK_SYSTEM_CLOCK_H
#define VPTRACE_TRACER_CLOCK_SYSTEM_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Through the dynamic linker on purpose: simulated time replaces clock_gettime(). Any thread. */
static inline uint64_t vtr_clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

#endif
