/* rank_clocks.c - one clock for each machine, placed one after the other beside those that are placed. */
#include "analysis/ranks/alignment/rank_clocks.h"

#include "analysis/base/sort.h"
#include "analysis/ranks/alignment/lags.h"
#include "analysis/ranks/rank/rank_threads.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	ENDS_MOST = 200,     /* that a fit looks at */
	ENDS_FOR_DRIFT = 8,  /* fewer give an offset only */
	ENDS_FOR_OFFSET = 4, /* fewer give bounds only */
	/* ns: on one clock, too, ranks leave collectives up to 6 us apart, always the same ones first. */
	UNCERTAIN_LEAST = 10000,
	ROWS_LOOKED_AT = 1024, /* of a group, for a clock */
	PLACED_MOST = 8,       /* ranks of a group beside which a clock is placed */
	BIAS_ROWS = 64,        /* collectives of a group by which ranks are compared */
	PPB_MOST = 500000
};

static uint64_t absolute(int64_t n)
{
	return n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
}

/* ---- the fit ---- */

/* Nearly always all of it fits 64 bits, which are divided much faster. */
static int64_t ppb_of(__int128 rise, int64_t run)
{
	int64_t product;

	if (rise == (int64_t)rise && !__builtin_mul_overflow((int64_t)rise, 1000000000, &product))
		return product / run;
	return vpt_sat_i128(rise * 1000000000 / run);
}

static int64_t slope_of(const struct vpa_clock_end *ends, size_t count, int64_t *slopes)
{
	size_t i, k, n = 0;
	int64_t ppb;

	for (i = 0; i < count; i++)
		for (k = i + 1; k < count; k++) {
			int64_t run = ends[k].at_ns - ends[i].at_ns;
			__int128 rise = (__int128)ends[k].later_ns - ends[i].later_ns;

			if (run)
				slopes[n++] = ppb_of(rise, run);
		}
	ppb = n && count >= ENDS_FOR_DRIFT ? vpa_nth(slopes, n, n / 2) : 0;
	return absolute(ppb) > PPB_MOST ? 0 : ppb;
}

static int64_t rest_of(const struct vpa_clock_end *e, int64_t ppb)
{
	return vpt_sat_i128((__int128)e->later_ns - (__int128)ppb * e->at_ns / 1000000000);
}

/* Nine in ten ends deviate by at most the deviation; the fewer ends there are, the more is added to it. */
struct vpa_clock_fit vpa_clock_fit(const struct vpa_clock_end *ends, size_t count, int64_t *slopes)
{
	struct vpa_clock_fit fit = {.ppb = slope_of(ends, count, slopes)};
	uint64_t deviation;
	size_t i;

	for (i = 0; i < count; i++)
		slopes[i] = rest_of(&ends[i], fit.ppb);
	fit.later_ns = vpa_nth(slopes, count, count / 2);
	for (i = 0; i < count; i++)
		slopes[i] = (int64_t)absolute(
			vpt_sat_diff_i64(rest_of(&ends[i], fit.ppb), fit.later_ns));
	deviation = (uint64_t)vpa_nth(slopes, count, count - 1 - count / 10);
	fit.deviation_ns = vpt_sat_u64((double)deviation * (1 + 4 / sqrt((double)count)) + 0.5);
	return fit;
}

/* ---- which ranks have one clock ---- */

static int list_clocks(const struct vpa_rank_list *list, struct vpa_clocks *out)
{
	uint32_t *first; /* by clock: a rank */
	size_t i, k;

	out->of_rank = vpt_calloc(list->count + 1, sizeof(*out->of_rank));
	out->items = vpt_calloc(list->count + 1, sizeof(*out->items));
	first = vpt_calloc(list->count + 1, sizeof(*first));
	if (!out->of_rank || !out->items || !first) {
		vpt_free(first);
		return VPT_ENOMEM;
	}
	for (i = 0; i < list->count; i++) {
		const struct vpa_rank *r = list->items[i];

		for (k = 0; k < out->count; k++)
			if (vpa_ranks_share_clock(list->items[first[k]], r))
				break;
		if (k == out->count) {
			first[out->count] = (uint32_t)i;
			out->items[out->count++] =
				(struct vpa_clock){.origin_ns = r->first_ns, .name = r->host};
		}
		if (r->first_ns < out->items[k].origin_ns)
			out->items[k].origin_ns = r->first_ns;
		out->of_rank[i] = (uint32_t)k;
	}
	vpt_free(first);
	return VPT_OK;
}

