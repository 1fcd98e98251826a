/* page_stages.c - the stages of the pipeline, each with the durations of its instances. */
#include "analysis/render/html/report_page.h"
#include "analysis/render/text/sections/text_blocks_parts.h"
#include "analysis/report/overview.h"
#include "formats/base/text.h"

enum { STAGES = 40, HEIGHT = 22 };

/* The instances of a stage; NULL: none were kept. */
static const struct vpa_overview_lane *lane_of(
	const struct vpa_report *r, const struct vpa_stage_row *s)
{
	size_t i;

	for (i = 0; r->overview && i < r->overview->lane_count; i++) {
		const struct vpa_overview_lane *lane = &r->overview->lanes[i];

		if (lane->kind == s->kind &&
			(s->kind != VPA_SCOPE_STAGE || vpt_same_text(lane->name, s->name)))
			return lane;
	}
	return NULL;
}

static void put_mark(struct vpa_html *h, const char *class_name, uint64_t at, uint64_t most, int y)
{
	vpa_html_print(
		h, "<line class=\"%s\" y1=\"%d\" y2=\"%d\" x1=\"", class_name, y, HEIGHT - y);
	vpa_html_percent(h, at, most);
	vpa_html_raw(h, "%\" x2=\"");
	vpa_html_percent(h, at, most);
	vpa_html_raw(h, "%\"/>");
}

/* A line for each instance, and taller ones for the median and the 95th percentile. The left edge is 0. */
static void put_strip(struct vpa_html *h, const struct vpa_stage_row *s,
	const struct vpa_overview_lane *lane, uint64_t most)
{
	size_t i;

	vpa_html_print(h,
		"<svg class=\"bar\" width=\"100%%\" height=\"%d\"><line class=\"grid\" "
		"x1=\"0\" x2=\"100%%\" y1=\"%d\" y2=\"%d\"/>",
		HEIGHT, HEIGHT / 2, HEIGHT / 2);
	for (i = 0; lane && i < lane->sample_count; i++)
		put_mark(h, "one", lane->samples_ns[i], most, 6);
	put_mark(h, "p50", s->time.p50_ns, most, 1);
	put_mark(h, "p95", s->time.p95_ns, most, 1);
	vpa_html_raw(h, "</svg>");
}

static uint64_t longest_of(const struct vpa_stage_row *s, const struct vpa_overview_lane *lane)
{
	uint64_t most = s->time.max_ns;
	size_t i;

	for (i = 0; lane && i < lane->sample_count; i++)
		most = lane->samples_ns[i] > most ? lane->samples_ns[i] : most;
	return most;
}

static void put_stage(struct vpa_html *h, const struct vpa_report *r, const struct vpa_stage_row *s)
{
	const struct vpa_overview_lane *lane = lane_of(r, s);
	uint64_t most = longest_of(s, lane);

	vpa_html_print(h, "<tr><td class=\"t%s\">", s->nested ? " nested" : "");
	vpa_html_text(h, vpa_text_or(s->name, "?"));
	if (s->touched)
		vpa_html_raw(h, " " VPA_TOUCHED);
	vpa_html_raw(h, "</td><td class=\"bar\">");
	put_strip(h, s, lane, most);
	vpa_html_print(h,
		"</td><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td>"
		"<td class=\"n\">%s</td></tr>\n",
		vpa_duration(most).text, vpa_duration(s->time.p50_ns).text,
		vpa_duration(s->time.p95_ns).text, vpa_count(s->count).text);
}

void vpa_html_stages(struct vpa_html *h, const struct vpa_report *r, const struct vpa_digest *d)
{
	size_t i;

	(void)d;
	if (!r->stage_count)
		return;
	vpa_html_begin(h, "stages", "Stages",
		"Every instance is a thin line at its duration, from 0 on the left to the longest; "
		"the median is solid, the 95th percentile dashed.");
	vpa_html_raw(h, "<div class=\"scroll\"><table class=\"fall strips\"><thead><tr><th "
			"class=\"t\">stage</th><th class=\"bar\">instances</th><th "
			"class=\"n\">longest</th><th class=\"n\">p50</th><th "
			"class=\"n\">p95</th><th class=\"n\">count</th></tr></thead>\n<tbody>\n");
	for (i = 0; i < r->stage_count && i < STAGES; i++)
		put_stage(h, r, &r->stages[i]);
	vpa_html_raw(h, "</tbody></table></div>\n");
	vpa_html_raw(h, "<details class=\"rows\"><summary>Table of stages</summary>\n");
	vpa_html_put_table(h, r, "stages");
	vpa_html_raw(h, "</details>\n");
	vpa_html_end(h);
}
