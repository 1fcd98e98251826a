/* shared_attention.c - how ranks share attention, as the calls around it tell.
 *
 *	Ulysses   a2a a2a a2a [attention] a2a [gemm ...] a2a a2a a2a [attention] a2a     exchanged before it and after it
 *	ring      [attention ................]                                           keys and values are passed on beside it
 *	          [s/r] [s/r] [s/r]
 *
 * The first rank of each group is looked at, since all of a group make the same calls. All-reduces beside attention, as of tensor
 * parallelism, and exchanges that hold other work between them, as of experts, are neither. */
#include "analysis/ranks/patterns/patterns.h"

#include "analysis/names/families.h"
#include "analysis/ranks/rank/file/rank_fold.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

enum {
	LAYERS_LEAST = 4,
	A_LAYER_LEAST = 2, /* exchanges: before attention, and after it */
	A_LAYER_MOST = 8,
	LOOKED_MOST = 16 /* ranks: of a thousand groups the first ones make the same calls */
};

/* Of a rank's collective: its group, and what the rank computed in the time before it and in its own. */
struct call {
	uint32_t group;
	int is_alone;  /* nothing but attention before it, or nearly */
	int is_beside; /* attention in its own time */
};

#define NO_GROUP UINT32_MAX

struct compute {
	uint64_t attention_ns, all_ns;
};

/* Of the stretches from mark `from` to mark `to`. */
static struct compute compute_of(
	const struct vpa_rank *r, const struct vpa_rank_detail *d, uint32_t from, uint32_t to)
{
	struct compute out = {0, 0};
	size_t k;

	for (k = d->marks[from].part_end; from < to && k < d->marks[to].part_end; k++) {
		const struct vpa_part_name *name = &r->part_names[d->parts[k].name];

		if (name->klass != VPA_TIME_COMPUTE)
			continue;
		vpt_sat_add_to(&out.all_ns, d->parts[k].ns);
		if (vpa_family_is_attention((enum vpa_family)name->kind))
			vpt_sat_add_to(&out.attention_ns, d->parts[k].ns);
	}
	return out;
}

static void set_groups(const struct vpa_job *job, size_t rank, struct call *calls)
{
	size_t g, row, i;

	for (i = 0; i < job->list.items[rank]->collective_count; i++)
		calls[i].group = NO_GROUP;
	for (g = 0; g < job->matching.group_count; g++) {
		const struct vpa_group *group = &job->matching.groups[g];
		size_t k = vpa_group_member(group, rank);

		for (row = 0; k < group->rank_count && row < group->row_count; row++) {
			uint32_t item = vpa_group_cell(group, row, k);

			if (item != VPA_NO_COLLECTIVE)
				calls[item].group = (uint32_t)g;
		}
	}
}

static void set_calls(
	const struct vpa_job *job, size_t rank, const struct vpa_rank_detail *d, struct call *calls)
{
	const struct vpa_rank *r = job->list.items[rank];
	size_t i;

	set_groups(job, rank, calls);
	for (i = 0; i < r->collective_count; i++) {
		uint32_t start = vpa_start_mark(d, i);
		uint32_t before = i ? vpa_end_mark(d, i - 1) : start;
		struct compute c = compute_of(r, d, before, start);

		calls[i].is_alone =
			c.attention_ns && c.attention_ns / 3 >= (c.all_ns - c.attention_ns);
		calls[i].is_beside = compute_of(r, d, start, vpa_end_mark(d, i)).attention_ns != 0;
	}
}

/* What a group's calls have in common. */
struct summary {
	size_t rows, layers, beside;
};

static struct summary summary_of(const struct call *calls, size_t count, uint32_t group)
{
	struct summary s = {0, 0, 0};
	size_t i;

	for (i = 0; i < count; i++) {
		if (calls[i].group != group)
			continue;
		s.rows++;
		s.beside += calls[i].is_beside != 0;
		s.layers += i && calls[i].is_alone && calls[i - 1].group == group;
	}
	return s;
}

