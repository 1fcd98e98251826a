/* job.c - puts ranks in order, names what is missing, and calls the rest. */
#include "analysis/ranks/job.h"

#include "analysis/base/sort.h"
#include "analysis/model/collective_facts.h"
#include "analysis/ranks/alignment/machines.h"
#include "analysis/ranks/job_parts.h"
#include "analysis/ranks/late_ranks.h"
#include "analysis/ranks/number_list.h"
#include "analysis/ranks/rank/file/rank_fold.h"
#include "analysis/ranks/rank/rank_threads.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const late_words[VPA_LATE_CLASSES] = {
	[VPA_LATE_COMPUTE] = "computed longer",
	[VPA_LATE_COMM] = "was longer in other collectives",
	[VPA_LATE_COPY] = "copied longer",
	[VPA_LATE_IDLE] = "had an idle GPU",
	[VPA_LATE_BEGAN] = "started later",
	[VPA_LATE_ENDED] = "left the collective before later",
	[VPA_LATE_CLOCK] = "has another clock",
};

const char *vpa_late_words(enum vpa_late_class klass)
{
	return klass < VPA_LATE_CLASSES ? late_words[klass] : "";
}

/* ---- order ---- */

static int by_number(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* Known ranks first. */
static int by_identity(const void *a, const void *b)
{
	const struct vpa_rank *x = *(struct vpa_rank *const *)a, *y = *(struct vpa_rank *const *)b;
	int order = by_number(x->rank < 0, y->rank < 0);

	if (!order)
		order = by_number(x->rank, y->rank);
	if (!order)
		order = vpt_text_order(x->host, y->host);
	if (!order)
		order = vpt_text_order(x->capture, y->capture);
	if (!order)
		order = by_number(x->pid, y->pid);
	return order ? order : by_number(x->device, y->device);
}

static int is_same_rank(const struct vpa_rank *a, const struct vpa_rank *b)
{
	if (a->rank >= 0 && a->rank == b->rank)
		return 1;
	return a->pid == b->pid && a->device == b->device &&
	       vpt_same_text(a->capture, b->capture) && a->first_ns == b->first_ns &&
	       a->last_ns == b->last_ns;
}

static const char *capture_of(const struct vpa_rank *r)
{
	return r->capture ? r->capture : "a capture";
}

/* Ranks of two runs say nothing about each other: where a folder has several, one counts. */
static void drop_other_runs(struct vpa_job *job)
{
	struct vpa_rank_list *list = &job->list;
	struct vpa_run run = vpa_run_find(list);
	const char *other = NULL;
	size_t i, kept = 0, count = list->count;

	for (i = 0; run.of && i < count; i++) {
		struct vpa_rank *r = list->items[i];

		if (vpa_is_of_run(&run, r)) {
			list->items[kept++] = r;
			continue;
		}
		other = other ? other
			      : vpa_arena_text(&job->arena, capture_of(r), strlen(capture_of(r)));
		vpa_rank_free(r);
		vpt_free(r);
	}
	if (!other)
		return;
	list->count = kept;
	job->duplicates[job->duplicate_count++] = vpa_arena_printf(&job->arena,
		"%zu captures are of another run than %s, such as %s: they do not count; give "
		"the captures of one run",
		count - kept, capture_of(run.of), other);
}

static int drop_duplicates(struct vpa_job *job)
{
	struct vpa_rank_list *list = &job->list;
	size_t i, kept = 0;

	job->duplicates = vpa_arena_alloc(&job->arena, list->count + 1, sizeof(*job->duplicates));
	if (!job->duplicates)
		return VPT_ENOMEM;
	drop_other_runs(job);
	for (i = 0; i < list->count; i++) {
		struct vpa_rank *r = list->items[i];

		if (!kept || !is_same_rank(list->items[kept - 1], r)) {
			list->items[kept++] = r;
			continue;
		}
		job->duplicates[job->duplicate_count++] = vpa_arena_printf(&job->arena,
			"rank %" PRId64 " is in %s too: only %s counts", r->rank, capture_of(r),
			capture_of(list->items[kept - 1]));
		vpa_rank_free(r);
		vpt_free(r);
	}
	list->count = kept;
	return VPT_OK;
}

/* A rank without a number gets the next one that is free. */
static int number_ranks(struct vpa_job *job)
{
	size_t i, k = 0;
	int64_t next = 0;

	job->rank_count = job->list.count;
	job->ranks = vpt_calloc(job->rank_count + 1, sizeof(*job->ranks));
	if (!job->ranks)
		return VPT_ENOMEM;
	for (i = 0; i < job->rank_count; i++) {
		const struct vpa_rank *r = job->list.items[i];

		job->ranks[i] =
			(struct vpa_job_rank){.rank = r, .device = r->device, .number = r->rank};
		if (r->rank >= 0)
			continue;
		for (; k < i && job->ranks[k].number <= next; k++)
			next = job->ranks[k].number + 1;
		job->ranks[i].number = next++;
	}
	return VPT_OK;
}

/* ---- what is not there ---- */

static int find_missing(struct vpa_job *job)
{
	int64_t *numbers, n;
	size_t i = 0;

	job->world_size = -1;
	for (i = 0; i < job->rank_count; i++)
		if (job->ranks[i].rank->world_size > job->world_size)
			job->world_size = job->ranks[i].rank->world_size;
	if (job->world_size <= (int64_t)job->rank_count)
		return VPT_OK;
	job->missing = (size_t)job->world_size - job->rank_count;
	if (job->list.items[job->rank_count - 1]->rank < 0 || job->world_size > 1 << 20)
		return VPT_OK;
	numbers = vpt_alloc((size_t)job->world_size, sizeof(*numbers));
	if (!numbers)
		return VPT_ENOMEM;
	for (job->missing = i = 0, n = 0; n < job->world_size; n++) {
		if (i < job->rank_count && job->ranks[i].number == n)
			i++;
		else
			numbers[job->missing++] = n;
	}
	job->missing_text = vpa_number_list(&job->arena, numbers, job->missing);
	vpt_free(numbers);
	return VPT_OK;
}

static int have_common_rank(const struct vpa_group *a, const struct vpa_group *b)
{
	size_t i, k;

	for (i = k = 0; i < a->rank_count && k < b->rank_count;) {
		if (a->ranks[i] == b->ranks[k])
			return 1;
		if (a->ranks[i] < b->ranks[k])
			i++;
		else
			k++;
	}
	return 0;
}

/* Whether a rank that has no capture may be in a group. Where its name does not say how many ranks it has, groups side by side do: they
 * have as many, so one that has more than another lacks none. */
static int may_lack_ranks(const struct vpa_matching *m, const struct vpa_group *g)
{
	uint64_t ranks = vpa_communicator_ranks(g->name);
	size_t i;

	if (ranks)
		return ranks > g->rank_count;
	for (i = 0; i < m->group_count; i++)
		if (m->groups[i].rank_count < g->rank_count && !have_common_rank(&m->groups[i], g))
			return 0;
	return 1;
}

static void find_lacking(struct vpa_job *job)
{
	size_t i;

	for (i = 0; i < job->matching.group_count && job->missing; i++)
		job->matching.groups[i].lacks_ranks =
			may_lack_ranks(&job->matching, &job->matching.groups[i]);
}

/* ---- where and when they ran ---- */

/* Ranks of other machines that may be of another run, as far as clocks tell. */
static int find_apart(struct vpa_job *job)
{
	int64_t *numbers = vpt_alloc(job->rank_count + 1, sizeof(*numbers));
	size_t i, count = 0;

	if (!numbers)
		return VPT_ENOMEM;
	for (i = 0; i < job->rank_count; i++)
		if (vpa_are_minutes_apart(job->list.items[0], job->list.items[i]))
			numbers[count++] = job->ranks[i].number;
	job->apart = count ? vpa_number_list(&job->arena, numbers, count) : NULL;
	vpt_free(numbers);
	return VPT_OK;
}

/* Whether a rank's clock tells its machine from those before it of the same name. */
static int is_namesake(const struct vpa_job *job, size_t rank)
{
	const struct vpa_rank *r = job->list.items[rank];
	size_t i;

	for (i = 0; r->machine && i < rank; i++)
		if (!job->list.items[i]->machine &&
			vpt_same_text(job->list.items[i]->host, r->host))
			return !vpa_count_from_elsewhere(job->list.items[i], r);
	return r->machine != 0;
}

static int tell_machines(struct vpa_job *job)
{
	int64_t *numbers = vpt_alloc(job->rank_count + 1, sizeof(*numbers));
	size_t i, count = 0;
	int rc = numbers ? vpa_machines_tell(&job->list) : VPT_ENOMEM;

	for (i = 0; i < job->rank_count && !rc; i++)
		if (is_namesake(job, i))
			numbers[count++] = job->ranks[i].number;
	job->namesakes = count ? vpa_number_list(&job->arena, numbers, count) : NULL;
	vpt_free(numbers);
	return rc;
}

/* ---- what it counts in ---- */

enum { START_LEAST = 50 /* of the time is more: what is a start by itself */ };

/* Whether the units of a rank begin before its first collective does. */
static int has_start_in_units(const struct vpa_rank *r)
{
	uint64_t ns = r->collective_count ? vpa_rank_start_ns(r, 0) : 0;

	return r->units_to_ns <= r->units_from_ns ||
	       (ns >= r->units_from_ns && ns < r->units_to_ns);
}

uint64_t vpa_job_unit_of(const struct vpa_job *job, const struct vpa_job_rank *r)
{
	uint64_t start_ns = job->start_ns && r->rank->units && has_start_in_units(r->rank)
				    ? r->start_wait_ns / r->rank->units
				    : 0;

	return start_ns < r->rank->unit_ns ? r->rank->unit_ns - start_ns : r->rank->unit_ns;
}

uint64_t vpa_job_start_wait(const struct vpa_job *job)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < job->rank_count && job->start_ns; i++)
		vpt_sat_add_to(&sum, job->ranks[i].start_wait_ns);
	return sum;
}

