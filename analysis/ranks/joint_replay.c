/* joint_replay.c - events in the order in which the last rank came to each; of each rank, a stream of them.
 *
 *	event     how many further than the one before
 *	terms     how many, and how many further the collective is than the one after the one before
 *	a term    how much earlier than the start it is, and whether it is of the collective before; if not, how many back, 0 is
 *	          the rank's start; cuts
 *
 * The rest follows from the rank's times. The latest ends of a rank are in a ring that is as long as its terms look back. The
 * replay exists in versions for several kinds of processors, each with all that it calls, so this file is long. */
#include "analysis/ranks/joint_replay.h"

#include "analysis/base/sort.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/search.h"
#include "formats/base/vectorise.h"

#include <string.h>

/* A row of a group, or a collective without a partner. */
struct event {
	uint32_t group; /* UINT32_MAX: single */
	uint32_t row;   /* or which single one */
};

/* An event, to be sorted: when the last one came, as recorded. */
struct arrival {
	int64_t at_ns;
	struct event event;
};

struct single {
	uint32_t rank, item;
};

struct lanes {
	int64_t ns[VPA_LANES];
};

struct stream {
	const struct vpa_rank *rank;
	const struct vpa_clock *clock;
	unsigned char *bytes; /* a column */
	size_t size, count;
	struct vpa_number_column column;
	struct lanes *ring;   /* the first: the rank's start */
	uint32_t *ring_items; /* whose end is in each place of the ring; UINT32_MAX: nobody's */
	size_t mask;
	struct lanes masks[VPA_CUTS]; /* of each cut, all bits of the lanes that have it */
	uint32_t event, item, terms;  /* the next ones; event UINT32_MAX: the rank's end */
	int has[VPA_CUTS];            /* 0: it has no such cut */
};

struct vpa_replay {
	const struct vpa_job *job;
	const struct vpa_job_rows *rows;
	struct event *events;
	size_t event_count;
	struct single *singles;
	size_t single_count, single_cap;
	size_t *first_single;              /* by rank, and one more */
	uint32_t *event_of_row, *event_of; /* by row; by single one */
	struct stream *streams;            /* by rank */
};

/* ---- events ---- */

static int by_time(const void *a, const void *b)
{
	const struct arrival *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	if (x->event.group != y->event.group)
		return x->event.group < y->event.group ? -1 : 1;
	return (x->event.row > y->event.row) - (x->event.row < y->event.row);
}

static int64_t arrival_of(const struct vpa_replay *p, struct event e)
{
	const struct single *s;

	if (e.group != UINT32_MAX)
		return p->rows->items[p->rows->firsts[e.group] + e.row].last_ns;
	s = &p->singles[e.row];
	return vpa_clock_time(vpa_job_clock(p->job, s->rank),
		vpa_rank_start_ns(p->job->list.items[s->rank], s->item));
}

/* Marks the collectives of a rank that are in rows. */
static void mark_rows(const struct vpa_replay *p, size_t rank, uint32_t *out)
{
	const struct vpa_matching *m = &p->job->matching;
	size_t g, k, row;

	memset(out, 0xff, p->job->list.items[rank]->collective_count * sizeof(*out));
	for (g = 0; g < m->group_count; g++) {
		const struct vpa_group *group = &m->groups[g];

		for (k = 0; k < group->rank_count && group->ranks[k] < rank; k++)
			;
		for (row = 0;
			k < group->rank_count && group->ranks[k] == rank && row < group->row_count;
			row++)
			if (vpa_group_cell(group, row, k) != VPA_NO_COLLECTIVE)
				out[vpa_group_cell(group, row, k)] =
					(uint32_t)(p->rows->firsts[g] + row);
	}
}

