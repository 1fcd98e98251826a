/* chunk_names.c - texts formatted once per chunk, and its lanes by key. */
#include "analysis/export/chunk_names.h"

/* Limits what a file can allocate: a million configurations may share one name of 64 KiB. */
enum { PIECES_MAX = 32 << 20 };

void vpa_pieces_reset(struct vpa_pieces *p, size_t count)
{
	p->text.size = 0;
	p->count = 0;
	if (vpt_grow(&p->spans, &p->cap, count, sizeof(*p->spans))) {
		p->text.failed = 1;
		return;
	}
	p->count = count;
	if (count)
		memset(p->spans, 0, count * sizeof(*p->spans));
}

int vpa_pieces_extend_more(struct vpa_pieces *p, size_t count)
{
	if (vpt_grow(&p->spans, &p->cap, count, sizeof(*p->spans)))
		return VPT_ENOMEM;
	memset(p->spans + p->count, 0, (count - p->count) * sizeof(*p->spans));
	p->count = count;
	return VPT_OK;
}

void vpa_pieces_free(struct vpa_pieces *p)
{
	vpt_free(p->text.data);
	vpt_free(p->spans);
	memset(p, 0, sizeof(*p));
}

size_t vpa_pieces_begin(struct vpa_pieces *p)
{
	if (p->text.size > PIECES_MAX)
		vpa_pieces_reset(p, p->count);
	return p->text.size;
}

void vpa_pieces_end(struct vpa_pieces *p, uint64_t id, size_t begin, struct vpa_line *l)
{
	if (!vpa_line_room(&p->text, VPA_LINE_SLACK) || p->text.failed)
		return;
	p->spans[id].end = p->text.size;
	p->spans[id].len = p->text.size - begin;
	vpa_pieces_put(p, id, l);
}

void vpa_chunk_lanes_read(struct vpa_chunk_lanes *l, const struct vpt_batch *b)
{
	uint32_t rows, row;

	l->section = vpt_batch_find(b, VPT_LANE);
	rows = l->section ? l->section->row_count : 0;
	vpt_strings_reset(&l->keys);
	l->count = 0;
	if (vpt_grow(&l->rows, &l->cap, rows, sizeof(*l->rows))) {
		l->failed = 1;
		return;
	}
	for (row = 0; row < rows; row++) {
		uint64_t key = l->section->col[VPT_LANE_KEY][row];
		uint64_t id = vpt_strings_put(&l->keys, (const char *)&key, sizeof(key));

		l->failed |= id == VPT_NO_ID;
		if (id != l->count)
			continue; /* described twice */
		l->rows[id] = row;
		l->count++;
	}
}

void vpa_chunk_lanes_free(struct vpa_chunk_lanes *l)
{
	vpt_free(l->rows);
	vpt_strings_free(&l->keys);
	memset(l, 0, sizeof(*l));
}

uint32_t vpa_chunk_lane(struct vpa_chunk_lanes *l, uint64_t key)
{
	uint64_t id = vpt_strings_put(&l->keys, (const char *)&key, sizeof(key));

	l->failed |= id == VPT_NO_ID;
	return id < l->count ? l->rows[id] : UINT32_MAX;
}
