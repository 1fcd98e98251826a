/* fail_conditions.c - reads conditions, and checks them against a comparison. */
#include "analysis/compare/conditions/fail_conditions.h"

#include "analysis/base/figure_values.h"
#include "analysis/base/numbers.h"
#include "analysis/compare/comparison_steps.h"
#include "analysis/compare/conditions/predicted_condition.h"
#include "formats/base/count.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct figure {
	const char *name;
	enum vpa_value_kind kind;
} figures[VPA_CONDITION_FIGURES] = {
	[VPA_CONDITION_FPS] = {"fps", VPA_VALUE_RATE},
	[VPA_CONDITION_BPS] = {"bps", VPA_VALUE_RATE},
	[VPA_CONDITION_STEPS] = {"steps/s", VPA_VALUE_RATE},
	[VPA_CONDITION_STEP_TIME] = {"s/it", VPA_VALUE_TIME},
	[VPA_CONDITION_LATENTS] = {"latents/s", VPA_VALUE_RATE},
	[VPA_CONDITION_END_TO_END] = {"fps end to end", VPA_VALUE_RATE},
	[VPA_CONDITION_DENOISE] = {"denoise rate", VPA_VALUE_RATE},
	[VPA_CONDITION_PERIOD] = {"period", VPA_VALUE_TIME},
	[VPA_CONDITION_BUSY] = {"busy", VPA_VALUE_SHARE},
	[VPA_CONDITION_IDLE] = {"idle", VPA_VALUE_SHARE},
};

/* ---- reading ---- */

static int is_change(const struct vpa_condition *l)
{
	return l->relation == '-' || l->relation == '+';
}

/* The parts of idle time are causes, the others are families. */
static size_t first_part(enum vpa_condition_figure figure)
{
	return figure == VPA_CONDITION_IDLE ? VPA_OVERVIEW_IDLE + 1 : 0;
}

static size_t end_of_parts(enum vpa_condition_figure figure)
{
	return figure == VPA_CONDITION_IDLE ? VPA_OVERVIEW_PARTS : VPA_OVERVIEW_IDLE;
}

/* The family or cause of this name; VPA_UNIT_PARTS: none. */
static unsigned part_called(enum vpa_condition_figure figure, const char *text, size_t len)
{
	size_t i;

	for (i = first_part(figure); i < end_of_parts(figure); i++)
		if (vpa_figure_name_is(text, len, vpa_overview_part_name(i)))
			return (unsigned)i;
	return VPA_UNIT_PARTS;
}

static int fail_part(
	enum vpa_condition_figure figure, const char *text, size_t len, struct vpt_err *err)
{
	char names[400];
	size_t i, used = 0;

	for (i = first_part(figure); i < end_of_parts(figure) && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
			used ? "; " : "", vpa_overview_part_name(i));
	return vpt_fail(err, VPT_EINVAL, "--fail-if: \"%.*s\" is not %s: %s",
		(int)(len < 40 ? len : 40), text,
		figure == VPA_CONDITION_BUSY ? "a kernel family" : "a cause of idle time", names);
}

/* The number after the relation, in its unit. Returns 0 if it has another one. */
static int read_value(const char *p, struct vpa_condition *l)
{
	return vpa_value_read(
		p, is_change(l) ? VPA_VALUE_SHARE : figures[l->figure].kind, &l->value);
}

/* The first relation of a change that a number follows, since names may contain "-". */
static const char *find_relation(const char *text)
{
	const char *p = text + strcspn(text, "<>"), *number;
	double value;

	for (number = text; !*p && *number; number++)
		if ((*number == '-' || *number == '+') && vpa_decimal_read(number + 1, &value))
			return number;
	return p;
}

