/* capture_reader.h - reads capture files chunk by chunk.
 *
 *	vpt_reader_open(source, &reader, &err)     reads the contents; a file without is walked, header by header
 *	vpt_decoder_new()                          one per thread that decodes
 *	vpt_reader_chunk(reader, decoder, i, ...)  the rows of chunk i
 *
 * Damage is data: a damaged chunk is listed as such and does not affect the others. */
#ifndef VPT_FORMATS_FILE_CAPTURE_READER_H
#define VPT_FORMATS_FILE_CAPTURE_READER_H

#include "formats/io/io.h"
#include "formats/capture_layout.h"
#include "formats/chunk/batch.h"

struct vpt_reader;
struct vpt_contents;
struct vpt_decoder;

enum vpt_chunk_state {
	VPT_CHUNK_WHOLE,  /* complete; its checksum is verified when it is decoded */
	VPT_CHUNK_TORN,   /* the file ends inside it; its complete sections can be read */
	VPT_CHUNK_DAMAGED /* its header cannot be read */
};

struct vpt_chunk_info {
	uint64_t offset, size; /* compressed, in the file */
	uint64_t sequence, t_min_ns, t_max_ns;
	uint32_t content_size, event_count, lost_events, section_count;
	uint32_t flags; /* VPT_BATCH_LAST */
	uint8_t state;  /* enum vpt_chunk_state */
};

/* Takes the source: closes it with the reader, and on failure. VPT_EDATA: not a vptrace capture;
 * VPT_EVERSION: a newer major version; VPT_ENOMEM, VPT_EIO. A damaged file header is no failure if
 * the file has chunks: see vpt_reader_header_damaged(). */
int vpt_reader_open(struct vpt_source *src, struct vpt_reader **out, struct vpt_err *err);
void vpt_reader_free(struct vpt_reader *r); /* accepts NULL */

const struct vpt_header *vpt_reader_header(const struct vpt_reader *r);
int vpt_reader_header_damaged(const struct vpt_reader *r);

size_t vpt_reader_chunks(const struct vpt_reader *r); /* damaged and torn ones included */
const struct vpt_chunk_info *vpt_reader_info(const struct vpt_reader *r, size_t index);

/* The file's contents, a row for each chunk; NULL: it has none. They hold what the chunk does only if it is decoded:
 * vpt_reader_chunk() compares what its header has of them. */
const struct vpt_contents *vpt_reader_contents(const struct vpt_reader *r);

/* Whether a tracer is recording it now, so that it has no end yet. */
int vpt_reader_is_recorded(const struct vpt_reader *r);

/* Bytes of the file that belong to no chunk because of damage. */
uint64_t vpt_reader_damaged_bytes(const struct vpt_reader *r);

struct vpt_decoder *vpt_decoder_new(void); /* NULL when there is no memory */
void vpt_decoder_free(struct vpt_decoder *d);

/* Decodes chunk `index` into `out`, which is reset first and stays empty on failure. Times and
 * count of a torn chunk are computed from the rows it still has. VPT_EDATA: damaged; go on with the
 * next chunk. Threads may decode at the same time, each with its own decoder and batch. */
int vpt_reader_chunk(const struct vpt_reader *r, struct vpt_decoder *d, size_t index,
	struct vpt_batch *out, struct vpt_err *err);

#endif