/* What the calls of a group transfer on each of its ranks, and the most frequent size of a message of the first one. */
static void add_transfers(const struct vpa_job *job, const struct vpa_job_rows *rows,
	uint32_t group, struct vpa_job_pattern *p)
{
	const struct vpa_group *g = &job->matching.groups[group];
	uint64_t bytes = 0;
	size_t row, with_bytes = 0;

	for (row = 0; row < g->row_count; row++) {
		const struct vpa_job_row *r = &rows->items[rows->firsts[group] + row];
		uint32_t cell = vpa_group_cell(g, row, 0);

		if (r->first_end_ns > r->last_ns)
			vpt_sat_add_to(&p->ns, (uint64_t)(r->first_end_ns - r->last_ns));
		if (cell == VPA_NO_COLLECTIVE)
			continue;
		vpt_sat_add_to(&bytes, vpa_rank_key(job->list.items[g->ranks[0]], cell)->bytes);
		with_bytes += vpa_rank_key(job->list.items[g->ranks[0]], cell)->bytes != 0;
	}
	p->bytes = with_bytes ? bytes / with_bytes : 0;
}

/* The pattern of a group; VPA_PATTERNS: none. */
static enum vpa_pattern_kind pattern_of(enum vpa_collective_kind kind, const struct summary *s)
{
	if (kind != VPA_COLLECTIVE_ALL_TO_ALL && kind != VPA_COLLECTIVE_SEND_RECV)
		return VPA_PATTERNS;
	if (kind == VPA_COLLECTIVE_SEND_RECV && s->rows >= LAYERS_LEAST && s->beside > s->rows / 2)
		return VPA_PATTERN_RING;
	if (s->layers >= LAYERS_LEAST && s->rows >= A_LAYER_LEAST * s->layers &&
		s->rows <= A_LAYER_MOST * s->layers && s->beside <= s->rows / 2)
		return VPA_PATTERN_ULYSSES;
	return VPA_PATTERNS;
}

static int put_group(struct vpa_job *job, const struct vpa_job_rows *rows, uint32_t group,
	const struct summary *s)
{
	const struct vpa_group *g = &job->matching.groups[group];
	struct vpa_job_pattern p = {.kind = pattern_of(job->groups[group].kind, s),
		.group = g->name,
		.collective = job->groups[group].kind,
		.collectives = g->row_count};
	size_t *ranks, i;
	int rc = VPT_ENOMEM;

	if (p.kind == VPA_PATTERNS)
		return VPT_OK;
	if (p.kind == VPA_PATTERN_ULYSSES)
		p.a_layer = (s->rows + s->layers / 2) / s->layers;
	add_transfers(job, rows, group, &p);
	ranks = vpt_alloc(g->rank_count, sizeof(*ranks));
	for (i = 0; ranks && i < g->rank_count; i++)
		ranks[i] = g->ranks[i];
	p.ranks = ranks ? vpa_pattern_ranks(job, ranks, g->rank_count) : NULL;
	if (p.ranks)
		rc = vpa_pattern_put(job, p);
	vpt_free(ranks);
	return rc;
}

/* The groups of which a rank is the first. */
static int look_at(
	struct vpa_job *job, const struct vpa_job_rows *rows, size_t rank, struct vpa_unfolded *u)
{
	const struct vpa_rank *r = job->list.items[rank];
	struct call *calls = vpt_calloc(r->collective_count + 1, sizeof(*calls));
	uint32_t g;
	int rc = calls ? vpa_rank_unfold(r, u, NULL) : VPT_ENOMEM;

	if (!rc)
		set_calls(job, rank, &u->detail, calls);
	for (g = 0; g < job->matching.group_count && !rc; g++) {
		struct summary s;

		if (job->matching.groups[g].ranks[0] != rank)
			continue;
		s = summary_of(calls, r->collective_count, g);
		rc = put_group(job, rows, g, &s);
	}
	vpt_free(calls);
	return rc;
}

static int may_share(const struct vpa_job *job, size_t group)
{
	return job->groups[group].kind == VPA_COLLECTIVE_ALL_TO_ALL ||
	       job->groups[group].kind == VPA_COLLECTIVE_SEND_RECV;
}

int vpa_find_shared_attention(struct vpa_job *job, const struct vpa_job_rows *rows)
{
	struct vpa_unfolded u = {.without_paces = 1};
	size_t rank, g, looked = 0;
	int rc = VPT_OK;

	for (rank = 0; rank < job->rank_count && looked < LOOKED_MOST && !rc; rank++) {
		for (g = 0; g < job->matching.group_count &&
			    (job->matching.groups[g].ranks[0] != rank || !may_share(job, g));
			g++)
			;
		if (g == job->matching.group_count)
			continue;
		looked++;
		rc = look_at(job, rows, rank, &u);
	}
	vpa_unfolded_free(&u);
	return rc;
}
