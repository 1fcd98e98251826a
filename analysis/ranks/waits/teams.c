/* teams.c - groups with the same ranks, put in order. */
#include "analysis/ranks/waits/teams.h"

#include "analysis/base/sort.h"
#include "formats/base/memory.h"

#include <string.h>

static int is_team(const struct vpa_group *a, const struct vpa_group *b)
{
	return a->rank_count == b->rank_count &&
	       !memcmp(a->ranks, b->ranks, a->rank_count * sizeof(*a->ranks));
}

/* A row, to be sorted. */
struct row_end {
	int64_t end_ns;
	uint32_t group, row;
};

static int by_end(const void *a, const void *b)
{
	const struct row_end *x = a, *y = b;

	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static int list_rows(const struct vpa_job *job, const struct vpa_job_rows *rows,
	struct vpa_teams *out, struct vpa_team *t)
{
	const struct vpa_matching *m = &job->matching;
	struct row_end *ends = NULL;
	size_t count = 0, cap = 0, i;
	uint32_t g, row;
	int rc = VPT_OK;

	for (g = t->group; g < m->group_count && !rc; g++) {
		const struct vpa_group *group = &m->groups[g];

		if (!is_team(&m->groups[t->group], group))
			continue;
		rc = vpt_grow(&ends, &cap, count + group->row_count, sizeof(*ends));
		for (row = 0; row < group->row_count && !rc; row++)
			ends[count++] = (struct row_end){
				rows->items[rows->firsts[g] + row].first_end_ns, g, row};
	}
	if (!rc)
		rc = vpa_sort(ends, count, sizeof(*ends), by_end);
	t->first = out->row_count;
	for (i = 0; i < count && !rc; i++)
		out->rows[out->row_count++] = (struct vpa_team_row){.group = ends[i].group,
			.row = ends[i].row,
			.is_pairs = vpa_row_is_messages(
					    job, &m->groups[ends[i].group], ends[i].row) != 0};
	t->last = out->row_count;
	vpt_free(ends);
	return rc;
}

int vpa_teams_find(
	const struct vpa_job *job, const struct vpa_job_rows *rows, struct vpa_teams *out)
{
	const struct vpa_matching *m = &job->matching;
	uint32_t g, before;
	int rc = VPT_OK;

	out->rows = vpt_alloc(rows->count + 1, sizeof(*out->rows));
	if (!out->rows)
		return VPT_ENOMEM;
	for (g = 0; g < m->group_count && !rc; g++) {
		for (before = 0; before < g; before++)
			if (is_team(&m->groups[before], &m->groups[g]))
				break;
		if (before < g)
			continue;
		rc = vpt_grow(&out->items, &out->cap, out->count + 1, sizeof(*out->items));
		if (!rc) {
			out->items[out->count] = (struct vpa_team){.group = g};
			rc = list_rows(job, rows, out, &out->items[out->count++]);
		}
	}
	return rc;
}

void vpa_teams_free(struct vpa_teams *t)
{
	vpt_free(t->items);
	vpt_free(t->rows);
	*t = (struct vpa_teams){.count = 0};
}
