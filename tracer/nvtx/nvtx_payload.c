/* nvtx_payload.c - NVTX's payload extension: layouts that the host registers, ranges and marks with
 * only a payload.
 *
 * Such a range has no text; it gets its layout's name. Counters, scopes, time domains and deferred
 * events of the extension are not recorded; their users get ids so that they work. */
#include "tracer/nvtx/nvtx_tool.h"

#include "tracer/nvtx/nvtx_event.h"
#include "tracer/nvtx/nvtx_injection.h"
#include "tracer/nvtx/nvtx_schemas.h"
#include "tracer/ranges/app_threads.h"
#include "tracer/ranges/started_ranges.h"

static _Atomic uint64_t tools_ranges[VTR_STARTED_MAX];

uint64_t vtr_nvtx_range_id(uint64_t ours, uint64_t tools)
{
	if (ours)
		atomic_store_explicit(
			&tools_ranges[vtr_started_slot(ours)], tools, memory_order_relaxed);
	return ours;
}

uint64_t vtr_nvtx_range_id_of_tool(uint64_t ours)
{
	return ours ? atomic_load_explicit(
			      &tools_ranges[vtr_started_slot(ours)], memory_order_relaxed)
		    : 0;
}

typedef uint64_t schema_fn(void *domain, const struct vtr_nvtx_schema *attr);
typedef uint64_t enum_fn(void *domain, const struct vtr_nvtx_enum *attr);
typedef uint64_t scope_fn(void *domain, const struct vtr_nvtx_scope *attr);
typedef void mark_fn(void *domain, const struct vtr_nvtx_blob *blobs, size_t count);
typedef int push_fn(void *domain, const struct vtr_nvtx_blob *blobs, size_t count);
typedef uint64_t start_fn(void *domain, const struct vtr_nvtx_blob *blobs, size_t count);
typedef void end_fn(void *domain, uint64_t id, const struct vtr_nvtx_blob *blobs, size_t count);

static struct vtr_attributes attributes_of(
	const void *domain, const struct vtr_nvtx_blob *blobs, size_t count)
{
	struct vtr_attributes a = {.domain = vtr_nvtx_handle_name(VTR_NVTX_DOMAIN, domain)};

	vtr_nvtx_blobs(blobs, count, a.domain, &a);
	if (blobs && count)
		a.name = vtr_nvtx_schema_name(blobs[0].schema, a.domain);
	return a;
}

static uint64_t schema_register(void *domain, const struct vtr_nvtx_schema *attr)
{
	schema_fn *tool = VTR_NVTX_TOOL_PAYLOAD(VTR_NVTX_SCHEMA_REGISTER, schema_fn *);
	uint64_t tools = tool ? tool(vtr_nvtx_handle_for_tool(domain), attr) : 0;

	return vtr_nvtx_schema_register(attr, vtr_nvtx_handle_name(VTR_NVTX_DOMAIN, domain), tools);
}

static uint64_t enum_register(void *domain, const struct vtr_nvtx_enum *attr)
{
	enum_fn *tool = VTR_NVTX_TOOL_PAYLOAD(VTR_NVTX_ENUM_REGISTER, enum_fn *);
	uint64_t tools = tool ? tool(vtr_nvtx_handle_for_tool(domain), attr) : 0;

	return vtr_nvtx_enum_register(attr, vtr_nvtx_handle_name(VTR_NVTX_DOMAIN, domain), tools);
}

static uint64_t scope_register(void *domain, const struct vtr_nvtx_scope *attr)
{
	scope_fn *tool = VTR_NVTX_TOOL_PAYLOAD(VTR_NVTX_SCOPE_REGISTER, scope_fn *);
	uint64_t tools = tool ? tool(vtr_nvtx_handle_for_tool(domain), attr) : 0;

	return vtr_nvtx_new_id(attr && attr->struct_bytes >= sizeof(*attr) ? attr->id : 0, tools);
}

static void mark_payload(void *domain, const struct vtr_nvtx_blob *blobs, size_t count)
{
	mark_fn *tool = VTR_NVTX_TOOL_PAYLOAD(VTR_NVTX_MARK_PAYLOAD, mark_fn *);
	struct vtr_attributes a = attributes_of(domain, blobs, count);

	vtr_mark(&a);
	if (tool)
		tool(vtr_nvtx_handle_for_tool(domain), blobs, count);
}

