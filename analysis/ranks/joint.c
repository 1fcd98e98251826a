/* joint.c - max-plus over the collectives of all ranks, in the order in which the last one came to each. */
#include "analysis/ranks/joint.h"

#include "analysis/base/sort.h"
#include "analysis/ranks/late.h"
#include "analysis/ranks/number_list.h"
#include "analysis/report/causes.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdlib.h>
#include <string.h>

/* What a rank did between the collective before, in order of start, and this one. */
struct stretch {
	int64_t busy_ns; /* computing and copying */
	int64_t idle_ns;
	int64_t host_ns; /* part of it: the host was late */
};

/* A row of a group, or a collective without a partner. */
struct event {
	int64_t at_ns;  /* the last arrival, as recorded */
	uint32_t group; /* UINT32_MAX: of one rank */
	uint32_t row;   /* or the rank */
	uint32_t item;  /* of one rank */
};

struct joint {
	struct vpa_job *job;
	struct event *events;
	size_t event_count;
	struct stretch **stretches; /* by rank, then collective */
	int64_t **rest_ns;          /* from the last arrival to its end, as recorded */
	/* By rank, then 1 + collective: sums of what is busy, and of what a change takes away of busy and of idle time. */
	int64_t **busy_ns, **less_busy_ns, **less_idle_ns;
	int64_t **ends_ns; /* of the replay; 0 is the rank's start */
};

static int64_t job_time(const struct vpa_job *job, size_t rank, uint64_t ns)
{
	return vpa_clock_time(&job->clocks.items[job->clocks.of_rank[rank]], ns);
}

/* ---- stretches ---- */

static int is_host(unsigned cause)
{
	return cause == VPA_CAUSE_HOST_CODE || cause == VPA_CAUSE_LAUNCH_RATE ||
	       cause == VPA_CAUSE_LAUNCH_CALL || cause == VPA_CAUSE_LAUNCH_LATENCY;
}

static void add_part(const struct vpa_rank *r, const struct vpa_rank_part *p, struct stretch *s)
{
	const struct vpa_part_name *name = &r->part_names[p->name];

	if (name->klass == VPA_TIME_COMPUTE || name->klass == VPA_TIME_COPY)
		s->busy_ns += (int64_t)p->ns;
	if (name->klass != VPA_TIME_IDLE)
		return;
	s->idle_ns += (int64_t)p->ns;
	s->host_ns += is_host(name->kind) ? (int64_t)p->ns : 0;
}

/* Collectives that overlap have no time between them. */
static void measure(const struct vpa_rank *r, struct stretch *out)
{
	uint32_t from = 0;
	size_t i, k;

	for (i = 0; i < r->collective_count; i++) {
		const struct vpa_rank_collective *c = &r->collectives[i];
		size_t first = i ? r->marks[from].part_end : 0;

		for (k = first; k < r->marks[c->start_mark].part_end; k++)
			add_part(r, &r->parts[k], &out[i]);
		from = c->end_mark > from ? c->end_mark : from;
	}
}

/* ---- events ---- */

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return (x->item > y->item) - (x->item < y->item);
}

static void add_row(struct joint *j, uint32_t group, uint32_t row)
{
	const struct vpa_group *g = &j->job->matching.groups[group];
	int64_t last = INT64_MIN;
	size_t k;

	for (k = 0; k < g->rank_count; k++) {
		uint32_t cell = vpa_group_cell(g, row, k);
		int64_t at;

		if (cell == VPA_NO_COLLECTIVE)
			continue;
		at = job_time(j->job, g->ranks[k],
			j->job->list.items[g->ranks[k]]->collectives[cell].start_ns);
		last = at > last ? at : last;
	}
	for (k = 0; k < g->rank_count; k++) {
		uint32_t cell = vpa_group_cell(g, row, k);

		if (cell != VPA_NO_COLLECTIVE)
			j->rest_ns[g->ranks[k]][cell] =
				job_time(j->job, g->ranks[k],
					j->job->list.items[g->ranks[k]]->collectives[cell].end_ns) -
				last;
	}
	j->events[j->event_count++] = (struct event){last, group, row, 0};
}

