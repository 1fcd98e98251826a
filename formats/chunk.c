/* chunk.c - the layout of a chunk's payload.
 *
 *	chunk header 48     "VPCK" payload_len sections events | seq | t_min | t_max | lost flags
 *	section header 32   type flags rows len columns 0 | lane | aux
 *	  column header 16  id enc width flags len | base
 *	    plane 0 (low bytes), plane 1, ...                       padded to 8
 *	  column header 16 ...
 *	section header 32 ...
 *
 * The decoder checks each length against the bytes that remain before it looks at them. */
#include "formats/chunk.h"

#include "formats/column.h"
#include "formats/memory.h"
#include "formats/vectorise.h"

#include <string.h>

void vpt_payload_free(struct vpt_payload *p)
{
	vpt_free(p->data);
	vpt_free(p->flushes);
	memset(p, 0, sizeof(*p));
}

/* A row costs memory and time even where the file needs no byte for it, because all rows are equal.
 * So that neither can be far from what the payload's length lets expect, a chunk's values, rows
 * times columns of their kinds, are bounded by it; real chunks have about one value a byte. A
 * writer keeps to what readers accept. */
enum { VALUES_MAX = 16 << 20, VALUES_FREE = 1 << 20, VALUES_A_BYTE = 16 };

static uint64_t values_allowed(size_t payload)
{
	uint64_t allowed = VALUES_FREE + (uint64_t)payload * VALUES_A_BYTE;

	return allowed < VALUES_MAX ? allowed : VALUES_MAX;
}

/* ---- encoding ---- */

/* Appends `size` zero bytes (rounded up to 8) and returns their offset, or SIZE_MAX. */
static size_t extend(struct vpt_payload *p, size_t size)
{
	size_t at = p->size, padded = (size + 7) & ~(size_t)7;

	if (vpt_grow(&p->data, &p->cap, at + padded, 1))
		return SIZE_MAX;
	memset(p->data + at + size, 0, padded - size);
	p->size = at + padded;
	return at;
}

static int mark_flush(struct vpt_payload *p, size_t offset)
{
	if (vpt_grow(&p->flushes, &p->flush_cap, p->flush_count + 1, sizeof(*p->flushes)))
		return VPT_ENOMEM;
	p->flushes[p->flush_count++] = offset;
	return VPT_OK;
}

static int put_column_header(
	struct vpt_payload *p, uint8_t id, struct vpt_column_code code, size_t len)
{
	size_t at = extend(p, VPT_COLUMN_HEADER_SIZE);

	if (at == SIZE_MAX)
		return VPT_ENOMEM;
	p->data[at] = id;
	p->data[at + 1] = code.enc;
	p->data[at + 2] = code.width;
	p->data[at + 3] = 0;
	vpt_le_put(p->data + at + 4, 4, len);
	vpt_le_put(p->data + at + 8, 8, code.base);
	return VPT_OK;
}

static int put_column(struct vpt_payload *p, const struct vpt_column_desc *column,
	const uint64_t *values, const uint64_t *durations, size_t rows)
{
	struct vpt_column_code code;
	size_t at, plane;

	code = vpt_column_plan(column->enc, values, durations, rows);
	if (put_column_header(p, column->id, code, code.width * rows))
		return VPT_ENOMEM;
	at = extend(p, code.width * rows);
	if (at == SIZE_MAX)
		return VPT_ENOMEM;
	vpt_column_planes(&code, values, durations, rows, p->data + at);
	/* Noise and near-constant planes want Huffman tables of their own: 8 to 11 % off the
	 * size. */
	for (plane = 1; rows >= VPT_FLUSH_ROWS && plane <= code.width; plane++)
		if (mark_flush(p, at + plane * rows))
			return VPT_ENOMEM;
	return VPT_OK;
}

VPT_VECTORISE
static uint64_t all_bits(const uint64_t *values, size_t count)
{
	uint64_t bits = 0;
	size_t i;

	for (i = 0; i < count; i++)
		bits |= values[i];
	return bits;
}

/* A column of zeros says nothing: left out, it reads as 0. The first column stays, so that a
 * section of zeros keeps its rows. */
