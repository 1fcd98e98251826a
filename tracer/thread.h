/* thread.h - the memory of one application thread: its rings, its stack, its count of losses.
 *
 *	FREE --take--> USED --thread ends--> ENDED --drained--> FREE
 *	                 \------- nothing left in it -----------/
 *
 * A thread gets its memory with its first event and keeps it until it ends; then the next thread uses it again, or the writer
 * gives it back. All of it counts against the limit of budget.h: where that is reached, events are only counted.
 *
 *	first page   counts | ring of 2 KiB | stack, 44 open ranges     all that most threads ever touch
 *	other pages  deeper ranges | payloads of open ranges
 *	elsewhere    rings of 16, 128, 256 KiB, where one is full before the writer comes round
 *
 * Only the writer unmaps, so it may walk all of it without a lock. */
#ifndef VPTRACE_TRACER_THREAD_H
#define VPTRACE_TRACER_THREAD_H

#include "tracer/ring.h"
#include "tracer/stack.h"

#include <stdatomic.h>
#include <stdint.h>

enum {
	VTR_THREADS_MAX = 16384,    /* threads with memory at a time */
	VTR_THREADS_KEPT = 32,      /* memory of so many ended threads waits for new ones */
	VTR_RING_FIRST_WORDS = 256, /* at least 50 ranges */
	VTR_RING_NEXT_WORDS = 2048,
	VTR_RING_WORDS_MAX = 32768 /* at least 6,500 ranges */
};

/* What a thread takes from the limit at first, and what a ring that is added does. */
enum { VTR_THREAD_BYTES = 2 * VTR_STACK_PAGE };
#define VTR_RING_BYTES(words) ((words) * sizeof(uint64_t) + VTR_STACK_PAGE)

enum vtr_thread_state {
	VTR_THREAD_FREE, /* it may have memory, or none */
	VTR_THREAD_USED,
	VTR_THREAD_ENDED,
	VTR_THREAD_LEAVES /* its memory is being unmapped */
};

struct vtr_thread {
	uint32_t number;
	_Atomic uint32_t tid;
	_Atomic uint64_t drops; /* see vtr_drops() */
	_Atomic uint32_t
		busy; /* an event is being made: a signal handler that comes in between makes none */
	/* A chain of rings: the thread writes into the last, the writer reads the first. Mostly both are the same. */
	_Atomic int ring_is_spare; /* `ring` has left the chain, and may become its end again */
	struct vtr_ring *writing;  /* the thread's own */
	struct vtr_ring *_Atomic reading; /* changed by the writer alone */
	struct vtr_ring ring;             /* the first */
	uint64_t ring_words[VTR_RING_FIRST_WORDS];
	struct vtr_stack stack;
};

/* The thread's ring is full: adds one to the chain, which the thread writes into from now on. Maps memory; where none can be
 * had the thread's first ring will do, if it is spare. NULL: there is no room at all. The thread itself. */
struct vtr_ring *vtr_thread_grow(struct vtr_thread *t);

/* The ring that the writer reads has been read to its end: goes on to the next of the chain and unmaps what is not needed
 * any more. NULL: there is no next one, or something has come in meanwhile. The writer. */
struct vtr_ring *vtr_thread_next_ring(struct vtr_thread *t);

/* Whether the writer has taken everything. The thread itself. */
int vtr_thread_is_drained(struct vtr_thread *t);

/* Drops of an epoch in one word: epoch 24 | count 40. Counts of another epoch are none. */
static inline uint64_t vtr_drops(uint64_t word, uint32_t epoch)
{
	return word >> 40 == (epoch & 0xffffff) ? word & ((UINT64_C(1) << 40) - 1) : 0;
}

static inline uint64_t vtr_drops_word(uint32_t epoch, uint64_t count)
{
	return (uint64_t)(epoch & 0xffffff) << 40 | count;
}

/* Always within the memory that the loader gives each thread: no call to find it. */
extern _Thread_local struct vtr_thread *vtr_thread_mine __attribute__((tls_model("initial-exec")));
struct vtr_thread *vtr_thread_first_event(void);

/* The calling thread's memory, from its first call on. NULL: it has ended, the limit is reached, or
 * there is no memory. No system call after a first one that succeeded, nor after one that failed
 * until memory has come free. */
static inline struct vtr_thread *vtr_thread_self(void)
{
	return vtr_thread_mine ? vtr_thread_mine : vtr_thread_first_event();
}

/* Once, from the constructor: `ended` is called by each thread that has memory, when it ends, and
 * tells whether something must still be asked of it; with an empty ring and a 0 the memory is free
 * at once. 0 or -1. */
int vtr_thread_init(int (*ended)(struct vtr_thread *t));

/* The calling thread is the only one of a forked child: its id is another. */
void vtr_thread_forked(void);

/* ---- the writer ---- */

/* Memory number `i` below vtr_thread_count(), and what becomes of it; NULL: there is none. */
struct vtr_thread *vtr_thread_at(uint32_t i, enum vtr_thread_state *state);
uint32_t vtr_thread_count(void);

/* The memory of a thread that ended can be used again: all its rings were drained. Those that were added are unmapped. */
void vtr_thread_free(struct vtr_thread *t);

/* After all rings were drained: unmaps free memory beyond VTR_THREADS_KEPT, and lets threads that were refused try again. */
void vtr_thread_trim(void);

#endif
