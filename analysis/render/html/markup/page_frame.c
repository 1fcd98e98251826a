/* page_frame.c - what every page has around its sections: the policy, the style, the list of sections, the scripts.
 *
 * The page has its own Content-Security-Policy: it may request nothing, and only the style and the
 * scripts whose hashes it names may apply. Sections are written to memory first, since the list of them
 * comes before them. */
#include "analysis/render/html/markup/html.h"
#include "formats/base/memory.h"

static void put_head(struct vpa_html *h, const struct vpa_html_page *page)
{
	vpa_html_raw(h, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
			"'none'; style-src 'sha256-");
	vpa_html_raw(h, vpa_page_css_hash);
	vpa_html_raw(h, "'; script-src 'sha256-");
	vpa_html_raw(h, vpa_page_js_hash);
	vpa_html_raw(h, "' 'sha256-");
	vpa_html_raw(h, vpa_flame_js_hash);
	vpa_html_raw(h, "'; base-uri 'none'; form-action 'none'\">\n"
			"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			"<meta name=\"color-scheme\" content=\"light dark\">\n"
			"<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
	page->put_name(h, page->ctx);
	vpa_html_print(h, " - vptrace %s</title>\n<style>", page->kind);
	vpa_html_raw(h, vpa_page_css);
	vpa_html_raw(h, "</style>\n</head>\n<body>\n");
}

static void put_top(
	struct vpa_html *h, const struct vpa_html_page *page, const struct vpa_html *body)
{
	size_t i;

	vpa_html_raw(h, "<header>\n<h1><span class=\"brand\">vptrace</span> ");
	page->put_name(h, page->ctx);
	vpa_html_raw(h, "</h1>\n<p class=\"badges\">");
	page->put_badges(h, page->ctx);
	vpa_html_raw(h, "</p>\n<nav>");
	for (i = 0; i < body->section_count; i++)
		vpa_html_print(h, "%s<a href=\"#%s\">%s</a>", i ? " " : "", body->sections[i].id,
			body->sections[i].title);
	vpa_html_raw(h, "</nav>\n</header>\n<main>\n");
}

/* Writes the sections to memory. The caller frees `out`. */
static int render_body(struct vpa_html *h, const struct vpa_html_page *page, struct vpt_buffer *out,
	struct vpt_err *err)
{
	struct vpt_sink *sink;
	int rc = vpt_sink_memory(out, &sink, err);

	if (rc)
		return rc;
	vpa_html_init(h, sink, err);
	h->command = page->command;
	page->put_sections(h, page->ctx);
	vpa_html_flush(h);
	rc = sink->finish(sink, !h->rc, h->rc ? NULL : err);
	return h->rc ? h->rc : rc;
}

int vpa_html_page(const struct vpa_html_page *page, struct vpt_sink *sink, struct vpt_err *err)
{
	struct vpa_html *body = vpt_alloc(1, sizeof(*body)), *h = vpt_alloc(1, sizeof(*h));
	struct vpt_buffer text = {0};
	int rc;

	if (!body || !h)
		rc = vpt_fail(err, VPT_ENOMEM, "no memory for a page");
	else
		rc = render_body(body, page, &text, err);
	if (!rc) {
		vpa_html_init(h, sink, err);
		put_head(h, page);
		put_top(h, page, body);
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