static int worth_writing(const struct vpt_section *s, unsigned column)
{
	enum { LOOK = 256 }; /* most columns tell at once */
	size_t at, rows;

	if (!column)
		return 1;
	if (!vpt_section_has(s, column))
		return 0;
	for (at = 0; at < s->row_count; at += rows) {
		rows = s->row_count - at < LOOK ? s->row_count - at : LOOK;
		if (all_bits(s->col[column] + at, rows))
			return 1;
	}
	return 0;
}

static size_t begin_section(struct vpt_payload *p)
{
	return extend(p, VPT_SECTION_HEADER_SIZE);
}

static void end_section(struct vpt_payload *p, size_t at, const struct vpt_kind_desc *kind,
	size_t rows, unsigned columns, uint64_t lane)
{
	unsigned char *h = p->data + at;

	vpt_le_put(h, 2, kind->type);
	vpt_le_put(h + 2, 2, kind->flags & VPT_KIND_CRITICAL ? 1 : 0);
	vpt_le_put(h + 4, 4, rows);
	vpt_le_put(h + 8, 4, p->size - at - VPT_SECTION_HEADER_SIZE);
	vpt_le_put(h + 12, 2, columns);
	vpt_le_put(h + 14, 2, 0);
	vpt_le_put(h + 16, 8, lane);
	vpt_le_put(h + 24, 8, 0);
}

static int put_section(struct vpt_payload *p, const struct vpt_section *s)
{
	const struct vpt_kind_desc *kind = vpt_kind_desc(s->kind);
	const uint64_t *durations = kind->flags & VPT_KIND_SPAN ? s->col[1] : NULL;
	size_t at = begin_section(p);
	unsigned c, written = 0;

	if (at == SIZE_MAX)
		return VPT_ENOMEM;
	for (c = 0; c < kind->n_columns; c++) {
		if (!worth_writing(s, c))
			continue;
		if (put_column(p, &kind->columns[c], s->col[c], durations, s->row_count))
			return VPT_ENOMEM;
		written++;
	}
	end_section(p, at, kind, s->row_count, written, s->lane);
	return VPT_OK;
}

static int put_strings(struct vpt_payload *p, const struct vpt_strings *strings)
{
	const struct vpt_kind_desc *kind = vpt_kind_desc(VPT_STRING);
	struct vpt_column_code bytes = {.enc = VPT_ENC_BYTES};
	size_t at = begin_section(p), text, i, before = 0;
	uint64_t *lengths;
	int rc;

	lengths = vpt_alloc(strings->count, sizeof(*lengths));
	if (at == SIZE_MAX || !lengths) {
		vpt_free(lengths);
		return VPT_ENOMEM;
	}
	for (i = 0; i < strings->count; i++) {
		lengths[i] = strings->ends[i] - before;
		before = strings->ends[i];
	}
	rc = put_column(p, &kind->columns[VPT_STRING_LENGTH], lengths, NULL, strings->count);
	vpt_free(lengths);
	if (rc || put_column_header(p, kind->columns[VPT_STRING_TEXT].id, bytes, strings->size))
		return VPT_ENOMEM;
	text = extend(p, strings->size);
	if (text == SIZE_MAX)
		return VPT_ENOMEM;
	if (strings->size)
		memcpy(p->data + text, strings->bytes, strings->size);
	end_section(p, at, kind, strings->count, 2, 0);
	return mark_flush(p, p->size);
}

/* Tables stand before what refers to them. */
static const uint8_t first_kinds[] = {VPT_CONFIG, VPT_LANE, VPT_OPEN};

static int is_first_kind(unsigned kind)
{
	return kind == VPT_CONFIG || kind == VPT_LANE || kind == VPT_OPEN;
}

static int put_sections(struct vpt_payload *p, const struct vpt_batch *b, uint32_t *count)
{
	size_t pass, i;

	for (pass = 0; pass <= sizeof(first_kinds); pass++)
		for (i = 0; i < b->section_count; i++) {
			const struct vpt_section *s = &b->sections[i];
			int wanted = pass < sizeof(first_kinds) ? s->kind == first_kinds[pass]
								: !is_first_kind(s->kind);

			if (!wanted || !s->row_count)
				continue;
			if (put_section(p, s))
				return VPT_ENOMEM;
			++*count;
		}
	return VPT_OK;
}