/* A rank's time from its first op to its last, without what it waited at the start. */
static uint64_t span_of(const struct vpa_job *job, const struct vpa_job_rank *r)
{
	return vpt_sat_sub(
		r->rank->last_ns - r->rank->first_ns, job->start_ns ? r->start_wait_ns : 0);
}

double vpa_job_rank_per_unit(const struct vpa_job *job, const struct vpa_job_rank *r, double ns)
{
	uint64_t span_ns = span_of(job, r);

	return vpa_job_per_unit(job, r->cut_ns && span_ns && job->span_ns
					     ? ns * (double)job->span_ns / (double)span_ns
					     : ns);
}

/* Whether all ranks are cut: there is none to go by then. */
static int are_cut(const struct vpa_job *job)
{
	size_t i = 0;

	while (i < job->rank_count &&
		(job->ranks[i].cut_ns || job->ranks[i].rank->unit != job->unit))
		i++;
	return i == job->rank_count;
}

/* By the ranks that are there to the end. */
static void sum_units(struct vpa_job *job)
{
	const int with_cut = are_cut(job);
	uint64_t units = 0;
	size_t i, count = 0;

	job->unit_ns = job->span_ns = 0;
	for (i = 0; i < job->rank_count; i++) {
		const struct vpa_rank *r = job->ranks[i].rank;

		if (r->unit != job->unit || (job->ranks[i].cut_ns && !with_cut))
			continue;
		vpt_sat_add_to(&job->unit_ns, vpa_job_unit_of(job, &job->ranks[i]));
		vpt_sat_add_to(&units, r->units);
		vpt_sat_add_to(&job->span_ns, span_of(job, &job->ranks[i]));
		count++;
	}
	if (count) {
		job->unit_ns /= count;
		job->units = units / count;
		job->span_ns /= count;
	}
}

