/* nsight_sqlite.h - reads rows of an untrusted SQLite database.
 *
 * The database is read through a struct vpt_source, never through a path, and nothing in it is
 * run. Only real tables are read, whole and in storage order, within a budget of steps that
 * grows with the size of the file. Data describes the tables; a column that the file lacks reads
 * as not known. */
#ifndef VPT_FORMATS_IMPORT_NSIGHT_NSIGHT_SQLITE_H
#define VPT_FORMATS_IMPORT_NSIGHT_NSIGHT_SQLITE_H

#include "formats/base/error.h"
#include "formats/base/map.h"
#include "formats/chunk/batch.h"
#include "formats/import/import.h"
#include "formats/io/io.h"

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

/* ---- nsight_vfs.c: the files that SQLite sees: one read-only source, and what stands beside it.
 *
 * The database counts as immutable, so there are no journals, locks or shared memory, and one left in
 * write-ahead mode opens as well. But a process that writes a database, or was interrupted, leaves a
 * file of changes beside it: a journal of what is to be undone (FILE-journal), or a log of what is to
 * be added (FILE-wal). Without it the database is wrong. So SQLite sees that file too, and undoes or
 * adds the changes as always; what it writes stays in memory. The user's folder never changes. */

#define VPT_NSIGHT_FILE "trace" /* the database's name for SQLite */

struct vpt_nsight_files {
	sqlite3_vfs vfs;
	char vfs_name[40]; /* for sqlite3_open_v2() */
	int registered;
	struct vpt_source *src; /* borrowed */
	/* The size as shown to SQLite, which sees zeros beyond the source's end. Otherwise it would
	 * refuse all of a truncated file; so the tables before the cut are readable, and the others
	 * break where the bytes end. */
	uint64_t size_bytes;
	struct vpt_source *beside;     /* the file of changes; NULL: there is none */
	int is_wal;                    /* it is a write-ahead log, else a journal */
	int is_beside_gone;            /* SQLite has used and deleted it */
	struct vpt_nsight_page *pages; /* written by SQLite */
	size_t page_count, page_cap, page_bytes;
	struct vpt_map page_of; /* by offset */
	struct vpt_err io_err;  /* a source's error, if one failed */
	int io_failed;
};

/* Registers a file system with this source. `src` is borrowed until close. 0, VPT_EIO or VPT_ENOMEM;
 * close it in any case. */
int vpt_nsight_files_open(struct vpt_nsight_files *f, struct vpt_source *src, struct vpt_err *err);
void vpt_nsight_files_close(struct vpt_nsight_files *f); /* after the database */

enum vpt_cell_type {
	VPT_CELL_TIME,  /* nanoseconds, not negative */
	VPT_CELL_STAMP, /* nanoseconds, may be negative */
	VPT_CELL_COUNT, /* an integer, not negative */
	VPT_CELL_BITS,  /* any 64-bit integer */
	VPT_CELL_REAL,
	VPT_CELL_TEXT
};

struct vpt_cell {
	int known; /* 0: NULL, absent, or of another type; then number is the field's default */
	int wrong; /* 1: there is a value, of another type */
	int64_t number;       /* of integers */
	double real;          /* of REAL, finite */
	struct vpt_text text; /* of TEXT; valid during the row's callback, never NULL */
};

enum vpt_need {
	VPT_OPTIONAL,
	VPT_NEEDED,         /* a row without it is malformed: counted, not delivered */
	VPT_NEEDED_IF_THERE /* the same, unless the file lacks the whole column */
};

struct vpt_nsight_field {
	const char *column;
	enum vpt_cell_type type;
	enum vpt_need need;
	int64_t missing; /* `number` if the cell is not known */
};

enum { VPT_NSIGHT_FIELDS_MAX = 32 };

/* The rows whose field has this value. */
struct vpt_nsight_only {
	unsigned field;
	int64_t value;
};

struct vpt_nsight_table {
	const char *name;
	const struct vpt_nsight_field *fields;
	size_t field_count;
	int events; /* its rows count as events of the trace */
	/* `cell` has one cell per field, in their order. 0, or a negative code that ends the
	 * scan. */
	int (*row)(void *ctx, const struct vpt_cell *cell);
	/* NULL: all rows. If the file has the field's column, no others need to be delivered; row() still
	 * checks it. */
	const struct vpt_nsight_only *only;
};

struct vpt_nsight_db;

/* Opens the database. `src` and `stats` are borrowed until close. VPT_EDATA, with SQLite's message,
 * if it is not a database; VPT_EIO with the source's. A file shorter than its header says is
 * opened, and stats->truncated set. What a log beside the file undoes or adds is undone or added
 * first, in memory, see above. */
int vpt_nsight_open(struct vpt_source *src, struct vpt_import_stats *stats,
	struct vpt_nsight_db **out, struct vpt_err *err);
void vpt_nsight_close(struct vpt_nsight_db *db); /* accepts NULL */

/* Whether there is a real table of this name, or of that with an ending like _V2 or _2, neither a view nor a
 * virtual table. */
int vpt_nsight_has(struct vpt_nsight_db *db, const char *table);

/* Whether a view has this name. It may replace the table, but is not read: a view can compute
 * anything. */
int vpt_nsight_is_view(struct vpt_nsight_db *db, const char *table);

/* Calls table->row for every row of the table and of those with such an ending; an absent table has none. Damage ends the table, sets
 * stats->truncated and still returns 0: the rows before it stay. A text or row of more than 16 MiB
 * ends it too and counts in stats->too_long. Otherwise 0, VPT_EIO, VPT_ENOMEM or row's own code. */
int vpt_nsight_scan(struct vpt_nsight_db *db, const struct vpt_nsight_table *table, void *ctx,
	struct vpt_err *err);

/* What to do with a damaged export. */
#define VPT_NSIGHT_AGAIN "copy it again, or export it again with nsys export --type sqlite"

/* SQLite's message for the first damage found; NULL if there was none. */
const char *vpt_nsight_damage(const struct vpt_nsight_db *db);

#endif
