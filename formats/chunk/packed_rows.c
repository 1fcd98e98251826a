/* packed_rows.c - unpacks sections that the reader left packed, whole or a few rows at a time, so that
 * their columns stay in the first-level cache. chunk_decode.c decides which sections stay
 * packed. */
#include "formats/chunk/chunk.h"

#include "formats/base/memory.h"

#include <string.h>

static void join_column(struct vpt_section *s, unsigned c)
{
	const struct vpt_packed *p = &s->packed[c];

	if (p->enc == VPT_ENC_GAP)
		vpt_column_join_gap(
			p->planes, s->row_count, p->width, p->base, s->col[1], s->col[0]);
	else
		vpt_column_join(p->planes, s->row_count, p->width, p->enc, p->base, s->col[c]);
}

static int unpack_section(struct vpt_section *s)
{
	unsigned columns = vpt_kind_desc(s->kind)->n_columns, c, used = 0;

	if (vpt_grow(&s->data, &s->data_cap,
		    (size_t)s->row_count * (unsigned)__builtin_popcount(s->present),
		    sizeof(*s->data)))
		return VPT_ENOMEM;
	for (c = 0; c < columns; c++)
		if (vpt_section_has(s, c))
			s->col[c] = s->data + (size_t)used++ * s->row_count;
	for (c = columns; c-- > 0;)
		if (vpt_section_has(s, c))
			join_column(s, c);
	s->is_packed = 0;
	return VPT_OK;
}

int vpt_chunk_unpack(struct vpt_batch *b)
{
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < b->section_count && !rc; i++)
		if (b->sections[i].is_packed)
			rc = unpack_section(&b->sections[i]);
	return rc;
}

void vpt_rows_begin(struct vpt_rows *rows, const struct vpt_section *s)
{
	unsigned c;

	rows->section = s;
	rows->at = 0;
	for (c = 0; c < VPT_PACKED_COLUMNS; c++) {
		const struct vpt_packed *p = &s->packed[c];

		rows->col[c] = s->col[c];
		if (!s->col[c])
			rows->cursors[c] = (struct vpt_column_cursor){
				p->planes, s->row_count, p->base, p->enc, p->width};
	}
}

/* The next values of a column: in place if unpacked, else decoded to `out`. */
static const uint64_t *next_values(
	struct vpt_rows *rows, unsigned c, uint32_t count, const uint64_t *durations, uint64_t *out)
{
	const struct vpt_section *s = rows->section;

	if (s->col[c])
		return vpt_section_has(s, c) ? s->col[c] + rows->at : s->col[c];
	vpt_column_next(&rows->cursors[c], count, durations, out);
	return out;
}

static void write_values(
	struct vpt_rows *rows, unsigned c, uint32_t count, const uint64_t *durations, uint64_t *out)
{
	const uint64_t *values = next_values(rows, c, count, durations, out);

	if (values != out)
		memcpy(out, values, count * sizeof(*out));
}

void vpt_rows_next(struct vpt_rows *rows, uint32_t count, uint32_t wanted, uint64_t *starts,
	uint64_t *correlations)
{
	int is_call = rows->section->kind == VPT_CALL;
	uint64_t *durations = rows->room[1];
	unsigned c;

	/* Starts may need the durations, including that of the row before. */
	durations[0] = rows->at ? durations[0] : 0;
	rows->col[1] = next_values(rows, 1, count, NULL, durations + 1);
	if (rows->col[1] != durations + 1 && rows->section->is_packed)
		memcpy(durations + 1, rows->col[1], count * sizeof(*durations));
	write_values(rows, 0, count, durations + 1, starts);
	durations[0] = rows->col[1][count - 1];
	for (c = 2; c < VPT_PACKED_COLUMNS; c++)
		if (wanted >> c & 1)
			rows->col[c] = next_values(rows, c, count, NULL, rows->room[c]);
	write_values(rows, is_call ? VPT_CALL_CORRELATION : VPT_KERNEL_CORRELATION, count, NULL,
		correlations);
	rows->at += count;
}
