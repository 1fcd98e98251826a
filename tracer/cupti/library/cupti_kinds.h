/* cupti_kinds.h - which kinds of records, and which CUDA calls, CUPTI records for us.
 *
 * Kinds are global to the process: another client enables or disables them for all. If the library
 * refuses one we note it and go on with the rest. Not in callbacks; one thread at a time. */
#ifndef VPTRACE_TRACER_CUPTI_LIBRARY_CUPTI_KINDS_H
#define VPTRACE_TRACER_CUPTI_LIBRARY_CUPTI_KINDS_H

#include "tracer/cupti/library/cupti_library.h"
#include "tracer/cupti/library/cupti_calls.h"
#include "tracer/cupti/library/cupti_sizes.h"
#include "tracer/vptrace.h"

#include <stddef.h>
#include <stdint.h>

struct vtr_kinds {
	const struct vtr_library *library;
	const struct vtr_sizes *sizes;
	const struct vtr_calls *calls;
	enum vptrace_profile profile;
	uint64_t enabled, refused; /* kinds, a bit each */
	uint64_t undumped;         /* enabled, but existing objects have not been reported */
	int by_call;               /* RUNTIME and DRIVER are enabled call by call now */
	/* cbid of a driver call that cupti_watch.h needs recorded; 0: none */
	uint32_t watched;
	uint32_t unwatched; /* cbid of one that it needs not recorded; 0: none */
	int shared;         /* another client has the callbacks: keep enabled what it may record */
	int said_by_call;   /* the value at the start, for the writer's metadata */
};

static inline uint64_t vtr_kind_bit(uint32_t kind)
{
	return UINT64_C(1) << kind;
}

/* Enables the recorded calls; separately, the kinds that the profile needs. */
void vtr_kinds_enable_calls(struct vtr_kinds *k);
void vtr_kinds_enable(struct vtr_kinds *k);

/* Enables again what was enabled, after another client disabled some of it. The selection of single
 * calls stays as it was. */
void vtr_kinds_again(struct vtr_kinds *k);

/* Disables what is enabled. If CUPTI is shared, kinds that profilers use stay enabled for the other
 * client, which disables them when it has finished. */
void vtr_kinds_disable(struct vtr_kinds *k);

/* Asks again for existing objects that CUPTI did not report at the start. */
void vtr_kinds_dump_late(struct vtr_kinds *k);

/* The names of these kinds, separated by commas; "": none. */
void vtr_kinds_list(uint64_t which, char *out, size_t size);

#endif
