/* kineto_waits.c - synchronisation, CUDA events, and the profiling library's overhead. */
#include "formats/import/kineto/kineto_own.h"
#include "formats/import/kineto/kineto_parts.h"
#include "formats/import/kineto/kineto_put.h"

#include "formats/base/memory.h"

#include <stdlib.h>

struct named_number {
	const char *name;
	uint64_t number;
};

static const struct named_number sync_kinds[] = {
	{"Event Sync", VPT_SYNCKIND_EVENT},
	{"Stream Wait Event", VPT_SYNCKIND_STREAM_WAIT},
	{"Stream Sync", VPT_SYNCKIND_STREAM},
	{"Context Sync", VPT_SYNCKIND_CONTEXT},
	{NULL, VPT_SYNCKIND_UNKNOWN},
};

static const struct named_number overhead_kinds[] = {
	{"Driver Compiler", VPT_OVERHEADKIND_COMPILER},
	{"JIT", VPT_OVERHEADKIND_COMPILER},
	{"Buffer Flush", VPT_OVERHEADKIND_FLUSH},
	{"Instrumentation", VPT_OVERHEADKIND_INSTRUMENTATION},
	{"Resource", VPT_OVERHEADKIND_RESOURCE},
	{"Runtime Triggered Module Loading", VPT_OVERHEADKIND_MODULE_LOADING},
	{"Lazy Function Loading", VPT_OVERHEADKIND_LAZY_LOADING},
	{"Command Buffer Full", VPT_OVERHEADKIND_COMMAND_BUFFER_FULL},
	{"Activity Buffer Request", VPT_OVERHEADKIND_BUFFER_REQUEST},
	{"UVM Activity Init", VPT_OVERHEADKIND_UVM_INIT},
	{"UVM Init", VPT_OVERHEADKIND_UVM_INIT},
	{NULL, VPT_OVERHEADKIND_UNKNOWN},
};

static uint64_t look_up(const struct named_number *table, struct vpt_text name)
{
	while (table->name && !vpt_kineto_same_word(table->name, name))
		table++;
	return table->number;
}

/* The lane of the stream that waits or is waited for; in our own files, perhaps of a thread
 * instead. */
static uint64_t waiting_lane(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	int64_t stream = vpt_kineto_optional_id(r, e->args, "stream");

	if (stream >= 0)
		return vpt_kineto_stream_lane(
			r, e, vpt_kineto_optional_id(r, e->args, "device"), stream);
	return vpt_kineto_own_thread(r, e->args);
}

/* The stream that `wait_on_stream` names; in the same device and context unless the event names
 * others. */
static uint64_t awaited_lane(
	struct vpt_kineto_rows *r, const struct vpt_kineto_event *e, int64_t stream)
{
	if (!vpt_kineto_member(e->args, "wait_on_device"))
		return vpt_kineto_stream_lane(
			r, e, vpt_kineto_optional_id(r, e->args, "device"), stream);
	return vpt_kineto_context_lane(r, e, vpt_kineto_optional_id(r, e->args, "wait_on_device"),
		vpt_kineto_natural(r, e->args, "wait_on_context"), stream);
}

/* ---- events that only waits tell of ---- */

struct vpt_kineto_record {
	uint64_t lane;        /* of the stream */
	uint64_t correlation; /* of the call that records it */
	uint64_t event, time_ns;
};

/* Of the call's time nothing is known but that it was before the wait. */
static void note_record(struct vpt_kineto_rows *r, const struct vpt_sync *s, uint64_t correlation)
{
	struct vpt_kineto_records *w = &r->records;

	if (w->are_written)
		return;
	if (vpt_grow(&w->items, &w->cap, w->count + 1, sizeof(*w->items))) {
		r->no_memory = 1;
		return;
	}
	w->items[w->count++] =
		(struct vpt_kineto_record){s->stream, correlation, s->event, s->start_ns};
}

