/* replay.c - the clocks of all worlds, in recorded order.
 *
 * Times are relative to the tape's start. Clocks stand in rows, one for each world. Of what later events may ask for the
 * newest rows are kept: of each thread, each stream, and of the last launches and ops of all. What is older cannot
 * matter any more: far more launches than a queue can hold have begun since. */
#include "analysis/retime/replay.h"

#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <string.h>

enum { LINE = 2 * VPA_QUEUE_LAUNCHES, KEPT = 65536 };

/* No such time: whatever is added, another one is later. */
#define NEVER INT64_MIN

/* A launch of the last KEPT ones. */
struct launch {
	uint64_t place;    /* in the line of its device, where no launch is gone */
	uint32_t call;     /* NONE: none yet */
	uint32_t gone;     /* worlds without it */
	uint32_t ops_gone; /* worlds without its ops */
	uint32_t in_graph; /* worlds in which its ops are those of a new graph */
};

/* A stream: by world, whether something ran there, and whether the last recorded op was run there. */
struct stream {
	uint32_t any, has_last;
	uint32_t last; /* the op that began last; NONE */
};

/* The call that a thread is in. Worlds that differ. */
struct open_call {
	uint32_t differs, gone, no_wait;
};

struct replay {
	const struct vpa_tape *t;
	const struct vpa_edges *e;
	struct vpa_effects *x;
	struct vpa_walk *walk;
	struct vpa_call_effects effects;
	struct vpa_op_effect op_effects[VPA_WORLDS_MOST];
	size_t k;     /* worlds */
	size_t plain; /* the first ones of them, in which no launch is gone */
	uint32_t all, no_host, no_ops;
	int64_t keeps[VPA_WORLDS_MOST]; /* of the length of an op: all bits, or none */
	int64_t never[VPA_WORLDS_MOST], zero[VPA_WORLDS_MOST], wait[VPA_WORLDS_MOST],
		nowhere[VPA_WORLDS_MOST];
	/* By thread. */
	struct open_call *open;
	int64_t *starts, *ends; /* rows: of the open call; of the last one */
	uint64_t *costs;
	/* By launch, see `kept_launches`. */
	struct launch *launches;
	int64_t *launch_starts, *launch_ends;
	uint64_t *places; /* rows of the worlds that are not plain */
	uint64_t *inside; /* rules, see vpa_call_effects */
	uint32_t *heads;  /* rows; NULL: nothing makes graphs */
	size_t words, launch_mask, op_mask;
	int64_t *op_ends; /* by op */
	/* By stream; streams aside follow. */
	struct stream *streams;
	int64_t *tails;    /* rows: when the last op there ended */
	int64_t *last_end; /* rows: what `op_ends` had of an op that is still the stream's last */
	/* By device: the launches in its line, and when the ops of each ended, as far as known. */
	uint64_t *
		counts; /* a row with the number of all launches, then of each world that is not plain */
	int64_t *lines;      /* LINE rows */
	const int64_t *host; /* the row of the call that ended last */
	uint64_t error_ns;
	struct vpa_moments *moments;
};

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* A changed world may come to the end of the type. */
static inline int64_t plus(int64_t a, int64_t b)
{
	return vpt_sat_add_i64(a, b);
}

static inline int has(uint32_t worlds, size_t w)
{
	return worlds >> w & 1;
}

/* The worlds of a set, from the first on. */
#define FOR_WORLDS(w, set)                                                                         \
	for (uint32_t left_ = (set), w; left_ && (w = (uint32_t)__builtin_ctz(left_), 1);          \
		left_ &= left_ - 1)

static void note_error(struct replay *r, int64_t ns, uint64_t recorded_ns)
{
	int64_t differs = vpt_sat_diff_i64(ns, (int64_t)(recorded_ns - r->t->start_ns));
	uint64_t by = (uint64_t)(differs < 0 ? -differs : differs);

	if (by > r->error_ns)
		r->error_ns = by;
}

/* ---- launches ---- */

static size_t slot_of(const struct replay *r, uint32_t call)
{
	return r->t->calls[call].launch & r->launch_mask;
}

/* NULL: so many came later that it is no longer kept. */
static struct launch *launch_of(const struct replay *r, uint32_t call)
{
	struct launch *l = &r->launches[slot_of(r, call)];

	return l->call == call ? l : NULL;
}

static uint32_t device_of(const struct replay *r, const struct vpa_tape_call *c)
{
	return r->t->streams[r->t->ops[r->t->launched[c->op]].stream].gpu;
}

