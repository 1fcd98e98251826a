/* contents_ranges.c - the column of contents that counts the ranges of each chunk by name: see contents.h.
 *
 *	varint names | for each: varint length, bytes | for each chunk: varint names here, for each: varint number, varint rows */
#include "formats/base/memory.h"
#include "formats/file/contents.h"

#include <string.h>

/* Of one table: with more, it has no such column. */
enum { NAMES_MAX = 1024, NAME_BYTES_MAX = 32 << 10, ROW_BYTES_MAX = 128 << 10, VARINT = 10 };

static size_t put_varint(unsigned char *at, uint64_t value)
{
	size_t size = 0;

	for (; value > 127; value >>= 7)
		at[size++] = (unsigned char)(value | 128);
	at[size++] = (unsigned char)value;
	return size;
}

/* ---- writing ---- */

void vpt_contents_ranges_reset(struct vpt_contents_ranges *r)
{
	vpt_strings_reset(&r->names);
	r->row_bytes = 0;
	r->too_many = 0;
}

void vpt_contents_ranges_free(struct vpt_contents_ranges *r)
{
	vpt_strings_free(&r->names);
	vpt_free(r->counts);
	vpt_free(r->rows);
	memset(r, 0, sizeof(*r));
}

/* Counts the rows of ranges by string of the chunk; returns how many strings have some. */
static size_t count_rows(const struct vpt_batch *b, uint32_t *counts)
{
	size_t i, named = 0;
	uint32_t row;

	memset(counts, 0, b->strings.count * sizeof(*counts));
	for (i = 0; i < b->section_count; i++) {
		const struct vpt_section *s = &b->sections[i];
		const uint64_t *names = s->col[VPT_RANGE_NAME];

		for (row = 0; s->kind == VPT_RANGE && row < s->row_count; row++)
			if (names[row] < b->strings.count)
				named += !counts[names[row]]++;
	}
	return named;
}

int vpt_contents_ranges_add(struct vpt_contents_ranges *r, const struct vpt_batch *b)
{
	size_t named, i;

	if (r->too_many)
		return VPT_OK;
	if (vpt_grow(&r->counts, &r->count_cap, b->strings.count + 1, sizeof(*r->counts)))
		return VPT_ENOMEM;
	named = count_rows(b, r->counts);
	if (vpt_grow(&r->rows, &r->row_cap, r->row_bytes + VARINT * (1 + 2 * named), 1))
		return VPT_ENOMEM;
	r->row_bytes += put_varint(r->rows + r->row_bytes, named);
	for (i = 0; i < b->strings.count; i++) {
		struct vpt_text text = vpt_strings_get(&b->strings, i);
		uint64_t name;

		if (!r->counts[i])
			continue;
		name = vpt_strings_put(&r->names, text.text, text.len);
		if (name == VPT_NO_ID)
			return VPT_ENOMEM;
		r->row_bytes += put_varint(r->rows + r->row_bytes, name);
		r->row_bytes += put_varint(r->rows + r->row_bytes, r->counts[i]);
	}
	if (r->names.count > NAMES_MAX || r->names.size > NAME_BYTES_MAX ||
		r->row_bytes > ROW_BYTES_MAX) {
		vpt_contents_ranges_reset(r);
		r->too_many = 1;
	}
	return VPT_OK;
}

size_t vpt_contents_ranges_room(const struct vpt_contents_ranges *r)
{
	return r->row_bytes ? VARINT * (1 + r->names.count) + r->names.size + r->row_bytes : 0;
}

size_t vpt_contents_ranges_put(const struct vpt_contents_ranges *r, unsigned char *out)
{
	size_t size = put_varint(out, r->names.count), i;

	for (i = 0; i < r->names.count; i++) {
		struct vpt_text name = vpt_strings_get(&r->names, i);

		size += put_varint(out + size, name.len);
		memcpy(out + size, name.text, name.len);
		size += name.len;
	}
	memcpy(out + size, r->rows, r->row_bytes);
	return size + r->row_bytes;
}

/* ---- reading ---- */

/* VPT_END: the bytes end, or the number is too large. */
static int take_varint(struct vpt_contents_counts *c, uint64_t *value)
{
	unsigned shift;

	*value = 0;
	for (shift = 0; c->at < c->end && shift < 63; shift += 7) {
		*value |= (uint64_t)(*c->at & 127) << shift;
		if (!(*c->at++ & 128))
			return VPT_OK;
	}
	return VPT_END;
}

/* Reads the names of the next table. */
static int take_names(struct vpt_contents_counts *c)
{
	const struct vpt_contents_names *table = &c->contents->names[c->table];
	uint64_t count, len;
	int rc;

	c->at = table->bytes;
	c->end = table->bytes + table->size;
	c->rows = table->rows;
	vpt_strings_reset(&c->names);
	rc = take_varint(c, &count);
	while (!rc && count--) {
		rc = take_varint(c, &len);
		if (!rc && len > (uint64_t)(c->end - c->at))
			rc = VPT_END;
		if (!rc)
			rc = vpt_strings_append(&c->names, (const char *)c->at, (size_t)len);
		c->at += rc ? 0 : len;
	}
	c->table++;
	return rc;
}

int vpt_contents_counts_begin(struct vpt_contents_counts *c, const struct vpt_contents *contents)
{
	size_t i, rows = 0;

	memset(c, 0, sizeof(*c));
	c->contents = contents;
	for (i = 0; i < contents->name_count; i++)
		rows += contents->names[i].rows;
	/* Each table needs the column. */
	return contents->count && rows == contents->count ? VPT_OK : VPT_END;
}

int vpt_contents_counts_next(struct vpt_contents_counts *c)
{
	uint64_t count, name, rows;
	size_t named;
	int rc = VPT_OK;

	c->count = 0;
	while (!rc && !c->rows)
		rc = c->table < c->contents->name_count ? take_names(c) : VPT_END;
	if (!rc)
		rc = take_varint(c, &count);
	if (rc)
		return rc;
	/* Two bytes each. */
	if (count > (uint64_t)(c->end - c->at) / 2)
		return VPT_END;
	if (vpt_grow(&c->items, &c->cap, (size_t)count, sizeof(*c->items)))
		return VPT_ENOMEM;
	c->rows--;
	for (named = 0; named < count; named++) {
		if (take_varint(c, &name) || take_varint(c, &rows) || name >= c->names.count)
			return VPT_END;
		c->items[named] =
			(struct vpt_contents_count){vpt_strings_get(&c->names, name), rows};
	}
	c->count = named;
	return VPT_OK;
}

void vpt_contents_counts_end(struct vpt_contents_counts *c)
{
	vpt_strings_free(&c->names);
	vpt_free(c->items);
	memset(c, 0, sizeof(*c));
}
