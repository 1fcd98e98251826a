/* page_tables.c - tables of the page, made from the tables that describe the JSON report (fields.h).
 *
 * A field of rows is a table, a field with one value a column, a nested object some columns more. Cells
 * hold the value as people read it, with its unit, and where that is rounded the value of the JSON
 * report, by which the script sorts and a test compares. Rows inside rows are a table of their own, with
 * a first column that names the outer row. */
#include "analysis/render/html/page_tables.h"
#include "analysis/render/digest.h"
#include "analysis/render/fields/fields.h"
#include "analysis/render/measures.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 400, COLUMNS_MAX = 160, KEY_BYTES = 96 };

struct column {
	char key[KEY_BYTES]; /* "host.mean_ns" */
	struct vpa_way way;
	unsigned look;
	int shown;     /* at first; others on request */
	int has_value; /* in any row */
	int is_known;  /* not null in some row; it may be empty */
};

struct table {
	const struct vpa_view *view;
	struct column columns[COLUMNS_MAX];
	size_t column_count, hidden_count;
	const struct vpa_field *owner; /* of the rows around them; NULL: none */
	/* Where moments count from; NULL: there are none. */
	const struct vpa_report *report;
	const char *kind; /* of the rows; NULL: any */
	size_t row_count;
};

/* ---- columns ---- */

static int has_column(const struct table *t, const char *key)
{
	size_t i;

	for (i = 0; i < t->column_count && strcmp(t->columns[i].key, key) != 0; i++)
		;
	return i < t->column_count;
}

/* Of values inside an object, which the head names, only moments are shown in another way than their type is. */
static unsigned look_of(const struct column *c)
{
	const struct vpa_field *f = c->way.field;

	return f->key && !strcmp(f->key, c->key) ? f->look : f->look & VPA_LOOK_MOMENT;
}

/* Those that the view shows first, in its order. */
static void add_first(struct table *t, const struct vpa_fields *fields)
{
	const char *key;
	int found;

	for (key = t->view->first; key && *key; key += strspn(key, " ")) {
		struct column *c = &t->columns[t->column_count];

		*c = (struct column){.shown = 1};
		snprintf(c->key, sizeof(c->key), "%.*s", (int)strcspn(key, " "), key);
		key += strlen(c->key);
		found = vpa_way_find(fields, c->key, &c->way);
		assert(found);
		if (found) {
			c->look = look_of(c);
			t->column_count++;
		}
	}
}

static int is_scalar(const struct vpa_field *f)
{
	return f->type <= VPA_FIELD_ID || f->type == VPA_FIELD_TEXTS || f->member;
}

/* All others. */
static void add_others(struct table *t, const struct vpa_fields *fields, const struct column *above)
{
	size_t i;

	for (i = 0; i < fields->count; i++) {
		const struct vpa_field *f = &fields->at[i];
		struct column c = *above;

		if (f->key)
			snprintf(c.key, sizeof(c.key), "%.40s%s%.40s", above->key,
				above->key[0] ? "." : "", f->key);
		c.way.field = f;
		if ((vpa_field_is_object(f) || f->type == VPA_FIELD_SAME) &&
			c.way.depth < VPA_WAY_OBJECTS) {
			c.way.through[c.way.depth++] = f;
			add_others(t, f->fields, &c);
		} else if (is_scalar(f) && !has_column(t, c.key)) {
			assert(t->column_count < COLUMNS_MAX);
			t->hidden_count += !c.shown;
			c.look = look_of(&c);
			t->columns[t->column_count++] = c;
		}
	}
}

static int is_number(const struct vpa_field *f)
{
	return f->type <= VPA_FIELD_I64 || f->type == VPA_FIELD_REAL || f->type == VPA_FIELD_RATE;
}

/* Whether rows get a first column with their id; some have one among their fields. */
static int has_id_column(const struct table *t)
{
	return t->view->prefix && !(t->columns[0].look & VPA_LOOK_ID);
}

