/* own_calls.h - calls of CUDA that are our own: CUPTI records them as it does the host's, and they are none of its program.
 *
 * Callbacks add them, before CUPTI has any record of them; the writer asks. No locks. */
#ifndef VPTRACE_TRACER_CUPTI_LIBRARY_OWN_CALLS_H
#define VPTRACE_TRACER_CUPTI_LIBRARY_OWN_CALLS_H

#include <stdatomic.h>
#include <stdint.h>

enum { VTR_OWN_CALLS_MAX = 128 }; /* of a capture; later ones are not known */

/* How many are known, and whether one is among them. */
extern atomic_uint vtr_own_call_count;
int vtr_own_call_find(uint32_t correlation);

static inline int vtr_own_call_is(uint32_t correlation)
{
	return atomic_load_explicit(&vtr_own_call_count, memory_order_acquire) &&
	       vtr_own_call_find(correlation);
}

/* One thread at a time. */
void vtr_own_call_add(uint32_t correlation);

/* A capture begins: calls of the last one stay known, since CUPTI may return their records late; those of
 * captures before it are dropped. */
void vtr_own_calls_begin(void);

#endif
