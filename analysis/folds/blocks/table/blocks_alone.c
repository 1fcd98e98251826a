/* blocks_alone.c - follows which stages run on each device, and counts while it is one alone. */
#include "analysis/folds/blocks/table/blocks_table.h"

#include "formats/base/memory.h"

#include <string.h>

static const uint32_t no_cell = UINT32_MAX;

/* Moves a device on to `to_ns`, over the ends of what runs. */
static void advance(struct vpa_alone *a, struct vpa_alone_device *d, uint64_t to_ns)
{
	while (d->count && d->at_ns < to_ns) {
		uint64_t until_ns = to_ns;
		size_t i, kept = 0;

		for (i = 0; i < d->count; i++)
			if (d->running[i].end_ns < until_ns)
				until_ns = d->running[i].end_ns;
		if (d->count == 1 && d->running[0].cell != no_cell && until_ns > d->at_ns)
			a->ns[d->running[0].cell] += until_ns - d->at_ns;
		for (i = 0; i < d->count; i++)
			if (d->running[i].end_ns > until_ns)
				d->running[kept++] = d->running[i];
			else
				d->last = d->running[i].stage;
		d->count = kept;
		d->at_ns = until_ns;
	}
}

static void begin_op(
	struct vpa_alone_device *d, const struct vpa_alone_running *op, uint64_t start_ns)
{
	size_t i;

	if (d->at_ns < start_ns)
		d->at_ns = start_ns;
	if (op->end_ns <= d->at_ns)
		return;
	for (i = 0; i < d->count && d->running[i].stage != op->stage; i++)
		;
	if (i == VPA_ALONE_MAX)
		return;
	if (i == d->count) {
		d->running[d->count++] = *op;
		return;
	}
	d->running[i].cell = op->cell;
	if (op->end_ns > d->running[i].end_ns)
		d->running[i].end_ns = op->end_ns;
}

/* Makes room for the device and the owner's cell there; sets `*cell`. */
static int find_cell(
	struct vpa_alone *a, const struct vpa_alone_owner *owner, uint32_t device, uint32_t *cell)
{
	if (device >= a->device_count) {
		if (vpt_grow_zeroed(
			    &a->devices, &a->device_cap, (size_t)device + 1, sizeof(*a->devices)))
			return VPT_ENOMEM;
		for (; a->device_count <= device; a->device_count++)
			a->devices[a->device_count].last = VPA_NONE;
	}
	*cell = no_cell;
	if (owner->stage == VPA_NONE)
		return VPT_OK;
	*cell = vpa_index_row(&a->index, (uint64_t)(owner->block + 1) << 32 | owner->stage, device,
		&a->ns, &a->cap, sizeof(*a->ns));
	return *cell == UINT32_MAX ? VPT_ENOMEM : VPT_OK;
}

int vpa_alone_ops(struct vpa_alone *a, const struct vpa_alone_owner *owner,
	const struct vpa_ops *ops, const struct vpa_op_run *run, size_t begin, size_t end)
{
	struct vpa_alone_running op = {.stage = owner->stage};
	struct vpa_alone_device *d;
	uint64_t alone_ns = 0;
	size_t i = begin;

	if (begin == end)
		return VPT_OK;
	if (find_cell(a, owner, ops->device[begin], &op.cell))
		return VPT_ENOMEM;
	d = &a->devices[ops->device[begin]];
	advance(a, d, ops->start_ns[begin]);
	if (op.cell != no_cell && !d->count && d->last == owner->stage &&
		ops->start_ns[begin] - ops->gap_ns[begin] >= owner->first_ns)
		alone_ns = ops->gap_ns[begin];
	/* In a serial run each op begins after all before it have ended. */
	if (run->serial) {
		i = end - 1;
		alone_ns += ops->start_ns[i] - ops->start_ns[begin];
	}
	if (op.cell != no_cell)
		a->ns[op.cell] += alone_ns;
	for (; i < end; i++) {
		advance(a, d, ops->start_ns[i]);
		op.end_ns = ops->end_ns[i];
		begin_op(d, &op, ops->start_ns[i]);
	}
	return VPT_OK;
}

void vpa_alone_end(struct vpa_alone *a)
{
	size_t i;

	for (i = 0; i < a->device_count; i++)
		advance(a, &a->devices[i], UINT64_MAX);
}

void vpa_alone_free(struct vpa_alone *a)
{
	vpt_free(a->devices);
	vpt_free(a->ns);
	vpa_index_free(&a->index);
	memset(a, 0, sizeof(*a));
}
