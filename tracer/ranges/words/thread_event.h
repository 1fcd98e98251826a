/* thread_event.h - an event of an application thread: what the thread says of it, and how the writer gets it. */
#ifndef VPTRACE_TRACER_RANGES_WORDS_THREAD_EVENT_H
#define VPTRACE_TRACER_RANGES_WORDS_THREAD_EVENT_H

#include <stdint.h>

enum {
	VTR_DEPTH_MAX = 256,    /* ranges open on one thread */
	VTR_STARTED_MAX = 4096, /* start/end ranges open in the process */
	VTR_BLOB_MAX = 256      /* bytes kept of a payload */
};

/* The payload of a range or mark. All zeros: none. */
struct vtr_payload {
	uint32_t type;    /* VPT_PAYLOAD_* of formats/events.def; BLOB: `bytes` bytes at `blob` */
	uint32_t bytes;   /* at most VTR_BLOB_MAX */
	uint64_t value;   /* the bits of a number */
	uint64_t schema;  /* of a blob: NVTX's schema id; VTR_SCHEMA_NOTE: a struct vptrace_note */
	const void *blob; /* borrowed for the call */
};
#define VTR_SCHEMA_NOTE UINT64_MAX

struct vtr_attributes {        /* of a range or mark; all zeros but the name will do */
	uint32_t name, domain; /* range_strings.h */
	uint32_t category, colour;
	struct vtr_payload payload;
};

enum vtr_event_type {
	VTR_EVENT_RANGE, /* a range that ended */
	VTR_EVENT_MARK,
	VTR_EVENT_COUNTER,
	VTR_EVENT_GRAPH /* a CUDA graph node was created or destroyed; from CUPTI's callbacks */
};

struct vtr_event {
	enum vtr_event_type type;
	uint32_t tid, end_tid;     /* the threads that opened and closed it */
	uint64_t start_ns, end_ns; /* CLOCK_REALTIME; a mark, counter or graph event: start_ns */
	/* range_strings.h; a counter's unit is in `domain`, a graph event's innermost range in `name` */
	uint32_t name, domain;
	uint32_t range_kind; /* VPT_RANGEKIND_* */
	uint32_t unmatched;  /* 1: it was opened before the capture, or is open when it ends */
	uint32_t category, colour;
	struct vtr_payload payload; /* a counter: value = bits of the double */
	uint32_t graph_op;          /* VPT_GRAPHOP_* */
	uint64_t graph, node, origin;
};

#endif
