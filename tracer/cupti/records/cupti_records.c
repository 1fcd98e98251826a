/* cupti_records.c - walks buffers and decodes kernels and calls. All other kinds are in
 * cupti_rare_records.c.
 *
 * A driver call inside a runtime call is a duplicate: both have one correlation id. CUPTI delivers
 * the inner one first, when it returns, so driver calls are held until their thread's next call
 * arrives: if that is a runtime call around them, they are filtered, else they become rows. The two
 * may be in different buffers; the other one follows with the next flush at the latest.
 *
 * Times are written as they are, whatever their value; invalid ones are counted, never hidden.
 *
 * Nearly all records are kernels and calls. They are decoded inside the walk, and their rows take
 * the recorder's fast path; rows that cannot take it go the way of all other kinds. */
#include "tracer/cupti/records/cupti_records.h"

#include "formats/base/memory.h"
#include "tracer/cupti/library/own_calls.h"
#include "tracer/cupti/records/cupti_decoder.h"
#include "tracer/clock/capture_clock.h"

#include <stdlib.h>
#include <string.h>

/* Rows by which a chunk may exceed its limit. */
enum { ROOM_EVERY = 16 };

struct vtr_decoder *vtr_decoder_new(void)
{
	struct vtr_decoder *d = vpt_calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->configs = vtr_configs_new();
	d->places = vtr_places_new();
	if (!d->configs || !d->places) {
		vtr_decoder_free(d);
		return NULL;
	}
	return d;
}

void vtr_decoder_free(struct vtr_decoder *d)
{
	if (!d)
		return;
	vtr_configs_free(d->configs);
	vtr_places_free(d->places);
	vtr_late_ops_free(&d->late);
	vpt_free(d);
}

void vtr_decoder_begin(
	struct vtr_decoder *d, const struct vtr_sizes *sizes, const struct vtr_calls *calls)
{
	d->sizes = sizes;
	d->calls = calls;
	vtr_configs_begin(d->configs);
	vtr_places_begin(d->places);
	d->lane = NULL;
	d->thread = NULL;
	d->late.count = 0;
	memset(&d->n, 0, sizeof(d->n));
}

uint64_t vtr_decoder_newest(const struct vtr_decoder *d)
{
	return d->newest_correlation;
}

void vtr_decoder_counts(const struct vtr_decoder *d, struct vtr_decoded *out)
{
	*out = d->n;
}

/* ---- rows ---- */

/* A row of a kernel or call, by value: it never needs an address. */
struct row {
	uint64_t values[6];
};
_Static_assert(sizeof(struct row) == sizeof(struct vpt_kernel) &&
		       sizeof(struct row) == sizeof(struct vpt_call),
	"as long as both");
_Static_assert((int)VPT_KERNEL_ALL == (int)VPT_CALL_ALL, "put_fast() takes them for one another");

static __attribute__((noinline)) void put_slow(
	struct vtr_decoder *d, enum vpt_kind kind, struct vtr_lane *lane, struct row row)
{
	vtr_decoder_put_span(
		d, kind, lane, row.values, row.values[0], row.values[0] + row.values[1]);
}

/* The fast path for kernels and calls: `usual` are the columns that may be nonzero in most rows,
 * `rest` combines the other columns of this row. Inlined with constants. */
static inline __attribute__((always_inline)) void put_fast(struct vtr_decoder *d,
	enum vpt_kind kind, struct vtr_lane *lane, uint32_t usual, uint64_t rest, struct row row)
{
	if (!d->discard && row.values[0] + row.values[1] >= row.values[0] &&
		((!rest && vtr_recorder_append(d->r, kind, lane, usual, row.values)) ||
			vtr_recorder_append(d->r, kind, lane, VPT_KERNEL_ALL, row.values)))
		d->n.rows++;
	else
		put_slow(d, kind, lane, row);
}

/* ---- work on a device ---- */

