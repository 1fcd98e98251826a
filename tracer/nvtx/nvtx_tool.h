/* nvtx_tool.h - a chained NVTX tool: it attaches before us and is called after us.
 *
 * VPTRACE_NVTX_CHAIN names its library. It fills NVTX's slots as if it were alone; we save its
 * functions and replace them by ours, which call them. Slots that we do not replace stay the
 * tool's. The host gets the tool's handles and schema ids, where it returns any, and we look ours
 * up by them. */
#ifndef VPTRACE_TRACER_NVTX_NVTX_TOOL_H
#define VPTRACE_TRACER_NVTX_NVTX_TOOL_H

#include "tracer/nvtx/nvtx_abi.h"

#include <stdatomic.h>
#include <stdint.h>

/* The tool's function for each slot; NULL: none. The last DSO attached counts: a tool uses the same
 * functions for all. */
extern vtr_nvtx_function _Atomic vtr_nvtx_tool[VTR_NVTX_MODULES][VTR_NVTX_CORE_COUNT];
extern vtr_nvtx_function _Atomic vtr_nvtx_tool_payload[VTR_NVTX_PAYLOAD_SLOTS];

#define VTR_NVTX_TOOL(module, id, type)                                                            \
	((type)atomic_load_explicit(&vtr_nvtx_tool[module][id], memory_order_relaxed))
#define VTR_NVTX_TOOL_PAYLOAD(id, type)                                                            \
	((type)atomic_load_explicit(&vtr_nvtx_tool_payload[id], memory_order_relaxed))

/* Lets the tool fill the slots of a DSO, and saves its functions. Does nothing without a tool. */
void vtr_nvtx_tool_attach(vtr_nvtx_get_table get_table, const struct vtr_nvtx_callbacks *callbacks);

/* The same for an extension. 1: the tool has handled it, or there is none. */
int vtr_nvtx_tool_extend(struct vtr_nvtx_extension *extension);

/* ---- nvtx_payload.c: NVTX's payload extension, and the ids of start/end ranges with a chained
 * tool ---- */

/* Keeps the id that a chained tool gave a range, 0: none, beside ours, and returns ours for the
 * host. */
uint64_t vtr_nvtx_range_id(uint64_t ours, uint64_t tools);

/* The tool's id of our range; 0: none. */
uint64_t vtr_nvtx_range_id_of_tool(uint64_t ours);

#endif
