/* drain_threads.c - the writer's side of app_threads.h: takes events from the rings, copies the stacks while
 * they change, counts each thread's drops. */
#include "tracer/ranges/app_threads.h"

#include "tracer/clock/capture_clock.h"
#include "tracer/ranges/app_thread.h"
#include "tracer/ranges/cuda_callers.h"
#include "tracer/ranges/epoch.h"
#include "tracer/ranges/event_words.h"
#include "tracer/ranges/started_ranges.h"

#include <stdatomic.h>
#include <time.h>

/* A stack that changes is soon as it was, unless its thread has lost its core inside a change. At the
 * end of a capture there is no later copy: then that is waited for. */
enum { COPY_TRIES = 16, COPY_WAIT_NS = 100000, WAITS_NS = 2000000, LAST_WAITS_NS = 200000000 };

/* ---- losses ---- */

/* Drops of one capture by thread id, which the kernel may reuse. A thread that finds no place here
 * at its first drop counts among the others permanently: the count of an id only grows. */
static struct {
	uint32_t epoch, count;
	struct {
		uint32_t tid;
		uint64_t of_ended, now;
	} of[VTR_LOSERS_MAX];
	uint64_t others_ended;
} losses;

static void begin_losses(uint32_t capture)
{
	if (losses.epoch == capture)
		return;
	losses.epoch = capture;
	losses.count = 0;
	losses.others_ended = 0;
}

/* A thread's index in `losses`; VTR_LOSERS_MAX: none. */
static uint32_t loser(uint32_t tid)
{
	uint32_t i;

	for (i = 0; i < losses.count; i++)
		if (losses.of[i].tid == tid)
			return i;
	if (i == VTR_LOSERS_MAX)
		return i;
	losses.of[i].tid = tid;
	losses.of[i].of_ended = losses.of[i].now = 0;
	losses.count++;
	return i;
}

static uint64_t drops_of(struct vtr_thread *t, uint32_t capture)
{
	return vtr_drops(atomic_load_explicit(&t->drops, memory_order_relaxed), capture);
}

static void remember_drops(struct vtr_thread *t, uint32_t capture)
{
	uint64_t drops = drops_of(t, capture);
	uint32_t i;

	atomic_store_explicit(&t->drops, 0, memory_order_relaxed);
	begin_losses(capture);
	if (!drops)
		return;
	i = loser(atomic_load_explicit(&t->tid, memory_order_relaxed));
	*(i < VTR_LOSERS_MAX ? &losses.of[i].of_ended : &losses.others_ended) += drops;
}

/* ---- rings ---- */

/* A range that was open at the stop, or an event of a thread that was recording when it began it and
 * read the clock after the stop. */
static void cut_at(struct vtr_event *e, uint64_t end_ns)
{
	if (e->type == VTR_EVENT_RANGE && e->end_ns > end_ns) {
		e->end_ns = end_ns;
		e->unmatched = 1;
	}
	if (e->start_ns > end_ns)
		e->start_ns = end_ns;
}

/* Events pending in a ring when its head is read belong to one thread: memory changes owner only
 * while all its rings are empty. So the id read afterwards is that thread's. Returns whether all
 * were taken. */
static int drain_ring(
	struct vtr_thread *t, struct vtr_ring *ring, const struct vtr_drain *how, size_t *count)
{
	uint64_t head = vtr_ring_head(ring), at = vtr_ring_tail(ring);
	uint32_t tid = atomic_load_explicit(&t->tid, memory_order_acquire);
	/* After the head: none of these events is of a later capture. */
	uint64_t now = vtr_epoch_now(), end_ns = vtr_epoch_end(now);
	uint32_t capture = vtr_epoch_capture(now);

	while (at < head) {
		uint64_t header = vtr_ring_get(ring, at), blob[VTR_BLOB_WORDS];
		struct vtr_event e;

		if (vtr_words_epoch(header) == capture) {
			if (vtr_words_time(ring, at) > how->cut_ns)
				return 0;
			vtr_words_get(ring, at, tid, &e, blob);
			cut_at(&e, end_ns);
			how->take(how->ctx, &e);
			++*count;
		}
		at += vtr_words_count(header);
		vtr_ring_consume(ring, at);
	}
	return 1;
}

/* The sampler of stacks is to know threads that make ranges: they lead to launches. */
static void see_thread(uint32_t tid)
{
	vtr_callers_saw(tid, vtr_clock_ns(CLOCK_MONOTONIC));
}

