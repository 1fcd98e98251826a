/* cupti_clock.h - CUPTI's clock, where another tool has replaced it.
 *
 * Whoever registers a timestamp callback sets the clock for all of CUPTI's records in the process: PyTorch's profiler does,
 * and its counter of processor ticks stays when it is done. Then readings of both clocks at one moment tell what the
 * records' times are on the trace clock: between two readings, on the line through them; before the first and behind the
 * last, on the line that is nearest. Ticks come at a steady rate, so this is as good as the readings are. Where either
 * clock goes back it was set, or replaced once more, and another line begins.
 *
 * A time near the trace clock is taken as it is: the clock may have been replaced in the middle. Writer only. */
#ifndef VPTRACE_TRACER_CUPTI_CLOCK_H
#define VPTRACE_TRACER_CUPTI_CLOCK_H

#include "formats/schema.h"
#include "tracer/cupti_sizes.h"
#include "tracer/pool.h"

/* Times further than this from the trace clock are of another one: 30 days, since both tell the time of day, or they have
 * nothing to do with one another. */
#define VTR_CLOCK_FAR_NS UINT64_C(2592000000000000)

static inline int vtr_clock_is_far(uint64_t time, uint64_t trace_ns)
{
	uint64_t distance = time > trace_ns ? time - trace_ns : trace_ns - time;

	return distance > VTR_CLOCK_FAR_NS;
}

/* Points that are kept, and how far they are apart at least; only the newest is nearer to the one before. */
enum { VTR_CUPTI_CLOCK_POINTS = 256, VTR_CUPTI_CLOCK_APART_NS = 1000000000 };

struct vtr_cupti_clock {
	struct vtr_cupti_point {
		uint64_t cupti, trace_ns;
	} points[VTR_CUPTI_CLOCK_POINTS]; /* a ring; both rise */
	uint64_t count; /* of all of this line that stayed; the newest is count - 1 */
	uint64_t read_ns,
		read_before_ns; /* CLOCK_MONOTONIC of the last two readings, good or not */
	uint64_t error_ns;  /* how far a reading was at most from the line through its neighbours */
	uint64_t converted; /* times */
};

/* What CUPTI's clock said at a moment, 0: it could not be read. Readings of a clock that is not another one, or stands still,
 * are no points. */
void vtr_cupti_clock_reading(
	struct vtr_cupti_clock *c, uint64_t cupti, const struct vpt_clock *moment);

/* Whether times can be converted: that takes two points. */
static inline int vtr_cupti_clock_is_known(const struct vtr_cupti_clock *c)
{
	return c->count >= 2;
}

/* Whether there is nothing to wait for any more before times up to a moment of CLOCK_MONOTONIC are converted: they lie between
 * points, or before them; or two readings behind them have come, and more would not tell either. */
static inline int vtr_cupti_clock_reaches(const struct vtr_cupti_clock *c, uint64_t monotonic_ns)
{
	return c->read_before_ns >= monotonic_ns ||
	       (vtr_cupti_clock_is_known(c) && c->read_ns >= monotonic_ns);
}

/* Whether the first time in a buffer is one of another clock. */
int vtr_cupti_clock_is_foreign(const struct vtr_sizes *sizes, const struct vtr_full *full);

/* A time of a record on the trace clock. 0, which stands for none, stays. */
uint64_t vtr_cupti_clock_convert(struct vtr_cupti_clock *c, uint64_t time);

/* Converts all times of a buffer's records, in place. */
void vtr_cupti_clock_buffer(
	struct vtr_cupti_clock *c, const struct vtr_sizes *sizes, const struct vtr_full *full);

#endif
