/* html.c - writes markup, and text that stays text. */
#include "analysis/render/html/markup/html.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void vpa_html_init(struct vpa_html *h, struct vpt_sink *sink, struct vpt_err *err)
{
	h->sink = sink;
	h->err = err;
	h->rc = VPT_OK;
	h->command = NULL;
	h->used = h->section_count = 0;
}

int vpa_html_flush(struct vpa_html *h)
{
	if (!h->rc && h->used)
		h->rc = vpt_sink_write(h->sink, h->buffer, h->used, h->err);
	h->used = 0;
	return h->rc;
}

void vpa_html_bytes(struct vpa_html *h, const char *markup, size_t size)
{
	if (size > sizeof(h->buffer) - h->used)
		vpa_html_flush(h);
	if (size > sizeof(h->buffer)) {
		if (!h->rc)
			h->rc = vpt_sink_write(h->sink, markup, size, h->err);
		return;
	}
	memcpy(h->buffer + h->used, markup, size);
	h->used += size;
}

void vpa_html_raw(struct vpa_html *h, const char *markup)
{
	vpa_html_bytes(h, markup, strlen(markup));
}

void vpa_html_print(struct vpa_html *h, const char *fmt, ...)
{
	char text[1024];
	va_list list;
	int len;

	va_start(list, fmt);
	len = vsnprintf(text, sizeof(text), fmt, list);
	va_end(list);
	if (len > 0)
		vpa_html_bytes(
			h, text, (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1);
}

void vpa_html_text(struct vpa_html *h, const char *text)
{
	vpa_html_cut(h, text, SIZE_MAX);
}

void vpa_html_cut(struct vpa_html *h, const char *text, size_t most)
{
	static const struct {
		char c;
		const char *form;
	} entities[] = {
		{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
	struct vpa_glyph g;
	size_t step, i;

	for (; text && (step = vpa_glyph_next(text, &g)); text += step) {
		if (!most--) {
			vpa_html_raw(h, "...");
			return;
		}
		for (i = 0; i < sizeof(entities) / sizeof(entities[0]); i++)
			if (g.len == 1 && g.bytes[0] == entities[i].c)
				break;
		if (i < sizeof(entities) / sizeof(entities[0]))
			vpa_html_raw(h, entities[i].form);
		else
			vpa_html_bytes(h, g.bytes, g.len);
	}
}

void vpa_html_fit(struct vpa_html *h, const char *text, size_t columns)
{
	vpa_html_text(h, vpa_fit(text, columns).text);
}

void vpa_html_file(struct vpa_html *h, const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	vpa_html_text(h, !path ? "trace" : slash && slash[1] ? slash + 1 : path);
}

void vpa_html_slug(struct vpa_html *h, const char *name)
{
	int dash = 0, any = 0;

	for (; *name; name++) {
		char c = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name;

		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
			if (dash && any)
				vpa_html_raw(h, "-");
			vpa_html_bytes(h, &c, 1);
			dash = 0;
			any = 1;
		} else {
			dash = 1;
		}
	}
}

void vpa_html_percent(struct vpa_html *h, uint64_t part, uint64_t whole)
{
	unsigned __int128 q = whole ? ((unsigned __int128)part * 100000 + whole / 2) / whole : 0;
	uint64_t thousandths = q > 100000000 ? 100000000 : (uint64_t)q;

	if (thousandths % 1000)
		vpa_html_print(h, "%u.%03u", (unsigned)(thousandths / 1000),
			(unsigned)(thousandths % 1000));
	else
		vpa_html_print(h, "%u", (unsigned)(thousandths / 1000));
}

void vpa_html_begin(struct vpa_html *h, const char *id, const char *title, const char *lead)
{
	if (h->section_count < VPA_HTML_SECTIONS)
		h->sections[h->section_count++] = (struct vpa_html_section){id, title};
	vpa_html_print(h, "<section id=\"%s\">\n<h2>%s</h2>\n", id, title);
	if (lead)
		vpa_html_print(h, "<p class=\"lead\">%s</p>\n", lead);
}

void vpa_html_begin_folded(struct vpa_html *h, const char *id, const char *title)
{
	if (h->section_count < VPA_HTML_SECTIONS)
		h->sections[h->section_count++] = (struct vpa_html_section){id, title};
	vpa_html_print(
		h, "<section id=\"%s\">\n<details class=\"rows\"><summary><h2>%s</h2> ", id, title);
}

void vpa_html_end(struct vpa_html *h)
{
	vpa_html_raw(h, "</section>\n");
}

void vpa_html_key(struct vpa_html *h, const char *part, const char *kind, const char *text)
{
	vpa_html_print(h, "<span class=\"key\"><svg class=\"swatch\">"
			  "<rect width=\"12\" height=\"12\" class=\"p-");
	vpa_html_slug(h, part);
	vpa_html_raw(h, kind);
	vpa_html_raw(h, "\"/></svg>");
	vpa_html_text(h, text);
	vpa_html_raw(h, "</span>");
}
