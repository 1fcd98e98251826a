/* cupti_records.c - what the simulation does, written as CUPTI's records in the layout of the
 * chosen generation.
 *
 * Only fields with a meaning are written: where the client said that its buffers are zeroed, the
 * rest is what it left there. */
#include "tests/standin/cupti/cupti_state.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { GENERATIONS = 3, NESTED_NS = 100, CBIDS = 1024, CHANNEL = 8 };
enum { NO_STREAM_IS_0 = 130200 }; /* from this API on */

/* Whether the record is long enough for a field that came later. */
#define HAS(kind, type, field)                                                                     \
	(cupti_record_bytes[kind] >=                                                               \
		offsetof(struct type, field) + sizeof(((struct type *)0)->field))

uint8_t cupti_record_bytes[STANDIN_KINDS];

static const uint32_t generation_versions[GENERATIONS] = {18, 22, CUPTI_NEWEST};

/* Sizes in bytes by generation; 0: the generation does not know the kind. What the stand-in never
 * writes is here for the iterator, which is asked for sizes by clients. */
static const struct {
	uint32_t kind;
	uint8_t bytes[GENERATIONS];
	int on_offer; /* may be enabled */
} layouts[] = {
	{1, {88, 88, 96}, 1},
	{2, {88, 88, 88}, 1},
	{3, {200, 208, 216}, 0},
	{4, {40, 40, 40}, 1},
	{5, {40, 40, 40}, 1},
	{8, {176, 184, 184}, 1},
	{9, {16, 24, 32}, 1},
	{10, {200, 208, 216}, 1},
	{11, {32, 32, 32}, 0},
	{12, {56, 56, 56}, 0},
	{13, {32, 32, 40}, 0},
	{17, {40, 56, 56}, 1},
	{18, {144, 144, 144}, 0},
	{20, {40, 40, 40}, 0},
	{22, {96, 96, 96}, 1},
	{36, {24, 24, 56}, 1},
	{37, {24, 24, 24}, 1},
	{38, {40, 40, 56}, 1},
	{39, {24, 24, 24}, 0},
	{48, {40, 40, 40}, 0},
	{49, {120, 120, 128}, 1},
	{50, {72, 72, 80}, 1},
	{51, {48, 56, 56}, 1},
	{52, {64, 72, 72}, 1},
	{53, {0, 56, 56}, 0},
	{54, {0, 0, 64}, 0},
	{55, {0, 0, 32}, 0},
};

static uint8_t kinds[STANDIN_KINDS], offered[STANDIN_KINDS];
static uint8_t calls_on[3][CBIDS]; /* by enum sim_domain */
static int system_threads, init_finished;

__attribute__((constructor)) static void choose_generation(void)
{
	int g = 0;

	while (g + 1 < GENERATIONS && generation_versions[g + 1] <= cupti_settings()->version)
		g++;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		cupti_record_bytes[layouts[i].kind] = layouts[i].bytes[g];
		offered[layouts[i].kind] = layouts[i].on_offer && layouts[i].bytes[g];
	}
}

/* ---- what is asked for ---- */

int cupti_kind_known(uint32_t kind)
{
	return kind < STANDIN_KINDS && offered[kind];
}

static int nodes_are_gone; /* GRAPH_TRACE has been enabled, and that cannot be undone */

int cupti_kind_is_on(uint32_t kind)
{
	return kinds[kind];
}

void cupti_enable_kind(uint32_t kind, int on)
{
	kinds[kind] = on != 0;
	nodes_are_gone |=
		on && kind == STANDIN_GRAPH_TRACE && cupti_settings()->faults.sticky_graphs;
	if (kind == STANDIN_RUNTIME)
		memset(calls_on[SIM_RUNTIME], on != 0, CBIDS);
	if (kind == STANDIN_DRIVER)
		memset(calls_on[SIM_DRIVER], on != 0, CBIDS);
}

void cupti_enable_call(enum sim_domain domain, uint32_t cbid, int on)
{
	if (cbid < CBIDS)
		calls_on[domain][cbid] = on != 0;
}

void cupti_disable_all(void)
{
	memset(kinds, 0, sizeof(kinds));
	memset(calls_on, 0, sizeof(calls_on));
}

void cupti_set_system_threads(int on)
{
	system_threads = on;
}

static uint32_t thread_id(uint32_t tid)
{
	return system_threads ? tid : (uint32_t)(uintptr_t)pthread_self();
}

/* ---- calls ---- */

