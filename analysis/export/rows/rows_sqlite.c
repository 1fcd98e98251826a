/* rows_sqlite.c - tables as a SQLite database.
 *
 * SQLite writes a file by name, so the database is made beside the output, without journal, and copied when it is whole. A
 * death leaves nothing: the file's name goes as soon as SQLite has it open.
 *
 * Table "columns" says what the columns mean. Views have the short names that the Python module has too. */
#include "analysis/export/rows/row_values.h"
#include "analysis/export/rows/table_outlet.h"
#include "analysis/export/temporary_file.h"
#include "formats/import/nsight/sqlite_library.h"

#include <stdio.h>

struct database {
	sqlite3 *db;
	struct vpa_temporary spool;
	struct vpa_line scratch, statement;
	uint64_t bytes; /* copied */
};

static int failed(struct vpa_rows *x, int code)
{
	struct database *d = x->outlet_state;

	if (code == SQLITE_NOMEM)
		return VPT_ENOMEM;
	return vpt_fail(x->c->err, VPT_EIO, "cannot write the database: %s",
		d->db ? sqlite3_errmsg(d->db) : sqlite3_errstr(code));
}

/* ---- statements ---- */

static int run(struct vpa_rows *x, const char *statement)
{
	struct database *d = x->outlet_state;
	int code = sqlite3_exec(d->db, statement, NULL, NULL, NULL);

	return code == SQLITE_OK ? VPT_OK : failed(x, code);
}

/* Begins a statement that is put together in d->statement. */
static struct vpa_line *begin(struct database *d, const char *words)
{
	d->statement.size = 0;
	vpa_line_words(&d->statement, words);
	return &d->statement;
}

/* A name in quotes: names are ours and have none. */
static void put_name(struct vpa_line *l, const char *name)
{
	vpa_line_put(l, "\"", 1);
	vpa_line_words(l, name);
	vpa_line_put(l, "\"", 1);
}

static int run_line(struct vpa_rows *x)
{
	struct database *d = x->outlet_state;

	vpa_line_put(&d->statement, "", 1);
	return d->statement.failed ? VPT_ENOMEM : run(x, d->statement.data);
}

static int prepare(struct vpa_rows *x, const char *statement, sqlite3_stmt **out)
{
	struct database *d = x->outlet_state;
	int code = sqlite3_prepare_v2(d->db, statement, -1, out, NULL);

	return code == SQLITE_OK ? VPT_OK : failed(x, code);
}

/* Runs an INSERT whose values are bound. */
static int insert(struct vpa_rows *x, sqlite3_stmt *statement)
{
	int code = sqlite3_step(statement);

	if (code == SQLITE_DONE)
		code = sqlite3_reset(statement);
	return code == SQLITE_OK ? VPT_OK : failed(x, code);
}

/* ---- tables ---- */

static int create(struct vpa_rows *x, const struct vpa_rows_table *t)
{
	static const char *const types[] = {[VPA_COLUMN_INTEGER] = " INTEGER",
		[VPA_COLUMN_NUMBER] = " REAL",
		[VPA_COLUMN_TEXT] = " TEXT",
		[VPA_COLUMN_ANY] = ""};
	struct vpa_line *l = begin(x->outlet_state, "CREATE TABLE ");
	size_t i;

	put_name(l, t->name);
	for (i = 0; i < t->all.count; i++) {
		vpa_line_words(l, i ? ", " : " (");
		put_name(l, t->all.at[i].name);
		vpa_line_words(l, types[t->all.at[i].type]);
	}
	vpa_line_words(l, ")");
	return run_line(x);
}

static int describe(struct vpa_rows *x, const struct vpa_rows_table *t)
{
	sqlite3_stmt *statement = NULL;
	int rc = prepare(x, "INSERT INTO columns VALUES (?, ?, ?, ?, ?)", &statement);
	size_t i;

	for (i = 0; !rc && i < t->all.count; i++) {
		const struct vpa_table_column *c = &t->all.at[i];

		sqlite3_bind_text(statement, 1, t->name, -1, SQLITE_STATIC);
		sqlite3_bind_text(statement, 2, c->name, -1, SQLITE_STATIC);
		sqlite3_bind_text(statement, 3, vpa_column_type_name(c->type), -1, SQLITE_STATIC);
		sqlite3_bind_text(statement, 4, c->unit, -1, SQLITE_STATIC); /* NULL is null */
		sqlite3_bind_text(statement, 5, c->help, -1, SQLITE_STATIC);
		rc = insert(x, statement);
	}
	sqlite3_finalize(statement);
	return rc;
}