/* What ranks wait before they work together says nothing of their work. */
static void find_start(struct vpa_job *job)
{
	uint64_t wait_ns = 0, time_ns = 0;
	size_t i;

	for (i = 0; i < job->rank_count; i++) {
		const struct vpa_rank *r = job->ranks[i].rank;

		vpt_sat_add_to(&wait_ns, job->ranks[i].start_wait_ns);
		vpt_sat_add_to(&time_ns, r->last_ns - r->first_ns);
	}
	if (wait_ns < time_ns / START_LEAST || !job->rank_count)
		return;
	job->start_ns = wait_ns / job->rank_count;
	sum_units(job);
}

static void find_unit(struct vpa_job *job)
{
	size_t votes[VPA_UNIT_KINDS] = {0}, i;

	for (i = 0; i < job->rank_count; i++)
		votes[job->ranks[i].rank->unit]++;
	job->unit = VPA_UNIT_WINDOW;
	for (i = 0; i < VPA_UNIT_KINDS; i++)
		if (votes[i] > votes[job->unit])
			job->unit = (enum vpa_unit_kind)i;
	sum_units(job);
}

static void describe(struct vpa_job *job)
{
	size_t i;

	job->job = job->list.items[0]->job;
	job->simulated = job->list.items[0]->simulated;
	for (i = 0; i < job->rank_count; i++) {
		const struct vpa_rank *r = job->ranks[i].rank;

		job->ranks[i].unmatched = job->matching.unmatched[i];
		job->unmatched += job->matching.unmatched[i];
		job->incomplete += !r->complete;
		if (!r->job || !job->job || strcmp(r->job, job->job) != 0)
			job->job = NULL;
		if (r->simulated > job->simulated)
			job->simulated = r->simulated;
	}
}

