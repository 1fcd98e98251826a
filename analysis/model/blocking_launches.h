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
	VPA_BLOCKING_OTHERS = 100 /* of so many one may not be so */
};

/* Of `kernels` of VPA_BLOCKING_NS or longer with a known launch, so many launches returned after the kernel's end. */
static inline int vpa_launches_block(uint64_t kernels, uint64_t after)
{
	return kernels >= VPA_BLOCKING_LEAST && kernels - after <= kernels / VPA_BLOCKING_OTHERS;
}

#endif
