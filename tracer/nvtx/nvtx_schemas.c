/* nvtx_schemas.c - the payload layouts that the host has registered with NVTX. */
#include "tracer/nvtx/nvtx_schemas.h"

#include "tracer/nvtx/nvtx_layouts.h"
#include "tracer/nvtx/nvtx_map.h"
#include "tracer/ranges/app_threads.h"
#include "tracer/ranges/words/range_strings.h"

#include <string.h>

enum { SCHEMAS = 1024 };

/* names: of each layout; sizes: bytes << 1 | it is the note; layouts: numbers of nvtx_layouts.h. Ids of hosts and of tools are kept
 * apart: the same number may occur as both. */
static struct {
	struct vtr_nvtx_pair names[SCHEMAS], sizes[SCHEMAS], layouts[SCHEMAS];
} dynamic_ids, static_ids;

static _Atomic uint64_t last_id = VTR_NVTX_FIRST_DYNAMIC_ID;

uint64_t vtr_nvtx_new_id(uint64_t hosts, uint64_t tools)
{
	if (tools)
		return tools;
	if (hosts)
		return hosts;
	return atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
}

static uint64_t key_of(uint64_t id, uint32_t domain)
{
	return id && id < VTR_NVTX_FIRST_DYNAMIC_ID ? (uint64_t)domain << 32 | id : id;
}

static struct vtr_nvtx_pair *names_of(uint64_t id)
{
	return id < VTR_NVTX_FIRST_DYNAMIC_ID ? static_ids.names : dynamic_ids.names;
}

static struct vtr_nvtx_pair *sizes_of(uint64_t id)
{
	return id < VTR_NVTX_FIRST_DYNAMIC_ID ? static_ids.sizes : dynamic_ids.sizes;
}

static struct vtr_nvtx_pair *layouts_of(uint64_t id)
{
	return id < VTR_NVTX_FIRST_DYNAMIC_ID ? static_ids.layouts : dynamic_ids.layouts;
}

static void keep_size(uint64_t id, uint32_t domain, size_t bytes, int is_note)
{
	vtr_nvtx_map_put(sizes_of(id), SCHEMAS, key_of(id, domain),
		(bytes < INT32_MAX ? (uint32_t)bytes << 1 : 0) | (uint32_t)is_note);
}

static uint32_t size_word(uint64_t id, uint32_t domain)
{
	uint32_t word = 0;

	vtr_nvtx_map_get(sizes_of(id), SCHEMAS, key_of(id, domain), &word);
	return word;
}

uint64_t vtr_nvtx_schema_register(
	const struct vtr_nvtx_schema *attr, uint32_t domain, uint64_t tools)
{
	const char *name;
	uint64_t id;
	size_t bytes;
	int note;

	if (!attr)
		return tools;
	name = attr->fields & VTR_NVTX_SCHEMA_HAS_NAME ? attr->name : NULL;
	bytes = attr->fields & VTR_NVTX_SCHEMA_HAS_SIZE ? attr->static_bytes : 0;
	note = name && !strcmp(name, "vptrace") && bytes == sizeof(struct vptrace_note);
	id = vtr_nvtx_new_id(attr->fields & VTR_NVTX_SCHEMA_HAS_ID ? attr->id : 0, tools);
	vtr_nvtx_map_put(names_of(id), SCHEMAS, key_of(id, domain), vtr_name_of(name));
	if (!note) {
		uint32_t layout = vtr_nvtx_layout(attr, vtr_nvtx_schema_layout(id, domain));

		vtr_nvtx_map_put(layouts_of(id), SCHEMAS, key_of(id, domain), layout);
		bytes = bytes ? bytes : vtr_nvtx_layout_bytes(layout);
	}
	keep_size(id, domain, bytes, note);
	return id;
}

uint64_t vtr_nvtx_enum_register(const struct vtr_nvtx_enum *attr, uint32_t domain, uint64_t tools)
{
	uint64_t id =
		vtr_nvtx_new_id(attr && attr->fields & VTR_NVTX_ENUM_HAS_ID ? attr->id : 0, tools);

	if (attr && attr->fields & VTR_NVTX_ENUM_HAS_SIZE)
		keep_size(id, domain, attr->value_bytes, 0);
	return id;
}

uint32_t vtr_nvtx_schema_layout(uint64_t id, uint32_t domain)
{
	uint32_t layout = 0;

	vtr_nvtx_map_get(layouts_of(id), SCHEMAS, key_of(id, domain), &layout);
	return layout;
}

uint64_t vtr_nvtx_schema_id(uint64_t id, uint32_t domain)
{
	return size_word(id, domain) & 1 ? VTR_SCHEMA_NOTE : id;
}

size_t vtr_nvtx_schema_bytes(uint64_t id, uint32_t domain)
{
	return size_word(id, domain) >> 1;
}

uint32_t vtr_nvtx_schema_name(uint64_t id, uint32_t domain)
{
	uint32_t name = VTR_NAME_EMPTY;

	vtr_nvtx_map_get(names_of(id), SCHEMAS, key_of(id, domain), &name);
	return name;
}
