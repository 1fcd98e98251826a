/* started_ranges.h - start/end ranges: opened on one thread, perhaps closed on another.
 *
 * One lock-free table for the process. An id is a slot and the slot's generation, so an id that was
 * ended, or never assigned, finds nothing. */
#ifndef VPTRACE_TRACER_RANGES_STARTED_RANGES_H
#define VPTRACE_TRACER_RANGES_STARTED_RANGES_H

#include "tracer/ranges/open_range.h"

/* The slot of an id, below VTR_STARTED_MAX. */
static inline uint32_t vtr_started_slot(uint64_t id)
{
	return (uint32_t)id & (VTR_STARTED_MAX - 1);
}

/* Opens a range of thread `tid`; if `stamped`, reads the clock last. Returns the id, or 0: all
 * slots are taken. Any thread. */
uint64_t vtr_started_open(
	const struct vtr_attributes *a, uint32_t tid, uint32_t epoch, int stamped);

/* Begins to end a range: 1 and the event with everything but its end, and the epoch in which it was
 * opened; 0: no such range. If two threads end the same range, one gets it, and frees it once it
 * has made the event. `blob` is the caller's; the event points to it. Any thread. */
int vtr_started_claim(
	uint64_t id, struct vtr_event *e, uint32_t *epoch, uint64_t blob[VTR_BLOB_WORDS]);
void vtr_started_free(uint64_t id);

/* Whether the range in a slot has been claimed and not freed. Any thread. */
int vtr_started_is_ending(uint32_t slot);

/* Reads the range in a slot, which may change meanwhile: 1 and the event without an end; 0: none,
 * or it is ending, or changed. Any thread. */
int vtr_started_peek(
	uint32_t slot, struct vtr_event *e, uint32_t *epoch, uint64_t blob[VTR_BLOB_WORDS]);

/* Removes all ranges, while no other thread runs. Their ids find nothing from then on. */
void vtr_started_forget(void);

#endif
