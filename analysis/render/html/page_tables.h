/* page_tables.h - tables made from the descriptions of the JSON. */
#ifndef VPA_ANALYSIS_RENDER_HTML_PAGE_TABLES_H
#define VPA_ANALYSIS_RENDER_HTML_PAGE_TABLES_H

#include "analysis/render/fields/view.h"
#include "analysis/render/html/markup/html.h"
#include "analysis/report/report.h"

enum {
	VPA_HTML_ROWS = 200, /* of a table */
	VPA_HTML_LIST = 32   /* of a long list */
};

struct vpa_fields;

/* What a table is made from. */
struct vpa_html_source {
	const struct vpa_fields *fields; /* of the row */
	const struct vpa_report *report; /* NULL: the row is none, nor part of one */
	const void *row;
	const char *kind; /* only rows whose key "kind" is this word; NULL: all */
};

/* The number of rows that the table has. */
size_t vpa_html_source_rows(const struct vpa_html_source *source, const struct vpa_view *view);
/* Prints the table if it has rows. */
void vpa_html_put_source(
	struct vpa_html *h, const struct vpa_html_source *source, const struct vpa_view *view);

/* The same for a table of the report, and for one that a function prints. */
void vpa_html_put_view(struct vpa_html *h, const struct vpa_report *r, const struct vpa_view *view);
void vpa_html_put_table(struct vpa_html *h, const struct vpa_report *r, const char *path);

#endif
