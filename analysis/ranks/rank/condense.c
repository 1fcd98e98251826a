/* condense.c - a replay whose times are lists of terms instead of numbers, in several worlds at once: the recorded one, and the
 * paces.
 *
 * A time has a slot, and a count of those who will ask for it. The last one who does may have the slot: what comes after one
 * time alone is that time, later. The end of an op is one slot for its stream, its queue and all that wait for it.
 *
 * The order of events is that of retime/replay.c. A list keeps few terms; beyond them the ones that matter least in the
 * recording are dropped, and what differs from the recording then is refused. */
#include "analysis/ranks/rank/rank_parts.h"

#include "analysis/names/families.h"
#include "analysis/ranks/rank/moments.h"
#include "analysis/retime/edges/edges.h"
#include "analysis/retime/tape/ends.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

enum { RING = 2 * VPA_QUEUE_LAUNCHES };

struct slot {
	uint32_t uses, next_free;
	uint64_t place; /* of a launch and its ops: in the line of its device */
	struct moment at;
};

/* Launches of a device: where each has run, 1 + slot; 0: not yet. */
struct line {
	uint32_t ends[RING];
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
	uint32_t *tails;                           /* by stream: 1 + slot; 0: no op so far */
	struct line *lines;                        /* by device */
	struct vpa_end_bounds *bounds;             /* of the rank's start, then by collective */
	struct vpa_moment_terms put;
	int differs; /* some time is not what was recorded */
};

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

/* A recorded time, whatever comes before. */
static void begin_recorded(const struct vpa_rank *r, struct moment *x, uint64_t ns)
{
	begin_at(x, VPA_RANK_START, vpt_sat_diff(ns, r->first_ns), (int64_t)ns);
}

