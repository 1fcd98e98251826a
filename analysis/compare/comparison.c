/* comparison.c - pairs the units of two sides, and judges the difference. */
#include "analysis/compare/comparison_steps.h"

#include "analysis/base/choices.h"
#include "formats/base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

VPA_WORDS_OF(enum vpa_verdict_change,
	vpa_change_name, [VPA_CHANGE_SAME] = "same", [VPA_CHANGE_FASTER] = "faster",
	[VPA_CHANGE_SLOWER] = "slower", [VPA_CHANGE_INCONCLUSIVE] = "inconclusive");

/* ---- values ---- */

/* The time of a unit, or of a frame of it. */
static double value_of(const struct vpa_comparison *c, const struct vpa_unit *unit)
{
	if (unit->judged_ns > 0)
		return unit->judged_ns;
	return (double)unit->period_ns / (c->per_frame ? (double)unit->frames : 1);
}

/* What of a unit is compared; kind VPA_PART_PAUSED: all of it, as a logarithm. */
struct figure {
	const struct vpa_comparison *c;
	enum vpa_block_part_kind kind;
	unsigned part; /* as of vpa_compared_part; VPA_UNIT_PARTS: all of the kind */
};

/* Below 0: not known. */
static double part_of(const struct figure *f, const struct vpa_unit *unit)
{
	uint64_t ns = f->kind == VPA_PART_IDLE ? unit->idle_ns : unit->busy_ns;
	double over = (double)unit->devices * (f->c->per_frame ? (double)unit->frames : 1);

	if (f->part < VPA_OVERVIEW_PARTS && !unit->parts_ns)
		return -1;
	if (f->part < VPA_OVERVIEW_PARTS)
		ns = unit->parts_ns[f->part];
	return over > 0 ? (double)ns / over : 0;
}

/* The values of a run's paired units, in order. */
static size_t values_of(const struct figure *f, const struct vpa_units *u, double *out)
{
	size_t i, count = 0;

	for (i = 0; i < u->count; i++)
		if (u->units[i].paired)
			out[count++] = f->kind == VPA_PART_PAUSED ? value_of(f->c, &u->units[i])
								  : part_of(f, &u->units[i]);
	return count;
}

/* Time and work of the paired units of a side. */
struct side_sum {
	double time_ns, frames, units;
};

static struct side_sum sum_side(const struct vpa_units *all, size_t count)
{
	struct side_sum sum = {0};
	size_t i, k;

	for (i = 0; i < count; i++)
		for (k = 0; k < all[i].count; k++) {
			const struct vpa_unit *unit = &all[i].units[k];

			if (!unit->paired)
				continue;
			sum.time_ns += (double)unit->period_ns;
			sum.frames += (double)unit->frames;
			sum.units += 1;
		}
	return sum;
}

static double rate_of_side(const struct vpa_comparison *c, const struct side_sum *s)
{
	return s->time_ns > 0 ? (c->counts_frames ? s->frames : s->units) * 1e9 / s->time_ns : 0;
}

/* The mean of the runs' values, unit by unit. */
static void mean_values(const struct figure *f, const struct vpa_units *all, size_t count,
	double *out, double *scratch)
{
	size_t i, k;

	memset(out, 0, f->c->pairs * sizeof(*out));
	for (i = 0; i < count; i++) {
		values_of(f, &all[i], scratch);
		for (k = 0; k < f->c->pairs; k++)
			out[k] += scratch[k] / (double)count;
	}
}

/* A change is a factor: of a longer unit it is longer. */
static void to_logarithms(double *values, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		values[i] = log(values[i] >= 1 ? values[i] : 1);
}

static double noise_of(const double *values, size_t count)
{
	struct vpa_mean m = vpa_mean_of(values, count);

	return count > 1 && m.mean > 0 ? m.deviation / m.mean : -1;
}

/* ---- the verdict ---- */

/* The change of a rate, from that of the time. */
static double rate_of(double time_change)
{
	return 1 / (1 + time_change) - 1;
}