static uint64_t count_values(const struct vpt_batch *b)
{
	uint64_t values = b->strings.count * (uint64_t)VPT_STRING_COLUMNS;
	size_t i;

	for (i = 0; i < b->section_count; i++)
		values += (uint64_t)b->sections[i].row_count *
			  vpt_kind_desc(b->sections[i].kind)->n_columns;
	return values;
}

static void put_chunk_header(struct vpt_payload *p, const struct vpt_batch *b, uint32_t sections)
{
	unsigned char *h = p->data;

	vpt_le_put(h, 4, VPT_CHUNK_MAGIC);
	vpt_le_put(h + 4, 4, p->size - VPT_CHUNK_HEADER_SIZE);
	vpt_le_put(h + 8, 4, sections);
	vpt_le_put(h + 12, 4, b->event_count);
	vpt_le_put(h + 16, 8, b->sequence);
	vpt_le_put(h + 24, 8, b->t_min_ns);
	vpt_le_put(h + 32, 8, b->t_max_ns);
	vpt_le_put(h + 40, 4, b->lost_events);
	vpt_le_put(h + 44, 4, b->flags & VPT_BATCH_LAST);
}

int vpt_chunk_encode(const struct vpt_batch *b, struct vpt_payload *p, struct vpt_err *err)
{
	uint32_t sections = 0;

	p->size = p->flush_count = 0;
	if (vpt_batch_error(b))
		return vpt_fail(err, vpt_batch_error(b), "chunk %llu could not be filled: %s",
			(unsigned long long)b->sequence,
			vpt_batch_error(b) == VPT_ENOMEM ? "no memory or too many sections"
							 : "too many rows in one section");
	if (extend(p, VPT_CHUNK_HEADER_SIZE) == SIZE_MAX || mark_flush(p, p->size))
		goto no_memory;
	if (b->strings.count) {
		if (put_strings(p, &b->strings))
			goto no_memory;
		sections++;
	}
	if (put_sections(p, b, &sections))
		goto no_memory;
	if (p->size > VPT_PAYLOAD_MAX)
		return vpt_fail(err, VPT_EINVAL, "chunk %llu has %zu bytes, at most %d are allowed",
			(unsigned long long)b->sequence, p->size, VPT_PAYLOAD_MAX);
	if (count_values(b) > values_allowed(p->size - VPT_CHUNK_HEADER_SIZE))
		return vpt_fail(err, VPT_EINVAL,
			"chunk %llu repeats equal rows too often for its %zu bytes",
			(unsigned long long)b->sequence, p->size);
	put_chunk_header(p, b, sections);
	return VPT_OK;
no_memory:
	return vpt_fail(
		err, VPT_ENOMEM, "no memory to encode a chunk of %u events", b->event_count);
}

/* ---- decoding ---- */

int vpt_chunk_header_decode(
	const unsigned char *data, size_t size, struct vpt_chunk_header *out, struct vpt_err *err)
{
	memset(out, 0, sizeof(*out));
	if (size < VPT_CHUNK_HEADER_SIZE)
		return vpt_fail(err, VPT_EDATA, "a chunk header has %d bytes, found %zu",
			VPT_CHUNK_HEADER_SIZE, size);
	if (vpt_le_get(data, 4) != VPT_CHUNK_MAGIC)
		return vpt_fail(err, VPT_EDATA, "expected a chunk (\"VPCK\"), found %08llx",
			(unsigned long long)vpt_le_get(data, 4));
	out->payload_len = (uint32_t)vpt_le_get(data + 4, 4);
	out->section_count = (uint32_t)vpt_le_get(data + 8, 4);
	out->event_count = (uint32_t)vpt_le_get(data + 12, 4);
	out->sequence = vpt_le_get(data + 16, 8);
	out->t_min_ns = vpt_le_get(data + 24, 8);
	out->t_max_ns = vpt_le_get(data + 32, 8);
	out->lost_events = (uint32_t)vpt_le_get(data + 40, 4);
	out->flags = (uint32_t)vpt_le_get(data + 44, 4);
	if (out->section_count > VPT_SECTIONS_MAX)
		return vpt_fail(err, VPT_EDATA,
			"chunk %llu claims %u sections, at most %d are allowed",
			(unsigned long long)out->sequence, out->section_count, VPT_SECTIONS_MAX);
	return VPT_OK;
}

