/* cupti_records.c - walking a buffer, and one function a kind of record.
 *
 * A driver call inside of a runtime call says the same thing twice: both carry one correlation id.
 * CUPTI delivers the inner one first, when it returns, so driver calls are held until their
 * thread's next call has come: if that is a runtime call around them, they are filtered, else they
 * become rows. The end of a buffer may stand between the two; the other one follows with the next
 * flush at the latest.
 *
 * Times of any value are written as they are; those that make no sense are counted, and never
 * hidden.
 *
 * Kernels and calls are nearly all there is. They are decoded inside of the walk, and their rows go
 * the recorder's short way; what that cannot do goes the same way as all other kinds. */
#include "tracer/cupti_records.h"

#include "formats/memory.h"
#include "tracer/clock.h"
#include "tracer/cupti_configs.h"
#include "tracer/cupti_places.h"

#include <stdlib.h>
#include <string.h>

/* A chunk may have so many rows more than it should. */
enum { ROOM_EVERY = 16 };

struct vtr_decoder {
	const struct vtr_sizes *sizes;
	const struct vtr_calls *calls;
	struct vtr_configs *configs;
	struct vtr_places *places;
	struct vtr_recorder *r; /* during a call */
	struct vtr_lane *lane;  /* of the stream below; NULL: to be looked up */
	uint32_t device, context, stream;
	struct vtr_call_thread *thread; /* of the last call; NULL: to be looked up */
	int discard;                    /* the buffer at hand: rows are dropped */
	uint64_t from_ns, to_ns;        /* times seen in a discard buffer */
	uint64_t newest_correlation;
	uint64_t now_ns; /* CLOCK_MONOTONIC when the buffer at hand was begun */
	struct vtr_decoded n;
};

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
	memset(&d->n, 0, sizeof(d->n));
}

void vtr_decoder_counts(const struct vtr_decoder *d, struct vtr_decoded *out)
{
	*out = d->n;
}

static inline uint64_t correlation(struct vtr_decoder *d, uint32_t id)
{
	uint64_t newest = d->newest_correlation, wide;
	int32_t step = (int32_t)(id - (uint32_t)newest);

	if (!id)
		return 0;
	/* The first one of the process stands for itself: steps of more than 2^31 would lead below
	 * 0. */
	wide = newest ? newest + (uint64_t)(int64_t)step : id;
	if (step > 0 || !newest)
		d->newest_correlation = wide;
	return wide;
}

uint64_t vtr_decoder_correlation(struct vtr_decoder *d, uint32_t id)
{
	return correlation(d, id);
}

/* ---- rows ---- */

/* A row of a record on its lane; NULL: on none. Returns whether it stands in the capture. */
static inline int put(
	struct vtr_decoder *d, enum vpt_kind kind, struct vtr_lane *lane, const void *row)
{
	if (d->discard) {
		vtr_recorder_drop(d->r, lane, 1);
		d->n.dropped++;
		return 0;
	}
	d->n.rows++;
	return vtr_recorder_put(d->r, kind, lane, row);
}

static void note_times(struct vtr_decoder *d, uint64_t start, uint64_t end)
{
	if (start && start < d->from_ns)
		d->from_ns = start;
	if (end > d->to_ns)
		d->to_ns = end;
}

/* The same for a row with a start and an end. */
static inline void put_span(struct vtr_decoder *d, enum vpt_kind kind, struct vtr_lane *lane,
	const void *row, uint64_t start, uint64_t end)
{
	if (put(d, kind, lane, row) && (!start || end < start))
		vtr_recorder_invalid(d->r, lane);
	if (d->discard)
		note_times(d, start, end);
}

/* A row of one of the two kinds that nearly all rows are of, by value: it never needs an
 * address. */
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
	put_span(d, kind, lane, row.values, row.values[0], row.values[0] + row.values[1]);
}

