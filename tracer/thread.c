/* thread.c - the memory of one application thread.
 *
 * All memory stands in a fixed table of pointers that only grows. A thread that needs some takes
 * what is FREE, by compare-and-swap, else maps new; a key's destructor gives it back. Destructors
 * of other keys may run later and make events: the thread is marked as ended by then and gets
 * nothing more, so nothing leaks. */
#include "tracer/thread.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FAST_TLS _Thread_local __attribute__((tls_model("initial-exec")))

_Thread_local struct vtr_thread *vtr_thread_mine __attribute__((tls_model("initial-exec")));

static FAST_TLS uint32_t own_tid;
static FAST_TLS uint32_t
	refused_at; /* `freed` + 1 when this thread was refused; UINT32_MAX: it has ended */

static FAST_TLS int
	starting; /* in its first event: a signal handler that comes in between gets nothing */

static struct vtr_thread *_Atomic table[VTR_THREADS_MAX];
static _Atomic uint32_t limit = VTR_THREADS_MAX; /* of threads with memory at a time */
static _Atomic uint64_t limit_bytes = VTR_THREADS_MAX * sizeof(struct vtr_thread);
static _Atomic uint64_t added_bytes; /* of rings beyond each thread's first */
static _Atomic uint32_t table_count;
static _Atomic uint32_t freed; /* counts what became FREE */
static int (*on_end)(struct vtr_thread *t);
static pthread_key_t key;
static _Atomic int ready;

uint32_t vtr_tid(void)
{
	if (!own_tid)
		own_tid = (uint32_t)syscall(SYS_gettid);
	return own_tid;
}

void vtr_thread_forked(void)
{
	own_tid = 0;
}

struct vtr_thread *vtr_thread_at(uint32_t i)
{
	return i < VTR_THREADS_MAX ? atomic_load_explicit(&table[i], memory_order_acquire) : NULL;
}

uint32_t vtr_thread_count(void)
{
	uint32_t count = atomic_load_explicit(&table_count, memory_order_relaxed);

	return count < VTR_THREADS_MAX ? count : VTR_THREADS_MAX;
}

/* What an ended thread had beyond its first ring, all of which has been read. */
static void drop_added_ring(struct vtr_thread *t)
{
	struct vtr_ring *last = atomic_load_explicit(&t->reading, memory_order_relaxed);

	if (!last || last == &t->ring)
		return;
	munmap(last, sizeof(*last));
	atomic_fetch_sub_explicit(&added_bytes, sizeof(*last), memory_order_relaxed);
	atomic_store_explicit(&t->ring.next, NULL, memory_order_relaxed);
	atomic_store_explicit(&t->ring_is_spare, 0, memory_order_relaxed);
	atomic_store_explicit(&t->reading, &t->ring, memory_order_relaxed);
	t->writing = &t->ring;
}

void vtr_thread_free(struct vtr_thread *t)
{
	drop_added_ring(t);
	atomic_store_explicit(&t->state, VTR_THREAD_FREE, memory_order_release);
	atomic_fetch_add_explicit(&freed, 1, memory_order_release);
}

static struct vtr_thread *take_free(void)
{
	uint32_t i, count = vtr_thread_count();

	for (i = 0; i < count; i++) {
		struct vtr_thread *t = vtr_thread_at(i);
		uint32_t expected = VTR_THREAD_FREE;

		if (t && atomic_compare_exchange_strong_explicit(&t->state, &expected,
				 VTR_THREAD_USED, memory_order_acquire, memory_order_relaxed))
			return t;
	}
	return NULL;
}

void vtr_thread_limit(uint64_t bytes)
{
	uint64_t count = bytes / sizeof(struct vtr_thread);

	atomic_store_explicit(&limit_bytes, bytes, memory_order_relaxed);
	atomic_store_explicit(&limit, (uint32_t)(count > VTR_THREADS_MAX ? VTR_THREADS_MAX : count),
		memory_order_relaxed);
}

uint64_t vtr_thread_added_bytes(void)
{
	return atomic_load_explicit(&added_bytes, memory_order_relaxed);
}

/* Takes a ring's bytes from the limit. Returns whether they were left. */
static int take_bytes(void)
{
	uint64_t first = (uint64_t)vtr_thread_count() * sizeof(struct vtr_thread);
	uint64_t added = vtr_thread_added_bytes();

	do {
		if (first + added + sizeof(struct vtr_ring) >
			atomic_load_explicit(&limit_bytes, memory_order_relaxed))
			return 0;
	} while (!atomic_compare_exchange_weak_explicit(&added_bytes, &added,
		added + sizeof(struct vtr_ring), memory_order_relaxed, memory_order_relaxed));
	return 1;
}

static void give_bytes(void)
{
	atomic_fetch_sub_explicit(&added_bytes, sizeof(struct vtr_ring), memory_order_relaxed);
}

static struct vtr_ring *map_ring(void)
{
	struct vtr_ring *ring;

