/* cuda_callers.h - the threads that called CUDA lately, or made ranges, or have one open.
 *
 * Filled by CUPTI's request for a buffer, which the calling thread makes, by the writer as it decodes
 * calls, by a thread's first range, and as ranges are taken; read by the sampler of stacks. No lock, no allocation, no system call. When
 * VTR_CALLERS_MAX threads are known, the one that has not called for the longest time is forgotten.
 * Any thread. */
#ifndef VPTRACE_TRACER_RANGES_CUDA_CALLERS_H
#define VPTRACE_TRACER_RANGES_CUDA_CALLERS_H

#include <stddef.h>
#include <stdint.h>

enum { VTR_CALLERS_MAX = 64 };

/* From now on calls are remembered: a sampler wants to know. */
void vtr_callers_watch(void);

/* A call or a range of thread `tid` became known at `now_ns`, CLOCK_MONOTONIC. */
void vtr_callers_saw(uint32_t tid, uint64_t now_ns);

/* The threads seen since then, at most VTR_CALLERS_MAX; returns their number. */
size_t vtr_callers(uint64_t since_ns, uint32_t *tids);

#endif
