/* device_table.c - writes the device table from the sums in idle.c. */
#include "analysis/folds/fold.h"

#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdlib.h>
#include <string.h>

struct state {
	uint64_t *fault_ns; /* by device */
	size_t cap;
};

static uint64_t streams_used(const struct vpa_fold_context *c, uint32_t device)
{
	const struct vpa_idle *s = c->idle;
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < c->model->stream_count && i < s->stream_cap; i++)
		n += c->model->streams[i].device == device && s->streams[i].end_ns;
	return n;
}

/* Idle time between the first and the last op. */
static uint64_t idle_inside(const struct vpa_fold_context *c, const struct vpa_idle_device *d)
{
	const struct vpa_model *m = c->model;
	uint64_t ns =
		d->idle_ns - vpa_resolver_recorded_ns(c->resolver, m->window_start_ns, d->first_ns);

	if (d->last.end_ns < m->window_end_ns)
		ns -= vpa_resolver_recorded_ns(c->resolver, d->last.end_ns, m->window_end_ns);
	return ns;
}

static int compare_devices(const void *pa, const void *pb)
{
	const struct vpa_device *a = pa, *b = pb;

	return a->device < b->device ? -1 : a->device > b->device;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	const struct vpa_idle *s = c->idle;
	const struct state *st = state;
	uint32_t i;

	out->devices = vpa_arena_alloc(&out->arena, s->device_count, sizeof(*out->devices));
	if (!out->devices)
		return VPT_ENOMEM;
	for (i = 0; i < s->device_count; i++) {
		const struct vpa_idle_device *d = &s->devices[i];
		struct vpa_device *row = &out->devices[out->device_count];

		if (!d->seen)
			continue;
		row->device = c->model->devices[i];
		row->ops = d->ops;
		row->streams = streams_used(c, i);
		row->first_ns = d->first_ns;
		row->last_ns = d->last.end_ns;
		row->busy_ns = d->busy_ns;
		row->idle_ns = idle_inside(c, d);
		row->active_ns = row->busy_ns + row->idle_ns;
		row->gaps = d->gaps;
		row->longest_gap_ns = d->longest_gap_ns;
		memcpy(row->histogram, d->histogram, sizeof(row->histogram));
		row->kernel_ns = d->kernel_ns;
		row->same_stream_overlaps = d->same_stream_overlaps;
		row->too_long_ops = d->too_long_ops;
		row->doubted_ns = d->doubted_ns;
		row->fault_ns = i < st->cap ? st->fault_ns[i] : 0;
		row->compute_ns = d->compute_ns;
		row->exposed_comm_ns = d->work_ns - d->compute_ns;
		row->exposed_copy_ns = d->busy_ns - d->work_ns;
		row->window_idle_ns = d->idle_ns;
		row->small_grid_ns = d->small_grid_ns;
		out->device_count++;
	}
	qsort(out->devices, out->device_count, sizeof(*out->devices), compare_devices);
	return VPT_OK;
}

/* Adds up how long pages of unified memory were on their way while kernels ran. Most traces have none. */
static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *st = state;
	const struct vpa_resolver *r = c->resolver;
	size_t i;

	for (i = 0; r->fault_cap && i < ops->count; i++) {
		uint32_t device = ops->device[i];
		uint64_t ns = ops->end_ns[i] - ops->start_ns[i];

		if (ops->kind[i] != VPA_KERNEL || device >= r->fault_cap ||
			!r->faults[device].count)
			continue;
		if (vpt_grow_zeroed(
			    &st->fault_ns, &st->cap, (size_t)device + 1, sizeof(*st->fault_ns)))
			return VPT_ENOMEM;
		ns -= vpa_intervals_outside(&r->faults[device], ops->start_ns[i], ops->end_ns[i]);
		vpt_sat_add_to(&st->fault_ns[device], ns);
	}
	return VPT_OK;
}

static void free_state(void *state)
{
	vpt_free(((struct state *)state)->fault_ns);
}

const struct vpa_fold vpa_fold_devices = {
	.name = "devices",
	.state_bytes = sizeof(struct state),
	.ops = fold_ops,
	.free = free_state,
	.help = "busy and idle time of each GPU, in the window and between its first and last op",
	.finish = finish,
};
