/* flusher.h - the thread that calls CUPTI: flushes it, counts its drops, reads its clock, stops it.
 *
 * These calls may be slow, and hang in a broken CUPTI; nobody waits for them without a deadline.
 * The thread mails its results to the writer.
 *
 * Before the stop it may drain CUPTI: flush until all buffers that CUPTI had at the request have
 * come back. CUPTI keeps a buffer while a record in it has no end, so all work launched before the
 * request is then recorded. Later work may share those buffers; a buffer that it fills comes back
 * too. */
#ifndef VPTRACE_TRACER_CUPTI_FLUSHER_H
#define VPTRACE_TRACER_CUPTI_FLUSHER_H

#include "tracer/cupti/cupti.h"
#include "tracer/handover/mail.h"

#include <stdint.h>

struct vtr_flusher;
struct vtr_stack_sampler;

struct vtr_flusher_options {
	struct vtr_mailbox *mail; /* borrowed */
	struct vtr_pool *pool;    /* borrowed: CUPTI's buffers */
	uint64_t interval_ns;
	/* Called once, by the thread, when CUPTI fails or is taken away. `why` is valid as long as
	 * CUPTI's handle. */
	void (*failed)(const char *why);
	/* Called by the thread: another client of CUPTI gets the records from now on, or (0) no
	 * longer does. */
	void (*taken)(int is_taken);
};

/* Starts the thread, with all signals blocked; without CUPTI it only reads the clocks. 0 or
 * VPT_ENOMEM. */
int vtr_flusher_start(
	const struct vtr_flusher_options *o, struct vtr_flusher **out, struct vpt_err *err);

/* Reads CUPTI's clock; from now on the thread flushes this CUPTI, and stops it at the end. Once;
 * any thread. */
void vtr_flusher_attach(struct vtr_flusher *f, struct vtr_cupti *cupti);

/* From now on, and until vtr_flusher_finish(), the thread looks once a second for an interpreter that
 * the sampler of stacks `s` should sample. Borrowed; any thread. */
void vtr_flusher_attach_stacks(struct vtr_flusher *f, struct vtr_stack_sampler *s);

/* Flushes CUPTI now, and again until all buffers that it had at the call have come back, at most
 * until `deadline_ns` (CLOCK_MONOTONIC). 0: they have. Otherwise when the oldest that it keeps was
 * handed out, trace clock: records of work launched since then are missing. One caller at a time. */
uint64_t vtr_flusher_flush(struct vtr_flusher *f, uint64_t deadline_ns);

/* Asks the thread to drain CUPTI until `until_ns` (CLOCK_MONOTONIC), and waits for it until
 * `deadline_ns`, which is later. 0: all outstanding buffers have come back. -1: they have not, or
 * CUPTI hangs. Once, before vtr_flusher_finish(), which may be called meanwhile and ends it. */
int vtr_flusher_drain(struct vtr_flusher *f, uint64_t until_ns, uint64_t deadline_ns);

/* Asks the thread to flush and stop CUPTI, and waits until `deadline_ns` (CLOCK_MONOTONIC). 0: it
 * has ended. -1: CUPTI hangs; the thread and everything passed to it must stay allocated. */
int vtr_flusher_finish(struct vtr_flusher *f, uint64_t deadline_ns);

/* Whether unread records have come back since the thread ended; *from_ns: the earliest they can be,
 * trace clock. */
int vtr_flusher_unread(struct vtr_flusher *f, uint64_t *from_ns);

void vtr_flusher_free(struct vtr_flusher *f); /* after it has ended; accepts NULL */

#endif
