/* fields_value.c - reads values of a report by the tables of fields.h. */
#include "analysis/render/fields/fields.h"

enum { RATE_DECIMALS = 6, REAL_DECIMALS = 3 };

static const void *member(const struct vpa_at *at, const struct vpa_field *f)
{
	return (const char *)at->row + f->offset;
}

static uint64_t natural(const struct vpa_at *at, const struct vpa_field *f)
{
	const void *value = member(at, f);

	if (f->number)
		return f->number(at);
	if (f->type == VPA_FIELD_SIZE)
		return *(const size_t *)value;
	if (f->type == VPA_FIELD_UNSIGNED || f->type == VPA_FIELD_CHOICE ||
		f->type == VPA_FIELD_WORD)
		return *(const unsigned *)value;
	return *(const uint64_t *)value;
}

static void read_natural(const struct vpa_at *at, const struct vpa_field *f, struct vpa_value *out)
{
	out->number = natural(at, f);
	if (!(f->null == VPA_NULL_ZERO && !out->number) &&
		!(f->null == VPA_NULL_MAX && out->number == UINT64_MAX))
		out->kind = VPA_VALUE_UNSIGNED;
}

static void read_integer(const struct vpa_at *at, const struct vpa_field *f, struct vpa_value *out)
{
	out->integer = *(const int64_t *)member(at, f);
	if (!(f->null == VPA_NULL_NEGATIVE && out->integer < 0))
		out->kind = VPA_VALUE_SIGNED;
}

static void read_flag(const struct vpa_at *at, const struct vpa_field *f, struct vpa_value *out)
{
	int value = *(const int *)member(at, f);

	out->number = value != 0;
	if (!(f->null == VPA_NULL_NEGATIVE && value < 0))
		out->kind = VPA_VALUE_FLAG;
}

static void read_fraction(const struct vpa_at *at, const struct vpa_field *f, struct vpa_value *out)
{
	out->real = *(const double *)member(at, f);
	out->decimals = f->type == VPA_FIELD_RATE ? RATE_DECIMALS : REAL_DECIMALS;
	if (!(f->null == VPA_NULL_NEGATIVE && out->real < 0) &&
		!(f->null == VPA_NULL_NOT_POSITIVE && !(out->real > 0)))
		out->kind = VPA_VALUE_REAL;
}

static void read_text(const struct vpa_at *at, const struct vpa_field *f, struct vpa_value *out)
{
	if (f->text)
		out->text = f->text(at, f->offset, out->bytes);
	else if (f->type == VPA_FIELD_CHARS)
		out->text = member(at, f);
	else if (f->type == VPA_FIELD_CHOICE)
		out->text = f->choice(natural(at, f));
	else if (f->type == VPA_FIELD_WORD)
		out->text = f->null == VPA_NULL_ZERO && !natural(at, f) ? NULL
									: f->choice(natural(at, f));
	else if (f->type == VPA_FIELD_PLACE)
		out->text = ((const struct vpa_place *)member(at, f))->text;
	else
		out->text = *(const char *const *)member(at, f);
	if (out->text)
		out->kind = VPA_VALUE_TEXT;
}

int vpa_field_read(const struct vpa_at *at, const struct vpa_field *f, struct vpa_value *out)
{
	static void (*const read[])(
		const struct vpa_at *, const struct vpa_field *, struct vpa_value *) = {
		[VPA_FIELD_U64] = read_natural,
		[VPA_FIELD_SIZE] = read_natural,
		[VPA_FIELD_UNSIGNED] = read_natural,
		[VPA_FIELD_I64] = read_integer,
		[VPA_FIELD_FLAG] = read_flag,
		[VPA_FIELD_REAL] = read_fraction,
		[VPA_FIELD_RATE] = read_fraction,
		[VPA_FIELD_TEXT] = read_text,
		[VPA_FIELD_PLACE] = read_text,
		[VPA_FIELD_CHARS] = read_text,
		[VPA_FIELD_CHOICE] = read_text,
		[VPA_FIELD_WORD] = read_text,
		[VPA_FIELD_ID] = read_text,
		[VPA_FIELD_NOTHING] = NULL,
	};

	out->kind = VPA_VALUE_NULL;
	if (!read[f->type])
		return 0;
	read[f->type](at, f, out);
	return 1;
}

size_t vpa_field_bytes(const struct vpa_field *f)
{
	static const size_t bytes[] = {
		[VPA_FIELD_U64] = sizeof(uint64_t),
		[VPA_FIELD_SIZE] = sizeof(size_t),
		[VPA_FIELD_UNSIGNED] = sizeof(unsigned),
		[VPA_FIELD_I64] = sizeof(int64_t),
		[VPA_FIELD_FLAG] = sizeof(int),
		[VPA_FIELD_REAL] = sizeof(double),
		[VPA_FIELD_RATE] = sizeof(double),
		[VPA_FIELD_TEXT] = sizeof(char *),
		[VPA_FIELD_PLACE] = sizeof(struct vpa_place),
		[VPA_FIELD_CHARS] = 1, /* and what follows */
		[VPA_FIELD_CHOICE] = sizeof(unsigned),
		[VPA_FIELD_WORD] = sizeof(unsigned),
		[VPA_FIELD_TEXTS] = sizeof(char **),
		[VPA_FIELD_BUCKETS] = VPA_GAP_BUCKETS * sizeof(uint64_t),
		[VPA_FIELD_POINTER] = sizeof(void *),
		[VPA_FIELD_ROWS] = sizeof(void *),
		[VPA_FIELD_NOTHING] = 0,
	};

	if (f->number || f->text)
		return 0;
	return f->type == VPA_FIELD_OBJECT || f->type == VPA_FIELD_SAME ? f->bytes : bytes[f->type];
}

struct vpa_at vpa_field_inside(const struct vpa_at *at, const struct vpa_field *f)
{
	const void *object = member(at, f);

	if (f->type == VPA_FIELD_POINTER)
		object = *(const void *const *)object;
	return (struct vpa_at){at->report, object, at};
}

struct vpa_at vpa_field_row(const struct vpa_at *at, const struct vpa_field *f, size_t i)
{
	const char *rows = *(const char *const *)member(at, f);

	return (struct vpa_at){at->report, rows + i * f->bytes, at};
}
