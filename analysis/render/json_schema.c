/* json_schema.c - the schema of a JSON report or comparison, as text and as a JSON Schema, from the tables
 * that write it.
 *
 * Each table is a definition that other tables refer to. Objects may get more keys in later versions,
 * so the schema allows others; the keys it names are always present, but for optional ones. "unit" is an annotation of ours,
 * which validators ignore. */
#include "analysis/render/fields/fields.h"

#include "formats/io/print.h"

#include <assert.h>
#include <stdio.h>

/* The tables that a table refers to, each once, after the one that names it first. */
struct tables {
	const struct vpa_fields *at[96];
	size_t count;
};

static void add_table(struct tables *t, const struct vpa_fields *fields)
{
	size_t i;

	for (i = 0; i < t->count; i++)
		if (t->at[i] == fields)
			return;
	assert(t->count < sizeof(t->at) / sizeof(t->at[0]));
	t->at[t->count++] = fields;
}

/* Adds the tables that a table refers to. VPA_FIELD_SAME has its keys in the enclosing object. */
static void add_tables_of(struct tables *t, const struct vpa_fields *fields)
{
	size_t i;

	for (i = 0; i < fields->count; i++) {
		const struct vpa_field *f = &fields->at[i];

		assert(!f->fields || f->bytes == f->fields->bytes);
		if (f->type == VPA_FIELD_SAME)
			add_tables_of(t, f->fields);
		else if (f->fields)
			add_table(t, f->fields);
	}
}

static void find_tables(struct tables *t, const struct vpa_fields *root)
{
	size_t i;

	t->count = 0;
	add_table(t, root);
	for (i = 0; i < t->count; i++)
		add_tables_of(t, t->at[i]);
}

/* The name of a type in JSON, and in text. */
static const struct {
	const char *json, *text;
} types[] = {
	[VPA_FIELD_U64] = {"integer", "integer"},
	[VPA_FIELD_SIZE] = {"integer", "integer"},
	[VPA_FIELD_UNSIGNED] = {"integer", "integer"},
	[VPA_FIELD_I64] = {"integer", "integer"},
	[VPA_FIELD_FLAG] = {"boolean", "boolean"},
	[VPA_FIELD_REAL] = {"number", "number"},
	[VPA_FIELD_RATE] = {"number", "number"},
	[VPA_FIELD_TEXT] = {"string", "string"},
	[VPA_FIELD_PLACE] = {"string", "string"},
	[VPA_FIELD_CHARS] = {"string", "string"},
	[VPA_FIELD_CHOICE] = {"string", "word"},
	[VPA_FIELD_WORD] = {"string", "string"},
	[VPA_FIELD_ID] = {"integer", "integer or string"},
	[VPA_FIELD_TEXTS] = {"array", "string[]"},
	[VPA_FIELD_BUCKETS] = {"object", "integer by length"},
	[VPA_FIELD_ROWS] = {"array", "[]"}, /* of objects, which have names */
	[VPA_FIELD_MAP] = {"object", "string by key"},
	[VPA_FIELD_NOTHING] = {"array", "[]"},
};

/* Whether null may stand for the whole value. */
static int may_be_null(const struct vpa_field *f)
{
	return (f->known && !f->optional) || (f->null && f->type != VPA_FIELD_TEXTS) ||
	       f->type == VPA_FIELD_POINTER;
}

/* ---- as a JSON Schema ---- */

static void put_type(struct vpt_json *j, const struct vpa_field *f)
{
	if (!may_be_null(f)) {
		vpt_json_string(j, "type", types[f->type].json);
		return;
	}
	vpt_json_array(j, "type");
	vpt_json_string(j, NULL, types[f->type].json);
	if (f->type == VPA_FIELD_ID)
		vpt_json_string(j, NULL, "string");
	vpt_json_string(j, NULL, "null");
	vpt_json_end(j);
}

static void put_reference(struct vpt_json *j, const struct vpa_fields *fields)
{
	char path[64];

	snprintf(path, sizeof(path), "#/$defs/%s", fields->name);
	vpt_json_string(j, "$ref", path);
}

