/* page_words.c - paragraphs of the text for a terminal, in markup: a list of headings, each with its paragraphs. */
#include "analysis/render/html/html.h"
#include "analysis/render/text_page.h"

#include <stdio.h>
#include <string.h>

struct form {
	struct vpa_page page;
	struct vpa_html *html;
	int is_open; /* a list of paragraphs */
};

/* The bytes up to the end of the first sentence; of a paragraph of one the whole. */
static size_t first_sentence(const char *text)
{
	const char *end = strstr(text, ". ");

	return end ? (size_t)(end - text) + 1 : strlen(text);
}

/* A paragraph; the style is that of its first word. */
static void put_words(
	struct vpa_page *p, const char *section, enum vpa_style style, const char *text)
{
	static const char *const styles[] = {[VPA_PLAIN] = "",
		[VPA_BOLD] = "bold",
		[VPA_RED] = "red",
		[VPA_YELLOW] = "yellow",
		[VPA_GREEN] = "green"};
	struct form *f = (struct form *)p;
	size_t first = style == VPA_PLAIN ? 0 : vpa_page_head(text), sentence = 0;
	struct vpa_label word;

	if (*section) {
		vpa_html_raw(f->html, f->is_open ? "</dd>\n<dt>" : "<dl>\n<dt>");
		vpa_html_text(f->html, section);
		vpa_html_print(f->html, "</dt><dd class=\"w-");
		vpa_html_slug(f->html, section);
		vpa_html_raw(f->html, "\">");
		f->is_open = 1;
	}
	vpa_html_raw(f->html, strncmp(text, "- ", 2) ? "<p>" : "<p class=\"item\">");
	text += strncmp(text, "- ", 2) ? 0 : 2;
	if (*section && (!strcmp(section, "RESULT") || !strcmp(section, "VERDICT")))
		sentence = first_sentence(text);
	if (sentence)
		vpa_html_raw(f->html, "<b class=\"first\">");
	if (first && first < sizeof(word.text)) {
		memcpy(word.text, text, first);
		word.text[first] = '\0';
		vpa_html_print(f->html, "<b class=\"%s\">", styles[style]);
		vpa_html_text(f->html, word.text);
		vpa_html_raw(f->html, "</b>");
		text += first;
		sentence -= vpa_least(first, sentence);
	}
	if (sentence) {
		char head[512];

		snprintf(head, sizeof(head), "%.*s", (int)vpa_least(sentence, sizeof(head) - 1),
			text);
		vpa_html_text(f->html, head);
		vpa_html_raw(f->html, "</b>");
		text += strlen(head);
	}
	vpa_html_text(f->html, text);
	vpa_html_raw(f->html, "</p>");
}

/* The summary has no tables. */
static void put_table(struct vpa_page *p, const struct vpa_table *t)
{
	(void)p;
	(void)t;
}

static const struct vpa_page_form form = {put_words, put_table};

void vpa_html_words(
	struct vpa_html *h, void (*put)(struct vpa_page *p, const void *ctx), const void *ctx)
{
	struct form f = {.html = h};

	vpa_page_init(&f.page, h->sink, VPA_COLUMNS_MAX, 0, h->err);
	f.page.form = &form;
	put(&f.page, ctx);
	if (!h->rc)
		h->rc = f.page.rc;
	if (f.is_open)
		vpa_html_raw(h, "</dd>\n</dl>\n");
}
