/* host_stops.c - idle time in which the host stood still, see ../../report/rows/host_stop.h: in the launch of a kernel, while no device had
 * work; in a wait, when all work had ended; or, where stops end together, in any code.
 *
 * Few such stretches mean little, so there must be five, in three places of two kinds; or three that end as a CPU quota lets
 * threads go on, with host code that does so too. Not a stop is what another thread may hold up, or what a call waits for beside
 * work: so no other thread of the process begins or ends a call in it or is in one that may hold a lock, and waits count only where
 * no call lets streams wait for the host or for memory. Only of a trace with one device, since another one may be waited for. */
#include "analysis/folds/fold.h"

#include "analysis/base/sort.h"
#include "analysis/folds/gaps/gap_parts.h"
#include "analysis/idle/idle_gaps.h"
#include "analysis/join/resolver.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/calls.h"

#include <stdlib.h>
#include <string.h>

enum {
	STOPS_MAX = 4096, /* the first ones: their places are compared with each other */
	LEAST = 5,        /* stops */
	LEAST_SURE = 3,   /* of them not in host code, where a clock tells */
	LEAST_PLACES = 3,
	LEAST_PAUSES = 3,
	LENGTHS = 5,     /* pauses differ by 1 / this of the longest at most */
	OPS = 100,       /* there are at least 100 ops for each stop */
	EDGE_NS = 100000 /* what other threads do so near to the ends of a stop is not in it */
};

struct stop {
	uint64_t start_ns, end_ns;
	uint32_t call, place;
	uint8_t cause;
};

struct state {
	struct stop *stops;
	size_t count, cap;
	uint64_t *ends_ns; /* see list_ends() */
	size_t sure, ends_cap;
	uint64_t ops;
};

/* ---- what others do meanwhile ---- */

/* Whether a call may hold what a launch, or the end of a wait, needs. */
static int may_hold(const struct vpa_call *call)
{
	switch (vpa_call_effect(call)) {
	case VPT_CALL_LAUNCH:
	case VPT_CALL_GRAPH_LAUNCH:
	case VPT_CALL_SYNC:
	case VPT_CALL_COPY:
	case VPT_CALL_MEMSET:
		return 0;
	default:
		return 1;
	}
}

/* Whether a thread that made calls stood still too: it begins and ends none. */
static int stands_still(struct vpa_thread_past *past, uint64_t from_ns, uint64_t to_ns)
{
	const struct vpa_calls *calls = &past->calls;
	uint64_t at;

	for (at = vpa_calls_after(calls, from_ns, calls->end); at < calls->end; at++) {
		const struct vpa_call *call = vpa_calls_at(calls, at);
		uint64_t start_ns = vpa_call_start(call);

		if (start_ns > to_ns)
			break;
		if (start_ns > from_ns || vpa_call_end(call) < to_ns || may_hold(call))
			return 0;
	}
	return 1;
}

static int all_stand_still(
	const struct vpa_fold_context *c, uint32_t thread, uint64_t start_ns, uint64_t end_ns)
{
	const struct vpa_model *m = c->model;
	struct vpa_resolver *r = c->resolver;
	uint32_t i;

	for (i = 0; i < m->thread_count && i < r->past_cap; i++)
		if (i != thread && m->threads[i].process == m->threads[thread].process &&
			!stands_still(&r->pasts[i], start_ns + EDGE_NS, end_ns - EDGE_NS))
			return 0;
	return 1;
}

/* ---- gaps ---- */

/* What the time was before a wait, a record or first use gave it another cause. */
static enum vpa_cause base_of(const struct vpa_cause_piece *piece)
{
	return piece->base ? (enum vpa_cause)piece->base : (enum vpa_cause)piece->cause;
}

static int is_launch(const struct vpa_model *m, uint32_t call)
{
	struct vpt_text name = vpa_name(m, call);

	return vpt_call_class_of(name.text, name.len) == VPT_CALL_LAUNCH;
}