static void put_object(struct vpt_json *j, const struct vpa_field *f)
{
	if (!may_be_null(f)) {
		put_reference(j, f->fields);
		return;
	}
	vpt_json_array(j, "anyOf");
	vpt_json_object(j, NULL);
	put_reference(j, f->fields);
	vpt_json_end(j);
	vpt_json_object(j, NULL);
	vpt_json_string(j, "type", "null");
	vpt_json_end(j);
	vpt_json_end(j);
}

static void put_words(struct vpt_json *j, const struct vpa_field *f)
{
	size_t i;

	vpt_json_array(j, "enum");
	for (i = 0; f->choice(i); i++)
		vpt_json_string(j, NULL, f->choice(i));
	if (may_be_null(f))
		vpt_json_null(j, NULL);
	vpt_json_end(j);
}

static void put_buckets(struct vpt_json *j)
{
	size_t i;

	vpt_json_object(j, "properties");
	for (i = 0; i < VPA_GAP_BUCKETS; i++) {
		vpt_json_object(j, vpa_gap_bucket_names[i]);
		vpt_json_string(j, "type", "integer");
		vpt_json_u64(j, "minimum", 0);
		vpt_json_end(j);
	}
	vpt_json_end(j);
	vpt_json_array(j, "required");
	for (i = 0; i < VPA_GAP_BUCKETS; i++)
		vpt_json_string(j, NULL, vpa_gap_bucket_names[i]);
	vpt_json_end(j);
}

/* The contents of an array, or of an object whose keys are data. */
static void put_members(struct vpt_json *j, const struct vpa_field *f)
{
	vpt_json_object(j, f->type == VPA_FIELD_MAP ? "additionalProperties" : "items");
	if (f->type == VPA_FIELD_ROWS)
		put_reference(j, f->fields);
	else
		vpt_json_string(j, "type", "string");
	vpt_json_end(j);
}

/* Limits of a value beyond its type. */
static void put_limits(struct vpt_json *j, const struct vpa_field *f)
{
	switch (f->type) {
	case VPA_FIELD_U64:
	case VPA_FIELD_SIZE:
	case VPA_FIELD_UNSIGNED:
		vpt_json_u64(j, "minimum", 0);
		break;
	case VPA_FIELD_CHOICE:
		put_words(j, f);
		break;
	case VPA_FIELD_BUCKETS:
		put_buckets(j);
		break;
	case VPA_FIELD_TEXTS:
	case VPA_FIELD_MAP:
	case VPA_FIELD_ROWS:
		put_members(j, f);
		break;
	case VPA_FIELD_NOTHING:
		vpt_json_u64(j, "maxItems", 0);
		break;
	default:
		break;
	}
}

/* "range_kind". What it says is a sentence. */
struct place_kind {
	char key[VPA_PLACE_KEY], help[160];
};

static struct place_kind place_kind_of(const struct vpa_field *f)
{
	struct place_kind k;

	snprintf(k.key, sizeof(k.key), "%s" VPA_PLACE_KIND, f->key);
	snprintf(k.help, sizeof(k.help), "what %s is; absent if its text alone says it", f->key);
	return k;
}

static void put_place_kind(struct vpt_json *j, const struct vpa_field *f)
{
	const struct place_kind k = place_kind_of(f);
	const struct vpa_field words = {.choice = vpa_place_kind_choice};

	vpt_json_object(j, k.key);
	vpt_json_string(j, "type", "string");
	put_words(j, &words);
	vpt_json_string(j, "description", k.help);
	vpt_json_end(j);
}

static void put_properties(struct vpt_json *j, const struct vpa_fields *fields)
{
	size_t i;

	for (i = 0; i < fields->count; i++) {
		const struct vpa_field *f = &fields->at[i];

		if (f->type == VPA_FIELD_SAME) {
			put_properties(j, f->fields);
			continue;
		}
		vpt_json_object(j, f->key);
		if (vpa_field_is_object(f))
			put_object(j, f);
		else
			put_type(j, f);
		put_limits(j, f);
		if (f->unit)
			vpt_json_string(j, "unit", f->unit);
		vpt_json_string(j, "description", f->help);
		vpt_json_end(j);
		if (f->type == VPA_FIELD_PLACE)
			put_place_kind(j, f);
	}
}

