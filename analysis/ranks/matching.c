/* matching.c - sequences of ranks become groups, groups rows.
 *
 * Without names a stream may be another communicator on each rank: a sequence joins the group with whose reference its
 * ends agree best, and begins a group of its own if they agree with none. */
#include "analysis/ranks/matching.h"

#include "analysis/base/index.h"
#include "analysis/base/sort.h"
#include "analysis/ranks/lags.h"
#include "formats/base/memory.h"
#include "formats/chunk/strings.h"

#include <stdlib.h>
#include <string.h>

enum {
	/* ns by which the ends of one communicator may differ, at the median: that much always, that much at most. */
	DEVIATION_LEAST = 5000,
	DEVIATION_MOST = 300000,
	NEIGHBOURS = 32,
	PASSES = 3,
	STREAM = 0,
	NAMED = 1
};

/* The collectives of one rank in one communicator. */
struct member {
	uint32_t rank, *items;
	size_t count, cap;
	uint64_t group; /* 1 + id of the name; 0: not known */
	uint32_t lane;
	uint32_t cluster; /* members with the same are one group */
};

struct work {
	const struct vpa_rank_list *list;
	struct vpt_strings names;
	struct member *members;
	size_t member_count, member_cap;
	uint32_t *references; /* by cluster: index of a member */
	size_t cluster_count, reference_cap;
	uint32_t *partner; /* room for the longest sequence */
	struct vpa_matching *out;
};

static int is_same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

int vpa_ranks_share_clock(const struct vpa_rank *a, const struct vpa_rank *b)
{
	if (is_same(a->capture, b->capture) || is_same(a->boot_id, b->boot_id))
		return 1;
	return !(a->boot_id && b->boot_id) && is_same(a->host, b->host);
}

static struct vpa_sequence sequence_of(const struct work *w, const struct member *m)
{
	return (struct vpa_sequence){w->list->items[m->rank], m->items, m->count};
}

/* ---- members ---- */

/* The member of the collectives with this key: its index from the rank's first member on. */
static int find_member(struct work *w, struct vpa_index *of_rank, size_t first, uint32_t rank,
	const struct vpa_collective_key *key, uint32_t *row)
{
	uint64_t name = key->group ? vpt_strings_put(&w->names, key->group, strlen(key->group)) : 0;
	struct member *m;

	*row = name == VPT_NO_ID ? UINT32_MAX
				 : vpa_index_put(of_rank, key->group ? NAMED : STREAM,
					   key->group ? name : key->lane);
	if (*row == UINT32_MAX ||
		vpt_grow_zeroed(&w->members, &w->member_cap, first + *row + 1, sizeof(*w->members)))
		return VPT_ENOMEM;
	if (w->member_count <= first + *row)
		w->member_count = first + *row + 1;
	m = &w->members[first + *row];
	m->rank = rank;
	m->group = key->group ? name + 1 : 0;
	m->lane = key->lane;
	return VPT_OK;
}

static int list_members_of(struct work *w, uint32_t rank)
{
	const struct vpa_rank *r = w->list->items[rank];
	struct vpa_index of_rank = {.count = 0};
	uint32_t *rows = vpt_alloc(r->key_count + 1, sizeof(*rows)), i;
	size_t first = w->member_count;
	int rc = rows ? VPT_OK : VPT_ENOMEM;

	for (i = 0; i < r->key_count && !rc; i++)
		rc = find_member(w, &of_rank, first, rank, &r->keys[i], &rows[i]);
	for (i = 0; i < r->collective_count && !rc; i++) {
		struct member *m = &w->members[first + rows[r->collectives[i].key]];

		rc = vpt_grow(&m->items, &m->cap, m->count + 1, sizeof(*m->items));
		if (!rc)
			m->items[m->count++] = i;
	}
	vpt_free(rows);
	vpa_index_free(&of_rank);
	return rc;
}

static int list_members(struct work *w)
{
	uint32_t rank;
	int rc = VPT_OK;

	for (rank = 0; rank < w->list->count && !rc; rank++)
		rc = list_members_of(w, rank);
	return rc;
}

/* ---- clusters ---- */

static int begin_cluster(struct work *w, uint32_t member)
{
	if (vpt_grow(&w->references, &w->reference_cap, w->cluster_count + 1,
		    sizeof(*w->references)))
		return VPT_ENOMEM;
	w->members[member].cluster = (uint32_t)w->cluster_count;
	w->references[w->cluster_count++] = member;
	return VPT_OK;
}

