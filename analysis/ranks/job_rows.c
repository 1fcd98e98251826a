/* job_rows.c - rank by rank, the latest start and the earliest end of each row so far. */
#include "analysis/ranks/job_rows.h"

#include "formats/base/memory.h"

static void take_member(
	const struct vpa_job *job, const struct vpa_group *g, size_t k, struct vpa_job_row *rows)
{
	const struct vpa_rank *r = job->list.items[g->ranks[k]];
	const struct vpa_clock *clock = vpa_job_clock(job, g->ranks[k]);
	size_t row;

	for (row = 0; clock->is_placed && row < g->row_count; row++) {
		uint32_t cell = vpa_group_cell(g, row, k);
		struct vpa_job_row *x = &rows[row];
		int64_t start_ns, end_ns;

		if (cell == VPA_NO_COLLECTIVE)
			continue;
		start_ns = vpa_clock_time(clock, vpa_rank_start_ns(r, cell));
		end_ns = vpa_clock_time(clock, vpa_rank_end_ns(r, cell));
		if (start_ns > x->last_ns || !x->count) {
			x->last_ns = start_ns;
			x->last = (uint32_t)k;
		}
		if (end_ns < x->first_end_ns || !x->count)
			x->first_end_ns = end_ns;
		if (clock->uncertainty_ns > x->uncertainty_ns)
			x->uncertainty_ns = clock->uncertainty_ns;
		x->count++;
	}
}

int vpa_job_rows_find(const struct vpa_job *job, struct vpa_job_rows *out)
{
	const struct vpa_matching *m = &job->matching;
	size_t g, k;

	*out = (struct vpa_job_rows){.firsts = vpt_alloc(m->group_count + 1, sizeof(*out->firsts))};
	for (g = 0; out->firsts && g < m->group_count; g++) {
		out->firsts[g] = out->count;
		out->count += m->groups[g].row_count;
	}
	out->items = vpt_calloc(out->count + 1, sizeof(*out->items));
	if (!out->items || !out->firsts)
		return VPT_ENOMEM;
	for (g = 0; g < m->group_count; g++)
		for (k = 0; k < m->groups[g].rank_count; k++)
			take_member(job, &m->groups[g], k, &out->items[out->firsts[g]]);
	return VPT_OK;
}

void vpa_job_rows_free(struct vpa_job_rows *rows)
{
	vpt_free(rows->items);
	vpt_free(rows->firsts);
	*rows = (struct vpa_job_rows){.count = 0};
}