/* Those without a partner end as long after their start as they did. */
static void add_single(struct joint *j, uint32_t rank, uint32_t item)
{
	const struct vpa_rank_collective *c = &j->job->list.items[rank]->collectives[item];

	if (j->rest_ns[rank][item] != INT64_MIN)
		return;
	j->rest_ns[rank][item] = (int64_t)(c->end_ns - c->start_ns);
	j->events[j->event_count++] =
		(struct event){job_time(j->job, rank, c->start_ns), UINT32_MAX, rank, item};
}

static int list_events(struct joint *j)
{
	const struct vpa_job *job = j->job;
	size_t count = 0, r;
	uint32_t g, i;

	for (r = 0; r < job->rank_count; r++)
		count += job->list.items[r]->collective_count;
	j->events = vpt_calloc(count + 1, sizeof(*j->events));
	if (!j->events)
		return VPT_ENOMEM;
	for (r = 0; r < job->rank_count; r++)
		for (i = 0; i < job->list.items[r]->collective_count; i++)
			j->rest_ns[r][i] = INT64_MIN;
	for (g = 0; g < job->matching.group_count; g++)
		for (i = 0; i < job->matching.groups[g].row_count; i++)
			add_row(j, g, i);
	for (r = 0; r < job->rank_count; r++)
		for (i = 0; i < job->list.items[r]->collective_count; i++)
			add_single(j, (uint32_t)r, i);
	return vpa_sort(j->events, j->event_count, sizeof(*j->events), by_time);
}

/* ---- the replay ---- */

/* A term without what the change takes away, but not less than the work that stays. */
static int64_t changed(const struct joint *j, size_t r, const struct vpa_rank_term *x, size_t item)
{
	size_t from = x->after == VPA_RANK_START ? 0 : 1 + (size_t)x->after;
	int64_t busy = j->busy_ns[r][item] - j->busy_ns[r][from];
	int64_t less_busy = j->less_busy_ns[r][item] - j->less_busy_ns[r][from];
	int64_t less = less_busy + j->less_idle_ns[r][item] - j->less_idle_ns[r][from];
	int64_t least = busy - less_busy;

	if (!less)
		return x->ns;
	least = least < x->ns ? least : x->ns;
	return x->ns - less > least ? x->ns - less : least;
}

/* When a rank's collective starts, or, after its last one, when it ends. `item`: 1 + collective. */
static int64_t start_of(const struct joint *j, size_t r, size_t item)
{
	const struct vpa_rank *rank = j->job->list.items[r];
	size_t i = item > 1 ? rank->term_ends[item - 2] : 0;
	int64_t at = INT64_MIN;

	for (; i < rank->term_ends[item - 1]; i++) {
		const struct vpa_rank_term *x = &rank->terms[i];
		size_t from = x->after == VPA_RANK_START ? 0 : 1 + (size_t)x->after;
		int64_t ns = j->ends_ns[r][from] + changed(j, r, x, item);

		at = ns > at ? ns : at;
	}
	return at;
}

static void run_row(struct joint *j, const struct event *e)
{
	const struct vpa_group *g = &j->job->matching.groups[e->group];
	int64_t last = INT64_MIN;
	size_t k;

	for (k = 0; k < g->rank_count; k++) {
		uint32_t cell = vpa_group_cell(g, e->row, k);
		int64_t at = cell == VPA_NO_COLLECTIVE ? INT64_MIN
						       : start_of(j, g->ranks[k], (size_t)cell + 1);

		last = at > last ? at : last;
	}
	for (k = 0; k < g->rank_count; k++) {
		uint32_t cell = vpa_group_cell(g, e->row, k);

		if (cell != VPA_NO_COLLECTIVE)
			j->ends_ns[g->ranks[k]][cell + 1] = last + j->rest_ns[g->ranks[k]][cell];
	}
}

