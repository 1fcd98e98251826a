/* late_ranks.c - by blame, not by how often a rank comes last, and by what the replay says of it. */
#include "analysis/ranks/late_ranks.h"

#include "analysis/base/sort.h"
#include "analysis/names/families.h"
#include "analysis/ranks/job_rows.h"
#include "analysis/ranks/number_list.h"
#include "analysis/report/rows/causes.h"
#include "formats/base/saturate.h"
#include "formats/event_schema.h"

#include <stdlib.h>

enum {
	IN_STEP = 50,      /* waits of less than 1 / this of the time */
	MOST_PERCENT = 75, /* of the blame: what the late ranks have together */
	CUT_LEAST =
		20, /* of a capture that ends early: what is known of less than 1 / this of the time counts as of that */
	EQUAL = 10  /* as late are ranks apart by 1 / this of what the others wait */
};

/* What a rank itself is to blame for: not what it was later by since it waited for others elsewhere, or left the collective before
 * later. */
static uint64_t own_blame(const struct vpa_job_rank *r, int with_start)
{
	int64_t ns = 0;
	size_t i;

	for (i = 0; i < r->part_count; i++)
		if (r->parts[i].klass != VPA_LATE_COMM && r->parts[i].klass != VPA_LATE_ENDED &&
			r->parts[i].klass != VPA_LATE_CLOCK &&
			(with_start || r->parts[i].klass != VPA_LATE_BEGAN))
			ns = vpt_sat_add_i64(ns, r->parts[i].ns);
	return ns > 0 ? (uint64_t)ns : 0;
}

static uint64_t all_blame(const struct vpa_job_rank *r, int with_start)
{
	return with_start ? r->blame_ns : r->blame_ns - r->start_blame_ns;
}

/* After a capture has ended, nobody is seen to wait for its rank: ranks are compared by what others wait while they are there. */
static uint64_t as_if_whole(const struct vpa_job_rank *r, uint64_t ns)
{
	uint64_t span_ns = r->rank->last_ns - r->rank->first_ns;
	uint64_t all_ns = vpt_sat_add(span_ns, r->cut_ns);

	/* Of a shorter piece not much is known. */
	if (span_ns < all_ns / CUT_LEAST)
		span_ns = all_ns / CUT_LEAST;
	return span_ns ? vpt_sat_scale(ns, all_ns, span_ns) : ns;
}

/* That; a start is once. */
static uint64_t blame_of(const struct vpa_job_rank *r, int is_own, int with_start)
{
	uint64_t ns = is_own ? own_blame(r, 0) : all_blame(r, 0);
	uint64_t with_ns = is_own ? own_blame(r, 1) : all_blame(r, 1);

	return vpt_sat_add(as_if_whole(r, ns), with_start ? vpt_sat_sub(with_ns, ns) : 0);
}

uint64_t vpa_late_loss(const struct vpa_job *job, const struct vpa_late_ranks *late)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < late->rank_count; i++)
		vpt_sat_add_to(&sum, blame_of(&job->ranks[late->ranks[i]], 0, late->with_start));
	return late->rank_count < job->rank_count ? sum / (job->rank_count - late->rank_count) : 0;
}

int vpa_is_late(const struct vpa_late_ranks *out, size_t rank)
{
	size_t k;

	for (k = 0; k < out->rank_count && out->ranks[k] != rank; k++)
		;
	return k < out->rank_count;
}

/* Whether a rank may be late: of one whose capture ends early not all is known, so it is named only where most of the blame is
 * of such ranks. */
static int may_be_late(const struct vpa_late_ranks *out, const struct vpa_job_rank *r)
{
	return out->with_cut || !r->cut_ns;
}

/* The most to blame of those that are not in `out` yet. */
static size_t next_of(const struct vpa_job *job, int is_own, const struct vpa_late_ranks *out)
{
	size_t best = job->rank_count, i;

	for (i = 0; i < job->rank_count; i++)
		if (!vpa_is_late(out, i) && may_be_late(out, &job->ranks[i]) &&
			(best == job->rank_count ||
				blame_of(&job->ranks[i], is_own, out->with_start) >
					blame_of(&job->ranks[best], is_own, out->with_start)))
			best = i;
	return best;
}

