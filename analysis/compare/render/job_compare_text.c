/* job_compare_text.c - two jobs beside each other for people: which is faster, who was late in each, and where the time went. */
#include "analysis/compare/render/job_compare_pages.h"

#include "analysis/compare/render/change_numbers.h"
#include "analysis/ranks/render/ranks_pages.h"
#include "analysis/render/renderer.h"

#include <stdlib.h>

enum { LATE_SHOWN = 8, SETUP_SHOWN = 12, FACT_COLUMNS = 56 };

/* ---- the jobs ---- */

static void put_side(
	struct vpa_page *p, const char *section, char name, const struct vpa_job_side *s)
{
	vpa_page_words(p, section, VPA_PLAIN, "%c: %zu ranks on %zu machine%s%s%s%s.", name,
		s->job->rank_count, s->job->clocks.count, vpa_plural(s->job->clocks.count),
		s->job->job ? ", job " : "", vpa_text_or(s->job->job, ""),
		s->complete ? "" : ", INCOMPLETE");
}

/* ---- the result ---- */

static void put_rates(struct vpa_page *p, const struct vpa_job_comparison *c)
{
	struct vpa_words w = {.used = 0};

	if (c->a.fps > 0 && c->b.fps > 0)
		vpa_words_add(&w, ". ", "FPS %s -> %s", vpa_compared_rate(c->a.fps).text,
			vpa_compared_rate(c->b.fps).text);
	if (c->a.efficiency >= 0 && c->b.efficiency >= 0)
		vpa_words_add(&w, ". ", "Efficiency %s %% -> %s %%",
			vpa_share(c->a.efficiency).text, vpa_share(c->b.efficiency).text);
	vpa_words_add(&w, ". ", "A rank waits %s %% -> %s %% of its time for others",
		vpa_share(c->a.wait_share).text, vpa_share(c->b.wait_share).text);
	vpa_page_words(p, "", VPA_PLAIN, "%s.", w.text);
}

static void put_result(struct vpa_page *p, const struct vpa_job_comparison *c)
{
	static const char *const words[] = {"SAME", "FASTER", "SLOWER"};
	static const enum vpa_style styles[] = {VPA_GREEN, VPA_GREEN, VPA_RED};
	double change;

	if (c->verdict == VPA_JOBS_UNLIKE) {
		vpa_page_words(p, "RESULT", VPA_YELLOW,
			"UNLIKE: A counts in %ss, B in %ss: their times are not compared. Limit "
			"both to the same range with --range.",
			vpa_unit_kind_name(c->a.job->unit), vpa_unit_kind_name(c->b.job->unit));
		put_rates(p, c);
		return;
	}
	change = 1 / c->speedup - 1;
	vpa_page_words(p, "RESULT", styles[c->verdict],
		"%s: %s takes %s, was %s (%s). One run each: how much of that is chance is not "
		"known.",
		words[c->verdict],
		c->a.job->unit == VPA_UNIT_WINDOW ? "all" : vpa_unit_words(c->a.job->unit)->a_name,
		vpa_duration(c->b.unit_ns).text, vpa_duration(c->a.unit_ns).text,
		vpa_compared_percent(change).text);
	put_rates(p, c);
}

static void add_late(struct vpa_words *w, const struct vpa_job_side *s)
{
	switch (s->late.kind) {
	case VPA_LATE_NONE:
		vpa_words_add(w, "", "the ranks keep step");
		return;
	case VPA_LATE_ALL:
		vpa_words_add(w, "", "all ranks are late in turns");
		break;
	default:
		vpa_words_add(w, "", "rank%s %s", s->late.rank_count == 1 ? "" : "s",
			vpa_text_or(s->late_ranks, "?"));
		vpa_words_add(w, "", " %s late", s->late.rank_count == 1 ? "is" : "are");
		break;
	}
	if (s->late_by)
		vpa_words_add(w, "", ": %s%s%s", s->late_by, s->late_place ? " in " : "",
			vpa_text_or(s->late_place, ""));
}

static void put_late(struct vpa_page *p, const struct vpa_job_comparison *c)
{
	const struct vpa_job_side *sides[] = {&c->a, &c->b};
	size_t i;

	for (i = 0; i < 2; i++) {
		struct vpa_words w = {.used = 0};

		if (!sides[i]->job->rows)
			vpa_words_add(&w, "", "the ranks have no collective in common");
		else
			add_late(&w, sides[i]);
		vpa_page_words(p, i ? "" : "LATE", VPA_PLAIN, "%c: %s.", i ? 'B' : 'A', w.text);
	}
}

