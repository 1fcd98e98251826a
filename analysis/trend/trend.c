/* trend.c - figures of reports, and where they change. */
#include "analysis/trend/trend.h"

#include "analysis/compare/conditions/fail_conditions.h"
#include "analysis/compare/series_stats.h"
#include "analysis/pipeline/unit.h"
#include "analysis/render/fields/run_tags.h"
#include "formats/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const struct vpa_trend_words vpa_trend_figures[VPA_TREND_FIGURES] = {
	[VPA_TREND_FPS] = {"fps", "FPS", "FPS", 0},
	[VPA_TREND_STEPS] = {"steps_per_s", "steps/s", "steps/s", 3},
	[VPA_TREND_PERIOD] = {"period_ns", "period", NULL, 4},
	[VPA_TREND_IDLE] = {"idle_share", "idle time", "idle %", 0},
	[VPA_TREND_MEMORY] = {"memory_peak_bytes", "peak memory", "memory", 2},
	[VPA_TREND_ENERGY] = {"energy_j", "energy", "J", 1}};

void vpa_trend_time(uint64_t unix_ns, char out[VPA_TREND_TIME])
{
	time_t seconds = (time_t)(unix_ns / 1000000000);
	struct tm utc;

	*out = '\0';
	if (unix_ns && gmtime_r(&seconds, &utc))
		strftime(out, VPA_TREND_TIME, "%Y-%m-%d %H:%M", &utc);
}

/* ---- figures of a report ---- */

static double memory_of(const struct vpa_report *r)
{
	double allocator = -1, device = -1;
	size_t i;

	for (i = 0; i < r->counter_count; i++) {
		const struct vpa_counter *c = &r->counters[i];

		if (c->series == VPT_SERIES_MARKED_PEAK && c->max > allocator)
			allocator = c->max;
		if (c->series == VPT_SERIES_MEMORY_USED && c->max > device)
			device = c->max;
	}
	return allocator >= 0 ? allocator : device;
}

/* Of all GPUs; per frame where requests have frames. */
static double energy_of(const struct vpa_report *r)
{
	double total = 0, frame = 0;
	size_t i, k, frames;
	int is_known = 0, has_frames = 0;

	for (i = 0; i < r->counter_count; i++) {
		const struct vpa_counter *c = &r->counters[i];
		double of_frames = 0;

		if (c->series != VPT_SERIES_POWER || c->energy_wh < 0)
			continue;
		is_known = 1;
		total += c->energy_wh;
		for (k = frames = 0; k < c->request_count; k++)
			if (c->requests[k].per_frame_wh >= 0) {
				of_frames += c->requests[k].per_frame_wh;
				frames++;
			}
		has_frames |= frames != 0;
		frame += frames ? of_frames / (double)frames : 0;
	}
	return !is_known ? -1 : 3600 * (has_frames ? frame : total);
}

static void read_idle(const struct vpa_report *r, struct vpa_trend_point *p)
{
	double idle = 0, window = 0;
	size_t i, k;

	for (i = 0; i < r->device_count; i++) {
		const struct vpa_device *d = &r->devices[i];

		idle += (double)d->window_idle_ns;
		window += (double)d->window_idle_ns + (double)d->busy_ns;
		for (k = 0; k < d->cause_count; k++)
			p->causes[d->causes[k].cause] += (double)d->causes[k].ns;
	}
	p->figures[VPA_TREND_IDLE] = window > 0 ? idle / window : -1;
	for (i = 0; i < VPA_CAUSES; i++)
		p->causes[i] = window > 0 ? p->causes[i] / window : 0;
}

static const char *join_tags(struct vpa_arena *texts, const struct vpa_report *r)
{
	const struct vpa_pair *tag;
	const char *all = "";
	size_t at = 0;

	while ((tag = vpa_tag_next(r, &at)) != NULL)
		all = vpa_arena_printf(
			texts, "%s%s%s=%s", all, *all ? "," : "", vpa_tag_of(tag->key), tag->value);
	return all;
}

static const char *commit_of(const struct vpa_report *r)
{
	static const enum vpt_metadata facts[] = {
		VPT_METADATA_TAG_COMMIT, VPT_METADATA_GIT_COMMIT, VPT_METADATA_COMMIT};
	const char *found = NULL;
	size_t i;

	for (i = 0; i < sizeof(facts) / sizeof(facts[0]) && !found; i++)
		found = vpa_meta(r, facts[i]);
	return found ? found : "";
}

