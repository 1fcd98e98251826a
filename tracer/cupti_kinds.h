/* cupti_kinds.h - which kinds of records, and which calls of CUDA, CUPTI records for us.
 *
 * Kinds are global to the process: what another client enables or disables is enabled or disabled for all. What a library
 * refuses is noted, and the rest goes on. Not in callbacks; one thread at a time. */
#ifndef VPTRACE_TRACER_CUPTI_KINDS_H
#define VPTRACE_TRACER_CUPTI_KINDS_H

#include "tracer/cupti_calls.h"
#include "tracer/cupti_library.h"
#include "tracer/cupti_sizes.h"
#include "tracer/vptrace.h"

#include <stddef.h>
#include <stdint.h>

struct vtr_kinds {
	const struct vtr_library *library;
	const struct vtr_sizes *sizes;
	const struct vtr_calls *calls;
	enum vptrace_profile profile;
	uint64_t enabled, refused; /* kinds, a bit each */
	uint64_t undumped;         /* enabled, but CUPTI has not told of what exists already */
	int by_call;               /* RUNTIME and DRIVER are enabled call by call now */
	uint32_t
		watched; /* a driver call that cupti_watch.h needs recorded, by its cbid; 0: none */
	uint32_t unwatched; /* and one that it needs not recorded */
	int shared; /* another client has the callbacks: what it may record itself is not disabled */
	int said_by_call; /* they were at the start: for the metadata, which the writer makes */
};

static inline uint64_t vtr_kind_bit(uint32_t kind)
{
	return UINT64_C(1) << kind;
}

/* Enables the calls that are recorded, then, apart from it, the kinds that the profile asks for. */
void vtr_kinds_enable_calls(struct vtr_kinds *k);
void vtr_kinds_enable(struct vtr_kinds *k);

/* Enables once more what was enabled: another client has disabled some of it. Calls one by one are what they were. */
void vtr_kinds_again(struct vtr_kinds *k);

/* Disables what is enabled. Where it is shared, another client is left the kinds that profilers use, which it disables when it
 * has finished. */
void vtr_kinds_disable(struct vtr_kinds *k);

/* Asks once more for what CUPTI did not tell at the start. */
void vtr_kinds_dump_late(struct vtr_kinds *k);

/* The names of these kinds, with commas between; "": none. */
void vtr_kinds_list(uint64_t which, char *out, size_t size);

#endif