static int most_is_of_cut(const struct vpa_job *job, int with_start)
{
	uint64_t cut_ns = 0, all_ns = 0;
	size_t i;

	for (i = 0; i < job->rank_count; i++) {
		uint64_t ns = blame_of(&job->ranks[i], 0, with_start);

		vpt_sat_add_to(&all_ns, ns);
		vpt_sat_add_to(&cut_ns, job->ranks[i].cut_ns ? ns : 0);
	}
	return cut_ns > all_ns / 2;
}

/* By what ranks themselves are to blame for, where that is a fair part of it. */
static void find_ranks(const struct vpa_job *job, struct vpa_late_ranks *out)
{
	const size_t room = sizeof(out->ranks) / sizeof(out->ranks[0]);
	size_t most = job->rank_count / 2 < room ? job->rank_count / 2 : room, i;
	uint64_t own_ns = 0, all_ns = 0, found_ns = 0;
	int is_own;

	out->with_cut = most_is_of_cut(job, out->with_start);
	for (i = 0; i < job->rank_count; i++) {
		if (!may_be_late(out, &job->ranks[i]))
			continue;
		vpt_sat_add_to(&own_ns, blame_of(&job->ranks[i], 1, out->with_start));
		vpt_sat_add_to(&all_ns, blame_of(&job->ranks[i], 0, out->with_start));
	}
	is_own = own_ns >= all_ns / 4;
	all_ns = is_own ? own_ns : all_ns;
	while (out->rank_count < most && found_ns / MOST_PERCENT < all_ns / 100) {
		i = next_of(job, is_own, out);
		if (i == job->rank_count)
			break;
		out->ranks[out->rank_count++] = i;
		vpt_sat_add_to(&found_ns, blame_of(&job->ranks[i], is_own, out->with_start));
		vpt_sat_add_to(&out->share_ns, all_blame(&job->ranks[i], out->with_start));
	}
	if (found_ns / MOST_PERCENT < all_ns / 100) {
		out->kind = VPA_LATE_ALL;
		out->rank_count = 0;
		out->share_ns = job->blame_ns;
	} else {
		out->kind = out->rank_count == 1 ? VPA_LATE_ONE : VPA_LATE_SEVERAL;
	}
}

/* ---- without a replay ---- */

/* How far rank i is from the first late one when they come to the same collectives, the mean; INT64_MAX: most of that one's are
 * without rank i. */
static int64_t apart_ns(const struct vpa_job *job, const struct vpa_late_ranks *out, size_t i)
{
	uint64_t sum_ns = 0, count = 0;
	size_t g, row;

	for (g = 0; g < job->matching.group_count; g++) {
		const struct vpa_group *group = &job->matching.groups[g];
		size_t first = vpa_group_member(group, out->ranks[0]),
		       other = vpa_group_member(group, i);

		for (row = 0; first < group->rank_count && other < group->rank_count &&
			      row < group->row_count;
			row++) {
			int64_t first_ns, other_ns, end_ns;

			if (!vpa_member_times(job, group, row, first, &first_ns, &end_ns) ||
				!vpa_member_times(job, group, row, other, &other_ns, &end_ns))
				continue;
			vpt_sat_add_to(&sum_ns, first_ns > other_ns
							? (uint64_t)first_ns - (uint64_t)other_ns
							: (uint64_t)other_ns - (uint64_t)first_ns);
			count++;
		}
	}
	return count && count >= job->ranks[out->ranks[0]].matched / 2 ? (int64_t)(sum_ns / count)
								       : INT64_MAX;
}

/* Ranks that come with the first late one, to which all blame goes: they are as far from it as a tenth of what a rank waits in a
 * collective, or less. Where that is most of the ranks, what is said of the first one is all that is known. */
