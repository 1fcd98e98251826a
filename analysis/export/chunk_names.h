/* chunk_names.h - what a chunk's rows refer to by number: texts, formatted once, and lanes. */
#ifndef VPA_ANALYSIS_EXPORT_CHUNK_NAMES_H
#define VPA_ANALYSIS_EXPORT_CHUNK_NAMES_H

#include "analysis/export/text_line.h"
#include "formats/chunk/batch.h"

/* Texts by number, formatted once and used often. All zeros is an empty set. */
struct vpa_pieces {
	struct vpa_line text;
	struct vpa_piece {
		size_t end; /* in text; 0: not made yet */
		size_t len;
	} * spans;
	size_t count, cap;
};

/* Empties the set; the numbers below `count` are valid now. */
void vpa_pieces_reset(struct vpa_pieces *p, size_t count);
void vpa_pieces_free(struct vpa_pieces *p);
/* Makes the numbers below `count` valid too. 0 or VPT_ENOMEM. */
int vpa_pieces_extend_more(struct vpa_pieces *p, size_t count);
static inline int vpa_pieces_extend(struct vpa_pieces *p, size_t count)
{
	return count <= p->count ? 0 : vpa_pieces_extend_more(p, count);
}

/* Appends piece `id` to the line and returns 1, or returns 0 if it must be made first. */
static inline int vpa_pieces_put(const struct vpa_pieces *p, uint64_t id, struct vpa_line *l)
{
	const struct vpa_piece *s = &p->spans[id];

	if (!s->end)
		return 0;
	vpa_line_put_short(l, p->text.data + s->end - s->len, s->len);
	return 1;
}

/* To make a piece, append at least one byte to p->text between these two. The second also appends
 * the piece to the line. */
size_t vpa_pieces_begin(struct vpa_pieces *p);
void vpa_pieces_end(struct vpa_pieces *p, uint64_t id, size_t begin, struct vpa_line *l);

/* The chunk's lanes by key. All zeros is an empty set. */
struct vpa_chunk_lanes {
	const struct vpt_section *section; /* LANE; NULL: the chunk has none */
	struct vpt_strings keys;           /* 8 bytes each */
	uint32_t *rows;                    /* by id in keys */
	size_t count, cap;
	int failed;
};

/* Reads the lanes of a batch, which is borrowed until the next one. */
void vpa_chunk_lanes_read(struct vpa_chunk_lanes *l, const struct vpt_batch *b);
void vpa_chunk_lanes_free(struct vpa_chunk_lanes *l);

/* The row of LANE that describes a key; UINT32_MAX: none. */
uint32_t vpa_chunk_lane(struct vpa_chunk_lanes *l, uint64_t key);

#endif
