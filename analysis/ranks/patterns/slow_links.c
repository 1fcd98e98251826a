/* slow_links.c - what some ranks exchange takes longer than what others do, although nobody is late.
 *
 *	group a   all-gather of 1 MB   35 us 35 us 36 us
 *	group b   all-gather of 1 MB   35 us 34 us 35 us
 *	group c   all-gather of 1 MB   53 us 52 us 53 us       its link is slow
 *
 * Groups are compared that exchange as much, by the same call, among as many ranks; of sends and receives also the ranks of one
 * group: those at the ends of a slow link take longer. The usual time is the median; of two the shorter one. */
#include "analysis/ranks/patterns/patterns.h"

#include "analysis/base/sort.h"
#include "analysis/ranks/number_list.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"

#include <string.h>

enum {
	ROWS_LEAST = 4,
	ROWS_MOST = 2048, /* of messages: every nth is looked at */
	SLOW_PERCENT = 125,
	SLOW_NS = 1000 /* and so much longer at least */
};

/* Transfers of one call of a group. */
struct transfers {
	uint32_t group;
	const struct vpa_collective_key *key;
	size_t count;
	uint64_t median_ns;
	uint64_t usual_ns;   /* of the same call in other groups; UINT64_MAX: not known */
	double bus_gb_per_s; /* in that time; below 0: not known */
};

struct links {
	struct vpa_job *job;
	const struct vpa_job_rows *rows;
	struct transfers *items;
	size_t count, cap;
	int64_t *numbers; /* room for the rows of the longest group, and for all ranks */
	uint32_t *slow_groups_of,
		slow_groups; /* by rank, and all: those that are slow beside others */
};

static const struct vpa_collective_key *key_of(
	const struct vpa_job *job, const struct vpa_group *g, size_t row)
{
	size_t k;

	for (k = 0; vpa_group_cell(g, row, k) == VPA_NO_COLLECTIVE; k++)
		;
	return vpa_rank_key(job->list.items[g->ranks[k]], vpa_group_cell(g, row, k));
}

static int is_same_call(const struct vpa_collective_key *a, const struct vpa_collective_key *b)
{
	return a == b || (a->kind == b->kind && a->bytes == b->bytes && a->blocks == b->blocks &&
				 !strcmp(a->text, b->text));
}

static int is_slow(uint64_t ns, uint64_t usual_ns, uint64_t uncertainty_ns)
{
	return ns > vpt_sat_mul(usual_ns, SLOW_PERCENT) / 100 &&
	       vpt_sat_sub(ns, usual_ns) > vpt_sat_add(SLOW_NS, uncertainty_ns);
}

/* ---- groups beside each other ---- */

/* From the last arrival to the first end. */
static int64_t transfer_of(const struct vpa_job_row *row)
{
	return row->first_end_ns > row->last_ns ? row->first_end_ns - row->last_ns : 0;
}

/* Whether an earlier item of the group has this call. */
static int is_listed(const struct links *l, size_t first, const struct vpa_collective_key *key)
{
	size_t i;

	for (i = first; i < l->count; i++)
		if (is_same_call(l->items[i].key, key))
			return 1;
	return 0;
}

/* The calls of a group: there are few. */
static int list_calls(struct links *l, uint32_t group)
{
	const struct vpa_group *g = &l->job->matching.groups[group];
	const struct vpa_job_row *rows = &l->rows->items[l->rows->firsts[group]];
	const struct vpa_collective_key *before = NULL;
	size_t first = l->count, row, n;

	for (row = 0; row < g->row_count && l->count - first < 16; row++) {
		const struct vpa_collective_key *key = key_of(l->job, g, row);

		if (key == before || is_listed(l, first, key))
			continue;
		before = key;
		if (vpt_grow(&l->items, &l->cap, l->count + 1, sizeof(*l->items)))
			return VPT_ENOMEM;
		l->items[l->count++] =
			(struct transfers){.group = group, .key = key, .usual_ns = UINT64_MAX};
	}
	for (; first < l->count; first++) {
		struct transfers *t = &l->items[first];

		for (row = n = 0; row < g->row_count; row++)
			if (rows[row].count == g->rank_count &&
				is_same_call(t->key, key_of(l->job, g, row)))
				l->numbers[n++] = transfer_of(&rows[row]);
		t->count = n;
		t->median_ns = n ? (uint64_t)vpa_nth(l->numbers, n, n / 2) : 0;
		t->bus_gb_per_s = t->median_ns ? vpa_collective_bus_bytes(t->key->kind,
							 t->key->bytes, g->rank_count) /
							 (double)t->median_ns
					       : -1;
	}
	return VPT_OK;
}

