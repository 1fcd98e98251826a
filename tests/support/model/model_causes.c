/* model_causes.c - the gaps of each device, their stretches, and what they sum up to. */
#include "tests/support/model/model_causes.h"

#include "formats/base/memory.h"
#include "tests/support/model/model_late.h"
#include "tests/support/model/model_work.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t NEAR_NS = 10000, LOAD_NS = 1000000;

const char *const model_cause_names[MODEL_CAUSES] = {
	[MODEL_BEFORE_FIRST_WORK] = "before first work",
	[MODEL_AFTER_LAST_WORK] = "after last work",
	[MODEL_RECORDS_LOST] = "unknown (records lost)",
	[MODEL_NO_LAUNCH_RECORD] = "unknown (no launch record)",
	[MODEL_INSIDE_GRAPH] = "inside graph",
	[MODEL_SYNC] = "sync",
	[MODEL_BLOCKING_COPY] = "blocking copy",
	[MODEL_ALLOCATION] = "allocation",
	[MODEL_MODULE_LOAD] = "module load",
	[MODEL_FIRST_USE] = "first use",
	[MODEL_GRAPH_BUILD] = "graph build",
	[MODEL_OTHER_CALL] = "other CUDA call",
	[MODEL_LAUNCH_RATE] = "launch rate",
	[MODEL_HOST_CODE] = "host code",
	[MODEL_LAUNCH_CALL] = "launch call",
	[MODEL_LAUNCH_LATENCY] = "launch latency",
	[MODEL_DEPENDENCY] = "dependency",
	[MODEL_GRAPH_START] = "graph start",
	[MODEL_SCHEDULING] = "scheduling",
	[MODEL_QUEUED] = "queued, reason not recorded",
	[MODEL_PROFILER] = "profiler",
};

static uint64_t clamp(uint64_t t, uint64_t low, uint64_t high)
{
	return t < low ? low : t > high ? high : t;
}

/* ---- one gap ---- */

static int lost_in(const struct model *m, const struct model_gap *g)
{
	size_t i;

	for (i = 0; i < m->losses.count; i++) {
		const struct model_loss *l = &m->losses.items[i];

		if (l->kind != VPT_LOSSKIND_PAUSED && l->kind != VPT_LOSSKIND_CAP &&
			l->end > l->start && l->start < g->end && l->end > g->start)
			return 1;
	}
	return 0;
}

static int of_one_graph(const struct model_gap *g, const struct model_call *own)
{
	const struct model_op *a = g->before, *k = g->after;

	return a->corr == k->corr && model_same_process(a->pid, k->pid) &&
	       (own->kind == MODEL_CALL_GRAPH_LAUNCH || (a->node && k->node));
}

/* The latest moment of [start, end) up to which another device runs an op that overlaps it; `start`: none does. */
static uint64_t others_work_until(
	const struct model_work *w, int64_t device, uint64_t start, uint64_t end)
{
	uint64_t until = start;
	size_t i;

	for (i = 0; i < w->op_count; i++) {
		const struct model_op *op = w->ops[i];

		if (op->active && op->device != device && op->start < end && op->end > until)
			until = op->end < end ? op->end : end;
	}
	return until;
}

/* [start, g.end), which begins when the launch call is over or later. */
static void cut_queue(const struct model_work *w, const struct model_gap *g, uint64_t start,
	const struct model_call *own, struct model_cuts *cuts)
{
	const struct model_call *launch = own->outer;
	uint64_t rest = clamp(launch->end + NEAR_NS, start, g->end), ns;
	struct model_piece p = {.start = start,
		.end = rest,
		.cause = MODEL_LAUNCH_LATENCY,
		.call = own->name,
		.range = model_place_at(&w->threads[launch->thread], launch->start)};

	model_cuts_put(cuts, (struct model_cut){.piece = p});
	if (rest < g->end && model_waited(w, g->after, launch)) {
		p.start = rest;
		rest = p.end = others_work_until(w, g->after->device, rest, g->end);
		p.cause = MODEL_DEPENDENCY;
		model_cuts_put(cuts, (struct model_cut){.piece = p});
	}
	p.start = rest;
	p.end = g->end;
	ns = p.end - p.start;
	if (own->kind == MODEL_CALL_GRAPH_LAUNCH && ns <= LOAD_NS)
		p.cause = MODEL_GRAPH_START;
	else
		p.cause = ns <= NEAR_NS ? MODEL_SCHEDULING : MODEL_QUEUED;
	model_cuts_put(cuts, (struct model_cut){.piece = p});
}

