/* json.c - the report for programs, "vptrace.report/1", written from the tables of fields.h.
 *
 * A public contract: keys keep their name, meaning and order, new ones come last in their object, and a
 * key is always present. An unknown value is null, and the verdict's reasons say why. Shares and rates
 * have six decimals, other fractions three. */
#include "analysis/render/fields.h"

#include <string.h>

enum { RATE_DECIMALS = 6, REAL_DECIMALS = 3 };

struct walk {
	struct vpt_json json;
	int rc; /* the first failure that is not the writer's */
};

static void put_fields(struct walk *w, const struct vpa_at *at, const struct vpa_fields *fields);

static const void *member(const struct vpa_at *at, size_t offset)
{
	return (const char *)at->row + offset;
}

/* A count: of texts, of rows, of what an object sums up. */
static size_t size_at(const struct vpa_at *at, size_t offset)
{
	return *(const size_t *)member(at, offset);
}

/* ---- numbers ---- */

static int is_null(enum vpa_null null, double value)
{
	return (null == VPA_NULL_NEGATIVE && value < 0) ||
	       (null == VPA_NULL_NOT_POSITIVE && !(value > 0));
}

static uint64_t natural(const struct vpa_at *at, const struct vpa_field *f)
{
	const void *value = member(at, f->offset);

	if (f->number)
		return f->number(at);
	if (f->type == VPA_FIELD_SIZE)
		return *(const size_t *)value;
	if (f->type == VPA_FIELD_UNSIGNED || f->type == VPA_FIELD_CHOICE)
		return *(const unsigned *)value;
	return *(const uint64_t *)value;
}

static void put_natural(struct walk *w, const struct vpa_at *at, const struct vpa_field *f)
{
	uint64_t value = natural(at, f);

	if ((f->null == VPA_NULL_ZERO && !value) ||
		(f->null == VPA_NULL_MAX && value == UINT64_MAX))
		vpt_json_null(&w->json, f->key);
	else
		vpt_json_u64(&w->json, f->key, value);
}

static void put_integer(struct walk *w, const struct vpa_at *at, const struct vpa_field *f)
{
	int64_t value = *(const int64_t *)member(at, f->offset);

	if (f->null == VPA_NULL_NEGATIVE && value < 0)
		vpt_json_null(&w->json, f->key);
	else
		vpt_json_i64(&w->json, f->key, value);
}

static void put_flag(struct walk *w, const struct vpa_at *at, const struct vpa_field *f)
{
	int value = *(const int *)member(at, f->offset);

	if (f->null == VPA_NULL_NEGATIVE && value < 0)
		vpt_json_null(&w->json, f->key);
	else
		vpt_json_bool(&w->json, f->key, value);
}

static void put_fraction(struct walk *w, const struct vpa_at *at, const struct vpa_field *f)
{
	double value = *(const double *)member(at, f->offset);

	if (is_null(f->null, value))
		vpt_json_null(&w->json, f->key);
	else
		vpt_json_fixed(&w->json, f->key, value,
			f->type == VPA_FIELD_RATE ? RATE_DECIMALS : REAL_DECIMALS);
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

static void put_text(struct walk *w, const struct vpa_at *at, const struct vpa_field *f)
{
	char bytes[VPA_FIELD_BYTES];
	const char *text;

	if (f->text)
		text = f->text(at, f->offset, bytes);
	else if (f->type == VPA_FIELD_CHARS)
		text = member(at, f->offset);
	else if (f->type == VPA_FIELD_CHOICE)
		text = f->choice(natural(at, f));
	else
		text = *(const char *const *)member(at, f->offset);
	if (f->type == VPA_FIELD_ID)
		put_id(w, f->key, text);
	else
		vpt_json_string(&w->json, f->key, text);
}

static void put_texts(struct walk *w, const struct vpa_at *at, const struct vpa_field *f)
{
	const char *const *texts = *(const char *const *const *)member(at, f->offset);
	size_t count = size_at(at, f->count), i;

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

static struct vpa_at inside(const struct vpa_at *at, const struct vpa_field *f)
{
	return (struct vpa_at){at->report, member(at, f->offset), at};
}

static void put_object(struct walk *w, const struct vpa_at *at, const struct vpa_field *f)
{
	struct vpa_at object = inside(at, f);

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
	const char *rows = *(const char *const *)member(at, f->offset);
	size_t count = size_at(at, f->count), i;

	vpt_json_array(&w->json, f->key);
	for (i = 0; i < count; i++) {
		struct vpa_at row = {at->report, rows + i * f->bytes, at};

		vpt_json_object(&w->json, NULL);
		put_fields(w, &row, f->fields);
		vpt_json_end(&w->json);
	}
	vpt_json_end(&w->json);
}

static void put_same(struct walk *w, const struct vpa_at *at, const struct vpa_field *f)
{
	struct vpa_at same = inside(at, f);

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
		[VPA_FIELD_U64] = put_natural,
		[VPA_FIELD_SIZE] = put_natural,
		[VPA_FIELD_UNSIGNED] = put_natural,
		[VPA_FIELD_I64] = put_integer,
		[VPA_FIELD_FLAG] = put_flag,
		[VPA_FIELD_REAL] = put_fraction,
		[VPA_FIELD_RATE] = put_fraction,
		[VPA_FIELD_TEXT] = put_text,
		[VPA_FIELD_CHARS] = put_text,
		[VPA_FIELD_CHOICE] = put_text,
		[VPA_FIELD_ID] = put_text,
		[VPA_FIELD_TEXTS] = put_texts,
		[VPA_FIELD_BUCKETS] = put_buckets,
		[VPA_FIELD_OBJECT] = put_object,
		[VPA_FIELD_ROWS] = put_rows,
		[VPA_FIELD_SAME] = put_same,
		[VPA_FIELD_MAP] = put_map,
		[VPA_FIELD_NOTHING] = put_nothing,
	};
	size_t i;

	for (i = 0; i < fields->count; i++) {
		const struct vpa_field *f = &fields->at[i];

		int known = !f->known || f->known(at);

		if (!known && !f->optional)
			vpt_json_null(&w->json, f->key);
		else if (known)
			put[f->type](w, at, f);
	}
}

int vpa_render_json(const struct vpa_report *r, struct vpt_sink *sink, struct vpt_err *err)
{
	struct vpa_at whole = {r, r, NULL};
	struct walk w;

	w.rc = VPT_OK;
	vpt_json_init(&w.json, sink, 1);
	vpt_json_object(&w.json, NULL);
	put_fields(&w, &whole, &vpa_fields_report);
	vpt_json_end(&w.json);
	vpt_json_newline(&w.json);
	if (w.rc)
		return vpt_fail(
			err, w.rc, "no memory for the keys of %zu metadata pairs", r->meta_count);
	return vpt_json_finish(&w.json, err);
}