static inline void kernel(struct vtr_decoder *d, const void *record)
{
	const struct vtr_record_kernel *k = record;
	struct vtr_lane *lane = vtr_decoder_stream(d, k->device, k->context, k->stream);
	struct row row = {{[VPT_KERNEL_START] = k->start,
		[VPT_KERNEL_DURATION] = k->end - k->start,
		[VPT_KERNEL_CORRELATION] = vtr_decoder_widen(d, k->correlation),
		[VPT_KERNEL_GRAPH_NODE] = k->graph_node}};

	if (!d->discard)
		row.values[VPT_KERNEL_CONFIG] = vtr_configs_kernel(d->configs, d->r, k);
	put_fast(d, VPT_KERNEL, lane, VPT_KERNEL_USUAL, k->graph_node, row);
}

/* ---- calls ---- */

static inline __attribute__((always_inline)) void put_call(struct vtr_decoder *d,
	struct vtr_lane *lane, const struct vtr_call *what, const struct vtr_held_call *c)
{
	struct row row = {{[VPT_CALL_START] = c->start,
		[VPT_CALL_DURATION] = c->end - c->start,
		[VPT_CALL_ID] = what->number,
		[VPT_CALL_CORRELATION] = c->correlation,
		[VPT_CALL_RESULT] = (uint64_t)(int64_t)(int32_t)c->result}};

	if (!what->number && !d->discard)
		row.values[VPT_CALL_NAME] =
			vpt_batch_string(vtr_recorder_batch(d->r), what->name, what->name_bytes);
	put_fast(d, VPT_CALL, lane, VPT_CALL_USUAL,
		row.values[VPT_CALL_NAME] | row.values[VPT_CALL_RESULT], row);
}

/* Makes rows of held calls: no runtime call around them was found. */
static void put_held(struct vtr_decoder *d, struct vtr_call_thread *t,
	const struct vtr_held_call *calls, size_t count)
{
	int discard = d->discard;
	size_t i;

	d->discard = 0; /* they came in a buffer that is not discarded */
	for (i = 0; i < count; i++) {
		vtr_recorder_room(d->r);
		put_call(d, t->lane, vtr_calls_find(d->calls, VTR_DOMAIN_DRIVER, calls[i].cbid),
			&calls[i]);
	}
	d->n.held -= count;
	d->discard = discard;
}

static void release(struct vtr_decoder *d, struct vtr_call_thread *t)
{
	put_held(d, t, t->held, t->held_count);
	t->held_count = 0;
}

void vtr_decoder_doubt(struct vtr_decoder *d, uint64_t doubt_ns)
{
	d->doubt_ns = doubt_ns;
}

static int contains(
	const struct vtr_decoder *d, uint64_t start, uint64_t end, const struct vtr_held_call *c)
{
	return start <= c->start + d->doubt_ns && c->end <= end + d->doubt_ns;
}

static void filter_nested(struct vtr_decoder *d)
{
	d->n.filtered++;
	d->n.nested++;
}

/* ---- across the edges of buffers ---- */

static void drop_stray(struct vtr_call_thread *t, size_t i)
{
	t->stray_count--;
	memmove(t->strays + i, t->strays + i + 1, (t->stray_count - i) * sizeof(*t->strays));
}

/* Makes rows of strays of the thread's buffers up to this one, or held since this time. */
static void release_strays(
	struct vtr_decoder *d, struct vtr_call_thread *t, uint64_t own_buffer, uint64_t since_ns)
{
	size_t i = 0;

	while (i < t->stray_count) {
		if (t->strays[i].own_buffer > own_buffer && t->strays[i].since_ns > since_ns) {
			i++;
			continue;
		}
		put_held(d, t, &t->strays[i].call, 1);
		drop_stray(t, i);
	}
}

/* Filters a held call if a buffer that came before begins with the runtime call around it. Returns whether one did. */
static int settle_first(
	struct vtr_decoder *d, const struct vtr_call_thread *t, const struct vtr_held_call *c)
{
	size_t i;

	for (i = 0; i < VTR_EDGES && i < t->first_count; i++)
		if (t->firsts[i].correlation == c->correlation &&
			contains(d, t->firsts[i].start, t->firsts[i].end, c)) {
			filter_nested(d);
			d->n.held--;
			return 1;
		}
	return 0;
}