static void put_heads(struct vpa_html *h, const struct table *t)
{
	size_t i;

	vpa_html_raw(h, "<thead><tr>");
	if (has_id_column(t))
		vpa_html_raw(
			h, "<th class=\"t\" data-k=\"\" title=\"findings refer to it\">id</th>");
	if (t->owner)
		vpa_html_print(h,
			"<th class=\"t\" data-k=\"\" title=\"the row it belongs to\">%s</th>",
			vpa_text_or(t->owner->head, "of"));
	for (i = 0; i < t->column_count; i++) {
		const struct column *c = &t->columns[i];
		const char *unit = c->way.field->unit;

		vpa_html_print(h, "<th class=\"%s%s\" data-k=\"%s\" title=\"",
			is_number(c->way.field) ? "n" : "t", c->shown ? "" : " x", c->key);
		vpa_html_text(h, c->way.field->help);
		if (t->report && (c->look & VPA_LOOK_MOMENT))
			vpa_html_raw(h, ", shown from the window's start");
		if (unit) {
			vpa_html_raw(h, "; ");
			vpa_html_text(h, unit);
		}
		vpa_html_raw(h, "\">");
		vpa_html_label(h, c->key, c->way.field, !t->report);
		if (is_number(c->way.field) && vpa_html_label_has_unit(c->key, unit)) {
			vpa_html_raw(h, " <small>");
			vpa_html_text(h, unit);
			vpa_html_raw(h, "</small>");
		}
		vpa_html_raw(h, "</th>");
	}
	vpa_html_raw(h, "</tr></thead>\n<tbody>\n");
}

/* ---- cells ---- */

/* The number as in JSON: its decimals, no separators, a point in every locale. */
static void put_exact(struct vpa_html *h, const struct vpa_value *v)
{
	char text[512];
	size_t point;

	if (v->kind == VPA_VALUE_UNSIGNED) {
		vpa_html_print(h, "%" PRIu64, v->number);
	} else if (v->kind == VPA_VALUE_SIGNED) {
		vpa_html_print(h, "%" PRId64, v->integer);
	} else if (isfinite(v->real)) {
		snprintf(text, sizeof(text), "%.*f", v->decimals, v->real);
		point = strspn(text, "-0123456789");
		if (text[point])
			text[point] = '.';
		vpa_html_raw(h, text);
	}
}

/* The unit of a cell: where the column's is "unit" or "value", the row's key "unit" says it. */
static const char *unit_of(const struct table *t, const struct column *c, const struct vpa_at *row,
	struct vpa_value *v)
{
	const char *unit = c->way.field->unit;
	size_t i;

	if (vpa_measure_of(unit) != VPA_MEASURE_OF_ROW)
		return unit;
	for (i = 0; i < t->column_count; i++)
		if ((t->columns[i].look & VPA_LOOK_UNIT) &&
			vpa_field_read(row, t->columns[i].way.field, v) &&
			v->kind == VPA_VALUE_TEXT)
			return v->text;
	return NULL;
}

/* A process that is not known has a number in JSON. */
static int is_unrecorded(const struct column *c, const struct vpa_value *v)
{
	return v->kind == VPA_VALUE_SIGNED && v->integer == -1 && (c->look & VPA_LOOK_PROCESS);
}

/* Whether only the cell can say the unit: the column has none of its own, nor is the row's unit shown beside it. */
static int needs_unit(const struct table *t, const struct column *c, const char *unit)
{
	size_t i;

	if (!unit || vpa_measure_of(c->way.field->unit) != VPA_MEASURE_OF_ROW ||
		vpa_measure_of(unit) != VPA_MEASURE_OTHER ||
		vpa_unit_shown(unit) != VPA_SHOWN_IN_HEAD)
		return 0;
	for (i = 0; i < t->column_count; i++)
		if (t->columns[i].look & VPA_LOOK_UNIT)
			return !t->columns[i].shown;
	return 0;
}

static void put_number(struct vpa_html *h, const struct table *t, const struct column *c,
	const struct vpa_value *v, const char *unit)
{
	struct vpa_num n = t->report && (c->look & VPA_LOOK_MOMENT)
				   ? vpa_html_moment(v, t->report->window_start_ns)
				   : vpa_html_number(v, unit, c->way.field->is_change);

	vpa_html_print(h, "<td class=\"n%s\" data-v=\"", c->shown ? "" : " x");
	put_exact(h, v);
	vpa_html_print(h, "\">%s%s%s</td>", is_unrecorded(c, v) ? "-" : n.text,
		needs_unit(t, c, unit) ? " " : "", needs_unit(t, c, unit) ? unit : "");
}