static int describe_groups(struct vpa_job *job)
{
	size_t i, row, k;

	job->group_count = job->matching.group_count;
	job->groups = vpa_arena_alloc(&job->arena, job->group_count + 1, sizeof(*job->groups));
	if (!job->groups)
		return VPT_ENOMEM;
	for (i = 0; i < job->group_count; i++) {
		const struct vpa_group *g = &job->matching.groups[i];
		uint64_t ns[VPA_COLLECTIVE_KINDS] = {0};

		job->groups[i] = (struct vpa_job_group){
			.name = g->name, .rank_count = g->rank_count, .row_count = g->row_count};
		for (row = 0; row < g->row_count; row++) {
			const struct vpa_rank *r;
			uint32_t cell;

			for (k = 0; vpa_group_cell(g, row, k) == VPA_NO_COLLECTIVE; k++)
				;
			r = job->list.items[g->ranks[k]];
			cell = vpa_group_cell(g, row, k);
			vpt_sat_add_to(&ns[vpa_rank_key(r, cell)->kind],
				vpa_rank_end_ns(r, cell) - vpa_rank_start_ns(r, cell));
		}
		for (k = 0; k < VPA_COLLECTIVE_KINDS; k++)
			if (ns[k] > ns[job->groups[i].kind])
				job->groups[i].kind = (enum vpa_collective_kind)k;
	}
	return VPT_OK;
}

/* ---- rank by rank ---- */

struct details {
	struct vpa_job *job;
	struct vpa_job_waits *waits; /* NULL: they are known */
	struct vpa_joint *joint;     /* NULL: nothing is replayed */
	int with_paces;
	size_t at_once;
	struct detail_thread {
		struct vpa_unfolded unfolded;
		struct vpt_err err;
	} * threads;
};

struct taking {
	const struct details *of;
	unsigned thread;
};

static int take_stretches(void *ctx, const struct vpa_rank_detail *d, size_t first, size_t count)
{
	const struct taking *t = ctx;

	vpa_job_waits_take_stretches(t->of->waits, t->thread, d, first, count);
	if (t->of->joint)
		vpa_joint_take_stretches(t->of->joint, t->thread, d, first, count);
	return VPT_OK;
}

static int unfold(const struct details *d, unsigned thread, size_t rank, int can_take_stretches)
{
	const struct vpa_rank *r = d->job->list.items[rank];
	struct taking taking = {d, thread};
	const struct vpa_stretch_taker taker = {take_stretches, &taking};
	struct detail_thread *t = &d->threads[thread];
	int rc;

	t->unfolded.without_paces = !d->with_paces;
	t->unfolded.taker = can_take_stretches ? &taker : NULL;
	rc = vpa_rank_unfold(r, &t->unfolded, &t->err);
	if (rc) {
		vpt_err_at(&t->err, r->capture ? r->capture : "a rank");
		return rc;
	}
	if (can_take_stretches)
		return VPT_OK;
	if (d->waits)
		vpa_job_waits_take(d->waits, thread, rank, &t->unfolded.detail);
	if (d->joint)
		vpa_joint_take(d->joint, thread, rank, &t->unfolded.detail);
	return VPT_OK;
}

