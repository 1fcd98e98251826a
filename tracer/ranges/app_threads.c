/* app_threads.c - what application threads leave for the writer: the session around rings and stacks,
 * and the events themselves. drain_threads.c has the writer's side. */
#include "tracer/ranges/app_threads.h"

#include "formats/event_schema.h"
#include "tracer/guest/budget.h"
#include "tracer/clock/capture_clock.h"
#include "tracer/guest/environment.h"
#include "tracer/guest/thread_id.h"
#include "tracer/ranges/app_thread.h"
#include "tracer/ranges/epoch.h"
#include "tracer/ranges/event_words.h"
#include "tracer/ranges/started_ranges.h"
#include "tracer/ranges/thread_names.h"
#include "tracer/window/recording_window.h"

#include <stdatomic.h>
#include <string.h>

static _Atomic uint32_t seen_epoch;
static _Atomic uint64_t homeless;  /* drops of threads without memory, see vtr_drops() */
static _Atomic uint64_t unmatched; /* pushes without a pop, in the same form */
static atomic_int expecting;       /* see vtr_threads_expect() */

/* ---- one event of the calling thread ---- */

/* Something happened in this capture, kept or dropped. */
static void notice(uint32_t capture)
{
	if (atomic_load_explicit(&seen_epoch, memory_order_relaxed) != capture)
		atomic_store_explicit(&seen_epoch, capture, memory_order_relaxed);
}

/* Whether a range that opens now gets its start. */
static inline int stamps(uint64_t now)
{
	return vtr_epoch_records(now) ||
	       (!vtr_epoch_of(now) && atomic_load_explicit(&expecting, memory_order_relaxed));
}

/* Adds one to a count of all threads. */
static void count_one(_Atomic uint64_t *counter, uint32_t capture)
{
	uint64_t word = atomic_load_explicit(counter, memory_order_relaxed), next;

	do {
		next = vtr_drops_word(capture, vtr_drops(word, capture) + 1);
	} while (!atomic_compare_exchange_weak_explicit(
		counter, &word, next, memory_order_relaxed, memory_order_relaxed));
}

static void drop_homeless(uint64_t now)
{
	if (!vtr_epoch_records(now))
		return;
	notice(vtr_epoch_of(now));
	count_one(&homeless, vtr_epoch_of(now));
}

static void drop(struct vtr_thread *t, uint32_t capture, uint32_t count)
{
	uint64_t word = atomic_load_explicit(&t->drops, memory_order_relaxed);

	word = vtr_drops_word(capture, vtr_drops(word, capture) + count);
	atomic_store_explicit(&t->drops, word, memory_order_relaxed);
}

/* The thread's memory, for one event; NULL: it has none, or is making another event. */
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
	/* Whoever reads it finds the stack as this event leaves it. */
	atomic_store_explicit(&t->busy, 0, memory_order_release);
}

/* The position for a record in t->writing, which may change; UINT64_MAX: dropped and counted. */
static inline uint64_t reserve(struct vtr_thread *t, uint32_t capture, unsigned words)
{
	uint64_t at = vtr_ring_reserve(t->writing, words);

	if (at == UINT64_MAX && vtr_thread_grow(t))
		at = vtr_ring_reserve(t->writing, words);
	if (at == UINT64_MAX)
		drop(t, capture, 1);
	return at;
}

static void put(struct vtr_thread *t, uint32_t capture, const struct vtr_event *e, unsigned flags)
{
	uint64_t header, at;

	notice(capture);
	if (e->category | e->colour)
		flags |= VTR_WORDS_LOOK;
	header = vtr_words_header(e->type, flags, capture, &e->payload);
	at = reserve(t, capture, vtr_words_count(header));
	if (at == UINT64_MAX)
		return;
	vtr_words_put(t->writing, at, header, e);
	vtr_ring_publish(t->writing, at + vtr_words_count(header));
}

/* Makes a type without bytes, or bytes without a type, harmless. */
static void check_payload(struct vtr_payload *p)
{
	if (p->type != VPT_PAYLOAD_BLOB && p->type != VPT_PAYLOAD_JSON)
		p->bytes = 0;
	else if (!p->blob || !p->bytes)
		*p = (struct vtr_payload){.type = VPT_PAYLOAD_NONE};
	if (p->bytes > VTR_BLOB_MAX)
		p->bytes = VTR_BLOB_MAX;
}

/* When a range ends now. After a stop: with the capture, which the writer makes of ~0. It may not
 * have copied the range's stack yet, and would miss a range that has left it. */
static inline uint64_t end_of_range(uint64_t now)
{
	return vtr_epoch_records(now) ? vtr_now() : UINT64_MAX;
}

