/* thread_tracks.c - a thread's spans as nested slices.
 *
 * Perfetto's slices are a stack: an end closes the slice begun last, so spans that overlap in part
 * would silently get wrong lengths. So they go through a stack here. A span that reaches beyond the
 * one around it ends with it, and the time it loses is counted. A span too late for the stack is put on
 * lanes beside it. */
#include "analysis/export/perfetto/lanes/thread_tracks.h"

#include "analysis/export/perfetto/lanes/machine.h"
#include "formats/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEQUENCES = 16 /* from this number on, one per thread */ };

void vpa_ex_thread_free(struct vpa_ex_thread *t)
{
	vpt_pf_sequence_free(&t->sequence);
	vpt_free(t->spans);
	vpt_free(t->calls);
	vpt_free(t->stack);
	vpa_open_free(&t->open.table);
	vpt_free(t->open.items);
	vpa_ex_track_free(&t->late);
}

/* ---- the thread's track ---- */

static uint64_t thread_uuid(const struct vpa_ex_out *x, uint32_t thread)
{
	const struct vpa_thread *t = &x->model->threads[thread];
	char path[96];

	snprintf(path, sizeof(path), "thread %lld %lld %llu", (long long)t->pid, (long long)t->tid,
		t->tid < 0 ? (unsigned long long)t->key : 0);
	return vpa_ex_uuid(x, path);
}

uint32_t vpa_ex_thread_id(const struct vpa_ex_out *x, uint32_t thread)
{
	int64_t tid = x->model->threads[thread].tid;

	return tid >= 0 && tid <= INT32_MAX ? (uint32_t)tid : 0x40000000u + thread;
}

static void begin_thread(struct vpa_ex_out *x, struct vpa_ex_thread *t)
{
	uint32_t thread = t->index;
	const struct vpa_thread *row = &x->model->threads[thread];
	struct vpt_text name = vpa_name(x->model, row->name);
	struct vpt_pb *b = &x->pf.out;
	uint64_t uuid;

	t->begun = 1;
	uuid = thread_uuid(x, thread);
	vpa_ex_process(x, row->pid);
	vpt_pf_begin_timeless(&x->pf, &x->meta);
	vpt_pb_begin(b, VPT_PF_PACKET_TRACK);
	vpt_pb_uint(b, VPT_PF_TRACK_UUID, uuid);
	vpt_pb_begin(b, VPT_PF_TRACK_THREAD);
	vpt_pb_uint(b, VPT_PF_THREAD_PID, (uint64_t)vpa_ex_pid(x, row->pid));
	vpt_pb_uint(b, VPT_PF_THREAD_TID, vpa_ex_thread_id(x, thread));
	if (name.len)
		vpt_pb_text(b, VPT_PF_THREAD_NAME, name.text, name.len, 200);
	vpt_pb_end(b);
	vpt_pb_end(b);
	vpt_pf_end(&x->pf);
	vpt_pf_sequence(
		&x->pf, &t->sequence, SEQUENCES + thread, vpa_ex_time(x, x->start_ns), uuid);
}

/* ---- calls ----
 *
 * Most spans are calls, so they are encoded by hand. The fields that all calls of a name share on a
 * thread come first and are encoded once; the correlation id, the number of the op and the time come
 * last, see perfetto_packets.h. */

/* Emits all that calls of the name refer to. */
static int make_form(struct vpa_ex_out *x, struct vpa_ex_thread *t, uint32_t name, int has_ops,
	struct vpa_ex_call_form *form)
{
	uint8_t *to = form->bytes;

	vpa_ex_tables(x, &t->sequence);
	form->name = name;
	to = vpt_pb_uint_at(to, VPT_PF_EVENT_TYPE, VPT_PF_SLICE_BEGIN);
	to = vpt_pb_uint_at(to, VPT_PF_EVENT_CATEGORY, EX_CUDA_API + 1);
	to = vpt_pb_uint_at(to, VPT_PF_EVENT_NAME,
		vpa_ex_text_iid(x, &t->sequence, VPT_PF_INTERNED_NAMES, name));
	if (has_ops)
		to = vpt_pb_uint_at(to, VPT_PF_EVENT_API, VPT_PF_API_CUDA);
	form->size = (uint8_t)(to - form->bytes);
	form->generation = x->pf.generation;
	return x->pf.failed;
}