static void put_keys(struct vpt_json *j, const struct vpa_fields *fields)
{
	size_t i;

	for (i = 0; i < fields->count; i++)
		if (fields->at[i].type == VPA_FIELD_SAME)
			put_keys(j, fields->at[i].fields);
		else if (!fields->at[i].optional)
			vpt_json_string(j, NULL, fields->at[i].key);
}

static void put_table(struct vpt_json *j, const struct vpa_fields *fields)
{
	vpt_json_string(j, "description", fields->help);
	vpt_json_string(j, "type", "object");
	vpt_json_object(j, "properties");
	put_properties(j, fields);
	vpt_json_end(j);
	vpt_json_array(j, "required");
	put_keys(j, fields);
	vpt_json_end(j);
}

int vpa_fields_schema(
	const struct vpa_fields *fields, const char *id, struct vpt_sink *sink, struct vpt_err *err)
{
	struct tables tables;
	struct vpt_json j;
	size_t i;

	find_tables(&tables, fields);
	vpt_json_init(&j, sink, 1);
	vpt_json_object(&j, NULL);
	vpt_json_string(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
	vpt_json_string(&j, "$id", id);
	vpt_json_string(&j, "title", id);
	put_table(&j, tables.at[0]);
	vpt_json_object(&j, "$defs");
	for (i = 1; i < tables.count; i++) {
		vpt_json_object(&j, tables.at[i]->name);
		put_table(&j, tables.at[i]);
		vpt_json_end(&j);
	}
	vpt_json_end(&j);
	vpt_json_end(&j);
	vpt_json_newline(&j);
	return vpt_json_finish(&j, err);
}

/* ---- as text ---- */

/* The words of a choice, unless there are many. */
static void print_words(struct vpt_print *l, const struct vpa_field *f)
{
	enum { MOST = 8 };
	size_t count = 0, i;

	while (f->type == VPA_FIELD_CHOICE && f->choice(count))
		count++;
	for (i = 0; i < count && count <= MOST; i++)
		vpt_print(l, "%s%s", i ? ", " : ": ", f->choice(i));
}

static void print_fields(struct vpt_print *l, const struct vpa_fields *fields)
{
	size_t i;

	for (i = 0; i < fields->count; i++) {
		const struct vpa_field *f = &fields->at[i];
		char type[64];

		if (f->type == VPA_FIELD_SAME) {
			print_fields(l, f->fields);
			continue;
		}
		snprintf(type, sizeof(type), "%s%s%s",
			f->fields ? f->fields->name : types[f->type].text,
			f->type == VPA_FIELD_ROWS ? "[]" : "", may_be_null(f) ? "?" : "");
		vpt_print(l, "  %-22s  %-18s  %-15s  %s", f->key, type, f->unit ? f->unit : "",
			f->help);
		print_words(l, f);
		vpt_print(l, "\n");
		if (f->type == VPA_FIELD_PLACE) {
			const struct place_kind k = place_kind_of(f);

			vpt_print(l, "  %-22s  %-18s  %-15s  %s: in, before, several\n", k.key,
				"word", "", k.help);
		}
	}
}

int vpa_fields_list(
	const struct vpa_fields *fields, const char *id, struct vpt_sink *sink, struct vpt_err *err)
{
	struct vpt_print l = {.sink = sink, .err = err};
	struct tables tables;
	size_t i;

	find_tables(&tables, fields);
	vpt_print(&l, "vptrace %s schema, %s\n", fields->name, id);
	vpt_print(&l, "each object: its keys in order, type, unit, meaning; ?: may be null\n");
	for (i = 0; i < tables.count; i++) {
		vpt_print(&l, "\n%s: %s\n", tables.at[i]->name, tables.at[i]->help);
		print_fields(&l, tables.at[i]);
	}
	return l.rc;
}
