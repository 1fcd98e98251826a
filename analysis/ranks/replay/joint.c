/* joint.c - which changes are tried, and what they take away between collectives. Ranks that are made like the median are put after
 * all others, whose sums that takes. */
#include "analysis/ranks/job_parts.h"

#include "analysis/base/sort.h"
#include "analysis/ranks/job_change.h"
#include "analysis/ranks/replay/joint_replay.h"
#include "analysis/ranks/replay/like_median.h"
#include "analysis/ranks/replay/tried_ranks.h"
#include "analysis/ranks/number_list.h"
#include "analysis/ranks/rank/file/rank_fold.h"
#include "analysis/ranks/rank/rank_threads.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdlib.h>
#include <string.h>

/* Lanes of the replay: in each a late rank has its own cut. */
enum { EACH = VPA_LANE_OTHERS };

/* Of more ranks the sums of all would take much memory, and the medians be of some. */
enum { EVEN_MOST = VPA_MEDIAN_SAMPLE };

struct joint_rank {
	struct vpa_spent spent; /* of ranks that are compared; empty otherwise */
	int is_compared;
	/* Made like the median: as a late one, as the user asks, and as a rank that the user names. */
	int is_late, is_asked, is_named;
	int is_put_last; /* one of these, or all ranks are */
};

struct vpa_joint {
	struct vpa_job *job;
	struct vpa_replay *replay;
	struct joint_rank *ranks;
	size_t late[VPA_FIX_RANKS_MOST], late_count;
	unsigned together, even, lanes; /* lanes of late ranks, all ranks */
	int with_even;                  /* all ranks are made like the median together */
	/* The second run: what is asked about, in its only lane, beside what the job takes without a change. */
	int is_of_asked;
	int64_t base_ns;
	struct vpa_spent *medians; /* by group, see like_median.h */
	int64_t *none; /* zeros, as many as the most collectives of a rank, and two more */
	size_t most;
	unsigned threads;
	int with_paces;  /* something is asked about that they limit */
	int is_of_units; /* the replay measured the stretch of the units */
	struct joint_room {
		struct vpa_spent spent;
		struct vpa_asked_sums asked;
		uint64_t asked_ns; /* of all its ranks */
		int64_t *host_ns;
		/* Of the rank that is taken: where its sums go, and those so far. */
		struct vpa_spent *of_rank;
		struct vpa_rank_sums sums;
		struct vpa_replay_room replay;
	} rooms[VPA_RANK_THREADS_MOST];
};

/* ---- what a rank did ---- */

/* The sums up to collective i. */
static inline void put_sums(struct joint_room *room, size_t i)
{
	room->of_rank->busy_ns[i] = room->sums.busy_ns;
	room->of_rank->idle_ns[i] = room->sums.idle_ns;
	room->host_ns[i] = room->sums.host_ns;
}

static inline void add_sums(struct vpa_rank_sums *to, const struct vpa_rank_sums *more)
{
	to->busy_ns += more->busy_ns;
	to->idle_ns += more->idle_ns;
	to->host_ns += more->host_ns;
}

static void begin_measuring(struct joint_room *room, struct vpa_spent *out)
{
	room->of_rank = out;
	room->sums = (struct vpa_rank_sums){0, 0, 0};
}

/* Collectives that overlap have no time between them. */
static void measure(
	struct joint_room *room, const struct vpa_rank *r, const struct vpa_rank_detail *d)
{
	uint32_t after = 0, mark; /* after: the mark after the last end */
	size_t i;

	for (i = 0; i < r->collective_count; i++) {
		put_sums(room, i);
		for (mark = after; mark <= vpa_start_mark(d, i); mark++)
			add_sums(&room->sums, &d->sums[mark]);
		after = vpa_end_mark(d, i) >= after ? vpa_end_mark(d, i) + 1 : after;
	}
}

/* One more sum is of what comes after the last collective. */
static void end_measuring(struct joint_room *room, const struct vpa_rank *r)
{
	put_sums(room, r->collective_count);
	put_sums(room, r->collective_count + 1);
}

/* ---- what is tried ---- */

static void compare(void *ctx, size_t rank)
{
	struct vpa_joint *j = ctx;

	j->ranks[rank].is_compared = 1;
}

