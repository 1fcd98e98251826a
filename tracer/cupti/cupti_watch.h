/* cupti_watch.h - checks whether CUPTI's records still come to us.
 *
 * Buffer callbacks and kinds are global to a process. Another client, such as PyTorch's profiler,
 * may register callbacks of its own and switch kinds on and off at any time: CUPTI does not report
 * it, and does not require a subscription for it. So with each flush the flusher calls
 * cuDriverGetVersion, which costs nothing and which CUPTI was asked to record. Its record takes the
 * same way as that of any launch:
 *
 *	sign                               proves                          does not prove
 *	that call makes CUPTI ask us for   callbacks are ours and calls    that kernels are
 *	a buffer                           are recorded; only we register  recorded too
 *	                                   ours, so they have been since
 *	                                   we did
 *	it does not, but an answer to      another client has switched     since when
 *	EnableAndDump(DEVICE) does         calls off; we assume that it
 *	                                   switched off other kinds too
 *	neither does                       callbacks are another           whose, and whether it
 *	                                   client's                        still records
 *	the buffer does not come back      the same                        the same; only with
 *	from flushes as it used to                                         buffers per thread, as a
 *	                                                                   running kernel keeps
 *	                                                                   others back
 *	an unlisted call                   another client has switched     that anything is lost.
 *	(cuDeviceGetCount) has a record    whole domains on, and perhaps   CUPTI 12.5 and newer;
 *	too                                off before                      earlier, all calls are
 *	                                                                   recorded
 *	the attribute of per-thread        PyTorch's profiler has begun    -
 *	buffers, which we set, is unset    and ended a profile: it then
 *	                                   clears it (CUPTI 12.3 on)
 *	cuptiActivityGetEnabledKinds       another client has switched     since when. CUPTI 13.2
 *	lacks a kind of ours               that kind off                   and newer
 *
 * A sign counts only after its opposite was seen in this capture: if CUPTI does not work as we
 * expect, we report nothing. A buffer that does not come back counts after two looks and half a
 * second, since a busy machine may delay it. Until a look got a buffer, its thread may still have
 * the one of a thread that has ended, which a running kernel holds back: a call that needs no other
 * then counts after ten seconds. No sign shows a client that registers no callbacks and, between two
 * flushes, switches kinds of work (before CUPTI 12.5: any kinds) off and on again; nor a client that
 * comes during the stop.
 *
 * Kinds switched off are switched on again at once. Callbacks are taken back only a moment after
 * the other client has finished, so that its profile stays whole: when kernels are no longer
 * recorded (CUPTI 13.2), or when the attribute shows it. Where neither can be known, the client
 * keeps them. The flusher's thread, unless noted otherwise. */
#ifndef VPTRACE_TRACER_CUPTI_CUPTI_WATCH_H
#define VPTRACE_TRACER_CUPTI_CUPTI_WATCH_H

#include "tracer/cupti/library/cupti_kinds.h"
#include "tracer/handover/buffer_pool.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct vtr_watch {
	/* set by the caller of vtr_watch_begin() */
	struct vtr_kinds *kinds;
	struct vtr_pool *pool;
	void (*flush)(void);
	int (*take_back)(void); /* registers our callbacks again; returns CUPTI's result */

	/* calls of the driver, recorded and not; NULL: none */
	int (*asked)(int *), (*unasked)(int *);
	int works, returns, by_thread; /* which signs count */
	int settled;        /* a buffer came to a look: the looking thread has inherited none */
	int tells_kinds;    /* cuptiActivityGetEnabledKinds works */
	int per_thread_set; /* the attribute is 1 unless another client clears it */
	int unsure;         /* the last look found no sign */
	int misses;         /* looks in a row without a sign, and without any callback between */
	int taken;
	int happened;        /* another client was seen in this capture */
	int happened_before; /* what it was before the client that seems to be there now */
	uint64_t good_ns;    /* trace clock: callbacks were ours until then */
	uint64_t sealed_ns;  /* trace clock: and calls were not switched until then */
	uint64_t looked_ns;  /* trace clock: begin of the last look that found all well */
	uint64_t missed_ns;  /* CLOCK_MONOTONIC: no sign since; 0: there are signs */
	uint64_t moved;      /* value of `callbacks` then */
	uint64_t broken_seen;
	/* trace clock: begin of the capture if the starting thread still had another client's
	 * buffer, which may come back to that client with records of ours; 0: it had none */
	uint64_t inherited_ns;

	/* used by callbacks */
	_Atomic(uint8_t *) own; /* the buffer that a look made CUPTI ask for; NULL: it came back */
	_Atomic uint64_t callbacks; /* of both kinds */
	atomic_int foreign;         /* a buffer came that is not ours */
	_Atomic uint64_t broken;    /* records of the call that must not be recorded */
};

/* What a look found out. */
struct vtr_watch_news {
	int begun;      /* another client has taken over */
	int taken_back; /* callbacks were registered again */
	int over;       /* CUPTI is ours again */
	/* trace clock; records of this time are missing. lost_to_ns 0: none known */
	uint64_t lost_from_ns, lost_to_ns;
};

/* The sentence that reports it. */
#define VTR_WATCH_TAKEN                                                                            \
	"another client of CUPTI in this process, perhaps torch.profiler, has taken the records "  \
	"of GPU work or disabled them"

/* Cbid of the driver call that is recorded only for the looks; enable it with the others. 0: the
 * library has none. */
uint32_t vtr_watch_cbid(const struct vtr_cupti_functions *fn);

/* Learns which signs there are. Call it with callbacks registered and calls enabled, before kinds
 * are. The starting thread. */
void vtr_watch_begin(struct vtr_watch *w);

/* Call it after kinds were enabled. */
void vtr_watch_begun(struct vtr_watch *w);

/* Flushes, and evaluates the signs; but only flushes while the pool is dry. */
void vtr_watch_look(struct vtr_watch *w, struct vtr_watch_news *out);

/* Whether it is in vain to wait for buffers that have not come back: another client gets the records,
 * or the last looks found no sign for long. `all_flushed`: running kernels hold back no buffer, so
 * that less counts as long. The flusher's thread; any thread after the flusher has ended. */
int vtr_watch_is_taken(struct vtr_watch *w, int all_flushed);

/* After the last buffer: reports what is lost up to `stop_ns`. Returns whether another client was
 * there at any time. Any thread, after the flusher has ended. */
int vtr_watch_end(struct vtr_watch *w, uint64_t stop_ns, struct vtr_watch_news *out);

/* Bits of the kinds enabled by any client; 0: none, or the library cannot say. */
uint64_t vtr_watch_enabled(const struct vtr_cupti_functions *fn);

/* ---- in CUPTI's callbacks ---- */

void vtr_watch_requested(struct vtr_watch *w, uint8_t *buffer);
void vtr_watch_completed(struct vtr_watch *w, const uint8_t *buffer, size_t valid_bytes);

#endif
