/* edges_calls.c - host code between calls, and what calls wait for.
 *
 * How long a call would take by itself follows from both, and from the queue that its launch finds full, see launch_queue.h. */
#include "analysis/retime/edges/edges_finding.h"

#include "analysis/base/intervals.h"
#include "analysis/base/sort.h"
#include "analysis/model/blocking_launches.h"
#include "analysis/retime/edges/launch_queue.h"
#include "analysis/retime/tape/ends.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/calls.h"
#include "formats/event_schema.h"

#include <stdlib.h>

enum {
	SHARE = 20, /* a call's cost without a wait: the shortest 1 / 20 of its name are not longer */
	LATE_END_NS = 2000, /* an op's end may be recorded so long after that of the wait for it */
	BACK_NS = 5000,     /* from an op's end to the end of a wait for it, where none was seen */
	SYNC_NS = 2000,     /* a wait that has nothing to wait for */
	COPY_NS = 4000,     /* a copy's call that does not wait */
	LAUNCH_NS = 5000,   /* the same of a launch */
	PHASES = 1 << 16,
	SOON = 4 /* a thread that waited for another one goes on within 1 / so much of the time to its next call */
};

uint64_t vpa_edges_cost_without_wait(uint8_t klass)
{
	switch (klass) {
	case VPT_CALL_LAUNCH:
	case VPT_CALL_GRAPH_LAUNCH:
		return LAUNCH_NS;
	case VPT_CALL_COPY:
	case VPT_CALL_BLOCKING_COPY:
		return COPY_NS;
	default:
		return SYNC_NS;
	}
}

/* ---- calls ---- */

/* What a call of each name costs if it waits for nothing: lengths by name, and of each name one of the shortest. */
static int find_costs(struct vpa_edges_finding *f)
{
	const struct vpa_tape *t = f->t;
	int64_t *all = vpt_alloc(t->call_count, sizeof(*all));
	size_t *ends = vpt_calloc(t->names.count + 1, sizeof(*ends)), i, first;

	f->short_cost = vpt_calloc(t->names.count, sizeof(*f->short_cost));
	if (!all || !ends || !f->short_cost) {
		vpt_free(all);
		vpt_free(ends);
		return VPT_ENOMEM;
	}
	for (i = 0; i < t->call_count; i++)
		ends[t->calls[i].name + 1]++;
	for (i = 0; i < t->names.count; i++)
		ends[i + 1] += ends[i];
	for (i = 0; i < t->call_count; i++)
		all[ends[t->calls[i].name]++] =
			(int64_t)(t->calls[i].end_ns - t->calls[i].start_ns);
	for (first = i = 0; i < t->names.count; first = ends[i++])
		if (ends[i] > first)
			f->short_cost[i] = (uint64_t)vpa_nth(
				all + first, ends[i] - first, (ends[i] - first) / SHARE);
	vpt_free(all);
	vpt_free(ends);
	return VPT_OK;
}

/* Of each process, the call that ended last. */
struct latest {
	struct vpa_ends open;
	uint32_t *calls; /* by process; NONE */
};

/* `now_ns`: a call begins; those that have ended by then end. */
static void pass_ends(const struct vpa_tape *t, struct latest *l, uint64_t now_ns)
{
	uint32_t row;

	while (vpa_ends_pop(&l->open, now_ns, &row))
		l->calls[t->threads[t->calls[row].thread].process] = row;
}

/* Whether a call of another thread begins and ends at the start of this one. */
static int has_twin(const struct vpa_tape *t, uint32_t call)
{
	const struct vpa_tape_call *c = &t->calls[call], *next = c + 1,
				   *end = t->calls + t->call_count;

	for (; next < end && next->start_ns == c->start_ns; next++)
		if (next->end_ns == c->start_ns && next->thread != c->thread &&
			t->threads[next->thread].process == t->threads[c->thread].process)
			return 1;
	return 0;
}

/* The call of another thread of the process after whose end the thread went on: of those that ended by the start of
 * `call`, the last one, if that is later than the thread's own last. */
static uint32_t handed_over_by(const struct vpa_tape *t, uint32_t call, const struct latest *latest)
{
	const struct vpa_tape_call *c = &t->calls[call], *p;
	uint32_t row = latest->calls[t->threads[c->thread].process];

	if (row == VPA_TAPE_NONE || has_twin(t, call))
		return VPA_TAPE_NONE;
	p = &t->calls[row];
	return p->thread != c->thread && p->start_ns < c->start_ns &&
			       (c->before == VPA_TAPE_NONE ||
				       p->end_ns > t->calls[c->before].end_ns)
		       ? row
		       : VPA_TAPE_NONE;
}

