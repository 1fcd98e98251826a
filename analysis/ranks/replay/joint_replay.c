/* joint_replay.c - terms of ranks become links of events, which then come in the order in which the last rank came to each.
 *
 * An event is a row of a group or a collective without a partner, a *single*; the last one is the end of all ranks. How a rank is put has
 * one state: more than 600 lines. */
#include "analysis/ranks/replay/joint_replay.h"

#include "analysis/base/sort.h"
#include "analysis/ranks/replay/joint_links.h"
#include "analysis/ranks/rank/rank_threads.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/search.h"

#include <string.h>

#define NO_EVENT UINT32_MAX

struct single {
	uint32_t rank, item;
};

struct vpa_replay {
	const struct vpa_job *job;
	const struct vpa_job_rows *rows;
	struct single *singles; /* rank by rank */
	size_t single_count, single_cap;
	size_t *first_single;       /* by rank, and one more */
	struct vpa_numbered *order; /* events but the last one, by time */
	size_t event_count;         /* without the last one */
	struct vpa_links links;
	int scales_transfers;
	double transfers[VPA_COLLECTIVE_KINDS]; /* factors of them */
};

/* When the last one came to an event, as recorded. */
static inline int64_t event_time(const struct vpa_replay *p, uint32_t event)
{
	const struct single *s;

	if (event < p->rows->count)
		return p->rows->items[event].last_ns;
	s = &p->singles[event - p->rows->count];
	return vpa_clock_time(vpa_job_clock(p->job, s->rank),
		vpa_rank_start_ns(p->job->list.items[s->rank], s->item));
}

/* ---- events ---- */

/* Sets the events of a rank's collectives that are in rows, and of the others none. 0 or VPT_ENOMEM. */
static int mark_rows(const struct vpa_replay *p, struct vpa_replay_room *room, size_t rank)
{
	const struct vpa_matching *m = &p->job->matching;
	size_t count = p->job->list.items[rank]->collective_count, g, row;

	if (vpt_grow(&room->events, &room->event_cap, count + 1, sizeof(*room->events)))
		return VPT_ENOMEM;
	memset(room->events, 0xff, count * sizeof(*room->events));
	for (g = 0; g < m->group_count; g++) {
		const struct vpa_group *group = &m->groups[g];
		size_t k = vpa_group_member(group, rank);

		for (row = 0; k < group->rank_count && row < group->row_count; row++) {
			uint32_t item = vpa_group_cell(group, row, k);

			if (item != VPA_NO_COLLECTIVE)
				room->events[item] = (uint32_t)(p->rows->firsts[g] + row);
		}
	}
	return VPT_OK;
}

static int list_singles_of(struct vpa_replay *p, struct vpa_replay_room *room, size_t rank)
{
	size_t count = p->job->list.items[rank]->collective_count, i;

	if (mark_rows(p, room, rank))
		return VPT_ENOMEM;
	for (i = 0; i < count; i++) {
		if (room->events[i] != NO_EVENT)
			continue;
		if (vpt_grow(&p->singles, &p->single_cap, p->single_count + 1, sizeof(*p->singles)))
			return VPT_ENOMEM;
		p->singles[p->single_count++] = (struct single){(uint32_t)rank, (uint32_t)i};
	}
	return VPT_OK;
}

static int list_singles(struct vpa_replay *p)
{
	struct vpa_replay_room room = {.event_cap = 0};
	size_t r;
	int rc = VPT_OK;

	for (r = 0; r < p->job->rank_count && !rc; r++) {
		p->first_single[r] = p->single_count;
		if (p->job->matching.unmatched[r])
			rc = list_singles_of(p, &room, r);
	}
	p->first_single[r] = p->single_count;
	vpa_replay_room_free(&room);
	return rc;
}

enum { LISTED = 8192 /* events that a thread lists at a time */ };

static int list_events(void *ctx, unsigned thread, size_t task)
{
	struct vpa_replay *p = ctx;
	size_t i = task * LISTED, left = p->event_count - i;
	size_t end = i + (left < LISTED ? left : LISTED);

	(void)thread;
	for (; i < end; i++)
		p->order[i] = (struct vpa_numbered){event_time(p, (uint32_t)i), (uint32_t)i};
	return VPT_OK;
}

