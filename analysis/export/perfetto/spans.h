/* spans.h - ranges, marks and calls of a thread, and what their slices say. For this folder alone. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_SPANS_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_SPANS_H

#include "analysis/export/perfetto/event.h"

/* A range or a mark that is not written yet; a call, when it is written. */
struct vpa_ex_host_span {
	uint64_t start_ns, end_ns; /* end ~0: not known, see open */
	uint64_t value;        /* correlation id of a call; payload of a range, texts by their id */
	uint32_t name, domain; /* texts */
	uint32_t link;         /* of a call, as there */
	uint32_t open; /* of a range, place in the thread's `open`; EX_NO_INDEX: end_ns holds */
	uint32_t result, colour, nvtx_category;
	uint32_t order; /* of arrival: decides between equals */
	uint8_t category, payload, is_mark;
};

/* Parents before children. An end that is not known yet is later than all others. */
static inline int vpa_ex_span_is_after(
	const struct vpa_ex_host_span *a, const struct vpa_ex_host_span *b)
{
	return a->start_ns != b->start_ns ? a->start_ns > b->start_ns : a->end_ns < b->end_ns;
}

/* The event that a span begins with. `inside` as in vpa_ex_stage_args(). */
void vpa_ex_span_event(struct vpa_ex_out *x, const struct vpa_ex_host_span *span, unsigned *inside,
	struct vpa_ex_event *e);

#endif
