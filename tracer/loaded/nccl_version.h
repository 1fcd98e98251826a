/* nccl_version.h - the NCCL that the process has loaded. */
#ifndef VPTRACE_TRACER_LOADED_NCCL_VERSION_H
#define VPTRACE_TRACER_LOADED_NCCL_VERSION_H

#include <stddef.h>

/* Puts a version such as "2.27.3" into `out`. Loads nothing. Returns 1, or 0: no library of the
 * process exports it. */
int vtr_nccl_version(char *out, size_t size);

#endif