/* Those at the same time are in order of their numbers. */
static int order_events(struct vpa_replay *p, unsigned threads)
{
	p->event_count = p->rows->count + p->single_count;
	p->order = vpt_alloc(p->event_count + 1, sizeof(*p->order));
	if (!p->order || p->event_count >= NO_EVENT)
		return VPT_ENOMEM;
	vpa_in_threads(threads, (p->event_count + LISTED - 1) / LISTED, list_events, p);
	return vpa_sort_numbered(p->order, p->event_count);
}

int vpa_replay_new(const struct vpa_job *job, const struct vpa_job_rows *rows, unsigned lanes,
	unsigned threads, struct vpa_replay **out)
{
	struct vpa_replay *p = vpt_calloc(1, sizeof(*p));
	int rc;

	*out = p;
	if (!p)
		return VPT_ENOMEM;
	p->job = job;
	p->rows = rows;
	p->first_single = vpt_alloc(job->rank_count + 1, sizeof(*p->first_single));
	rc = p->first_single ? list_singles(p) : VPT_ENOMEM;
	if (!rc)
		rc = order_events(p, threads);
	return rc ? rc : vpa_links_init(&p->links, p->event_count + 1, lanes, threads);
}

void vpa_replay_free(struct vpa_replay *p)
{
	if (!p)
		return;
	vpt_free(p->singles);
	vpt_free(p->first_single);
	vpt_free(p->order);
	vpa_links_free(&p->links);
	vpt_free(p);
}

void vpa_replay_scale_transfers(struct vpa_replay *p, enum vpa_collective_kind kind, double factor)
{
	unsigned i;

	for (i = 0; i < VPA_COLLECTIVE_KINDS && !p->scales_transfers; i++)
		p->transfers[i] = 1;
	p->scales_transfers = 1;
	p->transfers[kind] *= factor;
}

/* ---- ranks ---- */

/* A rank that is put. */
struct putting {
	struct vpa_replay *replay;
	const struct vpa_replay_room *room;
	const struct vpa_rank *rank;
	const struct vpa_clock *clock;
	int64_t first_ns; /* when it begins, on the job's clock */
	const struct vpa_rank_detail *detail;
	const struct vpa_rank_cuts *cuts;
	int has_cuts[VPA_CUTS], is_usual;
	int with_paces; /* they may count */
	struct vpa_link_slab *held;
};

/* Sets when the last one came to each of the rank's collectives that are in rows, and what passes from then to the rank's end. */
static void set_items_of_rows(const struct vpa_replay *p, struct vpa_replay_room *room, size_t rank)
{
	const struct vpa_matching *m = &p->job->matching;
	const struct vpa_rank_times times = p->job->list.items[rank]->times;
	const struct vpa_clock clock = *vpa_job_clock(p->job, rank);
	struct vpa_replay_item *items = room->items;
	size_t g, row;

	for (g = 0; g < m->group_count; g++) {
		const struct vpa_group *group = &m->groups[g];
		const struct vpa_job_row *rows = &p->rows->items[p->rows->firsts[g]];
		size_t k = vpa_group_member(group, rank);

		for (row = 0; k < group->rank_count && row < group->row_count; row++) {
			uint32_t item = vpa_group_cell(group, row, k);
			uint64_t end_ns;

			if (item == VPA_NO_COLLECTIVE)
				continue;
			end_ns = vpa_rank_times_end(&times, item);
			items[item] = (struct vpa_replay_item){rows[row].last_ns,
				(int64_t)((uint64_t)vpa_clock_time(&clock, end_ns) -
					  (uint64_t)rows[row].last_ns)};
		}
	}
}

/* What passes from the last arrival to the first end is the transfer, the same on all ranks. A rank that leaves before the last one has
 * come, as in sends and receives, has none. */
static void scale_transfers(const struct vpa_replay *p, struct vpa_replay_room *room, size_t rank)
{
	const struct vpa_rank *r = p->job->list.items[rank];
	size_t i;

	for (i = 0; i < r->collective_count; i++) {
		const struct vpa_job_row *row = &p->rows->items[room->events[i]];
		double left = p->transfers[vpa_rank_key(r, i)->kind], less;

		if (room->events[i] >= p->rows->count || row->first_end_ns <= row->last_ns)
			continue;
		less = (1 - left) * (double)(row->first_end_ns - row->last_ns);
		room->items[i].rest_ns -= (int64_t)less;
		vpt_sat_add_to(&room->transfers_ns, (uint64_t)(less < 0 ? -less : less));
	}
}

