/* rows_files.c - tables as a folder of files: CSV or JSON lines. schema.json says what their columns are. */
#include "analysis/export/rows/table_outlet.h"

#include "formats/base/json_writer.h"

#include <stdio.h>

/* ---- schema.json ---- */

static void put_words(struct vpt_json *j, const struct vpa_table_column *column)
{
	enum { WORDS = 16 };
	uint64_t number;
	size_t i;

	vpt_json_array(j, "words");
	for (number = 0; column->words && number < WORDS; number++)
		if (vpt_word((enum vpt_unit)column->words, number))
			vpt_json_string(j, NULL, vpt_word((enum vpt_unit)column->words, number));
	for (i = 0; column->choice && column->choice(i); i++)
		vpt_json_string(j, NULL, column->choice(i));
	vpt_json_end(j);
}

static void put_column(struct vpt_json *j, const struct vpa_table_column *column)
{
	vpt_json_object(j, NULL);
	vpt_json_string(j, "name", column->name);
	vpt_json_string(j, "type", vpa_column_type_name(column->type));
	if (column->unit)
		vpt_json_string(j, "unit", column->unit);
	if (column->words || column->choice)
		put_words(j, column);
	vpt_json_string(j, "help", column->help);
	vpt_json_end(j);
}

static void put_table(struct vpt_json *j, const struct vpa_rows_table *t)
{
	size_t i;

	vpt_json_object(j, NULL);
	vpt_json_string(j, "file", vpa_export_file_name(t->target));
	vpt_json_string(j, "table", t->name);
	vpt_json_string(j, "help", t->help);
	vpt_json_u64(j, "rows", t->rows);
	vpt_json_array(j, "columns");
	for (i = 0; i < t->all.count; i++)
		put_column(j, &t->all.at[i]);
	vpt_json_end(j);
	vpt_json_end(j);
}

static int put_schema(const struct vpa_rows *x, struct vpt_sink *sink, struct vpt_err *err)
{
	const struct vpa_report *r = x->view.report;
	struct vpt_json j;
	size_t i;

	vpt_json_init(&j, sink, 1);
	vpt_json_object(&j, NULL);
	vpt_json_string(&j, "schema", "vptrace.rows/1");
	vpt_json_string(&j, "input", r->path);
	vpt_json_string(&j, "format", x->cat.csv ? "csv" : "jsonl");
	vpt_json_bool(&j, "complete", r->verdict.complete);
	vpt_json_u64(&j, "window_start_ns", r->window_start_ns);
	vpt_json_u64(&j, "window_end_ns", r->window_end_ns);
	if (r->has_realtime)
		vpt_json_i64(&j, "unix_offset_ns", (int64_t)r->unix_offset_ns);
	vpt_json_array(&j, "files");
	for (i = 0; i < x->table_count; i++)
		put_table(&j, &x->tables[i]);
	vpt_json_end(&j);
	vpt_json_end(&j);
	vpt_json_newline(&j);
	return vpt_json_finish(&j, err);
}

static int write_schema(struct vpa_rows *x)
{
	struct vpa_export_file *file;
	struct vpt_buffer text = {0};
	struct vpt_sink *sink;
	int rc = vpt_sink_memory(&text, &sink, x->c->err), finished;

	if (rc)
		return rc;
	rc = put_schema(x, sink, x->c->err);
	finished = sink->finish(sink, !rc, x->c->err);
	rc = rc ? rc : finished;
	if (!rc)
		rc = vpa_export_file_new(x->c->folder, "schema.json", 0, &file, x->c->err);
	if (!rc)
		rc = vpa_export_file_put(file, text.data, text.size, x->c->err);
	x->c->totals->raw_bytes += text.size;
	vpt_free(text.data);
	return rc;
}

/* ---- files ---- */

static int open_file(struct vpa_rows *x, struct vpa_rows_table *t)
{
	struct vpa_export_file *file;
	char name[VPA_REPORT_TABLE_NAME + 8];
	size_t i;
	int rc;

	snprintf(name, sizeof(name), "%s.%s", t->name, x->cat.csv ? "csv" : "jsonl");
	for (i = 0; x->cat.csv && i < t->all.count; i++) {
		vpa_line_words(&t->out, i ? "," : "");
		vpa_line_words(&t->out, t->all.at[i].name);
	}
	vpa_line_words(&t->out, x->cat.csv ? "\n" : "");
	rc = vpa_export_file_new(x->c->folder, name, 1, &file, x->c->err);
	t->target = rc ? NULL : file;
	return rc;
}

static int put_rows(struct vpa_rows *x, struct vpa_rows_table *t, const char *rows, size_t size)
{
	return vpa_export_file_put(t->target, rows, size, x->c->err);
}

static int begin_csv(void *state, const struct vpa_export_context *c)
{
	static const struct vpa_rows_outlet outlet = {
		.form = VPA_CAT_CSV, .open = open_file, .put = put_rows, .end = write_schema};

	return vpa_rows_begin_pass(state, c, &outlet);
}

static int begin_jsonl(void *state, const struct vpa_export_context *c)
{
	static const struct vpa_rows_outlet outlet = {
		.form = VPA_CAT_JSON, .open = open_file, .put = put_rows, .end = write_schema};

	return vpa_rows_begin_pass(state, c, &outlet);
}

const struct vpa_exporter vpa_exporter_csv = {
	.name = "csv",
	.help = "A folder with one table per kind of row. A kernel row has its family, the "
		"call\n"
		"that launched it, range, stage, block and step. Further tables list the gaps,\n"
		"idle time by cause and place with its line of Python, and the ranges on each\n"
		"GPU. Its schema.json describes the columns.",
	.opens = "schema.json describes the columns; DuckDB and pandas open the files directly",
	.packings = {{"none", VPT_CONTAINER_NONE, ".csv.d"},
		{"zstd", VPT_CONTAINER_ZSTD, ".csv.d"}},
	.takes = VPA_TAKES_SAFE | VPA_TAKES_MIN_GAP,
	.is_folder = 1,
	.begin = begin_csv,
	VPA_ROWS_PASS,
};

const struct vpa_exporter vpa_exporter_jsonl = {
	.name = "jsonl",
	.help = "The same tables as JSON lines.",
	.opens = "schema.json describes the members; DuckDB and pandas open the files directly",
	.packings = {{"none", VPT_CONTAINER_NONE, ".jsonl.d"},
		{"zstd", VPT_CONTAINER_ZSTD, ".jsonl.d"}},
	.takes = VPA_TAKES_MIN_GAP,
	.is_folder = 1,
	.begin = begin_jsonl,
	VPA_ROWS_PASS,
};