static const char *copy(struct vpa_arena *texts, const char *text)
{
	return vpa_arena_text(texts, text ? text : "", text ? strlen(text) : 0);
}

int vpa_trend_add(struct vpa_trend *t, const struct vpa_report *r)
{
	const struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	struct vpa_trend_point p = {.complete = r->verdict.complete, .unit = unit.kind};

	if (vpt_grow(&t->points, &t->cap, t->count + 1, sizeof(*t->points)))
		return VPT_ENOMEM;
	p.path = copy(&t->texts, r->path);
	p.commit = copy(&t->texts, commit_of(r));
	p.tags = join_tags(&t->texts, r);
	p.unix_ns = r->unix_offset_ns ? r->unix_offset_ns + r->window_start_ns : 0;
	p.figures[VPA_TREND_FPS] = vpa_condition_rate(r, VPA_CONDITION_FPS);
	p.figures[VPA_TREND_STEPS] = vpa_condition_rate(r, VPA_CONDITION_STEPS);
	p.figures[VPA_TREND_PERIOD] = unit.units > 0 ? (double)vpa_mean_unit_ns(&unit) : -1;
	p.figures[VPA_TREND_MEMORY] = memory_of(r);
	p.figures[VPA_TREND_ENERGY] = energy_of(r);
	read_idle(r, &p);
	t->points[t->count++] = p;
	return t->texts.failed ? VPT_ENOMEM : VPT_OK;
}

/* ---- changes ---- */

enum { LEAST = VPA_RUNS_LEAST, ORDERS = 2000 };

/* How clear the clearest split is, squared, and where. */
static double clearest(const double *values, size_t count, size_t *at)
{
	double sum = 0, left = 0, best = -1, mean, n = (double)count;
	size_t i;

	for (i = 0; i < count; i++)
		sum += values[i];
	mean = sum / n;
	for (i = 1; i + LEAST <= count; i++) {
		double k = (double)i, clear;

		left += values[i - 1] - mean;
		clear = left * left * n / (k * (n - k));
		if (i >= LEAST && clear > best) {
			best = clear;
			*at = i;
		}
	}
	return best;
}

/* Of the same values in other orders, the share with a split as clear. `order` has room for them. */
static double chance_of(const double *values, size_t count, double clear, double *order)
{
	uint64_t state = 0x9e3779b97f4a7c15u;
	unsigned i, as_clear = 0;
	size_t k, at;

	memcpy(order, values, count * sizeof(*order));
	for (i = 0; i < ORDERS; i++) {
		for (k = count - 1; k; k--) {
			size_t other;
			double value = order[k];

			/* xorshift: the same numbers in each run, so that a report does not change. */
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			other = (size_t)(state % (k + 1));
			order[k] = order[other];
			order[other] = value;
		}
		as_clear += clearest(order, count, &at) >= clear * (1 - 1e-9);
	}
	return (as_clear + 1.0) / (ORDERS + 1.0);
}

struct splits {
	const double *values;
	double *order, *p;
	size_t *at;
	size_t count;
};

static void split(struct splits *s, size_t from, size_t to)
{
	size_t at = 0;
	double clear, p;

	if (to - from < 2 * LEAST)
		return;
	clear = clearest(s->values + from, to - from, &at);
	p = clear > 0 ? chance_of(s->values + from, to - from, clear, s->order) : 1;
	if (vpa_may_be_chance(p))
		return;
	split(s, from, from + at);
	s->at[s->count] = from + at;
	s->p[s->count++] = p;
	split(s, from + at, to);
}

/* Where a series changes: the first value after each change, ascending, at most `count`, and their p. At least three values are on
 * either side. The split is the one whose means differ most, relative to the sizes of its sides; it counts if at most one in
 * twenty of 2,000 orders of the same values, drawn by chance but the same in each run, has a split as clear. Returns how many; -1: no
 * memory. */
static long find_splits(const double *values, size_t count, size_t *at, double *p)
{
	struct splits s = {values, vpt_alloc(count + 1, sizeof(double)), p, at, 0};

	if (!s.order)
		return -1;
	split(&s, 0, count);
	vpt_free(s.order);
	return (long)s.count;
}

