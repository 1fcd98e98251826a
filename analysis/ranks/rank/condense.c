/* condense.c - a replay whose times are lists of terms instead of numbers, in two worlds at once: the recorded one, and one in
 * which no op but collectives takes any time.
 *
 * The order of events is that of retime/replay.c. A list keeps few terms; beyond them the ones that matter least in the
 * recording are dropped, and what differs from the recording then is refused. */
#include "analysis/ranks/rank/condense.h"

#include "analysis/names/families.h"
#include "analysis/ranks/rank/moments.h"
#include "analysis/ranks/rank/moment_terms.h"
#include "analysis/retime/edges/edges.h"
#include "analysis/retime/tape/ends.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <string.h>

enum { BOUNDS_MOST = 12, RING = 2 * VPA_QUEUE_LAUNCHES };

/* How much later than earlier ones a collective ends, at least: than some one by one; than all from `chain` on, 0 the
 * rank's start, by the sums of what each is later than the one before. */
struct bounds {
	uint32_t chain;
	int64_t sum_ns;
	uint32_t count;
	struct bound {
		uint32_t after;
		int64_t ns;
	} items[BOUNDS_MOST];
};

struct slot {
	uint32_t uses, next_free;
	uint64_t place; /* of a launch: in the line of its device */
	struct moment at;
};

struct line {
	struct moment ends[RING];
	uint64_t count;
};

struct condensing {
	const struct vpa_tape *t;
	const struct vpa_edges *e;
	struct vpa_rank *rank;
	uint32_t gpu; /* of the rank, in the tape */
	size_t next;  /* collective of the rank */
	struct slot *slots;
	size_t slot_count, slot_cap;
	uint32_t free_slot;
	uint32_t *call_start, *call_end, *op_end;  /* 1 + slot; 0: none */
	uint32_t *start_uses, *end_uses, *op_uses; /* by call or op: how many ask for that slot */
	struct moment *tails;                      /* by stream; empty: no op so far */
	struct line *lines;                        /* by device */
	struct bounds *bounds;                     /* of the rank's start, then by collective */
	struct vpa_moment_terms put;
	int differs; /* some time is not what was recorded */
};

/* ---- bounds ---- */

/* Whether collective `later` ends at least so much later than `after` that `ns` after it is no earlier than `than`
 * after that. */
static int outweighs(
	const struct bounds *bounds, uint32_t later, int64_t ns, uint32_t after, int64_t than)
{
	const struct bounds *b = &bounds[rank_of(later)], *a = &bounds[rank_of(after)];
	uint32_t i;

	if (a->chain == b->chain && vpt_sat_add_i64(b->sum_ns - a->sum_ns, ns) >= than)
		return 1;
	for (i = 0; i < b->count; i++)
		if (b->items[i].after == after)
			return vpt_sat_add_i64(b->items[i].ns, ns) >= than;
	return 0;
}

/* None outweighs a later one. */
static void prune_terms(const struct bounds *bounds, struct terms *x)
{
	uint32_t i, k, kept = 1;

	for (i = 1; i < x->count; i++) {
		for (k = 0; k < kept; k++)
			if (outweighs(bounds, x->items[k].after, x->items[k].ns, x->items[i].after,
				    x->items[i].ns))
				break;
		if (k == kept)
			x->items[kept++] = x->items[i];
	}
	x->count = kept < x->count ? kept : x->count;
}

/* Of paces there are few terms anyway. */
static void prune(const struct condensing *c, struct moment *x)
{
	prune_terms(c->bounds, &x->worlds[RECORDED]);
}

/* ---- slots ---- */

static uint32_t new_slot(struct condensing *c, uint32_t uses)
{
	uint32_t slot = c->free_slot;

	if (slot) {
		c->free_slot = c->slots[slot - 1].next_free;
	} else {
		if (vpt_grow(&c->slots, &c->slot_cap, c->slot_count + 1, sizeof(*c->slots)))
			return 0;
		slot = (uint32_t)++c->slot_count;
	}
	c->slots[slot - 1].uses = uses;
	empty(&c->slots[slot - 1].at);
	return slot;
}

static struct moment *at_slot(const struct condensing *c, uint32_t slot)
{
	return &c->slots[slot - 1].at;
}

