/* joint_run.c - the replay, a block of events at a time:
 *
 *	rank by rank     what it does in the block's events becomes ops: its times and terms lie together in memory
 *	event by event   ops only, one after the other: the latest arrival of all, then their ends
 *
 * A thousand ranks in turn, an event at a time, would be ten thousand places in memory. Few ranks have other cuts than the common
 * one, unless a change is asked about: their terms are read when their turn comes. */
#include "analysis/ranks/joint_stream.h"

#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/search.h"
#include "formats/base/vectorise.h"

#include <string.h>

enum {
	FEW_LANES = 4, /* a replay of no more is another version */
	TODO = 8       /* collectives of a rank in a block, at most */
};

#define NONE UINT32_MAX

/* A term that is read: an arrival is no earlier than `ns` after that, less what a lane takes away. */
struct term {
	const int64_t *from; /* by lane */
	uint64_t ns, cut;
};

/* What a rank does in an event. */
struct op {
	struct term first;
	int64_t *to;             /* where its ends go */
	int64_t end_ns;          /* as recorded, on the clock of the job */
	uint32_t more, more_end; /* its other terms */
	uint32_t
		rank; /* that is read when its turn comes: of it is only end_ns set; NONE: it is read */
	uint32_t item;
};

struct block {
	uint32_t first; /* its first event */
	struct block_event {
		int64_t at_ns; /* as recorded */
		size_t first;  /* its first op; they end where those of the next event begin */
	} * events;
	size_t event_count;
	struct op *ops; /* event by event */
	struct todo {
		uint32_t op, item;
	} * todo; /* by rank, TODO each */
	unsigned char *todo_count;
	struct term *more;
	size_t more_count, more_cap;
};

/* Versions of the replay for several kinds of processors: what it calls becomes part of each. */
#define PART static inline __attribute__((always_inline))

/* at = max(at, from + ns - what the change of each lane takes away). Sums of what a file says may wrap. */
PART void join_common(unsigned lanes, int64_t *restrict at, const int64_t *restrict from,
	uint64_t ns, uint64_t cut, const int64_t *restrict mask)
{
	unsigned l;

	for (l = 0; l < lanes; l++) {
		int64_t to = (int64_t)((uint64_t)from[l] + ns - (cut & (uint64_t)mask[l]));

		at[l] = to > at[l] ? to : at[l];
	}
}

PART void join_term(unsigned lanes, int64_t *restrict at, const int64_t *restrict from, uint64_t ns,
	const uint64_t *cuts, const int64_t (*restrict masks)[VPA_LANES])
{
	unsigned l;

	for (l = 0; l < lanes; l++) {
		uint64_t less = (cuts[0] & (uint64_t)masks[0][l]) +
				(cuts[1] & (uint64_t)masks[1][l]) +
				(cuts[2] & (uint64_t)masks[2][l]);
		int64_t to = (int64_t)((uint64_t)from[l] + ns - less);

		at[l] = to > at[l] ? to : at[l];
	}
}

/* The end of an earlier collective. Where matches are wrong the replay may not have met it: then as recorded. */
PART const int64_t *end_before(
	unsigned lanes, const struct vpa_stream *s, uint32_t item, uint64_t end_ns, int64_t *room)
{
	unsigned l;

	if (s->ring_items[item & s->mask] == item)
		return &s->ring[(1 + (item & s->mask)) * lanes];
	for (l = 0; l < lanes; l++)
		room[l] = vpa_clock_time(s->clock, end_ns);
	return room;
}

PART uint64_t get_bytes(const unsigned char **at, int is_wide)
{
	uint64_t wide;
	uint32_t narrow;

	if (is_wide) {
		memcpy(&wide, *at, sizeof(wide));
		*at += sizeof(wide);
		return wide;
	}
	memcpy(&narrow, *at, sizeof(narrow));
	*at += sizeof(narrow);
	return narrow;
}

