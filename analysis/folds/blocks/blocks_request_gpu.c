/* blocks_request_gpu.c - the time of each request, by part: from its first op's start to that of
 * the request after it, so that it includes what the host does before, after and between requests. The last request
 * has none, nor one that the window or a pause cuts, that launched nothing itself, or that a pause follows. If that
 * leaves none after the first of the report, which sets up what the others reuse, the time of those without one is from
 * the first op's start to the last one's end. */
#include "analysis/folds/blocks/blocks_write.h"

#include "analysis/folds/blocks/blocks_parts.h"

/* Adds what happened between two edges. */
static int write_one(
	struct vpa_blocks_writer *w, const struct vpa_blocks_group *g, uint32_t from, uint32_t to)
{
	const struct vpa_sweep *sweep = &w->s->sweep;
	struct vpa_request_gpu *out = &g->request->gpu;
	struct vpa_parts_sum total = {.paused_ns = 0};
	struct vpa_sweep_sums sums = {.count = {0}};
	unsigned devices = (unsigned)__builtin_popcount(sweep->worked);
	size_t part;
	uint64_t all;

	if (to == VPA_NONE || sweep->edges[to].time_ns <= sweep->edges[from].time_ns)
		return VPT_OK;
	out->period_ns = sweep->edges[to].time_ns - sweep->edges[from].time_ns;
	out->devices = devices;
	vpa_sweep_between(sweep, from, to, sweep->worked, &sums, NULL, NULL);
	for (part = 0; part < VPA_SWEEP_PARTS; part++)
		*(part < VPA_SWEEP_IDLE ? &out->busy_ns : &out->idle_ns) += sums.ns[part];
	all = out->period_ns * devices;
	if (all > out->busy_ns + out->idle_ns)
		out->paused_ns = all - out->busy_ns - out->idle_ns;
	vpa_parts_sum_add(&total, &sums);
	total.paused_ns = out->paused_ns;
	return vpa_parts_sum_write(&total, &w->out->arena, &out->parts, &out->part_count);
}

/* Whether a request has a time, if it is known when that ends. */
static int has_start(const struct vpa_blocks_writer *w, const struct vpa_blocks_group *g)
{
	return g->scope && g->request && w->s->gpu[g->id].pin != VPA_NONE &&
	       vpa_scope_is_whole(w, g->id);
}

/* The next request with work that begins after `g`; NULL: none, or a pause lies before it. */
static const struct vpa_blocks_group *next_of(
	const struct vpa_blocks_writer *w, const struct vpa_blocks_group *g)
{
	const struct vpa_scope_gpu *own = &w->s->gpu[g->id];
	const struct vpa_blocks_group *next;

	for (next = g + 1; next < w->groups + w->group_count; next++) {
		const struct vpa_scope_gpu *gpu = &w->s->gpu[next->id];

		if (gpu->pin == VPA_NONE || gpu->first_ns <= own->first_ns)
			continue;
		return vpa_intervals_between(
			       &w->c->resolver->paused, g->host_end_ns, next->start_ns)
			       ? NULL
			       : next;
	}
	return NULL;
}

int vpa_blocks_request_gpu(struct vpa_blocks_writer *w)
{
	const struct vpa_scope_gpu *gpu = w->s->gpu;
	size_t steady = 0, i;
	int rc = VPT_OK;

	for (i = 0; i < w->group_count && !rc; i++) {
		const struct vpa_blocks_group *g = &w->groups[i], *next;

		next = has_start(w, g) ? next_of(w, g) : NULL;
		if (next)
			rc = write_one(w, g, gpu[g->id].pin, gpu[next->id].pin);
		steady += next && g->request->gpu.period_ns && g->request != w->out->requests;
	}
	for (i = 0; i < w->group_count && !rc && !steady; i++) {
		const struct vpa_blocks_group *g = &w->groups[i];

		if (has_start(w, g) && !g->request->gpu.period_ns)
			rc = write_one(w, g, gpu[g->id].pin, w->s->sweep.cuts[gpu[g->id].cut].edge);
	}
	return rc;
}
