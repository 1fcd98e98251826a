/* page.c - the report as one page for browsers, which needs nothing else: no network, no library.
 *
 * Charts are SVG and complete without scripts, which add selection, zoom, sorting and filters. Sums are exact;
 * what is drawn is at most some hundreds of kilobytes, whatever the trace. */
#include "analysis/render/html/report_page.h"
#include "analysis/render/renderer.h"
#include "analysis/render/fields/run_tags.h"
#include "formats/base/memory.h"

static void (*const sections[])(
	struct vpa_html *h, const struct vpa_report *r, const struct vpa_digest *d) = {
#define VPA_HTML_SECTION(put) put,
#include "analysis/render/html/page_sections.def"
};

struct report {
	const struct vpa_report *report;
	struct vpa_digest *digest;
};

static void put_name(struct vpa_html *h, const void *ctx)
{
	vpa_html_file(h, ((const struct report *)ctx)->report->path);
}

static void put_badges(struct vpa_html *h, const void *ctx)
{
	const struct vpa_report *r = ((const struct report *)ctx)->report;
	const struct vpa_pair *tag;
	size_t at = 0;

	if (r->simulated > 0)
		vpa_html_raw(h, "<span class=\"badge red\">SIMULATED: no GPU ran</span> ");
	else if (r->simulated)
		vpa_html_raw(h, "<span class=\"badge red\">PERHAPS SIMULATED</span> ");
	while ((tag = vpa_tag_next(r, &at)) != NULL) {
		vpa_html_raw(h, "<span class=\"badge\" title=\"tag\">");
		vpa_html_cut(h, vpa_tag_of(tag->key), 64);
		vpa_html_raw(h, "=");
		vpa_html_cut(h, tag->value, 64);
		vpa_html_raw(h, "</span> ");
	}
	vpa_html_print(h, "<span class=\"badge %s\">%s</span>",
		r->verdict.complete ? "green" : "red", vpa_verdict_word(r->verdict.complete));
}

static void put_sections(struct vpa_html *h, const void *ctx)
{
	const struct report *r = ctx;
	size_t i;

	for (i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		sections[i](h, r->report, r->digest);
}

static int render(const struct vpa_report *r, const struct vpa_text *form, struct vpt_sink *sink,
	struct vpt_err *err)
{
	const struct report ctx = {r, vpt_alloc(1, sizeof(*ctx.digest))};
	const struct vpa_html_page page = {.kind = "report",
		.command = form->command,
		.put_name = put_name,
		.put_badges = put_badges,
		.put_sections = put_sections,
		.ctx = &ctx};
	int rc;

	if (!ctx.digest)
		return vpt_fail(err, VPT_ENOMEM, "no memory for a page");
	vpa_digest_of(r, ctx.digest);
	rc = vpa_html_page(&page, sink, err);
	vpt_free(ctx.digest);
	return rc;
}

const struct vpa_renderer vpa_renderer_html = {
	.name = "html",
	.needs_overview = 1,
	.top = VPA_TOP_PAGE,
	.render = render,
};
