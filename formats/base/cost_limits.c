/* cost_limits.c - bounds for memory and for text, from the size of the file or from the user. */
#include "formats/base/cost_limits.h"

#include "formats/base/memory.h"

static uint64_t by_hand, by_files;
static int is_bounded;

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

void vpt_limits_memory(uint64_t bytes)
{
	by_hand = bytes;
	by_files = VPT_MEMORY_BASE;
	is_bounded = 1;
	vpt_memory_bound(vpt_limits_memory_bytes());
}

void vpt_limits_add_file(uint64_t file_bytes)
{
	by_files = plus(by_files, times(file_bytes, VPT_MEMORY_A_BYTE));
	if (is_bounded)
		vpt_memory_bound(vpt_limits_memory_bytes());
}

uint64_t vpt_limits_memory_bytes(void)
{
	return !is_bounded ? 0 : by_hand ? by_hand : by_files;
}

uint64_t vpt_limits_text_bytes(uint64_t file_bytes)
{
	uint64_t usual = plus(VPT_TEXT_BASE, times(file_bytes, VPT_TEXT_A_BYTE));
	uint64_t raised = times(by_hand, VPT_TEXT_A_MEMORY_BYTE);

	return raised > usual ? raised : usual;
}
