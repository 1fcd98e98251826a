/* writer_thread.h - the writer's thread: empties buffers and rings, fills chunks, writes them.
 *
 *	pool's full buffers --+
 *	threads' rings -------+--> recorder --> file
 *	mailbox --------------+
 *
 * It is the only thread that touches the recorder. A slow disk blocks only it: buffers and rings
 * fill up, and what finds no room is dropped and counted. */
#ifndef VPTRACE_TRACER_CAPTURE_WRITER_THREAD_H
#define VPTRACE_TRACER_CAPTURE_WRITER_THREAD_H

#include "tracer/cupti/cupti.h"
#include "tracer/handover/buffer_pool.h"
#include "tracer/handover/mail.h"
#include "tracer/ranges/app_threads.h"
#include "tracer/write/recorder.h"

#include <stdint.h>

struct vtr_writer;

struct vtr_writer_options {
	struct vtr_pool *pool;    /* borrowed */
	struct vtr_mailbox *mail; /* borrowed */
	struct vpt_sink *sink;    /* from disk.h; owned after a successful start */
	/* Its sink is `sink`: a ring, no file; borrowed. NULL: a file. */
	struct vtr_flight *flight;
	uint64_t chunk_bytes; /* see recorder.h */
	/* Called by the thread with each event of a thread, and with NULL once a round; may be NULL. */
	void (*seen)(void *ctx, const struct vtr_event *event);
	void *seen_ctx;
	struct vpt_header header;
	int level;                  /* zstd's */
	int always;                 /* create a file even if nothing happens */
	uint64_t start_ns;          /* recording began; not before header.t0_ns */
	uint64_t duration_ns;       /* of recorded time; 0: no limit */
	uint64_t max_bytes;         /* of the file; 0: no limit */
	uint64_t flush_interval_ns; /* a chunk is written at least this often */
	/* Called once, by the thread, when the file can no longer be written. `why` is valid until
	 * the writer is freed. */
	void (*failed)(const char *why);
	/* Called once, by the thread, when nothing more will be recorded: a limit is reached, or
	 * the window has closed for good. The capture's end is due. */
	void (*over)(void);
};

/* Starts the thread, with all signals blocked. 0 or VPT_ENOMEM. */
int vtr_writer_start(
	const struct vtr_writer_options *o, struct vtr_writer **out, struct vpt_err *err);

/* From now on buffers are decoded with this CUPTI. Any thread, before the first buffer can
 * arrive. */
void vtr_writer_attach(struct vtr_writer *w, struct vtr_cupti *cupti);

/* From now on these samples of stacks are written. Borrowed until the end. Any thread, once. */
struct vtr_stack_samples;
void vtr_writer_attach_stacks(struct vtr_writer *w, struct vtr_stack_samples *stacks);

/* Asks the thread to end the chunk once it has taken in all that has arrived by now, and waits until
 * `deadline_ns` (CLOCK_MONOTONIC); if the thread is to end, until it has, since that ends the chunk too.
 * 0: it has. -1: it has not. Any thread but the writer's. */
int vtr_writer_cut(struct vtr_writer *w, uint64_t deadline_ns);

/* Asks the thread to drain everything and to end the capture at `stop_ns` (trace clock); waits
 * until `deadline_ns` (CLOCK_MONOTONIC). 0: it has ended. -1: it has not, usually because the file
 * is slow; call again after vtr_writer_give_up(). If it still has not ended, it and everything
 * passed to it must stay allocated. */
int vtr_writer_finish(struct vtr_writer *w, uint64_t stop_ns, uint64_t deadline_ns);

/* Stops writing: what the file does not hold yet is counted as dropped. Any thread. */
void vtr_writer_give_up(struct vtr_writer *w, unsigned waited_ms);

struct vtr_writer_numbers {
	struct vtr_recorder_totals rows;
	uint64_t cupti_dropped;   /* records that CUPTI could not deliver */
	struct vtr_decoded cupti; /* what it did deliver */
	uint64_t samples;         /* of it, those of the sampler */
	uint64_t unfinished;      /* of it, work that the GPU had not finished at the stop */
	char path[4096];          /* the file's actual name; "" before there is one */
};
/* As of its last round, or of its end. Any thread. */
void vtr_writer_numbers(struct vtr_writer *w, struct vtr_writer_numbers *out);

/* Why the file failed; NULL: it did not. Any thread. */
const char *vtr_writer_failure(struct vtr_writer *w);

/* In a forked child: closes the file's descriptor, frees nothing. */
void vtr_writer_abandon(struct vtr_writer *w);

void vtr_writer_free(struct vtr_writer *w); /* after it has ended; accepts NULL; closes the file */

#endif
