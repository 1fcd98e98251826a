/* row_waits.c - who waits in the rows of a task, from times alone.
 *
 * "The collective before" is that of the same ranks, whatever its communicator, see teams.h. Nearly always the last one was in the row
 * before, as the member was; what is otherwise is listed, and looked up again. */
#include "analysis/ranks/waits/waits_state.h"

#include "formats/base/memory.h"

struct vpa_seat vpa_seat_of(const struct vpa_job_waits *w, const struct vpa_team *t, size_t member)
{
	uint32_t rank = w->job->matching.groups[t->group].ranks[member];

	return (struct vpa_seat){
		t, member, rank, w->job->list.items[rank], vpa_job_clock(w->job, rank)};
}

/* Tasks begin at whole bytes. */
static void set_how(struct vpa_job_waits *w, const struct vpa_team *t, size_t member, size_t at,
	enum vpa_how how)
{
	size_t i = at - t->first;

	w->waits[t - w->teams.items][member * vpa_how_bytes(t) + i / VPA_HOW_IN_BYTE] |=
		(unsigned char)(how << VPA_HOW_BITS * (i % VPA_HOW_IN_BYTE));
}
_Static_assert(VPA_WAIT_TASK_ROWS % VPA_HOW_IN_BYTE == 0, "tasks begin at whole bytes");

static void set_odd(struct vpa_job_waits *w, uint32_t rank)
{
	__atomic_store_n(&w->is_odd[rank], 1, __ATOMIC_RELAXED);
}

static size_t row_before(
	const struct vpa_job_waits *w, const struct vpa_team *t, size_t at, size_t x, size_t y)
{
	size_t n;

	for (n = 0; at > t->first && n < VPA_WAIT_ROWS_BACK; n++)
		if (vpa_cell_of(w, &w->teams.rows[--at], x) != VPA_NO_COLLECTIVE &&
			vpa_cell_of(w, &w->teams.rows[at], y) != VPA_NO_COLLECTIVE)
			return at;
	return SIZE_MAX;
}

/* Whether that long before the last one is a wait. Else it was the last one itself, or that is not certain. */
static inline int is_wait(const struct vpa_job_row *row, int64_t ns)
{
	return ns > 0 && (uint64_t)ns >= row->uncertainty_ns;
}

int vpa_wait_of(const struct vpa_job_waits *w, const struct vpa_seat *s, size_t at,
	const struct vpa_job_row *row, uint32_t cell, struct vpa_wait *out)
{
	const struct vpa_team_row *r = &w->teams.rows[at];
	int64_t start_ns = vpa_clock_time(s->clock, vpa_rank_start_ns(s->of, cell));

	out->at = at;
	out->member = s->member;
	out->last = row->last;
	out->last_ns = row->last_ns;
	out->cell = cell;
	if (r->is_pairs) {
		struct vpa_partner partner = vpa_partner_of(w->job, vpa_group_of(w, r), r->row,
			s->member, vpa_clock_time(s->clock, vpa_rank_end_ns(s->of, cell)));

		out->last = partner.member;
		out->last_ns = partner.arrival_ns;
	}
	out->ns = out->last_ns - start_ns;
	if (!is_wait(row, out->ns))
		return 0;
	out->before = row_before(w, s->team, at, s->member, out->last);
	if (out->before != SIZE_MAX)
		out->cell_before = vpa_cell_of(w, &w->teams.rows[out->before], s->member);
	return 1;
}

/* Both members were in `before` and are in `at`: how much later the last one left `before`, and what is left of the wait
 * beside that and what they did since, which is the difference in speed of two clocks. */
static void blame_times(const struct vpa_job_waits *w, struct vpa_wait_tally *tally,
	const struct vpa_seat *s, const struct vpa_wait *x)
{
	const struct vpa_job *job = w->job;
	const struct vpa_team_row *at = &w->teams.rows[x->at], *before = &w->teams.rows[x->before];
	uint32_t last = job->matching.groups[s->team->group].ranks[x->last];
	const struct vpa_rank *r = s->of, *l = job->list.items[last];
	uint64_t own_end = vpa_rank_end_ns(r, x->cell_before);
	uint64_t last_end = vpa_rank_end_ns(l, vpa_cell_of(w, before, x->last));
	int64_t skew_ns = vpa_clock_time(vpa_job_clock(job, last), last_end) -
			  vpa_clock_time(s->clock, own_end);
	int64_t did_ns = (int64_t)(vpa_rank_start_ns(l, vpa_cell_of(w, at, x->last)) - last_end) -
			 (int64_t)(vpa_rank_start_ns(r, x->cell) - own_end);

	vpa_blame_class(w, tally, last, VPA_LATE_ENDED, skew_ns);
	vpa_blame_class(w, tally, last, VPA_LATE_CLOCK, x->ns - did_ns - skew_ns);
}

