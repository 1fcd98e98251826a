/* matching.c - clusters of sequences become groups, groups rows. */
#include "analysis/ranks/alignment/matching.h"

#include "analysis/ranks/alignment/members.h"
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
		if (w->items[i].cluster != cluster || !w->items[i].count)
			continue;
		if (vpt_grow(&team->members, &team->cap, team->count + 1, sizeof(*team->members)))
			return VPT_ENOMEM;
		team->members[team->count++] = i;
	}
	return VPT_OK;
}

/* What of a member's sequence has no partner yet, and how its clock lies beside that of the first reference. */
struct rest {
	uint32_t *items;
	size_t count;
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

/* Takes the items that have a partner out of what is left of a member. `pairs`: how many these are. */
static void take_out(struct rest *r, size_t row_count, const uint32_t *partner, size_t pairs)
{
	size_t row, i, kept = 0;

	if (pairs == r->count) {
		r->count = 0;
		return;
	}
	/* Partners ascend as the rows do. */
	for (row = i = 0; i < r->count; i++) {
		while (row < row_count && (partner[row] == VPA_NO_COLLECTIVE || partner[row] < i))
			row++;
		if (row == row_count || partner[row] != i)
			r->items[kept++] = r->items[i];
	}
	r->count = kept;
}

/* Makes room for `rows` more rows. */
static int add_room(struct vpa_group *g, size_t rows)
{
	size_t stride = g->row_count + rows, k;
	uint32_t *cells;

	if (!rows)
		return VPT_OK;
	cells = vpt_alloc(stride, g->rank_count * sizeof(*cells));
	if (!cells)
		return VPT_ENOMEM;
	for (k = 0; k < g->rank_count && g->row_count; k++)
		memcpy(&cells[k * stride], &g->cells[k * g->stride], g->row_count * sizeof(*cells));
	vpt_free(g->cells);
	g->cells = cells;
	g->stride = stride;
	return VPT_OK;
}

/* Writes the cells of member k of a pass. */
static int fill_member(void *ctx, unsigned thread, size_t k)
{
	const struct filling *f = ctx;
	struct vpa_sequence a = rest_of(f, f->reference), b = rest_of(f, k);
	uint32_t *cells = &f->group->cells[k * f->group->stride + f->group->row_count];
	uint32_t *partner = f->partner[thread];
	struct laid laid;
	size_t row;

	if (k == f->reference)
		return VPT_OK;
	laid = lag_of_rest(f, k, partner);
	if (f->is_first)
		f->rests[k].lag = laid.lag;
	if (!laid.is_followed)
		laid.pairs = vpa_lag_follow(&a, &b, &laid.lag, partner);
	for (row = 0; row < a.count; row++)
		cells[row] = partner[row] == VPA_NO_COLLECTIVE ? VPA_NO_COLLECTIVE
							       : b.items[partner[row]];
	take_out(&f->rests[k], a.count, partner, laid.pairs);
	return VPT_OK;
}

static int fill_leader(void *ctx, unsigned thread, size_t k)
{
	return ((struct filling *)ctx)->rests[k].leader == k ? fill_member(ctx, thread, k) : VPT_OK;
}

static int fill_follower(void *ctx, unsigned thread, size_t k)
{
	return ((struct filling *)ctx)->rests[k].leader != k ? fill_member(ctx, thread, k) : VPT_OK;
}

/* Keeps the rows of a pass that two or more have. */
static void keep_rows(struct filling *f, size_t rows)
{
	struct vpa_group *g = f->group;
	size_t k, row, kept = 0;

	memset(f->present, 0, rows * sizeof(*f->present));
	for (k = 0; k < g->rank_count; k++)
		for (row = 0; row < rows; row++)
			f->present[row] +=
				g->cells[k * g->stride + g->row_count + row] != VPA_NO_COLLECTIVE;
	for (row = 0; row < rows; row++)
		kept += f->present[row] > 1;
	for (k = 0; kept < rows && k < g->rank_count; k++) {
		uint32_t *cells = &g->cells[k * g->stride + g->row_count];
		size_t to = 0;

		for (row = 0; row < rows; row++)
			if (f->present[row] > 1)
				cells[to++] = cells[row];
	}
	g->row_count += kept;
}

/* Lays all rests beside the longest one, whose items then have all the partners that there are. */
static int fill_rows(struct filling *f, int is_first)
{
	size_t reference = longest(f), rows = f->rests[reference].count;
	struct vpa_group *g = f->group;
	int rc = add_room(g, rows);

	if (rc || !rows)
		return rc;
	f->reference = reference;
	f->is_first = is_first;
	if (is_first) {
		g->reference = (uint32_t)reference;
		f->rests[reference].lag.pairs = 1;
		f->first_end_ns =
			vpa_rank_end_ns(rest_of(f, reference).rank, f->rests[reference].items[0]);
	}
	memcpy(&g->cells[reference * g->stride + g->row_count], f->rests[reference].items,
		rows * sizeof(*g->cells));
	vpa_in_threads(f->threads, f->team->count, fill_leader, f);
	vpa_in_threads(f->threads, f->team->count, fill_follower, f);
	keep_rows(f, rows);
	f->rests[reference].count = 0;
	return VPT_OK;
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
		f->rests[k].items = m->items;
		f->rests[k].count = m->count;
		f->rests[k].leader =
			k && vpa_ranks_share_clock(rest_of(f, k - 1).rank, rest_of(f, k).rank)
				? f->rests[k - 1].leader
				: k;
		most = m->count > most ? m->count : most;
	}
	for (i = 0; i < f->threads; i++) {
		f->partner[i] = vpt_alloc(most, sizeof(**f->partner));
		failed |= !f->partner[i];
	}
	f->present = vpt_alloc(most, sizeof(*f->present));
	return f->rests && f->present && !failed ? VPT_OK : VPT_ENOMEM;
}

