/* job_conditions.c - a figure, < or >, and a number in the figure's unit. */
#include "analysis/ranks/figures/job_conditions.h"

#include "analysis/base/figure_values.h"
#include "analysis/base/numbers.h"
#include "analysis/names/families.h"
#include "formats/base/saturate.h"

#include <stdio.h>
#include <string.h>

static const struct figure {
	const char *name;
	enum vpa_value_kind kind;
} figures[VPA_JOB_FIGURES] = {
	[VPA_JOB_EFFICIENCY] = {"efficiency", VPA_VALUE_SHARE},
	[VPA_JOB_WAITS] = {"waits", VPA_VALUE_SHARE},
	[VPA_JOB_FPS] = {"fps", VPA_VALUE_RATE},
	[VPA_JOB_BPS] = {"bps", VPA_VALUE_RATE},
	[VPA_JOB_STEPS] = {"steps/s", VPA_VALUE_RATE},
	[VPA_JOB_STEP_TIME] = {"s/it", VPA_VALUE_TIME},
	[VPA_JOB_PERIOD] = {"period", VPA_VALUE_TIME},
	[VPA_JOB_BUSY] = {"busy", VPA_VALUE_SHARE},
	[VPA_JOB_IDLE] = {"idle", VPA_VALUE_SHARE},
};

/* ---- reading ---- */

static const char *part_name(enum vpa_job_figure figure, unsigned part)
{
	return figure == VPA_JOB_BUSY ? vpa_family_name((enum vpa_family)part)
				      : vpa_cause_text((enum vpa_cause)part);
}

/* The family or cause of this name. 0: there is none. */
static int read_part(struct vpa_job_condition *c, const char *text, size_t len)
{
	unsigned count = c->figure == VPA_JOB_BUSY ? VPA_FAMILY_COUNT : VPA_CAUSES, i;

	for (i = c->figure == VPA_JOB_BUSY ? 0 : VPA_CAUSE_NOT_IDLE + 1; i < count; i++)
		if (vpa_figure_name_is(text, len, part_name(c->figure, i))) {
			c->part = i;
			c->has_part = 1;
			return 1;
		}
	return 0;
}

int vpa_job_condition_read(const char *text, struct vpa_job_condition *out, struct vpt_err *err)
{
	size_t len = strcspn(text, "<>"), name = strcspn(text, ":"), i;

	name = name < len ? name : len;
	for (i = 0; i < VPA_JOB_FIGURES && !vpa_figure_name_is(text, name, figures[i].name);)
		i++;
	*out = (struct vpa_job_condition){
		.text = text, .figure = (enum vpa_job_figure)i, .relation = text[len]};
	if (i < VPA_JOB_FIGURES && name < len && i != VPA_JOB_BUSY && i != VPA_JOB_IDLE)
		return vpt_fail(err, VPT_EINVAL,
			"--fail-if: \"%.60s\": only busy and idle have parts, as in idle:sync>5%%",
			text);
	if (i < VPA_JOB_FIGURES && name < len && !read_part(out, text + name + 1, len - name - 1))
		return vpt_fail(err, VPT_EINVAL, "--fail-if: \"%.60s\": \"%.*s\" is not %s", text,
			(int)(len - name - 1 < 40 ? len - name - 1 : 40), text + name + 1,
			i == VPA_JOB_BUSY ? "a kernel family" : "a cause of idle time");
	if (i < VPA_JOB_FIGURES && text[len] &&
		vpa_value_read(text + len + 1, figures[i].kind, &out->value))
		return VPT_OK;
	if (i < VPA_JOB_FIGURES && text[len] && figures[i].kind != VPA_VALUE_SHARE)
		return vpt_fail(err, VPT_EINVAL, "--fail-if: expected %s after \"%c\" in \"%.60s\"",
			figures[i].kind == VPA_VALUE_TIME ? "a time such as 750ms"
							  : "a number such as 16",
			text[len], text);
	return vpt_fail(err, VPT_EINVAL,
		"--fail-if: expected efficiency, waits, busy or idle, < or >, and percent, such as "
		"efficiency<80%%, or fps<16, bps<2 or period>750ms, found \"%.60s\"",
		text);
}

/* ---- checking ---- */

double vpa_job_wait_share(const struct vpa_job *job)
{
	double start_ns = (double)vpa_job_start_wait(job), time_ns = -start_ns;
	size_t i;

	for (i = 0; i < job->rank_count; i++)
		time_ns += (double)(job->ranks[i].rank->last_ns - job->ranks[i].rank->first_ns);
	return time_ns > 0 ? ((double)job->wait_ns - start_ns) / time_ns : 0;
}

