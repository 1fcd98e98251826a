/* test_occupancy.c - blocks on a multiprocessor, by numbers that CUDA's occupancy calculator gives. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
