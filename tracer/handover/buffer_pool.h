/* buffer_pool.h - the buffers that CUPTI fills, and the queue of full ones.
 *
 *	FREE --take--> WITH CUPTI --give--> FULL --next--> READ by the writer --recycle--> FREE
 *
 * take and give run inside CUPTI's callbacks on any number of threads at once: they pop and push
 * without a lock, and never wait or allocate. One futex call wakes the writer if it sleeps. The
 * address space is reserved once; some buffers are faulted in at the start, others by the writer
 * ahead of need. A burst that outruns the writer gets fresh buffers, whose pages the host's thread
 * faults in as CUPTI fills them; only the limit ends that. A buffer that CUPTI holds is never freed
 * or handed out again, not even after the capture. */
#ifndef VPTRACE_TRACER_HANDOVER_BUFFER_POOL_H
#define VPTRACE_TRACER_HANDOVER_BUFFER_POOL_H

#include <stddef.h>
#include <stdint.h>

enum {
	VTR_BUFFER_BYTES = 1 << 20,
	VTR_POOL_READY_BUFFERS = 32,
	VTR_DISCARD_BYTES = 64 << 10,
	VTR_DISCARD_MAX = 64
};

struct vtr_pool;

/* `limit_bytes` bounds all buffers together, rounded down to whole buffers, at least 4; each one's
 * memory also counts against the limit of budget.h. Discard buffers, at most 4 MiB, come on top,
 * and exist only once used. NULL: no memory. The pool outlives captures: CUPTI may hold its buffers
 * for ever. One per process; free it in tests only, and only when `outstanding` is 0. */
struct vtr_pool *vtr_pool_new(uint64_t limit_bytes);
void vtr_pool_free(struct vtr_pool *p); /* accepts NULL */

/* ---- in CUPTI's callbacks ---- */

/* The first `bytes`, at most VTR_BUFFER_BYTES, of a buffer: zeroed, aligned to 4,096. NULL: all that the
 * limit allows are in use, counted as a starvation. */
void *vtr_pool_take(struct vtr_pool *p, size_t bytes);

/* Whether more than a quarter of the buffers that are kept ready are with CUPTI, or wait to be read. */
int vtr_pool_is_crowded(const struct vtr_pool *p);

/* Whether none is ready, while some that came back wait for the writer. */
int vtr_pool_is_dry(const struct vtr_pool *p);

/* For a CUPTI that crashes on NULL, when no buffer is free: a small zeroed buffer whose records are
 * only counted. Distinct while outstanding; NULL when these have run out too. */
void *vtr_pool_take_discard(struct vtr_pool *p, size_t *size_bytes);

/* Returns a buffer with `valid_bytes` of records. 1; 0: the pointer is not ours or not outstanding,
 * which is counted and ignored. */
int vtr_pool_give(struct vtr_pool *p, void *buffer, size_t valid_bytes);

/* ---- the writer ---- */

struct vtr_full {
	void *data;
	size_t valid_bytes; /* never more than was handed out */
	uint64_t taken_ns;  /* when CUPTI got it, trace clock */
	uint64_t given_ns;  /* when it came back, CLOCK_MONOTONIC: its records are older */
	int discard;        /* records are to be counted, not kept */
	int stale;          /* asked for during an earlier capture */
};

/* 1 and the buffer that was given back first; 0: none. One consumer. */
int vtr_pool_next(struct vtr_pool *p, struct vtr_full *out);

/* Zeroes the buffer and makes it free again; also releases its memory if enough others are free. */
void vtr_pool_recycle(struct vtr_pool *p, const struct vtr_full *full);

/* Faults in more buffers when few are left free, up to the limit. Returns the number added. May
 * take milliseconds: the writer only. */
unsigned vtr_pool_grow(struct vtr_pool *p);

/* Sleeps until a buffer is given, one is missed, vtr_pool_wake() is called, or `timeout_ms` has
 * passed. */
void vtr_pool_wait(struct vtr_pool *p, unsigned timeout_ms);
void vtr_pool_wake(struct vtr_pool *p); /* any thread; not from a signal handler */

/* ---- the session ---- */

/* Faults in VTR_POOL_READY_BUFFERS, if not done yet. Call it before CUPTI may request a buffer, and
 * not while the writer may run vtr_pool_grow(). */
void vtr_pool_ready(struct vtr_pool *p);

/* Starts another capture: buffers that are outstanding, or full and unread, become stale, and the
 * counts below restart. */
void vtr_pool_begin(struct vtr_pool *p);

/* Gives up on outstanding buffers: they no longer count as outstanding, but are still read if they
 * come back. */
void vtr_pool_forsake(struct vtr_pool *p);

struct vtr_pool_state {
	uint64_t memory_bytes; /* of all buffers now */
	uint64_t outstanding;  /* buffers with CUPTI now, of this capture */
	/* when the oldest outstanding buffer was handed out, trace clock; 0: none is outstanding */
	uint64_t oldest_ns;
	uint64_t taken;   /* buffers handed out, this capture, discard buffers too */
	uint64_t starved; /* takes that found no buffer, this capture */
	uint64_t foreign; /* gives of unknown or not outstanding pointers, this capture */
	uint64_t given;   /* buffers of this capture given back */
};
void vtr_pool_state(struct vtr_pool *p, struct vtr_pool_state *out); /* any thread; a snapshot */

/* ---- how large a buffer a thread gets from us when CUPTI asks.
 *
 * CUPTI keeps a buffer until every record in it has its end. Beside a GPU that is never idle no flush
 * brings back the buffer in use: its newest record is of work that still runs. If the process dies, that
 * buffer is lost. So a thread gets an eighth of what it has filled in the last flush interval: buffers
 * of a busy thread fill in an eighth of an interval, large enough that few are needed. */

enum { VTR_BUFFER_LEAST_BYTES = 16 << 10, VTR_BUFFERS_AN_INTERVAL = 8 };

/* What a thread got lately: in the interval since `since_ns`, and in the one before. Zeros: nothing. */
struct vtr_buffer_rate {
	uint64_t since_ns, bytes, bytes_before;
};

/* The size of a thread's next buffer at `now_ns`, which it is counted to have got: a multiple of 4 KiB,
 * VTR_BUFFER_LEAST_BYTES to VTR_BUFFER_BYTES. `interval_ns` 0: the largest, always. */
static inline size_t vtr_buffer_size(
	struct vtr_buffer_rate *r, uint64_t now_ns, uint64_t interval_ns)
{
	uint64_t elapsed_ns = now_ns - r->since_ns, size;

	if (!interval_ns)
		return VTR_BUFFER_BYTES;
	if (elapsed_ns >= interval_ns) {
		r->bytes_before = elapsed_ns < 2 * interval_ns ? r->bytes : 0;
		r->bytes = 0;
		r->since_ns = elapsed_ns < 2 * interval_ns ? r->since_ns + interval_ns : now_ns;
		elapsed_ns = now_ns - r->since_ns;
	}
	/* The last whole interval: all of this one, and the rest from the one before. */
	size = r->bytes + (uint64_t)((double)r->bytes_before * (double)(interval_ns - elapsed_ns) /
				     (double)interval_ns);
	size = size / VTR_BUFFERS_AN_INTERVAL / 4096 * 4096;
	size = size < VTR_BUFFER_LEAST_BYTES ? VTR_BUFFER_LEAST_BYTES : size;
	size = size < VTR_BUFFER_BYTES ? size : VTR_BUFFER_BYTES;
	r->bytes += size;
	return (size_t)size;
}

#endif
