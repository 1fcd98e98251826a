/* nvtx_event.h - what NVTX's callers hand over, as attributes of threads.h.
 *
 * All text is copied, as it may be gone after the call. Everything may be NULL, short or
 * nonsense. */
#ifndef VPTRACE_TRACER_NVTX_EVENT_H
#define VPTRACE_TRACER_NVTX_EVENT_H

#include "tracer/nvtx_abi.h"
#include "tracer/threads.h"

#include <wchar.h>

/* The name of a wide string; what is no character becomes U+FFFD. NULL is "". */
uint32_t vtr_nvtx_wide(const wchar_t *text);

/* Handles of domains and registered strings. The host gets `tools`, where a chained tool gave one,
 * else a number of ours; it is never NULL. vtr_nvtx_handle_name() says what it is the handle of: of
 * NULL and of what is unknown, VTR_NAME_EMPTY. */
enum vtr_nvtx_handle_kind { VTR_NVTX_DOMAIN, VTR_NVTX_STRING };
void *vtr_nvtx_handle(enum vtr_nvtx_handle_kind kind, uint32_t name, void *tools);
uint32_t vtr_nvtx_handle_name(enum vtr_nvtx_handle_kind kind, const void *handle);

/* The handle as a chained tool should see it: its own, or NULL instead of ours. */
void *vtr_nvtx_handle_for_tool(void *handle);

/* The same for an event: a registered text of ours is left out of a copy. */
const struct vtr_nvtx_event *vtr_nvtx_event_for_tool(
	const struct vtr_nvtx_event *event, struct vtr_nvtx_event *copy);

/* The attributes of an event in the domain of a handle. Of `event` only the bytes up to its own
 * size are read; NULL: nothing but the domain. The payload's blob is borrowed from the host. */
void vtr_nvtx_event(
	const struct vtr_nvtx_event *event, const void *domain, struct vtr_attributes *out);

/* Blobs in the domain of a handle: the note if there is one, else the first that has bytes. */
void vtr_nvtx_blobs(const struct vtr_nvtx_blob *blobs, size_t count, uint32_t domain,
	struct vtr_attributes *out);

#endif