static void use_slot(struct condensing *c, uint32_t *slot)
{
	struct slot *s = &c->slots[*slot - 1];

	if (--s->uses)
		return;
	s->next_free = c->free_slot;
	c->free_slot = *slot;
	*slot = 0;
}

/* ---- calls ---- */

static struct line *line_of(const struct condensing *c, const struct vpa_tape_call *call)
{
	const struct vpa_tape *t = c->t;

	return &c->lines[t->streams[t->ops[t->launched[call->op]].stream].gpu];
}

static int start_call(struct condensing *c, uint32_t call)
{
	const struct vpa_tape_call *x = &c->t->calls[call];
	uint32_t slot = new_slot(c, c->start_uses[call] + 1);
	struct moment *at;

	if (!slot)
		return VPT_ENOMEM;
	c->call_start[call] = slot;
	at = at_slot(c, slot);
	if (x->before != VPA_TAPE_NONE) {
		join(at, at_slot(c, c->call_end[x->before]), (int64_t)x->gap_ns,
			(int64_t)x->gap_ns);
		use_slot(c, &c->call_end[x->before]);
	} else {
		join_recorded(c->rank, at, c->t->start_ns + x->gap_ns);
	}
	if (x->op_count) {
		struct line *line = line_of(c, x);

		c->slots[slot - 1].place = line->count;
		empty(&line->ends[line->count++ % RING]);
	}
	c->differs |= !is_recorded(at, x->start_ns);
	return VPT_OK;
}

static void wait_for_line(
	struct condensing *c, const struct vpa_tape_call *x, uint64_t place, struct moment *at)
{
	const struct line *line = line_of(c, x);

	if (x->can_fill && place >= VPA_QUEUE_LAUNCHES &&
		line->count - place <= RING - VPA_QUEUE_LAUNCHES)
		join(at, &line->ends[(place - VPA_QUEUE_LAUNCHES) % RING],
			x->waits == VPA_WAIT_QUEUE ? x->after_ns : 0, 0);
}

/* Whether all ops that a call waits for have run when it ends. */
static int waits_are_known(const struct condensing *c, const struct vpa_tape_call *x)
{
	uint32_t i;

	for (i = 0; i < x->target_count; i++)
		if (!c->op_end[c->e->targets[x->target + i]])
			return 0;
	return 1;
}

static int end_call(struct condensing *c, uint32_t call)
{
	const struct vpa_tape_call *x = &c->t->calls[call];
	uint32_t slot = new_slot(c, c->end_uses[call] + 1), i;
	struct moment *at;
	int is_known;

	if (!slot)
		return VPT_ENOMEM;
	c->call_end[call] = slot;
	at = at_slot(c, slot);
	is_known = waits_are_known(c, x);
	join(at, at_slot(c, c->call_start[call]),
		is_known ? (int64_t)x->cost_ns : (int64_t)(x->end_ns - x->start_ns), 0);
	/* A wait that did not hold the call may do so where ends are later. */
	for (i = 0; is_known && i < x->target_count; i++)
		join(at, at_slot(c, c->op_end[c->e->targets[x->target + i]]),
			x->waits == VPA_WAIT_OP ? x->after_ns : 0, 0);
	if (x->op_count) {
		c->slots[slot - 1].place = c->slots[c->call_start[call] - 1].place;
		wait_for_line(c, x, c->slots[slot - 1].place, at);
	}
	prune(c, at);
	c->differs |= !is_recorded(at, x->end_ns);
	for (i = 0; i < x->target_count; i++)
		if (c->op_end[c->e->targets[x->target + i]])
			use_slot(c, &c->op_end[c->e->targets[x->target + i]]);
	use_slot(c, &c->call_start[call]);
	use_slot(c, &c->call_end[call]);
	return VPT_OK;
}

/* ---- ops ---- */

/* A collective ends no earlier than it starts, so no earlier than what that waits for, and so on. */
static void add_bound(struct bounds *b, uint32_t after, int64_t ns)
{
	uint32_t n;

	for (n = 0; n < b->count && b->items[n].after != after; n++)
		;
	if (n == BOUNDS_MOST || (n < b->count && b->items[n].ns >= ns))
		return;
	b->items[n] = (struct bound){after, ns};
	b->count += n == b->count;
}

