/* capture_writer.c - compresses chunks. The compressor ends a block where put_column() in chunk_encode.c
 * asks for it. */
#include "formats/file/capture_writer.h"

#include "formats/base/memory.h"
#include "formats/chunk/chunk.h"
#include "formats/file/contents.h"

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
	struct vpt_contents contents; /* of the chunks since the last table */
	struct vpt_contents_known known;
	struct vpt_contents_ranges ranges;
	struct vpt_buffer table;
	int is_long;  /* a table was written */
	int has_none; /* has no contents */
	uint64_t max_bytes;
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

static int write_table(struct vpt_writer *w, struct vpt_err *err)
{
	size_t room = vpt_writer_contents_bytes(w);
	int rc = vpt_contents_encode(&w->contents, &w->ranges, &w->table);

	/* Room was left for the table, not for whatever names there are. */
	if (!rc && w->max_bytes && w->table.size > room)
		rc = vpt_contents_encode(&w->contents, NULL, &w->table);
	w->contents.count = 0;
	vpt_contents_ranges_reset(&w->ranges);
	/* The capture can be read without. */
	if (rc || (w->max_bytes && w->sink->written_bytes + w->table.size > w->max_bytes)) {
		w->has_none = 1;
		return VPT_OK;
	}
	w->is_long = 1;
	return vpt_sink_write(w->sink, w->table.data, w->table.size, err);
}

/* Describes a chunk in the row after those that count. */
static int describe(struct vpt_writer *w, const struct vpt_batch *b, struct vpt_err *err)
{
	struct vpt_contents *c = &w->contents;

	if (w->has_none)
		return VPT_OK;
	if (vpt_grow(&c->items, &c->cap, c->count + 1, sizeof(*c->items)) ||
		vpt_contents_describe(b, &w->known, &c->items[c->count]) ||
		vpt_contents_ranges_add(&w->ranges, b))
		return vpt_fail(err, VPT_ENOMEM, "no memory for the contents of a capture");
	return VPT_OK;
}

/* Counts the chunk just written, and writes the contents if they are many, or the capture's last. */
static int note_chunk(
	struct vpt_writer *w, const struct vpt_batch *b, uint64_t size_bytes, struct vpt_err *err)
{
	struct vpt_contents *c = &w->contents;
	uint64_t *values;

	if (w->has_none)
		return VPT_OK;
	values = c->items[c->count++].values;
	values[VPT_CONTENTS_SIZE] = size_bytes;
	values[VPT_CONTENTS_CONTENT] = w->payload.size;
	values[VPT_CONTENTS_SECTIONS] = vpt_le_get(w->payload.data + 8, 4);
	if (c->count == VPT_CONTENTS_ENTRIES ||
		(b->flags & VPT_BATCH_LAST && (w->is_long || c->count >= VPT_CONTENTS_LEAST)))
		return write_table(w, err);
	return VPT_OK;
}

int vpt_writer_put(struct vpt_writer *w, struct vpt_batch *b, struct vpt_err *err)
{
	uint64_t before = w->sink->written_bytes;
	int rc;

	vpt_batch_measure(b);
	b->sequence = w->sequence;
	rc = vpt_chunk_encode(b, &w->payload, err);
	if (!rc)
		rc = describe(w, b, err);
	if (!rc)
		rc = write_frame(w, w->payload.data, w->payload.size, w->payload.flushes,
			w->payload.flush_count, err);
	if (rc)
		return rc;
	w->sequence++;
	return note_chunk(w, b, w->sink->written_bytes - before, err);
}

void vpt_writer_number(struct vpt_writer *w, uint64_t sequence)
{
	w->sequence = sequence;
	w->has_none = 1;
}

void vpt_writer_limit(struct vpt_writer *w, uint64_t max_bytes)
{
	w->max_bytes = max_bytes;
}

size_t vpt_writer_contents_bytes(const struct vpt_writer *w)
{
	size_t count = w->contents.count + 1;

	return w->has_none || (!w->is_long && count < VPT_CONTENTS_LEAST)
		       ? 0
		       : (count + VPT_CONTENTS_LEAST) * VPT_CONTENTS_BYTES;
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
	vpt_contents_free(&w->contents);
	vpt_contents_known_free(&w->known);
	vpt_contents_ranges_free(&w->ranges);
	vpt_free(w->table.data);
	vpt_free(w->frame);
	vpt_free(w);
}
