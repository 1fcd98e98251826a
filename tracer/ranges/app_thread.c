/* app_thread.c - the memory of one application thread.
 *
 * A fixed table holds the state and the memory of each number. A thread takes a FREE number by
 * compare-and-swap, preferably one with memory, else it maps some; a key's destructor frees it.
 * Destructors of other keys may run later and make events: the thread is then marked as ended and
 * gets no memory, so nothing leaks. */
#include "tracer/ranges/app_thread.h"

#include "tracer/guest/budget.h"
#include "tracer/guest/cancel.h"
#include "tracer/guest/thread_id.h"
#include "tracer/clock/capture_clock.h"
#include "tracer/ranges/cuda_callers.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

_Static_assert(
	offsetof(struct vtr_thread, stack.open) + VTR_STACK_ROOM * sizeof(struct vtr_open_range) <=
		VTR_STACK_PAGE,
	"the first page is all that most threads touch");

#define FAST_TLS _Thread_local __attribute__((tls_model("initial-exec")))

_Thread_local struct vtr_thread *vtr_thread_mine __attribute__((tls_model("initial-exec")));

static FAST_TLS uint32_t
	refused_at; /* `freed` + 1 when this thread was refused; UINT32_MAX: it has ended */

static FAST_TLS int
	starting; /* in its first event: a signal handler that interrupts it gets nothing */

static struct {
	_Atomic uint32_t state;            /* enum vtr_thread_state */
	struct vtr_thread *_Atomic memory; /* NULL: none; unmapped only by the writer */
} table[VTR_THREADS_MAX];
static _Atomic uint32_t table_count;
static _Atomic uint32_t freed;   /* counts what became FREE */
static _Atomic uint32_t kept;    /* FREE with memory */
static _Atomic uint32_t refused; /* 1: since the last trim some thread was */
static int (*on_end)(struct vtr_thread *t);
static pthread_key_t key;
static _Atomic int ready;

struct vtr_thread *vtr_thread_at(uint32_t i, enum vtr_thread_state *state)
{
	*state = atomic_load_explicit(&table[i].state, memory_order_acquire);
	return atomic_load_explicit(&table[i].memory, memory_order_acquire);
}

uint32_t vtr_thread_count(void)
{
	return atomic_load_explicit(&table_count, memory_order_relaxed);
}

/* ---- rings ---- */

static struct vtr_ring *map_ring(uint64_t words)
{
	uint64_t bytes = VTR_RING_BYTES(words);
	struct vtr_ring *ring;

	if (!vtr_budget_take(VTR_BUDGET_THREADS, bytes))
		return NULL;
	ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (ring == MAP_FAILED) {
		vtr_budget_give(VTR_BUDGET_THREADS, bytes);
		return NULL;
	}
	vtr_ring_init(ring, (uint64_t *)(ring + 1), words);
	return ring;
}

static void unmap_ring(struct vtr_ring *ring)
{
	uint64_t bytes = VTR_RING_BYTES(ring->count);

	munmap(ring, bytes);
	vtr_budget_give(VTR_BUDGET_THREADS, bytes);
}

/* Eight times the size of the full one, so that a burst needs few; smaller near the limit. */
static struct vtr_ring *map_next(const struct vtr_thread *t)
{
	uint64_t words = t->writing->count * 8;
	struct vtr_ring *ring = NULL;

	if (words > VTR_RING_WORDS_MAX)
		words = VTR_RING_WORDS_MAX;
	for (; !ring && words >= VTR_RING_NEXT_WORDS; words /= 4)
		ring = map_ring(words);
	return ring;
}

static struct vtr_ring *grow(struct vtr_thread *t)
{
	struct vtr_ring *ring = map_next(t);

	if (!ring && atomic_load_explicit(&t->ring_is_spare, memory_order_acquire)) {
		/* The writer has read it to its end and no longer uses it. */
		ring = &t->ring;
		atomic_store_explicit(&t->ring_is_spare, 0, memory_order_relaxed);
		atomic_store_explicit(&ring->next, NULL, memory_order_relaxed);
	}
	if (!ring)
		return NULL;
	/* All that went into the old one was published before. */
	atomic_store_explicit(&t->writing->next, ring, memory_order_release);
	t->writing = ring;
	return ring;
}

/* If the chain ended in between, it would be read to its end and unmapped while its thread still
 * writes. */
struct vtr_ring *vtr_thread_grow(struct vtr_thread *t)
{
	struct vtr_ring *ring;
	int cancel;

	cancel = vtr_cancel_hold();
	ring = grow(t);
	vtr_cancel_restore(cancel);
	return ring;
}

