/* capture_state.h - a capture. Private to capture.c, capture_facts.c and capture_end.c.
 *
 *	capture.c        begins one: options, flusher, writer, then CUPTI and counters
 *	capture_facts.c  what is recorded of the process and the machine
 *	capture_end.c    ends what capture.c began, in time */
#ifndef VPTRACE_TRACER_CAPTURE_CAPTURE_STATE_H
#define VPTRACE_TRACER_CAPTURE_CAPTURE_STATE_H

#include "tracer/capture/capture.h"
#include "tracer/counters/counter_sampler.h"
#include "tracer/cupti/flusher.h"
#include "tracer/flight/flight.h"
#include "tracer/capture/snapshots.h"
#include "tracer/handover/buffer_pool.h"
#include "tracer/handover/mail.h"
#include "tracer/python_stacks/stack_sampler.h"
#include "tracer/settings/capture_options.h"
#include "tracer/capture/writer_thread.h"

#include <stdatomic.h>

/* ---- capture_ring.c: a capture's flight recorder, in place of its file. For capture.c only. ---- */

/* All zeros: the capture has a file. */
struct vtr_capture_ring {
	struct vtr_flight *flight;
	struct vtr_snapshots *snapshots;
	int hangs; /* a snapshot does: it and the capture are never freed */
};

/* Makes the ring, shows it to the launcher, and fills in what the writer needs of it; `o->header` is
 * set. VPT_ENOMEM. */
int vtr_capture_ring_make(struct vtr_capture_ring *r, const struct vtr_options *options,
	struct vtr_writer_options *o, struct vpt_err *err);

/* For vptrace_snapshot(), whose `path` it is; returns VPT_* codes. */
int vtr_capture_ring_take(struct vtr_capture_ring *r, const struct vtr_options *options,
	const char *path, struct vpt_err *err);

/* After the writer's end, unless it has not ended: writes the end where it is wanted; the launcher
 * has nothing left to do then. 0 or VPT_EIO. */
int vtr_capture_ring_end(struct vtr_capture_ring *r, const struct vtr_options *options,
	int writer_ended, struct vpt_err *err);

void vtr_capture_ring_free(struct vtr_capture_ring *r); /* after the writer's */

/* ---- capture.c ---- */

struct vtr_capture {
	struct vtr_options options;
	struct vtr_mailbox mail;
	struct vtr_pool *pool; /* the process's */
	struct vtr_writer *writer;
	struct vtr_flusher *flusher;
	struct vtr_capture_ring ring;     /* in place of a file */
	struct vtr_cupti *cupti;          /* NULL: ranges only */
	struct vtr_sampler *sampler;      /* NULL: no counters */
	struct vtr_stack_sampler *stacks; /* NULL: none */
	uint64_t start_ns;                /* recording began */
	uint64_t from_ns; /* the capture begins: earlier if ranges were open, see find_start() */
	uint64_t names_refused; /* by then, in this process */
	int writer_ended;
	int cupti_hangs; /* in the stop: keep what it uses meanwhile */
	/* the deadline of the wait for the GPU, CLOCK_MONOTONIC; 0: there was none. Another thread
	 * may exit the process meanwhile: then it reads both. */
	_Atomic uint64_t waited_until_ns;
	atomic_int gave_up; /* it came */
	/* The last mail, sent without allocating: the process may exit at any point. */
	struct vtr_mail end_of_clock, end_of_buffers, end_of_cupti, end_of_watch, end_of_sampler;
};

/* Puts what is known when a capture begins. */
void vtr_capture_describe(struct vtr_capture *c, const struct vtr_facts *facts);

/* ---- job_facts.c: facts about the job of which the process is a rank ---- */

/* Puts place, job, this boot of the host, and what is set for NCCL; nothing that is unknown. */
void vtr_job_facts(struct vtr_capture *c);

#endif