int vpa_condition_read(
	const char *text, int is_single, struct vpa_condition *out, struct vpt_err *err)
{
	const char *relation = find_relation(text), *colon = strchr(text, ':');
	size_t i, len;

	if (vpa_is_predicted_condition(text))
		return vpa_predicted_condition_read(text, is_single, out, err);
	*out = (struct vpa_condition){.text = text, .part = VPA_UNIT_PARTS, .relation = *relation};
	colon = colon && colon < relation ? colon : NULL;
	len = (size_t)((colon ? colon : relation) - text);
	for (i = 0; i < VPA_CONDITION_FIGURES && !vpa_figure_name_is(text, len, figures[i].name);
		i++)
		;
	out->figure = (enum vpa_condition_figure)i;
	if (!*relation || i == VPA_CONDITION_FIGURES)
		return vpt_fail(err, VPT_EINVAL,
			"--fail-if: expected a condition such as %s, found \"%.60s\"",
			is_single ? "fps<16, period>750ms or idle:sync>5%"
				  : "fps-2%, idle:sync+5% or fps<16",
			text);
	if (is_single && (*relation == '-' || *relation == '+'))
		return vpt_fail(err, VPT_EINVAL,
			"--fail-if: \"%.60s\" is a change, which needs two captures: see compare",
			text);
	if (colon && figures[i].kind != VPA_VALUE_SHARE)
		return vpt_fail(err, VPT_EINVAL,
			"--fail-if: \"%.60s\": only busy and idle have parts, as in idle:sync>5%%",
			text);
	if (colon)
		out->part = part_called(out->figure, colon + 1, (size_t)(relation - colon) - 1);
	if (colon && out->part == VPA_UNIT_PARTS)
		return fail_part(out->figure, colon + 1, (size_t)(relation - colon) - 1, err);
	if (!read_value(relation + 1, out))
		return vpt_fail(err, VPT_EINVAL, "--fail-if: expected %s after \"%c\" in \"%.60s\"",
			*relation == '-' || *relation == '+' || figures[i].kind == VPA_VALUE_SHARE
				? "percent such as 2%"
			: figures[i].kind == VPA_VALUE_TIME ? "a time such as 750ms"
							    : "a number such as 16",
			*relation, text);
	return VPT_OK;
}

/* ---- rates that a report prints ---- */

/* The rate of inferred steps; below 0: there are none. */
static double inferred_rate(const struct vpa_report *r)
{
	double ns = 0, count = 0;
	size_t i;

	for (i = 0; i < r->inferred_count; i++)
		if (r->inferred[i].steps_per_s > 0) {
			ns += 1e9 / r->inferred[i].steps_per_s;
			count++;
		}
	return ns > 0 ? count * 1e9 / ns : -1;
}

double vpa_condition_rate(const struct vpa_report *r, enum vpa_condition_figure figure)
{
	const struct vpa_request *q = vpa_main_request(r);

	switch (figure) {
	case VPA_CONDITION_FPS:
		return q ? vpa_result_fps(r) : -1;
	case VPA_CONDITION_BPS:
		return q && q->blocks.measured ? q->blocks.bps : -1;
	case VPA_CONDITION_STEPS:
	case VPA_CONDITION_STEP_TIME:
		return q && q->steps.count ? q->steps.steps_per_s : inferred_rate(r);
	case VPA_CONDITION_LATENTS:
		return q && q->blocks.measured ? q->blocks.latent_fps : -1;
	case VPA_CONDITION_END_TO_END:
		return q ? q->fps_end_to_end : -1;
	case VPA_CONDITION_DENOISE:
		return q && q->blocks.measured ? q->blocks.denoise_rate : -1;
	default:
		return -1;
	}
}

/* The mean time of the rate over a side's runs, as a rate; below 0: a run has none. */
static double printed_by(const struct vpa_side *side, enum vpa_condition_figure figure)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < side->count; i++) {
		double rate = vpa_condition_rate(side->reports[i], figure);

		if (!(rate > 0))
			return -1;
		sum += 1 / rate;
	}
	return (double)side->count / sum;
}

/* ---- checking ---- */

