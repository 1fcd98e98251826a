/* html.h - writes a page for browsers: markup that is ours, and text that is not.
 *
 * Text from a trace goes through vpa_html_text() and nothing else: it escapes what HTML, in elements
 * and in quoted attributes, gives a meaning, and shows as "\x1b" what a page would obey or hide. Numbers
 * are built from integers, so they look the same in every locale. Sticky: after a failure nothing is
 * written, and the code is in `rc`. */
#ifndef VPA_ANALYSIS_RENDER_HTML_MARKUP_HTML_H
#define VPA_ANALYSIS_RENDER_HTML_MARKUP_HTML_H

#include "analysis/base/numbers.h"
#include "analysis/report/rows/causes.h"
#include "formats/io/io.h"

#include <stddef.h>
#include <stdint.h>

enum { VPA_HTML_BUFFER = 1 << 14, VPA_HTML_SECTIONS = 32 };

struct vpa_page;

struct vpa_html {
	struct vpt_sink *sink; /* borrowed */
	struct vpt_err *err;
	int rc;
	const char *command; /* that makes the page; NULL: not known */
	size_t used;
	/* The sections so far, for the page's list of them. */
	struct vpa_html_section {
		const char *id, *title;
	} sections[VPA_HTML_SECTIONS];
	size_t section_count;
	char buffer[VPA_HTML_BUFFER];
};

void vpa_html_init(struct vpa_html *h, struct vpt_sink *sink, struct vpt_err *err);
int vpa_html_flush(struct vpa_html *h); /* returns h->rc */

void vpa_html_raw(struct vpa_html *h, const char *markup);
void vpa_html_bytes(struct vpa_html *h, const char *markup, size_t size);
/* For markup with our own words and integers: no text from a trace, no floating point. */
VPT_PRINTF(2, 3)
void vpa_html_print(struct vpa_html *h, const char *fmt, ...);
/* Escaped text; NULL: nothing. */
void vpa_html_text(struct vpa_html *h, const char *text);
/* The same, at most `most` characters and then "...". */
void vpa_html_cut(struct vpa_html *h, const char *text, size_t most);
/* The same in at most `columns`, without its middle. */
void vpa_html_fit(struct vpa_html *h, const char *text, size_t columns);
/* The name of a file without its folder; NULL: "trace". */
void vpa_html_file(struct vpa_html *h, const char *path);
/* Lower-case letters, digits and dashes, for a class: "unknown-records-lost". */
void vpa_html_slug(struct vpa_html *h, const char *name);
/* 100 * part / whole, with three decimals: "12.345". 0 if the whole is. */
void vpa_html_percent(struct vpa_html *h, uint64_t part, uint64_t whole);

/* Begins a section, named in the page's list; what it says in one sentence (NULL: nothing). */
void vpa_html_begin(struct vpa_html *h, const char *id, const char *title, const char *lead);
/* Begins one that is folded: its title is part of the summary, which the caller ends, as it does the details. */
void vpa_html_begin_folded(struct vpa_html *h, const char *id, const char *title);
void vpa_html_end(struct vpa_html *h);

/* A filled square and a name: `kind` is "" for kernel families, " idle" for causes. */
void vpa_html_key(struct vpa_html *h, const char *part, const char *kind, const char *text);

/* What `put` writes to a text page, as a list of paragraphs; its tables are left out. Nothing if it writes nothing. */
void vpa_html_words(
	struct vpa_html *h, void (*put)(struct vpa_page *p, const void *ctx), const void *ctx);

struct vpa_html_word {
	const char *word, *meaning;
};

/* How to read the page, a section: a list of words with what they mean, the causes of idle time with their colours, and the command
 * that makes the page, if it is known. */
void vpa_html_how_to_read(struct vpa_html *h, const struct vpa_html_word *words, size_t count,
	const enum vpa_cause *causes, size_t cause_count);
/* The last part of it alone. */
void vpa_html_command(struct vpa_html *h);

/* ---- a page: page_frame.c ---- */

struct vpa_html_page {
	const char *kind;    /* of the document: "report" */
	const char *command; /* that makes the page; NULL: not known */
	/* Its name, as text; badges beside the name; its sections. */
	void (*put_name)(struct vpa_html *h, const void *ctx);
	void (*put_badges)(struct vpa_html *h, const void *ctx);
	void (*put_sections)(struct vpa_html *h, const void *ctx);
	const void *ctx;
};

/* 0, the sink's error or VPT_ENOMEM. */
int vpa_html_page(const struct vpa_html_page *page, struct vpt_sink *sink, struct vpt_err *err);

/* ---- styles and scripts: page.css, page.js and flame.js, embedded by the build ---- */

extern const char vpa_page_css[], vpa_page_css_hash[], vpa_page_js[], vpa_page_js_hash[];
extern const char vpa_flame_js[], vpa_flame_js_hash[];

#endif