/* The same for kernels and calls, as short as it can be: `usual` are the columns that may be other
 * than 0 in most rows, `rest` what the others hold in this one. Inlined with constants. */
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

/* Records of one stream come in runs. */
static inline struct vtr_lane *stream_lane(
	struct vtr_decoder *d, uint32_t dev, uint32_t ctx, uint32_t str)
{
	if (d->lane && d->stream == str && d->context == ctx && d->device == dev)
		return d->lane;
	d->device = dev;
	d->context = ctx;
	d->stream = str;
	d->lane = vtr_places_stream(d->places, d->r, dev, ctx, str);
	return d->lane;
}

static inline void kernel(struct vtr_decoder *d, const void *record)
{
	const struct vtr_record_kernel *k = record;
	struct vtr_lane *lane = stream_lane(d, k->device, k->context, k->stream);
	struct row row = {{[VPT_KERNEL_START] = k->start,
		[VPT_KERNEL_DURATION] = k->end - k->start,
		[VPT_KERNEL_CORRELATION] = correlation(d, k->correlation),
		[VPT_KERNEL_GRAPH_NODE] = k->graph_node}};

	if (!d->discard)
		row.values[VPT_KERNEL_CONFIG] = vtr_configs_kernel(d->configs, d->r, k);
	put_fast(d, VPT_KERNEL, lane, VPT_KERNEL_USUAL, k->graph_node, row);
}

/* A whole graph, where its nodes are not recorded: it keeps its stream busy like a kernel. */
static void graph(struct vtr_decoder *d, const void *record)
{
	const struct vtr_record_graph *g = record;
	struct vtr_lane *lane = stream_lane(d, g->device, g->context, g->stream);
	struct vpt_kernel row = {.start_ns = g->start,
		.duration_ns = g->end - g->start,
		.correlation = correlation(d, g->correlation)};

	if (!d->discard)
		row.config = vtr_configs_graph(d->configs, d->r, g->graph);
	put_span(d, VPT_KERNEL, lane, &row, g->start, g->end);
}

/* CUPTI's numbers of directions and memories, by index, as ours. */
static const uint8_t copy_kinds[] = {VPT_COPYKIND_UNKNOWN, VPT_COPYKIND_HTOD, VPT_COPYKIND_DTOH,
	VPT_COPYKIND_HTOA, VPT_COPYKIND_ATOH, VPT_COPYKIND_ATOA, VPT_COPYKIND_ATOD,
	VPT_COPYKIND_DTOA, VPT_COPYKIND_DTOD, VPT_COPYKIND_HTOH, VPT_COPYKIND_PTOP};
static const uint8_t memory_kinds[] = {VPT_MEMKIND_UNKNOWN, VPT_MEMKIND_PAGEABLE,
	VPT_MEMKIND_PINNED, VPT_MEMKIND_DEVICE, VPT_MEMKIND_ARRAY, VPT_MEMKIND_MANAGED,
	VPT_MEMKIND_DEVICE_STATIC, VPT_MEMKIND_MANAGED_STATIC};

#define OURS(table, number) ((number) < sizeof(table) ? (table)[number] : 0)

static void copy(struct vtr_decoder *d, const void *record)
{
	const struct vtr_record_memcpy *m = record;
	struct vtr_lane *lane = stream_lane(d, m->device, m->context, m->stream);
	struct vpt_copy row = {.start_ns = m->start,
		.duration_ns = m->end - m->start,
		.copy_kind = OURS(copy_kinds, m->copy_kind),
		.source_memory = OURS(memory_kinds, m->source),
		.target_memory = OURS(memory_kinds, m->target),
		.asynchronous = (m->flags & VTR_COPY_ASYNCHRONOUS) != 0,
		.correlation = correlation(d, m->correlation),
		.bytes = m->bytes,
		.graph_node = m->graph_node};

	put_span(d, VPT_COPY, lane, &row, m->start, m->end);
}

