/* cupti_library.h - finds, maps and binds one libcupti in this process. Never unmaps it.
 *
 * Two copies of libcupti in one process conflict, so a copy already mapped is preferred. Search
 * order: the given path; a mapped libcupti; the folders around the mapped libcudart, same major
 * version; CUDA_HOME and CUDA_PATH; the dynamic linker's own search. The last three prefer the
 * mapped libcudart's major version, then the newest. A libcupti with a newer major version than the
 * driver's is never taken. */
#ifndef VPTRACE_TRACER_CUPTI_LIBRARY_CUPTI_LIBRARY_H
#define VPTRACE_TRACER_CUPTI_LIBRARY_CUPTI_LIBRARY_H

#include "formats/base/error.h"
#include "tracer/cupti/library/cupti_abi.h"

#include <stddef.h>

enum { VTR_LIBRARY_PATH_MAX = 4096 };

struct vtr_library {
	struct vtr_cupti_functions fn; /* optional ones may be NULL */
	int major;                     /* CUDA version that it reports; 0: none */
	int may_recurse; /* no function of it may be called before vtr_library_ask() */
	uint32_t api;    /* cuptiGetVersion(): 18 is CUDA 11.8, 130001 is CUDA 13.0 */
	char path[VTR_LIBRARY_PATH_MAX];
};

/* Loads the driver and checks that it works, then does the work of the two functions below; all of it in a child
 * process first, unless the driver is mapped already. `path` NULL: search; otherwise use that file or none. VPT_OK or
 * VPTRACE_ENOCUPTI with the reason; a missing driver is reported before a missing library. One thread at a time. */
int vtr_library_open(const char *path, struct vtr_library *out, struct vpt_err *err);

/* Finds, maps and binds a libcupti without calling it. `path` as above. `driver`: the driver's
 * version, from vtr_driver_load(); 0: none, and any libcupti will do. VPT_OK or VPTRACE_ENOCUPTI
 * with the reason. One thread at a time. Maps nothing that starts a thread or needs a driver. */
int vtr_library_load(const char *path, int driver, struct vtr_library *out, struct vpt_err *err);

/* One place of the search. `path` has no folder if the dynamic linker is to look for it. */
struct vtr_candidate {
	const char *path;
	const char *place; /* "mapped", "beside libcudart", "CUDA_HOME" ... */
	int major;         /* 0: its name has no version */
	int too_new;       /* newer than the driver's major version: never taken */
	int mapped;        /* in this process already */
};

/* Calls `see` for each place of the search in its order, also for places where no file is, until it
 * returns nonzero; returns that, or 0. Maps nothing. `driver` as above. One thread at a time. */
int vtr_library_candidates(
	int driver, int (*see)(void *ctx, const struct vtr_candidate *c), void *ctx);

/* Reads the version of a loaded libcupti. VPT_OK; VPTRACE_ENOCUPTI: no answer, or too old. Needs a
 * working driver that is new enough for it: see driver.c. */
int vtr_library_ask(struct vtr_library *library, struct vpt_err *err);

/* ---- trial.c: does something that may crash or hang in a child process first ---- */

/* Runs `body` in a child of this process that has this thread alone, and waits until it has returned. The child has no
 * handlers of signals, nothing runs at its end, and the host sees neither SIGCHLD nor, by wait(), the child. Twice
 * if its time ran out: another thread may have held a lock of the C library when the first child was made.
 *
 * 0: it returned, or no child could be made, so nothing is known; -1: it did not, and `out` says how it ended: "it
 * crashed (signal 11)". Any thread. Takes a few seconds at most. */
int vtr_trial(void (*body)(void *ctx), void *ctx, char *out, size_t size);

#endif