/* Whether every part is equal. */
static int is_identical(const struct vpa_comparison *c)
{
	size_t i;

	for (i = 0; i < c->part_count; i++)
		if (c->parts[i].times.delta_ns)
			return 0;
	for (i = 0; i < c->row_count; i++)
		if (c->rows[i].times.delta_ns)
			return 0;
	return 1;
}

static void judge(struct vpa_comparison *c)
{
	double m = c->margin;
	int is_shift = c->level > 0 && (c->time_low > 0 || c->time_high < 0);
	/* Outliers take time too: sides that they set apart are not the same. */
	int is_within = c->level > 0 && c->time_low >= -m && c->time_high <= m &&
			(!c->outliers || fabs(c->all_change) <= m);

	if (c->between_runs)
		is_shift &= !vpa_may_be_chance(c->p);
	if (is_within || is_identical(c))
		c->verdict = VPA_CHANGE_SAME;
	else if (is_shift)
		c->verdict = c->time_change > 0 ? VPA_CHANGE_SLOWER : VPA_CHANGE_FASTER;
	else
		c->verdict = VPA_CHANGE_INCONCLUSIVE;
}

int vpa_compare_is_change(const struct vpa_comparison *c)
{
	if (c->verdict == VPA_CHANGE_SAME)
		return 0;
	return c->level > 0 ? c->verdict != VPA_CHANGE_INCONCLUSIVE
			    : fabs(c->time_change) > c->margin;
}

/* The change of the time, from the shift of its logarithm. The interval is laid around `change`. */
static void set_change(struct vpa_comparison *c, const struct vpa_shift *s, double change)
{
	c->time_change = change;
	c->level = s->level;
	c->outliers = s->outliers;
	c->resembles = s->resembles;
	if (c->level > 0) {
		c->time_low = (1 + change) * exp(s->low - s->shift) - 1;
		c->time_high = (1 + change) * exp(s->high - s->shift) - 1;
		c->detectable = exp(s->detectable) - 1;
	}
	c->rate_change = rate_of(change);
	c->rate_low = rate_of(c->time_high);
	c->rate_high = rate_of(c->time_low);
}

static int has_runs(const struct vpa_comparison *c)
{
	return c->a.count >= VPA_RUNS_LEAST && c->b.count >= VPA_RUNS_LEAST;
}

/* The median of each run. */
static void medians_of(const struct figure *f, double medians[2][VPA_RUNS_MOST], double *scratch)
{
	size_t i, a_count = f->c->a.count;

	for (i = 0; i < a_count + f->c->b.count; i++) {
		size_t count = values_of(f, &f->c->series[i], scratch), in_b = i >= a_count;

		medians[in_b][in_b ? i - a_count : i] = vpa_median(scratch, count);
	}
}

static int compare_runs(struct vpa_comparison *c, double *scratch)
{
	const struct figure whole = {c, VPA_PART_PAUSED, VPA_UNIT_PARTS};
	double medians[2][VPA_RUNS_MOST];
	struct vpa_runs_test test;

	medians_of(&whole, medians, scratch);
	c->a_run_noise = noise_of(medians[0], c->a.count);
	c->b_run_noise = noise_of(medians[1], c->b.count);
	to_logarithms(medians[0], c->a.count);
	to_logarithms(medians[1], c->b.count);
	if (!has_runs(c))
		return VPT_OK;
	if (vpa_runs_test(medians[0], c->a.count, medians[1], c->b.count, &test))
		return VPT_ENOMEM;
	c->between_runs = 1;
	c->outliers = c->units_needed = 0;
	c->p = test.p;
	c->least_p = test.least_p;
	set_change(c, &test.shift, exp(test.shift.shift) - 1);
	if (vpa_may_be_chance(c->least_p))
		c->detectable = -1;
	return VPT_OK;
}

/* Fewer requests differ by chance more than their number can show. */
static size_t tested_pairs(const struct vpa_comparison *c)
{
	return c->unit == VPA_UNIT_REQUEST && c->pairs < VPA_UNIT_REQUESTS ? 1 : c->pairs;
}

