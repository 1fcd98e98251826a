/* thread_tracks.h - a thread's pending spans, written as nested slices. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_LANES_THREAD_TRACKS_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_LANES_THREAD_TRACKS_H

#include "analysis/export/perfetto/lanes/launch_links.h"
#include "analysis/export/perfetto/lanes/side_by_side.h"
#include "analysis/export/perfetto/lanes/track_event.h"
#include "analysis/past/open_ranges.h"

/* ---- open_spans.c: ranges, marks and calls of a thread, their begin events, and what is pending for ranges whose
 * end is not known. Private to this folder. ---- */

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

/* The encoded fields that the begins of calls of one name share on a thread. */
struct vpa_ex_call_form {
	uint32_t name;       /* text; undefined if never used */
	uint32_t generation; /* in which it was emitted; 0: never */
	uint8_t size, bytes[23];
};

enum { EX_CALL_FORMS = 64 };

struct vpa_ex_slice {
	uint64_t own_end_ns, end_ns; /* end_ns: at most that of the slice around it */
	uint32_t open;
	uint8_t category;
	uint8_t inside; /* enum vpa_scope_inside for spans that begin in it */
};

struct vpa_ex_thread {
	uint32_t index; /* of the model */
	struct vpt_pf_sequence sequence;
	uint8_t begun, changed; /* changed: the end of an open range on the stack became known */
	uint32_t next_order;
	uint64_t last_ns; /* of the newest event */
	struct vpa_ex_host_span *spans;
	size_t count, cap;
	struct vpa_ex_call *calls;
	size_t call_count, call_cap;
	uint8_t spans_mixed, calls_mixed; /* not in order */
	struct vpa_ex_call_form forms[EX_CALL_FORMS], forms_with_ops[EX_CALL_FORMS];
	struct vpa_ex_slice *stack;
	size_t depth, stack_cap;
	struct vpa_ex_open_ranges open;
	struct vpa_ex_track late;
};

/* Orders parents before children. */
static inline int vpa_ex_call_is_after(const struct vpa_ex_call *a, const struct vpa_ex_call *b)
{
	return a->start_ns != b->start_ns ? a->start_ns > b->start_ns : a->end_ns < b->end_ns;
}

/* Writes what begins before `until_ns`, in order, so that slices nest. 0 or an error code. */
int vpa_ex_thread_write(
	struct vpa_ex_out *x, struct vpa_ex_thread *t, uint64_t until_ns, uint64_t times_from_ns);
/* At the end of the trace, when every range has its end: writes the rest. */
int vpa_ex_thread_finish(struct vpa_ex_out *x, struct vpa_ex_thread *t);
void vpa_ex_thread_free(struct vpa_ex_thread *t);

/* Perfetto's thread ids are 31 bits; a thread without one gets an id that Linux never assigns. */
uint32_t vpa_ex_thread_id(const struct vpa_ex_out *x, uint32_t thread);

#endif