static inline int put_end(struct vpa_ex_out *x, struct vpa_ex_thread *t, uint64_t time_ns)
{
	static const uint8_t end[] = {
		VPT_PF_PACKET_TRACK_EVENT << 3 | 2, 2, VPT_PF_EVENT_TYPE << 3, VPT_PF_SLICE_END};
	uint8_t *to;

	vpt_pf_next(&x->pf);
	vpt_pf_resume(&x->pf, &t->sequence);
	to = vpt_pf_packet_at(&x->pf, sizeof(end));
	if (!to)
		return VPT_ENOMEM;
	memcpy(to, end, sizeof(end));
	to += sizeof(end);
	vpt_pf_packet_end(&x->pf, vpt_pf_padded_time_at(&t->sequence, to, vpa_ex_time(x, time_ns)));
	return x->pf.failed;
}

/* Writes the begin, and also the end if nothing is inside. The call has at most one op and did not
 * fail. */
static int write_slice(struct vpa_ex_out *x, struct vpa_ex_thread *t,
	const struct vpa_ex_call *call, uint32_t ops, int ends)
{
	enum { MOST = 160 };
	struct vpa_ex_call_form *form =
		&(ops ? t->forms_with_ops : t->forms)[call->name % EX_CALL_FORMS];
	uint8_t *to, *content, *inner;

	vpt_pf_next(&x->pf);
	if ((form->name != call->name || form->generation != x->pf.generation) &&
		make_form(x, t, call->name, ops != 0, form))
		return x->pf.failed;
	vpt_pf_resume(&x->pf, &t->sequence);
	to = vpt_pf_packet_at(&x->pf, MOST);
	if (!to)
		return VPT_ENOMEM;
	*to++ = VPT_PF_PACKET_TRACK_EVENT << 3 | 2;
	content = ++to;
	memcpy(to, form->bytes, sizeof(form->bytes));
	to += form->size;
	if (call->correlation) {
		*to++ = VPT_PF_EVENT_ANNOTATIONS << 3 | 2;
		inner = ++to;
		to = vpt_pb_uint_at(to, VPT_PF_ANNOTATION_NAME, EX_ARG_CORRELATION + 1);
		to = vpt_pb_uint_at(to, EX_UINT, call->correlation);
		inner[-1] = (uint8_t)(to - inner);
	}
	if (ops) {
		to = vpt_pb_varint_at(to, VPT_PF_EVENT_CORRELATION << 3 | 2);
		inner = ++to;
		*to++ = VPT_PF_CORRELATION_SUBMISSIONS << 3;
		to = vpa_ex_op_id_at(x, to, x->links->items[call->link].first);
		inner[-1] = (uint8_t)(to - inner);
	}
	to = vpt_pb_close_at(content, to);
	vpt_pf_packet_end(
		&x->pf, vpt_pf_padded_time_at(&t->sequence, to, vpa_ex_time(x, call->start_ns)));
	return ends ? put_end(x, t, call->end_ns) : x->pf.failed;
}

/* ---- the stack ---- */

static uint64_t own_end(const struct vpa_ex_thread *t, const struct vpa_ex_slice *s)
{
	return s->open != EX_NO_INDEX ? t->open.table.items[s->open].end_ns : s->own_end_ns;
}

/* After the end of an open range became known: slices inside end no later. */
static void settle(struct vpa_ex_thread *t)
{
	uint64_t end = UINT64_MAX;
	size_t i;

	for (i = 0; i < t->depth && t->changed; i++) {
		uint64_t own = own_end(t, &t->stack[i]);

		end = own < end ? own : end;
		t->stack[i].end_ns = end;
	}
	t->changed = 0;
}

/* Writes an end with arguments unknown at the begin: readers take those of both. */
static int end_open(struct vpa_ex_out *x, struct vpa_ex_thread *t,
	const struct vpa_ex_open_range *open, uint64_t end_ns)
{
	struct vpa_ex_event e = {.time_ns = end_ns, .type = VPT_PF_SLICE_END};

	if (open->colour)
		vpa_ex_add_arg(&e, EX_ARG_COLOR, EX_UINT, open->colour);
	if (open->nvtx_category)
		vpa_ex_add_arg(&e, EX_ARG_NVTX_CATEGORY, EX_UINT, open->nvtx_category);
	vpa_ex_event(x, &t->sequence, &e);
	return x->pf.failed;
}

