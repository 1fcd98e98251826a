/* columns_export.c - tables as a folder of files of Parquet or Arrow.
 *
 * Rows are kept as columns until there are enough for a batch, which then goes to python_writer.c. So memory has a batch of each
 * table, however long the trace is. */
#include "analysis/export/columns/column_store.h"
#include "analysis/export/columns/stored_column.h"
#include "analysis/export/rows/rows_schema.h"
#include "analysis/export/rows/table_outlet.h"
#include "formats/io/json_writer.h"
#include "formats/base/memory.h"

#include <stdio.h>

enum { BATCH_ROWS = 1 << 17 }; /* a row group of Parquet: readers work on one per thread */

struct batch {
	struct vpa_stored_column *columns;
	size_t column_count;
	uint64_t rows;
	size_t number; /* of the table, in the order of their messages */
};

struct columns {
	struct vpa_python_writer writer;
	struct vpa_arena arena; /* batches */
	struct batch *batches[VPA_ROWS_TABLES_MAX];
	size_t batch_count;
	struct vpa_line scratch;
};

/* ---- messages ---- */

static int put_bytes(struct vpa_rows *x, const void *data, size_t size)
{
	struct columns *s = x->outlet_state;

	x->c->totals->raw_bytes += size;
	return vpa_python_writer_put(&s->writer, data, size, x->c->err);
}

/* Sends what `fill` puts as a message's header. */
static int put_header(
	struct vpa_rows *x, void (*fill)(struct vpt_json *j, const void *ctx), const void *ctx)
{
	struct vpt_buffer text = {0};
	struct vpt_sink *sink;
	struct vpt_json j;
	int rc = vpt_sink_memory(&text, &sink, x->c->err), finished;
	uint64_t size;

	if (rc)
		return rc;
	vpt_json_init(&j, sink, 0);
	vpt_json_object(&j, NULL);
	fill(&j, ctx);
	vpt_json_end(&j);
	rc = vpt_json_finish(&j, x->c->err);
	finished = sink->finish(sink, !rc, x->c->err);
	rc = rc ? rc : finished;
	size = text.size;
	if (!rc)
		rc = put_bytes(x, &size, sizeof(size));
	if (!rc)
		rc = put_bytes(x, text.data, text.size);
	vpt_free(text.data);
	return rc;
}

static void fill_table(struct vpt_json *j, const void *ctx)
{
	const struct vpa_rows_table *t = ctx;
	size_t i;

	vpt_json_string(j, "file", t->file);
	vpt_json_array(j, "columns");
	for (i = 0; i < t->all.count; i++) {
		const struct vpa_table_column *c = &t->all.at[i];

		vpt_json_object(j, NULL);
		vpt_json_string(j, "name", c->name);
		vpt_json_string(j, "type", vpa_column_type_name(c->type));
		if (c->unit)
			vpt_json_string(j, "unit", c->unit);
		vpt_json_string(j, "help", c->help);
		vpt_json_end(j);
	}
	vpt_json_end(j);
}

/* The buffers of a column: which values are known, the values, and of texts their ends and bytes. */
struct buffers {
	struct {
		const void *data;
		size_t size;
	} at[4];
	size_t count;
};

static struct buffers buffers_of(const struct vpa_stored_column *c, uint64_t rows)
{
	int is_text = vpa_stored_column_is_text(c);
	size_t value = is_text ? sizeof(*c->values.ids) : sizeof(*c->values.integers);

	return (struct buffers){
		{{c->known, (rows + 7) / 8}, {c->values.data, rows * value},
			{c->text_offsets, (c->texts.count + 1) * sizeof(*c->text_offsets)},
			{c->texts.bytes, c->texts.size}},
		is_text ? 4 : 2};
}

static void fill_batch(struct vpt_json *j, const void *ctx)
{
	const struct batch *b = ctx;
	size_t i, k;

	vpt_json_u64(j, "table", b->number);
	vpt_json_u64(j, "rows", b->rows);
	vpt_json_array(j, "sizes");
	for (i = 0; i < b->column_count; i++) {
		struct buffers of = buffers_of(&b->columns[i], b->rows);

		for (k = 0; k < of.count; k++)
			vpt_json_u64(j, NULL, of.at[k].size);
	}
	vpt_json_end(j);
}

static int put_column(struct vpa_rows *x, const struct vpa_stored_column *c, uint64_t rows)
{
	static const char zeros[8];
	struct buffers of = buffers_of(c, rows);
	size_t k;
	int rc = VPT_OK;

	for (k = 0; k < of.count && !rc; k++) {
		rc = put_bytes(x, of.at[k].data, of.at[k].size);
		if (!rc)
			rc = put_bytes(x, zeros, -of.at[k].size % sizeof(zeros));
	}
	return rc;
}

/* Sends the rows of a batch and forgets them. */
static int put_batch(struct vpa_rows *x, struct batch *b)
{
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < b->column_count && !rc; i++)
		rc = vpa_stored_column_end(&b->columns[i]);
	if (!rc)
		rc = put_header(x, fill_batch, b);
	for (i = 0; i < b->column_count && !rc; i++)
		rc = put_column(x, &b->columns[i], b->rows);
	for (i = 0; i < b->column_count; i++)
		vpa_stored_column_clear(&b->columns[i]);
	b->rows = 0;
	return rc;
}

/* ---- the outlet ---- */

