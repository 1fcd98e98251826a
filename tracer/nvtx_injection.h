/* nvtx_injection.h - the tracer as NVTX's tool: what the host annotates becomes events of
 * threads.h.
 *
 * NVTX loads the library that NVTX_INJECTION64_PATH names and calls the first function below, once
 * for every library in the process that uses NVTX, at that library's first NVTX call, on whatever
 * thread that is; other threads spin until it returns. It fills in function pointers and no more.
 * It works without a GPU, for NVTX 2 and 3. */
#ifndef VPTRACE_TRACER_NVTX_INJECTION_H
#define VPTRACE_TRACER_NVTX_INJECTION_H

#include "tracer/nvtx_abi.h"
#include "tracer/vptrace.h"

/* Called by NVTX. Always 1: a 0 would unload the library. */
VPTRACE_API int InitializeInjectionNvtx2(vtr_nvtx_get_table get_table);

/* Called by NVTX for each of its extensions; of these we know payloads. 1: dealt with. */
VPTRACE_API int InitializeInjectionNvtxExtension(struct vtr_nvtx_extension *extension);

/* How many libraries of this process have attached themselves. 0: nothing that uses NVTX has called
 * it since we were loaded, or all of it had done so before. Any thread. */
unsigned vtr_nvtx_attached(void);

/* The streams that the host named, by their CUstream or cudaStream_t, and the names. Any thread. */
void vtr_nvtx_streams(void (*take)(void *ctx, uint64_t stream, uint32_t name), void *ctx);

#endif