/* The cause whose share moved most. */
static void find_cause(const struct vpa_trend *t, struct vpa_trend_shift *s)
{
	const double least = 0.01;
	double most = least;
	size_t cause, i;

	s->cause = VPA_CAUSES;
	for (cause = 0; cause < VPA_CAUSES; cause++) {
		double before = 0, after = 0;

		for (i = s->from; i < s->to; i++)
			*(i < s->at ? &before : &after) += t->points[i].causes[cause];
		before /= (double)(s->at - s->from);
		after /= (double)(s->to - s->at);
		if (fabs(after - before) < most)
			continue;
		most = fabs(after - before);
		s->cause = (enum vpa_cause)cause;
		s->cause_before = before;
		s->cause_after = after;
	}
}

static int add_shift(struct vpa_trend *t, struct vpa_trend_shift s)
{
	size_t i;

	for (i = s.from; i < s.to; i++) {
		double value = t->points[i].figures[s.figure];

		if (value < 0)
			continue;
		*(i < s.at ? &s.before : &s.after) += value;
		*(i < s.at ? &s.before_count : &s.after_count) += 1;
	}
	s.before /= (double)s.before_count;
	s.after /= (double)s.after_count;
	find_cause(t, &s);
	t->points[s.at].is_shift |= 1 << s.figure;
	if (vpt_grow(&t->shifts, &t->shift_cap, t->shift_count + 1, sizeof(*t->shifts)))
		return VPT_ENOMEM;
	t->shifts[t->shift_count++] = s;
	return VPT_OK;
}

struct series {
	double *values, *p;
	size_t *points, *at; /* the point of each value */
};

static int find_shifts(struct vpa_trend *t, enum vpa_trend_figure figure, const struct series *s)
{
	size_t i, count = 0;
	long found, k;
	int rc = VPT_OK;

	for (i = 0; i < t->count; i++)
		if (t->points[i].figures[figure] >= 0) {
			s->points[count] = i;
			s->values[count++] = t->points[i].figures[figure];
		}
	found = find_splits(s->values, count, s->at, s->p);
	for (k = 0; k < found && !rc; k++)
		rc = add_shift(t, (struct vpa_trend_shift){.figure = figure,
					  .from = k ? s->points[s->at[k - 1]] : 0,
					  .at = s->points[s->at[k]],
					  .to = k + 1 < found ? s->points[s->at[k + 1]] : t->count,
					  .p = s->p[k]});
	return found < 0 ? VPT_ENOMEM : rc;
}

static int compare_points(const void *a, const void *b)
{
	const struct vpa_trend_point *l = a, *r = b;

	if (l->unix_ns != r->unix_ns)
		return l->unix_ns < r->unix_ns ? -1 : 1;
	return strcmp(l->path, r->path);
}

/* Of as many, the first kind. */
static void choose_unit(struct vpa_trend *t)
{
	size_t counts[VPA_UNIT_KINDS] = {0}, i;

	t->unit = VPA_UNIT_WINDOW;
	for (i = 0; i < t->count; i++)
		counts[t->points[i].unit] += t->points[i].figures[VPA_TREND_PERIOD] >= 0;
	for (i = VPA_UNIT_KINDS; i--;)
		if (counts[i] && counts[i] >= counts[t->unit])
			t->unit = (enum vpa_unit_kind)i;
	for (i = 0; i < t->count; i++)
		if (t->points[i].unit != t->unit)
			t->points[i].figures[VPA_TREND_PERIOD] = -1;
}

int vpa_trend_find(struct vpa_trend *t)
{
	struct series s = {vpt_alloc(t->count + 1, sizeof(double)),
		vpt_alloc(t->count + 1, sizeof(double)), vpt_alloc(t->count + 1, sizeof(size_t)),
		vpt_alloc(t->count + 1, sizeof(size_t))};
	size_t i;
	int figure, rc = s.values && s.p && s.points && s.at ? VPT_OK : VPT_ENOMEM;

	choose_unit(t);
	for (i = 0; i < t->count && t->points[i].unix_ns; i++)
		;
	t->is_by_time = i == t->count;
	if (t->is_by_time && t->count)
		qsort(t->points, t->count, sizeof(*t->points), compare_points);
	for (figure = 0; figure < VPA_TREND_FIGURES && !rc; figure++)
		rc = find_shifts(t, (enum vpa_trend_figure)figure, &s);
	vpt_free(s.values);
	vpt_free(s.p);
	vpt_free(s.points);
	vpt_free(s.at);
	return rc;
}

void vpa_trend_free(struct vpa_trend *t)
{
	vpt_free(t->points);
	vpt_free(t->shifts);
	vpa_arena_free(&t->texts);
}