static uint32_t new_recorded(struct condensing *c, uint32_t uses, uint64_t ns)
{
	uint32_t slot = new_slot(c, uses);

	if (slot)
		begin_recorded(c->rank, at_slot(c, slot), ns);
	return slot;
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

/* The time of a slot later by ns, of which code_ns are host code, in a slot of its own. 0: no memory. */
static uint32_t follow(
	struct condensing *c, uint32_t *before, uint32_t uses, int64_t ns, int64_t code_ns)
{
	uint32_t slot = *before;

	if (c->slots[slot - 1].uses == 1) {
		*before = 0;
		c->slots[slot - 1].uses = uses;
		delay(at_slot(c, slot), ns, code_ns);
		return slot;
	}
	slot = new_slot(c, uses);
	if (slot) {
		c->slots[slot - 1].place = c->slots[*before - 1].place;
		join(at_slot(c, slot), at_slot(c, *before), ns, code_ns);
		use_slot(c, before);
	}
	return slot;
}

static uint32_t share(struct condensing *c, uint32_t slot)
{
	c->slots[slot - 1].uses++;
	return slot;
}

/* ---- calls ---- */

static struct line *line_of(const struct condensing *c, const struct vpa_tape_call *call)
{
	const struct vpa_tape *t = c->t;

	return &c->lines[t->streams[t->ops[t->launched[call->op]].stream].gpu];
}

/* The next place of a line, whose launch has not run. */
static uint64_t enter_line(struct condensing *c, struct line *line)
{
	uint32_t *end = &line->ends[line->count % RING];

	if (*end)
		use_slot(c, end);
	*end = 0;
	return line->count++;
}

static int start_call(struct condensing *c, uint32_t call)
{
	const struct vpa_tape_call *x = &c->t->calls[call];
	uint32_t uses = c->start_uses[call] + 1, slot;

	if (x->before != VPA_TAPE_NONE)
		slot = follow(
			c, &c->call_end[x->before], uses, (int64_t)x->gap_ns, (int64_t)x->gap_ns);
	else
		slot = new_recorded(c, uses, c->t->start_ns + x->gap_ns);
	if (!slot)
		return VPT_ENOMEM;
	c->call_start[call] = slot;
	if (x->op_count)
		c->slots[slot - 1].place = enter_line(c, line_of(c, x));
	c->differs |= !is_recorded(at_slot(c, slot), x->start_ns);
	return VPT_OK;
}

/* Whether a launch may have waited for one before it. */
static int wait_for_line(
	struct condensing *c, const struct vpa_tape_call *x, uint64_t place, struct moment *at)
{
	const struct line *line = line_of(c, x);
	uint32_t launches = c->e->queue_launches, end;

	if (!x->can_fill || place < launches || line->count - place > RING - launches)
		return 0;
	end = line->ends[(place - launches) % RING];
	if (end)
		join(at, at_slot(c, end), x->waits == VPA_WAIT_QUEUE ? x->after_ns : 0, 0);
	return end != 0;
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
	int is_known = waits_are_known(c, x), has_waits = is_known && x->target_count;
	uint32_t slot = follow(c, &c->call_start[call], c->end_uses[call] + 1,
			 is_known ? (int64_t)x->cost_ns : (int64_t)(x->end_ns - x->start_ns), 0),
		 i;
	struct moment *at;

	if (!slot)
		return VPT_ENOMEM;
	c->call_end[call] = slot;
	at = at_slot(c, slot);
	/* A wait that did not hold the call may do so where ends are later. */
	for (i = 0; is_known && i < x->target_count; i++)
		join(at, at_slot(c, c->op_end[c->e->targets[x->target + i]]),
			x->waits == VPA_WAIT_OP ? x->after_ns : 0, 0);
	if (x->op_count)
		has_waits |= wait_for_line(c, x, c->slots[slot - 1].place, at);
	if (has_waits)
		vpa_prune_moment(c->bounds, at);
	c->differs |= !is_recorded(at, x->end_ns);
	for (i = 0; i < x->target_count; i++)
		if (c->op_end[c->e->targets[x->target + i]])
			use_slot(c, &c->op_end[c->e->targets[x->target + i]]);
	use_slot(c, &c->call_end[call]);
	return VPT_OK;
}

/* ---- ops ---- */

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

/* The slot of its start: after its launch, if that is known. 0: no memory. */
static uint32_t begin_op(struct condensing *c, const struct vpa_tape_op *o)
{
	uint32_t *launch, slot;

	if (o->call == VPA_TAPE_NONE)
		return new_slot(c, 1);
	launch = o->anchor ? &c->call_end[o->call] : &c->call_start[o->call];
	if (o->launch_ns != VPA_EDGE_NONE)
		return follow(c, launch, 1, o->launch_ns, 0);
	slot = new_slot(c, 1);
	if (slot) {
		c->slots[slot - 1].place = c->slots[*launch - 1].place;
		use_slot(c, launch);
	}
	return slot;
}

static uint32_t start_op(struct condensing *c, const struct vpa_tape_op *o)
{
	uint32_t tail = c->tails[o->stream], slot = begin_op(c, o);
	struct moment *at;

	if (!slot)
		return 0;
	at = at_slot(c, slot);
	if (o->event != VPA_TAPE_NONE && c->op_end[o->event])
		join(at, at_slot(c, c->op_end[o->event]), o->event_ns, 0);
	if (tail)
		join(at, at_slot(c, tail),
			o->stream_ns == VPA_EDGE_NONE ? c->e->stream_gap_ns : o->stream_ns, 0);
	if (is_empty(at))
		begin_recorded(c->rank, at, o->start_ns);
	vpa_prune_moment(c->bounds, at);
	c->differs |= !is_recorded(at, o->start_ns);
	if (o->event != VPA_TAPE_NONE && c->op_end[o->event])
		use_slot(c, &c->op_end[o->event]);
	return slot;
}

/* Makes the start of an op its end. */
static int end_op(struct condensing *c, const struct vpa_tape_op *o, struct moment *at)
{
	size_t collective = collective_of(c, o);
	enum vpa_part_class klass = o->is_kernel ? VPA_TIME_COMPUTE : VPA_TIME_COPY;

	if (collective == c->rank->collective_count) {
		delay_by_op(
			at, vpa_busy_kind_of(klass, o->family), (int64_t)(o->end_ns - o->start_ns));
		return VPT_OK;
	}
	settle(at);
	if (vpa_put_moment(&c->put, collective, at))
		return VPT_ENOMEM;
	vpa_end_bounds_set(c->bounds, collective, at);
	empty(at);
	begin_at(at, (uint32_t)collective, 0, end_of(c->rank, (uint32_t)collective));
	return VPT_OK;
}

/* A launch has run when all of its ops have. */
static int leave_line(struct condensing *c, const struct vpa_tape_op *o, uint32_t slot)
{
	struct line *line = line_of(c, &c->t->calls[o->call]);
	uint64_t place = c->slots[slot - 1].place;
	uint32_t *end = &line->ends[place % RING];

	if (line->count - place > RING)
		return VPT_OK;
	if (!*end) {
		*end = share(c, slot);
		return VPT_OK;
	}
	*end = follow(c, end, 1, 0, 0);
	if (!*end)
		return VPT_ENOMEM;
	join(at_slot(c, *end), at_slot(c, slot), 0, 0);
	return VPT_OK;
}

static int run_op(struct condensing *c, uint32_t op)
{
	const struct vpa_tape_op *o = &c->t->ops[op];
	uint32_t slot = start_op(c, o), *tail = &c->tails[o->stream];

	if (!slot || end_op(c, o, at_slot(c, slot)))
		return VPT_ENOMEM;
	if (*tail)
		use_slot(c, tail);
	*tail = slot;
	if (c->op_uses[op]) {
		c->op_end[op] = slot;
		c->slots[slot - 1].uses += c->op_uses[op];
	}
	return o->call != VPA_TAPE_NONE ? leave_line(c, o, slot) : VPT_OK;
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
		if (c->t->streams[i].gpu == c->gpu && c->tails[i])
			join(&last, at_slot(c, c->tails[i]), 0, 0);
	settle(&last);
	vpa_prune_moment(c->bounds, &last);
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
	struct condensing c = {.t = t, .e = e, .rank = r, .gpu = gpu_of(t, r)};
	int rc = VPT_ENOMEM;

	if (c.gpu == VPA_TAPE_NONE)
		return VPT_OK;
	if (make_room(r) || vpa_moment_terms_init(&c.put, r)) {
		vpa_moment_terms_free(&c.put);
		return VPT_ENOMEM;
	}
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
	r->has_terms = !rc && !c.differs;
	r->has_paces = r->has_terms ? VPA_PACES_BESIDE : VPA_PACES_NONE;
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
	vpa_moment_terms_free(&c.put);
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
