/* buffer_pool.c - free buffers are bits, full ones a list.
 *
 * Free: one bit per buffer. take clears the lowest bit that it can; recycle sets it again. Each is
 * one atomic step, so a stopped thread delays neither. Low numbers are used first, so touched
 * memory is reused.
 *
 * Full: givers push onto a stack by compare-and-swap; the one consumer takes the whole stack at
 * once and reverses it. A push overtaken by a full cycle of the consumer still links to the right
 * buffer, so reused numbers are harmless.
 *
 *	give: [3]->[1]->[7]          next: takes all three, hands out 7, 1, 3
 *
 * Fresh: one bit per buffer without memory. It takes memory from the limit of budget.h; buffers
 * that only a burst needed release it when they are free again.
 *
 * Numbers 0 .. count-1 are buffers, the VTR_DISCARD_MAX after them are discard buffers, in a
 * mapping of their own. */
#include "tracer/handover/buffer_pool.h"

#include "formats/base/memory.h"
#include "tracer/guest/budget.h"
#include "tracer/clock/capture_clock.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BUFFERS_MIN = 4, BUFFERS_MAX = 1 << 16, FEW = 16, PAGE = 4096, HUGE = 2 << 20 };
enum { NONE = 0 }; /* of links, which are 1 + number */
enum { FREE, WITH_CUPTI, FULL, READING };

struct buffer {
	atomic_uint state;
	atomic_uint capture;
	_Atomic uint64_t taken_ns, serial; /* serial: of this capture's, from 0 */
	size_t bytes;                      /* handed out, of the buffer */
	size_t valid_bytes;                /* while FULL and READING */
	uint64_t given_ns;                 /* then too */
	uint32_t next;                     /* while FULL */
};

struct vtr_pool {
	uint8_t *base, *discard;
	void *mapping;
	size_t mapping_bytes;
	uint32_t count; /* of buffers, without discard buffers */
	uint32_t ready; /* kept faulted in */
	struct buffer *buffers;

	_Atomic uint64_t *free_bits;  /* a bit set: that buffer is free and faulted in */
	_Atomic uint64_t *fresh_bits; /* a bit set: that buffer is free and has no memory */
	uint32_t words;               /* of each */
	atomic_uint held;             /* buffers that have memory */
	_Atomic uint64_t free_discards;
	_Static_assert(VTR_DISCARD_MAX == 64, "one word of bits");

	atomic_uint full;  /* link: the stack of givers */
	uint32_t in_order; /* link: taken over by the consumer, longest ago first */
	atomic_int sleeping;
	atomic_int woken;

	atomic_uint capture;
	_Atomic uint64_t forsaken; /* lower serials are not waited for */
	_Atomic uint64_t taken, starved, foreign, given, discards_used;
};

/* ---- life ---- */