static int is_counted(const struct vpa_job_condition *c, const struct vpa_part_name *name)
{
	int is_idle = name->klass == VPA_TIME_IDLE;

	if (is_idle != (c->figure == VPA_JOB_IDLE))
		return 0;
	return !c->has_part ||
	       (name->kind == c->part && (is_idle || name->klass == VPA_TIME_COMPUTE));
}

/* Of the time from a rank's first op to its last: the mean. */
static double share_of(const struct vpa_job_condition *c, const struct vpa_job *job)
{
	double part_ns = 0, time_ns = 0;
	size_t i, k;

	for (i = 0; i < job->rank_count; i++) {
		const struct vpa_rank *r = job->ranks[i].rank;

		time_ns += (double)(r->last_ns - r->first_ns);
		for (k = 0; k < r->part_name_count; k++)
			if (is_counted(c, &r->part_names[k]))
				part_ns += (double)r->part_ns[k];
	}
	return time_ns > 0 ? part_ns / time_ns : 0;
}

static int are_steps(const struct vpa_job *job)
{
	return job->unit_ns && (job->unit == VPA_UNIT_STEP || job->unit == VPA_UNIT_INFERRED);
}

/* The figure; below 0: it is not known. */
static double figure_of(const struct vpa_job_condition *c, const struct vpa_job *job)
{
	const struct vpa_job_rates *rates = &job->rates;
	int is_of_job = rates->of == VPA_RATES_OF_JOB || rates->of == VPA_RATES_OF_REPLICAS;

	switch (c->figure) {
	case VPA_JOB_EFFICIENCY:
		return job->scaling ? job->scaling->efficiency : -1;
	case VPA_JOB_WAITS:
		return vpa_job_wait_share(job);
	case VPA_JOB_FPS:
		return is_of_job && rates->fps > 0 ? rates->fps : -1;
	case VPA_JOB_BPS:
		return is_of_job && rates->bps > 0 ? rates->bps : -1;
	case VPA_JOB_STEPS:
		return are_steps(job) ? 1e9 / (double)job->unit_ns : -1;
	case VPA_JOB_STEP_TIME:
		return are_steps(job) ? (double)job->unit_ns : -1;
	case VPA_JOB_PERIOD:
		return job->unit != VPA_UNIT_WINDOW && job->unit_ns ? (double)job->unit_ns : -1;
	default:
		return share_of(c, job);
	}
}

static const char *not_known(const struct vpa_job_condition *c, const struct vpa_job *job)
{
	if (c->figure == VPA_JOB_EFFICIENCY)
		return "the efficiency needs --base, the capture of one rank";
	if (c->figure == VPA_JOB_PERIOD)
		return "the ranks mark no blocks, steps or iterations";
	if (c->figure == VPA_JOB_STEPS || c->figure == VPA_JOB_STEP_TIME)
		return "the ranks do not count in steps";
	if (job->rates.of == VPA_RATES_OF_RANK &&
		(c->figure == VPA_JOB_FPS ? job->rates.fps : job->rates.bps) > 0)
		return "only the rate of a rank is known: the captures do not say whether ranks "
		       "make the same frames";
	return c->figure == VPA_JOB_FPS ? "the captures do not say how many frames were made"
					: "the captures have no blocks";
}

int vpa_job_condition_holds(const struct vpa_job_condition *c, const struct vpa_job *job,
	int *holds, char what[160], struct vpt_err *err)
{
	double value = figure_of(c, job);
	const char *name = figures[c->figure].name;
	int has_part = c->has_part;

	*holds = 0;
	if (value < 0)
		return vpt_fail(err, VPT_EINVAL, "--fail-if %.60s: %s", c->text, not_known(c, job));
	*holds = c->relation == '<' ? value < c->value : value > c->value;
	if (figures[c->figure].kind == VPA_VALUE_TIME)
		snprintf(what, 160, "%s %s", name, vpa_duration(vpt_sat_u64(value + 0.5)).text);
	else if (figures[c->figure].kind == VPA_VALUE_RATE)
		snprintf(what, 160, "%s %s", name, vpa_fixed(value, 2).text);
	else
		snprintf(what, 160, "%s%s%s %.1f %%", name, has_part ? ":" : "",
			has_part ? part_name(c->figure, c->part) : "", 100 * value);
	return VPT_OK;
}