PART uint64_t get_early(const unsigned char **at, unsigned head)
{
	uint16_t units;

	if (!(head & EARLY_UNITS))
		return 0;
	if ((head & EARLY_UNITS) != EARLY_UNITS)
		return get_bytes(at, head & EARLY_WIDE);
	memcpy(&units, *at, sizeof(units));
	*at += sizeof(units);
	return (uint64_t)units * VPA_PACE_TERM_NS;
}

PART uint64_t get_cut(const unsigned char **at, unsigned head)
{
	return head & CUTS_WIDE ? get_bytes(at, 1)
				: (uint64_t)(int64_t)(int32_t)(uint32_t)get_bytes(at, 0);
}

/* The cuts of a term of so much, of a rank that has others than the common one. */
PART void get_cuts(const struct vpa_stream *s, const unsigned char **at, unsigned head, uint64_t ns,
	uint64_t cuts[VPA_CUTS])
{
	unsigned cut;

	if (head & OF_PACE) {
		cuts[VPA_CUT_COMMON] = cuts[VPA_CUT_OWN] = (int64_t)ns > 0 ? ns : 0;
		cuts[VPA_CUT_ASKED] = get_cut(at, head);
		return;
	}
	for (cut = 0; cut < VPA_CUTS; cut++)
		cuts[cut] = s->has[cut] ? get_cut(at, head) : 0;
}

/* Joins the arrival of a rank at its next collective; at its end, `item` is how many it has. */
PART void arrive(unsigned lanes, struct vpa_stream *s, uint32_t item, int64_t *at)
{
	const struct vpa_rank *r = s->rank;
	const unsigned char *c = s->at;
	uint64_t at_ns = item < r->collective_count ? vpa_rank_start_ns(r, item) : r->last_ns;
	unsigned head;

	do {
		const int64_t *from = s->ring;
		int64_t room[VPA_LANES];
		uint64_t ns = at_ns - r->first_ns, cuts[VPA_CUTS];

		head = *c++;
		if (!(head & FROM_START)) {
			uint32_t after = item - (head & FROM_BACK ? (uint32_t)get_bytes(&c, 0) : 1);
			uint64_t after_ns = vpa_rank_end_ns(r, after);

			ns = at_ns - after_ns;
			from = end_before(lanes, s, after, after_ns, room);
		}
		ns -= get_early(&c, head);
		if (s->is_common) {
			join_common(lanes, at, from, ns, get_cut(&c, head), s->masks[0]);
			continue;
		}
		get_cuts(s, &c, head, ns, cuts);
		join_term(lanes, at, from, ns, cuts, (const int64_t(*)[VPA_LANES])s->masks);
	} while (!(head & LAST));
	s->at = c;
}

PART void end_at(
	unsigned lanes, int64_t *restrict end, const int64_t *restrict last, int64_t rest_ns)
{
	unsigned l;

	for (l = 0; l < lanes; l++)
		end[l] = (int64_t)((uint64_t)last[l] + (uint64_t)rest_ns);
}

/* It leaves so much after the last one came. */
PART void leave(
	unsigned lanes, struct vpa_stream *s, uint32_t item, const int64_t *last, int64_t rest_ns)
{
	end_at(lanes, &s->ring[(1 + (item & s->mask)) * lanes], last, rest_ns);
	s->ring_items[item & s->mask] = item;
}

/* ---- blocks ---- */

static const int64_t zeros[VPA_LANES];

/* The next term of a rank that has the common cut only, of collective `item`. */
static inline unsigned read_term(const struct vpa_stream *s, const unsigned char **at,
	uint32_t item, uint64_t at_ns, unsigned lanes, struct term *out)
{
	unsigned head = *(*at)++;

	out->from = s->ring;
	out->ns = at_ns - s->rank->first_ns;
	if (!(head & FROM_START)) {
		uint32_t after = item - (head & FROM_BACK ? (uint32_t)get_bytes(at, 0) : 1);
		uint64_t after_ns = vpa_rank_end_ns(s->rank, after);

		out->ns = at_ns - after_ns;
		out->from = &s->ring[(1 + (after & s->mask)) * lanes];
		if (s->ring_items[after & s->mask] != after) {
			out->from = zeros;
			out->ns += (uint64_t)vpa_clock_time(s->clock, after_ns);
		}
	}
	out->ns -= get_early(at, head);
	out->cut = get_cut(at, head);
	return head;
}

