/* matching.c - clusters of sequences become groups, groups rows. */
#include "analysis/ranks/alignment/matching.h"

#include "analysis/ranks/rank/rank_threads.h"
#include "formats/base/memory.h"

#include <string.h>

enum { PASSES = 3 };

/* Members of a cluster, by rank. */
struct team {
	uint32_t *members;
	size_t count, cap;
};

static int list_team(const struct vpa_members *w, uint32_t cluster, struct team *team)
{
	uint32_t i;

	team->count = 0;
	for (i = 0; i < w->count; i++) {
		/* A rank may name a communicator and never use it. */
		if (w->items[i].cluster != cluster || !w->items[i].items->count)
			continue;
		if (vpt_grow(&team->members, &team->cap, team->count + 1, sizeof(*team->members)))
			return VPT_ENOMEM;
		team->members[team->count++] = i;
	}
	return VPT_OK;
}

/* What of a member's sequence has no partner yet, and how its clock lies beside that of the first reference. */
struct rest {
	const uint32_t *items;
	size_t count;
	uint32_t *own;    /* room for items; NULL: they are the member's still, all of them */
	uint32_t *column; /* of this pass; NULL: the member's list */
	struct vpa_lag lag;
	size_t leader; /* the first member with this clock, as far as its neighbours tell */
};

struct filling {
	const struct vpa_members *w;
	const struct team *team;
	struct vpa_group *group;
	struct rest *rests;    /* by member of the team */
	uint64_t first_end_ns; /* of the first reference's first item */
	unsigned threads;
	uint32_t *
		partner[VPA_RANK_THREADS_MOST]; /* of the reference's rest: in that of one member */
	uint32_t *present;                      /* by row of a pass: how many members have it */
	/* Of the current pass. */
	size_t reference;
	int is_first;
};

static const struct vpa_member *member_at(const struct filling *f, size_t k)
{
	return &f->w->items[f->team->members[k]];
}

static struct vpa_sequence rest_of(const struct filling *f, size_t k)
{
	return (struct vpa_sequence){
		f->w->list->items[member_at(f, k)->rank], f->rests[k].items, f->rests[k].count};
}

static size_t longest(const struct filling *f)
{
	size_t k, best = 0;

	for (k = 1; k < f->team->count; k++)
		if (f->rests[k].count > f->rests[best].count)
			best = k;
	return best;
}

/* A lag, and the partners that it gives, where they are found with it. */
struct laid {
	struct vpa_lag lag;
	int is_followed; /* 1: the partners are found */
	size_t pairs;    /* how many of them */
};

/* How member k lies beside the reference, as a whole. What is known of its clock is tried first: of a thousand ranks most
 * are on a machine of which one rank is laid already. */
static struct laid first_lag(const struct filling *f, const struct vpa_sequence *a,
	const struct vpa_sequence *b, size_t k, uint32_t *partner)
{
	size_t shorter = a->count < b->count ? a->count : b->count;
	int share_clock = vpa_ranks_share_clock(a->rank, b->rank);
	struct vpa_lag lag;

	if (vpa_lag_by_order(a, b, share_clock, &lag))
		return (struct laid){.lag = lag};
	lag = (struct vpa_lag){.share_clock = share_clock, .pairs = share_clock != 0};
	if (!share_clock && f->rests[k].leader != k)
		lag = f->rests[f->rests[k].leader].lag;
	lag.is_by_order = 0;
	if (lag.pairs && vpa_lag_follow(a, b, &lag, partner) == shorter) {
		lag.pairs = shorter;
		return (struct laid){lag, 1, shorter};
	}
	/* Of as many each to each there is one way only. */
	if (a->count == b->count && vpa_lag_none(a, b, share_clock, &lag) &&
		vpa_lag_follow(a, b, &lag, partner) == shorter)
		return (struct laid){lag, 1, shorter};
	return (struct laid){.lag = vpa_lag_find(a, b, share_clock, partner)};
}

/* How the rest of member k lies beside that of the reference. A few collectives do not show it, but all of them have. */
static struct laid lag_of_rest(const struct filling *f, size_t k, uint32_t *partner)
{
	struct vpa_sequence a = rest_of(f, f->reference), b = rest_of(f, k);
	const struct vpa_lag *x = &f->rests[f->reference].lag, *y = &f->rests[k].lag;
	struct vpa_lag lag;
	int64_t since_ns;