static void *reserve(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void fault_in(uint8_t *p, size_t size)
{
	size_t at;

	for (at = 0; at < size; at += PAGE)
		*(volatile uint8_t *)(p + at) = 0;
}

static uint8_t *buffer_at(const struct vtr_pool *p, uint32_t number)
{
	if (number >= p->count)
		return p->discard + (size_t)(number - p->count) * VTR_DISCARD_BYTES;
	return p->base + (size_t)number * VTR_BUFFER_BYTES;
}

static void set_free(struct vtr_pool *p, uint32_t number)
{
	atomic_store_explicit(&p->buffers[number].state, FREE, memory_order_relaxed);
	if (number >= p->count)
		atomic_fetch_or_explicit(&p->free_discards, UINT64_C(1) << (number - p->count),
			memory_order_release);
	else
		atomic_fetch_or_explicit(&p->free_bits[number / 64], UINT64_C(1) << number % 64,
			memory_order_release);
}

/* The lowest set bit of a word, cleared; -1: there is none. */
static int take_bit(_Atomic uint64_t *word)
{
	uint64_t bits = atomic_load_explicit(word, memory_order_relaxed);

	while (bits) {
		uint64_t lowest = bits & (~bits + 1);

		bits = atomic_fetch_and_explicit(word, ~lowest, memory_order_acquire);
		if (bits & lowest)
			return __builtin_ctzll(lowest);
	}
	return -1;
}

/* The lowest set bit of several words, cleared; UINT32_MAX: there is none. */
static uint32_t take_lowest(_Atomic uint64_t *bits, uint32_t words)
{
	uint32_t word;

	for (word = 0; word < words; word++) {
		int bit = take_bit(&bits[word]);

		if (bit >= 0)
			return word * 64 + (uint32_t)bit;
	}
	return UINT32_MAX;
}

/* Takes a fresh buffer and its memory from the limit; UINT32_MAX: none. */
static uint32_t take_fresh(struct vtr_pool *p)
{
	uint32_t number;

	if (!vtr_budget_take(VTR_BUDGET_BUFFERS, VTR_BUFFER_BYTES))
		return UINT32_MAX;
	number = take_lowest(p->fresh_bits, p->words);
	if (number == UINT32_MAX)
		vtr_budget_give(VTR_BUDGET_BUFFERS, VTR_BUFFER_BYTES);
	else
		atomic_fetch_add_explicit(&p->held, 1, memory_order_relaxed);
	return number;
}

/* Releases the memory of a free buffer. */
static void set_fresh(struct vtr_pool *p, uint32_t number)
{
	madvise(buffer_at(p, number), VTR_BUFFER_BYTES, MADV_DONTNEED);
	atomic_store_explicit(&p->buffers[number].state, FREE, memory_order_relaxed);
	atomic_fetch_sub_explicit(&p->held, 1, memory_order_relaxed);
	vtr_budget_give(VTR_BUDGET_BUFFERS, VTR_BUFFER_BYTES);
	atomic_fetch_or_explicit(
		&p->fresh_bits[number / 64], UINT64_C(1) << number % 64, memory_order_release);
}

/* Faults in `more` buffers and makes them free. */
static unsigned make_ready(struct vtr_pool *p, uint32_t more)
{
	unsigned made;

	for (made = 0; made < more; made++) {
		uint32_t number = take_fresh(p);

		if (number == UINT32_MAX)
			break;
		fault_in(buffer_at(p, number), VTR_BUFFER_BYTES);
		set_free(p, number);
	}
	return made;
}

/* Huge pages, if the kernel allows them, for the buffers that stay. The others come and go one by
 * one, and a page shared by two of them would be counted once and held twice. */
static void advise(struct vtr_pool *p)
{
	size_t stay = (size_t)p->ready * VTR_BUFFER_BYTES / HUGE * HUGE;

	madvise(p->base, stay, MADV_HUGEPAGE);
	madvise(p->base + stay, (size_t)p->count * VTR_BUFFER_BYTES - stay, MADV_NOHUGEPAGE);
}

struct vtr_pool *vtr_pool_new(uint64_t limit_bytes)
{
	struct vtr_pool *p = vpt_calloc(1, sizeof(*p));
	uint64_t count = limit_bytes / VTR_BUFFER_BYTES;
	uintptr_t base;
	uint32_t i;

	if (!p)
		return NULL;
	p->count = (uint32_t)(count < BUFFERS_MIN   ? BUFFERS_MIN
			      : count > BUFFERS_MAX ? BUFFERS_MAX
						    : count);
	p->ready = p->count < VTR_POOL_READY_BUFFERS ? p->count : VTR_POOL_READY_BUFFERS;
	p->words = (p->count + 63) / 64;
	p->buffers = vpt_calloc(p->count + VTR_DISCARD_MAX, sizeof(*p->buffers));
	p->free_bits = vpt_calloc(p->words, sizeof(*p->free_bits));
	p->fresh_bits = vpt_calloc(p->words, sizeof(*p->fresh_bits));
	p->mapping_bytes = (size_t)p->count * VTR_BUFFER_BYTES + HUGE;
	p->mapping = reserve(p->mapping_bytes);
	p->discard = reserve((size_t)VTR_DISCARD_MAX * VTR_DISCARD_BYTES);
	if (!p->buffers || !p->free_bits || !p->fresh_bits || !p->mapping || !p->discard) {
		vtr_pool_free(p);
		return NULL;
	}
	base = ((uintptr_t)p->mapping + HUGE - 1) / HUGE * HUGE;
	p->base = (uint8_t *)base;
	advise(p);
	for (i = 0; i < p->count; i++)
		p->fresh_bits[i / 64] |= UINT64_C(1) << i % 64;
	atomic_store(&p->free_discards, UINT64_MAX);
	return p;
}

static uint64_t memory_of(struct vtr_pool *p)
{
	return (uint64_t)atomic_load(&p->held) * VTR_BUFFER_BYTES +
	       (uint64_t)__builtin_popcountll(atomic_load(&p->discards_used)) * VTR_DISCARD_BYTES;
}

void vtr_pool_free(struct vtr_pool *p)
{
	if (!p)
		return;
	if (p->mapping)
		munmap(p->mapping, p->mapping_bytes);
	if (p->discard)
		munmap(p->discard, (size_t)VTR_DISCARD_MAX * VTR_DISCARD_BYTES);
	vpt_free(p->buffers);
	vpt_free((void *)p->free_bits);
	vpt_free((void *)p->fresh_bits);
	vtr_budget_give(VTR_BUDGET_BUFFERS, memory_of(p));
	vpt_free(p);
}

static uint32_t count_free(const struct vtr_pool *p)
{
	uint32_t word, count = 0;

	for (word = 0; word < p->words; word++)
		count += (uint32_t)__builtin_popcountll(
			atomic_load_explicit(&p->free_bits[word], memory_order_relaxed));
	return count;
}

/* ---- waking the writer ---- */

static void futex(atomic_int *word, int op, int value, const struct timespec *timeout)
{
	syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, timeout, NULL, 0);
}