static int pop(struct vpa_ex_out *x, struct vpa_ex_thread *t)
{
	const struct vpa_ex_slice *s = &t->stack[--t->depth];
	struct vpa_ex_open_range *open = s->open != EX_NO_INDEX ? &t->open.items[s->open] : NULL;
	uint64_t own = own_end(t, s), end = s->end_ns;
	int rc;

	/* Events already written may be later than an end that came late. */
	if (end < t->last_ns)
		end = t->last_ns;
	if (open && (open->colour || open->nvtx_category))
		rc = end_open(x, t, open, end);
	else
		rc = put_end(x, t, end);
	t->last_ns = end;
	if (own != end)
		x->bent.nest_clamps++;
	if (own != UINT64_MAX)
		x->bent.clamped_ns[s->category] += vpa_ex_length(x, end, own);
	if (!open)
		return rc;
	if (own == UINT64_MAX) {
		open->written = 1;
		open->cut_ns = end;
	} else {
		vpa_open_drop(&t->open.table, s->open);
	}
	return rc;
}

static int pop_until(struct vpa_ex_out *x, struct vpa_ex_thread *t, uint64_t until_ns)
{
	int rc = VPT_OK;

	while (t->depth && t->stack[t->depth - 1].end_ns <= until_ns && !rc)
		rc = pop(x, t);
	return rc;
}

/* The end of the innermost slice. */
static uint64_t end_around(const struct vpa_ex_thread *t)
{
	return t->depth ? t->stack[t->depth - 1].end_ns : UINT64_MAX;
}

static unsigned inside_now(const struct vpa_ex_thread *t)
{
	return t->depth ? t->stack[t->depth - 1].inside : 0;
}

static int push(struct vpa_ex_thread *t, const struct vpa_ex_slice *slice)
{
	uint64_t around = end_around(t), own = own_end(t, slice);

	if (vpt_grow(&t->stack, &t->stack_cap, t->depth + 1, sizeof(*t->stack)))
		return VPT_ENOMEM;
	t->stack[t->depth] = *slice;
	t->stack[t->depth++].end_ns = own < around ? own : around;
	return VPT_OK;
}

/* ---- one by one ---- */

static uint64_t span_end(const struct vpa_ex_thread *t, const struct vpa_ex_host_span *s)
{
	return s->open != EX_NO_INDEX ? t->open.table.items[s->open].end_ns : s->end_ns;
}

/* `e` is the span's begin. */
static void write_late(struct vpa_ex_out *x, struct vpa_ex_thread *t,
	const struct vpa_ex_host_span *span, struct vpa_ex_event *e)
{
	const struct vpa_ex_lane_words words = {
		thread_uuid(x, t->index), "recorded late", "recorded late", NULL, 0};
	uint64_t end = span_end(t, span);
	struct vpa_ex_lane *lane;
	char path[96];

	/* A late range that is still open: its end is unknown. */
	if (end == UINT64_MAX)
		end = span->start_ns;
	snprintf(path, sizeof(path), "late %llx", (unsigned long long)words.parent);
	lane = vpa_ex_lane(x, &t->late, span->start_ns, end, path, &words);
	if (!lane)
		return;
	x->bent.late_slices++;
	e->track = lane->uuid;
	if (e->type == VPT_PF_INSTANT)
		vpa_ex_event(x, vpa_ex_annotations(x), e);
	else
		vpa_ex_span(x, vpa_ex_annotations(x), e, end);
	if (span->open == EX_NO_INDEX)
		return;
	if (t->open.table.items[span->open].end_ns != UINT64_MAX) {
		vpa_open_drop(&t->open.table, span->open);
		return;
	}
	t->open.items[span->open].written = 1;
	t->open.items[span->open].cut_ns = end;
}

static int write_span(
	struct vpa_ex_out *x, struct vpa_ex_thread *t, const struct vpa_ex_host_span *span)
{
	struct vpa_ex_event e;
	unsigned inside = 0;
	int rc = VPT_OK;

