/* job_compare_page.c - two jobs of several ranks as one page for browsers: the first screen of the text, where the time of the
 * mean unit went on both sides, and tables made from the keys of the JSON. */
#include "analysis/compare/render/job_compare_pages.h"

#include "analysis/base/intervals.h"
#include "analysis/compare/comparison_steps.h"
#include "analysis/compare/render/change_numbers.h"
#include "analysis/compare/render/compare_pages.h"
#include "analysis/ranks/render/ranks_pages.h"
#include "analysis/render/html/markup/bar_pairs.h"
#include "analysis/render/html/page_tables.h"
#include "formats/base/count.h"

/* ---- the head ---- */

static void put_side_name(struct vpa_html *h, const struct vpa_job_side *s)
{
	vpa_html_print(h, "%zu ranks", s->job->rank_count);
	if (s->job->job) {
		vpa_html_raw(h, " of ");
		vpa_html_text(h, s->job->job);
	}
}

static void put_name(struct vpa_html *h, const void *ctx)
{
	const struct vpa_job_comparison *c = ctx;

	put_side_name(h, &c->a);
	vpa_html_raw(h, " \xe2\x86\x92 "); /* an arrow */
	put_side_name(h, &c->b);
}

static void put_badges(struct vpa_html *h, const void *ctx)
{
	static const char *const badges[] = {[VPA_JOBS_SAME] = "green\">SAME",
		[VPA_JOBS_FASTER] = "green\">FASTER",
		[VPA_JOBS_SLOWER] = "red\">SLOWER",
		[VPA_JOBS_UNLIKE] = "yellow\">UNLIKE"};
	const struct vpa_job_comparison *c = ctx;
	int complete = c->a.complete && c->b.complete;

	vpa_html_print(h, "<span class=\"badge %s</span> ", badges[c->verdict]);
	if (c->a.job->simulated > 0 || c->b.job->simulated > 0)
		vpa_html_raw(h, "<span class=\"badge red\">SIMULATED: no GPU ran</span> ");
	vpa_html_print(h, "<span class=\"badge %s\">%s</span>", complete ? "green" : "red",
		vpa_verdict_word(complete));
}

static void put_words(struct vpa_page *p, const void *ctx)
{
	vpa_compare_jobs_put_result(p, ctx);
}

/* ---- the mean unit ---- */

static const char *const looks[VPA_SCALING_PARTS] = {[VPA_SCALING_TRANSFERS] = "p-comm",
	[VPA_SCALING_WAITS] = "p-rank-waits",
	[VPA_SCALING_HOST] = "p-host-code idle",
	[VPA_SCALING_IDLE] = "p-other-idle idle",
	[VPA_SCALING_COPIES] = "p-memcpy",
	[VPA_SCALING_COMPUTE] = "p-rank-computes"};

static uint64_t natural(int64_t ns)
{
	return ns > 0 ? (uint64_t)ns : 0;
}

static void put_row(struct vpa_bar_pairs *pairs, const struct vpa_job_comparison *c,
	const char *name, const char *look, const struct vpa_compared_job_part *part, int is_sum)
{
	unsigned decimals = vpa_compared_decimals_of(c->a.unit_ns);
	const struct vpa_bar_pair row = {.a_ns = natural(part->a_ns),
		.b_ns = natural(part->b_ns),
		.delta_ns = part->delta_ns,
		.a = vpa_fixed((double)part->a_ns / 1e6, decimals),
		.b = vpa_fixed((double)part->b_ns / 1e6, decimals),
		.delta = vpa_compared_change_ms(part->delta_ns, decimals + 1),
		.plain = look,
		.kind = "",
		.is_sum = is_sum};

	vpa_html_pair_begin(pairs->h, &row);
	vpa_html_text(pairs->h, name);
	vpa_html_pair_bars(pairs, &row);
}