struct section_header {
	unsigned type, flags, columns;
	uint32_t rows, len;
	uint64_t lane;
};

struct column_view {
	uint8_t id, enc, width, flags;
	uint32_t len;
	uint64_t base;
	const unsigned char *data;
};

/* What is left to read of a section or payload. */
struct cursor {
	const unsigned char *p;
	size_t left;
};

static int next_section(struct cursor *c, struct section_header *h)
{
	if (c->left < VPT_SECTION_HEADER_SIZE)
		return VPT_EDATA;
	h->type = (unsigned)vpt_le_get(c->p, 2);
	h->flags = (unsigned)vpt_le_get(c->p + 2, 2);
	h->rows = (uint32_t)vpt_le_get(c->p + 4, 4);
	h->len = (uint32_t)vpt_le_get(c->p + 8, 4);
	h->columns = (unsigned)vpt_le_get(c->p + 12, 2);
	h->lane = vpt_le_get(c->p + 16, 8);
	c->p += VPT_SECTION_HEADER_SIZE;
	c->left -= VPT_SECTION_HEADER_SIZE;
	return h->len <= c->left ? VPT_OK : VPT_EDATA;
}

static int next_column(struct cursor *c, uint32_t rows, struct column_view *v)
{
	size_t padded;

	if (c->left < VPT_COLUMN_HEADER_SIZE)
		return VPT_EDATA;
	v->id = c->p[0];
	v->enc = c->p[1];
	v->width = c->p[2];
	v->flags = c->p[3];
	v->len = (uint32_t)vpt_le_get(c->p + 4, 4);
	v->base = vpt_le_get(c->p + 8, 8);
	v->data = c->p + VPT_COLUMN_HEADER_SIZE;
	c->p += VPT_COLUMN_HEADER_SIZE;
	c->left -= VPT_COLUMN_HEADER_SIZE;
	padded = ((size_t)v->len + 7) & ~(size_t)7;
	if (v->width > 8 || padded > c->left)
		return VPT_EDATA;
	if (v->enc <= VPT_ENC_GAP && v->len != (uint64_t)v->width * rows)
		return VPT_EDATA;
	c->p += padded;
	c->left -= padded;
	return VPT_OK;
}

static int column_index(const struct vpt_kind_desc *kind, uint8_t id)
{
	int c;

	for (c = 0; c < kind->n_columns; c++)
		if (kind->columns[c].id == id)
			return c;
	return -1;
}

/* Sorts a section's columns by their index in the kind. VPT_END: the section must be skipped,
 * because a column this version does not know is needed to understand it. */
static int view_columns(struct cursor c, const struct section_header *h,
	const struct vpt_kind_desc *kind, struct column_view views[VPT_COLUMNS_MAX], uint32_t *seen)
{
	unsigned i;

	*seen = 0;
	if (h->columns > VPT_FILE_COLUMNS_MAX)
		return VPT_EDATA;
	for (i = 0; i < h->columns; i++) {
		struct column_view v;
		int index;

		if (next_column(&c, h->rows, &v))
			return VPT_EDATA;
		index = column_index(kind, v.id);
		if (index < 0 || v.enc > VPT_ENC_BYTES) {
			if (v.flags & 1)
				return VPT_END;
			continue;
		}
		if (*seen & 1u << index)
			return VPT_EDATA;
		*seen |= 1u << index;
		views[index] = v;
	}
	return VPT_OK;
}

