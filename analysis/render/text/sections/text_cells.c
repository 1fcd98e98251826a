/* text_cells.c - the cells of a row, read by the keys of its view. */
#include "analysis/render/fields/fields.h"
#include "analysis/render/measures.h"
#include "analysis/render/text/sections/text_sections.h"
#include "formats/base/saturate.h"

#include <assert.h>
#include <string.h>

static struct vpa_num negative(struct vpa_num n)
{
	size_t len = strlen(n.text);

	len = len < sizeof(n.text) - 2 ? len : sizeof(n.text) - 2;
	memmove(n.text + 1, n.text, len);
	n.text[0] = '-';
	n.text[len + 1] = '\0';
	return n;
}

static struct vpa_num usual(
	const struct vpa_field *f, const struct vpa_value *v, const struct vpa_digest *d);

static struct vpa_num signed_number(
	const struct vpa_field *f, int64_t integer, const struct vpa_digest *d)
{
	const struct vpa_value v = {.kind = VPA_VALUE_UNSIGNED,
		.number = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer};
	struct vpa_num n = usual(f, &v, d);

	return integer < 0 ? negative(n) : n;
}

/* By the unit of the field. */
static struct vpa_num usual(
	const struct vpa_field *f, const struct vpa_value *v, const struct vpa_digest *d)
{
	if (v->kind == VPA_VALUE_SIGNED)
		return signed_number(f, v->integer, d);
	if (v->kind == VPA_VALUE_FLAG)
		return (struct vpa_num){.text = {'y', 'e', 's'}};
	switch (vpa_measure_of(f->unit)) {
	case VPA_MEASURE_NS:
		return vpa_ms(v->number, d);
	case VPA_MEASURE_BYTES:
		return vpa_bytes(v->number);
	case VPA_MEASURE_FRACTION:
		return vpa_share(v->real);
	default:
		return v->kind == VPA_VALUE_REAL ? vpa_fixed(v->real, 1) : vpa_count(v->number);
	}
}

static struct vpa_num written(const struct vpa_column *c, const struct vpa_field *f,
	const struct vpa_value *v, const struct vpa_digest *d)
{
	switch (c->form) {
	case VPA_CELL_DURATION:
		return vpa_duration(v->kind == VPA_VALUE_REAL ? vpt_sat_u64(v->real) : v->number);
	case VPA_CELL_OF_BUSY:
		return vpa_percent(v->number, d->busy_ns);
	case VPA_CELL_OF_WINDOW:
		return vpa_percent(v->number, d->windows_ns);
	case VPA_CELL_RATE:
		return vpa_rate(v->real);
	case VPA_CELL_WHOLE:
		return vpa_fixed(v->real, 0);
	default:
		return usual(f, v, d);
	}
}

/* Reads the value of a key. Returns its field. */
static const struct vpa_field *read_key(const struct vpa_at *row, const struct vpa_fields *fields,
	const char *key, struct vpa_value *out)
{
	struct vpa_way way;
	struct vpa_at inside;
	int found = vpa_way_find(fields, key, &way);

	assert(found);
	(void)found;
	vpa_way_read(row, &way, &inside, out);
	return way.field;
}

static struct vpa_num cell_of(const struct vpa_column *c, const struct vpa_at *row,
	const struct vpa_fields *fields, const struct vpa_digest *d)
{
	struct vpa_value v, over;
	const struct vpa_field *f = read_key(row, fields, c->key, &v);

	if (c->blank &&
		(v.kind == VPA_VALUE_NULL ||
			((v.kind == VPA_VALUE_UNSIGNED || v.kind == VPA_VALUE_FLAG) && !v.number)))
		return (struct vpa_num){""};
	if (v.kind == VPA_VALUE_NULL)
		return vpa_missing();
	if (vpa_measure_of(f->unit) == VPA_MEASURE_OF_ROW) {
		read_key(row, fields, "unit", &over);
		return vpa_sample_value(v.real, over.text);
	}
	if (!c->over)
		return written(c, f, &v, d);
	read_key(row, fields, c->over, &over);
	return vpa_mean(v.number, over.number);
}

void vpa_text_fill_columns(struct vpa_row *row, const struct vpa_column *columns, size_t count,
	const struct vpa_at *from, const struct vpa_fields *fields, const struct vpa_digest *d)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (columns[i].key)
			row->cells[i] = cell_of(&columns[i], from, fields, d);
}

void vpa_text_fill_bytes(struct vpa_row *row, const struct vpa_view *view, const void *from,
	size_t bytes, const struct vpa_digest *d)
{
	const struct vpa_at at = {d->report, from, NULL};
	const struct vpa_field *owner;
	const struct vpa_fields *fields = vpa_fields_at(&vpa_fields_report, view->path, &owner);

	assert(fields && fields->bytes == bytes);
	(void)bytes;
	vpa_text_fill_columns(row, view->columns, view->column_count, &at, fields, d);
}
