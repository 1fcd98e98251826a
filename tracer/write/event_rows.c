/* event_rows.c - one function for each kind of event; names and payloads become strings of the open
 * chunk. */
#include "tracer/write/writer_sources.h"

#include "tracer/nvtx/nvtx_layouts.h"
#include "tracer/ranges/words/range_note.h"

#include <string.h>

struct payload {
	uint64_t type, value, schema;
};

/* A payload whose layout the host registered, as text; else 0. */
static size_t text_of_layout(const struct vtr_payload *p, uint32_t domain, char *out)
{
	return p->type == VPT_PAYLOAD_BLOB
		       ? vtr_nvtx_payload_text(p->schema, domain, p->blob, p->bytes, out)
		       : 0;
}

static struct payload take_payload(
	struct vtr_recorder *r, const struct vtr_payload *p, uint32_t domain)
{
	struct payload out = {.type = p->type, .value = p->value};
	char text[VTR_LAYOUT_TEXT_MAX];
	struct vptrace_note note;
	size_t len;

	if (p->type != VPT_PAYLOAD_BLOB && p->type != VPT_PAYLOAD_JSON)
		return out;
	if (p->type == VPT_PAYLOAD_BLOB && p->schema == VTR_SCHEMA_NOTE &&
		p->bytes >= sizeof(note)) {
		memcpy(&note, p->blob, sizeof(note));
		len = vtr_note_text(&note, text);
		out.type = len ? VPT_PAYLOAD_JSON : VPT_PAYLOAD_NONE;
		out.value = vpt_batch_string(vtr_recorder_batch(r), text, len);
		return out;
	}
	len = text_of_layout(p, domain, text);
	out.type = len ? VPT_PAYLOAD_JSON : p->type;
	out.value =
		vpt_batch_string(vtr_recorder_batch(r), len ? text : p->blob, len ? len : p->bytes);
	out.schema = p->schema;
	return out;
}

static void put_range(struct vtr_recorder *r, const struct vtr_event *e)
{
	struct vtr_lane *lane = vtr_recorder_thread(r, e->tid);
	struct payload payload = take_payload(r, &e->payload, e->domain);
	uint64_t start_ns = e->start_ns;
	int is_cut = e->end_ns > start_ns ? vtr_recorder_cut(r, &start_ns, e->end_ns) : 0;
	struct vpt_range row = {.start_ns = start_ns,
		.duration_ns = e->end_ns - start_ns,
		.range_kind = e->range_kind,
		.name = vtr_recorder_name(r, e->name),
		.domain = vtr_recorder_name(r, e->domain),
		.category = e->category,
		.colour = e->colour,
		.payload = payload.type,
		.value = payload.value,
		.schema = payload.schema,
		.unmatched = e->unmatched || is_cut > 0};

	if (e->end_tid && e->end_tid != e->tid) {
		struct vtr_lane *end = vtr_recorder_thread(r, e->end_tid);

		vtr_recorder_refer(r, end);
		row.end_thread = end->key;
	}
	if (vtr_recorder_put(r, VPT_RANGE, lane, &row) && e->end_ns < e->start_ns)
		vtr_recorder_invalid(r, lane);
}

static void put_mark(struct vtr_recorder *r, const struct vtr_event *e)
{
	struct payload payload = take_payload(r, &e->payload, e->domain);
	struct vpt_mark row = {.time_ns = e->start_ns,
		.name = vtr_recorder_name(r, e->name),
		.domain = vtr_recorder_name(r, e->domain),
		.category = e->category,
		.colour = e->colour,
		.payload = payload.type,
		.value = payload.value,
		.schema = payload.schema};

	vtr_recorder_put(r, VPT_MARK, vtr_recorder_thread(r, e->tid), &row);
}

static void put_counter(struct vtr_recorder *r, const struct vtr_event *e)
{
	struct vpt_counter row = {.time_ns = e->start_ns, .value = e->payload.value};

	vtr_recorder_put(r, VPT_COUNTER, vtr_recorder_series(r, -1, e->name, e->domain), &row);
}

static void put_graph(struct vtr_recorder *r, const struct vtr_event *e)
{
	struct vpt_graph row = {.time_ns = e->start_ns,
		.graph_op = e->graph_op,
		.graph = e->graph,
		.node = e->node,
		.origin = e->origin,
		.range = vtr_recorder_name(r, e->name)};

	vtr_recorder_put(r, VPT_GRAPH, vtr_recorder_thread(r, e->tid), &row);
}

void vtr_event_put(struct vtr_recorder *r, const struct vtr_event *e)
{
	switch (e->type) {
	case VTR_EVENT_RANGE:
		put_range(r, e);
		break;
	case VTR_EVENT_MARK:
		put_mark(r, e);
		break;
	case VTR_EVENT_COUNTER:
		put_counter(r, e);
		break;
	case VTR_EVENT_GRAPH:
		put_graph(r, e);
		break;
	}
}

void vtr_event_put_open(struct vtr_recorder *r, const struct vtr_event *e)
{
	struct vtr_lane *lane = vtr_recorder_thread(r, e->tid);
	struct payload payload = take_payload(r, &e->payload, e->domain);
	uint64_t start_ns = e->start_ns;
	struct vpt_open row = {.lane = lane->key,
		.name = vtr_recorder_name(r, e->name),
		.domain = vtr_recorder_name(r, e->domain),
		.range_kind = e->range_kind,
		.payload = payload.type,
		.value = payload.value};

	if (vtr_recorder_cut(r, &start_ns, UINT64_MAX) < 0)
		return;
	row.start_ns = start_ns;
	vtr_recorder_refer(r, lane);
	vpt_batch_put(vtr_recorder_batch(r), VPT_OPEN, 0, &row);
}
