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

#include <stdlib.h>
#include <string.h>

/* A driver queues some thousands; beyond this the oldest counts as begun. */
enum { WAITING_MAX = 65535 };

struct queue {
	uint64_t *starts; /* of launches that wait, [head, head + count), ascending */
	size_t head, count, cap;
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

static int divide(struct queue *q, uint64_t to_ns)
{
	if (to_ns <= q->at_ns)
		return VPT_OK;
	if (vpt_grow_zeroed(&q->at_length, &q->length_cap, q->count + 1, sizeof(*q->at_length)))
		return VPT_ENOMEM;
	q->at_length[q->count] += to_ns - q->at_ns;
	q->at_ns = to_ns;
	return VPT_OK;
}

/* Those that begin by `to_ns` wait no longer. */
static int begin_until(struct queue *q, uint64_t to_ns)
{
	int rc = VPT_OK;

	while (!rc && q->count && q->starts[q->head] <= to_ns) {
		rc = divide(q, q->starts[q->head]);
		q->head++;
		q->count--;
	}
	return rc ? rc : divide(q, to_ns);
}

static int wait_for(struct queue *q, uint64_t start_ns)
{
	if (q->count == WAITING_MAX) {
		q->head++;
		q->count--;
	}
	/* Moved once for each half that has begun, however many wait. */
	if (q->head && q->head >= q->cap / 2 && q->head + q->count == q->cap) {
		memmove(q->starts, q->starts + q->head, q->count * sizeof(*q->starts));
		q->head = 0;
	}
	if (vpt_grow(&q->starts, &q->cap, q->head + q->count + 1, sizeof(*q->starts)))
		return VPT_ENOMEM;
	q->starts[q->head + q->count++] = start_ns;
	return VPT_OK;
}

static int add(struct queue *q, uint64_t launch_ns, uint64_t start_ns)
{
	uint64_t delay_ns = start_ns - launch_ns;
	int bin = 0, rc;

	if (!q->launches++)
		q->at_ns = launch_ns;
	while (bin < VPA_DELAY_BINS - 1 && delay_ns >= bounds_ns[bin])
		bin++;
	q->bins[bin]++;
	rc = vpa_durations_add(&q->delays, delay_ns);
	/* Of two threads the one may have launched before what the other one did, and come after it. */
	if (!rc)
		rc = begin_until(q, launch_ns > q->at_ns ? launch_ns : q->at_ns);
	return rc ? rc : wait_for(q, start_ns);
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	size_t i;
	int rc = VPT_OK;

	if (vpt_grow_zeroed(&s->queues, &s->cap, c->model->stream_count, sizeof(*s->queues)))
		return VPT_ENOMEM;
	for (i = 0; i < ops->count && !rc; i++)
		if (ops->first_of_launch[i] && ops->launch_start_ns[i] <= ops->start_ns[i])
			rc = add(&s->queues[ops->stream[i]], ops->launch_start_ns[i],
				ops->start_ns[i]);
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

static int write_row(
	struct queue *q, const struct vpa_model *m, size_t stream, struct vpa_queue_row *row)
{
	uint64_t total_ns = 0;
	double area = 0;
	size_t i;

	if (begin_until(q, q->count ? q->starts[q->head + q->count - 1] : 0))
		return VPT_ENOMEM;
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
	return VPT_OK;
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
	if (c->idle->resolver->quiet_ns == UINT64_MAX)
		return VPT_OK;
	for (i = 0; i < s->cap && i < c->model->stream_count; i++)
		if (s->queues[i].launches &&
			write_row(&s->queues[i], c->model, i, &e->queues[e->queues_used++]))
			return VPT_ENOMEM;
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
	.aside = fold_ops,
	.finish = finish,
	.free = free_state,
};