static void find_asked(const struct vpa_job *job, size_t rank, struct joint_rank *out)
{
	size_t i;

	for (i = 0; i < job->asked_count; i++) {
		const struct vpa_job_change *a = &job->asked[i];

		if (!a->is_like_median || !vpa_job_change_is_of(a, job->ranks[rank].number))
			continue;
		out->is_asked = 1;
		out->is_named |= a->rank_count != 0;
	}
}

/* Which ranks are made like the median in some lane, and beside whom. */
static void find_compared(struct vpa_joint *j)
{
	size_t r;

	for (r = 0; r < j->job->rank_count; r++) {
		struct joint_rank *rank = &j->ranks[r];

		find_asked(j->job, r, rank);
		rank->is_put_last = j->is_of_asked ? rank->is_asked : rank->is_late || j->with_even;
		if (!rank->is_put_last)
			continue;
		rank->is_compared = 1; /* also one that no group has */
		vpa_median_ranks(j->job, r, compare, j);
	}
}

static void choose_lanes(struct vpa_joint *j)
{
	j->with_even = j->job->rank_count <= EVEN_MOST && j->job->blame_ns;
	j->together = EACH + (unsigned)j->late_count;
	j->even = j->together + (j->late_count > 1);
	j->lanes = j->even + (j->with_even != 0);
}

int vpa_joint_begin(struct vpa_job *job, const struct vpa_job_rows *rows, unsigned threads,
	struct vpa_joint **out)
{
	struct vpa_joint *j;
	unsigned i;
	size_t r;
	int rc;

	*out = NULL;
	for (r = 0; r < job->rank_count; r++)
		if (!job->list.items[r]->has_terms || !vpa_job_clock(job, r)->is_placed)
			return VPT_OK;
	if (!job->rows)
		return VPT_OK;
	j = *out = vpt_calloc(1, sizeof(*j));
	if (!j)
		return VPT_ENOMEM;
	j->job = job;
	for (r = 0; r < job->rank_count; r++)
		if (job->list.items[r]->collective_count > j->most)
			j->most = job->list.items[r]->collective_count;
	job->fixes = vpa_arena_alloc(&job->arena, VPA_FIXES_MOST, sizeof(*job->fixes));
	j->ranks = vpt_calloc(job->rank_count + 1, sizeof(*j->ranks));
	j->none = vpt_calloc(j->most + 2, sizeof(*j->none));
	j->medians = vpt_calloc(job->matching.group_count + 1, sizeof(*j->medians));
	j->threads = threads;
	rc = job->fixes && j->ranks && j->none && j->medians ? VPT_OK : VPT_ENOMEM;
	for (i = 0; i < threads && !rc; i++) {
		j->rooms[i].host_ns = vpt_alloc(j->most + 2, sizeof(*j->rooms[i].host_ns));
		rc = j->rooms[i].host_ns ? vpa_spent_init(&j->rooms[i].spent, j->most) : VPT_ENOMEM;
	}
	if (!rc)
		rc = vpa_tried_ranks(job, j->late, &j->late_count);
	if (rc)
		return rc;
	for (r = 0; r < j->late_count; r++)
		j->ranks[j->late[r]].is_late = 1;
	choose_lanes(j);
	find_compared(j);
	return vpa_replay_new(job, rows, j->lanes, threads, &j->replay);
}

static void drop_compared(struct vpa_joint *j)
{
	size_t r, g;

	for (r = 0; j->ranks && r < j->job->rank_count; r++) {
		vpa_spent_free(&j->ranks[r].spent);
		j->ranks[r].is_compared = 0;
	}
	for (g = 0; j->medians && g < j->job->matching.group_count; g++)
		vpa_spent_free(&j->medians[g]);
}

static void scale_transfers(struct vpa_joint *j)
{
	unsigned kind;
	size_t i;

	for (i = 0; i < j->job->asked_count; i++) {
		const struct vpa_job_change *a = &j->job->asked[i];

		for (kind = 0; a->is_of_transfers && kind < VPA_COLLECTIVE_KINDS; kind++)
			if (a->collective == VPA_COLLECTIVE_KINDS || a->collective == kind)
				vpa_replay_scale_transfers(j->replay,
					(enum vpa_collective_kind)kind, a->change.factor);
	}
}

