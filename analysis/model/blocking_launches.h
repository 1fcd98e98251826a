/* blocking_launches.h - whether each launch returns after its kernel has ended, as with CUDA_LAUNCH_BLOCKING=1.
 *
 * Only kernels of some length tell: a short one may end while its launch returns. A launch that waits for room in its queue ends
 * long before its own kernel. */
#ifndef VPA_ANALYSIS_MODEL_BLOCKING_LAUNCHES_H
#define VPA_ANALYSIS_MODEL_BLOCKING_LAUNCHES_H

#include <stdint.h>

enum {
	VPA_BLOCKING_NS = 20000,
	VPA_BLOCKING_LEAST = 20,  /* kernels */
	VPA_BLOCKING_OTHERS = 100 /* one kernel of 100 may be otherwise */
};

/* `kernels`: that take VPA_BLOCKING_NS or longer, with a known launch. `after`: of these, whose launch returned after their end. */
static inline int vpa_launches_block(uint64_t kernels, uint64_t after)
{
	return kernels >= VPA_BLOCKING_LEAST && kernels - after <= kernels / VPA_BLOCKING_OTHERS;
}

#endif
