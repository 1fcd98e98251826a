/* call_waits.c - which ops a synchronising call waited for.
 *
 *	SYNC row:  call n waited from a to b for a stream, for all of a context, or for an event
 *	           --> of each such stream the last op launched before that call, or before the
 *	               event was recorded, unless it had ended by a
 *
 * A row comes with its chunk, before or after its call and its ops. It is answered once all ops
 * that began before b have been written, so the newest ops of each stream are kept. An answer is
 * kept until no call that began before a is still to be written. Calls are identified by process
 * and number. A row's process is that of its stream; a row without a stream belongs to the only
 * process with streams, or gets no answer if it needs the process. */
#include "analysis/join/call_waits.h"

#include "analysis/base/index.h"
#include "analysis/base/sort.h"
#include "analysis/join/op_waits.h"
#include "analysis/join/resolver_maps.h"
#include "formats/base/hash.h"
#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* PAST: ops kept per stream. KEPT: answers kept for late calls. */
enum { PAST = 128, KEPT = 32 };

struct due {
	uint64_t end_ns, correlation, order; /* order: of arrival, breaks ties */
	uint64_t start_ns, context, sync_id;
	int64_t pid;     /* -1: the row does not say */
	uint32_t stream; /* waited for; VPA_NONE: not known */
	uint8_t kind;
};

struct answer {
	uint64_t correlation, start_ns, end_ns, next; /* next: the previous answer in its bucket */
	int64_t pid;                                  /* -1: not known */
	uint32_t numbers[VPA_CALL_WAITS_MAX];
	uint64_t ends[VPA_CALL_WAITS_MAX];
	size_t count;
};

struct lane {
	struct past {
		uint64_t correlation, end_ns;
		uint32_t number;
	} * past; /* a ring once it has PAST entries */
	size_t count, cap;
	uint64_t reached_ns; /* no op on it, or on the streams in `older`, began later */
	/* neighbours in its group, which is ordered by newest op; VPA_NONE: none */
	uint32_t newer, older;
	uint32_t group;
};

/* Whether there is exactly one process. */
struct processes {
	int64_t pid; /* -1: none yet */
	int several;
};

struct vpa_call_waits {
	struct vpa_resolver *resolver;
	const struct vpa_op_waits *records;
	struct due *due; /* [answered, count) are pending; by end unless `mixed` */
	size_t answered, count, cap;
	uint64_t arrivals;
	uint64_t due_ns; /* no row is due before this; 0 after rows were added */
	int mixed;
	/* Answers are numbered from 1. [first, next) are kept, each at its number modulo `places`,
	 * a power of two. A chain ends at the first number before `first`: all later links have
	 * been dropped too. */
	struct answer *answers;
	uint64_t *buckets; /* as many as places: the newest answer; 0: none */
	uint64_t first, next;
	size_t places;
	struct lane *lanes; /* by stream */
	size_t lane_cap;
	struct vpa_index contexts; /* process, context -> the group of its streams */
	uint32_t *groups;          /* the stream with the newest op */
	size_t group_cap;
	uint64_t reached_ns, longest_ns; /* start of the newest op; longest op */
	size_t streams_met, threads_met; /* of the model's, seen so far */
	struct processes of_streams, of_all;
};

struct vpa_call_waits *vpa_call_waits_new(
	struct vpa_resolver *resolver, const struct vpa_op_waits *records)
{
	struct vpa_call_waits *y = vpt_calloc(1, sizeof(*y));

	if (!y)
		return NULL;
	y->resolver = resolver;
	y->records = records;
	y->first = y->next = 1;
	y->of_streams.pid = y->of_all.pid = -1;
	return y;
}

void vpa_call_waits_free(struct vpa_call_waits *y)
{
	size_t i;

	if (!y)
		return;
	for (i = 0; i < y->lane_cap; i++)
		vpt_free(y->lanes[i].past);
	vpt_free(y->lanes);
	vpt_free(y->groups);
	vpa_index_free(&y->contexts);
	vpt_free(y->due);
	vpt_free(y->answers);
	vpt_free(y->buckets);
	vpt_free(y);
}

/* ---- adding rows ---- */

static int is_after(const struct due *a, const struct due *b)
{
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns;
	if (a->correlation != b->correlation)
		return a->correlation > b->correlation;
	return a->order > b->order;
}