static int take_detail(const struct details *d, unsigned thread, size_t rank)
{
	int can_take_stretches = 0, rc = VPT_OK;

	if (d->waits)
		rc = vpa_job_waits_begin_rank(d->waits, thread, rank, &can_take_stretches);
	if (!rc && d->joint)
		rc = vpa_joint_begin_rank(d->joint, thread, rank);
	if (!rc)
		rc = unfold(d, thread, rank, can_take_stretches);
	return rc || !d->joint ? rc
			       : vpa_joint_end_rank(d->joint, thread, rank,
					 &d->threads[thread].unfolded.detail);
}

/* Ranks that one thread takes one after the other: those of a machine mostly, which share rows. */
static size_t ranks_at_once(const struct vpa_job *job, unsigned threads)
{
	size_t share = job->rank_count / threads / 8;

	return share < 1 ? 1 : share < 8 ? share : 8;
}

static int take_some(void *ctx, unsigned thread, size_t task)
{
	const struct details *d = ctx;
	size_t rank = task * d->at_once, left = d->job->rank_count - rank;
	size_t end = rank + (left < d->at_once ? left : d->at_once);
	int rc = VPT_OK;

	for (; rank < end && !rc; rank++)
		rc = take_detail(d, thread, rank);
	return rc;
}

/* What is asked about takes all of each rank's detail, and the waits are known by then. */
static int take_details(struct vpa_job *job, struct vpa_job_waits *waits, struct vpa_joint *joint,
	unsigned threads, struct vpt_err *err)
{
	struct detail_thread rooms[VPA_RANK_THREADS_MOST] = {{.err = {.code = 0}}};
	struct details d = {.job = job,
		.waits = waits,
		.joint = joint,
		.with_paces = !waits && vpa_job_asks_for_paces(job),
		.threads = rooms,
		.at_once = ranks_at_once(job, threads)};
	unsigned i;
	int rc = vpa_in_threads(
		threads, (job->rank_count + d.at_once - 1) / d.at_once, take_some, &d);

	for (i = 0; i < threads; i++) {
		if (rc && d.threads[i].err.code == rc && err)
			*err = d.threads[i].err;
		vpa_unfolded_free(&d.threads[i].unfolded);
	}
	return rc;
}

static int replay_asked(
	struct vpa_job *job, struct vpa_joint *joint, unsigned threads, struct vpt_err *err)
{
	int rc = vpa_joint_begin_asked(joint, job->row_table);

	if (!rc)
		rc = take_details(job, NULL, joint, threads, err);
	return rc ? rc : vpa_joint_end(joint, err);
}

static int find_waits(struct vpa_job *job, struct vpt_err *err)
{
	struct vpa_job_rows *rows = vpt_calloc(1, sizeof(*rows));
	struct vpa_job_waits *waits = NULL;
	struct vpa_joint *joint = NULL;
	unsigned threads = vpa_rank_threads(&job->list);
	int rc = rows ? vpa_job_rows_find(job, threads, rows) : VPT_ENOMEM;

	job->row_table = rows;
	if (!rc)
		rc = vpa_job_waits_begin(job, rows, threads, &waits);
	if (!rc)
		find_start(job);
	if (!rc)
		rc = vpa_joint_begin(job, rows, threads, &joint);
	if (!rc)
		rc = take_details(job, waits, joint, threads, err);
	if (!rc)
		rc = vpa_job_waits_end(waits);
	if (!rc && joint)
		rc = vpa_joint_end(joint, err);
	vpa_job_waits_free(waits);
	if (!rc && joint && job->asked_count)
		rc = replay_asked(job, joint, threads, err);
	vpa_joint_free(joint);
	if (!rc) {
		struct vpa_late_ranks late = vpa_late_ranks_of(job);

		job->late_ranks = vpa_late_numbers(&job->arena, job, &late);
	}
	return rc;
}

