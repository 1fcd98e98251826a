/* cupti_attributes.h - what CUPTI is asked to be before it records: set at each start, since another client may have changed it.
 *
 * Buffers by thread. It is read first, and nothing is done where it is on already. Where it is off it is switched on, also
 * after another client has switched it off while CUPTI had buffers of ours: the manual leaves such changes undefined, but
 * that client has made one already, and the next time it does so shows that its profile is over, see cupti_watch.h.
 *
 * Zeroed buffers. Ours come zeroed, which CUPTI would otherwise do on the host's thread. It may change at any time.
 *
 * Buffers on the device. CUPTI keeps the times of 100,000 ops in one of 3.2 MB, takes more as they are needed, in the thread
 * that launches, and stops at 250 for a context: an op beyond has no times. Graphs with millions of nodes may need more,
 * which only the host can say, whose memory it is; it applies to contexts made later. What CUPTI has is told in the
 * capture. */
#ifndef VPTRACE_TRACER_CUPTI_ATTRIBUTES_H
#define VPTRACE_TRACER_CUPTI_ATTRIBUTES_H

#include "tracer/cupti_abi.h"
#include "tracer/recorder.h"

struct vtr_cupti_attributes {
	int one_for_all; /* threads share a buffer, which could not be changed */
	uint64_t device_bytes, device_limit, device_ready; /* buffers on the device; 0: not told */
	uint64_t refused_limit; /* the limit asked for; 0: none was refused */
};

/* Between subscribing and registering the callbacks. `api` is CUPTI's version; `device_buffers` is the
 * limit for a context, 0: CUPTI's own. */
void vtr_cupti_attributes_set(const struct vtr_cupti_functions *fn, uint32_t api,
	uint64_t device_buffers, struct vtr_cupti_attributes *out);

/* The writer: facts for the capture. */
void vtr_cupti_attributes_describe(const struct vtr_cupti_attributes *a, struct vtr_recorder *r);

#endif