	if (f->is_first)
		return first_lag(f, &a, &b, k, partner);
	if (!x->pairs || !y->pairs || !a.count)
		return (struct laid){.lag = {.pairs = 0}};
	since_ns = (int64_t)(vpa_rank_end_ns(a.rank, a.items[0]) - f->first_end_ns) - x->offset_ns;
	lag = (struct vpa_lag){.ppb = y->ppb - x->ppb,
		.share_clock = vpa_ranks_share_clock(a.rank, b.rank),
		.pairs = 1};
	lag.offset_ns =
		y->offset_ns - x->offset_ns + (int64_t)((__int128)lag.ppb * since_ns / 1000000000);
	lag.deviation_ns = x->deviation_ns > y->deviation_ns ? x->deviation_ns : y->deviation_ns;
	return (struct laid){.lag = lag};
}

/* Takes the items that have a partner out of what is left of a member. `pairs`: how many these are. 0 or VPT_ENOMEM. */
static int take_out(struct rest *r, size_t row_count, const uint32_t *partner, size_t pairs)
{
	size_t row, i, kept = 0;

	if (pairs == r->count) {
		r->count = 0;
		return VPT_OK;
	}
	if (!r->own)
		r->own = vpt_alloc(r->count, sizeof(*r->own));
	if (!r->own)
		return VPT_ENOMEM;
	/* Partners ascend as the rows do. */
	for (row = i = 0; i < r->count; i++) {
		while (row < row_count && (partner[row] == VPA_NO_COLLECTIVE || partner[row] < i))
			row++;
		if (row == row_count || partner[row] != i)
			r->own[kept++] = r->items[i];
	}
	r->items = r->own;
	r->count = kept;
	return VPT_OK;
}

/* Makes the column of member k the group's own, with room for `rows`. 0 or VPT_ENOMEM. */
static int own_column(struct vpa_group *g, size_t k, size_t rows)
{
	uint32_t *column = vpt_alloc(rows + 1, sizeof(*column));

	if (!column)
		return VPT_ENOMEM;
	if (g->row_count)
		memcpy(column, g->columns[k], g->row_count * sizeof(*column));
	if (g->lists[k])
		vpa_item_list_drop(g->lists[k]);
	else
		vpt_free(g->columns[k]);
	g->lists[k] = NULL;
	g->columns[k] = column;
	return VPT_OK;
}

/* Finds the column of member k for the rows of a pass. Of a first pass, where it lacks none and has no others, it is its list. */
static int fill_member(void *ctx, unsigned thread, size_t k)
{
	const struct filling *f = ctx;
	struct vpa_sequence a = rest_of(f, f->reference), b = rest_of(f, k);
	struct rest *r = &f->rests[k];
	uint32_t *partner = f->partner[thread];
	struct laid laid;
	size_t row;

	if (k == f->reference)
		return VPT_OK;
	laid = lag_of_rest(f, k, partner);
	if (f->is_first)
		r->lag = laid.lag;
	if (!laid.is_followed)
		laid.pairs = vpa_lag_follow(&a, &b, &laid.lag, partner);
	/* Partners ascend. */
	if (f->is_first && laid.pairs == a.count && laid.pairs == b.count)
		return take_out(r, a.count, partner, laid.pairs);
	r->column = vpt_alloc(a.count, sizeof(*r->column));
	if (!r->column)
		return VPT_ENOMEM;
	for (row = 0; row < a.count; row++)
		r->column[row] = partner[row] == VPA_NO_COLLECTIVE ? VPA_NO_COLLECTIVE
								   : b.items[partner[row]];
	return take_out(r, a.count, partner, laid.pairs);
}

static int fill_leader(void *ctx, unsigned thread, size_t k)
{
	return ((struct filling *)ctx)->rests[k].leader == k ? fill_member(ctx, thread, k) : VPT_OK;
}

static int fill_follower(void *ctx, unsigned thread, size_t k)
{
	return ((struct filling *)ctx)->rests[k].leader != k ? fill_member(ctx, thread, k) : VPT_OK;
}

/* Keeps the rows of a pass that two or more have; all are in the group, after those of the passes before. Columns that are lists have
 * all of them. 0 or VPT_ENOMEM. */
