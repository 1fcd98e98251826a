/* cupti.h - CUPTI as a source of records: found, started, drained, stopped. The only interface
 * between CUPTI and the rest of the tracer.
 *
 * libcupti is loaded with dlopen and never unloaded. Its record layouts are our own prefix structs
 * (cupti_abi.h), its record sizes come from the loaded library. No lock is shared between its
 * callbacks and code that calls it. */
#ifndef VPTRACE_TRACER_CUPTI_CUPTI_H
#define VPTRACE_TRACER_CUPTI_CUPTI_H

#include "formats/base/error.h"
#include "tracer/cupti/cupti_parts.h"
#include "tracer/cupti/cupti_watch.h"
#include "tracer/cupti/records/cupti_clock.h"
#include "tracer/cupti/records/cupti_records.h"
#include "tracer/handover/buffer_pool.h"
#include "tracer/vptrace.h"
#include "tracer/write/recorder.h"

#include <stdint.h>

struct vtr_cupti;

struct vtr_cupti_options {
	const char *path; /* of a libcupti; NULL: the one found */
	enum vptrace_profile profile;
	/* the most that CUPTI may keep on the device per context; 0: its own limit */
	uint64_t device_buffers;
	uint64_t flush_interval_ns; /* buffer_pool.h; 0: buffers have one size */
	int profiler_api;      /* call vtr_window_profiler() at cudaProfilerStart() and Stop() */
	struct vtr_pool *pool; /* the same at every start in a process */
	/* tests: use these instead of a library's; else NULL */
	const struct vtr_cupti_functions *functions;
};

/* Finds and loads libcupti, subscribes, registers the callbacks, enables the kinds of the profile.
 * A process has one, started and stopped any number of times; *out is always the same. Buffers may
 * arrive in the pool before this returns and must wait there until they can be decoded. VPTRACE_OK,
 * or ENOCUPTI, ETAKEN, EDENIED, ENOMEM; `err` gives the reason, versions and a remedy. A failure
 * leaves nothing registered in CUPTI. The writer of an earlier capture must have ended. */
int vtr_cupti_start(
	const struct vtr_cupti_options *options, struct vtr_cupti **out, struct vpt_err *err);

/* Requests all complete records; `forced`: incomplete ones too. May be slow, and may hang in a
 * broken CUPTI: the flusher's thread only. Buffers come back through the pool. */
void vtr_cupti_flush(struct vtr_cupti *c, int forced);

/* Flushes, and checks whether we still get the records, see cupti_watch.h. The flusher's thread
 * only. */
void vtr_cupti_look(struct vtr_cupti *c, struct vtr_watch_news *out);
/* The final result, after the last buffer: 1 if another client was there, with a loss up to
 * `stop_ns` if there was one; else 0. */
int vtr_cupti_looked(struct vtr_cupti *c, uint64_t stop_ns, struct vtr_watch_news *out);

/* Whether another client gets the records now, see vtr_watch_is_taken(). */
int vtr_cupti_is_taken(struct vtr_cupti *c, int all_flushed);

/* CUPTI's clock, 0: it cannot be read; the records it dropped since the last call. Not in
 * callbacks. */
uint64_t vtr_cupti_clock(struct vtr_cupti *c);
uint64_t vtr_cupti_dropped(struct vtr_cupti *c);

/* Stops: flush, disable, forced flush, unsubscribe. Outstanding buffers may still come back
 * afterwards. The flusher's thread. */
void vtr_cupti_stop(struct vtr_cupti *c);

/* Waits for launched work, see cupti_parts.h. The caller of vptrace_stop(), while recording goes
 * on. */
enum vtr_drained vtr_cupti_wait(struct vtr_cupti *c, uint64_t deadline_ns);

/* Whether CUPTI reported a fatal error; the reason, or NULL. CUPTI has then shut itself down, and
 * the functions above do nothing. Any thread. */
const char *vtr_cupti_failure(struct vtr_cupti *c);

/* Activity since the start. If `resources` or the host's launches increase but CUPTI requests no
 * buffer during several flushes, another client has registered its own callbacks and gets our
 * records. Any thread. */
struct vtr_cupti_signs {
	uint64_t buffers_requested, buffers_refused, buffers_completed;
	uint64_t resources; /* contexts, streams, modules created; graph nodes created, destroyed */
	/* Bytes of records that nobody reads: in buffers that another client had in use when we
	 * started; and in the shared buffer that CUPTI gets when none is left but a refusal would
	 * crash the host. */
	uint64_t foreign_bytes, unread_bytes;
	/* trace clock: when that buffer last became outstanding */
	uint64_t unread_from_ns;
};
void vtr_cupti_signs(struct vtr_cupti *c, struct vtr_cupti_signs *out);

/* The earliest time in the foreign bytes since the last call, see cupti_parts.h. The flusher's
 * thread, or after its end the caller of vptrace_stop(). */
uint64_t vtr_cupti_foreign_from(struct vtr_cupti *c, struct vtr_cupti_clock *clock);

/* The sentence that reports foreign bytes. */
#define VTR_CUPTI_SHARED                                                                           \
	"another client of CUPTI in this process, perhaps torch.profiler, had its own buffers "    \
	"in use: the records in them are missing"

/* ---- the writer ---- */

/* Facts for the capture's metadata: versions, path of the library, kinds that it refused. Once per
 * capture. */
void vtr_cupti_describe(struct vtr_cupti *c, struct vtr_recorder *r);

/* Whether the times in a buffer come from another clock. */
int vtr_cupti_is_foreign(const struct vtr_cupti *c, const struct vtr_full *full);

/* Decodes a buffer into rows and converts their times to the trace clock where `clock` can. Returns
 * the number of records; cupti_records.h says which count as received. Of a stale buffer it only
 * frees what CUPTI allocated for its records. */
uint64_t vtr_cupti_decode(struct vtr_cupti *c, struct vtr_cupti_clock *clock,
	const struct vtr_full *full, struct vtr_recorder *r);

/* A driver call is held until it is known whether a runtime call around it says the same. Calls
 * held longer than any flush takes to deliver that runtime call become rows. Once per round of the
 * writer; with `all`, before the last chunk, every held call does. */
void vtr_cupti_settle(struct vtr_cupti *c, struct vtr_recorder *r, int all);

/* Reports in the capture, per stream, work that the GPU had not finished when recording stopped at
 * `stop_ns`, and graph nodes that CUPTI failed to record, see cupti_graphs.c. Returns the number of
 * unfinished ops. Once, after the last buffer. */
uint64_t vtr_cupti_unfinished(struct vtr_cupti *c, struct vtr_recorder *r, uint64_t stop_ns);

/* After the writer's end: why something was not recorded; NULL: nothing is known to be missing. */
const char *vtr_cupti_missing(const struct vtr_cupti *c);

/* Counts of what this capture has decoded. */
void vtr_cupti_decoded(struct vtr_cupti *c, struct vtr_decoded *out);

#endif
