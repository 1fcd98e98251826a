/* edges.c - finds the edges of calls and ops. */
#include "analysis/retime/edges.h"

#include "analysis/base/index.h"
#include "analysis/base/sort.h"
#include "analysis/retime/order.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/calls.h"
#include "formats/event_schema.h"

#include <string.h>

enum {
	SHARE = 20, /* a call's cost without a wait: the shortest 1 / 20 of its name are not longer */
	DELAY_NS = 1500,    /* less delay needs no explanation */
	LATE_END_NS = 2000, /* an op's end may be recorded so long after that of the wait for it */
	BACK_NS = 5000,     /* from an op's end to the end of a wait for it, where none was seen */
	SYNC_NS = 2000,     /* a wait that has nothing to wait for */
	COPY_NS = 4000,     /* a copy's call that does not wait */
	QUEUED_NS = 20000,  /* an op that was launched so long before it began had been queued */
	LOOK_BACK = 64,     /* ops, for an inferred edge */
	LATENCY_NS = 2000   /* where no launch shows it */
};

struct finding {
	struct vpa_tape *t;
	struct vpa_edges *e;
	uint32_t *last;          /* by stream: the op launched last; NONE */
	uint32_t *synced;        /* by stream: that op at the last wait for a whole device */
	uint32_t *pending;       /* by stream: an op of another stream that its next op waits for */
	uint32_t *prior;         /* by op: the op before it on its stream */
	uint64_t *short_cost;    /* by name */
	struct vpa_index events; /* ids of events that were recorded, and the process */
	uint32_t *event_op;      /* by such an id */
	size_t event_cap, next_sync;
};

static uint32_t *new_rows(size_t count)
{
	uint32_t *rows = vpt_alloc(count ? count : 1, sizeof(*rows));

	if (rows)
		memset(rows, 0xff, count * sizeof(*rows));
	return rows;
}