int vpa_joint_begin_asked(struct vpa_joint *j, const struct vpa_job_rows *rows)
{
	unsigned i;
	int rc = VPT_OK;

	vpa_replay_free(j->replay);
	j->replay = NULL;
	drop_compared(j);
	j->is_of_asked = 1;
	j->with_paces = vpa_job_asks_for_paces(j->job);
	for (i = 0; i < j->threads && j->with_paces && !rc; i++)
		rc = vpa_asked_sums_init(&j->rooms[i].asked, j->most);
	if (rc)
		return rc;
	find_compared(j);
	rc = vpa_replay_new(j->job, rows, 1, j->threads, &j->replay);
	if (!rc)
		scale_transfers(j);
	return rc;
}

/* The one that makes a rank like the median. */
static enum vpa_cut cut_to_median(const struct joint_rank *r)
{
	return r->is_late || r->is_named ? VPA_CUT_OWN : VPA_CUT_EVEN;
}

/* Which cut a rank has in each lane. */
static void choose_cuts(const struct vpa_joint *j, size_t rank, struct vpa_rank_cuts *out)
{
	const struct joint_rank *r = &j->ranks[rank];
	size_t i;

	if (j->is_of_asked) {
		out->of_lane[0] = r->is_asked ? cut_to_median(r) : VPA_CUT_ASKED;
		return;
	}
	out->of_lane[VPA_LANE_COMMON] = VPA_CUT_COMMON;
	for (i = 0; i < j->late_count; i++)
		if (j->late[i] == rank)
			out->of_lane[EACH + i] = out->of_lane[j->together] = VPA_CUT_OWN;
	if (j->with_even)
		out->of_lane[j->even] = cut_to_median(r);
}

/* All of what is taken away of a rank with `count` collectives. */
static uint64_t less_of(const struct vpa_spent *less, size_t count)
{
	return vpt_sat_add((uint64_t)less->busy_ns[count + 1], (uint64_t)less->idle_ns[count + 1]);
}

/* Whether parts of what a rank does are asked about. */
static int asks_of(const struct vpa_job *job, size_t rank)
{
	size_t i;

	for (i = 0; i < job->asked_count; i++)
		if (vpa_job_change_is_of_parts(&job->asked[i]) &&
			vpa_job_change_is_of(&job->asked[i], job->ranks[rank].number))
			return 1;
	return 0;
}

/* Sets the cut of what is asked about, if anything is. 0 or VPT_ENOMEM. */
static int asked_cut(struct vpa_joint *j, unsigned thread, size_t rank,
	const struct vpa_rank_detail *d, const struct vpa_spent *spent, struct vpa_cut_sums *out)
{
	struct vpa_asked_sums *asked = &j->rooms[thread].asked;
	const struct vpa_job *job = j->job;
	const struct vpa_rank *r = job->list.items[rank];
	struct vpa_spent less;

	if (!j->is_of_asked || !asks_of(job, rank))
		return VPT_OK;
	if (vpa_asked_sums_set(asked, job->asked, job->asked_count, job->ranks[rank].number, r, d))
		return VPT_ENOMEM;
	less = (struct vpa_spent){asked->busy_ns, asked->idle_ns};
	vpt_sat_add_to(&j->rooms[thread].asked_ns, less_of(&less, r->collective_count));
	*out = (struct vpa_cut_sums){.busy_ns = spent->busy_ns,
		.less_busy_ns = asked->busy_ns,
		.less_idle_ns = asked->idle_ns,
		.asked = asked};
	return VPT_OK;
}

/* No GPU waits for its host. */
static struct vpa_cut_sums common_cut(
	const struct vpa_joint *j, unsigned thread, const struct vpa_spent *spent)
{
	return (struct vpa_cut_sums){.busy_ns = spent->busy_ns,
		.less_busy_ns = j->none,
		.less_idle_ns = j->rooms[thread].host_ns};
}

int vpa_joint_begin_rank(struct vpa_joint *j, unsigned thread, size_t rank)
{
	const struct vpa_rank *r = j->job->list.items[rank];
	struct joint_room *room = &j->rooms[thread];
	struct vpa_spent *spent = &room->spent;

	if (j->ranks[rank].is_compared) {
		spent = &j->ranks[rank].spent;
		if (vpa_spent_init(spent, r->collective_count))
			return VPT_ENOMEM;
	}
	begin_measuring(room, spent);
	return VPT_OK;
}

void vpa_joint_take(
	struct vpa_joint *j, unsigned thread, size_t rank, const struct vpa_rank_detail *d)
{
	measure(&j->rooms[thread], j->job->list.items[rank], d);
}

