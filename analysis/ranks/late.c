/* late.c - by blame, not by how often a rank comes last, and by what the replay says of it. */
#include "analysis/ranks/late.h"

#include "analysis/base/sort.h"
#include "analysis/names/families.h"
#include "analysis/report/causes.h"
#include "formats/base/saturate.h"
#include "formats/event_schema.h"

#include <stdlib.h>

enum {
	IN_STEP = 50,     /* waits of less than 1 / this of the time */
	MOST_PERCENT = 75 /* of the blame: what the late ranks have together */
};

/* The most to blame of those that are not in `out` yet. */
static size_t next_of(const struct vpa_job *job, const struct vpa_late *out)
{
	size_t best = job->rank_count, i, k;

	for (i = 0; i < job->rank_count; i++) {
		for (k = 0; k < out->rank_count && out->ranks[k] != i; k++)
			;
		if (k == out->rank_count &&
			(best == job->rank_count ||
				job->ranks[i].blame_ns > job->ranks[best].blame_ns))
			best = i;
	}
	return best;
}

static void find_ranks(const struct vpa_job *job, struct vpa_late *out)
{
	const size_t room = sizeof(out->ranks) / sizeof(out->ranks[0]);
	size_t most = job->rank_count / 2 < room ? job->rank_count / 2 : room;

	while (out->rank_count < most && out->share_ns / MOST_PERCENT < job->blame_ns / 100) {
		size_t i = next_of(job, out);

		out->ranks[out->rank_count++] = i;
		vpt_sat_add_to(&out->share_ns, job->ranks[i].blame_ns);
	}
	if (out->share_ns / MOST_PERCENT < job->blame_ns / 100) {
		out->kind = VPA_LATE_ALL;
		out->rank_count = 0;
		out->share_ns = job->blame_ns;
	} else {
		out->kind = out->rank_count == 1 ? VPA_LATE_ONE : VPA_LATE_SEVERAL;
	}
}

static void take_ranks(const struct vpa_job *job, const struct vpa_job_fix *f, struct vpa_late *out)
{
	size_t i;

	out->kind = f->member_count == 1 ? VPA_LATE_ONE : VPA_LATE_SEVERAL;
	out->share_ns = 0;
	out->rank_count = f->member_count;
	for (i = 0; i < f->member_count; i++) {
		out->ranks[i] = f->members[i];
		vpt_sat_add_to(&out->share_ns, job->ranks[f->members[i]].blame_ns);
	}
}

/* Where the late rank alone brings little, since another one would be late in its place, both are; where it alone brings as
 * much, only it is. */
static void ask_replay(const struct vpa_job *job, struct vpa_late *out)
{
	const struct vpa_job_fix *alone = NULL, *together = NULL;
	size_t i;

	for (i = 0; i < job->fix_count; i++) {
		const struct vpa_job_fix *f = &job->fixes[i];

		if (f->kind != VPA_FIX_LIKE_MEDIAN || !out->rank_count ||
			f->members[0] != out->ranks[0])
			continue;
		if (f->member_count == 1)
			alone = f;
		else
			together = f;
	}
	if (!alone || !together)
		return;
	if (together->share >= 2 * alone->share)
		take_ranks(job, together, out);
	else if (together->share <= 1.1 * alone->share)
		take_ranks(job, alone, out);
}

static void find_class(const struct vpa_job *job, struct vpa_late *out)
{
	const struct vpa_job_rank *first = out->rank_count ? &job->ranks[out->ranks[0]] : NULL;
	const struct vpa_job_part *parts = first ? first->parts : job->parts;
	size_t count = first ? first->part_count : job->part_count, i;
	int64_t sums[VPA_LATE_CLASSES] = {0};

	for (i = 0; i < count; i++)
		sums[parts[i].klass] = vpt_sat_add_i64(sums[parts[i].klass], parts[i].ns);
	for (i = 0; i < VPA_LATE_CLASSES; i++)
		if (sums[i] > sums[out->klass])
			out->klass = (enum vpa_late_class)i;
	for (i = 0; i < count && !out->part; i++)
		if (parts[i].klass == out->klass)
			out->part = &parts[i];
}

struct vpa_late vpa_job_late(const struct vpa_job *job)
{
	struct vpa_late out = {.kind = VPA_LATE_NONE};
	uint64_t time_ns = 0;
	size_t i;

	for (i = 0; i < job->rank_count; i++)
		vpt_sat_add_to(
			&time_ns, job->ranks[i].rank->last_ns - job->ranks[i].rank->first_ns);
	if (!job->blame_ns || job->wait_ns < time_ns / IN_STEP)
		return out;
	find_ranks(job, &out);
	ask_replay(job, &out);
	find_class(job, &out);
	return out;
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