static int compare_times(struct vpa_comparison *c, const struct vpa_compared_units *u)
{
	double *values = vpt_alloc(3 * c->pairs + 1, sizeof(*values));
	double *a = values, *b = a + c->pairs, *scratch = b + c->pairs;
	const struct figure whole = {c, VPA_PART_PAUSED, VPA_UNIT_PARTS};
	struct side_sum sa = sum_side(u->all, u->a_count);
	struct side_sum sb = sum_side(u->all + u->a_count, u->count - u->a_count);
	double mean_change;
	struct vpa_shift s;
	int rc;

	if (!values)
		return VPT_ENOMEM;
	c->a_rate = rate_of_side(c, &sa);
	c->b_rate = rate_of_side(c, &sb);
	if (c->judges_requests) {
		c->a_rate = c->a_fps_end_to_end;
		c->b_rate = c->b_fps_end_to_end;
	}
	mean_values(&whole, u->all, u->a_count, a, scratch);
	mean_values(&whole, u->all + u->a_count, u->count - u->a_count, b, scratch);
	c->a_noise = noise_of(a, c->pairs);
	c->b_noise = noise_of(b, c->pairs);
	to_logarithms(a, c->pairs);
	to_logarithms(b, c->pairs);
	rc = vpa_shift_of_series(a, b, tested_pairs(c), &s);
	/* The rates hold all units, also those that the shift leaves out. */
	mean_change = c->b_rate > 0 ? c->a_rate / c->b_rate - 1 : 0;
	set_change(c, &s, s.outliers ? exp(s.shift) - 1 : mean_change);
	c->all_change = mean_change;
	if (c->level > 0 && c->pairs < VPA_SERIES_ENOUGH)
		c->units_needed = VPA_SERIES_ENOUGH;
	if (!rc)
		rc = compare_runs(c, scratch);
	vpt_free(values);
	return rc;
}

/* Whether a run lacks the parts of a unit. */
static int lacks_parts(const struct figure *f)
{
	size_t i, k;

	for (i = 0; i < f->c->a.count + f->c->b.count; i++)
		for (k = 0; k < f->c->series[i].count; k++)
			if (f->c->series[i].units[k].paired &&
				part_of(f, &f->c->series[i].units[k]) < 0)
				return 1;
	return 0;
}

static int shift_between_runs(const struct figure *f, double *scratch, struct vpa_shift *out)
{
	double medians[2][VPA_RUNS_MOST];
	struct vpa_runs_test test;

	medians_of(f, medians, scratch);
	if (vpa_runs_test(medians[0], f->c->a.count, medians[1], f->c->b.count, &test))
		return -1;
	*out = test.shift;
	/* As for the verdict, p decides too: the interval of few runs has a low level. */
	if (vpa_may_be_chance(test.p)) {
		out->low = fmin(out->low, 0);
		out->high = fmax(out->high, 0);
	}
	return 0;
}

int vpa_compare_part_shift(const struct vpa_comparison *c, enum vpa_block_part_kind kind,
	unsigned part, struct vpa_shift *out)
{
	const struct figure figure = {c, kind, part};
	double *a, *b, *scratch;
	int rc;

	*out = (struct vpa_shift){0};
	if (c->judges_requests || lacks_parts(&figure))
		return 0;
	a = vpt_alloc(3 * c->pairs + 1, sizeof(*a));
	if (!a)
		return -1;
	b = a + c->pairs;
	scratch = b + c->pairs;
	if (has_runs(c)) {
		rc = shift_between_runs(&figure, scratch, out);
	} else {
		mean_values(&figure, c->series, c->a.count, a, scratch);
		mean_values(&figure, c->series + c->a.count, c->b.count, b, scratch);
		rc = vpa_shift_of_series(a, b, tested_pairs(c), out);
	}
	vpt_free(a);
	return rc;
}

/* ---- notes ---- */