/* Whether the comparison is of this figure. */
static int is_compared(const struct vpa_condition *l, const struct vpa_comparison *c)
{
	switch (l->figure) {
	case VPA_CONDITION_FPS:
		return c->is_fps && c->b_rate > 0;
	case VPA_CONDITION_BPS:
		return c->unit == VPA_UNIT_BLOCK && !c->per_frame;
	case VPA_CONDITION_STEPS:
	case VPA_CONDITION_STEP_TIME:
		return !c->is_fps && !c->counts_frames &&
		       (c->unit == VPA_UNIT_STEP || c->unit == VPA_UNIT_INFERRED);
	case VPA_CONDITION_END_TO_END:
		return c->is_fps && c->unit != VPA_UNIT_BLOCK && c->b_rate > 0;
	case VPA_CONDITION_DENOISE:
		return c->unit == VPA_UNIT_BLOCK && c->after && c->counts_frames;
	case VPA_CONDITION_LATENTS:
		return 0;
	default:
		return l->part == VPA_UNIT_PARTS || c->by_part;
	}
}

/* The units that show a figure; 0: no other than the comparison's own. The window has parts where its units do not. */
static unsigned kinds_of(const struct vpa_condition *l)
{
	enum vpa_condition_figure figure = l->figure;

	if (l->part != VPA_UNIT_PARTS)
		return 1u << VPA_UNIT_WINDOW;
	if (figure == VPA_CONDITION_BPS || figure == VPA_CONDITION_DENOISE)
		return 1u << VPA_UNIT_BLOCK;
	if (figure == VPA_CONDITION_STEPS || figure == VPA_CONDITION_STEP_TIME)
		return 1u << VPA_UNIT_STEP | 1u << VPA_UNIT_INFERRED;
	return 0;
}

/* Whether blocks of the two sides can be compared, for a figure of blocks. */
static int is_fair(enum vpa_condition_figure figure, const struct vpa_comparison *c)
{
	return c->after != VPA_AFTER_SOME ||
	       (figure != VPA_CONDITION_BPS && figure != VPA_CONDITION_LATENTS);
}

/* Times of a part, or of all of its kind. */
static struct vpa_account_part times_of(
	const struct vpa_condition *l, const struct vpa_comparison *c)
{
	enum vpa_block_part_kind kind =
		l->figure == VPA_CONDITION_IDLE ? VPA_PART_IDLE : VPA_PART_BUSY;
	struct vpa_account_part sum = {0};
	size_t i;

	for (i = 0; i < c->part_count; i++)
		if (c->parts[i].kind == kind &&
			(l->part == VPA_UNIT_PARTS || l->part == c->parts[i].part))
			vpa_compare_add_times(&sum, &c->parts[i].times);
	return sum;
}

static double value_of(const struct vpa_condition *l, const struct vpa_comparison *c)
{
	double mean_ns = c->b_over ? (double)c->b_total_ns / (double)c->b_over : 0;

	switch (l->figure) {
	case VPA_CONDITION_FPS:
	case VPA_CONDITION_END_TO_END:
	case VPA_CONDITION_DENOISE:
		return c->b_rate;
	case VPA_CONDITION_BPS:
	case VPA_CONDITION_STEPS:
		return mean_ns > 0 ? 1e9 / mean_ns : 0;
	case VPA_CONDITION_PERIOD:
	case VPA_CONDITION_STEP_TIME:
		return mean_ns;
	default:
		return c->b_total_ns ? (double)times_of(l, c).b_ns / (double)c->b_total_ns : 0;
	}
}

static double change_of(const struct vpa_condition *l, const struct vpa_comparison *c)
{
	double a_ns = c->a_over ? (double)c->a_total_ns / (double)c->a_over : 0;

	if (figures[l->figure].kind == VPA_VALUE_TIME)
		return c->time_change;
	if (figures[l->figure].kind == VPA_VALUE_RATE)
		return c->rate_change;
	return a_ns > 0 ? (double)times_of(l, c).delta_ns / a_ns : 0;
}

/* A change and its test. */
struct tested {
	double change;
	int has_test, may_be_chance;
};

/* Of the time or the rate of the whole. */
static struct tested whole_of(const struct vpa_condition *l, const struct vpa_comparison *c)
{
	int is_change = c->verdict == VPA_CHANGE_FASTER || c->verdict == VPA_CHANGE_SLOWER;
	int excludes_none = c->time_low > 0 || c->time_high < 0; /* also within the margin */

	return (struct tested){change_of(l, c), c->level > 0,
		c->level > 0 && !is_change &&
			(c->verdict == VPA_CHANGE_INCONCLUSIVE || !excludes_none)};
}