static size_t members_of(const struct links *l, const struct transfers *t)
{
	return l->job->matching.groups[t->group].rank_count;
}

/* Calls that are alike are neighbours, those of few rows behind the others, and the fast ones first. */
struct alike {
	struct transfers *transfers;
	size_t members;
	int is_rare;
};

static int by_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_call(const struct alike *x, const struct alike *y)
{
	const struct vpa_collective_key *a = x->transfers->key, *b = y->transfers->key;
	int order = by_number(a->kind, b->kind);

	order = order ? order : by_number(a->bytes, b->bytes);
	order = order ? order : by_number(a->blocks, b->blocks);
	order = order ? order : by_number(x->members, y->members);
	order = order ? order : by_number((unsigned)x->is_rare, (unsigned)y->is_rare);
	return order || a == b ? order : strcmp(a->text, b->text);
}

static int by_call_and_time(const void *a, const void *b)
{
	const struct alike *x = a, *y = b;
	int order = by_call(x, y);

	return order ? order : by_number(x->transfers->median_ns, y->transfers->median_ns);
}

/* The median of the others, of two the shorter one. A group has a call once, so that others are of other groups. */
static void set_usual(const struct alike *alike, size_t count)
{
	size_t i, middle = (count - 2) / 2;

	for (i = 0; i < count && count > 1 && !alike->is_rare; i++)
		alike[i].transfers->usual_ns =
			alike[middle < i ? middle : middle + 1].transfers->median_ns;
}

static int find_usual(struct links *l)
{
	struct alike *alike = vpt_alloc(l->count + 1, sizeof(*alike));
	size_t i, first;
	int rc;

	if (!alike)
		return VPT_ENOMEM;
	for (i = 0; i < l->count; i++)
		alike[i] = (struct alike){
			&l->items[i], members_of(l, &l->items[i]), l->items[i].count < ROWS_LEAST};
	rc = vpa_sort(alike, l->count, sizeof(*alike), by_call_and_time);
	for (i = first = 0; i < l->count && !rc; i++)
		if (i + 1 == l->count || by_call(&alike[i], &alike[i + 1])) {
			set_usual(&alike[first], i + 1 - first);
			first = i + 1;
		}
	vpt_free(alike);
	return rc;
}

/* What is known of a group's link by itself. Where no other group makes its calls, that is all. `at`: as in compare_group(). */
static void describe_link(struct links *l, uint32_t group, size_t *at)
{
	struct vpa_job_group *g = &l->job->groups[group];
	uint64_t most_ns = 0;

	g->bus_gb_per_s = g->bus_gb_per_s_most = -1;
	for (; *at < l->count && l->items[*at].group == group; ++*at) {
		const struct transfers *t = &l->items[*at];
		uint64_t ns = vpt_sat_mul(t->median_ns, t->count);

		if (t->count < ROWS_LEAST)
			continue;
		if (t->bus_gb_per_s > g->bus_gb_per_s_most) {
			g->bus_gb_per_s_most = t->bus_gb_per_s;
			g->fastest_call = t->key->kind;
			g->fastest_bytes = t->key->bytes;
		}
		if (ns <= most_ns)
			continue;
		most_ns = ns;
		g->call = t->key->kind;
		g->call_bytes = t->key->bytes;
		g->call_ns = t->median_ns;
		g->bus_gb_per_s = t->bus_gb_per_s;
		g->is_compared = t->usual_ns != UINT64_MAX;
	}
}

