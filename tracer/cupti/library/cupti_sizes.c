/* cupti_sizes.c - learns the sizes of records instead of trusting a header.
 *
 * We fill a buffer so that every multiple of 8 bytes could begin a record of one kind. The
 * library's own iterator steps from the first record to the second; the distance is the size. A
 * kind whose records are shorter than our struct is treated as unknown: we never read beyond what
 * the library wrote. */
#include "tracer/cupti/library/cupti_sizes.h"

#include <string.h>

enum { RECORD_MAX = 1024, WORDS = 2 * RECORD_MAX / 8 };

static const struct {
	const char *name;
	uint16_t prefix; /* its minimum length: what we read */
} known[VTR_KINDS] = {
#define VTR_CUPTI_KIND(KIND, number, record, TIMES, OP, decode, PROFILES, existing)                \
	[VTR_KIND_##KIND] = {#KIND, sizeof(struct vtr_record_##record)},
#include "tracer/cupti/library/cupti_kinds.def"
};

const char *vtr_kind_name(uint32_t kind)
{
	return kind < VTR_KINDS ? known[kind].name : NULL;
}

static uint16_t learn(const struct vtr_cupti_functions *fn, uint32_t kind)
{
	uint64_t words[WORDS];
	void *record = NULL;
	size_t i, bytes;

	for (i = 0; i < WORDS; i++)
		words[i] = kind; /* the lower half comes first, on every machine that has CUDA */
	if (fn->next_record((uint8_t *)words, sizeof(words), &record) || record != words)
		return 0;
	if (fn->next_record((uint8_t *)words, sizeof(words), &record))
		return 0;
	bytes = (size_t)((uint8_t *)record - (uint8_t *)words);
	return bytes >= 8 && bytes <= RECORD_MAX && bytes % 8 == 0 ? (uint16_t)bytes : 0;
}

void vtr_sizes_learn(const struct vtr_cupti_functions *fn, struct vtr_sizes *out)
{
	uint32_t kind;

	memset(out, 0, sizeof(*out));
	for (kind = 1; kind < VTR_KINDS; kind++) {
		out->bytes[kind] = learn(fn, kind);
		if (out->bytes[kind] && out->bytes[kind] < known[kind].prefix) {
			out->bytes[kind] = 0;
			out->too_short |= UINT64_C(1) << kind;
		}
	}
}
