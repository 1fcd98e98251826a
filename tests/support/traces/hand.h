/* hand.h - files made by hand, byte by byte, right or wrong on purpose; and comparing what was read. */
#ifndef VPT_TESTS_SUPPORT_HAND_H
#define VPT_TESTS_SUPPORT_HAND_H

#include "formats/io/io.h"
#include "formats/chunk/batch.h"
#include "tests/support/random.h"

/* Bytes in the making; .data is freed with vpt_free(). A test has memory: failure aborts it. */
void vpt_hand_put(struct vpt_buffer *b, const void *data, size_t size);
void vpt_hand_le(struct vpt_buffer *b, unsigned size, uint64_t value);
void vpt_hand_fill(struct vpt_buffer *b, int byte, size_t count);

/* A chunk payload: chunk(), then for each section section(), its columns, section_end(); at last
 * chunk_end(), which sets payload_len. Sections are counted, n_events stays 0. All fields can be
 * overwritten afterwards, at the offsets of FORMAT.md from where section() and column() say. */
void vpt_hand_chunk(struct vpt_buffer *b);
size_t vpt_hand_section(
	struct vpt_buffer *b, unsigned type, unsigned flags, uint32_t rows, uint64_t lane);
size_t vpt_hand_column(struct vpt_buffer *b, size_t section, unsigned id, unsigned enc,
	unsigned width, unsigned flags, uint64_t base, const void *data, size_t size);
void vpt_hand_section_end(struct vpt_buffer *b, size_t section);
void vpt_hand_chunk_end(struct vpt_buffer *b);

/* Appends `payload` as a zstd frame, as the writer makes them; `head` bytes are flushed first. */
void vpt_hand_frame(struct vpt_buffer *file, const void *payload, size_t size, size_t head);
void vpt_hand_skippable(struct vpt_buffer *file, uint32_t declared, size_t there);
/* The file header's frame. */
void vpt_hand_header(struct vpt_buffer *file, unsigned major, unsigned minor, uint64_t t0);

/* A chunk of rows that look like a capture's: kernels, calls, ranges with names of their own. */
void vpt_hand_batch(struct vpt_batch *b, struct vpt_random *r, uint32_t rows);
/* A capture of such chunks; ends[i], if not NULL, is where frame i (0: the header) ends. */
void vpt_hand_capture(
	struct vpt_buffer *file, uint64_t seed, size_t chunks, uint32_t rows, size_t *ends);

/* NULL when equal in all that a file keeps, else what differs. Sections may stand in any order of kinds. */
const char *vpt_hand_differ(const struct vpt_batch *a, const struct vpt_batch *b);

#endif
