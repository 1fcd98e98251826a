/* pipelines.c - ranks that pass their results on from one to the next, and wait for each other at the head and the tail of each step: the
 * *bubbles*.
 *
 *	rank 0   [1][2][3]      .  .  .     sends to 1
 *	rank 1    .  [1][2][3]     .  .     sends to 2
 *	rank 2    .   .  [1][2][3]
 *
 * Messages are of two ranks each, and make a path of three ranks or more: of two nobody knows, and a circle is a ring. */
#include "analysis/ranks/patterns/patterns.h"

#include "analysis/base/sort.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

enum { RANKS_LEAST = 3, ROWS_LEAST = 4, BUSIER = 10 };

struct stage {
	size_t peers[2];
	unsigned peer_count;
	int is_branch; /* it has more than two */
	int is_seen;
	uint64_t rows, wait_ns;
};

static void add_peer(struct stage *s, size_t peer)
{
	unsigned i;

	for (i = 0; i < s->peer_count && s->peers[i] != peer; i++)
		;
	if (i < s->peer_count)
		return;
	if (i == 2)
		s->is_branch = 1;
	else
		s->peers[s->peer_count++] = peer;
}

static void add_wait(struct stage *s, int64_t own_ns, int64_t other_ns)
{
	s->rows++;
	vpt_sat_add_to(&s->wait_ns, other_ns > own_ns ? (uint64_t)other_ns - (uint64_t)own_ns : 0);
}

/* Of a row that two ranks have. */
static void add_row(
	const struct vpa_job *job, const struct vpa_group *g, size_t row, struct stage *stages)
{
	size_t found[2] = {0, 0}, count = 0, k;
	int64_t at_ns[2], end_ns;

	for (k = 0; k < g->rank_count && count < 3; k++) {
		if (vpa_group_cell(g, row, k) == VPA_NO_COLLECTIVE)
			continue;
		if (count < 2 && vpa_member_times(job, g, row, k, &at_ns[count], &end_ns))
			found[count] = g->ranks[k];
		count++;
	}
	if (count != 2 || found[0] == found[1])
		return;
	for (k = 0; k < 2; k++) {
		add_peer(&stages[found[k]], found[!k]);
		add_wait(&stages[found[k]], at_ns[k], at_ns[!k]);
	}
}

/* The ranks from one end to the other; 0: it is no path. */
static size_t walk(struct stage *stages, size_t from, size_t *path)
{
	size_t count = 0, before = from, next;
	int is_path = 1;

	for (;; before = path[count - 1], from = next) {
		struct stage *s = &stages[from];

		if (s->is_seen)
			return 0;
		s->is_seen = 1;
		is_path &= !s->is_branch && s->rows >= ROWS_LEAST;
		path[count++] = from;
		if (s->is_branch)
			return 0;
		next = s->peers[count > 1 && s->peers[0] == before];
		if (count > 1 && s->peer_count == 1)
			break;
	}
	return is_path && count >= RANKS_LEAST ? count : 0;
}

static uint64_t compute_of(const struct vpa_job *job, size_t rank)
{
	return job->ranks[rank].rank->class_ns[VPA_TIME_COMPUTE];
}

/* The stage that computes most, if that is a tenth more than the median: all others wait for it, directly or not. Ranks whose captures end
 * early have less. */
static int find_busiest(
	struct vpa_job *job, const size_t *path, size_t count, struct vpa_job_pattern *p)
{
	int64_t *numbers = vpt_alloc(count, sizeof(*numbers));
	size_t i, n = 0;

	if (!numbers)
		return VPT_ENOMEM;
	for (i = 0; i < count; i++) {
		uint64_t ns = compute_of(job, path[i]);

		if (job->ranks[path[i]].cut_ns)
			continue;
		numbers[n++] = (int64_t)ns;
		if (ns > p->found_ns) {
			p->found_ns = ns;
			p->busiest_rank = path[i];
		}
	}
	p->usual_ns = n ? (uint64_t)vpa_nth(numbers, n, (n - 1) / 2) : 0;
	vpt_free(numbers);
	if (n < RANKS_LEAST || p->found_ns - p->usual_ns < p->usual_ns / BUSIER)
		return VPT_OK;
	p->busiest = vpa_pattern_ranks(job, &p->busiest_rank, 1);
	return p->busiest ? VPT_OK : VPT_ENOMEM;
}

/* What the rank that waits most does: the others' bubbles are at most as long. */
static int put_path(
	struct vpa_job *job, const struct stage *stages, const size_t *path, size_t count)
{
	struct vpa_job_pattern p = {
		.kind = VPA_PATTERN_PIPELINE, .collective = VPA_COLLECTIVE_SEND_RECV};
	size_t most = path[0], i;

	for (i = 0; i < count; i++) {
		p.collectives += stages[path[i]].rows;
		if (stages[path[i]].wait_ns > stages[most].wait_ns)
			most = path[i];
	}
	p.collectives /= 2;
	p.ns = stages[most].wait_ns;
	p.peers = vpa_pattern_ranks(job, &most, 1);
	p.ranks = vpa_pattern_ranks(job, path, count);
	return p.ranks && p.peers && !find_busiest(job, path, count, &p) ? vpa_pattern_put(job, p)
									 : VPT_ENOMEM;
}

int vpa_find_pipelines(struct vpa_job *job, const struct vpa_job_rows *rows)
{
	struct stage *stages = vpt_calloc(job->rank_count + 1, sizeof(*stages));
	size_t *path = vpt_alloc(job->rank_count + 1, sizeof(*path));
	size_t g, row, rank, count;
	int rc = stages && path ? VPT_OK : VPT_ENOMEM;

	(void)rows;
	for (g = 0; g < job->matching.group_count && !rc; g++) {
		const struct vpa_group *group = &job->matching.groups[g];

		if (job->groups[g].kind == VPA_COLLECTIVE_SEND_RECV &&
			group->rank_count <= VPA_PAIRED_MOST)
			for (row = 0; row < group->row_count; row++)
				add_row(job, group, row, stages);
	}
	for (rank = 0; rank < job->rank_count && !rc; rank++) {
		if (stages[rank].peer_count != 1 || stages[rank].is_branch || stages[rank].is_seen)
			continue;
		count = walk(stages, rank, path);
		rc = count ? put_path(job, stages, path, count) : VPT_OK;
	}
	vpt_free(stages);
	vpt_free(path);
	return rc;
}
