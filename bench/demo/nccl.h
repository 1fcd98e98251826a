/* nccl.h - the demo's collectives on the simulated NCCL, found when the program runs. */
#ifndef VPT_BENCH_DEMO_NCCL_H
#define VPT_BENCH_DEMO_NCCL_H

#include "bench/demo/plan.h"

struct demo_nccl;

/* Joins the other ranks of VPT_STANDIN_WORLD. *out is NULL where there is none: the demo then
 * launches kernels of NCCL's names, which wait for nobody. Returns 0, or -1 after a sentence. */
int demo_nccl_join(const struct demo_options *o, struct demo_nccl **out);
/* Frees it; NULL is fine. */
void demo_nccl_leave(struct demo_nccl *n);

/* Does a DEMO_COLLECTIVE on `stream`, a cudaStream_t. Returns 0, or -1 after a sentence. */
int demo_nccl_do(struct demo_nccl *n, const struct demo_deed *d, void *stream);

#endif