static void note_inputs(struct vpa_comparison *c, const struct vpa_compared_units *u)
{
	size_t i, k, touched = 0;

	c->complete = 1;
	for (i = 0; i < u->count; i++) {
		const struct vpa_verdict *v = &vpa_compare_run(c, i)->verdict;

		c->complete &= v->complete;
		if (!v->complete)
			vpa_compare_note(c,
				vpa_arena_printf(&c->arena, "%s is incomplete: %s",
					vpa_compare_run(c, i)->path,
					v->reason_count ? v->reasons[0] : "records are missing"));
		else if (v->gaps == VPA_DEGRADED)
			vpa_compare_note(
				c, vpa_arena_printf(&c->arena,
					   "%s: tracing took more than %d %% of its time",
					   vpa_compare_run(c, i)->path, VPA_DEGRADED_PERCENT));
		for (k = 0; k < u->all[i].count; k++)
			touched += u->all[i].units[k].paired && u->all[i].units[k].touched;
	}
	if (touched)
		vpa_compare_note(c, vpa_arena_printf(&c->arena,
					    "missing records may change %zu of the compared %ss",
					    touched, vpa_unit_kind_name(c->unit)));
}

/* Whether a run of this side was recorded by a profiler that is called for every Python function. */
static int has_every_call(const struct vpa_side *side)
{
	size_t i;

	for (i = 0; i < side->count; i++) {
		const char *with_stack = vpa_meta(side->reports[i], VPT_METADATA_TORCH_WITH_STACK);

		if (with_stack && !strcmp(with_stack, "1"))
			return 1;
	}
	return 0;
}

static void note_stacks(struct vpa_comparison *c)
{
	int a = has_every_call(&c->a), b = has_every_call(&c->b);

	if (a != b)
		vpa_compare_note(c, vpa_arena_printf(&c->arena,
					    "only %s was recorded with with_stack=True, which "
					    "slows the host: record both the same way",
					    a ? "A" : "B"));
}

static void note_units(struct vpa_comparison *c)
{
	uint64_t a = c->a_units - c->pairs * c->a.count, b = c->b_units - c->pairs * c->b.count;

	if (c->without_first)
		vpa_compare_note(c, "the first request of each run is left out, since it sets up "
				    "what the others reuse");
	if (c->per_frame)
		vpa_compare_note(c, "the numbers of frames per block differ: times are per frame");
	if (a || b)
		vpa_compare_note(c, vpa_arena_printf(&c->arena,
					    "left out, without a counterpart: %" PRIu64
					    " of A's %ss, %" PRIu64 " of B's",
					    a, vpa_unit_kind_name(c->unit), b));
	if (c->outliers)
		vpa_compare_note(
			c, vpa_arena_printf(&c->arena,
				   "%zu of the %ss stand%s far out of those around: the change "
				   "leaves %s out, rates and means do not",
				   c->outliers, vpa_unit_kind_name(c->unit),
				   c->outliers == 1 ? "s" : "", c->outliers == 1 ? "it" : "them"));
	if (c->units_needed)
		vpa_compare_note(c, vpa_arena_printf(&c->arena,
					    "%zu %ss cannot show noise that changes slowly, such "
					    "as the clock's%s; from %zu on they can",
					    c->pairs, vpa_unit_kind_name(c->unit),
					    c->resembles ? ", and neighbours resemble each other "
							   "as if there were some"
							 : "",
					    c->units_needed));
	if (c->between_runs && vpa_may_be_chance(c->least_p))
		vpa_compare_note(c, vpa_arena_printf(&c->arena,
					    "%zu against %zu runs cannot show a difference at the "
					    "%d %% level; 4 against 4 can",
					    c->a.count, c->b.count, VPA_CHANCE_PERCENT));
	else if (!c->between_runs && c->unit == VPA_UNIT_WINDOW)
		vpa_compare_note(
			c, c->is_fps || c->after
				   ? "one request a run: nothing says how much runs differ by "
				     "chance; record 4 runs a side, or 4 requests in a run"
				   : "one window a run: nothing says how much runs differ by "
				     "chance; record 4 runs a side, or mark blocks or steps");
	else if (!c->between_runs && c->unit == VPA_UNIT_REQUEST && tested_pairs(c) == 1)
		vpa_compare_note(c,
			"fewer than 3 requests to pair: nothing says how much they differ by "
			"chance; record 4 runs a side, or 4 requests in a run");
	else if (!c->between_runs && c->level > 0)
		vpa_compare_note(c, "holds within these runs only: further runs may differ by "
				    "more; record 4 runs a side for a test between runs");
	if (!c->between_runs && c->level <= 0 && c->unit != VPA_UNIT_WINDOW &&
		c->unit != VPA_UNIT_REQUEST)
		vpa_compare_note(
			c, vpa_arena_printf(&c->arena,
				   "a single %s is in both: it has no noise to compare with",
				   vpa_unit_kind_name(c->unit)));
}

