/* host.h - what a thread did, on its way out. For host*.c alone. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_HOST_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_HOST_H

#include "analysis/export/perfetto/parts.h"

enum { EX_NO_INDEX = UINT32_MAX };

/* A call that is not written yet. */
struct vpa_ex_call {
	uint64_t start_ns, end_ns, correlation;
	uint32_t name; /* text */
	uint32_t link; /* row of vpa_ex_host.links; EX_NO_INDEX: none */
	uint32_t result;
	uint32_t order; /* of arrival: decides between equals */
};

/* What the begins of calls of one name have in common on a thread, encoded. */
struct vpa_ex_call_form {
	uint32_t name;       /* text; undefined if it was never used */
	uint32_t generation; /* in which it was told; 0: never */
	uint8_t size, bytes[23];
};

enum { EX_CALL_FORMS = 64 };

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

/* A range whose end was not known when it was met. */
struct vpa_ex_open_range {
	uint64_t start_ns, end_ns; /* end ~0: still open */
	uint64_t cut_ns;           /* where its slice had to end before that; 0: it did not */
	uint64_t value;            /* as in a span */
	uint32_t name, domain, thread;
	uint32_t colour,
		nvtx_category; /* known since its end is: told with that, if its begin was written without */
	uint32_t
		next; /* 1 + the next in its bucket while its end is not known; of free places; 0: the last */
	uint8_t used, written, category, payload; /* written: its slice is over */
};

/* Those of a thread, or of all processes. */
struct vpa_ex_open_ranges {
	struct vpa_ex_open_range *items;
	size_t count, cap;
	uint32_t unused, *buckets;       /* 1 + a place; 0: none */
	size_t bucket_count, open_count; /* a power of two or 0; whose end is not known */
};

struct vpa_ex_slice {
	uint64_t own_end_ns, end_ns; /* end: no later than that of what is around it */
	uint32_t open;
	uint8_t category;
	uint8_t inside; /* enum vpa_stage_inside, of what begins in it */
};