static int by_record(const void *a, const void *b)
{
	const struct vpt_kineto_record *x = a, *y = b;

	if (x->correlation != y->correlation)
		return x->correlation < y->correlation ? -1 : 1;
	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

void vpt_kineto_records_end(struct vpt_kineto_rows *r)
{
	struct vpt_kineto_records *w = &r->records;
	size_t i;

	if (w->are_written || !w->count)
		return;
	qsort(w->items, w->count, sizeof(*w->items), by_record);
	for (i = 0; i < w->count; i++) {
		const struct vpt_kineto_record *x = &w->items[i];

		if (i && x->correlation == x[-1].correlation && x->lane == x[-1].lane)
			continue;
		vpt_collect_put(r->collect, VPT_EVENT, x->lane,
			&(struct vpt_event){.time_ns = x->time_ns,
				.event = x->event,
				.correlation = x->correlation,
				.sync_id = x->correlation});
	}
}

void vpt_kineto_records_free(struct vpt_kineto_records *w)
{
	vpt_free(w->items);
	*w = (struct vpt_kineto_records){0};
}

int vpt_kineto_put_sync(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	struct vpt_sync s = {.start_ns = e->start_ns, .duration_ns = e->duration_ns};
	struct vpt_text kind = vpt_kineto_text(vpt_kineto_member(e->args, "cuda_sync_kind"));
	int64_t other = vpt_kineto_optional_id(r, e->args, "wait_on_stream");
	int64_t record = vpt_kineto_optional_id(r, e->args, "wait_on_cuda_event_record_corr_id");
	uint64_t lane = waiting_lane(r, e);

	s.sync_kind = look_up(sync_kinds, kind.text ? kind : e->name);
	s.correlation = vpt_kineto_natural(r, e->args, "correlation");
	s.context = vpt_kineto_natural(r, e->args,
		vpt_kineto_member(e->args, "sync context") ? "sync context" : "context");
	s.event = (uint64_t)(vpt_kineto_optional_id(r, e->args, "wait_on_cuda_event_id") + 1);
	s.sync_id = vpt_kineto_natural(r, e->args, "cuda_event_sync_id");
	if (other >= 0)
		s.stream = awaited_lane(r, e, other);
	if (!s.sync_id && record > 0) {
		s.sync_id = (uint64_t)record;
		if (s.stream)
			note_record(r, &s, s.sync_id);
	}
	if (other < 0 && s.sync_kind == VPT_SYNCKIND_STREAM)
		s.stream = lane;
	vpt_collect_put(r->collect, VPT_SYNC, lane, &s);
	return 1;
}

int vpt_kineto_put_overhead(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	struct vpt_overhead o = {.start_ns = e->start_ns, .duration_ns = e->duration_ns};

	o.overhead_kind = look_up(overhead_kinds, e->name);
	o.correlation = vpt_kineto_natural(r, e->args, "correlation");
	vpt_collect_put(r->collect, VPT_OVERHEAD, waiting_lane(r, e), &o);
	return 1;
}

/* Puts the recording of an event on a stream. Waits refer to it by the recording call. */
int vpt_kineto_put_record(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	struct vpt_event v = {.time_ns = e->start_ns};
	int64_t device, stream;

	if (!vpt_kineto_device_of(r, e, &device) || !vpt_kineto_stream_of(r, e, &stream))
		return 0;
	r->records.are_written = 1;
	v.event = (uint64_t)(vpt_kineto_optional_id(r, e->args, "event_id") + 1);
	v.correlation = vpt_kineto_natural(r, e->args, "correlation");
	v.sync_id = vpt_kineto_member(e->args, "cuda_event_sync_id")
			    ? vpt_kineto_natural(r, e->args, "cuda_event_sync_id")
			    : v.correlation;
	vpt_collect_put(r->collect, VPT_EVENT, vpt_kineto_stream_lane(r, e, device, stream), &v);
	return 1;
}