static void cut_call(const struct model_work *w, uint64_t start, uint64_t end,
	const struct model_call *own, int first_use, struct model_cuts *cuts)
{
	const struct model_call *launch = own->outer;
	struct model_piece p = {.start = start,
		.end = end,
		.cause = model_cause_of_kind(model_kind(launch)),
		.call = own->name,
		.range = model_place_at(&w->threads[launch->thread], launch->start)};

	if (model_kind(own) == MODEL_CALL_BLOCKING_COPY)
		p.cause = MODEL_BLOCKING_COPY;
	else if (p.cause == MODEL_LAUNCH_CALL && own->kind == MODEL_CALL_LAUNCH &&
		 launch->end - launch->start >= LOAD_NS && first_use)
		p.cause = MODEL_MODULE_LOAD;
	model_cuts_put(cuts,
		(struct model_cut){.piece = p, .in = launch, .in_cause = p.cause, .is_host = 1});
	w->counted[launch - w->m->calls.items] += end - start;
}

static void cut_stretches(const struct model_work *w, const struct model_gap *g,
	const struct model_call *own, struct model_cuts *cuts)
{
	const struct model_call *launch = own->outer;
	uint64_t called = clamp(launch->start, g->start, g->end),
		 returned = clamp(launch->end, called, g->end);
	struct model_late late = {.m = w->m,
		.thread = &w->threads[launch->thread],
		.launch = launch,
		.start = g->start,
		.end = called,
		.first_use = model_is_first_use(w, g->after),
		.counted = w->counted,
		.window_start = w->m->window_start};

	model_late_cut(&late, cuts);
	cut_call(w, called, returned, own, late.first_use, cuts);
	cut_queue(w, g, returned, own, cuts);
	model_cut_overhead(w->m, launch->thread, cuts);
	if (late.first_use)
		model_cut_first_use(w->m, launch->thread, g->start, returned, cuts);
}

static void cut_gap(const struct model_work *w, struct model_gap *g, struct model_cuts *cuts)
{
	struct model_piece whole = {.start = g->start, .end = g->end};
	const struct model_call *own = NULL;

	if (!g->after) {
		whole.cause = MODEL_AFTER_LAST_WORK;
	} else if (!g->before) {
		whole.cause = MODEL_BEFORE_FIRST_WORK;
	} else if (lost_in(w->m, g)) {
		whole.cause = MODEL_RECORDS_LOST;
	} else if (!(own = model_own_call(w, g->after))) {
		whole.cause = MODEL_NO_LAUNCH_RECORD;
	} else {
		g->launch_range =
			model_place_at(&w->threads[own->outer->thread], own->outer->start);
		if (!of_one_graph(g, own)) {
			cut_stretches(w, g, own, cuts);
			return;
		}
		whole.cause = MODEL_INSIDE_GRAPH;
		whole.call = own->name;
		whole.range = g->launch_range;
	}
	model_cuts_put(cuts, (struct model_cut){.piece = whole});
}

static void cut_pauses(const struct model *m, struct model_cuts *cuts)
{
	size_t i;

	for (i = 0; i < m->losses.count; i++) {
		const struct model_loss *l = &m->losses.items[i];

		if (l->kind == VPT_LOSSKIND_PAUSED && l->end > l->start)
			model_cut_away(cuts, l->start, l->end);
	}
}

/* ---- what a gap says ---- */

