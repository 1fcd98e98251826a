/* fields_way.c - finds rows and values by their keys. */
#include "analysis/render/fields/fields.h"

#include <string.h>

const struct vpa_field *vpa_field_find(const struct vpa_fields *fields, const char *key, size_t len)
{
	size_t i;

	for (i = 0; i < fields->count; i++) {
		const struct vpa_field *f = &fields->at[i], *below;

		if (f->key && strlen(f->key) == len && !strncmp(f->key, key, len))
			return f;
		if (vpa_field_is_same_row(fields, f) &&
			(below = vpa_field_find(f->fields, key, len)) != NULL)
			return below;
	}
	return NULL;
}

const struct vpa_fields *vpa_fields_at(
	const struct vpa_fields *fields, const char *path, const struct vpa_field **owner)
{
	const struct vpa_field *f;

	*owner = NULL;
	for (; fields; path += *path == '.') {
		size_t len = strcspn(path, ".");

		f = vpa_field_find(fields, path, len);
		fields = f ? f->fields : NULL;
		path += len;
		if (!*path)
			return fields;
		if (f && f->type == VPA_FIELD_ROWS)
			*owner = f;
	}
	return NULL;
}

static void walk(const struct vpa_at *at, const struct vpa_row_at *owner, const char *path,
	void (*visit)(void *ctx, const struct vpa_row_at *row), void *ctx)
{
	size_t len = strcspn(path, "."), i;
	const struct vpa_field *f = vpa_field_find(owner->fields, path, len);
	struct vpa_row_at row = *owner;

	if (!f || !vpa_field_is_known(at, f))
		return;
	path += len + (path[len] == '.');
	row.fields = f->fields;
	if (vpa_field_is_object(f)) {
		struct vpa_at object = vpa_field_inside(at, f);

		walk(&object, &row, path, visit, ctx);
		return;
	}
	for (i = 0; f->type == VPA_FIELD_ROWS && i < vpa_field_count(at, f); i++) {
		struct vpa_at here = vpa_field_row(at, f, i);

		row.row = &here;
		if (*path) {
			row.owner = &here;
			row.owner_fields = f->fields;
			walk(&here, &row, path, visit, ctx);
		} else {
			visit(ctx, &row);
		}
	}
}

void vpa_rows_walk(const struct vpa_at *object, const struct vpa_fields *fields, const char *path,
	void (*visit)(void *ctx, const struct vpa_row_at *row), void *ctx)
{
	const struct vpa_row_at whole = {.fields = fields};

	walk(object, &whole, path, visit, ctx);
}

/* Goes on from an object of the way. */
static int find(const struct vpa_fields *fields, const char *key, struct vpa_way *out)
{
	size_t len = strcspn(key, "."), i;

	for (i = 0; i < fields->count; i++) {
		const struct vpa_field *f = &fields->at[i];
		int is_same = f->type == VPA_FIELD_SAME;

		if (!is_same && (strlen(f->key) != len || strncmp(f->key, key, len) != 0))
			continue;
		out->field = f;
		if (!is_same && !key[len])
			return !vpa_field_is_object(f);
		if ((!is_same && !vpa_field_is_object(f)) || out->depth == VPA_WAY_OBJECTS)
			return 0;
		out->through[out->depth++] = f;
		if (find(f->fields, is_same ? key : key + len + 1, out))
			return 1;
		out->depth--;
	}
	return 0;
}

int vpa_way_find(const struct vpa_fields *fields, const char *key, struct vpa_way *out)
{
	out->depth = 0;
	return find(fields, key, out);
}

int vpa_way_read(const struct vpa_at *row, const struct vpa_way *way, struct vpa_at *inside,
	struct vpa_value *out)
{
	size_t i;

	*out = (struct vpa_value){.kind = VPA_VALUE_NULL, .real = 0};
	*inside = *row;
	for (i = 0; i < way->depth; i++) {
		const struct vpa_field *f = way->through[i];

		if (!vpa_field_is_known(inside, f) ||
			(f->null == VPA_NULL_COUNT && !vpa_field_count(inside, f)))
			return 0;
		*inside = vpa_field_inside(inside, f);
	}
	if (!vpa_field_is_known(inside, way->field))
		return 0;
	vpa_field_read(inside, way->field, out);
	return 1;
}