	if (!t->begun)
		begin_thread(x, t);
	if (span->start_ns < t->last_ns) {
		vpa_ex_span_event(x, span, &inside, &e);
		write_late(x, t, span, &e);
	} else {
		rc = pop_until(x, t, span->start_ns);
		inside = inside_now(t);
		vpa_ex_span_event(x, span, &inside, &e);
		vpa_ex_event(x, &t->sequence, &e);
		t->last_ns = span->start_ns;
		if (!span->is_mark && !rc)
			rc = push(t, &(struct vpa_ex_slice){.own_end_ns = span->end_ns,
					     .open = span->open,
					     .category = span->category,
					     .inside = (uint8_t)inside});
	}
	if (span->link != EX_NO_INDEX)
		vpa_ex_link_drop(x->links, span->link);
	return rc ? rc : x->pf.failed;
}

/* A call that the hand-written path does not cover. */
static int write_rare_call(
	struct vpa_ex_out *x, struct vpa_ex_thread *t, const struct vpa_ex_call *call)
{
	const struct vpa_ex_host_span span = {.start_ns = call->start_ns,
		.end_ns = call->end_ns,
		.value = call->correlation,
		.name = call->name,
		.link = call->link,
		.open = EX_NO_INDEX,
		.result = call->result,
		.category = EX_CUDA_API};

	return write_span(x, t, &span);
}

/* `next_ns`: nothing else of the thread begins before it. */
static int write_call(struct vpa_ex_out *x, struct vpa_ex_thread *t, const struct vpa_ex_call *call,
	uint64_t next_ns)
{
	const struct vpa_ex_link *link =
		call->link != EX_NO_INDEX ? &x->links->items[call->link] : NULL;
	uint32_t ops = link ? link->count : 0;
	size_t waits = 0;
	int rc = VPT_OK, ends;

	if (link)
		vpa_ex_link_waits(x, link, call->start_ns, call->end_ns, &waits);
	if (call->start_ns < t->last_ns || call->result || ops > 1 || waits || !t->begun ||
		(ops && x->options->gpu_as_slices))
		return write_rare_call(x, t, call);
	if (end_around(t) <= call->start_ns)
		rc = pop_until(x, t, call->start_ns);
	/* If nothing is inside, it need not wait on the stack. */
	ends = call->end_ns <= next_ns && call->end_ns <= end_around(t);
	if (!rc)
		rc = write_slice(x, t, call, ops, ends);
	if (rc)
		return rc;
	t->last_ns = ends ? call->end_ns : call->start_ns;
	if (!ends)
		rc = push(t, &(struct vpa_ex_slice){.own_end_ns = call->end_ns,
				     .open = EX_NO_INDEX,
				     .category = EX_CUDA_API,
				     .inside = (uint8_t)inside_now(t)});
	if (call->link != EX_NO_INDEX)
		vpa_ex_link_drop(x->links, call->link);
	return rc;
}

/* ---- in order ---- */

