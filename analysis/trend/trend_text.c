/* trend_text.c - a trend in words: a row for each report, and the changes in sentences. */
#include "analysis/trend/trend.h"

#include "analysis/render/text_page.h"
#include "formats/base/text.h"

#include <math.h>
#include <stdio.h>

struct vpa_num vpa_trend_value(enum vpa_trend_figure figure, double value)
{
	struct vpa_num n = {"-"};

	if (value < 0)
		return n;
	switch (figure) {
	case VPA_TREND_PERIOD:
		return vpa_duration((uint64_t)value);
	case VPA_TREND_IDLE:
		return vpa_share(value);
	case VPA_TREND_MEMORY:
		return vpa_bytes((uint64_t)value);
	default:
		return vpa_fixed(value, 2);
	}
}

enum vpa_cause vpa_trend_main_cause(const struct vpa_trend_point *p)
{
	enum vpa_cause most = 0;
	int i;

	for (i = 1; i < VPA_CAUSES; i++)
		if (p->causes[i] > p->causes[most])
			most = (enum vpa_cause)i;
	return most;
}

static void put_points(struct vpa_page *p, const struct vpa_trend *t)
{
	const struct vpa_num period = vpa_trend_words(t, VPA_TREND_PERIOD);
	struct vpa_column columns[] = {[VPA_TREND_FIGURES] = {.head = "most of it"}};
	struct vpa_table table;
	size_t i;
	int k;

	for (k = 0; k < VPA_TREND_FIGURES; k++)
		columns[k] =
			(struct vpa_column){vpa_text_or(vpa_trend_figures[k].head, period.text),
				.drop = vpa_trend_figures[k].drop};
	vpa_table_init(&table, columns, VPA_TREND_FIGURES + 1, "REPORTS");
	for (i = 0; i < t->count; i++) {
		const struct vpa_trend_point *point = &t->points[i];
		char when[VPA_TREND_TIME];
		struct vpa_row *row;

		vpa_trend_time(point->unix_ns, when);
		row = vpa_table_row(&table, 0, "%s%s%s%s%s%s", point->is_shift ? "> " : "  ", when,
			*when ? "  " : "", vpa_fit(point->commit, 10).text,
			*point->commit ? "  " : "", vpa_fit(vpt_file_name(point->path), 24).text);
		for (k = 0; k < VPA_TREND_FIGURES; k++)
			row->cells[k] =
				vpa_trend_value((enum vpa_trend_figure)k, point->figures[k]);
		if (point->causes[vpa_trend_main_cause(point)] > 0)
			snprintf(row->cells[k].text, sizeof(row->cells[k].text), "%s",
				vpa_cause_text(vpa_trend_main_cause(point)));
		row->style = point->is_shift ? VPA_BOLD : VPA_PLAIN;
	}
	vpa_page_table(p, &table);
}

struct vpa_num vpa_trend_words(const struct vpa_trend *t, enum vpa_trend_figure figure)
{
	int has_unit = figure == VPA_TREND_PERIOD && t->unit != VPA_UNIT_WINDOW;
	struct vpa_num n;

	snprintf(n.text, sizeof(n.text), "%s%s%s", has_unit ? vpa_unit_kind_name(t->unit) : "",
		has_unit ? " " : "", vpa_trend_figures[figure].words);
	return n;
}

static void put_shift(struct vpa_page *p, const struct vpa_trend *t,
	const struct vpa_trend_shift *s, const char *section)
{
	const struct vpa_trend_point *at = &t->points[s->at];
	/* Of a rate more is better; a figure may have been 0. */
	int is_rate = s->figure == VPA_TREND_FPS || s->figure == VPA_TREND_STEPS;
	int is_better = is_rate == (s->after > s->before);
	struct vpa_words w = {.used = 0};
	char when[VPA_TREND_TIME];

	vpa_trend_time(at->unix_ns, when);
	vpa_words_add(&w, "", "%s %s from %s to %s%s", vpa_trend_words(t, s->figure).text,
		s->after > s->before ? "rose" : "fell", vpa_trend_value(s->figure, s->before).text,
		vpa_trend_value(s->figure, s->after).text, s->figure == VPA_TREND_IDLE ? " %" : "");
	if (s->before > 0)
		vpa_words_add(&w, " ", "(%s%s %%)", s->after > s->before ? "+" : "-",
			vpa_fixed(fabs(100 * (s->after / s->before - 1)), 1).text);
	vpa_words_add(&w, ", ", "from %s on%s%s%s%s", vpa_fit(at->path, 60).text, *when ? ", " : "",
		when, *at->commit ? ", commit " : "", vpa_fit(at->commit, 40).text);
	vpa_words_add(&w, ": ", "%zu reports before, %zu after, p %s", s->before_count,
		s->after_count, vpa_fixed(s->p, 4).text);
	if (s->cause != VPA_CAUSES)
		vpa_words_add(&w, ". ", "Idle for %s went from %s to %s %% of the window",
			vpa_cause_text(s->cause), vpa_share(s->cause_before).text,
			vpa_share(s->cause_after).text);
	vpa_page_words(p, section, is_better ? VPA_GREEN : VPA_RED, "%s.", w.text);
}

void vpa_trend_put_changes(struct vpa_page *p, const struct vpa_trend *t)
{
	char first[VPA_TREND_TIME], last[VPA_TREND_TIME];
	size_t i;

	vpa_trend_time(t->points[0].unix_ns, first);
	vpa_trend_time(t->points[t->count - 1].unix_ns, last);

	if (t->is_by_time)
		vpa_page_words(p, "TREND", VPA_PLAIN, "%zu report%s, %s to %s (UTC)", t->count,
			vpa_plural(t->count), first, last);
	else
		vpa_page_words(p, "TREND", VPA_PLAIN,
			"%zu report%s, in the order given: not all of them say when they were made",
			t->count, vpa_plural(t->count));
	for (i = 0; i < t->shift_count; i++)
		put_shift(p, t, &t->shifts[i], i ? "" : "CHANGES");
	if (!t->shift_count)
		vpa_page_words(p, "CHANGES", VPA_PLAIN,
			t->count < 7
				? "none can be told from chance: that takes seven reports or more"
				: "none that chance does not explain");
}

void vpa_trend_put(struct vpa_page *p, const struct vpa_trend *t)
{
	vpa_trend_put_changes(p, t);
	put_points(p, t);
}
