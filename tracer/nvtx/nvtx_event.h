/* nvtx_event.h - converts the arguments of NVTX calls to attributes of app_threads.h.
 *
 * Copies all text: it may be freed after the call. Any argument may be NULL, short or nonsense. */
#ifndef VPTRACE_TRACER_NVTX_NVTX_EVENT_H
#define VPTRACE_TRACER_NVTX_NVTX_EVENT_H

#include "tracer/nvtx/nvtx_abi.h"
#include "tracer/ranges/app_threads.h"

#include <wchar.h>

/* Interns a wide string; invalid characters become U+FFFD. NULL is "". */
uint32_t vtr_nvtx_wide(const wchar_t *text);

/* Handles of domains and registered strings. The host gets `tools` if a chained tool returned one,
 * else a number of ours; never NULL. vtr_nvtx_handle_name() returns the name behind a handle;
 * VTR_NAME_EMPTY for NULL and unknown handles. */
enum vtr_nvtx_handle_kind { VTR_NVTX_DOMAIN, VTR_NVTX_STRING };
void *vtr_nvtx_handle(enum vtr_nvtx_handle_kind kind, uint32_t name, void *tools);
uint32_t vtr_nvtx_handle_name(enum vtr_nvtx_handle_kind kind, const void *handle);

/* The handle to pass to a chained tool: its own, or NULL instead of ours. */
void *vtr_nvtx_handle_for_tool(void *handle);

/* The same for an event: if its text is a registered string of ours, a copy without it. */
const struct vtr_nvtx_event *vtr_nvtx_event_for_tool(
	const struct vtr_nvtx_event *event, struct vtr_nvtx_event *copy);

/* The attributes of an event in the domain of a handle. Reads no more of `event` than its size
 * says; NULL: only the domain is set. The payload's blob is borrowed from the host. */
void vtr_nvtx_event(
	const struct vtr_nvtx_event *event, const void *domain, struct vtr_attributes *out);

/* Blobs in the domain of a handle: takes the note if there is one, else the first that has
 * bytes. */
void vtr_nvtx_blobs(const struct vtr_nvtx_blob *blobs, size_t count, uint32_t domain,
	struct vtr_attributes *out);

#endif
