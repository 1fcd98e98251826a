/* cupti_clock.h - CUPTI's clock, where another tool has replaced it.
 *
 * A client that registers a timestamp callback sets the clock of all CUPTI records in the process.
 * PyTorch's profiler does, and its counter of processor ticks stays after it finishes. We then read
 * both clocks at the same moments and convert times to the trace clock: between two readings, along
 * the line through them; before the first and after the last, along the nearest line. Ticks come at
 * a steady rate, so this is as exact as the readings. If either clock goes back, it was set or
 * replaced again, and a new line begins.
 *
 * A time near the trace clock is left as it is: the clock may have been replaced during the
 * capture. The writer only. */
#ifndef VPTRACE_TRACER_CUPTI_RECORDS_CUPTI_CLOCK_H
#define VPTRACE_TRACER_CUPTI_RECORDS_CUPTI_CLOCK_H

#include "formats/base/saturate.h"
#include "formats/event_schema.h"
#include "tracer/cupti/library/cupti_sizes.h"
#include "tracer/handover/buffer_pool.h"

/* Times further than this from the trace clock come from another clock. 30 days: two clocks either
 * both show the time of day or are unrelated. */
#define VTR_CLOCK_FAR_NS UINT64_C(2592000000000000)

static inline int vtr_clock_is_far(uint64_t time, uint64_t trace_ns)
{
	return vpt_distance(time, trace_ns) > VTR_CLOCK_FAR_NS;
}

/* A CUPTI clock further than this from the trace clock is another clock. */
enum { VTR_CLOCK_SKEW_NS = 1000000 };

/* How far CUPTI's clock is from the trace clock, if that is near but another clock; else 0. `doubt_ns` from
 * vtr_clock_point(): between the two readings a busy machine, a debugger or a suspended one may have
 * let any time pass. A distance within it says nothing. */
static inline int64_t vtr_cupti_clock_skew(
	uint64_t cupti, const struct vpt_clock *moment, uint64_t doubt_ns)
{
	uint64_t trace_ns = moment->trace_ns;
	uint64_t distance = vpt_distance(cupti, trace_ns);

	if (!cupti || vtr_clock_is_far(cupti, trace_ns) || distance <= doubt_ns ||
		distance - doubt_ns <= VTR_CLOCK_SKEW_NS)
		return 0;
	return (int64_t)(cupti - trace_ns);
}

/* Points kept, and their minimum distance; only the newest may be closer to its predecessor. */
enum { VTR_CUPTI_CLOCK_POINTS = 256, VTR_CUPTI_CLOCK_APART_NS = 1000000000 };

struct vtr_cupti_clock {
	struct vtr_cupti_point {
		uint64_t cupti, trace_ns;
	} points[VTR_CUPTI_CLOCK_POINTS]; /* a ring; both rise */
	uint64_t count;                   /* points kept on this line; the newest is count - 1 */
	uint64_t read_ns,
		read_before_ns; /* CLOCK_MONOTONIC of the last two readings, good or not */
	uint64_t error_ns;  /* largest distance of a reading from the line through its neighbours */
	uint64_t converted; /* times converted */
};

/* Adds a reading of CUPTI's clock, taken at `moment`; 0: it could not be read. A reading near the
 * trace clock, or of a clock that stands still, is ignored. */
void vtr_cupti_clock_reading(
	struct vtr_cupti_clock *c, uint64_t cupti, const struct vpt_clock *moment);

/* Whether times can be converted, which takes two points. */
static inline int vtr_cupti_clock_is_known(const struct vtr_cupti_clock *c)
{
	return c->count >= 2;
}

/* Whether times up to `monotonic_ns` (CLOCK_MONOTONIC) can be converted without waiting for another
 * reading: a point follows them, or two readings after them have come and more would not help. */
static inline int vtr_cupti_clock_reaches(const struct vtr_cupti_clock *c, uint64_t monotonic_ns)
{
	return c->read_before_ns >= monotonic_ns ||
	       (vtr_cupti_clock_is_known(c) && c->read_ns >= monotonic_ns);
}

/* Whether the first time in a buffer comes from another clock. */
int vtr_cupti_clock_is_foreign(const struct vtr_sizes *sizes, const struct vtr_full *full);

/* The earliest times in a buffer: near the trace clock, which shows `now_ns`, and of another clock.
 * UINT64_MAX: none. */
void vtr_cupti_clock_earliest(const struct vtr_sizes *sizes, const uint8_t *buffer,
	size_t valid_bytes, uint64_t now_ns, uint64_t *near_ns, uint64_t *far);

/* Converts a record's time to the trace clock. 0, which means none, stays 0. */
uint64_t vtr_cupti_clock_convert(struct vtr_cupti_clock *c, uint64_t time);

/* Converts all times of a buffer's records, in place. */
void vtr_cupti_clock_buffer(
	struct vtr_cupti_clock *c, const struct vtr_sizes *sizes, const struct vtr_full *full);

#endif
