/* open_spans.h - ranges, marks and calls of a thread, their begin events, and what is pending for ranges whose
 * end is not known. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_LANES_OPEN_SPANS_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_LANES_OPEN_SPANS_H

#include "analysis/export/perfetto/lanes/track_event.h"
#include "analysis/past/open_ranges.h"

/* A pending range or mark; or a call that is being written. */
struct vpa_ex_host_span {
	uint64_t start_ns, end_ns; /* end ~0: unknown, see `open` */
	uint64_t value;        /* correlation id of a call; payload of a range, texts by their id */
	uint32_t name, domain; /* texts */
	uint32_t link;         /* of a call, see struct vpa_ex_call */
	uint32_t open; /* of a range, index in the thread's `open`; EX_NO_INDEX: end_ns holds */
	uint32_t result, colour, nvtx_category;
	uint32_t order; /* of arrival, breaks ties */
	uint8_t category, payload, is_mark;
};

/* Orders parents before children. An unknown end is later than all others. */
static inline int vpa_ex_span_is_after(
	const struct vpa_ex_host_span *a, const struct vpa_ex_host_span *b)
{
	return a->start_ns != b->start_ns ? a->start_ns > b->start_ns : a->end_ns < b->end_ns;
}

/* The begin event of a span. `inside` as in vpa_ex_stage_args(). */
void vpa_ex_span_event(struct vpa_ex_out *x, const struct vpa_ex_host_span *span, unsigned *inside,
	struct vpa_ex_event *e);

/* Beside its start, end, name and domain, which are in the table. */
struct vpa_ex_open_range {
	uint64_t cut_ns; /* where its slice had to end earlier; 0: it did not */
	uint64_t value;  /* as in a span */
	uint32_t thread;
	/* Known with the end; emitted with it if the begin was written without them. */
	uint32_t colour, nvtx_category;
	uint8_t written, category, payload; /* written: its slice is over */
};

/* The open ranges of a thread, or of all processes. */
struct vpa_ex_open_ranges {
	struct vpa_open_ranges table;
	struct vpa_ex_open_range *items; /* by number in the table */
	size_t cap;
};

#endif
