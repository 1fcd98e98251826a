/* members.c - by key of collectives, then by name or by how well ends agree. */
#include "analysis/ranks/alignment/matching.h"

#include "analysis/base/index.h"
#include "analysis/base/sort.h"
#include "analysis/ranks/rank/same_calls.h"
#include "formats/base/memory.h"

#include <string.h>

enum {
	/* ns by which the ends of one communicator may differ, at the median: that much always, that much at most. */
	DEVIATION_LEAST = 5000,
	DEVIATION_MOST = 300000,
	NEIGHBOURS = 32,
	STREAM = 0,
	NAMED = 1
};

static struct vpa_sequence sequence_of(const struct vpa_members *w, const struct vpa_member *m)
{
	return (struct vpa_sequence){w->list->items[m->rank], m->items->items, m->items->count};
}

/* ---- members ---- */

/* The member of the collectives with this key: its index from the rank's first member on. */
static int find_member(struct vpa_members *w, struct vpa_index *of_rank, size_t first,
	uint32_t rank, const struct vpa_collective_key *key, uint32_t *row)
{
	uint64_t name = key->group ? vpt_strings_put(&w->names, key->group, strlen(key->group)) : 0;
	struct vpa_member *m;

	*row = name == VPT_NO_ID ? UINT32_MAX
				 : vpa_index_put(of_rank, key->group ? NAMED : STREAM,
					   key->group ? name : key->lane);
	if (*row == UINT32_MAX ||
		vpt_grow_zeroed(&w->items, &w->cap, first + *row + 1, sizeof(*w->items)))
		return VPT_ENOMEM;
	if (w->count <= first + *row)
		w->count = first + *row + 1;
	m = &w->items[first + *row];
	m->rank = rank;
	m->name = key->group;
	m->group = key->group ? name + 1 : 0;
	m->lane = key->lane;
	return VPT_OK;
}

/* Members of a rank: the first one, and which one each of its keys is of. */
struct listed {
	const struct vpa_rank *rank;
	size_t first;
	uint32_t *rows;
	size_t row_cap;
};

/* Whether two ranks made the same calls, whatever their communicators are called. */
static int are_same_lists(const struct listed *a, const struct listed *b)
{
	const struct vpa_rank *x = a->rank, *y = b->rank;
	size_t bytes = y->collective_count * sizeof(*y->key_low);

	return x && x->key_count == y->key_count && x->collective_count == y->collective_count &&
	       !x->key_high && !y->key_high &&
	       !memcmp(a->rows, b->rows, y->key_count * sizeof(*b->rows)) &&
	       (!bytes || !memcmp(x->key_low, y->key_low, bytes));
}

static int list_items(struct vpa_members *w, const struct listed *of)
{
	const struct vpa_rank *r = of->rank;
	size_t *counts = vpt_calloc(w->count - of->first + 1, sizeof(*counts)), m;
	int rc = counts ? VPT_OK : VPT_ENOMEM;
	uint32_t i;

	for (i = 0; i < r->collective_count && !rc; i++)
		counts[of->rows[vpa_rank_key_index(r, i)]]++;
	for (m = of->first; m < w->count && !rc; m++) {
		w->items[m].items = vpa_item_list_new(counts[m - of->first]);
		rc = w->items[m].items ? VPT_OK : VPT_ENOMEM;
	}
	for (i = 0; i < r->collective_count && !rc; i++) {
		struct vpa_item_list *x =
			w->items[of->first + of->rows[vpa_rank_key_index(r, i)]].items;

		x->items[x->count++] = i;
	}
	vpt_free(counts);
	return rc;
}

static int list_members_of(
	struct vpa_members *w, uint32_t rank, const struct listed *before, struct listed *out)
{
	const struct vpa_rank *r = w->list->items[rank];
	struct vpa_index of_rank = {.count = 0};
	uint32_t i;
	size_t m;
	int rc = vpt_grow(&out->rows, &out->row_cap, r->key_count + 1, sizeof(*out->rows));

	out->rank = r;
	out->first = w->count;
	for (i = 0; i < r->key_count && !rc; i++)
		rc = find_member(w, &of_rank, out->first, rank, &r->keys[i], &out->rows[i]);
	vpa_index_free(&of_rank);
	if (rc || !are_same_lists(before, out))
		return rc ? rc : list_items(w, out);
	for (m = out->first; m < w->count; m++)
		w->items[m].items =
			vpa_item_list_take(w->items[before->first + m - out->first].items);
	return VPT_OK;
}

