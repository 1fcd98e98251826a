/* late_peers.c - of sends and receives, pairs of ranks one of which waits for the other: the sender, or the receiver, comes late.
 *
 * A group of more than two in which nobody ever left before another came may as well exchange something all to all: there
 * everybody waits for the last one, and no pair is worth a name. */
#include "analysis/ranks/patterns/patterns.h"

#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <string.h>

enum side { BOTH, SENDS, RECEIVES };

struct pair {
	uint64_t wait_ns, collectives;
	uint64_t as[3]; /* times that the late one was of that side */
};

/* "send", "recv" of PyTorch; NCCL's kernel is of both. */
static enum side side_of(const char *text)
{
	int sends = strcasestr(text, "send") != NULL, receives = strcasestr(text, "recv") != NULL;

	return sends == receives ? BOTH : sends ? SENDS : RECEIVES;
}

static const char *text_of(
	const struct vpa_job *job, const struct vpa_group *g, size_t row, size_t member)
{
	return vpa_rank_key(job->list.items[g->ranks[member]], vpa_group_cell(g, row, member))
		->text;
}

static void add_row(const struct vpa_job *job, const struct vpa_group *g, size_t row,
	uint64_t uncertainty_ns, struct pair *pairs)
{
	size_t k;

	for (k = 0; k < g->rank_count; k++) {
		int64_t start_ns, end_ns;
		struct vpa_partner late;
		struct pair *pair;
		enum side side;

		if (!vpa_member_times(job, g, row, k, &start_ns, &end_ns))
			continue;
		late = vpa_partner_of(job, g, row, k, end_ns);
		if (late.arrival_ns <= start_ns ||
			(uint64_t)late.arrival_ns - (uint64_t)start_ns < uncertainty_ns)
			continue;
		pair = &pairs[k * g->rank_count + late.member];
		side = side_of(text_of(job, g, row, late.member));
		vpt_sat_add_to(&pair->wait_ns, (uint64_t)late.arrival_ns - (uint64_t)start_ns);
		pair->collectives++;
		pair->as[side == side_of(text_of(job, g, row, k)) ? BOTH : side]++;
	}
}

static enum vpa_pattern_kind kind_of(const struct pair *p)
{
	if (p->as[SENDS] > p->as[RECEIVES] && p->as[SENDS] > p->as[BOTH])
		return VPA_PATTERN_LATE_SENDER;
	return p->as[RECEIVES] > p->as[SENDS] && p->as[RECEIVES] > p->as[BOTH]
		       ? VPA_PATTERN_LATE_RECEIVER
		       : VPA_PATTERN_LATE_PEER;
}

/* Whether the late one of a pair, beside `waits`, waits for a third one about as long: then it only passes on what that one began. */
static int is_passed_on(const struct pair *pairs, size_t n, size_t waits, size_t late)
{
	uint64_t ns = 0;
	size_t k;

	for (k = 0; k < n; k++)
		if (k != waits)
			vpt_sat_add_to(&ns, pairs[late * n + k].wait_ns);
	return ns >= pairs[waits * n + late].wait_ns / 4 * 3;
}

static int put_pairs(struct vpa_job *job, const struct vpa_group *g, const struct pair *pairs)
{
	size_t n = g->rank_count, i;
	int rc = VPT_OK;

	for (i = 0; i < n * n && !rc; i++) {
		size_t waits = g->ranks[i / n], late = g->ranks[i % n];
		struct vpa_job_pattern p = {.kind = kind_of(&pairs[i]),
			.group = g->name,
			.collectives = pairs[i].collectives,
			.ns = pairs[i].wait_ns};

		if (!p.ns || p.ns < vpa_pattern_span(job, waits) / VPA_PATTERN_LEAST ||
			is_passed_on(pairs, n, i / n, i % n))
			continue;
		p.ranks = vpa_pattern_ranks(job, &late, 1);
		p.peers = vpa_pattern_ranks(job, &waits, 1);
		rc = p.ranks && p.peers ? vpa_pattern_put(job, p) : VPT_ENOMEM;
	}
	return rc;
}

/* Whether somebody left before another one came, or most messages are of some ranks only: then it is no exchange of all with all. */
static int are_pairs(const struct vpa_group *g, const struct vpa_job_row *rows)
{
	size_t row, partial = 0;

	for (row = 0; row < g->row_count; row++) {
		partial += rows[row].count < g->rank_count;
		if (rows[row].last_ns - rows[row].first_end_ns > (int64_t)rows[row].uncertainty_ns)
			return 1;
	}
	return g->rank_count == 2 || partial > g->row_count / 2;
}

static int find_of_group(struct vpa_job *job, const struct vpa_job_rows *rows, size_t group)
{
	const struct vpa_group *g = &job->matching.groups[group];
	const struct vpa_job_row *first = &rows->items[rows->firsts[group]];
	struct pair *pairs;
	size_t row;
	int rc;

	if (!are_pairs(g, first))
		return VPT_OK;
	pairs = vpt_calloc(g->rank_count, g->rank_count * sizeof(*pairs));
	if (!pairs)
		return VPT_ENOMEM;
	for (row = 0; row < g->row_count; row++)
		if (first[row].count > 1 && vpa_row_is_messages(job, g, row))
			add_row(job, g, row, first[row].uncertainty_ns, pairs);
	rc = put_pairs(job, g, pairs);
	vpt_free(pairs);
	return rc;
}

int vpa_find_late_peers(struct vpa_job *job, const struct vpa_job_rows *rows)
{
	size_t g;
	int rc = VPT_OK;

	for (g = 0; g < job->matching.group_count && !rc; g++)
		if (job->matching.groups[g].rank_count <= VPA_PAIRED_MOST &&
			job->groups[g].kind == VPA_COLLECTIVE_SEND_RECV && job->groups[g].wait_ns)
			rc = find_of_group(job, rows, g);
	return rc;
}