static void wake_sleeper(struct vtr_pool *p)
{
	if (atomic_load(&p->sleeping) && atomic_exchange(&p->sleeping, 0))
		futex(&p->sleeping, FUTEX_WAKE, 1, NULL);
}

void vtr_pool_wake(struct vtr_pool *p)
{
	atomic_store(&p->woken, 1);
	wake_sleeper(p);
}

void vtr_pool_wait(struct vtr_pool *p, unsigned timeout_ms)
{
	struct timespec timeout = {timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000};

	/* A later push sees it; an earlier one is seen below. */
	atomic_store(&p->sleeping, 1);
	if (p->in_order == NONE && atomic_load(&p->full) == NONE && !atomic_load(&p->woken))
		futex(&p->sleeping, FUTEX_WAIT, 1, &timeout);
	atomic_store(&p->sleeping, 0);
	atomic_store(&p->woken, 0);
}

/* ---- callbacks ---- */

static void *hand_out(struct vtr_pool *p, uint32_t number, size_t bytes)
{
	struct buffer *b = &p->buffers[number];

	b->bytes = bytes;
	atomic_store_explicit(&b->taken_ns, vtr_now(), memory_order_relaxed);
	atomic_store_explicit(&b->capture, atomic_load_explicit(&p->capture, memory_order_relaxed),
		memory_order_relaxed);
	atomic_store_explicit(&b->serial,
		atomic_fetch_add_explicit(&p->taken, 1, memory_order_relaxed),
		memory_order_relaxed);
	atomic_store_explicit(&b->state, WITH_CUPTI, memory_order_release);
	return buffer_at(p, number);
}

void *vtr_pool_take(struct vtr_pool *p, size_t bytes)
{
	uint32_t number = take_lowest(p->free_bits, p->words);

	if (number != UINT32_MAX)
		return hand_out(p, number, bytes);
	vtr_pool_wake(p); /* the writer is late: it reads full buffers and faults in more */
	number = take_fresh(p);
	if (number != UINT32_MAX)
		return hand_out(p, number, bytes);
	atomic_fetch_add_explicit(&p->starved, 1, memory_order_relaxed);
	return NULL;
}

int vtr_pool_is_crowded(const struct vtr_pool *p)
{
	return 4 * count_free(p) < 3 * p->ready;
}

int vtr_pool_is_dry(const struct vtr_pool *p)
{
	return atomic_load_explicit(&p->full, memory_order_relaxed) != NONE && !count_free(p);
}

void *vtr_pool_take_discard(struct vtr_pool *p, size_t *size_bytes)
{
	int bit = take_bit(&p->free_discards);

	*size_bytes = 0;
	if (bit < 0)
		return NULL;
	*size_bytes = VTR_DISCARD_BYTES;
	if (!(atomic_fetch_or_explicit(
		      &p->discards_used, UINT64_C(1) << bit, memory_order_relaxed) >>
			    bit &
		    1))
		vtr_budget_add(VTR_BUDGET_BUFFERS, VTR_DISCARD_BYTES);
	return hand_out(p, p->count + (uint32_t)bit, VTR_DISCARD_BYTES);
}

/* The number of the buffer that begins at this address; ~0: none does. */
static uint32_t number_of(const struct vtr_pool *p, const void *buffer)
{
	uintptr_t at = (uintptr_t)buffer, base = (uintptr_t)p->base,
		  discard = (uintptr_t)p->discard;

	if (at >= base && at - base < (uintptr_t)p->count * VTR_BUFFER_BYTES &&
		(at - base) % VTR_BUFFER_BYTES == 0)
		return (uint32_t)((at - base) / VTR_BUFFER_BYTES);
	if (at >= discard && at - discard < (uintptr_t)VTR_DISCARD_MAX * VTR_DISCARD_BYTES &&
		(at - discard) % VTR_DISCARD_BYTES == 0)
		return p->count + (uint32_t)((at - discard) / VTR_DISCARD_BYTES);
	return UINT32_MAX;
}

