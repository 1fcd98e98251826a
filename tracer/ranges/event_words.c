/* event_words.c - encodes events as words of a ring, and decodes them. */
#include "tracer/ranges/event_words.h"

#include "formats/event_schema.h"

static uint64_t pair(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

void vtr_words_put(struct vtr_ring *ring, uint64_t at, uint64_t header, const struct vtr_event *e)
{
	unsigned i, count = vtr_words_blob(header);

	vtr_ring_set(ring, at++, header);
	vtr_ring_set(ring, at++, e->start_ns);
	if (e->type == VTR_EVENT_GRAPH) {
		vtr_ring_set(ring, at++, pair(e->name, e->graph_op));
		vtr_ring_set(ring, at++, e->graph);
		vtr_ring_set(ring, at++, e->node);
		vtr_ring_set(ring, at++, e->origin);
		return;
	}
	if (e->type == VTR_EVENT_RANGE)
		vtr_ring_set(ring, at++, e->end_ns);
	vtr_ring_set(ring, at++, pair(e->name, e->domain));
	if (header & VTR_WORDS_LOOK)
		vtr_ring_set(ring, at++, pair(e->category, e->colour));
	if (header & VTR_WORDS_OPENER)
		vtr_ring_set(ring, at++, e->tid);
	if (!vtr_words_payload(header))
		return;
	vtr_ring_set(ring, at++, count ? e->payload.schema : e->payload.value);
	for (i = 0; i < count; i++)
		vtr_ring_set(ring, at++, vtr_words_load(e->payload.blob, 8 * i, e->payload.bytes));
}

static void get_payload(const struct vtr_ring *ring, uint64_t at, uint64_t header,
	struct vtr_payload *p, uint64_t blob[VTR_BLOB_WORDS])
{
	unsigned i, count = vtr_words_blob(header);

	p->type = vtr_words_payload(header);
	if (!p->type)
		return;
	p->bytes = (uint32_t)(header >> 16 & 0xffff);
	if (!count) {
		p->value = vtr_ring_get(ring, at);
		return;
	}
	p->schema = vtr_ring_get(ring, at++);
	for (i = 0; i < count && i < VTR_BLOB_WORDS; i++)
		blob[i] = vtr_ring_get(ring, at++);
	p->blob = blob;
}

void vtr_words_get(const struct vtr_ring *ring, uint64_t at, uint32_t tid, struct vtr_event *e,
	uint64_t blob[VTR_BLOB_WORDS])
{
	uint64_t header = vtr_ring_get(ring, at++), word;

	memset(e, 0, sizeof(*e));
	e->type = (enum vtr_event_type)(header & 7);
	e->tid = e->end_tid = tid;
	e->unmatched = !!(header & VTR_WORDS_UNMATCHED);
	e->start_ns = vtr_ring_get(ring, at++);
	if (e->type == VTR_EVENT_RANGE)
		e->end_ns = vtr_ring_get(ring, at++);
	word = vtr_ring_get(ring, at++);
	e->name = (uint32_t)(word >> 32);
	if (e->type == VTR_EVENT_GRAPH) {
		e->graph_op = (uint32_t)word;
		e->graph = vtr_ring_get(ring, at++);
		e->node = vtr_ring_get(ring, at++);
		e->origin = vtr_ring_get(ring, at);
		return;
	}
	e->domain = (uint32_t)word;
	if (header & VTR_WORDS_LOOK) {
		word = vtr_ring_get(ring, at++);
		e->category = (uint32_t)(word >> 32);
		e->colour = (uint32_t)word;
	}
	if (header & VTR_WORDS_OPENER) {
		e->range_kind = VPT_RANGEKIND_START_END;
		e->tid = (uint32_t)vtr_ring_get(ring, at++);
	}
	get_payload(ring, at, header, &e->payload, blob);
}
