/* stored_column.c - values of a column, and Arrow's description of it. */
#include "analysis/export/columns/stored_column.h"

#include "formats/base/error.h"
#include "formats/base/memory.h"

#include <string.h>

static const char *copy_text(struct vpa_arena *arena, const char *text)
{
	return text ? vpa_arena_text(arena, text, strlen(text)) : NULL;
}

/* Arrow's metadata: the number of pairs, then the length and bytes of each key and value. */
static const char *make_metadata(struct vpa_arena *arena, const struct vpa_table_column *about)
{
	const char *const texts[] = {"help", about->help, "unit", about->unit};
	int32_t pairs = about->unit ? 2 : 1, i, len;
	size_t size = sizeof(pairs);
	char *bytes, *to;

	for (i = 0; i < 2 * pairs; i++)
		size += sizeof(len) + strlen(texts[i]);
	bytes = to = vpa_arena_alloc(arena, size, 1);
	if (!bytes)
		return NULL;
	memcpy(to, &pairs, sizeof(pairs));
	to += sizeof(pairs);
	for (i = 0; i < 2 * pairs; i++) {
		len = (int32_t)strlen(texts[i]);
		memcpy(to, &len, sizeof(len));
		memcpy(to + sizeof(len), texts[i], (size_t)len);
		to += sizeof(len) + (size_t)len;
	}
	return bytes;
}

void vpa_stored_column_begin(
	struct vpa_stored_column *c, const struct vpa_table_column *about, struct vpa_arena *arena)
{
	*c = (struct vpa_stored_column){.about = *about};
	c->about.name = copy_text(arena, about->name);
	c->about.help = copy_text(arena, about->help);
	c->about.unit = copy_text(arena, about->unit);
	c->metadata = make_metadata(arena, &c->about);
}

int vpa_stored_column_is_text(const struct vpa_stored_column *c)
{
	return c->about.type == VPA_COLUMN_TEXT || c->about.type == VPA_COLUMN_ANY;
}

/* Makes room for a value in row `row`, and marks it as known or not. */
static int mark(struct vpa_stored_column *c, uint64_t row, int known)
{
	size_t size = vpa_stored_column_is_text(c) ? sizeof(int32_t) : sizeof(int64_t);

	if (vpt_grow(&c->values.data, &c->cap, row + 1, size) ||
		vpt_grow_zeroed(&c->known, &c->known_cap, row / 8 + 1, 1))
		return VPT_ENOMEM;
	if (known)
		c->known[row / 8] |= (uint8_t)(1 << row % 8);
	else
		c->unknown++;
	return VPT_OK;
}

static int put_text(struct vpa_stored_column *c, uint64_t row, struct vpt_text text)
{
	uint64_t id = vpt_strings_put(&c->texts, text.text, text.len);

	if (id > INT32_MAX)
		return VPT_ENOMEM;
	c->values.ids[row] = (int32_t)id;
	return VPT_OK;
}

int vpa_stored_column_put(struct vpa_stored_column *c, uint64_t row, const struct vpa_row_value *v,
	struct vpt_text raw)
{
	int known = v->kind != VPA_ROW_NULL;

	/* A whole number above INT64_MAX is none of these. */
	if (c->about.type == VPA_COLUMN_INTEGER)
		known = v->kind == VPA_ROW_INTEGER;
	if (mark(c, row, known))
		return VPT_ENOMEM;
	switch (c->about.type) {
	case VPA_COLUMN_INTEGER:
		c->values.integers[row] = v->integer;
		return VPT_OK;
	case VPA_COLUMN_NUMBER:
		c->values.numbers[row] = v->number;
		return VPT_OK;
	default:
		c->values.ids[row] = 0;
		return known ? put_text(c, row, v->kind == VPA_ROW_TEXT ? v->text : raw) : VPT_OK;
	}
}

int vpa_stored_columns_read(struct vpa_stored_column *columns, size_t count, uint64_t row,
	const char **at, const char *end, struct vpa_line *scratch)
{
	struct vpa_row_value value;
	size_t i;

	for (i = 0; i < count; i++) {
		const char *begin = *at;

		vpa_row_value_read(at, end, scratch, &value);
		if (scratch->failed || vpa_stored_column_put(&columns[i], row, &value,
					       (struct vpt_text){begin, (size_t)(*at - begin) - 1}))
			return VPT_ENOMEM;
	}
	return VPT_OK;
}

int vpa_stored_column_end(struct vpa_stored_column *c)
{
	size_t i;

	if (!vpa_stored_column_is_text(c))
		return VPT_OK;
	c->text_offsets = vpt_alloc(c->texts.count + 1, sizeof(*c->text_offsets));
	if (!c->text_offsets)
		return VPT_ENOMEM;
	c->text_offsets[0] = 0;
	for (i = 0; i < c->texts.count; i++)
		c->text_offsets[i + 1] = (int64_t)c->texts.ends[i];
	return VPT_OK;
}

void vpa_stored_column_clear(struct vpa_stored_column *c)
{
	if (c->known)
		memset(c->known, 0, c->known_cap);
	c->unknown = 0;
	vpt_strings_reset(&c->texts);
	vpt_free(c->text_offsets);
	c->text_offsets = NULL;
}

void vpa_stored_column_free(struct vpa_stored_column *c)
{
	vpt_free(c->values.data);
	vpt_free(c->known);
	vpt_free(c->text_offsets);
	vpt_strings_free(&c->texts);
}
