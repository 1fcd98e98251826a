/* export_ops.c - kernels, copies and memsets, from the chunks' rows into one order.
 *
 * Rows of all streams wait here until no earlier one can come, then leave in order of start. */
#include "analysis/export_ops.h"

#include "formats/memory.h"

#include <stdlib.h>
#include <string.h>

int vpa_ex_ops_new(struct vpa_export *x)
{
	x->ops = vpt_calloc(1, sizeof(*x->ops));
	return x->ops ? VPT_OK : VPT_ENOMEM;
}

void vpa_ex_ops_free(struct vpa_export *x)
{
	struct vpa_ex_ops *o = x->ops;

	if (!o)
		return;
	vpt_free(o->items);
	vpt_strings_free(&o->shapes);
	vpt_free(o->shape_of);
	vpa_index_free(&o->tail_index);
	vpt_free(o->tails);
	vpt_pb_free(&o->encoded);
	vpt_strings_free(&o->kernels);
	vpt_free(o->copy_names);
	vpt_free(o->streams);
	vpt_free(o->contexts);
	vpt_free(o->context_pids);
	vpt_free(o->context_ids);
	vpt_free(o);
}

/* ---- rows in ---- */

static uint32_t saturated(uint64_t value)
{
	return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static int put_shape(struct vpa_ex_ops *o, const struct vpa_ex_shape *shape, uint32_t *out)
{
	uint64_t id = vpt_strings_put(&o->shapes, (const char *)shape, sizeof(*shape));

	*out = (uint32_t)id;
	return id >= UINT32_MAX ? VPT_ENOMEM : VPT_OK;
}

/* The shape of a row of CONFIG, which may not be there. */
static int config_shape(
	struct vpa_export *x, const struct vpt_batch *b, uint64_t row, uint32_t *out)
{
	struct vpa_ex_ops *o = x->ops;
	const struct vpt_section *s = vpt_batch_find(b, VPT_CONFIG);
	struct vpa_config_entry entry = {0};
	struct vpa_ex_shape shape = {.kind = VPA_KERNEL};
	unsigned i;

	if (row < o->shape_count && o->shape_of[row]) {
		*out = o->shape_of[row] - 1;
		return VPT_OK;
	}
	if (vpa_maps_new_config(x->view.resolver, row, &entry))
		return VPT_ENOMEM;
	shape.kernel = entry.kernel;
	if (s && row < s->row_count) {
		for (i = 0; i < 3; i++) {
			shape.grid[i] = saturated(s->col[VPT_CONFIG_GRID_X + i][row]);
			shape.block[i] = saturated(s->col[VPT_CONFIG_BLOCK_X + i][row]);
			shape.cluster[i] = saturated(s->col[VPT_CONFIG_CLUSTER_X + i][row]);
		}
		shape.static_shared = saturated(s->col[VPT_CONFIG_STATIC_SHARED][row]);
		shape.dynamic_shared = saturated(s->col[VPT_CONFIG_DYNAMIC_SHARED][row]);
		shape.registers = saturated(s->col[VPT_CONFIG_REGISTERS][row]);
		shape.local = saturated(s->col[VPT_CONFIG_LOCAL][row]);
		shape.graph = saturated(s->col[VPT_CONFIG_GRAPH][row]);
	}
	if (put_shape(o, &shape, out))
		return VPT_ENOMEM;
	if (row < o->shape_count)
		o->shape_of[row] = *out + 1;
	return VPT_OK;
}

static int copy_shape(
	struct vpa_export *x, const struct vpt_section *s, uint32_t row, uint32_t *out)
{
	struct vpa_ex_shape shape = {.copy_kind = saturated(s->col[VPT_COPY_COPY_KIND][row]),
		.source = saturated(s->col[VPT_COPY_SOURCE_MEMORY][row]),
		.target = saturated(s->col[VPT_COPY_TARGET_MEMORY][row])};

	shape.kind = shape.copy_kind == VPT_COPYKIND_MEMSET ? VPA_MEMSET : VPA_MEMCPY;
	if (shape.kind == VPA_MEMSET)
		shape.value = saturated(s->col[VPT_COPY_VALUE][row]);
	return put_shape(x->ops, &shape, out);
}

static int begin_chunk(struct vpa_export *x, const struct vpt_batch *b)
{
	struct vpa_ex_ops *o = x->ops;
	const struct vpt_section *s = vpt_batch_find(b, VPT_CONFIG);

	if (o->batch == b && o->shape_count)
		return VPT_OK;
	o->batch = b;
	o->shape_count = s ? s->row_count : 0;
	if (vpt_grow(&o->shape_of, &o->shape_cap, o->shape_count, sizeof(*o->shape_of)))
		return VPT_ENOMEM;
	if (o->shape_count)
		memset(o->shape_of, 0, o->shape_count * sizeof(*o->shape_of));
	return VPT_OK;
}

/* An op as the resolver shows it: clipped to the window. Returns whether there is something to show. */
static int clip(const struct vpa_model *m, struct vpa_ex_op *op)
{
	int has_length = op->end_ns != op->start_ns;

	if (!op->start_ns || op->end_ns < op->start_ns || op->start_ns > m->window_end_ns ||
		op->end_ns < m->window_start_ns)
		return 0;
	if (op->start_ns < m->window_start_ns)
		op->start_ns = m->window_start_ns;
	if (op->end_ns > m->window_end_ns)
		op->end_ns = m->window_end_ns;
	return !has_length || op->end_ns > op->start_ns;
}

int vpa_ex_ops_add(struct vpa_export *x, const struct vpt_batch *b, const struct vpt_section *s)
{
	struct vpa_ex_ops *o = x->ops;
	int is_kernel = s->kind == VPT_KERNEL;
	uint32_t row, stream;
	int rc = begin_chunk(x, b);

	if (!rc)
		rc = vpa_maps_stream(x->view.resolver, s->lane, &stream);
	if (rc || vpt_grow(&o->items, &o->cap, o->count + s->row_count, sizeof(*o->items)))
		return VPT_ENOMEM;
	for (row = 0; row < s->row_count && !rc; row++) {
		struct vpa_ex_op op = {.start_ns = s->col[0][row],
			.end_ns = s->col[0][row] + s->col[1][row],
			.stream = stream};

		if (!clip(x->model, &op))
			continue;
		if (is_kernel) {
			op.correlation = s->col[VPT_KERNEL_CORRELATION][row];
			op.node = s->col[VPT_KERNEL_GRAPH_NODE][row];
			rc = config_shape(x, b, s->col[VPT_KERNEL_CONFIG][row], &op.shape);
		} else {
			op.correlation = s->col[VPT_COPY_CORRELATION][row];
			op.node = s->col[VPT_COPY_GRAPH_NODE][row];
			op.bytes = s->col[VPT_COPY_BYTES][row];
			rc = copy_shape(x, s, row, &op.shape);
		}
		o->items[o->count++] = op;
	}
	return rc;
}

/* ---- lanes ---- */

struct vpa_ex_stream *vpa_ex_stream_of(struct vpa_ex_ops *o, uint32_t stream)
{
	size_t before = o->stream_cap;

	if (vpt_grow(&o->streams, &o->stream_cap, (size_t)stream + 1, sizeof(*o->streams)))
		return NULL;
	if (o->stream_cap > before)
		memset(o->streams + before, 0, (o->stream_cap - before) * sizeof(*o->streams));
	return &o->streams[stream];
}

int vpa_ex_ops_lanes(struct vpa_export *x, const struct vpt_batch *b)
{
	const struct vpt_section *s = vpt_batch_find(b, VPT_LANE);
	struct vpa_ex_stream *stream;
	uint32_t row, index;

	for (row = 0; s && row < s->row_count; row++) {
		struct vpt_text name = vpt_batch_text(b, s->col[VPT_LANE_NAME][row]);

		if (s->col[VPT_LANE_LANE_TYPE][row] != VPT_LANETYPE_STREAM)
			continue;
		if (vpa_maps_stream(x->view.resolver, s->col[VPT_LANE_KEY][row], &index))
			return VPT_ENOMEM;
		stream = vpa_ex_stream_of(x->ops, index);
		if (!stream)
			return VPT_ENOMEM;
		stream->described = 1;
		stream->priority = (int64_t)s->col[VPT_LANE_PRIORITY][row];
		stream->flags = s->col[VPT_LANE_FLAGS][row];
		stream->name = vpa_ex_text(x, name.text, name.len);
	}
	return VPT_OK;
}

/* ---- order ---- */

static int compare_ops(const void *pa, const void *pb)
{
	const struct vpa_ex_op *a = pa, *b = pb;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	if (a->correlation != b->correlation)
		return a->correlation < b->correlation ? -1 : 1;
	return a->end_ns < b->end_ns ? -1 : a->end_ns > b->end_ns;
}

static void sort_ops(struct vpa_ex_ops *o)
{
	size_t i = o->begin + 1;

	while (i < o->count && compare_ops(&o->items[i - 1], &o->items[i]) <= 0)
		i++;
	if (i < o->count)
		qsort(o->items + o->begin, o->count - o->begin, sizeof(*o->items), compare_ops);
}

int vpa_ex_ops_release(struct vpa_export *x, uint64_t until_ns)
{
	struct vpa_ex_ops *o = x->ops;
	int rc = VPT_OK;

	sort_ops(o);
	o->shape_count = 0; /* the next chunk numbers its own */
	while (o->begin < o->count && o->items[o->begin].start_ns < until_ns && !rc)
		rc = vpa_ex_op_write(x, &o->items[o->begin++]);
	o->count -= o->begin;
	if (o->count)
		memmove(o->items, o->items + o->begin, o->count * sizeof(*o->items));
	o->begin = 0;
	return rc;
}