static int is_stop(const struct vpa_model *m, const struct vpa_cause_piece *piece)
{
	enum vpa_cause base = base_of(piece);

	if (piece->end_ns - piece->start_ns < VPA_STOP_NS || piece->cause != base)
		return 0;
	return base == VPA_CAUSE_HOST_CODE || base == VPA_CAUSE_SYNC ||
	       (base == VPA_CAUSE_LAUNCH_CALL && is_launch(m, piece->call));
}

static int add_stop(struct state *s, const struct vpa_cause_piece *piece)
{
	if (s->count == STOPS_MAX)
		return VPT_OK;
	if (vpt_grow(&s->stops, &s->cap, s->count + 1, sizeof(*s->stops)))
		return VPT_ENOMEM;
	s->stops[s->count++] = (struct stop){
		piece->start_ns, piece->end_ns, piece->call, piece->place, piece->cause};
	return VPT_OK;
}

/* A kernel that is used first may be loaded. */
VPA_RARE static int look_at(
	struct state *s, const struct vpa_fold_context *c, const struct vpa_gap *gap)
{
	size_t i;
	int rc = VPT_OK;

	if (gap->first_use || !gap->before || !gap->gating || gap->thread == VPA_NONE)
		return VPT_OK;
	for (i = 0; i < gap->piece_count && !rc; i++) {
		const struct vpa_cause_piece *piece = &gap->pieces[i];

		if (is_stop(c->model, piece) &&
			all_stand_still(c, gap->thread, piece->start_ns, piece->end_ns))
			rc = add_stop(s, piece);
	}
	return rc;
}

static int fold_gap(void *state, const struct vpa_fold_context *c, const struct vpa_gap *gap)
{
	return gap->end_ns - gap->start_ns >= VPA_STOP_NS ? look_at(state, c, gap) : VPT_OK;
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	struct vpa_whole_gap whole;
	size_t r, i;
	int rc = VPT_OK;

	for (r = 0; r < ops->run_count && !rc; r++) {
		const struct vpa_op_run *run = &ops->runs[r];
		size_t end = run->longest_ns < VPA_STOP_NS ? run->begin + 1u : run->end;

		for (i = run->begin; i < end && !rc; i++) {
			if (!ops->gap_cause[i] || ops->gap_ns[i] < VPA_STOP_NS)
				continue;
			vpa_idle_gap(c->idle, ops, i, &whole);
			rc = look_at(s, c, &whole.gap);
		}
	}
	s->ops += ops->count;
	return rc;
}

/* ---- which of them are stops ---- */

/* Whether some call of the trace lets a stream wait for the host, for memory or for another process. */
static int may_wait_elsewhere(const struct vpa_model *m)
{
	static const char *const words[] = {"LaunchHostFunc", "StreamAddCallback",
		"StreamWaitValue", "StreamBatchMemOp", "ExternalSemaphores", "IpcOpenEventHandle"};
	uint32_t i;
	size_t k;

	for (i = 0; i < m->names.count; i++) {
		struct vpt_text name = vpa_name(m, i);

		for (k = 0; k < COUNT(words); k++)
			if (name.len < 64 && vpt_text_holds(name, words[k]))
				return 1;
	}
	return 0;
}

static void keep(struct state *s, int (*is_kept)(const struct stop *, struct vpa_stop_clock),
	struct vpa_stop_clock clock)
{
	size_t i, kept = 0;

	for (i = 0; i < s->count; i++)
		if (is_kept(&s->stops[i], clock))
			s->stops[kept++] = s->stops[i];
	s->count = kept;
}

static int is_sure(const struct stop *stop)
{
	return stop->cause != VPA_CAUSE_HOST_CODE;
}

static int is_no_wait(const struct stop *stop, struct vpa_stop_clock clock)
{
	(void)clock;
	return stop->cause != VPA_CAUSE_SYNC;
}