static int read_more(
	struct block *b, struct vpa_stream *s, uint64_t at_ns, unsigned lanes, struct op *op)
{
	unsigned head;

	op->more = (uint32_t)b->more_count;
	do {
		if (b->more_count >= NONE - 1 ||
			vpt_grow(&b->more, &b->more_cap, b->more_count + 1, sizeof(*b->more)))
			return VPT_ENOMEM;
		head = read_term(s, &s->at, op->item, at_ns, lanes, &b->more[b->more_count++]);
	} while (!(head & LAST));
	op->more_end = (uint32_t)b->more_count;
	return VPT_OK;
}

/* What a rank does is far from what the one before it does. */
static inline void fetch_early(const struct vpa_replay *p, const struct block *b, size_t rank)
{
	const struct vpa_stream *s = &p->streams[rank];
	const struct todo *t = &b->todo[TODO * rank];
	unsigned i, count = b->todo_count[rank];

	for (i = 0; i < count; i += 64 / (2 * sizeof(*s->rank->times.offsets)))
		__builtin_prefetch(&s->rank->times.offsets[2 * t[i].item]);
	if (count)
		__builtin_prefetch(&s->rank->times.offsets[2 * t[count - 1].item]);
	__builtin_prefetch(s->at);
	__builtin_prefetch(s->at + 64);
}

/* Reads what a rank does in the events of the block. */
static int read_rank(const struct vpa_replay *p, struct block *b, size_t rank, unsigned lanes)
{
	struct vpa_stream *s = &p->streams[rank];
	const struct vpa_rank *r = s->rank;
	const struct todo *t = &b->todo[TODO * rank], *end = t + b->todo_count[rank];
	int rc = VPT_OK;

	for (b->todo_count[rank] = 0; t < end && !rc; t++) {
		struct op *op = &b->ops[t->op];
		uint64_t start_ns;

		*op = (struct op){.rank = (uint32_t)rank,
			.item = t->item,
			.end_ns = vpa_clock_time(s->clock, vpa_rank_end_ns(r, t->item))};
		if (!s->is_common)
			continue;
		op->rank = NONE;
		op->to = &s->ring[(1 + (t->item & s->mask)) * lanes];
		start_ns = vpa_rank_start_ns(r, t->item);
		if (!(read_term(s, &s->at, t->item, start_ns, lanes, &op->first) & LAST))
			rc = read_more(b, s, start_ns, lanes, op);
		s->ring_items[t->item & s->mask] = t->item;
	}
	return rc;
}

/* 1: a rank has as much to do as there is room for. */
static inline int put_todo(struct block *b, size_t rank, uint32_t item, size_t op)
{
	b->todo[TODO * rank + b->todo_count[rank]++] = (struct todo){(uint32_t)op, item};
	return b->todo_count[rank] == TODO;
}

/* Lists what ranks do in an event, whose ops are to begin at `op`; returns where they end. */
static size_t list_ops(
	const struct vpa_replay *p, struct block *b, struct vpa_event e, size_t op, int *is_full)
{
	const struct vpa_group *g;
	size_t k;

	if (e.group == UINT32_MAX) {
		*is_full |= put_todo(b, p->singles[e.row].rank, p->singles[e.row].item, op);
		return op + 1;
	}
	g = &p->job->matching.groups[e.group];
	for (k = 0; k < g->rank_count; k++) {
		uint32_t item = vpa_group_cell(g, e.row, k);

		if (item != VPA_NO_COLLECTIVE)
			*is_full |= put_todo(b, g->ranks[k], item, op++);
	}
	return op;
}