static int compare_due(const void *a, const void *b)
{
	return is_after(a, b) - is_after(b, a);
}

static int add_due(struct vpa_call_waits *y, const struct due *d)
{
	if (y->answered > 64 && y->answered > y->count / 2) {
		y->count -= y->answered;
		memmove(y->due, y->due + y->answered, y->count * sizeof(*y->due));
		y->answered = 0;
	}
	if (vpt_grow(&y->due, &y->cap, y->count + 1, sizeof(*y->due)))
		return VPT_ENOMEM;
	if (y->count > y->answered && is_after(&y->due[y->count - 1], d))
		y->mixed = 1;
	y->due[y->count++] = *d;
	y->due_ns = 0;
	return VPT_OK;
}

/* A row's process is that of the stream it names, else of the stream it is filed under. */
static int find_process(
	struct vpa_call_waits *y, const struct vpt_section *s, uint32_t row, struct due *d)
{
	uint64_t named = s->col[VPT_SYNC_STREAM][row], key = named ? named : s->lane;
	uint32_t stream;

	if (!key)
		return VPT_OK;
	if (vpa_maps_stream(y->resolver, key, &stream))
		return VPT_ENOMEM;
	d->pid = y->resolver->model->streams[stream].pid;
	if (named && d->kind == VPT_SYNCKIND_STREAM)
		d->stream = stream;
	return VPT_OK;
}

int vpa_call_waits_add(struct vpa_call_waits *y, const struct vpt_section *s)
{
	uint32_t row;
	int rc = VPT_OK;

	for (row = 0; row < s->row_count && !rc; row++) {
		uint64_t kind = s->col[VPT_SYNC_SYNC_KIND][row];
		struct due d = {.correlation = s->col[VPT_SYNC_CORRELATION][row],
			.start_ns = s->col[VPT_SYNC_START][row],
			.context = s->col[VPT_SYNC_CONTEXT][row],
			.sync_id = s->col[VPT_SYNC_SYNC_ID][row],
			.pid = -1,
			.stream = VPA_NONE,
			.kind = (uint8_t)kind};

		d.end_ns = d.start_ns + s->col[VPT_SYNC_DURATION][row];
		if (!d.correlation || d.end_ns <= d.start_ns ||
			(kind != VPT_SYNCKIND_STREAM && kind != VPT_SYNCKIND_CONTEXT &&
				kind != VPT_SYNCKIND_EVENT))
			continue;
		d.order = y->arrivals++;
		rc = find_process(y, s, row, &d);
		if (!rc)
			rc = add_due(y, &d);
	}
	return rc;
}

int vpa_call_waits_any(const struct vpa_call_waits *y)
{
	return y->arrivals != 0;
}

/* ---- processes ---- */

static void meet_process(struct processes *p, int64_t pid)
{
	if (pid != -1 && p->pid != -1 && p->pid != pid)
		p->several = 1;
	if (pid != -1)
		p->pid = pid;
}

/* Notes the streams and threads added since the last call. */
static void meet(struct vpa_call_waits *y)
{
	const struct vpa_model *m = y->resolver->model;

	for (; y->streams_met < m->stream_count; y->streams_met++) {
		meet_process(&y->of_streams, m->streams[y->streams_met].pid);
		meet_process(&y->of_all, m->streams[y->streams_met].pid);
	}
	for (; y->threads_met < m->thread_count; y->threads_met++)
		meet_process(&y->of_all, m->threads[y->threads_met].pid);
}

/* ---- answers ---- */

/* Keeps the ops that ended last. */
static void keep(struct answer *a, const struct past *p)
{
	size_t at = a->count, i;

	if (a->count < VPA_CALL_WAITS_MAX)
		a->count++;
	else
		for (at = 0, i = 1; i < VPA_CALL_WAITS_MAX; i++)
			at = a->ends[i] < a->ends[at] ? i : at;
	if (a->count == VPA_CALL_WAITS_MAX && a->ends[at] > p->end_ns)
		return;
	a->numbers[at] = p->number;
	a->ends[at] = p->end_ns;
}

/* Adds the stream's newest op that was launched before a call, unless it ended before the wait
 * began. */
