/* capture_clock.h - the clocks of a capture.
 *
 * The trace clock is CLOCK_REALTIME: CUPTI stamps with it unless another tool changed that, and
 * ranges use it too, through tsc.h where that is cheaper. Real time may be set while a capture
 * runs; clock points, one a second, show a reader when. */
#ifndef VPTRACE_TRACER_CLOCK_CAPTURE_CLOCK_H
#define VPTRACE_TRACER_CLOCK_CAPTURE_CLOCK_H

#include "formats/event_schema.h"
#include "tracer/clock/system_clock.h"
#include "tracer/clock/tsc.h"

#include <stdint.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* The trace clock. */
static inline uint64_t vtr_now(void)
{
#if defined(__x86_64__)
	uint64_t ns;

	if (atomic_load_explicit(&vtr_tsc.valid, memory_order_relaxed) &&
		(ns = vtr_tsc_convert(&vtr_tsc, __rdtsc())) != 0)
		return ns;
#endif
	return vtr_clock_ns(CLOCK_REALTIME);
}

/* One moment on several clocks, the best of 16 readings. `cupti` reads CUPTI's clock into
 * *cupti_time; NULL: *cupti_time is 0. Returns the doubt: how far from out->trace_ns the trace clock
 * may have been when another clock was read. It is large if something else ran within each of the 16
 * readings. Any thread. */
uint64_t vtr_clock_point(
	uint64_t (*cupti)(void *ctx), void *ctx, struct vpt_clock *out, uint64_t *cupti_time);

#endif