static int keep_rows(struct filling *f, size_t rows)
{
	struct vpa_group *g = f->group;
	size_t k, row, kept = 0, before = g->row_count;
	uint32_t lists = 0;

	for (k = 0; k < g->rank_count; k++)
		lists += g->lists[k] != NULL;
	for (row = 0; row < rows; row++)
		f->present[row] = lists;
	for (k = 0; k < g->rank_count; k++)
		for (row = 0; !g->lists[k] && row < rows; row++)
			f->present[row] += g->columns[k][before + row] != VPA_NO_COLLECTIVE;
	for (row = 0; row < rows; row++)
		kept += f->present[row] > 1;
	g->row_count += rows;
	for (k = 0; kept < rows && k < g->rank_count; k++) {
		uint32_t *column;
		size_t to = 0;

		if (g->lists[k] && own_column(g, k, g->row_count))
			return VPT_ENOMEM;
		column = g->columns[k] + before;
		for (row = 0; row < rows; row++)
			if (f->present[row] > 1)
				column[to++] = column[row];
	}
	g->row_count = before + kept;
	return VPT_OK;
}

/* The columns of a pass become those of the group, or are put after them. 0 or VPT_ENOMEM. */
static int take_columns(struct filling *f, size_t rows)
{
	struct vpa_group *g = f->group;
	size_t k;

	for (k = 0; k < g->rank_count; k++) {
		struct rest *r = &f->rests[k];

		if (!g->columns[k]) {
			g->lists[k] = r->column ? NULL : vpa_item_list_take(member_at(f, k)->items);
			g->columns[k] = r->column ? r->column : g->lists[k]->items;
			r->column = NULL;
			continue;
		}
		if (own_column(g, k, g->row_count + rows))
			return VPT_ENOMEM;
		memcpy(g->columns[k] + g->row_count, r->column ? r->column : r->items,
			rows * sizeof(*r->column));
		vpt_free(r->column);
		r->column = NULL;
	}
	return VPT_OK;
}

/* Lays all rests beside the longest one, whose items then have all the partners that there are. */
static int fill_rows(struct filling *f, int is_first)
{
	size_t reference = longest(f), rows = f->rests[reference].count;
	struct vpa_group *g = f->group;
	int rc;

	if (!rows)
		return VPT_OK;
	f->reference = reference;
	f->is_first = is_first;
	if (is_first) {
		g->reference = (uint32_t)reference;
		f->rests[reference].lag.pairs = 1;
		f->first_end_ns =
			vpa_rank_end_ns(rest_of(f, reference).rank, f->rests[reference].items[0]);
	}
	rc = vpa_in_threads(f->threads, f->team->count, fill_leader, f);
	if (!rc)
		rc = vpa_in_threads(f->threads, f->team->count, fill_follower, f);
	if (!rc)
		rc = take_columns(f, rows);
	f->rests[reference].count = 0;
	return rc ? rc : keep_rows(f, rows);
}

/* The items of members become their rests. */
static int take_items(struct filling *f)
{
	size_t k, most = 0;
	unsigned i;
	int failed = 0;

	f->rests = vpt_calloc(f->team->count, sizeof(*f->rests));
	for (k = 0; f->rests && k < f->team->count; k++) {
		const struct vpa_member *m = member_at(f, k);

		f->group->ranks[k] = m->rank;
		f->rests[k].items = m->items->items;
		f->rests[k].count = m->items->count;
		f->rests[k].leader =
			k && vpa_ranks_share_clock(rest_of(f, k - 1).rank, rest_of(f, k).rank)
				? f->rests[k - 1].leader
				: k;
		most = m->items->count > most ? m->items->count : most;
	}
	for (i = 0; i < f->threads; i++) {
		f->partner[i] = vpt_alloc(most, sizeof(**f->partner));
		failed |= !f->partner[i];
	}
	f->present = vpt_alloc(most, sizeof(*f->present));
	return f->rests && f->present && !failed ? VPT_OK : VPT_ENOMEM;
}

/* A second and third pass join those that the reference itself lacks. */
static int fill_group(
	const struct vpa_members *w, const struct team *team, unsigned threads, struct vpa_group *g)
{
	struct filling f = {.w = w, .team = team, .group = g, .threads = threads};
	const struct vpa_member *reference;
	unsigned i;
	size_t k;
	int pass, rc;

	g->rank_count = team->count;
	g->ranks = vpt_alloc(team->count, sizeof(*g->ranks));
	g->columns = vpt_calloc(team->count, sizeof(*g->columns));
	g->lists = vpt_calloc(team->count, sizeof(*g->lists));
	rc = g->ranks && g->columns && g->lists ? take_items(&f) : VPT_ENOMEM;
	for (pass = 0; pass < PASSES && !rc; pass++)
		rc = fill_rows(&f, !pass);
	reference = member_at(&f, g->reference);
	g->lane = reference->lane;
	g->name = reference->name;
	for (k = 0; f.rests && k < team->count; k++) {
		vpt_free(f.rests[k].own);
		vpt_free(f.rests[k].column);
	}
	vpt_free(f.rests);
	for (i = 0; i < f.threads; i++)
		vpt_free(f.partner[i]);
	vpt_free(f.present);
	return rc;
}

