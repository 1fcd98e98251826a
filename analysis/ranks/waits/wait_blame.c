/* wait_blame.c - what those did who were late, and those who waited: the blame, by part of the job.
 *
 * What the last rank did is known when its detail is looked at, what a waiter did when its own is: so it is counted first who waited
 * for a rank since when. */
#include "analysis/ranks/waits/waits_state.h"

#include "analysis/base/sort.h"
#include "formats/base/memory.h"
#include "formats/base/search.h"

#include <string.h>

_Static_assert((int)VPA_LATE_COMPUTE == (int)VPA_TIME_COMPUTE &&
		       (int)VPA_LATE_COMM == (int)VPA_TIME_COMM &&
		       (int)VPA_LATE_COPY == (int)VPA_TIME_COPY &&
		       (int)VPA_LATE_IDLE == (int)VPA_TIME_IDLE,
	"parts of ranks are parts of jobs");

/* ---- parts of the job ---- */

static uint32_t put_part(struct vpa_job_waits *w, unsigned klass, unsigned kind, const char *place)
{
	uint64_t id = place ? vpt_strings_put(&w->places, place, strlen(place)) : 0;

	return id == VPT_NO_ID
		       ? UINT32_MAX
		       : vpa_index_put(&w->parts, (uint64_t)klass << 32 | kind, place ? id + 1 : 0);
}

int vpa_name_parts(struct vpa_job_waits *w)
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
	return VPT_OK;
}

/* ---- what they did ---- */

static void add_many(int64_t *blame, const uint32_t *names, const struct vpa_rank_part *parts,
	size_t count, int64_t times)
{
	size_t i;

	for (i = 0; i < count; i++) {
		int64_t *part = &blame[names[parts[i].name]], ns;

		if (__builtin_mul_overflow((int64_t)parts[i].ns, times, &ns))
			ns = times < 0 ? -INT64_MAX : INT64_MAX;
		*part = vpt_sat_add_i64(*part, ns);
	}
}

/* Of one that waits, as nearly all do. INT64_MIN is as good as -INT64_MAX until vpa_job_waits_end(). */
static inline void take_once(
	int64_t *blame, const uint32_t *names, const struct vpa_rank_part *parts, size_t count)
{
	const struct vpa_rank_part *end = parts + count;

	for (; parts < end; parts++) {
		int64_t *part = &blame[names[parts->name]];

		if (__builtin_sub_overflow(*part, (int64_t)parts->ns, part))
			*part = -INT64_MAX;
	}
}

static inline void add_parts(const struct vpa_job_waits *w, struct vpa_wait_tally *t, uint32_t of,
	size_t rank, const struct vpa_rank_part *parts, size_t count, int64_t times)
{
	if (times == -1)
		take_once(vpa_blame_of(w, t, of), w->of_rank[rank], parts, count);
	else
		add_many(vpa_blame_of(w, t, of), w->of_rank[rank], parts, count, times);
}

/* Adds `times` what a rank did between two of its collectives to the blame of rank `of`. */
static void add_between(const struct vpa_job_waits *w, struct vpa_wait_tally *t, uint32_t of,
	size_t rank, const struct vpa_rank_detail *d, uint32_t before, uint32_t at, int64_t times)
{
	uint32_t from = vpa_end_mark(d, before), to = vpa_start_mark(d, at);
	size_t first = d->marks[from < to ? from : to].part_end;
	size_t last = d->marks[from < to ? to : from].part_end;

	add_parts(w, t, of, rank, &d->parts[first], last - first, from > to ? -times : times);
}

