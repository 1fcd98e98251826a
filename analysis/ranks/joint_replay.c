/* joint_replay.c - events in the order in which the last rank came to each; of each rank, a stream of the terms of its collectives in
 * that order, see joint_stream.h. The latest ends of a rank are in a ring that is as long as its terms look back. */
#include "analysis/ranks/joint_stream.h"

#include "analysis/base/sort.h"
#include "formats/base/memory.h"

#include <string.h>

/* An event, to be sorted: when the last one came, as recorded. */
struct arrival {
	int64_t at_ns;
	struct vpa_event event;
};

enum { TERM_BYTES_MOST = 1 + 4 + 8 + 8 * VPA_CUTS };

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
		p->singles[p->single_count++] = (struct vpa_single){(uint32_t)rank, (uint32_t)i};
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
	out->event = (struct vpa_event){(uint32_t)group, (uint32_t)row};
	out->at_ns = vpa_event_time(p, out->event);
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
		const struct vpa_event *e = &arrivals[i].event;

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

/* Nearly always it meets them in the order in which they start. */
static int list_met(const struct vpa_replay *p, struct vpa_replay_room *room, size_t rank)
{
	size_t n = p->job->list.items[rank]->collective_count, single = p->first_single[rank], i;
	uint32_t before = 0;
	int is_sorted = 1;

	if (vpt_grow(&room->met, &room->met_cap, n + 1, sizeof(*room->met)) ||
		vpt_grow(&room->rows, &room->row_cap, n + 1, sizeof(*room->rows)))
		return VPT_ENOMEM;
	mark_rows(p, rank, room->rows);
	for (i = 0; i < n; i++) {
		uint32_t row = room->rows[i];
		uint32_t event = row == UINT32_MAX ? p->event_of[single++] : p->event_of_row[row];

		room->met[i] = (struct vpa_met){event, (uint32_t)i};
		is_sorted &= event >= before;
		before = event;
	}
	return is_sorted ? VPT_OK : vpa_sort(room->met, n, sizeof(*room->met), by_event);
}

/* A rank that is put: what of it, where to, and how far its terms look back so far. */
struct putting {
	const struct vpa_rank *rank;
	const struct vpa_rank_detail *detail;
	const struct vpa_cut_sums *cuts;
	int with_paces; /* they may count */
	unsigned char *at;
	size_t back_most;
};

static inline unsigned char *put_bytes(unsigned char *at, uint64_t n, int is_wide)
{
	uint32_t narrow = (uint32_t)n;

	if (is_wide) {
		memcpy(at, &n, sizeof(n));
		return at + sizeof(n);
	}
	memcpy(at, &narrow, sizeof(narrow));
	return at + sizeof(narrow);
}

/* What a term takes its cuts from. */
struct term_place {
	size_t item, from; /* the sums of a change between them are its cut, see job_change.h */
	unsigned list;     /* that of a pace, or VPA_PACES */
};

/* Versions of what puts a stream: for ranks that have the common cut only, which nearly all are, and for others. */
#define PART static inline __attribute__((always_inline))

/* Sets the cuts that are written; returns how many. */
PART size_t set_cuts(const struct putting *p, int is_common, const struct vpa_rank_term *x,
	struct term_place at, int64_t cuts[VPA_CUTS])
{
	size_t first = at.list == VPA_PACES ? 0 : VPA_CUT_ASKED, count = 0, cut;

	if (is_common) {
		cuts[0] = (int64_t)vpa_cut_of(
			&p->cuts[VPA_CUT_COMMON], p->rank, at.from, at.item + 1, x);
		return 1;
	}
	for (cut = first; cut < VPA_CUTS; cut++)
		if (p->cuts[cut].less_idle_ns)
			cuts[count++] = at.list == VPA_PACES
						? (int64_t)vpa_cut_of(&p->cuts[cut], p->rank,
							  at.from, at.item + 1, x)
						: vpa_cut_of_pace(&p->cuts[cut], at.list, at.from,
							  at.item + 1, x);
	return count;
}

static inline unsigned head_of_early(uint64_t early_ns, unsigned list)
{
	if (list != VPA_PACES && early_ns && early_ns % VPA_PACE_TERM_NS == 0 &&
		early_ns / VPA_PACE_TERM_NS <= UINT16_MAX)
		return EARLY_UNITS;
	return !early_ns ? 0 : early_ns > UINT32_MAX ? EARLY_WIDE : EARLY;
}

static inline unsigned char *put_early(unsigned char *at, uint64_t early_ns, unsigned head)
{
	uint16_t units = (uint16_t)(early_ns / VPA_PACE_TERM_NS);

	if ((head & EARLY_UNITS) != EARLY_UNITS)
		return put_bytes(at, early_ns, (head & EARLY_WIDE) != 0);
	memcpy(at, &units, sizeof(units));
	return at + sizeof(units);
}

