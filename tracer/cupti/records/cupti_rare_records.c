/* cupti_rare_records.c - copies, memsets, graphs, synchronisation, memory, overhead and
 * descriptions: one function per kind. */
#include "tracer/cupti/library/own_calls.h"
#include "tracer/cupti/records/cupti_decoder.h"
#include "tracer/loaded/driver.h"

/* ---- work on a device ---- */

/* A graph recorded as a whole keeps its stream busy like a kernel. */
static void graph(struct vtr_decoder *d, const void *record)
{
	const struct vtr_record_graph *g = record;
	struct vtr_lane *lane = vtr_decoder_stream(d, g->device, g->context, g->stream);
	struct vpt_kernel row = {.start_ns = g->start,
		.duration_ns = g->end - g->start,
		.correlation = vtr_decoder_widen(d, g->correlation)};

	if (!d->discard)
		row.config = vtr_configs_graph(d->configs, d->r, g->graph);
	vtr_decoder_put_span(d, VPT_KERNEL, lane, &row, g->start, g->end);
}

/* Our numbers of directions and memories, indexed by CUPTI's. */
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
	struct vtr_lane *lane = vtr_decoder_stream(d, m->device, m->context, m->stream);
	struct vpt_copy row = {.start_ns = m->start,
		.duration_ns = m->end - m->start,
		.copy_kind = OURS(copy_kinds, m->copy_kind),
		.source_memory = OURS(memory_kinds, m->source),
		.target_memory = OURS(memory_kinds, m->target),
		.asynchronous = (m->flags & VTR_COPY_ASYNCHRONOUS) != 0,
		.correlation = vtr_decoder_widen(d, m->correlation),
		.bytes = m->bytes,
		.graph_node = m->graph_node};

	vtr_decoder_put_span(d, VPT_COPY, lane, &row, m->start, m->end);
}

static void peer_copy(struct vtr_decoder *d, const void *record)
{
	const struct vtr_record_peer *m = record;
	struct vtr_lane *lane = vtr_decoder_stream(d, m->device, m->context, m->stream);
	uint32_t other = m->device == m->source_device ? m->target_device : m->source_device;
	struct vpt_copy row = {.start_ns = m->start,
		.duration_ns = m->end - m->start,
		.copy_kind = OURS(copy_kinds, m->copy_kind),
		.source_memory = OURS(memory_kinds, m->source),
		.target_memory = OURS(memory_kinds, m->target),
		.peer = 1 + (uint64_t)other,
		.asynchronous = (m->flags & VTR_COPY_ASYNCHRONOUS) != 0,
		.correlation = vtr_decoder_widen(d, m->correlation),
		.bytes = m->bytes,
		.graph_node = m->graph_node};

	vtr_decoder_put_span(d, VPT_COPY, lane, &row, m->start, m->end);
}

static void fill(struct vtr_decoder *d, const void *record)
{
	const struct vtr_record_memset *m = record;
	struct vtr_lane *lane = vtr_decoder_stream(d, m->device, m->context, m->stream);
	struct vpt_copy row = {.start_ns = m->start,
		.duration_ns = m->end - m->start,
		.copy_kind = VPT_COPYKIND_MEMSET,
		.target_memory = OURS(memory_kinds, m->memory_kind),
		.asynchronous = (m->flags & VTR_COPY_ASYNCHRONOUS) != 0,
		.value = m->value,
		.correlation = vtr_decoder_widen(d, m->correlation),
		.bytes = m->bytes,
		.graph_node = m->graph_node};

	vtr_decoder_put_span(d, VPT_COPY, lane, &row, m->start, m->end);
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
		.correlation = vtr_decoder_widen(d, h->correlation),
		.context = vtr_no_place(h->context) ? 0 : h->context,
		.event = id_or_0(h->event)};

	if (vtr_own_call_is(h->correlation)) {
		d->n.filtered++;
		return;
	}
	if (row.sync_kind == VPT_SYNCKIND_STREAM || row.sync_kind == VPT_SYNCKIND_STREAM_WAIT)
		lane = vtr_places_stream_of(d->places, d->r, h->context, h->stream);
	/* The record names only the event, not the stream that is waited for. */
	if (lane && row.sync_kind == VPT_SYNCKIND_STREAM) {
		row.stream = lane->key;
		vtr_recorder_refer(d->r, lane);
	}
	if (vtr_sizes_reach(d->sizes, VTR_KIND_SYNCHRONIZATION, sizeof(*s)))
		row.sync_id = sync_id_or_0(s->sync_id);
	vtr_decoder_put_span(d, VPT_SYNC, lane, &row, h->start, h->end);
}