/* By how much the ends of two sequences differ, at the median; UINT64_MAX: they are not one communicator's. */
static uint64_t difference_of(const struct work *w, uint32_t reference, uint32_t member)
{
	const struct member *x = &w->members[reference], *y = &w->members[member];
	struct vpa_sequence a = sequence_of(w, x), b = sequence_of(w, y);
	struct vpa_lag lag = vpa_lag_find(&a, &b,
		vpa_ranks_share_clock(w->list->items[x->rank], w->list->items[y->rank]),
		w->partner);

	vpa_lag_follow(&a, &b, &lag, w->partner);
	return vpa_lag_agreement(&a, &b, w->partner);
}

static int has_rank(const struct work *w, uint32_t cluster, uint32_t rank)
{
	size_t i;

	for (i = 0; i < w->member_count; i++)
		if (w->members[i].cluster == cluster && w->members[i].rank == rank)
			return 1;
	return 0;
}

/* By how much the ends of its nearest other differ, of sequences without a name. */
static int64_t nearest(const struct work *w, uint32_t member)
{
	uint32_t from = member > NEIGHBOURS ? member - NEIGHBOURS : 0, i;
	uint64_t best = DEVIATION_MOST;

	for (i = from; i < w->member_count && i <= member + NEIGHBOURS; i++) {
		uint64_t ns;

		if (w->members[i].group || w->members[i].rank == w->members[member].rank)
			continue;
		ns = difference_of(w, i, member);
		best = ns < best ? ns : best;
	}
	return (int64_t)best;
}

/* By how much ends of the right sequences differ: four times the median of the nearest ones, of all with this lane. One
 * whose partners are all missing is near to none. `numbers` has room for all members. */
static uint64_t deviation_of_lane(const struct work *w, uint32_t lane, int64_t *numbers)
{
	size_t count = 0;
	uint64_t ns;
	uint32_t i;

	for (i = 0; i < w->member_count; i++)
		if (!w->members[i].group && w->members[i].lane == lane)
			numbers[count++] = nearest(w, i);
	ns = count ? 4 * (uint64_t)vpa_nth(numbers, count, count / 2) : 0;
	return ns < DEVIATION_LEAST ? DEVIATION_LEAST : ns > DEVIATION_MOST ? DEVIATION_MOST : ns;
}

/* The cluster of a stream whose communicator has no name, of those whose ends differ by at most so much. */
static int find_cluster(struct work *w, uint32_t member, uint64_t most_ns)
{
	uint32_t cluster, found = UINT32_MAX;
	uint64_t best_ns = most_ns;

	for (cluster = 0; cluster < w->cluster_count; cluster++) {
		uint64_t ns;

		if (w->members[w->references[cluster]].group ||
			has_rank(w, cluster, w->members[member].rank))
			continue;
		ns = difference_of(w, w->references[cluster], member);
		if (ns <= most_ns && (found == UINT32_MAX || ns < best_ns)) {
			best_ns = ns;
			found = cluster;
		}
	}
	if (found == UINT32_MAX)
		return begin_cluster(w, member);
	w->members[member].cluster = found;
	return VPT_OK;
}

static int find_named(struct work *w, struct vpa_index *named, uint32_t member)
{
	size_t before = named->count;
	uint32_t row = vpa_index_put(named, w->members[member].group, 0);

	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	if (row == before)
		return begin_cluster(w, member);
	w->members[member].cluster = row;
	return VPT_OK;
}

/* Lane by lane: streams used first on one rank are used first on the others. */
static int cluster_streams(struct work *w)
{
	int64_t *numbers = vpt_alloc(w->member_count + 1, sizeof(*numbers));
	uint32_t lane, lanes = 0, i;
	size_t most = 0;
	int rc;

	for (i = 0; i < w->member_count; i++)
		most = w->members[i].count > most ? w->members[i].count : most;
	w->partner = vpt_alloc(most, sizeof(*w->partner));
	rc = numbers && w->partner ? VPT_OK : VPT_ENOMEM;
	for (i = 0; i < w->member_count; i++)
		if (!w->members[i].group && w->members[i].lane >= lanes)
			lanes = w->members[i].lane + 1;
	for (lane = 0; lane < lanes && !rc; lane++) {
		uint64_t most_ns = deviation_of_lane(w, lane, numbers);

		for (i = 0; i < w->member_count && !rc; i++)
			if (!w->members[i].group && w->members[i].lane == lane)
				rc = find_cluster(w, i, most_ns);
	}
	vpt_free(numbers);
	return rc;
}

