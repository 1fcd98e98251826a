/* waits.c - the waits of a job: tasks for threads, and their sums. */
#include "analysis/ranks/waits/waits_state.h"

#include "analysis/base/sort.h"
#include "analysis/ranks/rank/rank_threads.h"
#include "formats/base/memory.h"

static int by_rank(const void *a, const void *b)
{
	const struct vpa_odd_wait *x = a, *y = b;

	return (x->rank > y->rank) - (x->rank < y->rank);
}

static int list_tasks(struct vpa_job_waits *w)
{
	size_t i, at;

	for (i = 0; i < w->teams.count; i++)
		for (at = w->teams.items[i].first; at < w->teams.items[i].last;
			at += VPA_WAIT_TASK_ROWS) {
			size_t last = w->teams.items[i].last - at > VPA_WAIT_TASK_ROWS
					      ? at + VPA_WAIT_TASK_ROWS
					      : w->teams.items[i].last;

			if (vpt_grow(&w->tasks, &w->task_cap, w->task_count + 1, sizeof(*w->tasks)))
				return VPT_ENOMEM;
			w->tasks[w->task_count++] = (struct vpa_wait_task){i, at, last};
		}
	return VPT_OK;
}

static int new_tallies(struct vpa_job_waits *w)
{
	size_t ranks = w->job->rank_count + 1;
	unsigned i;

	w->tallies = vpt_calloc(w->threads, sizeof(*w->tallies));
	for (i = 0; w->tallies && i < w->threads; i++) {
		struct vpa_wait_tally *t = &w->tallies[i];

		t->ranks = vpt_calloc(ranks, sizeof(*t->ranks));
		t->groups = vpt_calloc(w->job->group_count + 1, sizeof(*t->groups));
		t->blame = vpt_calloc(ranks, (w->parts.count + 1) * sizeof(*t->blame));
		if (!t->ranks || !t->groups || !t->blame)
			return VPT_ENOMEM;
	}
	return w->tallies ? VPT_OK : VPT_ENOMEM;
}

static int new_waits(struct vpa_job_waits *w)
{
	size_t i;

	w->waits = vpt_calloc(w->teams.count + 1, sizeof(*w->waits));
	for (i = 0; w->waits && i < w->teams.count; i++) {
		const struct vpa_team *t = &w->teams.items[i];

		w->waits[i] =
			vpt_calloc(w->job->matching.groups[t->group].rank_count, vpa_how_bytes(t));
		if (!w->waits[i])
			return VPT_ENOMEM;
	}
	return w->waits ? VPT_OK : VPT_ENOMEM;
}

static int add_tally(struct vpa_job_waits *w, const struct vpa_wait_tally *t)
{
	struct vpa_job *job = w->job;
	size_t i;

	for (i = 0; i < job->rank_count; i++) {
		struct vpa_job_rank *to = &job->ranks[i];
		const struct vpa_job_rank *from = &t->ranks[i];

		to->last += from->last;
		to->matched += from->matched;
		to->at_least += from->at_least;
		to->transfer_ns = vpt_sat_add_i64(to->transfer_ns, from->transfer_ns);
		vpt_sat_add_to(&to->skew_ns, from->skew_ns);
		vpt_sat_add_to(&to->unsure_ns, from->unsure_ns);
		vpt_sat_add_to(&to->wait_ns, from->wait_ns);
		vpt_sat_add_to(&to->blame_ns, from->blame_ns);
		vpt_sat_add_to(&to->start_wait_ns, from->start_wait_ns);
		vpt_sat_add_to(&to->start_blame_ns, from->start_blame_ns);
		vpt_sat_add_to(&job->blame_ns, from->blame_ns);
	}
	for (i = 0; i < job->group_count; i++) {
		vpt_sat_add_to(&job->groups[i].wait_ns, t->groups[i].wait_ns);
		vpt_sat_add_to(&job->groups[i].transfer_ns, t->groups[i].transfer_ns);
	}
	job->rows += t->rows;
	job->at_least += t->at_least;
	job->negative += t->negative;
	if (t->uncertainty_ns > job->uncertainty_ns)
		job->uncertainty_ns = t->uncertainty_ns;
	if (vpt_grow(&w->odd, &w->odd_cap, w->odd_count + t->odd_count, sizeof(*w->odd)))
		return VPT_ENOMEM;
	for (i = 0; i < t->odd_count; i++)
		w->odd[w->odd_count++] = t->odd[i];
	return VPT_OK;
}

int vpa_job_waits_begin(struct vpa_job *job, const struct vpa_job_rows *rows, unsigned threads,
	struct vpa_job_waits **out)
{
	struct vpa_job_waits *w = vpt_calloc(1, sizeof(*w));
	size_t i;
	int rc;

	*out = w;
	if (!w)
		return VPT_ENOMEM;
	w->job = job;
	w->job_rows = rows;
	w->threads = threads;
	w->of_rank = vpt_calloc(job->list.count + 1, sizeof(*w->of_rank));
	w->is_odd = vpt_calloc(job->list.count + 1, sizeof(*w->is_odd));
	rc = w->of_rank && w->is_odd ? vpa_name_parts(w) : VPT_ENOMEM;
	if (!rc)
		rc = new_tallies(w);
	if (!rc)
		rc = vpa_teams_find(job, rows, threads, &w->teams);
	if (!rc)
		rc = new_waits(w);
	if (!rc)
		rc = list_tasks(w);
	if (!rc)
		rc = vpa_in_threads(threads, w->task_count, vpa_wait_task_take, w);
	for (i = 0; i < threads && !rc; i++)
		rc = add_tally(w, &w->tallies[i]);
	return rc ? rc : vpa_sort(w->odd, w->odd_count, sizeof(*w->odd), by_rank);
}

void vpa_job_waits_free(struct vpa_job_waits *w)
{
	size_t i;

	if (!w)
		return;
	for (i = 0; w->of_rank && i < w->job->list.count; i++)
		vpt_free(w->of_rank[i]);
	for (i = 0; w->waits && i < w->teams.count; i++)
		vpt_free(w->waits[i]);
	vpt_free(w->waits);
	for (i = 0; w->tallies && i < w->threads; i++) {
		vpt_free(w->tallies[i].ranks);
		vpt_free(w->tallies[i].groups);
		vpt_free(w->tallies[i].blame);
		vpt_free(w->tallies[i].odd);
		vpt_free(w->tallies[i].walks);
	}
	vpt_free(w->tallies);
	vpt_free(w->of_rank);
	vpt_free(w->is_odd);
	vpt_free(w->tasks);
	vpa_teams_free(&w->teams);
	vpt_free(w->odd);
	vpt_strings_free(&w->places);
	vpa_index_free(&w->parts);
	vpt_free(w);
}
