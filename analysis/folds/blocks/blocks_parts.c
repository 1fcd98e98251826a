/* blocks_parts.c - sums of device time by kernel family and cause of idle time, as rows. */
#include "analysis/folds/blocks/blocks_parts.h"

#include <stdlib.h>
#include <string.h>

static int compare_parts(const void *pa, const void *pb)
{
	const struct vpa_block_part *a = pa, *b = pb;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return strcmp(vpa_block_part_name(a->part), vpa_block_part_name(b->part));
}

void vpa_parts_sum_add(struct vpa_parts_sum *to, const struct vpa_sweep_sums *sums)
{
	size_t part;

	for (part = 0; part < VPA_SWEEP_ALL; part++)
		to->ns[part] += sums->ns[part];
	for (part = 0; part < VPA_SWEEP_PARTS; part++)
		to->count[part] += sums->count[part];
}

void vpa_work_add(const struct vpa_sweep *sweep, uint32_t from, uint32_t to, uint32_t device_mask,
	uint64_t *work_ns)
{
	size_t device, part;

	for (device = 0; device < VPA_SWEEP_DEVICES; device++) {
		struct vpa_sweep_sums sums = {.count = {0}};

		if (!(device_mask >> device & 1))
			continue;
		vpa_sweep_between(sweep, from, to, (uint32_t)1 << device, &sums, NULL, NULL);
		for (part = 0; part < VPA_SWEEP_IDLE; part++)
			work_ns[device] += part == VPA_FAMILY_COMM ? 0 : sums.ns[part];
	}
}

uint64_t vpa_work_most(const uint64_t *work_ns)
{
	uint64_t most = 0;
	size_t device;

	for (device = 0; device < VPA_SWEEP_DEVICES; device++)
		most = work_ns[device] > most ? work_ns[device] : most;
	return most;
}

static int compare_insteads(const void *pa, const void *pb)
{
	const struct vpa_block_instead *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->host < b->host ? -1 : a->host > b->host;
}

/* What the host did in idle time of a row's cause. 0 or VPT_ENOMEM. */
static int write_dids(
	const struct vpa_parts_sum *sum, struct vpa_arena *arena, struct vpa_block_part *row)
{
	enum vpa_cause cause = vpa_part_cause(row->part);
	unsigned i;

	row->instead = vpa_arena_alloc(arena, VPA_INSTEAD, sizeof(*row->instead));
	if (!row->instead)
		return VPT_ENOMEM;
	for (i = 0; i < VPA_INSTEADS; i++)
		if (vpa_instead_cause(i) == cause && sum->ns[VPA_SWEEP_PARTS + i])
			row->instead[row->instead_count++] = (struct vpa_block_instead){
				vpa_instead_host(i), sum->ns[VPA_SWEEP_PARTS + i]};
	qsort(row->instead, row->instead_count, sizeof(*row->instead), compare_insteads);
	return VPT_OK;
}

int vpa_parts_sum_write(const struct vpa_parts_sum *sum, struct vpa_arena *arena,
	struct vpa_block_part **parts, size_t *count)
{
	struct vpa_block_part *rows = vpa_arena_alloc(arena, VPA_SWEEP_PARTS + 1, sizeof(*rows));
	size_t part, used = 0;

	if (!rows)
		return VPT_ENOMEM;
	for (part = 0; part < VPA_SWEEP_PARTS; part++) {
		if (!sum->ns[part])
			continue;
		rows[used] = (struct vpa_block_part){
			.kind = part < VPA_SWEEP_IDLE ? VPA_PART_BUSY : VPA_PART_IDLE,
			.part = VPA_PART_FIRST + (unsigned)part,
			.ns = sum->ns[part],
			.count = sum->count[part]};
		if (part >= VPA_SWEEP_IDLE && write_dids(sum, arena, &rows[used]))
			return VPT_ENOMEM;
		used++;
	}
	if (sum->paused_ns)
		rows[used++] = (struct vpa_block_part){
			.kind = VPA_PART_PAUSED, .part = VPA_PART_PAUSE, .ns = sum->paused_ns};
	qsort(rows, used, sizeof(*rows), compare_parts);
	*parts = rows;
	*count = used;
	return VPT_OK;
}
