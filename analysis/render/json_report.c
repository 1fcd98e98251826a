/* json_report.c - the report for programs, "vptrace.report/1", written from the tables of fields.h.
 *
 * A public contract: keys keep their name, meaning and order, new ones come last in their object, and a
 * key is always present. An unknown value is null, and the verdict's reasons say why. Shares and rates
 * have six decimals, other fractions three: fields_value.c. */
#include "analysis/render/fields/fields.h"
#include "analysis/render/renderer.h"

#include <stdio.h>
#include <string.h>

struct walk {
	struct vpt_json json;
	int rc; /* the first failure that is not the writer's */
};

static void put_fields(struct walk *w, const struct vpa_at *at, const struct vpa_fields *fields);

static const void *member(const struct vpa_at *at, size_t offset)
{
	return (const char *)at->row + offset;
}

static void put_buckets(struct walk *w, const struct vpa_at *at, const struct vpa_field *f)
{
	const uint64_t *values = member(at, f->offset);
	size_t i;

	vpt_json_object(&w->json, f->key);
	for (i = 0; i < VPA_GAP_BUCKETS; i++)
		vpt_json_u64(&w->json, vpa_gap_bucket_names[i], values[i]);
	vpt_json_end(&w->json);
}

/* ---- texts ---- */

/* An id, as a number if it is one, since readers compare and sort ids. */
static void put_id(struct walk *w, const char *key, const char *text)
{
	size_t len = text ? strspn(text, "0123456789") : 0, i;
	uint64_t number = 0;

	if (!len || text[len] || len > 18) {
		vpt_json_string(&w->json, key, text);
		return;
	}
	for (i = 0; i < len; i++)
		number = number * 10 + (uint64_t)(text[i] - '0');
	vpt_json_u64(&w->json, key, number);
}

static void put_value(struct walk *w, const struct vpa_at *at, const struct vpa_field *f)
{
	struct vpa_value v;

	vpa_field_read(at, f, &v);
	switch (v.kind) {
	case VPA_VALUE_NULL:
		vpt_json_null(&w->json, f->key);
		break;
	case VPA_VALUE_UNSIGNED:
		vpt_json_u64(&w->json, f->key, v.number);
		break;
	case VPA_VALUE_SIGNED:
		vpt_json_i64(&w->json, f->key, v.integer);
		break;
	case VPA_VALUE_FLAG:
		vpt_json_bool(&w->json, f->key, v.number != 0);
		break;
	case VPA_VALUE_REAL:
		vpt_json_fixed(&w->json, f->key, v.real, v.decimals);
		break;
	case VPA_VALUE_TEXT:
		if (f->type == VPA_FIELD_ID)
			put_id(w, f->key, v.text);
		else
			vpt_json_string(&w->json, f->key, v.text);
		break;
	}
}

static void put_place(struct walk *w, const struct vpa_at *at, const struct vpa_field *f)
{
	const struct vpa_place *place = (const void *)member(at, f->offset);
	char key[VPA_PLACE_KEY];

	put_value(w, at, f);
	snprintf(key, sizeof(key), "%s" VPA_PLACE_KIND, f->key);
	if (vpa_place_is_misread(place))
		vpt_json_string(&w->json, key, vpa_place_kind_choice(place->kind));
}

static void put_texts(struct walk *w, const struct vpa_at *at, const struct vpa_field *f)
{
	const char *const *texts = *(const char *const *const *)member(at, f->offset);
	size_t count = vpa_field_count(at, f), i;

	vpt_json_array(&w->json, f->key);
	for (i = 0; texts && i < count; i++)
		if (texts[i] || f->null != VPA_NULL_COUNT)
			vpt_json_string(&w->json, NULL, texts[i]);
	vpt_json_end(&w->json);
}

static void put_map(struct walk *w, const struct vpa_at *at, const struct vpa_field *f)
{
	int rc;

	vpt_json_object(&w->json, f->key);
	rc = f->put(at, &w->json);
	vpt_json_end(&w->json);
	w->rc = w->rc ? w->rc : rc;
}

