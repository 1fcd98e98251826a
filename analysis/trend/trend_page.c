/* trend_page.c - a trend as a page: the changes in sentences, a line for each figure with its changes marked, and a table of the
 * reports that sorts. */
#include "analysis/trend/trend.h"

#include "analysis/render/html/markup/html.h"
#include "analysis/render/text_page.h"
#include "formats/base/count.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"

#include <inttypes.h>
#include <stdio.h>

enum { UNITS = 1000000, FULL = 1000, HEIGHT = 120 };

static void put_name(struct vpa_html *h, const void *ctx)
{
	const struct vpa_trend *t = ctx;

	vpa_html_print(h, "trend of %zu report%s", t->count, vpa_plural(t->count));
}

static void put_badges(struct vpa_html *h, const void *ctx)
{
	const struct vpa_trend *t = ctx;

	vpa_html_print(h, "<span class=\"badge\">%zu change%s</span>", t->shift_count,
		vpa_plural(t->shift_count));
}

static void put_words(struct vpa_page *p, const void *ctx)
{
	vpa_trend_put_changes(p, ctx);
}

/* ---- charts ---- */

static int x_of(const struct vpa_trend *t, size_t i)
{
	return t->count > 1 ? (int)(i * (size_t)UNITS / (t->count - 1)) : UNITS / 2;
}

static double largest(const struct vpa_trend *t, enum vpa_trend_figure figure)
{
	double most = -1;
	size_t i;

	for (i = 0; i < t->count; i++)
		if (t->points[i].figures[figure] > most)
			most = t->points[i].figures[figure];
	return most;
}

/* A line through the reports that have the figure, from 0 to the largest value. */
static void put_line(
	struct vpa_html *h, const struct vpa_trend *t, enum vpa_trend_figure figure, double most)
{
	int is_begun = 0;
	size_t i;

	vpa_html_raw(h, "<path class=\"line\" vector-effect=\"non-scaling-stroke\" d=\"");
	for (i = 0; i < t->count; i++) {
		double value = t->points[i].figures[figure];

		if (value < 0)
			continue;
		vpa_html_print(h, "%c%d %d", is_begun ? 'L' : 'M', x_of(t, i),
			most > 0 ? FULL - (int)(value / most * FULL) : FULL);
		is_begun = 1;
	}
	vpa_html_raw(h, "\"/>");
}

static void put_chart(
	struct vpa_html *h, const struct vpa_trend *t, enum vpa_trend_figure figure, double most)
{
	size_t i;

	vpa_html_raw(h, "<figure class=\"counter\"><figcaption><b>");
	vpa_html_text(h, vpa_trend_words(t, figure).text);
	vpa_html_raw(h, "</b> <span>from 0 to ");
	vpa_html_text(h, vpa_trend_value(figure, most).text);
	vpa_html_print(h,
		"%s</span></figcaption><svg data-figure=\"%s\" width=\"100%%\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\">",
		figure == VPA_TREND_IDLE ? " %" : "", vpa_trend_figures[figure].name, HEIGHT, UNITS,
		FULL);
	put_line(h, t, figure, most);
	for (i = 0; i < t->shift_count; i++)
		if (t->shifts[i].figure == figure)
			vpa_html_print(h,
				"<path class=\"target\" vector-effect=\"non-scaling-stroke\" "
				"d=\"M%d 0V%d\"/>",
				x_of(t, t->shifts[i].at), FULL);
	vpa_html_raw(h, "</svg></figure>\n");
}

static void put_charts(struct vpa_html *h, const struct vpa_trend *t)
{
	int k;

	vpa_html_begin(h, "figures", "Figures over time",
		"Each report is as far from the next one as any other; a line across marks the "
		"first report after a change.");
	vpa_html_raw(h, "<div class=\"counters\">\n");
	for (k = 0; k < VPA_TREND_FIGURES; k++) {
		double most = largest(t, (enum vpa_trend_figure)k);

		if (most >= 0)
			put_chart(h, t, (enum vpa_trend_figure)k, most);
	}
	vpa_html_raw(h, "</div>\n");
	vpa_html_end(h);
}

