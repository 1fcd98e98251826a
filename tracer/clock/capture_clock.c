/* capture_clock.c - reading several clocks at once.
 *
 * Each reading is bracketed by two of the trace clock; the tightest of 16 brackets wins, which on
 * an idle machine leaves some 50 ns of doubt. */
#include "tracer/clock/capture_clock.h"

uint64_t vtr_clock_point(
	uint64_t (*cupti)(void *ctx), void *ctx, struct vpt_clock *out, uint64_t *cupti_time)
{
	uint64_t tightest = UINT64_MAX;
	int i;

	*cupti_time = 0;
	for (i = 0; i < 16; i++) {
		/* CUPTI's is read in the middle and counts as the bracket's middle. */
		uint64_t before = vtr_clock_ns(CLOCK_REALTIME);
		uint64_t monotonic = vtr_clock_ns(CLOCK_MONOTONIC), other = cupti ? cupti(ctx) : 0;
		uint64_t boottime = vtr_clock_ns(CLOCK_BOOTTIME),
			 after = vtr_clock_ns(CLOCK_REALTIME);

		if (after < before || after - before >= tightest)
			continue;
		tightest = after - before;
		out->realtime_ns = out->trace_ns = before + tightest / 2;
		out->monotonic_ns = monotonic;
		out->boottime_ns = boottime;
		*cupti_time = other;
	}
	if (tightest != UINT64_MAX)
		return tightest - tightest / 2;
	/* The clock went back each time. */
	out->realtime_ns = out->trace_ns = vtr_clock_ns(CLOCK_REALTIME);
	out->monotonic_ns = vtr_clock_ns(CLOCK_MONOTONIC);
	out->boottime_ns = vtr_clock_ns(CLOCK_BOOTTIME);
	return UINT64_MAX;
}