/* Reads the next block: events until a rank has enough to do. */
static int read_block(const struct vpa_replay *p, struct block *b, unsigned lanes)
{
	size_t e = b->first + b->event_count, count = 0, op = 0, r;
	int is_full = 0, rc = VPT_OK;

	b->first = (uint32_t)e;
	b->more_count = 0;
	for (; e < p->event_count && !is_full; e++) {
		b->events[count++] = (struct block_event){vpa_event_time(p, p->events[e]), op};
		op = list_ops(p, b, p->events[e], op, &is_full);
	}
	b->events[count].first = op;
	b->event_count = count;
	for (r = 0; r < p->job->rank_count && !rc; r++) {
		if (r + 2 < p->job->rank_count)
			fetch_early(p, b, r + 2);
		rc = read_rank(p, b, r, lanes);
	}
	return rc;
}

static int new_block(const struct vpa_replay *p, struct block *b)
{
	size_t ranks = p->job->rank_count;

	*b = (struct block){.events = vpt_alloc(TODO * ranks + 1, sizeof(*b->events)),
		.ops = vpt_alloc(TODO * ranks, sizeof(*b->ops)),
		.todo = vpt_alloc(TODO * ranks, sizeof(*b->todo)),
		.todo_count = vpt_calloc(ranks, 1)};
	return b->events && b->ops && b->todo && b->todo_count ? VPT_OK : VPT_ENOMEM;
}

static void free_block(struct block *b)
{
	vpt_free(b->events);
	vpt_free(b->ops);
	vpt_free(b->todo);
	vpt_free(b->todo_count);
	vpt_free(b->more);
}

/* ---- the replay ---- */

struct lanes {
	int64_t ns[VPA_LANES];
};

static const struct lanes never = {
	{INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN}};

/* From this event to that one; both UINT32_MAX: all. */
struct measured {
	uint32_t from, to;
	struct lanes from_ns, to_ns;
};

/* NULL: several ranks have the event. */
static inline const struct vpa_single *single_of(const struct vpa_replay *p, size_t event)
{
	return p->events[event].group == UINT32_MAX ? &p->singles[p->events[event].row] : NULL;
}

/* By its own clock: without a partner it is beside no other one. */
static inline int64_t length_of(const struct vpa_replay *p, const struct vpa_single *s)
{
	const struct vpa_rank *r = p->job->list.items[s->rank];

	return (int64_t)(vpa_rank_end_ns(r, s->item) - vpa_rank_start_ns(r, s->item));
}

PART void run_event(unsigned lanes, struct vpa_replay *p, const struct block *b,
	const struct block_event *e, int64_t *last)
{
	const struct op *ops = &b->ops[e[0].first], *end = &b->ops[e[1].first], *x;
	const struct vpa_single *single = single_of(p, b->first + (size_t)(e - b->events));
	uint32_t k;

	for (x = ops; x < end; x++) {
		if (x->rank != NONE) {
			arrive(lanes, &p->streams[x->rank], x->item, last);
			continue;
		}
		join_common(lanes, last, x->first.from, x->first.ns, x->first.cut, p->common_mask);
		for (k = x->more; k < x->more_end; k++)
			join_common(lanes, last, b->more[k].from, b->more[k].ns, b->more[k].cut,
				p->common_mask);
	}
	for (x = ops; x < end; x++) {
		int64_t rest_ns = single ? length_of(p, single) : x->end_ns - e->at_ns;

		if (x->rank != NONE)
			leave(lanes, &p->streams[x->rank], x->item, last, rest_ns);
		else
			end_at(lanes, x->to, last, rest_ns);
	}
}

PART void run_block(unsigned lanes, struct vpa_replay *p, const struct block *b,
	struct measured *of, uint64_t *error_ns)
{
	size_t i;

	for (i = 0; i < b->event_count; i++) {
		struct lanes last = never;
		int64_t at_ns = b->events[i].at_ns;
		uint64_t error;

		run_event(lanes, p, b, &b->events[i], last.ns);
		error = last.ns[0] > at_ns ? (uint64_t)last.ns[0] - (uint64_t)at_ns
					   : (uint64_t)at_ns - (uint64_t)last.ns[0];
		*error_ns = error > *error_ns ? error : *error_ns;
		if (b->first + i == of->from)
			of->from_ns = last;
		if (b->first + i == of->to)
			of->to_ns = last;
	}
}

