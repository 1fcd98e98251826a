/* writer.h - batches into a capture file: one zstd frame for the header, one for each chunk.
 *
 * A frame reaches the sink in one write. The writer never seeks and never comes back to what it wrote,
 * so the file is good up to its last whole frame at any moment. One thread at a time. */
#ifndef VPT_FORMATS_WRITER_H
#define VPT_FORMATS_WRITER_H

#include "formats/batch.h"
#include "formats/capture.h"
#include "formats/io.h"

struct vpt_writer;

/* Writes the header at once. `sink` stays the caller's, who finishes it after vpt_writer_free(). `level`
 * is zstd's; 0 means 1. */
int vpt_writer_open(struct vpt_sink *sink, const struct vpt_header *header, int level,
	struct vpt_writer **out, struct vpt_err *err);

/* Measures, numbers and writes a chunk. A batch without rows is written too. The batch stays the
 * caller's. After a failure nothing more should be written. */
int vpt_writer_put(struct vpt_writer *w, struct vpt_batch *b, struct vpt_err *err);

/* Bytes that zstd holds for it, beside what vpt_alloc() knows of. */
size_t vpt_writer_zstd_bytes(const struct vpt_writer *w);

void vpt_writer_free(struct vpt_writer *w); /* accepts NULL; finishes nothing */

#endif
