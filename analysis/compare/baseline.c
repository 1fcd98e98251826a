/* baseline.c - fills a report from JSON, by the tables of fields.h that describe the JSON.
 *
 * A key that has no member of its own in the structs is computed from others; those that a comparison needs are
 * undone here: the window, the metadata, the GPUs' compute capability. Keys of a newer version are skipped. A file may
 * be anything, so figures that a comparison multiplies are bounded. */
#include "analysis/compare/baseline.h"

#include "analysis/compare/json_text.h"
#include "analysis/render/fields.h"
#include "formats/count.h"
#include "formats/memory.h"

#include <string.h>

enum { DEVICES_MAX = 1 << 16, FRAMES_MAX = 1 << 24, STEPS_MAX = 1 << 30, META_MAX = 1024 };

struct fill {
	struct vpa_json_text text;
	struct vpa_report *report;
	struct vpa_arena *arena;
	size_t meta_room;
};

static void fill_object(struct fill *f, const struct vpa_fields *fields, char *row);

static void fault(struct fill *f, const char *what)
{
	if (!f->text.fault)
		f->text.fault = what;
}

/* ---- what has no member ---- */

static void add_meta(struct fill *f, const char *key, const char *value)
{
	if (f->report->meta_count < META_MAX && key && value)
		f->report->meta[f->report->meta_count++] = (struct vpa_pair){key, value};
}

/* A text, or a number as a text; NULL: null. */
static const char *any_text(struct fill *f)
{
	char c = vpa_json_next(&f->text);
	const char *from = f->text.at;

	if (c == '"')
		return vpa_json_string(&f->text, f->arena);
	vpa_json_skip(&f->text);
	if (f->text.fault || c == 'n')
		return NULL;
	return vpa_arena_text(f->arena, from, (size_t)(f->text.at - from));
}

static void fill_map(struct fill *f, const char *prefix)
{
	int first = 1;

	if (!vpa_json_enter(&f->text, '{'))
		return;
	while (vpa_json_member(&f->text, '{', &first)) {
		const char *key = vpa_json_key(&f->text, f->arena);

		add_meta(f, key ? vpa_arena_printf(f->arena, "%s%s", prefix, key) : NULL,
			any_text(f));
	}
}

/* "9.0" */
static void fill_capability(const char *text, struct vpa_gpu *gpu)
{
	const char *point = text ? strchr(text, '.') : NULL;

	if (!point || point - text > 2)
		return;
	for (; text < point && *text >= '0' && *text <= '9'; text++)
		gpu->compute_major = gpu->compute_major * 10 + (uint32_t)(*text - '0');
	if (point[1] >= '0' && point[1] <= '9')
		gpu->compute_minor = (uint32_t)(point[1] - '0');
}

static void fill_computed(struct fill *f, const struct vpa_field *field, char *row)
{
	static const char *const facts[] = {"host", "command", "driver", "cupti", "rank"};
	int64_t integer;
	double real;
	size_t i;

	if (!strcmp(field->key, "window_ns") && vpa_json_next(&f->text) != 'n') {
		if (vpa_json_number(&f->text, &real, &integer) && integer > 0)
			f->report->window_end_ns = (uint64_t)integer;
		return;
	}
	if (!strcmp(field->key, "compute_capability")) {
		fill_capability(any_text(f), (struct vpa_gpu *)(void *)row);
		return;
	}
	for (i = 0; i < COUNT(facts); i++)
		if (!strcmp(field->key, facts[i]) && field->text) {
			add_meta(f, i == 2 ? "cuda_driver" : facts[i], any_text(f));
			return;
		}
	vpa_json_skip(&f->text);
}

/* ---- values ---- */

static void fill_number(struct fill *f, const struct vpa_field *field, char *at)
{
	int64_t integer = 0;
	double real = 0;

	if (vpa_json_next(&f->text) == 'n') {
		vpa_json_skip(&f->text);
		if (field->null == VPA_NULL_NEGATIVE)
			real = (double)(integer = -1);
		else if (field->null == VPA_NULL_MAX)
			integer = -1; /* UINT64_MAX */
	} else if (!vpa_json_number(&f->text, &real, &integer)) {
		return;
	}
	if (integer < 0 && field->null != VPA_NULL_MAX && field->type != VPA_FIELD_I64 &&
		field->type != VPA_FIELD_REAL && field->type != VPA_FIELD_RATE)
		integer = 0;
	switch (field->type) {
	case VPA_FIELD_U64:
		*(uint64_t *)(void *)at = (uint64_t)integer;
		break;
	case VPA_FIELD_SIZE:
		*(size_t *)(void *)at = (size_t)integer;
		break;
	case VPA_FIELD_UNSIGNED:
		*(unsigned *)(void *)at = integer > DEVICES_MAX ? DEVICES_MAX : (unsigned)integer;
		break;
	case VPA_FIELD_I64:
		*(int64_t *)(void *)at = integer;
		break;
	default:
		*(double *)(void *)at = real;
		break;
	}
}

