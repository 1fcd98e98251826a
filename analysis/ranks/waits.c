/* waits.c - collective by collective, in the order of time of each set of ranks.
 *
 * "The collective before" is that of the same ranks, whatever its communicator: two groups with the same ranks are one
 * *team*, whose rows are in order of their ends. */
#include "analysis/ranks/waits.h"

#include "analysis/base/index.h"
#include "analysis/base/sort.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/chunk/strings.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS_LOOKED_BACK = 1024 };
_Static_assert((int)VPA_LATE_COMPUTE == (int)VPA_TIME_COMPUTE &&
		       (int)VPA_LATE_COMM == (int)VPA_TIME_COMM &&
		       (int)VPA_LATE_COPY == (int)VPA_TIME_COPY &&
		       (int)VPA_LATE_IDLE == (int)VPA_TIME_IDLE,
	"parts of ranks are parts of jobs");

/* A row of a group, in the order of its team. */
struct team_row {
	int64_t end_ns;
	uint32_t group;
	uint32_t row;
};

struct work {
	struct vpa_job *job;
	struct vpt_strings places;
	struct vpa_index parts; /* class and kind, place: parts of the job */
	uint32_t **of_rank;     /* by rank and its part name */
	int64_t **blame;        /* by rank and part of the job */
	struct team_row *rows;
	size_t row_count, row_cap;
	int64_t *starts, *ends; /* of the current row, by member */
};

static const struct vpa_rank_collective *collective_of(
	const struct vpa_job *job, const struct vpa_group *g, size_t row, size_t k)
{
	uint32_t cell = vpa_group_cell(g, row, k);

	return cell == VPA_NO_COLLECTIVE ? NULL : &job->list.items[g->ranks[k]]->collectives[cell];
}

static const struct vpa_clock *clock_of(const struct vpa_job *job, uint32_t rank)
{
	return &job->clocks.items[job->clocks.of_rank[rank]];
}

/* ---- parts of the job ---- */

static uint32_t put_part(struct work *w, unsigned klass, unsigned kind, const char *place)
{
	uint64_t id = place ? vpt_strings_put(&w->places, place, strlen(place)) : 0;

	return id == VPT_NO_ID
		       ? UINT32_MAX
		       : vpa_index_put(&w->parts, (uint64_t)klass << 32 | kind, place ? id + 1 : 0);
}

static int name_parts(struct work *w)
{
	const struct vpa_job *job = w->job;
	unsigned klass;
	size_t i, k;

	/* The first ones are their class. */
	for (klass = VPA_LATE_BEGAN; klass < VPA_LATE_CLASSES; klass++)
		if (put_part(w, klass, 0, NULL) == UINT32_MAX)
			return VPT_ENOMEM;
	for (i = 0; i < job->list.count; i++) {
		const struct vpa_rank *r = job->list.items[i];

		w->of_rank[i] = vpt_alloc(r->part_name_count + 1, sizeof(**w->of_rank));
		for (k = 0; w->of_rank[i] && k < r->part_name_count; k++) {
			const struct vpa_part_name *name = &r->part_names[k];

			w->of_rank[i][k] = put_part(w, name->klass, name->kind, name->place);
			if (w->of_rank[i][k] == UINT32_MAX)
				return VPT_ENOMEM;
		}
		if (!w->of_rank[i])
			return VPT_ENOMEM;
	}
	for (i = 0; i < job->list.count; i++) {
		w->blame[i] = vpt_calloc(w->parts.count + 1, sizeof(**w->blame));
		if (!w->blame[i])
			return VPT_ENOMEM;
	}
	return VPT_OK;
}

static void add_class(struct work *w, uint32_t rank, enum vpa_late_class klass, int64_t ns)
{
	int64_t *part = &w->blame[rank][(uint32_t)klass - VPA_LATE_BEGAN];

	*part = vpt_sat_add_i64(*part, ns);
}

