/* column_store.c - an outlet of rows that keeps their values. */
#include "analysis/export/columns/column_store.h"

#include "analysis/export/export_pass.h"
#include "analysis/export/rows/row_values.h"
#include "analysis/export/rows/table_choice.h"
#include "analysis/export/rows/table_outlet.h"
#include "formats/base/memory.h"

#include <stdatomic.h>

/* A table as it is filled. */
struct filled {
	const char *name;
	struct vpa_stored_column *columns;
	size_t column_count;
	uint64_t rows;
};

enum { TABLES_MAX = VPA_ROWS_TABLES_MAX, VIEWS_MAX = 16 };

struct vpa_store {
	atomic_size_t holders;
	struct vpa_arena arena; /* names, and all but the values of columns */
	struct filled filled[TABLES_MAX];
	size_t filled_count;
	struct vpa_stored_column kinds[2]; /* column "op" of kernels, of copies */
	struct vpa_stored_table tables[TABLES_MAX + VIEWS_MAX];
	size_t table_count;
	struct vpa_line scratch;
	int complete;
};

static const struct {
	const char *name, *table;
} short_names[] = {VPA_SHORT_NAMES};

enum { SHORT_NAMES = sizeof(short_names) / sizeof(short_names[0]) };

/* ---- life ---- */

void vpa_store_hold(struct vpa_store *s)
{
	atomic_fetch_add_explicit(&s->holders, 1, memory_order_relaxed);
}

void vpa_store_drop(struct vpa_store *s)
{
	size_t i, k;

	if (!s || atomic_fetch_sub_explicit(&s->holders, 1, memory_order_acq_rel) > 1)
		return;
	for (i = 0; i < s->filled_count; i++)
		for (k = 0; k < s->filled[i].column_count; k++)
			vpa_stored_column_free(&s->filled[i].columns[k]);
	vpa_stored_column_free(&s->kinds[0]);
	vpa_stored_column_free(&s->kinds[1]);
	vpt_free(s->scratch.data);
	vpa_arena_free(&s->arena);
	vpt_free(s);
}

int vpa_store_is_complete(const struct vpa_store *s)
{
	return s->complete;
}

const struct vpa_stored_table *vpa_store_table(const struct vpa_store *s, size_t number)
{
	return number < s->table_count ? &s->tables[number] : NULL;
}

const struct vpa_stored_table *vpa_store_find(const struct vpa_store *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->table_count; i++)
		if (!strcmp(s->tables[i].name, name))
			return &s->tables[i];
	return NULL;
}

/* ---- the outlet ---- */

static int open_table(struct vpa_rows *x, struct vpa_rows_table *t)
{
	struct vpa_store *s = x->outlet_state;
	struct filled *f = &s->filled[s->filled_count];
	size_t i;

	f->name = vpa_arena_text(&s->arena, t->name, strlen(t->name));
	f->columns = vpa_arena_alloc(&s->arena, t->all.count, sizeof(*f->columns));
	if (!f->columns)
		return VPT_ENOMEM;
	f->column_count = t->all.count;
	s->filled_count++;
	for (i = 0; i < t->all.count; i++)
		vpa_stored_column_begin(&f->columns[i], &t->all.at[i], &s->arena);
	t->target = f;
	return s->arena.failed ? VPT_ENOMEM : VPT_OK;
}

static int put_rows(struct vpa_rows *x, struct vpa_rows_table *t, const char *rows, size_t size)
{
	struct vpa_store *s = x->outlet_state;
	struct filled *f = t->target;
	const char *at = rows, *end = rows + size;

	for (; at < end; f->rows++)
		if (vpa_stored_columns_read(
			    f->columns, f->column_count, f->rows, &at, end, &s->scratch))
			return VPT_ENOMEM;
	return VPT_OK;
}

/* ---- tables of the store ---- */

static struct filled *filled_named(struct vpa_store *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->filled_count; i++)
		if (!strcmp(s->filled[i].name, name))
			return &s->filled[i];
	return NULL;
}

