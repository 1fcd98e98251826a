/* kineto_kernels.c - kernels and their launch configurations. */
#include "formats/import/kineto/kineto_flows.h"
#include "formats/import/kineto/kineto_parts.h"
#include "formats/import/kineto/kineto_put.h"

static void triple(struct vpt_kineto_rows *r, const struct vpt_kineto_value *args, const char *key,
	uint64_t *x, uint64_t *y, uint64_t *z)
{
	const struct vpt_kineto_value *array = vpt_kineto_member(args, key);
	const struct vpt_kineto_value *v = vpt_kineto_element(array, 0);
	uint64_t *const out[] = {x, y, z};
	int64_t value;
	size_t i;

	for (i = 0; i < 3 && v; i++, v = vpt_kineto_next(array, v)) {
		if (vpt_kineto_number(v, 0, &value) == VPT_KINETO_EXACT && value >= 0)
			*out[i] = (uint64_t)value;
		else
			r->stats->bad_numbers++;
	}
}

static uint64_t kernel_config(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	/* Our own files have CUDA's name in addition to the readable one. */
	struct vpt_text mangled = vpt_kineto_text(vpt_kineto_member(e->args, "mangled name"));
	struct vpt_config c = {.name = vpt_kineto_put_text(r, mangled.text ? mangled : e->name)};

	triple(r, e->args, "grid", &c.grid_x, &c.grid_y, &c.grid_z);
	triple(r, e->args, "block", &c.block_x, &c.block_y, &c.block_z);
	triple(r, e->args, "cluster", &c.cluster_x, &c.cluster_y, &c.cluster_z);
	c.registers = vpt_kineto_natural(r, e->args, "registers per thread");
	/* Static and dynamic memory are written as one sum; our own files also give the latter. */
	c.static_shared = vpt_kineto_natural(r, e->args, "shared memory");
	c.dynamic_shared = vpt_kineto_natural(r, e->args, "dynamic shared memory");
	if (c.dynamic_shared <= c.static_shared)
		c.static_shared -= c.dynamic_shared;
	c.local = vpt_kineto_natural(r, e->args, "local memory per thread");
	c.graph = vpt_kineto_natural_of(r, e->args, "graph id", "graph_id");
	return vpt_collect_config(r->collect, &c);
}

int vpt_kineto_put_kernel(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	struct vpt_kernel k = {.start_ns = e->start_ns, .duration_ns = e->duration_ns};
	int64_t device, stream;

	if (!e->name.text || !vpt_kineto_device_of(r, e, &device) ||
		!vpt_kineto_stream_of(r, e, &stream))
		return 0;
	k.config = kernel_config(r, e);
	k.correlation = vpt_kineto_natural(r, e->args, "correlation");
	k.graph_node = vpt_kineto_natural_of(r, e->args, "graph node id", "graph_node_id");
	vpt_kineto_unsaid_kernel(r, e, k.correlation);
	vpt_kineto_put_joined(r, e, VPT_KERNEL, vpt_kineto_stream_lane(r, e, device, stream), &k);
	return 1;
}
