/* chunk.h - a batch as bytes and back: chunk header, section headers, columns. See FORMAT.md.
 *
 * This is the payload of one zstd frame. chunk.c knows the layout and nothing of files or compression. */
#ifndef VPT_FORMATS_CHUNK_H
#define VPT_FORMATS_CHUNK_H

#include "formats/batch.h"
#include "formats/column.h"
#include "formats/capture.h"

/* Growing scratch memory for one payload; all zeros to begin with. */
struct vpt_payload {
	unsigned char *data;
	size_t size, cap;
	size_t *flushes; /* offsets after which the compressor should close its block */
	size_t flush_count, flush_cap;
};

void vpt_payload_free(struct vpt_payload *p);

/* Serialises a measured batch. 0, VPT_ENOMEM, or VPT_EINVAL when a limit of the format is exceeded. */
int vpt_chunk_encode(const struct vpt_batch *b, struct vpt_payload *out, struct vpt_err *err);

struct vpt_chunk_header {
	uint32_t payload_len, section_count, event_count;
	uint64_t sequence, t_min_ns, t_max_ns;
	uint32_t lost_events, flags;
};

/* 0 or VPT_EDATA. `size` is what there is, at least VPT_CHUNK_HEADER_SIZE is needed. */
int vpt_chunk_header_decode(
	const unsigned char *data, size_t size, struct vpt_chunk_header *out, struct vpt_err *err);

/* Decodes a payload into `out`, which is reset first. With `torn` the payload may end early: sections
 * that are wholly there are kept and VPT_BATCH_TORN is set. 0, VPT_EDATA (out is then empty) or
 * VPT_ENOMEM. */
int vpt_chunk_decode(const unsigned char *data, size_t size, int torn, struct vpt_batch *out,
	struct vpt_err *err);

/* Makes packed CALL sections like all others. 0 or VPT_ENOMEM. */
int vpt_chunk_unpack(struct vpt_batch *b);

/* The rows of a CALL section, packed or not, from the first to the last. */
struct vpt_calls {
	const struct vpt_section *section;
	uint32_t at; /* rows that have been handed out */
	struct vpt_column_cursor columns[VPT_CALL_COLUMNS];
};

enum { VPT_CALLS_MAX = 512 };

/* Some rows. The caller lends the memory for what has to be unpacked, room for VPT_CALLS_MAX values each. */
struct vpt_call_rows {
	const uint64_t *durations, *ids, *names;
	uint64_t duration_room[1 + VPT_CALLS_MAX], id_room[VPT_CALLS_MAX], name_room[VPT_CALLS_MAX];
};

void vpt_calls_begin(struct vpt_calls *c, const struct vpt_section *section);

/* The next `count` rows, at most VPT_CALLS_MAX and as many as there are: starts and correlation ids are written, the
 * others can be looked at until the next call. */
void vpt_calls_next(struct vpt_calls *c, uint32_t count, uint64_t *starts, uint64_t *correlations,
	struct vpt_call_rows *rows);

/* Little-endian numbers, unaligned. */
static inline uint64_t vpt_le_get(const unsigned char *p, unsigned size)
{
	uint64_t value = 0;
	unsigned i;

	for (i = 0; i < size; i++)
		value |= (uint64_t)p[i] << (8 * i);
	return value;
}

static inline void vpt_le_put(unsigned char *p, unsigned size, uint64_t value)
{
	unsigned i;

	for (i = 0; i < size; i++)
		p[i] = (unsigned char)(value >> (8 * i));
}

#endif
