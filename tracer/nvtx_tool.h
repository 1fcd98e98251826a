/* nvtx_tool.h - another NVTX tool that was there first: it is asked first, and called after us.
 *
 * VPTRACE_NVTX_CHAIN names its library. It fills NVTX's slots as if it were alone; what it put
 * there is remembered and replaced by our functions, which call it. What we do not replace stays
 * its own. Handles and schema ids that the host gets are the tool's, where it gives any: we look
 * ours up by them. */
#ifndef VPTRACE_TRACER_NVTX_TOOL_H
#define VPTRACE_TRACER_NVTX_TOOL_H

#include "tracer/nvtx_abi.h"

#include <stdatomic.h>

/* What the tool put into each slot, NULL: nothing. The last DSO that was set up counts: a tool uses
 * the same functions for all. */
extern vtr_nvtx_function _Atomic vtr_nvtx_tool[VTR_NVTX_MODULES][VTR_NVTX_CORE_COUNT];
extern vtr_nvtx_function _Atomic vtr_nvtx_tool_payload[VTR_NVTX_PAYLOAD_SLOTS];

#define VTR_NVTX_TOOL(module, id, type)                                                            \
	((type)atomic_load_explicit(&vtr_nvtx_tool[module][id], memory_order_relaxed))
#define VTR_NVTX_TOOL_PAYLOAD(id, type)                                                            \
	((type)atomic_load_explicit(&vtr_nvtx_tool_payload[id], memory_order_relaxed))

/* Lets the tool fill the slots of a DSO and remembers what it put there. Nothing happens where
 * there is no tool. */
void vtr_nvtx_tool_attach(vtr_nvtx_get_table get_table, const struct vtr_nvtx_callbacks *callbacks);

/* The same for an extension. 1: the tool has dealt with it, or there is none. */
int vtr_nvtx_tool_extend(struct vtr_nvtx_extension *extension);

#endif
