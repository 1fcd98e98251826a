/* scarce.h - the n-th allocation fails, for each n, once and from then on: nothing crashes, nothing leaks, and the code
 * says what was missing. */
#ifndef VPT_TESTS_SUPPORT_SCARCE_H
#define VPT_TESTS_SUPPORT_SCARCE_H

#include "formats/base/error.h"

/* Runs `job` with each of its allocations failing in turn; a test fails if it survives fewer than five, leaks, or
 * returns anything but VPT_ENOMEM with words. A job frees all it took, and returns 0 or a code. */
void vpt_fail_each_allocation(int (*job)(struct vpt_err *err));

#endif
