/* capture_writer.h - writes batches to a capture file: one zstd frame for the header, one for each chunk, and
 * after the last one the contents (contents.h).
 *
 * A frame reaches the sink in one write. The writer never seeks or rewrites, so at any moment the
 * file is valid up to its last whole frame. One thread at a time. */
#ifndef VPT_FORMATS_FILE_CAPTURE_WRITER_H
#define VPT_FORMATS_FILE_CAPTURE_WRITER_H

#include "formats/io/io.h"
#include "formats/capture_layout.h"
#include "formats/chunk/batch.h"

struct vpt_writer;

/* Writes the header at once. The caller keeps `sink` and finishes it after vpt_writer_free().
 * `level` is zstd's; 0 means 1. */
int vpt_writer_open(struct vpt_sink *sink, const struct vpt_header *header, int level,
	struct vpt_writer **out, struct vpt_err *err);

/* Measures, numbers and writes a chunk, even one without rows. The caller keeps the batch. Write
 * nothing more after a failure. */
int vpt_writer_put(struct vpt_writer *w, struct vpt_batch *b, struct vpt_err *err);

/* Sets the number of the next chunk, from which the writer counts on; a new one begins at 0. A writer whose numbers were set
 * writes no contents, since other chunks of the file need not pass through it. */
void vpt_writer_number(struct vpt_writer *w, uint64_t sequence);

/* Contents that would make the sink's bytes more than this are left out; 0: no limit. */
void vpt_writer_limit(struct vpt_writer *w, uint64_t max_bytes);

/* Bytes that the contents take if the next chunk is the last, at most. */
size_t vpt_writer_contents_bytes(const struct vpt_writer *w);

/* Bytes that zstd has allocated for it, which vpt_alloc() does not count. */
size_t vpt_writer_zstd_bytes(const struct vpt_writer *w);

void vpt_writer_free(struct vpt_writer *w); /* accepts NULL; does not finish the sink */

#endif
