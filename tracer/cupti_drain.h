/* cupti_drain.h - waiting for the work that has been launched, before a capture ends.
 *
 * What is still queued at a stop would come back from CUPTI without times. Flushing does not help: it waits for nothing, and
 * CUPTI leaves it to its client to synchronize. So a stop waits twice, both times until one deadline:
 *
 *	1. here, for the driver: a thread of ours calls cuCtxSynchronize() for each context that is known
 *	2. in the flusher, for CUPTI: it flushes until all buffers of before the stop have come back, see flusher.h
 *
 * The first brings the work to its end wherever it runs; the second shows that the records are complete, and is all there is
 * where the first may not be done. Nothing else would do: events and queries need the handles of streams, which the host
 * may destroy at any moment, and a legacy stream does not wait for those that are non-blocking.
 *
 * A thread of ours, since a kernel may never end. Past the deadline it is left where it is; when it comes back it touches no
 * other context and ends, and while it has not come back nobody waits here again.
 *
 * Synchronizing a context with a stream that captures would spoil the capture. So nothing is done while any capture is open
 * in the process: their beginnings and ends are callbacks, and for streams that block, the driver tells of those that began
 * before the recording did. A capture that began before it on a non-blocking stream is not seen.
 *
 * The contexts known are those made while recording, the primary ones of all devices, and the one current in the
 * thread that stops. */
#ifndef VPTRACE_TRACER_CUPTI_DRAIN_H
#define VPTRACE_TRACER_CUPTI_DRAIN_H

#include "tracer/cupti_abi.h"

#include <stdatomic.h>
#include <stdint.h>

/* ---- CUPTI's start ---- */

/* Forgets what was known, looks up the calls that matter, and asks for the callbacks below. */
void vtr_drain_begin(const struct vtr_cupti_functions *fn, void *subscriber);

/* ---- callbacks: no lock, no memory, no call of CUDA ---- */

void vtr_drain_on_resource(uint32_t cbid, const struct vtr_resource_data *data);
void vtr_drain_on_driver(uint32_t cbid, const struct vtr_call_data *data);

/* ---- the writer ---- */

/* How many calls and synchronizations of this capture are our own, and whether one is: they are no part of what the host
 * did. */
extern atomic_uint vtr_drain_own_count;
int vtr_drain_find_own(uint32_t correlation);

static inline int vtr_drain_is_own(uint32_t correlation)
{
	return atomic_load_explicit(&vtr_drain_own_count, memory_order_acquire) &&
	       vtr_drain_find_own(correlation);
}

/* ---- the stop ---- */

enum vtr_drained {
	VTR_DRAINED,   /* all work of the contexts known has ended, or there is none */
	VTR_CAPTURING, /* not asked: a stream is captured */
	VTR_NOT_ASKED, /* captures cannot be seen, there is no thread to wait with, or an earlier one still waits */
	VTR_LATE /* work goes on past the deadline */
};

/* How many threads of ours there are: 0 or 1, which a wait that was given up has left. */
unsigned vtr_drain_threads(void);

/* Waits until `deadline_ns` (CLOCK_MONOTONIC). Not in a callback, not while the process exits. One at a time. */
enum vtr_drained vtr_drain_wait(uint64_t deadline_ns);

#endif