static int64_t *line_at(const struct replay *r, uint32_t device, uint64_t place)
{
	return &r->lines[(device * (size_t)LINE + place % LINE) * r->k];
}

/* The count of a world, or of all plain ones. */
static uint64_t *count_of(const struct replay *r, uint32_t device, size_t w)
{
	return &r->counts[device * (r->k - r->plain + 1) + (w < r->plain ? 0 : w - r->plain + 1)];
}

/* The launch takes the next place in the line of its device. */
static void enter_line(struct replay *r, uint32_t call)
{
	const struct vpa_tape_call *c = &r->t->calls[call];
	size_t slot = slot_of(r, call), w;
	struct launch *l = &r->launches[slot];
	uint32_t device = device_of(r, c);
	uint64_t *count = count_of(r, device, 0), *places = &r->places[slot * (r->k - r->plain)];
	int64_t *row = line_at(r, device, *count);

	*l = (struct launch){
		*count, call, r->effects.gone, r->effects.ops_gone, r->effects.in_graph};
	memcpy(&r->inside[slot * r->words], r->effects.inside, r->words * sizeof(*r->inside));
	++*count;
	for (w = 0; w < r->plain; w++)
		row[w] = NEVER;
	for (; w < r->k; w++) {
		if (has(l->gone, w))
			continue;
		count = count_of(r, device, w);
		places[w - r->plain] = *count;
		line_at(r, device, *count)[w] = NEVER;
		++*count;
	}
	FOR_WORLDS(world, l->in_graph)
	r->heads[slot * r->k + world] = r->effects.heads[world];
	memcpy(&r->launch_starts[slot * r->k], &r->starts[c->thread * r->k],
		r->k * sizeof(*r->starts));
}

/* ---- calls ---- */

static void start_call(struct replay *r, uint32_t call)
{
	const struct vpa_tape_call *c = &r->t->calls[call];
	const struct vpa_call_effects *x = &r->effects;
	struct open_call *open = &r->open[c->thread];
	const int64_t *before = c->before == VPA_TAPE_NONE
					? r->zero
					: &r->ends[r->t->calls[c->before].thread * r->k];
	int64_t *start = &r->starts[c->thread * r->k];
	size_t w;

	vpa_walk_call(r->walk, call, &r->effects);
	for (w = 0; w < r->k; w++)
		start[w] = plus(before[w], (int64_t)c->gap_ns);
	*open = (struct open_call){.differs = x->worlds, .gone = x->gone};
	FOR_WORLDS(world, x->worlds)
	{
		start[world] = plus(before[world], (int64_t)x->at[world].gap_ns);
		r->costs[c->thread * r->k + world] = x->at[world].cost_ns;
		open->no_wait |= (uint32_t)x->at[world].no_wait << world;
	}
	FOR_WORLDS(world, r->no_host)
	start[world] = before[world];
	if (c->op_count)
		enter_line(r, call);
	note_error(r, start[0], c->start_ns);
}

/* The row of an op's end; NULL: so many came later that it is no longer kept. */
static const int64_t *end_of(const struct replay *r, uint32_t op, uint32_t newest)
{
	const struct stream *s = &r->streams[r->t->ops[op].stream];

	if (newest - op - 1 <= r->op_mask)
		return &r->op_ends[(op & r->op_mask) * r->k];
	return s->last == op ? &r->last_end[r->t->ops[op].stream * r->k] : NULL;
}

/* The last of the ops that a call waits for. Returns whether they are kept. */
static int find_wait(struct replay *r, const struct vpa_tape_call *c, uint32_t newest)
{
	uint32_t i;
	size_t w;

	memcpy(r->wait, r->never, sizeof(r->wait));
	for (i = 0; i < c->target_count; i++) {
		const int64_t *row = end_of(r, r->e->targets[c->target + i], newest);

		if (!row)
			return 0;
		for (w = 0; w < r->k; w++)
			r->wait[w] = later(r->wait[w], row[w]);
	}
	return 1;
}

