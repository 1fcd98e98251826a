/* ranks_words.c - what the text and the page of a job both say. */
#include "analysis/ranks/render/ranks_pages.h"

const char *vpa_ranks_unit_words(const struct vpa_job *job)
{
	static const char *const words[VPA_UNIT_KINDS] = {
		[VPA_UNIT_BLOCK] = "a block",
		[VPA_UNIT_REQUEST] = "a request",
		[VPA_UNIT_STEP] = "a step",
		[VPA_UNIT_ITERATION] = "an iteration",
		[VPA_UNIT_INFERRED] = "an inferred step",
		[VPA_UNIT_INSTANCE] = "an instance",
		[VPA_UNIT_WINDOW] = "from the first op to the last",
	};

	return words[job->unit];
}

/* What the user asks about comes first, then what late ranks bring, also if it is little: those are answers too. */
size_t vpa_ranks_fixes(const struct vpa_job *job, const struct vpa_late *late,
	const struct vpa_job_fix *out[VPA_FIXES_MOST])
{
	size_t count = 0, asked, i;
	int pass;

	for (i = 0; i < job->fix_count; i++)
		if (job->fixes[i].kind == VPA_FIX_ASKED)
			out[count++] = &job->fixes[i];
	asked = count;
	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < job->fix_count; i++) {
			const struct vpa_job_fix *f = &job->fixes[i];
			int is_of_late = late->rank_count && f->member_count;

			if (f->kind != VPA_FIX_ASKED && is_of_late == !pass &&
				(f->share >= 0.01 || (is_of_late && count == asked)))
				out[count++] = f;
		}
	return count;
}

struct vpa_words vpa_ranks_fix_words(const struct vpa_job *job, const struct vpa_job_fix *f)
{
	struct vpa_words w = {.used = 0};

	if (f->kind == VPA_FIX_ASKED)
		vpa_words_add(&w, "", "%s%s", job->asked_text,
			!job->asked_ns && f->share < 0.0001 ? " (no rank has such time)"
			: job->asked_is_bound               ? " (at most: an older summary)"
							    : "");
	else if (f->kind == VPA_FIX_HOST_CODE)
		vpa_words_add(&w, "", "no GPU waits for its host, on any rank");
	else
		vpa_words_add(&w, "", "rank%s %s like the median of the others",
			vpa_plural(f->member_count), f->ranks);
	return w;
}

const char *vpa_scaling_words(enum vpa_scaling_part part)
{
	static const char *const words[VPA_SCALING_PARTS] = {
		[VPA_SCALING_TRANSFERS] = "communication",
		[VPA_SCALING_WAITS] = "waiting for other ranks",
		[VPA_SCALING_HOST] = "host work that does not divide",
		[VPA_SCALING_IDLE] = "other idle time",
		[VPA_SCALING_COPIES] = "copies",
		[VPA_SCALING_COMPUTE] = "compute that does not shrink",
	};

	return words[part];
}
