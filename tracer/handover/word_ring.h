/* word_ring.h - a queue of 64-bit words from one thread to one other, without locks.
 *
 * Records are runs of words that the producer publishes as a whole; they may wrap around the end.
 * Positions count up for ever and are masked on use. */
#ifndef VPTRACE_TRACER_HANDOVER_WORD_RING_H
#define VPTRACE_TRACER_HANDOVER_WORD_RING_H

#include <stdatomic.h>
#include <stdint.h>

struct vtr_ring {
	_Alignas(64) _Atomic uint64_t head; /* written by the producer */
	uint64_t tail_seen;                 /* the producer's last look at `tail` */
	/* The ring in which the producer continued when this one was full; this one gets nothing
	 * more. */
	struct vtr_ring *_Atomic next;
	uint64_t *words;
	uint64_t count;                     /* of words, a power of two */
	_Alignas(64) _Atomic uint64_t tail; /* written by the consumer */
};

/* Initializes `r`, all zeros, as an empty ring, before any other thread knows it. `count` is a
 * power of two. */
static inline void vtr_ring_init(struct vtr_ring *r, uint64_t *words, uint64_t count)
{
	r->words = words;
	r->count = count;
}

/* ---- the producer ---- */

/* The position for a record of `words` words; UINT64_MAX: the ring is full. */
static inline uint64_t vtr_ring_reserve(struct vtr_ring *r, unsigned words)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);

	if (head + words - r->tail_seen <= r->count)
		return head;
	r->tail_seen = atomic_load_explicit(&r->tail, memory_order_acquire);
	return head + words - r->tail_seen <= r->count ? head : UINT64_MAX;
}

static inline void vtr_ring_set(struct vtr_ring *r, uint64_t at, uint64_t word)
{
	r->words[at & (r->count - 1)] = word;
}

/* Everything before `end` may be read from now on. */
static inline void vtr_ring_publish(struct vtr_ring *r, uint64_t end)
{
	atomic_store_explicit(&r->head, end, memory_order_release);
}

/* Whether the consumer has taken everything. */
static inline int vtr_ring_empty(struct vtr_ring *r)
{
	return atomic_load_explicit(&r->tail, memory_order_acquire) ==
	       atomic_load_explicit(&r->head, memory_order_relaxed);
}

/* ---- the consumer ---- */

static inline uint64_t vtr_ring_tail(struct vtr_ring *r)
{
	return atomic_load_explicit(&r->tail, memory_order_relaxed);
}

static inline uint64_t vtr_ring_head(struct vtr_ring *r)
{
	return atomic_load_explicit(&r->head, memory_order_acquire);
}

static inline uint64_t vtr_ring_get(const struct vtr_ring *r, uint64_t at)
{
	return r->words[at & (r->count - 1)];
}

/* Everything before `end` may be overwritten from now on. */
static inline void vtr_ring_consume(struct vtr_ring *r, uint64_t end)
{
	atomic_store_explicit(&r->tail, end, memory_order_release);
}

#endif