static int count_wait(struct vpa_job_waits *w, struct vpa_wait_tally *tally,
	const struct vpa_seat *s, const struct vpa_wait *x)
{
	uint32_t last = w->job->matching.groups[s->team->group].ranks[x->last];

	if (x->before == SIZE_MAX) {
		vpa_blame_class(w, tally, last, VPA_LATE_BEGAN, x->ns);
		vpt_sat_add_to(&tally->ranks[s->rank].start_wait_ns, (uint64_t)x->ns);
		vpt_sat_add_to(&tally->ranks[last].start_blame_ns, (uint64_t)x->ns);
		return VPT_OK;
	}
	blame_times(w, tally, s, x);
	if (x->before + 1 == x->at && !w->teams.rows[x->at].is_pairs) {
		w->teams.rows[x->at].waits++;
		return VPT_OK;
	}
	if (vpt_grow(&tally->odd, &tally->odd_cap, tally->odd_count + 1, sizeof(*tally->odd)))
		return VPT_ENOMEM;
	set_odd(w, last);
	tally->odd[tally->odd_count++] =
		(struct vpa_odd_wait){last, (uint32_t)x->last, x->before, x->at};
	return VPT_OK;
}

/* ---- from times alone ---- */

/* Of a member of a row, whether it waits or not. */
static inline void add_times(struct vpa_job_rank *r, const struct vpa_job_row *row,
	const struct vpa_group *g, int64_t last_ns, int64_t first_end_ns, int64_t end_ns)
{
	r->matched++;
	r->at_least += row->count < g->rank_count || g->lacks_ranks;
	r->transfer_ns = vpt_sat_add_i64(r->transfer_ns, first_end_ns - last_ns);
	vpt_sat_add_to(&r->skew_ns, (uint64_t)(end_ns - first_end_ns));
}

static inline void add_wait(struct vpa_wait_tally *tally, struct vpa_job_rank *r,
	struct vpa_team_row *row, uint32_t last, int64_t ns)
{
	vpt_sat_add_to(&r->wait_ns, (uint64_t)ns);
	vpt_sat_add_to(&tally->groups[row->group].wait_ns, (uint64_t)ns);
	vpt_sat_add_to(&tally->ranks[last].blame_ns, (uint64_t)ns);
	row->is_waited_for = 1;
}

static int take_member(struct vpa_job_waits *w, struct vpa_wait_tally *tally,
	const struct vpa_seat *s, size_t at, const struct vpa_job_row *row, uint32_t cell)
{
	struct vpa_team_row *team_row = &w->teams.rows[at];
	const struct vpa_group *g = vpa_group_of(w, team_row);
	struct vpa_job_rank *r = &tally->ranks[s->rank];
	int64_t end_ns = vpa_clock_time(s->clock, vpa_rank_end_ns(s->of, cell));
	struct vpa_wait wait;
	int waits = vpa_wait_of(w, s, at, row, cell, &wait);

	/* A pair has no others that could leave earlier. */
	add_times(r, row, g, wait.last_ns, team_row->is_pairs ? end_ns : row->first_end_ns, end_ns);
	if (!waits) {
		vpt_sat_add_to(&r->unsure_ns, (uint64_t)wait.ns);
		return VPT_OK;
	}
	add_wait(tally, r, team_row, g->ranks[wait.last], wait.ns);
	if (wait.before != SIZE_MAX) {
		set_how(w, s->team, s->member, at, VPA_WAITS_ODDLY);
		set_odd(w, s->rank);
	}
	return count_wait(w, tally, s, &wait);
}

/* A member in the rows of a task, in order: where it is, and sums. */
struct walk {
	struct vpa_seat seat;
	unsigned char *how; /* of the team's rows, see set_how() */
	/* Of the row before, if it has it: when it left that, on its own clock and on the job's. */
	int has_before;
	uint64_t before_ns;
	int64_t left_before_ns;
	uint64_t matched, at_least, skew_ns, unsure_ns, wait_ns;
	int64_t transfer_ns;
};

/* The same as take_member(), of a row whose last one was in the row before, as the member was. */
static inline void take_plainly(struct walk *m, const struct vpa_clock *clock,
	struct vpa_wait_place *x, size_t at, uint64_t start, int64_t end_ns)
{
	const struct vpa_job_row *row = x->row;
	int64_t ns = row->last_ns - vpa_clock_time(clock, start), ended_ns, did_ns;
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
	m->how[i / VPA_HOW_IN_BYTE] |=
		(unsigned char)(VPA_WAITS_PLAINLY << VPA_HOW_BITS * (i % VPA_HOW_IN_BYTE));
}

/* A row, `x`, of a team; the one before it is in the place before, unless it is the first of the team. */
static void find_place(const struct vpa_job_waits *w, const struct vpa_team *t, size_t at,
	struct vpa_wait_place *x)
{
	const struct vpa_team_row *r = &w->teams.rows[at];
	const struct vpa_group *g = vpa_group_of(w, r);
	const struct vpa_rank *last;
	uint32_t cell, before;