void vpa_joint_take_stretches(struct vpa_joint *j, unsigned thread, const struct vpa_rank_detail *d,
	size_t first, size_t count)
{
	struct joint_room *room = &j->rooms[thread];
	size_t i;

	for (i = 0; i < count; i++) {
		put_sums(room, first + i);
		add_sums(&room->sums, &d->sums[2 * i]);
	}
}

int vpa_joint_end_rank(
	struct vpa_joint *j, unsigned thread, size_t rank, const struct vpa_rank_detail *d)
{
	struct joint_room *room = &j->rooms[thread];
	struct vpa_rank_cuts cuts = {.of_lane = {VPA_CUT_NONE}};

	end_measuring(room, j->job->list.items[rank]);
	if (j->ranks[rank].is_put_last)
		return VPT_OK;
	choose_cuts(j, rank, &cuts);
	if (!j->is_of_asked)
		cuts.sums[VPA_CUT_COMMON] = common_cut(j, thread, room->of_rank);
	if (asked_cut(j, thread, rank, d, room->of_rank, &cuts.sums[VPA_CUT_ASKED]))
		return VPT_ENOMEM;
	return vpa_replay_put(j->replay, &room->replay, rank, d, &cuts);
}

/* ---- like the median ---- */

static const struct vpa_spent *spent_of(const void *ctx, size_t rank)
{
	const struct vpa_joint *j = ctx;

	return &j->ranks[rank].spent;
}

static int put_last(struct vpa_joint *j, size_t rank, struct vpa_unfolded *u, struct vpt_err *err)
{
	struct joint_room *room = &j->rooms[0];
	struct joint_rank *own = &j->ranks[rank];
	const struct vpa_rank *r = j->job->list.items[rank];
	struct vpa_rank_cuts cuts = {.of_lane = {VPA_CUT_NONE}};
	struct vpa_median_source source;
	int rc = vpa_rank_unfold(r, u, err);

	if (rc)
		return rc;
	begin_measuring(room, &own->spent);
	measure(room, r, &u->detail);
	end_measuring(room, r);
	source = (struct vpa_median_source){spent_of, j, j->medians};
	rc = vpa_above_median(j->job, &source, j->threads, rank, &room->spent);
	if (rc)
		return rc;
	cuts.sums[cut_to_median(own)] = (struct vpa_cut_sums){.busy_ns = own->spent.busy_ns,
		.less_busy_ns = room->spent.busy_ns,
		.less_idle_ns = room->spent.idle_ns};
	if (!j->is_of_asked)
		cuts.sums[VPA_CUT_COMMON] = common_cut(j, 0, &own->spent);
	choose_cuts(j, rank, &cuts);
	if (j->is_of_asked)
		vpt_sat_add_to(&room->asked_ns, less_of(&room->spent, r->collective_count));
	return vpa_replay_put(j->replay, &room->replay, rank, &u->detail, &cuts);
}

static int put_ranks_last(struct vpa_joint *j, struct vpt_err *err)
{
	struct vpa_unfolded u = {.without_paces = 1};
	size_t r;
	int rc = VPT_OK;

	for (r = 0; r < j->job->rank_count && !rc; r++)
		if (j->ranks[r].is_put_last)
			rc = put_last(j, r, &u, err);
	vpa_unfolded_free(&u);
	return rc;
}

/* ---- what it brings ---- */

/* What a unit loses. Units differ, as blocks grow: what their stretch loses is theirs in equal parts; of the whole job it is
 * their share of it. */
static double lost_of_unit(const struct vpa_joint *j, int64_t ns)
{
	double lost = (double)(j->base_ns - ns);

	if (j->is_of_units && j->job->units)
		return lost / (double)j->job->units;
	/* The job begins when its first rank does. */
	return lost / (double)(j->job->start_ns ? (int64_t)j->job->span_ns : j->base_ns) *
	       (double)j->job->unit_ns;
}

/* `members` are indexes of ranks; none: all. */
static void add_fix(struct vpa_joint *j, enum vpa_fix_kind kind, const size_t *members,
	size_t count, int64_t ns)
{
	double unit_ns = (double)j->job->unit_ns, lost;
	struct vpa_job *job = j->job;
	struct vpa_job_fix *fix = &job->fixes[job->fix_count];
	int64_t names[VPA_FIX_RANKS_MOST];
	size_t i;

	if (job->fix_count == VPA_FIXES_MOST || j->base_ns <= 0 || !job->unit_ns)
		return;
	lost = lost_of_unit(j, ns);
	job->fix_count++;
	*fix = (struct vpa_job_fix){.kind = kind,
		.member_count = count,
		.share = lost / unit_ns,
		.unit_ns = vpt_sat_u64(unit_ns - lost)};
	for (i = 0; i < count; i++) {
		fix->members[i] = members[i];
		names[i] = job->ranks[members[i]].number;
	}
	qsort(names, count, sizeof(*names), vpa_by_i64);
	fix->ranks = count ? vpa_number_list(&job->arena, names, count) : NULL;
}