static void put_call(const struct sim_call *call, enum sim_domain domain, uint32_t cbid,
	uint64_t start, uint64_t end, int error)
{
	struct standin_api_record *r =
		cupti_put(domain == SIM_RUNTIME ? STANDIN_RUNTIME : STANDIN_DRIVER, 0, NULL);

	if (!r)
		return;
	r->cbid = cbid;
	r->start = cupti_time(start);
	r->end = cupti_time(end);
	r->process = sim_pid();
	r->thread = thread_id(call->tid);
	r->correlation = call->correlation;
	r->result = (uint32_t)error;
}

static void on_enter(const struct sim_call *call)
{
	cupti_api_callback(call, 0, 0);
}

static void on_call(const struct sim_call *call, uint64_t exit_ns, int error)
{
	const struct sim_call_info *i = call->info;
	uint64_t margin = exit_ns - call->entry_ns > 2 * NESTED_NS ? NESTED_NS : 0;
	int outer = calls_on[i->domain][i->cbid];
	int nested = i->nested && calls_on[SIM_DRIVER][i->nested];

	cupti_api_callback(call, 1, error);
	if (nested)
		put_call(call, SIM_DRIVER, i->nested, call->entry_ns + margin, exit_ns - margin,
			error);
	if (outer)
		put_call(call, i->domain, i->cbid, call->entry_ns, exit_ns, error);
	sim_counts()->calls += (outer || nested) && i->cost_ns;
	cupti_deliver_in_call();
}

/* ---- ops ---- */

static void put_kernel(const struct sim_op *op)
{
	const struct sim_work *w = op->work;
	struct cupti_buffer *b;
	struct standin_kernel_record *r = cupti_put(STANDIN_KERNEL, op->end_ns, &b);
	uint64_t start = cupti_time(op->start_ns), end = cupti_time(op->end_ns);

	if (!r)
		return;
	cupti_spoil_times(&start, &end);
	r->registers = 32;
	r->start = start;
	r->end = end;
	r->device = op->device;
	r->context = op->context;
	r->stream = op->stream;
	for (int i = 0; i < 3; i++) {
		r->grid[i] = (int32_t)w->grid[i];
		r->block[i] = (int32_t)w->block[i];
	}
	r->dynamic_shared = (int32_t)w->shared_bytes;
	r->shared_executed = w->shared_bytes;
	r->correlation = op->correlation;
	r->grid_id = (int64_t)op->number;
	r->name = cupti_name(b, w->name);
	r->graph_node = op->graph_node;
	r->graph = op->graph;
	r->channel = CHANNEL;
	r->channel_type = 1;
}

static void put_copy(const struct sim_op *op)
{
	const struct sim_work *w = op->work;
	struct standin_memcpy_record *r = cupti_put(STANDIN_MEMCPY, op->end_ns, NULL);
	uint64_t start = cupti_time(op->start_ns), end = cupti_time(op->end_ns);

	if (!r)
		return;
	cupti_spoil_times(&start, &end);
	r->copy_kind = (uint8_t)w->copy;
	r->src_kind = (uint8_t)w->from;
	r->dst_kind = (uint8_t)w->to;
	r->flags = w->async != 0;
	r->bytes = w->bytes;
	r->start = start;
	r->end = end;
	r->device = op->device;
	r->context = op->context;
	r->stream = op->stream;
	r->correlation = op->correlation;
	r->graph_node = op->graph_node;
	r->graph = op->graph;
	r->channel = CHANNEL + 1;
	r->channel_type = 2;
	if (HAS(STANDIN_MEMCPY, standin_memcpy_record, copies))
		r->copies = 1;
}

static void put_peer_copy(const struct sim_op *op)
{
	const struct sim_work *w = op->work;
	struct standin_memcpy2_record *r = cupti_put(STANDIN_MEMCPY2, op->end_ns, NULL);
	uint64_t start = cupti_time(op->start_ns), end = cupti_time(op->end_ns);

	if (!r)
		return;
	cupti_spoil_times(&start, &end);
	r->copy_kind = (uint8_t)w->copy;
	r->src_kind = (uint8_t)w->from;
	r->dst_kind = (uint8_t)w->to;
	r->flags = w->async != 0;
	r->bytes = w->bytes;
	r->start = start;
	r->end = end;
	r->device = op->device;
	r->context = op->context;
	r->stream = op->stream;
	r->src_device = (uint32_t)w->from_device;
	r->dst_device = (uint32_t)w->to_device;
	r->correlation = op->correlation;
	r->graph_node = op->graph_node;
	r->graph = op->graph;
	r->channel = CHANNEL + 1;
	r->channel_type = 2;
}

