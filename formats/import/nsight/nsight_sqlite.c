/* nsight_sqlite.c - runs SQLite over a source, and reads tables that data describes.
 *
 * A hostile database can make SQLite walk the same pages forever, so all statements share one
 * budget of virtual machine steps, proportional to the size of the file.
 *
 * Left out: rows of a table after its first damaged page. */
#include "formats/import/nsight/nsight_sqlite.h"

#include "formats/base/memory.h"
#include "formats/import/nsight/sqlite_library.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TAKE_ROW "vptrace_take_row"

/* The names of the file's real tables, one after the other, each with its NUL, in their order. */
struct table_names {
	char *text;
	size_t size, cap;
};

enum {
	STEPS_A_CALL = 1000,        /* between two calls of the progress handler */
	STEPS_BASE = 4 << 20,       /* allowed for any file, however small */
	STEPS_A_BYTE = 16,          /* a table scan needs about one step per byte that it reads */
	VALUE_BYTES_MAX = 16 << 20, /* longest text, blob or row */
	TABLE_NAME_MAX = 128
};

struct vpt_nsight_db {
	sqlite3 *sql;
	struct vpt_nsight_files files;
	struct vpt_import_stats *stats;
	uint64_t steps_left;
	char damage[256];
	struct table_names tables;
	struct scan *scan; /* the one that runs; NULL: none */
};

/* A scan of one table. */
struct scan {
	const struct vpt_nsight_table *table;
	void *ctx;
	uint32_t there; /* bit i: the file has a column for field i */
	int lacks;      /* the file has no column for a field that every row needs */
	int row_rc;     /* what ended it in table->row() */
	struct vpt_cell cells[VPT_NSIGHT_FIELDS_MAX];
};

static void take_row(sqlite3_context *ctx, int count, sqlite3_value **values);
static void end_rows(sqlite3_context *ctx);

/* ---- opening ---- */

static uint64_t big_endian(const unsigned char *p, size_t bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | *p++;
	return value;
}

/* The length by the header: page size at byte 16 (1 means 65,536), number of pages at 28. */
static uint64_t promised_bytes(struct vpt_source *src)
{
	unsigned char head[100];
	size_t got = 0;

	if (src->read_at(src, 0, head, sizeof(head), &got, NULL) || got < sizeof(head))
		return 0;
	/* The number of pages is valid only if the last writer updated it. */
	if (memcmp(head + 24, head + 92, 4))
		return 0;
	return (big_endian(head + 16, 2) == 1 ? 65536 : big_endian(head + 16, 2)) *
	       big_endian(head + 28, 4);
}

static int out_of_steps(void *ctx)
{
	struct vpt_nsight_db *db = ctx;

	if (db->steps_left < STEPS_A_CALL)
		return 1;
	db->steps_left -= STEPS_A_CALL;
	return 0;
}

struct setting {
	int id, value;
};

/* No limits that only affect parsing: a view that somebody added must not make the file
 * unreadable. */