static int decode_strings(struct vpt_batch *b, const struct section_header *h,
	const struct column_view views[VPT_COLUMNS_MAX], uint32_t seen)
{
	const struct column_view *length = &views[VPT_STRING_LENGTH],
				 *text = &views[VPT_STRING_TEXT];
	struct vpt_strings *s = &b->strings;
	uint64_t end = 0;
	uint32_t i;

	if (seen != 3 || length->enc > VPT_ENC_DELTA || text->enc != VPT_ENC_BYTES || s->count)
		return VPT_EDATA;
	if (vpt_grow(&s->ends, &s->cap, h->rows, sizeof(*s->ends)) ||
		vpt_grow(&s->bytes, &s->size_cap, (size_t)text->len + 1, 1))
		return VPT_ENOMEM;
	vpt_column_join(length->data, h->rows, length->width, length->enc, length->base, s->ends);
	for (i = 0; i < h->rows; i++) {
		if (s->ends[i] > VPT_STRING_MAX)
			return VPT_EDATA;
		end += s->ends[i];
		s->ends[i] = end;
	}
	if (end != text->len)
		return VPT_EDATA;
	memcpy(s->bytes, text->data, text->len);
	s->size = text->len;
	s->count = h->rows;
	return VPT_OK;
}

static void join_column(struct vpt_section *s, unsigned c, const unsigned char *planes,
	uint64_t base, uint8_t enc, uint8_t width)
{
	if (enc == VPT_ENC_GAP)
		vpt_column_join_gap(planes, s->row_count, width, base, s->col[1], s->col[0]);
	else
		vpt_column_join(planes, s->row_count, width, enc, base, s->col[c]);
}

/* Notes where the columns stand. */
static int keep_packed(struct vpt_batch *b, const struct section_header *h,
	const struct vpt_kind_desc *kind, const struct column_view views[VPT_COLUMNS_MAX],
	uint32_t seen)
{
	struct vpt_section *s = vpt_batch_section(b, kind, h->lane, h->rows, 0);
	unsigned c;

	if (!s)
		return VPT_ENOMEM;
	s->present = seen;
	s->is_packed = 1;
	for (c = 0; c < kind->n_columns; c++) {
		const struct column_view *v = &views[c];

		if (!(seen & 1u << c))
			continue;
		s->col[c] = NULL;
		s->packed[c] = (struct vpt_packed){v->data, v->base, v->enc, v->width};
	}
	return VPT_OK;
}

/* Whether the columns are those of kernels that last 1 ns at least and follow one another: all numbers of the starts are
 * even then, see column.h. No sum of theirs overflows. */
VPT_VECTORISE
static int follow_one_another(
	const struct column_view views[VPT_COLUMNS_MAX], uint32_t seen, uint32_t rows)
{
	const struct column_view *start = &views[VPT_KERNEL_START];
	const struct column_view *duration = &views[VPT_KERNEL_DURATION];
	unsigned char odd = 0;
	uint32_t i;

	if (rows < VPT_PACKED_ROWS || rows > 1 << 20 || !(seen & 1 << VPT_KERNEL_START) ||
		!(seen & 1 << VPT_KERNEL_DURATION) || start->enc != VPT_ENC_GAP ||
		start->width > 5 || start->base >> 62 || duration->enc != VPT_ENC_PLAIN ||
		duration->width > 4 || !duration->base || duration->base >> 32)
		return 0;
	for (i = 0; start->width && i < rows; i++)
		odd |= start->data[i];
	return !(odd & 1);
}

static int may_stay_packed(const struct vpt_kind_desc *kind,
	const struct column_view views[VPT_COLUMNS_MAX], uint32_t seen, uint32_t rows)
{
	return kind->type == VPT_CALL ||
	       (kind->type == VPT_KERNEL && follow_one_another(views, seen, rows));
}

static int decode_rows(struct vpt_batch *b, const struct section_header *h,
	const struct vpt_kind_desc *kind, const struct column_view views[VPT_COLUMNS_MAX],
	uint32_t seen)
{
	struct vpt_section *s;
	unsigned c;

	for (c = 0; c < kind->n_columns; c++)
		if (seen & 1u << c && (views[c].enc > VPT_ENC_GAP ||
					      (views[c].enc == VPT_ENC_GAP &&
						      (c || !(kind->flags & VPT_KIND_SPAN)))))
			return VPT_EDATA;
	if (b->packs && may_stay_packed(kind, views, seen, h->rows))
		return keep_packed(b, h, kind, views, seen);
	s = vpt_batch_section(b, kind, h->lane, h->rows, seen);
	if (!s)
		return VPT_ENOMEM;
	/* Backwards, so that durations are there when the starts that need them are made. */
	for (c = kind->n_columns; c-- > 0;) {
		const struct column_view *v = &views[c];

		if (seen & 1u << c)
			join_column(s, c, v->data, v->base, v->enc, v->width);
	}
	return VPT_OK;
}