/* The same of all. That of a single is its length by its own clock: it is beside no other one. 0 or VPT_ENOMEM. */
static int set_items(const struct vpa_replay *p, struct vpa_replay_room *room, size_t rank)
{
	const struct vpa_rank *r = p->job->list.items[rank];
	size_t i;

	if (vpt_grow(&room->items, &room->item_cap, r->collective_count + 1, sizeof(*room->items)))
		return VPT_ENOMEM;
	set_items_of_rows(p, room, rank);
	if (p->scales_transfers)
		scale_transfers(p, room, rank);
	for (i = p->first_single[rank]; i < p->first_single[rank + 1]; i++) {
		struct vpa_item_times span = vpa_rank_item_times(r, p->singles[i].item);

		room->items[p->singles[i].item] =
			(struct vpa_replay_item){event_time(p, (uint32_t)(p->rows->count + i)),
				(int64_t)(span.end_ns - span.start_ns)};
	}
	/* What comes after the last one is after all. */
	room->items[r->collective_count] = (struct vpa_replay_item){INT64_MAX, 0};
	return VPT_OK;
}

/* Whether the replay meets the event of item a of a rank before that of item b. */
static inline int is_before(const struct vpa_replay_room *room, size_t a, size_t b)
{
	int64_t x = room->items[a].at_ns, y = room->items[b].at_ns;

	return x != y ? x < y : room->events[a] < room->events[b];
}

/* What a term takes its cuts from. */
struct term_place {
	size_t item, from; /* the sums of a change between them are its cut, see job_change.h */
	unsigned list;     /* that of a pace, or VPA_PACES */
};

/* Whether a rank that is like the median follows its collective before alone: what it does longer may be hidden while it waits for
 * another late one, as host code ahead of its GPU is, and then it is in no time between collectives that a cut could take. */
static int follows_last(const struct putting *p, size_t item)
{
	return p->has_cuts[VPA_CUT_OWN] && item && item < p->rank->collective_count &&
	       vpa_rank_end_ns(p->rank, item - 1) <= vpa_rank_start_ns(p->rank, item) &&
	       is_before(p->room, item - 1, item);
}

/* What each cut takes away of a term. Of a pace, which only limits what is asked, other changes take all. */
static void set_cuts(const struct putting *p, const struct vpa_rank_term *x, struct term_place at,
	uint64_t less[VPA_CUTS])
{
	const int is_last = follows_last(p, at.item);
	unsigned cut;

	less[VPA_CUT_NONE] = 0;
	for (cut = VPA_CUT_COMMON; cut < VPA_CUTS; cut++) {
		if (!p->has_cuts[cut])
			less[cut] = 0;
		else if (at.list == VPA_PACES && !(cut == VPA_CUT_OWN && is_last))
			less[cut] =
				vpa_cut_of(&p->cuts->sums[cut], p->rank, at.from, at.item + 1, x);
		else if (cut == VPA_CUT_ASKED)
			less[cut] = (uint64_t)vpa_cut_of_pace(&p->cuts->sums[cut],
				(enum vpa_pace)at.list, at.from, at.item + 1, x);
		else
			less[cut] = x->ns > 0 ? (uint64_t)x->ns : 0;
	}
}

/* In each lane, `ns` less the cut. */
static void set_lanes(const struct putting *p, const struct vpa_rank_term *x,
	struct term_place place, uint64_t ns, int64_t at[VPA_LANES])
{
	uint64_t less[VPA_CUTS];
	unsigned l;

	set_cuts(p, x, place, less);
	for (l = 0; l < p->replay->links.lanes; l++)
		at[l] = (int64_t)(ns - less[p->cuts->of_lane[l]]);
}

/* Where matches are wrong the replay may not have met the collective before: then it ends as recorded. */
static uint64_t fixed_end(const struct putting *p, const struct vpa_rank_term *x)
{
	return x->after == VPA_RANK_START
		       ? (uint64_t)p->first_ns
		       : (uint64_t)vpa_clock_time(p->clock, vpa_rank_end_ns(p->rank, x->after));
}