/* A thread went on with `call` after `other` of another thread, by chance or because it had waited for it. */
struct turn {
	uint32_t call, other;
	uint32_t thread, other_thread;
	/* When, of the time from the end of `other` to that of its thread's next call, in 1 / PHASES. */
	uint32_t phase;
};

struct turns {
	struct turn *items;
	size_t count, cap;
};

static int add_turn(struct vpa_edges_finding *f, uint32_t call, const struct latest *latest,
	struct turns *turns)
{
	const struct vpa_tape_call *c = &f->t->calls[call];
	uint32_t other =
		c->gap_ns < VPA_HAND_OVER_NS ? VPA_TAPE_NONE : handed_over_by(f->t, call, latest);

	if (other == VPA_TAPE_NONE)
		return VPT_OK;
	if (vpt_grow(&turns->items, &turns->cap, turns->count + 1, sizeof(*turns->items)))
		return VPT_ENOMEM;
	turns->items[turns->count++] =
		(struct turn){call, other, c->thread, f->t->calls[other].thread, 0};
	return VPT_OK;
}

/* 0 if the other thread made no call any more: it had done its part. */
static uint32_t phase_of(const struct vpa_tape *t, const struct turn *turn)
{
	const struct vpa_tape_call *c = &t->calls[turn->call], *p = &t->calls[turn->other];
	double all_ns;

	if (p->next == VPA_TAPE_NONE)
		return 0;
	all_ns = (double)(t->calls[p->next].end_ns - p->end_ns);
	return all_ns > 0 ? (uint32_t)((double)(c->start_ns - p->end_ns) / all_ns * PHASES) : 0;
}

/* By who went on after whom, then phase. */
static int compare_turns(const void *pa, const void *pb)
{
	const struct turn *a = pa, *b = pb;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->other_thread != b->other_thread)
		return a->other_thread < b->other_thread ? -1 : 1;
	return a->phase < b->phase ? -1 : a->phase > b->phase;
}

/* The host code before the call follows the other thread's call. */
static void hand_over(struct vpa_edges_finding *f, const struct turn *turn)
{
	struct vpa_tape_call *c = &f->t->calls[turn->call];

	if (vpa_tape_counts(f->t, c->start_ns))
		vpt_sat_add_to(&f->e->handed_over_ns, c->gap_ns);
	c->before = turn->other;
	c->gap_ns = c->start_ns - f->t->calls[turn->other].end_ns;
}

/* A thread that has nothing to do with another one goes on at any moment between two calls of that one; one that waits
 * for it goes on soon after the first of them. So of a thread and another one all turns are hand-overs or none is. */
static void judge_turns(struct vpa_edges_finding *f, struct turns *turns)
{
	size_t first, end, i;

	for (i = 0; i < turns->count; i++)
		turns->items[i].phase = phase_of(f->t, &turns->items[i]);
	if (turns->count)
		qsort(turns->items, turns->count, sizeof(*turns->items), compare_turns);
	for (first = 0; first < turns->count; first = end) {
		const struct turn *of = &turns->items[first];

		for (end = first; end < turns->count && turns->items[end].thread == of->thread &&
				  turns->items[end].other_thread == of->other_thread;)
			end++;
		if (turns->items[first + (end - first) / 2].phase >= PHASES / SOON)
			continue;
		for (i = first; i < end; i++)
			hand_over(f, &turns->items[i]);
	}
}

static int find_gaps(struct vpa_edges_finding *f)
{
	struct vpa_tape *t = f->t;
	uint32_t *last = vpa_new_rows(t->thread_count), i;
	struct latest latest = {.calls = vpa_new_rows(t->process_count)};
	struct vpa_lengths usual = {0};
	struct turns turns = {0};
	int rc = last && latest.calls ? VPT_OK : VPT_ENOMEM;

	for (i = 0; i < t->call_count && !rc; i++) {
		struct vpa_tape_call *c = &t->calls[i];

		pass_ends(t, &latest, c->start_ns);
		c->before = last[c->thread];
		c->gap_ns = c->start_ns -
			    (c->before == VPA_TAPE_NONE ? t->start_ns : t->calls[c->before].end_ns);
		last[c->thread] = i;
		if (c->before != VPA_TAPE_NONE)
			t->calls[c->before].next = i;
		if (c->op_count && c->gap_ns && c->gap_ns < VPA_LAUNCH_GAP_NS)
			rc = vpa_lengths_add(&usual, (int64_t)c->gap_ns);
		if (!rc)
			rc = add_turn(f, i, &latest, &turns);
		if (!rc && t->thread_count > 1 && vpa_ends_push(&latest.open, c->end_ns, i))
			rc = VPT_ENOMEM;
	}
	judge_turns(f, &turns);
	f->e->launch_gap_ns = (uint64_t)vpa_lengths_middle(&usual, 0);
	vpt_free(turns.items);
	vpt_free(last);
	vpt_free(latest.calls);
	vpt_free(latest.open.items);
	return rc;
}

