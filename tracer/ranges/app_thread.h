/* app_thread.h - the memory of one application thread: its rings, its stack, its drop count.
 *
 *	FREE --take--> USED --thread ends--> ENDED --drained--> FREE
 *	                 \------- nothing left in it -----------/
 *
 * A thread gets its memory with its first event and keeps it until it ends; then another thread
 * reuses it, or the writer unmaps it. All of it counts against the limit of budget.h: once that is
 * reached, events are only counted.
 *
 *	first page   counts | ring of 2 KiB | stack, 44 open ranges     all that most threads touch
 *	other pages  deeper ranges | payloads of open ranges
 *	elsewhere    rings of 16, 128, 256 KiB, added when one fills between the writer's rounds
 *
 * Only the writer unmaps, so it may read all of it without a lock. */
#ifndef VPTRACE_TRACER_RANGES_APP_THREAD_H
#define VPTRACE_TRACER_RANGES_APP_THREAD_H

#include "tracer/handover/word_ring.h"
#include "tracer/ranges/range_stack.h"

#include <stdatomic.h>
#include <stdint.h>

enum {
	VTR_THREADS_MAX = 16384,    /* threads with memory at one time */
	VTR_THREADS_KEPT = 32,      /* ended threads whose memory waits for new ones */
	VTR_RING_FIRST_WORDS = 256, /* at least 50 ranges */
	VTR_RING_NEXT_WORDS = 2048,
	VTR_RING_WORDS_MAX = 32768 /* at least 6,500 ranges */
};

/* What a thread initially takes from the limit, and what an added ring takes. */
enum { VTR_THREAD_BYTES = 2 * VTR_STACK_PAGE };
#define VTR_RING_BYTES(words) ((words) * sizeof(uint64_t) + VTR_STACK_PAGE)

enum vtr_thread_state {
	VTR_THREAD_FREE, /* may have memory or none */
	VTR_THREAD_USED,
	VTR_THREAD_ENDED,
	VTR_THREAD_LEAVES /* its memory is being unmapped */
};

struct vtr_thread {
	uint32_t number;
	_Atomic uint32_t tid;
	_Atomic uint64_t drops; /* see vtr_drops() */
	/* an event is being made: a signal handler that interrupts it makes none */
	_Atomic uint32_t busy;
	/* A chain of rings: the thread writes into the last, the writer reads the first. Usually
	 * they are the same. */
	_Atomic int ring_is_spare; /* `ring` has left the chain, and may become its end again */
	struct vtr_ring *writing;  /* the thread's own */
	struct vtr_ring *_Atomic reading; /* changed by the writer alone */
	struct vtr_ring ring;             /* the first */
	uint64_t ring_words[VTR_RING_FIRST_WORDS];
	struct vtr_stack stack;
};

/* The thread's ring is full: adds a ring to the chain, into which the thread writes from now on.
 * Maps memory; if that fails, reuses the thread's first ring if it is spare. NULL: no room. The
 * thread itself only. */
struct vtr_ring *vtr_thread_grow(struct vtr_thread *t);

/* The writer has read its ring to the end: moves to the next ring of the chain and unmaps what is
 * no longer needed. NULL: there is no next ring, or new events have come in. The writer only. */
struct vtr_ring *vtr_thread_next_ring(struct vtr_thread *t);

/* Whether the writer has taken everything. The thread itself only. */
int vtr_thread_is_drained(struct vtr_thread *t);

/* Drops of an epoch in one word: epoch 24 | count 40. A count of another epoch is 0. */
static inline uint64_t vtr_drops(uint64_t word, uint32_t epoch)
{
	return word >> 40 == (epoch & 0xffffff) ? word & ((UINT64_C(1) << 40) - 1) : 0;
}

static inline uint64_t vtr_drops_word(uint32_t epoch, uint64_t count)
{
	return (uint64_t)(epoch & 0xffffff) << 40 | count;
}

/* In the static TLS block, so access needs no call. */
extern _Thread_local struct vtr_thread *vtr_thread_mine __attribute__((tls_model("initial-exec")));
struct vtr_thread *vtr_thread_first_event(void);

/* The calling thread's memory, from its first call on. NULL: it has ended, the limit is reached, or
 * no memory. After the first success it makes no system call; after a failure, none until memory
 * becomes free. */
static inline struct vtr_thread *vtr_thread_self(void)
{
	return vtr_thread_mine ? vtr_thread_mine : vtr_thread_first_event();
}

/* Once, from the constructor. Each thread with memory calls `ended` when it ends; it returns
 * whether the writer still needs this memory. If not, and the ring is empty, the memory is free at
 * once. 0 or -1. */
int vtr_thread_init(int (*ended)(struct vtr_thread *t));

/* The calling thread is the only one of a forked child, and nothing was recorded so far: frees the memory of the
 * parent's other threads, and closes this one's ranges. 0; -1: the thread was making an event. */
int vtr_thread_remain(void);

/* ---- the writer ---- */

/* Memory number `i`, below vtr_thread_count(), and its state; NULL: none. */
struct vtr_thread *vtr_thread_at(uint32_t i, enum vtr_thread_state *state);
uint32_t vtr_thread_count(void);

/* Frees the memory of an ended thread for reuse, after all its rings were drained. Unmaps the added
 * rings. */
void vtr_thread_free(struct vtr_thread *t);

/* After all rings were drained: unmaps free memory beyond VTR_THREADS_KEPT, and lets refused
 * threads try again. */
void vtr_thread_trim(void);

#endif