/* ---- the whole ---- */

static int check(const struct vpa_comparison *c, struct vpt_err *err)
{
	size_t i;

	if (c->a.count > VPA_RUNS_MOST || c->b.count > VPA_RUNS_MOST)
		return vpt_fail(err, VPT_EINVAL, "at most %d captures a side can be compared",
			VPA_RUNS_MOST);
	for (i = 0; i < c->a.count + c->b.count; i++)
		if (!vpa_compare_run(c, i)->device_count)
			return vpt_fail(err,
				vpa_compare_run(c, i)->verdict.complete ? VPT_EINVAL : VPT_EDATA,
				"nothing to compare: %s has no work on a GPU",
				vpa_compare_run(c, i)->path);
	return VPT_OK;
}

static int build(struct vpa_comparison *c, const struct vpa_compare_options *options)
{
	struct vpa_compared_units units = {0};

	c->notes = vpa_arena_alloc(&c->arena, VPA_COMPARE_NOTES_MAX, sizeof(*c->notes));
	if (!c->notes || vpa_compare_choose(c, &units, options))
		return VPT_ENOMEM;
	c->series = units.all;
	if (compare_times(c, &units) || vpa_compare_parts(c, &units) ||
		vpa_compare_rows(c, &units) || vpa_compare_lines(c) || vpa_compare_facts(c) ||
		vpa_compare_tables(c))
		return VPT_ENOMEM;
	note_inputs(c, &units);
	note_stacks(c);
	note_units(c);
	judge(c);
	return c->arena.failed ? VPT_ENOMEM : VPT_OK;
}

/* A copy of the list; the reports stay borrowed. Its list is NULL without memory. */
static struct vpa_side copy_side(struct vpa_arena *arena, const struct vpa_side *s)
{
	const struct vpa_report **reports = vpa_arena_alloc(arena, s->count, sizeof(*s->reports));
	size_t i;

	for (i = 0; reports && i < s->count; i++)
		reports[i] = s->reports[i];
	return (struct vpa_side){reports, s->count};
}

static const char **paths_of(struct vpa_arena *arena, const struct vpa_side *s)
{
	const char **paths = vpa_arena_alloc(arena, s->count, sizeof(*paths));
	size_t i;

	for (i = 0; paths && i < s->count; i++)
		paths[i] = s->reports[i]->path;
	return paths;
}

int vpa_compare(const struct vpa_side *a, const struct vpa_side *b,
	const struct vpa_compare_options *options, struct vpa_comparison **out, struct vpt_err *err)
{
	struct vpa_comparison *c = vpt_calloc(1, sizeof(*c));
	int rc;

	*out = NULL;
	if (!c)
		return vpt_fail(err, VPT_ENOMEM, "no memory for a comparison");
	c->a = copy_side(&c->arena, a);
	c->b = copy_side(&c->arena, b);
	c->a_paths = paths_of(&c->arena, a);
	c->b_paths = paths_of(&c->arena, b);
	c->a_lists_all = c->b_lists_all = 1;
	c->margin = options->margin;
	c->a_noise = c->b_noise = c->a_run_noise = c->b_run_noise = -1;
	c->detectable = c->p = c->least_p = -1;
	rc = c->arena.failed ? vpt_fail(err, VPT_ENOMEM, "no memory for a comparison")
			     : check(c, err);
	if (!rc && build(c, options))
		rc = vpt_fail(err, VPT_ENOMEM, "no memory for a comparison");
	if (rc) {
		vpa_comparison_free(c);
		return rc;
	}
	*out = c;
	return VPT_OK;
}

void vpa_comparison_free(struct vpa_comparison *c)
{
	if (!c)
		return;
	vpa_arena_free(&c->arena);
	vpt_free(c);
}