static void set_bounds(struct bounds *bounds, size_t collective, const struct terms *start)
{
	struct bounds *b = &bounds[collective + 1], *before = b - 1;
	uint32_t i, k;

	*b = (struct bounds){.chain = (uint32_t)collective + 1};
	for (i = 0; i < start->count; i++)
		add_bound(b, start->items[i].after, start->items[i].ns);
	for (i = 0; i < start->count; i++) {
		const struct term *x = &start->items[i];
		const struct bounds *of = &bounds[rank_of(x->after)];

		for (k = 0; k < of->count; k++)
			add_bound(b, of->items[k].after, vpt_sat_add_i64(x->ns, of->items[k].ns));
	}
	for (i = 0; i < b->count; i++)
		if (rank_of(b->items[i].after) == collective) {
			b->chain = before->chain;
			b->sum_ns = vpt_sat_add_i64(before->sum_ns, b->items[i].ns);
		}
}

/* The collective of the rank that this op is; otherwise those are as many as there are. */
static size_t collective_of(struct condensing *c, const struct vpa_tape_op *o)
{
	const struct vpa_rank *r = c->rank;

	if (!o->is_kernel || !vpa_family_is_comm((enum vpa_family)o->family) ||
		c->t->streams[o->stream].gpu != c->gpu)
		return r->collective_count;
	while (c->next < r->collective_count && vpa_rank_start_ns(r, c->next) < o->start_ns)
		c->next++;
	if (c->next < r->collective_count && vpa_rank_start_ns(r, c->next) == o->start_ns &&
		vpa_rank_end_ns(r, c->next) == o->end_ns)
		return c->next++;
	return r->collective_count;
}

static void start_op(struct condensing *c, const struct vpa_tape_op *o, struct moment *at)
{
	const struct moment *tail = &c->tails[o->stream];

	empty(at);
	if (o->launch_ns != VPA_EDGE_NONE)
		join(at, at_slot(c, o->anchor ? c->call_end[o->call] : c->call_start[o->call]),
			o->launch_ns, 0);
	if (o->event != VPA_TAPE_NONE && c->op_end[o->event])
		join(at, at_slot(c, c->op_end[o->event]), o->event_ns, 0);
	if (!is_empty(tail))
		join(at, tail, o->stream_ns == VPA_EDGE_NONE ? c->e->stream_gap_ns : o->stream_ns,
			0);
	if (is_empty(at))
		join_recorded(c->rank, at, o->start_ns);
	prune(c, at);
	c->differs |= !is_recorded(at, o->start_ns);
}

static void end_collective(
	struct condensing *c, size_t collective, const struct moment *start, struct moment *end)
{
	enum world w;

	set_bounds(c->bounds, collective, &start->worlds[RECORDED]);
	for (w = 0; w < WORLDS; w++)
		end->worlds[w].items[end->worlds[w].count++] =
			(struct term){.after = (uint32_t)collective,
				.at_ns = end_of(c->rank, (uint32_t)collective)};
}

static int end_op(struct condensing *c, uint32_t op, const struct moment *start)
{
	const struct vpa_tape_op *o = &c->t->ops[op];
	size_t collective = collective_of(c, o);
	struct moment *end = &c->tails[o->stream];

	empty(end);
	if (collective < c->rank->collective_count) {
		if (vpa_put_moment(&c->put, collective, start))
			return VPT_ENOMEM;
		end_collective(c, collective, start, end);
	} else {
		enum vpa_part_class klass = o->is_kernel ? VPA_TIME_COMPUTE : VPA_TIME_COPY;

		join_op(end, start, vpa_busy_kind_of(klass, o->family),
			(int64_t)(o->end_ns - o->start_ns));
	}
	if (c->op_uses[op]) {
		c->op_end[op] = new_slot(c, c->op_uses[op]);
		if (!c->op_end[op])
			return VPT_ENOMEM;
		join(at_slot(c, c->op_end[op]), end, 0, 0);
	}
	return VPT_OK;
}

static void leave_line(struct condensing *c, const struct vpa_tape_op *o)
{
	struct line *line = line_of(c, &c->t->calls[o->call]);
	uint32_t anchor = o->anchor ? c->call_end[o->call] : c->call_start[o->call];
	uint64_t place = c->slots[anchor - 1].place;

	if (line->count - place <= RING)
		join(&line->ends[place % RING], &c->tails[o->stream], 0, 0);
}