	if (!take_bytes())
		return NULL;
	ring = mmap(NULL, sizeof(*ring), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (ring != MAP_FAILED)
		return ring;
	give_bytes();
	return NULL;
}

static struct vtr_ring *grow(struct vtr_thread *t)
{
	struct vtr_ring *ring;

	if (atomic_load_explicit(&t->ring_is_spare, memory_order_acquire)) {
		/* The writer has read it to its end and does not look at it. */
		ring = &t->ring;
		atomic_store_explicit(&t->ring_is_spare, 0, memory_order_relaxed);
		atomic_store_explicit(&ring->next, NULL, memory_order_relaxed);
	} else {
		ring = map_ring();
	}
	if (!ring)
		return NULL;
	/* All that went into the old one was published before. */
	atomic_store_explicit(&t->writing->next, ring, memory_order_release);
	t->writing = ring;
	return ring;
}

/* A chain that ends in between would be read to its end and unmapped while its thread still writes. */
struct vtr_ring *vtr_thread_grow(struct vtr_thread *t)
{
	struct vtr_ring *ring;
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	ring = grow(t);
	pthread_setcancelstate(cancel, NULL);
	return ring;
}

struct vtr_ring *vtr_thread_next_ring(struct vtr_thread *t)
{
	struct vtr_ring *old = atomic_load_explicit(&t->reading, memory_order_relaxed);
	struct vtr_ring *next = atomic_load_explicit(&old->next, memory_order_acquire);

	/* What came in between the last look at its head and the next ring is still to be read. */
	if (!next || vtr_ring_head(old) != vtr_ring_tail(old))
		return NULL;
	atomic_store_explicit(&t->reading, next, memory_order_release);
	if (old == &t->ring) {
		atomic_store_explicit(&t->ring_is_spare, 1, memory_order_release);
	} else {
		munmap(old, sizeof(*old));
		give_bytes();
	}
	return next;
}

int vtr_thread_is_drained(struct vtr_thread *t)
{
	return atomic_load_explicit(&t->reading, memory_order_acquire) == t->writing &&
	       vtr_ring_empty(t->writing);
}

static struct vtr_thread *map_new(void)
{
	uint32_t i = vtr_thread_count();
	struct vtr_thread *t;

	if (i >= atomic_load_explicit(&limit, memory_order_relaxed))
		return NULL;
	t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (t == MAP_FAILED)
		return NULL;
	atomic_store_explicit(&t->state, VTR_THREAD_USED, memory_order_relaxed);
	t->writing = &t->ring;
	atomic_store_explicit(&t->reading, &t->ring, memory_order_relaxed);
	do {
		i = vtr_thread_count();
		if (i >= atomic_load_explicit(&limit, memory_order_relaxed)) {
			munmap(t, sizeof(*t));
			return NULL;
		}
	} while (!atomic_compare_exchange_weak_explicit(
		&table_count, &i, i + 1, memory_order_relaxed, memory_order_relaxed));
	atomic_store_explicit(&table[i], t, memory_order_release);
	return t;
}

static struct vtr_thread *take_memory(uint32_t freed_now)
{
	struct vtr_thread *t = take_free();

	if (!t)
		t = map_new();
	if (t && pthread_setspecific(key, t)) {
		vtr_thread_free(t);
		t = NULL;
	}
	if (!t) {
		refused_at = freed_now + 1;
		return NULL;
	}
	vtr_stack_clear(&t->stack);
	/* A thread that was cancelled in an event has left it set. */
	atomic_store_explicit(&t->busy, 0, memory_order_relaxed);
	atomic_store_explicit(&t->drops, 0, memory_order_relaxed);
	atomic_store_explicit(&t->tid, vtr_tid(), memory_order_release);
	return t;
}

struct vtr_thread *vtr_thread_first_event(void)
{
	uint32_t freed_now = atomic_load_explicit(&freed, memory_order_acquire) & INT32_MAX;
	int cancel;

	if (starting || refused_at == UINT32_MAX || refused_at == freed_now + 1 ||
		!atomic_load_explicit(&ready, memory_order_acquire))
		return NULL;
	/* Memory that no thread's end gives back would be lost. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	starting = 1;
	atomic_signal_fence(memory_order_seq_cst);
	vtr_thread_mine = take_memory(freed_now);
	atomic_signal_fence(memory_order_seq_cst);
	starting = 0;
	pthread_setcancelstate(cancel, NULL);
	return vtr_thread_mine;
}

static void thread_ended(void *memory)
{
	struct vtr_thread *t = memory;

	int something_left = on_end(t) || !vtr_thread_is_drained(t) || t->writing != &t->ring;

	vtr_thread_mine = NULL;
	refused_at = UINT32_MAX;
	if (!something_left)
		vtr_thread_free(t);
	else
		atomic_store_explicit(&t->state, VTR_THREAD_ENDED, memory_order_release);
}

int vtr_thread_init(int (*ended)(struct vtr_thread *t))
{
	if (atomic_load_explicit(&ready, memory_order_acquire))
		return 0;
	on_end = ended;
	if (pthread_key_create(&key, thread_ended))
		return -1;
	atomic_store_explicit(&ready, 1, memory_order_release);
	return 0;
}
