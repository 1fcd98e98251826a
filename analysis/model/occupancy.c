/* occupancy.c - the limits of CUDA's occupancy calculator.
 *
 * The maximum number of blocks per multiprocessor, and the units in which registers and shared
 * memory are allocated, depend on the compute capability (CUDA C++ Programming Guide, technical
 * specifications per compute capability); the GPU reports everything else. */
#include "analysis/model/occupancy.h"

#include "analysis/model/gpu_arch.h"

#include <string.h>

enum {
	WARP = 32,
	REGISTER_STEP = 256, /* allocation unit per warp */
};

/* From this compute capability up to the next row's. */
static const struct rules {
	uint32_t major, minor;
	uint32_t blocks;       /* maximum per multiprocessor */
	uint32_t parts;        /* of a multiprocessor, each with an equal share of the registers */
	uint32_t shared_step;  /* bytes */
	uint32_t shared_taken; /* bytes per block that the system takes */
} rules[] = {
	{5, 0, 32, 4, 256, 0}, {6, 0, 32, 2, 256, 0}, {6, 1, 32, 4, 256, 0}, {7, 5, 16, 4, 256, 0},
	{8, 0, 32, 4, 128, 1024}, {8, 6, 16, 4, 128, 1024}, {8, 9, 24, 4, 128, 1024},
	{9, 0, 32, 4, 128, 1024}, {11, 0, 24, 4, 128, 1024}, {12, 0, 24, 4, 128, 1024},
	{13, 0, 0, 0, 0, 0}, /* not known yet */
};

static const struct rules *rules_of(const struct vpa_gpu *gpu)
{
	const struct rules *found = NULL;
	size_t i;

	if (vpa_gpu_is_amd(gpu))
		return NULL;
	for (i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (gpu->compute_major > rules[i].major ||
			(gpu->compute_major == rules[i].major &&
				gpu->compute_minor >= rules[i].minor))
			found = &rules[i];
	return found && found->blocks ? found : NULL;
}

static uint64_t in_steps(uint64_t amount, uint64_t step)
{
	return (amount + step - 1) / step * step;
}

static uint32_t smaller(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

static uint32_t saturated(uint64_t number)
{
	return smaller(number, UINT32_MAX);
}

int vpa_occupancy(
	const struct vpa_gpu *gpu, const struct vpa_block_needs *block, struct vpa_occupancy *out)
{
	enum { SENSIBLE_MAX = 1 << 20 };
	const struct rules *r = rules_of(gpu);
	uint64_t warps = in_steps(block->threads, WARP) / WARP, a_warp, shared;

	memset(out, 0, sizeof(*out));
	if (!r || !gpu->sm_threads || !gpu->sm_registers || !gpu->sm_shared || !block->threads ||
		!block->registers)
		return 0;
	if (block->threads > SENSIBLE_MAX || block->registers > SENSIBLE_MAX ||
		block->shared_bytes > (uint64_t)SENSIBLE_MAX << 10)
		return 0;
	a_warp = in_steps(block->registers * WARP, REGISTER_STEP);
	shared = in_steps(block->shared_bytes + r->shared_taken, r->shared_step);
	out->by_blocks = r->blocks;
	out->by_warps = saturated(gpu->sm_threads / WARP / warps);
	out->by_registers = saturated(gpu->sm_registers / r->parts / a_warp * r->parts / warps);
	/* A kernel without shared memory is not limited by it. */
	out->by_shared = shared ? saturated(gpu->sm_shared / shared) : r->blocks;
	out->blocks = smaller(
		smaller(out->by_blocks, out->by_warps), smaller(out->by_registers, out->by_shared));
	out->percent = 100.0 * (double)(out->blocks * warps) / (double)(gpu->sm_threads / WARP);
	/* It ran, so a limit of 0 means that some input does not fit these rules. */
	return out->blocks != 0;
}