/* Until when the queue of a device holds a launch. */
static void wait_for_queue(
	const struct replay *r, uint32_t call, const int64_t *start, int64_t *end)
{
	const struct vpa_tape_call *c = &r->t->calls[call];
	const struct launch *l = launch_of(r, call);
	uint32_t device = device_of(r, c);
	int64_t back_ns = c->waits == VPA_WAIT_QUEUE ? c->after_ns : 0;
	uint64_t place, count;
	const int64_t *row;
	size_t w;

	if (!l || !c->can_fill)
		return;
	place = l->place;
	/* In a changed world more launches may follow than the line keeps: then the place belongs to a later one. */
	if (place >= VPA_QUEUE_LAUNCHES &&
		*count_of(r, device, 0) - place <= LINE - VPA_QUEUE_LAUNCHES) {
		row = line_at(r, device, place - VPA_QUEUE_LAUNCHES);
		for (w = 0; w < r->plain; w++)
			if (row[w] > start[w])
				end[w] = later(end[w], plus(row[w], back_ns));
	}
	for (w = r->plain; w < r->k; w++) {
		place = r->places[slot_of(r, call) * (r->k - r->plain) + w - r->plain];
		count = *count_of(r, device, w);
		if (has(l->gone, w) || place < VPA_QUEUE_LAUNCHES ||
			count - place > LINE - VPA_QUEUE_LAUNCHES)
			continue;
		row = line_at(r, device, place - VPA_QUEUE_LAUNCHES);
		if (row[w] > start[w])
			end[w] = later(end[w], plus(row[w], back_ns));
	}
}

/* `newest`: the first op that has not begun. */
static void end_call(struct replay *r, uint32_t call, uint32_t newest)
{
	const struct vpa_tape_call *c = &r->t->calls[call];
	const struct open_call *open = &r->open[c->thread];
	const int64_t *start = &r->starts[c->thread * r->k];
	int64_t *end = &r->ends[c->thread * r->k];
	int is_kept = !c->target_count || find_wait(r, c, newest);
	uint64_t cost_ns = is_kept ? c->cost_ns : c->end_ns - c->start_ns;
	size_t w;

	for (w = 0; w < r->k; w++)
		end[w] = plus(start[w], (int64_t)cost_ns);
	FOR_WORLDS(world, open->differs)
	end[world] = plus(start[world], (int64_t)r->costs[c->thread * r->k + world]);
	for (w = 0; c->target_count && is_kept && w < r->k; w++)
		if (r->wait[w] > start[w] && !has(open->no_wait, w))
			end[w] = later(end[w], plus(r->wait[w], c->after_ns));
	if (c->op_count)
		wait_for_queue(r, call, start, end);
	FOR_WORLDS(world, open->gone | r->no_host)
	end[world] = start[world];
	if (c->op_count && launch_of(r, call))
		memcpy(&r->launch_ends[slot_of(r, call) * r->k], end, r->k * sizeof(*end));
	r->host = end;
	note_error(r, end[0], c->end_ns);
}

/* ---- ops ---- */

/* An op with the rows that it asks for and those that it fills in. */
struct running {
	const struct vpa_tape_op *o;
	const struct launch *l; /* NULL: not known */
	size_t slot;
	const int64_t *anchor; /* `never`: no launch */
	const int64_t *event;  /* NULL: none */
	int64_t launch_ns, stream_ns, duration_ns;
	int64_t *tail, *end, *line;
	struct vpa_moment_rows moments;
};

/* The clock of the launch, where that is the launch of a new graph. */
static int64_t anchor_in_graph(const struct replay *r, const struct running *run, size_t w)
{
	uint32_t head = r->heads[run->slot * r->k + w];

	return launch_of(r, head) ? r->launch_ends[slot_of(r, head) * r->k + w] : run->anchor[w];
}

/* The start in a world that differs. `aside`: where it runs; 0: on its own stream. */
static int64_t start_in(const struct replay *r, const struct running *run, uint32_t aside, size_t w)
{
	const struct vpa_tape_op *o = run->o;
	const struct stream *own = &r->streams[o->stream];
	size_t at = aside ? r->t->stream_count + aside - 1 : o->stream;
	int in_graph = run->l && has(run->l->in_graph, w);
	int64_t ns = NEVER, gap_ns = run->stream_ns;

	if (run->launch_ns != VPA_EDGE_NONE)
		ns = in_graph ? anchor_in_graph(r, run, w) : plus(run->anchor[w], run->launch_ns);
	if (run->event && run->event[w] != NEVER)
		ns = later(ns, plus(run->event[w], o->event_ns));
	/* What is put aside needs what came before it on its own stream. */
	if (aside && has(own->any & own->has_last, w))
		ns = later(ns, run->tail[w]);
	if (has(r->streams[at].any, w)) {
		if (gap_ns == VPA_EDGE_NONE || aside || !has(own->has_last, w) ||
			(in_graph && gap_ns > r->e->stream_gap_ns))
			gap_ns = r->e->stream_gap_ns;
		ns = later(ns, plus(r->tails[at * r->k + w], gap_ns));
	}
	return ns == NEVER ? (int64_t)(o->start_ns - r->t->start_ns) : ns;
}