static void put_texts(struct vpa_html *h, const struct vpa_at *at, const struct vpa_field *f)
{
	const char *const *texts =
		*(const char *const *const *)(const void *)((const char *)at->row + f->offset);
	size_t count = vpa_field_count(at, f), i, shown = 0;

	for (i = 0; texts && i < count; i++) {
		if (!texts[i] && f->null == VPA_NULL_COUNT)
			continue;
		if (shown++)
			vpa_html_raw(h, "; ");
		vpa_html_text(h, texts[i]);
	}
}

/* "prompt: a cat; size: 480p" */
static void put_members(struct vpa_html *h, const struct vpa_at *inside, const struct vpa_field *f)
{
	const char *key, *value = NULL;
	size_t i;

	for (i = 0; (key = f->member(inside, i, &value)); i++) {
		vpa_html_raw(h, i ? "; " : "");
		vpa_html_text(h, key);
		vpa_html_raw(h, ": ");
		vpa_html_cut(h, value, TEXT_MAX);
	}
}

static int has_swatch(const struct column *c)
{
	return (c->look & (VPA_LOOK_FAMILY | VPA_LOOK_CAUSE)) != 0;
}

/* A square in the colour of a family or cause. */
static void put_swatch(struct vpa_html *h, const struct column *c, const char *text)
{
	if (!has_swatch(c))
		return;
	vpa_html_raw(h, "<svg class=\"swatch\"><rect width=\"12\" height=\"12\" class=\"p-");
	vpa_html_slug(h, text);
	vpa_html_raw(h, c->look & VPA_LOOK_CAUSE ? " idle\"/></svg>" : "\"/></svg>");
}

/* A verdict has its word, and by its class a sign and a colour. */
static void put_status(struct vpa_html *h, const struct column *c, const char *text)
{
	vpa_html_print(h, "<td class=\"t s%s v-", c->shown ? "" : " x");
	vpa_html_slug(h, text);
	vpa_html_raw(h, "\"><span>");
	vpa_html_text(h, text);
	vpa_html_raw(h, "</span></td>");
}

static const char *text_class(unsigned look)
{
	return look & VPA_LOOK_SINGLE ? " s" : look & VPA_LOOK_KERNEL ? " k" : "";
}

static void put_text(struct vpa_html *h, const struct column *c, const struct vpa_value *v)
{
	if (c->look & VPA_LOOK_STATUS) {
		put_status(h, c, v->text);
		return;
	}
	vpa_html_print(h, "<td class=\"t%s%s%s\">", text_class(c->look),
		c->look & VPA_LOOK_SIDE ? " side" : "", c->shown ? "" : " x");
	put_swatch(h, c, v->text);
	vpa_html_raw(h, has_swatch(c) ? "<span class=\"key\">" : "<span>");
	vpa_html_cut(h, v->text, TEXT_MAX);
	vpa_html_raw(h, "</span></td>");
}

/* Reads the value of a column in a row; *inside: the object that has it. Of texts and of a map, whether there are any. */
static void read_value(const struct vpa_at *row, const struct column *c, struct vpa_at *inside,
	struct vpa_value *v)
{
	const struct vpa_field *f = c->way.field;
	const char *value;

	if (!vpa_way_read(row, &c->way, inside, v))
		return;
	if (f->type == VPA_FIELD_TEXTS) {
		v->kind = VPA_VALUE_TEXT;
		v->text = vpa_field_count(inside, f) ? "?" : "";
	} else if (f->member && f->member(inside, 0, &value)) {
		v->kind = VPA_VALUE_TEXT;
		v->text = "?";
	}
}

static void put_cell(
	struct vpa_html *h, const struct table *t, const struct vpa_at *row, const struct column *c)
{
	struct vpa_value unit, v;
	struct vpa_at inside;

