/* test_occupancy.c - blocks on a multiprocessor, by numbers that CUDA's occupancy calculator gives. */
#include "analysis/model/launch_shape.h"
#include "analysis/model/occupancy.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define GPU(major, minor, threads, shared)                                                         \
	{                                                                                          \
		.compute_major = (major), .compute_minor = (minor), .sm_threads = (threads),       \
		.sm_registers = 65536, .sm_shared = (shared)                                       \
	}
static const struct vpa_gpu p100 = GPU(6, 0, 2048, 64 << 10), titan = GPU(6, 1, 2048, 96 << 10),
			    v100 = GPU(7, 0, 2048, 96 << 10), t4 = GPU(7, 5, 1024, 64 << 10),
			    a100 = GPU(8, 0, 2048, 164 << 10), ada = GPU(8, 9, 1536, 100 << 10),
			    h100 = GPU(9, 0, 2048, 228 << 10),
			    consumer = GPU(12, 0, 1536, 100 << 10), silent = GPU(9, 0, 0, 0),
			    future = GPU(14, 0, 2048, 228 << 10);

static const struct {
	const char *rule;
	const struct vpa_gpu *gpu;
	struct vpa_block_needs needs;
	struct vpa_occupancy expected; /* blocks 0: not known */
} cases[] = {
	{"small blocks: by their number", &h100, {32, 16, 0}, {32, 128, 228, 64, 32, 50}},
	{"full: by warps", &h100, {256, 32, 0}, {32, 8, 228, 8, 8, 100}},
	{"registers are given out by 256 a warp, in quarters of a multiprocessor", &h100,
		{128, 168, 0}, {32, 3, 228, 16, 3, 18.75}},
	{"shared memory, and 1 KiB that the system takes", &h100, {128, 32, 100 << 10},
		{32, 16, 2, 16, 2, 12.5}},
	{"that needs all but this", &h100, {384, 168, 227 << 10}, {32, 1, 1, 5, 1, 18.75}},
	{"no KiB is taken before compute capability 8", &v100, {256, 32, 48 << 10},
		{32, 8, 2, 8, 2, 25}},
	{"who needs none is not limited by it", &v100, {64, 32, 0}, {32, 32, 32, 32, 32, 100}},
	{"a last warp that is not full counts", &a100, {48, 255, 0}, {32, 4, 164, 32, 4, 12.5}},
	{"a multiprocessor of two halves", &p100, {64, 40, 0}, {32, 25, 32, 32, 25, 78.125}},
	{"and one of quarters of the same generation", &titan, {64, 40, 0},
		{32, 24, 32, 32, 24, 75}},
	{"16 blocks", &t4, {32, 32, 0}, {16, 64, 16, 32, 16, 50}},
	{"24 blocks", &ada, {64, 40, 4096}, {24, 24, 20, 24, 20, 83.333}},
	{"24 blocks on 12.0 too", &consumer, {32, 40, 0}, {24, 48, 100, 48, 24, 50}},
	{"a GPU that does not tell its limits", &silent, {128, 32, 0}, {0}},
	{"one that nobody knows yet", &future, {128, 32, 0}, {0}},
	{"registers that were not recorded", &h100, {128, 0, 0}, {0}},
	{"no block", &h100, {0, 32, 0}, {0}},
	{"what cannot be", &h100, {UINT64_MAX, 32, 0}, {0}},
};

static void by_hand(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct vpa_occupancy *e = &cases[i].expected;
		struct vpa_occupancy o;
		int known = vpa_occupancy(cases[i].gpu, &cases[i].needs, &o);

		if (known != (e->blocks != 0))
			fail_msg("%s: %s", cases[i].rule, known ? "is known" : "is not known");
		if (known && (o.by_blocks != e->by_blocks || o.by_registers != e->by_registers ||
				     o.by_shared != e->by_shared || o.by_warps != e->by_warps ||
				     o.blocks != e->blocks || fabs(o.percent - e->percent) > 0.001))
			fail_msg("%s: found %u by blocks, %u by registers, %u by shared memory, %u "
				 "by "
				 "warps: %u, %.3f %%",
				cases[i].rule, o.by_blocks, o.by_registers, o.by_shared, o.by_warps,
				o.blocks, o.percent);
	}
}

