/* captured_nodes.c - nodes of CUDA graphs by the range that created them. */
#include "analysis/folds/kernels/captured_nodes.h"

#include "formats/base/memory.h"

/* The node's row; VPA_NONE: no memory, or there are too many. */
static uint32_t row_of(struct vpa_captured *s, int64_t pid, uint64_t node)
{
	if (s->index.count >= VPA_CAPTURED_MAX)
		return vpa_index_find(&s->index, (uint64_t)pid, node);
	return vpa_index_row(
		&s->index, (uint64_t)pid, node, &s->nodes, &s->node_cap, sizeof(*s->nodes));
}

/* ---- threads ---- */

/* The model's number for a lane; VPA_NONE: it is none of a thread, or there is no memory. */
static uint32_t thread_of(struct vpa_captured *s, const struct vpa_model *m, uint64_t lane)
{
	while (s->threads.count < m->thread_count)
		if (vpa_index_put(&s->threads, m->threads[s->threads.count].key, 0) == UINT32_MAX)
			return VPA_NONE;
	return vpa_index_find(&s->threads, lane, 0);
}

/* Adds a node to those of its thread, which mostly come in order. */
static int add_created(struct vpa_captured *s, uint32_t thread, uint32_t row)
{
	struct vpa_captured_thread *t;
	size_t at;

	if (vpt_grow_zeroed(
		    &s->of_thread, &s->thread_cap, (size_t)thread + 1, sizeof(*s->of_thread)))
		return VPT_ENOMEM;
	t = &s->of_thread[thread];
	if (vpt_grow(&t->rows, &t->cap, t->count + 1, sizeof(*t->rows)))
		return VPT_ENOMEM;
	for (at = t->count++; at && s->nodes[t->rows[at - 1]].time_ns > s->nodes[row].time_ns; at--)
		t->rows[at] = t->rows[at - 1];
	t->rows[at] = row;
	return VPT_OK;
}

/* ---- rows of the trace ---- */

static int add_row(struct vpa_captured *s, const struct vpa_model *m, uint32_t thread,
	const struct vpt_section *section, size_t i)
{
	uint64_t op = section->col[VPT_GRAPH_GRAPH_OP][i], node = section->col[VPT_GRAPH_NODE][i];
	uint64_t origin = section->col[VPT_GRAPH_ORIGIN][i];
	int64_t pid = m->threads[thread].pid;
	uint32_t row, from;

	if ((op != VPT_GRAPHOP_NODE_CREATED && op != VPT_GRAPHOP_NODE_CLONED) || !node)
		return VPT_OK;
	row = row_of(s, pid, node);
	if (row == VPA_NONE)
		return s->index.count < VPA_CAPTURED_MAX ? VPT_ENOMEM : VPT_OK;
	/* The number of a node that is gone may be another's now. A clone is created too, before or after it is said to be one. */
	if (s->nodes[row].origin || (op == VPT_GRAPHOP_NODE_CREATED && s->nodes[row].time_ns))
		return VPT_OK;
	if (op == VPT_GRAPHOP_NODE_CREATED) {
		s->nodes[row].time_ns = section->col[VPT_GRAPH_TIME][i];
		return add_created(s, thread, row);
	}
	from = origin && origin != node ? row_of(s, pid, origin) : VPA_NONE;
	if (from != VPA_NONE)
		s->nodes[row].origin = 1 + from;
	return VPT_OK;
}

int vpa_captured_section(
	struct vpa_captured *s, const struct vpa_model *m, const struct vpt_section *section)
{
	uint32_t thread = thread_of(s, m, section->lane);
	size_t i;
	int rc = VPT_OK;

	for (i = 0; thread != VPA_NONE && i < section->row_count && !rc; i++)
		rc = add_row(s, m, thread, section, i);
	return rc;
}

int vpa_captured_ops(struct vpa_captured *s, const struct vpa_model *m, const struct vpa_ops *ops)
{
	size_t i;

	for (i = 0; s->index.count && i < ops->count; i++) {
		uint32_t row;

		if (!ops->graph_node[i])
			continue;
		row = vpa_index_find(
			&s->index, (uint64_t)m->streams[ops->stream[i]].pid, ops->graph_node[i]);
		if (row == UINT32_MAX)
			continue;
		s->nodes[row].ops++;
		s->nodes[row].gpu_ns += ops->end_ns[i] - ops->start_ns[i];
	}
	return VPT_OK;
}

void vpa_captured_range(struct vpa_captured *s, const struct vpa_range *range, uint32_t owner)
{
	struct vpa_captured_thread *t;
	size_t low = 0, high;

	if (range->thread >= s->thread_cap || !s->of_thread[range->thread].count)
		return;
	t = &s->of_thread[range->thread];
	/* The first node that was created in the range or later. */
	for (high = t->count; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (s->nodes[t->rows[middle]].time_ns < range->start_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < t->count && s->nodes[t->rows[low]].time_ns < range->end_ns; low++)
		if (!s->nodes[t->rows[low]].owner)
			s->nodes[t->rows[low]].owner = 1 + owner;
}

uint32_t vpa_captured_owner(const struct vpa_captured *s, size_t row)
{
	enum {
		COPIES_MAX = 16
	}; /* a graph is cloned, and that clone; a file may say it goes in a circle */
	const struct vpa_captured_node *n = &s->nodes[row];
	uint32_t owner = n->owner;
	unsigned i;

	/* Whoever is around the making of a clone made no work. */
	for (i = 0; n->origin && i < COPIES_MAX; i++) {
		n = &s->nodes[n->origin - 1];
		owner = n->owner ? n->owner : owner;
	}
	return owner ? owner - 1 : UINT32_MAX;
}

void vpa_captured_free(struct vpa_captured *s)
{
	size_t i;

	for (i = 0; i < s->thread_cap; i++)
		vpt_free(s->of_thread[i].rows);
	vpt_free(s->of_thread);
	vpt_free(s->nodes);
	vpa_index_free(&s->threads);
	vpa_index_free(&s->index);
}