/* ---- placing one ---- */

/* What one clock saw of a row. */
struct seen {
	int64_t start_ns, end_ns; /* the last start and the first end; the median end */
	int64_t middle_ns;
	uint64_t spread_ns; /* of ends */
	size_t count;
};

struct row_end {
	struct vpa_clock_end end;
	uint64_t shortest_ns; /* of its kernels: what the transfer took at most */
};

/* Ranks of a group, by their place in it. */
struct members {
	uint32_t *items;
	size_t count;
};

/* What placed ranks saw of the rows of a group that are looked at: nearly all clocks are placed beside the same ranks. */
struct placed_rows {
	const struct vpa_group *group;
	uint32_t members[PLACED_MOST];
	size_t count;
	struct placed_row {
		struct seen seen;
		uint64_t shortest_ns;
		int is_known;
	} rows[ROWS_LOOKED_AT];
};

/* Which members a clock is placed beside, in two numbers: how many, over all groups, and the sum of their places there. When
 * more clocks are placed, the members are more, or others with lower places. If neither number has changed, they are the same. */
struct beside {
	size_t count, sum;
};

struct placing {
	struct beside beside;
	const struct vpa_rank_list *list;
	const struct vpa_clocks *clocks;
	uint32_t clock; /* that is placed */
	struct row_end *ends;
	size_t count, cap;
	int64_t *scratch;
	uint32_t *members;
	struct placed_rows *placed;
	int64_t low_ns, high_ns; /* bounds of later_ns, by causality */
	uint64_t spread_ns;      /* sum over ends */
};

static struct seen look(const struct placing *p, const struct vpa_group *g, size_t row,
	const struct members *of, uint64_t *shortest_ns)
{
	struct seen s = {.start_ns = INT64_MIN, .end_ns = INT64_MAX};
	int64_t most = INT64_MIN, *ends = p->scratch;
	size_t i;

	for (i = 0; i < of->count; i++) {
		uint32_t rank = g->ranks[of->items[i]], cell = vpa_group_cell(g, row, of->items[i]);
		const struct vpa_clock *c = &p->clocks->items[p->clocks->of_rank[rank]];
		const struct vpa_rank *r = p->list->items[rank];
		int64_t start, end;

		if (cell == VPA_NO_COLLECTIVE)
			continue;
		start = vpa_clock_time(c, vpa_rank_start_ns(r, cell));
		end = vpa_clock_time(c, vpa_rank_end_ns(r, cell));
		s.start_ns = start > s.start_ns ? start : s.start_ns;
		s.end_ns = end < s.end_ns ? end : s.end_ns;
		most = end > most ? end : most;
		ends[s.count++] = end;
		if ((uint64_t)(end - start) < *shortest_ns)
			*shortest_ns = (uint64_t)(end - start);
	}
	if (s.count) {
		s.spread_ns = (uint64_t)(most - s.end_ns);
		s.middle_ns = vpa_nth(ends, s.count, s.count / 2);
	}
	return s;
}

/* Members whose clock is placed, at most `most` of them, or those of the clock that is to be placed. */
static void list_of(const struct placing *p, const struct vpa_group *g, int of_placed, size_t most,
	struct members *out)
{
	uint32_t k;

	for (k = 0, out->count = 0; k < g->rank_count && out->count < most; k++) {
		uint32_t clock = p->clocks->of_rank[g->ranks[k]];

		if (of_placed ? p->clocks->items[clock].is_placed : clock == p->clock)
			out->items[out->count++] = k;
	}
}

static const struct vpa_collective_key *key_of(
	const struct vpa_rank_list *list, const struct vpa_group *g, size_t row)
{
	size_t k;

	for (k = 0; vpa_group_cell(g, row, k) == VPA_NO_COLLECTIVE; k++)
		;
	return vpa_rank_key(list->items[g->ranks[k]], vpa_group_cell(g, row, k));
}

/* Forgets rows of other ranks. */
static void know(struct placed_rows *p, const struct vpa_group *g, const struct members *of_placed)
{
	size_t bytes = of_placed->count * sizeof(*of_placed->items), i;

	if (p->group == g && p->count == of_placed->count &&
		!memcmp(p->members, of_placed->items, bytes))
		return;
	p->group = g;
	p->count = of_placed->count;
	memcpy(p->members, of_placed->items, bytes);
	for (i = 0; i < ROWS_LOOKED_AT; i++)
		p->rows[i].is_known = 0;
}

