/* waits.c - of each rank the collectives in the order of its teams.
 *
 * "The collective before" is that of the same ranks, whatever its communicator, see teams.h. What the last rank did is known when its
 * detail is looked at, what a waiter did when its own is: so it is counted first who waited for a rank since when. */
#include "analysis/ranks/job_parts.h"

#include "analysis/base/index.h"
#include "analysis/base/sort.h"
#include "analysis/ranks/rank/rank_threads.h"
#include "analysis/ranks/teams.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/search.h"
#include "formats/chunk/strings.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS_LOOKED_BACK = 1024, ROWS_A_TASK = 1024 };
_Static_assert((int)VPA_LATE_COMPUTE == (int)VPA_TIME_COMPUTE &&
		       (int)VPA_LATE_COMM == (int)VPA_TIME_COMM &&
		       (int)VPA_LATE_COPY == (int)VPA_TIME_COPY &&
		       (int)VPA_LATE_IDLE == (int)VPA_TIME_IDLE,
	"parts of ranks are parts of jobs");

/* Waits for a rank, since another row than the one before. */
struct odd_wait {
	uint32_t rank, member;
	size_t before, at; /* rows of the team */
};

/* Rows of a team that one thread looks at. */
struct task {
	size_t team, first, last;
};

/* A row of a task: what all members ask of it. */
struct place {
	const struct vpa_job_row *row;
	uint32_t *const *columns; /* of its group */
	size_t in_group;          /* its row there */
	/* Of the last one, if it was in the row before as well: when it left that on the clock of the job, and how much later it
	 * came on its own. */
	int64_t last_end_ns, last_did_ns;
	uint32_t last_rank;
	uint32_t is_plain : 1; /* it was, and partners need not be found */
	uint32_t lacks : 1;    /* some rank is not in the row */
	/* Of members that wait for it since the row before: how many, how long, by how much it left that later, and what is the
	 * clocks'. */
	uint32_t waits;
	uint64_t wait_ns;
	int64_t ended_ns, clock_ns;
};

/* What a thread has found. */
struct tally {
	struct vpa_job_rank *ranks; /* sums of waits */
	uint64_t *group_wait_ns;
	int64_t *blame; /* by rank, then part of the job */
	struct odd_wait *odd;
	size_t odd_count, odd_cap;
	struct place places[ROWS_A_TASK + 1]; /* of its task, after the row before that */
};

struct vpa_job_waits {
	struct vpa_job *job;
	const struct vpa_job_rows *job_rows;
	struct vpt_strings places;
	struct vpa_index parts; /* class and kind, place: parts of the job */
	uint32_t **of_rank;     /* by rank and its part name */
	struct vpa_teams teams;
	struct odd_wait *odd; /* by rank */
	size_t odd_count, odd_cap;
	unsigned char **waits; /* by team: of a member and a row two bits, see enum how */
	struct task *tasks;
	size_t task_count, task_cap;
	unsigned threads;
	struct tally *tallies; /* by thread */
};

/* How a member waits in a row: for its last one since the row before, nearly always; or in a way that is looked up again. */
enum how { NOT, PLAINLY, ODDLY, HOW_BITS = 2, HOW_IN_BYTE = 4 };

static size_t bytes_of_member(const struct vpa_team *t)
{
	return (t->last - t->first) / HOW_IN_BYTE + 1;
}

/* Tasks begin at whole bytes. */
static void set_how(
	struct vpa_job_waits *w, const struct vpa_team *t, size_t member, size_t at, enum how how)
{
	size_t i = at - t->first;

	w->waits[t - w->teams.items][member * bytes_of_member(t) + i / HOW_IN_BYTE] |=
		(unsigned char)(how << HOW_BITS * (i % HOW_IN_BYTE));
}
_Static_assert(ROWS_A_TASK % HOW_IN_BYTE == 0, "tasks begin at whole bytes");

static const struct vpa_job_row *row_of(const struct vpa_job_waits *w, const struct vpa_team_row *r)
{
	return &w->job_rows->items[w->job_rows->firsts[r->group] + r->row];
}

