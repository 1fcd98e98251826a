/* launch_shape.c - shapes packed as the keys of an index, and what follows from one. */
#include "analysis/model/launch_shape.h"

#include "analysis/model/occupancy.h"
#include "formats/base/saturate.h"
#include "formats/event_schema.h"

enum { SHAPES_MAX = 1 << 20, SMALL_BITS = 16 };

static uint64_t product(const struct vpt_section *s, unsigned column, uint64_t row)
{
	uint64_t all = s->col[column][row];
	unsigned i;

	for (i = 1; i < 3; i++)
		if (__builtin_mul_overflow(all, s->col[column + i][row], &all))
			return UINT64_MAX;
	return all;
}

struct vpa_launch_shape vpa_launch_shape_of(const struct vpt_section *s, uint64_t row)
{
	return (struct vpa_launch_shape){.blocks = product(s, VPT_CONFIG_GRID_X, row),
		.threads = product(s, VPT_CONFIG_BLOCK_X, row),
		.registers = s->col[VPT_CONFIG_REGISTERS][row],
		.shared_bytes = vpt_sat_add(s->col[VPT_CONFIG_STATIC_SHARED][row],
			s->col[VPT_CONFIG_DYNAMIC_SHARED][row])};
}

int vpa_launch_shape_put(
	struct vpa_index *shapes, const struct vpa_launch_shape *shape, uint32_t *number)
{
	uint64_t a = (uint64_t)shape->kernel << 32 | shape->blocks;
	uint64_t b =
		shape->threads << (32 + SMALL_BITS) | shape->registers << 32 | shape->shared_bytes;

	*number = UINT32_MAX;
	if (shape->blocks >> 32 || shape->threads >> SMALL_BITS || shape->registers >> SMALL_BITS ||
		shape->shared_bytes >> 32)
		return VPT_OK;
	if (shapes->count >= SHAPES_MAX) {
		*number = vpa_index_find(shapes, a, b);
		return VPT_OK;
	}
	*number = vpa_index_put(shapes, a, b);
	return *number == UINT32_MAX ? VPT_ENOMEM : VPT_OK;
}

struct vpa_launch_shape vpa_launch_shape_get(const struct vpa_index *shapes, size_t number)
{
	const struct vpa_index_entry *e = &shapes->entries[number];

	return (struct vpa_launch_shape){.kernel = (uint32_t)(e->a >> 32),
		.blocks = (uint32_t)e->a,
		.threads = e->b >> (32 + SMALL_BITS),
		.registers = e->b >> 32 & ((1 << SMALL_BITS) - 1),
		.shared_bytes = (uint32_t)e->b};
}

int vpa_launch_figures(const struct vpa_gpu *gpu, const struct vpa_launch_shape *shape,
	struct vpa_launch_figures *out)
{
	enum { WARP = 32 };
	const struct vpa_block_needs needs = {
		shape->threads, shape->registers, shape->shared_bytes};
	struct vpa_occupancy o;
	double held;

	if (!gpu->sm_count || !shape->blocks || !vpa_occupancy(gpu, &needs, &o))
		return 0;
	out->blocks_per_sm = (double)shape->blocks / (double)gpu->sm_count;
	out->sm_efficiency = out->blocks_per_sm < 1 ? out->blocks_per_sm : 1;
	out->warps_per_sm = out->blocks_per_sm * (double)shape->threads / WARP;
	held = out->blocks_per_sm < o.blocks ? out->blocks_per_sm : o.blocks;
	out->occupancy = held * (double)shape->threads / (double)gpu->sm_threads;
	return 1;
}

static int is_alike(const struct vpa_gpu *a, const struct vpa_gpu *b)
{
	return a->compute_major == b->compute_major && a->compute_minor == b->compute_minor &&
	       a->sm_count == b->sm_count && a->sm_threads == b->sm_threads &&
	       a->sm_registers == b->sm_registers && a->sm_shared == b->sm_shared;
}

const struct vpa_gpu *vpa_common_gpu(const struct vpa_report *r)
{
	size_t i;

	for (i = 1; i < r->gpu_count; i++)
		if (!is_alike(&r->gpus[0], &r->gpus[i]))
			return NULL;
	return r->gpu_count ? &r->gpus[0] : NULL;
}

uint32_t vpa_most_multiprocessors(const struct vpa_report *r)
{
	uint32_t most = 0;
	size_t i;

	for (i = 0; i < r->gpu_count; i++)
		most = r->gpus[i].sm_count > most ? r->gpus[i].sm_count : most;
	return most;
}