/* What placed ranks saw of a row, the i-th that is looked at. */
static struct seen look_at_placed(const struct placing *p, const struct vpa_group *g, size_t row,
	size_t i, const struct members *of_placed, uint64_t *shortest_ns)
{
	struct placed_row *known = &p->placed->rows[i];

	if (!known->is_known) {
		known->shortest_ns = UINT64_MAX;
		known->seen = look(p, g, row, of_placed, &known->shortest_ns);
		known->is_known = 1;
	}
	*shortest_ns = known->shortest_ns;
	return known->seen;
}

static int take_row(struct placing *p, const struct vpa_group *g, size_t row, size_t i,
	const struct members *of_placed, const struct members *of_own)
{
	const struct vpa_collective_key *key = key_of(p->list, g, row);
	uint64_t shortest_ns;
	struct seen placed, own;

	if (!vpa_collective_is_symmetric(key->kind))
		return VPT_OK;
	placed = look_at_placed(p, g, row, i, of_placed, &shortest_ns);
	own = placed.count ? look(p, g, row, of_own, &shortest_ns) : placed;
	if (!placed.count || !own.count)
		return VPT_OK;
	if (vpt_grow(&p->ends, &p->cap, p->count + 1, sizeof(*p->ends)))
		return VPT_ENOMEM;
	p->ends[p->count++] =
		(struct row_end){{own.middle_ns, placed.middle_ns - own.middle_ns}, shortest_ns};
	vpt_sat_add_to(
		&p->spread_ns, placed.spread_ns > own.spread_ns ? placed.spread_ns : own.spread_ns);
	/* Its own first end is after the placed ones' last start, and the other way round. */
	if (placed.start_ns - own.end_ns > p->low_ns)
		p->low_ns = placed.start_ns - own.end_ns;
	if (placed.end_ns - own.start_ns < p->high_ns)
		p->high_ns = placed.end_ns - own.start_ns;
	return VPT_OK;
}

static void add_beside(struct beside *b, const struct members *placed)
{
	size_t i;

	for (i = 0; i < placed->count; i++) {
		b->count++;
		b->sum += placed->items[i];
	}
}

static int take_group(struct placing *p, const struct vpa_group *g)
{
	struct members placed = {.items = p->members}, own = {.items = p->members + PLACED_MOST};
	size_t step = 1 + g->row_count / ROWS_LOOKED_AT, i;
	int rc = VPT_OK;

	list_of(p, g, 1, PLACED_MOST, &placed);
	list_of(p, g, 0, g->rank_count, &own);
	if (!placed.count || !own.count)
		return VPT_OK;
	add_beside(&p->beside, &placed);
	know(p->placed, g, &placed);
	for (i = 0; i * step < g->row_count && !rc; i++)
		rc = take_row(p, g, i * step, i, &placed, &own);
	return rc;
}

static int by_shortest(const void *a, const void *b)
{
	const struct row_end *x = a, *y = b;

	if (x->shortest_ns != y->shortest_ns)
		return x->shortest_ns < y->shortest_ns ? -1 : 1;
	return vpa_by_i64(&x->end.at_ns, &y->end.at_ns);
}

/* Of many ends, those of the quarter with the shortest kernels, spread over time; returns how many. */
static size_t choose_ends(struct placing *p, struct vpa_clock_end *out)
{
	size_t count = p->count, i;

	if (count > 4 * ENDS_FOR_DRIFT) {
		qsort(p->ends, count, sizeof(*p->ends), by_shortest);
		count = count / 4 > 4 * ENDS_FOR_DRIFT ? count / 4 : 4 * ENDS_FOR_DRIFT;
	}
	for (i = 0; i < count && i < ENDS_MOST; i++)
		out[i] = p->ends[count <= ENDS_MOST ? i : i * count / ENDS_MOST].end;
	return i;
}

