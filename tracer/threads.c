/* threads.c - what application threads leave for the writer: the session around rings and stacks,
 * and the events themselves.
 *
 * One word says what is going on: the epoch, odd during a capture and counted up by its start and
 * its stop, and whether this is a forked child. Every event reads it once and carries the epoch
 * into the ring, so an event that was overtaken by a stop and another start is recognised by the
 * writer and belongs to neither. */
#include "tracer/threads.h"

#include "formats/schema.h"
#include "tracer/budget.h"
#include "tracer/clock.h"
#include "tracer/event_words.h"
#include "tracer/started.h"
#include "tracer/thread.h"

#include <stdatomic.h>
#include <string.h>

enum { INERT = 1, EPOCH_SHIFT = 1, COPY_TRIES = 16 };

static _Atomic uint64_t session; /* epoch 32 | INERT */
static _Atomic uint64_t capture_start_ns;
static _Atomic uint32_t seen_epoch;
static _Atomic uint64_t homeless; /* drops of threads without memory, see vtr_drops() */

static uint64_t session_now(void)
{
	return atomic_load_explicit(&session, memory_order_acquire);
}

static uint32_t epoch_of(uint64_t now)
{
	return (uint32_t)(now >> EPOCH_SHIFT);
}

static int recording(uint64_t now)
{
	return (now >> EPOCH_SHIFT & 1) && !(now & INERT);
}

/* The capture that runs, or the last one. */
static uint32_t capture_of(uint64_t now)
{
	return epoch_of(now) - !(epoch_of(now) & 1);
}

/* ---- one event of the calling thread ---- */

/* Something happened in this capture, kept or dropped. */
static void notice(uint64_t now)
{
	if (atomic_load_explicit(&seen_epoch, memory_order_relaxed) != epoch_of(now))
		atomic_store_explicit(&seen_epoch, epoch_of(now), memory_order_relaxed);
}

static void drop_homeless(uint64_t now)
{
	uint64_t word = atomic_load_explicit(&homeless, memory_order_relaxed), next;

	if (!recording(now))
		return;
	notice(now);
	do {
		next = vtr_drops_word(epoch_of(now), vtr_drops(word, epoch_of(now)) + 1);
	} while (!atomic_compare_exchange_weak_explicit(
		&homeless, &word, next, memory_order_relaxed, memory_order_relaxed));
}

static void drop(struct vtr_thread *t, uint64_t now, uint32_t count)
{
	uint64_t word = atomic_load_explicit(&t->drops, memory_order_relaxed);

	word = vtr_drops_word(epoch_of(now), vtr_drops(word, epoch_of(now)) + count);
	atomic_store_explicit(&t->drops, word, memory_order_relaxed);
}

/* The thread's memory, for one event; NULL: it has none, or is in the middle of another event. */
static inline struct vtr_thread *enter(void)
{
	struct vtr_thread *t = vtr_thread_self();

	if (!t || atomic_load_explicit(&t->busy, memory_order_relaxed))
		return NULL;
	atomic_store_explicit(&t->busy, 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	return t;
}

static void leave(struct vtr_thread *t)
{
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&t->busy, 0, memory_order_relaxed);
}

/* Where a record may begin in the ring that t->writing is then; UINT64_MAX: it is dropped, and counted. */
static inline uint64_t reserve(struct vtr_thread *t, uint64_t now, unsigned words)
{
	uint64_t at = vtr_ring_reserve(t->writing, words);

	if (at == UINT64_MAX && vtr_thread_grow(t))
		at = vtr_ring_reserve(t->writing, words);
	if (at == UINT64_MAX)
		drop(t, now, 1);
	return at;
}

static void put(struct vtr_thread *t, uint64_t now, const struct vtr_event *e, unsigned flags)
{
	uint64_t header, at;

	if (!recording(now))
		return;
	notice(now);
	if (e->category | e->colour)
		flags |= VTR_WORDS_LOOK;
	header = vtr_words_header(e->type, flags, epoch_of(now), &e->payload);
	at = reserve(t, now, vtr_words_count(header));
	if (at == UINT64_MAX)
		return;
	vtr_words_put(t->writing, at, header, e);
	vtr_ring_publish(t->writing, at + vtr_words_count(header));
}

/* A range that was open when the capture began, begins there. */
static unsigned cut_at_start(struct vtr_event *e, uint32_t opened_in, uint32_t capture)
{
	if (opened_in == capture)
		return 0;
	e->start_ns = atomic_load_explicit(&capture_start_ns, memory_order_relaxed);
	return VTR_WORDS_UNMATCHED;
}