static int open_table(struct vpa_rows *x, struct vpa_rows_table *t)
{
	struct database *d = x->outlet_state;
	sqlite3_stmt *statement;
	struct vpa_line *l;
	size_t i;
	int rc = create(x, t);

	if (!rc)
		rc = describe(x, t);
	if (rc)
		return rc;
	l = begin(d, "INSERT INTO ");
	put_name(l, t->name);
	for (i = 0; i < t->all.count; i++)
		vpa_line_words(l, i ? ", ?" : " VALUES (?");
	vpa_line_put(l, ")", sizeof(")"));
	rc = l->failed ? VPT_ENOMEM : prepare(x, l->data, &statement);
	t->target = rc ? NULL : statement;
	return rc;
}

static int bind(sqlite3_stmt *statement, int column, const struct vpa_row_value *v)
{
	switch (v->kind) {
	case VPA_ROW_INTEGER:
		return sqlite3_bind_int64(statement, column, v->integer);
	case VPA_ROW_NUMBER:
		return sqlite3_bind_double(statement, column, v->number);
	case VPA_ROW_TEXT:
		return sqlite3_bind_text64(statement, column, v->text.text, v->text.len,
			SQLITE_TRANSIENT, SQLITE_UTF8);
	default:
		return sqlite3_bind_null(statement, column);
	}
}

static int put_rows(struct vpa_rows *x, struct vpa_rows_table *t, const char *rows, size_t size)
{
	struct database *d = x->outlet_state;
	const char *at = rows, *end = rows + size;
	struct vpa_row_value value;
	size_t i;
	int rc = VPT_OK;

	while (at < end && !rc) {
		for (i = 0; i < t->all.count && !rc; i++) {
			int code;

			vpa_row_value_read(&at, end, &d->scratch, &value);
			code = bind(t->target, (int)i + 1, &value);
			if (code != SQLITE_OK || d->scratch.failed)
				rc = d->scratch.failed ? VPT_ENOMEM : failed(x, code);
		}
		if (!rc)
			rc = insert(x, t->target);
	}
	return rc;
}

/* ---- the whole ---- */

static int open_database(struct vpa_rows *x)
{
	struct database *d = x->outlet_state;
	int code, rc = vpa_temporary_open(&d->spool, x->c->scratch, x->c->err);

	if (rc)
		return rc;
	code = sqlite3_open_v2(d->spool.path, &d->db, SQLITE_OPEN_READWRITE, NULL);
	if (code != SQLITE_OK)
		return failed(x, code);
	rc = run(x, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = "
		    "EXCLUSIVE; BEGIN; CREATE TABLE export (key TEXT, value); CREATE TABLE columns "
		    "(\"table\" TEXT, name TEXT, type TEXT, unit TEXT, help TEXT)");
	vpa_temporary_hide(&d->spool);
	return rc;
}

/* What schema.json has above its tables. */
static int put_facts(struct vpa_rows *x)
{
	const struct vpa_report *r = x->view.report;
	const struct {
		const char *key, *text;
		uint64_t number;
		int is_known;
	} facts[] = {
		{"schema", "vptrace.rows/1", 0, 1},
		{"input", r->path, 0, r->path != NULL},
		{"complete", NULL, (uint64_t)r->verdict.complete, 1},
		{"window_start_ns", NULL, r->window_start_ns, 1},
		{"window_end_ns", NULL, r->window_end_ns, 1},
		{"unix_offset_ns", NULL, r->unix_offset_ns, r->has_realtime},
	};
	sqlite3_stmt *statement = NULL;
	int rc = prepare(x, "INSERT INTO export VALUES (?, ?)", &statement);
	size_t i;

	for (i = 0; !rc && i < sizeof(facts) / sizeof(*facts); i++) {
		if (!facts[i].is_known)
			continue;
		sqlite3_bind_text(statement, 1, facts[i].key, -1, SQLITE_STATIC);
		if (facts[i].text)
			sqlite3_bind_text(statement, 2, facts[i].text, -1, SQLITE_STATIC);
		else
			sqlite3_bind_int64(statement, 2, (sqlite3_int64)facts[i].number);
		rc = insert(x, statement);
	}
	sqlite3_finalize(statement);
	return rc;
}

/* An index by the first column that is a time. */
static int put_index(struct vpa_rows *x, const struct vpa_rows_table *t)
{
	struct vpa_line *l;
	char name[2 * VPA_REPORT_TABLE_NAME];
	size_t i = 0;

	while (i < t->all.count && !t->all.at[i].is_time)
		i++;
	if (i == t->all.count)
		return VPT_OK;
	snprintf(name, sizeof(name), "%s_by_%s", t->name, t->all.at[i].name);
	l = begin(x->outlet_state, "CREATE INDEX ");
	put_name(l, name);
	vpa_line_words(l, " ON ");
	put_name(l, t->name);
	vpa_line_words(l, " (");
	put_name(l, t->all.at[i].name);
	vpa_line_words(l, ")");
	return run_line(x);
}

static const struct vpa_rows_table *table_named(const struct vpa_rows *x, const char *name)
{
	size_t i;

	for (i = 0; i < x->table_count; i++)
		if (!strcmp(x->tables[i].name, name))
			return &x->tables[i];
	return NULL;
}

