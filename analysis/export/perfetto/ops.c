/* ops.c - kernels, copies and memsets, from the chunks' rows into one order.
 *
 * Rows of all streams wait here until no earlier one can come, then leave in order of start. Those of a stream come in order, so
 * a few stretches are merged. */
#include "analysis/export/perfetto/ops.h"

#include "formats/memory.h"

#include <string.h>

int vpa_ex_ops_new(struct vpa_export *x)
{
	x->ops = vpt_calloc(1, sizeof(*x->ops));
	return x->ops ? VPT_OK : VPT_ENOMEM;
}

void vpa_ex_ops_free(struct vpa_export *x)
{
	struct vpa_ex_ops *o = x->ops;
	size_t i;

	if (!o)
		return;
	for (i = 0; i < o->stream_cap; i++)
		vpa_ex_track_free(&o->streams[i].slices);
	vpa_ex_waits_free(x);
	vpa_ex_syncs_free(x);
	vpt_free(o->items);
	vpt_free(o->spare);
	vpt_free(o->runs);
	vpt_strings_free(&o->shapes);
	vpt_free(o->shape_of);
	vpa_index_free(&o->nodes);
	vpt_free(o->shape_of_node);
	vpt_free(o->forms);
	vpt_pb_free(&o->encoded);
	vpt_strings_free(&o->variants);
	vpt_free(o->grids);
	vpa_index_free(&o->kernels);
	vpt_free(o->kernel_told);
	vpt_free(o->streams);
	vpt_free(o->contexts);
	vpt_free(o);
}

/* ---- shapes ---- */

