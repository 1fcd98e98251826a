/* job_rows.c - the latest start and the earliest end of each row, found rank by rank. A task has a few hundred rows, which stay in
 * the cache meanwhile. */
#include "analysis/ranks/job_rows.h"

#include "analysis/ranks/rank/rank_threads.h"
#include "formats/base/memory.h"

enum { ROWS_A_TASK = 256 };

/* Rows of a group that one thread looks at. */
struct task {
	size_t group, first, last;
};

struct finding {
	const struct vpa_job *job;
	struct vpa_job_rows *rows;
	struct task *tasks;
	size_t task_count, task_cap;
};

static void take_member(const struct vpa_job *job, const struct vpa_group *g, size_t k,
	const struct task *task, struct vpa_job_row *rows)
{
	const struct vpa_rank *r = job->list.items[g->ranks[k]];
	const struct vpa_clock clock = *vpa_job_clock(job, g->ranks[k]);
	const struct vpa_rank_times times = r->times;
	const uint32_t *column = g->columns[k];
	size_t row;

	for (row = task->first; clock.is_placed && row < task->last; row++) {
		struct vpa_job_row *x = &rows[row];
		struct vpa_item_times span;
		int64_t start_ns, end_ns;

		if (column[row] == VPA_NO_COLLECTIVE)
			continue;
		span = vpa_rank_times_of(&times, column[row]);
		start_ns = vpa_clock_time(&clock, span.start_ns);
		end_ns = vpa_clock_time(&clock, span.end_ns);
		if (start_ns > x->last_ns) {
			x->last_ns = start_ns;
			x->last = (uint32_t)k;
		}
		x->first_ns = start_ns < x->first_ns ? start_ns : x->first_ns;
		x->first_end_ns = end_ns < x->first_end_ns ? end_ns : x->first_end_ns;
		if (clock.uncertainty_ns > x->uncertainty_ns)
			x->uncertainty_ns = clock.uncertainty_ns;
		x->count++;
	}
}

static int take_task(void *ctx, unsigned thread, size_t i)
{
	const struct finding *f = ctx;
	const struct task *task = &f->tasks[i];
	const struct vpa_group *g = &f->job->matching.groups[task->group];
	struct vpa_job_row *rows = &f->rows->items[f->rows->firsts[task->group]];
	size_t k, row;

	(void)thread;
	for (row = task->first; row < task->last; row++)
		rows[row] = (struct vpa_job_row){
			.first_ns = INT64_MAX, .last_ns = INT64_MIN, .first_end_ns = INT64_MAX};
	for (k = 0; k < g->rank_count; k++)
		take_member(f->job, g, k, task, rows);
	for (row = task->first; row < task->last; row++)
		if (!rows[row].count)
			rows[row] = (struct vpa_job_row){.count = 0};
	return VPT_OK;
}

static int list_tasks(struct finding *f, size_t group)
{
	size_t rows = f->job->matching.groups[group].row_count, at;

	for (at = 0; at < rows; at += ROWS_A_TASK) {
		size_t last = rows - at > ROWS_A_TASK ? at + ROWS_A_TASK : rows;

		if (vpt_grow(&f->tasks, &f->task_cap, f->task_count + 1, sizeof(*f->tasks)))
			return VPT_ENOMEM;
		f->tasks[f->task_count++] = (struct task){group, at, last};
	}
	return VPT_OK;
}

int vpa_job_rows_find(const struct vpa_job *job, unsigned threads, struct vpa_job_rows *out)
{
	const struct vpa_matching *m = &job->matching;
	struct finding f = {.job = job, .rows = out};
	size_t g;
	int rc = VPT_OK;

	*out = (struct vpa_job_rows){.firsts = vpt_alloc(m->group_count + 1, sizeof(*out->firsts))};
	for (g = 0; out->firsts && g < m->group_count; g++) {
		out->firsts[g] = out->count;
		out->count += m->groups[g].row_count;
	}
	out->items = vpt_alloc(out->count + 1, sizeof(*out->items));
	if (!out->items || !out->firsts)
		return VPT_ENOMEM;
	for (g = 0; g < m->group_count && !rc; g++)
		rc = list_tasks(&f, g);
	if (!rc)
		rc = vpa_in_threads(threads, f.task_count, take_task, &f);
	vpt_free(f.tasks);
	return rc;
}

void vpa_job_rows_free(struct vpa_job_rows *rows)
{
	vpt_free(rows->items);
	vpt_free(rows->firsts);
	*rows = (struct vpa_job_rows){.count = 0};
}

void vpa_job_drop_rows(struct vpa_job *job)
{
	if (job->row_table)
		vpa_job_rows_free(job->row_table);
	vpt_free(job->row_table);
	job->row_table = NULL;
}

/* ---- a member of a row ---- */

int vpa_member_times(const struct vpa_job *job, const struct vpa_group *g, size_t row,
	size_t member, int64_t *start_ns, int64_t *end_ns)
{
	const struct vpa_clock *clock = vpa_job_clock(job, g->ranks[member]);
	const struct vpa_rank *r = job->list.items[g->ranks[member]];
	uint32_t cell = vpa_group_cell(g, row, member);

	if (cell == VPA_NO_COLLECTIVE || !clock->is_placed)
		return 0;
	*start_ns = vpa_clock_time(clock, vpa_rank_start_ns(r, cell));
	*end_ns = vpa_clock_time(clock, vpa_rank_end_ns(r, cell));
	return 1;
}

int vpa_row_is_messages(const struct vpa_job *job, const struct vpa_group *g, size_t row)
{
	size_t k;

	for (k = 0; vpa_group_cell(g, row, k) == VPA_NO_COLLECTIVE; k++)
		;
	return g->rank_count <= VPA_PAIRED_MOST &&
	       vpa_rank_key(job->list.items[g->ranks[k]], vpa_group_cell(g, row, k))->kind ==
		       VPA_COLLECTIVE_SEND_RECV;
}

/* How far two members are apart in a ring of all. */
static size_t ring_distance(const struct vpa_group *g, size_t a, size_t b)
{
	size_t up = a > b ? a - b : b - a, down = g->rank_count - up;

	return up < down ? up : down;
}

struct vpa_partner vpa_partner_of(const struct vpa_job *job, const struct vpa_group *g, size_t row,
	size_t member, int64_t end_ns)
{
	struct vpa_partner out = {member, INT64_MIN};
	size_t k;

	for (k = 0; k < g->rank_count; k++) {
		const struct vpa_clock *clock = vpa_job_clock(job, g->ranks[k]);
		uint32_t cell = vpa_group_cell(g, row, k);
		int64_t start_ns;

		if (cell == VPA_NO_COLLECTIVE || !clock->is_placed)
			continue;
		start_ns = vpa_clock_time(
			clock, vpa_rank_start_ns(job->list.items[g->ranks[k]], cell));
		if (k != member && start_ns > end_ns)
			continue;
		/* Of ranks in step the nearest: most messages go to the next rank. */
		if (start_ns > out.arrival_ns ||
			(start_ns == out.arrival_ns &&
				ring_distance(g, k, member) < ring_distance(g, out.member, member)))
			out = (struct vpa_partner){k, start_ns};
	}
	return out;
}