static int list_singles_of(struct vpa_replay *p, size_t rank, uint32_t **rows, size_t *cap)
{
	size_t count = p->job->list.items[rank]->collective_count, i;

	if (vpt_grow(rows, cap, count + 1, sizeof(**rows)))
		return VPT_ENOMEM;
	mark_rows(p, rank, *rows);
	for (i = 0; i < count; i++) {
		if ((*rows)[i] != UINT32_MAX)
			continue;
		if (vpt_grow(&p->singles, &p->single_cap, p->single_count + 1, sizeof(*p->singles)))
			return VPT_ENOMEM;
		p->singles[p->single_count++] = (struct single){(uint32_t)rank, (uint32_t)i};
	}
	return VPT_OK;
}

static int list_singles(struct vpa_replay *p)
{
	uint32_t *rows = NULL;
	size_t cap = 0, r;
	int rc = VPT_OK;

	for (r = 0; r < p->job->rank_count && !rc; r++) {
		p->first_single[r] = p->single_count;
		if (p->job->matching.unmatched[r])
			rc = list_singles_of(p, r, &rows, &cap);
	}
	vpt_free(rows);
	return rc;
}

static void put_arrival(const struct vpa_replay *p, struct arrival *out, size_t group, size_t row)
{
	out->event = (struct event){(uint32_t)group, (uint32_t)row};
	out->at_ns = arrival_of(p, out->event);
}

static int list_events(struct vpa_replay *p)
{
	const struct vpa_matching *m = &p->job->matching;
	struct arrival *arrivals;
	size_t g, i, n = 0;
	int rc = VPT_OK;

	p->event_count = p->rows->count + p->single_count;
	arrivals = vpt_alloc(p->event_count + 1, sizeof(*arrivals));
	p->events = vpt_alloc(p->event_count + 1, sizeof(*p->events));
	p->event_of_row = vpt_alloc(p->rows->count + 1, sizeof(*p->event_of_row));
	p->event_of = vpt_alloc(p->single_count + 1, sizeof(*p->event_of));
	if (!arrivals || !p->events || !p->event_of_row || !p->event_of ||
		p->event_count >= UINT32_MAX)
		rc = VPT_ENOMEM;
	for (g = 0; g < m->group_count && !rc; g++)
		for (i = 0; i < m->groups[g].row_count; i++)
			put_arrival(p, &arrivals[n++], g, i);
	for (i = 0; i < p->single_count && !rc; i++)
		put_arrival(p, &arrivals[n++], UINT32_MAX, i);
	rc = rc ? rc : vpa_sort(arrivals, n, sizeof(*arrivals), by_time);
	for (i = 0; i < n && !rc; i++) {
		const struct event *e = &arrivals[i].event;

		p->events[i] = *e;
		if (e->group == UINT32_MAX)
			p->event_of[e->row] = (uint32_t)i;
		else
			p->event_of_row[p->rows->firsts[e->group] + e->row] = (uint32_t)i;
	}
	vpt_free(arrivals);
	return rc;
}

int vpa_replay_new(
	const struct vpa_job *job, const struct vpa_job_rows *rows, struct vpa_replay **out)
{
	struct vpa_replay *p = vpt_calloc(1, sizeof(*p));

	*out = p;
	if (!p)
		return VPT_ENOMEM;
	p->job = job;
	p->rows = rows;
	p->streams = vpt_calloc(job->rank_count + 1, sizeof(*p->streams));
	p->first_single = vpt_alloc(job->rank_count + 1, sizeof(*p->first_single));
	if (!p->streams || !p->first_single || list_singles(p))
		return VPT_ENOMEM;
	return list_events(p);
}

void vpa_replay_free(struct vpa_replay *p)
{
	size_t r;

	if (!p)
		return;
	for (r = 0; p->streams && r < p->job->rank_count; r++) {
		vpt_free(p->streams[r].bytes);
		vpt_free(p->streams[r].ring);
		vpt_free(p->streams[r].ring_items);
	}
	vpt_free(p->streams);
	vpt_free(p->events);
	vpt_free(p->singles);
	vpt_free(p->first_single);
	vpt_free(p->event_of_row);
	vpt_free(p->event_of);
	vpt_free(p);
}

/* ---- streams ---- */