static void add_equals(const struct vpa_job *job, struct vpa_late_ranks *out)
{
	const size_t room = sizeof(out->ranks) / sizeof(out->ranks[0]);
	const struct vpa_job_rank *first = &job->ranks[out->ranks[0]];
	size_t most = job->rank_count / 2, found = out->rank_count, i;
	uint64_t usual_ns = first->blame_ns / (job->rank_count - 1);
	struct vpa_late_ranks more = *out;

	if (!first->matched)
		return;
	for (i = 0; i < job->rank_count && found <= most; i++) {
		if (vpa_is_late(out, i) || !may_be_late(out, &job->ranks[i]) ||
			job->ranks[i].wait_ns > usual_ns / EQUAL ||
			apart_ns(job, out, i) > (int64_t)(usual_ns / first->matched / EQUAL))
			continue;
		if (found++ < room)
			more.ranks[more.rank_count++] = i;
	}
	if (found > most || more.rank_count == out->rank_count)
		return;
	more.kind = VPA_LATE_SEVERAL;
	*out = more;
}

/* ---- with it ---- */

static void take_ranks(
	const struct vpa_job *job, const struct vpa_job_fix *f, struct vpa_late_ranks *out)
{
	size_t i;

	out->kind = f->member_count == 1 ? VPA_LATE_ONE : VPA_LATE_SEVERAL;
	out->share_ns = 0;
	out->rank_count = f->member_count;
	for (i = 0; i < f->member_count; i++) {
		out->ranks[i] = f->members[i];
		vpt_sat_add_to(
			&out->share_ns, all_blame(&job->ranks[f->members[i]], out->with_start));
	}
}

void vpa_late_fixes(const struct vpa_job *job, const struct vpa_job_fix **alone,
	const struct vpa_job_fix **together)
{
	size_t i;

	*alone = *together = NULL;
	for (i = 0; i < job->fix_count; i++) {
		const struct vpa_job_fix *f = &job->fixes[i];

		if (f->kind != VPA_FIX_LIKE_MEDIAN || !f->member_count)
			continue;
		if (f->member_count > 1)
			*together = f;
		else if (!*alone || f->share > (*alone)->share)
			*alone = f;
	}
}

/* Where a late rank alone brings little, since another one would be late in its place, both are; where one alone brings as much as
 * all of them, only it is. */
static void ask_replay(const struct vpa_job *job, struct vpa_late_ranks *out)
{
	const struct vpa_job_fix *alone, *together;

	vpa_late_fixes(job, &alone, &together);
	if (!alone || !together || !out->rank_count || together->share <= 0)
		return;
	if (together->share <= 1.1 * alone->share)
		take_ranks(job, alone, out);
	else if (together->share >= 2 * alone->share)
		take_ranks(job, together, out);
}

static void find_class(const struct vpa_job *job, struct vpa_late_ranks *out)
{
	const struct vpa_job_rank *first = out->rank_count ? &job->ranks[out->ranks[0]] : NULL;
	const struct vpa_job_part *parts = first ? first->parts : job->parts;
	size_t count = first ? first->part_count : job->part_count, i;
	int64_t sums[VPA_LATE_CLASSES] = {0};

	for (i = 0; i < count; i++)
		if (out->with_start || parts[i].klass != VPA_LATE_BEGAN)
			sums[parts[i].klass] = vpt_sat_add_i64(sums[parts[i].klass], parts[i].ns);
	for (i = 0; i < VPA_LATE_CLASSES; i++)
		if (sums[i] > sums[out->klass])
			out->klass = (enum vpa_late_class)i;
	for (i = 0; i < count && !out->part; i++)
		if (parts[i].klass == out->klass)
			out->part = &parts[i];
}

/* The first collective of a group with a rank: whoever came to it with that rank began as late. What made one of them late made
 * the others wait for it before, where no kernel shows it: in the set-up of a communicator. */
