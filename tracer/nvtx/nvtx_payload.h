/* nvtx_payload.h - NVTX's payload extension, and the ids of start/end ranges with a chained
 * tool. */
#ifndef VPTRACE_TRACER_NVTX_NVTX_PAYLOAD_H
#define VPTRACE_TRACER_NVTX_NVTX_PAYLOAD_H

#include <stdint.h>

/* Keeps the id that a chained tool gave a range, 0: none, beside ours, and returns ours for the
 * host. */
uint64_t vtr_nvtx_range_id(uint64_t ours, uint64_t tools);

/* The tool's id of our range; 0: none. */
uint64_t vtr_nvtx_range_id_of_tool(uint64_t ours);

#endif
