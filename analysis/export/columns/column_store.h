/* column_store.h - tables of rows as columns in memory, see stored_column.h.
 *
 * A store is filled by one pass over a trace and then never changes, so any number of threads may read it. Whoever holds a part of it
 * holds a reference, and the last one frees it. */
#ifndef VPA_ANALYSIS_EXPORT_COLUMNS_COLUMN_STORE_H
#define VPA_ANALYSIS_EXPORT_COLUMNS_COLUMN_STORE_H

#include "analysis/export/columns/arrow_abi.h"
#include "analysis/export/columns/stored_column.h"
#include "formats/base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct vpa_store;

/* Rows of one table, or of several with the same columns after each other. */
struct vpa_stored_part {
	const struct vpa_stored_column *const *columns;
	uint64_t rows;
};

struct vpa_stored_table {
	const char *name;
	size_t column_count, part_count;
	const struct vpa_stored_part *parts;
};

/* What to read. */
struct vpa_store_options {
	/* Names of tables and short names, separated by commas; NULL: all. */
	const char *tables;
	const char *range; /* the window, see struct vpa_options; NULL and 0: the whole capture */
	uint64_t request;
};

/* Reads a trace. The caller drops *out. 0, VPT_EINVAL where a name is that of no table, or what reading a trace returns. One thread
 * at a time. */
int vpa_store_load(const char *path, const struct vpa_store_options *o, struct vpa_store **out,
	struct vpt_err *err);

void vpa_store_hold(struct vpa_store *s);
void vpa_store_drop(struct vpa_store *s); /* accepts NULL */

/* Whether every record is there: the verdict of the report. */
int vpa_store_is_complete(const struct vpa_store *s);

/* The tables by number, short names last; NULL: there is none of that number or name. */
const struct vpa_stored_table *vpa_store_table(const struct vpa_store *s, size_t number);
const struct vpa_stored_table *vpa_store_find(const struct vpa_store *s, const char *name);

/* ---- arrow_stream.c: a stored table as a stream of Arrow's C interface ---- */

/* Begins a stream of the table's rows, in batches; nothing is copied. Stream, schemas and arrays hold the store, each until its
 * release(), in any order and on any thread. A text column is a dictionary, shared by all batches of its table. 0 or
 * VPT_ENOMEM. */
int vpa_arrow_stream(
	struct vpa_store *s, const struct vpa_stored_table *table, struct ArrowArrayStream *out);

/* ---- python_writer.c: a python3 that writes columns as files of Parquet or Arrow with pyarrow, which the program does not link.
 *
 * Its program is write_columns.py, which this one carries, so nothing has to be found but python3 and pyarrow. One thread. */

/* fd -1: not started. */
struct vpa_python_writer {
	int fd; /* a socket: its standard input and output */
	pid_t pid;
	const char *format;
};

/* Starts it, and waits until pyarrow is there. `format` is "parquet" or "arrow"; `folder` NULL: it only says whether it could. `level`
 * is that of zstd, 0: not compressed. The caller ends it, also after a failure. 0; VPT_EUNSUPPORTED: there is no python3 or no
 * pyarrow, said with what to install; VPT_EIO. */
int vpa_python_writer_start(struct vpa_python_writer *w, const char *format, const char *folder,
	int level, struct vpt_err *err);

/* Hands bytes over. 0; or VPT_EIO: it failed, with its own words. */
int vpa_python_writer_put(
	struct vpa_python_writer *w, const void *data, size_t size, struct vpt_err *err);

/* Waits until all files are written, after the message that ends them. 0 or VPT_EIO. */
int vpa_python_writer_finish(struct vpa_python_writer *w, struct vpt_err *err);

/* Ends the process, whatever it does, and waits for it. */
void vpa_python_writer_end(struct vpa_python_writer *w);

#endif