static const struct vpa_group *group_of(const struct vpa_job_waits *w, const struct vpa_team_row *r)
{
	return &w->job->matching.groups[r->group];
}

static uint32_t cell_of(const struct vpa_job_waits *w, const struct vpa_team_row *r, size_t member)
{
	return vpa_group_cell(group_of(w, r), r->row, member);
}

/* ---- parts of the job ---- */

static uint32_t put_part(struct vpa_job_waits *w, unsigned klass, unsigned kind, const char *place)
{
	uint64_t id = place ? vpt_strings_put(&w->places, place, strlen(place)) : 0;

	return id == VPT_NO_ID
		       ? UINT32_MAX
		       : vpa_index_put(&w->parts, (uint64_t)klass << 32 | kind, place ? id + 1 : 0);
}

static int name_parts(struct vpa_job_waits *w)
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

static int64_t *blame_of(const struct vpa_job_waits *w, const struct tally *t, size_t rank)
{
	return &t->blame[rank * w->parts.count];
}

static void add_class(const struct vpa_job_waits *w, struct tally *t, uint32_t rank,
	enum vpa_late_class klass, int64_t ns)
{
	int64_t *part = &blame_of(w, t, rank)[(uint32_t)klass - VPA_LATE_BEGAN];

	*part = vpt_sat_add_i64(*part, ns);
}

/* ---- one wait ---- */

/* A member of a team, and where its collectives of the team's groups are. */
struct seat {
	const struct vpa_team *team;
	size_t member;
	uint32_t rank;
	const struct vpa_rank *of;
	const struct vpa_clock *clock;
};

static struct seat seat_of(const struct vpa_job_waits *w, const struct vpa_team *t, size_t member)
{
	uint32_t rank = w->job->matching.groups[t->group].ranks[member];

	return (struct seat){
		t, member, rank, w->job->list.items[rank], vpa_job_clock(w->job, rank)};
}

/* A wait that counts: of one member for the last one, in a row of their team. */
struct wait {
	size_t at,
		before; /* before: the latest row before `at` that both were in; SIZE_MAX: none is near */
	size_t member, last;
	uint32_t cell, cell_before; /* of the member */
	int64_t last_ns, ns;
};

static size_t row_before(
	const struct vpa_job_waits *w, const struct vpa_team *t, size_t at, size_t x, size_t y)
{
	size_t n;

	for (n = 0; at > t->first && n < ROWS_LOOKED_BACK; n++)
		if (cell_of(w, &w->teams.rows[--at], x) != VPA_NO_COLLECTIVE &&
			cell_of(w, &w->teams.rows[at], y) != VPA_NO_COLLECTIVE)
			return at;
	return SIZE_MAX;
}

/* Whether that long before the last one is a wait. Else it was the last one itself, or that is not certain. */
static inline int is_wait(const struct vpa_job_row *row, int64_t ns)
{
	return ns > 0 && (uint64_t)ns >= row->uncertainty_ns;
}

/* Of a member that has the row, on a clock that is placed. 0: it did not wait, or that is not certain. */
static inline int wait_of(const struct vpa_job_waits *w, const struct seat *s, size_t at,
	const struct vpa_job_row *row, uint32_t cell, struct wait *out)
{
	const struct vpa_team_row *r = &w->teams.rows[at];
	int64_t start_ns = vpa_clock_time(s->clock, vpa_rank_start_ns(s->of, cell));

	out->at = at;
	out->member = s->member;
	out->last = row->last;
	out->last_ns = row->last_ns;
	out->cell = cell;
	if (r->is_pairs) {
		struct vpa_partner partner = vpa_partner_of(w->job, group_of(w, r), r->row,
			s->member, vpa_clock_time(s->clock, vpa_rank_end_ns(s->of, cell)));

		out->last = partner.member;
		out->last_ns = partner.arrival_ns;
	}
	out->ns = out->last_ns - start_ns;
	if (!is_wait(row, out->ns))
		return 0;
	out->before = row_before(w, s->team, at, s->member, out->last);
	if (out->before != SIZE_MAX)
		out->cell_before = cell_of(w, &w->teams.rows[out->before], s->member);
	return 1;
}

