/* blocks_request_gpu.c - each request without measured blocks, from its first op's start to its last one's end, by
 * part. One that the window or a pause cuts, or that launched nothing itself, has no such time. */
#include "analysis/folds/blocks_request_gpu.h"

#include "analysis/folds/blocks_parts.h"

static int write_one(struct vpa_blocks_writer *w, const struct vpa_blocks_group *g)
{
	const struct vpa_sweep *sweep = &w->s->sweep;
	const struct vpa_scope_gpu *scope = &w->s->gpu[g->id];
	uint32_t from = scope->pin, to = sweep->cuts[scope->cut].edge;
	struct vpa_request_gpu *out = &g->request->gpu;
	struct vpa_parts_sum total = {.paused_ns = 0};
	struct vpa_sweep_sums sums = {.count = {0}};
	size_t devices = vpa_least_devices(w->c->model->device_count), part;
	uint64_t all;

	if (from == VPA_NONE || to == VPA_NONE ||
		sweep->edges[to].time_ns <= sweep->edges[from].time_ns)
		return VPT_OK;
	out->period_ns = sweep->edges[to].time_ns - sweep->edges[from].time_ns;
	out->devices = (unsigned)devices;
	vpa_sweep_between(sweep, from, to, ((uint32_t)1 << devices) - 1, &sums, NULL, NULL);
	for (part = 0; part < VPA_SWEEP_PARTS; part++)
		*(part < VPA_SWEEP_IDLE ? &out->busy_ns : &out->idle_ns) += sums.ns[part];
	all = out->period_ns * devices;
	if (all > out->busy_ns + out->idle_ns)
		out->paused_ns = all - out->busy_ns - out->idle_ns;
	vpa_parts_sum_add(&total, &sums);
	total.paused_ns = out->paused_ns;
	return vpa_parts_sum_write(&total, &w->out->arena, &out->parts, &out->part_count);
}

int vpa_blocks_request_gpu(struct vpa_blocks_writer *w)
{
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < w->group_count && !rc; i++) {
		const struct vpa_blocks_group *g = &w->groups[i];

		if (g->scope && g->request && !g->request->blocks.measured &&
			vpa_scope_is_whole(w, g->id))
			rc = write_one(w, g);
	}
	return rc;
}
