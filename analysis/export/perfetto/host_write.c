/* host_write.c - a thread's spans as slices that nest.
 *
 * Perfetto's slices are a stack: an end closes whatever was begun last, so spans that overlap in part would get wrong
 * lengths without a word. Here they go through a stack of our own. A span that reaches beyond the one around it ends
 * with that, and how much it lost is counted. What comes too late for the stack is put beside it, on lanes. */
#include "analysis/export/perfetto/host.h"

#include "formats/memory.h"

#include <stdlib.h>
#include <string.h>

void vpa_ex_thread_free(struct vpa_ex_thread *t)
{
	vpt_pf_sequence_free(&t->sequence);
	vpt_free(t->spans);
	vpt_free(t->calls);
	vpt_free(t->stack);
	vpa_ex_open_free(&t->open);
	vpa_ex_track_free(&t->late);
}

/* ---- the stack ---- */

static uint64_t own_end(const struct vpa_ex_thread *t, const struct vpa_ex_slice *s)
{
	return s->open != EX_NO_INDEX ? t->open.items[s->open].end_ns : s->own_end_ns;
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

/* An end that knows more of its range than the begin did: readers take arguments of both. */
static int end_open(struct vpa_export *x, struct vpa_ex_thread *t,
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

static int pop(struct vpa_export *x, struct vpa_ex_thread *t)
{
	const struct vpa_ex_slice *s = &t->stack[--t->depth];
	struct vpa_ex_open_range *open = s->open != EX_NO_INDEX ? &t->open.items[s->open] : NULL;
	uint64_t own = own_end(t, s), end = s->end_ns;
	int rc;

	/* What is already written may be later than an end that was told late. */
	if (end < t->last_ns)
		end = t->last_ns;
	if (open && (open->colour || open->nvtx_category))
		rc = end_open(x, t, open, end);
	else
		rc = vpa_ex_slice_end(x, t, end);
	t->last_ns = end;
	if (own != end)
		x->nest_clamps++;
	if (own != UINT64_MAX)
		x->clamped_ns[s->category] += own - end;
	if (!open)
		return rc;
	if (own == UINT64_MAX) {
		open->written = 1;
		open->cut_ns = end;
	} else {
		vpa_ex_open_drop(&t->open, s->open);
	}
	return rc;
}

static int pop_until(struct vpa_export *x, struct vpa_ex_thread *t, uint64_t until_ns)
{
	int rc = VPT_OK;

	while (t->depth && t->stack[t->depth - 1].end_ns <= until_ns && !rc)
		rc = pop(x, t);
	return rc;
}

/* Where the slice ends that is innermost now. */
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

static int write_span(struct vpa_export *x, struct vpa_ex_thread *t, uint32_t thread,
	const struct vpa_ex_host_span *span)
{
	struct vpa_ex_event e;
	unsigned inside = 0;
	int rc = VPT_OK;

	if (!t->begun)
		vpa_ex_thread_begin(x, t, thread);
	if (span->start_ns < t->last_ns) {
		vpa_ex_span_event(x, span, &inside, &e);
		vpa_ex_late_span(x, t, thread, span, &e);
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
		vpa_ex_link_drop(x->host, span->link);
	return rc ? rc : x->pf.failed;
}

/* A call with more to say than most. */
static int write_rare_call(struct vpa_export *x, struct vpa_ex_thread *t, uint32_t thread,
	const struct vpa_ex_call *call)
{
	const struct vpa_ex_host_span span = {.start_ns = call->start_ns,
		.end_ns = call->end_ns,
		.value = call->correlation,
		.name = call->name,
		.link = call->link,
		.open = EX_NO_INDEX,
		.result = call->result,
		.category = EX_CUDA_API};

	return write_span(x, t, thread, &span);
}

/* `next_ns`: nothing of the thread begins before that. */
static int write_call(struct vpa_export *x, struct vpa_ex_thread *t, uint32_t thread,
	const struct vpa_ex_call *call, uint64_t next_ns)
{
	const struct vpa_ex_link *link =
		call->link != EX_NO_INDEX ? &x->host->links[call->link] : NULL;
	uint32_t ops = link ? link->count : 0;
	size_t waits = 0;
	int rc = VPT_OK, ends;

	if (link)
		vpa_ex_link_waits(x, link, call->start_ns, call->end_ns, &waits);
	if (call->start_ns < t->last_ns || call->result || ops > 1 || waits || !t->begun ||
		(ops && x->options->gpu_as_slices))
		return write_rare_call(x, t, thread, call);
	if (end_around(t) <= call->start_ns)
		rc = pop_until(x, t, call->start_ns);
	/* Where nothing is inside it need not wait on the stack. */
	ends = call->end_ns <= next_ns && call->end_ns <= end_around(t);
	if (!rc)
		rc = vpa_ex_call_write(x, t, call, ops, ends);
	if (rc)
		return rc;
	t->last_ns = ends ? call->end_ns : call->start_ns;
	if (!ends)
		rc = push(t, &(struct vpa_ex_slice){.own_end_ns = call->end_ns,
				     .open = EX_NO_INDEX,
				     .category = EX_CUDA_API,
				     .inside = (uint8_t)inside_now(t)});
	if (call->link != EX_NO_INDEX)
		vpa_ex_link_drop(x->host, call->link);
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

/* What is next in a thread's two lists. */
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

/* `until_ns` ~0: all that is left comes before it. */
static int has_next(const struct vpa_ex_thread *t, const struct place *p, uint64_t until_ns)
{
	if (until_ns == UINT64_MAX)
		return p->span < t->count || p->call < t->call_count;
	return next_start(t, p, until_ns) < until_ns;
}

static void forget_written(struct vpa_export *x, struct vpa_ex_thread *t, const struct place *p)
{
	x->host->held -= p->span + p->call;
	t->count -= p->span;
	t->call_count -= p->call;
	if (p->span && t->count)
		memmove(t->spans, t->spans + p->span, t->count * sizeof(*t->spans));
	if (p->call && t->call_count)
		memmove(t->calls, t->calls + p->call, t->call_count * sizeof(*t->calls));
}

/* The calls that begin before the next range or mark does, and before `until_ns`: most of what there is. Stops at one that waits
 * for its ops, and then `*waits` is set. */
static int write_calls(struct vpa_export *x, uint32_t thread, struct place *p, uint64_t until_ns,
	uint64_t times_from_ns, int *waits)
{
	struct vpa_ex_thread *t = &x->host->threads[thread];
	uint64_t limit = p->span < t->count ? t->spans[p->span].start_ns : UINT64_MAX;
	/* A slice that ends with `until_ns` may yet get something inside it. */
	uint64_t next, latest = limit < until_ns ? limit : until_ns - 1;
	int rc = VPT_OK;

	limit = limit < until_ns ? limit : until_ns;
	while (!rc && p->call < t->call_count && t->calls[p->call].start_ns < limit) {
		const struct vpa_ex_call *call = &t->calls[p->call];

		*waits = call->link != EX_NO_INDEX &&
			 !vpa_ex_link_is_settled(x->host, call->link, times_from_ns);
		if (*waits)
			break;
		p->call++;
		next = p->call < t->call_count ? call[1].start_ns : latest;
		rc = write_call(x, t, thread, call, next < latest ? next : latest);
	}
	return rc;
}

/* What is known of an open range since its end is, is told with its begin if that has not been written. */
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

/* What begins together with others: a call, or a range or a mark. */
static int write_next(
	struct vpa_export *x, uint32_t thread, struct place *p, uint64_t times_from_ns, int *waits)
{
	struct vpa_ex_thread *t = &x->host->threads[thread];
	const struct vpa_ex_call *call;

	if (!call_is_next(t, p)) {
		tell_with_begin(t, &t->spans[p->span]);
		return write_span(x, t, thread, &t->spans[p->span++]);
	}
	call = &t->calls[p->call];
	*waits = call->link != EX_NO_INDEX &&
		 !vpa_ex_link_is_settled(x->host, call->link, times_from_ns);
	if (*waits)
		return VPT_OK;
	p->call++;
	return write_call(x, t, thread, call, call->start_ns);
}

int vpa_ex_thread_write(
	struct vpa_export *x, uint32_t thread, uint64_t until_ns, uint64_t times_from_ns)
{
	struct vpa_ex_thread *t = &x->host->threads[thread];
	struct place p = {0};
	int rc = VPT_OK, waits = 0;

	settle(t);
	sort_thread(t);
	while (!rc && !waits && has_next(t, &p, until_ns)) {
		rc = write_calls(x, thread, &p, until_ns, times_from_ns, &waits);
		if (!rc && !waits && has_next(t, &p, until_ns))
			rc = write_next(x, thread, &p, times_from_ns, &waits);
	}
	until_ns = next_start(t, &p, until_ns);
	forget_written(x, t, &p);
	if (!rc && until_ns)
		rc = pop_until(x, t, until_ns - 1);
	return rc ? rc : x->pf.failed;
}

int vpa_ex_thread_finish(struct vpa_export *x, uint32_t thread)
{
	int rc = vpa_ex_thread_write(x, thread, UINT64_MAX, UINT64_MAX);

	return rc ? rc : pop_until(x, &x->host->threads[thread], UINT64_MAX);
}
