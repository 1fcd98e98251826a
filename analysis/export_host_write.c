/* export_host_write.c - a thread's spans as slices that nest.
 *
 * Perfetto's slices are a stack: an end closes whatever was begun last, so spans that overlap in part would get wrong
 * lengths without a word. Here they go through a stack of our own. A span that reaches beyond the one around it ends
 * with that, and how much it lost is counted. What comes too late for the stack is put beside it, on lanes. */
#include "analysis/export_host.h"

#include "formats/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEQUENCES = 16 };

void vpa_ex_thread_free(struct vpa_ex_thread *t)
{
	vpt_pf_sequence_free(&t->sequence);
	vpt_free(t->spans);
	vpt_free(t->stack);
	vpt_free(t->open);
	vpt_free(t->late.lanes);
}

/* ---- descriptions ---- */

static uint64_t thread_uuid(const struct vpa_export *x, uint32_t thread)
{
	const struct vpa_thread *t = &x->model->threads[thread];
	char path[96];

	snprintf(path, sizeof(path), "thread %lld %lld %llu", (long long)t->pid, (long long)t->tid,
		t->tid < 0 ? (unsigned long long)t->key : 0);
	return vpa_ex_uuid(x, path);
}

/* Perfetto's thread ids are 31 bits; a thread without one gets one of those that Linux never gives. */
static uint32_t thread_id(const struct vpa_export *x, uint32_t thread)
{
	int64_t tid = x->model->threads[thread].tid;

	return tid >= 0 && tid <= INT32_MAX ? (uint32_t)tid : 0x40000000u + thread;
}

static void begin_thread(struct vpa_export *x, struct vpa_ex_thread *t, uint32_t thread)
{
	const struct vpa_thread *row = &x->model->threads[thread];
	struct vpt_text name = vpa_name(x->model, row->name);
	struct vpt_pb *b = &x->pf.out;
	uint64_t uuid;

	if (t->begun)
		return;
	t->begun = 1;
	uuid = thread_uuid(x, thread);
	vpa_ex_process(x, row->pid);
	vpt_pf_begin_timeless(&x->pf, &x->meta);
	vpt_pb_begin(b, VPT_PF_TRACK);
	vpt_pb_uint(b, 1, uuid);
	vpt_pb_begin(b, 4);
	vpt_pb_uint(b, 1, (uint64_t)vpa_ex_pid(x, row->pid));
	vpt_pb_uint(b, 2, thread_id(x, thread));
	if (name.len)
		vpt_pb_text(b, 5, name.text, name.len, 200);
	vpt_pb_end(b);
	vpt_pb_end(b);
	vpt_pf_end(&x->pf);
	vpt_pf_sequence(&x->pf, &t->sequence, SEQUENCES + thread, x->start_ns + x->shift_ns, uuid);
}

struct beside {
	uint64_t parent;
	const char *name, *key;
};

static void describe_beside(struct vpa_export *x, const void *ctx)
{
	const struct beside *d = ctx;
	struct vpt_pb *b = &x->pf.out;

	vpt_pb_uint(b, 5, d->parent);
	vpt_pb_string(b, 2, d->name);
	vpt_pb_uint(b, 15, 3);
	vpt_pb_string(b, 16, d->key);
}

/* ---- events ---- */

static void put_payload(const struct vpa_ex_host_span *span, struct vpa_ex_event *e)
{
	switch (span->payload) {
	case VPT_PAYLOAD_NONE:
	case VPT_PAYLOAD_BLOB:
		return;
	case VPT_PAYLOAD_JSON:
		vpa_ex_add_arg(e, EX_ARG_PAYLOAD, EX_TEXT, span->value);
		return;
	case VPT_PAYLOAD_INT64:
		vpa_ex_add_arg(e, EX_ARG_PAYLOAD, EX_INT, span->value);
		return;
	case VPT_PAYLOAD_INT32:
		vpa_ex_add_arg(e, EX_ARG_PAYLOAD, EX_INT, (uint64_t)(int64_t)(int32_t)span->value);
		return;
	case VPT_PAYLOAD_DOUBLE:
		vpa_ex_add_arg(e, EX_ARG_PAYLOAD, EX_DOUBLE, span->value);
		return;
	case VPT_PAYLOAD_FLOAT: {
		uint32_t bits = (uint32_t)span->value;
		uint64_t value;
		double number;
		float f;

		memcpy(&f, &bits, sizeof(f));
		number = (double)f;
		memcpy(&value, &number, sizeof(value));
		vpa_ex_add_arg(e, EX_ARG_PAYLOAD, EX_DOUBLE, value);
		return;
	}
	default:
		vpa_ex_add_arg(e, EX_ARG_PAYLOAD, EX_UINT, span->value);
	}
}