/* A term of collective `item`, which is of an event; of what comes after the last one, of the last event. */
static int put_term(const struct putting *p, uint32_t event, size_t item,
	const struct vpa_rank_term *x, unsigned list)
{
	struct vpa_links *links = &p->replay->links;
	int is_start = x->after == VPA_RANK_START;
	struct term_place place = {item, is_start ? 0 : 1 + (size_t)x->after, list};
	int64_t at[VPA_LANES];

	if (!is_start && is_before(p->room, x->after, item)) {
		set_lanes(p, x, place, (uint64_t)x->ns + (uint64_t)p->room->items[x->after].rest_ns,
			at);
		return vpa_links_put(links, event, p->room->events[x->after], at, links->lanes);
	}
	set_lanes(p, x, place, (uint64_t)x->ns + fixed_end(p, x), at);
	vpa_lanes_join(&links->fixed_ns[(size_t)event * links->lanes], at, links->lanes);
	return VPT_OK;
}

static int put_terms(const struct putting *p, uint32_t event, size_t item, const size_t *ends,
	const struct vpa_rank_term *terms, unsigned list)
{
	size_t k, end = ends[item];
	int rc = VPT_OK;

	for (k = item ? ends[item - 1] : 0; k < end && !rc; k++)
		rc = put_term(p, event, item, &terms[k], list);
	return rc;
}

/* The time between a collective and the one before, less the cut, in the lanes of a rank that is like the median. */
static int put_last(const struct putting *p, uint32_t event, size_t item)
{
	struct vpa_links *links = &p->replay->links;
	struct vpa_rank_term x = {.after = (uint32_t)item - 1};
	int64_t at[VPA_LANES], less;
	unsigned l;

	x.ns = vpt_sat_diff(vpa_rank_start_ns(p->rank, item), vpa_rank_end_ns(p->rank, item - 1));
	less = (int64_t)vpa_cut_of(&p->cuts->sums[VPA_CUT_OWN], p->rank, item, item + 1, &x);
	for (l = 0; l < links->lanes; l++)
		at[l] = p->room->items[item - 1].rest_ns +
			(p->cuts->of_lane[l] == VPA_CUT_OWN ? x.ns - less : 0);
	return vpa_links_put(links, event, p->room->events[item - 1], at, links->lanes);
}

/* The slab of the event is held. */
static int put_collective(const struct putting *p, uint32_t event, size_t item)
{
	const struct vpa_rank_detail *d = p->detail;
	unsigned list;
	int rc = put_terms(p, event, item, d->term_ends, d->terms, VPA_PACES);

	for (list = 0; list < VPA_PACES && p->with_paces && !rc; list++)
		rc = put_terms(
			p, event, item, d->paces[list].term_ends, d->paces[list].terms, list);
	if (!rc && follows_last(p, item))
		rc = put_last(p, event, item);
	return rc;
}

/* The same of a rank that has the common cut only, where one rank is late and nothing is asked: of most ranks, as fast as it can be.
 * Its last lane is as the first one. */
enum { USUAL_LANES = VPA_LANE_OTHERS + 1 };

static inline void join_usual(int64_t *to, int64_t unchanged_ns, int64_t common_ns)
{
	int64_t *common = &to[VPA_LANE_COMMON], *other = &to[VPA_LANE_OTHERS];

	to[VPA_LANE_UNCHANGED] =
		unchanged_ns > to[VPA_LANE_UNCHANGED] ? unchanged_ns : to[VPA_LANE_UNCHANGED];
	*common = common_ns > *common ? common_ns : *common;
	*other = unchanged_ns > *other ? unchanged_ns : *other;
}

/* A link as of vpa_links_put(). */
static inline int link_usual(struct vpa_links *links, uint32_t event, uint32_t from,
	int64_t unchanged_ns, int64_t common_ns)
{
	const int64_t at[USUAL_LANES] = {[VPA_LANE_UNCHANGED] = unchanged_ns,
		[VPA_LANE_COMMON] = common_ns,
		[VPA_LANE_OTHERS] = unchanged_ns};

	if (links->from[event] != from)
		return vpa_links_put(links, event, from, at, USUAL_LANES);
	join_usual(&links->ns[(size_t)event * USUAL_LANES], unchanged_ns, common_ns);
	return VPT_OK;
}

/* What putting a usual rank reads again and again. */
struct usual {
	struct vpa_links *links;
	const struct vpa_rank_term *terms;
	const size_t *ends;
	const int64_t *busy, *idle;
	const struct vpa_replay_item *items;
	const uint32_t *events;
};

