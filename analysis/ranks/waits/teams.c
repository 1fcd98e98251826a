/* teams.c - groups with the same ranks, put in order. */
#include "analysis/ranks/waits/teams.h"

#include "analysis/base/sort.h"
#include "analysis/ranks/rank/rank_threads.h"
#include "formats/base/memory.h"
#include "formats/base/search.h"

#include <string.h>

static int is_team(const struct vpa_group *a, const struct vpa_group *b)
{
	return a->rank_count == b->rank_count &&
	       !memcmp(a->ranks, b->ranks, a->rank_count * sizeof(*a->ranks));
}

/* ---- the rows of each ---- */

struct listing {
	const struct vpa_job *job;
	const struct vpa_job_rows *rows;
	struct vpa_teams *teams;
};

/* The group of a row of all. */
static uint32_t group_of(const struct listing *l, size_t row)
{
	size_t low = 0, high = l->job->matching.group_count;

	VPT_SEARCH(low, high, middle, l->rows->firsts[middle] <= row);
	return (uint32_t)low - 1;
}

/* Appends the rows of a group, which are numbered as those of all. */
static size_t put_ends(
	const struct listing *l, uint32_t group, struct vpa_numbered *ends, size_t count)
{
	size_t first = l->rows->firsts[group], row;

	for (row = first; row < first + l->job->matching.groups[group].row_count; row++)
		ends[count++] =
			(struct vpa_numbered){l->rows->items[row].first_end_ns, (uint32_t)row};
	return count;
}

/* By end; of equal ones those of the first group, and of it the first. */
static int list_rows(void *ctx, unsigned thread, size_t team)
{
	const struct listing *l = ctx;
	const struct vpa_matching *m = &l->job->matching;
	const struct vpa_team *t = &l->teams->items[team];
	struct vpa_numbered *ends = vpt_alloc(t->last - t->first, sizeof(*ends));
	size_t count = 0, i;
	uint32_t g;
	int rc = ends ? VPT_OK : VPT_ENOMEM;

	(void)thread;
	for (g = t->group; g < m->group_count && !rc; g++)
		if (is_team(&m->groups[t->group], &m->groups[g]))
			count = put_ends(l, g, ends, count);
	if (!rc)
		rc = vpa_sort_numbered(ends, count);
	for (i = 0, g = t->group; i < count && !rc; i++) {
		if (ends[i].of - l->rows->firsts[g] >= m->groups[g].row_count)
			g = group_of(l, ends[i].of);
		l->teams->rows[t->first + i] = (struct vpa_team_row){.group = g,
			.row = (uint32_t)(ends[i].of - l->rows->firsts[g]),
			.is_pairs = vpa_row_is_messages(l->job, &m->groups[g],
					    ends[i].of - l->rows->firsts[g]) != 0};
	}
	vpt_free(ends);
	return rc;
}

/* ---- all of them ---- */

/* The team of a group: a new one, unless one before it has these ranks. */
static int take_group(const struct vpa_matching *m, struct vpa_teams *out, uint32_t g)
{
	size_t i;

	for (i = 0; i < out->count && !is_team(&m->groups[out->items[i].group], &m->groups[g]); i++)
		;
	if (i == out->count) {
		if (vpt_grow(&out->items, &out->cap, out->count + 1, sizeof(*out->items)))
			return VPT_ENOMEM;
		out->items[out->count++] = (struct vpa_team){.group = g};
	}
	out->items[i].last += m->groups[g].row_count;
	return VPT_OK;
}

int vpa_teams_find(const struct vpa_job *job, const struct vpa_job_rows *rows, unsigned threads,
	struct vpa_teams *out)
{
	const struct vpa_matching *m = &job->matching;
	struct listing l = {job, rows, out};
	uint32_t g;
	size_t i;
	int rc = VPT_OK;

	out->rows =
		rows->count < UINT32_MAX ? vpt_alloc(rows->count + 1, sizeof(*out->rows)) : NULL;
	if (!out->rows)
		return VPT_ENOMEM;
	for (g = 0; g < m->group_count && !rc; g++)
		rc = take_group(m, out, g);
	for (i = 0; i < out->count; i++) {
		out->items[i].first = out->row_count;
		out->row_count += out->items[i].last;
		out->items[i].last = out->row_count;
	}
	return rc ? rc : vpa_in_threads(threads, out->count, list_rows, &l);
}

void vpa_teams_free(struct vpa_teams *t)
{
	vpt_free(t->items);
	vpt_free(t->rows);
	*t = (struct vpa_teams){.count = 0};
}