static int decode_section(struct vpt_batch *b, struct cursor body, const struct section_header *h)
{
	const struct vpt_kind_desc *kind = vpt_kind_desc(h->type);
	struct column_view views[VPT_COLUMNS_MAX];
	uint32_t seen;
	int rc;

	if (!kind) {
		b->unknown_sections++;
		b->skipped_critical += h->flags & 1;
		return VPT_OK;
	}
	if (h->rows > VPT_ROWS_MAX)
		return VPT_EDATA;
	memset(views, 0, sizeof(views));
	rc = view_columns(body, h, kind, views, &seen);
	if (rc == VPT_END) {
		b->unknown_sections++;
		b->skipped_critical++;
		return VPT_OK;
	}
	if (rc || !h->rows)
		return rc;
	return h->type == VPT_STRING ? decode_strings(b, h, views, seen)
				     : decode_rows(b, h, kind, views, seen);
}

static int decode_sections(
	struct vpt_batch *b, struct cursor *c, uint32_t count, int torn, struct vpt_err *err)
{
	uint64_t values = 0, allowed = values_allowed(c->left);
	uint32_t i;

	for (i = 0; i < count; i++) {
		size_t left = c->left;
		struct section_header h = {0};
		struct cursor body;
		const struct vpt_kind_desc *kind;
		int rc = next_section(c, &h);

		if (rc && torn)
			return VPT_OK; /* the rest is not in the file */
		if (!rc) {
			kind = vpt_kind_desc(h.type);
			values += kind ? (uint64_t)h.rows * kind->n_columns : 0;
			body = (struct cursor){c->p, h.len};
			rc = values > allowed ? VPT_EDATA : decode_section(b, body, &h);
		}
		if (rc == VPT_ENOMEM)
			return vpt_fail(err, rc, "no memory for a section of %u rows", h.rows);
		if (rc)
			return vpt_fail(err, VPT_EDATA,
				"section %u of %u (type %u, %u rows, %u bytes) does not fit its "
				"chunk: "
				"%zu bytes are left",
				i, count, h.type, h.rows, h.len, left);
		c->p += h.len;
		c->left -= h.len;
	}
	return VPT_OK;
}

int vpt_chunk_decode(const unsigned char *data, size_t size, int torn, struct vpt_batch *out,
	struct vpt_err *err)
{
	struct vpt_chunk_header h;
	struct cursor c;
	int rc;

	vpt_batch_reset(out);
	rc = vpt_chunk_header_decode(data, size, &h, err);
	if (rc)
		return rc;
	c = (struct cursor){data + VPT_CHUNK_HEADER_SIZE, size - VPT_CHUNK_HEADER_SIZE};
	if (!torn && h.payload_len != c.left)
		return vpt_fail(err, VPT_EDATA, "chunk %llu claims %u bytes, %zu are there",
			(unsigned long long)h.sequence, h.payload_len, c.left);
	out->sequence = h.sequence;
	out->t_min_ns = h.t_min_ns;
	out->t_max_ns = h.t_max_ns;
	out->lost_events = h.lost_events;
	out->flags = (h.flags & VPT_BATCH_LAST) | (torn ? VPT_BATCH_TORN : 0);
	out->event_count = h.event_count;
	rc = decode_sections(out, &c, h.section_count, torn, err);
	if (!rc && !torn && c.left)
		rc = vpt_fail(err, VPT_EDATA, "chunk %llu has %zu bytes after its last section",
			(unsigned long long)h.sequence, c.left);
	if (rc)
		vpt_batch_reset(out);
	return rc;
}
