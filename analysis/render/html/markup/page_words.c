/* page_words.c - words in markup: paragraphs of the text for a terminal, as a list of headings, each with its paragraphs; words with
 * what they mean. */
#include "analysis/render/html/markup/html.h"
#include "analysis/render/text_page.h"

#include <stdio.h>
#include <string.h>

struct form {
	struct vpa_page page;
	struct vpa_html *html;
	int is_open; /* a list of paragraphs */
};

/* A paragraph; the style is that of its first word. */
static void put_words(struct vpa_page *p, const struct vpa_paragraph *paragraph)
{
	static const char *const styles[] = {[VPA_PLAIN] = "",
		[VPA_BOLD] = "bold",
		[VPA_RED] = "red",
		[VPA_YELLOW] = "yellow",
		[VPA_GREEN] = "green"};
	struct form *f = (struct form *)p;
	const char *section = paragraph->section, *text = paragraph->text;
	enum vpa_style style = paragraph->style;
	size_t first = style == VPA_PLAIN ? 0 : vpa_page_head(text);
	size_t sentence = paragraph->answer_bytes;
	struct vpa_label word;

	if (*section) {
		vpa_html_raw(f->html, f->is_open ? "</dd>\n<dt>" : "<dl>\n<dt>");
		vpa_html_text(f->html, section);
		vpa_html_print(f->html, "</dt><dd class=\"w-");
		vpa_html_slug(f->html, section);
		vpa_html_raw(f->html, "\">");
		f->is_open = 1;
	}
	vpa_html_raw(f->html, paragraph->is_item ? "<p class=\"item\">" : "<p>");
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

static void put_causes(struct vpa_html *h, const enum vpa_cause *causes, size_t count)
{
	size_t i;

	if (!count)
		return;
	vpa_html_raw(h, "<h3>Why a GPU was idle</h3>\n<dl class=\"causes\">\n");
	for (i = 0; i < count; i++) {
		const char *cause = vpa_cause_text(causes[i]);

		vpa_html_raw(h, "<dt>");
		vpa_html_key(h, cause, " idle", cause);
		vpa_html_raw(h, "</dt><dd>");
		vpa_html_text(h, vpa_cause_help(causes[i]));
		vpa_html_raw(h, "</dd>\n");
	}
	vpa_html_raw(h, "</dl>\n");
}

static void put_meanings(struct vpa_html *h, const struct vpa_html_word *words, size_t count)
{
	size_t i;

	vpa_html_raw(h, "<dl class=\"words\">\n");
	for (i = 0; i < count; i++) {
		vpa_html_raw(h, "<dt>");
		vpa_html_text(h, words[i].word);
		vpa_html_raw(h, "</dt><dd>");
		vpa_html_text(h, words[i].meaning);
		vpa_html_raw(h, "</dd>\n");
	}
	vpa_html_raw(h, "</dl>\n");
}

void vpa_html_command(struct vpa_html *h)
{
	if (!h->command)
		return;
	vpa_html_raw(h, "<h3>The command that made this page</h3>\n<pre class=\"command\">");
	vpa_html_text(h, h->command);
	vpa_html_raw(h, "</pre>\n");
}

void vpa_html_how_to_read(struct vpa_html *h, const struct vpa_html_word *words, size_t count,
	const enum vpa_cause *causes, size_t cause_count)
{
	vpa_html_begin(h, "help", "How to read this page", NULL);
	put_meanings(h, words, count);
	put_causes(h, causes, cause_count);
	vpa_html_command(h);
	vpa_html_end(h);
}