/* Adds `times` what a rank did between two marks to the blame of rank `of`; returns how long that was. */
static int64_t add_between(struct work *w, uint32_t of, uint32_t rank, uint32_t from_mark,
	uint32_t to_mark, int64_t times)
{
	const struct vpa_rank *r = w->job->list.items[rank];
	uint32_t first = from_mark < to_mark ? from_mark : to_mark;
	uint32_t last = from_mark < to_mark ? to_mark : from_mark;
	int64_t sign = from_mark < to_mark ? 1 : -1, sum = 0;
	size_t i;

	if (!r->mark_count)
		return 0;
	for (i = r->marks[first].part_end; i < r->marks[last].part_end; i++) {
		int64_t ns = sign * (int64_t)r->parts[i].ns;
		int64_t *part = &w->blame[of][w->of_rank[rank][r->parts[i].name]];

		*part = vpt_sat_add_i64(*part, times * ns);
		sum += ns;
	}
	return sum;
}

/* ---- one collective ---- */

struct arrivals {
	int64_t last_ns, first_end_ns;
	size_t last; /* the member that came last; of several the first */
	size_t count;
	uint64_t uncertainty_ns;
};

static void look(struct work *w, const struct vpa_group *g, size_t row, struct arrivals *out)
{
	size_t k;

	*out = (struct arrivals){.last_ns = INT64_MIN, .first_end_ns = INT64_MAX};
	for (k = 0; k < g->rank_count; k++) {
		const struct vpa_rank_collective *c = collective_of(w->job, g, row, k);
		const struct vpa_clock *clock = clock_of(w->job, g->ranks[k]);

		if (!c || !clock->is_placed)
			continue;
		out->count++;
		w->starts[k] = vpa_clock_time(clock, c->start_ns);
		w->ends[k] = vpa_clock_time(clock, c->end_ns);
		if (w->starts[k] > out->last_ns) {
			out->last_ns = w->starts[k];
			out->last = k;
		}
		if (w->ends[k] < out->first_end_ns)
			out->first_end_ns = w->ends[k];
		if (clock->uncertainty_ns > out->uncertainty_ns)
			out->uncertainty_ns = clock->uncertainty_ns;
	}
}

/* The latest row of the team before `at` that both members were in; NULL: none is near. */
static const struct team_row *row_before(const struct work *w, size_t at, size_t x, size_t y)
{
	const struct vpa_job *job = w->job;
	size_t n;

	for (n = 0; at > 0 && n < ROWS_LOOKED_BACK; n++) {
		const struct team_row *r = &w->rows[--at];
		const struct vpa_group *g = &job->matching.groups[r->group];

		if (vpa_group_cell(g, r->row, x) != VPA_NO_COLLECTIVE &&
			vpa_group_cell(g, r->row, y) != VPA_NO_COLLECTIVE)
			return r;
	}
	return NULL;
}

/* Splits the wait of member k into what the last one did more of. */
static void blame(struct work *w, size_t at, const struct arrivals *a, size_t k, int64_t wait_ns)
{
	const struct vpa_job *job = w->job;
	const struct team_row *here = &w->rows[at], *before = row_before(w, at, k, a->last);
	const struct vpa_group *g = &job->matching.groups[here->group], *bg;
	const struct vpa_rank_collective *last, *own, *last_before, *own_before;
	uint32_t last_rank = g->ranks[a->last], own_rank = g->ranks[k];
	int64_t skew_ns, did_ns;

	if (!before) {
		add_class(w, last_rank, VPA_LATE_BEGAN, wait_ns);
		return;
	}
	bg = &job->matching.groups[before->group];
	last = collective_of(job, g, here->row, a->last);
	own = collective_of(job, g, here->row, k);
	last_before = collective_of(job, bg, before->row, a->last);
	own_before = collective_of(job, bg, before->row, k);
	skew_ns = vpa_clock_time(clock_of(job, last_rank), last_before->end_ns) -
		  vpa_clock_time(clock_of(job, own_rank), own_before->end_ns);
	did_ns = add_between(w, last_rank, last_rank, last_before->end_mark, last->start_mark, 1);
	did_ns -= add_between(w, last_rank, own_rank, own_before->end_mark, own->start_mark, -1);
	add_class(w, last_rank, VPA_LATE_ENDED, skew_ns);
	/* What is left is the difference in speed of two clocks. */
	add_class(w, last_rank, VPA_LATE_CLOCK, wait_ns - did_ns - skew_ns);
}