/* Both members were in `before` and are in `at`: how much later the last one left `before`, and what is left of the wait
 * beside that and what they did since, which is the difference in speed of two clocks. */
static void blame_times(const struct vpa_job_waits *w, struct tally *tally, const struct seat *s,
	const struct wait *x)
{
	const struct vpa_job *job = w->job;
	const struct vpa_team_row *at = &w->teams.rows[x->at], *before = &w->teams.rows[x->before];
	uint32_t last = job->matching.groups[s->team->group].ranks[x->last];
	const struct vpa_rank *r = s->of, *l = job->list.items[last];
	uint64_t own_end = vpa_rank_end_ns(r, x->cell_before);
	uint64_t last_end = vpa_rank_end_ns(l, cell_of(w, before, x->last));
	int64_t skew_ns = vpa_clock_time(vpa_job_clock(job, last), last_end) -
			  vpa_clock_time(s->clock, own_end);
	int64_t did_ns = (int64_t)(vpa_rank_start_ns(l, cell_of(w, at, x->last)) - last_end) -
			 (int64_t)(vpa_rank_start_ns(r, x->cell) - own_end);

	add_class(w, tally, last, VPA_LATE_ENDED, skew_ns);
	add_class(w, tally, last, VPA_LATE_CLOCK, x->ns - did_ns - skew_ns);
}

static int count_wait(
	struct vpa_job_waits *w, struct tally *tally, const struct seat *s, const struct wait *x)
{
	uint32_t last = w->job->matching.groups[s->team->group].ranks[x->last];

	if (x->before == SIZE_MAX) {
		add_class(w, tally, last, VPA_LATE_BEGAN, x->ns);
		return VPT_OK;
	}
	blame_times(w, tally, s, x);
	if (x->before + 1 == x->at && !w->teams.rows[x->at].is_pairs) {
		w->teams.rows[x->at].waits++;
		return VPT_OK;
	}
	if (vpt_grow(&tally->odd, &tally->odd_cap, tally->odd_count + 1, sizeof(*tally->odd)))
		return VPT_ENOMEM;
	tally->odd[tally->odd_count++] =
		(struct odd_wait){last, (uint32_t)x->last, x->before, x->at};
	return VPT_OK;
}

/* ---- from times alone ---- */

/* Of a member of a row, whether it waits or not. */
static inline void add_times(struct vpa_job_rank *r, const struct vpa_job_row *row,
	const struct vpa_group *g, int64_t last_ns, int64_t first_end_ns, int64_t end_ns)
{
	r->matched++;
	r->at_least += row->count < g->rank_count;
	r->transfer_ns = vpt_sat_add_i64(r->transfer_ns, first_end_ns - last_ns);
	vpt_sat_add_to(&r->skew_ns, (uint64_t)(end_ns - first_end_ns));
}

static inline void add_wait(struct tally *tally, struct vpa_job_rank *r, struct vpa_team_row *row,
	uint32_t last, int64_t ns)
{
	vpt_sat_add_to(&r->wait_ns, (uint64_t)ns);
	vpt_sat_add_to(&tally->group_wait_ns[row->group], (uint64_t)ns);
	vpt_sat_add_to(&tally->ranks[last].blame_ns, (uint64_t)ns);
	row->is_waited_for = 1;
}

static int take_member(struct vpa_job_waits *w, struct tally *tally, const struct seat *s,
	size_t at, const struct vpa_job_row *row, uint32_t cell)
{
	struct vpa_team_row *team_row = &w->teams.rows[at];
	const struct vpa_group *g = group_of(w, team_row);
	struct vpa_job_rank *r = &tally->ranks[s->rank];
	int64_t end_ns = vpa_clock_time(s->clock, vpa_rank_end_ns(s->of, cell));
	struct wait wait;
	int waits = wait_of(w, s, at, row, cell, &wait);

	/* A pair has no others that could leave earlier. */
	add_times(r, row, g, wait.last_ns, team_row->is_pairs ? end_ns : row->first_end_ns, end_ns);
	if (!waits) {
		vpt_sat_add_to(&r->unsure_ns, (uint64_t)wait.ns);
		return VPT_OK;
	}
	add_wait(tally, r, team_row, g->ranks[wait.last], wait.ns);
	if (wait.before != SIZE_MAX)
		set_how(w, s->team, s->member, at, ODDLY);
	return count_wait(w, tally, s, &wait);
}

