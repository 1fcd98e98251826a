/* arrow_stream.h - a stored table as a stream of Arrow's C interface. */
#ifndef VPA_ANALYSIS_EXPORT_COLUMNS_ARROW_STREAM_H
#define VPA_ANALYSIS_EXPORT_COLUMNS_ARROW_STREAM_H

#include "analysis/export/columns/arrow_abi.h"
#include "analysis/export/columns/column_store.h"

/* Begins a stream of the table's rows, in batches; nothing is copied. Stream, schemas and arrays hold the store, each until its
 * release(), in any order and on any thread. A text column is a dictionary, shared by all batches of its table. 0 or
 * VPT_ENOMEM. */
int vpa_arrow_stream(
	struct vpa_store *s, const struct vpa_stored_table *table, struct ArrowArrayStream *out);

#endif