static uint32_t saturated(uint64_t value)
{
	return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static int put_shape(struct vpa_ex_ops *o, const struct vpa_ex_shape *shape, uint32_t *out)
{
	size_t before = o->form_cap;
	uint64_t id = vpt_strings_put(&o->shapes, (const char *)shape, sizeof(*shape));

	*out = (uint32_t)id;
	if (id >= UINT32_MAX ||
		vpt_grow(&o->forms, &o->form_cap, (size_t)id + 1, sizeof(*o->forms)))
		return VPT_ENOMEM;
	if (o->form_cap > before)
		memset(o->forms + before, 0, (o->form_cap - before) * sizeof(*o->forms));
	return VPT_OK;
}

/* The shape of a row of CONFIG, which may not be there, outside of graphs. */
static int config_shape(struct vpa_export *x, const struct vpt_batch *b, uint64_t row,
	uint32_t stream, uint32_t *out)
{
	struct vpa_ex_ops *o = x->ops;
	const struct vpt_section *s = vpt_batch_find(b, VPT_CONFIG);
	struct vpa_config_entry entry = {0};
	struct vpa_ex_shape shape = {.kind = VPA_KERNEL, .stream = stream};
	unsigned i;

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

/* The same shape as a node of a graph. */
static int node_shape(struct vpa_ex_ops *o, uint64_t node, uint32_t *shape)
{
	size_t before = o->nodes.count;
	uint32_t row = vpa_index_put(&o->nodes, *shape, node);
	struct vpa_ex_shape s;

	if (row == UINT32_MAX || vpt_grow(&o->shape_of_node, &o->shape_of_node_cap, (size_t)row + 1,
					 sizeof(*o->shape_of_node)))
		return VPT_ENOMEM;
	if (o->nodes.count > before) {
		memcpy(&s, vpt_strings_get(&o->shapes, *shape).text, sizeof(s));
		s.node = node;
		if (put_shape(o, &s, &o->shape_of_node[row]))
			return VPT_ENOMEM;
	}
	*shape = o->shape_of_node[row];
	return VPT_OK;
}

static int copy_shape(struct vpa_export *x, const struct vpt_section *s, uint32_t row,
	uint32_t stream, uint32_t *out)
{
	struct vpa_ex_shape shape = {.node = s->col[VPT_COPY_GRAPH_NODE][row],
		.bytes = s->col[VPT_COPY_BYTES][row],
		.stream = stream,
		.copy_kind = saturated(s->col[VPT_COPY_COPY_KIND][row]),
		.source = saturated(s->col[VPT_COPY_SOURCE_MEMORY][row]),
		.target = saturated(s->col[VPT_COPY_TARGET_MEMORY][row])};

	shape.kind = shape.copy_kind == VPT_COPYKIND_MEMSET ? VPA_MEMSET : VPA_MEMCPY;
	if (shape.kind == VPA_MEMSET)
		shape.value = saturated(s->col[VPT_COPY_VALUE][row]);
	return put_shape(x->ops, &shape, out);
}

/* A trace of ever new shapes, nodes or sizes: begin anew with those that wait rather than grow. */
static int forget_shapes(struct vpa_ex_ops *o)
{
	enum { SHAPES_MAX = 1 << 18 };
	struct vpt_strings former = o->shapes;
	size_t i;
	int rc = VPT_OK;

	if (o->shapes.count < SHAPES_MAX)
		return VPT_OK;
	o->shapes = (struct vpt_strings){0};
	vpa_index_free(&o->nodes);
	vpt_pb_reset(&o->encoded);
	memset(o->forms, 0, o->form_cap * sizeof(*o->forms));
	for (i = 0; i < o->count && !rc; i++) {
		struct vpa_ex_shape s;

		memcpy(&s, vpt_strings_get(&former, o->items[i].shape).text, sizeof(s));
		rc = put_shape(o, &s, &o->items[i].shape);
	}
	vpt_strings_free(&former);
	return rc;
}

/* ---- rows in ---- */

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

/* Rows of CONFIG mean other shapes on another stream. */
static int begin_section(struct vpa_ex_ops *o, const struct vpt_batch *b)
{
	const struct vpt_section *s = vpt_batch_find(b, VPT_CONFIG);

	o->shape_count = s ? s->row_count : 0;
	if (vpt_grow(&o->shape_of, &o->shape_cap, o->shape_count, sizeof(*o->shape_of)))
		return VPT_ENOMEM;
	if (o->shape_count)
		memset(o->shape_of, 0, o->shape_count * sizeof(*o->shape_of));
	return VPT_OK;
}

static int begin_run(struct vpa_ex_ops *o)
{
	if (vpt_grow(&o->runs, &o->run_cap, o->run_count + 1, sizeof(*o->runs)))
		return VPT_ENOMEM;
	o->runs[o->run_count++] = o->count;
	return VPT_OK;
}

static inline int is_after(const struct vpa_ex_op *a, const struct vpa_ex_op *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns > b->start_ns;
	if (a->stream != b->stream)
		return a->stream > b->stream;
	if (a->correlation != b->correlation)
		return a->correlation > b->correlation;
	return a->end_ns > b->end_ns;
}

/* Takes the op that stands behind the others, to where it belongs in the newest run; begins another one if that is too far back. */
static int put_op(struct vpa_ex_ops *o)
{
	enum { BACK_MAX = 16 };
	size_t first = o->runs[o->run_count - 1], last = o->count, at = last;
	const struct vpa_ex_op *op = &o->items[last];

	while (at > first && last - at < BACK_MAX && is_after(&o->items[at - 1], op))
		at--;
	if (last - at == BACK_MAX) {
		if (begin_run(o))
			return VPT_ENOMEM;
	} else if (at < last) {
		struct vpa_ex_op moved = *op;

		memmove(o->items + at + 1, o->items + at, (last - at) * sizeof(moved));
		o->items[at] = moved;
	}
	o->count++;
	return VPT_OK;
}

int vpa_ex_ops_add(struct vpa_export *x, const struct vpt_batch *b, const struct vpt_section *s)
{
	struct vpa_ex_ops *o = x->ops;
	int is_kernel = s->kind == VPT_KERNEL;
	uint32_t row, stream;
	int rc = begin_section(o, b);

	if (!rc)
		rc = vpa_maps_stream(x->view.resolver, s->lane, &stream);
	if (rc || vpt_grow(&o->items, &o->cap, o->count + s->row_count, sizeof(*o->items)) ||
		vpt_grow(&o->spare, &o->spare_cap, o->cap, sizeof(*o->spare)) || begin_run(o))
		return VPT_ENOMEM;
	for (row = 0; row < s->row_count && !rc; row++) {
		/* Put there at once, field by field: a copy of what has just been written is slow. */
		struct vpa_ex_op *op = &o->items[o->count];

		op->start_ns = s->col[0][row];
		op->end_ns = op->start_ns + s->col[1][row];
		op->stream = stream;
		if (!clip(x->model, op))
			continue;
		if (is_kernel) {
			uint64_t config = s->col[VPT_KERNEL_CONFIG][row];
			uint64_t node = s->col[VPT_KERNEL_GRAPH_NODE][row];

			op->correlation = s->col[VPT_KERNEL_CORRELATION][row];
			if (config < o->shape_count && o->shape_of[config])
				op->shape = o->shape_of[config] - 1;
			else
				rc = config_shape(x, b, config, stream, &op->shape);
			if (node && !rc)
				rc = node_shape(o, node, &op->shape);
		} else {
			op->correlation = s->col[VPT_COPY_CORRELATION][row];
			rc = copy_shape(x, s, row, stream, &op->shape);
		}
		if (!rc)
			rc = put_op(o);
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

int vpa_ex_ops_syncs(struct vpa_export *x, const struct vpt_section *s)
{
	int rc = vpa_ex_waits_add(x, s);

	if (!rc && s->kind == VPT_SYNC && !x->options->no_api)
		rc = vpa_ex_syncs_add(x, s);
	return rc;
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
		stream->priority = (int64_t)s->col[VPT_LANE_PRIORITY][row];
		stream->flags = s->col[VPT_LANE_FLAGS][row];
		stream->name = vpa_ex_text(x, name.text, name.len);
	}
	return VPT_OK;
}

/* ---- order ---- */

/* Merges two neighbouring runs, [a, b) and [b, end), into `to`. */
static void merge(
	struct vpa_ex_op *to, const struct vpa_ex_op *from, size_t a, size_t b, size_t end)
{
	size_t i = a, k = b, at = a;

	while (i < b && k < end)
		to[at++] = is_after(&from[i], &from[k]) ? from[k++] : from[i++];
	memcpy(to + at, from + i, (b - i) * sizeof(*to));
	at += b - i;
	memcpy(to + at, from + k, (end - k) * sizeof(*to));
}

/* Makes one run of all, two and two. */
static void sort_ops(struct vpa_ex_ops *o)
{
	while (o->run_count > 1) {
		struct vpa_ex_op *merged = o->spare;
		size_t r, count = 0, cap = o->spare_cap;

		for (r = 0; r < o->run_count; r += 2) {
			size_t a = o->runs[r], b = r + 1 < o->run_count ? o->runs[r + 1] : o->count;

			merge(merged, o->items, a, b,
				r + 2 < o->run_count ? o->runs[r + 2] : o->count);
			o->runs[count++] = a;
		}
		o->run_count = count;
		o->spare = o->items;
		o->items = merged;
		o->spare_cap = o->cap;
		o->cap = cap;
	}
}

int vpa_ex_ops_release(struct vpa_export *x, uint64_t until_ns)
{
	struct vpa_ex_ops *o = x->ops;
	size_t done = 0;
	int rc = VPT_OK;

	sort_ops(o);
	while (done < o->count && o->items[done].start_ns < until_ns && !rc)
		rc = vpa_ex_op_write(x, &o->items[done++]);
	if (o->syncs && !rc)
		rc = vpa_ex_syncs_until(x, until_ns);
	o->count -= done;
	if (o->count)
		memmove(o->items, o->items + done, o->count * sizeof(*o->items));
	o->run_count = 0;
	if (o->count) {
		if (begin_run(o))
			return VPT_ENOMEM;
		o->runs[0] = 0;
	}
	return rc ? rc : forget_shapes(o);
}