/* A member in the rows of a task, in order: where it is, and sums. */
struct walk {
	struct seat seat;
	unsigned char *how; /* of the team's rows, see set_how() */
	/* Of the row before, if it has it: when it left that, on its own clock and on the job's. */
	int has_before;
	uint64_t before_ns;
	int64_t left_before_ns;
	uint64_t matched, at_least, skew_ns, unsure_ns, wait_ns;
	int64_t transfer_ns;
};

/* The same as take_member(), of a row whose last one was in the row before, as the member was. */
static inline void take_plainly(
	struct walk *m, struct place *x, size_t at, uint64_t start, int64_t end_ns)
{
	const struct vpa_job_row *row = x->row;
	int64_t ns = row->last_ns - vpa_clock_time(m->seat.clock, start), ended_ns, did_ns;
	size_t i = at - m->seat.team->first;

	m->matched++;
	m->at_least += x->lacks;
	m->transfer_ns = vpt_sat_add_i64(m->transfer_ns, row->first_end_ns - row->last_ns);
	vpt_sat_add_to(&m->skew_ns, (uint64_t)(end_ns - row->first_end_ns));
	if (!is_wait(row, ns)) {
		vpt_sat_add_to(&m->unsure_ns, (uint64_t)ns);
		return;
	}
	vpt_sat_add_to(&m->wait_ns, (uint64_t)ns);
	vpt_sat_add_to(&x->wait_ns, (uint64_t)ns);
	x->waits++;
	ended_ns = x->last_end_ns - m->left_before_ns;
	did_ns = x->last_did_ns - (int64_t)(start - m->before_ns);
	x->ended_ns = vpt_sat_add_i64(x->ended_ns, ended_ns);
	x->clock_ns = vpt_sat_add_i64(x->clock_ns, ns - did_ns - ended_ns);
	m->how[i / HOW_IN_BYTE] |= (unsigned char)(PLAINLY << HOW_BITS * (i % HOW_IN_BYTE));
}

/* A row, `x`, of a team; the one before it is in the place before, unless it is the first of the team. */
static void find_place(
	const struct vpa_job_waits *w, const struct vpa_team *t, size_t at, struct place *x)
{
	const struct vpa_team_row *r = &w->teams.rows[at];
	const struct vpa_group *g = group_of(w, r);
	const struct vpa_rank *last;
	uint32_t cell, before;

	*x = (struct place){.row = row_of(w, r), .columns = g->columns, .in_group = r->row};
	x->lacks = x->row->count < g->rank_count;
	if (at == t->first || r->is_pairs || x->row->count < 2)
		return;
	x->last_rank = w->job->matching.groups[t->group].ranks[x->row->last];
	last = w->job->list.items[x->last_rank];
	cell = cell_of(w, r, x->row->last);
	before = cell_of(w, r - 1, x->row->last);
	if (before == VPA_NO_COLLECTIVE)
		return;
	x->is_plain = 1;
	x->last_end_ns =
		vpa_clock_time(vpa_job_clock(w->job, x->last_rank), vpa_rank_end_ns(last, before));
	x->last_did_ns = (int64_t)(vpa_rank_start_ns(last, cell) - vpa_rank_end_ns(last, before));
}

/* Takes a member in a row. */
static int take_place(
	struct vpa_job_waits *w, struct tally *tally, struct walk *m, struct place *x, size_t at)
{
	const struct seat *s = &m->seat;
	uint32_t cell = x->columns[s->member][x->in_group];
	uint64_t end;
	int64_t end_ns;
	int rc = VPT_OK;

