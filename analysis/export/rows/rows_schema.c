/* rows_schema.c - schema.json: the files of an export and the meaning of their columns. Names, units and
 * words come from events.def, as in the rows. */
#include "analysis/export/rows/table_parts.h"

#include "formats/base/json_writer.h"

/* The machine-readable type of a unit. Units not listed are words. */
static const struct {
	uint8_t unit;
	const char *type, *words;
} units[] = {
	{VPT_UNIT_TIME_NS, "integer", "ns on the trace clock"},
	{VPT_UNIT_DUR_NS, "integer", "ns"},
	{VPT_UNIT_COUNT, "integer", "count"},
	{VPT_UNIT_BYTES, "integer", "bytes"},
	{VPT_UNIT_NUMBER, "integer", NULL},
	{VPT_UNIT_SIGNED, "integer", NULL},
	{VPT_UNIT_HEX, "text", "hexadecimal"},
	{VPT_UNIT_F64, "number", NULL},
	{VPT_UNIT_STRING, "text", NULL},
	{VPT_UNIT_LANE, "text", NULL},
	{VPT_UNIT_CALL, "text", "CUDA call"},
};

struct columns {
	struct vpt_json *json;
	unsigned previous; /* unit */
};

static void put_words(struct vpt_json *j, unsigned unit)
{
	enum { WORDS = 16 };
	uint64_t number;

	vpt_json_array(j, "words");
	for (number = 0; number < WORDS; number++)
		if (vpt_word((enum vpt_unit)unit, number))
			vpt_json_string(j, NULL, vpt_word((enum vpt_unit)unit, number));
	vpt_json_end(j);
}

static void put_column(void *ctx, const char *name, unsigned unit, const char *help)
{
	struct columns *c = ctx;
	struct vpt_json *j = c->json;
	/* The column before a payload gives its type. */
	int is_payload = unit == VPT_UNIT_HEX && c->previous == VPT_UNIT_PAYLOAD;
	size_t i, count = sizeof(units) / sizeof(*units);

	for (i = 0; i < count && units[i].unit != unit; i++)
		;
	vpt_json_object(j, NULL);
	vpt_json_string(j, "name", name);
	vpt_json_string(j, "type", is_payload ? "any" : i < count ? units[i].type : "text");
	if (i < count && units[i].words && !is_payload)
		vpt_json_string(j, "unit", units[i].words);
	if (i == count)
		put_words(j, unit);
	vpt_json_string(j, "help", help);
	vpt_json_end(j);
	c->previous = unit;
}

static void put_table(struct vpt_json *j, const struct vpa_rows_table *t)
{
	struct columns c = {j, VPT_UNIT_STRING};
	const struct vpa_rows_column *column = t->columns;

	vpt_json_object(j, NULL);
	vpt_json_string(j, "file", vpa_export_file_name(t->file));
	vpt_json_string(j, "table", t->name);
	vpt_json_string(j, "help", t->help);
	vpt_json_u64(j, "rows", t->rows);
	vpt_json_array(j, "columns");
	if (t->kind)
		vpa_cat_columns(t->kind, put_column, &c);
	for (; column && column->name; column++)
		put_column(&c, column->name, column->unit, column->help);
	vpt_json_end(j);
	vpt_json_end(j);
}

int vpa_rows_schema(struct vpa_rows *x, struct vpt_sink *sink, struct vpt_err *err)
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
