/* nvtx.h - what the simulated NCCL needs of NVTX 3, which the real one has compiled in: it looks
 * for a tool at the first call and hands it slots. So NVTX's headers are not needed to build it.
 *
 * Any thread may call any function. Without a tool (NVTX_INJECTION64_PATH) each does nothing and
 * returns NULL. */
#ifndef VPT_STANDIN_NCCL_NVTX_H
#define VPT_STANDIN_NCCL_NVTX_H

#include "tracer/nvtx/nvtx_abi.h"

/* Handles that the tool keeps. `name` and `text` are copied. */
void *nvtx_domain(const char *name);
void *nvtx_string(void *domain, const char *text);

/* Ids of both are static: the caller has chosen them. */
void nvtx_schema(void *domain, const struct vtr_nvtx_schema *schema);
void nvtx_enum(void *domain, const struct vtr_nvtx_enum *values);

/* A range of this thread; `text` is a handle of nvtx_string(). The payload is read at once. */
void nvtx_push(void *domain, void *text, const struct vtr_nvtx_blob *payload);
void nvtx_pop(void *domain);

#endif