static int put_slow(struct links *l, const struct vpa_group *g, const size_t *ranks, size_t count,
	const struct vpa_job_pattern *found)
{
	struct vpa_job_pattern p = *found;

	p.kind = VPA_PATTERN_SLOW_LINK;
	p.group = g->name;
	p.ranks = vpa_pattern_ranks(l->job, ranks, count);
	return p.ranks ? vpa_pattern_put(l->job, p) : VPT_ENOMEM;
}

/* Of a group's calls that are slow, one pattern: that of the most time. The calls are *at and behind it, which moves to the next group. */
static int compare_group(struct links *l, uint32_t group, size_t *at)
{
	const struct vpa_group *g = &l->job->matching.groups[group];
	uint64_t uncertainty_ns = l->job->uncertainty_ns, most_ns = 0;
	struct vpa_job_pattern p = {.collectives = 0};
	size_t *ranks, i;
	int rc;

	for (; *at < l->count && l->items[*at].group == group; ++*at) {
		const struct transfers *t = &l->items[*at];
		uint64_t ns;

		if (t->usual_ns == UINT64_MAX ||
			!is_slow(t->median_ns, t->usual_ns, uncertainty_ns))
			continue;
		ns = vpt_sat_mul(t->median_ns - t->usual_ns, t->count);
		if (ns > most_ns) {
			most_ns = ns;
			p.usual_ns = t->usual_ns;
			p.found_ns = t->median_ns;
			p.collective = t->key->kind;
			p.bytes = t->key->bytes;
		}
		p.collectives += t->count;
		vpt_sat_add_to(&p.ns, ns);
	}
	if (!p.collectives)
		return VPT_OK;
	ranks = vpt_alloc(g->rank_count, sizeof(*ranks));
	for (i = 0; ranks && i < g->rank_count; i++) {
		ranks[i] = g->ranks[i];
		l->slow_groups_of[ranks[i]]++;
	}
	l->slow_groups++;
	rc = ranks ? put_slow(l, g, ranks, g->rank_count, &p) : VPT_ENOMEM;
	vpt_free(ranks);
	return rc;
}

/* Where several groups are slow, ranks that are in each of them are at the slow link's end. */
static int name_common(struct links *l)
{
	size_t count = 0, i;

	for (i = 0; i < l->job->rank_count; i++)
		if (l->slow_groups_of[i] == l->slow_groups)
			l->numbers[count++] = l->job->ranks[i].number;
	if (l->slow_groups < 2 || !count)
		return VPT_OK;
	l->job->slow_link_ranks = vpa_number_list(&l->job->arena, l->numbers, count);
	return l->job->slow_link_ranks ? VPT_OK : VPT_ENOMEM;
}

/* ---- ranks of a group that send and receive ---- */

/* What messages take since the partner came, beside the median of their row: they are of many sizes. */
struct own_transfers {
	int64_t *more_ns;  /* of member k the n-th is at k * cap + n */
	size_t *counts;    /* by member */
	int64_t *usual_ns; /* by row: the median */
	size_t cap, row_count, step;
};

static int new_own_transfers(struct own_transfers *t, const struct vpa_group *g)
{
	t->step = g->row_count / ROWS_MOST + 1;
	t->cap = g->row_count / t->step + 1;
	t->row_count = 0;
	t->more_ns = vpt_alloc(t->cap * g->rank_count, sizeof(*t->more_ns));
	t->usual_ns = vpt_alloc(t->cap, sizeof(*t->usual_ns));
	t->counts = vpt_calloc(g->rank_count, sizeof(*t->counts));
	return t->more_ns && t->usual_ns && t->counts ? VPT_OK : VPT_ENOMEM;
}

static void free_own_transfers(struct own_transfers *t)
{
	vpt_free(t->more_ns);
	vpt_free(t->usual_ns);
	vpt_free(t->counts);
}

