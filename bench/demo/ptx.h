/* ptx.h - the demo's kernels as device code. */
#ifndef VPT_BENCH_DEMO_PTX_H
#define VPT_BENCH_DEMO_PTX_H

/* PTX text for sm_70 and later: an entry for each distinct name of kernels.def, which takes a
 * uint64_t and runs for that many nanoseconds. The caller frees it; NULL: no memory. */
char *demo_ptx(void);

#endif
