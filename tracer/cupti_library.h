/* cupti_library.h - one libcupti in this process: found, mapped, bound. Never unmapped.
 *
 * Two copies of libcupti in one process fight each other, so a copy that is mapped already is
 * preferred to all others. Looked for, in this order: the path that was given; a mapped libcupti;
 * the folders around the mapped libcudart, same major version; CUDA_HOME and CUDA_PATH; the dynamic
 * linker's own search. The last three prefer the mapped libcudart's major version, then the newest. One whose
 * major version is newer than the driver's is never taken. */
#ifndef VPTRACE_TRACER_CUPTI_LIBRARY_H
#define VPTRACE_TRACER_CUPTI_LIBRARY_H

#include "formats/error.h"
#include "tracer/cupti_abi.h"

enum { VTR_LIBRARY_PATH_MAX = 4096 };

struct vtr_library {
	struct vtr_cupti_functions fn; /* optional ones may be NULL */
	int major;                     /* of the CUDA that it says it is of; 0: it does not say */
	uint32_t api;                  /* cuptiGetVersion(): 18 is CUDA 11.8, 130001 is CUDA 13.0 */
	char path[VTR_LIBRARY_PATH_MAX];
};

/* Loads the driver and checks that it works, then does what the two functions below do. `path` NULL: wherever a libcupti is;
 * otherwise that one or none. VPT_OK or VPTRACE_ENOCUPTI with the reason; a missing library is reported before a missing
 * driver. One thread at a time. */
int vtr_library_open(const char *path, struct vtr_library *out, struct vpt_err *err);

/* Finds, maps and binds, and calls nothing of it. `path` as above. `driver`: the driver's version, from vtr_driver_load(); 0:
 * there is none, and any libcupti will do. VPT_OK or VPTRACE_ENOCUPTI with the reason. One thread at a time. Maps nothing that
 * would start a thread or need a driver. */
int vtr_library_load(const char *path, int driver, struct vtr_library *out, struct vpt_err *err);

/* Asks a loaded one for its version. VPT_OK; VPTRACE_ENOCUPTI: it does not answer, or is too old. Only with a driver that
 * works and is new enough for it: see driver.c. */
int vtr_library_ask(struct vtr_library *library, struct vpt_err *err);

#endif