static void add_row(struct own_transfers *t, struct links *l, const struct vpa_group *g, size_t row)
{
	int64_t own_ns[VPA_PAIRED_MOST], start_ns, end_ns, median_ns;
	size_t members[VPA_PAIRED_MOST], n = 0, k;

	for (k = 0; k < g->rank_count; k++)
		if (vpa_member_times(l->job, g, row, k, &start_ns, &end_ns)) {
			own_ns[n] = l->numbers[n] =
				end_ns - vpa_partner_of(l->job, g, row, k, end_ns).arrival_ns;
			members[n++] = k;
		}
	if (n < 4)
		return;
	median_ns = vpa_nth(l->numbers, n, (n - 1) / 2);
	t->usual_ns[t->row_count++] = median_ns;
	for (k = 0; k < n; k++)
		t->more_ns[members[k] * t->cap + t->counts[members[k]]++] = own_ns[k] - median_ns;
}

static int put_slow_members(struct links *l, const struct vpa_group *g, struct own_transfers *t)
{
	struct vpa_job_pattern p = {.collective = VPA_COLLECTIVE_SEND_RECV};
	size_t ranks[VPA_PAIRED_MOST], count = 0, k;
	int64_t usual_ns = t->row_count < ROWS_LEAST
				   ? -1
				   : vpa_nth(t->usual_ns, t->row_count, t->row_count / 2);

	/* Below 0: times are wrong. */
	if (usual_ns < 0)
		return VPT_OK;
	p.usual_ns = (uint64_t)usual_ns;
	p.collectives = t->row_count * t->step;
	for (k = 0; k < g->rank_count; k++) {
		int64_t more_ns =
			t->counts[k] < ROWS_LEAST
				? 0
				: vpa_nth(&t->more_ns[k * t->cap], t->counts[k], t->counts[k] / 2);
		uint64_t own_ns = p.usual_ns + (uint64_t)(more_ns > 0 ? more_ns : 0);

		if (!is_slow(own_ns, p.usual_ns, l->job->uncertainty_ns))
			continue;
		ranks[count++] = g->ranks[k];
		p.found_ns = own_ns > p.found_ns ? own_ns : p.found_ns;
		vpt_sat_add_to(&p.ns, vpt_sat_mul(own_ns - p.usual_ns, p.collectives));
	}
	return count ? put_slow(l, g, ranks, count, &p) : VPT_OK;
}

static int compare_members(struct links *l, uint32_t group)
{
	const struct vpa_group *g = &l->job->matching.groups[group];
	struct own_transfers t;
	int rc = new_own_transfers(&t, g);
	size_t row;

	for (row = 0; row < g->row_count && !rc; row += t.step)
		if (vpa_row_is_messages(l->job, g, row))
			add_row(&t, l, g, row);
	if (!rc)
		rc = put_slow_members(l, g, &t);
	free_own_transfers(&t);
	return rc;
}

/* ---- both ---- */

int vpa_find_slow_links(struct vpa_job *job, const struct vpa_job_rows *rows)
{
	struct links l = {.job = job, .rows = rows};
	const struct vpa_group *groups = job->matching.groups;
	size_t most = VPA_PAIRED_MOST, described = 0, at = 0;
	uint32_t g;
	int rc;

	for (g = 0; g < job->matching.group_count; g++)
		most = groups[g].row_count > most ? groups[g].row_count : most;
	l.numbers = vpt_alloc(most + job->rank_count + 1, sizeof(*l.numbers));
	l.slow_groups_of = vpt_calloc(job->rank_count + 1, sizeof(*l.slow_groups_of));
	rc = l.numbers && l.slow_groups_of ? VPT_OK : VPT_ENOMEM;
	for (g = 0; g < job->matching.group_count && !rc; g++)
		rc = list_calls(&l, g);
	if (!rc)
		rc = find_usual(&l);
	for (g = 0; g < job->matching.group_count && !rc; g++)
		describe_link(&l, g, &described);
	for (g = 0; g < job->matching.group_count && !rc; g++)
		rc = compare_group(&l, g, &at);
	if (!rc)
		rc = name_common(&l);
	for (g = 0; g < job->matching.group_count && !rc; g++)
		if (groups[g].rank_count <= VPA_PAIRED_MOST &&
			job->groups[g].kind == VPA_COLLECTIVE_SEND_RECV)
			rc = compare_members(&l, g);
	vpt_free(l.numbers);
	vpt_free(l.slow_groups_of);
	vpt_free(l.items);
	return rc;
}
