/* contents.c - the table as bytes and back. Columns are coded as those of sections, see column.h. */
#include "formats/file/contents.h"

#include "formats/base/memory.h"
#include "formats/capture_layout.h"
#include "formats/chunk/chunk.h"

#include <string.h>
#include <zstd.h>

enum {
	SKIP_HEADER = 8,
	TAIL = 16,
	TABLE_HEADER = 16,
	TABLE_MAX = 1 << 24,   /* bytes, inflated */
	ENTRIES_MAX = 1 << 16, /* of one table */
	CHUNK_LEAST = 32, /* bytes of a frame: no table claims more memory than 10 times its file */
	RANGES = 18,      /* the number of the column of contents_ranges.c */
	FIRST_ROWS = 32,  /* the number of column ROWS */
	FRAME_MAX = TABLE_MAX + 1024
};

#define SKIP_MAGIC 0x184d2a56u
static const char tail_magic[] = "VPTCNTS\n";

void vpt_contents_free(struct vpt_contents *c)
{
	size_t i;

	for (i = 0; i < c->name_count; i++)
		vpt_free(c->names[i].bytes);
	vpt_free(c->names);
	vpt_free(c->items);
	memset(c, 0, sizeof(*c));
}

/* Times and numbers grow from chunk to chunk. */
static uint8_t encoding_of(unsigned column)
{
	switch (column) {
	case VPT_CONTENTS_SEQUENCE:
	case VPT_CONTENTS_T_MIN:
	case VPT_CONTENTS_T_MAX:
	case VPT_CONTENTS_FIRST:
	case VPT_CONTENTS_CALLS_FROM:
	case VPT_CONTENTS_CALLS_TO:
	case VPT_CONTENTS_OPS_FROM:
	case VPT_CONTENTS_OPS_TO:
		return VPT_ENC_DELTA;
	default:
		return VPT_ENC_PLAIN;
	}
}

unsigned vpt_contents_number(unsigned column)
{
	return column < VPT_CONTENTS_ROWS ? column + 1 : FIRST_ROWS + column - VPT_CONTENTS_ROWS;
}

/* VPT_CONTENTS_COLUMNS: one of a newer version. */
static unsigned column_of(unsigned number)
{
	if (number >= FIRST_ROWS && number < FIRST_ROWS + VPT_KIND_LIMIT)
		return VPT_CONTENTS_ROWS + number - FIRST_ROWS;
	return number && number <= VPT_CONTENTS_ROWS ? number - 1 : VPT_CONTENTS_COLUMNS;
}

_Static_assert((int)VPT_CONTENTS_ROWS < (int)RANGES, "numbers are of one column each");

/* ---- writing ---- */

static void put_column_header(
	unsigned char *p, unsigned column, const struct vpt_column_code *code, size_t len)
{
	memset(p, 0, VPT_COLUMN_HEADER_SIZE);
	p[0] = (unsigned char)vpt_contents_number(column);
	p[1] = code->enc;
	p[2] = code->width;
	vpt_le_put(p + 4, 4, len);
	vpt_le_put(p + 8, 8, code->base);
}

/* Appends the column of ranges; returns its size. */
static size_t put_ranges(const struct vpt_contents_ranges *ranges, unsigned char *at)
{
	size_t len = vpt_contents_ranges_put(ranges, at + VPT_COLUMN_HEADER_SIZE);

	memset(at, 0, VPT_COLUMN_HEADER_SIZE);
	at[0] = RANGES;
	at[1] = VPT_ENC_BYTES;
	vpt_le_put(at + 4, 4, len);
	memset(at + VPT_COLUMN_HEADER_SIZE + len, 0, -len & 7);
	return VPT_COLUMN_HEADER_SIZE + len + (-len & 7);
}

/* Appends the columns that are not all 0, and returns the size of all. */
static size_t put_columns(const struct vpt_contents *c, const struct vpt_contents_ranges *ranges,
	uint64_t *values, unsigned char *table)
{
	size_t at = TABLE_HEADER, i, len;
	unsigned column, count = 0;

	for (column = 0; column < VPT_CONTENTS_COLUMNS; column++) {
		struct vpt_column_code code;
		uint64_t bits = 0;

		for (i = 0; i < c->count; i++)
			bits |= values[i] = c->items[i].values[column];
		if (!bits)
			continue;
		code = vpt_column_plan(encoding_of(column), values, NULL, c->count);
		len = code.width * c->count;
		put_column_header(table + at, column, &code, len);
		at += VPT_COLUMN_HEADER_SIZE;
		vpt_column_planes(&code, values, NULL, c->count, table + at);
		memset(table + at + len, 0, -len & 7);
		at += len + (-len & 7);
		count++;
	}
	if (ranges && vpt_contents_ranges_room(ranges)) {
		at += put_ranges(ranges, table + at);
		count++;
	}
	memset(table, 0, TABLE_HEADER);
	vpt_le_put(table, 4, c->count);
	vpt_le_put(table + 4, 4, count);
	return at;
}

