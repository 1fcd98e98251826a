/* ranks.h - the processes of --ranks: how they are started, and what each one knows of its place. */
#ifndef VPT_BENCH_DEMO_RANKS_H
#define VPT_BENCH_DEMO_RANKS_H

#include "bench/demo/options.h"

/* Starts a process a rank, all at once, and waits for them; this one touches neither CUDA nor the
 * tracer. Returns 0, or 1: a rank failed. */
int demo_run_ranks(const struct demo_options *o, char **argv, int argc);

#endif