static void event(struct vtr_decoder *d, const void *record)
{
	const struct vtr_record_event_tail *e = record;
	const struct vtr_record_event *h = &e->head;
	struct vtr_lane *lane = NULL;
	struct vpt_event row = {
		.event = id_or_0(h->event), .correlation = vtr_decoder_widen(d, h->correlation)};

	if (vtr_sizes_reach(d->sizes, VTR_KIND_CUDA_EVENT, sizeof(*e))) {
		row.time_ns = e->device_time;
		row.sync_id = sync_id_or_0(e->sync_id);
		if (!vtr_no_place(h->stream) && e->device != VTR_NO_ID)
			lane = vtr_places_stream(d->places, d->r, e->device, h->context, h->stream);
	} else {
		lane = vtr_places_stream_of(d->places, d->r, h->context, h->stream);
	}
	vtr_decoder_put(d, VPT_EVENT, lane, &row);
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
		.correlation = vtr_decoder_widen(d, m->correlation)};

	lane = vtr_no_place(m->stream)
		       ? vtr_places_any_stream(d->places, d->r, m->device, m->context)
		       : vtr_decoder_stream(d, m->device, m->context, m->stream);
	if (vtr_decoder_put(d, VPT_MEMORY, lane, &row) && !m->time)
		vtr_recorder_invalid(d->r, lane);
	if (d->discard)
		vtr_decoder_note(d, m->time, m->time);
}

/* ---- what tracing and the driver cost ---- */

static struct vtr_lane *thread_lane(struct vtr_decoder *d, uint32_t tid)
{
	struct vtr_call_thread *t = vtr_decoder_thread(d, tid);

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
		row.correlation = vtr_decoder_widen(d, o->correlation);
	vtr_decoder_put_span(d, VPT_OVERHEAD,
		h->object == VTR_OBJECT_THREAD ? thread_lane(d, h->thread) : NULL, &row, h->start,
		h->end);
}

static void jit(struct vtr_decoder *d, const void *record)
{
	const struct vtr_record_jit_tail *j = record;
	const struct vtr_record_jit *h = &j->head;
	struct vtr_lane *lane = NULL;
	struct vpt_overhead row = {.start_ns = h->start,
		.duration_ns = h->end - h->start,
		.overhead_kind = VPT_OVERHEADKIND_COMPILER,
		.correlation = vtr_decoder_widen(d, h->correlation)};

	if (vtr_sizes_reach(d->sizes, VTR_KIND_JIT, sizeof(*j)) && j->thread)
		lane = thread_lane(d, j->thread);
	vtr_decoder_put_span(d, VPT_OVERHEAD, lane, &row, h->start, h->end);
}

/* ---- descriptions ---- */

static void device(struct vtr_decoder *d, const void *record)
{
	struct vtr_device row;

	vtr_places_device(record, &row);
	vtr_driver_pci((int)row.device, row.pci, sizeof(row.pci));
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
	d->lane = NULL; /* so that the next lookup describes it */
	d->n.described++;
}

void (*const vtr_rare_records[VTR_KINDS])(struct vtr_decoder *d, const void *record) = {
#define VTR_CUPTI_KIND(KIND, number, record, TIMES, OP, decode, PROFILES, existing)                \
	[VTR_KIND_##KIND] = decode,
#include "tracer/cupti/library/cupti_kinds.def"
};
