/* job_asked.c - whether a job has what the user asks about. */
#include "analysis/ranks/job_parts.h"

#include <inttypes.h>

static int has_number(const struct vpa_job *job, int64_t number)
{
	size_t r;

	for (r = 0; r < job->rank_count && job->ranks[r].number != number; r++)
		;
	return r < job->rank_count;
}

/* Another change than `of`, which makes ranks like the median, of one of its ranks; NULL: none. */
static const struct vpa_job_change *other_of(
	const struct vpa_job *job, const struct vpa_job_change *of)
{
	size_t i, k;

	for (i = 0; i < job->asked_count; i++) {
		const struct vpa_job_change *a = &job->asked[i];

		if (!vpa_job_change_is_of_parts(a))
			continue;
		if (!a->rank_count || !of->rank_count)
			return a;
		for (k = 0; k < of->rank_count; k++)
			if (vpa_job_change_is_of(a, of->ranks[k]))
				return a;
	}
	return NULL;
}

int vpa_job_check_asked(struct vpa_job *job, struct vpt_err *err)
{
	size_t i, k;

	for (i = 0; i < job->asked_count; i++) {
		const struct vpa_job_change *a = &job->asked[i];
		const struct vpa_job_change *other = a->is_like_median ? other_of(job, a) : NULL;

		for (k = 0; k < a->rank_count; k++)
			if (!has_number(job, a->ranks[k]))
				return vpt_fail(err, VPT_EINVAL,
					"--change \"%s\": there is no rank %" PRId64, a->text,
					a->ranks[k]);
		if (other)
			return vpt_fail(err, VPT_EINVAL,
				"--change \"%s\": \"%s\" is of a rank of it too, and the median is "
				"that "
				"of ranks without changes: ask for one at a time",
				a->text, other->text);
		job->asked_text = vpa_arena_printf(&job->arena, "%s%s%s",
			job->asked_text ? job->asked_text : "", i ? "; " : "", a->text);
	}
	return VPT_OK;
}

int vpa_job_asks_for_paces(const struct vpa_job *job)
{
	size_t i;

	for (i = 0; i < job->asked_count && !vpa_job_change_is_of_parts(&job->asked[i]); i++)
		;
	return i < job->asked_count;
}