static int fold(struct vpa_job *job)
{
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < job->list.count && !rc; i++)
		rc = vpa_rank_fold(job->list.items[i]);
	return rc;
}

static int by_sentence(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Of ranks and of files that could not be read: whoever read them, in whatever order. */
static int sort_list(struct vpa_rank_list *list)
{
	int rc = vpa_sort(list->items, list->count, sizeof(struct vpa_rank *), by_identity);

	return rc ? rc
		  : vpa_sort(list->unread, list->unread_count, sizeof(*list->unread), by_sentence);
}

static int make(struct vpa_job *job, struct vpt_err *err)
{
	int rc = sort_list(&job->list);

	if (!rc)
		rc = drop_duplicates(job);
	if (!rc)
		rc = number_ranks(job);
	if (!rc)
		rc = find_missing(job);
	if (!rc)
		rc = find_apart(job);
	if (!rc)
		rc = tell_machines(job);
	if (!rc)
		rc = vpa_match(&job->list, &job->matching);
	if (!rc)
		rc = vpa_clocks_find(&job->list, &job->matching, &job->clocks);
	if (rc)
		return rc;
	find_lacking(job);
	vpa_cut_ranks_find(job);
	describe(job);
	find_unit(job);
	rc = vpa_late_start_find(job);
	if (rc)
		return rc;
	rc = vpa_job_check_asked(job, err);
	if (!rc)
		rc = describe_groups(job);
	if (!rc)
		rc = vpa_setup_differences_find(job);
	if (!rc)
		rc = fold(job);
	return rc ? rc : find_waits(job, err);
}

int vpa_job_new(struct vpa_rank_list *ranks, struct vpa_job **out, struct vpt_err *err)
{
	return vpa_job_new_asked(ranks, NULL, 0, out, err);
}

/* A job; `least`: it needs that many ranks. */
static int new_job(struct vpa_rank_list *ranks, size_t least, const struct vpa_job_change *asked,
	size_t asked_count, struct vpa_job **out, struct vpt_err *err)
{
	struct vpa_job *job = vpt_calloc(1, sizeof(*job));
	int rc;

	*out = NULL;
	if (!job) {
		vpa_rank_list_free(ranks);
		return vpt_fail(err, VPT_ENOMEM, "no memory for a job");
	}
	job->list = *ranks;
	job->asked = asked;
	job->asked_count = asked_count;
	*ranks = (struct vpa_rank_list){0};
	rc = job->list.count ? make(job, err) : VPT_OK;
	if (rc || job->arena.failed) {
		vpa_job_free(job);
		return rc == VPT_EDATA || rc == VPT_EIO || rc == VPT_EINVAL
			       ? rc
			       : vpt_fail(err, VPT_ENOMEM, "no memory for a job");
	}
	if (job->rank_count < least) {
		size_t count = job->rank_count;

		vpa_job_free(job);
		return vpt_fail(err, VPT_EINVAL,
			"expected two ranks or more, found %zu: give the captures of all ranks",
			count);
	}
	*out = job;
	return VPT_OK;
}

int vpa_job_new_asked(struct vpa_rank_list *ranks, const struct vpa_job_change *asked,
	size_t asked_count, struct vpa_job **out, struct vpt_err *err)
{
	return new_job(ranks, 2, asked, asked_count, out, err);
}

int vpa_job_new_alone(struct vpa_rank_list *ranks, struct vpa_job **out, struct vpt_err *err)
{
	return new_job(ranks, 1, NULL, 0, out, err);
}

void vpa_job_free(struct vpa_job *job)
{
	if (!job)
		return;
	vpa_matching_free(&job->matching);
	vpa_clocks_free(&job->clocks);
	vpa_rank_list_free(&job->list);
	vpa_job_drop_rows(job);
	vpt_free(job->ranks);
	vpt_free(job->differences);
	vpt_free(job->patterns);
	vpa_arena_free(&job->arena);
	vpt_free(job);
}