/* A type without bytes, or bytes without a type, do no harm afterwards. */
static void check_payload(struct vtr_payload *p)
{
	if (p->type != VPT_PAYLOAD_BLOB && p->type != VPT_PAYLOAD_JSON)
		p->bytes = 0;
	else if (!p->blob || !p->bytes)
		*p = (struct vtr_payload){.type = VPT_PAYLOAD_NONE};
	if (p->bytes > VTR_BLOB_MAX)
		p->bytes = VTR_BLOB_MAX;
}

/* A range of the stack ends: its words go into the ring as they are. */
static void put_open(struct vtr_thread *t, uint64_t now, uint64_t end_ns, int place, unsigned flags)
{
	struct vtr_open_range *range = &t->stack.open[place];
	uint64_t start_ns = vtr_open_get(&range->start), look = vtr_open_get(&range->look);
	uint64_t shape = vtr_open_get(&range->shape), header, at;
	unsigned i, blob_words, words;
	struct vtr_ring *ring;

	if (shape >> 32 != epoch_of(now)) {
		start_ns = atomic_load_explicit(&capture_start_ns, memory_order_relaxed);
		flags |= VTR_WORDS_UNMATCHED;
	}
	if (look)
		flags |= VTR_WORDS_LOOK;
	header = (uint64_t)epoch_of(now) << 32 | (shape & 0xffffff00) | flags | VTR_EVENT_RANGE;
	words = vtr_words_count(header);
	notice(now);
	at = reserve(t, now, words);
	if (at == UINT64_MAX)
		return;
	ring = t->writing;
	vtr_ring_set(ring, at, header);
	vtr_ring_set(ring, at + 1, start_ns);
	vtr_ring_set(ring, at + 2, end_ns);
	vtr_ring_set(ring, at + 3, vtr_open_get(&range->names));
	words = 4;
	if (look)
		vtr_ring_set(ring, at + words++, look);
	if (vtr_words_payload(header))
		vtr_ring_set(ring, at + words++, vtr_open_get(&range->payload));
	blob_words = vtr_words_blob(header);
	for (i = 0; i < blob_words; i++)
		vtr_ring_set(ring, at + words++, vtr_open_get(&t->stack.blob[place][i]));
	vtr_ring_publish(ring, at + words);
}

int vtr_range_push(const struct vtr_attributes *a)
{
	uint64_t now = session_now();
	struct vtr_attributes checked;
	struct vtr_thread *t;
	int depth;

	if (now & INERT)
		return -1;
	t = enter();
	if (!t) {
		drop_homeless(now); /* the range, of which its pop will know nothing */
		return -1;
	}
	if (a->payload.type | a->payload.bytes) {
		checked = *a;
		check_payload(&checked.payload);
		a = &checked;
	}
	depth = vtr_stack_push(&t->stack, a, epoch_of(now), recording(now));
	leave(t);
	return depth;
}

int vtr_range_pop(uint32_t domain)
{
	uint64_t now = session_now(), end_ns = recording(now) ? vtr_now() : 0;
	struct vtr_thread *t;
	int place, depth = -1;

	if (now & INERT)
		return -1;
	t = enter();
	if (!t)
		return -1;
	place = vtr_stack_find(&t->stack, domain);
	if (place == VTR_STACK_DEEP && recording(now)) {
		notice(now);
		drop(t, now, 1);
	} else if (place >= 0 && recording(now)) {
		put_open(t, now, end_ns, place, 0);
	}
	if (place != VTR_STACK_NONE)
		depth = vtr_stack_remove(&t->stack, domain, place);
	leave(t);
	return depth;
}

uint64_t vtr_range_start(const struct vtr_attributes *a)
{
	uint64_t now = session_now();
	struct vtr_attributes copy = *a;
	uint64_t id;

	if (now & INERT)
		return 0;
	check_payload(&copy.payload);
	id = vtr_started_open(&copy, vtr_tid(), epoch_of(now), recording(now));
	if (!id)
		drop_homeless(now);
	return id;
}

void vtr_range_end(uint64_t id)
{
	uint64_t now = session_now(), end_ns = recording(now) ? vtr_now() : 0;
	uint64_t blob[VTR_BLOB_WORDS];
	struct vtr_thread *t;
	struct vtr_event e;
	uint32_t opened_in;
	unsigned flags;

	if (now & INERT || !vtr_started_close(id, &e, &opened_in, blob) || !recording(now))
		return;
	t = enter();
	if (!t) {
		drop_homeless(now);
		return;
	}
	flags = cut_at_start(&e, opened_in, epoch_of(now));
	e.end_ns = end_ns;
	put(t, now, &e, flags | VTR_WORDS_OPENER);
	leave(t);
}