static void choose_headline(struct model_gap *g)
{
	uint64_t ns[MODEL_CAUSES] = {0}, longest = 0;
	size_t i;

	for (i = 0; i < g->piece_count; i++)
		ns[g->pieces[i].cause] += g->pieces[i].end - g->pieces[i].start;
	for (i = 0; i < MODEL_CAUSES; i++) {
		g->idle_ns += ns[i];
		if (ns[i] > g->cause_ns) {
			g->cause_ns = ns[i];
			g->cause = (enum model_cause)i;
		}
	}
	for (i = 0; i < g->piece_count; i++) {
		const struct model_piece *p = &g->pieces[i];

		if (p->cause != g->cause || p->end - p->start <= longest)
			continue;
		longest = p->end - p->start;
		g->call = p->call;
		g->range = p->range;
	}
}

static void take_pieces(struct model_gap *g, const struct model_cuts *cuts)
{
	size_t i;

	if (vpt_grow(&g->pieces, &g->piece_cap, cuts->count + 1, sizeof(*g->pieces)))
		abort();
	for (i = 0; i < cuts->count; i++)
		g->pieces[g->piece_count++] = cuts->items[i].piece;
	choose_headline(g);
}

static struct model_cause_row *row_of(struct model_device *d, const struct model_piece *p)
{
	size_t i;

	for (i = 0; i < d->row_count; i++)
		if (d->rows[i].cause == p->cause && model_same_text(d->rows[i].call, p->call) &&
			model_same_text(d->rows[i].range, p->range))
			return &d->rows[i];
	if (vpt_grow(&d->rows, &d->row_cap, d->row_count + 1, sizeof(*d->rows)))
		abort();
	d->rows[d->row_count] =
		(struct model_cause_row){.cause = p->cause, .range = p->range, .call = p->call};
	return &d->rows[d->row_count++];
}

/* The device's newest gap. */
static void sum_gap(struct model_device *d, const struct model_gap *g)
{
	size_t i;

	d->idle_ns += g->idle_ns;
	for (i = 0; i < g->piece_count; i++) {
		const struct model_piece *p = &g->pieces[i];
		struct model_cause_row *row = row_of(d, p);

		row->gaps += row->newest != d->gap_count;
		row->newest = d->gap_count;
		row->ns += p->end - p->start;
		d->ns[p->cause] += p->end - p->start;
	}
}

/* ---- devices ---- */

static int is_paused(const struct model *m, const struct model_gap *g)
{
	struct model_cuts cuts = {0};
	int paused;

	model_cuts_put(&cuts, (struct model_cut){.piece = {.start = g->start, .end = g->end}});
	cut_pauses(m, &cuts);
	paused = !cuts.count;
	vpt_free(cuts.items);
	return paused;
}

static void add_gap(const struct model_work *w, struct model_device *d, struct model_gap g)
{
	struct model_cuts cuts = {0};

	if (g.end <= g.start || is_paused(w->m, &g))
		return;
	cut_gap(w, &g, &cuts);
	cut_pauses(w->m, &cuts);
	take_pieces(&g, &cuts);
	vpt_free(cuts.items);
	if (vpt_grow(&d->gaps, &d->gap_cap, d->gap_count + 1, sizeof(*d->gaps)))
		abort();
	d->gaps[d->gap_count++] = g;
	sum_gap(d, &g);
}

/* Ops come in order of start, so a gap is what lies between the latest end so far and the next start. */
static void answer_device(struct model_work *w, struct model_device *d)
{
	struct model_gap g = {.start = w->m->window_start};
	size_t i;

	memset(w->counted, 0, w->m->calls.count * sizeof(*w->counted));
	for (i = 0; i < w->op_count; i++) {
		const struct model_op *op = w->ops[i];

		if (!op->active || op->device != d->device)
			continue;
		g.end = op->start;
		g.after = op;
		add_gap(w, d, g);
		if (op->end >= g.start) {
			g.start = op->end;
			g.before = op;
		}
	}
	g.end = w->m->window_end;
	g.after = NULL;
	add_gap(w, d, g);
}

