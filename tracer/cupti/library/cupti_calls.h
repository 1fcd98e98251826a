/* cupti_calls.h - which CUDA calls are recorded, and what CUPTI's numbers for them mean.
 *
 * CUPTI numbers calls by domain (runtime, driver) and callback id. The library gives the names of
 * these ids, and formats/calls.def maps names to numbers. A call is recorded if it can put work on
 * a device, wait, allocate, load code, or build or capture a graph. Queries and settings, which
 * programs make by the thousand, are not. */
#ifndef VPTRACE_TRACER_CUPTI_LIBRARY_CUPTI_CALLS_H
#define VPTRACE_TRACER_CUPTI_LIBRARY_CUPTI_CALLS_H

#include "tracer/cupti/library/cupti_abi.h"
#include "tracer/vptrace.h"

enum { VTR_CBIDS = 2048 }; /* CUDA 13.0 has about 800 per domain */

struct vtr_call {
	uint16_t number;     /* in calls.def; 0: not in the table, see name */
	uint16_t wanted;     /* 1: recorded */
	const char *name;    /* set only where `number` is 0; owned by the library, never freed */
	uint32_t name_bytes; /* without version and variant */
};

struct vtr_calls {
	struct vtr_call of[2][VTR_CBIDS]; /* driver, runtime */
};

/* Reads all names from the library. Needs no driver. Takes about a millisecond. */
void vtr_calls_learn(
	const struct vtr_cupti_functions *fn, enum vptrace_profile profile, struct vtr_calls *out);

/* `domain`: VTR_DOMAIN_DRIVER or VTR_DOMAIN_RUNTIME. NULL: not recorded. */
static inline const struct vtr_call *vtr_calls_find(
	const struct vtr_calls *c, uint32_t domain, uint32_t cbid)
{
	const struct vtr_call *call;

	if (cbid >= VTR_CBIDS)
		return NULL;
	call = &c->of[domain - VTR_DOMAIN_DRIVER][cbid];
	return call->wanted ? call : NULL;
}

#endif
