/* cupti_strays.h - buffers of another client of CUPTI that come back to us.
 *
 * A thread keeps the buffer that it records to when another client registers callbacks. So a
 * buffer which that client gave may hold records of our capture, and comes back to us if it fills
 * up or is flushed while the callbacks are ours. Its memory is the other's, which may free it: the
 * records are lost. Their earliest time says since when: a buffer with a record from before the
 * other client was seen was in use when the capture began.
 *
 * Added to in CUPTI's callback, read by the flusher's thread. */
#ifndef VPTRACE_TRACER_CUPTI_CUPTI_STRAYS_H
#define VPTRACE_TRACER_CUPTI_CUPTI_STRAYS_H

#include "tracer/cupti/records/cupti_clock.h"
#include "tracer/cupti/library/cupti_sizes.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct vtr_strays {
	_Atomic uint64_t bytes; /* of records, since vtr_strays_reset() */
	/* the earliest time since vtr_strays_from(), of the trace clock and of another clock;
	 * UINT64_MAX: none */
	_Atomic uint64_t near_ns, far;
};

void vtr_strays_reset(struct vtr_strays *s);

/* Notes a buffer. Any thread; never blocks. */
void vtr_strays_add(struct vtr_strays *s, const struct vtr_sizes *sizes, const uint8_t *buffer,
	size_t valid_bytes);

/* Returns the earliest time since the last call, trace clock; 0: unknown, as `clock` does not know
 * the records' clock; UINT64_MAX: no times. One thread at a time. */
uint64_t vtr_strays_from(struct vtr_strays *s, struct vtr_cupti_clock *clock);

#endif