static void count_unmatched(const struct vpa_group *g, uint64_t *unmatched)
{
	size_t row, k;

	for (k = 0; k < g->rank_count; k++) {
		uint64_t count = 0;

		for (row = 0; !g->lists[k] && row < g->row_count; row++)
			count += vpa_group_cell(g, row, k) != VPA_NO_COLLECTIVE;
		if (g->lists[k])
			count = g->row_count;
		unmatched[g->ranks[k]] -= count;
	}
}

/* Groups, and who is in them. */
struct groups {
	struct vpa_members *w;
	struct vpa_matching *out;
	struct team *teams; /* by group */
	size_t team_cap;
	unsigned threads;
};

enum {
	LARGE = 64 /* members of a group whose members several threads take; of others they take whole groups */
};

static int take_group(struct groups *x, size_t group, unsigned threads)
{
	const struct team *team = &x->teams[group];
	int rc = fill_group(x->w, team, threads, &x->out->groups[group]);
	size_t i;

	for (i = 0; i < team->count; i++) {
		vpa_item_list_drop(x->w->items[team->members[i]].items);
		x->w->items[team->members[i]].items = NULL;
	}
	return rc;
}

static int take_small_group(void *ctx, unsigned thread, size_t group)
{
	struct groups *x = ctx;

	(void)thread;
	return x->teams[group].count < LARGE ? take_group(x, group, 1) : VPT_OK;
}

static int list_groups(struct groups *x)
{
	struct vpa_matching *out = x->out;
	uint32_t cluster;
	int rc = VPT_OK;

	for (cluster = 0; cluster < x->w->cluster_count && !rc; cluster++) {
		size_t count = out->group_count + 1;

		if (vpt_grow_zeroed(&x->teams, &x->team_cap, count, sizeof(*x->teams)) ||
			vpt_grow_zeroed(&out->groups, &out->group_cap, count, sizeof(*out->groups)))
			return VPT_ENOMEM;
		rc = list_team(x->w, cluster, &x->teams[out->group_count]);
		out->group_count += x->teams[out->group_count].count >= 2;
	}
	return rc;
}

static int fill_groups(struct groups *x)
{
	size_t i;
	int rc = list_groups(x);

	for (i = 0; i < x->out->group_count && !rc; i++)
		if (x->teams[i].count >= LARGE)
			rc = take_group(x, i, x->threads);
	if (!rc)
		rc = vpa_in_threads(x->threads, x->out->group_count, take_small_group, x);
	for (i = 0; i < x->team_cap; i++)
		vpt_free(x->teams[i].members);
	vpt_free(x->teams);
	return rc;
}

int vpa_match(const struct vpa_rank_list *list, struct vpa_matching *out)
{
	struct vpa_members members;
	struct groups groups = {.w = &members, .out = out, .threads = vpa_rank_threads(list)};
	size_t i;
	int rc = vpa_members_find(list, &members);

	*out = (struct vpa_matching){.is_by_stream = members.is_by_stream};
	out->unmatched = vpt_calloc(list->count + 1, sizeof(*out->unmatched));
	if (!out->unmatched)
		rc = VPT_ENOMEM;
	if (!rc)
		rc = fill_groups(&groups);
	for (i = 0; out->unmatched && i < list->count; i++)
		out->unmatched[i] = list->items[i]->collective_count;
	for (i = 0; !rc && i < out->group_count; i++)
		count_unmatched(&out->groups[i], out->unmatched);
	vpa_members_free(&members);
	return rc;
}

void vpa_matching_free(struct vpa_matching *m)
{
	size_t i, k;

	for (i = 0; i < m->group_count; i++) {
		struct vpa_group *g = &m->groups[i];

		for (k = 0; g->columns && g->lists && k < g->rank_count; k++)
			if (g->lists[k])
				vpa_item_list_drop(g->lists[k]);
			else
				vpt_free(g->columns[k]);
		vpt_free(g->ranks);
		vpt_free(g->columns);
		vpt_free(g->lists);
	}
	vpt_free(m->groups);
	vpt_free(m->unmatched);
	*m = (struct vpa_matching){0};
}
