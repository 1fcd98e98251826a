/* queues.c - how far each stream's host is ahead: launches that have not begun, over time, and how long each waits.
 *
 *	launched  1  2  3        4              a stream begins its launches in their order, so the ones that wait
 *	begun           1     2  3  4           when one is made are those before it that begin later
 *	waiting   1  2  2     1  1  0
 *
 * So its ops, which come in order of start, say the length at each moment up to their launch, and only what waits is kept. A
 * launch of a graph counts once, on the stream of its first op. */
#include "analysis/folds/fold.h"

#include "analysis/join/resolver.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/vectorise.h"

#include <stdlib.h>
#include <string.h>

/* A driver queues some thousands; beyond this the oldest counts as begun. */
enum { WAITING_MAX = 65535 };
/* So many delays are counted at once for less than one by one. */
enum { MANY = 16 };
/* Later than any op that has an end. */
#define NEVER UINT64_MAX

struct queue {
	uint64_t *
		starts; /* of launches: those that wait are `count` from `next` on, ascending, and then NEVER */
	size_t cap;
	uint64_t *next;
	size_t count;
	uint64_t at_ns;      /* time is divided up to here */
	uint64_t *at_length; /* ns, by length */
	size_t length_cap;
	uint64_t launches;
	uint64_t bins[VPA_DELAY_BINS];
	struct vpa_durations_builder delays;
};

struct state {
	struct queue *queues; /* by stream */
	size_t cap;
};

static const uint64_t bounds_ns[VPA_DELAY_BINS - 1] = {10000, 100000, 1000000, 10000000};

/* ---- ops ---- */

/* Divides the time up to `to_ns`: those that begin by then wait no longer. What ends the waiting ones begins never. */
static inline void begin_until(struct queue *q, uint64_t to_ns)
{
	for (; *q->next <= to_ns; q->next++, q->count--)
		if (*q->next > q->at_ns) {
			q->at_length[q->count] += *q->next - q->at_ns;
			q->at_ns = *q->next;
		}
	if (to_ns > q->at_ns) {
		q->at_length[q->count] += to_ns - q->at_ns;
		q->at_ns = to_ns;
	}
}

/* Makes room for `more` launches that wait, and for the lengths that they may bring. */
static int make_room(struct queue *q, size_t more)
{
	size_t begun = q->starts ? (size_t)(q->next - q->starts) : 0, need = q->count + more + 1;
	int is_new = !q->starts;

	/* Moved once for each half that has begun, however many wait. */
	if (begun && begun >= q->cap / 2 && begun + need > q->cap) {
		memmove(q->starts, q->next, (q->count + 1) * sizeof(*q->starts));
		begun = 0;
	}
	if (vpt_grow(&q->starts, &q->cap, begun + need, sizeof(*q->starts)))
		return VPT_ENOMEM;
	q->next = q->starts + begun;
	if (is_new)
		*q->next = NEVER;
	return vpt_grow_zeroed(&q->at_length, &q->length_cap, need, sizeof(*q->at_length));
}

/* Launches of one stream, in the order of their ops. */
struct launches {
	const uint64_t *launched_ns, *starts_ns;
	uint64_t delays_ns[VPA_OPS_MAX];
	size_t count;
	int are_usual; /* they are of all ops of a run, and no time is 2^63 or later */
	uint64_t some_launched_ns[VPA_OPS_MAX],
		some_starts_ns[VPA_OPS_MAX]; /* if not every op has one of its own */
};

