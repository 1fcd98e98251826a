/* replay_ops.c - ops. */
#include "analysis/retime/replay/replaying.h"

#include <string.h>

/* An op with what it asks for. */
struct running {
	const struct vpa_tape_op *o;
	const struct vpa_launch *l; /* NULL: not known */
	size_t slot;                /* of the launch */
	struct vpa_clocks_op clocks;
	uint32_t differs; /* worlds in which a change is about the op itself */
};

/* ---- lines ---- */

/* The launch that the op ends in the line in a world, as a new graph may have it; NULL: none. */
static const struct vpa_launch *launch_in(
	const struct vpa_replaying *r, const struct running *run, size_t w)
{
	const struct vpa_launch *l = run->l;

	if (l && vpa_is_in(l->in_graph, w))
		l = vpa_launch_of(r, r->heads[run->slot * r->n + w]);
	return l && !vpa_is_in(l->gone, w) ? l : NULL;
}

static void leave_own_line(
	struct vpa_replaying *r, const struct vpa_launch *l, size_t w, int64_t end_ns)
{
	uint64_t place = *vpa_own_place(r, (size_t)(l - r->launches), w);
	int64_t *at;

	if (*vpa_own_count(r, l->device, w) - place > VPA_LINE)
		return;
	at = vpa_own_line_at(r, l->device, w, place);
	*at = vpa_clock_later(*at, end_ns);
}

static void leave_line(struct vpa_replaying *r, const struct running *run, size_t w, int64_t end_ns)
{
	const struct vpa_launch *l = launch_in(r, run, w);

	if (l && w >= r->plain)
		leave_own_line(r, l, w, end_ns);
	else if (l)
		run->clocks.line[w] = vpa_clock_later(run->clocks.line[w], end_ns);
}

/* ---- a world that differs ---- */

/* The clock of the launch, where that is the launch of a new graph. */
static int64_t anchor_in_graph(const struct vpa_replaying *r, const struct running *run, size_t w)
{
	uint32_t head = r->heads[run->slot * r->n + w];

	return vpa_launch_of(r, head) ? r->launch_ends[vpa_launch_slot(r, head) * r->n + w]
				      : run->clocks.anchor[w];
}

/* `aside`: where it runs; 0: on its own stream. */
static int64_t start_in(
	const struct vpa_replaying *r, const struct running *run, uint32_t aside, size_t w)
{
	const struct vpa_tape_op *o = run->o;
	const struct vpa_clocks_op *clocks = &run->clocks;
	const struct vpa_replayed_stream *own = &r->streams[o->stream];
	size_t at = aside ? r->t->stream_count + aside - 1 : o->stream;
	int in_graph = run->l && vpa_is_in(run->l->in_graph, w);
	int64_t ns = VPA_CLOCK_NEVER, gap_ns = clocks->stream_ns;

	if (clocks->launch_ns != VPA_EDGE_NONE)
		ns = in_graph ? anchor_in_graph(r, run, w)
			      : vpa_clock_plus(clocks->anchor[w], clocks->launch_ns);
	if (clocks->event && clocks->event[w] != VPA_CLOCK_NEVER)
		ns = vpa_clock_later(ns, vpa_clock_plus(clocks->event[w], clocks->event_ns));
	/* What is put aside needs what came before it on its own stream. */
	if (aside && vpa_is_in(own->any & own->has_last, w))
		ns = vpa_clock_later(ns, clocks->tail[w]);
	if (vpa_is_in(r->streams[at].any, w)) {
		if (gap_ns == VPA_EDGE_NONE || aside || !vpa_is_in(own->has_last, w) ||
			(in_graph && gap_ns > r->e->stream_gap_ns))
			gap_ns = r->e->stream_gap_ns;
		ns = vpa_clock_later(ns, vpa_clock_plus(r->tails[at * r->n + w], gap_ns));
	}
	return ns == VPA_CLOCK_NEVER ? (int64_t)(o->start_ns - r->t->start_ns) : ns;
}

static void run_in(struct vpa_replaying *r, struct running *run, size_t w)
{
	struct vpa_replayed_stream *own = &r->streams[run->o->stream];
	struct vpa_clocks_op *clocks = &run->clocks;
	uint32_t bit = (uint32_t)1 << w, aside = 0;
	int64_t start_ns, end_ns, duration_ns = clocks->duration_ns;
	size_t at = run->o->stream;

	/* Who waits for what is gone waits for what was before it on the stream. */
	if (run->l && vpa_is_in(run->l->ops_gone, w)) {
		own->has_last &= ~bit;
		clocks->end[w] = vpa_is_in(own->any, w) ? clocks->tail[w] : VPA_CLOCK_NEVER;
		return;
	}
	if (vpa_is_in(run->differs, w)) {
		duration_ns = r->op_effects[w].duration_ns;
		aside = r->op_effects[w].aside;
	}
	if (aside)
		at = r->t->stream_count + aside - 1;
	start_ns = start_in(r, run, aside, w);
	end_ns = vpa_clock_plus(start_ns, duration_ns & r->keeps[w]);
	own->has_last = aside ? own->has_last & ~bit : own->has_last | bit;
	r->streams[at].any |= bit;
	r->tails[at * r->n + w] = end_ns;
	clocks->end[w] = end_ns;
	leave_line(r, run, w, end_ns);
	if (clocks->latest[w] < end_ns)
		clocks->latest[w] = end_ns;
	if (clocks->earliest[w] > start_ns)
		clocks->earliest[w] = start_ns;
}