/* A table of `parts`, whose columns the caller sets; NULL: no memory. */
static struct vpa_stored_part *add_table(
	struct vpa_store *s, const char *name, size_t column_count, size_t part_count)
{
	struct vpa_stored_part *parts = vpa_arena_alloc(&s->arena, part_count, sizeof(*parts));

	if (!parts)
		return NULL;
	s->tables[s->table_count++] =
		(struct vpa_stored_table){name, column_count, part_count, parts};
	return parts;
}

static int add_filled(struct vpa_store *s, struct filled *f, const char *name)
{
	const struct vpa_stored_column **columns =
		vpa_arena_alloc(&s->arena, f->column_count, sizeof(*columns));
	struct vpa_stored_part *part = add_table(s, name, f->column_count, 1);
	size_t i;

	if (!columns || !part)
		return VPT_ENOMEM;
	for (i = 0; i < f->column_count; i++)
		columns[i] = &f->columns[i];
	*part = (struct vpa_stored_part){columns, f->rows};
	return VPT_OK;
}

static struct vpa_stored_column *column_named(struct filled *f, const char *name)
{
	size_t i;

	for (i = 0; i < f->column_count; i++)
		if (!strcmp(f->columns[i].about.name, name))
			return &f->columns[i];
	return NULL;
}

/* Column "op", in which all rows have one word. */
static int make_kinds(
	struct vpa_store *s, struct vpa_stored_column *c, const char *word, uint64_t rows)
{
	static const struct vpa_table_column about = {
		.name = "op", .help = "kernel or copy", .type = VPA_COLUMN_TEXT};
	const struct vpa_row_value value = {.kind = VPA_ROW_TEXT, .text = vpt_text_from(word)};
	uint64_t row;
	int rc = VPT_OK;

	vpa_stored_column_begin(c, &about, &s->arena);
	for (row = 0; row < rows && !rc; row++)
		rc = vpa_stored_column_put(c, row, &value, value.text);
	return rc ? rc : vpa_stored_column_end(c);
}

/* Kernels, then copies, with the columns that both have; the name of a copy is its kind. */
static int add_ops(struct vpa_store *s)
{
	struct filled *kernel = filled_named(s, "kernel"), *copy = filled_named(s, "copy");
	const struct vpa_stored_column **columns[2];
	struct vpa_stored_part *parts;
	size_t i, count = 2;

	if (!kernel || !copy)
		return VPT_OK;
	columns[0] = vpa_arena_alloc(&s->arena, 2 + kernel->column_count, sizeof(**columns));
	columns[1] = vpa_arena_alloc(&s->arena, 2 + kernel->column_count, sizeof(**columns));
	if (!columns[0] || !columns[1] || make_kinds(s, &s->kinds[0], "kernel", kernel->rows) ||
		make_kinds(s, &s->kinds[1], "copy", copy->rows))
		return VPT_ENOMEM;
	columns[0][0] = &s->kinds[0];
	columns[1][0] = &s->kinds[1];
	columns[0][1] = column_named(kernel, "name");
	columns[1][1] = column_named(copy, "copy_kind");
	for (i = 0; i < kernel->column_count; i++) {
		const struct vpa_stored_column *same =
			column_named(copy, kernel->columns[i].about.name);

		if (!same || same->about.type != kernel->columns[i].about.type)
			continue;
		columns[0][count] = &kernel->columns[i];
		columns[1][count++] = same;
	}
	parts = add_table(s, "ops", count, 2);
	if (!parts)
		return VPT_ENOMEM;
	parts[0] = (struct vpa_stored_part){columns[0], kernel->rows};
	parts[1] = (struct vpa_stored_part){columns[1], copy->rows};
	return VPT_OK;
}