static void find_devices(const struct model_work *w, struct model_causes *c)
{
	size_t i, k, at;

	for (i = 0; i < w->op_count; i++) {
		int64_t device = w->ops[i]->device;

		for (at = 0; at < c->device_count && c->devices[at].device < device; at++)
			;
		if (!w->ops[i]->active || (at < c->device_count && c->devices[at].device == device))
			continue;
		if (vpt_grow(&c->devices, &c->device_cap, c->device_count + 1, sizeof(*c->devices)))
			abort();
		for (k = c->device_count++; k > at; k--)
			c->devices[k] = c->devices[k - 1];
		c->devices[at] = (struct model_device){.device = device};
	}
}

/* ---- the window ---- */

static void widen(struct model *m, uint64_t start, uint64_t end)
{
	m->window_start = start < m->window_start ? start : m->window_start;
	m->window_end = end > m->window_end ? end : m->window_end;
}

/* A foreign trace does not say when recording began and ended: its ops, calls and ranges do. */
static void choose_foreign_window(struct model *m, const struct vpa_options *o)
{
	uint64_t t0;
	size_t i;

	m->window_start = UINT64_MAX;
	m->window_end = 0;
	for (i = 0; i < m->ops.count; i++)
		if (m->ops.items[i].raw_start &&
			m->ops.items[i].raw_end >= m->ops.items[i].raw_start)
			widen(m, m->ops.items[i].raw_start, m->ops.items[i].raw_end);
	for (i = 0; i < m->calls.count; i++)
		if (!m->calls.items[i].reversed)
			widen(m, m->calls.items[i].start, m->calls.items[i].end);
	for (i = 0; i < m->ranges.count; i++) {
		const struct model_range *r = &m->ranges.items[i];

		if (!r->reversed && !r->unmatched && r->end != UINT64_MAX &&
			model_level_of(r) != MODEL_PYTHON)
			widen(m, r->start, r->end);
	}
	if (m->window_start == UINT64_MAX)
		m->window_start = m->window_end;
	t0 = m->window_start;
	m->limit = o->has_to ? t0 + o->to_ns : UINT64_MAX;
	m->window_start += o->has_from ? o->from_ns : 0;
	m->window_end = m->limit < m->window_end ? m->limit : m->window_end;
}

static void clip_ops(struct model *m)
{
	size_t i;

	for (i = 0; i < m->ops.count; i++) {
		struct model_op *op = &m->ops.items[i];

		op->start = clamp(op->raw_start, m->window_start, m->window_end);
		op->end = clamp(op->raw_end, m->window_start, m->window_end);
		op->active = model_is_op(op) && op->end > op->start;
	}
}

/* ---- the face ---- */

const char *model_causes_compute(
	const struct vpt_trace *trace, const struct vpa_options *options, struct model_causes *out)
{
	static const struct vpa_options all;
	struct model_work w;
	size_t i;

	memset(out, 0, sizeof(*out));
	options = options ? options : &all;
	model_read(&out->m, trace);
	if (out->m.why[0])
		return out->m.why;
	if (vpt_trace_format(trace) == VPT_FORMAT_CAPTURE)
		model_choose_window(&out->m, trace, options);
	else
		choose_foreign_window(&out->m, options);
	out->window_start = out->m.window_start;
	out->window_end = out->m.window_end;
	clip_ops(&out->m);
	model_work_init(&w, &out->m);
	find_devices(&w, out);
	for (i = 0; i < out->device_count; i++)
		answer_device(&w, &out->devices[i]);
	model_work_free(&w);
	return NULL;
}

void model_causes_free(struct model_causes *c)
{
	size_t i, k;

	for (i = 0; i < c->device_count; i++) {
		for (k = 0; k < c->devices[i].gap_count; k++)
			vpt_free(c->devices[i].gaps[k].pieces);
		vpt_free(c->devices[i].gaps);
		vpt_free(c->devices[i].rows);
	}
	vpt_free(c->devices);
	model_free(&c->m);
	memset(c, 0, sizeof(*c));
}