static void add_member(struct work *w, size_t at, const struct arrivals *a, size_t k, int is_short)
{
	struct vpa_job *job = w->job;
	const struct vpa_group *g = &job->matching.groups[w->rows[at].group];
	struct vpa_job_rank *r = &job->ranks[g->ranks[k]], *last = &job->ranks[g->ranks[a->last]];
	int64_t wait_ns = a->last_ns - w->starts[k];

	r->matched++;
	r->at_least += is_short != 0;
	r->transfer_ns = vpt_sat_add_i64(r->transfer_ns, a->first_end_ns - a->last_ns);
	vpt_sat_add_to(&r->skew_ns, (uint64_t)(w->ends[k] - a->first_end_ns));
	if ((uint64_t)wait_ns < a->uncertainty_ns) {
		vpt_sat_add_to(&r->unsure_ns, (uint64_t)wait_ns);
		return;
	}
	vpt_sat_add_to(&r->wait_ns, (uint64_t)wait_ns);
	vpt_sat_add_to(&job->groups[w->rows[at].group].wait_ns, (uint64_t)wait_ns);
	if (!wait_ns)
		return;
	vpt_sat_add_to(&last->blame_ns, (uint64_t)wait_ns);
	blame(w, at, a, k, wait_ns);
}

static void add_row(struct work *w, size_t at)
{
	struct vpa_job *job = w->job;
	const struct team_row *row = &w->rows[at];
	const struct vpa_group *g = &job->matching.groups[row->group];
	struct arrivals a;
	uint64_t before_ns;
	size_t k;

	look(w, g, row->row, &a);
	if (a.count < 2)
		return;
	job->rows++;
	job->at_least += a.count < g->rank_count;
	job->negative += a.first_end_ns < a.last_ns;
	if (a.uncertainty_ns > job->uncertainty_ns)
		job->uncertainty_ns = a.uncertainty_ns;
	before_ns = job->ranks[g->ranks[a.last]].blame_ns;
	for (k = 0; k < g->rank_count; k++)
		if (vpa_group_cell(g, row->row, k) != VPA_NO_COLLECTIVE &&
			clock_of(job, g->ranks[k])->is_placed)
			add_member(w, at, &a, k, a.count < g->rank_count);
	job->ranks[g->ranks[a.last]].last += job->ranks[g->ranks[a.last]].blame_ns > before_ns;
	if (a.first_end_ns > a.last_ns)
		vpt_sat_add_to(&job->groups[row->group].transfer_ns,
			(uint64_t)(a.first_end_ns - a.last_ns));
}

/* ---- teams ---- */

static int is_team(const struct vpa_group *a, const struct vpa_group *b)
{
	return a->rank_count == b->rank_count &&
	       !memcmp(a->ranks, b->ranks, a->rank_count * sizeof(*a->ranks));
}