/* Of a part of it, of A's mean unit. */
static int part_of(
	const struct vpa_condition *l, const struct vpa_comparison *c, struct tested *out)
{
	double a_ns = c->a_over ? (double)c->a_total_ns / (double)c->a_over : 0;
	struct vpa_shift s;

	if (vpa_compare_part_shift(c,
		    l->figure == VPA_CONDITION_IDLE ? VPA_PART_IDLE : VPA_PART_BUSY, l->part, &s))
		return VPT_ENOMEM;
	*out = (struct tested){change_of(l, c), s.level > 0, s.low <= 0 && s.high >= 0};
	if (s.outliers && a_ns > 0)
		out->change = s.shift / a_ns;
	return VPT_OK;
}

static void put_value(const struct vpa_condition *l, double value, char what[160])
{
	enum vpa_value_kind kind = figures[l->figure].kind;
	const char *name = l->part < VPA_UNIT_PARTS ? vpa_overview_part_name(l->part) : "";

	if (is_change(l) || kind == VPA_VALUE_SHARE)
		snprintf(what, 160, "%s%s%.60s %s %s%.30s %%", figures[l->figure].name,
			*name ? ":" : "", name, is_change(l) ? "changed by" : "is",
			is_change(l) ? value < 0 ? "-" : "+" : "",
			vpa_fixed(fabs(100 * value), 2).text);
	else if (kind == VPA_VALUE_TIME)
		snprintf(what, 160, "%s is %.30s ms", figures[l->figure].name,
			vpa_fixed(value / 1e6, 3).text);
	else
		snprintf(what, 160, "%s is %.30s", figures[l->figure].name,
			vpa_fixed(value, 3).text);
}

/* Whether the condition holds for a value. */
static int holds_for(const struct vpa_condition *l, double value)
{
	return l->relation == '<'   ? value < l->value
	       : l->relation == '>' ? value > l->value
				    : (l->relation == '-' ? -value : value) > l->value;
}

static void answer_change(
	const struct vpa_condition *l, const struct tested *t, int *holds, char what[160])
{
	size_t used;

	put_value(l, t->change, what);
	*holds = !holds_for(l, t->change)          ? VPA_CONDITION_KEPT
		 : t->has_test && t->may_be_chance ? VPA_CONDITION_CHANCE
						   : VPA_CONDITION_HOLDS;
	used = strlen(what);
	if (*holds == VPA_CONDITION_CHANCE)
		snprintf(what + used, 160 - used, ", which is within noise");
	else if (*holds && !t->has_test)
		snprintf(what + used, 160 - used, " (no test: one value a side)");
}

static int check_compared(
	const struct vpa_condition *l, const struct vpa_comparison *c, int *holds, char what[160])
{
	struct tested t = whole_of(l, c);
	double value;

	if (!is_change(l)) {
		value = value_of(l, c);
		put_value(l, value, what);
		*holds = holds_for(l, value);
		return VPT_OK;
	}
	if (figures[l->figure].kind == VPA_VALUE_SHARE && part_of(l, c, &t))
		return VPT_ENOMEM;
	answer_change(l, &t, holds, what);
	return VPT_OK;
}

/* The test of the printed rates between runs, where there are enough. */
static int test_printed(
	const struct vpa_condition *l, const struct vpa_comparison *c, struct tested *out)
{
	double rates[2][VPA_RUNS_MOST];
	struct vpa_runs_test test;
	size_t i;

	if (c->a.count < VPA_RUNS_LEAST || c->b.count < VPA_RUNS_LEAST)
		return VPT_OK;
	for (i = 0; i < c->a.count; i++)
		rates[0][i] = vpa_condition_rate(c->a.reports[i], l->figure);
	for (i = 0; i < c->b.count; i++)
		rates[1][i] = vpa_condition_rate(c->b.reports[i], l->figure);
	if (vpa_runs_test(rates[0], c->a.count, rates[1], c->b.count, &test))
		return VPT_ENOMEM;
	out->has_test = 1;
	out->may_be_chance = vpa_may_be_chance(test.p);
	return VPT_OK;
}