PART void run_ends(unsigned lanes, struct vpa_replay *p, int64_t *end)
{
	size_t r;

	for (r = 0; r < p->job->rank_count; r++)
		arrive(lanes, &p->streams[r], (uint32_t)p->streams[r].rank->collective_count, end);
}

VPT_VECTORISE static void run_few(
	struct vpa_replay *p, const struct block *b, struct measured *of, uint64_t *error_ns)
{
	run_block(FEW_LANES, p, b, of, error_ns);
}

VPT_VECTORISE static void run_all(
	struct vpa_replay *p, const struct block *b, struct measured *of, uint64_t *error_ns)
{
	run_block(VPA_LANES, p, b, of, error_ns);
}

static int run(struct vpa_replay *p, struct measured *of, struct lanes *end, uint64_t *error_ns)
{
	unsigned lanes = p->lanes <= FEW_LANES ? FEW_LANES : VPA_LANES;
	struct block b;
	int rc = new_block(p, &b);

	for (*error_ns = 0; !rc && b.first + b.event_count < p->event_count;) {
		rc = read_block(p, &b, lanes);
		if (!rc)
			(lanes == FEW_LANES ? run_few : run_all)(p, &b, of, error_ns);
	}
	if (!rc) {
		if (lanes == FEW_LANES)
			run_ends(FEW_LANES, p, end->ns);
		else
			run_ends(VPA_LANES, p, end->ns);
	}
	free_block(&b);
	return rc;
}

/* The last event before this time; UINT32_MAX: none. */
static uint32_t last_before(const struct vpa_replay *p, int64_t ns)
{
	size_t low = 0, high = p->event_count;

	VPT_SEARCH(low, high, middle, vpa_event_time(p, p->events[middle]) < ns);
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
		ns = vpt_sat_diff_i64(vpa_event_time(p, p->events[out.to]),
			vpa_event_time(p, p->events[out.from]));
	if (ns < of.least_ns || ns > of.most_ns)
		out.from = out.to = UINT32_MAX;
	return out;
}

/* Ranks whose common cut is in other lanes than that of the first one are read when their turn comes. */
static void find_common(struct vpa_replay *p)
{
	const int64_t *mask = NULL;
	size_t r;

	for (r = 0; r < p->job->rank_count; r++) {
		struct vpa_stream *s = &p->streams[r];

		if (!s->is_common)
			continue;
		mask = mask ? mask : s->masks[VPA_CUT_COMMON];
		s->is_common = !memcmp(mask, s->masks[VPA_CUT_COMMON], sizeof(p->common_mask));
	}
	if (mask)
		memcpy(p->common_mask, mask, sizeof(p->common_mask));
}

int vpa_replay_run(
	struct vpa_replay *p, struct vpa_replay_stretch stretch, struct vpa_replayed *out)
{
	struct measured of = measured_of(p, stretch);
	struct lanes end = never;
	int64_t first_ns = INT64_MAX, start_ns;
	size_t r;
	unsigned l;
	int rc;

	for (r = 0; r < p->job->rank_count; r++) {
		struct vpa_stream *s = &p->streams[r];

		s->at = s->bytes;
		memset(s->ring_items, 0xff, (s->mask + 1) * sizeof(*s->ring_items));
		start_ns =
			vpa_clock_time(vpa_job_clock(p->job, r), p->job->list.items[r]->first_ns);
		for (l = 0; l < VPA_LANES; l++)
			s->ring[l] = start_ns;
		first_ns = start_ns < first_ns ? start_ns : first_ns;
	}
	find_common(p);
	rc = run(p, &of, &end, &out->error_ns);
	out->is_of_stretch = of.from != UINT32_MAX;
	for (l = 0; l < VPA_LANES; l++)
		out->ns[l] =
			out->is_of_stretch
				? (int64_t)((uint64_t)of.to_ns.ns[l] - (uint64_t)of.from_ns.ns[l])
				: (int64_t)((uint64_t)end.ns[l] - (uint64_t)first_ns);
	return rc;
}