/* ---- what calls wait for ---- */

/* An op that ran on when the call had returned was not what it waited for. */
static int was_for(const struct vpa_tape_op *o, const struct vpa_tape_call *c)
{
	return o->end_ns <= c->end_ns + LATE_END_NS && o->start_ns < c->end_ns;
}

static int add_target(struct vpa_edges_finding *f, struct vpa_tape_call *c, uint32_t op)
{
	struct vpa_edges *e = f->e;

	if (!was_for(&f->t->ops[op], c))
		return VPT_OK;
	if (vpt_grow(&e->targets, &e->target_cap, e->target_count + 1, sizeof(*e->targets)))
		return VPT_ENOMEM;
	if (!c->target_count)
		c->target = (uint32_t)e->target_count;
	e->targets[e->target_count++] = op;
	c->target_count++;
	return VPT_OK;
}

/* The rows that a call has, which are sorted by it. */
static const struct vpa_tape_sync *next_sync(struct vpa_edges_finding *f, uint32_t call)
{
	const struct vpa_tape *t = f->t;

	while (f->next_sync < t->sync_count && t->syncs[f->next_sync].call < call)
		f->next_sync++;
	return f->next_sync < t->sync_count && t->syncs[f->next_sync].call == call
		       ? &t->syncs[f->next_sync++]
		       : NULL;
}

static uint32_t op_of_event(const struct vpa_edges_finding *f, uint64_t sync_id, int64_t pid)
{
	uint32_t row = sync_id ? vpa_index_find(&f->events, sync_id, (uint64_t)pid) : UINT32_MAX;

	return row == UINT32_MAX ? VPA_TAPE_NONE : f->event_op[row];
}

static int note_event(struct vpa_edges_finding *f, const struct vpa_tape_sync *s)
{
	uint32_t row;

	if (s->stream == VPA_TAPE_NONE || !s->sync_id)
		return VPT_OK;
	row = vpa_index_row(&f->events, s->sync_id, (uint64_t)f->t->streams[s->stream].pid,
		&f->event_op, &f->event_cap, sizeof(*f->event_op));
	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	f->event_op[row] = f->last[s->stream];
	return VPT_OK;
}

/* All streams of the process that have had work since the last such wait. `is_of_all`: it is known to wait for all of them. */
static int wait_for_all(struct vpa_edges_finding *f, struct vpa_tape_call *c, int is_of_all)
{
	const struct vpa_tape *t = f->t;
	size_t s;
	int rc = VPT_OK;

	for (s = 0; s < t->stream_count && !rc; s++) {
		if (f->last[s] == f->synced[s] ||
			!vpa_tape_may_own(t->threads[c->thread].pid, t->streams[s].pid))
			continue;
		rc = add_target(f, c, f->last[s]);
		if (is_of_all || was_for(&t->ops[f->last[s]], c))
			f->synced[s] = f->last[s];
	}
	return rc;
}

/* What is on the device may be younger than the event. */
static int infer_target(struct vpa_edges_finding *f, struct vpa_tape_call *c)
{
	uint32_t op = c->target_count ? VPA_TAPE_NONE : vpa_event_wait_op(f, c);

	if (op == VPA_TAPE_NONE)
		return VPT_OK;
	if (vpa_tape_counts(f->t, c->start_ns))
		vpt_sat_add_to(&f->e->inferred_ns, c->end_ns - c->start_ns);
	return add_target(f, c, op);
}

/* `s`: the record of what it waits for, or NULL. */
static int wait_for(
	struct vpa_edges_finding *f, struct vpa_tape_call *c, const struct vpa_tape_sync *s)
{
	int is_of_event = !s && vpa_waits_for_event(f->t, c), rc;
	uint32_t op;

	if (s && s->kind == VPT_SYNCKIND_STREAM && s->stream != VPA_TAPE_NONE)
		op = f->last[s->stream];
	else if (s && s->kind == VPT_SYNCKIND_EVENT)
		op = op_of_event(f, s->sync_id, f->t->threads[c->thread].pid);
	else {
		rc = wait_for_all(f, c, !is_of_event);
		return !rc && is_of_event ? infer_target(f, c) : rc;
	}
	return op == VPA_TAPE_NONE ? VPT_OK : add_target(f, c, op);
}

