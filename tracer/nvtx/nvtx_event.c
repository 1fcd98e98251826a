/* nvtx_event.c - converts the arguments of NVTX calls to attributes of app_threads.h.
 *
 * Our handle is a number: a mark in the upper bits, the kind, the name's number. No lookup is
 * needed, unless a tool is chained whose handles the host uses. */
#include "tracer/nvtx/nvtx_event.h"

#include "formats/base/utf8.h"
#include "formats/event_schema.h"
#include "tracer/nvtx/nvtx_map.h"
#include "tracer/nvtx/nvtx_schemas.h"
#include "tracer/ranges/words/range_strings.h"

#include <string.h>

enum { BLOBS_MAX = 16, HANDLES = 16384 };

#define OUR_HANDLE  (UINT64_C(0x767472) << 40) /* "vtr": no user-space address begins like this */
#define HANDLE_MARK (UINT64_C(0xffffff) << 40)

static struct vtr_nvtx_pair tools_handles[2][HANDLES];

uint32_t vtr_nvtx_wide(const wchar_t *text)
{
	char utf8[VTR_NAME_BYTES_MAX + 8];
	size_t len = 0;

	while (text && *text && len <= VTR_NAME_BYTES_MAX)
		len += vpt_utf8_put(utf8 + len, (uint32_t)*text++);
	return vtr_name(utf8, len);
}

static int is_ours(const void *handle)
{
	return ((uint64_t)(uintptr_t)handle & HANDLE_MARK) == OUR_HANDLE;
}

void *vtr_nvtx_handle(enum vtr_nvtx_handle_kind kind, uint32_t name, void *tools)
{
	if (tools && !is_ours(tools)) {
		vtr_nvtx_map_put(tools_handles[kind], HANDLES, (uint64_t)(uintptr_t)tools, name);
		return tools;
	}
	return (void *)(uintptr_t)(OUR_HANDLE | (uint64_t)kind << 32 | name);
}

uint32_t vtr_nvtx_handle_name(enum vtr_nvtx_handle_kind kind, const void *handle)
{
	uint64_t number = (uint64_t)(uintptr_t)handle;
	uint32_t name = VTR_NAME_EMPTY;

	if (!handle)
		return VTR_NAME_EMPTY;
	if (!is_ours(handle))
		vtr_nvtx_map_get(tools_handles[kind], HANDLES, number, &name);
	else if ((number >> 32 & 0xff) == (uint64_t)kind && (uint32_t)number < VTR_NAMES_MAX)
		name = (uint32_t)number;
	return name;
}

void *vtr_nvtx_handle_for_tool(void *handle)
{
	return is_ours(handle) ? NULL : handle;
}

const struct vtr_nvtx_event *vtr_nvtx_event_for_tool(
	const struct vtr_nvtx_event *event, struct vtr_nvtx_event *copy)
{
	if (!event || event->size < sizeof(*event) ||
		event->text_type != VTR_NVTX_TEXT_REGISTERED || !is_ours(event->text))
		return event;
	*copy = *event;
	copy->size = sizeof(*copy);
	copy->text = NULL;
	return copy;
}

static uint32_t text_of(int32_t type, const void *text)
{
	switch (type) {
	case VTR_NVTX_TEXT_ASCII:
		return vtr_name_of(text);
	case VTR_NVTX_TEXT_WIDE:
		return vtr_nvtx_wide(text);
	case VTR_NVTX_TEXT_REGISTERED:
		return vtr_nvtx_handle_name(VTR_NVTX_STRING, text);
	}
	return VTR_NAME_EMPTY;
}

void vtr_nvtx_event(
	const struct vtr_nvtx_event *event, const void *domain, struct vtr_attributes *out)
{
	size_t size = event ? event->size : 0;

	memset(out, 0, sizeof(*out));
	out->domain = vtr_nvtx_handle_name(VTR_NVTX_DOMAIN, domain);
	/* Fields come in groups, a type and its value; a group is used only if the host's struct
	 * contains all of it. */
	if (size >= offsetof(struct vtr_nvtx_event, colour_type))
		out->category = event->category;
	if (size >= offsetof(struct vtr_nvtx_event, payload_type) &&
		event->colour_type == VTR_NVTX_COLOUR_ARGB)
		out->colour = event->colour;
	if (size >= offsetof(struct vtr_nvtx_event, text_type)) {
		int32_t type = event->payload_type;

		if (type > 0 && type <= VTR_NVTX_NUMBER_MAX) {
			out->payload.type = (uint32_t)type;
			out->payload.value = event->payload;
		} else if (type == VTR_NVTX_PAYLOAD_EXTENDED && event->payload_count > 0) {
			vtr_nvtx_blobs((const void *)(uintptr_t)event->payload,
				(size_t)event->payload_count, out->domain, out);
		}
	}
	if (size >= sizeof(*event))
		out->name = text_of(event->text_type, event->text);
}

void vtr_nvtx_blobs(const struct vtr_nvtx_blob *blobs, size_t count, uint32_t domain,
	struct vtr_attributes *out)
{
	size_t i;

	if (!blobs)
		return;
	for (i = 0; i < count && i < BLOBS_MAX; i++) {
		uint64_t schema = vtr_nvtx_schema_id(blobs[i].schema, domain);
		size_t bytes = blobs[i].bytes;

		if (bytes == SIZE_MAX)
			bytes = vtr_nvtx_schema_bytes(blobs[i].schema, domain);
		if (!blobs[i].data || !bytes)
			continue;
		if (schema == VTR_SCHEMA_NOTE && bytes < sizeof(struct vptrace_note))
			continue;
		if (out->payload.type == VPT_PAYLOAD_BLOB && schema != VTR_SCHEMA_NOTE)
			continue;
		out->payload.type = VPT_PAYLOAD_BLOB;
		out->payload.bytes = bytes < VTR_BLOB_MAX ? (uint32_t)bytes : VTR_BLOB_MAX;
		out->payload.schema = schema;
		out->payload.blob = blobs[i].data;
		if (schema == VTR_SCHEMA_NOTE)
			return;
	}
}