/* How long the job takes. */
static int64_t replay(struct joint *j)
{
	const struct vpa_job *job = j->job;
	int64_t first = INT64_MAX, last = INT64_MIN;
	size_t i, r;

	for (r = 0; r < job->rank_count; r++) {
		int64_t at = job_time(job, r, job->list.items[r]->first_ns);

		j->ends_ns[r][0] = at;
		first = at < first ? at : first;
	}
	for (i = 0; i < j->event_count; i++) {
		const struct event *e = &j->events[i];

		if (e->group != UINT32_MAX)
			run_row(j, e);
		else
			j->ends_ns[e->row][e->item + 1] = start_of(j, e->row, (size_t)e->item + 1) +
							  j->rest_ns[e->row][e->item];
	}
	for (r = 0; r < job->rank_count; r++) {
		int64_t at = start_of(j, r, job->list.items[r]->collective_count + 1);

		last = at > last ? at : last;
	}
	return last - first;
}

/* By how much the unchanged replay differs from the recording, at most. */
static uint64_t error_of(const struct joint *j)
{
	const struct vpa_job *job = j->job;
	uint64_t most = 0;
	size_t r, i;

	for (r = 0; r < job->rank_count; r++)
		for (i = 0; i < job->list.items[r]->collective_count; i++) {
			int64_t by = j->ends_ns[r][i + 1] -
				     job_time(job, r, job->list.items[r]->collectives[i].end_ns);
			uint64_t ns = (uint64_t)(by < 0 ? -by : by);

			most = ns > most ? ns : most;
		}
	return most;
}

/* ---- changes ---- */

static void clear_change(struct joint *j)
{
	size_t r, count;

	for (r = 0; r < j->job->rank_count; r++) {
		count = j->job->list.items[r]->collective_count + 2;
		memset(j->less_busy_ns[r], 0, count * sizeof(**j->less_busy_ns));
		memset(j->less_idle_ns[r], 0, count * sizeof(**j->less_idle_ns));
	}
}

/* The change so far is what is less in each stretch: now sums. */
static void sum_change(struct joint *j)
{
	size_t r, i;

	for (r = 0; r < j->job->rank_count; r++)
		for (i = 1; i < j->job->list.items[r]->collective_count + 2; i++) {
			j->less_busy_ns[r][i] += j->less_busy_ns[r][i - 1];
			j->less_idle_ns[r][i] += j->less_idle_ns[r][i - 1];
		}
}

static void take_host_code(struct joint *j)
{
	size_t r, i;

	for (r = 0; r < j->job->rank_count; r++)
		for (i = 0; i < j->job->list.items[r]->collective_count; i++)
			j->less_idle_ns[r][i + 1] = j->stretches[r][i].host_ns;
}

/* Makes the member like the median of the row, where it takes longer. */
static void make_like_median(
	struct joint *j, const struct vpa_group *g, size_t row, size_t member, int64_t *numbers)
{
	uint32_t own = vpa_group_cell(g, row, member), rank = g->ranks[member];
	size_t k, count = 0, half;
	int64_t busy, idle;

	for (k = 0; k < g->rank_count; k++)
		if (vpa_group_cell(g, row, k) != VPA_NO_COLLECTIVE)
			numbers[count++] =
				j->stretches[g->ranks[k]][vpa_group_cell(g, row, k)].busy_ns;
	half = (count - 1) / 2;
	busy = j->stretches[rank][own].busy_ns - vpa_nth(numbers, count, half);
	for (k = count = 0; k < g->rank_count; k++)
		if (vpa_group_cell(g, row, k) != VPA_NO_COLLECTIVE)
			numbers[count++] =
				j->stretches[g->ranks[k]][vpa_group_cell(g, row, k)].idle_ns;
	idle = j->stretches[rank][own].idle_ns - vpa_nth(numbers, count, half);
	j->less_busy_ns[rank][own + 1] = busy > 0 ? busy : 0;
	j->less_idle_ns[rank][own + 1] = idle > 0 ? idle : 0;
}