/* ---- launches ---- */

static void launches_by_hand(void **state)
{
	static const struct vpa_gpu gpu = {.compute_major = 9,
					    .sm_count = 132,
					    .sm_threads = 2048,
					    .sm_registers = 65536,
					    .sm_shared = 228 << 10},
				    unknown = {.compute_major = 9};
	static const struct {
		const char *rule;
		const struct vpa_gpu *gpu;
		struct vpa_launch_shape shape;
		double blocks, warps, occupancy, sm_efficiency; /* blocks 0: not known */
	} launches[] = {
		{"half a block for each", &gpu, {0, 66, 256, 32, 0}, 0.5, 4, 0.0625, 0.5},
		{"as many as it holds", &gpu, {0, 1056, 256, 32, 0}, 8, 64, 1, 1},
		{"more than it holds", &gpu, {0, 13200, 256, 32, 0}, 100, 800, 1, 1},
		{"large blocks", &gpu, {0, 132, 384, 168, 227 << 10}, 1, 12, 0.1875, 1},
		{"a GPU that does not tell", &unknown, {0, 132, 384, 168, 0}, 0, 0, 0, 0},
		{"no grid", &gpu, {0, 0, 384, 168, 0}, 0, 0, 0, 0},
	};
	struct vpa_index shapes = {0};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(launches) / sizeof(*launches); i++) {
		struct vpa_launch_figures f;
		struct vpa_launch_shape shape = launches[i].shape, back;
		uint32_t number;
		int known = vpa_launch_figures(launches[i].gpu, &shape, &f);

		if (known != (launches[i].blocks > 0) ||
			(known &&
				(fabs(f.blocks_per_sm - launches[i].blocks) > 1e-9 ||
					fabs(f.warps_per_sm - launches[i].warps) > 1e-9 ||
					fabs(f.occupancy - launches[i].occupancy) > 1e-9 ||
					fabs(f.sm_efficiency - launches[i].sm_efficiency) > 1e-9)))
			fail_msg("%s: %d", launches[i].rule, known);
		shape.kernel = (uint32_t)i;
		assert_int_equal(vpa_launch_shape_put(&shapes, &shape, &number), 0);
		assert_int_equal(number, i);
		back = vpa_launch_shape_get(&shapes, number);
		assert_int_equal(back.kernel, shape.kernel);
		assert_int_equal(back.blocks, shape.blocks);
		assert_int_equal(back.threads, shape.threads);
		assert_int_equal(back.registers, shape.registers);
		assert_int_equal(back.shared_bytes, shape.shared_bytes);
	}
	/* What cannot be is none. */
	for (i = 0; i < 4; i++) {
		struct vpa_launch_shape shape = launches[0].shape;
		uint64_t *const parts[] = {
			&shape.blocks, &shape.threads, &shape.registers, &shape.shared_bytes};
		uint32_t number = 0;

		*parts[i] = UINT64_MAX;
		assert_int_equal(vpa_launch_shape_put(&shapes, &shape, &number), 0);
		assert_int_equal(number, UINT32_MAX);
	}
	vpa_index_free(&shapes);
}

static void gpus_that_are_alike_have_one_answer(void **state)
{
	struct vpa_gpu gpus[] = {
		{.compute_major = 9, .sm_count = 132}, {.compute_major = 9, .sm_count = 132}};
	struct vpa_report r = {.gpus = gpus, .gpu_count = 2};

	(void)state;
	assert_ptr_equal(vpa_common_gpu(&r), gpus);
	gpus[1].sm_count = 114;
	assert_null(vpa_common_gpu(&r));
	r.gpu_count = 0;
	assert_null(vpa_common_gpu(&r));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand),
		cmocka_unit_test(launches_by_hand),
		cmocka_unit_test(gpus_that_are_alike_have_one_answer)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