static int end_store(struct vpa_rows *x)
{
	struct vpa_store *s = x->outlet_state;
	size_t i, k;
	int rc = VPT_OK;

	s->complete = x->view.report->verdict.complete;
	for (i = 0; i < s->filled_count && !rc; i++) {
		for (k = 0; k < s->filled[i].column_count && !rc; k++)
			rc = vpa_stored_column_end(&s->filled[i].columns[k]);
		if (!rc)
			rc = add_filled(s, &s->filled[i], s->filled[i].name);
	}
	if (!rc)
		rc = add_ops(s);
	for (i = 0; i < SHORT_NAMES && !rc; i++) {
		struct filled *f = filled_named(s, short_names[i].table);

		if (f)
			rc = add_filled(s, f, short_names[i].name);
	}
	return rc;
}

/* ---- loading ---- */

/* The store that a pass fills: it is handed over by the options. */
static int begin_store(void *state, const struct vpa_export_context *c)
{
	static const struct vpa_rows_outlet outlet = {.form = VPA_CAT_VALUES,
		.has_report = 1,
		.open = open_table,
		.put = put_rows,
		.end = end_store};
	struct vpa_rows *x = state;

	x->outlet_state = c->options->store;
	return vpa_rows_begin_pass(x, c, &outlet);
}

static const struct vpa_exporter exporter_store = {
	.name = "tables",
	.packings = {{"none", VPT_CONTAINER_NONE, ""}},
	.begin = begin_store,
	VPA_ROWS_PASS,
};

static void put_table_name(struct vpa_line *l, const char *name)
{
	vpa_line_words(l, l->size ? "," : "");
	vpa_line_words(l, name);
}

/* The list with the names that short ones stand for, as a text that ends; l->data is NULL where all tables are wanted. */
static void read_names(struct vpa_line *l, const char *list)
{
	size_t len, i;

	for (; list && *list; list += len + (list[len] == ',')) {
		struct vpt_text name = {list, len = strcspn(list, ",")};

		for (i = 0; i < SHORT_NAMES && !vpt_text_is(name, short_names[i].name); i++)
			;
		if (vpt_text_is(name, "ops")) {
			put_table_name(l, "kernel,copy");
		} else if (i < SHORT_NAMES) {
			put_table_name(l, short_names[i].table);
		} else {
			put_table_name(l, "");
			vpa_line_put(l, name.text, name.len);
		}
	}
	if (l->size)
		vpa_line_put(l, "", 1);
}

static int run_pass(const char *path, const struct vpa_store_options *o,
	const struct vpa_export_options *how, struct vpt_err *err)
{
	const struct vpa_options analysis = {.range = o->range, .request = o->request};
	struct vpa_export_job job = {
		.exporter = &exporter_store, .path = path, .analysis = &analysis, .options = how};
	struct vpa_export_totals totals;
	struct vpt_trace *trace = NULL;
	struct vpt_buffer nothing = {0};
	int rc = vpt_sink_memory(&nothing, &job.sink, err);

	if (rc)
		return rc;
	rc = vpt_trace_open(path, &trace, err);
	job.trace = trace;
	if (!rc)
		rc = vpa_export(&job, &totals, err);
	vpt_trace_close(trace);
	job.sink->finish(job.sink, 0, NULL);
	return rc;
}

int vpa_store_load(const char *path, const struct vpa_store_options *o, struct vpa_store **out,
	struct vpt_err *err)
{
	struct vpa_export_options how = {.jobs = 1};
	struct vpa_line names = {0};
	struct vpa_store *s = vpt_calloc(1, sizeof(*s));
	int rc = VPT_OK;

	*out = NULL;
	if (!s)
		return vpt_fail(err, VPT_ENOMEM, "no memory for tables");
	atomic_init(&s->holders, 1);
	read_names(&names, o->tables);
	how.only = names.data;
	how.store = s;
	if (names.failed)
		rc = vpt_fail(err, VPT_ENOMEM, "no memory for names of tables");
	if (!rc && how.only)
		rc = vpa_tables_named(&exporter_store, how.only, err);
	if (!rc)
		rc = run_pass(path, o, &how, err);
	vpt_free(names.data);
	if (rc)
		vpa_store_drop(s);
	else
		*out = s;
	return rc;
}