/* By event, by item: a rank meets its collectives in the order of events. */
struct vpa_met {
	uint32_t event, item;
};

static int by_event(const void *a, const void *b)
{
	const struct vpa_met *x = a, *y = b;

	return (x->event > y->event) - (x->event < y->event);
}

static int list_met(const struct vpa_replay *p, struct vpa_replay_room *room, size_t rank)
{
	size_t n = p->job->list.items[rank]->collective_count, single = p->first_single[rank], i;

	if (vpt_grow(&room->met, &room->met_cap, n + 1, sizeof(*room->met)) ||
		vpt_grow(&room->rows, &room->row_cap, n + 1, sizeof(*room->rows)))
		return VPT_ENOMEM;
	mark_rows(p, rank, room->rows);
	for (i = 0; i < n; i++) {
		uint32_t row = room->rows[i];

		room->met[i] = (struct vpa_met){
			row == UINT32_MAX ? p->event_of[single++] : p->event_of_row[row],
			(uint32_t)i};
	}
	return vpa_sort(room->met, n, sizeof(*room->met), by_event);
}

/* Lists of terms of an item: those of the paces, where they may count, and those of the recording, the last one. */
struct item_terms {
	struct {
		const struct vpa_rank_term *items;
		size_t count;
	} lists[VPA_PACES + 1];
};

static int paces_count(const struct vpa_rank *r, const struct vpa_cut_sums *cuts)
{
	return r->has_paces && cuts[VPA_CUT_ASKED].asked;
}

static struct item_terms terms_of(const struct vpa_rank *r, const struct vpa_rank_detail *d,
	size_t i, const struct vpa_cut_sums *cuts)
{
	size_t from = i ? d->term_ends[i - 1] : 0, k;
	struct item_terms out = {.lists[VPA_PACES] = {d->terms + from, d->term_ends[i] - from}};

	for (k = 0; k < VPA_PACES && paces_count(r, cuts); k++) {
		const struct vpa_rank_pace *p = &d->paces[k];

		from = i ? p->term_ends[i - 1] : 0;
		out.lists[k].items = p->terms + from;
		out.lists[k].count = p->term_ends[i] - from;
	}
	return out;
}

static size_t count_terms(const struct item_terms *t)
{
	size_t count = 0, k;

	for (k = 0; k <= VPA_PACES; k++)
		count += t->lists[k].count;
	return count;
}

static void put_term(struct vpa_numbers *w, const struct vpa_rank *r, const struct vpa_rank_term *x,
	size_t i, unsigned list, const struct vpa_cut_sums *cuts, size_t *back_most)
{
	uint64_t at_ns = i < r->collective_count ? vpa_rank_start_ns(r, i) : r->last_ns;
	size_t from = x->after == VPA_RANK_START ? 0 : 1 + (size_t)x->after;
	size_t back = from ? i - x->after : 0, cut;
	int64_t early_ns =
		(int64_t)(at_ns - (from ? vpa_rank_end_ns(r, x->after) : r->first_ns)) - x->ns;

	vpa_add_number(w, vpa_from_signed(early_ns) << 1 | (back != 1));
	if (back != 1)
		vpa_add_number(w, back);
	for (cut = 0; cut < VPA_CUTS; cut++)
		if (cuts[cut].less_idle_ns)
			vpa_add_number(w, list == VPA_PACES
						  ? vpa_cut_of(&cuts[cut], r, from, i + 1, x)
						  : (uint64_t)vpa_cut_of_pace(
							    &cuts[cut], list, from, i + 1, x));
	*back_most = back > *back_most ? back : *back_most;
}

static void put_terms(struct vpa_numbers *w, const struct vpa_rank *r,
	const struct vpa_rank_detail *d, size_t i, const struct vpa_cut_sums *cuts,
	size_t *back_most)
{
	struct item_terms terms = terms_of(r, d, i, cuts);
	unsigned list;
	size_t k;

	for (list = 0; list <= VPA_PACES; list++)
		for (k = 0; k < terms.lists[list].count; k++)
			put_term(w, r, &terms.lists[list].items[k], i, list, cuts, back_most);
}