static int push_payload(void *domain, const struct vtr_nvtx_blob *blobs, size_t count)
{
	push_fn *tool = VTR_NVTX_TOOL_PAYLOAD(VTR_NVTX_PUSH_PAYLOAD, push_fn *);
	struct vtr_attributes a;
	int depth;

	if (tool)
		tool(vtr_nvtx_handle_for_tool(domain), blobs, count);
	a = attributes_of(domain, blobs, count);
	depth = vtr_range_push(&a);
	return depth < 0 ? VTR_NVTX_NO_TRACKING : depth;
}

/* The payload of a pop or an end is dropped: a range has one payload, from its begin. */
static int pop_payload(void *domain, const struct vtr_nvtx_blob *blobs, size_t count)
{
	push_fn *tool = VTR_NVTX_TOOL_PAYLOAD(VTR_NVTX_POP_PAYLOAD, push_fn *);
	int depth = vtr_range_pop(vtr_nvtx_handle_name(VTR_NVTX_DOMAIN, domain));

	if (tool)
		tool(vtr_nvtx_handle_for_tool(domain), blobs, count);
	return depth < 0 ? VTR_NVTX_NO_TRACKING : depth;
}

static uint64_t start_payload(void *domain, const struct vtr_nvtx_blob *blobs, size_t count)
{
	start_fn *tool = VTR_NVTX_TOOL_PAYLOAD(VTR_NVTX_START_PAYLOAD, start_fn *);
	uint64_t tools = tool ? tool(vtr_nvtx_handle_for_tool(domain), blobs, count) : 0;
	struct vtr_attributes a = attributes_of(domain, blobs, count);

	return vtr_nvtx_range_id(vtr_range_start(&a), tools);
}

static void end_payload(void *domain, uint64_t id, const struct vtr_nvtx_blob *blobs, size_t count)
{
	end_fn *tool = VTR_NVTX_TOOL_PAYLOAD(VTR_NVTX_END_PAYLOAD, end_fn *);
	uint64_t tools = vtr_nvtx_range_id_of_tool(id);

	vtr_range_end(id);
	if (tool && tools)
		tool(vtr_nvtx_handle_for_tool(domain), tools, blobs, count);
}

/* We need every domain, whatever another tool says. */
static uint8_t domain_enabled(void *domain)
{
	(void)domain;
	return 1;
}

static const struct {
	size_t slot;
	vtr_nvtx_function function;
} hooks[] = {
	{VTR_NVTX_SCHEMA_REGISTER, (vtr_nvtx_function)schema_register},
	{VTR_NVTX_ENUM_REGISTER, (vtr_nvtx_function)enum_register},
	{VTR_NVTX_SCOPE_REGISTER, (vtr_nvtx_function)scope_register},
	{VTR_NVTX_MARK_PAYLOAD, (vtr_nvtx_function)mark_payload},
	{VTR_NVTX_PUSH_PAYLOAD, (vtr_nvtx_function)push_payload},
	{VTR_NVTX_POP_PAYLOAD, (vtr_nvtx_function)pop_payload},
	{VTR_NVTX_START_PAYLOAD, (vtr_nvtx_function)start_payload},
	{VTR_NVTX_END_PAYLOAD, (vtr_nvtx_function)end_payload},
	{VTR_NVTX_DOMAIN_ENABLED, (vtr_nvtx_function)domain_enabled},
};

int InitializeInjectionNvtxExtension(struct vtr_nvtx_extension *extension)
{
	struct vtr_nvtx_segment *segment;
	int dealt_with;
	size_t i;

	if (!extension || extension->struct_bytes < offsetof(struct vtr_nvtx_extension, info))
		return 1;
	dealt_with = vtr_nvtx_tool_extend(extension);
	if (extension->module != VTR_NVTX_PAYLOAD_MODULE)
		return dealt_with;
	segment = extension->segment_count ? extension->segments : NULL;
	for (i = 0; segment && segment->slots && i < sizeof(hooks) / sizeof(hooks[0]); i++)
		if (hooks[i].slot < segment->slot_count)
			segment->slots[hooks[i].slot] = (intptr_t)hooks[i].function;
	return 1;
}