/* Named ones first, so that their rows in the index are clusters. */
static int cluster(struct work *w)
{
	struct vpa_index named = {.count = 0};
	uint32_t i;
	int rc = VPT_OK;

	for (i = 0; i < w->member_count; i++)
		w->members[i].cluster = UINT32_MAX;
	for (i = 0; i < w->member_count && !rc; i++)
		if (w->members[i].group)
			rc = find_named(w, &named, i);
	w->out->is_by_stream = !w->cluster_count && w->member_count;
	if (!rc)
		rc = cluster_streams(w);
	vpa_index_free(&named);
	return rc;
}

/* ---- groups ---- */

/* Members of a cluster, by rank. */
struct team {
	uint32_t *members;
	size_t count, cap;
};

static int list_team(const struct work *w, uint32_t cluster, struct team *team)
{
	uint32_t i;

	team->count = 0;
	for (i = 0; i < w->member_count; i++) {
		/* A rank may name a communicator and never use it. */
		if (w->members[i].cluster != cluster || !w->members[i].count)
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
};

struct filling {
	const struct work *w;
	const struct team *team;
	struct vpa_group *group;
	struct rest *rests;        /* by member of the team */
	uint32_t *partner, *cells; /* of the reference's rest: of one member; of all */
	size_t row_cap;
};

static const struct member *member_at(const struct filling *f, size_t k)
{
	return &f->w->members[f->team->members[k]];
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

/* How the rest of member k lies beside that of the reference. A few collectives do not show it, but all of them have. */
static struct vpa_lag lag_of_rest(const struct filling *f, size_t reference, size_t k, int is_first)
{
	struct vpa_sequence a = rest_of(f, reference), b = rest_of(f, k);
	const struct vpa_lag *x = &f->rests[reference].lag, *y = &f->rests[k].lag;
	const struct member *first = member_at(f, f->group->reference);
	struct vpa_lag lag;
	int64_t since_ns;

	if (is_first)
		return vpa_lag_find(&a, &b, vpa_ranks_share_clock(a.rank, b.rank), f->partner);
	if (!x->pairs || !y->pairs || !a.count)
		return (struct vpa_lag){.pairs = 0};
	since_ns = (int64_t)(a.rank->collectives[a.items[0]].end_ns -
			     f->w->list->items[first->rank]->collectives[first->items[0]].end_ns) -
		   x->offset_ns;
	lag = (struct vpa_lag){.ppb = y->ppb - x->ppb,
		.share_clock = vpa_ranks_share_clock(a.rank, b.rank),
		.pairs = 1};
	lag.offset_ns =
		y->offset_ns - x->offset_ns + (int64_t)((__int128)lag.ppb * since_ns / 1000000000);
	lag.deviation_ns = x->deviation_ns > y->deviation_ns ? x->deviation_ns : y->deviation_ns;
	return lag;
}

/* Takes the items with a partner out of the rest of member k. */
static void take_out(struct filling *f, size_t k, size_t row_count)
{
	struct rest *r = &f->rests[k];
	size_t row, i, kept = 0;

	/* Partners ascend as the rows do. */
	for (row = i = 0; i < r->count; i++) {
		while (row < row_count &&
			(f->partner[row] == VPA_NO_COLLECTIVE || f->partner[row] < i))
			row++;
		if (row == row_count || f->partner[row] != i)
			r->items[kept++] = r->items[i];
	}
	r->count = kept;
}

static int add_row(struct filling *f, const uint32_t *cells)
{
	struct vpa_group *g = f->group;
	size_t k, n = 0;

	for (k = 0; k < g->rank_count; k++)
		n += cells[k] != VPA_NO_COLLECTIVE;
	if (n < 2)
		return VPT_OK;
	if (vpt_grow(&g->cells, &f->row_cap, g->row_count + 1, g->rank_count * sizeof(*g->cells)))
		return VPT_ENOMEM;
	memcpy(&g->cells[g->row_count++ * g->rank_count], cells, g->rank_count * sizeof(*cells));
	return VPT_OK;
}

/* Lays all rests beside the longest one, whose items then have all the partners that there are. */
static int fill_rows(struct filling *f, int is_first)
{
	size_t reference = longest(f), rows = f->rests[reference].count, n = f->team->count, k, row;
	int rc = VPT_OK;

	if (is_first)
		f->group->reference = (uint32_t)reference;
	for (k = 0; k < n; k++) {
		struct vpa_sequence a = rest_of(f, reference), b = rest_of(f, k);
		struct vpa_lag lag;

		if (k == reference) {
			f->rests[k].lag.pairs += is_first != 0;
			for (row = 0; row < rows; row++)
				f->cells[row * n + k] = a.items[row];
			continue;
		}
		lag = lag_of_rest(f, reference, k, is_first);
		if (is_first)
			f->rests[k].lag = lag;
		vpa_lag_follow(&a, &b, &lag, f->partner);
		for (row = 0; row < rows; row++)
			f->cells[row * n + k] = f->partner[row] == VPA_NO_COLLECTIVE
							? VPA_NO_COLLECTIVE
							: b.items[f->partner[row]];
		take_out(f, k, rows);
	}
	for (row = 0; row < rows && !rc; row++)
		rc = add_row(f, &f->cells[row * n]);
	f->rests[reference].count = 0;
	return rc;
}

static int copy_items(struct filling *f)
{
	size_t k, most = 0;

	f->rests = vpt_calloc(f->team->count, sizeof(*f->rests));
	for (k = 0; f->rests && k < f->team->count; k++) {
		const struct member *m = member_at(f, k);

		f->group->ranks[k] = m->rank;
		f->rests[k].items = vpt_alloc(m->count, sizeof(*m->items));
		if (!f->rests[k].items)
			return VPT_ENOMEM;
		memcpy(f->rests[k].items, m->items, m->count * sizeof(*m->items));
		f->rests[k].count = m->count;
		most = m->count > most ? m->count : most;
	}
	f->partner = vpt_alloc(most, sizeof(*f->partner));
	f->cells = vpt_alloc(most, f->team->count * sizeof(*f->cells));
	return f->rests && f->partner && f->cells ? VPT_OK : VPT_ENOMEM;
}

/* A second and third pass join those that the reference itself lacks. */
static int fill_group(const struct work *w, const struct team *team, struct vpa_group *g)
{
	struct filling f = {.w = w, .team = team, .group = g};
	const struct member *reference;
	size_t k;
	int pass, rc;

	g->rank_count = team->count;
	g->ranks = vpt_alloc(team->count, sizeof(*g->ranks));
	rc = g->ranks ? copy_items(&f) : VPT_ENOMEM;
	for (pass = 0; pass < PASSES && !rc; pass++)
		rc = fill_rows(&f, !pass);
	reference = member_at(&f, g->reference);
	g->lane = reference->lane;
	if (reference->group)
		g->name = vpa_rank_key(w->list->items[reference->rank], reference->items[0])->group;
	for (k = 0; f.rests && k < team->count; k++)
		vpt_free(f.rests[k].items);
	vpt_free(f.rests);
	vpt_free(f.partner);
	vpt_free(f.cells);
	return rc;
}

static void count_unmatched(const struct vpa_group *g, uint64_t *unmatched)
{
	size_t row, k;

	for (row = 0; row < g->row_count; row++)
		for (k = 0; k < g->rank_count; k++)
			unmatched[g->ranks[k]] -= vpa_group_cell(g, row, k) != VPA_NO_COLLECTIVE;
}

static int list_groups(struct work *w)
{
	struct vpa_matching *out = w->out;
	struct team team = {.count = 0};
	uint32_t cluster;
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
	}
	vpt_free(team.members);
	return rc;
}

int vpa_match(const struct vpa_rank_list *list, struct vpa_matching *out)
{
	struct work w = {.list = list, .out = out};
	size_t i;
	int rc;

	*out = (struct vpa_matching){.groups = NULL};
	out->unmatched = vpt_calloc(list->count + 1, sizeof(*out->unmatched));
	rc = out->unmatched ? list_members(&w) : VPT_ENOMEM;
	if (!rc)
		rc = cluster(&w);
	if (!rc)
		rc = list_groups(&w);
	for (i = 0; out->unmatched && i < list->count; i++)
		out->unmatched[i] = list->items[i]->collective_count;
	for (i = 0; !rc && i < out->group_count; i++)
		count_unmatched(&out->groups[i], out->unmatched);
	for (i = 0; i < w.member_count; i++)
		vpt_free(w.members[i].items);
	vpt_free(w.members);
	vpt_free(w.references);
	vpt_free(w.partner);
	vpt_strings_free(&w.names);
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
