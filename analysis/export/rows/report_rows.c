/* report_rows.c - the rows of a report's tables: a walk over the report by the tables of fields.h. */
#include "analysis/export/rows/table_parts.h"

#include <string.h>

struct walk {
	struct vpa_rows *x;
	uint64_t
		rows[VPA_REPORT_TABLES_MAX]; /* so far, by table: also of those that are left out */
	char name[VPA_REPORT_TABLE_NAME];    /* of the rows and objects around */
	int rc;
};

/* A row while it is written. */
struct row {
	struct vpa_rows *x;
	struct vpa_rows_table *table;
	size_t cells;
};

/* ---- cells ---- */

static struct vpa_line *begin_cell(struct row *r)
{
	const struct vpa_cat *cat = &r->x->cat;
	struct vpa_line *l = &r->table->out;
	size_t cell = r->cells++;

	if (cat->form == VPA_CAT_JSON) {
		vpa_line_put(l, cell ? "," : "{", 1);
		vpa_line_put(l, "\"", 1);
		vpa_line_words(l, r->table->all.at[cell].name);
		vpa_line_put(l, "\":", 2);
	} else if (cell) {
		vpa_line_put(l, cat->csv ? "," : "\t", 1);
	}
	return l;
}

static void put_number(struct row *r, uint64_t number)
{
	vpa_line_unsigned(begin_cell(r), number);
}

static void put_text(struct row *r, const char *text, size_t len)
{
	vpa_cat_text_cell(&r->x->cat, begin_cell(r), text, len);
}

static void put_null(struct row *r)
{
	vpa_cat_null(&r->x->cat, begin_cell(r));
}

static void put_value(struct row *r, const struct vpa_at *at, const struct vpa_field *f)
{
	struct vpa_value v;

	vpa_field_read(at, f, &v);
	switch (v.kind) {
	case VPA_VALUE_NULL:
		put_null(r);
		break;
	case VPA_VALUE_UNSIGNED:
	case VPA_VALUE_FLAG:
		put_number(r, v.number);
		break;
	case VPA_VALUE_SIGNED:
		vpa_line_signed(begin_cell(r), (uint64_t)v.integer);
		break;
	case VPA_VALUE_REAL:
		vpa_line_double(begin_cell(r), v.real);
		break;
	case VPA_VALUE_TEXT:
		put_text(r, v.text, strlen(v.text));
		break;
	}
}

/* One cell: "first; second". */
static void put_texts(struct row *r, const struct vpa_at *at, const struct vpa_field *f)
{
	const char *const *texts =
		*(const char *const *const *)(const void *)((const char *)at->row + f->offset);
	struct vpa_line *joined = &r->x->cat.scratch;
	size_t i, count = texts ? vpa_field_count(at, f) : 0;

	joined->size = 0;
	for (i = 0; i < count; i++) {
		if (!texts[i])
			continue;
		vpa_line_words(joined, joined->size ? "; " : "");
		vpa_line_words(joined, texts[i]);
	}
	put_text(r, joined->size ? joined->data : "", joined->size);
}

static void put_buckets(struct row *r, const struct vpa_at *at, const struct vpa_field *f)
{
	const uint64_t *values = (const void *)((const char *)at->row + f->offset);
	size_t i;

	for (i = 0; i < VPA_GAP_BUCKETS; i++)
		if (at->row)
			put_number(r, values[i]);
		else
			put_null(r);
}

/* The cells of an object. A row of NULL: it is not there, and all its cells are null. */
static void put_cells(struct row *r, const struct vpa_at *at, const struct vpa_fields *fields)
{
	static const struct vpa_at nothing;
	size_t i;

	for (i = 0; i < fields->count; i++) {
		const struct vpa_field *f = &fields->at[i];
		int known = at->row && vpa_field_is_known(at, f);
		struct vpa_at inside;

		switch (f->type) {
		case VPA_FIELD_ROWS:
		case VPA_FIELD_MAP:
		case VPA_FIELD_NOTHING:
			break;
		case VPA_FIELD_SAME:
		case VPA_FIELD_OBJECT:
		case VPA_FIELD_POINTER:
			if (known && vpa_field_is_object(f) && f->null == VPA_NULL_COUNT)
				known = vpa_field_count(at, f) != 0;
			inside = known ? vpa_field_inside(at, f) : nothing;
			put_cells(r, &inside, f->fields);
			break;
		case VPA_FIELD_BUCKETS:
			put_buckets(r, known ? at : &nothing, f);
			break;
		default:
			if (!known)
				put_null(r);
			else if (f->type == VPA_FIELD_TEXTS)
				put_texts(r, at, f);
			else
				put_value(r, at, f);
		}
	}
}

/* ---- rows ---- */

/* Writes row `rows[number]` if its table is wanted. `owner`: the number of the row around it. */
static void put_row(struct walk *w, size_t number, const struct vpa_at *at, uint64_t owner)
{
	struct row r = {w->x, w->x->of_report[number], 0};
	const struct vpa_report_table *table = &w->x->report_tables.at[number];
	uint64_t row = w->rows[number]++;

	if (!r.table || w->rc)
		return;
	put_number(&r, row);
	if (table->owner >= 0)
		put_number(&r, owner);
	put_cells(&r, at, table->fields);
	vpa_cat_row_end(&w->x->cat, &r.table->out);
	w->rc = vpa_rows_ended(w->x, r.table);
}

/* The rows inside an object or a row; `owner`: the number of the row that it is, or is in. */
static void walk_inside(
	struct walk *w, const struct vpa_at *at, const struct vpa_fields *fields, uint64_t owner)
{
	size_t i, k, len;

	for (i = 0; i < fields->count; i++) {
		const struct vpa_field *f = &fields->at[i];
		struct vpa_at inside;
		int number;

		if (!f->fields || !vpa_field_is_known(at, f))
			continue;
		if (vpa_field_is_object(f) && f->null == VPA_NULL_COUNT && !vpa_field_count(at, f))
			continue;
		len = strlen(w->name);
		if (f->key)
			vpa_report_name_put(w->name, sizeof(w->name), f->key);
		if (f->type == VPA_FIELD_ROWS) {
			number = vpa_report_tables_named(&w->x->report_tables, w->name);
			for (k = 0; number >= 0 && k < vpa_field_count(at, f); k++) {
				inside = vpa_field_row(at, f, k);
				put_row(w, (size_t)number, &inside, owner);
				walk_inside(w, &inside, f->fields, w->rows[number] - 1);
			}
		} else {
			inside = vpa_field_inside(at, f);
			walk_inside(w, &inside, f->fields, owner);
		}
		w->name[len] = '\0';
	}
}

int vpa_report_rows(struct vpa_rows *x)
{
	const struct vpa_report *r = x->view.report;
	const struct vpa_at whole = {r, r, NULL};
	struct walk w = {.x = x, .name = VPA_REPORT_TABLE};

	put_row(&w, 0, &whole, 0);
	walk_inside(&w, &whole, &vpa_fields_report, 0);
	return w.rc;
}