	if (cell == VPA_NO_COLLECTIVE) {
		m->has_before = 0;
		return VPT_OK;
	}
	end = vpa_rank_end_ns(s->of, cell);
	end_ns = vpa_clock_time(s->clock, end);
	if (x->is_plain && m->has_before)
		take_plainly(m, x, at, vpa_rank_start_ns(s->of, cell), end_ns);
	else if (x->row->count >= 2)
		rc = take_member(w, tally, s, at, x->row, cell);
	m->has_before = 1;
	m->before_ns = end;
	m->left_before_ns = end_ns;
	return rc;
}

static int take_rows(
	struct vpa_job_waits *w, struct tally *tally, const struct task *task, size_t k)
{
	const struct vpa_team *t = &w->teams.items[task->team];
	struct walk m = {
		.seat = seat_of(w, t, k), .how = &w->waits[task->team][k * bytes_of_member(t)]};
	struct vpa_job_rank *r = &tally->ranks[m.seat.rank];
	const struct place *before = &tally->places[0];
	uint32_t cell = VPA_NO_COLLECTIVE;
	size_t at;
	int rc = VPT_OK;

	if (!m.seat.clock->is_placed)
		return VPT_OK;
	if (task->first > t->first)
		cell = before->columns[k][before->in_group];
	if (cell != VPA_NO_COLLECTIVE) {
		m.has_before = 1;
		m.before_ns = vpa_rank_end_ns(m.seat.of, cell);
		m.left_before_ns = vpa_clock_time(m.seat.clock, m.before_ns);
	}
	for (at = task->first; at < task->last && !rc; at++)
		rc = take_place(w, tally, &m, &tally->places[1 + at - task->first], at);
	r->matched += m.matched;
	r->at_least += m.at_least;
	r->transfer_ns = vpt_sat_add_i64(r->transfer_ns, m.transfer_ns);
	vpt_sat_add_to(&r->skew_ns, m.skew_ns);
	vpt_sat_add_to(&r->unsure_ns, m.unsure_ns);
	vpt_sat_add_to(&r->wait_ns, m.wait_ns);
	return rc;
}

/* What members waited for the last one of a row, as take_plainly() found it. */
static void end_place(
	struct vpa_job_waits *w, struct tally *tally, const struct place *x, size_t at)
{
	struct vpa_team_row *r = &w->teams.rows[at];

	if (!x->waits)
		return;
	r->waits += x->waits;
	r->is_waited_for = 1;
	vpt_sat_add_to(&tally->group_wait_ns[r->group], x->wait_ns);
	vpt_sat_add_to(&tally->ranks[x->last_rank].blame_ns, x->wait_ns);
	add_class(w, tally, x->last_rank, VPA_LATE_ENDED, x->ended_ns);
	add_class(w, tally, x->last_rank, VPA_LATE_CLOCK, x->clock_ns);
}

static int take_task(void *ctx, unsigned thread, size_t i)
{
	struct vpa_job_waits *w = ctx;
	const struct task *task = &w->tasks[i];
	const struct vpa_team *t = &w->teams.items[task->team];
	struct tally *tally = &w->tallies[thread];
	size_t k, at;
	int rc = VPT_OK;

	for (at = task->first > t->first ? task->first - 1 : task->first; at < task->last; at++)
		find_place(w, t, at, &tally->places[1 + at - task->first]);
	for (k = 0; k < w->job->matching.groups[t->group].rank_count && !rc; k++)
		rc = take_rows(w, tally, task, k);
	for (at = task->first; at < task->last; at++)
		end_place(w, tally, &tally->places[1 + at - task->first], at);
	return rc;
}

static void take_row(struct vpa_job_waits *w, const struct vpa_team_row *r)
{
	struct vpa_job *job = w->job;
	const struct vpa_job_row *row = row_of(w, r);
	const struct vpa_group *g = group_of(w, r);

	if (row->count < 2)
		return;
	job->rows++;
	job->at_least += row->count < g->rank_count;
	job->negative += !r->is_pairs && row->first_end_ns < row->last_ns;
	if (row->uncertainty_ns > job->uncertainty_ns)
		job->uncertainty_ns = row->uncertainty_ns;
	job->ranks[g->ranks[row->last]].last += r->is_waited_for;
	if (row->first_end_ns > row->last_ns)
		vpt_sat_add_to(&job->groups[r->group].transfer_ns,
			(uint64_t)(row->first_end_ns - row->last_ns));
}

