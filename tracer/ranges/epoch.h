/* epoch.h - whether a capture runs: one word that every event reads once.
 *
 * The epoch is odd during a capture; each start and stop increments it. The same word says whether
 * this is a forked child. Every event carries the epoch into its ring, so the writer recognises an
 * event that was overtaken by a stop and another start, and drops it from both captures. */
#ifndef VPTRACE_TRACER_RANGES_EPOCH_H
#define VPTRACE_TRACER_RANGES_EPOCH_H

#include "tracer/ranges/event_words.h"

#include <stdatomic.h>
#include <stdint.h>

enum { VTR_INERT = 1, VTR_EPOCH_SHIFT = 1 };

/* Hidden, so that the library reads them directly, not through the linker's table. */
#pragma GCC visibility push(hidden)
extern _Atomic uint64_t vtr_epoch_word; /* epoch 32 | VTR_INERT; changed by app_threads.c only */
extern _Atomic uint64_t vtr_capture_start_ns; /* CLOCK_REALTIME */
extern _Atomic uint64_t vtr_capture_stop_ns;  /* of the last capture that stopped */
#pragma GCC visibility pop

/* The word; read it once per event. Any thread, like all of these. */
static inline uint64_t vtr_epoch_now(void)
{
	return atomic_load_explicit(&vtr_epoch_word, memory_order_acquire);
}

static inline uint32_t vtr_epoch_of(uint64_t now)
{
	return (uint32_t)(now >> VTR_EPOCH_SHIFT);
}

static inline int vtr_epoch_records(uint64_t now)
{
	return (now >> VTR_EPOCH_SHIFT & 1) && !(now & VTR_INERT);
}

/* No event of the capture is later; ~0 while it runs. */
static inline uint64_t vtr_epoch_end(uint64_t now)
{
	return vtr_epoch_records(now)
		       ? UINT64_MAX
		       : atomic_load_explicit(&vtr_capture_stop_ns, memory_order_relaxed);
}

/* The capture that runs, or the last one. */
static inline uint32_t vtr_epoch_capture(uint64_t now)
{
	return vtr_epoch_of(now) - !(vtr_epoch_of(now) & 1);
}

/* Whether a range is of a capture that runs, or was open when it stopped. */
static inline int vtr_epoch_holds(uint32_t capture, uint32_t opened_in)
{
	return (int32_t)(opened_in - capture) <= 0;
}

/* Moves the start of a range that was opened before the capture to the capture's start. A range
 * that the capture goes back to, see vtr_threads_record(), keeps its own. Returns flags of
 * event_words.h. */
static inline unsigned vtr_epoch_cut(uint64_t *start_ns, uint32_t opened_in, uint32_t capture)
{
	uint64_t capture_ns = atomic_load_explicit(&vtr_capture_start_ns, memory_order_relaxed);

	if (opened_in == capture || (!opened_in && *start_ns >= capture_ns))
		return 0;
	*start_ns = capture_ns;
	return VTR_WORDS_UNMATCHED;
}

#endif
