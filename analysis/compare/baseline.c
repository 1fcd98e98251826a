/* baseline.c - fills a report from JSON, by the tables of fields.h that describe the JSON.
 *
 * A key that has no member of its own in the structs is computed from others; those that a comparison needs are
 * undone here: the window, the metadata, the GPUs' compute capability. Keys of a newer version are skipped. A file may
 * be anything: its numbers are as large as those of a capture may be, and every value is written through member(),
 * which keeps it inside the struct that was allocated for it. Every type of field is read here, because they share that guard: more
 * than 600 lines. */
#include "analysis/compare/baseline.h"

#include "analysis/render/fields/fields.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <string.h>

enum { META_MAX = 1024 };
/* Bytes of structs for each byte of text. A row in which every key is present needs less than one. */
enum { GROWTH_MAX = 16, ROOM_LEAST = 1 << 20 };

struct fill {
	struct vpa_json_text text;
	struct vpa_report *report;
	struct vpa_arena *arena;
	size_t room;        /* bytes that structs may still take */
	uint64_t window_ns; /* its length without pauses */
};

/* A struct, and the keys that are read into it. */
struct place {
	const struct vpa_fields *fields;
	char *row;
	const struct place *whole; /* the struct that was allocated and contains this one */
};

static void fill_object(struct fill *f, const struct place *p);

static void fault(struct fill *f, const char *what)
{
	if (!f->text.fault)
		f->text.fault = what;
}

/* ---- where values go ---- */

/* Bytes of a place, or NULL with a fault where they are not all in the struct that was allocated. */
static void *member(struct fill *f, const struct place *p, size_t offset, size_t bytes)
{
	size_t size = p->whole->fields->bytes, before = (size_t)(p->row - p->whole->row);

	if (before > size || offset > size - before || bytes > size - before - offset) {
		fault(f, "a value outside its row");
		return NULL;
	}
	return p->row + offset;
}

/* Texts that may not be NULL are empty until they are read. Those of objects that may be null wait for these. */
static void clear_texts(struct fill *f, const struct place *p)
{
	size_t i;

	for (i = 0; i < p->fields->count; i++) {
		const struct vpa_field *field = &p->fields->at[i];
		struct place inside = {field->fields, p->row + field->offset, p->whole};
		const char **text;

		if (!field->known &&
			(field->type == VPA_FIELD_OBJECT || field->type == VPA_FIELD_SAME))
			clear_texts(f, &inside);
		if (field->type != VPA_FIELD_TEXT || field->text || field->null != VPA_NULL_NEVER)
			continue;
		text = member(f, p, field->offset, sizeof(*text));
		if (text && !*text)
			*text = "";
	}
}

/* Structs with empty texts, which `fields` describe; NULL with a fault. */
static char *new_rows(struct fill *f, const struct vpa_fields *fields, size_t count)
{
	char *rows;
	size_t i;

	if (count > f->room / fields->bytes) {
		fault(f, "more rows than a text of this length describes");
		return NULL;
	}
	f->room -= count * fields->bytes;
	rows = vpa_arena_alloc(f->arena, count, fields->bytes);
	if (!rows)
		fault(f, "no memory");
	for (i = 0; rows && i < count; i++) {
		struct place row = {fields, rows + i * fields->bytes, &row};

		clear_texts(f, &row);
	}
	return rows;
}