static void place(struct placing *p, struct vpa_clock *c)
{
	struct vpa_clock_end ends[ENDS_MOST];
	size_t count = choose_ends(p, ends);
	struct vpa_clock_fit fit = vpa_clock_fit(ends, count, p->scratch);
	uint64_t spread_ns = p->spread_ns / p->count;

	c->ppb = fit.ppb;
	c->offset_ns = fit.later_ns;
	c->uncertainty_ns = fit.deviation_ns > spread_ns ? fit.deviation_ns : spread_ns;
	if (c->uncertainty_ns < UNCERTAIN_LEAST)
		c->uncertainty_ns = UNCERTAIN_LEAST;
	/* Without a drift the bounds hold for all of it. */
	if (!c->ppb && p->low_ns <= p->high_ns) {
		uint64_t half_ns = ((uint64_t)p->high_ns - (uint64_t)p->low_ns + 1) / 2;

		if (c->offset_ns < p->low_ns || c->offset_ns > p->high_ns ||
			count < ENDS_FOR_OFFSET || half_ns < c->uncertainty_ns) {
			c->offset_ns = p->low_ns + (p->high_ns - p->low_ns) / 2;
			c->uncertainty_ns = half_ns;
		}
	}
	c->ends = p->count;
	c->is_placed = 1;
}

/* ---- placing all ---- */

enum { TRIED_MOST = 16 };

/* Clocks that several threads try to place, all beside those that were placed before. */
struct tries {
	const struct vpa_rank_list *list;
	const struct vpa_matching *m;
	struct vpa_clocks *clocks;
	struct room {
		int64_t *scratch;
		uint32_t *members; /* PLACED_MOST and as many as there are ranks */
		struct placed_rows *placed;
	} rooms[VPA_RANK_THREADS_MOST];
	struct one_try {
		uint32_t clock;
		struct beside beside;
		struct vpa_clock as; /* placed, if it can be */
	} items[TRIED_MOST];
	size_t count;
	unsigned threads;
};

static struct placing new_placing(const struct tries *t, unsigned thread, uint32_t clock)
{
	return (struct placing){.list = t->list,
		.clocks = t->clocks,
		.clock = clock,
		.scratch = t->rooms[thread].scratch,
		.members = t->rooms[thread].members,
		.placed = t->rooms[thread].placed,
		.low_ns = INT64_MIN,
		.high_ns = INT64_MAX};
}

static int try_to_place(void *ctx, unsigned thread, size_t i)
{
	struct tries *t = ctx;
	struct one_try *x = &t->items[i];
	struct placing p = new_placing(t, thread, x->clock);
	size_t g;
	int rc = VPT_OK;

	for (g = 0; g < t->m->group_count && !rc; g++)
		rc = take_group(&p, &t->m->groups[g]);
	x->beside = p.beside;
	x->as = t->clocks->items[x->clock];
	if (!rc && p.count)
		place(&p, &x->as);
	vpt_free(p.ends);
	return rc;
}

/* Whether a clock would still be placed beside the same members. */
static int is_beside_them(const struct tries *t, const struct one_try *x)
{
	struct placing p = new_placing(t, 0, x->clock);
	struct members placed = {.items = p.members}, own = {.items = p.members + PLACED_MOST};
	size_t g;

	for (g = 0; g < t->m->group_count; g++) {
		list_of(&p, &t->m->groups[g], 0, 1, &own);
		list_of(&p, &t->m->groups[g], 1, own.count ? PLACED_MOST : 0, &placed);
		add_beside(&p.beside, &placed);
	}
	return p.beside.count == x->beside.count && p.beside.sum == x->beside.sum;
}

/* Lists clocks that are not placed, from this one on. */
static void list_tries(struct tries *t, uint32_t clock, size_t most)
{
	for (t->count = 0; clock < t->clocks->count && t->count < most; clock++)
		if (!t->clocks->items[clock].is_placed)
			t->items[t->count++].clock = clock;
}

/* Places clocks beside those that are placed, one after the other. Where one changes what a next one is beside, that is tried again.
 * *placed: whether one could be. */
static int place_some(struct tries *t, int *placed)
{
	size_t most = t->threads, i;
	uint32_t next = 0;
	int rc = VPT_OK;

	*placed = 0;
	for (list_tries(t, next, most); t->count && !rc; list_tries(t, next, most)) {
		rc = vpa_in_threads(t->threads, t->count, try_to_place, t);
		for (i = 0; i < t->count && !rc && (!i || is_beside_them(t, &t->items[i])); i++) {
			t->clocks->items[t->items[i].clock] = t->items[i].as;
			*placed |= t->items[i].as.is_placed;
			next = t->items[i].clock + 1;
		}
		most = i < t->count || t->threads == 1 ? t->threads
		       : 2 * most < TRIED_MOST         ? 2 * most
						       : TRIED_MOST;
	}
	return rc;
}