static void put_setup(struct vpa_page *p, const struct vpa_job_comparison *c)
{
	size_t i;

	if (!c->setup_count)
		vpa_page_words(p, "SET-UP", VPA_PLAIN, "The same, as far as it was recorded.");
	for (i = 0; i < c->setup_count && i < SETUP_SHOWN; i++)
		vpa_page_words(p, i ? "" : "SET-UP", VPA_PLAIN, "%s%s: %s -> %s",
			i ? "" : "differs. ", c->setup[i].name,
			vpa_fit(vpa_text_or(c->setup[i].a, "not set"), FACT_COLUMNS).text,
			vpa_fit(vpa_text_or(c->setup[i].b, "not set"), FACT_COLUMNS).text);
	if (i < c->setup_count)
		vpa_page_words(
			p, "", VPA_PLAIN, "and %zu more in the JSON report", c->setup_count - i);
}

/* ---- tables ---- */

static const struct vpa_column columns[] = {
	{.head = "A, ms"}, {.head = "B, ms"}, {.head = "B - A"}, {.head = "of A", .drop = 1}};

static struct vpa_num plain_ms(int64_t ns, unsigned decimals)
{
	return vpa_fixed((double)ns / 1e6, decimals);
}

static void fill(struct vpa_row *row, const struct vpa_job_comparison *c, int64_t a_ns,
	int64_t b_ns, int64_t delta_ns)
{
	unsigned decimals = vpa_compared_decimals_of(c->a.unit_ns);

	row->cells[0] = plain_ms(a_ns, decimals);
	row->cells[1] = plain_ms(b_ns, decimals);
	row->cells[2] = vpa_compared_change_ms(delta_ns, decimals + 1);
	row->cells[3] = vpa_compared_percent((double)delta_ns / (double)c->a.unit_ns);
}

const char *vpa_job_part_of_unit_words(enum vpa_scaling_part part)
{
	return part == VPA_SCALING_HOST        ? "host code and launches"
	       : part == VPA_SCALING_TRANSFERS ? "transfers"
	       : part == VPA_SCALING_COMPUTE   ? "compute"
					       : vpa_scaling_words(part);
}

static void put_parts(struct vpa_page *p, const struct vpa_job_comparison *c)
{
	struct vpa_table t;
	struct vpa_row *row;
	size_t i;

	vpa_table_init(&t, columns, 4, "PART OF %s, mean of all ranks",
		c->a.job->unit == VPA_UNIT_WINDOW ? "ALL" : "A UNIT");
	for (i = 0; i < c->part_count; i++) {
		const struct vpa_compared_job_part *part = &c->parts[i];

		if (part->a_ns || part->b_ns)
			fill(vpa_table_row(&t, 0, "%s", vpa_job_part_of_unit_words(part->part)), c,
				part->a_ns, part->b_ns, part->delta_ns);
	}
	if (t.row_count) {
		row = vpa_table_row(&t, 0, "in all");
		row->style = VPA_BOLD;
		fill(row, c, (int64_t)c->a.unit_ns, (int64_t)c->b.unit_ns,
			(int64_t)c->b.unit_ns - (int64_t)c->a.unit_ns);
	}
	vpa_page_table(p, &t);
}

static void put_late_by(struct vpa_page *p, const struct vpa_job_comparison *c)
{
	struct vpa_table t;
	size_t i, shown = 0;

	vpa_table_init(&t, columns, 3, "LATER BY, of a unit, summed over waits");
	for (i = 0; i < c->late_count && shown < LATE_SHOWN; i++) {
		const struct vpa_compared_late *l = &c->late[i];

		if (llabs(l->delta_ns) < (long long)(c->a.unit_ns / 1000))
			break;
		fill(vpa_table_row(&t, 0, "%s%s%s", vpa_job_part_words(&l->part),
			     l->part.place ? ", " : "", vpa_text_or(l->part.place, "")),
			c, l->a_ns, l->b_ns, l->delta_ns);
		shown++;
	}
	if (shown == LATE_SHOWN && i < c->late_count)
		vpa_table_more(&t, c->late_count - i);
	vpa_page_table(p, &t);
}

void vpa_compare_jobs_put_result(struct vpa_page *p, const struct vpa_job_comparison *c)
{
	put_side(p, "JOBS", 'A', &c->a);
	put_side(p, "", 'B', &c->b);
	vpa_page_blank(p);
	put_result(p, c);
	put_late(p, c);
	put_setup(p, c);
}

void vpa_compare_jobs_put(struct vpa_page *p, const struct vpa_job_comparison *c)
{
	vpa_compare_jobs_put_result(p, c);
	put_parts(p, c);
	put_late_by(p, c);
}

static void put_any(struct vpa_page *p, const void *c)
{
	vpa_compare_jobs_put(p, c);
}

int vpa_compare_jobs_markdown(
	const struct vpa_job_comparison *c, struct vpt_sink *sink, struct vpt_err *err)
{
	return vpa_markdown_page(put_any, c, 20, sink, err);
}