static int is_pageable(const struct vpa_tape *t, const struct vpa_tape_call *c)
{
	uint32_t i;

	for (i = 0; i < c->op_count; i++) {
		const struct vpa_tape_op *o = &t->ops[t->launched[c->op + i]];

		if (!o->is_kernel && (o->source_memory == VPT_MEMKIND_PAGEABLE ||
					     o->target_memory == VPT_MEMKIND_PAGEABLE))
			return 1;
	}
	return 0;
}

static int takes_copies(const struct vpa_tape_call *c)
{
	return c->klass == VPT_CALL_COPY || c->klass == VPT_CALL_BLOCKING_COPY;
}

/* Whether all launches return when their ops are done. */
static int do_launches_block(const struct vpa_tape *t)
{
	uint64_t kernels = 0, after = 0;
	uint32_t i;

	for (i = 0; i < t->op_count; i++) {
		const struct vpa_tape_op *o = &t->ops[i];

		if (!o->is_kernel || o->call == VPA_TAPE_NONE ||
			o->end_ns - o->start_ns < VPA_BLOCKING_NS)
			continue;
		kernels++;
		after += o->end_ns <= t->calls[o->call].end_ns;
	}
	return vpa_launches_block(kernels, after);
}

/* Whether the call returns when its own ops are done. */
static int waits_for_own(const struct vpa_edges_finding *f, const struct vpa_tape_call *c)
{
	if (c->klass == VPT_CALL_LAUNCH || c->klass == VPT_CALL_GRAPH_LAUNCH)
		return f->launches_block;
	return takes_copies(c) && (c->klass == VPT_CALL_BLOCKING_COPY || is_pageable(f->t, c));
}

/* Ops that the call launched itself, if it is one that returns when they are done. */
static int wait_for_own(struct vpa_edges_finding *f, struct vpa_tape_call *c)
{
	uint32_t i;
	int rc = VPT_OK;

	if (!c->op_count || !waits_for_own(f, c))
		return VPT_OK;
	for (i = 0; i < c->op_count && !rc; i++)
		rc = add_target(f, c, f->t->launched[c->op + i]);
	return rc;
}

/* The ops of other streams that the call's ops wait for, on their streams' behalf. */
static void launch_ops(struct vpa_edges_finding *f, const struct vpa_tape_call *c)
{
	struct vpa_tape *t = f->t;
	uint32_t i;

	for (i = 0; i < c->op_count; i++) {
		uint32_t op = t->launched[c->op + i], *pending;

		pending = &f->pending[t->ops[op].stream];
		t->ops[op].event = *pending;
		*pending = VPA_TAPE_NONE;
		f->last[t->ops[op].stream] = op;
	}
}

/* Of several waits the last to end counts. */
static void wait_on_stream(struct vpa_edges_finding *f, const struct vpa_tape_sync *s)
{
	const struct vpa_tape_op *ops = f->t->ops;
	uint32_t op = op_of_event(f, s->sync_id, f->t->streams[s->waiting].pid),
		 *pending = &f->pending[s->waiting];

	if (op != VPA_TAPE_NONE &&
		(*pending == VPA_TAPE_NONE || ops[op].end_ns > ops[*pending].end_ns))
		*pending = op;
}

/* Ops before the first one of their stream whose launch is known were launched before the tape. Of a stream without such
 * an op nothing is known. */
static int launch_earlier_ops(struct vpa_edges_finding *f)
{
	const struct vpa_tape *t = f->t;
	uint8_t *is_known = vpt_calloc(t->stream_count + 1, sizeof(*is_known));
	uint32_t i, s;

	if (!is_known)
		return VPT_ENOMEM;
	for (i = 0; i < t->op_count; i++) {
		s = t->ops[i].stream;
		is_known[s] |= t->ops[i].call != VPA_TAPE_NONE;
		if (!is_known[s])
			f->last[s] = i;
	}
	for (s = 0; s < t->stream_count; s++)
		if (!is_known[s])
			f->last[s] = VPA_TAPE_NONE;
	vpt_free(is_known);
	return VPT_OK;
}