/* Each pass places clocks beside those of the passes before, until none is left that can be. */
static int place_all(struct tries *t)
{
	int placed = 1, rc = VPT_OK;

	while (placed && !rc)
		rc = place_some(t, &placed);
	return rc;
}

/* ---- whether ranks agree ---- */

/* differences: room for BIAS_ROWS of each rank of the group. */
static void find_bias_of(
	struct placing *p, const struct vpa_group *g, int64_t *differences, uint64_t *bias_ns)
{
	struct members all = {.items = p->members};
	size_t step = 1 + g->row_count / BIAS_ROWS, count = 0, row, k;
	uint64_t shortest_ns = UINT64_MAX; /* not asked for */

	list_of(p, g, 1, g->rank_count, &all);
	for (row = 0; row < g->row_count; row += step) {
		struct seen s;

		if (!vpa_collective_is_symmetric(key_of(p->list, g, row)->kind))
			continue;
		s = look(p, g, row, &all, &shortest_ns);
		for (k = 0; s.count > 1 && k < g->rank_count; k++) {
			uint32_t cell = vpa_group_cell(g, row, k);
			const struct vpa_rank *r = p->list->items[g->ranks[k]];
			const struct vpa_clock *c =
				&p->clocks->items[p->clocks->of_rank[g->ranks[k]]];

			/* A rank that lacks it differs by nothing. */
			differences[k * BIAS_ROWS + count] =
				cell == VPA_NO_COLLECTIVE || !c->is_placed
					? 0
					: vpa_clock_time(c, vpa_rank_end_ns(r, cell)) - s.middle_ns;
		}
		count += s.count > 1;
	}
	for (k = 0; count && k < g->rank_count; k++) {
		uint64_t bias = absolute(vpa_nth(&differences[k * BIAS_ROWS], count, count / 2));

		*bias_ns = bias > *bias_ns ? bias : *bias_ns;
	}
}

static int find_bias(const struct tries *t)
{
	struct placing p = new_placing(t, 0, 0);
	int64_t *differences = vpt_alloc(t->list->count + 1, BIAS_ROWS * sizeof(*differences));
	size_t g;

	if (!differences)
		return VPT_ENOMEM;
	for (g = 0; g < t->m->group_count; g++)
		find_bias_of(&p, &t->m->groups[g], differences, &t->clocks->bias_ns);
	vpt_free(differences);
	return VPT_OK;
}

static int new_rooms(struct tries *t)
{
	size_t numbers = ENDS_MOST * ENDS_MOST / 2 + ENDS_MOST, ranks = t->list->count;
	unsigned i;

	for (i = 0; i < t->threads; i++) {
		struct room *room = &t->rooms[i];

		room->scratch =
			vpt_alloc(numbers > ranks ? numbers : ranks, sizeof(*room->scratch));
		room->members = vpt_alloc(PLACED_MOST + ranks, sizeof(*room->members));
		room->placed = vpt_calloc(1, sizeof(*room->placed));
		if (!room->scratch || !room->members || !room->placed)
			return VPT_ENOMEM;
	}
	return VPT_OK;
}

int vpa_clocks_find(
	const struct vpa_rank_list *list, const struct vpa_matching *m, struct vpa_clocks *out)
{
	struct tries t = {.list = list, .m = m, .clocks = out, .threads = vpa_rank_threads(list)};
	unsigned i;
	int rc = new_rooms(&t);

	*out = (struct vpa_clocks){.items = NULL};
	if (!rc)
		rc = list_clocks(list, out);
	if (!rc && out->count) {
		out->items[0].is_placed = 1;
		rc = place_all(&t);
	}
	if (!rc)
		rc = find_bias(&t);
	for (i = 0; i < t.threads; i++) {
		vpt_free(t.rooms[i].scratch);
		vpt_free(t.rooms[i].members);
		vpt_free(t.rooms[i].placed);
	}
	return rc;
}

void vpa_clocks_free(struct vpa_clocks *c)
{
	vpt_free(c->items);
	vpt_free(c->of_rank);
	*c = (struct vpa_clocks){0};
}
