/* model_late.c - what the launching thread did while the device was already idle, and how far each wait had held
 * it back before. */
#include "tests/support/model/model_late.h"

#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t STALL_NS = 100000, SETUP_NS = 1000000;

static uint64_t min_ns(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max_ns(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---- cuts ---- */

static void insert_cut(struct model_cuts *cuts, size_t at, struct model_cut cut)
{
	if (vpt_grow(&cuts->items, &cuts->cap, cuts->count + 1, sizeof(*cuts->items)))
		abort();
	memmove(cuts->items + at + 1, cuts->items + at, (cuts->count - at) * sizeof(cut));
	cuts->items[at] = cut;
	cuts->count++;
}

void model_cuts_put(struct model_cuts *cuts, struct model_cut cut)
{
	if (cut.piece.end > cut.piece.start)
		insert_cut(cuts, cuts->count, cut);
}

/* Makes two of a cut that `t` lies inside. */
static void split_cut(struct model_cuts *cuts, size_t at, uint64_t t)
{
	struct model_cut rest = cuts->items[at];

	if (t <= rest.piece.start || t >= rest.piece.end)
		return;
	cuts->items[at].piece.end = t;
	rest.piece.start = t;
	insert_cut(cuts, at + 1, rest);
}

static void split_all(struct model_cuts *cuts, uint64_t t)
{
	size_t i;

	for (i = 0; i < cuts->count; i++)
		split_cut(cuts, i, t);
}

void model_cut_away(struct model_cuts *cuts, uint64_t start, uint64_t end)
{
	size_t i, kept = 0;

	split_all(cuts, start);
	split_all(cuts, end);
	for (i = 0; i < cuts->count; i++)
		if (cuts->items[i].piece.start < start || cuts->items[i].piece.end > end)
			cuts->items[kept++] = cuts->items[i];
	cuts->count = kept;
}

/* ---- cutting by calls ---- */

enum model_cause model_cause_of_kind(enum model_call_kind kind)
{
	switch (kind) {
	case MODEL_CALL_SYNC:
		return MODEL_SYNC;
	case MODEL_CALL_BLOCKING_COPY:
		return MODEL_BLOCKING_COPY;
	case MODEL_CALL_ALLOCATION:
		return MODEL_ALLOCATION;
	case MODEL_CALL_MODULE_LOAD:
		return MODEL_MODULE_LOAD;
	case MODEL_CALL_GRAPH_BUILD:
	case MODEL_CALL_BEGIN_CAPTURE:
	case MODEL_CALL_END_CAPTURE:
		return MODEL_GRAPH_BUILD;
	case MODEL_CALL_STREAM_WAIT:
	case MODEL_CALL_OTHER:
		return MODEL_OTHER_CALL;
	default:
		return MODEL_LAUNCH_CALL;
	}
}

static int has(const char *name, const char *part)
{
	return name && strstr(name, part);
}

/* Whether a call is how a library sets itself up when it is first used. */
static int sets_up(const struct model_call *c)
{
	if (c->end - c->start < SETUP_NS)
		return 0;
	if (c->kind == MODEL_CALL_ALLOCATION)
		return has(c->name, "Free") && !has(c->name, "Async");
	return c->kind == MODEL_CALL_OTHER &&
	       (has(c->name, "FuncSet") || has(c->name, "Symbol") || has(c->name, "StreamCreate") ||
		       has(c->name, "DeviceProp"));
}

static enum model_cause cause_of_call(const struct model_late *late, const struct model_call *c)
{
	return late->first_use && sets_up(c) ? MODEL_MODULE_LOAD
					     : model_cause_of_kind(model_kind(c));
}

/* The part [start, end) of a stretch of host code that lasts from the end of `last` to the start of `next`. */
static void put_host_code(const struct model_late *late, struct model_cuts *cuts, uint64_t start,
	uint64_t end, const struct model_call *last, const struct model_call *next)
{
	struct model_piece p = {.start = start, .end = end, .cause = MODEL_HOST_CODE};

	if (end <= start)
		return;
	if (last && next->start - last->end < STALL_NS)
		p.cause = MODEL_LAUNCH_RATE;
	if (model_captures(late->thread, start))
		p.cause = MODEL_GRAPH_BUILD;
	p.range = model_place_of(late->thread, start, end);
	model_cuts_put(cuts, (struct model_cut){.piece = p,
				     .is_host = 1,
				     .is_long = !last || next->start - last->end >= SETUP_NS});
}

static void put_inside(const struct model_late *late, struct model_cuts *cuts, uint64_t start,
	uint64_t end, const struct model_call *c)
{
	struct model_piece p = {.start = start, .end = end, .call = c->name};

	if (end <= start)
		return;
	p.cause = cause_of_call(late, c);
	if (p.cause == MODEL_LAUNCH_CALL && model_captures(late->thread, c->start))
		p.cause = MODEL_GRAPH_BUILD;
	p.range = model_place_at(late->thread, start);
	model_cuts_put(cuts,
		(struct model_cut){.piece = p,
			.in = c,
			.in_cause = p.cause,
			.is_host = 1,
			.is_long = p.cause == MODEL_ALLOCATION && c->end - c->start > STALL_NS});
}

static void cut_by_calls(const struct model_late *late, struct model_cuts *cuts)
{
	const struct model_call *last = NULL;
	uint64_t at = late->start;
	size_t i;

	for (i = 0; i < late->thread->outermost_count; i++) {
		const struct model_call *c = late->thread->outermost[i];

		if (c->start >= late->launch->start)
			break;
		put_host_code(late, cuts, at, min_ns(c->start, late->end), last, c);
		at = max_ns(at, min_ns(c->start, late->end));
		put_inside(late, cuts, at, min_ns(c->end, late->end), c);
		at = max_ns(at, min_ns(c->end, late->end));
		last = c;
	}
	put_host_code(late, cuts, at, late->end, last, late->launch);
}

/* ---- credit ---- */

static uint64_t submitted_from(const struct model_late *late)
{
	uint64_t from = late->window_start;
	size_t i;

	for (i = 0; i < late->thread->outermost_count; i++) {
		const struct model_call *c = late->thread->outermost[i];

		if (c->start >= late->start)
			break;
		from = c->submits ? c->start : from;
	}
	return from;
}

static uint64_t *counted_of(const struct model_late *late, const struct model_call *c)
{
	return &late->counted[c - late->m->calls.items];
}

static uint64_t credit_of(const struct model_late *late, const struct model_call *c, uint64_t from)
{
	uint64_t start = max_ns(c->own_start, from), end = min_ns(c->end, late->start);
	uint64_t ns = end > start ? end - start : 0, counted = *counted_of(late, c);

	return ns > counted ? ns - counted : 0;
}

static int waits_for_work(enum model_cause cause)
{
	return cause == MODEL_SYNC || cause == MODEL_BLOCKING_COPY;
}

/* Credit of `c` is used up by a cut. Long code after a wait stays what it is: either would have saved it. So do long allocations, which
 * wait themselves. */
static void give_to(
	const struct model_late *late, struct model_cut *cut, const struct model_call *c)
{
	enum model_cause cause = cause_of_call(late, c);
	struct model_piece *p = &cut->piece;

	cut->taken = 1;
	if (waits_for_work(cause) && cut->is_long &&
		(p->cause == MODEL_HOST_CODE || p->cause == MODEL_ALLOCATION)) {
		if (p->cause == MODEL_HOST_CODE) {
			p->instead_call = c->name;
			p->instead_range = model_place_at(late->thread, c->start);
		}
		return;
	}
	p->is_credited = 1;
	p->host = p->cause;
	p->host_range = p->range;
	p->inside = cut->in ? cut->in->name : NULL;
	p->cause = cause;
	p->call = c->name;
	p->range = model_place_at(late->thread, c->start);
}

static void take_credit(const struct model_late *late, struct model_cuts *cuts,
	const struct model_call *c, uint64_t credit)
{
	size_t i;

	for (i = 0; i < cuts->count && credit; i++) {
		struct model_cut *cut = &cuts->items[i];

		if (cut->taken || cut->in == c || (cut->in && waits_for_work(cut->in_cause)))
			continue;
		if (cut->piece.end - cut->piece.start > credit)
			split_cut(cuts, i, cut->piece.start + credit);
		cut = &cuts->items[i];
		give_to(late, cut, c);
		credit -= cut->piece.end - cut->piece.start;
		*counted_of(late, c) += cut->piece.end - cut->piece.start;
	}
}

void model_late_cut(const struct model_late *late, struct model_cuts *cuts)
{
	uint64_t from = submitted_from(late);
	struct model_cuts spent = {0};
	size_t i;

	if (late->end <= late->start)
		return;
	cut_by_calls(late, cuts);
	for (i = 0; i < cuts->count; i++)
		model_cuts_put(&spent, cuts->items[i]);
	for (i = 0; i < late->thread->outermost_count; i++) {
		const struct model_call *c = late->thread->outermost[i];

		if (c->start >= late->start)
			break;
		if (c->end > from && cause_of_call(late, c) != MODEL_LAUNCH_CALL)
			take_credit(late, cuts, c, credit_of(late, c, from));
	}
	/* What this gap spends in a call is no earlier gap's. */
	for (i = 0; i < spent.count; i++)
		if (spent.items[i].in)
			*counted_of(late, spent.items[i].in) +=
				spent.items[i].piece.end - spent.items[i].piece.start;
	vpt_free(spent.items);
}

/* ---- overhead ---- */

/* The cause that a kind of overhead stands for; MODEL_CAUSES: none. */
static enum model_cause cause_of_overhead(uint64_t kind)
{
	switch (kind) {
	case VPT_OVERHEADKIND_FLUSH:
	case VPT_OVERHEADKIND_INSTRUMENTATION:
	case VPT_OVERHEADKIND_RESOURCE:
	case VPT_OVERHEADKIND_BUFFER_REQUEST:
		return MODEL_PROFILER;
	case VPT_OVERHEADKIND_COMPILER:
	case VPT_OVERHEADKIND_MODULE_LOADING:
	case VPT_OVERHEADKIND_LAZY_LOADING:
		return MODEL_MODULE_LOAD;
	default:
		return MODEL_CAUSES;
	}
}

/* Whether a record may explain a piece of the thread's: its own, nobody's, or in a call of its process that waits for
 * nobody but locks. */
static int applies(const struct model *m, const struct model_overhead *o, size_t lane,
	const struct model_cut *cut)
{
	const struct model_lane *of = &m->lanes.items[o->lane], *mine = &m->lanes.items[lane];

	if (!cut->is_host || o->end <= o->start || o->start >= cut->piece.end ||
		o->end <= cut->piece.start)
		return 0;
	if (of->type != VPT_LANETYPE_THREAD || o->lane == lane)
		return 1;
	return cut->in && !waits_for_work(cut->in_cause) && of->pid == mine->pid;
}

void model_cut_overhead(const struct model *m, size_t lane, struct model_cuts *cuts)
{
	size_t i, k;

	for (k = 0; k < m->overheads.count; k++) {
		const struct model_overhead *o = &m->overheads.items[k];

		if (cause_of_overhead(o->kind) == MODEL_CAUSES)
			continue;
		for (i = 0; i < cuts->count; i++)
			if (applies(m, o, lane, &cuts->items[i])) {
				split_cut(cuts, i, o->start);
				split_cut(cuts, i, o->end);
			}
	}
	for (i = 0; i < cuts->count; i++) {
		int profiler = 0, loads = 0;

		for (k = 0; k < m->overheads.count; k++) {
			const struct model_overhead *o = &m->overheads.items[k];
			int here = applies(m, o, lane, &cuts->items[i]);

			profiler |= here && cause_of_overhead(o->kind) == MODEL_PROFILER;
			loads |= here && cause_of_overhead(o->kind) == MODEL_MODULE_LOAD;
		}
		if (!profiler && !loads)
			continue;
		cuts->items[i].piece.cause = profiler ? MODEL_PROFILER : MODEL_MODULE_LOAD;
		cuts->items[i].piece.is_credited = 0;
		cuts->items[i].piece.instead_call = cuts->items[i].piece.instead_range = NULL;
	}
}

/* ---- first use ---- */

/* Whether a query asks for what makes a library load code. */
static int asks_for_code(const struct model_call *c, size_t lane)
{
	return c->thread == lane && c->kind == MODEL_CALL_QUERY && !c->reversed &&
	       c->end - c->start >= SETUP_NS &&
	       (has(c->name, "Occupancy") || has(c->name, "FuncGet"));
}

/* Whether first use may make another cause of it. */
static int may_be_first_use(const struct model_cut *cut)
{
	return cut->is_host && cut->piece.cause != MODEL_PROFILER &&
	       cut->piece.cause != MODEL_MODULE_LOAD && !(cut->in && waits_for_work(cut->in_cause));
}

static void become(struct model_cut *cut, enum model_cause cause)
{
	cut->piece.cause = cause;
	cut->piece.is_credited = 0;
	cut->piece.instead_call = cut->piece.instead_range = NULL;
}

/* Time that such queries took is code that was loaded. */
static void cut_asks(
	const struct model *m, size_t lane, uint64_t start, uint64_t end, struct model_cuts *cuts)
{
	size_t i, k;

	for (k = 0; k < m->calls.count; k++) {
		const struct model_call *c = &m->calls.items[k];

		if (!asks_for_code(c, lane) || c->start >= end || c->end <= start)
			continue;
		split_all(cuts, max_ns(c->start, start));
		split_all(cuts, min_ns(c->end, end));
		for (i = 0; i < cuts->count; i++)
			if (may_be_first_use(&cuts->items[i]) &&
				cuts->items[i].piece.start >= c->start &&
				cuts->items[i].piece.end <= c->end)
				become(&cuts->items[i], MODEL_MODULE_LOAD);
	}
}

/* From the first to the last moment of loading, queries of any kind of time included. */
static int find_items(const struct model *m, size_t lane, uint64_t start, uint64_t end,
	const struct model_cuts *cuts, uint64_t *began, uint64_t *ended)
{
	size_t i, k;

	*began = UINT64_MAX;
	*ended = 0;
	for (i = 0; i < cuts->count; i++) {
		const struct model_cut *cut = &cuts->items[i];

		if (!cut->is_host || cut->piece.cause != MODEL_MODULE_LOAD)
			continue;
		*began = min_ns(*began, cut->piece.start);
		*ended = max_ns(*ended, cut->piece.end);
	}
	for (k = 0; k < m->calls.count; k++) {
		const struct model_call *c = &m->calls.items[k];

		if (!asks_for_code(c, lane) || c->start >= end || c->end <= start)
			continue;
		*began = min_ns(*began, max_ns(c->start, start));
		*ended = max_ns(*ended, min_ns(c->end, end));
	}
	return *began < *ended;
}

void model_cut_first_use(
	const struct model *m, size_t lane, uint64_t start, uint64_t end, struct model_cuts *cuts)
{
	uint64_t began, ended;
	size_t i;

	if (!find_items(m, lane, start, end, cuts, &began, &ended))
		return;
	cut_asks(m, lane, start, end, cuts);
	split_all(cuts, began);
	split_all(cuts, ended);
	for (i = 0; i < cuts->count; i++) {
		struct model_cut *cut = &cuts->items[i];
		int is_code = cut->piece.cause == MODEL_HOST_CODE && !cut->in && cut->is_long;

		if (may_be_first_use(cut) &&
			(is_code || (cut->piece.start >= began && cut->piece.end <= ended)))
			become(cut, MODEL_FIRST_USE);
	}
}
