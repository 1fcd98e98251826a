/* cupti_watch.h - whether CUPTI's records still come to us.
 *
 * Buffer callbacks and kinds are global to a process. Another client, such as PyTorch's profiler, may register callbacks of
 * its own and switch kinds on and off at any time: CUPTI does not say so, and calls for no subscription. So with each flush
 * the flusher makes a call of the driver that costs nothing (cuDriverGetVersion) and that CUPTI was asked to record. What
 * follows of it is what every launch would have gone through:
 *
 *	sign                                     proves                                        does not prove
 *	the call makes CUPTI ask us for a        callbacks are ours, calls are recorded; as    that kernels are recorded too
 *	buffer                                   only we register ours, they have been so
 *	                                         since we did
 *	it does not, an answer to                another client has switched calls off; it     since when
 *	EnableAndDump(DEVICE) does               is taken to have switched off other kinds
 *	neither does                             callbacks are another client's                whose, and whether it still records
 *	the buffer does not come back from       the same                                      the same; only where threads have
 *	flushes from which it used to                                                          buffers of their own, as kernels that
 *	                                                                                       run keep others back
 *	a call that is not on our list           another client has switched whole domains     that anything is lost. CUPTI 12.5 and
 *	(cuDeviceGetCount) has a record too      on, and perhaps off before                    newer, as before all calls are recorded
 *	the attribute of per-thread buffers,     PyTorch's profiler has begun and ended a      -
 *	which we set, is not set                 profile: it clears it then (CUPTI 12.3 on)
 *	cuptiActivityGetEnabledKinds misses      another client has switched that kind off     since when. CUPTI 13.2 and newer
 *	a kind of ours
 *
 * A sign counts only once its opposite was seen in this capture: where a CUPTI works otherwise than we think, nothing is
 * said. What no sign shows: a client that never registers callbacks and between two flushes switches off kinds of work
 * alone, or before CUPTI 12.5 any kinds, and on again; and a client that comes during the stop itself.
 *
 * Kinds that were switched off are switched on again at once. Callbacks are taken back when their client has finished, so
 * that its profile stays whole: when kernels are no longer recorded (CUPTI 13.2), or the attribute says so; where
 * neither can be told they are left to it. The flusher's thread, unless said otherwise. */
#ifndef VPTRACE_TRACER_CUPTI_WATCH_H
#define VPTRACE_TRACER_CUPTI_WATCH_H

#include "tracer/cupti_kinds.h"
#include "tracer/pool.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct vtr_watch {
	/* set by whoever begins */
	struct vtr_kinds *kinds;
	struct vtr_pool *pool;
	void (*flush)(void);
	int (*take_back)(void); /* registers our callbacks again; a result of CUPTI */

	int (*asked)(int *), (*unasked)(int *); /* calls of the driver; NULL: there is none */
	int works, returns, by_thread;          /* which signs count */
	int tells_kinds;                        /* cuptiActivityGetEnabledKinds does */
	int per_thread_set; /* the attribute is 1 unless another client clears it */
	int unsure;         /* the last look found no sign */
	int misses;         /* looks in a row that did not, with no callback at all between them */
	int taken;
	int happened;       /* something was, in this capture */
	uint64_t good_ns;   /* trace clock: callbacks were ours until then */
	uint64_t sealed_ns; /* and nobody had switched calls */
	uint64_t looked_ns; /* the last look that found all well began then */
	uint64_t missed_ns; /* CLOCK_MONOTONIC: no sign at all since; 0: there are signs */
	uint64_t moved;     /* callbacks by then */
	uint64_t broken_seen;

	/* seen by callbacks */
	_Atomic(uint8_t *) own; /* the buffer that a look made CUPTI ask for; NULL: it came back */
	_Atomic uint64_t callbacks; /* of both kinds */
	_Atomic uint64_t broken;    /* records of the call that was not to be recorded */
};

/* What a look found out. */
struct vtr_watch_news {
	int begun;      /* another client has taken over */
	int taken_back; /* callbacks were registered again */
	int over;       /* CUPTI is ours again */
	uint64_t lost_from_ns,
		lost_to_ns; /* trace clock; records of this time are missing. to 0: none are, as far as is known */
};

/* The sentence about it, for people. */
#define VTR_WATCH_TAKEN                                                                            \
	"another client of CUPTI in this process, perhaps torch.profiler, has taken the records "  \
	"of the GPU's work or switched them off"

/* The driver's call that is recorded for the looks alone, 0: the library has none such. To be enabled with the others. */
uint32_t vtr_watch_cbid(const struct vtr_cupti_functions *fn);

/* With callbacks registered and calls enabled, before kinds are: learns which signs there are. The thread that starts. */
void vtr_watch_begin(struct vtr_watch *w);

/* After kinds were enabled. */
void vtr_watch_begun(struct vtr_watch *w);

/* Flushes, and looks. */
void vtr_watch_look(struct vtr_watch *w, struct vtr_watch_news *out);

/* After the last buffer: what is lost up to `stop_ns`. Returns whether another client was there at any time. Any thread, when
 * the flusher has ended. */
int vtr_watch_end(struct vtr_watch *w, uint64_t stop_ns, struct vtr_watch_news *out);

/* Which kinds are enabled for anybody, a bit each; 0: the library does not tell, or none. */
uint64_t vtr_watch_enabled(const struct vtr_cupti_functions *fn);

/* ---- in CUPTI's callbacks ---- */

void vtr_watch_requested(struct vtr_watch *w, uint8_t *buffer);
void vtr_watch_completed(struct vtr_watch *w, const uint8_t *buffer, size_t valid_bytes);

#endif