/* An event that is a moment. */
static void put_moment(struct vtr_event *e)
{
	uint64_t now = session_now();
	struct vtr_thread *t;

	if (!recording(now))
		return;
	e->start_ns = vtr_now();
	t = enter();
	if (!t) {
		drop_homeless(now);
		return;
	}
	if (e->type == VTR_EVENT_GRAPH) {
		uint32_t open = atomic_load_explicit(&t->stack.count, memory_order_relaxed);

		if (open)
			e->name = (uint32_t)(vtr_open_get(&t->stack.open[open - 1].names) >> 32);
	}
	put(t, now, e, 0);
	leave(t);
}

void vtr_mark(const struct vtr_attributes *a)
{
	struct vtr_event e;

	if (!recording(session_now()))
		return;
	memset(&e, 0, sizeof(e));
	e.type = VTR_EVENT_MARK;
	e.name = a->name;
	e.domain = a->domain;
	e.category = a->category;
	e.colour = a->colour;
	e.payload = a->payload;
	check_payload(&e.payload);
	put_moment(&e);
}

void vtr_counter(uint32_t name, double value, uint32_t unit)
{
	struct vtr_event e = {.type = VTR_EVENT_COUNTER, .name = name, .domain = unit};

	e.payload.type = VPT_PAYLOAD_DOUBLE;
	memcpy(&e.payload.value, &value, sizeof(value));
	put_moment(&e);
}

void vtr_graph_event(uint32_t op, uint64_t graph, uint64_t node, uint64_t origin)
{
	struct vtr_event e = {.type = VTR_EVENT_GRAPH, .graph_op = op, .graph = graph};

	e.node = node;
	e.origin = origin;
	put_moment(&e);
}

/* A thread ends: what it left open ends with it. Whether the writer must still ask for its
 * losses. */
static int thread_ended(struct vtr_thread *t)
{
	uint64_t now = session_now(), end_ns = recording(now) ? vtr_now() : 0;
	uint64_t drops;
	int place = (int)atomic_load_explicit(&t->stack.count, memory_order_relaxed);

	while (recording(now) && --place >= 0)
		put_open(t, now, end_ns, place, VTR_WORDS_UNMATCHED);
	if (recording(now) && t->stack.deep) {
		notice(now);
		drop(t, now, t->stack.deep);
	}
	vtr_stack_clear(&t->stack);
	drops = atomic_load_explicit(&t->drops, memory_order_relaxed);
	return vtr_drops(drops, capture_of(now)) != 0;
}

/* ---- the session ---- */

int vtr_threads_init(void)
{
	return vtr_thread_init(thread_ended);
}

void vtr_threads_record(uint64_t start_ns)
{
	uint64_t now = session_now();

	if (now & INERT)
		return;
	atomic_store_explicit(&capture_start_ns, start_ns, memory_order_relaxed);
	atomic_store_explicit(&session,
		(uint64_t)((epoch_of(now) | 1) + (epoch_of(now) & 1) * 2) << EPOCH_SHIFT,
		memory_order_release);
}

void vtr_threads_stop(void)
{
	uint64_t now = session_now();

	if (recording(now))
		atomic_store_explicit(&session, (uint64_t)(epoch_of(now) + 1) << EPOCH_SHIFT,
			memory_order_release);
}

void vtr_threads_inert(void)
{
	vtr_thread_forked();
	atomic_fetch_or_explicit(&session, INERT, memory_order_acq_rel);
}

/* ---- the writer's thread ---- */

/* Losses of one capture by thread id, which the kernel may give out again. A thread that finds no
 * place here when it first loses something is one of the others, for good: what is told of an id
 * only grows. */
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

/* A thread's place in `losses`; VTR_LOSERS_MAX: none. */
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

/* What happened, or ended, when. */
static uint64_t time_of(const struct vtr_event *e)
{
	return e->type == VTR_EVENT_RANGE ? e->end_ns : e->start_ns;
}

/* Shows what of a ring stays. Returns whether what comes after it is asked for. */
static int look_at_ring(
	const struct vtr_drain *how, struct vtr_ring *ring, uint32_t tid, uint32_t capture)
{
	uint64_t head = vtr_ring_head(ring), at = vtr_ring_tail(ring), blob[VTR_BLOB_WORDS];
	struct vtr_event e;

	while (at < head) {
		uint64_t header = vtr_ring_get(ring, at);

		if (vtr_words_epoch(header) == capture) {
			vtr_words_get(ring, at, tid, &e, blob);
			if (time_of(&e) > how->look_ns)
				return 0;
			how->look(how->ctx, &e);
		}
		at += vtr_words_count(header);
	}
	return 1;
}

/* The same of a thread's rings, of which this is the first. */
static void look(const struct vtr_drain *how, struct vtr_ring *ring, uint32_t tid, uint32_t capture)
{
	if (!how->look)
		return;
	while (ring && look_at_ring(how, ring, tid, capture))
		ring = atomic_load_explicit(&ring->next, memory_order_acquire);
}