/* A driver call at the end of a buffer, where the runtime call around it may have come before, or may be yet to come. */
static void keep_stray(struct vtr_decoder *d, struct vtr_call_thread *t,
	const struct vtr_held_call *c, uint64_t own_buffer)
{
	if (settle_first(d, t, c))
		return;
	if (t->stray_count == VTR_EDGES) {
		put_held(d, t, &t->strays[0].call, 1);
		drop_stray(t, 0);
	}
	t->strays[t->stray_count++] = (struct vtr_stray){*c, own_buffer, t->held_since_ns};
}

void vtr_decoder_edge(struct vtr_decoder *d, struct vtr_call_thread *t)
{
	uint64_t before = t->own_buffers++;
	size_t i;

	t->buffer = d->n.buffers + 1;
	t->is_first = 1;
	for (i = 0; i < t->held_count; i++)
		keep_stray(d, t, &t->held[i], before);
	t->held_count = 0;
	/* Those of other threads come between them where each thread has buffers of its own. */
	if (t->own_buffers > VTR_EDGE_BUFFERS)
		release_strays(d, t, t->own_buffers - VTR_EDGE_BUFFERS - 1, 0);
}

/* The first runtime call of a buffer: driver calls inside it may have ended another one. */
static void settle_strays(
	struct vtr_decoder *d, struct vtr_call_thread *t, const struct vtr_held_call *runtime)
{
	size_t i = 0;

	t->is_first = 0;
	t->firsts[t->first_count++ % VTR_EDGES] = *runtime;
	if (t->first_count == 2 * VTR_EDGES)
		t->first_count = VTR_EDGES;
	while (i < t->stray_count) {
		if (t->strays[i].call.correlation != runtime->correlation ||
			!contains(d, runtime->start, runtime->end, &t->strays[i].call)) {
			i++;
			continue;
		}
		filter_nested(d);
		d->n.held--;
		drop_stray(t, i);
	}
}

/* Held calls inside this runtime call are filtered; the others become rows. */
static void settle_around(
	struct vtr_decoder *d, struct vtr_call_thread *t, const struct vtr_held_call *runtime)
{
	size_t i, kept = 0;

	if (t->is_first)
		settle_strays(d, t, runtime);
	for (i = 0; i < t->held_count; i++) {
		if (t->held[i].correlation == runtime->correlation &&
			contains(d, runtime->start, runtime->end, &t->held[i])) {
			filter_nested(d);
			d->n.held--;
		} else {
			t->held[kept++] = t->held[i];
		}
	}
	t->held_count = kept;
	if (kept)
		release(d, t);
}

static void hold(struct vtr_decoder *d, struct vtr_call_thread *t, const struct vtr_call *what,
	const struct vtr_held_call *c)
{
	if (c->correlation && c->correlation == t->last_correlation &&
		contains(d, t->last_start, t->last_end, c)) {
		filter_nested(d);
		return;
	}
	if (t->held_count && t->held[0].correlation != c->correlation)
		release(d, t);
	if (!c->correlation || d->discard ||
		vpt_grow(&t->held, &t->held_cap, t->held_count + 1, sizeof(*t->held))) {
		put_call(d, t->lane, what, c);
		return;
	}
	if (!t->held_count)
		t->held_since_ns = d->now_ns;
	t->held[t->held_count++] = *c;
	d->n.held++;
}

static inline __attribute__((always_inline)) void call(
	struct vtr_decoder *d, const struct vtr_record_call *c, uint32_t domain)
{
	const struct vtr_call *what = vtr_calls_find(d->calls, domain, c->cbid);
	struct vtr_held_call it = {.start = c->start,
		.end = c->end,
		.correlation = vtr_decoder_widen(d, c->correlation),
		.result = c->result,
		.cbid = c->cbid};
	struct vtr_call_thread *t;

	if (!what || (domain == VTR_DOMAIN_DRIVER && vtr_own_call_is(c->correlation))) {
		d->n.filtered++;
		return;
	}
	t = vtr_decoder_thread(d, c->thread);
	if (!t) {
		put_call(d, vtr_recorder_thread(d->r, c->thread), what, &it);
	} else if (domain == VTR_DOMAIN_DRIVER) {
		hold(d, t, what, &it);
	} else {
		if (t->held_count | t->is_first)
			settle_around(d, t, &it);
		t->last_correlation = it.correlation;
		t->last_start = it.start;
		t->last_end = it.end;
		put_call(d, t->lane, what, &it);
	}
}

