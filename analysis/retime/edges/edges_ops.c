/* edges_ops.c - what ops begin after. */
#include "analysis/retime/edges/edges_finding.h"

#include "analysis/retime/tape/ends.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/calls.h"

enum {
	DELAY_NS = 1500,   /* less delay needs no explanation */
	QUEUED_NS = 20000, /* an op that was launched so long before it began had been queued */
	LOOK_BACK = 64,    /* ops, for an inferred edge */
	LATENCY_NS = 2000  /* where no launch shows it */
};

/* ---- ops ---- */

/* The op before it on its stream. Ops of a stream begin in order. */
static int find_prior(struct vpa_edges_finding *f)
{
	const struct vpa_tape *t = f->t;
	uint32_t *last = vpa_new_rows(t->stream_count), i;

	f->prior = vpa_new_rows(t->op_count);
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
static int hangs_on_launch(const struct vpa_edges_finding *f, uint32_t op)
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

static int find_usual(struct vpa_edges_finding *f)
{
	struct vpa_tape *t = f->t;
	struct vpa_lengths launch = {0}, graph = {0}, stream = {0};
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
				rc = vpa_lengths_add(is_graph(t, o) ? &graph : &launch,
					(int64_t)(o->start_ns - anchor_of(t, o)));
		} else if (p->end_ns > c->end_ns + QUEUED_NS && p->end_ns <= o->start_ns) {
			rc = vpa_lengths_add(&stream, (int64_t)(o->start_ns - p->end_ns));
		}
	}
	f->e->latency_ns = vpa_lengths_middle(&launch, LATENCY_NS);
	f->e->graph_latency_ns = vpa_lengths_middle(&graph, f->e->latency_ns);
	f->e->stream_gap_ns = vpa_lengths_middle(&stream, 0);
	return rc;
}

/* Ops that are running, and those that ended last. */
struct ended {
	struct vpa_ends running;
	uint32_t last[LOOK_BACK];
	uint64_t count;
};

/* Of those whose records say which stream waits for what, nothing has to be inferred. */
static int count_waits(struct vpa_edges_finding *f)
{
	const struct vpa_tape *t = f->t;
	uint32_t *counts;
	size_t i;

	if (t->gpu_count < 2)
		return VPT_OK;
	counts = vpt_calloc(t->thread_count, sizeof(*counts));
	f->waits = vpt_alloc(t->call_count, sizeof(*f->waits));
	if (!counts || !f->waits) {
		vpt_free(counts);
		return VPT_ENOMEM;
	}
	for (i = 0; i < t->call_count; i++)
		f->waits[i] = t->calls[i].klass == VPT_CALL_STREAM_WAIT;
	for (i = 0; i < t->sync_count; i++)
		if (t->syncs[i].call != VPA_TAPE_NONE && t->syncs[i].waiting != VPA_TAPE_NONE)
			f->waits[t->syncs[i].call] = 0;
	for (i = 0; i < t->call_count; i++)
		f->waits[i] = counts[t->calls[i].thread] += f->waits[i];
	vpt_free(counts);
	return VPT_OK;
}

/* Whether its thread made a stream wait between the launch of the op before it on its stream and its own. */
static int was_told_to_wait(const struct vpa_edges_finding *f, uint32_t op)
{
	const struct vpa_tape *t = f->t;
	const struct vpa_tape_op *o = &t->ops[op];
	uint32_t prior = f->prior[op],
		 before = prior == VPA_TAPE_NONE ? VPA_TAPE_NONE : t->ops[prior].call;

	if (!f->waits || o->call == VPA_TAPE_NONE)
		return 0;
	return f->waits[o->call] >
	       (before != VPA_TAPE_NONE && t->calls[before].thread == t->calls[o->call].thread
			       ? f->waits[before]
			       : 0);
}

/* The op that ended just before it began, of another stream of its GPU; of another GPU of its process only if
 * a stream was told to wait, since GPUs at work end ops at all times. NONE: there is none. */
static uint32_t inferred_of(
	const struct vpa_edges_finding *f, uint32_t op, const struct ended *ended)
{
	const struct vpa_tape *t = f->t;
	const struct vpa_tape_op *o = &t->ops[op];
	const struct vpa_tape_stream *own = &t->streams[o->stream];
	int told = was_told_to_wait(f, op);
	uint64_t i, least_i = ended->count > LOOK_BACK ? ended->count - LOOK_BACK : 0;

	for (i = ended->count; i > least_i; i--) {
		uint32_t row = ended->last[(i - 1) % LOOK_BACK];
		const struct vpa_tape_op *q = &t->ops[row];
		const struct vpa_tape_stream *stream = &t->streams[q->stream];

		if (q->end_ns + VPA_INFER_NS <= o->start_ns)
			break;
		if (q->stream != o->stream && q->start_ns < o->start_ns &&
			(stream->gpu == own->gpu || (told && stream->pid == own->pid)))
			return row;
	}
	return VPA_TAPE_NONE;
}

/* Of an op that is there only for those that follow, nothing counts. */
static void add_measured(
	const struct vpa_tape *t, const struct vpa_tape_op *o, uint64_t *sum, uint64_t ns)
{
	if (vpa_tape_counts(t, o->start_ns))
		vpt_sat_add_to(sum, ns);
}

/* The latest of what is usual binds; it gets the length that it had. */
static void bind(struct vpa_edges_finding *f, uint32_t op, const struct ended *ended)
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
		o->event = inferred_of(f, op, ended);
		if (o->event != VPA_TAPE_NONE) {
			o->binding = VPA_BINDING_INFERRED;
			add_measured(t, o, &f->e->inferred_ns, (uint64_t)(start - best));
		} else {
			add_measured(t, o, &f->e->unexplained_ns, (uint64_t)(start - best));
		}
	}
	if (o->event == VPA_TAPE_NONE && f->followed)
		o->event = f->followed[op];
}

/* What was there if it binds, else the smaller of that and what is usual. */
static int64_t length_of(int64_t usual, int64_t was, int binds)
{
	return binds || was < usual ? was : usual;
}

static void set_lengths(struct vpa_edges_finding *f, uint32_t op)
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

static int bind_ops(struct vpa_edges_finding *f)
{
	const struct vpa_tape *t = f->t;
	struct ended ended = {.count = 0};
	uint32_t i, row;
	int rc = VPT_OK;

	for (i = 0; i < t->op_count && !rc; i++) {
		const struct vpa_tape_op *o = &t->ops[i];

		while (vpa_ends_pop(&ended.running, o->start_ns, &row))
			ended.last[ended.count++ % LOOK_BACK] = row;
		bind(f, i, &ended);
		set_lengths(f, i);
		if (t->stream_count > 1 && vpa_ends_push(&ended.running, o->end_ns, i))
			rc = VPT_ENOMEM;
	}
	vpt_free(ended.running.items);
	return rc;
}

int vpa_edges_of_ops(struct vpa_edges_finding *f)
{
	int rc = find_prior(f);

	if (!rc)
		rc = count_waits(f);
	if (!rc)
		rc = vpa_collectives_follow(f);
	if (!rc)
		rc = find_usual(f);
	return rc ? rc : bind_ops(f);
}