static int open_table(struct vpa_rows *x, struct vpa_rows_table *t)
{
	struct columns *s = x->outlet_state;
	struct vpa_export_file *file;
	char name[VPA_REPORT_TABLE_NAME + 8];
	struct batch *b = vpa_arena_alloc(&s->arena, 1, sizeof(*b));
	size_t i;
	int rc;

	if (!b)
		return VPT_ENOMEM;
	b->columns = vpa_arena_alloc(&s->arena, t->all.count, sizeof(*b->columns));
	if (!b->columns)
		return VPT_ENOMEM;
	for (i = 0; i < t->all.count; i++)
		vpa_stored_column_begin(&b->columns[i], &t->all.at[i], &s->arena);
	b->column_count = t->all.count;
	b->number = s->batch_count;
	s->batches[s->batch_count++] = b;
	t->target = b;
	snprintf(name, sizeof(name), "%s.%s", t->name, x->outlet->format);
	rc = s->arena.failed ? VPT_ENOMEM
			     : vpa_export_file_expect(x->c->folder, name, &file, x->c->err);
	if (rc)
		return rc;
	t->file = vpa_export_file_name(file);
	return put_header(x, fill_table, t);
}

static int put_rows(struct vpa_rows *x, struct vpa_rows_table *t, const char *rows, size_t size)
{
	struct columns *s = x->outlet_state;
	struct batch *b = t->target;
	const char *at = rows, *end = rows + size;
	int rc = VPT_OK;

	while (at < end && !rc) {
		if (vpa_stored_columns_read(
			    b->columns, b->column_count, b->rows, &at, end, &s->scratch))
			return VPT_ENOMEM;
		if (++b->rows == BATCH_ROWS)
			rc = put_batch(x, b);
	}
	return rc;
}

static void fill_end(struct vpt_json *j, const void *ctx)
{
	vpt_json_u64(j, "tables", *(const size_t *)ctx);
}

static int end_columns(struct vpa_rows *x)
{
	struct columns *s = x->outlet_state;
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < s->batch_count && !rc; i++)
		if (s->batches[i]->rows)
			rc = put_batch(x, s->batches[i]);
	if (!rc)
		rc = put_header(x, fill_end, &s->batch_count);
	if (!rc)
		rc = vpa_python_writer_finish(&s->writer, x->c->err);
	return rc ? rc : vpa_rows_schema_write(x);
}

static void free_columns(struct vpa_rows *x)
{
	struct columns *s = x->outlet_state;
	size_t i, k;

	if (!s)
		return;
	/* First, since it writes into a folder that is then removed. */
	vpa_python_writer_end(&s->writer);
	for (i = 0; i < s->batch_count; i++)
		for (k = 0; k < s->batches[i]->column_count; k++)
			vpa_stored_column_free(&s->batches[i]->columns[k]);
	vpt_free(s->scratch.data);
	vpa_arena_free(&s->arena);
	vpt_free(s);
}

/* ---- the exporters ---- */

static int begin(struct vpa_rows *x, const struct vpa_export_context *c,
	const struct vpa_rows_outlet *outlet)
{
	const struct vpa_export_options *o = c->options;
	int level = o->container == VPT_CONTAINER_NONE ? 0 : o->level ? o->level : VPA_EXPORT_LEVEL;
	struct columns *s = vpt_calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return VPT_ENOMEM;
	x->outlet_state = s;
	x->outlet = outlet;
	x->c = c;
	rc = vpa_python_writer_start(
		&s->writer, outlet->format, vpa_export_folder_path(c->folder), level, c->err);
	return rc ? rc : vpa_rows_begin_pass(x, c, outlet);
}

#define OUTLET(name)                                                                               \
	{                                                                                          \
		.format = name, .form = VPA_CAT_VALUES, .open = open_table, .put = put_rows,       \
		.end = end_columns, .free = free_columns                                           \
	}

static int begin_parquet(void *state, const struct vpa_export_context *c)
{
	static const struct vpa_rows_outlet outlet = OUTLET("parquet");

	return begin(state, c, &outlet);
}

static int begin_arrow(void *state, const struct vpa_export_context *c)
{
	static const struct vpa_rows_outlet outlet = OUTLET("arrow");

	return begin(state, c, &outlet);
}

/* Whether python3 and pyarrow are here. */
static int check(const char *format, struct vpt_err *err)
{
	struct vpa_python_writer w;
	int rc = vpa_python_writer_start(&w, format, NULL, 0, err);

	vpa_python_writer_end(&w);
	return rc;
}

static int check_parquet(struct vpt_err *err)
{
	return check("parquet", err);
}

static int check_arrow(struct vpt_err *err)
{
	return check("arrow", err);
}

const struct vpa_exporter vpa_exporter_parquet = {
	.name = "parquet",
	.help = "The same tables as a folder of Parquet files, each column with its type. Needs\n"
		"python3 with pyarrow, which writes them.",
	.opens = "DuckDB, pandas, polars and Spark open the files directly; schema.json "
		 "describes the columns",
	.packings = {{"zstd", VPT_CONTAINER_ZSTD, ".parquet.d"},
		{"none", VPT_CONTAINER_NONE, ".parquet.d"}},
	.takes = VPA_TAKES_MIN_GAP,
	.is_folder = 1,
	.check = check_parquet,
	.begin = begin_parquet,
	VPA_ROWS_PASS,
};

const struct vpa_exporter vpa_exporter_arrow = {
	.name = "arrow",
	.help = "The same as files of Arrow (IPC, Feather 2), which readers map. Needs pyarrow "
		"too.",
	.opens = "pyarrow, pandas (read_feather) and polars (read_ipc) open the files directly; "
		 "schema.json describes the columns",
	.packings = {{"zstd", VPT_CONTAINER_ZSTD, ".arrow.d"},
		{"none", VPT_CONTAINER_NONE, ".arrow.d"}},
	.takes = VPA_TAKES_MIN_GAP,
	.is_folder = 1,
	.check = check_arrow,
	.begin = begin_arrow,
	VPA_ROWS_PASS,
};
