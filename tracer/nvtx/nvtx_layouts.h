/* nvtx_layouts.h - what the fields of a registered payload are, and a payload of them as JSON text.
 *
 *	{"NCCL communicator ID":11400714819323198485,"Message size [bytes]":3594240,"Peer rank":3}
 *
 * Keys are the fields' names as registered. A layout is kept if it is static and all its fields are
 * numbers: then a capture has the values, and no reader needs the layout. Nothing here locks or
 * allocates; layouts are never removed. */
#ifndef VPTRACE_TRACER_NVTX_NVTX_LAYOUTS_H
#define VPTRACE_TRACER_NVTX_NVTX_LAYOUTS_H

#include "tracer/nvtx/nvtx_abi.h"

enum { VTR_LAYOUT_FIELDS_MAX = 16, VTR_LAYOUT_TEXT_MAX = 1536 };

/* Keeps a layout. `known`: one that may be the same, 0: none. Returns its number; 0: it is of
 * another kind, or there are too many. Any thread. */
uint32_t vtr_nvtx_layout(const struct vtr_nvtx_schema *attr, uint32_t known);

/* The bytes of its fields; 0 for number 0, and where a field's size is registered with its type. */
size_t vtr_nvtx_layout_bytes(uint32_t layout);

/* Writes the fields that `blob` contains whole. Returns the length without the NUL; 0: there is no
 * layout of this schema in this domain, or no field. Any thread. */
size_t vtr_nvtx_payload_text(uint64_t schema, uint32_t domain, const void *blob, size_t bytes,
	char out[VTR_LAYOUT_TEXT_MAX]);

#endif
