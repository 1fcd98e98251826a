/* line_changes.c - idle time by the line of Python where it was spent, on both sides: parts of the whole window.
 *
 * A line is its file, function and number: one that moved is another line. Time without a line is a row for each cause, so
 * the rows add up to the idle time of the windows. */
#include "analysis/compare/comparison_steps.h"

#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"

#include <math.h>
#include <stdlib.h>

static int compare_lines(const struct vpa_compared_line *a, const struct vpa_compared_line *b)
{
	int order = (a->cause > b->cause) - (a->cause < b->cause);

	order = order ? order : vpt_text_order(a->line.file, b->line.file);
	order = order ? order
		      : (a->line.number > b->line.number) - (a->line.number < b->line.number);
	return order ? order : vpt_text_order(a->line.function, b->line.function);
}

static int by_line(const void *pa, const void *pb)
{
	return compare_lines(pa, pb);
}

static int by_change(const void *pa, const void *pb)
{
	const struct vpa_compared_line *a = pa, *b = pb;
	uint64_t ma = vpa_magnitude(a->times.delta_ns), mb = vpa_magnitude(b->times.delta_ns);

	if (ma != mb)
		return ma > mb ? -1 : 1;
	return compare_lines(a, b);
}

static void add_report(struct vpa_comparison *c, const struct vpa_report *r, int in_b)
{
	size_t i;

	for (i = 0; i < r->lines.idle_count; i++) {
		const struct vpa_idle_line *idle = &r->lines.idle[i];
		struct vpa_compared_line *row = &c->lines[c->line_count++];

		*row = (struct vpa_compared_line){.cause = idle->cause, .line = idle->line};
		*(in_b ? &row->times.b_ns : &row->times.a_ns) = idle->ns;
		*(in_b ? &row->b_samples : &row->a_samples) = idle->samples;
	}
}

static void join_lines(struct vpa_comparison *c)
{
	size_t i, kept = 0;

	qsort(c->lines, c->line_count, sizeof(*c->lines), by_line);
	for (i = 0; i < c->line_count; i++) {
		struct vpa_compared_line *to = kept ? &c->lines[kept - 1] : NULL;

		if (!to || compare_lines(to, &c->lines[i])) {
			c->lines[kept++] = c->lines[i];
			continue;
		}
		vpa_compare_add_times(&to->times, &c->lines[i].times);
		vpt_sat_add_to(&to->a_samples, c->lines[i].a_samples);
		vpt_sat_add_to(&to->b_samples, c->lines[i].b_samples);
	}
	c->line_count = kept;
}

/* A sample stands for as much time as the mean one of both sides. */
static int is_beyond_samples(const struct vpa_compared_line *row)
{
	double samples = (double)row->a_samples + (double)row->b_samples, delta, each;

	if (samples <= 0)
		return 1;
	delta = fabs((double)row->b_mean_ns - (double)row->a_mean_ns);
	each = ((double)row->a_mean_ns + (double)row->b_mean_ns) / samples;
	return delta > 3 * each * sqrt(samples);
}

static int divide_lines(struct vpa_comparison *c)
{
	struct vpa_account_part *times = vpt_alloc(c->line_count + 1, sizeof(*times));
	size_t i;
	int rc;

	if (!times)
		return VPT_ENOMEM;
	for (i = 0; i < c->line_count; i++)
		times[i] = c->lines[i].times;
	rc = vpa_account(
		times, c->line_count, c->a_window_over, c->b_window_over, &c->lines_delta_ns);
	for (i = 0; i < c->line_count; i++) {
		struct vpa_compared_line *row = &c->lines[i];

		row->times = times[i];
		row->a_mean_ns = vpa_rounded_mean(row->times.a_ns, c->a_window_over);
		row->b_mean_ns = vpa_rounded_mean(row->times.b_ns, c->b_window_over);
		row->beyond_samples = is_beyond_samples(row);
	}
	vpt_free(times);
	qsort(c->lines, c->line_count, sizeof(*c->lines), by_change);
	return rc;
}

int vpa_compare_lines(struct vpa_comparison *c)
{
	size_t runs = c->a.count + c->b.count, most = 0, i;

	for (i = 0; i < runs; i++) {
		most += vpa_compare_run(c, i)->lines.idle_count;
		if (!vpa_compare_run(c, i)->lines.idle_count)
			return VPT_OK;
	}
	c->lines = vpa_arena_alloc(&c->arena, most, sizeof(*c->lines));
	if (!c->lines)
		return VPT_ENOMEM;
	for (i = 0; i < runs; i++)
		add_report(c, vpa_compare_run(c, i), i >= c->a.count);
	join_lines(c);
	return divide_lines(c);
}

const struct vpa_code_line *vpa_compare_line_of(
	const struct vpa_comparison *c, enum vpa_cause cause, int64_t delta_ns)
{
	const struct vpa_compared_line *most = NULL;
	int64_t whole_ns = 0;
	size_t i;

	for (i = 0; i < c->line_count; i++) {
		const struct vpa_compared_line *row = &c->lines[i];

		if (row->cause != cause)
			continue;
		whole_ns = vpt_sat_add_i64(whole_ns, row->times.delta_ns);
		if (!most && row->line.function && row->times.delta_ns && row->beyond_samples &&
			(row->times.delta_ns < 0) == (delta_ns < 0))
			most = row;
	}
	return most && (whole_ns < 0) == (delta_ns < 0) &&
			       vpa_magnitude(most->times.delta_ns) >= vpa_magnitude(whole_ns) / 2
		       ? &most->line
		       : NULL;
}