/* Compresses the table between what is before and after it. */
static int wrap(const unsigned char *table, size_t size, struct vpt_buffer *out)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	size_t room = ZSTD_compressBound(size), got = 0;
	unsigned char *p;
	int rc = VPT_ENOMEM;

	if (!zstd || vpt_grow(&out->data, &out->cap, SKIP_HEADER + room + TAIL, 1))
		goto out;
	p = (unsigned char *)out->data;
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, 1);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	got = ZSTD_compress2(zstd, p + SKIP_HEADER, room, table, size);
	if (ZSTD_isError(got))
		goto out;
	out->size = SKIP_HEADER + got + TAIL;
	vpt_le_put(p, 4, SKIP_MAGIC);
	vpt_le_put(p + 4, 4, got + TAIL);
	p += SKIP_HEADER + got;
	vpt_le_put(p, 4, out->size);
	vpt_le_put(p + 4, 4, 0);
	memcpy(p + 8, tail_magic, 8);
	rc = VPT_OK;
out:
	ZSTD_freeCCtx(zstd);
	return rc;
}

int vpt_contents_encode(const struct vpt_contents *c, const struct vpt_contents_ranges *ranges,
	struct vpt_buffer *out)
{
	size_t most = TABLE_HEADER +
		      (VPT_CONTENTS_COLUMNS + 1) * (VPT_COLUMN_HEADER_SIZE + 8 * c->count + 8) +
		      (ranges ? vpt_contents_ranges_room(ranges) : 0);
	unsigned char *table = vpt_alloc(most, 1);
	uint64_t *values = vpt_alloc(c->count, sizeof(*values));
	int rc = VPT_ENOMEM;

	out->size = 0;
	if (table && values)
		rc = wrap(table, put_columns(c, ranges, values, table), out);
	vpt_free(table);
	vpt_free(values);
	return rc;
}

/* ---- reading ---- */

/* The unread rest of a table. */
struct cursor {
	const unsigned char *p;
	size_t left;
	uint64_t before; /* bytes of the file before the table */
};

/* Keeps a table's column of ranges for a later reading, unless all of them take more than the `before` bytes of chunks. */
static int keep_ranges(struct vpt_contents *out, const unsigned char *bytes, size_t size,
	size_t rows, uint64_t before)
{
	struct vpt_contents_names *names;

	if (!size || size > before || out->name_bytes > before - size)
		return VPT_OK;
	if (vpt_grow(&out->names, &out->name_cap, out->name_count + 1, sizeof(*out->names)))
		return VPT_ENOMEM;
	names = &out->names[out->name_count];
	names->bytes = vpt_alloc(size, 1);
	if (!names->bytes)
		return VPT_ENOMEM;
	memcpy(names->bytes, bytes, size);
	names->size = size;
	names->rows = rows;
	out->name_count++;
	out->name_bytes += size;
	return VPT_OK;
}

/* Reads the next column into its place in all rows, the last one first; `values` has room for one. VPT_END: it is damaged. */
static int take_column(
	struct cursor *c, uint64_t *values, struct vpt_contents *out, size_t count, uint64_t *seen)
{
	struct vpt_contents_entry *rows = out->items + out->count;
	unsigned enc, width, column;
	uint64_t len, base, padded;
	size_t i;
	int rc = VPT_OK, has_ranges;

	if (c->left < VPT_COLUMN_HEADER_SIZE)
		return VPT_END;
	column = column_of(c->p[0]);
	has_ranges = c->p[0] == RANGES && c->p[1] == VPT_ENC_BYTES;
	enc = c->p[1];
	width = c->p[2];
	len = vpt_le_get(c->p + 4, 4);
	base = vpt_le_get(c->p + 8, 8);
	padded = len + (-len & 7);
	c->p += VPT_COLUMN_HEADER_SIZE;
	c->left -= VPT_COLUMN_HEADER_SIZE;
	if (padded > c->left)
		return VPT_END;
	if (column < VPT_CONTENTS_COLUMNS) {
		if (enc > VPT_ENC_DELTA || width > 8 || len != (uint64_t)width * count ||
			*seen >> column & 1)
			return VPT_END;
		*seen |= (uint64_t)1 << column;
		vpt_column_join(c->p, count, width, (uint8_t)enc, base, values);
		for (i = 0; i < count; i++)
			rows[count - 1 - i].values[column] = values[i];
	}
	if (has_ranges && *seen >> 63)
		return VPT_END;
	if (has_ranges) {
		*seen |= (uint64_t)1 << 63;
		rc = keep_ranges(out, c->p, (size_t)len, count, c->before);
	}
	c->p += padded;
	c->left -= padded;
	return rc;
}

_Static_assert((int)VPT_CONTENTS_COLUMNS < 63, "a bit for each column, and one for that of ranges");