static inline int put_usual(
	const struct putting *p, const struct usual *u, uint32_t event, size_t item)
{
	const struct vpa_rank_term *x = &u->terms[item ? u->ends[item - 1] : 0];
	const struct vpa_rank_term *end = &u->terms[u->ends[item]];
	int64_t busy_ns = u->busy[item + 1], idle_ns = u->idle[item + 1];
	int rc = VPT_OK;

	for (; x < end && !rc; x++) {
		/* That of the rank's start is 0. */
		uint32_t from = x->after + 1;
		int64_t least = busy_ns - u->busy[from], less = idle_ns - u->idle[from];
		int64_t left = x->ns - less;
		uint64_t ns;

		least = least < x->ns ? least : x->ns;
		left = less <= 0 ? x->ns : left > least ? left : least;
		if (from && is_before(p->room, x->after, item)) {
			ns = (uint64_t)u->items[x->after].rest_ns;
			rc = link_usual(u->links, event, u->events[x->after],
				(int64_t)(ns + (uint64_t)x->ns), (int64_t)(ns + (uint64_t)left));
			continue;
		}
		ns = fixed_end(p, x);
		join_usual(&u->links->fixed_ns[(size_t)event * USUAL_LANES],
			(int64_t)(ns + (uint64_t)x->ns), (int64_t)(ns + (uint64_t)left));
	}
	return rc;
}

static int put_usual_rows(
	struct putting *p, const struct vpa_group *g, size_t first_event, size_t k)
{
	const struct usual u = {&p->replay->links, p->detail->terms, p->detail->term_ends,
		p->cuts->sums[VPA_CUT_COMMON].busy_ns, p->cuts->sums[VPA_CUT_COMMON].less_idle_ns,
		p->room->items, p->room->events};
	const uint32_t *column = g->columns[k];
	size_t row;
	int rc = VPT_OK;

	for (row = 0; row < g->row_count && !rc; row++) {
		uint32_t event = (uint32_t)(first_event + row);

		if (column[row] == VPA_NO_COLLECTIVE)
			continue;
		vpa_links_hold(&p->replay->links, &p->held, event);
		rc = put_usual(p, &u, event, column[row]);
	}
	return rc;
}

/* The rows of a group that member k has. */
static int put_rows(struct putting *p, const struct vpa_group *g, size_t first_event, size_t k)
{
	size_t row;
	int rc = VPT_OK;

	for (row = 0; row < g->row_count && !rc; row++) {
		uint32_t item = vpa_group_cell(g, row, k), event = (uint32_t)(first_event + row);

		if (item == VPA_NO_COLLECTIVE)
			continue;
		vpa_links_hold(&p->replay->links, &p->held, event);
		rc = put_collective(p, event, item);
	}
	return rc;
}

static int put_single(struct putting *p, size_t event, size_t item)
{
	vpa_links_hold(&p->replay->links, &p->held, (uint32_t)event);
	return put_collective(p, (uint32_t)event, item);
}

/* Group by group, so that locks change rarely. */
static int put_all(struct putting *p, size_t rank)
{
	const struct vpa_replay *replay = p->replay;
	const struct vpa_matching *m = &replay->job->matching;
	size_t g, i;
	int rc = VPT_OK;

	for (g = 0; g < m->group_count && !rc; g++) {
		size_t k = vpa_group_member(&m->groups[g], rank);

		if (k < m->groups[g].rank_count)
			rc = (p->is_usual ? put_usual_rows : put_rows)(
				p, &m->groups[g], replay->rows->firsts[g], k);
	}
	for (i = replay->first_single[rank]; i < replay->first_single[rank + 1] && !rc; i++)
		rc = put_single(p, replay->rows->count + i, replay->singles[i].item);
	return rc ? rc : put_single(p, replay->event_count, p->rank->collective_count);
}

