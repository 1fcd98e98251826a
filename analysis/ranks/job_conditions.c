/* job_conditions.c - a figure, < or >, and percent. */
#include "analysis/ranks/job_conditions.h"

#include "analysis/base/numbers.h"
#include "formats/base/saturate.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {[VPA_JOB_EFFICIENCY] = "efficiency", [VPA_JOB_WAITS] = "waits"};

enum { FIGURES = sizeof(names) / sizeof(names[0]) };

int vpa_percent_read(const char *text, double *share)
{
	const char *end = vpa_decimal_read(text, share);

	*share /= 100;
	return end && !strcmp(end, "%");
}

int vpa_job_condition_read(const char *text, struct vpa_job_condition *out, struct vpt_err *err)
{
	int is_one = 0;
	size_t i, len = strcspn(text, "<>");

	for (i = 0; i < FIGURES && (strlen(names[i]) != len || strncmp(text, names[i], len) != 0);)
		i++;
	if (i < FIGURES && text[len]) {
		*out = (struct vpa_job_condition){
			.text = text, .figure = (enum vpa_job_figure)i, .relation = text[len]};
		is_one = vpa_percent_read(text + len + 1, &out->share);
	}
	if (is_one)
		return VPT_OK;
	return vpt_fail(err, VPT_EINVAL,
		"--fail-if: expected efficiency or waits, < or >, and percent, such as "
		"efficiency<80%%, found \"%.60s\"",
		text);
}

double vpa_job_wait_share(const struct vpa_job *job)
{
	double start_ns = (double)vpa_job_start_wait(job), time_ns = -start_ns;
	size_t i;

	for (i = 0; i < job->rank_count; i++)
		time_ns += (double)(job->ranks[i].rank->last_ns - job->ranks[i].rank->first_ns);
	return time_ns > 0 ? ((double)job->wait_ns - start_ns) / time_ns : 0;
}

int vpa_job_condition_holds(const struct vpa_job_condition *c, const struct vpa_job *job,
	int *holds, char what[160], struct vpt_err *err)
{
	double share;

	*holds = 0;
	if (c->figure == VPA_JOB_EFFICIENCY && !job->scaling)
		return vpt_fail(err, VPT_EINVAL,
			"--fail-if %.60s: the efficiency needs --base, the capture of one rank",
			c->text);
	share = c->figure == VPA_JOB_EFFICIENCY ? job->scaling->efficiency
						: vpa_job_wait_share(job);
	*holds = c->relation == '<' ? share < c->share : share > c->share;
	snprintf(what, 160, "%s %.1f %%", names[c->figure], 100 * share);
	return VPT_OK;
}