/* What is pending in a ring when its head is read belongs to one thread: memory changes hands only
 * while all its rings are empty. So the id that is read afterwards is that thread's. Returns whether
 * all of it has been taken. */
static int drain_ring(
	struct vtr_thread *t, struct vtr_ring *ring, const struct vtr_drain *how, size_t *count)
{
	uint64_t head = vtr_ring_head(ring), at = vtr_ring_tail(ring);
	uint32_t tid = atomic_load_explicit(&t->tid, memory_order_acquire);
	/* After the head: none of these events is of a later capture. */
	uint32_t capture = capture_of(session_now());

	while (at < head) {
		uint64_t header = vtr_ring_get(ring, at), blob[VTR_BLOB_WORDS];
		struct vtr_event e;

		if (vtr_words_epoch(header) == capture) {
			vtr_words_get(ring, at, tid, &e, blob);
			if (time_of(&e) > how->cut_ns) {
				look(how, ring, tid, capture);
				return 0;
			}
			how->take(how->ctx, &e);
			++*count;
		}
		at += vtr_words_count(header);
		vtr_ring_consume(ring, at);
	}
	return 1;
}

/* Returns whether nothing was left that was there at the beginning. */
static int drain_thread(struct vtr_thread *t, const struct vtr_drain *how, size_t *count)
{
	struct vtr_ring *ring = atomic_load_explicit(&t->reading, memory_order_relaxed);
	unsigned rings = how->rings;

	if (!drain_ring(t, ring, how, count))
		return 0;
	for (;;) {
		/* The thread may have gone on to the next ring since the last look at this one's head. */
		if (atomic_load_explicit(&ring->next, memory_order_acquire) &&
			!drain_ring(t, ring, how, count))
			return 0;
		ring = vtr_thread_next_ring(t);
		if (!ring)
			return 1;
		if ((how->rings && !rings--) || !drain_ring(t, ring, how, count))
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
		remember_drops(t, capture_of(session_now()));
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

/* Hands out an open range. Those opened after the capture's end are none of its. */
static void take_open(struct vtr_event *e, uint32_t opened_in, uint32_t capture,
	void (*take)(void *ctx, const struct vtr_event *event), void *ctx)
{
	if ((int32_t)(opened_in - capture) > 0)
		return;
	cut_at_start(e, opened_in, capture);
	e->unmatched = 1;
	take(ctx, e);
}

static int copy_stack(struct vtr_thread *t, struct vtr_stack_copy *copy, uint32_t *tid)
{
	int i;

	for (i = 0; i < COPY_TRIES; i++) {
		*tid = atomic_load_explicit(&t->tid, memory_order_acquire);
		if (vtr_stack_copy(&t->stack, copy) &&
			atomic_load_explicit(&t->tid, memory_order_acquire) == *tid)
			return 1;
	}
	return 0;
}

static void open_of_thread(struct vtr_stack_copy *copy, uint32_t tid, uint32_t capture,
	void (*take)(void *ctx, const struct vtr_event *event), void *ctx)
{
	uint32_t i;

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
	uint32_t capture = capture_of(session_now()), i, count = vtr_thread_count(), tid;
	size_t left_out = 0;

	for (i = 0; i < count; i++) {
		enum vtr_thread_state state;
		struct vtr_thread *t = vtr_thread_at(i, &state);

		if (!t || state != VTR_THREAD_USED)
			continue;
		if (copy_stack(t, &copy, &tid))
			open_of_thread(&copy, tid, capture, take, ctx);
		else
			left_out++;
	}
	for (i = 0; i < VTR_STARTED_MAX; i++) {
		uint64_t blob[VTR_BLOB_WORDS];
		struct vtr_event e;
		uint32_t opened_in;

		if (vtr_started_peek(i, &e, &opened_in, blob))
			take_open(&e, opened_in, capture, take, ctx);
	}
	return left_out;
}

uint64_t vtr_threads_dropped(void (*take)(void *ctx, uint32_t tid, uint64_t dropped), void *ctx)
{
	uint32_t capture = capture_of(session_now()), i, place, count = vtr_thread_count();
	uint64_t all = 0, others;

	begin_losses(capture);
	others = losses.others_ended;
	others += vtr_drops(atomic_load_explicit(&homeless, memory_order_relaxed), capture);
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

uint32_t vtr_threads_capture(void)
{
	return capture_of(session_now());
}

int vtr_threads_seen(void)
{
	return atomic_load_explicit(&seen_epoch, memory_order_relaxed) == capture_of(session_now());
}

uint64_t vtr_threads_memory(void)
{
	return vtr_budget_of(VTR_BUDGET_THREADS);
}