static void wait_for(const struct vpa_call_waits *y, struct answer *a, uint32_t stream,
	uint64_t before_correlation)
{
	const struct lane *l = stream < y->lane_cap ? &y->lanes[stream] : NULL;
	size_t i;

	for (i = 0; l && i < l->count && i < PAST; i++) {
		const struct past *p = &l->past[(l->count - 1 - i) % PAST];

		if (p->correlation >= before_correlation)
			continue;
		if (p->end_ns > a->start_ns)
			keep(a, p);
		return;
	}
}

/* Stops once no further stream can have an op that ended after the wait began: there may be very
 * many streams. */
static void wait_for_context(const struct vpa_call_waits *y, struct answer *a, uint64_t context)
{
	uint32_t group = vpa_index_find(&y->contexts, (uint64_t)a->pid, context), stream;

	if (group == UINT32_MAX)
		return;
	for (stream = y->groups[group]; stream != VPA_NONE; stream = y->lanes[stream].older) {
		uint64_t reached_ns = y->lanes[stream].reached_ns;

		if (reached_ns <= a->start_ns && a->start_ns - reached_ns >= y->longest_ns)
			return;
		wait_for(y, a, stream, a->correlation);
	}
}

static void find_answer(const struct vpa_call_waits *y, const struct due *d, struct answer *a)
{
	int is_known = a->pid != -1 || !y->of_streams.several;
	uint64_t recorded;
	uint32_t stream;

	if (d->kind == VPT_SYNCKIND_STREAM && d->stream != VPA_NONE) {
		wait_for(y, a, d->stream, d->correlation);
	} else if (d->kind == VPT_SYNCKIND_EVENT && is_known) {
		if (vpa_op_waits_record(y->records, a->pid, d->sync_id, &stream, &recorded))
			wait_for(y, a, stream, recorded);
	} else if (d->kind == VPT_SYNCKIND_CONTEXT && is_known) {
		wait_for_context(y, a, d->context);
	}
}

static uint64_t *bucket_of(const struct vpa_call_waits *y, uint64_t correlation)
{
	return &y->buckets[vpt_hash_number(correlation) & (y->places - 1)];
}

static struct answer *answer_at(const struct vpa_call_waits *y, uint64_t number)
{
	return &y->answers[number & (y->places - 1)];
}

static void enter(struct vpa_call_waits *y, uint64_t number)
{
	struct answer *a = answer_at(y, number);
	uint64_t *bucket = bucket_of(y, a->correlation);

	a->next = *bucket;
	*bucket = number;
}

static int grow_answers(struct vpa_call_waits *y)
{
	struct vpa_call_waits former = *y;
	size_t places = y->places ? y->places * 2 : 64;
	struct answer *answers = vpt_alloc(places, sizeof(*answers));
	uint64_t *buckets = vpt_calloc(places, sizeof(*buckets)), number;

	if (!answers || !buckets) {
		vpt_free(answers);
		vpt_free(buckets);
		return VPT_ENOMEM;
	}
	y->answers = answers;
	y->buckets = buckets;
	y->places = places;
	for (number = y->first; number < y->next; number++) {
		*answer_at(y, number) = *answer_at(&former, number);
		enter(y, number);
	}
	vpt_free(former.answers);
	vpt_free(former.buckets);
	return VPT_OK;
}

static int answer(struct vpa_call_waits *y, const struct due *d)
{
	struct answer a = {.correlation = d->correlation,
		.start_ns = d->start_ns,
		.end_ns = d->end_ns,
		.pid = d->pid};

	if (a.pid == -1 && !y->of_streams.several)
		a.pid = y->of_streams.pid;
	find_answer(y, d, &a);
	if (!a.count)
		return VPT_OK;
	qsort(a.numbers, a.count, sizeof(*a.numbers), vpa_by_u32);
	if (y->next - y->first == y->places && grow_answers(y))
		return VPT_ENOMEM;
	*answer_at(y, y->next) = a;
	enter(y, y->next++);
	return VPT_OK;
}

int vpa_call_waits_until(struct vpa_call_waits *y, uint64_t until_ns)
{
	int rc = VPT_OK;

	/* First call since a chunk's sections were added: they are sorted by stream. */
	if (y->mixed)
		qsort(y->due + y->answered, y->count - y->answered, sizeof(*y->due), compare_due);
	y->mixed = 0;
	meet(y);
	while (!rc && y->answered < y->count && y->due[y->answered].end_ns <= until_ns)
		rc = answer(y, &y->due[y->answered++]);
	y->due_ns = y->answered < y->count ? y->due[y->answered].end_ns : UINT64_MAX;
	return rc;
}