/* Returns whether everything present at the beginning was taken. */
static int drain_thread(struct vtr_thread *t, const struct vtr_drain *how, size_t *count)
{
	struct vtr_ring *ring = atomic_load_explicit(&t->reading, memory_order_relaxed);

	if (vtr_ring_head(ring) != vtr_ring_tail(ring))
		see_thread(atomic_load_explicit(&t->tid, memory_order_acquire));
	if (!drain_ring(t, ring, how, count))
		return 0;
	for (;;) {
		/* The thread may have moved to the next ring since we last read this one's head. */
		if (atomic_load_explicit(&ring->next, memory_order_acquire) &&
			!drain_ring(t, ring, how, count))
			return 0;
		ring = vtr_thread_next_ring(t);
		if (!ring)
			return 1;
		if (!drain_ring(t, ring, how, count))
			return 0;
	}
}

int vtr_threads_drain_some(const struct vtr_drain *how, size_t *count)
{
	uint32_t i, threads = vtr_thread_count();
	int all = 1;

	*count = 0;
	for (i = 0; i < threads; i++) {
		enum vtr_thread_state state;
		struct vtr_thread *t = vtr_thread_at(i, &state);

		if (!t || state == VTR_THREAD_FREE)
			continue;
		if (!drain_thread(t, how, count)) {
			all = 0;
			continue;
		}
		if (state != VTR_THREAD_ENDED)
			continue;
		remember_drops(t, vtr_epoch_capture(vtr_epoch_now()));
		vtr_thread_free(t);
	}
	vtr_thread_trim();
	return all;
}

size_t vtr_threads_drain(void (*take)(void *ctx, const struct vtr_event *event), void *ctx)
{
	struct vtr_drain how = {.take = take, .cut_ns = UINT64_MAX, .ctx = ctx};
	size_t count;

	vtr_threads_drain_some(&how, &count);
	return count;
}

/* ---- what the rings hold ---- */

/* The thread's first ring; NULL: it has nothing. */
static struct vtr_ring *first_ring(uint32_t index, struct vtr_thread **t)
{
	enum vtr_thread_state state;

	*t = vtr_thread_at(index, &state);
	if (!*t || state == VTR_THREAD_FREE)
		return NULL;
	return atomic_load_explicit(&(*t)->reading, memory_order_relaxed);
}

static struct vtr_ring *next_ring(struct vtr_ring *ring)
{
	return atomic_load_explicit(&ring->next, memory_order_acquire);
}

void vtr_threads_look(void (*see)(void *ctx, const struct vtr_event *event), void *ctx)
{
	uint32_t capture = vtr_epoch_capture(vtr_epoch_now()), i, count = vtr_thread_count(), tid;
	uint64_t at, head, header, blob[VTR_BLOB_WORDS];
	struct vtr_ring *ring;
	struct vtr_thread *t;
	struct vtr_event e;

	for (i = 0; i < count; i++) {
		for (ring = first_ring(i, &t); ring; ring = next_ring(ring)) {
			head = vtr_ring_head(ring);
			tid = atomic_load_explicit(&t->tid, memory_order_acquire);
			for (at = vtr_ring_tail(ring); at < head; at += vtr_words_count(header)) {
				header = vtr_ring_get(ring, at);
				if (vtr_words_epoch(header) != capture)
					continue;
				vtr_words_get(ring, at, tid, &e, blob);
				see(ctx, &e);
			}
		}
	}
}

/* The most events that a thread's rings hold. */
static size_t most_events(struct vtr_ring *ring)
{
	uint64_t words = 0;

	for (; ring; ring = next_ring(ring))
		words += vtr_ring_head(ring) - vtr_ring_tail(ring);
	return (size_t)(words / VTR_WORDS_LEAST);
}

/* An event of one thread, in a walk over its rings. */
struct cursor {
	struct vtr_ring *ring;
	uint64_t at, head, time_ns;
};

/* Goes on to the next event of the capture, from `at` on. Returns whether there is one. */
static int find_event(struct cursor *c, uint32_t capture)
{
	uint64_t header;

	for (;;) {
		for (; c->at < c->head; c->at += vtr_words_count(header)) {
			header = vtr_ring_get(c->ring, c->at);
			if (vtr_words_epoch(header) != capture)
				continue;
			c->time_ns = vtr_words_time(c->ring, c->at);
			return 1;
		}
		c->ring = next_ring(c->ring);
		if (!c->ring)
			return 0;
		c->at = vtr_ring_tail(c->ring);
		c->head = vtr_ring_head(c->ring);
	}
}

