/* chunk_edge.c - two lists of ranges: open when the stacks were copied, and open at the cut but not
 * when they were copied. */
#include "tracer/write/writer_sources.h"

#include "formats/base/memory.h"
#include "tracer/clock/capture_clock.h"
#include "tracer/ranges/epoch.h"

#include <string.h>

/* More than threads make while the writer sleeps; after that, mail and buffers get a turn. */
enum { EVENTS_A_ROUND = 1 << 16 };

struct vtr_edge_event {
	struct vtr_event event;
	unsigned char blob[VTR_BLOB_MAX];
};

static int same_range(const struct vtr_event *a, const struct vtr_event *b)
{
	return a->type == b->type && a->tid == b->tid && a->start_ns == b->start_ns &&
	       a->name == b->name && a->domain == b->domain && a->range_kind == b->range_kind;
}

static int append(struct vtr_edge_list *list, const struct vtr_event *event)
{
	struct vtr_edge_event *e;

	if (vpt_grow(&list->events, &list->cap, list->count + 1, sizeof(*list->events)))
		return VPT_ENOMEM;
	e = &list->events[list->count++];
	e->event = *event;
	if (event->payload.blob) {
		e->event.payload.bytes =
			event->payload.bytes < VTR_BLOB_MAX ? event->payload.bytes : VTR_BLOB_MAX;
		memcpy(e->blob, event->payload.blob, e->event.payload.bytes);
	}
	return VPT_OK;
}

/* With its payload, which may have moved with the list. */
static struct vtr_event *event_of(struct vtr_edge_event *e)
{
	if (e->event.payload.blob)
		e->event.payload.blob = e->blob;
	return &e->event;
}

static void take_open(void *ctx, const struct vtr_event *event)
{
	struct vtr_edge *e = ctx;

	append(&e->open, event);
}

static void take_event(void *ctx, const struct vtr_event *event)
{
	struct vtr_edge *e = ctx;

	vtr_recorder_bound(e->recorder);
	vtr_event_put(e->recorder, event);
	if (e->seen)
		e->seen(e->seen_ctx, event);
}

/* The event is in no row yet. If its range ended before its stack was copied, this is the only sign
 * of it. */
static void see_event(void *ctx, const struct vtr_event *event)
{
	struct vtr_edge *e = ctx;

	if (event->type == VTR_EVENT_RANGE && event->start_ns < e->cut_ns)
		append(&e->late, event);
}

int vtr_edge_drain(struct vtr_edge *e, uint64_t now_ns, size_t *drained)
{
	struct vtr_drain how = {.take = take_event, .ctx = e};
	size_t room, count;

	/* A clock that was set back: nothing may wait until it is where it was. */
	how.cut_ns = now_ns < e->cut_ns ? UINT64_MAX : now_ns;
	now_ns = how.cut_ns;
	for (*drained = 0; *drained < EVENTS_A_ROUND; *drained += count) {
		room = vtr_recorder_space(e->recorder);
		how.cut_ns =
			vtr_threads_reach(now_ns, room < EVENTS_A_ROUND ? room : EVENTS_A_ROUND);
		e->cut_ns = how.cut_ns;
		vtr_threads_drain_some(&how, &count);
		e->done_ns = how.cut_ns;
		if (how.cut_ns == now_ns) {
			*drained += count;
			break;
		}
	}
	if (now_ns == UINT64_MAX)
		e->done_ns = e->cut_ns = vtr_now();
	return how.cut_ns == now_ns;
}

static int is_in(const struct vtr_edge_list *list, const struct vtr_event *event)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (same_range(&list->events[i].event, event))
			return 1;
	return 0;
}

void vtr_edge_close(struct vtr_edge *e)
{
	size_t i;

	e->open.count = e->late.count = 0;
	vtr_threads_open(take_open, e);
	vtr_threads_look(see_event, e);
	for (i = 0; i < e->open.count; i++)
		if (e->open.events[i].event.start_ns < e->cut_ns)
			vtr_event_put_open(e->recorder, event_of(&e->open.events[i]));
	for (i = 0; i < e->late.count; i++)
		if (!is_in(&e->open, &e->late.events[i].event))
			vtr_event_put_open(e->recorder, event_of(&e->late.events[i]));
}

/* The last look at the rings, after the last copy of the stacks. */
struct ending {
	struct vtr_edge *edge;
	struct vtr_edge_list ended; /* ranges of this look */
};

static void take_last(void *ctx, const struct vtr_event *event)
{
	struct ending *ending = ctx;

	if (event->type == VTR_EVENT_RANGE)
		append(&ending->ended, event);
	take_event(ending->edge, event);
}

static void end_open(struct vtr_edge *e, struct vtr_event *event, uint64_t stop_ns)
{
	if (!event->start_ns)
		return;
	event->end_ns = stop_ns > event->start_ns ? stop_ns : event->start_ns;
	event->unmatched = 1;
	vtr_recorder_room(e->recorder);
	vtr_event_put(e->recorder, event);
}

void vtr_edge_end_open(struct vtr_edge *e, uint64_t stop_ns)
{
	struct ending ending = {.edge = e};
	struct vtr_edge_list open;
	size_t i, left_out;

	e->open.count = 0;
	left_out = vtr_threads_open(take_open, e);
	/* Take the list first: the end of a chunk in between builds a new one. */
	open = e->open;
	e->open = (struct vtr_edge_list){0};
	vtr_threads_drain(take_last, &ending);
	for (i = 0; i < open.count; i++)
		if (!is_in(&ending.ended, &open.events[i].event))
			end_open(e, event_of(&open.events[i]), stop_ns);
	if (left_out)
		vtr_recorder_loss(e->recorder, NULL, VPT_LOSSKIND_RING_FULL,
			atomic_load(&vtr_capture_start_ns), stop_ns, left_out);
	vpt_free(open.events);
	vpt_free(ending.ended.events);
}

void vtr_edge_free(struct vtr_edge *e)
{
	vpt_free(e->open.events);
	vpt_free(e->late.events);
}