static int by_end(const void *a, const void *b)
{
	const struct team_row *x = a, *y = b;

	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static int list_rows(struct work *w, uint32_t first)
{
	const struct vpa_matching *m = &w->job->matching;
	struct arrivals a;
	uint32_t g, row;

	w->row_count = 0;
	for (g = first; g < m->group_count; g++) {
		const struct vpa_group *group = &m->groups[g];

		if (!is_team(&m->groups[first], group))
			continue;
		if (vpt_grow(&w->rows, &w->row_cap, w->row_count + group->row_count,
			    sizeof(*w->rows)))
			return VPT_ENOMEM;
		for (row = 0; row < group->row_count; row++) {
			look(w, group, row, &a);
			w->rows[w->row_count++] = (struct team_row){a.first_end_ns, g, row};
		}
	}
	return vpa_sort(w->rows, w->row_count, sizeof(*w->rows), by_end);
}

static int add_teams(struct work *w)
{
	const struct vpa_matching *m = &w->job->matching;
	uint32_t g, before;
	size_t at;
	int rc;

	for (g = 0; g < m->group_count; g++) {
		for (before = 0; before < g; before++)
			if (is_team(&m->groups[before], &m->groups[g]))
				break;
		if (before < g)
			continue;
		rc = list_rows(w, g);
		if (rc)
			return rc;
		for (at = 0; at < w->row_count; at++)
			add_row(w, at);
	}
	return VPT_OK;
}

/* ---- what is said of it ---- */

static int by_ns(const void *a, const void *b)
{
	const struct vpa_job_part *x = a, *y = b;

	return (y->ns > x->ns) - (y->ns < x->ns);
}

/* The parts that are not 0, the largest first. */
static int write_parts(
	struct work *w, const int64_t *ns, struct vpa_job_part **parts, size_t *count)
{
	struct vpa_job *job = w->job;
	size_t i, n = 0;

	for (i = 0; i < w->parts.count; i++)
		n += ns[i] != 0;
	*parts = vpa_arena_alloc(&job->arena, n + 1, sizeof(**parts));
	if (!*parts)
		return VPT_ENOMEM;
	for (i = n = 0; i < w->parts.count; i++) {
		const struct vpa_index_entry *e = &w->parts.entries[i];
		struct vpt_text place = vpt_strings_get(&w->places, e->b - 1);

		if (ns[i])
			(*parts)[n++] = (struct vpa_job_part){(enum vpa_late_class)(e->a >> 32),
				(unsigned)(e->a & UINT32_MAX),
				e->b ? vpa_arena_text(&job->arena, place.text, place.len) : NULL,
				ns[i]};
	}
	*count = n;
	return vpa_sort(*parts, n, sizeof(**parts), by_ns);
}

static int write_results(struct work *w)
{
	struct vpa_job *job = w->job;
	int64_t *all = vpt_calloc(w->parts.count + 1, sizeof(*all));
	size_t i, k;
	int rc = all ? VPT_OK : VPT_ENOMEM;

	for (i = 0; i < job->rank_count && !rc; i++) {
		struct vpa_job_rank *r = &job->ranks[i];

		rc = write_parts(w, w->blame[i], &r->parts, &r->part_count);
		for (k = 0; k < w->parts.count; k++) {
			int64_t *klass = &job->class_ns[w->parts.entries[k].a >> 32];

			all[k] = vpt_sat_add_i64(all[k], w->blame[i][k]);
			*klass = vpt_sat_add_i64(*klass, w->blame[i][k]);
		}
		vpt_sat_add_to(&job->wait_ns, r->wait_ns);
		vpt_sat_add_to(&job->unsure_ns, r->unsure_ns);
		vpt_sat_add_to(&job->skew_ns, r->skew_ns);
		job->transfer_ns = vpt_sat_add_i64(job->transfer_ns, r->transfer_ns);
		vpt_sat_add_to(&job->blame_ns, r->blame_ns);
	}
	if (!rc)
		rc = write_parts(w, all, &job->parts, &job->part_count);
	vpt_free(all);
	return rc;
}

int vpa_waits_find(struct vpa_job *job)
{
	struct work w = {.job = job};
	size_t count = job->list.count + 1, i;
	int rc;

	w.of_rank = vpt_calloc(count, sizeof(*w.of_rank));
	w.blame = vpt_calloc(count, sizeof(*w.blame));
	w.starts = vpt_calloc(count, sizeof(*w.starts));
	w.ends = vpt_calloc(count, sizeof(*w.ends));
	rc = w.of_rank && w.blame && w.starts && w.ends ? name_parts(&w) : VPT_ENOMEM;
	if (!rc)
		rc = add_teams(&w);
	if (!rc)
		rc = write_results(&w);
	for (i = 0; i < job->list.count; i++) {
		vpt_free(w.of_rank ? w.of_rank[i] : NULL);
		vpt_free(w.blame ? w.blame[i] : NULL);
	}
	vpt_free(w.of_rank);
	vpt_free(w.blame);
	vpt_free(w.starts);
	vpt_free(w.ends);
	vpt_free(w.rows);
	vpt_strings_free(&w.places);
	vpa_index_free(&w.parts);
	return rc;
}