/* ---- the table ---- */

static void put_text(struct vpa_html *h, const char *text)
{
	vpa_html_raw(h, "<td class=\"t\"><span>");
	vpa_html_text(h, *text ? text : "-");
	vpa_html_raw(h, "</span></td>");
}

static void put_row(struct vpa_html *h, const struct vpa_trend_point *p)
{
	char when[VPA_TREND_TIME], exact[40];
	int k;

	vpa_trend_time(p->unix_ns, when);
	vpa_html_raw(h, "<tr>");
	put_text(h, when);
	put_text(h, p->commit);
	put_text(h, p->tags);
	put_text(h, vpt_file_name(p->path));
	put_text(h, p->complete ? "complete" : "incomplete");
	for (k = 0; k < VPA_TREND_FIGURES; k++) {
		/* Exact to a millionth, in integers, which look the same everywhere. */
		if (p->figures[k] < 0)
			snprintf(exact, sizeof(exact), "-1");
		else
			snprintf(exact, sizeof(exact), "%" PRIu64,
				vpt_sat_u64(p->figures[k] * 1e6 + 0.5));
		vpa_html_print(h, "<td class=\"n\" data-v=\"%s\">", exact);
		if (p->is_shift >> k & 1)
			vpa_html_raw(h, "<b>");
		vpa_html_text(h, vpa_trend_value((enum vpa_trend_figure)k, p->figures[k]).text);
		if (p->is_shift >> k & 1)
			vpa_html_raw(h, "</b>");
		vpa_html_raw(h, "</td>");
	}
	put_text(h, p->causes[vpa_trend_main_cause(p)] > 0 ? vpa_cause_text(vpa_trend_main_cause(p))
							   : "");
	vpa_html_raw(h, "</tr>\n");
}

static void put_table(struct vpa_html *h, const struct vpa_trend *t)
{
	static const char *const texts[] = {"time", "commit", "tags", "file", "capture"};
	const struct vpa_num period = vpa_trend_words(t, VPA_TREND_PERIOD);
	size_t i;

	vpa_html_begin(h, "reports", "Reports", "Times are UTC. What changed is bold.");
	vpa_html_raw(h, "<div class=\"scroll\"><table data-path=\"reports\">\n<thead><tr>");
	for (i = 0; i < COUNT(texts); i++)
		vpa_html_print(h, "<th class=\"t\" data-k=\"%s\">%s</th>", texts[i], texts[i]);
	for (i = 0; i < VPA_TREND_FIGURES; i++)
		vpa_html_print(h, "<th class=\"n\" data-k=\"%s\">%s</th>",
			vpa_trend_figures[i].name,
			vpa_text_or(vpa_trend_figures[i].head, period.text));
	vpa_html_raw(
		h, "<th class=\"t\" data-k=\"cause\">idle most for</th></tr></thead>\n<tbody>\n");
	for (i = 0; i < t->count; i++)
		put_row(h, &t->points[i]);
	vpa_html_raw(h, "</tbody></table></div>\n");
	vpa_html_end(h);
}

static void put_sections(struct vpa_html *h, const void *ctx)
{
	vpa_html_begin(h, "summary", "Changes", NULL);
	vpa_html_words(h, put_words, ctx);
	vpa_html_end(h);
	put_charts(h, ctx);
	put_table(h, ctx);
	vpa_html_begin(h, "help", "How to read this page", NULL);
	vpa_html_raw(h,
		"<p>A change is a place before and after which a figure differs more than "
		"chance explains: of 2,000 orders of the same values, at most one in twenty has "
		"a split as clear. Energy is of a frame, or else of the whole capture.</p>\n");
	vpa_html_command(h);
	vpa_html_end(h);
}

int vpa_trend_html(
	const struct vpa_trend *t, const char *command, struct vpt_sink *sink, struct vpt_err *err)
{
	const struct vpa_html_page page = {.kind = "trend",
		.command = command,
		.put_name = put_name,
		.put_badges = put_badges,
		.put_sections = put_sections,
		.ctx = t};

	return vpa_html_page(&page, sink, err);
}