/* ---- all waits ---- */

static int by_rank(const void *a, const void *b)
{
	const struct odd_wait *x = a, *y = b;

	return (x->rank > y->rank) - (x->rank < y->rank);
}

static int list_tasks(struct vpa_job_waits *w)
{
	size_t i, at;

	for (i = 0; i < w->teams.count; i++)
		for (at = w->teams.items[i].first; at < w->teams.items[i].last; at += ROWS_A_TASK) {
			size_t last = w->teams.items[i].last - at > ROWS_A_TASK
					      ? at + ROWS_A_TASK
					      : w->teams.items[i].last;

			if (vpt_grow(&w->tasks, &w->task_cap, w->task_count + 1, sizeof(*w->tasks)))
				return VPT_ENOMEM;
			w->tasks[w->task_count++] = (struct task){i, at, last};
		}
	return VPT_OK;
}

static int new_tallies(struct vpa_job_waits *w)
{
	size_t ranks = w->job->rank_count + 1;
	unsigned i;

	w->tallies = vpt_calloc(w->threads, sizeof(*w->tallies));
	for (i = 0; w->tallies && i < w->threads; i++) {
		struct tally *t = &w->tallies[i];

		t->ranks = vpt_calloc(ranks, sizeof(*t->ranks));
		t->group_wait_ns = vpt_calloc(w->job->group_count + 1, sizeof(*t->group_wait_ns));
		t->blame = vpt_calloc(ranks, (w->parts.count + 1) * sizeof(*t->blame));
		if (!t->ranks || !t->group_wait_ns || !t->blame)
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

		w->waits[i] = vpt_calloc(
			w->job->matching.groups[t->group].rank_count, bytes_of_member(t));
		if (!w->waits[i])
			return VPT_ENOMEM;
	}
	return w->waits ? VPT_OK : VPT_ENOMEM;
}

static int add_tally(struct vpa_job_waits *w, const struct tally *t)
{
	struct vpa_job *job = w->job;
	size_t i;

	for (i = 0; i < job->rank_count; i++) {
		struct vpa_job_rank *to = &job->ranks[i];
		const struct vpa_job_rank *from = &t->ranks[i];

		to->matched += from->matched;
		to->at_least += from->at_least;
		to->transfer_ns = vpt_sat_add_i64(to->transfer_ns, from->transfer_ns);
		vpt_sat_add_to(&to->skew_ns, from->skew_ns);
		vpt_sat_add_to(&to->unsure_ns, from->unsure_ns);
		vpt_sat_add_to(&to->wait_ns, from->wait_ns);
		vpt_sat_add_to(&to->blame_ns, from->blame_ns);
		vpt_sat_add_to(&job->blame_ns, from->blame_ns);
	}
	for (i = 0; i < job->group_count; i++)
		vpt_sat_add_to(&job->groups[i].wait_ns, t->group_wait_ns[i]);
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
	rc = w->of_rank ? name_parts(w) : VPT_ENOMEM;
	if (!rc)
		rc = new_tallies(w);
	if (!rc)
		rc = vpa_teams_find(job, rows, &w->teams);
	if (!rc)
		rc = new_waits(w);
	if (!rc)
		rc = list_tasks(w);
	if (!rc)
		rc = vpa_in_threads(threads, w->task_count, take_task, w);
	for (i = 0; i < threads && !rc; i++)
		rc = add_tally(w, &w->tallies[i]);
	for (i = 0; i < w->teams.row_count && !rc; i++)
		take_row(w, &w->teams.rows[i]);
	return rc ? rc : vpa_sort(w->odd, w->odd_count, sizeof(*w->odd), by_rank);
}

/* ---- what they did ---- */

