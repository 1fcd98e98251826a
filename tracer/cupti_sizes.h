/* cupti_sizes.h - how long each kind of record is in the libcupti at hand. */
#ifndef VPTRACE_TRACER_CUPTI_SIZES_H
#define VPTRACE_TRACER_CUPTI_SIZES_H

#include "tracer/cupti_abi.h"

#include <string.h>

struct vtr_sizes {
	uint16_t bytes[VTR_KINDS]; /* by kind; 0: the library does not know it, or it is shorter
				      than what we read */
	uint64_t too_short; /* a bit for each kind that we read and the library makes shorter: never
			       asked for */
};

/* Learns them by letting the library walk a buffer that is made up here. Needs no driver. Any
 * thread. */
void vtr_sizes_learn(const struct vtr_cupti_functions *fn, struct vtr_sizes *out);

/* Whether records of this kind reach so far: asked before a field of a VTR_TAIL struct is read. */
static inline int vtr_sizes_reach(const struct vtr_sizes *s, uint32_t kind, size_t bytes)
{
	return s->bytes[kind] >= bytes;
}

/* The size of the record at `record`, `left` bytes before the end, and its kind; 0: there is none that we understand. */
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

/* The name of a kind that we read, for words: "MEMCPY"; NULL for others. */
const char *vtr_kind_name(uint32_t kind);

#endif
