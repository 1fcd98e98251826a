/* nvtx_injection.h - the tracer as NVTX's tool: the host's annotations become events of app_threads.h.
 *
 * NVTX loads the library that NVTX_INJECTION64_PATH names and calls the first function below once
 * for every library in the process that uses NVTX: at that library's first NVTX call, on the
 * calling thread, while other threads spin. It only fills in function pointers. It works without a
 * GPU, for NVTX 2 and 3. */
#ifndef VPTRACE_TRACER_NVTX_NVTX_INJECTION_H
#define VPTRACE_TRACER_NVTX_NVTX_INJECTION_H

#include "tracer/nvtx/nvtx_abi.h"
#include "tracer/vptrace.h"

/* Called by NVTX. Always 1: a 0 would unload the library. */
VPTRACE_API int InitializeInjectionNvtx2(vtr_nvtx_get_table get_table);

/* Called by NVTX for each of its extensions; we support payloads. 1: handled. */
VPTRACE_API int InitializeInjectionNvtxExtension(struct vtr_nvtx_extension *extension);

/* What the first function does last, each time that it has attached. NULL, as at first: nothing. Once, from the
 * library's constructor. */
void vtr_nvtx_when_attached(void (*then)(void));

/* The number of libraries in this process that have attached. 0: no NVTX user made its first call
 * since we were loaded. Any thread. */
unsigned vtr_nvtx_attached(void);

#endif
