/* patterns.c - asks each finder, and puts what they found in order. */
#include "analysis/ranks/patterns/patterns.h"

#include "analysis/base/sort.h"
#include "analysis/ranks/number_list.h"
#include "formats/base/memory.h"

#include <stdlib.h>

static int (*const finders[])(struct vpa_job *job, const struct vpa_job_rows *rows) = {
	vpa_find_turns,
	vpa_find_truncated,
	vpa_find_slow_links,
	vpa_find_late_peers,
	vpa_find_shared_attention,
	vpa_find_guidance_pairs,
	vpa_find_pipelines,
	vpa_find_lockstep,
};

int vpa_pattern_put(struct vpa_job *job, struct vpa_job_pattern pattern)
{
	if (vpt_grow(&job->patterns, &job->pattern_cap, job->pattern_count + 1,
		    sizeof(*job->patterns)))
		return VPT_ENOMEM;
	job->patterns[job->pattern_count++] = pattern;
	return VPT_OK;
}

const char *vpa_pattern_ranks(struct vpa_job *job, const size_t *ranks, size_t count)
{
	int64_t *numbers = vpt_alloc(count + 1, sizeof(*numbers));
	const char *text;
	size_t i;

	if (!numbers)
		return NULL;
	for (i = 0; i < count; i++)
		numbers[i] = job->ranks[ranks[i]].number;
	qsort(numbers, count, sizeof(*numbers), vpa_by_i64);
	text = vpa_number_list(&job->arena, numbers, count);
	vpt_free(numbers);
	return text;
}

static int by_kind(const void *a, const void *b)
{
	const struct vpa_job_pattern *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (y->ns > x->ns) - (y->ns < x->ns);
}

int vpa_patterns_find(struct vpa_job *job, struct vpt_err *err)
{
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < sizeof(finders) / sizeof(finders[0]) && !rc; i++)
		rc = finders[i](job, job->row_table);
	if (!rc)
		rc = vpa_sort(job->patterns, job->pattern_count, sizeof(*job->patterns), by_kind);
	vpa_job_drop_rows(job);
	return rc ? vpt_fail(err, rc, "no memory for the patterns of a job") : VPT_OK;
}
