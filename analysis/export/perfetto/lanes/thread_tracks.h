/* thread_tracks.h - a thread's pending spans, written as nested slices. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_LANES_THREAD_TRACKS_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_LANES_THREAD_TRACKS_H

#include "analysis/export/perfetto/lanes/launch_links.h"
#include "analysis/export/perfetto/lanes/open_spans.h"
#include "analysis/export/perfetto/lanes/side_by_side.h"

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