/* Of the terms of an item, where `next` was to be expected. */
static uint64_t head_of(const struct vpa_rank *r, const struct vpa_rank_detail *d,
	const struct vpa_cut_sums *cuts, size_t item, size_t next)
{
	struct item_terms of = terms_of(r, d, item, cuts);
	uint64_t terms = count_terms(&of);

	return vpa_from_signed((int64_t)item - (int64_t)next) << 32 | terms;
}

static int put_stream(struct vpa_replay *p, struct vpa_replay_room *room, size_t rank,
	const struct vpa_rank_detail *d, const struct vpa_cut_sums *cuts)
{
	const struct vpa_rank *r = p->job->list.items[rank];
	struct stream *s = &p->streams[rank];
	size_t n = r->collective_count, i, back = 0, late = 0, most = 0, terms = d->term_ends[n];
	struct vpa_number_writer w = {.out = &room->bytes};
	struct vpa_numbers *numbers = &room->numbers;
	uint32_t event = 0, item = 0;

	for (i = 0; i < VPA_PACES && paces_count(r, cuts); i++)
		terms += d->paces[i].term_ends[n];
	if (!vpa_room_for_numbers(numbers, 4 * (n + 1) + (2 + VPA_CUTS) * terms))
		return VPT_ENOMEM;
	for (i = 0; i < n; i++) {
		const struct vpa_met *m = &room->met[i];

		vpa_add_number(numbers, m->event - event);
		vpa_add_number(numbers, head_of(r, d, cuts, m->item, item));
		put_terms(numbers, r, d, m->item, cuts, &back);
		event = m->event;
		item = m->item + 1;
		most = item > most ? item : most;
		late = most - m->item > late ? most - m->item : late;
	}
	vpa_add_number(numbers, UINT32_MAX - event);
	vpa_add_number(numbers, head_of(r, d, cuts, n, item));
	put_terms(numbers, r, d, n, cuts, &back);
	for (s->mask = 1; s->mask < back + late + 1; s->mask *= 2)
		;
	s->ring = vpt_alloc(s->mask + 1, sizeof(*s->ring));
	s->ring_items = vpt_alloc(s->mask, sizeof(*s->ring_items));
	s->mask--;
	s->count = numbers->count;
	vpa_put_number_column(&w, numbers);
	s->bytes = w.failed ? NULL : vpt_alloc(room->bytes.size + VPA_COLUMN_PADDING, 1);
	if (s->bytes)
		memcpy(s->bytes, room->bytes.data, room->bytes.size);
	s->size = room->bytes.size;
	room->bytes.size = 0;
	return s->bytes && s->ring && s->ring_items ? VPT_OK : VPT_ENOMEM;
}

int vpa_replay_put(struct vpa_replay *p, struct vpa_replay_room *room, size_t rank,
	const struct vpa_rank_detail *d, const struct vpa_cut_sums cuts[VPA_CUTS])
{
	size_t cut;

	p->streams[rank].rank = p->job->list.items[rank];
	p->streams[rank].clock = vpa_job_clock(p->job, rank);
	for (cut = 0; cut < VPA_CUTS; cut++)
		p->streams[rank].has[cut] = cuts[cut].less_idle_ns != NULL;
	return list_met(p, room, rank) ? VPT_ENOMEM : put_stream(p, room, rank, d, cuts);
}

void vpa_replay_room_free(struct vpa_replay_room *room)
{
	vpt_free(room->numbers.items);
	vpt_free(room->bytes.data);
	vpt_free(room->rows);
	vpt_free(room->met);
}

void vpa_replay_select(struct vpa_replay *p, unsigned lane, size_t rank, enum vpa_cut cut)
{
	p->streams[rank].masks[cut].ns[lane] = -1;
}

/* ---- the replay ---- */

/* Versions of the replay for several kinds of processors: what it calls becomes part of each. */
#define PART static inline __attribute__((always_inline))

