/* model_threads.c - the order of a thread's calls, found by looking at all pairs that can meet. */
#include "tests/support/model/model_threads.h"

#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

static void *list_of(size_t count)
{
	void *list = vpt_calloc(count + 1, sizeof(void *));

	return list ? list : (abort(), NULL);
}

int model_is_call(const struct model_call *c)
{
	return c->kind != MODEL_CALL_QUERY && !c->reversed;
}

int model_same_process(int64_t a, int64_t b)
{
	return a == b || a == -1 || b == -1;
}

enum model_call_kind model_kind(const struct model_call *c)
{
	return c->kind == MODEL_CALL_COPY && c->pageable ? MODEL_CALL_BLOCKING_COPY : c->kind;
}

/* ---- calls ---- */

static int compare_calls(const void *pa, const void *pb)
{
	const struct model_call *a = *(struct model_call *const *)pa,
				*b = *(struct model_call *const *)pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if ((a->end == a->start) != (b->end == b->start))
		return a->end == a->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	if (a->corr != b->corr)
		return a->corr < b->corr ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void list_calls(struct model *m, struct model_thread *thread, size_t lane)
{
	size_t i;

	thread->calls = list_of(m->calls.count);
	thread->outermost = list_of(m->calls.count);
	for (i = 0; i < m->calls.count; i++)
		if (m->calls.items[i].thread == lane && model_is_call(&m->calls.items[i]))
			thread->calls[thread->call_count++] = &m->calls.items[i];
	qsort(thread->calls, thread->call_count, sizeof(*thread->calls), compare_calls);
}

static int is_inside(const struct model_call *b, const struct model_call *a)
{
	if (a->start == b->start && (a->end == b->end || b->end == b->start))
		return 0;
	return a->start <= b->start && b->start < a->end && b->end <= a->end;
}

/* Whatever a call is inside of stands before it in the order. */
static void nest_call(struct model_thread *thread, size_t i, const uint64_t *reach)
{
	struct model_call *c = thread->calls[i];
	size_t k;

	c->outer = NULL;
	c->submits |= model_call_submits(c->kind);
	for (k = i; k > 0 && reach[k - 1] >= c->end; k--) { /* no call before ends so late */
		struct model_call *a = thread->calls[k - 1];

		if (!is_inside(c, a))
			continue;
		a->submits |= c->submits;
		a->pageable |= c->pageable;
		if (!c->outer && a->outer == a)
			c->outer = a;
	}
	if (!c->outer) {
		c->outer = c;
		thread->outermost[thread->outermost_count++] = c;
	}
}

static void nest_calls(struct model_thread *thread)
{
	uint64_t *reach = vpt_calloc(thread->call_count + 1, sizeof(*reach)), latest = 0;
	size_t i;

	if (!reach)
		abort();
	for (i = 0; i < thread->call_count; i++) {
		latest = thread->calls[i]->end > latest ? thread->calls[i]->end : latest;
		reach[i] = latest;
	}
	for (i = 0; i < thread->call_count; i++)
		nest_call(thread, i, reach);
	latest = 0;
	for (i = 0; i < thread->outermost_count; i++) {
		struct model_call *c = thread->outermost[i];

		c->own_start = c->start > latest ? c->start : latest;
		c->own_start = c->own_start < c->end ? c->own_start : c->end;
		latest = c->end > latest ? c->end : latest;
	}
	vpt_free(reach);
}

static void mark_pageable(struct model *m)
{
	size_t i, k;

	for (i = 0; i < m->ops.count; i++) {
		const struct model_op *op = &m->ops.items[i];

		if (op->raw_end < op->raw_start || !op->raw_start || !op->corr ||
			(op->source != VPT_MEMKIND_PAGEABLE && op->target != VPT_MEMKIND_PAGEABLE))
			continue;
		for (k = 0; k < m->calls.count; k++) {
			struct model_call *c = &m->calls.items[k];

			if (c->corr == op->corr && model_same_process(c->pid, op->pid))
				c->pageable = 1;
		}
	}
}

static void list_captures(struct model_thread *thread)
{
	size_t i, k;

	for (i = 0; i < thread->call_count; i++) {
		uint64_t end = UINT64_MAX;

		if (thread->calls[i]->kind != MODEL_CALL_BEGIN_CAPTURE)
			continue;
		for (k = i; k < thread->call_count && end == UINT64_MAX; k++)
			if (thread->calls[k]->kind == MODEL_CALL_END_CAPTURE)
				end = thread->calls[k]->end;
		if (vpt_grow(&thread->captures, &thread->capture_cap, thread->capture_count + 1,
			    sizeof(*thread->captures)))
			abort();
		thread->captures[thread->capture_count++] =
			(struct model_time){thread->calls[i]->start, end};
	}
}

int model_captures(const struct model_thread *thread, uint64_t t)
{
	size_t i;

	for (i = 0; i < thread->capture_count; i++)
		if (thread->captures[i].start <= t && t < thread->captures[i].end)
			return 1;
	return 0;
}

/* ---- ranges ---- */

enum model_level model_level_of(const struct model_range *r)
{
	if (r->name && !strncmp(r->name, "ProfilerStep#", strlen("ProfilerStep#")))
		return MODEL_STEP;
	if (r->process_wide || !r->domain)
		return MODEL_ANNOTATION;
	if (!strcmp(r->domain, "cpu_op"))
		return MODEL_CPU_OP;
	return strcmp(r->domain, "python_function") ? MODEL_ANNOTATION : MODEL_PYTHON;
}

static int compare_starts(const void *pa, const void *pb)
{
	const struct model_range *a = *(const struct model_range *const *)pa,
				 *b = *(const struct model_range *const *)pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

static void list_ranges(const struct model *m, struct model_thread *thread, size_t lane)
{
	uint64_t latest = 0;
	size_t i;

	thread->lane = lane;
	thread->ranges = list_of(m->ranges.count);
	for (i = 0; i < m->ranges.count; i++) {
		const struct model_range *r = &m->ranges.items[i];

		if (r->process_wide ? r->pid == m->lanes.items[lane].pid : r->thread == lane)
			thread->ranges[thread->range_count++] = r;
	}
	qsort(thread->ranges, thread->range_count, sizeof(*thread->ranges), compare_starts);
	thread->reach = vpt_calloc(thread->range_count + 1, sizeof(*thread->reach));
	if (!thread->reach)
		abort();
	for (i = 0; i < thread->range_count; i++) {
		latest = thread->ranges[i]->end > latest ? thread->ranges[i]->end : latest;
		thread->reach[i] = latest;
	}
}

/* How many ranges have begun by `t`. */
static size_t begun_by(const struct model_thread *thread, uint64_t t)
{
	size_t low = 0, high = thread->range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (thread->ranges[middle]->start <= t)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static enum model_level level_for(const struct model_thread *thread, const struct model_range *r)
{
	enum model_level level = model_level_of(r);

	return level == MODEL_ANNOTATION && r->thread != thread->lane ? MODEL_FOREIGN : level;
}

/* The innermost range of the first level that has one, open at `t`, and covering more than half of [start, end). */
static const char *find_place(
	const struct model_thread *thread, uint64_t t, uint64_t start, uint64_t end)
{
	const struct model_range *best[MODEL_LEVELS] = {NULL};
	uint64_t from, to;
	size_t i;

	for (i = begun_by(thread, t); i > 0 && thread->reach[i - 1] > t; i--) {
		const struct model_range *r = thread->ranges[i - 1], **of;

		if (r->end <= t)
			continue;
		from = r->start > start ? r->start : start;
		to = r->end < end ? r->end : end;
		of = &best[level_for(thread, r)];
		if ((end == start || 2 * (to - from) > end - start) &&
			(!*of || model_range_is_inside(r, *of)))
			*of = r;
	}
	for (i = 0; i < MODEL_LEVELS; i++)
		if (best[i])
			return best[i]->name;
	return NULL;
}

const char *model_place_at(const struct model_thread *thread, uint64_t t)
{
	return find_place(thread, t, t, t);
}

const char *model_place_of(const struct model_thread *thread, uint64_t start, uint64_t end)
{
	return find_place(thread, start + (end - start) / 2, start, end);
}

/* ---- all threads ---- */

struct model_thread *model_threads_new(struct model *m)
{
	struct model_thread *threads = vpt_calloc(m->lanes.count + 1, sizeof(*threads));
	size_t i;

	if (!threads)
		abort();
	mark_pageable(m);
	for (i = 0; i < m->lanes.count; i++) {
		if (m->lanes.items[i].type == VPT_LANETYPE_STREAM)
			continue;
		list_calls(m, &threads[i], i);
		nest_calls(&threads[i]);
		list_captures(&threads[i]);
		list_ranges(m, &threads[i], i);
	}
	return threads;
}

void model_threads_free(struct model_thread *threads, size_t count)
{
	size_t i;

	for (i = 0; threads && i < count; i++) {
		vpt_free(threads[i].calls);
		vpt_free(threads[i].outermost);
		vpt_free(threads[i].ranges);
		vpt_free(threads[i].reach);
		vpt_free(threads[i].captures);
	}
	vpt_free(threads);
}
