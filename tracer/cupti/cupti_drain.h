/* cupti_drain.h - waits for launched work before a capture ends.
 *
 * CUPTI returns work that is still queued at a stop without times. A flush does not wait for it;
 * CUPTI expects its client to synchronize. So a stop waits twice, with one deadline:
 *
 *	1. here, for the driver: a thread of ours calls cuCtxSynchronize() for each known context
 *	2. in the flusher, for CUPTI: it flushes until all earlier buffers are back (flusher.h)
 *
 * The first waits until the work has ended; the second shows that the records are complete, and
 * must do alone where the first is not allowed. There is no other way: events and queries need
 * stream handles, which the host may destroy at any moment, and the legacy stream does not wait for
 * non-blocking streams.
 *
 * It takes a thread of ours because a kernel may never end. After the deadline that thread is
 * abandoned; when its call returns it touches no other context and ends. Until then no further wait
 * starts.
 *
 * Synchronizing a context would spoil a stream capture in it. So nothing is synchronized while any
 * stream capture is open in the process. Callbacks report where one begins and ends; the driver
 * reports those that began before recording did on blocking streams. One that began earlier on a
 * non-blocking stream is not seen.
 *
 * Known contexts: those created while recording, the primary ones of all devices, and the one
 * current in the stopping thread. */
#ifndef VPTRACE_TRACER_CUPTI_CUPTI_DRAIN_H
#define VPTRACE_TRACER_CUPTI_CUPTI_DRAIN_H

#include "tracer/cupti/library/cupti_abi.h"

#include <stdint.h>

/* ---- CUPTI's start ---- */

/* Resets the state, looks up the relevant calls, and enables the callbacks below. */
void vtr_drain_begin(const struct vtr_cupti_functions *fn, void *subscriber);

/* ---- callbacks: no locks, no allocation, no CUDA calls ---- */

void vtr_drain_on_resource(uint32_t cbid, const struct vtr_resource_data *data);
void vtr_drain_on_driver(uint32_t cbid, const struct vtr_call_data *data);

/* ---- the stop ---- */

enum vtr_drained {
	VTR_DRAINED,   /* all work of the known contexts has ended, or there is none */
	VTR_CAPTURING, /* did not wait: a stream is being captured */
	/* did not wait: stream captures cannot be seen, no thread could be created, or an earlier
	 * one still waits */
	VTR_NOT_ASKED,
	VTR_LATE /* work continues past the deadline */
};

/* Threads of ours still running: 0, or 1 left by a wait that timed out. */
unsigned vtr_drain_threads(void);

/* Waits until `deadline_ns` (CLOCK_MONOTONIC). Not in a callback, not while the process exits. One
 * at a time. */
enum vtr_drained vtr_drain_wait(uint64_t deadline_ns);

#endif