/* The place in the line that the op's launch has in a world; NULL: none. */
static int64_t *line_in(const struct replay *r, const struct running *run, size_t w)
{
	const struct launch *l = run->l;
	uint32_t device, call;
	uint64_t place;

	if (!l)
		return NULL;
	call = has(l->in_graph, w) ? r->heads[run->slot * r->k + w] : l->call;
	l = launch_of(r, call);
	if (!l || has(l->gone, w))
		return NULL;
	device = device_of(r, &r->t->calls[call]);
	place = w < r->plain ? l->place
			     : r->places[slot_of(r, call) * (r->k - r->plain) + w - r->plain];
	return *count_of(r, device, w) - place > LINE ? NULL : &line_at(r, device, place)[w];
}

static inline void put_end(const struct running *run, size_t w, int64_t start_ns, int64_t end_ns)
{
	run->end[w] = end_ns;
	if (run->moments.ends_ns[w] < end_ns)
		run->moments.ends_ns[w] = end_ns;
	if (run->moments.starts_ns[w] > start_ns)
		run->moments.starts_ns[w] = start_ns;
}

/* A world that differs. */
static void run_in(struct replay *r, const struct running *run, size_t w, uint32_t op_differs)
{
	struct stream *own = &r->streams[run->o->stream];
	uint32_t bit = (uint32_t)1 << w;
	int64_t start_ns, end_ns, duration_ns = run->duration_ns, *line;
	uint32_t aside = 0;
	size_t at = run->o->stream;

	/* Who waits for what is gone waits for what was before it on the stream. */
	if (run->l && has(run->l->ops_gone, w)) {
		own->has_last &= ~bit;
		run->end[w] = has(own->any, w) ? run->tail[w] : NEVER;
		return;
	}
	if (has(op_differs, w)) {
		duration_ns = r->op_effects[w].duration_ns;
		aside = r->op_effects[w].aside;
	}
	if (aside)
		at = r->t->stream_count + aside - 1;
	start_ns = start_in(r, run, aside, w);
	end_ns = plus(start_ns, duration_ns & r->keeps[w]);
	own->has_last = aside ? own->has_last & ~bit : own->has_last | bit;
	r->streams[at].any |= bit;
	r->tails[at * r->k + w] = end_ns;
	line = line_in(r, run, w);
	if (line)
		*line = later(*line, end_ns);
	put_end(run, w, start_ns, end_ns);
}

/* A world in which op, launch and stream are as recorded. */
static inline __attribute__((always_inline)) int64_t run_as_usual(
	const struct replay *r, const struct running *run, size_t w, const int64_t *event)
{
	int64_t start_ns = plus(run->anchor[w], run->launch_ns), end_ns;

	start_ns = later(start_ns, plus(run->tail[w], run->stream_ns));
	if (event)
		start_ns = later(start_ns, plus(event[w], run->o->event_ns));
	end_ns = plus(start_ns, run->duration_ns & r->keeps[w]);
	run->tail[w] = end_ns;
	put_end(run, w, start_ns, end_ns);
	return end_ns;
}

static void run_all(struct replay *r, const struct running *run)
{
	int64_t end_ns, *line;
	size_t w;

	if (run->event)
		for (w = 0; w < r->plain; w++) {
			end_ns = run_as_usual(r, run, w, run->event);
			run->line[w] = later(run->line[w], end_ns);
		}
	else
		for (w = 0; w < r->plain; w++) {
			end_ns = run_as_usual(r, run, w, NULL);
			run->line[w] = later(run->line[w], end_ns);
		}
	for (; w < r->k; w++) {
		end_ns = run_as_usual(r, run, w, run->event);
		line = line_in(r, run, w);
		if (line)
			*line = later(*line, end_ns);
	}
}

