/* cut_ranks.c - ranks whose captures end while the others go on: their file was cut, or the process died.
 *
 *	rank 0  A0 A1 A2 A3 A4 A5
 *	rank 1  A0 A1 A2 |              three collectives of rank 0 without it
 */
#include "analysis/ranks/job_parts.h"

#include "formats/base/text.h"

enum { COLLECTIVES_LEAST = 3, LEAST = 50 /* below this part of the time it is no cut */ };

/* Whether a collective of a rank is of this group. */
static int is_of_group(const struct vpa_rank *r, size_t collective, const struct vpa_group *g)
{
	const struct vpa_collective_key *key = vpa_rank_key(r, collective);

	return g->name ? vpt_same_text(key->group, g->name) : !key->group;
}

/* The end of a rank's time, as the job's. 0: its clock is not placed. */
static int last_of(const struct vpa_job *job, size_t rank, int64_t *last_ns)
{
	const struct vpa_clock *clock = vpa_job_clock(job, rank);

	*last_ns = vpa_clock_time(clock, job->ranks[rank].rank->last_ns);
	return clock->is_placed;
}

/* The member of a group that goes on longest; SIZE_MAX: none. */
static size_t longest(const struct vpa_job *job, const struct vpa_group *g)
{
	size_t best = SIZE_MAX, k;
	int64_t best_ns = 0, ns;

	for (k = 0; k < g->rank_count; k++)
		if (last_of(job, g->ranks[k], &ns) && (best == SIZE_MAX || ns > best_ns)) {
			best = g->ranks[k];
			best_ns = ns;
		}
	return best;
}

/* Collectives of a group that a rank has from a moment of the job on. */
static uint64_t count_after(
	const struct vpa_job *job, const struct vpa_group *g, size_t rank, int64_t at_ns)
{
	const struct vpa_rank *r = job->ranks[rank].rank;
	const struct vpa_clock *clock = vpa_job_clock(job, rank);
	uint64_t count = 0;
	size_t i;

	for (i = r->collective_count; i-- > 0;) {
		if (vpa_clock_time(clock, vpa_rank_start_ns(r, i)) < at_ns)
			break;
		count += is_of_group(r, i, g) != 0;
	}
	return count;
}

static void find_of(struct vpa_job *job, size_t rank)
{
	int64_t end_ns, last_ns;
	uint64_t span_ns = 0, cut_ns = 0, collectives = 0;
	size_t g;

	if (!last_of(job, rank, &end_ns))
		return;
	for (g = 0; g < job->matching.group_count; g++) {
		const struct vpa_group *group = &job->matching.groups[g];
		size_t other;

		if (vpa_group_member(group, rank) == group->rank_count)
			continue;
		other = longest(job, group);
		if (other == SIZE_MAX || !last_of(job, other, &last_ns) || last_ns <= end_ns)
			continue;
		collectives += count_after(job, group, other, end_ns);
		if ((uint64_t)(last_ns - end_ns) > cut_ns) {
			const struct vpa_rank *r = job->ranks[other].rank;

			cut_ns = (uint64_t)(last_ns - end_ns);
			span_ns = r->last_ns - r->first_ns;
		}
	}
	if (collectives < COLLECTIVES_LEAST || cut_ns < span_ns / LEAST)
		return;
	job->ranks[rank].cut_ns = cut_ns;
	job->ranks[rank].cut_collectives = collectives;
}

void vpa_cut_ranks_find(struct vpa_job *job)
{
	size_t rank;

	for (rank = 0; rank < job->rank_count; rank++)
		find_of(job, rank);
}
