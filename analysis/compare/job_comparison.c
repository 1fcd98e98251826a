/* job_comparison.c - figures of both jobs beside each other. */
#include "analysis/compare/job_comparison.h"

#include "analysis/base/figure_values.h"
#include "analysis/base/sort.h"
#include "analysis/compare/comparison_steps.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- sides ---- */

static int describe_late(struct vpa_job_comparison *c, struct vpa_job_side *s)
{
	s->late_ranks = vpa_late_numbers(&c->arena, s->job, &s->late);
	if (s->late.part) {
		s->late_by = vpa_job_part_words(s->late.part);
		s->late_place = s->late.part->place;
	}
	return c->arena.failed ? VPT_ENOMEM : VPT_OK;
}

static int describe(struct vpa_job_comparison *c, const struct vpa_job *job, struct vpa_job_side *s)
{
	size_t count = 0, i;

	*s = (struct vpa_job_side){.job = job,
		.late = vpa_late_ranks_of(job),
		.wait_share = vpa_job_wait_share(job),
		.efficiency = job->scaling ? job->scaling->efficiency : -1,
		.unit_ns = job->unit_ns,
		.complete = !job->incomplete && !job->missing};
	for (i = 0; i < job->rank_count; i++)
		if (job->ranks[i].rank->fps > 0) {
			s->fps += job->ranks[i].rank->fps;
			count++;
		}
	s->fps = count ? s->fps / (double)count : 0;
	return describe_late(c, s);
}

static int has_rate(const struct vpa_job_rates *r)
{
	return r->fps > 0 && (r->of == VPA_RATES_OF_JOB || r->of == VPA_RATES_OF_REPLICAS);
}

/* Of the jobs, if it is known of both: a rank of more replicas is not slower. */
static void rate_jobs(struct vpa_job_side *a, struct vpa_job_side *b)
{
	if (!has_rate(&a->job->rates) || !has_rate(&b->job->rates))
		return;
	a->fps = a->job->rates.fps;
	b->fps = b->job->rates.fps;
}

/* ---- what changed ---- */

static int compare_units(struct vpa_job_comparison *c, double margin)
{
	int64_t a[VPA_SCALING_PARTS], b[VPA_SCALING_PARTS];
	size_t i;

	if (c->a.job->unit != c->b.job->unit || !c->a.unit_ns || !c->b.unit_ns) {
		c->verdict = VPA_JOBS_UNLIKE;
		return VPT_OK;
	}
	c->parts = vpa_arena_alloc(&c->arena, VPA_SCALING_PARTS, sizeof(*c->parts));
	if (!c->parts)
		return VPT_ENOMEM;
	c->part_count = VPA_SCALING_PARTS;
	c->speedup = (double)c->a.unit_ns / (double)c->b.unit_ns;
	c->verdict = fabs(1 - 1 / c->speedup) <= margin ? VPA_JOBS_SAME
		     : c->speedup > 1                   ? VPA_JOBS_FASTER
							: VPA_JOBS_SLOWER;
	vpa_scaling_unit(c->a.job, a);
	vpa_scaling_unit(c->b.job, b);
	for (i = 0; i < VPA_SCALING_PARTS; i++)
		c->parts[i] = (struct vpa_compared_job_part){
			(enum vpa_scaling_part)i, a[i], b[i], vpt_sat_diff_i64(b[i], a[i])};
	return VPT_OK;
}

static struct vpa_compared_late *find_late(
	struct vpa_job_comparison *c, const struct vpa_job_part *part)
{
	size_t i;

	for (i = 0; i < c->late_count; i++) {
		struct vpa_compared_late *l = &c->late[i];

		if (l->part.klass == part->klass && l->part.kind == part->kind &&
			(l->part.place && part->place ? !strcmp(l->part.place, part->place)
						      : l->part.place == part->place))
			return l;
	}
	c->late[c->late_count] = (struct vpa_compared_late){.part = *part};
	return &c->late[c->late_count++];
}