static const struct setting limits[] = {
	{SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX},
	{SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
	{SQLITE_LIMIT_ATTACHED, 0},
	{SQLITE_LIMIT_TRIGGER_DEPTH, 1},
	{SQLITE_LIMIT_WORKER_THREADS, 0},
};

static const struct setting switches[] = {
	{SQLITE_DBCONFIG_DEFENSIVE, 1},
	{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
	{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
	{SQLITE_DBCONFIG_ENABLE_VIEW, 0},
	{SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
	{SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1},
};

static void harden(struct vpt_nsight_db *db)
{
	size_t i;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(db->sql, limits[i].id, limits[i].value);
	for (i = 0; i < sizeof(switches) / sizeof(switches[0]); i++)
		sqlite3_db_config(db->sql, switches[i].id, switches[i].value, (int *)NULL);
	sqlite3_progress_handler(db->sql, STEPS_A_CALL, out_of_steps, db);
}

/* Rows are taken by a function of ours that SQLite calls for each, as it would for a sum: that takes a third of
 * the time of asking for a row, and then for each of its values. Nothing in the schema can call it. */
static int add_function(struct vpt_nsight_db *db)
{
	return sqlite3_create_function_v2(db->sql, TAKE_ROW, -1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
		db, NULL, take_row, end_rows, NULL);
}

/* Translates SQLite's failure into a code and a message; a failure of the source keeps its own. */
static int sqlite_failure(struct vpt_nsight_db *db, int rc, struct vpt_err *err)
{
	if (db->files.io_failed) {
		if (err)
			*err = db->files.io_err;
		return VPT_EIO;
	}
	if ((rc & 0xff) == SQLITE_NOMEM)
		return vpt_fail(err, VPT_ENOMEM, "no memory to read the SQLite database");
	if ((rc & 0xff) == SQLITE_CORRUPT && db->files.size_bytes > db->files.src->size_bytes)
		return vpt_fail(err, VPT_EDATA,
			"expected an SQLite database of %" PRIu64
			" bytes, as its header says, found "
			"%" PRIu64 ": the file was cut; " VPT_NSIGHT_AGAIN,
			db->files.size_bytes, db->files.src->size_bytes);
	return vpt_fail(err, VPT_EDATA,
		"expected a readable SQLite database, found: %s; " VPT_NSIGHT_AGAIN,
		db->sql ? sqlite3_errmsg(db->sql) : sqlite3_errstr(rc));
}

static void note_words(struct vpt_nsight_db *db, const char *table)
{
	if (!db->damage[0])
		snprintf(db->damage, sizeof(db->damage), "table %.80s: %.150s", table,
			sqlite3_errmsg(db->sql));
}

static void note_damage(struct vpt_nsight_db *db, const char *table)
{
	db->stats->truncated = 1;
	note_words(db, table);
}

/* Reads the names of the tables. Only of real ones: the schema of a hostile file may have a view of the same
 * name. Names that are too long are none of ours. 0 or VPT_ENOMEM. */
static int read_names(struct vpt_nsight_db *db)
{
	static const char ask[] = "SELECT name FROM sqlite_master WHERE type = 'table' AND "
				  "rootpage > 0 ORDER BY name";
	struct table_names *t = &db->tables;
	sqlite3_stmt *st = NULL;
	int rc, full = 0;

	rc = sqlite3_prepare_v2(db->sql, ask, -1, &st, NULL);
	while (!rc && !full && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(st, 0);
		size_t size = name ? strlen(name) + 1 : 0;

		rc = SQLITE_OK;
		if (!size || size > TABLE_NAME_MAX)
			continue;
		full = vpt_grow(&t->text, &t->cap, t->size + size, 1) != VPT_OK;
		if (!full)
			memcpy(t->text + t->size, name, size);
		t->size += full ? 0 : size;
	}
	if (!full && rc != SQLITE_DONE)
		note_damage(db, "sqlite_master");
	sqlite3_finalize(st);
	return full ? VPT_ENOMEM : VPT_OK;
}

int vpt_nsight_open(struct vpt_source *src, struct vpt_import_stats *stats,
	struct vpt_nsight_db **out, struct vpt_err *err)
{
	struct vpt_nsight_db *db;
	uint64_t promised;
	int rc;

	*out = NULL;
	rc = vpt_sqlite_load(err);
	if (rc)
		return rc;
	db = vpt_calloc(1, sizeof(*db));
	if (!db)
		return vpt_fail(err, VPT_ENOMEM, "no memory to open an SQLite database");
	db->stats = stats;
	rc = vpt_nsight_files_open(&db->files, src, err);
	if (rc)
		goto out;
	db->steps_left = STEPS_BASE + src->size_bytes * STEPS_A_BYTE;
	/* What is to be undone or added may change the length. */
	if (!db->files.beside) {
		promised = promised_bytes(src);
		stats->truncated |= promised > src->size_bytes;
		if (promised > src->size_bytes)
			db->files.size_bytes = promised;
	} else {
		db->steps_left += db->files.beside->size_bytes * STEPS_A_BYTE;
		stats->interrupted |= !db->files.is_wal;
	}
	rc = sqlite3_open_v2(VPT_NSIGHT_FILE, &db->sql,
		SQLITE_OPEN_NOMUTEX |
			(db->files.beside ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY),
		db->files.vfs_name);
	if (!rc)
		rc = add_function(db);
	if (!rc) {
		harden(db);
		/* Then a write-ahead log needs no shared memory. */
		rc = sqlite3_exec(db->sql, "PRAGMA locking_mode = EXCLUSIVE", NULL, NULL, NULL);
	}
	if (!rc) {
		/* Reads the schema, so that everything after this can rely on it. */
		rc = sqlite3_exec(db->sql, "SELECT 1 FROM sqlite_master LIMIT 1", NULL, NULL, NULL);
	}
	if (rc) {
		rc = sqlite_failure(db, rc, err);
		goto out;
	}
	rc = read_names(db);
	if (rc) {
		vpt_fail(err, rc, "no memory for the names of the tables");
		goto out;
	}
	*out = db;
	db = NULL;
out:
	vpt_nsight_close(db);
	return rc;
}

void vpt_nsight_close(struct vpt_nsight_db *db)
{
	if (!db)
		return;
	sqlite3_close(db->sql);
	vpt_nsight_files_close(&db->files);
	vpt_free(db->tables.text);
	vpt_free(db);
}

const char *vpt_nsight_damage(const struct vpt_nsight_db *db)
{
	return db->damage[0] ? db->damage : NULL;
}

/* ---- tables ---- */

/* Notes that a table ended early. SQLite cannot continue after a row that is too long for it. */
static void note_end(struct vpt_nsight_db *db, const char *table, int rc)
{
	if ((rc & 0xff) != SQLITE_TOOBIG) {
		note_damage(db, table);
		return;
	}
	db->stats->too_long++;
	note_words(db, table);
}

/* Whether the query `ask` finds this name in the schema. */
static int schema_has(struct vpt_nsight_db *db, const char *ask, const char *name)
{
	sqlite3_stmt *st = NULL;
	int found = 0, rc;

	rc = sqlite3_prepare_v2(db->sql, ask, -1, &st, NULL);
	if (!rc) {
		sqlite3_bind_text(st, 1, name, -1, SQLITE_STATIC);
		rc = sqlite3_step(st);
		found = rc == SQLITE_ROW;
	}
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		note_damage(db, "sqlite_master");
	sqlite3_finalize(st);
	return found;
}

int vpt_nsight_is_view(struct vpt_nsight_db *db, const char *table)
{
	return schema_has(
		db, "SELECT 1 FROM sqlite_master WHERE type = 'view' AND name = ?", table);
}

enum { VARIANTS_MAX = 8 };

/* The file's tables of one name, which other versions of the tool may have given an ending. */
struct variants {
	char names[VARIANTS_MAX][TABLE_NAME_MAX];
	size_t count;
};

/* Whether `name` is the table's, or that with _2 or _V2. */
static int is_variant(const char *name, const char *table)
{
	size_t len = strlen(table);

	if (strncmp(name, table, len))
		return 0;
	name += len;
	if (!*name)
		return 1;
	if (*name++ != '_')
		return 0;
	name += *name == 'V' || *name == 'v';
	return *name && !name[strspn(name, "0123456789")];
}

static void find_variants(struct vpt_nsight_db *db, const char *table, struct variants *v)
{
	const struct table_names *t = &db->tables;
	size_t at;

	v->count = 0;
	for (at = 0; at < t->size && v->count < VARIANTS_MAX; at += strlen(t->text + at) + 1)
		if (is_variant(t->text + at, table) &&
			!sqlite3_table_column_metadata(
				db->sql, "main", t->text + at, NULL, NULL, NULL, NULL, NULL, NULL))
			snprintf(v->names[v->count++], TABLE_NAME_MAX, "%s", t->text + at);
}

int vpt_nsight_has(struct vpt_nsight_db *db, const char *table)
{
	struct variants v;

	find_variants(db, table, &v);
	return v.count != 0;
}

static int has_column(struct vpt_nsight_db *db, const char *table, const char *column)
{
	return !sqlite3_table_column_metadata(
		db->sql, "main", table, column, NULL, NULL, NULL, NULL, NULL);
}

static void clear_cell(struct vpt_cell *cell, const struct vpt_nsight_field *f)
{
	*cell = (struct vpt_cell){.number = f->missing, .text = {"", 0}};
}

/* Prepares the scan, with a value for each field that the file has a column for. */
static int prepare(struct vpt_nsight_db *db, struct scan *scan, sqlite3_stmt **st)
{
	const struct vpt_nsight_table *table = scan->table;
	sqlite3_str *sql = sqlite3_str_new(db->sql);
	char *text;
	size_t i;
	int rc;

	sqlite3_str_appendall(sql, "SELECT " TAKE_ROW "(");
	for (i = 0; i < table->field_count; i++) {
		const struct vpt_nsight_field *f = &table->fields[i];

		clear_cell(&scan->cells[i], f);
		if (!has_column(db, table->name, f->column)) {
			scan->lacks |= f->need == VPT_NEEDED;
			continue;
		}
		sqlite3_str_appendf(sql, "%s\"%w\"", scan->there ? ", " : "", f->column);
		scan->there |= UINT32_C(1) << i;
	}
	sqlite3_str_appendf(sql, ") FROM main.\"%w\"", table->name);
	/* "+": not by an index, which may be damaged. */
	if (table->only && scan->there >> table->only->field & 1)
		sqlite3_str_appendf(sql, " WHERE +\"%w\" = %lld",
			table->fields[table->only->field].column, (long long)table->only->value);
	text = sqlite3_str_finish(sql);
	if (!text)
		return SQLITE_NOMEM;
	rc = sqlite3_prepare_v2(db->sql, text, -1, st, NULL);
	sqlite3_free(text);
	return rc;
}

/* Reads a value if it has the type of the field. Returns whether it has. */
static inline int read_value(
	sqlite3_value *value, int found, enum vpt_cell_type type, struct vpt_cell *cell)
{
	if (type == VPT_CELL_TEXT) {
		if (found != SQLITE_TEXT)
			return 0;
		cell->text.text = (const char *)sqlite3_value_text(value);
		cell->text.len = cell->text.text ? (size_t)sqlite3_value_bytes(value) : 0;
		return cell->text.text != NULL;
	}
	if (type == VPT_CELL_REAL) {
		if (found != SQLITE_FLOAT && found != SQLITE_INTEGER)
			return 0;
		cell->real = sqlite3_value_double(value);
		return isfinite(cell->real);
	}
	if (found != SQLITE_INTEGER)
		return 0;
	cell->number = sqlite3_value_int64(value);
	return cell->number >= 0 || type == VPT_CELL_STAMP || type == VPT_CELL_BITS;
}

/* Returns whether the row has all fields that it needs. */
static int read_row(struct vpt_nsight_db *db, struct scan *scan, sqlite3_value **values)
{
	const struct vpt_nsight_table *table = scan->table;
	uint32_t left;

	if (scan->lacks)
		return 0;
	for (left = scan->there; left; left &= left - 1, values++) {
		unsigned i = (unsigned)__builtin_ctz(left);
		const struct vpt_nsight_field *f = &table->fields[i];
		struct vpt_cell *cell = &scan->cells[i];
		int found = sqlite3_value_type(*values);

		if (found != SQLITE_NULL && read_value(*values, found, f->type, cell)) {
			cell->known = 1;
			cell->wrong = 0;
			continue;
		}
		/* Most columns that are NULL are so in each row. */
		if (found != SQLITE_NULL || cell->known || cell->wrong)
			clear_cell(cell, f);
		if (f->need != VPT_OPTIONAL)
			return 0;
		cell->wrong = found != SQLITE_NULL;
		db->stats->bad_numbers += (uint64_t)(table->events && cell->wrong);
	}
	return 1;
}

static void take_row(sqlite3_context *ctx, int count, sqlite3_value **values)
{
	struct vpt_nsight_db *db = sqlite3_user_data(ctx);
	struct scan *scan = db->scan;

	(void)count;
	db->stats->events += (uint64_t)scan->table->events;
	if (!read_row(db, scan, values)) {
		db->stats->malformed += (uint64_t)scan->table->events;
		return;
	}
	scan->row_rc = scan->table->row(scan->ctx, scan->cells);
	if (scan->row_rc)
		sqlite3_result_error_code(ctx, SQLITE_ABORT);
}

static void end_rows(sqlite3_context *ctx)
{
	(void)ctx;
}

static int scan_one(struct vpt_nsight_db *db, const struct vpt_nsight_table *table, void *ctx,
	struct vpt_err *err)
{
	struct scan scan = {.table = table, .ctx = ctx};
	sqlite3_stmt *st = NULL;
	int rc = prepare(db, &scan, &st);

	db->scan = &scan;
	if (!rc)
		rc = sqlite3_step(st);
	db->scan = NULL;
	if (scan.row_rc) {
		rc = vpt_fail(err, scan.row_rc, "no memory for the rows of table %s", table->name);
	} else if (rc == SQLITE_ROW || rc == SQLITE_DONE) {
		rc = VPT_OK;
	} else if (db->files.io_failed || (rc & 0xff) == SQLITE_NOMEM) {
		rc = sqlite_failure(db, rc, err);
	} else {
		note_end(db, table->name, rc);
		rc = VPT_OK;
	}
	sqlite3_finalize(st);
	return rc;
}

int vpt_nsight_scan(struct vpt_nsight_db *db, const struct vpt_nsight_table *table, void *ctx,
	struct vpt_err *err)
{
	struct vpt_nsight_table variant = *table;
	struct variants v;
	size_t i;
	int rc = VPT_OK;

	if (table->field_count > VPT_NSIGHT_FIELDS_MAX)
		return VPT_OK;
	find_variants(db, table->name, &v);
	if (!v.count)
		db->stats->views += (table->events || !strcmp(table->name, "StringIds")) &&
				    vpt_nsight_is_view(db, table->name);
	for (i = 0; i < v.count && !rc; i++) {
		variant.name = v.names[i];
		rc = scan_one(db, &variant, ctx, err);
	}
	return rc;
}