static void fill_flag(struct fill *f, const struct vpa_field *field, char *at)
{
	int word = vpa_json_word(&f->text);

	*(int *)(void *)at = word >= 0 ? word : field->null == VPA_NULL_NEGATIVE ? -1 : 0;
}

static void fill_choice(struct fill *f, const struct vpa_field *field, char *at)
{
	int i, is_null = vpa_json_next(&f->text) == 'n';
	const char *text = any_text(f);

	if (is_null && field->known)
		return;
	for (i = 0; text && field->choice((size_t)i); i++)
		if (!strcmp(field->choice((size_t)i), text)) {
			*(int *)(void *)at = i;
			return;
		}
	fault(f, "an unknown word");
}

/* The number of values in an array that begins here. */
static size_t count_values(const struct fill *f)
{
	struct vpa_json_text ahead = f->text;
	size_t count = 0;
	int first = 1;

	if (!vpa_json_enter(&ahead, '['))
		return 0;
	for (; vpa_json_member(&ahead, '[', &first); count++)
		vpa_json_skip(&ahead);
	return count;
}

/* Rows whose texts may not be NULL have empty ones until they are read. */
static void clear_texts(const struct vpa_fields *fields, char *row)
{
	size_t i;

	for (i = 0; i < fields->count; i++)
		if (fields->at[i].type == VPA_FIELD_TEXT && !fields->at[i].text &&
			fields->at[i].null == VPA_NULL_NEVER)
			*(const char **)(void *)(row + fields->at[i].offset) = "";
}

static void fill_rows(struct fill *f, const struct vpa_field *field, char *row)
{
	size_t count = count_values(f), i = 0;
	char *rows = vpa_arena_alloc(f->arena, count, field->bytes);
	int first = 1;

	if (!rows) {
		fault(f, "no memory");
		return;
	}
	if (!vpa_json_enter(&f->text, '['))
		return;
	for (; i < count && vpa_json_member(&f->text, '[', &first); i++) {
		clear_texts(field->fields, rows + i * field->bytes);
		fill_object(f, field->fields, rows + i * field->bytes);
	}
	if (!f->text.fault)
		vpa_json_member(&f->text, '[', &first); /* the end */
	*(char **)(void *)(row + field->offset) = rows;
	*(size_t *)(void *)(row + field->count) = i;
}

static void fill_texts(struct fill *f, const struct vpa_field *field, char *row)
{
	size_t count = count_values(f), i = 0;
	const char **texts = vpa_arena_alloc(f->arena, count, sizeof(*texts));
	int first = 1;

	if (!texts) {
		fault(f, "no memory");
		return;
	}
	if (!vpa_json_enter(&f->text, '['))
		return;
	for (; vpa_json_member(&f->text, '[', &first) && i < count; i++) {
		const char *text = any_text(f);

		texts[i] = text ? text : "";
	}
	*(const char ***)(void *)(row + field->offset) = texts;
	*(size_t *)(void *)(row + field->count) = i;
}

/* ---- objects ---- */

static void fill_field(struct fill *f, const struct vpa_field *field, char *row)
{
	char *at = row + field->offset;

	if (field->type == VPA_FIELD_MAP) {
		fill_map(f, strcmp(field->key, "tags") ? "" : "tag.");
		return;
	}
	if (field->number || field->text) {
		fill_computed(f, field, row);
		return;
	}
	switch (field->type) {
	case VPA_FIELD_FLAG:
		fill_flag(f, field, at);
		break;
	case VPA_FIELD_TEXT: {
		const char *text = any_text(f);

		if (text)
			*(const char **)(void *)at = text;
		break;
	}
	case VPA_FIELD_CHOICE:
		fill_choice(f, field, at);
		break;
	case VPA_FIELD_TEXTS:
		fill_texts(f, field, row);
		break;
	case VPA_FIELD_ROWS:
		fill_rows(f, field, row);
		break;
	case VPA_FIELD_OBJECT:
		if (vpa_json_next(&f->text) == '{')
			fill_object(f, field->fields, at);
		else
			vpa_json_skip(&f->text);
		break;
	case VPA_FIELD_CHARS:
	case VPA_FIELD_ID:
	case VPA_FIELD_BUCKETS:
	case VPA_FIELD_NOTHING:
		vpa_json_skip(&f->text);
		break;
	default:
		fill_number(f, field, at);
	}
}

