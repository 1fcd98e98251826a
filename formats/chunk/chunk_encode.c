/* chunk_encode.c - encodes a batch as the payload of a chunk: see chunk.h for the layout. */
#include "formats/chunk/chunk.h"

#include "formats/base/memory.h"
#include "formats/base/vectorise.h"
#include "formats/chunk/column.h"

#include <string.h>

void vpt_payload_free(struct vpt_payload *p)
{
	vpt_free(p->data);
	vpt_free(p->flushes);
	memset(p, 0, sizeof(*p));
}

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
	/* Noisy and near-constant planes need Huffman tables of their own: this saves 8 to 11 % of
	 * the size. */
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

/* A column of zeros is left out, since an absent column reads as 0. The first column stays, so that
 * a section of zeros keeps its rows. */
static int worth_writing(const struct vpt_section *s, unsigned column)
{
	enum { LOOK = 256 }; /* in most columns the first rows decide */
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

/* Tables come before the rows that refer to them. */
static const uint8_t first_kinds[] = {VPT_CONFIG, VPT_FRAME, VPT_STACK, VPT_LANE, VPT_OPEN};

static int is_first_kind(unsigned kind)
{
	return memchr(first_kinds, (int)kind, sizeof(first_kinds)) != NULL;
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
	if (count_values(b) > vpt_chunk_values_allowed(p->size - VPT_CHUNK_HEADER_SIZE))
		return vpt_fail(err, VPT_EINVAL,
			"chunk %llu repeats equal rows too often for its %zu bytes",
			(unsigned long long)b->sequence, p->size);
	put_chunk_header(p, b, sections);
	return VPT_OK;
no_memory:
	return vpt_fail(
		err, VPT_ENOMEM, "no memory to encode a chunk of %u events", b->event_count);
}
