/* rows_schema.h - schema.json: the files of an export and the meaning of their columns. Private to this
 * folder. */
#ifndef VPA_ANALYSIS_EXPORT_ROWS_ROWS_SCHEMA_H
#define VPA_ANALYSIS_EXPORT_ROWS_ROWS_SCHEMA_H

#include "analysis/export/rows/table_parts.h"

/* Writes schema.json after all rows are counted. 0 or an error code. */
int vpa_rows_schema(struct vpa_rows *x, struct vpt_sink *sink, struct vpt_err *err);

#endif