static int by_gain(const void *a, const void *b)
{
	const struct vpa_job_fix *x = a, *y = b;

	return (y->share > x->share) - (y->share < x->share);
}

/* The stretch of the job's units, as the first rank that has them says. Units of a host that is ahead of its GPU are of other
 * work than the collectives that end in them. */
static struct vpa_replay_stretch units_of(const struct vpa_job *job)
{
	uint64_t ns = vpt_sat_scale(job->unit_ns, job->units, 1);
	size_t i;

	for (i = 0; i < job->rank_count; i++) {
		const struct vpa_rank *r = job->list.items[i];

		if (r->unit == job->unit && r->units_to_ns > r->units_from_ns &&
			r->units_to_ns <= VPA_RANK_LATEST_NS && ns <= VPA_RANK_LATEST_NS)
			return (struct vpa_replay_stretch){
				vpa_clock_time(vpa_job_clock(job, i), r->units_from_ns),
				vpa_clock_time(vpa_job_clock(job, i), r->units_to_ns),
				(int64_t)(ns - ns / 5), (int64_t)(ns + ns / 5)};
	}
	return (struct vpa_replay_stretch){0, 0, 0, 0};
}

static void add_fixes(struct vpa_joint *j, const struct vpa_replayed *done)
{
	size_t i;

	j->base_ns = done->ns[VPA_LANE_UNCHANGED];
	add_fix(j, VPA_FIX_HOST_CODE, NULL, 0, done->ns[VPA_LANE_COMMON]);
	for (i = 0; i < j->late_count; i++)
		add_fix(j, VPA_FIX_LIKE_MEDIAN, &j->late[i], 1, done->ns[EACH + i]);
	if (j->late_count > 1)
		add_fix(j, VPA_FIX_LIKE_MEDIAN, j->late, j->late_count, done->ns[j->together]);
	if (j->with_even)
		add_fix(j, VPA_FIX_LIKE_MEDIAN, NULL, 0, done->ns[j->even]);
}

static void add_asked(struct vpa_joint *j, const struct vpa_replayed *done)
{
	struct vpa_job *job = j->job;
	size_t i;

	for (i = 0; i < job->rank_count; i++)
		job->asked_is_bound |= asks_of(job, i) && !job->list.items[i]->has_paces;
	for (i = 0; i < j->threads; i++) {
		vpt_sat_add_to(&job->asked_ns, j->rooms[i].asked_ns);
		vpt_sat_add_to(&job->asked_ns, j->rooms[i].replay.transfers_ns);
	}
	add_fix(j, VPA_FIX_ASKED, NULL, 0, done->ns[0]);
}

int vpa_joint_end(struct vpa_joint *j, struct vpt_err *err)
{
	struct vpa_job *job = j->job;
	struct vpa_replayed done;
	int rc = put_ranks_last(j, err);

	if (rc)
		return rc;
	vpa_replay_run(j->replay, units_of(job), &done);
	j->is_of_units = done.is_of_stretch;
	if (j->is_of_asked) {
		add_asked(j, &done);
	} else {
		job->replay_error_ns = done.error_ns;
		job->is_replayed = 1;
		add_fixes(j, &done);
	}
	return vpa_sort(job->fixes, job->fix_count, sizeof(*job->fixes), by_gain);
}

void vpa_joint_free(struct vpa_joint *j)
{
	unsigned i;

	if (!j)
		return;
	drop_compared(j);
	vpt_free(j->ranks);
	vpt_free(j->medians);
	vpt_free(j->none);
	for (i = 0; i < VPA_RANK_THREADS_MOST; i++) {
		vpa_spent_free(&j->rooms[i].spent);
		vpa_asked_sums_free(&j->rooms[i].asked);
		vpt_free(j->rooms[i].host_ns);
		vpa_replay_room_free(&j->rooms[i].replay);
	}
	vpa_replay_free(j->replay);
	vpt_free(j);
}