/* ---- objects, rows ---- */

static void put_object(struct walk *w, const struct vpa_at *at, const struct vpa_field *f)
{
	struct vpa_at object = vpa_field_inside(at, f);

	if (f->null == VPA_NULL_COUNT && !*(const uint64_t *)member(at, f->count)) {
		vpt_json_null(&w->json, f->key);
		return;
	}
	vpt_json_object(&w->json, f->key);
	put_fields(w, &object, f->fields);
	vpt_json_end(&w->json);
}

static void put_rows(struct walk *w, const struct vpa_at *at, const struct vpa_field *f)
{
	size_t count = vpa_field_count(at, f), i;

	vpt_json_array(&w->json, f->key);
	for (i = 0; i < count; i++) {
		struct vpa_at row = vpa_field_row(at, f, i);

		vpt_json_object(&w->json, NULL);
		put_fields(w, &row, f->fields);
		vpt_json_end(&w->json);
	}
	vpt_json_end(&w->json);
}

static void put_same(struct walk *w, const struct vpa_at *at, const struct vpa_field *f)
{
	struct vpa_at same = vpa_field_inside(at, f);

	put_fields(w, &same, f->fields);
}

static void put_nothing(struct walk *w, const struct vpa_at *at, const struct vpa_field *f)
{
	(void)at;
	vpt_json_array(&w->json, f->key);
	vpt_json_end(&w->json);
}

static void put_fields(struct walk *w, const struct vpa_at *at, const struct vpa_fields *fields)
{
	static void (*const put[])(
		struct walk *, const struct vpa_at *, const struct vpa_field *) = {
		[VPA_FIELD_U64] = put_value,
		[VPA_FIELD_SIZE] = put_value,
		[VPA_FIELD_UNSIGNED] = put_value,
		[VPA_FIELD_I64] = put_value,
		[VPA_FIELD_FLAG] = put_value,
		[VPA_FIELD_REAL] = put_value,
		[VPA_FIELD_RATE] = put_value,
		[VPA_FIELD_TEXT] = put_value,
		[VPA_FIELD_PLACE] = put_place,
		[VPA_FIELD_CHARS] = put_value,
		[VPA_FIELD_CHOICE] = put_value,
		[VPA_FIELD_WORD] = put_value,
		[VPA_FIELD_ID] = put_value,
		[VPA_FIELD_TEXTS] = put_texts,
		[VPA_FIELD_BUCKETS] = put_buckets,
		[VPA_FIELD_OBJECT] = put_object,
		[VPA_FIELD_POINTER] = put_object,
		[VPA_FIELD_ROWS] = put_rows,
		[VPA_FIELD_SAME] = put_same,
		[VPA_FIELD_MAP] = put_map,
		[VPA_FIELD_NOTHING] = put_nothing,
	};
	size_t i;

	for (i = 0; i < fields->count; i++) {
		const struct vpa_field *f = &fields->at[i];

		int known = vpa_field_is_known(at, f);

		if (!known && !f->optional)
			vpt_json_null(&w->json, f->key);
		else if (known)
			put[f->type](w, at, f);
	}
}

int vpa_fields_json(const struct vpa_fields *fields, const struct vpa_at *whole,
	struct vpt_sink *sink, struct vpt_err *err)
{
	struct walk w;

	w.rc = VPT_OK;
	vpt_json_init(&w.json, sink, 1);
	vpt_json_object(&w.json, NULL);
	put_fields(&w, whole, fields);
	vpt_json_end(&w.json);
	vpt_json_newline(&w.json);
	if (w.rc)
		return vpt_fail(err, w.rc, "no memory for the keys of the metadata");
	return vpt_json_finish(&w.json, err);
}

int vpa_render_json(const struct vpa_report *r, struct vpt_sink *sink, struct vpt_err *err)
{
	const struct vpa_at whole = {r, r, NULL};

	return vpa_fields_json(&vpa_fields_report, &whole, sink, err);
}
