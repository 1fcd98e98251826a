/* rows_files.c - tables as a folder of files: CSV or JSON lines. */
#include "analysis/export/rows/rows_schema.h"
#include "analysis/export/rows/table_outlet.h"

#include <stdio.h>

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
	t->file = rc ? NULL : vpa_export_file_name(file);
	return rc;
}

static int put_rows(struct vpa_rows *x, struct vpa_rows_table *t, const char *rows, size_t size)
{
	return vpa_export_file_put(t->target, rows, size, x->c->err);
}

static int begin_csv(void *state, const struct vpa_export_context *c)
{
	static const struct vpa_rows_outlet outlet = {.format = "csv",
		.form = VPA_CAT_CSV,
		.open = open_file,
		.put = put_rows,
		.end = vpa_rows_schema_write};

	return vpa_rows_begin_pass(state, c, &outlet);
}

static int begin_jsonl(void *state, const struct vpa_export_context *c)
{
	static const struct vpa_rows_outlet outlet = {.format = "jsonl",
		.form = VPA_CAT_JSON,
		.open = open_file,
		.put = put_rows,
		.end = vpa_rows_schema_write};

	return vpa_rows_begin_pass(state, c, &outlet);
}

const struct vpa_exporter vpa_exporter_csv = {
	.name = "csv",
	.help = "A folder with one table per kind of row. A kernel row has its family, the call\n"
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