static int find_first(struct cursor *c, struct vtr_ring *ring, uint32_t capture)
{
	*c = (struct cursor){.ring = ring, .at = vtr_ring_tail(ring), .head = vtr_ring_head(ring)};
	return find_event(c, capture);
}

static int find_next(struct cursor *c, uint32_t capture)
{
	c->at += vtr_words_count(vtr_ring_get(c->ring, c->at));
	return find_event(c, capture);
}

/* A heap: each is later than its parent, (i - 1) / 2. Moves the one at `i` down to its place. */
static void sink(struct cursor *heap, size_t count, size_t i)
{
	struct cursor moved = heap[i];
	size_t child;

	for (; (child = 2 * i + 1) < count; i = child) {
		if (child + 1 < count && heap[child + 1].time_ns < heap[child].time_ns)
			child++;
		if (heap[child].time_ns >= moved.time_ns)
			break;
		heap[i] = heap[child];
	}
	heap[i] = moved;
}

/* The first event of each thread; the earliest is heap[0]. Returns how many. */
static size_t find_heads(struct cursor *heap, uint32_t capture)
{
	uint32_t i, threads = vtr_thread_count();
	struct vtr_ring *ring;
	struct vtr_thread *t;
	size_t count = 0, n;

	for (i = 0; i < threads; i++) {
		ring = first_ring(i, &t);
		count += ring && find_first(&heap[count], ring, capture);
	}
	for (n = count / 2; n > 0; n--)
		sink(heap, count, n - 1);
	return count;
}

uint64_t vtr_threads_reach(uint64_t until_ns, size_t most)
{
	static struct cursor heap[VTR_THREADS_MAX]; /* the writer's */
	uint32_t capture = vtr_epoch_capture(vtr_epoch_now()), i, threads = vtr_thread_count();
	struct vtr_thread *t;
	size_t all = 0, count;
	uint64_t first_ns;

	for (i = 0; i < threads; i++)
		all += most_events(first_ring(i, &t));
	if (all <= most)
		return until_ns;
	count = find_heads(heap, capture);
	first_ns = heap[0].time_ns;
	for (; count && heap[0].time_ns <= until_ns; most--) {
		if (!most)
			return heap[0].time_ns > first_ns ? heap[0].time_ns - 1 : first_ns;
		if (!find_next(&heap[0], capture))
			heap[0] = heap[--count];
		sink(heap, count, 0);
	}
	return until_ns;
}

/* ---- open ranges ---- */

/* Emits an open range, unless it was opened after the capture's end. */
static void take_open(struct vtr_event *e, uint32_t opened_in, uint32_t capture,
	void (*take)(void *ctx, const struct vtr_event *event), void *ctx)
{
	if (!vtr_epoch_holds(capture, opened_in))
		return;
	vtr_epoch_cut(&e->start_ns, opened_in, capture);
	e->unmatched = 1;
	take(ctx, e);
}

/* How long a copy of all stacks may wait for threads, from now on. */
struct patience {
	int is_last;       /* the capture has stopped */
	uint64_t until_ns; /* CLOCK_MONOTONIC */
};

static struct patience new_patience(int is_last)
{
	return (struct patience){.is_last = is_last,
		.until_ns = vtr_clock_ns(CLOCK_MONOTONIC) + (is_last ? LAST_WAITS_NS : WAITS_NS)};
}

/* Returns 0 when there is no more time. */
static int wait_a_moment(const struct patience *p)
{
	const struct timespec moment = {0, COPY_WAIT_NS};

	if (vtr_clock_ns(CLOCK_MONOTONIC) >= p->until_ns)
		return 0;
	nanosleep(&moment, NULL);
	return 1;
}

static int try_copy(struct vtr_thread *t, struct vtr_stack_copy *copy, uint32_t *tid)
{
	*tid = atomic_load_explicit(&t->tid, memory_order_acquire);
	return vtr_stack_copy(&t->stack, copy) &&
	       atomic_load_explicit(&t->tid, memory_order_acquire) == *tid;
}

/* A thread inside an event may have put a range into its ring that is on its stack still: the last
 * copy would be a second row of it. */
static int may_copy(struct vtr_thread *t, const struct patience *p)
{
	return !p->is_last || !atomic_load_explicit(&t->busy, memory_order_acquire);
}

static int copy_stack(struct vtr_thread *t, struct vtr_stack_copy *copy, uint32_t *tid,
	const struct patience *patience)
{
	int i = 0;

	do {
		if (may_copy(t, patience) && try_copy(t, copy, tid))
			return 1;
	} while (++i < COPY_TRIES || wait_a_moment(patience));
	/* A thread that does not run is probably not between its ring and its stack. */
	return try_copy(t, copy, tid);
}