/* Appends the table's rows, the last one first. The file has `before` bytes before the table. */
static int take_table(
	const unsigned char *table, size_t size, uint64_t before, struct vpt_contents *out)
{
	struct cursor c = {table + TABLE_HEADER, size - TABLE_HEADER, before};
	size_t count, columns, k;
	uint64_t *values, seen = 0;
	int rc = VPT_OK;

	if (size < TABLE_HEADER)
		return VPT_END;
	count = (size_t)vpt_le_get(table, 4);
	columns = (size_t)vpt_le_get(table + 4, 4);
	if (!count || count > ENTRIES_MAX || count > before / CHUNK_LEAST)
		return VPT_END;
	values = vpt_alloc(count, sizeof(*values));
	if (!values || vpt_grow(&out->items, &out->cap, out->count + count, sizeof(*out->items))) {
		vpt_free(values);
		return VPT_ENOMEM;
	}
	memset(out->items + out->count, 0, count * sizeof(*out->items));
	for (k = 0; k < columns && !rc; k++)
		rc = take_column(&c, values, out, count, &seen);
	out->count += count;
	vpt_free(values);
	return !rc && c.left ? VPT_END : rc;
}

/* Inflates the frame of a table; its size is declared and its checksum is verified. */
static int inflate(
	const unsigned char *frame, size_t size, unsigned char **table, size_t *table_size)
{
	unsigned long long declared = ZSTD_getFrameContentSize(frame, size);

	*table = NULL;
	if (declared == ZSTD_CONTENTSIZE_ERROR || declared == ZSTD_CONTENTSIZE_UNKNOWN ||
		declared < TABLE_HEADER || declared > TABLE_MAX)
		return VPT_END;
	*table_size = (size_t)declared;
	*table = vpt_alloc(*table_size, 1);
	if (!*table)
		return VPT_ENOMEM;
	return ZSTD_decompress(*table, *table_size, frame, size) == *table_size ? VPT_OK : VPT_END;
}

static int read_exactly(
	struct vpt_source *src, uint64_t offset, void *bytes, size_t size, struct vpt_err *err)
{
	size_t got = 0;
	int rc = src->read_at(src, offset, bytes, size, &got, err);

	return rc || got == size ? rc : VPT_END;
}

/* Reads the table that ends at `end`; *begin is where it begins. */
static int read_table(struct vpt_source *src, uint64_t end, uint64_t *begin,
	struct vpt_contents *out, struct vpt_err *err)
{
	unsigned char tail[TAIL], *frame = NULL, *table = NULL;
	size_t size, table_size = 0;
	int rc;

	if (end < SKIP_HEADER + TAIL)
		return VPT_END;
	rc = read_exactly(src, end - TAIL, tail, TAIL, err);
	if (rc || memcmp(tail + 8, tail_magic, 8) != 0 || vpt_le_get(tail + 4, 4))
		return rc ? rc : VPT_END;
	size = (size_t)vpt_le_get(tail, 4);
	if (size > end || size < SKIP_HEADER + TAIL || size > FRAME_MAX)
		return VPT_END;
	frame = vpt_alloc(size, 1);
	rc = frame ? read_exactly(src, end - size, frame, size, err) : VPT_ENOMEM;
	if (!rc && (vpt_le_get(frame, 4) != SKIP_MAGIC ||
			   vpt_le_get(frame + 4, 4) != size - SKIP_HEADER))
		rc = VPT_END;
	if (!rc)
		rc = inflate(frame + SKIP_HEADER, size - SKIP_HEADER - TAIL, &table, &table_size);
	if (!rc)
		rc = take_table(table, table_size, end - size, out);
	*begin = end - size;
	vpt_free(frame);
	vpt_free(table);
	return rc;
}

/* Moves *at from the end of the chunks from row `i` on to where they begin. */
static int pass_chunks(struct vpt_contents *c, size_t i, uint64_t *at)
{
	for (; i < c->count; i++) {
		uint64_t size = c->items[i].values[VPT_CONTENTS_SIZE];

		if (size < CHUNK_LEAST || size > *at ||
			c->items[i].values[VPT_CONTENTS_CONTENT] > VPT_PAYLOAD_MAX)
			return VPT_END;
		*at -= size;
		c->items[i].offset = *at;
	}
	return VPT_OK;
}

/* Of rows read backwards. */
static void reverse(struct vpt_contents *c)
{
	size_t i;

	for (i = 0; i < c->count / 2; i++) {
		struct vpt_contents_entry *a = &c->items[i], *b = &c->items[c->count - 1 - i],
					  last = *b;

		*b = *a;
		*a = last;
	}
	for (i = 0; i < c->name_count / 2; i++) {
		struct vpt_contents_names *a = &c->names[i], *b = &c->names[c->name_count - 1 - i],
					  last = *b;

		*b = *a;
		*a = last;
	}
}

int vpt_contents_read(
	struct vpt_source *src, uint64_t begin, struct vpt_contents *out, struct vpt_err *err)
{
	uint64_t at = src->size_bytes;
	int rc = VPT_OK;

	memset(out, 0, sizeof(*out));
	while (!rc && at > begin) {
		size_t before = out->count;

		rc = read_table(src, at, &at, out, err);
		if (!rc)
			rc = pass_chunks(out, before, &at);
	}
	if (!rc && (at != begin || !out->count))
		rc = VPT_END;
	if (rc == VPT_ENOMEM)
		vpt_fail(err, rc, "no memory for the contents of a capture");
	if (rc)
		vpt_contents_free(out);
	reverse(out);
	return rc;
}
