/* rows_schema.c - schema.json: the files of a folder of tables, and what their columns are. */
#include "analysis/export/rows/rows_schema.h"

#include "analysis/export/rows/table_outlet.h"
#include "formats/io/json_writer.h"

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
	vpt_json_string(j, "file", t->file);
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
	vpt_json_string(&j, "format", x->outlet->format);
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

int vpa_rows_schema_write(struct vpa_rows *x)
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