/* A second and third pass join those that the reference itself lacks. */
static int fill_group(const struct vpa_members *w, const struct team *team, struct vpa_group *g)
{
	struct filling f = {.w = w, .team = team, .group = g, .threads = vpa_rank_threads(w->list)};
	const struct vpa_member *reference;
	unsigned i;
	int pass, rc;

	g->rank_count = team->count;
	g->ranks = vpt_alloc(team->count, sizeof(*g->ranks));
	rc = g->ranks ? take_items(&f) : VPT_ENOMEM;
	for (pass = 0; pass < PASSES && !rc; pass++)
		rc = fill_rows(&f, !pass);
	reference = member_at(&f, g->reference);
	g->lane = reference->lane;
	g->name = reference->name;
	vpt_free(f.rests);
	for (i = 0; i < f.threads; i++)
		vpt_free(f.partner[i]);
	vpt_free(f.present);
	return rc;
}

static void count_unmatched(const struct vpa_group *g, uint64_t *unmatched)
{
	size_t row, k;

	for (k = 0; k < g->rank_count; k++)
		for (row = 0; row < g->row_count; row++)
			unmatched[g->ranks[k]] -= vpa_group_cell(g, row, k) != VPA_NO_COLLECTIVE;
}

static int list_groups(struct vpa_members *w, struct vpa_matching *out)
{
	struct team team = {.count = 0};
	uint32_t cluster;
	size_t i;
	int rc = VPT_OK;

	for (cluster = 0; cluster < w->cluster_count && !rc; cluster++) {
		rc = list_team(w, cluster, &team);
		if (rc || team.count < 2)
			continue;
		rc = vpt_grow(
			&out->groups, &out->group_cap, out->group_count + 1, sizeof(*out->groups));
		if (rc)
			break;
		out->groups[out->group_count] = (struct vpa_group){.name = NULL};
		rc = fill_group(w, &team, &out->groups[out->group_count++]);
		for (i = 0; i < team.count; i++) {
			vpt_free(w->items[team.members[i]].items);
			w->items[team.members[i]].items = NULL;
		}
	}
	vpt_free(team.members);
	return rc;
}

int vpa_match(const struct vpa_rank_list *list, struct vpa_matching *out)
{
	struct vpa_members members;
	size_t i;
	int rc = vpa_members_find(list, &members);

	*out = (struct vpa_matching){.is_by_stream = members.is_by_stream};
	out->unmatched = vpt_calloc(list->count + 1, sizeof(*out->unmatched));
	if (!out->unmatched)
		rc = VPT_ENOMEM;
	if (!rc)
		rc = list_groups(&members, out);
	for (i = 0; out->unmatched && i < list->count; i++)
		out->unmatched[i] = list->items[i]->collective_count;
	for (i = 0; !rc && i < out->group_count; i++)
		count_unmatched(&out->groups[i], out->unmatched);
	vpa_members_free(&members);
	return rc;
}

void vpa_matching_free(struct vpa_matching *m)
{
	size_t i;

	for (i = 0; i < m->group_count; i++) {
		vpt_free(m->groups[i].ranks);
		vpt_free(m->groups[i].cells);
	}
	vpt_free(m->groups);
	vpt_free(m->unmatched);
	*m = (struct vpa_matching){0};
}
