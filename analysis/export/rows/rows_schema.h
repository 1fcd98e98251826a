/* rows_schema.h - schema.json of a folder of tables. */
#ifndef VPA_ANALYSIS_EXPORT_ROWS_ROWS_SCHEMA_H
#define VPA_ANALYSIS_EXPORT_ROWS_ROWS_SCHEMA_H

#include "analysis/export/rows/table_parts.h"

/* Writes it into the folder: after all rows, of tables whose `file` is set. 0 or an error code, as of an outlet. */
int vpa_rows_schema_write(struct vpa_rows *x);

#endif
