/* cupti_graphs.c - launches of graphs, and ops that are nodes. */
#include "tracer/cupti/records/cupti_records.h"

#include "formats/calls.h"

#include <stddef.h>
#include <string.h>

/* By kind of op: the offset of the node in its record; 0: no op. */
static const uint16_t nodes[VTR_KINDS] = {
	[VTR_KIND_KERNEL] = offsetof(struct vtr_record_kernel, graph_node),
	[VTR_KIND_CONCURRENT_KERNEL] = offsetof(struct vtr_record_kernel, graph_node),
	[VTR_KIND_MEMCPY] = offsetof(struct vtr_record_memcpy, graph_node),
	[VTR_KIND_MEMCPY2] = offsetof(struct vtr_record_peer, graph_node),
	[VTR_KIND_MEMSET] = offsetof(struct vtr_record_memset, graph_node),
};

void vtr_graphs_begin(struct vtr_graphs *g, int is_enabled)
{
	int as_a_whole = g->as_a_whole;

	memset(g, 0, sizeof(*g));
	g->as_a_whole = as_a_whole || is_enabled;
	g->suspect = as_a_whole && !is_enabled;
}

static void note_op(struct vtr_graphs *g, const uint8_t *record, uint32_t kind, size_t size)
{
	uint64_t node = 0;

	if (nodes[kind] + sizeof(node) <= size)
		memcpy(&node, record + nodes[kind], sizeof(node));
	g->has_nodes |= node != 0;
}

static void note_call(struct vtr_graphs *g, const struct vtr_calls *calls,
	const struct vtr_record_call *c, uint32_t domain)
{
	const struct vtr_call *call = vtr_calls_find(calls, domain, c->cbid);

	if (!call || c->result || vpt_call_class(call->number) != VPT_CALL_GRAPH_LAUNCH)
		return;
	if (!g->whole++ || c->start < g->since_ns)
		g->since_ns = c->start;
}

void vtr_graphs_buffer(struct vtr_graphs *g, const struct vtr_sizes *sizes,
	const struct vtr_calls *calls, const struct vtr_full *full)
{
	const uint8_t *record = full->data, *end = record + full->valid_bytes;
	size_t size;
	uint32_t kind;

	for (; (size = vtr_sizes_of_record(sizes, record, (size_t)(end - record), &kind));
		record += size) {
		if (nodes[kind])
			note_op(g, record, kind, size);
		else if (kind == VTR_KIND_RUNTIME)
			note_call(g, calls, (const void *)record, VTR_DOMAIN_RUNTIME);
		else if (kind == VTR_KIND_DRIVER)
			note_call(g, calls, (const void *)record, VTR_DOMAIN_DRIVER);
	}
}

const char *vtr_graphs_failure(const struct vtr_graphs *g)
{
	return g->suspect && g->whole && !g->has_nodes
		       ? "an earlier capture of this process used the profile coarse, and CUPTI "
			 "still does not record graph nodes: the work of graphs is missing. "
			 "Record the two in separate processes"
		       : NULL;
}

void vtr_graphs_put(const struct vtr_graphs *g, struct vtr_recorder *r, uint64_t stop_ns)
{
	const char *why = vtr_graphs_failure(g);

	if (!why)
		return;
	vtr_recorder_fact(r, VPT_METADATA_CUPTI_FAILURE, why);
	vtr_recorder_room(r);
	vtr_recorder_loss(r, NULL, VPT_LOSSKIND_UNKNOWN, g->since_ns, stop_ns, 0);
}