static int list_members(struct vpa_members *w)
{
	struct listed of[2] = {{.rank = NULL}, {.rank = NULL}};
	uint32_t rank;
	int rc = VPT_OK;

	for (rank = 0; rank < w->list->count && !rc; rank++)
		rc = list_members_of(w, rank, &of[(rank + 1) % 2], &of[rank % 2]);
	vpt_free(of[0].rows);
	vpt_free(of[1].rows);
	return rc;
}

/* ---- clusters ---- */

static int begin_cluster(struct vpa_members *w, uint32_t member)
{
	if (vpt_grow(&w->references, &w->reference_cap, w->cluster_count + 1,
		    sizeof(*w->references)))
		return VPT_ENOMEM;
	w->items[member].cluster = (uint32_t)w->cluster_count;
	w->references[w->cluster_count++] = member;
	return VPT_OK;
}

/* By how much the ends of two sequences differ; UINT64_MAX: they are not one communicator's. */
static struct vpa_agreement difference_of(
	const struct vpa_members *w, uint32_t reference, uint32_t member)
{
	const struct vpa_member *x = &w->items[reference], *y = &w->items[member];
	struct vpa_sequence a = sequence_of(w, x), b = sequence_of(w, y);
	struct vpa_lag lag = vpa_lag_find(&a, &b,
		vpa_ranks_share_clock(w->list->items[x->rank], w->list->items[y->rank]),
		w->partner);

	vpa_lag_follow(&a, &b, &lag, w->partner);
	return vpa_lag_agreement(&a, &b, w->partner);
}

static int has_rank(const struct vpa_members *w, uint32_t cluster, uint32_t rank)
{
	size_t i;

	for (i = 0; i < w->count; i++)
		if (w->items[i].cluster == cluster && w->items[i].rank == rank)
			return 1;
	return 0;
}

/* By how much the ends of its nearest other differ, of sequences without a name. */
static int64_t nearest(const struct vpa_members *w, uint32_t member)
{
	uint32_t from = member > NEIGHBOURS ? member - NEIGHBOURS : 0, i;
	uint64_t best = DEVIATION_MOST;

	for (i = from; i < w->count && i <= member + NEIGHBOURS; i++) {
		uint64_t ns;

		if (w->items[i].group || w->items[i].rank == w->items[member].rank)
			continue;
		ns = difference_of(w, i, member).median_ns;
		best = ns < best ? ns : best;
	}
	return (int64_t)best;
}

/* By how much ends of the right sequences differ: four times the median of the nearest ones, of all with this lane. One
 * whose partners are all missing is near to none. `numbers` has room for all members. */
static uint64_t deviation_of_lane(const struct vpa_members *w, uint32_t lane, int64_t *numbers)
{
	size_t count = 0;
	uint64_t ns;
	uint32_t i;

	for (i = 0; i < w->count; i++)
		if (!w->items[i].group && w->items[i].lane == lane)
			numbers[count++] = nearest(w, i);
	ns = count ? 4 * (uint64_t)vpa_nth(numbers, count, count / 2) : 0;
	return ns < DEVIATION_LEAST ? DEVIATION_LEAST : ns > DEVIATION_MOST ? DEVIATION_MOST : ns;
}

/* The cluster of a stream whose communicator has no name, of those whose ends differ by at most so much at the median. Communicators
 * that work in step agree at the median too, so the mean chooses. */
static int find_cluster(struct vpa_members *w, uint32_t member, uint64_t most_ns)
{
	uint32_t cluster, found = UINT32_MAX;
	uint64_t best_ns = UINT64_MAX;

	for (cluster = 0; cluster < w->cluster_count; cluster++) {
		struct vpa_agreement by;

		if (w->items[w->references[cluster]].group ||
			has_rank(w, cluster, w->items[member].rank))
			continue;
		by = difference_of(w, w->references[cluster], member);
		if (by.median_ns <= most_ns && (found == UINT32_MAX || by.mean_ns < best_ns)) {
			best_ns = by.mean_ns;
			found = cluster;
		}
	}
	if (found == UINT32_MAX)
		return begin_cluster(w, member);
	w->items[member].cluster = found;
	return VPT_OK;
}

/* ---- messages ---- */

/* In a ring the ends of ranks differ that are far from each other. But a rank does not exchange messages with itself: one that is
 * alone in its cluster is of another one, that of the rank from which it is apart least often. */
