/* schema.h - schema.json: which files there are, and what their columns mean. For this folder alone. */
#ifndef VPA_ANALYSIS_EXPORT_ROWS_SCHEMA_H
#define VPA_ANALYSIS_EXPORT_ROWS_SCHEMA_H

#include "analysis/export/rows/cells.h"

/* Writes the whole of it, when all rows are counted. 0 or why not. */
int vpa_rows_schema(struct vpa_rows *x, struct vpt_sink *sink, struct vpt_err *err);

#endif