void vpa_call_waits_forget(struct vpa_call_waits *y, uint64_t before_ns)
{
	while (y->next - y->first > KEPT && answer_at(y, y->first)->start_ns < before_ns)
		y->first++;
}

/* ---- ops ---- */

/* A stream's first op: adds the stream to its context's group. */
static int begin_lane(struct vpa_call_waits *y, uint32_t stream)
{
	const struct vpa_stream *s = &y->resolver->model->streams[stream];
	uint32_t group = vpa_index_put(&y->contexts, (uint64_t)s->pid, s->context);
	size_t before = y->group_cap;
	struct lane *l = &y->lanes[stream];

	if (group == UINT32_MAX ||
		vpt_grow(&y->groups, &y->group_cap, (size_t)group + 1, sizeof(*y->groups)))
		return VPT_ENOMEM;
	for (; before < y->group_cap; before++)
		y->groups[before] = VPA_NONE;
	l->group = group;
	l->newer = VPA_NONE;
	l->older = y->groups[group];
	if (l->older != VPA_NONE)
		y->lanes[l->older].newer = stream;
	y->groups[group] = stream;
	return VPT_OK;
}

/* Moves a stream to the front of its group. */
static void bring_forward(struct vpa_call_waits *y, uint32_t stream)
{
	struct lane *l = &y->lanes[stream];
	uint32_t first = y->groups[l->group];

	y->lanes[l->newer].older = l->older;
	if (l->older != VPA_NONE)
		y->lanes[l->older].newer = l->newer;
	l->newer = VPA_NONE;
	l->older = first;
	y->lanes[first].newer = stream;
	y->groups[l->group] = stream;
}

/* Makes room for a stream's next op: in a trace with very many streams most have only one. */
static int grow_lane(struct vpa_call_waits *y, uint32_t stream)
{
	struct lane *l;

	if (vpt_grow_zeroed(&y->lanes, &y->lane_cap, (size_t)stream + 1, sizeof(*l)))
		return VPT_ENOMEM;
	l = &y->lanes[stream];
	if (!l->count && begin_lane(y, stream))
		return VPT_ENOMEM;
	return vpt_grow(&l->past, &l->cap, l->count + 1, sizeof(*l->past));
}

int vpa_call_waits_done(struct vpa_call_waits *y, const struct vpa_numbered_op *op)
{
	uint64_t ns = op->end_ns - op->start_ns;
	struct lane *l;

	if (op->start_ns >= y->due_ns && vpa_call_waits_until(y, op->start_ns))
		return VPT_ENOMEM;
	if (!op->correlation)
		return VPT_OK;
	if ((op->stream >= y->lane_cap || y->lanes[op->stream].cap < PAST) &&
		grow_lane(y, op->stream))
		return VPT_ENOMEM;
	l = &y->lanes[op->stream];
	l->past[l->count++ % PAST] = (struct past){op->correlation, op->end_ns, op->number};
	y->longest_ns = ns > y->longest_ns ? ns : y->longest_ns;
	y->reached_ns = op->start_ns > y->reached_ns ? op->start_ns : y->reached_ns;
	l->reached_ns = y->reached_ns;
	if (l->newer != VPA_NONE)
		bring_forward(y, op->stream);
	return VPT_OK;
}

/* ---- queries ---- */

static int is_of_process(const struct vpa_call_waits *y, const struct answer *a, int64_t pid)
{
	return a->pid == pid || ((a->pid == -1 || pid == -1) && !y->of_all.several);
}

const uint32_t *vpa_call_waits_of(
	const struct vpa_call_waits *y, const struct vpa_waiting_call *call, size_t *count)
{
	uint64_t number = y->places ? *bucket_of(y, call->correlation) : 0;

	*count = 0;
	for (; number >= y->first; number = answer_at(y, number)->next) {
		const struct answer *a = answer_at(y, number);

		if (a->correlation != call->correlation || a->start_ns < call->start_ns ||
			a->end_ns > call->end_ns || !is_of_process(y, a, call->pid))
			continue;
		*count = a->count;
		return a->numbers;
	}
	return NULL;
}