static void add_together(
	const struct vpa_job *job, const struct vpa_group *g, struct vpa_late_ranks *out)
{
	const size_t room = sizeof(out->ranks) / sizeof(out->ranks[0]);
	int64_t late_ns = INT64_MAX, start_ns, end_ns;
	size_t k;

	for (k = 0; k < g->rank_count; k++)
		if (g->ranks[k] == out->ranks[0] &&
			vpa_member_times(job, g, 0, k, &start_ns, &end_ns))
			late_ns = start_ns;
	for (k = 0; k < g->rank_count && out->rank_count < room; k++)
		if (g->ranks[k] != out->ranks[0] && late_ns != INT64_MAX &&
			vpa_member_times(job, g, 0, k, &start_ns, &end_ns) &&
			start_ns + (int64_t)job->uncertainty_ns >= late_ns &&
			!vpa_is_late(out, g->ranks[k])) {
			out->ranks[out->rank_count++] = g->ranks[k];
			out->kind = VPA_LATE_SEVERAL;
		}
}

static void find_together(const struct vpa_job *job, struct vpa_late_ranks *out)
{
	size_t g, best = 0;

	if (out->klass != VPA_LATE_BEGAN || out->rank_count != 1)
		return;
	for (g = 1; g < job->matching.group_count; g++)
		if (job->matching.groups[g].rank_count > job->matching.groups[best].rank_count)
			best = g;
	add_together(job, &job->matching.groups[best], out);
	if (out->rank_count > job->rank_count / 2) {
		out->rank_count = 1;
		out->kind = VPA_LATE_ONE;
	}
}

struct vpa_late_ranks vpa_late_ranks_of(const struct vpa_job *job)
{
	struct vpa_late_ranks out = {.kind = VPA_LATE_NONE};
	uint64_t time_ns = 0, wait_ns = 0, start_ns = vpa_job_start_wait(job);
	size_t i;

	for (i = 0; i < job->rank_count; i++) {
		const struct vpa_job_rank *r = &job->ranks[i];

		vpt_sat_add_to(&time_ns, r->rank->last_ns - r->rank->first_ns);
		vpt_sat_add_to(&time_ns, r->cut_ns);
		vpt_sat_add_to(&wait_ns, blame_of(r, 0, 1));
	}
	if (!job->blame_ns || wait_ns < time_ns / IN_STEP)
		return out;
	out.with_start = !start_ns ||
			 vpt_sat_sub(wait_ns, start_ns) < vpt_sat_sub(time_ns, start_ns) / IN_STEP;
	find_ranks(job, &out);
	/* Of a start the replay knows nothing. */
	if (job->is_replayed && !out.with_cut && !(start_ns && out.with_start))
		ask_replay(job, &out);
	else if (!job->is_replayed && out.rank_count)
		add_equals(job, &out);
	find_class(job, &out);
	find_together(job, &out);
	return out;
}

const char *vpa_late_numbers(
	struct vpa_arena *arena, const struct vpa_job *job, const struct vpa_late_ranks *late)
{
	int64_t numbers[sizeof(late->ranks) / sizeof(late->ranks[0])];
	size_t i;

	for (i = 0; i < late->rank_count; i++)
		numbers[i] = job->ranks[late->ranks[i]].number;
	qsort(numbers, late->rank_count, sizeof(*numbers), vpa_by_i64);
	return late->rank_count ? vpa_number_list(arena, numbers, late->rank_count) : NULL;
}

static const char *copy_words(unsigned kind)
{
	const char *word = vpt_word(VPT_UNIT_COPY_KIND, kind);

	return word ? word : "copies";
}

const char *vpa_job_part_words(const struct vpa_job_part *part)
{
	switch (part->klass) {
	case VPA_LATE_COMPUTE:
		return vpa_family_name((enum vpa_family)part->kind);
	case VPA_LATE_COPY:
		return copy_words(part->kind);
	case VPA_LATE_IDLE:
		return part->kind ? vpa_cause_words((enum vpa_cause)part->kind)
				  : "idle, not recorded why";
	default:
		return vpa_late_words(part->klass);
	}
}
