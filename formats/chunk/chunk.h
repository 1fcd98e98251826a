/* chunk.h - a batch as bytes and back: chunk header, section headers, columns. See FORMAT.md.
 *
 *	chunk header 48     "VPCK" payload_len sections events | seq | t_min | t_max | lost flags
 *	section header 32   type flags rows len columns 0 | lane | aux
 *	  column header 16  id enc width flags len | base
 *	    plane 0 (low bytes), plane 1, ...                       padded to 8
 *	  column header 16 ...
 *	section header 32 ...
 *
 * This is the payload of one zstd frame. capture_writer.h and capture_reader.h handle files and compression. */
#ifndef VPT_FORMATS_CHUNK_CHUNK_H
#define VPT_FORMATS_CHUNK_CHUNK_H

#include "formats/capture_layout.h"
#include "formats/chunk/batch.h"
#include "formats/chunk/column.h"

/* Growing scratch memory for one payload. All zeros is empty. */
struct vpt_payload {
	unsigned char *data;
	size_t size, cap;
	size_t *flushes; /* offsets after which the compressor should close its block */
	size_t flush_count, flush_cap;
};

void vpt_payload_free(struct vpt_payload *p);

/* Serialises a measured batch. 0, VPT_ENOMEM, or VPT_EINVAL if it exceeds a limit of the format. */
int vpt_chunk_encode(const struct vpt_batch *b, struct vpt_payload *out, struct vpt_err *err);

struct vpt_chunk_header {
	uint32_t payload_len, section_count, event_count;
	uint64_t sequence, t_min_ns, t_max_ns;
	uint32_t lost_events, flags;
};

/* Decodes the header of `size` available bytes, which must be VPT_CHUNK_HEADER_SIZE or more. 0 or
 * VPT_EDATA. */
int vpt_chunk_header_decode(
	const unsigned char *data, size_t size, struct vpt_chunk_header *out, struct vpt_err *err);

/* Decodes a payload into `out`, which is reset first. With `torn` the payload may end early:
 * complete sections are kept and VPT_BATCH_TORN is set. 0, VPT_EDATA (out is then empty) or
 * VPT_ENOMEM. */
int vpt_chunk_decode(const unsigned char *data, size_t size, int torn, struct vpt_batch *out,
	struct vpt_err *err);

/* Unpacks all packed sections. 0 or VPT_ENOMEM. */
int vpt_chunk_unpack(struct vpt_batch *b);

enum { VPT_ROWS_AT_ONCE = 512 };

/* Iterates over the rows of a CALL or KERNEL section, packed or not, from first to last. START and
 * CORRELATION are written to the caller's arrays; the other columns are exposed a few rows at a
 * time. */
struct vpt_rows {
	const struct vpt_section *section;
	uint32_t at; /* rows handed out so far */
	const uint64_t *col[VPT_PACKED_COLUMNS];
	struct vpt_column_cursor cursors[VPT_PACKED_COLUMNS];
	uint64_t room[VPT_PACKED_COLUMNS][1 + VPT_ROWS_AT_ONCE]; /* unpacked values */
};

void vpt_rows_begin(struct vpt_rows *rows, const struct vpt_section *section);

/* The next `count` rows, 1 to VPT_ROWS_AT_ONCE and no more than are left. Writes their starts and
 * correlation ids. col[] exposes the other columns in `wanted`, a mask, until the next call. */
void vpt_rows_next(struct vpt_rows *rows, uint32_t count, uint32_t wanted, uint64_t *starts,
	uint64_t *correlations);

/* The most values (rows times columns of their kinds) that a chunk of this payload size may have.
 * Equal rows need no byte in the file but still cost a reader memory and time; the bound ties both
 * to the payload's size. Real chunks have about one value per byte. Writers respect the bound,
 * readers enforce it. */
static inline uint64_t vpt_chunk_values_allowed(size_t payload)
{
	enum { VALUES_MAX = 16 << 20, VALUES_FREE = 1 << 20, VALUES_A_BYTE = 16 };
	uint64_t allowed = VALUES_FREE + (uint64_t)payload * VALUES_A_BYTE;

	return allowed < VALUES_MAX ? allowed : VALUES_MAX;
}

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