static void put_unit(struct vpa_html *h, const struct vpa_job_comparison *c)
{
	const struct vpa_compared_job_part whole = {.a_ns = (int64_t)c->a.unit_ns,
		.b_ns = (int64_t)c->b.unit_ns,
		.delta_ns = (int64_t)c->b.unit_ns - (int64_t)c->a.unit_ns};
	struct vpa_bar_pairs pairs = {.h = h,
		.scale_ns = vpa_later(c->a.unit_ns, c->b.unit_ns),
		.delta_scale_ns = vpa_magnitude(whole.delta_ns)};
	size_t i;

	if (!c->part_count)
		return;
	for (i = 0; i < c->part_count; i++)
		pairs.delta_scale_ns =
			vpa_later(pairs.delta_scale_ns, vpa_magnitude(c->parts[i].delta_ns));
	vpa_html_begin(h, "waterfall", vpa_unit_words(c->a.job->unit)->mean,
		"What a rank does in it, the mean of all ranks. Each bar of A and of B begins "
		"where the one above it ends, on one scale; the changes have their own, red for "
		"more time.");
	vpa_html_pairs_begin(h, "A", "B", "parts");
	put_row(&pairs, c, vpa_unit_kind_name(c->a.job->unit), "whole", &whole, 1);
	for (i = c->part_count; i-- > 0;)
		if (c->parts[i].a_ns || c->parts[i].b_ns)
			put_row(&pairs, c, vpa_job_part_of_unit_words(c->parts[i].part),
				looks[c->parts[i].part], &c->parts[i], 0);
	vpa_html_pairs_end(h);
	vpa_html_end(h);
}

/* ---- tables ---- */

static const struct list {
	const char *id, *title, *lead;
	const char *folded; /* says what is folded away; NULL: the table is open */
	struct vpa_view view;
} lists[] = {
	{"parts", "Parts", NULL,
		"The bars as a table; the changes add up to that of the mean, to the nanosecond",
		{"parts", "Parts of the mean", .first = "part a_ns b_ns delta_ns"}},
	{"late-by", "Later by",
		"What the last ranks did more of than those that waited for them, in a unit, "
		"summed over waits.",
		NULL, {"late_by", "Later by", .first = "class what place a_ns b_ns delta_ns"}},
	{"setup", "Set-up", NULL, NULL, {"setup", "What differs", .first = "name a b"}},
};

static void put_list(
	struct vpa_html *h, const struct vpa_job_comparison *c, const struct list *list)
{
	const struct vpa_html_source source = {&vpa_fields_job_comparison, NULL, c, NULL};

	if (!vpa_html_source_rows(&source, &list->view))
		return;
	vpa_html_begin(h, list->id, list->title, list->lead);
	if (list->folded)
		vpa_html_print(h, "<details><summary>%s</summary>\n", list->folded);
	vpa_html_put_source(h, &source, &list->view);
	if (list->folded)
		vpa_html_raw(h, "</details>\n");
	vpa_html_end(h);
}

static const struct vpa_html_word words[] = {
	{"A, B, B - A", "A is what was, B what is. B - A is the change: times below 0 are saved. A "
			"job is one run, so it is not known how much of a change is chance."},
	{"waiting for other ranks", "From the start of a collective's kernel on this rank until "
				    "the last rank has started it, where nothing else runs."},
	{"transfers", "The rest of the collectives' time, where nothing else runs."},
	{"later by", "To a collective one rank comes last. What it did more of since the "
		     "collective before than each rank that waits."},
};

/* ---- the whole ---- */

static void put_sections(struct vpa_html *h, const void *ctx)
{
	const struct vpa_job_comparison *c = ctx;
	size_t i;

	vpa_html_begin(h, "summary", "Verdict", NULL);
	vpa_html_words(h, put_words, c);
	vpa_html_end(h);
	put_unit(h, c);
	for (i = 0; i < COUNT(lists); i++)
		put_list(h, c, &lists[i]);
	vpa_html_how_to_read(h, words, COUNT(words), NULL, 0);
}

int vpa_compare_jobs_html(const struct vpa_job_comparison *c, const char *command,
	struct vpt_sink *sink, struct vpt_err *err)
{
	const struct vpa_html_page page = {.kind = "comparison of jobs",
		.command = command,
		.put_name = put_name,
		.put_badges = put_badges,
		.put_sections = put_sections,
		.ctx = c};

	return vpa_html_page(&page, sink, err);
}
