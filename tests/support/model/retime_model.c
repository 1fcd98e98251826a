/* retime_model.c - the slow account of what changes of a program bring. */
#include "tests/support/model/retime_model.h"

#include "analysis/model/model.h"

#include <fnmatch.h>
#include <stdlib.h>

enum { NONE = -1, LOOK_BACK = 64 };

static const int64_t never = INT64_MIN;

/* ---- the edges ---- */

struct edges {
	int before[MODEL_CALLS], targets[MODEL_CALLS][MODEL_OPS], waits[MODEL_CALLS];
	int64_t gap[MODEL_CALLS], cost[MODEL_CALLS], after[MODEL_CALLS];
	int call[MODEL_OPS], prior[MODEL_OPS], event[MODEL_OPS], anchor[MODEL_OPS];
	int64_t launch_ns[MODEL_OPS], stream_ns[MODEL_OPS], event_ns[MODEL_OPS];
	int64_t launch_gap, latency, stream_gap, t0;
};

static int by_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int64_t middle(int64_t *list, int count, int64_t none)
{
	qsort(list, (size_t)count, sizeof(*list), by_ns);
	return count ? list[(count - 1) / 2] : none;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Of a stream's ops before the first one whose launch is known, the last one: it was launched before all calls. */
static int last_earlier(const struct retime_model *m, const struct edges *e, int stream)
{
	int i, found = NONE;

	for (i = 0; i < m->op_count; i++) {
		if (m->ops[i].stream == stream && e->call[i] != NONE)
			return found;
		found = m->ops[i].stream == stream ? i : found;
	}
	return NONE;
}

/* The op launched last on a stream before a call was made. */
static int last_launched(const struct retime_model *m, const struct edges *e, int stream, int call)
{
	int i, found = NONE;

	for (i = 0; i < m->op_count; i++)
		if (m->ops[i].stream == stream && e->call[i] != NONE && e->call[i] < call &&
			(found == NONE || e->call[i] >= e->call[found]))
			found = i;
	return found == NONE ? last_earlier(m, e, stream) : found;
}

/* What an event of a process stands for when a call is made. */
static int op_of_event(
	const struct retime_model *m, const struct edges *e, int event, int pid, int call)
{
	int i, found = NONE;

	for (i = 0; i < call; i++)
		if (m->calls[i].kind == MODEL_RECORD && m->calls[i].event == event &&
			model_stream_pid[m->calls[i].stream] == pid)
			found = last_launched(m, e, m->calls[i].stream, i);
	return found;
}

/* The call of another thread of the process that ended last. */
static int hand_over(const struct retime_model *m, const struct edges *e, int call)
{
	const struct model_call *c = &m->calls[call];
	int i, found = NONE;

	for (i = 0; i < m->call_count; i++) {
		const struct model_call *p = &m->calls[i];

		if (model_thread_pid[p->thread] == model_thread_pid[c->thread] &&
			p->end <= c->start && (p->thread != c->thread || i == e->before[call]) &&
			(found == NONE || p->end >= m->calls[found].end))
			found = i;
	}
	if (found == NONE || found == e->before[call] || m->calls[found].start >= c->start ||
		(e->before[call] != NONE && m->calls[found].end <= m->calls[e->before[call]].end))
		return NONE;
	return found;
}

/* When a call began, of the time from the end of another thread's call to that of its next one. */
static double phase_of(const struct retime_model *m, int call, int other)
{
	const struct model_call *c = &m->calls[call], *p = &m->calls[other];
	int i;

	for (i = other + 1; i < m->call_count; i++)
		if (m->calls[i].thread == p->thread)
			break;
	if (i == m->call_count || m->calls[i].end <= p->end)
		return 0;
	return (double)(c->start - p->end) / (double)(m->calls[i].end - p->end);
}

/* Whether a thread mostly goes on soon after the calls of another one: less than half of its turns come later than after
 * a quarter. */
static int takes_turns(const struct retime_model *m, const int *others, int call)
{
	int soon = 0, late = 0, i;

	for (i = 0; i < m->call_count; i++) {
		if (others[i] == NONE || m->calls[i].thread != m->calls[call].thread ||
			m->calls[others[i]].thread != m->calls[others[call]].thread)
			continue;
		if (phase_of(m, i, others[i]) < 0.25)
			soon++;
		else
			late++;
	}
	return soon > late;
}

static void find_gaps(const struct retime_model *m, struct edges *e)
{
	int64_t usual[MODEL_CALLS];
	int others[MODEL_CALLS];
	int count = 0, i, k;

	for (i = 0; i < m->call_count; i++) {
		const struct model_call *c = &m->calls[i];
		int has_op = 0;

		e->before[i] = NONE;
		for (k = 0; k < i; k++)
			if (m->calls[k].thread == c->thread)
				e->before[i] = k;
		e->gap[i] = c->start - (e->before[i] == NONE ? e->t0 : m->calls[e->before[i]].end);
		for (k = 0; k < m->op_count; k++)
			has_op |= e->call[k] == i;
		if (has_op && e->gap[i] > 0 && e->gap[i] < 100000)
			usual[count++] = e->gap[i];
		others[i] = e->gap[i] < 100000 ? NONE : hand_over(m, e, i);
	}
	for (i = 0; i < m->call_count; i++)
		if (others[i] != NONE && takes_turns(m, others, i)) {
			e->before[i] = others[i];
			e->gap[i] = m->calls[i].start - m->calls[others[i]].end;
		}
	e->launch_gap = middle(usual, count, 0);
}

/* Whether a call waits for an op, by what it is. */
static int awaits(const struct retime_model *m, const struct edges *e, int call, int op)
{
	const struct model_call *c = &m->calls[call];
	const struct model_op *o = &m->ops[op];
	int i, last;

	if (o->end > c->end + 2000 || o->start >= c->end)
		return 0;
	switch (c->kind) {
	case MODEL_COPY:
	case MODEL_BLOCKING_COPY:
		return e->call[op] == call &&
		       (c->kind == MODEL_BLOCKING_COPY || (!o->is_kernel && o->is_pageable));
	case MODEL_STREAM_SYNC:
		return last_launched(m, e, c->stream, call) == op;
	case MODEL_EVENT_SYNC:
		return op_of_event(m, e, c->event, model_thread_pid[c->thread], call) == op;
	case MODEL_DEVICE_SYNC:
		last = last_launched(m, e, o->stream, call);
		if (last != op || model_stream_pid[o->stream] != model_thread_pid[c->thread])
			return 0;
		/* Not twice. */
		for (i = 0; i < call; i++)
			if (m->calls[i].kind == MODEL_DEVICE_SYNC &&
				model_thread_pid[m->calls[i].thread] ==
					model_thread_pid[c->thread] &&
				last_launched(m, e, o->stream, i) == op)
				return 0;
		return 1;
	default:
		return 0;
	}
}

/* The shortest twentieth of its name. */
static int64_t short_cost(const struct retime_model *m, enum model_call_kind kind)
{
	int64_t all[MODEL_CALLS];
	int count = 0, i;

	for (i = 0; i < m->call_count; i++)
		if (m->calls[i].kind == kind)
			all[count++] = m->calls[i].end - m->calls[i].start;
	qsort(all, (size_t)count, sizeof(*all), by_ns);
	return all[count / 20];
}

static int64_t cost_without_wait(enum model_call_kind kind)
{
	return model_kinds[kind].copies ? 4000 : 2000;
}

static void find_ends(const struct retime_model *m, struct edges *e)
{
	int i, k;

	for (i = 0; i < m->call_count; i++) {
		const struct model_call *c = &m->calls[i];
		int64_t wait = 0, ns = c->end - c->start;

		for (k = 0; k < m->op_count; k++)
			if ((e->targets[i][k] = awaits(m, e, i, k)) != 0) {
				e->waits[i] = 1;
				wait = larger(wait, m->ops[k].end);
			}
		e->cost[i] = ns;
		e->after[i] = 0;
		if (wait > c->start) {
			e->after[i] = c->end - wait;
			e->cost[i] = smaller(
				smaller(ns, short_cost(m, c->kind)), cost_without_wait(c->kind));
		} else if (wait) {
			e->after[i] = smaller(5000, c->end - wait);
		}
	}
}

static int64_t anchor_at(const struct retime_model *m, const struct edges *e, int op)
{
	const struct model_call *c = &m->calls[e->call[op]];

	return e->anchor[op] ? c->end : c->start;
}

/* Of the recorded waits of its stream since the launch before: the op that ends last. */
static int recorded_event(const struct retime_model *m, const struct edges *e, int op)
{
	const struct model_op *o = &m->ops[op];
	int before = NONE, found = NONE, event, i;

	for (i = 0; i < m->op_count; i++)
		if (m->ops[i].stream == o->stream && e->call[i] != NONE && e->call[i] < e->call[op])
			before = e->call[i] > before ? e->call[i] : before;
	for (i = before + 1; i < e->call[op]; i++) {
		if (m->calls[i].kind != MODEL_STREAM_WAIT || m->calls[i].stream != o->stream)
			continue;
		event = op_of_event(m, e, m->calls[i].event, model_stream_pid[o->stream], i);
		if (event != NONE && (found == NONE || m->ops[event].end > m->ops[found].end))
			found = event;
	}
	return found;
}

static int inferred_event(const struct retime_model *m, int op)
{
	const struct model_op *o = &m->ops[op], *q;
	int i, k, found = NONE;

	for (i = 0; i < m->op_count; i++) {
		int later = 0;

		q = &m->ops[i];
		if (q->end > o->start || q->end + 8000 <= o->start || i >= op ||
			q->stream == o->stream ||
			model_stream_gpu[q->stream] != model_stream_gpu[o->stream] ||
			q->start >= o->start)
			continue;
		for (k = 0; k < m->op_count; k++)
			later += m->ops[k].end <= o->start &&
				 (m->ops[k].end > q->end || (m->ops[k].end == q->end && k > i));
		if (later < LOOK_BACK && (found == NONE || q->end >= m->ops[found].end))
			found = i;
	}
	return found;
}

static void find_usual(const struct retime_model *m, struct edges *e)
{
	int64_t launch[MODEL_OPS], stream[MODEL_OPS];
	int launches = 0, streams = 0, i;

	for (i = 0; i < m->op_count; i++) {
		const struct model_op *o = &m->ops[i],
				      *p = e->prior[i] == NONE ? NULL : &m->ops[e->prior[i]];
		const struct model_call *c;

		if (e->call[i] == NONE)
			continue;
		c = &m->calls[e->call[i]];
		if (!p || p->end < c->start) {
			if (recorded_event(m, e, i) == NONE)
				launch[launches++] = o->start - anchor_at(m, e, i);
		} else if (p->end > c->end + 20000 && p->end <= o->start) {
			stream[streams++] = o->start - p->end;
		}
	}
	e->latency = middle(launch, launches, 2000);
	e->stream_gap = middle(stream, streams, 0);
}

enum { BY_NOTHING, BY_LAUNCH, BY_STREAM, BY_EVENT };

static void bind_op(const struct retime_model *m, struct edges *e, int op)
{
	const struct model_op *o = &m->ops[op],
			      *p = e->prior[op] == NONE ? NULL : &m->ops[e->prior[op]];
	int64_t launch = never, stream = never, event = never, best;
	int by = BY_NOTHING;

	e->event[op] = recorded_event(m, e, op);
	if (e->event[op] != NONE && (m->ops[e->event[op]].end > o->start || e->event[op] >= op))
		e->event[op] = NONE;
	if (e->call[op] != NONE)
		launch = anchor_at(m, e, op) + e->latency;
	if (p)
		stream = e->call[op] == NONE ? o->start : p->end + e->stream_gap;
	if (e->event[op] != NONE)
		event = m->ops[e->event[op]].end;
	best = larger(launch, larger(stream, event));
	if (best != never)
		by = event == best ? BY_EVENT : launch == best ? BY_LAUNCH : BY_STREAM;
	if (e->call[op] != NONE && e->event[op] == NONE && o->start - best > 1500) {
		e->event[op] = inferred_event(m, op);
		by = e->event[op] == NONE ? by : BY_EVENT;
	}
	if (launch != never)
		e->launch_ns[op] = by == BY_LAUNCH
					   ? o->start - anchor_at(m, e, op)
					   : smaller(e->latency, o->start - anchor_at(m, e, op));
	if (p)
		e->stream_ns[op] = by == BY_STREAM || e->call[op] == NONE
					   ? o->start - p->end
					   : smaller(e->stream_gap, o->start - p->end);
	if (e->event[op] != NONE)
		e->event_ns[op] = by == BY_EVENT ? o->start - m->ops[e->event[op]].end : 0;
}

static void find_edges(const struct retime_model *m, struct edges *e)
{
	int i, k;

	memset(e, 0, sizeof(*e));
	e->t0 = smaller(m->calls[0].start, m->ops[0].start);
	for (i = 0; i < m->op_count; i++) {
		const struct model_op *o = &m->ops[i];

		e->call[i] = o->call != NONE && m->calls[o->call].start > o->start ? NONE : o->call;
		e->anchor[i] = e->call[i] != NONE && o->start >= m->calls[e->call[i]].end;
		e->prior[i] = NONE;
		for (k = 0; k < i; k++)
			if (m->ops[k].stream == o->stream)
				e->prior[i] = k;
	}
	find_gaps(m, e);
	find_ends(m, e);
	find_usual(m, e);
	for (i = 0; i < m->op_count; i++)
		bind_op(m, e, i);
}

/* ---- changes ---- */

struct world {
	const struct retime_model *m;
	const struct edges *e;
	enum model_pace pace;
	int call_gone[MODEL_CALLS], no_wait[MODEL_CALLS], op_gone[MODEL_OPS], aside[MODEL_OPS];
	int64_t gap[MODEL_CALLS], cost[MODEL_CALLS], duration[MODEL_OPS];
	int asides;
	struct model_times *out; /* `never`: not known yet */
};

/* 1 + the number of the range of this name that began last around a moment of a thread. */
static int range_at(const struct retime_model *m, const char *pattern, int thread, int64_t at)
{
	int i, found = 0;

	for (i = 0; i < m->range_count; i++) {
		const struct model_range *r = &m->ranges[i];

		if (!fnmatch(pattern, r->name, 0) && r->start <= at && at < r->end &&
			(r->is_wide ? model_thread_pid[thread] == model_thread_pid[r->thread]
				    : thread == r->thread))
			found = i + 1;
	}
	return found;
}

static int place_of_call(const struct world *w, const struct vpa_change *c, int call)
{
	return *c->place
		       ? range_at(w->m, c->place, w->m->calls[call].thread, w->m->calls[call].start)
		       : 1;
}

static int place_of_gap(const struct world *w, const struct vpa_change *c, int call)
{
	const struct model_call *of = &w->m->calls[call];

	return *c->place ? range_at(w->m, c->place, of->thread, of->start - w->e->gap[call] / 2)
			 : 1;
}

static int has_ops(const struct world *w, int call)
{
	int i, count = 0;

	for (i = 0; i < w->m->op_count; i++)
		count += w->e->call[i] == call;
	return count;
}

static int is_small_read(const struct world *w, int call)
{
	int i;

	for (i = 0; i < w->m->op_count; i++) {
		const struct model_op *o = &w->m->ops[i];

		if (w->e->call[i] == call && (o->is_kernel || o->copy_kind != VPT_COPYKIND_DTOH ||
						     o->bytes > VPA_SMALL_BYTES))
			return 0;
	}
	return has_ops(w, call);
}

static int has_copy(const struct world *w, int call, uint32_t kind)
{
	int i;

	for (i = 0; i < w->m->op_count; i++)
		if (w->e->call[i] == call && !w->m->ops[i].is_kernel &&
			w->m->ops[i].copy_kind == kind)
			return 1;
	return 0;
}

static int is_meant(const struct world *w, const struct vpa_change *c, int call)
{
	enum model_call_kind kind = w->m->calls[call].kind;

	if (!place_of_call(w, c, call))
		return 0;
	switch (c->what) {
	case VPA_WHAT_SYNCS:
		return model_kinds[kind].waits;
	case VPA_WHAT_COPIES:
		return model_kinds[kind].copies;
	case VPA_WHAT_SMALL_READS:
		return is_small_read(w, call);
	case VPA_WHAT_COPY_KIND:
		return has_copy(w, call, c->number);
	default:
		return !fnmatch(c->name, model_kinds[kind].name, 0);
	}
}

static int next_of(const struct world *w, int call)
{
	int i;

	for (i = call + 1; i < w->m->call_count; i++)
		if (w->m->calls[i].thread == w->m->calls[call].thread)
			return i;
	return NONE;
}

/* The sync that a small read is followed by. */
static int wait_after(const struct world *w, const struct vpa_change *c, int call)
{
	int next = next_of(w, call);

	return c->what == VPA_WHAT_SMALL_READS && next != NONE &&
			       model_kinds[w->m->calls[next].kind].waits && w->e->gap[next] < 100000
		       ? next
		       : NONE;
}

static int is_stretch(const struct vpa_change *c, int64_t ns)
{
	return (uint64_t)ns >= c->least_ns && (!c->most_ns || (uint64_t)ns < c->most_ns);
}

static void drop(struct world *w, const struct vpa_change *c, int call)
{
	int next = next_of(w, call);

	if (!w->e->waits[call] || w->call_gone[call] ||
		!is_stretch(c, next == NONE ? 0 : w->e->gap[next]))
		return;
	w->no_wait[call] = 1;
	w->cost[call] = smaller(w->cost[call], cost_without_wait(w->m->calls[call].kind));
}

static void delete_call(struct world *w, int call, int with_code)
{
	int i;

	if (with_code)
		w->gap[call] = 0;
	else if (!w->call_gone[call])
		w->gap[call] = w->gap[call] < 100000 ? 0 : w->gap[call] - w->e->launch_gap;
	w->call_gone[call] = 1;
	for (i = 0; i < w->m->op_count; i++)
		w->op_gone[i] |= w->e->call[i] == call;
}

static void host_after(struct world *w, const struct vpa_change *c, int call)
{
	int wait = wait_after(w, c, call), next = next_of(w, wait == NONE ? call : wait);
	int64_t stays = w->e->launch_gap;

	if (next != NONE && w->e->gap[next] > stays && w->gap[next] > stays &&
		is_stretch(c, w->e->gap[next]))
		w->gap[next] = stays + (int64_t)((double)(w->gap[next] - stays) * c->factor);
}

static void scale_launch(struct world *w, const struct vpa_change *c, int call)
{
	int64_t part = w->e->gap[call];
	int i, launches = 0;

	for (i = 0; i < w->m->op_count; i++)
		launches |= w->e->call[i] == call;
	if (part >= 100000)
		part = launches ? w->e->launch_gap : 0;
	part = smaller(part, w->gap[call]);
	w->gap[call] = w->gap[call] - part + (int64_t)((double)part * c->factor);
}

static void change_calls(struct world *w, const struct vpa_change *c)
{
	int i, wait;

	for (i = 0; i < w->m->call_count; i++) {
		if (!is_meant(w, c, i))
			continue;
		wait = wait_after(w, c, i);
		if (c->kind == VPA_CHANGE_DROP) {
			drop(w, c, i);
			if (wait != NONE)
				drop(w, c, wait);
		} else if (c->kind == VPA_CHANGE_DELETE) {
			delete_call(w, i, 0);
			if (wait != NONE)
				delete_call(w, wait, 0);
		} else if (c->kind == VPA_CHANGE_PIN) {
			w->no_wait[i] = 1;
			w->cost[i] = smaller(w->cost[i], cost_without_wait(w->m->calls[i].kind));
		} else {
			host_after(w, c, i);
		}
	}
}

static void change_ops(struct world *w, const struct vpa_change *c)
{
	int i;

	for (i = 0; i < w->m->op_count; i++) {
		const struct model_op *o = &w->m->ops[i];

		if (*c->place && (w->e->call[i] == NONE || !place_of_call(w, c, w->e->call[i])))
			continue;
		if (c->kind == VPA_CHANGE_ASIDE)
			w->aside[i] = w->asides;
		else if (c->kind == VPA_CHANGE_SCALE)
			w->duration[i] = o->is_kernel && !fnmatch(c->name, o->name, 0)
						 ? (int64_t)((double)w->duration[i] * c->factor)
						 : w->duration[i];
		else if (!o->is_kernel && o->copy_kind == c->number)
			w->duration[i] = (int64_t)((double)o->bytes / c->factor);
	}
}

static void skip(struct world *w, const struct vpa_change *c)
{
	int number[MODEL_RANGES + 1] = {0}, seen = 0, i;

	for (i = 0; i < w->m->range_count; i++)
		if (!fnmatch(c->place, w->m->ranges[i].name, 0))
			number[i + 1] = ++seen % (int)c->number == 0;
	for (i = 0; i < w->m->call_count; i++) {
		int with_code = number[place_of_gap(w, c, i)];

		if (number[place_of_call(w, c, i)])
			delete_call(w, i, with_code);
		else if (with_code)
			w->gap[i] = 0;
	}
}

static void apply(struct world *w, const struct vpa_change *c)
{
	int i;

	switch (c->kind) {
	case VPA_CHANGE_HOST:
		for (i = 0; i < w->m->call_count; i++)
			if (place_of_gap(w, c, i) && c->per_launch)
				scale_launch(w, c, i);
			else if (place_of_gap(w, c, i) && is_stretch(c, w->e->gap[i]))
				w->gap[i] = (int64_t)((double)w->gap[i] * c->factor);
		break;
	case VPA_CHANGE_SCALE:
	case VPA_CHANGE_RATE:
		change_ops(w, c);
		break;
	case VPA_CHANGE_ASIDE:
		w->asides++;
		change_ops(w, c);
		break;
	case VPA_CHANGE_PIN:
		change_ops(w, c);
		change_calls(w, c);
		break;
	case VPA_CHANGE_SKIP:
		skip(w, c);
		break;
	default:
		change_calls(w, c);
	}
}

/* ---- the longest paths ---- */

static int64_t op_end(struct world *w, int op);

static int64_t call_end(struct world *w, int call);

static int64_t call_start(struct world *w, int call)
{
	int64_t *at = &w->out->call_start[call];

	if (*at == never)
		*at = (w->e->before[call] == NONE ? 0 : call_end(w, w->e->before[call])) +
		      (w->pace == MODEL_GPU_ALONE ? 0 : w->gap[call]);
	return *at;
}

static int64_t call_end(struct world *w, int call)
{
	int64_t *at = &w->out->call_end[call], start = call_start(w, call), wait = never;
	int i;

	if (*at != never)
		return *at;
	*at = start;
	if (w->call_gone[call] || w->pace == MODEL_GPU_ALONE)
		return *at;
	*at += w->cost[call];
	for (i = 0; i < w->m->op_count; i++)
		if (w->e->targets[call][i] && !w->no_wait[call])
			wait = larger(wait, op_end(w, i));
	if (wait > start)
		*at = larger(*at, wait + w->e->after[call]);
	return *at;
}

/* The end of the op that ran last on a stream before this one; `stream` 0 to 3, or 3 + number of a stream aside. */
static int last_on(const struct world *w, int stream, int op)
{
	int i;

	for (i = op - 1; i >= 0; i--)
		if (!w->op_gone[i] && (w->aside[i] ? MODEL_STREAMS - 1 + w->aside[i]
						   : w->m->ops[i].stream) == stream)
			return i;
	return NONE;
}

static int64_t op_start(struct world *w, int op)
{
	int64_t *at = &w->out->op_start[op];
	const struct edges *e = w->e;
	int own = w->m->ops[op].stream, prior = e->prior[op], last;
	int has_prior = prior != NONE && !w->op_gone[prior] && !w->aside[prior];

	if (*at != never)
		return *at;
	if (e->call[op] != NONE)
		*at = larger(*at,
			(e->anchor[op] ? call_end(w, e->call[op]) : call_start(w, e->call[op])) +
				e->launch_ns[op]);
	if (e->event[op] != NONE && op_end(w, e->event[op]) != never)
		*at = larger(*at, op_end(w, e->event[op]) + e->event_ns[op]);
	if (w->aside[op]) {
		if (has_prior)
			*at = larger(*at, op_end(w, prior));
		last = last_on(w, MODEL_STREAMS - 1 + w->aside[op], op);
		if (last != NONE)
			*at = larger(*at, op_end(w, last) + e->stream_gap);
	} else {
		last = last_on(w, own, op);
		if (last != NONE)
			*at = larger(*at,
				op_end(w, last) + (has_prior ? e->stream_ns[op] : e->stream_gap));
	}
	if (*at == never)
		*at = w->m->ops[op].start - e->t0;
	return *at;
}

static int64_t op_end(struct world *w, int op)
{
	int64_t *at = &w->out->op_end[op];
	int last;

	/* Of one that is gone, the end of what is before it on its stream. */
	if (w->op_gone[op]) {
		last = last_on(w, w->m->ops[op].stream, op);
		return last == NONE ? never : op_end(w, last);
	}
	if (*at == never)
		*at = op_start(w, op) + (w->pace == MODEL_HOST_ALONE ? 0 : w->duration[op]);
	return *at;
}

void retime_model_run(const struct retime_model *m, enum model_pace pace,
	const struct vpa_change *changes, size_t change_count, struct model_times *out)
{
	static struct edges e;
	struct world w = {.m = m, .e = &e, .pace = pace, .out = out};
	size_t k;
	int i;

	find_edges(m, &e);
	memcpy(w.gap, e.gap, sizeof(w.gap));
	memcpy(w.cost, e.cost, sizeof(w.cost));
	for (i = 0; i < m->op_count; i++)
		w.duration[i] = m->ops[i].end - m->ops[i].start;
	for (k = 0; k < change_count; k++)
		apply(&w, &changes[k]);
	for (i = 0; i < MODEL_CALLS; i++)
		out->call_start[i] = out->call_end[i] = never;
	for (i = 0; i < MODEL_OPS; i++)
		out->op_start[i] = out->op_end[i] = never;
	memcpy(out->is_gone, w.op_gone, sizeof(out->is_gone));
	for (i = 0; i < m->call_count; i++)
		call_end(&w, i);
	for (i = 0; i < m->op_count; i++)
		op_end(&w, i);
}