static uint32_t find_company(const struct vpa_members *w, uint32_t member)
{
	const struct vpa_member *m = &w->items[member];
	const struct vpa_rank *r = w->list->items[m->rank];
	size_t least = SIZE_MAX;
	uint32_t found = UINT32_MAX, i;

	for (i = 0; i < w->count; i++) {
		const struct vpa_member *x = &w->items[i];
		const struct vpa_rank *other = w->list->items[x->rank];
		int share_clock = vpa_ranks_share_clock(r, other);
		struct vpa_sequence a = sequence_of(w, m), b = sequence_of(w, x);
		struct vpa_lag lag;
		size_t apart;

		if (x->group || x->rank == m->rank || x->cluster == m->cluster ||
			has_rank(w, x->cluster, m->rank) ||
			!vpa_lag_by_order(&a, &b, share_clock, &lag))
			continue;
		apart = vpa_messages_apart(r, other, m->items->items, m->items->count, share_clock);
		if (apart < least) {
			least = apart;
			found = x->cluster;
		}
	}
	return found;
}

static int is_alone(const struct vpa_members *w, uint32_t member)
{
	uint32_t i;

	for (i = 0; i < w->count; i++)
		if (i != member && w->items[i].cluster == w->items[member].cluster)
			return 0;
	return w->items[member].items->count &&
	       vpa_rank_key(w->list->items[w->items[member].rank], w->items[member].items->items[0])
			       ->kind == VPA_COLLECTIVE_SEND_RECV;
}

static void join_messages(struct vpa_members *w)
{
	uint32_t i;

	for (i = 0; i < w->count; i++)
		if (!w->items[i].group && is_alone(w, i)) {
			uint32_t cluster = find_company(w, i);

			if (cluster != UINT32_MAX)
				w->items[i].cluster = cluster;
		}
}

static int find_named(struct vpa_members *w, struct vpa_index *named, uint32_t member)
{
	size_t before = named->count;
	uint32_t row = vpa_index_put(named, w->items[member].group, 0);

	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	if (row == before)
		return begin_cluster(w, member);
	w->items[member].cluster = row;
	return VPT_OK;
}

/* Lane by lane: streams used first on one rank are used first on the others. */
static int cluster_streams(struct vpa_members *w)
{
	int64_t *numbers = vpt_alloc(w->count + 1, sizeof(*numbers));
	uint32_t lane, lanes = 0, i;
	size_t most = 0;
	int rc;

	for (i = 0; i < w->count; i++)
		most = w->items[i].items->count > most ? w->items[i].items->count : most;
	w->partner = vpt_alloc(most, sizeof(*w->partner));
	rc = numbers && w->partner ? VPT_OK : VPT_ENOMEM;
	for (i = 0; i < w->count; i++)
		if (!w->items[i].group && w->items[i].lane >= lanes)
			lanes = w->items[i].lane + 1;
	for (lane = 0; lane < lanes && !rc; lane++) {
		uint64_t most_ns = deviation_of_lane(w, lane, numbers);

		for (i = 0; i < w->count && !rc; i++)
			if (!w->items[i].group && w->items[i].lane == lane)
				rc = find_cluster(w, i, most_ns);
	}
	vpt_free(numbers);
	return rc;
}

/* Named ones first, so that their rows in the index are clusters. */
static int find_clusters(struct vpa_members *w)
{
	struct vpa_index named = {.count = 0};
	uint32_t i;
	int rc = VPT_OK;

	for (i = 0; i < w->count; i++)
		w->items[i].cluster = UINT32_MAX;
	for (i = 0; i < w->count && !rc; i++)
		if (w->items[i].group)
			rc = find_named(w, &named, i);
	w->is_by_stream = !w->cluster_count && w->count;
	if (!rc)
		rc = cluster_streams(w);
	if (!rc)
		join_messages(w);
	vpa_index_free(&named);
	return rc;
}

int vpa_members_find(const struct vpa_rank_list *list, struct vpa_members *out)
{
	int rc;

	*out = (struct vpa_members){.list = list};
	rc = list_members(out);
	return rc ? rc : find_clusters(out);
}

void vpa_members_free(struct vpa_members *m)
{
	size_t i;

	for (i = 0; i < m->count; i++)
		vpa_item_list_drop(m->items[i].items);
	vpt_free(m->items);
	vpt_free(m->references);
	vpt_free(m->partner);
	vpt_strings_free(&m->names);
}