/* A range of the stack ends: copies its words into the ring. */
static void put_open(
	struct vtr_thread *t, uint32_t capture, uint64_t end_ns, int place, unsigned flags)
{
	struct vtr_open_range *range = &t->stack.open[place];
	uint64_t start_ns = vtr_open_get(&range->start), look = vtr_open_get(&range->look);
	uint64_t shape = vtr_open_get(&range->shape), header, at;
	unsigned i, blob_words, words;
	struct vtr_ring *ring;

	flags |= vtr_epoch_cut(&start_ns, (uint32_t)(shape >> 32), capture);
	if (look)
		flags |= VTR_WORDS_LOOK;
	header = (uint64_t)capture << 32 | (shape & 0xffffff00) | flags | VTR_EVENT_RANGE;
	words = vtr_words_count(header);
	notice(capture);
	at = reserve(t, capture, words);
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

/* The oldest range makes room for a new one. Where no more can be nested it is one that nobody will
 * close, most probably: it ends here, as one that is open when the capture ends. Where the limit of
 * memory is reached, it is dropped. */
static void forget_oldest(struct vtr_thread *t, uint64_t now)
{
	struct vtr_open_range *range = &t->stack.open[0];
	uint32_t capture = vtr_epoch_capture(now);

	if (!vtr_stack_own(&t->stack.count))
		return;
	if (vtr_epoch_records(now) && t->stack.room == VTR_DEPTH_MAX) {
		put_open(t, capture, vtr_now(), 0, VTR_WORDS_UNMATCHED);
		count_one(&unmatched, capture);
	} else if (vtr_epoch_records(now)) {
		notice(capture);
		drop(t, capture, 1);
	}
	if (vtr_window_watches())
		vtr_window_popped((uint32_t)(vtr_open_get(&range->names) >> 32));
	vtr_stack_forget(&t->stack);
}

int vtr_range_push(const struct vtr_attributes *a)
{
	uint64_t now = vtr_epoch_now();
	struct vtr_attributes checked;
	struct vtr_thread *t;
	int depth, opens;

	if (now & VTR_INERT)
		return -1;
	t = enter();
	if (!t) {
		drop_homeless(now); /* the range, which its pop will not find */
		return -1;
	}
	if (a->payload.type | a->payload.bytes) {
		checked = *a;
		check_payload(&checked.payload);
		a = &checked;
	}
	if (__builtin_expect(vtr_stack_is_full(&t->stack), 0))
		forget_oldest(t, now);
	if (__builtin_expect(!vtr_window_watches(), 1)) {
		depth = vtr_stack_push(&t->stack, a, vtr_epoch_of(now), stamps(now));
	} else {
		opens = vtr_window_pushing(a);
		depth = vtr_stack_push(&t->stack, a, vtr_epoch_of(now), stamps(now));
		vtr_window_pushed(opens);
	}
	leave(t);
	return depth;
}

int vtr_range_pop(uint32_t domain)
{
	uint64_t now = vtr_epoch_now(), end_ns = end_of_range(now);
	uint32_t capture = vtr_epoch_capture(now);
	struct vtr_thread *t;
	int place, depth = -1;

	if (now & VTR_INERT)
		return -1;
	t = enter();
	if (!t)
		return -1;
	place = vtr_stack_find(&t->stack, domain);
	if (place >= 0 && vtr_epoch_holds(capture, vtr_open_epoch(&t->stack.open[place])))
		put_open(t, capture, end_ns, place, 0);
	if (place >= 0 && __builtin_expect(vtr_window_watches() != 0, 0))
		vtr_window_popped((uint32_t)(vtr_open_get(&t->stack.open[place].names) >> 32));
	if (place != VTR_STACK_NONE)
		depth = vtr_stack_remove(&t->stack, domain, place);
	leave(t);
	return depth;
}

void vtr_range_fill(const struct vptrace_note *note)
{
	struct vtr_thread *t;

	if (vtr_epoch_now() & VTR_INERT)
		return;
	t = enter();
	if (!t)
		return;
	vtr_stack_fill(&t->stack, note);
	leave(t);
}

uint64_t vtr_range_start(const struct vtr_attributes *a)
{
	uint64_t now = vtr_epoch_now();
	struct vtr_attributes copy = *a;
	int opens = 0;
	uint64_t id;

	if (now & VTR_INERT)
		return 0;
	check_payload(&copy.payload);
	if (vtr_window_watches())
		opens = vtr_window_pushing(&copy);
	id = vtr_started_open(&copy, vtr_tid(), vtr_epoch_of(now), stamps(now));
	if (opens)
		vtr_window_started(opens, id);
	if (!id)
		drop_homeless(now);
	return id;
}

/* A start/end range ends, with the words of its slot. */
static void put_started(uint64_t now, struct vtr_event *e, uint32_t opened_in)
{
	uint32_t capture = vtr_epoch_capture(now);
	struct vtr_thread *t = enter();
	unsigned flags;

	if (!t) {
		drop_homeless(now);
		return;
	}
	flags = vtr_epoch_cut(&e->start_ns, opened_in, capture);
	put(t, capture, e, flags | VTR_WORDS_OPENER);
	leave(t);
}

void vtr_range_end(uint64_t id)
{
	uint64_t now = vtr_epoch_now(), end_ns = end_of_range(now);
	uint64_t blob[VTR_BLOB_WORDS];
	struct vtr_event e;
	uint32_t opened_in;

	if (now & VTR_INERT || !vtr_started_claim(id, &e, &opened_in, blob))
		return;
	if (vtr_epoch_holds(vtr_epoch_capture(now), opened_in)) {
		e.end_ns = end_ns;
		put_started(now, &e, opened_in);
		if (vtr_window_watches())
			vtr_window_ended(id);
	}
	vtr_started_free(id);
}

/* An event without duration. */
static void put_moment(struct vtr_event *e)
{
	uint64_t now = vtr_epoch_now();
	struct vtr_thread *t;

	if (!vtr_epoch_records(now))
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
	put(t, vtr_epoch_of(now), e, 0);
	leave(t);
}

void vtr_mark(const struct vtr_attributes *a)
{
	struct vtr_event e;

	if (!vtr_epoch_records(vtr_epoch_now()))
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

/* A thread ends, and its open ranges with it. Returns whether the writer must still read its
 * drops. */
static int thread_ended(struct vtr_thread *t)
{
	uint64_t now = vtr_epoch_now(), end_ns = end_of_range(now);
	uint32_t capture = vtr_epoch_capture(now);
	uint64_t drops;
	int place = (int)atomic_load_explicit(&t->stack.count, memory_order_relaxed);

	while (--place >= 0)
		if (vtr_epoch_holds(capture, vtr_open_epoch(&t->stack.open[place])))
			put_open(t, capture, end_ns, place, VTR_WORDS_UNMATCHED);
	if (vtr_window_watches())
		vtr_window_thread_ended();
	vtr_stack_clear(&t->stack);
	drops = atomic_load_explicit(&t->drops, memory_order_relaxed);
	return vtr_drops(drops, capture) != 0;
}

/* ---- the session ---- */

int vtr_threads_init(void)
{
	const char *injection = vtr_environment("CUDA_INJECTION64_PATH");

	/* Then the driver's start begins a capture. */
	vtr_threads_expect(injection && strstr(injection, "libvptrace"));
	return vtr_thread_init(thread_ended);
}

void vtr_threads_expect(int is_expected)
{
	atomic_store_explicit(&expecting, is_expected, memory_order_relaxed);
}

void vtr_threads_record(uint64_t start_ns)
{
	uint64_t now = vtr_epoch_now();

	if (now & VTR_INERT)
		return;
	atomic_store_explicit(&vtr_capture_start_ns, start_ns, memory_order_relaxed);
	atomic_store_explicit(&vtr_epoch_word,
		(uint64_t)((vtr_epoch_of(now) | 1) + (vtr_epoch_of(now) & 1) * 2)
			<< VTR_EPOCH_SHIFT,
		memory_order_release);
}

uint64_t vtr_threads_stop(void)
{
	uint64_t now = vtr_epoch_now(), stop_ns = vtr_now();

	if (!vtr_epoch_records(now))
		return stop_ns;
	/* For who drains before the second reading. */
	atomic_store_explicit(&vtr_capture_stop_ns, stop_ns, memory_order_relaxed);
	atomic_store_explicit(&vtr_epoch_word, (uint64_t)(vtr_epoch_of(now) + 1) << VTR_EPOCH_SHIFT,
		memory_order_release);
	/* What the writer has drained is no later than this; what it drains from now on is cut. */
	stop_ns = vtr_now();
	atomic_store_explicit(&vtr_capture_stop_ns, stop_ns, memory_order_relaxed);
	return stop_ns;
}

void vtr_threads_inert(void)
{
	vtr_tid_forked();
	atomic_fetch_or_explicit(&vtr_epoch_word, VTR_INERT, memory_order_acq_rel);
}

int vtr_threads_forked(void)
{
	vtr_tid_forked();
	if (vtr_thread_remain())
		return -1;
	vtr_started_forget();
	vtr_thread_names_forget();
	return 0;
}

int vtr_threads_seen(void)
{
	return atomic_load_explicit(&seen_epoch, memory_order_relaxed) ==
	       vtr_epoch_capture(vtr_epoch_now());
}

uint64_t vtr_threads_homeless(uint32_t capture)
{
	return vtr_drops(atomic_load_explicit(&homeless, memory_order_relaxed), capture);
}

uint64_t vtr_threads_unmatched(void)
{
	return vtr_drops(atomic_load_explicit(&unmatched, memory_order_relaxed),
		vtr_epoch_capture(vtr_epoch_now()));
}