struct vtr_ring *vtr_thread_next_ring(struct vtr_thread *t)
{
	struct vtr_ring *old = atomic_load_explicit(&t->reading, memory_order_relaxed);
	struct vtr_ring *next = atomic_load_explicit(&old->next, memory_order_acquire);

	/* Events added after the last read of its head and before the next ring are still to be
	 * read. */
	if (!next || vtr_ring_head(old) != vtr_ring_tail(old))
		return NULL;
	atomic_store_explicit(&t->reading, next, memory_order_release);
	if (old == &t->ring)
		atomic_store_explicit(&t->ring_is_spare, 1, memory_order_release);
	else
		unmap_ring(old);
	return next;
}

int vtr_thread_is_drained(struct vtr_thread *t)
{
	return atomic_load_explicit(&t->reading, memory_order_acquire) == t->writing &&
	       vtr_ring_empty(t->writing);
}

/* Unmaps an ended thread's rings beyond the first, all of which have been read. */
static void drop_added_ring(struct vtr_thread *t)
{
	struct vtr_ring *last = atomic_load_explicit(&t->reading, memory_order_relaxed);

	if (last == &t->ring)
		return;
	unmap_ring(last);
	atomic_store_explicit(&t->ring.next, NULL, memory_order_relaxed);
	atomic_store_explicit(&t->ring_is_spare, 0, memory_order_relaxed);
	atomic_store_explicit(&t->reading, &t->ring, memory_order_relaxed);
	t->writing = &t->ring;
}

/* ---- memory ---- */

static struct vtr_thread *map_thread(uint32_t number)
{
	struct vtr_thread *t;

	if (!vtr_budget_take(VTR_BUDGET_THREADS, VTR_THREAD_BYTES))
		return NULL;
	t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (t == MAP_FAILED) {
		vtr_budget_give(VTR_BUDGET_THREADS, VTR_THREAD_BYTES);
		return NULL;
	}
	t->number = number;
	vtr_ring_init(&t->ring, t->ring_words, VTR_RING_FIRST_WORDS);
	t->writing = &t->ring;
	atomic_store_explicit(&t->reading, &t->ring, memory_order_relaxed);
	t->stack.room = VTR_STACK_ROOM;
	atomic_store_explicit(&table[number].memory, t, memory_order_release);
	return t;
}

static void unmap_thread(struct vtr_thread *t)
{
	atomic_store_explicit(&table[t->number].memory, NULL, memory_order_relaxed);
	munmap(t, sizeof(*t));
	vtr_budget_give(VTR_BUDGET_THREADS, VTR_THREAD_BYTES);
}

static void set_free(uint32_t number)
{
	atomic_store_explicit(&table[number].state, VTR_THREAD_FREE, memory_order_release);
	atomic_fetch_add_explicit(&freed, 1, memory_order_release);
}

static int change_state(uint32_t number, uint32_t from, uint32_t to)
{
	return atomic_compare_exchange_strong_explicit(
		&table[number].state, &from, to, memory_order_acquire, memory_order_relaxed);
}

/* Takes a free number, with memory if asked for. UINT32_MAX: none. */
static uint32_t take_number(int with_memory)
{
	uint32_t i, count = vtr_thread_count();

	for (i = 0; i < count; i++) {
		if (with_memory && !atomic_load_explicit(&table[i].memory, memory_order_relaxed))
			continue;
		if (!atomic_load_explicit(&table[i].state, memory_order_relaxed) &&
			change_state(i, VTR_THREAD_FREE, VTR_THREAD_USED))
			return i;
	}
	return UINT32_MAX;
}

/* One more number to be taken. 0: there are VTR_THREADS_MAX. */
static int add_number(void)
{
	uint32_t count = vtr_thread_count();

	do {
		if (count == VTR_THREADS_MAX)
			return 0;
	} while (!atomic_compare_exchange_weak_explicit(
		&table_count, &count, count + 1, memory_order_relaxed, memory_order_relaxed));
	return 1;
}

/* Memory that waits for a thread, or new. */
static struct vtr_thread *take_or_map(void)
{
	uint32_t number = UINT32_MAX;
	struct vtr_thread *t;

	if (atomic_load_explicit(&kept, memory_order_relaxed))
		number = take_number(1);
	while (number == UINT32_MAX) {
		number = take_number(0);
		if (number == UINT32_MAX && !add_number())
			return NULL;
	}
	/* The writer may have unmapped it before the number was taken. */
	t = atomic_load_explicit(&table[number].memory, memory_order_acquire);
	if (t) {
		atomic_fetch_sub_explicit(&kept, 1, memory_order_relaxed);
		return t;
	}
	t = map_thread(number);
	if (!t)
		atomic_store_explicit(&table[number].state, VTR_THREAD_FREE, memory_order_release);
	return t;
}