	read_value(row, c, &inside, &v);
	if (v.kind == VPA_VALUE_NULL) {
		vpa_html_print(h, "<td class=\"%s%s\">-</td>", is_number(c->way.field) ? "n" : "t",
			c->shown ? "" : " x");
	} else if (c->way.field->type == VPA_FIELD_TEXTS) {
		vpa_html_print(h, "<td class=\"t%s\"><span>", c->shown ? "" : " x");
		put_texts(h, &inside, c->way.field);
		vpa_html_raw(h, "</span></td>");
	} else if (c->way.field->member) {
		vpa_html_print(h, "<td class=\"t%s\"><span>", c->shown ? "" : " x");
		put_members(h, &inside, c->way.field);
		vpa_html_raw(h, "</span></td>");
	} else if (v.kind == VPA_VALUE_TEXT) {
		put_text(h, c, &v);
	} else if (v.kind == VPA_VALUE_FLAG) {
		vpa_html_print(h, "<td class=\"t s%s\">%s</td>", c->shown ? "" : " x",
			v.number ? "yes" : "no");
	} else {
		put_number(h, t, c, &v, unit_of(t, c, row, &unit));
	}
}

/* What names the row that others are inside: its id, name, rank or device. */
static void put_owner(
	struct vpa_html *h, const struct vpa_at *owner, const struct vpa_fields *fields)
{
	static const struct {
		const char *key, *word;
	} keys[] = {{"id", ""}, {"name", ""}, {"rank", "rank"}, {"device", "GPU"}};
	struct vpa_value v = {.kind = VPA_VALUE_NULL};
	const char *word = "";
	size_t i, k;

	for (k = 0; k < sizeof(keys) / sizeof(keys[0]) && v.kind == VPA_VALUE_NULL; k++) {
		word = keys[k].word;
		for (i = 0; i < fields->count && v.kind == VPA_VALUE_NULL; i++)
			if (fields->at[i].key && !strcmp(fields->at[i].key, keys[k].key))
				vpa_field_read(owner, &fields->at[i], &v);
	}
	vpa_html_raw(h, "<td class=\"t\">");
	if (v.kind == VPA_VALUE_TEXT)
		vpa_html_text(h, v.text);
	else if (v.kind == VPA_VALUE_SIGNED)
		vpa_html_print(h, "%s %" PRId64, word, v.integer);
	vpa_html_raw(h, "</td>");
}

/* ---- rows ---- */

/* What is done with each row of a path, and with the row around it. */
struct walk {
	struct vpa_html *h;
	struct table *table;
	const char *kind; /* only rows of it; NULL: all */
	int counts;       /* 1: rows are counted only, and it is found which columns have a value */
	size_t at, most;  /* most: rows that are shown */
};

static int is_of_kind(const struct vpa_at *row, const struct vpa_fields *fields, const char *kind)
{
	const struct vpa_field *f = kind ? vpa_field_find(fields, "kind", 4) : NULL;
	struct vpa_value v;

	return !kind || (f && vpa_field_read(row, f, &v) && v.kind == VPA_VALUE_TEXT &&
				!strcmp(v.text, kind));
}

static void find_value(struct column *c, const struct vpa_at *row)
{
	struct vpa_value v;
	struct vpa_at inside;

	if (c->has_value)
		return;
	read_value(row, c, &inside, &v);
	c->is_known |= v.kind != VPA_VALUE_NULL;
	c->has_value = v.kind != VPA_VALUE_NULL && (v.kind != VPA_VALUE_TEXT || v.text[0]) &&
		       !is_unrecorded(c, &v);
}

static void put_row(void *ctx, const struct vpa_row_at *row)
{
	struct walk *w = ctx;
	struct table *t = w->table;
	size_t i;

	if (!is_of_kind(row->row, row->fields, w->kind))
		return;
	w->at++;
	for (i = 0; w->counts && t && i < t->column_count; i++)
		find_value(&t->columns[i], row->row);
	if (w->counts || w->at > w->most)
		return;
	vpa_html_raw(w->h, "<tr");
	if (t->view->prefix)
		vpa_html_print(w->h, " id=\"%s%zu\"", t->view->prefix, w->at);
	vpa_html_raw(w->h, ">");
	if (has_id_column(t))
		vpa_html_print(w->h, "<td class=\"id\">%s%zu</td>", t->view->prefix, w->at);
	if (row->owner)
		put_owner(w->h, row->owner, row->owner_fields);
	for (i = 0; i < t->column_count; i++)
		put_cell(w->h, t, row->row, &t->columns[i]);
	vpa_html_raw(w->h, "</tr>\n");
}