int vpa_replay_put(struct vpa_replay *p, struct vpa_replay_room *room, size_t rank,
	const struct vpa_rank_detail *d, const struct vpa_rank_cuts *cuts)
{
	struct putting put = {.replay = p,
		.room = room,
		.rank = p->job->list.items[rank],
		.clock = vpa_job_clock(p->job, rank),
		.detail = d,
		.cuts = cuts};
	unsigned cut;
	size_t i;
	int rc;

	put.first_ns = vpa_clock_time(put.clock, put.rank->first_ns);
	for (cut = 0; cut < VPA_CUTS; cut++)
		put.has_cuts[cut] = cuts->sums[cut].less_idle_ns != NULL;
	put.with_paces = put.rank->has_paces && cuts->sums[VPA_CUT_ASKED].asked;
	put.is_usual = p->links.lanes == USUAL_LANES && !put.has_cuts[VPA_CUT_OWN] &&
		       !put.has_cuts[VPA_CUT_ASKED];
	if (mark_rows(p, room, rank))
		return VPT_ENOMEM;
	for (i = p->first_single[rank]; i < p->first_single[rank + 1]; i++)
		room->events[p->singles[i].item] = (uint32_t)(p->rows->count + i);
	room->events[put.rank->collective_count] = (uint32_t)p->event_count;
	if (set_items(p, room, rank))
		return VPT_ENOMEM;
	rc = put_all(&put, rank);
	vpa_links_release(put.held);
	return rc;
}

void vpa_replay_room_free(struct vpa_replay_room *room)
{
	vpt_free(room->events);
	vpt_free(room->items);
}

/* ---- the replay ---- */

/* Where in the order of events a stretch begins and ends; both NO_EVENT: there is none. */
struct measured {
	uint32_t from, to;
	int64_t from_ns[VPA_LANES], to_ns[VPA_LANES];
};

/* The last event before this time; NO_EVENT: none. */
static uint32_t last_before(const struct vpa_replay *p, int64_t ns)
{
	size_t low = 0, high = p->event_count;

	VPT_SEARCH(low, high, middle, p->order[middle].number < ns);
	return low ? (uint32_t)low - 1 : NO_EVENT;
}

static struct measured measured_of(const struct vpa_replay *p, struct vpa_replay_stretch of)
{
	struct measured out = {.from = NO_EVENT, .to = NO_EVENT};
	int64_t ns = 0;

	if (of.to_ns <= of.from_ns)
		return out;
	out.from = last_before(p, of.from_ns);
	out.to = last_before(p, of.to_ns);
	if (out.from != NO_EVENT)
		ns = vpt_sat_diff_i64(p->order[out.to].number, p->order[out.from].number);
	if (ns < of.least_ns || ns > of.most_ns)
		out.from = out.to = NO_EVENT;
	return out;
}

static int64_t first_start(const struct vpa_replay *p)
{
	int64_t first_ns = INT64_MAX;
	size_t r;

	for (r = 0; r < p->job->rank_count; r++) {
		int64_t ns =
			vpa_clock_time(vpa_job_clock(p->job, r), p->job->list.items[r]->first_ns);

		first_ns = ns < first_ns ? ns : first_ns;
	}
	return first_ns;
}

static uint64_t apart(int64_t a, int64_t b)
{
	return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

enum { EXPECTED = 16 /* events ahead: as long as memory takes */ };

void vpa_replay_run(
	struct vpa_replay *p, struct vpa_replay_stretch stretch, struct vpa_replayed *out)
{
	struct measured of = measured_of(p, stretch);
	size_t size = p->links.lanes * sizeof(of.to_ns[0]);
	int64_t first_ns = first_start(p);
	const int64_t *at;
	unsigned l;
	uint32_t i;

	out->error_ns = 0;
	for (i = 0; i < p->event_count; i++) {
		uint64_t error_ns;

		if (i + EXPECTED < p->event_count)
			vpa_links_expect(&p->links, p->order[i + EXPECTED].of);
		at = vpa_links_arrive(&p->links, p->order[i].of);
		error_ns = apart(at[VPA_LANE_UNCHANGED], p->order[i].number);
		out->error_ns = error_ns > out->error_ns ? error_ns : out->error_ns;
		if (i == of.from)
			memcpy(of.from_ns, at, size);
		if (i == of.to)
			memcpy(of.to_ns, at, size);
	}
	at = vpa_links_arrive(&p->links, (uint32_t)p->event_count);
	out->is_of_stretch = of.from != NO_EVENT;
	for (l = 0; l < p->links.lanes; l++)
		out->ns[l] = out->is_of_stretch
				     ? (int64_t)((uint64_t)of.to_ns[l] - (uint64_t)of.from_ns[l])
				     : (int64_t)((uint64_t)at[l] - (uint64_t)first_ns);
}
