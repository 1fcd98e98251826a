/* slice_shapes.c - the fields that many ops share are written once, as a shape that their slices name. */
#include "analysis/export/perfetto/slice_shapes.h"

#include "analysis/join/resolver_maps.h"
#include "analysis/model/model.h"
#include "formats/base/memory.h"

#include <string.h>

static uint32_t saturated(uint64_t value)
{
	return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static int put_shape(struct vpa_ex_shapes *o, const struct vpa_ex_shape *shape, uint32_t *out)
{
	uint64_t id = vpt_strings_put(&o->shapes, (const char *)shape, sizeof(*shape));

	*out = (uint32_t)id;
	return id >= UINT32_MAX ? VPT_ENOMEM : VPT_OK;
}

void vpa_ex_shape_get(const struct vpa_ex_shapes *o, uint32_t id, struct vpa_ex_shape *out)
{
	memcpy(out, vpt_strings_get(&o->shapes, id).text, sizeof(*out));
}

/* Rows of CONFIG give other shapes on another stream. */
int vpa_ex_shapes_section(struct vpa_ex_shapes *o, const struct vpt_batch *b)
{
	const struct vpt_section *s = vpt_batch_find(b, VPT_CONFIG);

	o->row_count = s ? s->row_count : 0;
	if (vpt_grow(&o->of_row, &o->row_cap, o->row_count, sizeof(*o->of_row)))
		return VPT_ENOMEM;
	if (o->row_count)
		memset(o->of_row, 0, o->row_count * sizeof(*o->of_row));
	return VPT_OK;
}

int vpa_ex_config_shape(struct vpa_ex_shapes *o, struct vpa_resolver *resolver,
	const struct vpt_batch *b, uint64_t row, uint32_t stream, uint32_t *out)
{
	const struct vpt_section *s = vpt_batch_find(b, VPT_CONFIG);
	struct vpa_config_entry entry = {0};
	struct vpa_ex_shape shape = {.kind = VPA_KERNEL, .stream = stream};
	unsigned i;

	if (vpa_maps_new_config(resolver, row, &entry))
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
	if (row < o->row_count)
		o->of_row[row] = *out + 1;
	return VPT_OK;
}

int vpa_ex_node_shape(struct vpa_ex_shapes *o, uint64_t node, uint32_t *shape)
{
	size_t before = o->nodes.count;
	uint32_t row = vpa_index_put(&o->nodes, *shape, node);
	struct vpa_ex_shape s;

	if (row == UINT32_MAX ||
		vpt_grow(&o->of_node, &o->node_cap, (size_t)row + 1, sizeof(*o->of_node)))
		return VPT_ENOMEM;
	if (o->nodes.count > before) {
		vpa_ex_shape_get(o, *shape, &s);
		s.node = node;
		if (put_shape(o, &s, &o->of_node[row]))
			return VPT_ENOMEM;
	}
	*shape = o->of_node[row];
	return VPT_OK;
}

int vpa_ex_copy_shape(struct vpa_ex_shapes *o, const struct vpt_section *s, uint32_t row,
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
	return put_shape(o, &shape, out);
}

int vpa_ex_shapes_renew(struct vpa_ex_shapes *o, struct vpt_strings *former)
{
	enum { SHAPES_MAX = 1 << 18 };

	if (o->shapes.count < SHAPES_MAX)
		return 0;
	*former = o->shapes;
	o->shapes = (struct vpt_strings){0};
	vpa_index_free(&o->nodes);
	return 1;
}

int vpa_ex_shape_move(struct vpa_ex_shapes *o, const struct vpt_strings *former, uint32_t *shape)
{
	struct vpa_ex_shape s;

	memcpy(&s, vpt_strings_get(former, *shape).text, sizeof(s));
	return put_shape(o, &s, shape);
}

void vpa_ex_shapes_free(struct vpa_ex_shapes *o)
{
	vpt_strings_free(&o->shapes);
	vpt_free(o->of_row);
	vpa_index_free(&o->nodes);
	vpt_free(o->of_node);
}
