/* table_columns.h - what people see of the rows of a report: where a table stands, and which values of a row are its columns.
 *
 * fields.h says what the values of a row are. A view says for the rows of one path what of them is shown. The text
 * report and Markdown have only its columns; the page has others on request. A table without a view is on the page too,
 * under "Everything else". */
#ifndef VPA_ANALYSIS_RENDER_TABLE_COLUMNS_H
#define VPA_ANALYSIS_RENDER_TABLE_COLUMNS_H

#include "analysis/render/text_page.h"

struct vpa_view {
	const char *path;    /* of the rows: "attention.backends" */
	const char *title;   /* on the page; NULL: it has no place there */
	const char *section; /* of the page, by id; NULL: a function prints it */
	/* Keys shown at first, separated by blanks; NULL: all. */
	const char *first;
	const char *
		prefix; /* rows of the page have ids of this letter and a number, from 1; NULL: none */
	/* Columns of the text; NULL: it has no such table, or a function knows them. */
	const struct vpa_column *text;
	size_t text_count;
};

/* All views of a report. Those of a section of the page are in its order; the last has no path. */
extern const struct vpa_view vpa_views[];

/* The view of these rows; NULL: there is none. */
const struct vpa_view *vpa_view_of(const char *path);

#endif