PART void put_term(struct putting *p, int is_common, const struct vpa_rank_term *x, uint64_t at_ns,
	size_t i, unsigned list, int is_last)
{
	const struct vpa_rank *r = p->rank;
	size_t from = x->after == VPA_RANK_START ? 0 : 1 + (size_t)x->after;
	size_t back = from ? i - x->after : 0, count, k;
	uint64_t after_ns = from ? vpa_rank_end_ns(r, x->after) : r->first_ns;
	uint64_t early_ns = at_ns - after_ns - (uint64_t)x->ns;
	int64_t cuts[VPA_CUTS];
	unsigned char *at = p->at;
	unsigned head = is_last ? LAST : 0;

	count = set_cuts(p, is_common, x, (struct term_place){i, from, list}, cuts);
	for (k = 0; k < count; k++)
		head |= cuts[k] != (int32_t)cuts[k] ? CUTS_WIDE : 0;
	head |= !from ? FROM_START : back != 1 ? FROM_BACK : 0;
	head |= head_of_early(early_ns, list) | (list == VPA_PACES ? 0 : OF_PACE);
	*at++ = (unsigned char)head;
	if (head & FROM_BACK)
		at = put_bytes(at, back, 0);
	if (early_ns)
		at = put_early(at, early_ns, head);
	for (k = 0; k < count; k++)
		at = put_bytes(at, (uint64_t)cuts[k], (head & CUTS_WIDE) != 0);
	p->at = at;
	p->back_most = back > p->back_most ? back : p->back_most;
}

/* Those of the paces, where they may count, and those of the recording. */
PART void put_terms(struct putting *p, int is_common, size_t i, uint64_t at_ns)
{
	const struct vpa_rank_detail *d = p->detail;
	size_t k, end = d->term_ends[i];
	unsigned list;

	for (list = 0; !is_common && list < VPA_PACES && p->with_paces; list++) {
		const struct vpa_rank_pace *pace = &d->paces[list];

		for (k = i ? pace->term_ends[i - 1] : 0; k < pace->term_ends[i]; k++)
			put_term(p, 0, &pace->terms[k], at_ns, i, list, 0);
	}
	for (k = i ? d->term_ends[i - 1] : 0; k < end; k++)
		put_term(p, is_common, &d->terms[k], at_ns, i, VPA_PACES, k + 1 == end);
}

static int make_ring(struct vpa_stream *s, size_t count)
{
	for (s->mask = 1; s->mask < count; s->mask *= 2)
		;
	s->ring = vpt_alloc(s->mask + 1, VPA_LANES * sizeof(*s->ring));
	s->ring_items = vpt_alloc(s->mask, sizeof(*s->ring_items));
	s->mask--;
	return s->ring && s->ring_items ? VPT_OK : VPT_ENOMEM;
}

/* All terms of a rank; returns by how many collectives it meets one late, at most. */
PART size_t put_all(struct putting *p, int is_common, const struct vpa_met *met)
{
	const struct vpa_rank *r = p->rank;
	size_t n = r->collective_count, most = 0, late = 0, i;

	for (i = 0; i < n; i++) {
		size_t item = met[i].item;

		put_terms(p, is_common, item, vpa_rank_start_ns(r, item));
		most = item >= most ? item + 1 : most;
		late = most - item > late + 1 ? most - item - 1 : late;
	}
	put_terms(p, is_common, n, r->last_ns);
	return late;
}

static size_t put_common(struct putting *p, const struct vpa_met *met)
{
	return put_all(p, 1, met);
}

static size_t put_any(struct putting *p, const struct vpa_met *met)
{
	return put_all(p, 0, met);
}

static int put_stream(struct vpa_replay *p, struct vpa_replay_room *room, size_t rank,
	const struct vpa_rank_detail *d, const struct vpa_cut_sums *cuts)
{
	const struct vpa_rank *r = p->job->list.items[rank];
	struct vpa_stream *s = &p->streams[rank];
	size_t n = r->collective_count, i, late, terms = d->term_ends[n], size;
	struct putting put = {.rank = r,
		.detail = d,
		.cuts = cuts,
		.with_paces = r->has_paces && cuts[VPA_CUT_ASKED].asked};

	for (i = 0; i < VPA_PACES && put.with_paces; i++)
		terms += d->paces[i].term_ends[n];
	if (vpt_grow(&room->bytes, &room->byte_cap, TERM_BYTES_MOST * terms + 8, 1))
		return VPT_ENOMEM;
	put.at = room->bytes;
	late = s->is_common ? put_common(&put, room->met) : put_any(&put, room->met);
	size = (size_t)(put.at - room->bytes);
	s->bytes = vpt_alloc(size + 8, 1);
	if (!s->bytes)
		return VPT_ENOMEM;
	memcpy(s->bytes, room->bytes, size);
	memset(s->bytes + size, 0, 8);
	return make_ring(s, put.back_most + late + 1);
}

int vpa_replay_put(struct vpa_replay *p, struct vpa_replay_room *room, size_t rank,
	const struct vpa_rank_detail *d, const struct vpa_cut_sums cuts[VPA_CUTS])
{
	struct vpa_stream *s = &p->streams[rank];
	size_t cut;

	s->rank = p->job->list.items[rank];
	s->clock = vpa_job_clock(p->job, rank);
	for (cut = 0; cut < VPA_CUTS; cut++)
		s->has[cut] = cuts[cut].less_idle_ns != NULL;
	s->is_common = s->has[VPA_CUT_COMMON] && !s->has[VPA_CUT_OWN] && !s->has[VPA_CUT_ASKED];
	return list_met(p, room, rank) ? VPT_ENOMEM : put_stream(p, room, rank, d, cuts);
}

void vpa_replay_room_free(struct vpa_replay_room *room)
{
	vpt_free(room->bytes);
	vpt_free(room->rows);
	vpt_free(room->met);
}

void vpa_replay_select(struct vpa_replay *p, unsigned lane, size_t rank, enum vpa_cut cut)
{
	p->streams[rank].masks[cut][lane] = -1;
	p->lanes = lane >= p->lanes ? lane + 1 : p->lanes;
}