void vpa_ex_span_event(
	const struct vpa_export *x, const struct vpa_ex_host_span *span, struct vpa_ex_event *e)
{
	*e = (struct vpa_ex_event){.time_ns = span->start_ns,
		.name = span->name,
		.type = span->is_mark ? VPT_PF_INSTANT : VPT_PF_SLICE_BEGIN,
		.category = span->category};
	if (span->category == EX_CUDA_API) {
		const struct vpa_ex_link *link =
			span->link != EX_NO_INDEX ? &x->host->links[span->link] : NULL;

		if (span->value)
			vpa_ex_add_arg(e, EX_ARG_CORRELATION, EX_UINT, span->value);
		if (span->result)
			vpa_ex_add_arg(e, EX_ARG_RETURN_CODE, EX_INT,
				(uint64_t)(int64_t)(int32_t)span->result);
		if (link && link->count) {
			e->ops = link->count > 1 ? link->numbers : &link->first;
			e->op_count = link->count;
		}
		return;
	}
	if (span->domain && span->category == EX_NVTX)
		vpa_ex_add_arg(e, EX_ARG_DOMAIN, EX_TEXT, span->domain);
	put_payload(span, e);
	if (span->colour)
		vpa_ex_add_arg(e, EX_ARG_COLOR, EX_UINT, span->colour);
	if (span->nvtx_category)
		vpa_ex_add_arg(e, EX_ARG_NVTX_CATEGORY, EX_UINT, span->nvtx_category);
}

/* ---- the stack ---- */

static uint64_t own_end(const struct vpa_ex_thread *t, const struct vpa_ex_slice *s)
{
	return s->open != EX_NO_INDEX ? t->open[s->open].end_ns : s->own_end_ns;
}

/* Some open range has got its end: what is inside ends no later. */
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

static void pop(struct vpa_export *x, struct vpa_ex_thread *t)
{
	const struct vpa_ex_slice *s = &t->stack[--t->depth];
	struct vpa_ex_open_range *open = s->open != EX_NO_INDEX ? &t->open[s->open] : NULL;
	uint64_t own = own_end(t, s), end = s->end_ns;
	struct vpa_ex_event e = {.time_ns = end, .type = VPT_PF_SLICE_END};

	/* What is already written may be later than an end that was told late. */
	if (e.time_ns < t->last_ns)
		e.time_ns = t->last_ns;
	vpa_ex_event(x, &t->sequence, &e);
	t->last_ns = e.time_ns;
	if (own != end || e.time_ns != end)
		x->nest_clamps++;
	if (own != UINT64_MAX)
		x->clamped_ns[s->category] += own - e.time_ns;
	if (!open)
		return;
	if (own == UINT64_MAX) {
		open->written = 1;
		open->cut_ns = e.time_ns;
	} else {
		open->used = 0;
	}
}

static void pop_until(struct vpa_export *x, struct vpa_ex_thread *t, uint64_t until_ns)
{
	while (t->depth && t->stack[t->depth - 1].end_ns <= until_ns)
		pop(x, t);
}

static int push(struct vpa_ex_thread *t, const struct vpa_ex_host_span *span)
{
	struct vpa_ex_slice *s;
	uint64_t around = t->depth ? t->stack[t->depth - 1].end_ns : UINT64_MAX, own;

	if (vpt_grow(&t->stack, &t->stack_cap, t->depth + 1, sizeof(*t->stack)))
		return VPT_ENOMEM;
	s = &t->stack[t->depth++];
	*s = (struct vpa_ex_slice){
		.own_end_ns = span->end_ns, .open = span->open, .category = span->category};
	own = own_end(t, s);
	s->end_ns = own < around ? own : around;
	return VPT_OK;
}

/* ---- spans ---- */

static uint64_t span_end(const struct vpa_ex_thread *t, const struct vpa_ex_host_span *s)
{
	return s->open != EX_NO_INDEX ? t->open[s->open].end_ns : s->end_ns;
}

static void write_late(struct vpa_export *x, struct vpa_ex_thread *t, uint32_t thread,
	const struct vpa_ex_host_span *span, struct vpa_ex_event *e)
{
	struct beside d = {thread_uuid(x, thread), "recorded late", "recorded late"};
	uint64_t end = span_end(t, span);
	struct vpa_ex_lane *lane;
	char path[96];

	/* An open range that is late as well: where it will end is not known. */
	if (end == UINT64_MAX)
		end = span->start_ns;
	snprintf(path, sizeof(path), "late %llx", (unsigned long long)d.parent);
	lane = vpa_ex_lane(x, &t->late, span->start_ns, end, path, describe_beside, &d);
	if (!lane)
		return;
	x->late_slices++;
	e->track = lane->uuid;
	if (e->type == VPT_PF_INSTANT)
		vpa_ex_event(x, vpa_ex_annotations(x), e);
	else
		vpa_ex_span(x, vpa_ex_annotations(x), e, end);
	if (span->open == EX_NO_INDEX)
		return;
	if (t->open[span->open].end_ns != UINT64_MAX) {
		t->open[span->open].used = 0;
		return;
	}
	t->open[span->open].written = 1;
	t->open[span->open].cut_ns = end;
}