static int64_t of_unit(const struct vpa_job *job, int64_t ns)
{
	double d = vpa_job_per_unit(job, (double)ns);

	return (int64_t)(d < 0 ? ceil(d - 0.5) : floor(d + 0.5));
}

static int by_change(const void *x, const void *y)
{
	const struct vpa_compared_late *a = x, *b = y;
	uint64_t p = vpa_magnitude(a->delta_ns), q = vpa_magnitude(b->delta_ns);

	return (q > p) - (q < p);
}

static int compare_late(struct vpa_job_comparison *c)
{
	const struct vpa_job *a = c->a.job, *b = c->b.job;
	size_t i;

	c->late = vpa_arena_alloc(&c->arena, a->part_count + b->part_count + 1, sizeof(*c->late));
	if (!c->late)
		return VPT_ENOMEM;
	if (c->verdict == VPA_JOBS_UNLIKE)
		return VPT_OK;
	for (i = 0; i < a->part_count; i++)
		find_late(c, &a->parts[i])->a_ns = of_unit(a, a->parts[i].ns);
	for (i = 0; i < b->part_count; i++)
		find_late(c, &b->parts[i])->b_ns = of_unit(b, b->parts[i].ns);
	for (i = 0; i < c->late_count; i++)
		c->late[i].delta_ns = vpt_sat_diff_i64(c->late[i].b_ns, c->late[i].a_ns);
	return vpa_sort(c->late, c->late_count, sizeof(*c->late), by_change);
}

/* ---- the set-up ---- */

static void put_setup(struct vpa_job_comparison *c, const char *name, const char *a, const char *b)
{
	if (a == b || (a && b && !strcmp(a, b)))
		return;
	c->setup[c->setup_count++] = (struct vpa_compared_setup){name, a, b};
}

static const char *count_text(struct vpa_job_comparison *c, size_t count)
{
	return vpa_arena_printf(&c->arena, "%zu", count);
}

/* What most ranks have: of the first one, since what differs within a job is its own report's. */
static int compare_setup(struct vpa_job_comparison *c)
{
	const struct vpa_rank *a = c->a.job->ranks[0].rank, *b = c->b.job->ranks[0].rank;
	size_t i = 0, k = 0;

	c->setup = vpa_arena_alloc(&c->arena, a->fact_count + b->fact_count + 3, sizeof(*c->setup));
	if (!c->setup)
		return VPT_ENOMEM;
	put_setup(c, "ranks", count_text(c, c->a.job->rank_count),
		count_text(c, c->b.job->rank_count));
	put_setup(c, "GPU", a->gpu, b->gpu);
	put_setup(c, "machines", count_text(c, c->a.job->clocks.count),
		count_text(c, c->b.job->clocks.count));
	while (i < a->fact_count || k < b->fact_count) {
		int order = i == a->fact_count   ? 1
			    : k == b->fact_count ? -1
						 : strcmp(a->facts[i].name, b->facts[k].name);
		const char *name = order <= 0 ? a->facts[i].name : b->facts[k].name;

		put_setup(c, name, order <= 0 ? a->facts[i].value : NULL,
			order >= 0 ? b->facts[k].value : NULL);
		i += order <= 0;
		k += order >= 0;
	}
	return c->arena.failed ? VPT_ENOMEM : VPT_OK;
}

int vpa_compare_jobs(const struct vpa_job *a, const struct vpa_job *b, double margin,
	struct vpa_job_comparison **out, struct vpt_err *err)
{
	struct vpa_job_comparison *c = vpt_calloc(1, sizeof(*c));
	int rc = c ? describe(c, a, &c->a) : VPT_ENOMEM;

	*out = NULL;
	if (!rc)
		rc = describe(c, b, &c->b);
	if (!rc)
		rate_jobs(&c->a, &c->b);
	if (!rc)
		rc = compare_units(c, margin);
	if (!rc)
		rc = compare_late(c);
	if (!rc)
		rc = compare_setup(c);
	if (rc) {
		vpa_job_comparison_free(c);
		return vpt_fail(err, VPT_ENOMEM, "no memory to compare two jobs");
	}
	*out = c;
	return VPT_OK;
}

