/* cupti_attributes.h - CUPTI's attributes, set at each start because another client may have
 * changed them.
 *
 * Buffers per thread. The attribute is read first, and left alone if it is on. If it is off it is
 * switched on, even if another client switched it off while CUPTI had buffers of ours. The manual
 * leaves a change during a session undefined, but that client has made one already; and when it
 * clears the attribute again, its profile is over: see cupti_watch.h.
 *
 * Zeroed buffers. Ours are zeroed already; otherwise CUPTI would zero them on the host's thread.
 * May be changed at any time.
 *
 * Buffers on the device. CUPTI keeps the times of 100,000 ops in a buffer of 3.2 MB. The launching
 * thread allocates more as needed, up to 250 per context; an op beyond that has no times. Graphs
 * with millions of nodes may need more. Only the host can ask for it, since the memory is its own;
 * a new limit applies to contexts created later. The capture's metadata gives CUPTI's values. */
#ifndef VPTRACE_TRACER_CUPTI_RECORDS_CUPTI_ATTRIBUTES_H
#define VPTRACE_TRACER_CUPTI_RECORDS_CUPTI_ATTRIBUTES_H

#include "tracer/cupti/library/cupti_abi.h"
#include "tracer/write/recorder.h"

struct vtr_cupti_attributes {
	int one_for_all; /* threads share a buffer, and this could not be changed */
	uint64_t device_bytes, device_limit, device_ready; /* buffers on the device; 0: unknown */
	uint64_t refused_limit; /* the limit asked for; 0: none was refused */
};

/* Call it between subscribing and registering the callbacks. `api`: CUPTI's version;
 * `device_buffers`: limit per context, 0: CUPTI's own. */
void vtr_cupti_attributes_set(const struct vtr_cupti_functions *fn, uint32_t api,
	uint64_t device_buffers, struct vtr_cupti_attributes *out);

/* Facts for the capture's metadata. The writer only. */
void vtr_cupti_attributes_describe(const struct vtr_cupti_attributes *a, struct vtr_recorder *r);

#endif
