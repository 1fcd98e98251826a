/* cupti_calls.h - which CUDA calls are recorded, and what CUPTI's numbers for them mean.
 *
 * CUPTI numbers calls by domain (runtime, driver) and callback id. The library itself tells the
 * names of these ids; the names lead to the numbers of formats/calls.def. A call is recorded if it
 * can put work on a device, wait, allocate, load code, or build or capture a graph; questions and
 * settings, of which programs make thousands, are not. */
#ifndef VPTRACE_TRACER_CUPTI_CALLS_H
#define VPTRACE_TRACER_CUPTI_CALLS_H

#include "tracer/cupti_abi.h"
#include "tracer/vptrace.h"

enum { VTR_CBIDS = 2048 }; /* CUDA 13.0 has about 800 a domain */

struct vtr_call {
	uint16_t number;     /* of calls.def; 0: not in the table, see name */
	uint16_t wanted;     /* 1: recorded */
	const char *name;    /* set only where `number` is 0; the library's, for ever */
	uint32_t name_bytes; /* without version and variant */
};

struct vtr_calls {
	struct vtr_call of[2][VTR_CBIDS]; /* driver, runtime */
};

/* Asks the library for all names. Needs no driver. Takes about a millisecond. */
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