/* Adds `times` what a rank did between two of its collectives to the blame of rank `of`. */
static void add_between(const struct vpa_job_waits *w, struct tally *t, uint32_t of, size_t rank,
	const struct vpa_rank_detail *d, uint32_t before, uint32_t at, int64_t times)
{
	uint32_t from = vpa_end_mark(d, before), to = vpa_start_mark(d, at);
	uint32_t first = from < to ? from : to, last = from < to ? to : from;
	const uint32_t *parts = w->of_rank[rank];
	int64_t *blame = blame_of(w, t, of);
	size_t i;

	if (from > to)
		times = -times;
	for (i = d->marks[first].part_end; i < d->marks[last].part_end; i++) {
		int64_t *part = &blame[parts[d->parts[i].name]], ns;

		if (__builtin_mul_overflow((int64_t)d->parts[i].ns, times, &ns))
			ns = times < 0 ? -INT64_MAX : INT64_MAX;
		*part = vpt_sat_add_i64(*part, ns);
	}
}

static void take_detail(const struct vpa_job_waits *w, struct tally *tally,
	const struct vpa_team *t, size_t k, const struct vpa_rank_detail *d)
{
	const uint32_t *ranks = w->job->matching.groups[t->group].ranks;
	const unsigned char *waits = &w->waits[t - w->teams.items][k * bytes_of_member(t)];
	struct seat seat = seat_of(w, t, k);
	uint32_t rank = seat.rank;
	struct wait wait;
	size_t at;

	for (at = t->first; at < t->last; at++) {
		const struct vpa_team_row *r = &w->teams.rows[at];
		size_t i = at - t->first;
		unsigned how = waits[i / HOW_IN_BYTE] >> HOW_BITS * (i % HOW_IN_BYTE) & 3;
		const struct vpa_job_row *row;
		uint32_t cell;

		if (how == NOT && !r->waits)
			continue;
		row = row_of(w, r);
		cell = cell_of(w, r, k);
		if (row->last == k && r->waits)
			add_between(w, tally, rank, rank, d, cell_of(w, r - 1, k), cell, r->waits);
		else if (how == PLAINLY)
			add_between(w, tally, ranks[row->last], rank, d, cell_of(w, r - 1, k), cell,
				-1);
		else if (how == ODDLY && wait_of(w, &seat, at, row, cell, &wait))
			add_between(
				w, tally, ranks[wait.last], rank, d, wait.cell_before, cell, -1);
	}
}

static void take_odd(const struct vpa_job_waits *w, struct tally *tally, uint32_t rank,
	const struct vpa_rank_detail *d)
{
	size_t low = 0, high = w->odd_count;

	VPT_SEARCH(low, high, middle, w->odd[middle].rank < rank);
	for (; low < w->odd_count && w->odd[low].rank == rank; low++) {
		const struct odd_wait *x = &w->odd[low];

		add_between(w, tally, rank, rank, d,
			cell_of(w, &w->teams.rows[x->before], x->member),
			cell_of(w, &w->teams.rows[x->at], x->member), 1);
	}
}

void vpa_job_waits_take(
	struct vpa_job_waits *w, unsigned thread, size_t rank, const struct vpa_rank_detail *d)
{
	size_t i, k;

	for (i = 0; i < w->teams.count && vpa_job_clock(w->job, rank)->is_placed; i++) {
		const struct vpa_group *g = &w->job->matching.groups[w->teams.items[i].group];

		for (k = 0; k < g->rank_count && g->ranks[k] < rank; k++)
			;
		if (k < g->rank_count && g->ranks[k] == rank)
			take_detail(w, &w->tallies[thread], &w->teams.items[i], k, d);
	}
	take_odd(w, &w->tallies[thread], (uint32_t)rank, d);
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
	int64_t *to = blame_of(w, &w->tallies[0], rank);
	unsigned i;
	size_t k;

	for (i = 1; i < w->threads; i++) {
		const int64_t *from = blame_of(w, &w->tallies[i], rank);

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

		int64_t *blame = blame_of(w, &w->tallies[0], i);

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
		vpt_free(w->tallies[i].group_wait_ns);
		vpt_free(w->tallies[i].blame);
		vpt_free(w->tallies[i].odd);
	}
	vpt_free(w->tallies);
	vpt_free(w->of_rank);
	vpt_free(w->tasks);
	vpa_teams_free(&w->teams);
	vpt_free(w->odd);
	vpt_strings_free(&w->places);
	vpa_index_free(&w->parts);
	vpt_free(w);
}
