/* blocks_loop.c - one pinned edge and two cuts per request and source of its steps.
 *
 * Whether a step counts is known only at its end: the window may cut off the last one, and a lap may
 * never end. So one cut is at the end of all steps' ops, another one at the end of those launched
 * before the newest step's first op. The one that is where the last step that counts has ended is
 * taken. Where none is, the sums are not known. */
#include "analysis/folds/blocks_loop.h"

#include "analysis/folds/blocks_parts.h"

/* VPA_NONE for steps outside requests, so one is added. */
static uint64_t key_of(uint32_t request)
{
	return (uint64_t)request + 1;
}

int vpa_blocks_loop_join(struct vpa_blocks_table *s, uint32_t scope)
{
	const struct vpa_scope_label *label = &vpa_blocks_scope(s, scope)->label;
	struct vpa_scope_gpu *g = &s->gpu[scope];
	size_t before = s->loop_index.count;
	struct vpa_steps_loop *l;
	uint32_t at;

	if (label->kind != VPA_SCOPE_STEP || g->first_ns != UINT64_MAX)
		return VPT_OK;
	at = vpa_index_row(&s->loop_index, key_of(g->request), label->source, &s->loops,
		&s->loop_cap, sizeof(*s->loops));
	if (at == UINT32_MAX)
		return VPT_ENOMEM;
	g->loop = at;
	l = &s->loops[at];
	if (s->loop_index.count == before)
		return vpa_sweep_cut_copy(&s->sweep, l->cut_before, l->cut);
	l->pin = VPA_NONE;
	l->cut = vpa_sweep_cut_new(&s->sweep);
	l->cut_before = vpa_sweep_cut_new(&s->sweep);
	return l->cut == VPA_NONE || l->cut_before == VPA_NONE ? VPT_ENOMEM : VPT_OK;
}

int vpa_blocks_loop_start(struct vpa_blocks_table *s, uint32_t scope)
{
	uint32_t at = s->gpu[scope].loop;

	if (at == VPA_NONE || s->loops[at].pin != VPA_NONE)
		return VPT_OK;
	s->loops[at].pin = vpa_sweep_pin(&s->sweep);
	return s->loops[at].pin == VPA_NONE ? VPT_ENOMEM : VPT_OK;
}

/* The edge at `time_ns`, if this is it. */
static uint32_t edge_at(const struct vpa_sweep *sweep, uint32_t edge, uint64_t time_ns)
{
	return edge != VPA_NONE && sweep->edges[edge].time_ns == time_ns ? edge : VPA_NONE;
}

static int write_between(struct vpa_blocks_writer *w, struct vpa_request_gpu *out,
	const struct vpa_steps_loop *l, uint32_t from, uint32_t to)
{
	const struct vpa_sweep *sweep = &w->s->sweep;
	struct vpa_parts_sum total = {.paused_ns = 0};
	struct vpa_sweep_sums sums = {.count = {0}};
	uint64_t all;
	size_t part;

	*out = (struct vpa_request_gpu){
		.period_ns = sweep->edges[to].time_ns - sweep->edges[from].time_ns,
		.devices = (unsigned)__builtin_popcount(l->devices)};
	vpa_sweep_between(sweep, from, to, l->devices, &sums, NULL, NULL);
	for (part = 0; part < VPA_SWEEP_PARTS; part++)
		*(part < VPA_SWEEP_IDLE ? &out->busy_ns : &out->idle_ns) += sums.ns[part];
	all = out->period_ns * out->devices;
	if (all > out->busy_ns + out->idle_ns)
		out->paused_ns = all - out->busy_ns - out->idle_ns;
	vpa_parts_sum_add(&total, &sums);
	total.paused_ns = out->paused_ns;
	return vpa_parts_sum_write(&total, &w->out->arena, &out->parts, &out->part_count);
}

int vpa_blocks_loop_write(struct vpa_blocks_writer *w, const struct vpa_blocks_group *g,
	uint64_t first_ns, uint64_t last_ns)
{
	const struct vpa_blocks_table *s = w->s;
	const struct vpa_sweep *sweep = &s->sweep;
	int source;

	for (source = VPA_SOURCE_ANNOTATION; source <= VPA_SOURCE_MARKS; source++) {
		uint32_t at = vpa_index_find(&s->loop_index, key_of(g->id), (uint64_t)source);
		const struct vpa_steps_loop *l = at == UINT32_MAX ? NULL : &s->loops[at];
		uint32_t from, to;

		if (!l)
			continue;
		from = edge_at(sweep, l->pin, first_ns);
		to = edge_at(sweep, sweep->cuts[l->cut].edge, last_ns);
		if (to == VPA_NONE)
			to = edge_at(sweep, sweep->cuts[l->cut_before].edge, last_ns);
		if (from != VPA_NONE && to != VPA_NONE && last_ns > first_ns)
			return write_between(w, &g->request->loop, l, from, to);
	}
	return VPT_OK;
}
