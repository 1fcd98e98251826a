/* cost_limits.c - bounds for memory and for text, from the size of the file or from the user. */
#include "formats/base/cost_limits.h"

#include "formats/base/memory.h"
#include "formats/base/saturate.h"

static uint64_t by_hand, by_files;
static int is_bounded;

void vpt_limits_memory(uint64_t bytes)
{
	by_hand = bytes;
	by_files = VPT_MEMORY_BASE;
	is_bounded = 1;
	vpt_memory_bound(vpt_limits_memory_bytes());
}

void vpt_limits_add_file(uint64_t file_bytes)
{
	vpt_sat_add_to(&by_files, vpt_sat_mul(file_bytes, VPT_MEMORY_A_BYTE));
	if (is_bounded)
		vpt_memory_bound(vpt_limits_memory_bytes());
}

uint64_t vpt_limits_memory_bytes(void)
{
	return !is_bounded ? 0 : by_hand ? by_hand : by_files;
}

uint64_t vpt_limits_text_bytes(uint64_t file_bytes)
{
	uint64_t usual = vpt_sat_add(VPT_TEXT_BASE, vpt_sat_mul(file_bytes, VPT_TEXT_A_BYTE));
	uint64_t raised = vpt_sat_mul(by_hand, VPT_TEXT_A_MEMORY_BYTE);

	return raised > usual ? raised : usual;
}