/* at = max(at, from + ns - what the change of each lane takes away). Sums of what a file says may wrap. */
PART void join_term(struct lanes *restrict at, const struct lanes *restrict from, int64_t ns,
	const int64_t *cuts, const struct lanes *restrict masks)
{
	unsigned l;

	for (l = 0; l < VPA_LANES; l++) {
		uint64_t less = (uint64_t)(cuts[0] & masks[0].ns[l]) +
				(uint64_t)(cuts[1] & masks[1].ns[l]) +
				(uint64_t)(cuts[2] & masks[2].ns[l]);
		int64_t to = (int64_t)((uint64_t)from->ns[l] + (uint64_t)ns - less);

		at->ns[l] = to > at->ns[l] ? to : at->ns[l];
	}
}

/* The end of an earlier collective. Where matches are wrong the replay may not have met it: then as recorded. */
PART const struct lanes *end_before(const struct stream *s, uint32_t item, struct lanes *room)
{
	unsigned l;

	if (s->ring_items[item & s->mask] == item)
		return &s->ring[1 + (item & s->mask)];
	for (l = 0; l < VPA_LANES; l++)
		room->ns[l] = vpa_clock_time(s->clock, vpa_rank_end_ns(s->rank, item));
	return room;
}

/* Joins the arrival of a rank. */
PART void arrive(struct stream *s, struct lanes *at)
{
	struct vpa_number_column c = s->column;
	uint64_t at_ns = s->item < s->rank->collective_count ? vpa_rank_start_ns(s->rank, s->item)
							     : s->rank->last_ns;
	uint32_t terms = s->terms;
	struct lanes room;
	unsigned cut;

	for (; terms; terms--) {
		uint64_t coded = vpa_next_number(&c), back = coded & 1 ? vpa_next_number(&c) : 1;
		uint64_t after_ns =
			back ? vpa_rank_end_ns(s->rank, s->item - back) : s->rank->first_ns;
		int64_t cuts[VPA_CUTS] = {0};

		for (cut = 0; cut < VPA_CUTS; cut++)
			if (s->has[cut])
				cuts[cut] = (int64_t)vpa_next_number(&c);
		join_term(at, back ? end_before(s, s->item - (uint32_t)back, &room) : &s->ring[0],
			(int64_t)(at_ns - after_ns - (uint64_t)vpa_to_signed(coded >> 1)), cuts,
			s->masks);
	}
	s->column = c;
}

PART void next_event(struct stream *s)
{
	uint64_t head;

	s->event += (uint32_t)vpa_next_number(&s->column);
	head = vpa_next_number(&s->column);
	s->item += (uint32_t)vpa_to_signed(head >> 32);
	s->terms = (uint32_t)head;
}

/* It leaves so much after the last one came. */
PART void leave(struct stream *s, const struct lanes *last, int64_t rest_ns)
{
	struct lanes *end = &s->ring[1 + (s->item & s->mask)];
	unsigned l;

	for (l = 0; l < VPA_LANES; l++)
		end->ns[l] = (int64_t)((uint64_t)last->ns[l] + (uint64_t)rest_ns);
	s->ring_items[s->item & s->mask] = s->item;
	s->item++;
	next_event(s);
}

PART int64_t end_of(const struct stream *s)
{
	return vpa_clock_time(s->clock, vpa_rank_end_ns(s->rank, s->item));
}

static const struct lanes never = {
	{INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN}};

PART void run_row(struct vpa_replay *p, uint32_t e, int64_t at_ns, struct lanes *last)
{
	const struct vpa_group *g = &p->job->matching.groups[p->events[e].group];
	size_t k;

	for (k = 0; k < g->rank_count; k++)
		if (p->streams[g->ranks[k]].event == e)
			arrive(&p->streams[g->ranks[k]], last);
	for (k = 0; k < g->rank_count; k++) {
		struct stream *s = &p->streams[g->ranks[k]];

		if (s->event == e)
			leave(s, last, end_of(s) - at_ns);
	}
}