static void take_detail(const struct vpa_job_waits *w, struct vpa_wait_tally *tally,
	const struct vpa_team *t, size_t k, const struct vpa_rank_detail *d)
{
	const uint32_t *ranks = w->job->matching.groups[t->group].ranks;
	const unsigned char *waits = &w->waits[t - w->teams.items][k * vpa_how_bytes(t)];
	struct vpa_seat seat = vpa_seat_of(w, t, k);
	uint32_t rank = seat.rank;
	struct vpa_wait wait;
	size_t at;

	for (at = t->first; at < t->last; at++) {
		const struct vpa_team_row *r = &w->teams.rows[at];
		unsigned how = vpa_how_at(waits, at - t->first);
		const struct vpa_job_row *row;
		uint32_t cell;

		if (how == VPA_WAITS_NOT && !r->waits)
			continue;
		row = vpa_row_of(w, r);
		cell = vpa_cell_of(w, r, k);
		if (row->last == k && r->waits)
			add_between(
				w, tally, rank, rank, d, vpa_cell_of(w, r - 1, k), cell, r->waits);
		else if (how == VPA_WAITS_PLAINLY)
			add_between(w, tally, ranks[row->last], rank, d, vpa_cell_of(w, r - 1, k),
				cell, -1);
		else if (how == VPA_WAITS_ODDLY && vpa_wait_of(w, &seat, at, row, cell, &wait))
			add_between(
				w, tally, ranks[wait.last], rank, d, wait.cell_before, cell, -1);
	}
}

static void take_odd(const struct vpa_job_waits *w, struct vpa_wait_tally *tally, uint32_t rank,
	const struct vpa_rank_detail *d)
{
	size_t low = 0, high = w->odd_count;

	VPT_SEARCH(low, high, middle, w->odd[middle].rank < rank);
	for (; low < w->odd_count && w->odd[low].rank == rank; low++) {
		const struct vpa_odd_wait *x = &w->odd[low];

		add_between(w, tally, rank, rank, d,
			vpa_cell_of(w, &w->teams.rows[x->before], x->member),
			vpa_cell_of(w, &w->teams.rows[x->at], x->member), 1);
	}
}

void vpa_job_waits_take(
	struct vpa_job_waits *w, unsigned thread, size_t rank, const struct vpa_rank_detail *d)
{
	size_t i, k;

	for (i = 0; i < w->teams.count && vpa_job_clock(w->job, rank)->is_placed; i++) {
		const struct vpa_group *g = &w->job->matching.groups[w->teams.items[i].group];

		k = vpa_group_member(g, rank);
		if (k < g->rank_count)
			take_detail(w, &w->tallies[thread], &w->teams.items[i], k, d);
	}
	take_odd(w, &w->tallies[thread], (uint32_t)rank, d);
}

/* ---- the same, while what they did is read ---- */

/* Whether the collectives of a member come in the order of the team's rows: those of one group do. */
static int are_in_order(const struct vpa_job_waits *w, const struct vpa_team *t, size_t k)
{
	uint32_t next = 0;
	size_t at;

	for (at = t->first; at < t->last; at++) {
		uint32_t cell = vpa_cell_of(w, &w->teams.rows[at], k);

		if (cell == VPA_NO_COLLECTIVE)
			continue;
		if (cell < next)
			return 0;
		next = cell + 1;
	}
	return 1;
}

static int add_walk(const struct vpa_job_waits *w, struct vpa_wait_tally *tally,
	const struct vpa_team *t, size_t k)
{
	if (vpt_grow(&tally->walks, &tally->walk_cap, tally->walk_count + 1, sizeof(*tally->walks)))
		return VPT_ENOMEM;
	tally->walks[tally->walk_count++] = (struct vpa_blame_walk){.team = t,
		.member = k,
		.at = t->first,
		.before = VPA_NO_COLLECTIVE,
		.how = &w->waits[t - w->teams.items][k * vpa_how_bytes(t)]};
	return VPT_OK;
}

int vpa_job_waits_begin_rank(
	struct vpa_job_waits *w, unsigned thread, size_t rank, int *can_take_stretches)
{
	struct vpa_wait_tally *tally = &w->tallies[thread];
	int rc = VPT_OK;
	size_t i, k;

	*can_take_stretches = !w->job->list.items[rank]->has_overlaps && !w->is_odd[rank];
	tally->walk_count = 0;
	for (i = 0; i < w->teams.count && *can_take_stretches && !rc &&
		    vpa_job_clock(w->job, rank)->is_placed;
		i++) {
		const struct vpa_group *g = &w->job->matching.groups[w->teams.items[i].group];

		k = vpa_group_member(g, rank);
		if (k == g->rank_count)
			continue;
		*can_take_stretches = are_in_order(w, &w->teams.items[i], k);
		rc = add_walk(w, tally, &w->teams.items[i], k);
	}
	return rc;
}

