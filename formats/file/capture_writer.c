/* capture_writer.c - compresses chunks. The compressor ends a block where put_column() in chunk_encode.c
 * asks for it. */
#include "formats/file/capture_writer.h"

#include "formats/base/memory.h"
#include "formats/chunk/chunk.h"

#include <string.h>
#include <zstd.h>

enum {
	/* A smaller table than level 1's default leaves half of the first-level cache to the
	 * planes: saves 1 ns per event and costs 0.0 to 0.5 % of the size. */
	HASH_LOG = 12
};

struct vpt_writer {
	struct vpt_sink *sink;
	ZSTD_CCtx *zstd;
	struct vpt_payload payload;
	unsigned char *frame;
	size_t frame_cap;
	uint64_t sequence;
};

static int zstd_failed(size_t code, struct vpt_err *err)
{
	return vpt_fail(
		err, VPT_ENOMEM, "zstd cannot compress a chunk: %s", ZSTD_getErrorName(code));
}

/* Compresses data[begin, end) into the open frame and closes the block, or the frame. */
static size_t compress_part(struct vpt_writer *w, ZSTD_outBuffer *out, const unsigned char *data,
	size_t begin, size_t end, ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = {data + begin, end - begin, 0};
	size_t left;

	do
		left = ZSTD_compressStream2(w->zstd, out, &in, how);
	while (!ZSTD_isError(left) && left && out->pos < out->size);
	return left;
}

/* Writes one frame of `size` bytes; ends a block at each of the flush offsets. */
static int write_frame(struct vpt_writer *w, const unsigned char *data, size_t size,
	const size_t *flushes, size_t flush_count, struct vpt_err *err)
{
	size_t bound = ZSTD_compressBound(size) + 64 + flush_count * 32, begin = 0, i, left;
	ZSTD_outBuffer out;

	if (vpt_grow(&w->frame, &w->frame_cap, bound, 1))
		return vpt_fail(err, VPT_ENOMEM, "no memory for a frame of %zu bytes", bound);
	out = (ZSTD_outBuffer){w->frame, w->frame_cap, 0};
	left = ZSTD_CCtx_reset(w->zstd, ZSTD_reset_session_only);
	if (!ZSTD_isError(left))
		left = ZSTD_CCtx_setPledgedSrcSize(w->zstd, size);
	if (ZSTD_isError(left))
		return zstd_failed(left, err);
	for (i = 0; i < flush_count && flushes[i] < size; i++) {
		left = compress_part(w, &out, data, begin, flushes[i], ZSTD_e_flush);
		if (ZSTD_isError(left))
			return zstd_failed(left, err);
		begin = flushes[i];
	}
	left = compress_part(w, &out, data, begin, size, ZSTD_e_end);
	if (ZSTD_isError(left))
		return zstd_failed(left, err);
	return vpt_sink_write(w->sink, w->frame, out.pos, err);
}

static void encode_header(const struct vpt_header *header, unsigned char bytes[VPT_HEADER_SIZE])
{
	memset(bytes, 0, VPT_HEADER_SIZE);
	memcpy(bytes, VPT_CAPTURE_MAGIC, 8);
	vpt_le_put(bytes + 8, 2, VPT_MAJOR);
	vpt_le_put(bytes + 10, 2, VPT_MINOR);
	vpt_le_put(bytes + 12, 4, VPT_HEADER_SIZE);
	vpt_le_put(bytes + 16, 8, header->t0_ns);
	vpt_le_put(bytes + 24, 8, header->t0_unix_ns);
	vpt_le_put(bytes + 32, 8, header->capture_id);
	vpt_le_put(bytes + 40, 4, header->pid);
	vpt_le_put(bytes + 44, 4, header->cpu_tick_ns ? header->cpu_tick_ns : 1);
	vpt_le_put(bytes + 48, 4, header->gpu_tick_ns ? header->gpu_tick_ns : 1);
	vpt_le_put(bytes + 52, 4, header->clock_id);
	vpt_le_put(bytes + 56, 4, header->flags);
}

int vpt_writer_open(struct vpt_sink *sink, const struct vpt_header *header, int level,
	struct vpt_writer **out, struct vpt_err *err)
{
	unsigned char bytes[VPT_HEADER_SIZE];
	struct vpt_writer *w;
	int rc;

	*out = NULL;
	w = vpt_calloc(1, sizeof(*w));
	if (!w)
		return vpt_fail(err, VPT_ENOMEM, "no memory for a capture writer");
	w->sink = sink;
	w->zstd = ZSTD_createCCtx();
	if (!w->zstd ||
		ZSTD_isError(ZSTD_CCtx_setParameter(
			w->zstd, ZSTD_c_compressionLevel, level ? level : 1)) ||
		ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1)) ||
		ZSTD_isError(ZSTD_CCtx_setParameter(
			w->zstd, ZSTD_c_hashLog, level > 1 ? 0 : HASH_LOG))) {
		rc = vpt_fail(err, VPT_ENOMEM, "no memory for a zstd compressor");
		goto out;
	}
	encode_header(header, bytes);
	rc = write_frame(w, bytes, sizeof(bytes), NULL, 0, err);
	if (rc)
		goto out;
	*out = w;
	w = NULL;
out:
	vpt_writer_free(w);
	return rc;
}

int vpt_writer_put(struct vpt_writer *w, struct vpt_batch *b, struct vpt_err *err)
{
	int rc;

	vpt_batch_measure(b);
	b->sequence = w->sequence;
	rc = vpt_chunk_encode(b, &w->payload, err);
	if (!rc)
		rc = write_frame(w, w->payload.data, w->payload.size, w->payload.flushes,
			w->payload.flush_count, err);
	if (!rc)
		w->sequence++;
	return rc;
}

void vpt_writer_number(struct vpt_writer *w, uint64_t sequence)
{
	w->sequence = sequence;
}

size_t vpt_writer_zstd_bytes(const struct vpt_writer *w)
{
	return ZSTD_sizeof_CCtx(w->zstd);
}

void vpt_writer_free(struct vpt_writer *w)
{
	if (!w)
		return;
	ZSTD_freeCCtx(w->zstd);
	vpt_payload_free(&w->payload);
	vpt_free(w->frame);
	vpt_free(w);
}