static void make_rank_like_median(struct joint *j, size_t rank, int64_t *numbers)
{
	size_t g, k, row;

	for (g = 0; g < j->job->matching.group_count; g++) {
		const struct vpa_group *group = &j->job->matching.groups[g];

		for (k = 0; k < group->rank_count && group->ranks[k] != rank; k++)
			;
		for (row = 0; k < group->rank_count && row < group->row_count; row++)
			if (vpa_group_cell(group, row, k) != VPA_NO_COLLECTIVE)
				make_like_median(j, group, row, k, numbers);
	}
}

/* ---- what is tried ---- */

static int by_number(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Replays the change, and keeps what it brings. `members` are indexes of ranks; none: all. */
static int add_fix(struct joint *j, enum vpa_fix_kind kind, const size_t *members, size_t count,
	int64_t base_ns)
{
	struct vpa_job *job = j->job;
	struct vpa_job_fix *fix = &job->fixes[job->fix_count];
	int64_t names[VPA_FIX_RANKS_MOST], ns;
	size_t i;

	sum_change(j);
	ns = replay(j);
	if (job->fix_count == VPA_FIXES_MOST || base_ns <= 0)
		return VPT_OK;
	job->fix_count++;
	*fix = (struct vpa_job_fix){.kind = kind,
		.member_count = count,
		.share = (double)(base_ns - ns) / (double)base_ns,
		.unit_ns =
			ns <= 0 ? 0 : vpt_sat_scale(job->unit_ns, (uint64_t)ns, (uint64_t)base_ns)};
	for (i = 0; i < count; i++) {
		fix->members[i] = members[i];
		names[i] = job->ranks[members[i]].number;
	}
	qsort(names, count, sizeof(*names), by_number);
	fix->ranks = count ? vpa_number_list(&job->arena, names, count) : NULL;
	return job->arena.failed ? VPT_ENOMEM : VPT_OK;
}

static int by_blame(const void *a, const void *b)
{
	const struct vpa_job_rank *x = *(const struct vpa_job_rank *const *)a,
				  *y = *(const struct vpa_job_rank *const *)b;

	if (x->blame_ns != y->blame_ns)
		return x->blame_ns < y->blame_ns ? 1 : -1;
	return (x->number > y->number) - (x->number < y->number);
}

static int try_ranks(
	struct joint *j, const struct vpa_job_rank **order, int64_t *numbers, int64_t base_ns)
{
	struct vpa_job *job = j->job;
	size_t members[VPA_FIX_RANKS_MOST], i, late = 0;
	int rc = VPT_OK;

	/* Those that are to blame for a tenth of the waits. */
	for (; late < job->rank_count && late < VPA_FIX_RANKS_MOST &&
		order[late]->blame_ns > job->blame_ns / 10;
		late++)
		members[late] = (size_t)(order[late] - job->ranks);
	for (i = 0; i < late && !rc; i++) {
		clear_change(j);
		make_rank_like_median(j, members[i], numbers);
		rc = add_fix(j, VPA_FIX_LIKE_MEDIAN, &members[i], 1, base_ns);
	}
	if (late < 2 || rc)
		return rc;
	clear_change(j);
	for (i = 0; i < late; i++)
		make_rank_like_median(j, members[i], numbers);
	return add_fix(j, VPA_FIX_LIKE_MEDIAN, members, late, base_ns);
}

static int by_gain(const void *a, const void *b)
{
	const struct vpa_job_fix *x = a, *y = b;

	return (y->share > x->share) - (y->share < x->share);
}

static int try_all(struct joint *j)
{
	struct vpa_job *job = j->job;
	const struct vpa_job_rank **order = vpt_calloc(job->rank_count + 1, sizeof(void *));
	int64_t *numbers = vpt_calloc(job->rank_count + 1, sizeof(*numbers)), base_ns;
	size_t i;
	int rc = order && numbers ? VPT_OK : VPT_ENOMEM;

	for (i = 0; i < job->rank_count && !rc; i++)
		order[i] = &job->ranks[i];
	if (!rc) {
		qsort(order, job->rank_count, sizeof(void *), by_blame);
		clear_change(j);
		base_ns = replay(j);
		job->replay_error_ns = error_of(j);
		job->is_replayed = 1;
		clear_change(j);
		take_host_code(j);
		rc = add_fix(j, VPA_FIX_HOST_CODE, NULL, 0, base_ns);
	}
	if (!rc)
		rc = try_ranks(j, order, numbers, base_ns);
	if (!rc)
		rc = vpa_sort(job->fixes, job->fix_count, sizeof(*job->fixes), by_gain);
	vpt_free(order);
	vpt_free(numbers);
	return rc;
}

/* ---- memory ---- */

static int64_t **new_columns(const struct vpa_job *job)
{
	int64_t **columns = vpt_calloc(job->rank_count + 1, sizeof(*columns));
	size_t r;

	for (r = 0; columns && r < job->rank_count; r++)
		columns[r] =
			vpt_calloc(job->list.items[r]->collective_count + 2, sizeof(**columns));
	return columns;
}

static int have_all(const struct vpa_job *job, int64_t **columns)
{
	size_t r;

	for (r = 0; columns && r < job->rank_count; r++)
		if (!columns[r])
			return 0;
	return columns != NULL;
}

static void free_columns(const struct vpa_job *job, int64_t **columns)
{
	size_t r;

	for (r = 0; columns && r < job->rank_count; r++)
		vpt_free(columns[r]);
	vpt_free(columns);
}

static int measure_all(struct joint *j)
{
	const struct vpa_job *job = j->job;
	size_t r, i;

	j->stretches = vpt_calloc(job->rank_count + 1, sizeof(*j->stretches));
	for (r = 0; j->stretches && r < job->rank_count; r++) {
		const struct vpa_rank *rank = job->list.items[r];

		j->stretches[r] = vpt_calloc(rank->collective_count + 1, sizeof(**j->stretches));
		if (!j->stretches[r])
			return VPT_ENOMEM;
		measure(rank, j->stretches[r]);
		for (i = 0; i < rank->collective_count; i++)
			j->busy_ns[r][i + 1] = j->busy_ns[r][i] + j->stretches[r][i].busy_ns;
		j->busy_ns[r][i + 1] = j->busy_ns[r][i];
	}
	return j->stretches ? VPT_OK : VPT_ENOMEM;
}

int vpa_joint_find(struct vpa_job *job)
{
	struct joint j = {.job = job};
	size_t r;
	int rc = VPT_ENOMEM;

	for (r = 0; r < job->rank_count; r++)
		if (!job->list.items[r]->term_ends ||
			!job->clocks.items[job->clocks.of_rank[r]].is_placed)
			return VPT_OK;
	if (!job->rows)
		return VPT_OK;
	job->fixes = vpa_arena_alloc(&job->arena, VPA_FIXES_MOST, sizeof(*job->fixes));
	if (!job->fixes)
		return VPT_ENOMEM;
	j.rest_ns = new_columns(job);
	j.busy_ns = new_columns(job);
	j.less_busy_ns = new_columns(job);
	j.less_idle_ns = new_columns(job);
	j.ends_ns = new_columns(job);
	if (have_all(job, j.rest_ns) && have_all(job, j.busy_ns) && have_all(job, j.less_busy_ns) &&
		have_all(job, j.less_idle_ns) && have_all(job, j.ends_ns))
		rc = measure_all(&j);
	if (!rc)
		rc = list_events(&j);
	if (!rc)
		rc = try_all(&j);
	for (r = 0; j.stretches && r < job->rank_count; r++)
		vpt_free(j.stretches[r]);
	vpt_free(j.stretches);
	vpt_free(j.events);
	free_columns(job, j.rest_ns);
	free_columns(job, j.busy_ns);
	free_columns(job, j.less_busy_ns);
	free_columns(job, j.less_idle_ns);
	free_columns(job, j.ends_ns);
	return rc;
}
