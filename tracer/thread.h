/* thread.h - the memory of one application thread: its ring, its stack, its count of losses.
 *
 *	FREE --take--> USED --thread ends--> ENDED --drained--> FREE
 *	                 \------- nothing left in it -----------/
 *
 * A thread gets its memory with its first event and keeps it until it ends; then the next thread
 * uses it again. It is never unmapped, so whoever walks all of it needs no lock; rings that were added because one was
 * full are, once they have been read. At most
 * VTR_THREADS_MAX threads have some at a time; what further ones do is only counted. */
#ifndef VPTRACE_TRACER_THREAD_H
#define VPTRACE_TRACER_THREAD_H

#include "tracer/ring.h"
#include "tracer/stack.h"

#include <stdatomic.h>
#include <stdint.h>

enum { VTR_THREADS_MAX = 512 };

/* No more than this many bytes for all threads together, rings that were added included, and never more than
 * VTR_THREADS_MAX threads; what they have already they keep. Any thread. */
void vtr_thread_limit(uint64_t bytes);

enum vtr_thread_state { VTR_THREAD_FREE, VTR_THREAD_USED, VTR_THREAD_ENDED };

struct vtr_thread {
	_Atomic uint32_t state; /* enum vtr_thread_state */
	_Atomic uint32_t tid;
	_Atomic uint64_t drops; /* see vtr_drops() */
	_Atomic uint32_t
		busy; /* an event is being made: a signal handler that comes in between makes none */
	/* A chain of rings: the thread writes into the last, the writer reads the first. Mostly both are `ring`. */
	struct vtr_ring *writing;         /* the thread's own */
	struct vtr_ring *_Atomic reading; /* changed by the writer alone */
	_Atomic int ring_is_spare; /* `ring` has left the chain, and may become its end again */
	struct vtr_ring ring;
	struct vtr_stack stack;
};

/* The thread's ring is full: adds one to the chain, which the thread writes into from now on. Maps memory, unless the
 * thread's first ring is spare. NULL: the limit is reached, or there is no memory. The thread itself. */
struct vtr_ring *vtr_thread_grow(struct vtr_thread *t);

/* The ring that the writer reads has been read to its end: goes on to the next of the chain and unmaps what is not needed
 * any more. NULL: there is no next one, or something has come in meanwhile. The writer. */
struct vtr_ring *vtr_thread_next_ring(struct vtr_thread *t);

/* Whether the writer has taken everything. The thread itself. */
int vtr_thread_is_drained(struct vtr_thread *t);

/* Bytes of rings that were added. */
uint64_t vtr_thread_added_bytes(void);

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

/* The calling thread's memory, from its first call on. NULL: it has ended, there are too many
 * threads, or there is no memory. No system call after a first one that succeeded, nor after one
 * that failed until some other thread has ended. */
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

/* Memory number `i`, in use or not; NULL beyond the last. Any thread. */
struct vtr_thread *vtr_thread_at(uint32_t i);
uint32_t vtr_thread_count(void);

/* The memory of a thread that ended can be used again, and what it has beyond its first ring is unmapped. The writer, after
 * all rings were drained. */
void vtr_thread_free(struct vtr_thread *t);

#endif