static void put_memset(const struct sim_op *op)
{
	const struct sim_work *w = op->work;
	struct standin_memset_record *r = cupti_put(STANDIN_MEMSET, op->end_ns, NULL);
	uint64_t start = cupti_time(op->start_ns), end = cupti_time(op->end_ns);

	if (!r)
		return;
	cupti_spoil_times(&start, &end);
	r->value = w->value;
	r->bytes = w->bytes;
	r->start = start;
	r->end = end;
	r->device = op->device;
	r->context = op->context;
	r->stream = op->stream;
	r->correlation = op->correlation;
	r->flags = w->async != 0;
	r->memory_kind = (uint16_t)w->to;
	r->graph_node = op->graph_node;
	r->graph = op->graph;
	r->channel = CHANNEL;
	r->channel_type = 1;
}

static void on_op(const struct sim_op *op)
{
	uint32_t kind = op->work->type == SIM_KERNEL   ? STANDIN_KERNEL
			: op->work->type == SIM_MEMSET ? STANDIN_MEMSET
			: op->work->copy == SIM_PTOP   ? STANDIN_MEMCPY2
						       : STANDIN_MEMCPY;

	/* Records of graphs and of their nodes exclude each other. */
	if (!kinds[kind] || (op->graph && (kinds[STANDIN_GRAPH_TRACE] || nodes_are_gone)))
		return;
	sim_counts()->op_records++;
	if (kind == STANDIN_KERNEL)
		put_kernel(op);
	else if (kind == STANDIN_MEMSET)
		put_memset(op);
	else if (kind == STANDIN_MEMCPY2)
		put_peer_copy(op);
	else
		put_copy(op);
}

static void on_graph(const struct sim_graph_run *run)
{
	struct standin_graph_record *r;

	if (!kinds[STANDIN_GRAPH_TRACE])
		return;
	r = cupti_put(STANDIN_GRAPH_TRACE, run->end_ns, NULL);
	if (!r)
		return;
	r->correlation = run->correlation;
	r->start = cupti_time(run->start_ns);
	r->end = cupti_time(run->end_ns);
	r->device = run->device;
	r->graph = run->graph;
	r->context = run->context;
	r->stream = run->stream;
	if (HAS(STANDIN_GRAPH_TRACE, standin_graph_record, end_context)) {
		r->end_device = run->device;
		r->end_context = run->context;
	}
}

/* ---- waiting, memory ---- */

static void on_sync(const struct sim_sync *s)
{
	struct standin_sync_record *r;

	if (!kinds[STANDIN_SYNCHRONIZATION])
		return;
	sim_counts()->syncs++;
	r = cupti_put(STANDIN_SYNCHRONIZATION, 0, NULL);
	if (!r)
		return;
	r->type = s->type;
	r->start = cupti_time(s->start_ns);
	r->end = cupti_time(s->end_ns);
	r->correlation = s->correlation;
	r->context = s->context;
	r->stream = s->stream;
	r->event = s->event;
	if (HAS(STANDIN_SYNCHRONIZATION, standin_sync_record, event_sync))
		r->event_sync = s->event_record;
}

/* Comes with SYNCHRONIZATION too, as in CUPTI. */
static void on_event(const struct sim_event_record *e)
{
	struct standin_event_record *r;

	if (!kinds[STANDIN_CUDA_EVENT] && !kinds[STANDIN_SYNCHRONIZATION])
		return;
	r = cupti_put(STANDIN_CUDA_EVENT, 0, NULL);
	if (!r)
		return;
	r->correlation = e->correlation;
	r->context = e->context;
	r->stream = e->stream;
	r->event = e->event;
	if (HAS(STANDIN_CUDA_EVENT, standin_event_record, event_sync)) {
		r->device = e->device;
		r->event_sync = e->record;
	}
}

static void on_overhead(const struct sim_overhead *o)
{
	struct standin_overhead_record *r;
	struct standin_overhead_data *data;

	if (!kinds[STANDIN_OVERHEAD])
		return;
	sim_counts()->overheads++;
	r = cupti_put(STANDIN_OVERHEAD, 0, NULL);
	if (!r)
		return;
	r->overhead = STANDIN_OVERHEAD_QUEUE_FULL;
	r->object = STANDIN_OBJECT_THREAD;
	r->object_process = sim_pid();
	r->object_thread = thread_id(o->tid);
	r->start = cupti_time(o->start_ns);
	r->end = cupti_time(o->end_ns);
	if (!HAS(STANDIN_OVERHEAD, standin_overhead_record, data))
		return;
	r->correlation = o->correlation;
	data = malloc(sizeof(*data));
	if (data)
		*data = (struct standin_overhead_data){0, CHANNEL, 1};
	r->data = data;
}