/* A condition, from the printed rate. */
static void check_printed(const struct vpa_condition *l, double rate, int *holds, char what[160])
{
	double value = figures[l->figure].kind == VPA_VALUE_TIME ? 1e9 / rate : rate;

	put_value(l, value, what);
	*holds = holds_for(l, value);
}

/* A limit or a change, from the printed rates of the sides. */
static int check_sides(const struct vpa_condition *l, const struct vpa_comparison *c, double a,
	double b, int *holds, char what[160])
{
	struct tested t = {.has_test = 0};

	if (!is_change(l)) {
		check_printed(l, b, holds, what);
		return VPT_OK;
	}
	t.change = figures[l->figure].kind == VPA_VALUE_TIME ? a / b - 1 : b / a - 1;
	if (test_printed(l, c, &t))
		return VPT_ENOMEM;
	answer_change(l, &t, holds, what);
	return VPT_OK;
}

static int fail_unavailable(const struct vpa_condition *l, struct vpt_err *err)
{
	static const char *const lacks[VPA_CONDITION_FIGURES] = {
		[VPA_CONDITION_FPS] = "measured blocks with frames",
		[VPA_CONDITION_BPS] = "measured blocks with equal frames and work",
		[VPA_CONDITION_STEPS] = "steps to compare",
		[VPA_CONDITION_STEP_TIME] = "steps to compare",
		[VPA_CONDITION_LATENTS] = "measured blocks with latents and equal work",
		[VPA_CONDITION_END_TO_END] = "requests with frames",
		[VPA_CONDITION_DENOISE] = "VAE work after the last block",
	};
	const char *lack = lacks[l->figure];

	return vpt_fail(err, VPT_EINVAL, "--fail-if %.60s: unavailable, the captures have no %s",
		l->text, lack ? lack : "idle and busy time by part");
}

int vpa_condition_holds(const struct vpa_condition *l, const struct vpa_comparison *c, int *holds,
	char what[160], struct vpt_err *err)
{
	const struct vpa_compare_options how = {.margin = c->margin, .kinds = kinds_of(l)};
	double a = printed_by(&c->a, l->figure), b = printed_by(&c->b, l->figure);
	struct vpa_comparison *own = NULL;
	int rc = VPT_OK, is_known = 1;

	*holds = VPA_CONDITION_KEPT;
	if (!is_compared(l, c) && how.kinds && is_fair(l->figure, c))
		rc = vpa_compare(&c->a, &c->b, &how, &own, err);
	if (rc)
		return rc;
	if (is_compared(l, c))
		rc = check_compared(l, c, holds, what);
	else if (own && is_compared(l, own))
		rc = check_compared(l, own, holds, what);
	else if (b > 0 && (!is_change(l) || (a > 0 && is_fair(l->figure, c))))
		rc = check_sides(l, c, a, b, holds, what);
	else
		is_known = 0;
	vpa_comparison_free(own);
	if (rc)
		return vpt_fail(err, rc, "no memory for a condition");
	return is_known ? VPT_OK : fail_unavailable(l, err);
}

int vpa_condition_holds_of(const struct vpa_condition *l, const struct vpa_report *r, int *holds,
	char what[160], struct vpt_err *err)
{
	/* Shares and the period are of the report's unit: a comparison with itself is by that. */
	const struct vpa_compare_options all = {.is_of_itself = 1};
	const struct vpa_side side = {&r, 1};
	struct vpa_comparison *own = NULL;
	double rate = vpa_condition_rate(r, l->figure);
	int rc = VPT_OK, is_rate = l->figure < VPA_CONDITION_PERIOD;

	if (l->figure == VPA_CONDITION_PREDICTED)
		return vpa_predicted_condition_holds(l, r, holds, what, err);
	*holds = 0;
	if (is_rate && !(rate > 0))
		return fail_unavailable(l, err);
	if (is_rate) {
		check_printed(l, rate, holds, what);
		return VPT_OK;
	}
	rc = vpa_compare(&side, &side, &all, &own, err);
	if (!rc && is_compared(l, own))
		rc = check_compared(l, own, holds, what);
	else if (!rc)
		rc = fail_unavailable(l, err);
	vpa_comparison_free(own);
	return rc;
}
