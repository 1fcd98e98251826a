/* full_memory.h - whether an allocator works at the limit of the GPU's memory.
 *
 * PyTorch's allocator keeps what a program gives back. If memory runs out it frees what it kept, with a call for each block that
 * waits for the GPU, and allocates again. A program without such an allocator makes the same calls, and so does one that empties
 * it. So the calls do not show that memory is full: how much the allocator holds does, or the operator that makes the calls. */
#ifndef VPA_ANALYSIS_ADVICE_FULL_MEMORY_H
#define VPA_ANALYSIS_ADVICE_FULL_MEMORY_H

#include "analysis/report/report.h"

/* What shows that memory is full, as a note in the report's arena: "PyTorch held 24.8 of 25.3 GB". NULL: nothing does, or idle
 * time in allocations is not mostly in calls that free, again and again. */
const char *vpa_full_memory(struct vpa_report *r);

/* The most memory in use of the first GPU that has samples of it, in the report's arena: "PyTorch held 24.8 of 25.3 GB". NULL: nothing
 * says it. */
const char *vpa_most_memory(struct vpa_report *r);

/* Whether calls that free are half of the idle time in allocations, or more: the cache of an allocator is emptied, if memory is not
 * full. */
int vpa_frees_most(const struct vpa_report *r);

/* The samples of memory in use that are as much as their GPU has, or more: Windows' driver and managed memory put the rest into the
 * host's memory. `size_bytes`: what the GPU has. NULL: there are none. */
const struct vpa_counter *vpa_memory_over(const struct vpa_report *r, uint64_t *size_bytes);

#endif
