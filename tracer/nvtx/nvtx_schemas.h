/* nvtx_schemas.h - the payload layouts that the host has registered with NVTX.
 *
 * An id below 2^32 was chosen by the host and is valid in one domain; other ids are assigned by us
 * or by a chained tool. We keep a layout's name, size and fields; the layout named "vptrace" is
 * struct vptrace_note. */
#ifndef VPTRACE_TRACER_NVTX_NVTX_SCHEMAS_H
#define VPTRACE_TRACER_NVTX_NVTX_SCHEMAS_H

#include "tracer/nvtx/nvtx_abi.h"

/* Remembers a layout of a domain. `tools`: the id that a chained tool gave it, 0: none. Returns its
 * id; 0 if `attr` is NULL. */
uint64_t vtr_nvtx_schema_register(
	const struct vtr_nvtx_schema *attr, uint32_t domain, uint64_t tools);

/* The id of a registration: the host's own, the tool's, or a new one. */
uint64_t vtr_nvtx_new_id(uint64_t hosts, uint64_t tools);

/* The id under which the capture keeps a layout: VTR_SCHEMA_NOTE for the notes, else the same. */
uint64_t vtr_nvtx_schema_id(uint64_t id, uint32_t domain);

/* Remembers the size of an enumeration; returns as vtr_nvtx_schema_register(). */
uint64_t vtr_nvtx_enum_register(const struct vtr_nvtx_enum *attr, uint32_t domain, uint64_t tools);

/* Its number in nvtx_layouts.h; 0: none. */
uint32_t vtr_nvtx_schema_layout(uint64_t id, uint32_t domain);

/* Its bytes as registered, or as its fields have them; 0: unknown. Also of an enumeration. */
size_t vtr_nvtx_schema_bytes(uint64_t id, uint32_t domain);

/* Its name; VTR_NAME_EMPTY: unknown. */
uint32_t vtr_nvtx_schema_name(uint64_t id, uint32_t domain);

#endif