/* Finds the rows of an op. */
static void find_rows(struct replay *r, uint32_t op, struct running *run)
{
	const struct vpa_tape_op *o = &r->t->ops[op];
	size_t slot = op & r->op_mask;
	uint32_t old = op - (uint32_t)r->op_mask - 1;
	int64_t *line;

	*run = (struct running){.o = o, .anchor = r->never, .line = r->nowhere};
	run->l = o->call == VPA_TAPE_NONE ? NULL : launch_of(r, o->call);
	run->launch_ns = run->l ? o->launch_ns : VPA_EDGE_NONE;
	run->stream_ns = o->stream_ns;
	run->duration_ns = (int64_t)(o->end_ns - o->start_ns);
	run->tail = &r->tails[o->stream * r->k];
	run->end = &r->op_ends[slot * r->k];
	if (op > r->op_mask && r->streams[r->t->ops[old].stream].last == old)
		memcpy(&r->last_end[r->t->ops[old].stream * r->k], run->end,
			r->k * sizeof(*run->end));
	run->moments = vpa_moments_of(r->moments, o);
	if (o->event != VPA_TAPE_NONE)
		run->event = end_of(r, o->event, op);
	if (!run->l)
		return;
	run->slot = slot_of(r, o->call);
	run->anchor =
		o->anchor ? &r->launch_ends[run->slot * r->k] : &r->launch_starts[run->slot * r->k];
	line = line_in(r, run, 0);
	if (line)
		run->line = line;
}

/* What an op hangs on is no longer kept: it stays as long after the op before it as it was. */
static void hang_on_stream(const struct replay *r, struct running *run)
{
	uint32_t last = r->streams[run->o->stream].last;

	if (last != VPA_TAPE_NONE)
		run->stream_ns = (int64_t)(run->o->start_ns - r->t->ops[last].end_ns);
}

static void run_op(struct replay *r, uint32_t op)
{
	struct running run;
	struct stream *s;
	uint32_t differs, op_differs;
	size_t w;

	find_rows(r, op, &run);
	s = &r->streams[run.o->stream];
	if ((!run.l && run.o->call != VPA_TAPE_NONE) ||
		(!run.event && run.o->event != VPA_TAPE_NONE))
		hang_on_stream(r, &run);
	op_differs = vpa_effects_on_op(
		r->x, run.o, run.l ? &r->inside[run.slot * r->words] : NULL, r->op_effects);
	differs = op_differs | (run.l ? run.l->ops_gone | run.l->in_graph : 0) |
		  (r->all & ~(s->any & s->has_last));
	if (run.launch_ns == VPA_EDGE_NONE && run.stream_ns == VPA_EDGE_NONE)
		differs = r->all;
	if (!differs) {
		if (run.launch_ns == VPA_EDGE_NONE) {
			run.anchor = r->never;
			run.launch_ns = 0;
		}
		run_all(r, &run);
	} else {
		for (w = 0; w < r->k; w++)
			run_in(r, &run, w, op_differs);
	}
	s->last = op;
	note_error(r, run.end[0], run.o->end_ns);
}

/* ---- the order ---- */

/* At one moment: ends of calls that began before it, then calls in order, then ops. A call of no length begins and ends
 * at once. */
static void run(struct replay *r)
{
	const struct vpa_tape *t = r->t;
	size_t starts = 0, ends = 0, ops = 0;

	while (starts < t->call_count || ends < t->call_count || ops < t->op_count) {
		uint64_t start_ns = starts < t->call_count ? t->calls[starts].start_ns : UINT64_MAX,
			 end_ns = UINT64_MAX,
			 op_ns = ops < t->op_count ? t->ops[ops].start_ns : UINT64_MAX;

		/* Those of no length have ended when they began. */
		while (ends < t->call_count) {
			const struct vpa_tape_call *c = &t->calls[r->e->calls_by_end[ends]];

			if (c->end_ns > c->start_ns) {
				end_ns = c->end_ns;
				break;
			}
			ends++;
		}
		if (ends < t->call_count && end_ns <= start_ns && end_ns <= op_ns) {
			vpa_moments_pass(r->moments, end_ns, r->host);
			end_call(r, r->e->calls_by_end[ends++], (uint32_t)ops);
		} else if (starts < t->call_count && start_ns <= op_ns) {
			start_call(r, (uint32_t)starts);
			if (t->calls[starts].end_ns == start_ns) {
				vpa_moments_pass(r->moments, start_ns, r->host);
				end_call(r, (uint32_t)starts, (uint32_t)ops);
			}
			starts++;
		} else if (ops < t->op_count) {
			run_op(r, (uint32_t)ops++);
		}
	}
	vpa_moments_pass(r->moments, UINT64_MAX, r->host);
	vpa_moments_end(r->moments);
}

