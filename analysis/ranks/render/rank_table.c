/* rank_table.c - what each rank does with its time: a row for those to blame, one for all others. */
#include "analysis/ranks/render/ranks_pages.h"

#include "formats/base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_SHOWN = 6 /* in a row of their own */ };

/* Milliseconds of a unit, for cells. */
static struct vpa_num cell(const struct vpa_job *job, int64_t ns)
{
	return vpa_fixed(vpa_job_per_unit(job, (double)ns) / 1e6, 1);
}

/* A time of a rank as the job's, so that a unit's share of it is that of the units that the rank has. */
static int64_t as_whole(const struct vpa_job *job, const struct vpa_job_rank *r, int64_t ns)
{
	double whole = vpa_job_per_unit(job, 1);

	return r->cut_ns ? (int64_t)(vpa_job_rank_per_unit(job, r, (double)ns) / whole) : ns;
}

static int by_blame(const void *a, const void *b)
{
	const struct vpa_job_rank *x = *(const struct vpa_job_rank *const *)a,
				  *y = *(const struct vpa_job_rank *const *)b;

	if (x->blame_ns != y->blame_ns)
		return x->blame_ns < y->blame_ns ? 1 : -1;
	return (x->number > y->number) - (x->number < y->number);
}

/* The same without the start, as the figures are. */
static int by_blame_of_units(const void *a, const void *b)
{
	const struct vpa_job_rank *x = *(const struct vpa_job_rank *const *)a,
				  *y = *(const struct vpa_job_rank *const *)b;
	uint64_t x_ns = x->blame_ns - x->start_blame_ns, y_ns = y->blame_ns - y->start_blame_ns;

	return x_ns != y_ns ? (x_ns < y_ns ? 1 : -1) : by_blame(a, b);
}

static const struct vpa_column rank_columns[] = {
	{.head = "computes"},
	{.head = "transfers", .drop = 1},
	{.head = "waits"},
	{.head = "idle"},
	{.head = "last", .drop = 2},
	{.head = "others wait for it"},
};

/* What each of the others waits for it, the mean. */
static int64_t made_to_wait(const struct vpa_job *job, const struct vpa_job_rank *r)
{
	return job->rank_count > 1 ? (int64_t)(vpa_job_blame_of(job, r) / (job->rank_count - 1))
				   : 0;
}

/* What it computes, transfers, waits and is idle. */
static void figures_of(const struct vpa_job *job, const struct vpa_job_rank *r, int64_t figures[4])
{
	figures[0] = as_whole(job, r, (int64_t)r->rank->class_ns[VPA_TIME_COMPUTE]);
	figures[1] = as_whole(job, r, r->transfer_ns);
	figures[2] = as_whole(job, r, (int64_t)vpa_job_wait_of(job, r));
	figures[3] = as_whole(job, r, (int64_t)r->rank->class_ns[VPA_TIME_IDLE]);
}

static void put_rank(const struct vpa_job *job, const struct vpa_job_rank *r, struct vpa_table *t)
{
	struct vpa_row *row =
		vpa_table_row(t, 0, "rank %" PRId64 "%s", r->number, r->cut_ns ? ", cut" : "");
	int64_t figures[4];
	size_t i;

	figures_of(job, r, figures);
	for (i = 0; i < 4; i++)
		row->cells[i] = cell(job, figures[i]);
	snprintf(row->cells[4].text, sizeof(row->cells[4].text), "%" PRIu64 "/%" PRIu64, r->last,
		r->matched);
	row->cells[5] = cell(job, made_to_wait(job, r));
}

/* The figures of several ranks, "131.5-132.3". */
struct bounds {
	int64_t least, most;
};

static void widen(struct bounds *b, int64_t ns, int is_first)
{
	b->least = is_first || ns < b->least ? ns : b->least;
	b->most = is_first || ns > b->most ? ns : b->most;
}

static struct vpa_num bounds_cell(const struct vpa_job *job, const struct bounds *b)
{
	struct vpa_num low = cell(job, b->least), high = cell(job, b->most), out;

	if (!strcmp(low.text, high.text))
		return low;
	snprintf(out.text, sizeof(out.text), "%.17s-%.17s", low.text, high.text);
	return out;
}

static void put_others(const struct vpa_job *job, const struct vpa_job_rank *const *ranks,
	size_t count, struct vpa_table *t)
{
	struct vpa_row *row = vpa_table_row(t, 0, "%zu others", count);
	struct bounds bounds[6] = {{0, 0}};
	uint64_t last = 0, matched = 0;
	size_t i, k;

	for (i = 0; i < count; i++) {
		const struct vpa_job_rank *r = ranks[i];
		int64_t figures[6] = {0};

		figures_of(job, r, figures);
		figures[5] = made_to_wait(job, r);
		for (k = 0; k < 6; k++)
			widen(&bounds[k], figures[k], !i);
		last += r->last;
		matched = r->matched > matched ? r->matched : matched;
	}
	for (k = 0; k < 6; k++)
		if (k != 4)
			row->cells[k] = bounds_cell(job, &bounds[k]);
	snprintf(row->cells[4].text, sizeof(row->cells[4].text), "%" PRIu64 "/%" PRIu64, last,
		matched);
}

void vpa_ranks_put_table(struct vpa_page *p, const struct vpa_job *job)
{
	const struct vpa_job_rank **order = vpt_calloc(job->rank_count + 1, sizeof(void *));
	struct vpa_table t;
	size_t i, shown = 0;

	if (!order) {
		p->rc = vpt_fail(p->err, VPT_ENOMEM, "no memory for a table");
		return;
	}
	for (i = 0; i < job->rank_count; i++)
		order[i] = &job->ranks[i];
	qsort(order, job->rank_count, sizeof(void *), job->start_ns ? by_blame_of_units : by_blame);
	vpa_table_init(&t, rank_columns, 6, "RANK, ms %s", vpa_unit_words(job->unit)->a_name);
	/* Those that are to blame for something, and all if they are few. */
	while (shown < job->rank_count &&
		(job->rank_count <= RANKS_SHOWN + 2 ||
			(shown < RANKS_SHOWN && order[shown]->blame_ns > job->blame_ns / 50)))
		put_rank(job, order[shown++], &t);
	if (shown + 1 == job->rank_count)
		put_rank(job, order[shown], &t);
	else if (shown < job->rank_count)
		put_others(job, order + shown, job->rank_count - shown, &t);
	vpa_page_table(p, &t);
	vpt_free(order);
}
