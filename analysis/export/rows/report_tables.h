/* report_tables.h - the tables of a report: one row of all its single values, and each array of its objects.
 *
 *	"devices": [{"device": 0, "causes": [{...}, {...}]}]     report_devices         row 0
 *	                                                         report_devices_causes  rows 0 and 1, of_row 0
 *
 * Names are those of the JSON report, joined by "_": "report_blocks_series" is "blocks.series" there. An object inside a row
 * gives columns in the same way, with "__" where one of that name is there already. What has no place in a row is left out: objects whose keys are data. */
#ifndef VPA_ANALYSIS_EXPORT_ROWS_REPORT_TABLES_H
#define VPA_ANALYSIS_EXPORT_ROWS_REPORT_TABLES_H

#include "analysis/export/rows/table_columns.h"
#include "analysis/base/arena.h"
#include "analysis/render/fields/fields.h"

#define VPA_REPORT_TABLE "report" /* of the single values */

enum { VPA_REPORT_TABLES_MAX = 96, VPA_REPORT_TABLE_NAME = 64 };

struct vpa_report_table {
	char name[VPA_REPORT_TABLE_NAME];
	const char *help;
	const struct vpa_fields *fields; /* of its rows */
	int owner;                       /* the table whose rows enclose its rows; -1: none */
};

struct vpa_report_tables {
	struct vpa_report_table at[VPA_REPORT_TABLES_MAX];
	size_t count;
};

void vpa_report_tables_find(struct vpa_report_tables *t);
/* The number of the table of that name; -1: there is none. */
int vpa_report_tables_named(const struct vpa_report_tables *t, const char *name);

/* Appends "_" and the key to a name, in room for `size` bytes; returns the name's former length. An empty name gets the key
 * alone. */
size_t vpa_report_name_put(char *name, size_t size, const char *key);

/* The columns of a table, in the order in which report_rows.c writes its cells; names are in the arena. */
void vpa_report_table_columns(const struct vpa_report_tables *t, size_t number,
	struct vpa_arena *names, struct vpa_table_columns *out);

#endif