/* Counts them by how long they waited, all below 2^63: compared as signed numbers, which takes less. */
VPT_VECTORISE
static void count_delays(uint64_t *restrict bins, const uint64_t *restrict delays_ns, size_t count)
{
	uint64_t more[VPA_DELAY_BINS] = {count};
	size_t bin, i;

	for (bin = 1; bin < VPA_DELAY_BINS; bin++) {
		int64_t bound_ns = (int64_t)bounds_ns[bin - 1];
		uint64_t sum = 0;

		for (i = 0; i < count; i++)
			sum += (int64_t)delays_ns[i] >= bound_ns;
		more[bin] = sum;
	}
	for (bin = 0; bin < VPA_DELAY_BINS; bin++)
		bins[bin] += more[bin] - (bin + 1 < VPA_DELAY_BINS ? more[bin + 1] : 0);
}

static void count_delay(uint64_t *bins, uint64_t delay_ns)
{
	size_t bin = 0;

	while (bin < VPA_DELAY_BINS - 1 && delay_ns >= bounds_ns[bin])
		bin++;
	bins[bin]++;
}

static int add_delays(struct queue *q, const struct launches *l)
{
	size_t i;
	int rc = VPT_OK;

	if (l->count >= MANY && l->are_usual) {
		count_delays(q->bins, l->delays_ns, l->count);
		return vpa_durations_add_all(&q->delays, l->delays_ns, l->count);
	}
	for (i = 0; i < l->count && !rc; i++) {
		count_delay(q->bins, l->delays_ns[i]);
		rc = vpa_durations_add(&q->delays, l->delays_ns[i]);
	}
	return rc;
}

/* There is room for all of them. */
static void add_waiting(struct queue *all, const struct launches *l)
{
	struct queue q = *all; /* in registers */
	size_t i;

	for (i = 0; i < l->count; i++) {
		/* Of two threads the one may have launched before what the other one did, and come after it. */
		begin_until(&q, vpa_later(l->launched_ns[i], q.at_ns));
		if (q.count == WAITING_MAX) {
			q.next++;
			q.count--;
		}
		q.next[q.count++] = l->starts_ns[i];
		q.next[q.count] = NEVER;
	}
	all->next = q.next;
	all->count = q.count;
	all->at_ns = q.at_ns;
}

static int add(struct queue *q, const struct launches *l)
{
	if (!l->count)
		return VPT_OK;
	if (!q->launches)
		q->at_ns = l->launched_ns[0];
	q->launches += l->count;
	if (add_delays(q, l) || make_room(q, l->count))
		return VPT_ENOMEM;
	add_waiting(q, l);
	return VPT_OK;
}

/* Writes how long each waited. Returns whether no launch is later than its op, as a sum of signs: also refuses ops without
 * a launch. */
VPT_VECTORISE
static int find_delays(const uint64_t *restrict launched_ns, const uint64_t *restrict starts_ns,
	size_t count, uint64_t *restrict delays_ns)
{
	uint64_t bad = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		delays_ns[i] = starts_ns[i] - launched_ns[i];
		bad |= delays_ns[i] | starts_ns[i] | launched_ns[i];
	}
	return !(bad >> 63);
}

/* Of a launch that is later than its op nothing is known. */
static void gather_some(
	const struct vpa_ops *ops, const struct vpa_op_run *run, struct launches *out)
{
	size_t i, n = 0;

	for (i = run->begin; i < run->end; i++) {
		uint64_t launched_ns = ops->launch_start_ns[i], start_ns = ops->start_ns[i];

		out->some_launched_ns[n] = launched_ns;
		out->some_starts_ns[n] = start_ns;
		out->delays_ns[n] = start_ns - launched_ns;
		n += ops->first_of_launch[i] & (launched_ns <= start_ns);
	}
	out->launched_ns = out->some_launched_ns;
	out->starts_ns = out->some_starts_ns;
	out->count = n;
}

