/* text_page.h - a page of text: paragraphs and tables of bounded width.
 *
 * A page is sticky: after a failure it writes nothing and vpa_page.rc is set. Texts may hold any
 * bytes; the page escapes what a terminal would obey. */
#ifndef VPA_ANALYSIS_RENDER_TEXT_PAGE_H
#define VPA_ANALYSIS_RENDER_TEXT_PAGE_H

#include "analysis/base/numbers.h"
#include "analysis/render/fields/view.h"
#include "formats/io/io.h"

#include <string.h>

enum vpa_style { VPA_PLAIN, VPA_BOLD, VPA_RED, VPA_YELLOW, VPA_GREEN };

enum {
	VPA_WIDTH_MIN = 60,
	VPA_INDENT = 8,
	/* Up to 4 bytes per column, two styles, the end of the line. */
	VPA_LINE_BYTES = VPA_COLUMNS_MAX * 4 + 64
};

struct vpa_page;
struct vpa_table;

struct vpa_paragraph {
	const char *section;  /* "" in all but a section's first one */
	enum vpa_style style; /* of the first word */
	int is_item;          /* one of a list; a terminal puts "- " before it */
	size_t answer_bytes;  /* of the sentence that answers, the first; 0: none does */
	const char *text;
};

/* What becomes of paragraphs and tables in a report that is no text for a terminal. Texts are as they
 * came: the form escapes them. */
struct vpa_page_form {
	void (*words)(struct vpa_page *p, const struct vpa_paragraph *paragraph);
	void (*table)(struct vpa_page *p, const struct vpa_table *t);
};

struct vpa_page {
	const struct vpa_page_form *form; /* NULL: text for a terminal */
	struct vpt_sink *sink;            /* borrowed */
	struct vpt_err *err;
	int rc;
	unsigned width; /* VPA_WIDTH_MIN .. VPA_COLUMNS_MAX */
	int colour;
	size_t line_count; /* lines so far, written or not */
	/* 1: missing records may change the figures that follow; sections and titles are marked. */
	int touched;
};

#define VPA_TOUCHED "[!]" /* the mark of such figures */

void vpa_page_init(
	struct vpa_page *p, struct vpt_sink *sink, unsigned width, int colour, struct vpt_err *err);
/* An empty line, unless the page is empty; nothing on a page with a form. */
void vpa_page_blank(struct vpa_page *p);

/* A paragraph, broken between words and indented by VPA_INDENT columns. `section` precedes its first
 * line ("" for none, at most VPA_INDENT - 1 characters). The style applies to its first word.
 * Paragraphs of more than 2 KB are cut. */
VPT_PRINTF(4, 5)
void vpa_page_words(
	struct vpa_page *p, const char *section, enum vpa_style style, const char *fmt, ...);
/* The same, as an item of a list. */
VPT_PRINTF(3, 4)
void vpa_page_item(struct vpa_page *p, const char *section, const char *fmt, ...);
/* The bytes that the style of a paragraph is of: its first word; capitals before a colon are one. */
size_t vpa_page_head(const char *text);

/* ---- tables: a label on the left, numbers on the right ---- */

enum { VPA_TABLE_COLUMNS = 8, VPA_TABLE_SLAB = 48 };

struct vpa_row {
	struct vpa_label label;
	unsigned indent;
	enum vpa_style style;
	int wide; /* no cells: the label takes the whole line */
	int wrap; /* a long label continues below instead of losing its middle */
	struct vpa_num cells[VPA_TABLE_COLUMNS]; /* ASCII */
};

/* Rows keep their address while others are added: the first are here, the rest in slabs. */
struct vpa_table {
	const struct vpa_column *columns;
	size_t column_count, row_count;
	struct vpa_label title;
	int joined; /* no empty line before it */
	struct vpa_row first[VPA_TABLE_SLAB];
	struct vpa_row **slabs; /* the next rows; vpa_page_table() frees them */
	size_t slab_count, slab_cap;
	int failed; /* no memory for a row */
};

VPT_PRINTF(4, 5)
void vpa_table_init(struct vpa_table *t, const struct vpa_column *columns, size_t column_count,
	const char *title, ...);

/* Adds a row; the caller fills its cells, empty ones stay blank. Never NULL: without memory it
 * returns the last row again, and the page fails. */
VPT_PRINTF(3, 4)
struct vpa_row *vpa_table_row(struct vpa_table *t, unsigned indent, const char *label, ...);

/* Adds a row of text over the whole width, wrapped onto more lines if needed. */
VPT_PRINTF(3, 4)
struct vpa_row *vpa_text_row(struct vpa_table *t, unsigned indent, const char *text, ...);

struct vpa_row *vpa_table_at(const struct vpa_table *t, size_t row);

/* Whether a row has a value in the column; one without is left out. */
int vpa_table_has_values(const struct vpa_table *t, size_t column);

/* Appends ", 4 of 10" to the title of a table that lacks rows; every such table says so, with this or with
 * vpa_table_more(). */
void vpa_table_of(struct vpa_table *t, size_t shown, size_t all);
/* The same as a last row, "and 6 more in the JSON report", where a table has rows of several kinds. */
void vpa_table_more(struct vpa_table *t, size_t left_out);

/* Prints an empty line and the table, nothing without rows, and frees its rows. Call it for every table. */
void vpa_page_table(struct vpa_page *p, struct vpa_table *t);
/* The width in columns of this table's labels on the page, including their indent. */
size_t vpa_page_label_columns(const struct vpa_page *p, const struct vpa_table *t);

/* ---- sentences in parts ---- */

struct vpa_words {
	char text[1024];
	size_t used;
	size_t sentence_bytes; /* of the first sentence, once it has ended */
};

/* Appends text, after a separator if it is not the first. What does not fit is left out. */
VPT_PRINTF(3, 4)
void vpa_words_add(struct vpa_words *w, const char *separator, const char *fmt, ...);
/* Appends a point, which ends a sentence. */
void vpa_words_end(struct vpa_words *w);

/* A paragraph whose first sentence answers what the page is asked. */
void vpa_page_answer(struct vpa_page *p, const char *section, enum vpa_style style,
	const struct vpa_words *words);

/* ---- small tools ---- */

static inline size_t vpa_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static inline const char *vpa_text_or(const char *text, const char *otherwise)
{
	return text ? text : otherwise;
}

#endif