static void on_memory(const struct sim_memory_event *m)
{
	struct standin_memory_record *r;

	if (!kinds[STANDIN_MEMORY2])
		return;
	r = cupti_put(STANDIN_MEMORY2, 0, NULL);
	if (!r)
		return;
	r->operation = m->release ? 2 : 1;
	r->memory_kind = m->kind;
	r->correlation = m->correlation;
	r->address = m->address;
	r->bytes = m->bytes;
	r->time = cupti_time(m->time_ns);
	r->process = sim_pid();
	r->device = m->device;
	r->context = m->context;
	r->stream = m->stream == UINT32_MAX && cupti_settings()->version >= NO_STREAM_IS_0
			    ? 0
			    : m->stream;
	r->name = NULL;
	r->async = m->async != 0;
	if (HAS(STANDIN_MEMORY2, standin_memory_record, source))
		r->source = NULL;
}

/* ---- devices, contexts, streams ---- */

static void put_device(int device)
{
	struct standin_device_record *r = cupti_put(STANDIN_DEVICE, 0, NULL);

	if (!r)
		return;
	r->flags = 1;
	r->global_bandwidth = 3352000000;
	r->global_bytes = SIM_DEVICE_BYTES;
	r->l2_bytes = 52428800;
	r->warp = 32;
	r->core_khz = 1980000;
	r->copy_engines = 3;
	r->multiprocessors = 132;
	r->capability_major = 9;
	r->capability_minor = 0;
	r->id = (uint32_t)device;
	sim_device_uuid((unsigned char *)r->uuid, device);
	r->name = "Simulated H100";
	r->visible = 1;
	r->mig = 0;
}

static void put_context(CUcontext context, void *unused)
{
	struct standin_context_record *r = cupti_put(STANDIN_CONTEXT, 0, NULL);

	(void)unused;
	if (!r)
		return;
	r->context = sim_context_id(context);
	r->device = (uint32_t)sim_context_device(context);
	r->api = 1;
	r->null_stream = SIM_NULL_STREAM_ID;
	if (HAS(STANDIN_CONTEXT, standin_context_record, multiprocessors)) {
		r->parent = 0;
		r->green = 0;
		r->multiprocessors = 132;
	}
}

static void put_stream(CUstream stream, uint32_t correlation)
{
	struct standin_stream_record *r = cupti_put(STANDIN_STREAM, 0, NULL);

	if (!r)
		return;
	r->context = sim_context_id(sim_stream_context(stream));
	r->stream = sim_stream_id(stream);
	r->priority = (uint32_t)sim_stream_priority(stream);
	r->flag = r->stream == SIM_NULL_STREAM_ID ? 3 : sim_stream_flags(stream) & 1 ? 2 : 1;
	r->correlation = correlation;
}

static void dump_stream(CUstream stream, void *unused)
{
	(void)unused;
	put_stream(stream, 0);
}

int cupti_may_dump(void)
{
	return init_finished || !cupti_settings()->faults.dump_in_init;
}

void cupti_dump(uint32_t kind)
{
	if (kind == STANDIN_DEVICE)
		for (int i = 0; i < sim_device_count(); i++)
			put_device(i);
	if (kind == STANDIN_CONTEXT)
		sim_each_context(put_context, NULL);
	if (kind == STANDIN_STREAM)
		sim_each_stream(dump_stream, NULL);
}

static void on_stream(CUstream stream, uint32_t correlation)
{
	if (kinds[STANDIN_STREAM])
		put_stream(stream, correlation);
}

static void on_resource(const struct sim_resource *r)
{
	if (r->id == SIM_INIT_FINISHED) {
		init_finished = 1;
		if (kinds[STANDIN_DEVICE] && !cupti_settings()->faults.dump_in_init)
			cupti_dump(STANDIN_DEVICE);
	}
	if (r->id == SIM_CONTEXT_CREATED && kinds[STANDIN_CONTEXT])
		put_context(r->context, NULL);
	cupti_resource(r);
}

static const struct sim_observer observer = {
	.enter = on_enter,
	.call = on_call,
	.op = on_op,
	.graph = on_graph,
	.sync = on_sync,
	.event = on_event,
	.overhead = on_overhead,
	.memory = on_memory,
	.resource = on_resource,
	.stream = on_stream,
	.due = cupti_buffers_due,
};

__attribute__((constructor)) static void watch(void)
{
	sim_observe(&observer);
}
