/* cupti_sizes.h - the length of each kind of record in the loaded libcupti. */
#ifndef VPTRACE_TRACER_CUPTI_LIBRARY_CUPTI_SIZES_H
#define VPTRACE_TRACER_CUPTI_LIBRARY_CUPTI_SIZES_H

#include "tracer/cupti/library/cupti_abi.h"

#include <string.h>

struct vtr_sizes {
	/* by kind; 0: the library does not know it, or its record is shorter than what we read */
	uint16_t bytes[VTR_KINDS];
	/* bits of the kinds whose records are shorter than what we read: never enabled */
	uint64_t too_short;
};

/* Learns the sizes by letting the library walk a buffer made up here. Needs no driver. Any
 * thread. */
void vtr_sizes_learn(const struct vtr_cupti_functions *fn, struct vtr_sizes *out);

/* Whether records of this kind have `bytes` bytes. Check it before reading a "_tail" field. */
static inline int vtr_sizes_reach(const struct vtr_sizes *s, uint32_t kind, size_t bytes)
{
	return s->bytes[kind] >= bytes;
}

/* The size and the kind of the record at `record`, which is `left` bytes before the end; 0: not a
 * record that we understand. */
static inline size_t vtr_sizes_of_record(
	const struct vtr_sizes *s, const uint8_t *record, size_t left, uint32_t *kind)
{
	size_t size;

	if (left < sizeof(*kind))
		return 0;
	memcpy(kind, record, sizeof(*kind));
	size = *kind < VTR_KINDS ? s->bytes[*kind] : 0;
	return size <= left ? size : 0;
}

/* The name of a kind that we read, for messages: "MEMCPY"; NULL for others. */
const char *vtr_kind_name(uint32_t kind);

#endif