static void open_of_thread(struct vtr_stack_copy *copy, uint32_t tid, uint32_t capture,
	void (*take)(void *ctx, const struct vtr_event *event), void *ctx)
{
	uint32_t i;

	if (copy->count)
		see_thread(tid);
	for (i = 0; i < copy->count; i++) {
		struct vtr_event e = {.tid = tid, .end_tid = tid};

		vtr_open_take(&copy->open[i], &e);
		e.payload.blob = e.payload.bytes ? (const void *)copy->blob[i] : NULL;
		take_open(&e, vtr_open_epoch(&copy->open[i]), capture, take, ctx);
	}
}

size_t vtr_threads_open(void (*take)(void *ctx, const struct vtr_event *event), void *ctx)
{
	static struct vtr_stack_copy copy;
	uint32_t capture = vtr_epoch_capture(vtr_epoch_now()), i, count = vtr_thread_count(), tid;
	const struct patience patience = new_patience(!vtr_epoch_records(vtr_epoch_now()));
	size_t left_out = 0;

	for (i = 0; i < count; i++) {
		enum vtr_thread_state state;
		struct vtr_thread *t = vtr_thread_at(i, &state);

		if (!t || state != VTR_THREAD_USED)
			continue;
		if (copy_stack(t, &copy, &tid, &patience))
			open_of_thread(&copy, tid, capture, take, ctx);
		else
			left_out++;
	}
	for (i = 0; i < VTR_STARTED_MAX; i++) {
		uint64_t blob[VTR_BLOB_WORDS];
		struct vtr_event e;
		uint32_t opened_in;

		while (patience.is_last && vtr_started_is_ending(i) && wait_a_moment(&patience))
			continue;
		left_out += patience.is_last && vtr_started_is_ending(i);
		if (vtr_started_peek(i, &e, &opened_in, blob))
			take_open(&e, opened_in, capture, take, ctx);
	}
	return left_out;
}

/* An unknown start is 0; ranges of an earlier capture do not count. */
static void take_earlier(uint64_t start_ns, uint32_t opened_in, uint64_t *earliest_ns)
{
	if (!opened_in && start_ns && start_ns < *earliest_ns)
		*earliest_ns = start_ns;
}

uint64_t vtr_threads_earliest(uint64_t now_ns)
{
	static struct vtr_stack_copy copy;
	uint32_t i, k, count = vtr_thread_count(), tid;
	const struct patience patience = new_patience(0);

	for (i = 0; i < count; i++) {
		enum vtr_thread_state state;
		struct vtr_thread *t = vtr_thread_at(i, &state);

		if (!t || state != VTR_THREAD_USED || !copy_stack(t, &copy, &tid, &patience))
			continue;
		for (k = 0; k < copy.count; k++)
			take_earlier(vtr_open_get(&copy.open[k].start),
				vtr_open_epoch(&copy.open[k]), &now_ns);
	}
	for (i = 0; i < VTR_STARTED_MAX; i++) {
		uint64_t blob[VTR_BLOB_WORDS];
		struct vtr_event e;
		uint32_t opened_in;

		if (vtr_started_peek(i, &e, &opened_in, blob))
			take_earlier(e.start_ns, opened_in, &now_ns);
	}
	return now_ns;
}

/* ---- all losses ---- */

uint64_t vtr_threads_dropped(void (*take)(void *ctx, uint32_t tid, uint64_t dropped), void *ctx)
{
	uint32_t capture = vtr_epoch_capture(vtr_epoch_now()), i, place, count = vtr_thread_count();
	uint64_t all = 0, others;

	begin_losses(capture);
	others = losses.others_ended;
	others += vtr_threads_homeless(capture);
	for (i = 0; i < losses.count; i++)
		losses.of[i].now = losses.of[i].of_ended;
	for (i = 0; i < count; i++) {
		enum vtr_thread_state state;
		struct vtr_thread *t = vtr_thread_at(i, &state);
		uint64_t drops = t ? drops_of(t, capture) : 0;

		if (!drops)
			continue;
		place = loser(atomic_load_explicit(&t->tid, memory_order_acquire));
		*(place < VTR_LOSERS_MAX ? &losses.of[place].now : &others) += drops;
	}
	for (i = 0; i < losses.count; i++) {
		take(ctx, losses.of[i].tid, losses.of[i].now);
		all += losses.of[i].now;
	}
	if (others)
		take(ctx, 0, others);
	return all + others;
}
