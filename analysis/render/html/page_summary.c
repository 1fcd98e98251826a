/* page_summary.c - the first screen, as the terminal has it: the text report's own sections, in markup, and what to fix first. */
#include "analysis/render/html/report_page.h"
#include "analysis/render/text/sections/text_sections.h"

struct summary {
	const struct vpa_report *report;
	const struct vpa_digest *digest;
};

static void put_result(struct vpa_page *p, const void *ctx)
{
	const struct summary *s = ctx;

	p->touched = s->report->touched;
	vpa_text_summary(p, s->report, s->digest);
}

static void put_notes(struct vpa_page *p, const void *ctx)
{
	const struct summary *s = ctx;

	vpa_text_notes(p, s->report, s->digest);
}

void vpa_html_summary(struct vpa_html *h, const struct vpa_report *r, const struct vpa_digest *d)
{
	const struct summary s = {r, d};

	vpa_html_begin(h, "summary", "Result", NULL);
	vpa_html_words(h, put_result, &s);
	vpa_html_top_findings(h, r, d);
	vpa_html_words(h, put_notes, &s);
	vpa_html_end(h);
}