/* In ids: the path, and the kind of its rows. */
static void put_table_id(struct vpa_html *h, const struct table *t)
{
	vpa_html_slug(h, t->view->path);
	if (t->kind)
		vpa_html_print(h, "-%s", t->kind);
}

static void put_table_head(struct vpa_html *h, const struct table *t)
{
	vpa_html_print(h, "<div class=\"table\" id=\"t-");
	put_table_id(h, t);
	vpa_html_print(h, "\">\n<h3>");
	vpa_html_text(h, t->view->title);
	vpa_html_print(h, " <small>%s row%s</small></h3>\n", vpa_count(t->row_count).text,
		vpa_plural(t->row_count));
	if (t->hidden_count) {
		vpa_html_raw(h, "<input type=\"checkbox\" class=\"all\" id=\"all-");
		put_table_id(h, t);
		vpa_html_raw(h, "\"><label for=\"all-");
		put_table_id(h, t);
		vpa_html_print(h, "\">all %zu columns</label>\n", t->column_count);
	}
	vpa_html_print(h, "<div class=\"scroll\"><table data-path=\"%s\"", t->view->path);
	if (t->kind)
		vpa_html_print(h, " data-kind=\"%s\"", t->kind);
	vpa_html_raw(h, ">\n");
}

size_t vpa_html_source_rows(const struct vpa_html_source *source, const struct vpa_view *view)
{
	struct vpa_at whole = {source->report, source->row, NULL};
	struct walk w = {.kind = source->kind, .counts = 1};

	vpa_rows_walk(&whole, source->fields, view->path, put_row, &w);
	return w.at;
}

void vpa_html_put_view(struct vpa_html *h, const struct vpa_report *r, const struct vpa_view *view)
{
	const struct vpa_html_source source = {&vpa_fields_report, r, r, NULL};

	vpa_html_put_source(h, &source, view);
}

void vpa_html_put_table(struct vpa_html *h, const struct vpa_report *r, const char *path)
{
	vpa_html_put_view(h, r, vpa_view_of(path));
}

/* In a long table what is null in every row only makes the page larger. */
static void drop_null_columns(struct table *t)
{
	size_t i, kept = 0;

	if (t->row_count <= VPA_HTML_LIST)
		return;
	for (i = 0; i < t->column_count; i++) {
		if (t->columns[i].is_known)
			t->columns[kept++] = t->columns[i];
		else
			t->hidden_count -= !t->columns[i].shown;
	}
	t->column_count = kept;
}

/* Columns without a value in any row are shown on request only. */
static void hide_empty_columns(struct table *t)
{
	size_t i;

	for (i = 0; i < t->column_count; i++)
		if (t->columns[i].shown && !t->columns[i].has_value) {
			t->columns[i].shown = 0;
			t->hidden_count++;
		}
}

void vpa_html_put_source(
	struct vpa_html *h, const struct vpa_html_source *source, const struct vpa_view *view)
{
	struct vpa_at whole = {source->report, source->row, NULL};
	struct table t = {.view = view, .kind = source->kind, .report = source->report};
	struct walk w = {.h = h,
		.table = &t,
		.kind = source->kind,
		.counts = 1,
		.most = view->text.is_asked ? VPA_HTML_LIST : VPA_HTML_ROWS};
	const struct vpa_fields *fields = vpa_fields_at(source->fields, view->path, &t.owner);
	struct column none = {.shown = !view->first};

	if (!fields)
		return;
	add_first(&t, fields);
	add_others(&t, fields, &none);
	vpa_rows_walk(&whole, source->fields, view->path, put_row, &w);
	if (!w.at)
		return;
	t.row_count = w.at;
	drop_null_columns(&t);
	hide_empty_columns(&t);
	put_table_head(h, &t);
	put_heads(h, &t);
	w.at = 0;
	w.counts = 0;
	vpa_rows_walk(&whole, source->fields, view->path, put_row, &w);
	vpa_html_raw(h, "</tbody></table></div>\n");
	if (t.row_count > w.most)
		vpa_html_print(h,
			"<p class=\"note\">The first %zu of %s rows; the JSON report has "
			"the others.</p>\n",
			w.most, vpa_count(t.row_count).text);
	vpa_html_raw(h, "</div>\n");
}