static int compare_spans(const void *pa, const void *pb)
{
	const struct vpa_ex_host_span *a = pa, *b = pb;

	if (vpa_ex_span_is_after(a, b) || vpa_ex_span_is_after(b, a))
		return vpa_ex_span_is_after(a, b) ? 1 : -1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static int compare_calls(const void *pa, const void *pb)
{
	const struct vpa_ex_call *a = pa, *b = pb;

	if (vpa_ex_call_is_after(a, b) || vpa_ex_call_is_after(b, a))
		return vpa_ex_call_is_after(a, b) ? 1 : -1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void sort_thread(struct vpa_ex_thread *t)
{
	if (t->spans_mixed)
		qsort(t->spans, t->count, sizeof(*t->spans), compare_spans);
	if (t->calls_mixed)
		qsort(t->calls, t->call_count, sizeof(*t->calls), compare_calls);
	t->spans_mixed = t->calls_mixed = 0;
}

/* The next items of a thread's two lists. */
struct place {
	size_t span, call;
};

/* Whether a call is next: ranges are around the calls that begin and end with them. */
static int call_is_next(const struct vpa_ex_thread *t, const struct place *p)
{
	const struct vpa_ex_host_span *s;
	const struct vpa_ex_call *c;

	if (p->span == t->count || p->call == t->call_count)
		return p->call < t->call_count;
	s = &t->spans[p->span];
	c = &t->calls[p->call];
	return c->start_ns != s->start_ns ? c->start_ns < s->start_ns : c->end_ns > s->end_ns;
}

static uint64_t next_start(const struct vpa_ex_thread *t, const struct place *p, uint64_t until_ns)
{
	if (p->span < t->count && t->spans[p->span].start_ns < until_ns)
		until_ns = t->spans[p->span].start_ns;
	if (p->call < t->call_count && t->calls[p->call].start_ns < until_ns)
		until_ns = t->calls[p->call].start_ns;
	return until_ns;
}

/* `until_ns` ~0: everything left comes before it. */
static int has_next(const struct vpa_ex_thread *t, const struct place *p, uint64_t until_ns)
{
	if (until_ns == UINT64_MAX)
		return p->span < t->count || p->call < t->call_count;
	return next_start(t, p, until_ns) < until_ns;
}

static void forget_written(struct vpa_ex_out *x, struct vpa_ex_thread *t, const struct place *p)
{
	x->links->held -= p->span + p->call;
	t->count -= p->span;
	t->call_count -= p->call;
	if (p->span && t->count)
		memmove(t->spans, t->spans + p->span, t->count * sizeof(*t->spans));
	if (p->call && t->call_count)
		memmove(t->calls, t->calls + p->call, t->call_count * sizeof(*t->calls));
}

/* Writes the calls that begin before the next range or mark, and before `until_ns`: most spans. Stops
 * at one that waits for its ops, and sets *waits. */
static int write_calls(struct vpa_ex_out *x, struct vpa_ex_thread *t, struct place *p,
	uint64_t until_ns, uint64_t times_from_ns, int *waits)
{
	uint64_t limit = p->span < t->count ? t->spans[p->span].start_ns : UINT64_MAX;
	/* Something may still begin inside a slice that ends at `until_ns`. */
	uint64_t next, latest = limit < until_ns ? limit : until_ns - 1;
	int rc = VPT_OK;

	limit = limit < until_ns ? limit : until_ns;
	while (!rc && p->call < t->call_count && t->calls[p->call].start_ns < limit) {
		const struct vpa_ex_call *call = &t->calls[p->call];

		*waits = call->link != EX_NO_INDEX &&
			 !vpa_ex_link_is_settled(x->links, call->link, times_from_ns);
		if (*waits)
			break;
		p->call++;
		next = p->call < t->call_count ? call[1].start_ns : latest;
		rc = write_call(x, t, call, next < latest ? next : latest);
	}
	return rc;
}

/* Adds what became known with the end of an open range to its begin, if that is not written yet. */
static void tell_with_begin(struct vpa_ex_thread *t, struct vpa_ex_host_span *span)
{
	struct vpa_ex_open_range *open;

	if (span->open == EX_NO_INDEX)
		return;
	open = &t->open.items[span->open];
	span->colour = open->colour;
	span->nvtx_category = open->nvtx_category;
	open->colour = open->nvtx_category = 0;
}

/* Writes the next span where several begin together: a call, a range or a mark. */
static int write_next(struct vpa_ex_out *x, struct vpa_ex_thread *t, struct place *p,
	uint64_t times_from_ns, int *waits)
{
	const struct vpa_ex_call *call;

	if (!call_is_next(t, p)) {
		tell_with_begin(t, &t->spans[p->span]);
		return write_span(x, t, &t->spans[p->span++]);
	}
	call = &t->calls[p->call];
	*waits = call->link != EX_NO_INDEX &&
		 !vpa_ex_link_is_settled(x->links, call->link, times_from_ns);
	if (*waits)
		return VPT_OK;
	p->call++;
	return write_call(x, t, call, call->start_ns);
}

int vpa_ex_thread_write(
	struct vpa_ex_out *x, struct vpa_ex_thread *t, uint64_t until_ns, uint64_t times_from_ns)
{
	struct place p = {0};
	int rc = VPT_OK, waits = 0;

	settle(t);
	sort_thread(t);
	while (!rc && !waits && has_next(t, &p, until_ns)) {
		rc = write_calls(x, t, &p, until_ns, times_from_ns, &waits);
		if (!rc && !waits && has_next(t, &p, until_ns))
			rc = write_next(x, t, &p, times_from_ns, &waits);
	}
	until_ns = next_start(t, &p, until_ns);
	forget_written(x, t, &p);
	if (!rc && until_ns)
		rc = pop_until(x, t, until_ns - 1);
	return rc ? rc : x->pf.failed;
}

int vpa_ex_thread_finish(struct vpa_ex_out *x, struct vpa_ex_thread *t)
{
	int rc = vpa_ex_thread_write(x, t, UINT64_MAX, UINT64_MAX);

	return rc ? rc : pop_until(x, t, UINT64_MAX);
}