/* Goes through the calls in the order in which they were made. */
static int find_targets(struct vpa_edges_finding *f)
{
	struct vpa_tape *t = f->t;
	const struct vpa_tape_sync *s, *own;
	uint32_t i;
	int rc = launch_earlier_ops(f);

	if (!rc)
		rc = vpa_event_waits_count(f);
	f->launches_block = do_launches_block(t);
	for (i = 0; i < t->op_count; i++)
		t->ops[i].event = VPA_TAPE_NONE;
	for (i = 0; i < t->call_count && !rc; i++) {
		struct vpa_tape_call *c = &t->calls[i];

		for (own = NULL; !rc && (s = next_sync(f, i)) != NULL;) {
			if (s->is_event)
				rc = note_event(f, s);
			else if (s->kind != VPT_SYNCKIND_STREAM_WAIT)
				own = s;
			else if (s->waiting != VPA_TAPE_NONE)
				wait_on_stream(f, s);
		}
		if (!rc && c->klass == VPT_CALL_SYNC)
			rc = wait_for(f, c, own);
		launch_ops(f, c);
		if (!rc)
			rc = wait_for_own(f, c);
	}
	return rc;
}

/* ---- the ends of calls ---- */

static uint64_t wait_of(const struct vpa_edges_finding *f, const struct vpa_tape_call *c)
{
	uint64_t end_ns = 0;
	uint32_t i;

	for (i = 0; i < c->target_count; i++) {
		const struct vpa_tape_op *o = &f->t->ops[f->e->targets[c->target + i]];

		end_ns = o->end_ns > end_ns ? o->end_ns : end_ns;
	}
	return end_ns;
}

/* Whether a replay that has come to the end of a call knows when that launch ended: all its ops have begun by then, and
 * its place in the queue is not yet that of a new one. */
static int is_known_at_end(const struct vpa_tape *t, uint32_t launches,
	const struct vpa_tape_call *c, const struct vpa_tape_call *launch)
{
	const struct vpa_tape_call *next = c + 1, *end = t->calls + t->call_count;
	uint32_t i;

	for (i = 0; i < launch->op_count; i++)
		if (t->ops[t->launched[launch->op + i]].start_ns >= c->end_ns)
			return 0;
	for (; next < end && next->start_ns <= c->end_ns; next++)
		if (next - c >= launches)
			return 0;
	return 1;
}

/* `launch`: that must have ended before; or NULL. */
static void end_call(const struct vpa_edges_finding *f, struct vpa_tape_call *c,
	const struct vpa_tape_call *launch)
{
	uint64_t queue_ns = launch ? vpa_launch_end_ns(f->t, launch) : 0;
	uint64_t ns = c->end_ns - c->start_ns, wait_ns = wait_of(f, c);
	uint64_t cost_ns = vpa_earlier(ns, f->short_cost[c->name]);

	c->can_fill =
		queue_ns <= c->start_ns ||
		(queue_ns <= c->end_ns && is_known_at_end(f->t, f->e->queue_launches, c, launch));
	c->cost_ns = ns;
	if (wait_ns > c->start_ns) {
		c->waits = VPA_WAIT_OP;
		c->after_ns = (int64_t)(c->end_ns - wait_ns);
		c->cost_ns = vpa_earlier(cost_ns, vpa_edges_cost_without_wait(c->klass));
	} else if (queue_ns > c->start_ns && c->can_fill) {
		c->waits = VPA_WAIT_QUEUE;
		c->after_ns = (int64_t)(c->end_ns - queue_ns);
		c->cost_ns = cost_ns;
	} else if (wait_ns) {
		c->after_ns = (int64_t)vpa_earlier(BACK_NS, c->end_ns - wait_ns);
	}
}

static int find_ends(struct vpa_edges_finding *f)
{
	struct vpa_tape *t = f->t;
	struct vpa_launch_queue *queues = vpa_launch_queues_new(t);
	uint32_t i;

	if (!queues)
		return VPT_ENOMEM;
	f->e->queue_launches = vpa_launch_queue_depth(t, queues, f->short_cost);
	for (i = 0; i < t->call_count; i++) {
		struct vpa_tape_call *c = &t->calls[i];
		struct vpa_launch_queue *q = vpa_launch_queue_of(t, queues, c);

		end_call(f, c, q ? vpa_launch_before(t, q, f->e->queue_launches) : NULL);
		if (q)
			vpa_launch_pass(q, i);
	}
	vpt_free(queues);
	return VPT_OK;
}

int vpa_edges_of_calls(struct vpa_edges_finding *f)
{
	int rc = find_costs(f);

	if (!rc)
		rc = find_gaps(f);
	if (!rc)
		rc = find_targets(f);
	return rc ? rc : find_ends(f);
}