PART void run_single(struct vpa_replay *p, uint32_t e, struct lanes *last)
{
	struct stream *s = &p->streams[p->singles[p->events[e].row].rank];

	arrive(s, last);
	leave(s, last,
		(int64_t)(vpa_rank_end_ns(s->rank, s->item) - vpa_rank_start_ns(s->rank, s->item)));
}

/* From this event to that one; both UINT32_MAX: all. */
struct measured {
	uint32_t from, to;
	struct lanes from_ns, to_ns;
};

VPT_VECTORISE static void run_events(
	struct vpa_replay *p, struct measured *of, struct lanes *end, uint64_t *error_ns)
{
	size_t r;
	uint32_t e;

	for (e = 0, *error_ns = 0; e < p->event_count; e++) {
		struct lanes last = never;
		int64_t at_ns = arrival_of(p, p->events[e]);
		uint64_t error;

		if (p->events[e].group == UINT32_MAX)
			run_single(p, e, &last);
		else
			run_row(p, e, at_ns, &last);
		error = last.ns[0] > at_ns ? (uint64_t)last.ns[0] - (uint64_t)at_ns
					   : (uint64_t)at_ns - (uint64_t)last.ns[0];
		*error_ns = error > *error_ns ? error : *error_ns;
		if (e == of->from)
			of->from_ns = last;
		if (e == of->to)
			of->to_ns = last;
	}
	for (r = 0; r < p->job->rank_count; r++)
		arrive(&p->streams[r], end);
}

/* The last event before this time; UINT32_MAX: none. */
static uint32_t last_before(const struct vpa_replay *p, int64_t ns)
{
	size_t low = 0, high = p->event_count;

	VPT_SEARCH(low, high, middle, arrival_of(p, p->events[middle]) < ns);
	return low ? (uint32_t)low - 1 : UINT32_MAX;
}

static struct measured measured_of(const struct vpa_replay *p, struct vpa_replay_stretch of)
{
	struct measured out = {UINT32_MAX, UINT32_MAX, never, never};
	int64_t ns = 0;

	if (of.to_ns <= of.from_ns)
		return out;
	out.from = last_before(p, of.from_ns);
	out.to = last_before(p, of.to_ns);
	if (out.from != UINT32_MAX)
		ns = vpt_sat_diff_i64(
			arrival_of(p, p->events[out.to]), arrival_of(p, p->events[out.from]));
	if (ns < of.least_ns || ns > of.most_ns)
		out.from = out.to = UINT32_MAX;
	return out;
}

int vpa_replay_run(struct vpa_replay *p, struct vpa_replay_stretch stretch, int64_t ns[VPA_LANES],
	uint64_t *error_ns)
{
	struct measured of = measured_of(p, stretch);
	struct lanes end = never;
	int64_t first_ns = INT64_MAX, start_ns;
	size_t r;
	unsigned l;

	for (r = 0; r < p->job->rank_count; r++) {
		struct stream *s = &p->streams[r];

		struct vpa_number_reader reader = {
			.begin = s->bytes, .at = s->bytes, .end = s->bytes + s->size};

		vpa_begin_number_column(&reader, s->count, &s->column);
		s->event = s->item = 0;
		memset(s->ring_items, 0xff, (s->mask + 1) * sizeof(*s->ring_items));
		next_event(s);
		start_ns =
			vpa_clock_time(vpa_job_clock(p->job, r), p->job->list.items[r]->first_ns);
		for (l = 0; l < VPA_LANES; l++)
			s->ring[0].ns[l] = start_ns;
		first_ns = start_ns < first_ns ? start_ns : first_ns;
	}
	run_events(p, &of, &end, error_ns);
	for (l = 0; l < VPA_LANES; l++)
		ns[l] = of.from == UINT32_MAX
				? (int64_t)((uint64_t)end.ns[l] - (uint64_t)first_ns)
				: (int64_t)((uint64_t)of.to_ns.ns[l] - (uint64_t)of.from_ns.ns[l]);
	return of.from != UINT32_MAX;
}
