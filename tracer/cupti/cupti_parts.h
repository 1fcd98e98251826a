/* cupti_parts.h - the parts of a CUPTI session, each in a file of its own: what waits, listens and counts beside cupti_session.c. */
#ifndef VPTRACE_TRACER_CUPTI_CUPTI_PARTS_H
#define VPTRACE_TRACER_CUPTI_CUPTI_PARTS_H

#include "tracer/cupti/library/cupti_abi.h"
#include "tracer/cupti/library/cupti_sizes.h"
#include "tracer/cupti/records/cupti_clock.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* ---- cupti_drain.c: waits for launched work before a capture ends.
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

/* ---- cupti_profiler_api.c: cudaProfilerStart() and cudaProfilerStop(), and the driver's cuProfilerStart()
 * and cuProfilerStop(), as reported by callbacks.
 *
 * The calls do nothing by themselves: they are for tools to see. Recording begins when the start
 * returns, and ends when the stop is entered, so neither is recorded itself. */

/* CUPTI's start: finds the calls' numbers, and enables the callbacks of just these calls if they
 * are `wanted`. */
void vtr_profiler_api_begin(const struct vtr_cupti_functions *fn, void *subscriber, int wanted);

/* A callback: no lock, no allocation, no CUDA call. */
void vtr_profiler_api_on_call(uint32_t domain, uint32_t cbid, const struct vtr_call_data *data);

/* ---- cupti_strays.c: buffers of another client of CUPTI that come back to us.
 *
 * A thread keeps the buffer that it records to when another client registers callbacks. So a
 * buffer which that client gave may hold records of our capture, and comes back to us if it fills
 * up or is flushed while the callbacks are ours. Its memory is the other's, which may free it: the
 * records are lost. Their earliest time says since when: a buffer with a record from before the
 * other client was seen was in use when the capture began.
 *
 * Added to in CUPTI's callback, read by the flusher's thread. */

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