/* ---- the walk ---- */

static inline void decode(struct vtr_decoder *d, uint32_t kind, const void *record)
{
	switch (kind) {
	case VTR_KIND_KERNEL:
	case VTR_KIND_CONCURRENT_KERNEL:
		kernel(d, record);
		break;
	case VTR_KIND_RUNTIME:
		call(d, record, VTR_DOMAIN_RUNTIME);
		break;
	case VTR_KIND_DRIVER:
		call(d, record, VTR_DOMAIN_DRIVER);
		break;
	default:
		if (vtr_rare_records[kind])
			vtr_rare_records[kind](d, record);
		else
			d->n.filtered++;
	}
}

/* Frees what CUPTI allocated for a record, in whatever buffer it came. */
static inline void release_data(const struct vtr_decoder *d, uint32_t kind, const void *record)
{
	const struct vtr_record_overhead_tail *o = record;

	if (kind == VTR_KIND_OVERHEAD && vtr_sizes_reach(d->sizes, kind, sizeof(*o)))
		free(o->data);
}

/* Walks records up to `end`, or to the first that cannot be understood; sets *at to that. One copy of this loop, since
 * it decodes kernels and calls inline. */
static __attribute__((noinline)) uint64_t walk(
	struct vtr_decoder *d, const uint8_t *record, const uint8_t *end, const uint8_t **at)
{
	const struct vtr_sizes *sizes = d->sizes;
	uint64_t records = 0;
	size_t size;
	uint32_t kind;

	for (; (size = vtr_sizes_of_record(sizes, record, (size_t)(end - record), &kind));
		record += size) {
		if (records % ROOM_EVERY == 0)
			vtr_recorder_room(d->r);
		decode(d, kind, record);
		release_data(d, kind, record);
		records++;
	}
	*at = record;
	return records;
}

/* ---- ops of pauses ---- */

static uint64_t widen(void *decoder, uint32_t id)
{
	return vtr_decoder_widen(decoder, id);
}

static void decode_late(void *decoder, const uint8_t *record, size_t size)
{
	const uint8_t *at;

	walk(decoder, record, record + size, &at);
}

static struct vtr_late_ops_owner owner_of(struct vtr_decoder *d)
{
	return (struct vtr_late_ops_owner){widen, decode_late, d};
}

/* Whether the record waits for that of its launch. */
static int is_late(struct vtr_decoder *d, uint32_t kind, const uint8_t *record, size_t size)
{
	const struct vtr_late_ops_owner owner = owner_of(d);

	if (d->discard || !vtr_late_ops_take(&d->late, &owner, d->r, kind, record, size, d->now_ns))
		return 0;
	d->n.held++;
	return 1;
}

/* Decodes ops whose launch is known by now, and those that have waited since `until_ns`. */
static void release_late(struct vtr_decoder *d, uint64_t until_ns)
{
	const struct vtr_late_ops_owner owner = owner_of(d);
	int discard = d->discard;

	d->discard = 0; /* they came in a buffer that is not discarded */
	d->n.held -= vtr_late_ops_release(&d->late, &owner, d->r, until_ns);
	d->discard = discard;
}

/* What the newest buffer of a thread ended with, and nothing has come after. */
static void release_last(struct vtr_decoder *d, struct vtr_call_thread *t)
{
	size_t i, kept = 0;

	for (i = 0; i < t->held_count; i++)
		if (!settle_first(d, t, &t->held[i]))
			t->held[kept++] = t->held[i];
	t->held_count = kept;
	release(d, t);
}

void vtr_decoder_settle(struct vtr_decoder *d, struct vtr_recorder *r, uint64_t age_ns)
{
	struct vtr_call_thread *t;
	size_t i;

	if (!d->n.held)
		return;
	d->r = r;
	d->now_ns = vtr_clock_ns(CLOCK_MONOTONIC);
	if (d->late.count) {
		vtr_configs_buffer(d->configs);
		release_late(d, d->now_ns - age_ns);
	}
	for (i = 0; d->n.held && (t = vtr_places_thread_at(d->places, i)); i++) {
		if (t->stray_count)
			release_strays(d, t, 0, d->now_ns - age_ns);
		if (t->held_count && d->now_ns - t->held_since_ns >= age_ns)
			release_last(d, t);
	}
}

