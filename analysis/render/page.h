/* page.h - a page of text: paragraphs and tables that never leave their columns.
 *
 * A page is sticky: after a failure nothing is written, vpa_page.rc tells. Texts may hold any
 * bytes; the page escapes what a terminal would obey. */
#ifndef VPA_ANALYSIS_RENDER_PAGE_H
#define VPA_ANALYSIS_RENDER_PAGE_H

#include "analysis/render/units.h"

#include "formats/io.h"

#include <string.h>

enum vpa_style { VPA_PLAIN, VPA_BOLD, VPA_RED, VPA_YELLOW, VPA_GREEN };

enum {
	VPA_WIDTH_MIN = 60,
	VPA_INDENT = 8,
	/* Up to 4 bytes a column, two styles, the end of the line. */
	VPA_LINE_BYTES = VPA_COLUMNS_MAX * 4 + 64
};

struct vpa_page {
	struct vpt_sink *sink; /* borrowed */
	struct vpt_err *err;
	int rc;
	unsigned width; /* VPA_WIDTH_MIN .. VPA_COLUMNS_MAX */
	int colour;
	size_t line_count; /* written so far, and those beyond the limit */
	size_t line_limit; /* at most this number of lines; 0: any. The last one says that more was cut */
	char last[VPA_LINE_BYTES]; /* the line that may be the last one, held back */
	size_t last_bytes;
	/* What comes now has figures that missing records may change: sections and titles are marked. */
	int touched;
};

#define VPA_TOUCHED "[!]" /* the mark of such figures */

void vpa_page_init(
	struct vpa_page *p, struct vpt_sink *sink, unsigned width, int colour, struct vpt_err *err);
void vpa_page_blank(struct vpa_page *p); /* an empty line, unless the page is empty */
/* The end of a page that has a limit. */
void vpa_page_end(struct vpa_page *p);

/* A paragraph, broken between words, VPA_INDENT columns in; `section` stands before its first line
 * ("" for none, at most VPA_INDENT - 1 characters). Its first word has the style. Paragraphs of
 * more than 2 KB are cut. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void vpa_page_words(struct vpa_page *p, const char *section, enum vpa_style style, const char *fmt,
	...);

/* ---- tables: a label on the left, numbers on the right ---- */

enum { VPA_TABLE_COLUMNS = 8, VPA_TABLE_BLOCK = 48 };

struct vpa_column {
	const char *head;
	unsigned drop; /* on a narrow page columns go, the highest first; 0: never */
};

struct vpa_row {
	struct vpa_label label;
	unsigned indent;
	enum vpa_style style;
	int wide; /* no cells: the label has the whole line */
	int wrap; /* a long label goes on below, instead of losing its middle */
	struct vpa_num cells[VPA_TABLE_COLUMNS]; /* ASCII */
};

/* Rows stay where they are while others are added: all but the first are in blocks of their own. */
struct vpa_table {
	const struct vpa_column *columns;
	size_t column_count, row_count;
	struct vpa_label title;
	struct vpa_row first[VPA_TABLE_BLOCK];
	struct vpa_row **blocks; /* the next rows; vpa_page_table() frees them */
	size_t block_count, block_cap;
	int failed; /* no memory for a row */
};

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void vpa_table_init(struct vpa_table *t, const struct vpa_column *columns, size_t column_count,
	const char *title, ...);

/* Adds a row; its cells are the caller's to fill, empty ones stay blank. Never NULL: without memory
 * the last row is given again, and the page fails. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
struct vpa_row *
vpa_table_row(struct vpa_table *t, unsigned indent, const char *label, ...);

/* A row of text over the whole width, and more lines if it takes them. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
struct vpa_row *
vpa_text_row(struct vpa_table *t, unsigned indent, const char *text, ...);

struct vpa_row *vpa_table_at(const struct vpa_table *t, size_t row);

/* Prints the table and frees its rows: each table that got a row has to come here. */
void vpa_page_table(struct vpa_page *p, struct vpa_table *t);
/* The columns that labels of this table have on the page, their indent with them. */
size_t vpa_page_label_columns(const struct vpa_page *p, const struct vpa_table *t);

/* ---- words put together ---- */

struct vpa_words {
	char text[1024];
	size_t used;
};

/* Appends with a separator before all but the first. What does not fit is left out. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void vpa_words_add(struct vpa_words *w, const char *separator, const char *fmt, ...);

/* ---- small tools ---- */

static inline size_t vpa_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* NULL is the same as NULL alone. */
static inline int vpa_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static inline const char *vpa_text_or(const char *text, const char *otherwise)
{
	return text ? text : otherwise;
}

static inline const char *vpa_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

#endif