/* Whether the bytes at `offset` are the number of rows or texts of a field, which says it better. */
static int is_count(const struct vpa_fields *fields, size_t offset)
{
	size_t i;

	for (i = 0; i < fields->count; i++) {
		const struct vpa_field *f = &fields->at[i];

		if ((f->type == VPA_FIELD_ROWS || f->type == VPA_FIELD_TEXTS) && f->count == offset)
			return 1;
		if ((f->type == VPA_FIELD_OBJECT || f->type == VPA_FIELD_SAME) &&
			offset >= f->offset && is_count(f->fields, offset - f->offset))
			return 1;
	}
	return 0;
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

static void fill_metadata(struct fill *f, const char *prefix)
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

/* What a program said of a request. */
static void fill_facts(struct fill *f, struct vpa_request *request)
{
	struct vpa_json_text from;
	size_t members = 0;
	int first = 1;

	if (!request || !vpa_json_enter(&f->text, '{'))
		return;
	for (from = f->text; vpa_json_member(&f->text, '{', &first); members++) {
		vpa_json_key(&f->text, f->arena);
		vpa_json_skip(&f->text);
	}
	request->fact_count = 0;
	if (f->text.fault || !members)
		return;
	request->facts = vpa_arena_alloc(f->arena, members, sizeof(*request->facts));
	if (!request->facts)
		return;
	f->text = from;
	for (first = 1; vpa_json_member(&f->text, '{', &first);) {
		const char *key = vpa_json_key(&f->text, f->arena), *value = any_text(f);

		if (key && value)
			request->facts[request->fact_count++] = (struct vpa_pair){key, value};
	}
}

static void fill_map(struct fill *f, const struct vpa_field *field, const struct place *p)
{
	if (p->fields == &vpa_fields_request)
		fill_facts(f, member(f, p, 0, sizeof(struct vpa_request)));
	else
		fill_metadata(f, field->prefix ? field->prefix : "");
}

/* "9.0" */
static void fill_capability(const char *text, struct vpa_gpu *gpu)
{
	const char *point = text ? strchr(text, '.') : NULL;

	if (!gpu || !point || point - text > 2)
		return;
	gpu->compute_major = gpu->compute_minor = 0;
	for (; text < point && *text >= '0' && *text <= '9'; text++)
		gpu->compute_major = gpu->compute_major * 10 + (uint32_t)(*text - '0');
	if (point[1] >= '0' && point[1] <= '9')
		gpu->compute_minor = (uint32_t)(point[1] - '0');
}

static void fill_computed(struct fill *f, const struct vpa_field *field, const struct place *p)
{
	struct vpa_json_number number;

	if (field->undone == VPA_UNDONE_WINDOW && vpa_json_next(&f->text) != 'n') {
		if (vpa_json_number(&f->text, &number) && !number.minus)
			f->window_ns = number.whole;
	} else if (field->undone == VPA_UNDONE_CAPABILITY) {
		fill_capability(any_text(f), member(f, p, 0, sizeof(struct vpa_gpu)));
	} else if (p->fields == &vpa_fields_system && field->text) {
		add_meta(f, vpa_system_key(field), any_text(f));
	} else {
		vpa_json_skip(&f->text);
	}
}

/* ---- values ---- */

/* What null is read as. */
static struct vpa_json_number null_of(enum vpa_null null)
{
	if (null == VPA_NULL_NEGATIVE)
		return (struct vpa_json_number){-1, 1, 1};
	return (struct vpa_json_number){0, null == VPA_NULL_MAX ? UINT64_MAX : 0, 0};
}

/* A number below 0 is 0 where none can be. */
static void fill_number(struct fill *f, const struct vpa_field *field, void *at)
{
	struct vpa_json_number n = null_of(field->null);
	uint64_t natural;

	if (vpa_json_next(&f->text) == 'n')
		vpa_json_skip(&f->text);
	else if (!vpa_json_number(&f->text, &n))
		return;
	natural = n.minus ? 0 : n.whole;
	switch (field->type) {
	case VPA_FIELD_U64:
		*(uint64_t *)at = natural;
		break;
	case VPA_FIELD_SIZE:
		*(size_t *)at = natural;
		break;
	case VPA_FIELD_UNSIGNED:
		*(unsigned *)at = vpt_sat_u32(natural);
		break;
	case VPA_FIELD_I64:
		*(int64_t *)at = n.minus ? vpt_sat_diff(0, n.whole) : vpt_sat_diff(n.whole, 0);
		break;
	default: /* REAL, RATE */
		*(double *)at = n.real;
		break;
	}
}

static void fill_flag(struct fill *f, const struct vpa_field *field, void *at)
{
	int word = vpa_json_word(&f->text);

	*(int *)at = word >= 0 ? word : field->null == VPA_NULL_NEGATIVE ? -1 : 0;
}

static void fill_text(struct fill *f, const struct vpa_field *field, void *at)
{
	const char *text = any_text(f);

	(void)field;
	if (text)
		*(const char **)at = text;
}

static void fill_place(struct fill *f, const struct vpa_field *field, void *at)
{
	(void)field;
	*(struct vpa_place *)at = vpa_place_of_text(any_text(f));
}

static void fill_choice(struct fill *f, const struct vpa_field *field, void *at)
{
	int i, is_null = vpa_json_next(&f->text) == 'n';
	const char *text = any_text(f);

	if (is_null && field->known)
		return;
	for (i = 0; text && field->choice((size_t)i); i++)
		if (!strcmp(field->choice((size_t)i), text)) {
			*(int *)at = i;
			return;
		}
	fault(f, "an unknown word");
}

/* A word of another version is none. */
static void fill_word(struct fill *f, const struct vpa_field *field, void *at)
{
	const char *text = any_text(f);
	size_t i;

	*(unsigned *)at = 0;
	for (i = 0; text && field->choice(i); i++)
		if (!strcmp(field->choice(i), text))
			*(unsigned *)at = (unsigned)i;
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

/* Sets the pointer and the count of rows or texts. */
static void set_list(
	struct fill *f, const struct vpa_field *field, const struct place *p, void *list, size_t n)
{
	void **at = member(f, p, field->offset, sizeof(*at));
	size_t *count = member(f, p, field->count, sizeof(*count));

	if (!at || !count)
		return;
	*at = list;
	*count = n;
}

static void fill_rows(struct fill *f, const struct vpa_field *field, const struct place *p)
{
	size_t count = count_values(f), i = 0;
	char *rows = new_rows(f, field->fields, count);
	int first = 1;

	if (!rows || !vpa_json_enter(&f->text, '['))
		return;
	for (; i < count && vpa_json_member(&f->text, '[', &first); i++) {
		struct place row = {field->fields, rows + i * field->fields->bytes, &row};

		fill_object(f, &row);
	}
	if (!f->text.fault)
		vpa_json_member(&f->text, '[', &first); /* the end */
	set_list(f, field, p, rows, i);
}

/* Texts of which some are left out share the count of another list, and cannot be put beside it again. */
static void fill_texts(struct fill *f, const struct vpa_field *field, const struct place *p)
{
	size_t count = count_values(f), i = 0;
	const char **texts;
	int first = 1;

	if (field->null == VPA_NULL_COUNT) {
		vpa_json_skip(&f->text);
		return;
	}
	texts = vpa_arena_alloc(f->arena, count, sizeof(*texts));
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
	set_list(f, field, p, texts, i);
}

/* ---- objects ---- */

/* An object inside the row. One that is null leaves its values at 0. */
static void fill_inside(struct fill *f, const struct vpa_field *field, const struct place *p)
{
	struct place inside = {
		field->fields, member(f, p, field->offset, field->fields->bytes), p->whole};

	if (!inside.row || vpa_json_next(&f->text) != '{') {
		vpa_json_skip(&f->text);
		return;
	}
	clear_texts(f, &inside);
	fill_object(f, &inside);
}

/* An object that the row points to. */
static void fill_pointed(struct fill *f, const struct vpa_field *field, const struct place *p)
{
	void **pointer = member(f, p, field->offset, sizeof(*pointer));
	struct place object = {field->fields, NULL, &object};

	if (vpa_json_next(&f->text) == '{')
		object.row = new_rows(f, field->fields, 1);
	if (!pointer || !object.row) {
		vpa_json_skip(&f->text);
		return;
	}
	fill_object(f, &object);
	*pointer = object.row;
}

/* How a type is read: into its bytes, or into several members of its row. Neither: it is skipped. */
static const struct {
	void (*value)(struct fill *, const struct vpa_field *, void *at);
	void (*members)(struct fill *, const struct vpa_field *, const struct place *);
} fills[] = {
	[VPA_FIELD_U64] = {.value = fill_number},
	[VPA_FIELD_SIZE] = {.value = fill_number},
	[VPA_FIELD_UNSIGNED] = {.value = fill_number},
	[VPA_FIELD_I64] = {.value = fill_number},
	[VPA_FIELD_FLAG] = {.value = fill_flag},
	[VPA_FIELD_REAL] = {.value = fill_number},
	[VPA_FIELD_RATE] = {.value = fill_number},
	[VPA_FIELD_TEXT] = {.value = fill_text},
	[VPA_FIELD_PLACE] = {.value = fill_place},
	[VPA_FIELD_CHOICE] = {.value = fill_choice},
	[VPA_FIELD_WORD] = {.value = fill_word},
	[VPA_FIELD_TEXTS] = {.members = fill_texts},
	[VPA_FIELD_OBJECT] = {.members = fill_inside},
	[VPA_FIELD_POINTER] = {.members = fill_pointed},
	[VPA_FIELD_ROWS] = {.members = fill_rows},
	[VPA_FIELD_NOTHING] = {.value = NULL},
};

static void fill_field(struct fill *f, const struct vpa_field *field, const struct place *p)
{
	void *at = NULL;

	if (field->type == VPA_FIELD_MAP) {
		fill_map(f, field, p);
		return;
	}
	if (field->number || field->text) {
		fill_computed(f, field, p);
		return;
	}
	if (fills[field->type].members) {
		fills[field->type].members(f, field, p);
		return;
	}
	if (fills[field->type].value &&
		!is_count(p->whole->fields, (size_t)(p->row - p->whole->row) + field->offset))
		at = member(f, p, field->offset, vpa_field_bytes(field));
	if (at)
		fills[field->type].value(f, field, at);
	else
		vpa_json_skip(&f->text);
}

/* The field of a key, also in structs whose fields are written as fields of this one; *in: the struct that has it. */
static const struct vpa_field *field_of(const struct place *p, const char *key, struct place *in)
{
	size_t i;

	for (i = 0; i < p->fields->count; i++) {
		const struct vpa_field *f = &p->fields->at[i];
		struct place inside = {f->fields, p->row + f->offset, p->whole};
		const struct vpa_field *found;

		if (f->key && !strcmp(f->key, key)) {
			*in = *p;
			return f;
		}
		found = f->type == VPA_FIELD_SAME ? field_of(&inside, key, in) : NULL;
		if (found)
			return found;
	}
	return NULL;
}

/* The kind of a place, after its text. Other keys are skipped. */
static void fill_place_kind(struct fill *f, const struct place *p, const char *key)
{
	static const struct vpa_field kind = {.choice = vpa_place_kind_choice};
	const char *end = strstr(key, VPA_PLACE_KIND);
	const char *text = end ? vpa_arena_text(f->arena, key, (size_t)(end - key)) : NULL;
	struct place in;
	const struct vpa_field *field = text ? field_of(p, text, &in) : NULL;
	struct vpa_place *place = NULL;

	if (field && field->type == VPA_FIELD_PLACE)
		place = member(f, &in, field->offset, sizeof(*place));
	if (place)
		fill_word(f, &kind, &place->kind);
	else
		vpa_json_skip(&f->text);
}

static void fill_object(struct fill *f, const struct place *p)
{
	int first = 1;

	if (!vpa_json_enter(&f->text, '{'))
		return;
	while (vpa_json_member(&f->text, '{', &first)) {
		const char *key = vpa_json_key(&f->text, f->arena);
		struct place in;
		const struct vpa_field *field = key ? field_of(p, key, &in) : NULL;

		if (field)
			fill_field(f, field, &in);
		else if (key)
			fill_place_kind(f, p, key);
	}
}

/* ---- the whole ---- */

/* Whether the text says that it is a report of this version; it is the first key. */
static int has_schema(const char *text, size_t len)
{
	static const char schema[] = "\"" VPA_REPORT_SCHEMA "\"";

	return memmem(text, len < 256 ? len : 256, schema, sizeof(schema) - 1) != NULL;
}

static void count_measured(struct fill *f, struct vpa_blocks *b)
{
	size_t i;

	if (b->warmup > b->count) {
		fault(f, "more warm-up blocks than blocks");
		return;
	}
	b->measured = 0;
	for (i = 0; i < b->count; i++)
		b->measured += !b->series[i].warmup;
}

/* The steps come by request, each request's together, so that their keys differ. */
static void check_steps(struct fill *f, const struct vpa_report *r)
{
	size_t i;

	for (i = 1; i < r->step_part_count; i++)
		if (r->step_parts[i].request < r->step_parts[i - 1].request)
			fault(f, "marked steps out of order");
}

/* The length counts. Reports did not always have the end. */
static void settle_window(struct vpa_report *r, uint64_t window_ns)
{
	if (vpa_window_span_ns(r) < window_ns)
		r->window_end_ns = vpt_sat_add(r->window_start_ns, window_ns);
	r->paused_ns = vpa_window_span_ns(r) - window_ns;
}

static void settle(struct fill *f)
{
	struct vpa_report *r = f->report;
	size_t i;

	settle_window(r, f->window_ns);
	for (i = 0; i < r->request_count; i++)
		count_measured(f, &r->requests[i].blocks);
	for (i = 0; i < r->counter_count; i++)
		r->counters[i].series = vpt_series_find(vpt_text_from(r->counters[i].name));
	for (i = 0; i < r->series_count; i++)
		r->series[i].is_series = 1;
	check_steps(f, r);
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
	f.room = len * GROWTH_MAX + ROOM_LEAST;
	r->meta = vpa_arena_alloc(f.arena, META_MAX, sizeof(*r->meta));
	if (!has_schema(text, len))
		rc = vpt_fail(err, VPT_EDATA,
			"%s: expected a report of vptrace-analyze --format json, with the schema "
			"%s",
			path, VPA_REPORT_SCHEMA);
	if (!rc && r->meta) {
		struct place whole = {&vpa_fields_report, (char *)r, &whole};

		clear_texts(&f, &whole);
		fill_object(&f, &whole);
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