/* ---- buffers ---- */

static void forget_stale(struct vtr_decoder *d, const struct vtr_full *full)
{
	const uint8_t *record = full->data, *end = record + full->valid_bytes;
	size_t size;
	uint32_t kind;

	for (; (size = vtr_sizes_of_record(d->sizes, record, (size_t)(end - record), &kind));
		record += size)
		release_data(d, kind, record);
	d->n.stale_buffers++;
}

/* An op comes before the call that launched it: before ops are judged by their launch, all calls of the buffer
 * are known. */
static void note_calls(struct vtr_decoder *d, const struct vtr_full *full)
{
	const uint8_t *record = full->data, *end = record + full->valid_bytes;
	const struct vtr_record_call *c;
	size_t size;
	uint32_t kind;

	for (; (size = vtr_sizes_of_record(d->sizes, record, (size_t)(end - record), &kind));
		record += size) {
		c = (const void *)record;
		if ((kind == VTR_KIND_RUNTIME || kind == VTR_KIND_DRIVER) && c->correlation)
			vtr_recorder_note_call(
				d->r, vtr_decoder_widen(d, c->correlation), c->start);
	}
}

/* Reports what is missing: the rest of a damaged buffer, all of a discard buffer. */
static void put_losses(
	struct vtr_decoder *d, const struct vtr_full *full, int damaged, uint64_t dropped)
{
	if (dropped) {
		vtr_recorder_room(d->r);
		if (d->from_ns > d->to_ns) { /* no record had a time */
			d->from_ns = full->taken_ns;
			d->to_ns = vtr_now();
		}
		vtr_recorder_loss(d->r, NULL, VPT_LOSSKIND_DROPPED, d->from_ns, d->to_ns, dropped);
	}
	if (damaged) {
		vtr_recorder_room(d->r);
		vtr_recorder_loss(d->r, NULL, VPT_LOSSKIND_DAMAGED, full->taken_ns, vtr_now(), 0);
		d->n.damaged_buffers++;
	}
}

/* The same for a whole buffer, but leaves out ops that have to wait for their launch; they count too. */
static uint64_t walk_near_pause(
	struct vtr_decoder *d, const struct vtr_full *full, const uint8_t **at)
{
	const uint8_t *record = full->data, *end = record + full->valid_bytes, *from = record;
	uint64_t records = 0;
	size_t size;
	uint32_t kind;

	note_calls(d, full);
	if (d->late.count)
		release_late(d, 0);
	for (; (size = vtr_sizes_of_record(d->sizes, record, (size_t)(end - record), &kind));
		record += size) {
		if (!is_late(d, kind, record, size))
			continue;
		records += 1 + walk(d, from, record, at);
		from = record + size;
	}
	return records + walk(d, from, end, at);
}

uint64_t vtr_decoder_buffer(
	struct vtr_decoder *d, const struct vtr_full *full, struct vtr_recorder *r)
{
	const uint8_t *at = full->data, *end = at + full->valid_bytes;
	uint64_t records, dropped = d->n.dropped;

	d->r = r;
	if (full->stale) {
		forget_stale(d, full);
		return 0;
	}
	d->now_ns = vtr_clock_ns(CLOCK_MONOTONIC);
	d->thread = NULL; /* who calls becomes known once per buffer at least */
	d->discard = full->discard;
	d->from_ns = UINT64_MAX;
	d->to_ns = 0;
	vtr_configs_buffer(d->configs);
	records = vtr_recorder_wants_calls(r, full->taken_ns) ? walk_near_pause(d, full, &at)
							      : walk(d, at, end, &at);
	vtr_recorder_note_id(r, d->newest_correlation);
	d->n.records += records;
	d->n.buffers++;
	put_losses(d, full, at < end, d->n.dropped - dropped);
	d->discard = 0;
	return records;
}
