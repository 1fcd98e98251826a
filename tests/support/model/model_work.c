/* model_work.c - which op is whose, which is first of its name, and the waits of a stream. */
#include "tests/support/model/model_work.h"

#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- ops ---- */

static int compare_numbers(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* By stream, that is by process, then number, and by id. */
static int compare_names(const struct model *m, const struct model_op *a, const struct model_op *b)
{
	int by = compare_numbers(a->pid, b->pid);

	if (!by)
		by = compare_numbers(
			m->lanes.items[a->stream].stream, m->lanes.items[b->stream].stream);
	return by ? by : a->corr < b->corr ? -1 : a->corr > b->corr;
}

static int compare_ops(const struct model *m, const struct model_op *a, const struct model_op *b)
{
	int by;

	if (a->raw_start != b->raw_start)
		return a->raw_start < b->raw_start ? -1 : 1;
	by = compare_names(m, a, b);
	return by ? by : a->order < b->order ? -1 : a->order > b->order;
}

int model_is_op(const struct model_op *op)
{
	return op->raw_start && op->raw_end > op->raw_start;
}

static const struct model *sorting; /* qsort() passes nothing on */

static int compare_sorting(const void *pa, const void *pb)
{
	return compare_ops(
		sorting, *(const struct model_op *const *)pa, *(const struct model_op *const *)pb);
}

static void list_ops(struct model_work *w)
{
	size_t i;

	w->ops = vpt_calloc(w->m->ops.count + 1, sizeof(*w->ops));
	if (!w->ops)
		abort();
	for (i = 0; i < w->m->ops.count; i++)
		if (model_is_op(&w->m->ops.items[i]))
			w->ops[w->op_count++] = &w->m->ops.items[i];
	sorting = w->m;
	qsort(w->ops, w->op_count, sizeof(*w->ops), compare_sorting);
	for (i = 0; i < w->op_count; i++)
		w->ops[i]->place = i;
}

static int same_stream(const struct model *m, const struct model_op *op, size_t lane)
{
	const struct model_lane *a = &m->lanes.items[op->stream], *b = &m->lanes.items[lane];

	return a->device == b->device && a->stream == b->stream &&
	       model_same_process(a->pid, b->pid);
}

/* Equal names are one text. Copies and memsets are called by their direction and memories. */
static int same_name(const struct model_op *a, const struct model_op *b)
{
	if (a->kind != b->kind || a->kind == VPA_KERNEL)
		return a->kind == b->kind && a->name == b->name;
	return a->copy_kind == b->copy_kind && a->source == b->source && a->target == b->target;
}

/* The ops of the trace that are the first of their names on their devices. */
static void find_first_uses(struct model_work *w)
{
	size_t i, k;

	w->firsts = vpt_calloc(w->op_count + 1, sizeof(*w->firsts));
	if (!w->firsts)
		abort();
	for (i = 0; i < w->op_count; i++) {
		for (k = 0; k < w->first_count; k++)
			if (w->firsts[k]->device == w->ops[i]->device &&
				same_name(w->firsts[k], w->ops[i]))
				break;
		if (k == w->first_count)
			w->firsts[w->first_count++] = w->ops[i];
	}
}

int model_is_first_use(const struct model_work *w, const struct model_op *k)
{
	size_t i;

	for (i = 0; i < w->first_count; i++)
		if (w->firsts[i] == k)
			return 1;
	return 0;
}

static int compare_ids(const void *pa, const void *pb)
{
	const struct model_call *a = *(const struct model_call *const *)pa,
				*b = *(const struct model_call *const *)pb;

	if (a->corr != b->corr)
		return a->corr < b->corr ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void list_calls(struct model_work *w)
{
	size_t i;

	w->calls = vpt_calloc(w->m->calls.count + 1, sizeof(*w->calls));
	if (!w->calls)
		abort();
	for (i = 0; i < w->m->calls.count; i++)
		if (model_is_call(&w->m->calls.items[i]))
			w->calls[w->call_count++] = &w->m->calls.items[i];
	qsort(w->calls, w->call_count, sizeof(*w->calls), compare_ids);
}

/* The first of the calls with an id; the others follow. */
static size_t find_id(const struct model_work *w, uint64_t id)
{
	size_t low = 0, high = w->call_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (w->calls[middle]->corr < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct model_call *model_own_call(const struct model_work *w, const struct model_op *op)
{
	const struct model_call *best = NULL;
	size_t i;

	for (i = find_id(w, op->corr); op->corr && i < w->call_count; i++) {
		const struct model_call *c = w->calls[i];
		int by;

		if (c->corr != op->corr)
			break;
		if (!model_same_process(c->pid, op->pid))
			continue;
		by = best ? model_call_submits(c->kind) - model_call_submits(best->kind) : 1;
		if (by > 0 || (!by && (c->start < best->start ||
					      (c->start == best->start && c->end > best->end))))
			best = c;
	}
	return best;
}

/* ---- waits ---- */

static int names_stream(const struct model *m, const struct model_wait *wait)
{
	const struct model_lane *lane = &m->lanes.items[wait->stream];

	return lane->type == VPT_LANETYPE_STREAM && lane->stream >= 0 && lane->stream != UINT32_MAX;
}

/* A wait begins with the call that asked for it. */
static void find_times_of_waits(struct model *m)
{
	size_t i, k;

	for (i = 0; i < m->waits.count; i++) {
		struct model_wait *wait = &m->waits.items[i];
		int64_t pid = m->lanes.items[wait->stream].pid;
		uint64_t earliest = UINT64_MAX;

		for (k = 0; wait->corr && k < m->calls.count; k++) {
			const struct model_call *c = &m->calls.items[k];

			if (c->kind == MODEL_CALL_STREAM_WAIT && model_is_call(c) &&
				c->corr == wait->corr && model_same_process(c->pid, pid) &&
				c->start < earliest)
				earliest = c->start;
		}
		wait->asked_ns = earliest == UINT64_MAX ? wait->start : earliest;
	}
}

/* Whether a wait at `t` stands between the call before on K's stream and K's; without one before, any does. */
static int is_between(
	uint64_t t, const struct model_op *before, uint64_t since, const struct model_call *launch)
{
	return (!before || t > since) && t < launch->start;
}

int model_waited(
	const struct model_work *w, const struct model_op *k, const struct model_call *launch)
{
	const struct model_thread *thread = &w->threads[launch->thread];
	const struct model_op *before = NULL;
	const struct model_call *call;
	uint64_t since = 0;
	size_t i, named = 0;

	for (i = k->place; !before && i > 0; i--)
		if (w->ops[i - 1]->raw_start < k->raw_start && w->ops[i - 1]->corr != k->corr &&
			same_stream(w->m, w->ops[i - 1], k->stream))
			before = w->ops[i - 1];
	if (before) {
		call = model_own_call(w, before);
		since = call ? call->start : before->raw_start;
	}
	for (i = 0; i < w->m->waits.count; i++) {
		const struct model_wait *wait = &w->m->waits.items[i];

		if (!names_stream(w->m, wait))
			continue;
		named++;
		if (same_stream(w->m, k, wait->stream) &&
			is_between(wait->asked_ns, before, since, launch))
			return 1;
	}
	for (i = 0; !named && i < thread->outermost_count; i++)
		if (thread->outermost[i]->kind == MODEL_CALL_STREAM_WAIT &&
			is_between(thread->outermost[i]->start, before, since, launch))
			return 1;
	return 0;
}

/* ---- all of it ---- */

void model_work_init(struct model_work *w, struct model *m)
{
	memset(w, 0, sizeof(*w));
	w->m = m;
	w->threads = model_threads_new(m);
	w->counted = vpt_calloc(m->calls.count + 1, sizeof(*w->counted));
	if (!w->counted)
		abort();
	list_ops(w);
	find_first_uses(w);
	list_calls(w);
	find_times_of_waits(m);
}

void model_work_free(struct model_work *w)
{
	model_threads_free(w->threads, w->m->lanes.count);
	vpt_free(w->ops);
	vpt_free(w->firsts);
	vpt_free(w->calls);
	vpt_free(w->counted);
}
