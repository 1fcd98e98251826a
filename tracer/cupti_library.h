/* cupti_library.h - one libcupti in this process: found, mapped, bound. Never unmapped.
 *
 * Two copies of libcupti in one process fight each other, so a copy that is mapped already is
 * preferred to all others. Looked for, in this order: the path that was given; a mapped libcupti;
 * the folders around the mapped libcudart, same major version; CUDA_HOME and CUDA_PATH; the dynamic
 * linker's own search. */
#ifndef VPTRACE_TRACER_CUPTI_LIBRARY_H
#define VPTRACE_TRACER_CUPTI_LIBRARY_H

#include "formats/error.h"
#include "tracer/cupti_abi.h"

enum { VTR_LIBRARY_PATH_MAX = 4096 };

struct vtr_library {
	struct vtr_cupti_functions fn; /* optional ones may be NULL */
	uint32_t api;                  /* cuptiGetVersion(): 18 is CUDA 11.8, 130001 is CUDA 13.0 */
	char path[VTR_LIBRARY_PATH_MAX];
};

/* Finds, maps and binds, and calls nothing of it. `path` NULL: wherever one is; otherwise that one or none.
 * VPT_OK or VPTRACE_ENOCUPTI with the reason. One thread at a time. Maps nothing that would start a thread
 * or need a driver. */
int vtr_library_load(const char *path, struct vtr_library *out, struct vpt_err *err);

/* Asks a loaded one for its version. VPT_OK; VPTRACE_ENOCUPTI: too old. Not before vtr_driver_load(): the
 * libcupti of CUDA 13.2 looks for a driver in each of its functions, and where there is none calls itself until
 * the stack is full. */
int vtr_library_ask(struct vtr_library *library, struct vpt_err *err);

/* Maps the driver for good, as CUPTI would. VPT_OK; VPTRACE_ENOCUPTI: there is none. */
int vtr_driver_load(struct vpt_err *err);

/* A function of the driver if the process has mapped one; NULL otherwise. Any thread. */
void *vtr_driver_symbol(const char *name);

/* "CUDA driver 13.0", or why there is none, for error messages. */
const char *vtr_driver_words(char *out, size_t size);

#endif
