/* chunk_decode.c - decodes the payload of a chunk into a batch: see chunk.h for the layout.
 *
 * Every length is checked against the bytes that remain before they are read. */
#include "formats/chunk/chunk.h"

#include "formats/base/memory.h"
#include "formats/base/vectorise.h"
#include "formats/chunk/column.h"

#include <string.h>

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
			"chunk %llu declares %u sections, at most %d are allowed",
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

/* The unread rest of a section or payload. */
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

/* Sorts a section's columns by their index in the kind. VPT_END: skip the section, because it needs
 * a column that this version does not know. */
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

/* Records where the columns are. */
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

/* Whether every kernel lasts at least 1 ns and begins no earlier than the one before ends: then all
 * numbers of the starts are even, see column.h, and no sum of them overflows. */
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
	/* Backwards, since starts need the durations. */
	for (c = kind->n_columns; c-- > 0;) {
		const struct column_view *v = &views[c];

		if (seen & 1u << c)
			join_column(s, c, v->data, v->base, v->enc, v->width);
	}
	return kind->type == VPT_STACK
		       ? vpt_stack_table_read(&b->stacks, s->col[VPT_STACK_CALLER], s->row_count)
		       : VPT_OK;
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
	uint64_t values = 0, allowed = vpt_chunk_values_allowed(c->left);
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
				"chunk: %zu bytes are left",
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
		return vpt_fail(err, VPT_EDATA, "chunk %llu declares %u bytes, found %zu",
			(unsigned long long)h.sequence, h.payload_len, c.left);
	out->sequence = h.sequence;
	out->t_min_ns = h.t_min_ns;
	out->t_max_ns = h.t_max_ns;
	out->zero_is_time = !h.t_min_ns;
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