static int run_op(struct condensing *c, uint32_t op)
{
	const struct vpa_tape_op *o = &c->t->ops[op];
	struct moment start;

	start_op(c, o, &start);
	if (end_op(c, op, &start))
		return VPT_ENOMEM;
	if (o->call != VPA_TAPE_NONE) {
		leave_line(c, o);
		use_slot(c, o->anchor ? &c->call_end[o->call] : &c->call_start[o->call]);
	}
	if (o->event != VPA_TAPE_NONE && c->op_end[o->event])
		use_slot(c, &c->op_end[o->event]);
	return VPT_OK;
}

/* ---- all of it ---- */

/* As in replay.c: at one moment ends of calls that began before it, then calls in order, then ops. */
static int run(struct condensing *c)
{
	const struct vpa_tape *t = c->t;
	struct vpa_ends open = {0};
	size_t calls = 0, ops = 0;
	uint32_t row;
	int rc = VPT_OK;

	while (!rc && !c->differs) {
		uint64_t start_ns = calls < t->call_count ? t->calls[calls].start_ns : UINT64_MAX,
			 op_ns = ops < t->op_count ? t->ops[ops].start_ns : UINT64_MAX;

		if (vpa_ends_pop(&open, start_ns < op_ns ? start_ns : op_ns, &row)) {
			rc = end_call(c, row);
		} else if (calls < t->call_count && start_ns <= op_ns) {
			row = (uint32_t)calls++;
			rc = start_call(c, row);
			if (!rc && t->calls[row].end_ns == start_ns)
				rc = end_call(c, row);
			else if (!rc && vpa_ends_push(&open, t->calls[row].end_ns, row))
				rc = VPT_ENOMEM;
		} else if (ops < t->op_count) {
			rc = run_op(c, (uint32_t)ops++);
		} else {
			break;
		}
	}
	vpt_free(open.items);
	return rc;
}

/* How often each time is asked for, so that its memory can be used again. */
static int count_uses(struct condensing *c)
{
	const struct vpa_tape *t = c->t;
	size_t i;

	c->start_uses = vpt_calloc(t->call_count, sizeof(*c->start_uses));
	c->end_uses = vpt_calloc(t->call_count, sizeof(*c->end_uses));
	c->op_uses = vpt_calloc(t->op_count, sizeof(*c->op_uses));
	if (!c->start_uses || !c->end_uses || !c->op_uses)
		return VPT_ENOMEM;
	for (i = 0; i < t->call_count; i++)
		if (t->calls[i].before != VPA_TAPE_NONE)
			c->end_uses[t->calls[i].before]++;
	for (i = 0; i < c->e->target_count; i++)
		c->op_uses[c->e->targets[i]]++;
	for (i = 0; i < t->op_count; i++) {
		const struct vpa_tape_op *o = &t->ops[i];

		if (o->call != VPA_TAPE_NONE)
			(o->anchor ? c->end_uses : c->start_uses)[o->call]++;
		if (o->event != VPA_TAPE_NONE)
			c->op_uses[o->event]++;
	}
	return VPT_OK;
}

/* The rank's end is that of its last op, on any stream. */
static int put_end(struct condensing *c)
{
	struct moment last;
	size_t i;

	empty(&last);

	for (i = 0; i < c->t->stream_count; i++)
		if (c->t->streams[i].gpu == c->gpu)
			join(&last, &c->tails[i], 0, 0);
	prune(c, &last);
	c->differs |= !is_recorded(&last, c->rank->last_ns);
	return vpa_put_moment(&c->put, c->rank->collective_count, &last);
}

/* The device of the rank, in the tape; VPA_TAPE_NONE: it is not there. */
static uint32_t gpu_of(const struct vpa_tape *t, const struct vpa_rank *r)
{
	size_t i;

	for (i = 0; i < t->stream_count; i++)
		if (t->streams[i].device == r->device && t->streams[i].pid == r->pid)
			return t->streams[i].gpu;
	return VPA_TAPE_NONE;
}

/* For where the terms of each collective end. */
static int make_room(struct vpa_rank *r)
{
	struct vpa_rank_detail *d = &r->detail;
	size_t count = r->collective_count + 1, i;
	int rc = vpt_grow_zeroed(&d->term_ends, &d->term_end_cap, count, sizeof(*d->term_ends));

	for (i = 0; i < VPA_PACES && !rc; i++)
		rc = vpt_grow_zeroed(&d->paces[i].term_ends, &d->paces[i].term_end_cap, count,
			sizeof(*d->paces[i].term_ends));
	return rc;
}