/* ---- all ---- */

static size_t power_of_two(size_t least)
{
	size_t n = 1;

	while (n < least && n < KEPT)
		n *= 2;
	return n;
}

static void list_worlds(struct replay *r, const struct vpa_world *worlds)
{
	size_t w;

	r->all = (uint32_t)(((uint64_t)1 << r->k) - 1);
	for (w = 0; w < r->k; w++) {
		if (!vpa_world_deletes(&worlds[w]))
			r->plain = w + 1;
		r->no_host |= (uint32_t)(worlds[w].no_host != 0) << w;
		r->keeps[w] = worlds[w].no_ops ? 0 : -1;
		r->never[w] = NEVER;
	}
	r->host = r->zero;
}

/* All of what clocks stand in. */
static int allocate(struct replay *r)
{
	const struct vpa_tape *t = r->t;
	size_t launches = power_of_two(t->call_count), ops = power_of_two(t->op_count), i;
	size_t streams = t->stream_count + vpa_effects_asides(r->x), own = r->k - r->plain;

	r->launch_mask = launches - 1;
	r->op_mask = ops - 1;
	r->words = vpa_effects_words(r->x);
	r->walk = vpa_walk_new(r->x);
	r->open = vpt_calloc(t->thread_count, sizeof(*r->open));
	r->starts = vpt_calloc(t->thread_count * r->k, sizeof(*r->starts));
	r->ends = vpt_calloc(t->thread_count * r->k, sizeof(*r->ends));
	r->costs = vpt_calloc(t->thread_count * r->k, sizeof(*r->costs));
	r->launches = vpt_alloc(launches, sizeof(*r->launches));
	r->launch_starts = vpt_alloc(launches * r->k, sizeof(*r->launch_starts));
	r->launch_ends = vpt_alloc(launches * r->k, sizeof(*r->launch_ends));
	r->places = vpt_alloc(launches * own, sizeof(*r->places));
	r->inside = vpt_alloc(launches * r->words, sizeof(*r->inside));
	r->heads =
		vpt_alloc(vpa_effects_make_graphs(r->x) ? launches * r->k : 1, sizeof(*r->heads));
	r->op_ends = vpt_alloc(ops * r->k, sizeof(*r->op_ends));
	r->streams = vpt_calloc(streams, sizeof(*r->streams));
	r->tails = vpt_calloc(streams * r->k, sizeof(*r->tails));
	r->last_end = vpt_calloc(t->stream_count * r->k, sizeof(*r->last_end));
	r->counts = vpt_calloc(t->gpu_count * (own + 1), sizeof(*r->counts));
	r->lines = vpt_calloc(t->gpu_count * (size_t)LINE, r->k * sizeof(*r->lines));
	if (!r->walk || !r->open || !r->starts || !r->ends || !r->costs || !r->launches ||
		!r->launch_starts || !r->launch_ends || !r->places || !r->inside || !r->heads ||
		!r->op_ends || !r->streams || !r->tails || !r->last_end || !r->counts || !r->lines)
		return VPT_ENOMEM;
	for (i = 0; i < launches; i++)
		r->launches[i].call = VPA_TAPE_NONE;
	for (i = 0; i < streams; i++)
		r->streams[i].last = VPA_TAPE_NONE;
	return VPT_OK;
}

static void release(struct replay *r)
{
	void *all[] = {r->open, r->starts, r->ends, r->costs, r->launches, r->launch_starts,
		r->launch_ends, r->places, r->inside, r->heads, r->op_ends, r->streams, r->tails,
		r->last_end, r->counts, r->lines};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		vpt_free(all[i]);
	vpa_walk_free(r->walk);
}

int vpa_replay(const struct vpa_tape *t, const struct vpa_edges *e, struct vpa_effects *x,
	const struct vpa_world *worlds, size_t world_count, struct vpa_moments *moments,
	uint64_t *error_ns)
{
	struct replay *r = vpt_calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return VPT_ENOMEM;
	r->t = t;
	r->e = e;
	r->x = x;
	r->k = world_count;
	r->moments = moments;
	list_worlds(r, worlds);
	rc = allocate(r);
	if (!rc) {
		run(r);
		rc = vpa_effects_failed(x) ? VPT_ENOMEM : VPT_OK;
	}
	*error_ns = r->error_ns;
	release(r);
	vpt_free(r);
	return rc;
}