struct vpa_ex_thread {
	struct vpt_pf_sequence sequence;
	uint8_t begun, changed; /* changed: an open range on the stack has got its end */
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

/* A call that ops may name. */
struct vpa_ex_link {
	uint64_t correlation, start_ns, end_ns;
	int64_t pid;
	uint32_t thread, next; /* next in its bucket, or free; EX_NO_INDEX: the last */
	uint32_t count, first; /* ops; the first one's number */
	uint32_t list;   /* of all numbers, where there are several: row of vpa_ex_host.lists */
	uint32_t stream; /* of the first op */
	uint8_t used, waits, done, replaced; /* replaced: the call around it has launched */
};

/* END: a synchronising call, until all ops that it may have waited for have been written. */
enum { EX_WAITS_NOT, EX_WAITS_OP, EX_WAITS_OPS, EX_WAITS_SHORTLY, EX_WAITS_END };

/* Parents before children. */
static inline int vpa_ex_call_is_after(const struct vpa_ex_call *a, const struct vpa_ex_call *b)
{
	return a->start_ns != b->start_ns ? a->start_ns > b->start_ns : a->end_ns < b->end_ns;
}

/* An end that is not known yet is later than all others. */
static inline int vpa_ex_span_is_after(
	const struct vpa_ex_host_span *a, const struct vpa_ex_host_span *b)
{
	return a->start_ns != b->start_ns ? a->start_ns > b->start_ns : a->end_ns < b->end_ns;
}

struct vpa_ex_host {
	struct vpa_ex_thread *threads; /* by index of the model */
	size_t thread_cap;
	struct vpa_ex_link *links;
	size_t link_count, link_cap;
	struct vpa_ex_list {
		uint32_t *numbers;
		size_t cap;
		uint32_t next; /* free one; EX_NO_INDEX: the last */
	} * lists;
	size_t list_count, list_cap;
	uint32_t unused_list;
	struct vpa_ex_call_name {
		uint32_t name; /* text */
		uint8_t known, waits;
	} call_names[256]; /* by call number */
	uint32_t unused, *buckets;
	size_t bucket_count, used_links;
	struct vpa_ex_last {
		uint64_t correlation;
		uint32_t link;
	} * last; /* by stream: of its newest op, if that waits for others of its call */
	size_t last_cap;
	size_t held;                      /* spans and calls of all threads */
	uint64_t former_ns;               /* what chunks could bring before the newest one */
	struct vpa_ex_open_ranges wide;   /* those of whole processes */
	struct vpa_ex_track *wide_tracks; /* by row of vpa_export.pids */
	size_t wide_track_cap;
};

/* host_open.c */
/* The place of the range that is still open; EX_NO_INDEX: there is none. Of equals any. */
uint32_t vpa_ex_open_find(
	const struct vpa_ex_open_ranges *o, uint64_t start_ns, uint32_t name, uint32_t domain);
/* Takes in a copy of a range that is open now. Returns its place, which it keeps until it is dropped; EX_NO_INDEX: no memory. */
uint32_t vpa_ex_open_add(struct vpa_ex_open_ranges *o, const struct vpa_ex_open_range *range);
/* The end of an open range is known: it is found no more, but keeps its place. */
void vpa_ex_open_end(struct vpa_ex_open_ranges *o, uint32_t at, uint64_t end_ns);
void vpa_ex_open_drop(struct vpa_ex_open_ranges *o, uint32_t at); /* one that has ended */
void vpa_ex_open_free(struct vpa_ex_open_ranges *o);

/* host_links.c */
/* Room for as many links more. 0 or VPT_ENOMEM. */
int vpa_ex_links_reserve(struct vpa_ex_host *h, size_t count);
/* The link of a call on this thread; EX_NO_INDEX: none, for want of memory too. */
uint32_t vpa_ex_link_new(
	struct vpa_export *x, const struct vpa_ex_call *call, uint32_t thread, uint8_t waits);
void vpa_ex_link_drop(struct vpa_ex_host *h, uint32_t link);
/* The numbers of the ops that a call has launched. */
static inline const uint32_t *vpa_ex_link_ops(
	const struct vpa_ex_host *h, const struct vpa_ex_link *link)
{
	return link->count > 1 ? h->lists[link->list].numbers : &link->first;
}
/* The numbers of the ops that a call from start to end has waited for; `count` is 0 if it is none that waits, or they are
 * not known. */
static inline const uint32_t *vpa_ex_link_waits(struct vpa_export *x,
	const struct vpa_ex_link *link, uint64_t start_ns, uint64_t end_ns, size_t *count)
{
	const struct vpa_ex_waiting_call call = {link->correlation, start_ns, end_ns, link->pid};

	*count = 0;
	return link->waits == EX_WAITS_END ? vpa_ex_syncs_of(x, &call, count) : NULL;
}
/* Whether the call need not be held for its ops any more; ~0: nothing is to come. */
int vpa_ex_link_is_settled_yet(const struct vpa_ex_host *h, uint32_t link, uint64_t times_from_ns);
static inline int vpa_ex_link_is_settled(
	const struct vpa_ex_host *h, uint32_t link, uint64_t times_from_ns)
{
	/* Nearly all launch one op, and that is there. */
	return (h->links[link].waits == EX_WAITS_OP && h->links[link].count) ||
	       vpa_ex_link_is_settled_yet(h, link, times_from_ns);
}

/* host_write.c: writes what begins before `until_ns`, in order, so that slices nest. */
int vpa_ex_thread_write(
	struct vpa_export *x, uint32_t thread, uint64_t until_ns, uint64_t times_from_ns);
/* The trace is over and every range has its end: writes what is left. */
int vpa_ex_thread_finish(struct vpa_export *x, uint32_t thread);
void vpa_ex_thread_free(struct vpa_ex_thread *t);

/* host_calls.c: slices on the thread's own track; calls that name one op at most and have not failed. */
/* The begin, and the end right behind it where nothing is inside. */
int vpa_ex_call_write(struct vpa_export *x, struct vpa_ex_thread *t, const struct vpa_ex_call *call,
	uint32_t ops, int ends);
int vpa_ex_slice_end(struct vpa_export *x, struct vpa_ex_thread *t, uint64_t time_ns);

/* host_spans.c */
/* Describes the thread, before its first event. */
void vpa_ex_thread_begin(struct vpa_export *x, struct vpa_ex_thread *t, uint32_t thread);
uint64_t vpa_ex_span_end(const struct vpa_ex_thread *t, const struct vpa_ex_host_span *s);
/* What begins before something that has been written; `e` is its begin. */
void vpa_ex_late_span(struct vpa_export *x, struct vpa_ex_thread *t, uint32_t thread,
	const struct vpa_ex_host_span *span, struct vpa_ex_event *e);
/* A range of a whole process. */
void vpa_ex_wide_range(struct vpa_export *x, const struct vpa_ex_host_span *span, uint32_t thread);
/* `inside` as in vpa_ex_stage_args(). */
void vpa_ex_span_event(struct vpa_export *x, const struct vpa_ex_host_span *span, unsigned *inside,
	struct vpa_ex_event *e);

#endif
