/* page.c - the report as one page for browsers, which needs nothing else: no network, no library.
 *
 * The page has its own Content-Security-Policy: it may request nothing, and only the style and the
 * scripts whose hashes it names may apply. Charts are SVG and complete without scripts, which add selection,
 * zoom, sorting and filters. Sections are written to memory first, since the list of them comes before
 * them. Sums are exact; what is drawn is at most some hundreds of kilobytes, whatever the trace. */
#include "analysis/render/html/html.h"
#include "analysis/render/renderer.h"
#include "formats/memory.h"

#include <string.h>

static void (*const sections[])(
	struct vpa_html *h, const struct vpa_report *r, const struct vpa_digest *d) = {
#define VPA_HTML_SECTION(put) put,
#include "analysis/render/html/sections.def"
};

/* The file's name without its folder. */
static const char *name_of(const struct vpa_report *r)
{
	const char *path = vpa_text_or(r->path, "trace"), *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void put_head(struct vpa_html *h, const struct vpa_report *r)
{
	vpa_html_raw(h,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src 'sha256-");
	vpa_html_raw(h, vpa_page_css_hash);
	vpa_html_raw(h, "'; script-src 'sha256-");
	vpa_html_raw(h, vpa_page_js_hash);
	vpa_html_raw(h, "' 'sha256-");
	vpa_html_raw(h, vpa_flame_js_hash);
	vpa_html_raw(h, "'; base-uri 'none'; form-action 'none'\">\n"
			"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			"<meta name=\"color-scheme\" content=\"light dark\">\n"
			"<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
	vpa_html_text(h, name_of(r));
	vpa_html_raw(h, " - vptrace report</title>\n<style>");
	vpa_html_raw(h, vpa_page_css);
	vpa_html_raw(h, "</style>\n</head>\n<body>\n");
}

static void put_badges(struct vpa_html *h, const struct vpa_report *r)
{
	if (r->simulated > 0)
		vpa_html_raw(h, "<span class=\"badge red\">SIMULATED: no GPU ran</span> ");
	else if (r->simulated)
		vpa_html_raw(h, "<span class=\"badge red\">PERHAPS SIMULATED</span> ");
	vpa_html_print(h, "<span class=\"badge %s\">%s</span>",
		r->verdict.complete ? "green" : "red",
		r->verdict.complete ? "COMPLETE" : "INCOMPLETE");
}

static void put_top(struct vpa_html *h, const struct vpa_report *r, const struct vpa_html *body)
{
	size_t i;

	vpa_html_raw(h, "<header>\n<h1><span class=\"brand\">vptrace</span> ");
	vpa_html_text(h, name_of(r));
	vpa_html_raw(h, "</h1>\n<p class=\"badges\">");
	put_badges(h, r);
	vpa_html_raw(h, "</p>\n<nav>");
	for (i = 0; i < body->section_count; i++)
		vpa_html_print(h, "%s<a href=\"#%s\">%s</a>", i ? " " : "", body->sections[i].id,
			body->sections[i].title);
	vpa_html_raw(h, "</nav>\n</header>\n<main>\n");
}

/* Writes the sections to memory. The caller frees `out`. */
static int render_body(struct vpa_html *h, const struct vpa_report *r, const struct vpa_text *form,
	struct vpt_buffer *out, struct vpt_err *err)
{
	struct vpa_digest *d = vpt_alloc(1, sizeof(*d));
	struct vpt_sink *sink;
	size_t i;
	int rc;

	if (!d)
		return vpt_fail(err, VPT_ENOMEM, "no memory for a page");
	rc = vpt_sink_memory(out, &sink, err);
	if (rc) {
		vpt_free(d);
		return rc;
	}
	vpa_digest_of(r, d);
	vpa_html_init(h, sink, err);
	h->form = form;
	for (i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		sections[i](h, r, d);
	vpa_html_flush(h);
	vpt_free(d);
	rc = sink->finish(sink, !h->rc, h->rc ? NULL : err);
	return h->rc ? h->rc : rc;
}

static int render(const struct vpa_report *r, const struct vpa_text *form, struct vpt_sink *sink,
	struct vpt_err *err)
{
	struct vpa_html *body = vpt_alloc(1, sizeof(*body)), *h = vpt_alloc(1, sizeof(*h));
	struct vpt_buffer text = {0};
	int rc;

	if (!body || !h)
		rc = vpt_fail(err, VPT_ENOMEM, "no memory for a page");
	else
		rc = render_body(body, r, form, &text, err);
	if (!rc) {
		vpa_html_init(h, sink, err);
		put_head(h, r);
		put_top(h, r, body);
		vpa_html_bytes(h, text.data, text.size);
		vpa_html_raw(h, "</main>\n<script>");
		vpa_html_raw(h, vpa_page_js);
		vpa_html_raw(h, "</script>\n<script>");
		vpa_html_raw(h, vpa_flame_js);
		vpa_html_raw(h, "</script>\n</body>\n</html>\n");
		rc = vpa_html_flush(h);
	}
	vpt_free(text.data);
	vpt_free(body);
	vpt_free(h);
	return rc;
}

const struct vpa_renderer vpa_renderer_html = {
	.name = "html",
	.needs_overview = 1,
	.top = 100,
	.render = render,
};