/* Releases what only a deep stack needs. Its first page stays, and the others hold no range. */
static void shrink_stack(struct vtr_thread *t)
{
	uint64_t bytes = vtr_stack_bytes(&t->stack);

	if (!bytes)
		return;
	madvise((char *)t + VTR_STACK_PAGE, sizeof(*t) - VTR_STACK_PAGE, MADV_DONTNEED);
	t->stack.room = VTR_STACK_ROOM;
	vtr_budget_give(VTR_BUDGET_THREADS, bytes);
}

void vtr_thread_free(struct vtr_thread *t)
{
	drop_added_ring(t);
	shrink_stack(t);
	atomic_fetch_add_explicit(&kept, 1, memory_order_relaxed);
	set_free(t->number);
}

/* A thread that forked in a signal handler goes on with the event that this interrupted. */
int vtr_thread_remain(void)
{
	struct vtr_thread *mine = vtr_thread_mine, *t;
	uint32_t i, count = vtr_thread_count();

	if (starting || (mine && atomic_load_explicit(&mine->busy, memory_order_relaxed)))
		return -1;
	atomic_store_explicit(&kept, 0, memory_order_relaxed);
	for (i = 0; i < count; i++) {
		t = atomic_load_explicit(&table[i].memory, memory_order_relaxed);
		if (t)
			vtr_stack_clear(&t->stack);
		if (!t)
			set_free(i);
		else if (t != mine)
			vtr_thread_free(t);
		else
			atomic_store_explicit(&t->tid, vtr_tid(), memory_order_relaxed);
	}
	return 0;
}

/* Whether a thread would probably get memory now. */
static int has_room(void)
{
	if (!vtr_budget_take(VTR_BUDGET_THREADS, VTR_THREAD_BYTES))
		return 0;
	vtr_budget_give(VTR_BUDGET_THREADS, VTR_THREAD_BYTES);
	return 1;
}

void vtr_thread_trim(void)
{
	uint32_t i = vtr_thread_count();

	while (i-- > 0 && atomic_load_explicit(&kept, memory_order_relaxed) > VTR_THREADS_KEPT) {
		if (!atomic_load_explicit(&table[i].memory, memory_order_relaxed) ||
			!change_state(i, VTR_THREAD_FREE, VTR_THREAD_LEAVES))
			continue;
		atomic_fetch_sub_explicit(&kept, 1, memory_order_relaxed);
		unmap_thread(atomic_load_explicit(&table[i].memory, memory_order_acquire));
		set_free(i);
	}
	/* If a thread was refused because of the limit, rings or buffers may have freed room
	 * too. */
	if (atomic_load_explicit(&refused, memory_order_relaxed) && has_room()) {
		atomic_store_explicit(&refused, 0, memory_order_relaxed);
		atomic_fetch_add_explicit(&freed, 1, memory_order_release);
	}
}

static struct vtr_thread *take_memory(uint32_t freed_now)
{
	struct vtr_thread *t = take_or_map();

	if (t && pthread_setspecific(key, t)) {
		vtr_thread_free(t);
		t = NULL;
	}
	if (!t) {
		refused_at = freed_now + 1;
		atomic_store_explicit(&refused, 1, memory_order_relaxed);
		return NULL;
	}
	vtr_stack_clear(&t->stack);
	/* A thread cancelled in an event has left it set. */
	atomic_store_explicit(&t->busy, 0, memory_order_relaxed);
	atomic_store_explicit(&t->drops, 0, memory_order_relaxed);
	atomic_store_explicit(&t->tid, vtr_tid(), memory_order_release);
	vtr_callers_saw(vtr_tid(), vtr_clock_ns(CLOCK_MONOTONIC));
	return t;
}

struct vtr_thread *vtr_thread_first_event(void)
{
	uint32_t freed_now = atomic_load_explicit(&freed, memory_order_acquire) & INT32_MAX;
	int cancel;

	if (starting || refused_at == UINT32_MAX || refused_at == freed_now + 1 ||
		!atomic_load_explicit(&ready, memory_order_acquire))
		return NULL;
	/* Memory that no thread's end frees would leak. */
	cancel = vtr_cancel_hold();
	starting = 1;
	atomic_signal_fence(memory_order_seq_cst);
	vtr_thread_mine = take_memory(freed_now);
	atomic_signal_fence(memory_order_seq_cst);
	starting = 0;
	vtr_cancel_restore(cancel);
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
		atomic_store_explicit(
			&table[t->number].state, VTR_THREAD_ENDED, memory_order_release);
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
