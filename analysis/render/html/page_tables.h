/* page_tables.h - tables made from the descriptions of the JSON. */
#ifndef VPA_ANALYSIS_RENDER_HTML_PAGE_TABLES_H
#define VPA_ANALYSIS_RENDER_HTML_PAGE_TABLES_H

#include "analysis/base/numbers.h"
#include "analysis/render/fields/fields.h"
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

/* ---- column_form.c: how a column of a table looks, by its key in the JSON report ---- */

struct vpa_html;

/* The number of a value of that kind. `unit` is that of the cell; NULL: none. `is_change`: it is a
 * difference, so one above 0 has a sign too. */
struct vpa_num vpa_html_number(const struct vpa_value *v, const char *unit, int is_change);

/* A moment on the trace clock as seconds from `from_ns` on, to the microsecond: "0.780803 s". */
struct vpa_num vpa_html_moment(const struct vpa_value *v, uint64_t from_ns);

/* The words at its head, those of its field or of its key: "host mean" for "host.mean_ns", since the cells have
 * the unit. In a comparison "A mean" for "a_mean_ns". */
void vpa_html_label(
	struct vpa_html *h, const char *key, const struct vpa_field *f, int is_comparison);

/* Whether the head names this unit: neither the cells do, nor the key, and it is not just a count. */
int vpa_html_label_has_unit(const char *key, const char *unit);

#endif
