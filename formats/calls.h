/* calls.h - CUDA calls: name, number and class. The tables are in calls.def. */
#ifndef VPT_FORMATS_CALLS_H
#define VPT_FORMATS_CALLS_H

#include <stddef.h>
#include <stdint.h>

enum vpt_call_class {
	VPT_CALL_OTHER,
	VPT_CALL_LAUNCH,        /* puts one kernel on a device */
	VPT_CALL_GRAPH_LAUNCH,  /* puts all nodes of a graph on a device */
	VPT_CALL_COPY,          /* queues a copy */
	VPT_CALL_BLOCKING_COPY, /* copies and waits for it */
	VPT_CALL_MEMSET,        /* queues a memset */
	VPT_CALL_SYNC,          /* waits for a device, stream or event */
	VPT_CALL_STREAM_WAIT,   /* makes a stream wait, not the host */
	VPT_CALL_EVENT_RECORD,
	VPT_CALL_QUERY,       /* queries, or sets up an event: returns at once */
	VPT_CALL_ALLOCATION,  /* allocates or frees */
	VPT_CALL_MODULE_LOAD, /* loads, compiles or looks up code */
	VPT_CALL_GRAPH_BUILD, /* makes, instantiates, updates or uploads a graph */
	VPT_CALL_BEGIN_CAPTURE,
	VPT_CALL_END_CAPTURE
};

/* The number of a call, 0 if it is not in the table. Ignores the endings that tools add for the API
 * version or the per-thread stream ("cudaLaunchKernel_v7000", "cuMemFree_v2",
 * "cudaMemcpyAsync_ptsz"). `name` need not end with NUL. Any thread; never allocates. */
uint32_t vpt_call_find(const char *name, size_t len);

const char *vpt_call_name(uint32_t number); /* NULL if unknown */

/* The class of a call by its name, CUDA's or HIP's, with or without such endings. Takes about 1 us:
 * call it once per name. */
enum vpt_call_class vpt_call_class_of(const char *name, size_t len);

/* The same by number; OTHER if unknown. Cached after the first call. Any thread. */
enum vpt_call_class vpt_call_class(uint32_t number);

/* Whether calls of this class can put ops on a device. */
int vpt_call_launches(enum vpt_call_class klass);

/* Whether a call counts towards a chunk's t_min, see FORMAT.md: it launches, or may enclose a call
 * that does. */
int vpt_call_moves_t_min(enum vpt_call_class klass, uint64_t duration_ns);

#endif
