/* flusher.h - the thread that calls CUPTI: flushes it, asks for its drops, reads its clock, stops
 * it.
 *
 * These calls may take long, and in a broken CUPTI for ever; nobody waits for them without a
 * deadline. What it learns goes to the writer by mail.
 *
 * Before the stop it may drain CUPTI: flush until all buffers that CUPTI had when that was asked for have come back. CUPTI
 * keeps a buffer while a record in it has no end, so then the work that was launched before has been recorded. Work
 * launched since goes into the same buffers at first; a buffer that it fills comes back as well. */
#ifndef VPTRACE_TRACER_FLUSHER_H
#define VPTRACE_TRACER_FLUSHER_H

#include "tracer/cupti.h"
#include "tracer/mail.h"

#include <stdint.h>

struct vtr_flusher;

struct vtr_flusher_options {
	struct vtr_mailbox *mail; /* borrowed */
	struct vtr_pool *pool;    /* borrowed: CUPTI's buffers */
	uint64_t interval_ns;
	/* Called once, by the thread, when CUPTI gave up or was taken away. `why` is good as long as CUPTI's handle. */
	void (*failed)(const char *why);
	/* Called by the thread: another client of CUPTI has the records from now on, or (0) has them no longer. */
	void (*taken)(int is_taken);
};

/* Starts the thread, with all signals blocked; without a CUPTI it keeps the clock alone. 0 or
 * VPT_ENOMEM. */
int vtr_flusher_start(
	const struct vtr_flusher_options *o, struct vtr_flusher **out, struct vpt_err *err);

/* Reads CUPTI's clock; from here on this CUPTI is flushed, and stopped at the end. Once; any thread. */
void vtr_flusher_attach(struct vtr_flusher *f, struct vtr_cupti *cupti);

/* Asks the thread to drain CUPTI until `until_ns` (CLOCK_MONOTONIC), and waits for it until `deadline_ns`, which is later. 0: all
 * that was out has come back. -1: it has not, or CUPTI hangs. Once, before vtr_flusher_finish(), which may come meanwhile
 * and ends it. */
int vtr_flusher_drain(struct vtr_flusher *f, uint64_t until_ns, uint64_t deadline_ns);

/* Asks the thread to flush and stop CUPTI, and waits until `deadline_ns` (CLOCK_MONOTONIC). 0: it
 * has ended. -1: CUPTI hangs; the thread and all it was given must be left alone. */
int vtr_flusher_finish(struct vtr_flusher *f, uint64_t deadline_ns);

/* Whether records that nobody reads have come back since the thread ended; from when they may be, trace clock. */
int vtr_flusher_unread(const struct vtr_flusher *f, uint64_t *from_ns);

void vtr_flusher_free(struct vtr_flusher *f); /* after it has ended; accepts NULL */

#endif