static int is_sure_alone(const struct stop *stop, struct vpa_stop_clock clock)
{
	(void)clock;
	return is_sure(stop);
}

static int is_in_time(const struct stop *stop, struct vpa_stop_clock clock)
{
	return vpa_stop_ends_at(clock, stop->end_ns);
}

/* When in their period the sure stops end, in order, twice: in the next period, too. */
static int list_ends(struct state *s)
{
	size_t i;

	s->sure = 0;
	if (vpt_grow(&s->ends_ns, &s->ends_cap, 2 * s->count, sizeof(*s->ends_ns)))
		return VPT_ENOMEM;
	for (i = 0; i < s->count; i++)
		if (is_sure(&s->stops[i]))
			s->ends_ns[s->sure++] = s->stops[i].end_ns % VPA_QUOTA_NS;
	qsort(s->ends_ns, s->sure, sizeof(*s->ends_ns), vpa_by_u64);
	for (i = 0; i < s->sure; i++)
		s->ends_ns[s->sure + i] = s->ends_ns[i] + VPA_QUOTA_NS;
	return VPT_OK;
}

/* How many of the ends are before a time. */
static size_t count_before(const struct state *s, uint64_t ns)
{
	size_t from = 0, to = 2 * s->sure;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (s->ends_ns[middle] < ns)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* The clock by which most sure stops end: nearly all of them. every_ns is 0: there is none. */
static int find_clock(struct state *s, struct vpa_stop_clock *best)
{
	size_t i, k, most = 0;

	*best = (struct vpa_stop_clock){0, 0};
	if (list_ends(s))
		return VPT_ENOMEM;
	for (i = 0; i < s->count; i++) {
		uint64_t end_ns = s->stops[i].end_ns % VPA_QUOTA_NS;
		size_t count;

		if (!is_sure(&s->stops[i]))
			continue;
		count = count_before(s, end_ns + VPA_STOP_NEAR_NS) - count_before(s, end_ns);
		if (count > most) {
			most = count;
			*best = (struct vpa_stop_clock){VPA_QUOTA_NS, end_ns};
		}
	}
	for (i = k = 0; i < s->count; i++)
		k += (size_t)vpa_stop_ends_at(*best, s->stops[i].end_ns);
	if (most < LEAST_SURE || k < LEAST || most < s->sure - s->sure / 5)
		best->every_ns = 0;
	return VPT_OK;
}

static int is_like(const struct stop *a, const struct stop *b)
{
	return a->cause == b->cause && a->call == b->call && a->place == b->place;
}

/* How many places they are in, and kinds of them, a bit each. */
static size_t count_places(const struct state *s, uint32_t *causes)
{
	size_t i, k, count = 0;

	for (i = 0; i < s->count; i++) {
		for (k = 0; k < i && !is_like(&s->stops[k], &s->stops[i]); k++)
			;
		count += k == i;
		*causes |= 1u << s->stops[i].cause;
	}
	return count;
}

static void write_stops(const struct state *s, struct vpa_host_stops *out)
{
	size_t i;

	out->shortest_ns = UINT64_MAX;
	for (i = 0; i < s->count; i++) {
		const struct stop *stop = &s->stops[i];
		uint64_t ns = stop->end_ns - stop->start_ns;

		out->count++;
		vpt_sat_add_to(&out->ns, ns);
		vpt_sat_add_to(&out->cause_ns[stop->cause], ns);
		out->shortest_ns = ns < out->shortest_ns ? ns : out->shortest_ns;
		out->longest_ns = ns > out->longest_ns ? ns : out->longest_ns;
	}
}

/* ---- pauses ---- */

static int by_length(const void *pa, const void *pb)
{
	const struct stop *a = pa, *b = pb;
	uint64_t la = a->end_ns - a->start_ns, lb = b->end_ns - b->start_ns;

	if (la != lb)
		return la > lb ? -1 : 1;
	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

/* 0: it is in no range, or there is no room. */
static int add_place(struct vpa_report *out, struct vpa_pauses *p, const struct vpa_place *place)
{
	size_t i;

	if (!place->text || place->kind != VPA_PLACE_IN)
		return 0;
	for (i = 0; i < p->place_count; i++)
		if (!strcmp(p->places[i], place->text))
			return 1;
	if (!p->places)
		p->places = vpa_arena_alloc(&out->arena, VPA_PAUSE_PLACES, sizeof(*p->places));
	if (!p->places || p->place_count == VPA_PAUSE_PLACES)
		return 0;
	p->places[p->place_count++] = place->text;
	return 1;
}

static void put_pauses(struct vpa_report *out, const struct vpa_pauses *p)
{
	size_t at = out->pause_count;

	if (p->count < LEAST_PAUSES)
		return;
	while (at && out->pauses[at - 1].ns < p->ns)
		at--;
	if (at == VPA_PAUSES_MOST)
		return;
	if (out->pause_count < VPA_PAUSES_MOST)
		out->pause_count++;
	memmove(&out->pauses[at + 1], &out->pauses[at],
		(out->pause_count - at - 1) * sizeof(*out->pauses));
	out->pauses[at] = *p;
}

/* Groups host code by length, the longest first. */
static void write_pauses(
	const struct state *s, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_pauses p = {.count = 0};
	size_t i;

	out->pauses = vpa_arena_alloc(&out->arena, VPA_PAUSES_MOST, sizeof(*out->pauses));
	if (!out->pauses)
		return;
	qsort(s->stops, s->count, sizeof(*s->stops), by_length);
	for (i = 0; i < s->count; i++) {
		const struct stop *stop = &s->stops[i];
		uint64_t ns = stop->end_ns - stop->start_ns;
		struct vpa_place place;

		if (is_sure(stop))
			continue;
		if (p.count && ns < p.longest_ns - p.longest_ns / LENGTHS) {
			put_pauses(out, &p);
			p = (struct vpa_pauses){.count = 0};
		}
		place = vpa_fold_place(&out->arena, c->model, stop->place);
		if (!add_place(out, &p, &place))
			continue;
		p.longest_ns = p.count++ ? p.longest_ns : ns;
		p.shortest_ns = ns;
		vpt_sat_add_to(&p.ns, ns);
	}
	put_pauses(out, &p);
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct state *s = state;
	struct vpa_stop_clock clock = {0, 0};
	uint32_t causes = 0;
	size_t places;

	if (s->count)
		write_pauses(s, c, out);
	if (s->count < LEAST || c->model->device_count != 1)
		return VPT_OK;
	if (may_wait_elsewhere(c->model))
		keep(s, is_no_wait, clock);
	if (find_clock(s, &clock))
		return VPT_ENOMEM;
	keep(s, clock.every_ns ? is_in_time : is_sure_alone, clock);
	places = count_places(s, &causes);
	if (s->count < LEAST || places < LEAST_PLACES || !(causes & (causes - 1)) ||
		s->count > s->ops / OPS)
		return VPT_OK;
	write_stops(s, &out->host_stops);
	out->host_stops.places = places;
	out->host_stops.clock = clock;
	out->host_stops.causes = vpa_cause_times(
		&out->arena, out->host_stops.cause_ns, &out->host_stops.cause_count);
	return out->host_stops.causes ? VPT_OK : VPT_ENOMEM;
}

static void free_state(void *state)
{
	struct state *s = state;

	vpt_free(s->stops);
	vpt_free(s->ends_ns);
}

const struct vpa_fold vpa_fold_host_stops = {
	.name = "host_stops",
	.help = "idle time in which the host stood still, wherever it was",
	.state_bytes = sizeof(struct state),
	.ops = fold_ops,
	.gap = fold_gap,
	.gap_is_apart = 1,
	.finish = finish,
	.free = free_state,
};
