/* chunk_edge.c - two lists of events: open at the cut, held over. */
#include "tracer/chunk_edge.h"

#include "formats/memory.h"
#include "tracer/clock.h"
#include "tracer/event_rows.h"

#include <string.h>

struct vtr_edge_event {
	struct vtr_event event;
	unsigned char blob[VTR_BLOB_MAX];
	int ended; /* it came out of a ring after all */
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
	e->ended = 0;
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
	uint64_t time_ns = event->type == VTR_EVENT_RANGE ? event->end_ns : event->start_ns;
	size_t i;

	vtr_recorder_bound(e->recorder);
	if (e->closing && time_ns > e->cut_ns && !append(&e->held, event))
		return;
	vtr_event_put(e->recorder, event);
	for (i = 0; e->closing && i < e->open.count; i++)
		e->open.events[i].ended |= same_range(&e->open.events[i].event, event);
}

void vtr_edge_put_held(struct vtr_edge *e)
{
	size_t i;

	for (i = 0; i < e->held.count; i++)
		vtr_event_put(e->recorder, event_of(&e->held.events[i]));
	e->held.count = 0;
}

/* Rings are drained as a whole: a chunk that ended in between would drain them again, from
 * within. */
size_t vtr_edge_drain(struct vtr_edge *e)
{
	size_t drained;

	e->draining = 1;
	if (!e->closing)
		vtr_edge_put_held(e);
	drained = vtr_threads_drain(take_event, e);
	e->draining = 0;
	return drained;
}

static int was_open(const struct vtr_edge *e, const struct vtr_event *event)
{
	size_t i;

	for (i = 0; i < e->open.count; i++)
		if (same_range(&e->open.events[i].event, event))
			return 1;
	return 0;
}

void vtr_edge_close(struct vtr_edge *e)
{
	size_t i;

	e->open.count = 0;
	vtr_edge_put_held(e);
	e->cut_ns = vtr_now();
	vtr_threads_open(take_open, e);
	if (!e->draining) {
		e->closing = 1;
		vtr_edge_drain(e);
		e->closing = 0;
	}
	for (i = 0; i < e->open.count; i++) {
		struct vtr_edge_event *open = &e->open.events[i];

		if (!open->ended && open->event.start_ns <= e->cut_ns)
			vtr_event_put_open(e->recorder, event_of(open));
	}
	/* Open at the cut, but ended before its stack was copied. */
	for (i = 0; i < e->held.count; i++) {
		struct vtr_edge_event *held = &e->held.events[i];

		if (held->event.type == VTR_EVENT_RANGE && held->event.start_ns <= e->cut_ns &&
			!was_open(e, &held->event))
			vtr_event_put_open(e->recorder, event_of(held));
	}
}

void vtr_edge_end_open(struct vtr_edge *e, uint64_t stop_ns)
{
	struct vtr_edge_list open;
	size_t i;

	e->open.count = 0;
	vtr_threads_open(take_open, e);
	/* Away from here: the end of a chunk in between makes another list. */
	open = e->open;
	e->open = (struct vtr_edge_list){0};
	for (i = 0; i < open.count; i++) {
		struct vtr_event *event = event_of(&open.events[i]);

		if (!event->start_ns)
			continue;
		event->end_ns = stop_ns > event->start_ns ? stop_ns : event->start_ns;
		event->unmatched = 1;
		vtr_recorder_room(e->recorder);
		vtr_event_put(e->recorder, event);
	}
	vpt_free(open.events);
}

void vtr_edge_free(struct vtr_edge *e)
{
	vpt_free(e->open.events);
	vpt_free(e->held.events);
}