/* Appends the rows of ops that are in `from`: with the columns that kernels and copies have in common. */
static void put_ops(struct vpa_line *l, const struct vpa_rows *x, unsigned from, const char *first)
{
	const struct vpa_table_columns *kernel = &x->by_kind[VPT_KERNEL]->all;
	const struct vpa_table_columns *copy = &x->by_kind[VPT_COPY]->all;
	size_t i;

	vpa_line_words(l, "SELECT ");
	vpa_line_words(l, first);
	for (i = 0; i < kernel->count; i++) {
		if (!vpa_table_columns_find(copy, kernel->at[i].name))
			continue;
		vpa_line_words(l, ", ");
		put_name(l, kernel->at[i].name);
	}
	vpa_line_words(l, " FROM ");
	put_name(l, x->by_kind[from]->name);
}

/* Kernels and copies together. */
static int put_ops_view(struct vpa_rows *x)
{
	struct vpa_line *l;

	if (!x->by_kind[VPT_KERNEL] || !x->by_kind[VPT_COPY])
		return VPT_OK;
	l = begin(x->outlet_state, "CREATE VIEW ops AS ");
	put_ops(l, x, VPT_KERNEL, "'kernel' AS op, name");
	vpa_line_words(l, " UNION ALL ");
	put_ops(l, x, VPT_COPY, "'copy', copy_kind");
	return run_line(x);
}

static int put_views(struct vpa_rows *x)
{
	static const struct {
		const char *name, *table;
	} views[] = {VPA_SHORT_NAMES};
	int rc = put_ops_view(x);
	size_t i;

	for (i = 0; !rc && i < sizeof(views) / sizeof(*views); i++) {
		struct vpa_line *l;

		if (!table_named(x, views[i].table))
			continue;
		l = begin(x->outlet_state, "CREATE VIEW ");
		put_name(l, views[i].name);
		vpa_line_words(l, " AS SELECT * FROM ");
		put_name(l, views[i].table);
		rc = run_line(x);
	}
	return rc;
}

static int put_bytes(void *ctx, const void *data, size_t size, struct vpt_err *err)
{
	struct vpa_rows *x = ctx;

	((struct database *)x->outlet_state)->bytes += size;
	return vpa_groups_put(x->c->groups, data, size, err);
}

static void end_statements(struct vpa_rows *x)
{
	size_t i;

	for (i = 0; i < x->table_count; i++) {
		sqlite3_finalize(x->tables[i].target);
		x->tables[i].target = NULL;
	}
}

static int end_database(struct vpa_rows *x)
{
	struct database *d = x->outlet_state;
	int code, rc = put_facts(x);
	size_t i;

	end_statements(x);
	for (i = 0; i < x->table_count && !rc; i++)
		rc = put_index(x, &x->tables[i]);
	if (!rc)
		rc = put_views(x);
	if (!rc)
		rc = run(x, "COMMIT");
	if (rc)
		return rc;
	code = sqlite3_close(d->db);
	if (code != SQLITE_OK)
		return failed(x, code);
	d->db = NULL;
	rc = vpa_temporary_copy(&d->spool, put_bytes, x, x->c->err);
	x->c->totals->raw_bytes = d->bytes;
	return rc;
}

static void free_database(struct vpa_rows *x)
{
	struct database *d = x->outlet_state;

	if (!d)
		return;
	end_statements(x);
	sqlite3_close(d->db);
	vpa_temporary_close(&d->spool);
	vpt_free(d->scratch.data);
	vpt_free(d->statement.data);
	vpt_free(d);
}

static int begin_sqlite(void *state, const struct vpa_export_context *c)
{
	static const struct vpa_rows_outlet outlet = {.form = VPA_CAT_VALUES,
		.has_report = 1,
		.open = open_table,
		.put = put_rows,
		.end = end_database,
		.free = free_database};
	struct vpa_rows *x = state;
	struct database *d;
	int rc = vpt_sqlite_load(c->err);

	if (rc)
		return rc;
	d = vpt_calloc(1, sizeof(*d));
	if (!d)
		return VPT_ENOMEM;
	d->spool.fd = -1;
	x->outlet_state = d;
	x->outlet = &outlet;
	x->c = c;
	rc = open_database(x);
	return rc ? rc : vpa_rows_begin_pass(x, c, &outlet);
}

const struct vpa_exporter vpa_exporter_sqlite = {
	.name = "sqlite",
	.help = "The same tables as a SQLite database, those of the report too, with views of\n"
		"the usual ones: ops, calls, ranges, gaps, causes, requests, blocks, stages,\n"
		"steps, stacks. Its table columns describes the columns.",
	.opens = "open it with sqlite3, DuckDB or pandas; its table columns says what the columns "
		 "mean",
	.packings = {{"none", VPT_CONTAINER_NONE, ".sqlite"}},
	.takes = VPA_TAKES_MIN_GAP,
	.begin = begin_sqlite,
	VPA_ROWS_PASS,
};