void vpa_job_comparison_free(struct vpa_job_comparison *c)
{
	if (!c)
		return;
	vpa_arena_free(&c->arena);
	vpt_free(c);
}

/* ---- conditions ---- */

static const char *const figures[] = {[VPA_CHANGED_FPS] = "fps",
	[VPA_CHANGED_PERIOD] = "period",
	[VPA_CHANGED_EFFICIENCY] = "efficiency",
	[VPA_CHANGED_WAITS] = "waits"};

enum { FIGURES = sizeof(figures) / sizeof(figures[0]) };

int vpa_jobs_condition_read(const char *text, struct vpa_jobs_condition *out, struct vpt_err *err)
{
	size_t len = strcspn(text, "-+<>"), i = 0;

	*out = (struct vpa_jobs_condition){.text = text};
	if (text[len] == '<' || text[len] == '>') {
		out->is_limit = 1;
		return vpa_job_condition_read(text, &out->limit, err);
	}
	while (i < FIGURES && (strlen(figures[i]) != len || strncmp(text, figures[i], len) != 0))
		i++;
	if (i < FIGURES && text[len] &&
		vpa_value_read(text + len + 1, VPA_VALUE_SHARE, &out->share)) {
		out->figure = (enum vpa_job_change_figure)i;
		out->sign = text[len];
		return VPT_OK;
	}
	return vpt_fail(err, VPT_EINVAL,
		"--fail-if: expected fps, period, efficiency or waits, - or +, and percent, such "
		"as fps-2%%, or a limit such as waits>5%%, found \"%.60s\"",
		text);
}

/* The figure of a side; below 0: not known. */
static double figure_of(const struct vpa_job_side *s, enum vpa_job_change_figure figure)
{
	switch (figure) {
	case VPA_CHANGED_FPS:
		return s->fps > 0 ? s->fps : -1;
	case VPA_CHANGED_PERIOD:
		return s->unit_ns ? (double)s->unit_ns / 1e6 : -1;
	case VPA_CHANGED_EFFICIENCY:
		return s->efficiency;
	default:
		return s->wait_share;
	}
}

int vpa_jobs_condition_holds(const struct vpa_jobs_condition *condition,
	const struct vpa_job_comparison *c, int *holds, char what[160], struct vpt_err *err)
{
	enum vpa_job_change_figure figure = condition->figure;
	double a = figure_of(&c->a, figure), b = figure_of(&c->b, figure), change;
	int is_share = figure == VPA_CHANGED_EFFICIENCY || figure == VPA_CHANGED_WAITS;

	*holds = 0;
	if (condition->is_limit)
		return vpa_job_condition_holds(&condition->limit, c->b.job, holds, what, err);
	if (a < 0 || b < 0 || (figure == VPA_CHANGED_PERIOD && c->verdict == VPA_JOBS_UNLIKE))
		return vpt_fail(err, VPT_EINVAL, "--fail-if %.60s: %s", condition->text,
			figure == VPA_CHANGED_EFFICIENCY
				? "the efficiency needs --base, the capture of one rank"
			: figure == VPA_CHANGED_FPS ? "the frames per second of a job are not known"
						    : "the jobs count in different units");
	change = is_share ? b - a : a > 0 ? b / a - 1 : 0;
	*holds = condition->sign == '-' ? change < -condition->share : change > condition->share;
	if (is_share)
		snprintf(what, 160, "%s %.1f %% -> %.1f %%", figures[figure], 100 * a, 100 * b);
	else
		snprintf(what, 160, "%s %.2f -> %.2f%s, %+.1f %%", figures[figure], a, b,
			figure == VPA_CHANGED_PERIOD ? " ms" : "", 100 * change);
	return VPT_OK;
}