/* The launches of a run's ops. */
static void gather(const struct vpa_ops *ops, const struct vpa_op_run *run, struct launches *out)
{
	out->launched_ns = ops->launch_start_ns + run->begin;
	out->starts_ns = ops->start_ns + run->begin;
	out->count = (size_t)run->end - run->begin;
	out->are_usual = ops->all_first &&
			 find_delays(out->launched_ns, out->starts_ns, out->count, out->delays_ns);
	if (!out->are_usual)
		gather_some(ops, run, out);
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	struct launches launches;
	size_t i;
	int rc = VPT_OK;

	if (vpt_grow_zeroed(&s->queues, &s->cap, c->model->stream_count, sizeof(*s->queues)))
		return VPT_ENOMEM;
	for (i = 0; i < ops->run_count && !rc; i++) {
		const struct vpa_op_run *run = &ops->runs[i];

		gather(ops, run, &launches);
		rc = add(&s->queues[ops->stream[run->begin]], &launches);
	}
	return rc;
}

/* ---- writing down ---- */

/* The smallest length that was not exceeded for this share of the time. */
static uint64_t length_at(const struct queue *q, uint64_t total_ns, double share)
{
	uint64_t sum_ns = 0;
	size_t i;

	for (i = 0; i < q->length_cap; i++) {
		vpt_sat_add_to(&sum_ns, q->at_length[i]);
		if (sum_ns && (double)sum_ns >= share * (double)total_ns)
			break;
	}
	return i;
}

static void write_row(
	struct queue *q, const struct vpa_model *m, size_t stream, struct vpa_queue_row *row)
{
	uint64_t total_ns = 0;
	double area = 0;
	size_t i;

	begin_until(q, q->count ? q->next[q->count - 1] : 0);
	for (i = 0; i < q->length_cap; i++) {
		vpt_sat_add_to(&total_ns, q->at_length[i]);
		area += (double)i * (double)q->at_length[i];
		row->waiting_max = q->at_length[i] ? i : row->waiting_max;
	}
	row->device = m->devices[m->streams[stream].device];
	row->stream = m->streams[stream].stream;
	row->pid = m->streams[stream].pid;
	row->launches = q->launches;
	row->delay = vpa_durations_of(&q->delays);
	memcpy(row->bins, q->bins, sizeof(row->bins));
	row->waiting_mean = total_ns ? area / (double)total_ns : 0;
	row->waiting_min = total_ns ? length_at(q, total_ns, 0) : 0;
	row->waiting_p50 = total_ns ? length_at(q, total_ns, 0.5) : 0;
	row->waiting_p95 = total_ns ? length_at(q, total_ns, 0.95) : 0;
}

static int compare(const void *pa, const void *pb)
{
	const struct vpa_queue_row *a = pa, *b = pb;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->launches != b->launches)
		return a->launches > b->launches ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->stream < b->stream ? -1 : a->stream > b->stream;
}

/* Where the clocks disagree, nothing is known of a launch's distance to its op. */
static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct state *s = state;
	struct vpa_expert *e = &out->expert;
	size_t i;

	e->queues = vpa_arena_alloc(&out->arena, s->cap, sizeof(*e->queues));
	if (!e->queues && s->cap)
		return VPT_ENOMEM;
	if (c->resolver->quiet_ns == UINT64_MAX)
		return VPT_OK;
	for (i = 0; i < s->cap && i < c->model->stream_count; i++)
		if (s->queues[i].launches)
			write_row(&s->queues[i], c->model, i, &e->queues[e->queues_used++]);
	qsort(e->queues, e->queues_used, sizeof(*e->queues), compare);
	e->queue_count = e->queues_used < c->top ? e->queues_used : c->top;
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;
	size_t i;

	for (i = 0; i < s->cap; i++) {
		vpt_free(s->queues[i].starts);
		vpt_free(s->queues[i].at_length);
		vpa_durations_free(&s->queues[i].delays);
	}
	vpt_free(s->queues);
}

const struct vpa_fold vpa_fold_queues = {
	.name = "queues",
	.help = "how many launches wait on each stream, and for how long",
	.state_bytes = sizeof(struct state),
	.wanted = vpa_fold_is_table,
	.aside = fold_ops,
	.finish = finish,
	.free = free_state,
};