static int condense(const struct vpa_tape *t, const struct vpa_edges *e, struct vpa_rank *r)
{
	struct condensing c = {.t = t, .e = e, .rank = r, .gpu = gpu_of(t, r), .put = {.rank = r}};
	int rc = VPT_ENOMEM;

	if (c.gpu == VPA_TAPE_NONE)
		return VPT_OK;
	if (make_room(r))
		return VPT_ENOMEM;
	c.call_start = vpt_calloc(t->call_count, sizeof(*c.call_start));
	c.call_end = vpt_calloc(t->call_count, sizeof(*c.call_end));
	c.op_end = vpt_calloc(t->op_count, sizeof(*c.op_end));
	c.tails = vpt_calloc(t->stream_count, sizeof(*c.tails));
	c.lines = vpt_calloc(t->gpu_count, sizeof(*c.lines));
	c.bounds = vpt_calloc(r->collective_count + 2, sizeof(*c.bounds));
	if (c.call_start && c.call_end && c.op_end && c.tails && c.lines && c.bounds) {
		rc = count_uses(&c);
		if (!rc)
			rc = run(&c);
		if (!rc && !c.differs)
			rc = put_end(&c);
	}
	/* Some collective may not have been found. */
	c.differs |= c.next < r->collective_count;
	r->has_terms = r->has_paces = !rc && !c.differs;
	vpt_free(c.slots);
	vpt_free(c.call_start);
	vpt_free(c.call_end);
	vpt_free(c.op_end);
	vpt_free(c.start_uses);
	vpt_free(c.end_uses);
	vpt_free(c.op_uses);
	vpt_free(c.tails);
	vpt_free(c.lines);
	vpt_free(c.bounds);
	return rc;
}

/* Only a trace that is in memory as a whole: what a part hangs on is before it. */
static int condense_all(struct vpa_tape *tape, struct vpa_rank *const *ranks, size_t count)
{
	struct vpa_edges edges = {0};
	size_t i;
	int rc;

	if (tape->from_ns || tape->to_ns != UINT64_MAX || !tape->call_count || !tape->op_count)
		return VPT_OK;
	rc = vpa_edges_find(tape, &edges);
	for (i = 0; i < count && !rc; i++)
		rc = ranks[i]->collective_count ? condense(tape, &edges, ranks[i]) : VPT_OK;
	vpa_edges_free(&edges);
	return rc;
}

/* Without collectives a rank only ends when it does. Returns whether all are like that; VPT_ENOMEM. */
static int condense_alone(struct vpa_rank *const *ranks, size_t count)
{
	int all = 1;
	size_t i;

	for (i = 0; i < count; i++) {
		struct vpa_rank_detail *d = &ranks[i]->detail;

		if (ranks[i]->collective_count) {
			all = 0;
			continue;
		}
		if (make_room(ranks[i]) || vpt_grow(&d->terms, &d->term_cap, 1, sizeof(*d->terms)))
			return VPT_ENOMEM;
		d->terms[0] = (struct vpa_rank_term){.after = VPA_RANK_START,
			.ns = (int64_t)(ranks[i]->last_ns - ranks[i]->first_ns)};
		d->term_ends[0] = 1;
		ranks[i]->has_terms = 1;
	}
	return all;
}

int vpa_condense(const struct vpt_trace *trace, unsigned jobs, struct vpa_rank *const *ranks,
	size_t count, struct vpt_err *err)
{
	const struct vpa_tape_limits limits = {
		.part = VPA_CONDENSED_MOST, .most = VPA_CONDENSED_MOST};
	struct vpa_tape_reading *reading;
	struct vpa_tape *tape;
	int rc = condense_alone(ranks, count);

	if (rc > 0)
		return VPT_OK;
	if (rc < 0)
		return vpt_fail(err, rc, "no memory to replay the trace");
	rc = vpa_tape_open(trace, jobs, &limits, &reading, err);
	if (rc)
		return rc;
	rc = vpa_tape_next(reading, &tape, err);
	if (!rc && vpa_tape_share(reading) >= 1 && condense_all(tape, ranks, count))
		rc = vpt_fail(err, VPT_ENOMEM, "no memory to replay the trace");
	vpa_tape_close(reading);
	return rc == VPT_EUNSUPPORTED || rc == VPT_END ? VPT_OK : rc;
}