	*x = (struct vpa_wait_place){
		.row = vpa_row_of(w, r), .columns = g->columns, .in_group = r->row};
	x->lacks = x->row->count < g->rank_count || g->lacks_ranks;
	x->last_rank = g->ranks[x->row->last];
	if (at == t->first || r->is_pairs || x->row->count < 2)
		return;
	last = w->job->list.items[x->last_rank];
	cell = vpa_cell_of(w, r, x->row->last);
	before = vpa_cell_of(w, r - 1, x->row->last);
	if (before == VPA_NO_COLLECTIVE)
		return;
	x->is_plain = 1;
	x->last_end_ns =
		vpa_clock_time(vpa_job_clock(w->job, x->last_rank), vpa_rank_end_ns(last, before));
	x->last_did_ns = (int64_t)(vpa_rank_start_ns(last, cell) - vpa_rank_end_ns(last, before));
}

/* Takes a member in a row. `clock` and `times` are its own. */
static inline int take_place(struct vpa_job_waits *w, struct vpa_wait_tally *tally, struct walk *m,
	const struct vpa_clock *clock, const struct vpa_rank_times *times, struct vpa_wait_place *x,
	size_t at)
{
	const struct vpa_seat *s = &m->seat;
	uint32_t cell = x->columns[s->member][x->in_group];
	struct vpa_item_times span;
	int64_t end_ns;
	int rc = VPT_OK;

	if (cell == VPA_NO_COLLECTIVE) {
		m->has_before = 0;
		return VPT_OK;
	}
	span = vpa_rank_times_of(times, cell);
	end_ns = vpa_clock_time(clock, span.end_ns);
	if (x->is_plain && m->has_before)
		take_plainly(m, clock, x, at, span.start_ns, end_ns);
	else if (x->row->count >= 2)
		rc = take_member(w, tally, s, at, x->row, cell);
	m->has_before = 1;
	m->before_ns = span.end_ns;
	m->left_before_ns = end_ns;
	return rc;
}

static int take_rows(struct vpa_job_waits *w, struct vpa_wait_tally *tally,
	const struct vpa_wait_task *task, size_t k)
{
	const struct vpa_team *t = &w->teams.items[task->team];
	struct walk m = {
		.seat = vpa_seat_of(w, t, k), .how = &w->waits[task->team][k * vpa_how_bytes(t)]};
	const struct vpa_clock clock = *m.seat.clock;
	const struct vpa_rank_times times = m.seat.of->times;
	struct vpa_job_rank *r = &tally->ranks[m.seat.rank];
	const struct vpa_wait_place *before = &tally->places[0];
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
		rc = take_place(
			w, tally, &m, &clock, &times, &tally->places[1 + at - task->first], at);
	r->matched += m.matched;
	r->at_least += m.at_least;
	r->transfer_ns = vpt_sat_add_i64(r->transfer_ns, m.transfer_ns);
	vpt_sat_add_to(&r->skew_ns, m.skew_ns);
	vpt_sat_add_to(&r->unsure_ns, m.unsure_ns);
	vpt_sat_add_to(&r->wait_ns, m.wait_ns);
	return rc;
}

/* What members waited for the last one of a row, as take_plainly() found it, and the row itself. */
static void end_place(struct vpa_job_waits *w, struct vpa_wait_tally *tally,
	const struct vpa_wait_place *x, size_t at)
{
	struct vpa_team_row *r = &w->teams.rows[at];
	const struct vpa_job_row *row = x->row;
	struct vpa_group_tally *group = &tally->groups[r->group];

	if (row->count < 2)
		return;
	if (x->waits) {
		r->waits += x->waits;
		r->is_waited_for = 1;
		vpt_sat_add_to(&group->wait_ns, x->wait_ns);
		vpt_sat_add_to(&tally->ranks[x->last_rank].blame_ns, x->wait_ns);
		vpa_blame_class(w, tally, x->last_rank, VPA_LATE_ENDED, x->ended_ns);
		vpa_blame_class(w, tally, x->last_rank, VPA_LATE_CLOCK, x->clock_ns);
	}
	tally->rows++;
	tally->at_least += x->lacks;
	tally->negative += !r->is_pairs && row->first_end_ns < row->last_ns;
	if (row->uncertainty_ns > tally->uncertainty_ns)
		tally->uncertainty_ns = row->uncertainty_ns;
	tally->ranks[x->last_rank].last += r->is_waited_for;
	if (row->first_end_ns > row->last_ns)
		vpt_sat_add_to(&group->transfer_ns, (uint64_t)(row->first_end_ns - row->last_ns));
}

int vpa_wait_task_take(void *ctx, unsigned thread, size_t i)
{
	struct vpa_job_waits *w = ctx;
	const struct vpa_wait_task *task = &w->tasks[i];
	const struct vpa_team *t = &w->teams.items[task->team];
	struct vpa_wait_tally *tally = &w->tallies[thread];
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