static int write_span(struct vpa_export *x, struct vpa_ex_thread *t, uint32_t thread,
	const struct vpa_ex_host_span *span)
{
	struct vpa_ex_event e;
	int rc = VPT_OK;

	begin_thread(x, t, thread);
	vpa_ex_span_event(x, span, &e);
	if (span->start_ns < t->last_ns) {
		write_late(x, t, thread, span, &e);
	} else {
		pop_until(x, t, span->start_ns);
		vpa_ex_event(x, &t->sequence, &e);
		t->last_ns = span->start_ns;
		if (!span->is_mark)
			rc = push(t, span);
	}
	if (span->link != EX_NO_INDEX)
		vpa_ex_link_drop(x->host, span->link);
	return rc;
}

/* Parents before children. */
static int compare_spans(const void *pa, const void *pb)
{
	const struct vpa_ex_host_span *a = pa, *b = pb;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	/* An end that is not known yet is later than all others. */
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void sort_spans(struct vpa_ex_thread *t)
{
	size_t i = 1;

	while (i < t->count && compare_spans(&t->spans[i - 1], &t->spans[i]) <= 0)
		i++;
	if (i < t->count)
		qsort(t->spans, t->count, sizeof(*t->spans), compare_spans);
}

int vpa_ex_thread_write(
	struct vpa_export *x, uint32_t thread, uint64_t until_ns, uint64_t times_from_ns)
{
	struct vpa_ex_thread *t = &x->host->threads[thread];
	size_t n = 0;
	int rc = VPT_OK;

	settle(t);
	sort_spans(t);
	for (; n < t->count && t->spans[n].start_ns < until_ns && !rc; n++) {
		const struct vpa_ex_host_span *span = &t->spans[n];

		if (span->link != EX_NO_INDEX &&
			!vpa_ex_link_is_settled(x->host, span->link, times_from_ns))
			break;
		rc = write_span(x, t, thread, span);
	}
	x->host->held -= n;
	t->count -= n;
	if (n && t->count)
		memmove(t->spans, t->spans + n, t->count * sizeof(*t->spans));
	if (t->count && t->spans[0].start_ns < until_ns)
		until_ns = t->spans[0].start_ns;
	if (!rc && until_ns)
		pop_until(x, t, until_ns - 1);
	return rc ? rc : x->pf.failed;
}

int vpa_ex_thread_finish(struct vpa_export *x, uint32_t thread)
{
	struct vpa_ex_thread *t = &x->host->threads[thread];
	size_t i;
	int rc = VPT_OK;

	settle(t);
	sort_spans(t);
	for (i = 0; i < t->count && !rc; i++)
		rc = write_span(x, t, thread, &t->spans[i]);
	x->host->held -= t->count;
	t->count = 0;
	pop_until(x, t, UINT64_MAX);
	return rc;
}

/* ---- ranges of a whole process ---- */

static struct vpa_ex_track *wide_track(struct vpa_export *x, int64_t pid)
{
	struct vpa_ex_host *h = x->host;
	size_t before = h->wide_track_cap;
	uint32_t row = vpa_index_find(&x->pids, (uint64_t)vpa_ex_pid(x, pid), 0);

	if (row == UINT32_MAX || vpt_grow(&h->wide_tracks, &h->wide_track_cap, (size_t)row + 1,
					 sizeof(*h->wide_tracks))) {
		x->pf.failed = VPT_ENOMEM;
		return NULL;
	}
	if (h->wide_track_cap > before)
		memset(h->wide_tracks + before, 0,
			(h->wide_track_cap - before) * sizeof(*h->wide_tracks));
	return &h->wide_tracks[row];
}

void vpa_ex_wide_range(struct vpa_export *x, const struct vpa_ex_host_span *span, uint32_t thread)
{
	int64_t pid = thread < x->model->thread_count ? x->model->threads[thread].pid : -1;
	struct beside d = {vpa_ex_process(x, pid), "NVTX ranges (async)", "NVTX ranges (async)"};
	struct vpa_ex_host_span plain = *span;
	struct vpa_ex_track *track = wide_track(x, pid);
	struct vpa_ex_lane *lane;
	struct vpa_ex_event e;
	char path[96];

	plain.link = plain.open = EX_NO_INDEX;
	snprintf(path, sizeof(path), "async %llx", (unsigned long long)d.parent);
	lane = track ? vpa_ex_lane(
			       x, track, span->start_ns, span->end_ns, path, describe_beside, &d)
		     : NULL;
	if (!lane)
		return;
	vpa_ex_span_event(x, &plain, &e);
	e.track = lane->uuid;
	vpa_ex_span(x, vpa_ex_annotations(x), &e, span->end_ns);
}
