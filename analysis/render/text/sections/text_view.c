/* text_view.c - tables of the text report made from their views alone: see fields/view.h. */
#include "analysis/render/fields/fields.h"
#include "analysis/render/text/sections/text_sections.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct filler {
	const struct vpa_report *report;
	const struct vpa_digest *digest;
	const struct vpa_view *view;
	struct vpa_column columns[VPA_TABLE_COLUMNS];
	struct vpa_table table;
	size_t all, shown;
	uint64_t seen[VPA_TABLE_COLUMNS]; /* whether a row has more than 0 there */
	int counts;                       /* 1: rows are only counted */
};

/* ---- labels ---- */

/* Appends the value of "key}" or "key:COLUMNS}". Returns whether it is known. */
static int add_value(
	struct vpa_words *w, const struct filler *f, const struct vpa_row_at *at, const char *key)
{
	char name[48];
	size_t columns;
	struct vpa_value v;
	struct vpa_way way;
	struct vpa_at inside;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(key, ":}"), key);
	if (!vpa_way_find(at->fields, name, &way) || !vpa_way_read(at->row, &way, &inside, &v))
		return 0;
	if (way.field->is_gpu && f->report->device_count < 2)
		return 0;
	columns = key[strcspn(key, ":}")] == ':' ? (size_t)atoi(key + strcspn(key, ":") + 1) : 0;
	switch (v.kind) {
	case VPA_VALUE_TEXT:
		vpa_words_add(w, "", "%s",
			columns ? vpa_kernel_label(v.text, columns).text
				: vpa_fit(v.text, VPA_COLUMNS_MAX - 8).text);
		return 1;
	case VPA_VALUE_SIGNED:
		vpa_words_add(w, "", "%s%" PRId64, way.field->is_gpu ? "GPU " : "", v.integer);
		return 1;
	case VPA_VALUE_UNSIGNED:
		vpa_words_add(w, "", "%s", vpa_count(v.number).text);
		return 1;
	default:
		return 0;
	}
}

/* Appends a part of a form, up to `end`. Returns whether all its values are known. */
static int add_part(struct vpa_words *w, const struct filler *f, const struct vpa_row_at *at,
	const char *form, const char *end)
{
	int known = 1;

	while (form < end) {
		size_t len = *form == '{' ? strcspn(form, "}") : 1;

		if (*form == '{')
			known &= add_value(w, f, at, form + 1);
		else
			vpa_words_add(w, "", "%c", *form);
		form += len + (*form == '{');
	}
	return known;
}

static void add_label(
	struct vpa_words *w, const struct filler *f, const struct vpa_row_at *at, const char *form)
{
	while (*form) {
		const char *end = form + (*form == '[' ? strcspn(form, "]") : strcspn(form, "["));
		int is_optional = *form == '[';
		size_t used = w->used;

		if (!add_part(w, f, at, form + is_optional, end) && is_optional) {
			w->used = used;
			w->text[used] = '\0';
		}
		form = end + is_optional;
	}
}

/* ---- rows ---- */

/* Whether the value of a key is known; then it is read. */
static int read_value(const struct vpa_row_at *at, const char *key, struct vpa_value *out)
{
	struct vpa_at inside;
	struct vpa_way way;

	return vpa_way_find(at->fields, key, &way) && vpa_way_read(at->row, &way, &inside, out);
}

static uint64_t number_of(const struct vpa_row_at *at, const char *key)
{
	struct vpa_value v = {.number = 0};

	return read_value(at, key, &v) ? v.number : 0;
}

static int is_worth(const struct filler *f, const struct vpa_row_at *at)
{
	const struct vpa_view_text *t = &f->view->text;
	uint64_t whole_ns =
		t->worth_of == VPA_CELL_OF_BUSY ? f->digest->busy_ns : f->digest->windows_ns;

	return !t->worth || f->report->top || number_of(at, t->worth) >= whole_ns / 1000;
}

/* Whether the number is known, and not 0. */
static int has_number(const struct vpa_row_at *at, const char *key)
{
	struct vpa_value v;

	if (!read_value(at, key, &v))
		return 0;
	return v.kind == VPA_VALUE_REAL     ? v.real != 0
	       : v.kind == VPA_VALUE_SIGNED ? v.integer != 0
					    : v.number != 0;
}

static void look_at(struct filler *f, const struct vpa_row_at *at)
{
	size_t i;

	for (i = 0; i < f->view->column_count; i++)
		if (f->view->columns[i].rare)
			f->seen[i] |= (uint64_t)has_number(at, f->view->columns[i].key);
}

static void visit(void *ctx, const struct vpa_row_at *at)
{
	struct filler *f = ctx;
	const struct vpa_view_text *t = &f->view->text;
	struct vpa_words label = {.used = 0}, below = {.used = 0};
	size_t i = f->all++;
	struct vpa_row *row;

	if (f->counts) {
		look_at(f, at);
		return;
	}
	if ((t->most && i >= vpa_rows(f->report, t->most)) || !is_worth(f, at))
		return;
	f->shown++;
	if (f->view->prefix)
		vpa_words_add(&label, "", "%s%zu ", f->view->prefix, i + 1);
	add_label(&label, f, at, t->label);
	row = vpa_table_row(&f->table, 1, "%s", label.text);
	vpa_text_fill_columns(
		row, f->table.columns, f->table.column_count, at->row, at->fields, f->digest);
	if (!t->below)
		return;
	add_label(&below, f, at, t->below);
	if (below.used)
		vpa_text_row(&f->table, 3, "%s", below.text);
}

/* Looks at all rows, and returns how many of the view's columns have something to show. */
static size_t choose_columns(struct filler *f)
{
	const struct vpa_at whole = {f->report, f->report, NULL};
	size_t i, count = 0;

	f->counts = 1;
	vpa_rows_walk(&whole, &vpa_fields_report, f->view->path, visit, f);
	f->counts = 0;
	for (i = 0; i < f->view->column_count; i++)
		if (!f->view->columns[i].rare || f->seen[i])
			f->columns[count++] = f->view->columns[i];
	return count;
}

size_t vpa_text_columns(const struct vpa_report *r, const struct vpa_view *view,
	struct vpa_column out[VPA_TABLE_COLUMNS])
{
	struct filler f = {.report = r, .view = view};
	size_t count = choose_columns(&f);

	memcpy(out, f.columns, count * sizeof(*out));
	return count;
}

size_t vpa_text_put_view(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d,
	const struct vpa_view *view)
{
	const struct vpa_at whole = {r, r, NULL};
	struct filler f = {.report = r, .digest = d, .view = view};
	size_t i, count = choose_columns(&f);

	if (!f.all || f.all < view->text.least_rows)
		return 0;
	f.all = 0;
	vpa_table_init(&f.table, f.columns, count, "%s", view->text.title);
	vpa_rows_walk(&whole, &vpa_fields_report, view->path, visit, &f);
	for (i = 0; i < count && f.shown; i++)
		if (f.columns[i].note)
			vpa_text_row(&f.table, 1, "%s", f.columns[i].note);
	if (view->text.used_at)
		f.all = *(const size_t *)(const void *)((const char *)r + view->text.used_at);
	vpa_table_of(&f.table, f.shown, f.all);
	vpa_page_table(p, &f.table);
	return f.shown;
}
