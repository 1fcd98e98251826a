/* report_tables.c - finds the tables of a report, and their columns, in the tables of fields.h: a new key needs no change
 * here. */
#include "analysis/export/rows/table_parts.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

size_t vpa_report_name_put(char *name, size_t size, const char *key)
{
	size_t len = strlen(name);

	snprintf(name + len, size - len, "%s%s", len ? "_" : "", key);
	return len;
}

int vpa_report_tables_named(const struct vpa_report_tables *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->count; i++)
		if (!strcmp(t->at[i].name, name))
			return (int)i;
	return -1;
}

/* ---- tables ---- */

static void find(
	struct vpa_report_tables *t, const struct vpa_fields *fields, char *name, int owner)
{
	size_t i, len;

	for (i = 0; i < fields->count; i++) {
		const struct vpa_field *f = &fields->at[i];
		int inside = owner;

		if (!f->fields)
			continue;
		len = f->key ? vpa_report_name_put(name, VPA_REPORT_TABLE_NAME, f->key)
			     : strlen(name);
		if (f->type == VPA_FIELD_ROWS) {
			struct vpa_report_table *table = &t->at[t->count];

			assert(t->count < VPA_REPORT_TABLES_MAX);
			inside = (int)t->count++;
			strcpy(table->name, name);
			table->help = f->help;
			table->fields = f->fields;
			table->owner = owner;
		}
		find(t, f->fields, name, inside);
		name[len] = '\0';
	}
}

void vpa_report_tables_find(struct vpa_report_tables *t)
{
	char name[VPA_REPORT_TABLE_NAME] = VPA_REPORT_TABLE;

	t->at[0] = (struct vpa_report_table){VPA_REPORT_TABLE,
		"the single values of the report, in one row", &vpa_fields_report, -1};
	t->count = 1;
	find(t, &vpa_fields_report, name, -1);
}

/* ---- columns ---- */

struct columns {
	struct vpa_arena *names;
	struct vpa_table_columns *out;
	char name[256]; /* of the objects around */
};

static enum vpa_column_type type_of(const struct vpa_field *f)
{
	switch (f->type) {
	case VPA_FIELD_U64:
	case VPA_FIELD_SIZE:
	case VPA_FIELD_UNSIGNED:
	case VPA_FIELD_I64:
	case VPA_FIELD_FLAG:
	case VPA_FIELD_BUCKETS:
		return VPA_COLUMN_INTEGER;
	case VPA_FIELD_REAL:
	case VPA_FIELD_RATE:
		return VPA_COLUMN_NUMBER;
	default:
		return VPA_COLUMN_TEXT;
	}
}

static void put(struct columns *c, const struct vpa_field *f, const char *key)
{
	size_t len = vpa_report_name_put(c->name, sizeof(c->name), key);
	/* "context_count" beside "context": {"count": 0}, whose column is then "context__count". */
	int taken = vpa_table_columns_find(c->out, c->name) != NULL;
	struct vpa_table_column column = {
		.name = taken ? vpa_arena_printf(c->names, "%.*s__%s", (int)len, c->name, key)
			      : vpa_arena_text(c->names, c->name, strlen(c->name)),
		.help = f->help,
		.unit = f->unit,
		.type = type_of(f),
		.choice = f->type == VPA_FIELD_CHOICE ? f->choice : NULL};

	c->name[len] = '\0';
	vpa_table_columns_put(c->out, &column);
}

static void put_columns(struct columns *c, const struct vpa_fields *fields)
{
	size_t i, k, len;

	for (i = 0; i < fields->count; i++) {
		const struct vpa_field *f = &fields->at[i];

		len = strlen(c->name);
		switch (f->type) {
		case VPA_FIELD_SAME:
			put_columns(c, f->fields);
			break;
		case VPA_FIELD_OBJECT:
		case VPA_FIELD_POINTER:
			vpa_report_name_put(c->name, sizeof(c->name), f->key);
			put_columns(c, f->fields);
			c->name[len] = '\0';
			break;
		case VPA_FIELD_BUCKETS:
			vpa_report_name_put(c->name, sizeof(c->name), f->key);
			for (k = 0; k < VPA_GAP_BUCKETS; k++)
				put(c, f, vpa_gap_bucket_names[k]);
			c->name[len] = '\0';
			break;
		case VPA_FIELD_ROWS:
		case VPA_FIELD_MAP:
		case VPA_FIELD_NOTHING:
			break;
		default:
			put(c, f, f->key);
		}
	}
}

void vpa_report_table_columns(const struct vpa_report_tables *t, size_t number,
	struct vpa_arena *names, struct vpa_table_columns *out)
{
	const struct vpa_report_table *table = &t->at[number];
	struct columns c = {names, out, ""};
	struct vpa_table_column column = {
		.name = "row", .help = "number of this row, from 0", .type = VPA_COLUMN_INTEGER};

	vpa_table_columns_put(out, &column);
	if (table->owner >= 0) {
		column.name = "of_row";
		column.help = vpa_arena_printf(
			names, "the row of %s that it belongs to", t->at[table->owner].name);
		vpa_table_columns_put(out, &column);
	}
	put_columns(&c, table->fields);
	out->failed |= names->failed;
}
