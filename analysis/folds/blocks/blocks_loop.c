/* blocks_loop.c - the devices of each request's steps, by source of the steps, and sums over periods. */
#include "analysis/folds/blocks/blocks_loop.h"

/* VPA_NONE for steps outside requests, so one is added. */
static uint64_t key_of(uint32_t request)
{
	return (uint64_t)request + 1;
}

int vpa_blocks_loop_join(struct vpa_blocks_table *s, uint32_t scope)
{
	const struct vpa_scope_label *label = &vpa_blocks_scope(s, scope)->label;
	struct vpa_scope_gpu *g = &s->gpu[scope];
	uint32_t at;

	if (label->kind != VPA_SCOPE_STEP || g->first_ns != UINT64_MAX)
		return VPT_OK;
	at = vpa_index_row(&s->loop_index, key_of(g->request), label->source, &s->loops,
		&s->loop_cap, sizeof(*s->loops));
	if (at == UINT32_MAX)
		return VPT_ENOMEM;
	g->loop = at;
	return VPT_OK;
}

static uint32_t devices_of(const struct vpa_blocks_writer *w, uint32_t request)
{
	const struct vpa_blocks_table *s = w->s;
	uint32_t devices = 0, row;

	for (row = 0; row < s->row_index.count; row++) {
		uint32_t at = VPA_NONE;

		if (vpa_row_kind(w, &s->rows[row]) == VPA_SCOPE_STEP)
			at = vpa_index_find(
				&s->loop_index, key_of(request), (uint64_t)s->rows[row].source);
		devices |= at == VPA_NONE ? 0 : s->loops[at].devices;
	}
	return devices;
}

uint32_t vpa_blocks_loop_devices(
	const struct vpa_blocks_writer *w, const struct vpa_blocks_group *g)
{
	uint32_t devices = devices_of(w, g->id);

	/* Steps of other threads belong to a request by time. */
	return devices ? devices : devices_of(w, VPA_NONE);
}

void vpa_blocks_loop_add(struct vpa_request_gpu *loop, uint32_t devices, uint64_t period_ns,
	const struct vpa_sweep_sums *sums, struct vpa_parts_sum *total)
{
	uint64_t busy_ns = 0, idle_ns = 0, all;
	size_t part;

	for (part = 0; part < VPA_SWEEP_PARTS; part++)
		*(part < VPA_SWEEP_IDLE ? &busy_ns : &idle_ns) += sums->ns[part];
	loop->devices = (unsigned)__builtin_popcount(devices);
	all = period_ns * loop->devices;
	loop->period_ns += period_ns;
	loop->busy_ns += busy_ns;
	loop->idle_ns += idle_ns;
	loop->paused_ns += all > busy_ns + idle_ns ? all - busy_ns - idle_ns : 0;
	vpa_parts_sum_add(total, sums);
	total->paused_ns = loop->paused_ns;
}