/* ---- an op ---- */

static void run_as_usual(struct vpa_replaying *r, struct running *run)
{
	size_t w;

	/* Without a launch there is at least an op before it. */
	if (run->clocks.launch_ns == VPA_EDGE_NONE) {
		run->clocks.anchor = r->never;
		run->clocks.launch_ns = 0;
	}
	vpa_clocks_op(&run->clocks, r->n);
	for (w = r->plain; run->l && w < r->worlds; w++)
		if (!vpa_is_in(run->l->gone, w))
			leave_own_line(r, run->l, w, run->clocks.end[w]);
}

static void run_differing(struct vpa_replaying *r, struct running *run)
{
	size_t w;

	for (w = 0; w < r->worlds; w++)
		run_in(r, run, w);
	for (; w < r->n; w++)
		run->clocks.end[w] = 0;
}

/* Keeps the end of an op that gives way to a later one, while it is the last of its stream. */
static void keep_last(struct vpa_replaying *r, uint32_t op)
{
	uint32_t stream = r->t->ops[op].stream;

	if (r->streams[stream].last == op)
		memcpy(&r->last_end[stream * r->n], &r->op_ends[(op & r->op_mask) * r->n],
			r->n * sizeof(*r->op_ends));
}

static void find_launch(struct vpa_replaying *r, struct running *run)
{
	const struct vpa_tape_op *o = run->o;

	run->l = vpa_launch_of(r, o->call);
	if (!run->l)
		return;
	run->slot = (size_t)(run->l - r->launches);
	run->clocks.launch_ns = o->launch_ns;
	run->clocks.anchor =
		o->anchor ? &r->launch_ends[run->slot * r->n] : &r->launch_starts[run->slot * r->n];
	if (r->counts[run->l->device] - run->l->place <= VPA_LINE)
		run->clocks.line = vpa_line_at(r, run->l->device, run->l->place);
}

/* What the op hangs on is no longer kept: it stays as long after the op before it as it was. */
static void hang_on_stream(const struct vpa_replaying *r, struct running *run)
{
	uint32_t last = r->streams[run->o->stream].last;

	if (last != VPA_TAPE_NONE)
		run->clocks.stream_ns = (int64_t)(run->o->start_ns - r->t->ops[last].end_ns);
}

static void find_clocks(struct vpa_replaying *r, uint32_t op, struct running *run)
{
	const struct vpa_tape_op *o = &r->t->ops[op];
	struct vpa_moment_rows moments = vpa_moments_of(r->moments, o);

	run->o = o;
	run->l = NULL;
	run->clocks = (struct vpa_clocks_op){.anchor = r->never,
		.launch_ns = VPA_EDGE_NONE,
		.stream_ns = o->stream_ns,
		.event_ns = o->event_ns,
		.duration_ns = (int64_t)(o->end_ns - o->start_ns),
		.keeps = r->keeps,
		.tail = &r->tails[o->stream * r->n],
		.end = &r->op_ends[(op & r->op_mask) * r->n],
		.line = r->nowhere,
		.latest = moments.ends_ns,
		.earliest = moments.starts_ns};
	if (o->call != VPA_TAPE_NONE)
		find_launch(r, run);
	if (o->event != VPA_TAPE_NONE)
		run->clocks.event = vpa_end_of(r, o->event, op);
	if ((!run->l && o->call != VPA_TAPE_NONE) ||
		(!run->clocks.event && o->event != VPA_TAPE_NONE))
		hang_on_stream(r, run);
}

void vpa_replay_op(struct vpa_replaying *r, uint32_t op)
{
	struct vpa_replayed_stream *s;
	struct running run;
	uint32_t differs;

	if (op > r->op_mask)
		keep_last(r, op - (uint32_t)r->op_mask - 1);
	find_clocks(r, op, &run);
	s = &r->streams[run.o->stream];
	run.differs = vpa_effects_on_op(
		r->x, run.o, run.l ? &r->inside[run.slot * r->words] : NULL, r->op_effects);
	differs = run.differs | (r->all & ~(s->any & s->has_last));
	if (run.l)
		differs |= run.l->ops_gone | run.l->in_graph;
	if (run.clocks.launch_ns == VPA_EDGE_NONE && run.clocks.stream_ns == VPA_EDGE_NONE)
		differs = r->all;
	if (differs)
		run_differing(r, &run);
	else
		run_as_usual(r, &run);
	s->last = op;
	vpa_note_error(r, run.clocks.end[0], run.o->end_ns);
}
