/* cupti.h - CUPTI as a source of records: found, started, drained, stopped. The one door between
 * CUPTI and the rest of the tracer.
 *
 * libcupti is loaded with dlopen and never unloaded. Its record layouts are our own prefix structs
 * (cupti_abi.h), its record sizes are learnt from the loaded library itself. No lock is shared
 * between its callbacks and code that calls it. */
#ifndef VPTRACE_TRACER_CUPTI_H
#define VPTRACE_TRACER_CUPTI_H

#include "formats/error.h"
#include "tracer/cupti_clock.h"
#include "tracer/cupti_drain.h"
#include "tracer/cupti_records.h"
#include "tracer/cupti_watch.h"
#include "tracer/pool.h"
#include "tracer/recorder.h"
#include "tracer/vptrace.h"

#include <stdint.h>

struct vtr_cupti;

struct vtr_cupti_options {
	const char *path; /* of a libcupti; NULL: the one found */
	enum vptrace_profile profile;
	uint64_t
		device_buffers; /* the most that CUPTI may keep on the device for a context; 0: its own limit */
	struct vtr_pool *pool; /* the same in every start of a process */
	const struct vtr_cupti_functions
		*functions; /* tests: these instead of a library's; else NULL */
};

/* Finds and loads libcupti, subscribes, registers the callbacks, enables the kinds of the profile.
 * One at a time: a process has one, started and stopped any number of times, and *out is always the
 * same. Buffers may come through the pool before this returns; they are to wait there until they
 * can be decoded. VPTRACE_OK, or ENOCUPTI, ETAKEN, EDENIED, ENOMEM with the reason in `err`, with
 * versions and what to do about it. After a failure nothing is left behind in CUPTI. The writer of
 * an earlier capture must have ended. */
int vtr_cupti_start(
	const struct vtr_cupti_options *options, struct vtr_cupti **out, struct vpt_err *err);

/* Asks for the records that are complete; `forced`: also for those that are not. May take long and
 * may hang in a broken CUPTI: the flusher's thread only. Buffers come back through the pool. */
void vtr_cupti_flush(struct vtr_cupti *c, int forced);

/* Flushes, and looks whether the records still come to us, see cupti_watch.h. The flusher's thread only. */
void vtr_cupti_look(struct vtr_cupti *c, struct vtr_watch_news *out);
/* What is known of it when the last buffer has come back: 1 and perhaps a loss up to `stop_ns` if another client was there. */
int vtr_cupti_looked(struct vtr_cupti *c, uint64_t stop_ns, struct vtr_watch_news *out);

/* Whether another client has them now, or may have. Any thread, when the flusher has ended. */
int vtr_cupti_is_taken(const struct vtr_cupti *c);

/* CUPTI's clock, and how many records it dropped since the last call. Not in callbacks. */
uint64_t vtr_cupti_clock(struct vtr_cupti *c);
uint64_t vtr_cupti_dropped(struct vtr_cupti *c);

/* Stops: flush, disable, forced flush, unsubscribe. Buffers that are out may still come back
 * afterwards. The flusher's thread. */
void vtr_cupti_stop(struct vtr_cupti *c);

/* Waits for the work that has been launched, see cupti_drain.h. The caller of vptrace_stop(), while recording goes on. */
enum vtr_drained vtr_cupti_wait(struct vtr_cupti *c, uint64_t deadline_ns);

/* Whether CUPTI reported a fatal error; the reason, or NULL. It has then shut itself down, and the
 * functions above do nothing. Any thread. */
const char *vtr_cupti_failure(struct vtr_cupti *c);

/* Signs of life since the start. Where `resources` or the host's launches go on but no buffer is
 * asked for through several flushes, another client has registered its own callbacks and gets our
 * records. Any thread. */
struct vtr_cupti_signs {
	uint64_t buffers_requested, buffers_refused, buffers_completed;
	uint64_t resources; /* contexts, streams and modules made, graph nodes come and gone */
	/* Of records that nobody reads: in buffers of another client, which had them in use when we came; and in the one buffer
	 * that all get where there is none left, but a refusal would crash the host. */
	uint64_t foreign_bytes, unread_bytes;
	uint64_t
		unread_from_ns; /* trace clock: that one was handed out then, perhaps again since */
};
void vtr_cupti_signs(struct vtr_cupti *c, struct vtr_cupti_signs *out);

/* What foreign bytes mean, in words. */
#define VTR_CUPTI_SHARED                                                                           \
	"another client of CUPTI in this process, perhaps torch.profiler, had buffers of its own " \
	"in use: the records in them are missing"

/* ---- the writer ---- */

/* Facts for the capture's metadata: versions, path of the library, kinds that it refused. Once a
 * capture. */
void vtr_cupti_describe(struct vtr_cupti *c, struct vtr_recorder *r);

/* Whether the times of a buffer's records are of another clock. */
int vtr_cupti_is_foreign(const struct vtr_cupti *c, const struct vtr_full *full);

/* Decodes a buffer into rows, see cupti_records.h for what counts as received, with times on the trace clock as far as
 * `clock` knows how. Returns the number of records. Stale buffers belong here too: what CUPTI allocated for their records is
 * freed, nothing else happens. */
uint64_t vtr_cupti_decode(struct vtr_cupti *c, struct vtr_cupti_clock *clock,
	const struct vtr_full *full, struct vtr_recorder *r);

/* A driver call is held back until it is known whether a runtime call around it tells the same.
 * What has waited for longer than any flush may take to bring that call becomes a row. Once a round
 * of the writer; with `all`, before the last chunk, everything does. */
void vtr_cupti_settle(struct vtr_cupti *c, struct vtr_recorder *r, int all);

/* Says in the capture, stream by stream, which work the GPU had not done when recording stopped at `stop_ns`, and what CUPTI
 * did not record though it was asked to, see cupti_graphs.h. Returns how many ops the former is. Once, after the last buffer. */
uint64_t vtr_cupti_unfinished(struct vtr_cupti *c, struct vtr_recorder *r, uint64_t stop_ns);

/* After the writer's end: why something was not recorded; NULL: nothing is known to be missing. */
const char *vtr_cupti_missing(const struct vtr_cupti *c);

/* What has been decoded in this capture. */
void vtr_cupti_decoded(struct vtr_cupti *c, struct vtr_decoded *out);

#endif