/* The field of a key, also in structs whose fields are written as fields of this one; *row then moves. */
static const struct vpa_field *field_of(
	const struct vpa_fields *fields, const char *key, char **row)
{
	size_t i;

	for (i = 0; i < fields->count; i++) {
		const struct vpa_field *f = &fields->at[i];
		char *inside = *row + f->offset;
		const struct vpa_field *found;

		if (f->key && !strcmp(f->key, key))
			return f;
		found = f->type == VPA_FIELD_SAME ? field_of(f->fields, key, &inside) : NULL;
		if (found) {
			*row = inside;
			return found;
		}
	}
	return NULL;
}

/* Whether a field is the number of rows or texts of another one, which says it better. */
static int is_count(const struct vpa_fields *fields, const struct vpa_field *field)
{
	size_t i;

	for (i = 0; i < fields->count && field->type == VPA_FIELD_SIZE; i++) {
		const struct vpa_field *f = &fields->at[i];

		if ((f->type == VPA_FIELD_ROWS || f->type == VPA_FIELD_TEXTS) &&
			f->count == field->offset)
			return 1;
	}
	return 0;
}

static void fill_object(struct fill *f, const struct vpa_fields *fields, char *row)
{
	int first = 1;

	if (!vpa_json_enter(&f->text, '{'))
		return;
	while (vpa_json_member(&f->text, '{', &first)) {
		const char *key = vpa_json_key(&f->text, f->arena);
		char *at = row;
		const struct vpa_field *field = key ? field_of(fields, key, &at) : NULL;

		if (field && !is_count(fields, field))
			fill_field(f, field, at);
		else if (key)
			vpa_json_skip(&f->text);
	}
}

/* ---- the whole ---- */

/* Whether the text says that it is a report of this version; it is the first key. */
static int has_schema(const char *text, size_t len)
{
	static const char schema[] = "\"" VPA_REPORT_SCHEMA "\"";

	return memmem(text, len < 256 ? len : 256, schema, sizeof(schema) - 1) != NULL;
}

static void bound_blocks(struct fill *f, struct vpa_blocks *b)
{
	size_t i;

	if (b->warmup > b->count) {
		fault(f, "more warm-up blocks than blocks");
		return;
	}
	b->measured = 0;
	for (i = 0; i < b->count; i++)
		b->measured += !b->series[i].warmup;
	for (i = 0; i < b->count; i++)
		if (b->series[i].devices > DEVICES_MAX || b->series[i].frames > FRAMES_MAX)
			fault(f, "a block has too many devices or frames");
}

/* The steps come by request, each request's together, so that their keys differ. */
static void bound_steps(struct fill *f, const struct vpa_report *r)
{
	size_t i;

	for (i = 0; i < r->step_part_count; i++) {
		if (i && r->step_parts[i].request < r->step_parts[i - 1].request)
			fault(f, "marked steps out of order");
		if (r->step_parts[i].devices > DEVICES_MAX)
			fault(f, "a step has too many devices");
	}
	if (r->steps_marked > STEPS_MAX)
		fault(f, "too many marked steps");
}

static void settle(struct fill *f)
{
	struct vpa_report *r = f->report;
	size_t i;

	r->window_end_ns += r->window_start_ns;
	for (i = 0; i < r->request_count; i++) {
		bound_blocks(f, &r->requests[i].blocks);
		if (r->requests[i].gpu.devices > DEVICES_MAX || r->requests[i].frames > FRAMES_MAX)
			fault(f, "a request has too many devices or frames");
	}
	bound_steps(f, r);
	if (r->device_count > DEVICES_MAX)
		fault(f, "too many devices");
}

int vpa_baseline_read(const char *text, size_t len, const char *path, struct vpa_report **out,
	struct vpt_err *err)
{
	struct vpa_report *r = vpt_calloc(1, sizeof(*r));
	struct fill f = {.text = {text, text + len, NULL, 0}, .report = r};
	int rc = VPT_OK;

	*out = NULL;
	if (!r)
		return vpt_fail(err, VPT_ENOMEM, "no memory for a report");
	f.arena = &r->arena;
	r->meta = vpa_arena_alloc(f.arena, META_MAX, sizeof(*r->meta));
	if (!has_schema(text, len))
		rc = vpt_fail(err, VPT_EDATA,
			"%s: expected a report of vptrace-analyze --format json, with the schema "
			"%s",
			path, VPA_REPORT_SCHEMA);
	if (!rc && r->meta) {
		fill_object(&f, &vpa_fields_report, (char *)r);
		settle(&f);
	}
	r->path = vpa_arena_text(f.arena, path, strlen(path));
	if (r->arena.failed)
		rc = vpt_fail(err, VPT_ENOMEM, "no memory for a report");
	else if (!rc && f.text.fault)
		rc = vpt_fail(err, VPT_EDATA, "%s: byte %zu: %s", path, (size_t)(f.text.at - text),
			f.text.fault);
	if (rc)
		vpa_report_free(r);
	else
		*out = r;
	return rc;
}
