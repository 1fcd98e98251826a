/* tables_library.h - libvptrace_tables.so, with which the Python module reads captures. It is of the module's own version: other
 * programs read exports.
 *
 * Functions may be called by any thread. Those that fail write a sentence into `message` and return a code of error.h. */
#ifndef VPA_ANALYSIS_EXPORT_COLUMNS_TABLES_LIBRARY_H
#define VPA_ANALYSIS_EXPORT_COLUMNS_TABLES_LIBRARY_H

#include "analysis/export/columns/arrow_abi.h"

#include <stddef.h>
#include <stdint.h>

#define VPTRACE_TABLES_API __attribute__((visibility("default")))

enum { VPA_TABLES_MEMORY_GIB = 16 }; /* the most that all that is loaded may take */

struct vpa_store;

/* Reads a trace, see vpa_store_load(). `tables`: names separated by commas, NULL: all; `range` NULL and `request` 0: the whole
 * capture. The caller frees *out. */
VPTRACE_TABLES_API int vptrace_tables_load(const char *path, const char *tables, const char *range,
	uint64_t request, struct vpa_store **out, char *message, size_t message_bytes);
VPTRACE_TABLES_API void vptrace_tables_free(struct vpa_store *t);
VPTRACE_TABLES_API int vptrace_tables_complete(const struct vpa_store *t);
/* The name of a table, by number from 0; NULL: there are no more. */
VPTRACE_TABLES_API const char *vptrace_tables_name(const struct vpa_store *t, size_t number);
/* A stream of the table's rows, which the consumer releases. */
VPTRACE_TABLES_API int vptrace_tables_stream(struct vpa_store *t, const char *name,
	struct ArrowArrayStream *out, char *message, size_t message_bytes);

/* The JSON report of `vptrace-analyze --format json`. The caller frees *out with vptrace_tables_free_text(). */
VPTRACE_TABLES_API int vptrace_tables_report(const char *path, const char *range, uint64_t request,
	char **out, char *message, size_t message_bytes);
VPTRACE_TABLES_API void vptrace_tables_free_text(char *text);

/* A stream for a PyCapsule of the name "arrow_array_stream", and the capsule's destructor: it releases the stream unless a consumer
 * has. `capsule` is a PyObject; its functions are those of the Python that has loaded the library. */
VPTRACE_TABLES_API struct ArrowArrayStream *vptrace_tables_new_stream(
	struct vpa_store *t, const char *name, char *message, size_t message_bytes);
VPTRACE_TABLES_API void vptrace_tables_end_capsule(void *capsule);

#endif