/* Takes the parts before collectives `first` to end - 1, as far as rows of a team are about them. */
static void walk(const struct vpa_job_waits *w, struct vpa_wait_tally *tally,
	struct vpa_blame_walk *x, const struct vpa_rank_detail *d, size_t first, size_t end)
{
	const uint32_t *ranks = w->job->matching.groups[x->team->group].ranks;
	const struct vpa_group *groups = w->job->matching.groups;
	const size_t team_first = x->team->first, team_last = x->team->last;
	const size_t member = x->member;
	uint32_t rank = ranks[member], before = x->before;
	size_t at = x->at;

	for (; at < team_last; at++) {
		const struct vpa_team_row *r = &w->teams.rows[at];
		unsigned how = vpa_how_at(x->how, at - team_first);
		uint32_t cell = vpa_group_cell(&groups[r->group], r->row, member);
		size_t last = how || r->waits ? vpa_row_of(w, r)->last : 0;
		int is_last = r->waits && last == member;

		if (cell != VPA_NO_COLLECTIVE && (is_last || how == VPA_WAITS_PLAINLY)) {
			size_t from =
				before < first ? 0 : d->marks[2 * (before - first) + 1].part_end;
			size_t to =
				cell < end ? d->marks[2 * (cell - first)].part_end : d->part_count;

			add_parts(w, tally, ranks[last], rank, &d->parts[from], to - from,
				is_last ? (int64_t)r->waits : -1);
		}
		if (cell != VPA_NO_COLLECTIVE && cell >= end)
			break;
		before = cell;
	}
	x->at = at;
	x->before = before;
}

void vpa_job_waits_take_stretches(struct vpa_job_waits *w, unsigned thread,
	const struct vpa_rank_detail *d, size_t first, size_t count)
{
	struct vpa_wait_tally *tally = &w->tallies[thread];
	size_t i;

	for (i = 0; i < tally->walk_count; i++)
		walk(w, tally, &tally->walks[i], d, first, first + count);
}

/* ---- what is said of it ---- */

static int by_ns(const void *a, const void *b)
{
	const struct vpa_job_part *x = a, *y = b;

	return (y->ns > x->ns) - (y->ns < x->ns);
}

/* The parts that are not 0, the largest first. */
static int write_parts(
	struct vpa_job_waits *w, const int64_t *ns, struct vpa_job_part **parts, size_t *count)
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

/* The first tally becomes that of all threads. */
static void join_blame(struct vpa_job_waits *w, size_t rank)
{
	int64_t *to = vpa_blame_of(w, &w->tallies[0], rank);
	unsigned i;
	size_t k;

	for (k = 0; k < w->parts.count; k++)
		to[k] = vpt_sat_add_i64(to[k], 0);
	for (i = 1; i < w->threads; i++) {
		const int64_t *from = vpa_blame_of(w, &w->tallies[i], rank);

		for (k = 0; k < w->parts.count; k++)
			to[k] = vpt_sat_add_i64(to[k], from[k]);
	}
}

int vpa_job_waits_end(struct vpa_job_waits *w)
{
	struct vpa_job *job = w->job;
	int64_t *all = vpt_calloc(w->parts.count + 1, sizeof(*all));
	size_t i, k;
	int rc = all ? VPT_OK : VPT_ENOMEM;

	for (i = 0; i < job->rank_count && !rc; i++) {
		struct vpa_job_rank *r = &job->ranks[i];

		int64_t *blame = vpa_blame_of(w, &w->tallies[0], i);

		join_blame(w, i);
		rc = write_parts(w, blame, &r->parts, &r->part_count);
		for (k = 0; k < w->parts.count; k++) {
			int64_t *klass = &job->class_ns[w->parts.entries[k].a >> 32];

			all[k] = vpt_sat_add_i64(all[k], blame[k]);
			*klass = vpt_sat_add_i64(*klass, blame[k]);
		}
		vpt_sat_add_to(&job->wait_ns, r->wait_ns);
		vpt_sat_add_to(&job->unsure_ns, r->unsure_ns);
		vpt_sat_add_to(&job->skew_ns, r->skew_ns);
		job->transfer_ns = vpt_sat_add_i64(job->transfer_ns, r->transfer_ns);
	}
	if (!rc)
		rc = write_parts(w, all, &job->parts, &job->part_count);
	vpt_free(all);
	return rc;
}