static void peer_copy(struct vtr_decoder *d, const void *record)
{
	const struct vtr_record_peer *m = record;
	struct vtr_lane *lane = stream_lane(d, m->device, m->context, m->stream);
	uint32_t other = m->device == m->source_device ? m->target_device : m->source_device;
	struct vpt_copy row = {.start_ns = m->start,
		.duration_ns = m->end - m->start,
		.copy_kind = OURS(copy_kinds, m->copy_kind),
		.source_memory = OURS(memory_kinds, m->source),
		.target_memory = OURS(memory_kinds, m->target),
		.peer = 1 + (uint64_t)other,
		.asynchronous = (m->flags & VTR_COPY_ASYNCHRONOUS) != 0,
		.correlation = correlation(d, m->correlation),
		.bytes = m->bytes,
		.graph_node = m->graph_node};

	put_span(d, VPT_COPY, lane, &row, m->start, m->end);
}

static void fill(struct vtr_decoder *d, const void *record)
{
	const struct vtr_record_memset *m = record;
	struct vtr_lane *lane = stream_lane(d, m->device, m->context, m->stream);
	struct vpt_copy row = {.start_ns = m->start,
		.duration_ns = m->end - m->start,
		.copy_kind = VPT_COPYKIND_MEMSET,
		.target_memory = OURS(memory_kinds, m->memory_kind),
		.asynchronous = (m->flags & VTR_COPY_ASYNCHRONOUS) != 0,
		.value = m->value,
		.correlation = correlation(d, m->correlation),
		.bytes = m->bytes,
		.graph_node = m->graph_node};

	put_span(d, VPT_COPY, lane, &row, m->start, m->end);
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

/* Makes rows of a thread's held calls: nothing told by another record was found in them. */
static void release(struct vtr_decoder *d, struct vtr_call_thread *t)
{
	int discard = d->discard;
	size_t i;

	d->discard = 0; /* they came in a buffer that is kept */
	for (i = 0; i < t->held_count; i++) {
		vtr_recorder_room(d->r);
		put_call(d, t->lane, vtr_calls_find(d->calls, VTR_DOMAIN_DRIVER, t->held[i].cbid),
			&t->held[i]);
	}
	d->n.held -= t->held_count;
	t->held_count = 0;
	d->discard = discard;
}

static int contains(uint64_t start, uint64_t end, const struct vtr_held_call *c)
{
	return start <= c->start && c->end <= end;
}

static void filter_nested(struct vtr_decoder *d)
{
	d->n.filtered++;
	d->n.nested++;
}

/* Of the calls held, those inside of this runtime call are told by it; the others are rows. */
static void settle_around(
	struct vtr_decoder *d, struct vtr_call_thread *t, const struct vtr_held_call *runtime)
{
	size_t i, kept = 0;

	for (i = 0; i < t->held_count; i++) {
		if (t->held[i].correlation == runtime->correlation &&
			contains(runtime->start, runtime->end, &t->held[i])) {
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
		contains(t->last_start, t->last_end, c)) {
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

/* NULL: no memory; the lane is then to be asked of the recorder. */
static inline struct vtr_call_thread *call_thread(struct vtr_decoder *d, uint32_t tid)
{
	if (!d->thread || d->thread->tid != tid)
		d->thread = vtr_places_thread(d->places, d->r, tid);
	return d->thread;
}

static inline __attribute__((always_inline)) void call(
	struct vtr_decoder *d, const struct vtr_record_call *c, uint32_t domain)
{
	const struct vtr_call *what = vtr_calls_find(d->calls, domain, c->cbid);
	struct vtr_held_call it = {.start = c->start,
		.end = c->end,
		.correlation = correlation(d, c->correlation),
		.result = c->result,
		.cbid = c->cbid};
	struct vtr_call_thread *t;

	if (!what) {
		d->n.filtered++;
		return;
	}
	t = call_thread(d, c->thread);
	if (!t) {
		put_call(d, vtr_recorder_thread(d->r, c->thread), what, &it);
	} else if (domain == VTR_DOMAIN_DRIVER) {
		hold(d, t, what, &it);
	} else {
		if (t->held_count)
			settle_around(d, t, &it);
		t->last_correlation = it.correlation;
		t->last_start = it.start;
		t->last_end = it.end;
		put_call(d, t->lane, what, &it);
	}
}

void vtr_decoder_settle(struct vtr_decoder *d, struct vtr_recorder *r, uint64_t age_ns)
{
	struct vtr_call_thread *t;
	size_t i;

	if (!d->n.held)
		return;
	d->r = r;
	d->now_ns = vtr_clock_ns(CLOCK_MONOTONIC);
	for (i = 0; d->n.held && (t = vtr_places_thread_at(d->places, i)); i++)
		if (t->held_count && d->now_ns - t->held_since_ns >= age_ns)
			release(d, t);
}

/* ---- waiting ---- */

static uint64_t id_or_0(uint32_t id)
{
	return id == VTR_NO_ID ? 0 : 1 + (uint64_t)id;
}

/* "Not applicable" is -1, in 32 bits or in 64. */
static uint64_t sync_id_or_0(uint64_t id)
{
	return id == UINT64_MAX || id == VTR_NO_ID ? 0 : id;
}

static void synchronisation(struct vtr_decoder *d, const void *record)
{
	static const uint8_t kinds[] = {[VTR_SYNC_EVENT] = VPT_SYNCKIND_EVENT,
		[VTR_SYNC_STREAM_WAIT] = VPT_SYNCKIND_STREAM_WAIT,
		[VTR_SYNC_STREAM] = VPT_SYNCKIND_STREAM,
		[VTR_SYNC_CONTEXT] = VPT_SYNCKIND_CONTEXT};
	const struct vtr_record_sync_tail *s = record;
	const struct vtr_record_sync *h = &s->head;
	struct vtr_lane *lane = NULL;
	struct vpt_sync row = {.start_ns = h->start,
		.duration_ns = h->end - h->start,
		.sync_kind = OURS(kinds, h->type),
		.correlation = correlation(d, h->correlation),
		.context = h->context,
		.event = id_or_0(h->event)};

	if (row.sync_kind == VPT_SYNCKIND_STREAM || row.sync_kind == VPT_SYNCKIND_STREAM_WAIT)
		lane = vtr_places_stream_of(d->places, d->r, h->context, h->stream);
	/* Whose work a stream waits for is not in the record: only the event is. */
	if (lane && row.sync_kind == VPT_SYNCKIND_STREAM) {
		row.stream = lane->key;
		vtr_recorder_refer(d->r, lane);
	}
	if (vtr_sizes_reach(d->sizes, VTR_KIND_SYNCHRONIZATION, sizeof(*s)))
		row.sync_id = sync_id_or_0(s->sync_id);
	put_span(d, VPT_SYNC, lane, &row, h->start, h->end);
}

static void event(struct vtr_decoder *d, const void *record)
{
	const struct vtr_record_event_tail *e = record;
	const struct vtr_record_event *h = &e->head;
	struct vtr_lane *lane = NULL;
	struct vpt_event row = {
		.event = id_or_0(h->event), .correlation = correlation(d, h->correlation)};

	if (vtr_sizes_reach(d->sizes, VTR_KIND_CUDA_EVENT, sizeof(*e))) {
		row.time_ns = e->device_time;
		row.sync_id = sync_id_or_0(e->sync_id);
		if (h->stream != VTR_NO_ID && e->device != VTR_NO_ID)
			lane = vtr_places_stream(d->places, d->r, e->device, h->context, h->stream);
	} else {
		lane = vtr_places_stream_of(d->places, d->r, h->context, h->stream);
	}
	put(d, VPT_EVENT, lane, &row);
}

/* ---- memory ---- */

static void memory(struct vtr_decoder *d, const void *record)
{
	const struct vtr_record_memory *m = record;
	struct vtr_lane *lane;
	struct vpt_memory row = {.time_ns = m->time,
		.memory_op = m->operation == VTR_MEMORY_ALLOCATION ? VPT_MEMOP_ALLOCATE
			     : m->operation == VTR_MEMORY_RELEASE  ? VPT_MEMOP_RELEASE
								   : VPT_MEMOP_UNKNOWN,
		.memory_kind = OURS(memory_kinds, m->memory_kind),
		.address = m->address,
		.bytes = m->bytes,
		.pool = m->pool,
		.correlation = correlation(d, m->correlation)};

	lane = m->stream == VTR_NO_ID
		       ? vtr_places_default_stream(d->places, d->r, m->device, m->context)
		       : stream_lane(d, m->device, m->context, m->stream);
	if (put(d, VPT_MEMORY, lane, &row) && !m->time)
		vtr_recorder_invalid(d->r, lane);
	if (d->discard)
		note_times(d, m->time, m->time);
}

/* ---- what tracing and the driver cost ---- */

static struct vtr_lane *thread_lane(struct vtr_decoder *d, uint32_t tid)
{
	struct vtr_call_thread *t = call_thread(d, tid);

	return t ? t->lane : vtr_recorder_thread(d->r, tid);
}

static void overhead(struct vtr_decoder *d, const void *record)
{
	static const uint8_t kinds[] = {VPT_OVERHEADKIND_UNKNOWN, VPT_OVERHEADKIND_FLUSH,
		VPT_OVERHEADKIND_INSTRUMENTATION, VPT_OVERHEADKIND_RESOURCE,
		VPT_OVERHEADKIND_MODULE_LOADING, VPT_OVERHEADKIND_LAZY_LOADING,
		VPT_OVERHEADKIND_COMMAND_BUFFER_FULL, VPT_OVERHEADKIND_BUFFER_REQUEST,
		VPT_OVERHEADKIND_UVM_INIT};
	const struct vtr_record_overhead_tail *o = record;
	const struct vtr_record_overhead *h = &o->head;
	struct vpt_overhead row = {.start_ns = h->start,
		.duration_ns = h->end - h->start,
		.overhead_kind = h->overhead == VTR_OVERHEAD_COMPILER
					 ? VPT_OVERHEADKIND_COMPILER
					 : OURS(kinds, h->overhead >> VTR_OVERHEAD_SHIFT)};

	if (vtr_sizes_reach(d->sizes, VTR_KIND_OVERHEAD, sizeof(*o)))
		row.correlation = correlation(d, o->correlation);
	put_span(d, VPT_OVERHEAD, h->object == VTR_OBJECT_THREAD ? thread_lane(d, h->thread) : NULL,
		&row, h->start, h->end);
}

static void jit(struct vtr_decoder *d, const void *record)
{
	const struct vtr_record_jit_tail *j = record;
	const struct vtr_record_jit *h = &j->head;
	struct vtr_lane *lane = NULL;
	struct vpt_overhead row = {.start_ns = h->start,
		.duration_ns = h->end - h->start,
		.overhead_kind = VPT_OVERHEADKIND_COMPILER,
		.correlation = correlation(d, h->correlation)};

	if (vtr_sizes_reach(d->sizes, VTR_KIND_JIT, sizeof(*j)) && j->thread)
		lane = thread_lane(d, j->thread);
	put_span(d, VPT_OVERHEAD, lane, &row, h->start, h->end);
}

/* ---- descriptions ---- */

static void device(struct vtr_decoder *d, const void *record)
{
	struct vtr_device row;

	vtr_places_device(record, &row);
	vtr_recorder_device(d->r, &row);
	d->n.described++;
}

static void context(struct vtr_decoder *d, const void *record)
{
	vtr_places_context(d->places, record);
	d->n.described++;
}

static void stream(struct vtr_decoder *d, const void *record)
{
	vtr_places_describe(d->places, record);
	d->lane = NULL; /* so that it is described when it is looked up next */
	d->n.described++;
}

/* ---- the walk ---- */

static void (*const others[VTR_KINDS])(struct vtr_decoder *d, const void *record) = {
	[VTR_KIND_MEMCPY] = copy,
	[VTR_KIND_MEMSET] = fill,
	[VTR_KIND_DEVICE] = device,
	[VTR_KIND_CONTEXT] = context,
	[VTR_KIND_OVERHEAD] = overhead,
	[VTR_KIND_MEMCPY2] = peer_copy,
	[VTR_KIND_CUDA_EVENT] = event,
	[VTR_KIND_STREAM] = stream,
	[VTR_KIND_SYNCHRONIZATION] = synchronisation,
	[VTR_KIND_MEMORY2] = memory,
	[VTR_KIND_GRAPH_TRACE] = graph,
	[VTR_KIND_JIT] = jit,
};

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
		if (others[kind])
			others[kind](d, record);
		else
			d->n.filtered++;
	}
}

/* What CUPTI allocated for us and hung on a record, in whatever buffer that came. */
static inline void release_data(const struct vtr_decoder *d, uint32_t kind, const void *record)
{
	const struct vtr_record_overhead_tail *o = record;

	if (kind == VTR_KIND_OVERHEAD && vtr_sizes_reach(d->sizes, kind, sizeof(*o)))
		free(o->data);
}

/* The size of the record at `record`, `left` bytes before the end, and its kind; 0: there is none
 * that we understand. */
static inline size_t size_of(
	const struct vtr_sizes *sizes, const uint8_t *record, size_t left, uint32_t *kind)
{
	size_t size;

	if (left < sizeof(*kind))
		return 0;
	memcpy(kind, record, sizeof(*kind));
	size = *kind < VTR_KINDS ? sizes->bytes[*kind] : 0;
	return size <= left ? size : 0;
}

static void forget_stale(struct vtr_decoder *d, const struct vtr_full *full)
{
	const uint8_t *record = full->data, *end = record + full->valid_bytes;
	size_t size;
	uint32_t kind;

	for (; (size = size_of(d->sizes, record, (size_t)(end - record), &kind)); record += size)
		release_data(d, kind, record);
	d->n.stale_buffers++;
}

/* Tells of what is missing: the rest of a damaged buffer, all of a discard buffer. */
static void put_losses(
	struct vtr_decoder *d, const struct vtr_full *full, int damaged, uint64_t dropped)
{
	if (dropped) {
		vtr_recorder_room(d->r);
		if (d->from_ns > d->to_ns) { /* no record said when */
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

uint64_t vtr_decoder_buffer(
	struct vtr_decoder *d, const struct vtr_full *full, struct vtr_recorder *r)
{
	const struct vtr_sizes *sizes = d->sizes;
	const uint8_t *record = full->data, *end = record + full->valid_bytes;
	uint64_t records = 0, dropped = d->n.dropped;
	size_t size;
	uint32_t kind;

	d->r = r;
	if (full->stale) {
		forget_stale(d, full);
		return 0;
	}
	d->now_ns = vtr_clock_ns(CLOCK_MONOTONIC);
	d->discard = full->discard;
	d->from_ns = UINT64_MAX;
	d->to_ns = 0;
	vtr_configs_buffer(d->configs);
	for (; (size = size_of(sizes, record, (size_t)(end - record), &kind)); record += size) {
		if (records % ROOM_EVERY == 0)
			vtr_recorder_room(r);
		decode(d, kind, record);
		release_data(d, kind, record);
		records++;
	}
	d->n.records += records;
	d->n.buffers++;
	put_losses(d, full, record < end, d->n.dropped - dropped);
	d->discard = 0;
	return records;
}
