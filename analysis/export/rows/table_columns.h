/* table_columns.h - the columns of a table of rows: names, types, units, meaning.
 *
 * One list says them all: the header of CSV, schema.json, and the types of databases are made from it. */
#ifndef VPA_ANALYSIS_EXPORT_ROWS_TABLE_COLUMNS_H
#define VPA_ANALYSIS_EXPORT_ROWS_TABLE_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

enum vpa_column_type {
	VPA_COLUMN_INTEGER,
	VPA_COLUMN_NUMBER, /* a double */
	VPA_COLUMN_TEXT,
	VPA_COLUMN_ANY /* a number or a text */
};

struct vpa_table_column {
	const char *name, *help; /* borrowed */
	const char *unit;        /* in words; NULL: none */
	enum vpa_column_type type;
	int is_time;                     /* 1: a moment on the trace clock */
	uint8_t words;                   /* enum vpt_unit whose words are its values; 0: not such */
	const char *(*choice)(size_t i); /* likewise, of a report; NULL: not such */
};

/* All zeros is an empty list; vpt_free(list.at) frees it. */
struct vpa_table_columns {
	struct vpa_table_column *at;
	size_t count, cap;
	int failed; /* no memory */
};

void vpa_table_columns_put(struct vpa_table_columns *c, const struct vpa_table_column *column);
/* A column whose type follows from its unit, enum vpt_unit; for vpa_cat_columns() too. */
void vpa_table_columns_put_unit(void *columns, const char *name, unsigned unit, const char *help);
/* The column of that name; NULL: there is none. */
const struct vpa_table_column *vpa_table_columns_find(
	const struct vpa_table_columns *c, const char *name);
/* The name of a type in schema.json: "integer". */
const char *vpa_column_type_name(enum vpa_column_type type);

#endif