uint64_t vpa_edges_cost_without_wait(uint8_t klass)
{
	return klass == VPT_CALL_COPY || klass == VPT_CALL_BLOCKING_COPY ? COPY_NS : SYNC_NS;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- lists of lengths ---- */

struct lengths {
	int64_t *ns;
	size_t count, cap;
};

static int add_length(struct lengths *l, int64_t ns)
{
	if (vpt_grow(&l->ns, &l->cap, l->count + 1, sizeof(*l->ns)))
		return VPT_ENOMEM;
	l->ns[l->count++] = ns;
	return VPT_OK;
}

/* The lower one of two middle lengths; `none` where there is no length. Frees the list. */
static int64_t middle_of(struct lengths *l, int64_t none)
{
	int64_t ns = none;

	if (l->count)
		ns = vpa_nth(l->ns, l->count, (l->count - 1) / 2);
	vpt_free(l->ns);
	*l = (struct lengths){0};
	return ns;
}

/* ---- calls ---- */

/* What a call of each name costs if it waits for nothing: lengths by name, and of each name one of the shortest. */
static int find_costs(struct finding *f)
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

static int sort_ends(struct finding *f)
{
	const struct vpa_tape *t = f->t;
	struct vpa_timed *all = vpt_alloc(t->call_count, sizeof(*all));
	size_t i;
	int rc;

	f->e->calls_by_end = vpt_alloc(t->call_count, sizeof(*f->e->calls_by_end));
	if (!all || !f->e->calls_by_end) {
		vpt_free(all);
		return VPT_ENOMEM;
	}
	for (i = 0; i < t->call_count; i++)
		all[i] = (struct vpa_timed){t->calls[i].end_ns, (uint32_t)i};
	rc = vpa_order(all, t->call_count);
	for (i = 0; i < t->call_count; i++)
		f->e->calls_by_end[i] = all[i].row;
	vpt_free(all);
	return rc;
}

/* The call of another thread of the process after whose end the thread went on: of those that ended by the start of
 * `call`, the last one, if that is later than the thread's own last. `ended`: how many of all calls have ended. */
static uint32_t handed_over_by(const struct finding *f, uint32_t call, size_t ended)
{
	const struct vpa_tape *t = f->t;
	const struct vpa_tape_call *c = &t->calls[call], *p;

	while (ended--) {
		uint32_t row = f->e->calls_by_end[ended];

		p = &t->calls[row];
		if (row == c->before)
			return VPA_TAPE_NONE;
		if (p->thread == c->thread ||
			t->threads[p->thread].pid != t->threads[c->thread].pid)
			continue;
		return p->start_ns < c->start_ns && (c->before == VPA_TAPE_NONE ||
							    p->end_ns > t->calls[c->before].end_ns)
			       ? row
			       : VPA_TAPE_NONE;
	}
	return VPA_TAPE_NONE;
}

/* The host code before each call, and what it follows. */
static int find_gaps(struct finding *f)
{
	struct vpa_tape *t = f->t;
	uint32_t *last = new_rows(t->thread_count), i;
	struct lengths usual = {0};
	size_t ended = 0;
	int rc = last ? VPT_OK : VPT_ENOMEM;

	for (i = 0; i < t->call_count && !rc; i++) {
		struct vpa_tape_call *c = &t->calls[i];
		uint32_t other;

		while (ended < t->call_count &&
			t->calls[f->e->calls_by_end[ended]].end_ns <= c->start_ns)
			ended++;
		c->before = last[c->thread];
		c->gap_ns = c->start_ns -
			    (c->before == VPA_TAPE_NONE ? t->start_ns : t->calls[c->before].end_ns);
		last[c->thread] = i;
		if (c->before != VPA_TAPE_NONE)
			t->calls[c->before].next = i;
		if (c->op_count && c->gap_ns && c->gap_ns < VPA_LAUNCH_GAP_NS)
			rc = add_length(&usual, (int64_t)c->gap_ns);
		other = c->gap_ns < VPA_HAND_OVER_NS ? VPA_TAPE_NONE : handed_over_by(f, i, ended);
		if (other != VPA_TAPE_NONE) {
			c->before = other;
			c->gap_ns = c->start_ns - t->calls[other].end_ns;
			vpt_sat_add_to(&f->e->handed_over_ns, c->gap_ns);
		}
	}
	f->e->launch_gap_ns = (uint64_t)middle_of(&usual, 0);
	vpt_free(last);
	return rc;
}

/* ---- what calls wait for ---- */

static int add_target(struct finding *f, struct vpa_tape_call *c, uint32_t op)
{
	const struct vpa_tape_op *o = &f->t->ops[op];
	struct vpa_edges *e = f->e;

	/* An op that ran on when the call had returned was not what it waited for. */
	if (o->end_ns > c->end_ns + LATE_END_NS || o->start_ns >= c->end_ns)
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
static const struct vpa_tape_sync *next_sync(struct finding *f, uint32_t call)
{
	const struct vpa_tape *t = f->t;

	while (f->next_sync < t->sync_count && t->syncs[f->next_sync].correlation < call)
		f->next_sync++;
	return f->next_sync < t->sync_count && t->syncs[f->next_sync].correlation == call
		       ? &t->syncs[f->next_sync++]
		       : NULL;
}

static uint32_t op_of_event(const struct finding *f, uint64_t sync_id, int64_t pid)
{
	uint32_t row = sync_id ? vpa_index_find(&f->events, sync_id, (uint64_t)pid) : UINT32_MAX;

	return row == UINT32_MAX ? VPA_TAPE_NONE : f->event_op[row];
}

static int note_event(struct finding *f, const struct vpa_tape_sync *s)
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

/* All streams of the process that have had work since the last such wait. */
static int wait_for_all(struct finding *f, struct vpa_tape_call *c)
{
	const struct vpa_tape *t = f->t;
	size_t s;
	int rc = VPT_OK;

	for (s = 0; s < t->stream_count && !rc; s++) {
		if (f->last[s] == f->synced[s] ||
			!vpa_tape_may_own(t->threads[c->thread].pid, t->streams[s].pid))
			continue;
		rc = add_target(f, c, f->last[s]);
		f->synced[s] = f->last[s];
	}
	return rc;
}

/* `s`: the record of what it waits for, or NULL. */
static int wait_for(struct finding *f, struct vpa_tape_call *c, const struct vpa_tape_sync *s)
{
	uint32_t op;

	if (s && s->kind == VPT_SYNCKIND_STREAM && s->stream != VPA_TAPE_NONE)
		op = f->last[s->stream];
	else if (s && s->kind == VPT_SYNCKIND_EVENT)
		op = op_of_event(f, s->sync_id, f->t->threads[c->thread].pid);
	else
		return wait_for_all(f, c);
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

/* Ops that the call launched itself, if it is a copy that returns when it is done. */
static int wait_for_own(struct finding *f, struct vpa_tape_call *c)
{
	uint32_t i;
	int rc = VPT_OK;

	if (!c->op_count || !takes_copies(c) ||
		(c->klass != VPT_CALL_BLOCKING_COPY && !is_pageable(f->t, c)))
		return VPT_OK;
	for (i = 0; i < c->op_count && !rc; i++)
		rc = add_target(f, c, f->t->launched[c->op + i]);
	return rc;
}

/* The ops of other streams that the call's ops wait for, on their streams' behalf. */
static void launch_ops(struct finding *f, const struct vpa_tape_call *c)
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
static void wait_on_stream(struct finding *f, const struct vpa_tape_sync *s)
{
	const struct vpa_tape_op *ops = f->t->ops;
	uint32_t op = op_of_event(f, s->sync_id, f->t->streams[s->waiting].pid),
		 *pending = &f->pending[s->waiting];

	if (op != VPA_TAPE_NONE &&
		(*pending == VPA_TAPE_NONE || ops[op].end_ns > ops[*pending].end_ns))
		*pending = op;
}

/* Goes through the calls in the order in which they were made. */
static int find_targets(struct finding *f)
{
	struct vpa_tape *t = f->t;
	const struct vpa_tape_sync *s, *own;
	uint32_t i;
	int rc = VPT_OK;

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

static uint64_t wait_of(const struct finding *f, const struct vpa_tape_call *c)
{
	uint64_t end_ns = 0;
	uint32_t i;

	for (i = 0; i < c->target_count; i++) {
		const struct vpa_tape_op *o = &f->t->ops[f->e->targets[c->target + i]];

		end_ns = o->end_ns > end_ns ? o->end_ns : end_ns;
	}
	return end_ns;
}

/* Launches of a device, in order. */
struct queue {
	uint32_t calls[VPA_QUEUE_LAUNCHES];
	uint64_t count;
};

/* The launch that this one has to wait for; NULL: there is none. */
static const struct vpa_tape_call *pass_queue(
	const struct vpa_tape *t, uint32_t call, struct queue *q)
{
	uint32_t *at = &q->calls[q->count % VPA_QUEUE_LAUNCHES];
	const struct vpa_tape_call *first = q->count >= VPA_QUEUE_LAUNCHES ? &t->calls[*at] : NULL;

	*at = call;
	q->count++;
	return first;
}

static uint64_t launch_end(const struct vpa_tape *t, const struct vpa_tape_call *c)
{
	uint64_t end_ns = 0;
	uint32_t i;

	for (i = 0; i < c->op_count; i++) {
		const struct vpa_tape_op *o = &t->ops[t->launched[c->op + i]];

		end_ns = o->end_ns > end_ns ? o->end_ns : end_ns;
	}
	return end_ns;
}

/* Whether a replay that has come to the end of a call knows when that launch ended: all its ops have begun by then, and
 * its place in the queue is not yet that of a new one. */
static int is_known_at_end(
	const struct vpa_tape *t, const struct vpa_tape_call *c, const struct vpa_tape_call *launch)
{
	const struct vpa_tape_call *next = c + 1, *end = t->calls + t->call_count;
	uint32_t i;

	for (i = 0; i < launch->op_count; i++)
		if (t->ops[t->launched[launch->op + i]].start_ns >= c->end_ns)
			return 0;
	for (; next < end && next->start_ns <= c->end_ns; next++)
		if (next - c >= VPA_QUEUE_LAUNCHES)
			return 0;
	return 1;
}

/* `launch`: that must have ended before; or NULL. */
static void end_call(
	const struct finding *f, struct vpa_tape_call *c, const struct vpa_tape_call *launch)
{
	uint64_t queue_ns = launch ? launch_end(f->t, launch) : 0;
	uint64_t ns = c->end_ns - c->start_ns, wait_ns = wait_of(f, c);
	uint64_t cost_ns = least(ns, f->short_cost[c->name]);

	c->can_fill = queue_ns <= c->start_ns ||
		      (queue_ns <= c->end_ns && is_known_at_end(f->t, c, launch));
	c->cost_ns = ns;
	if (wait_ns > c->start_ns) {
		c->waits = VPA_WAIT_OP;
		c->after_ns = (int64_t)(c->end_ns - wait_ns);
		c->cost_ns = least(cost_ns, vpa_edges_cost_without_wait(c->klass));
	} else if (queue_ns > c->start_ns && c->can_fill) {
		c->waits = VPA_WAIT_QUEUE;
		c->after_ns = (int64_t)(c->end_ns - queue_ns);
		c->cost_ns = cost_ns;
	} else if (wait_ns) {
		c->after_ns = (int64_t)least(BACK_NS, c->end_ns - wait_ns);
	}
}

static int find_ends(struct finding *f)
{
	struct vpa_tape *t = f->t;
	struct queue *queues = vpt_calloc(t->gpu_count, sizeof(*queues));
	uint32_t i;

	if (!queues)
		return VPT_ENOMEM;
	for (i = 0; i < t->call_count; i++) {
		struct vpa_tape_call *c = &t->calls[i];
		const struct vpa_tape_call *launch = NULL;

		if (c->op_count)
			launch = pass_queue(
				t, i, &queues[t->streams[t->ops[t->launched[c->op]].stream].gpu]);
		end_call(f, c, launch);
	}
	vpt_free(queues);
	return VPT_OK;
}

/* ---- ops ---- */

/* The op before it on its stream. Ops of a stream begin in order. */
static int find_prior(struct finding *f)
{
	const struct vpa_tape *t = f->t;
	uint32_t *last = new_rows(t->stream_count), i;

	f->prior = new_rows(t->op_count);
	if (!last || !f->prior) {
		vpt_free(last);
		return VPT_ENOMEM;
	}
	for (i = 0; i < t->op_count; i++) {
		f->prior[i] = last[t->ops[i].stream];
		last[t->ops[i].stream] = i;
	}
	vpt_free(last);
	return VPT_OK;
}

static int is_graph(const struct vpa_tape *t, const struct vpa_tape_op *o)
{
	return t->calls[o->call].klass == VPT_CALL_GRAPH_LAUNCH;
}

/* Of a graph's nodes only the first one on each stream hangs on the launch. */
static int hangs_on_launch(const struct finding *f, uint32_t op)
{
	const struct vpa_tape *t = f->t;
	const struct vpa_tape_op *o = &t->ops[op];

	return o->call != VPA_TAPE_NONE && (!is_graph(t, o) || f->prior[op] == VPA_TAPE_NONE ||
						   t->ops[f->prior[op]].call != o->call);
}

static uint64_t anchor_of(const struct vpa_tape *t, const struct vpa_tape_op *o)
{
	const struct vpa_tape_call *c = &t->calls[o->call];

	return o->anchor ? c->end_ns : c->start_ns;
}

static int find_usual(struct finding *f)
{
	struct vpa_tape *t = f->t;
	struct lengths launch = {0}, graph = {0}, stream = {0};
	uint32_t i;
	int rc = VPT_OK;

	for (i = 0; i < t->op_count && !rc; i++) {
		struct vpa_tape_op *o = &t->ops[i];
		const struct vpa_tape_op *p =
			f->prior[i] == VPA_TAPE_NONE ? NULL : &t->ops[f->prior[i]];
		const struct vpa_tape_call *c;

		if (o->call == VPA_TAPE_NONE)
			continue;
		c = &t->calls[o->call];
		o->anchor = o->start_ns >= c->end_ns;
		if (!p || p->end_ns < c->start_ns) {
			if (o->event == VPA_TAPE_NONE && t->launched[c->op] == i)
				rc = add_length(is_graph(t, o) ? &graph : &launch,
					(int64_t)(o->start_ns - anchor_of(t, o)));
		} else if (p->end_ns > c->end_ns + QUEUED_NS && p->end_ns <= o->start_ns) {
			rc = add_length(&stream, (int64_t)(o->start_ns - p->end_ns));
		}
	}
	f->e->latency_ns = middle_of(&launch, LATENCY_NS);
	f->e->graph_latency_ns = middle_of(&graph, f->e->latency_ns);
	f->e->stream_gap_ns = middle_of(&stream, 0);
	return rc;
}

/* Ops by their end, and how many of them ended by the start of the current one. */
struct ended {
	struct vpa_timed *all;
	size_t count;
};

/* The op of another stream of its device that ended just before it began; NONE. */
static uint32_t inferred_of(const struct vpa_tape *t, uint32_t op, const struct ended *ended)
{
	const struct vpa_tape_op *o = &t->ops[op];
	size_t i, least_i = ended->count > LOOK_BACK ? ended->count - LOOK_BACK : 0;

	for (i = ended->count; i > least_i; i--) {
		uint32_t row = ended->all[i - 1].row;
		const struct vpa_tape_op *q = &t->ops[row];

		if (q->end_ns + VPA_INFER_NS <= o->start_ns)
			break;
		if (q->stream != o->stream && row < op &&
			t->streams[q->stream].gpu == t->streams[o->stream].gpu &&
			q->start_ns < o->start_ns)
			return row;
	}
	return VPA_TAPE_NONE;
}

/* The latest of what is usual binds; it gets the length that it had. */
static void bind(struct finding *f, uint32_t op, const struct ended *ended)
{
	struct vpa_tape *t = f->t;
	struct vpa_tape_op *o = &t->ops[op];
	const struct vpa_tape_op *p = f->prior[op] == VPA_TAPE_NONE ? NULL : &t->ops[f->prior[op]];
	int64_t start = (int64_t)o->start_ns, best = INT64_MIN, at;

	o->launch_ns = o->stream_ns = o->event_ns = VPA_EDGE_NONE;
	if (o->event != VPA_TAPE_NONE && (t->ops[o->event].end_ns > o->start_ns || o->event >= op))
		o->event = VPA_TAPE_NONE;
	if (hangs_on_launch(f, op)) {
		o->launch_ns = is_graph(t, o) ? f->e->graph_latency_ns : f->e->latency_ns;
		best = (int64_t)anchor_of(t, o) + o->launch_ns;
		o->binding = VPA_BINDING_LAUNCH;
	}
	if (p) {
		/* Without a launch nothing else is known. */
		o->stream_ns =
			o->call == VPA_TAPE_NONE ? start - (int64_t)p->end_ns : f->e->stream_gap_ns;
		at = (int64_t)p->end_ns + o->stream_ns;
		o->binding = at > best ? VPA_BINDING_STREAM : o->binding;
		best = at > best ? at : best;
	}
	if (o->event != VPA_TAPE_NONE) {
		o->event_ns = 0;
		at = (int64_t)t->ops[o->event].end_ns;
		o->binding = at >= best ? VPA_BINDING_EVENT : o->binding;
		best = at > best ? at : best;
	}
	if (o->call != VPA_TAPE_NONE && o->event == VPA_TAPE_NONE && start - best > DELAY_NS) {
		o->event = inferred_of(t, op, ended);
		if (o->event != VPA_TAPE_NONE) {
			o->binding = VPA_BINDING_INFERRED;
			vpt_sat_add_to(&f->e->inferred_ns, (uint64_t)(start - best));
		} else {
			vpt_sat_add_to(&f->e->unexplained_ns, (uint64_t)(start - best));
		}
	}
}

/* What was there if it binds, else the smaller of that and what is usual. */
static int64_t length_of(int64_t usual, int64_t was, int binds)
{
	return binds || was < usual ? was : usual;
}

static void set_lengths(struct finding *f, uint32_t op)
{
	struct vpa_tape *t = f->t;
	struct vpa_tape_op *o = &t->ops[op];
	int64_t start = (int64_t)o->start_ns;

	if (o->launch_ns != VPA_EDGE_NONE)
		o->launch_ns = length_of(o->launch_ns, start - (int64_t)anchor_of(t, o),
			o->binding == VPA_BINDING_LAUNCH);
	if (o->stream_ns != VPA_EDGE_NONE)
		o->stream_ns = length_of(o->stream_ns, start - (int64_t)t->ops[f->prior[op]].end_ns,
			o->binding == VPA_BINDING_STREAM);
	if (o->event != VPA_TAPE_NONE)
		o->event_ns = length_of(0, start - (int64_t)t->ops[o->event].end_ns,
			o->binding == VPA_BINDING_EVENT || o->binding == VPA_BINDING_INFERRED);
}

static int bind_ops(struct finding *f)
{
	const struct vpa_tape *t = f->t;
	struct ended ended = {.all = vpt_alloc(t->op_count, sizeof(*ended.all))};
	uint32_t i;
	int rc;

	if (!ended.all)
		return VPT_ENOMEM;
	for (i = 0; i < t->op_count; i++)
		ended.all[i] = (struct vpa_timed){t->ops[i].end_ns, i};
	rc = vpa_order(ended.all, t->op_count);
	for (i = 0; i < t->op_count && !rc; i++) {
		while (ended.count < t->op_count && ended.all[ended.count].ns <= t->ops[i].start_ns)
			ended.count++;
		bind(f, i, &ended);
		set_lengths(f, i);
	}
	vpt_free(ended.all);
	return rc;
}

/* ---- all ---- */

int vpa_edges_find(struct vpa_tape *t, struct vpa_edges *out)
{
	struct finding f = {.t = t, .e = out};
	int rc;

	*out = (struct vpa_edges){0};
	f.last = new_rows(t->stream_count);
	f.synced = new_rows(t->stream_count);
	f.pending = new_rows(t->stream_count);
	rc = f.last && f.synced && f.pending ? VPT_OK : VPT_ENOMEM;
	if (!rc)
		rc = find_costs(&f);
	if (!rc)
		rc = sort_ends(&f);
	if (!rc)
		rc = find_gaps(&f);
	if (!rc)
		rc = find_targets(&f);
	if (!rc)
		rc = find_ends(&f);
	if (!rc)
		rc = find_prior(&f);
	if (!rc)
		rc = find_usual(&f);
	if (!rc)
		rc = bind_ops(&f);
	vpt_free(f.last);
	vpt_free(f.synced);
	vpt_free(f.pending);
	vpt_free(f.prior);
	vpt_free(f.short_cost);
	vpt_free(f.event_op);
	vpa_index_free(&f.events);
	return rc;
}

void vpa_edges_free(struct vpa_edges *e)
{
	vpt_free(e->targets);
	vpt_free(e->calls_by_end);
	*e = (struct vpa_edges){0};
}