int vtr_pool_give(struct vtr_pool *p, void *buffer, size_t valid_bytes)
{
	uint32_t number = number_of(p, buffer);
	unsigned expected = WITH_CUPTI, head;
	struct buffer *b;

	if (number == UINT32_MAX ||
		!atomic_compare_exchange_strong(&p->buffers[number].state, &expected, FULL)) {
		atomic_fetch_add_explicit(&p->foreign, 1, memory_order_relaxed);
		return 0;
	}
	b = &p->buffers[number];
	b->valid_bytes = valid_bytes < b->bytes ? valid_bytes : b->bytes;
	b->given_ns = vtr_clock_ns(CLOCK_MONOTONIC);
	if (atomic_load_explicit(&b->capture, memory_order_relaxed) ==
		atomic_load_explicit(&p->capture, memory_order_relaxed))
		atomic_fetch_add_explicit(&p->given, 1, memory_order_relaxed);
	head = atomic_load_explicit(&p->full, memory_order_relaxed);
	do {
		b->next = head;
	} while (!atomic_compare_exchange_weak(&p->full, &head, number + 1));
	wake_sleeper(p);
	return 1;
}

/* ---- the writer ---- */

/* Reverses the givers' stack, newest first, into a list, oldest first. */
static uint32_t turned_round(struct vtr_pool *p, uint32_t link)
{
	uint32_t before = NONE;

	while (link != NONE) {
		uint32_t next = p->buffers[link - 1].next;

		p->buffers[link - 1].next = before;
		before = link;
		link = next;
	}
	return before;
}

int vtr_pool_next(struct vtr_pool *p, struct vtr_full *out)
{
	struct buffer *b;
	uint32_t number;

	memset(out, 0, sizeof(*out));
	if (p->in_order == NONE)
		p->in_order = turned_round(p, atomic_exchange(&p->full, NONE));
	if (p->in_order == NONE)
		return 0;
	number = p->in_order - 1;
	b = &p->buffers[number];
	p->in_order = b->next;
	atomic_store_explicit(&b->state, READING, memory_order_relaxed);
	out->data = buffer_at(p, number);
	out->valid_bytes = b->valid_bytes;
	out->given_ns = b->given_ns;
	out->taken_ns = atomic_load_explicit(&b->taken_ns, memory_order_relaxed);
	out->discard = number >= p->count;
	out->stale = atomic_load_explicit(&b->capture, memory_order_relaxed) !=
		     atomic_load_explicit(&p->capture, memory_order_relaxed);
	return 1;
}

void vtr_pool_recycle(struct vtr_pool *p, const struct vtr_full *full)
{
	uint32_t number = number_of(p, full->data);

	if (number == UINT32_MAX ||
		atomic_load_explicit(&p->buffers[number].state, memory_order_relaxed) != READING)
		return;
	/* After a burst; and the kernel zeroes what it takes. */
	if (number >= p->ready && number < p->count && count_free(p) >= p->ready) {
		set_fresh(p, number);
		return;
	}
	/* All of it: CUPTI may have written past the valid records, and relies on zeros. */
	memset(full->data, 0, p->buffers[number].bytes);
	set_free(p, number);
}

unsigned vtr_pool_grow(struct vtr_pool *p)
{
	return count_free(p) < FEW ? make_ready(p, FEW) : 0;
}

/* ---- the session ---- */

void vtr_pool_ready(struct vtr_pool *p)
{
	uint32_t held = atomic_load(&p->held);

	if (held < p->ready)
		make_ready(p, p->ready - held);
}

void vtr_pool_begin(struct vtr_pool *p)
{
	atomic_fetch_add(&p->capture, 1);
	atomic_store(&p->taken, 0);
	atomic_store(&p->starved, 0);
	atomic_store(&p->foreign, 0);
	atomic_store(&p->given, 0);
	atomic_store(&p->forsaken, 0);
}

void vtr_pool_forsake(struct vtr_pool *p)
{
	atomic_store(&p->forsaken, atomic_load(&p->taken));
}

void vtr_pool_state(struct vtr_pool *p, struct vtr_pool_state *out)
{
	unsigned capture = atomic_load(&p->capture);
	uint64_t forsaken = atomic_load(&p->forsaken);
	uint32_t i;

	memset(out, 0, sizeof(*out));
	out->memory_bytes = memory_of(p);
	for (i = 0; i < p->count + VTR_DISCARD_MAX; i++) {
		uint64_t taken_ns = atomic_load(&p->buffers[i].taken_ns);

		if (atomic_load(&p->buffers[i].state) != WITH_CUPTI ||
			atomic_load(&p->buffers[i].capture) != capture ||
			atomic_load(&p->buffers[i].serial) < forsaken)
			continue;
		if (!out->outstanding++ || taken_ns < out->oldest_ns)
			out->oldest_ns = taken_ns;
	}
	out->taken = atomic_load(&p->taken);
	out->starved = atomic_load(&p->starved);
	out->foreign = atomic_load(&p->foreign);
	out->given = atomic_load(&p->given);
}
