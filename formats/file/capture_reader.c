/* capture_reader.c - opens captures and decodes chunks. zstd_frames.c walks the frames, chunk.h has the layout;
 * this file connects them to zstd and decides what can be trusted. */
#include "formats/file/capture_reader.h"

#include "formats/base/memory.h"
#include "formats/chunk/chunk.h"
#include "formats/file/contents.h"
#include "formats/file/zstd_frames.h"

#include <stdio.h>
#include <string.h>
#include <zstd.h>

struct vpt_reader {
	struct vpt_source *src;
	struct vpt_header header;
	int header_damaged;
	struct vpt_chunk_info *chunks;
	size_t chunk_count;
	uint64_t damaged_bytes;
	struct vpt_contents contents; /* a row for each chunk; or none */
};

struct vpt_decoder {
	ZSTD_DCtx *zstd;
	unsigned char *frame, *payload;
	size_t frame_cap, payload_cap;
};

struct vpt_decoder *vpt_decoder_new(void)
{
	struct vpt_decoder *d = vpt_calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->zstd = ZSTD_createDCtx();
	if (!d->zstd || ZSTD_isError(ZSTD_DCtx_setParameter(
				d->zstd, ZSTD_d_windowLogMax, VPT_WINDOW_LOG_MAX))) {
		vpt_decoder_free(d);
		return NULL;
	}
	return d;
}

void vpt_decoder_free(struct vpt_decoder *d)
{
	if (!d)
		return;
	ZSTD_freeDCtx(d->zstd);
	vpt_free(d->frame);
	vpt_free(d->payload);
	vpt_free(d);
}

/* Decompresses `in` until `out` is full. Returns 0 if it needs more input. */
static int decode_some(struct vpt_decoder *d, ZSTD_inBuffer *in, ZSTD_outBuffer *out)
{
	while (out->pos < out->size) {
		size_t before = in->pos + out->pos, left = ZSTD_decompressStream(d->zstd, out, in);

		if (ZSTD_isError(left) || !left)
			return 1;
		if (in->pos + out->pos == before)
			return 0;
	}
	return 1;
}

/* Decompresses the first bytes of the frame's content, without verifying its checksum. Returns how
 * many there are. Our writer ends a block after the chunk header, so its frames need only a few
 * bytes of input; frames of other compressors may need their whole first block. */
static size_t decode_head(struct vpt_decoder *d, struct vpt_source *src, uint64_t offset,
	uint64_t size, unsigned char *head, size_t head_size)
{
	enum { MOSTLY = 512, PIECE = 16 << 10, MOST = (128 << 10) + PIECE };
	unsigned char bytes[PIECE];
	ZSTD_outBuffer out = {head, head_size, 0};
	uint64_t at = 0, end = size < MOST ? size : MOST;

	ZSTD_DCtx_reset(d->zstd, ZSTD_reset_session_only);
	while (at < end) {
		ZSTD_inBuffer in = {bytes, 0, 0};
		size_t want = at ? PIECE : MOSTLY;

		want = want < end - at ? want : (size_t)(end - at);
		if (src->read_at(src, offset + at, bytes, want, &in.size, NULL) || !in.size)
			break;
		at += in.size;
		if (decode_some(d, &in, &out))
			break;
	}
	return out.pos;
}

static int begins_chunk(void *ctx, struct vpt_source *src, uint64_t offset)
{
	unsigned char head[VPT_CHUNK_HEADER_SIZE];
	struct vpt_chunk_header h;
	size_t got = decode_head(ctx, src, offset, src->size_bytes - offset, head, sizeof(head));

	return got == sizeof(head) && !vpt_chunk_header_decode(head, got, &h, NULL);
}

static int read_frame(struct vpt_decoder *d, struct vpt_source *src, uint64_t offset, uint64_t size,
	struct vpt_err *err)
{
	size_t got;
	int rc;

	/* The size comes from the walk, so it never exceeds the file. */
	if (size > SIZE_MAX || vpt_grow(&d->frame, &d->frame_cap, (size_t)size, 1))
		return vpt_fail(err, VPT_ENOMEM, "no memory for a frame of %llu bytes",
			(unsigned long long)size);
	rc = src->read_at(src, offset, d->frame, (size_t)size, &got, err);
	if (!rc && got != size)
		rc = vpt_fail(err, VPT_EIO, "expected %llu bytes at offset %llu, found %zu",
			(unsigned long long)size, (unsigned long long)offset, got);
	return rc;
}

/* Decompresses the frame in d->frame. With `torn`, whatever can be decompressed is kept. */
static int inflate_frame(struct vpt_decoder *d, size_t size, uint32_t content, int torn,
	size_t *got, struct vpt_err *err)
{
	ZSTD_outBuffer out;
	ZSTD_inBuffer in = {d->frame, size, 0};
	size_t left;

	*got = 0;
	if (vpt_grow(&d->payload, &d->payload_cap, (size_t)content + 1, 1))
		return vpt_fail(err, VPT_ENOMEM, "no memory for a chunk of %u bytes", content);
	out = (ZSTD_outBuffer){d->payload, content, 0};
	ZSTD_DCtx_reset(d->zstd, ZSTD_reset_session_only);
	do {
		size_t before = in.pos + out.pos;

		left = ZSTD_decompressStream(d->zstd, &out, &in);
		if (ZSTD_isError(left) || in.pos + out.pos == before)
			break;
	} while (left);
	*got = out.pos;
	if (torn && !ZSTD_isError(left))
		return VPT_OK;
	if (ZSTD_isError(left))
		return vpt_fail(err, VPT_EDATA, "zstd: %s", ZSTD_getErrorName(left));
	if (left || in.pos != size || out.pos != content)
		return vpt_fail(err, VPT_EDATA, "expected %u bytes of content, found %zu", content,
			out.pos);
	return VPT_OK;
}

/* Packed sections point into the payload, so the batch takes it and the decoder gets the batch's
 * old one. */
static void give_payload(struct vpt_decoder *d, struct vpt_batch *b)
{
	unsigned char *payload = b->payload;
	size_t cap = b->payload_cap;

	b->payload = d->payload;
	b->payload_cap = d->payload_cap;
	d->payload = payload;
	d->payload_cap = cap;
}

static int measure(struct vpt_batch *b, struct vpt_err *err)
{
	if (vpt_chunk_unpack(b))
		return vpt_fail(err, VPT_ENOMEM, "no memory for the rows of a torn chunk");
	vpt_batch_measure(b);
	return VPT_OK;
}

/* Contents that other bytes were put under say something else than the chunk itself. */
static int compare_contents(
	const struct vpt_chunk_info *info, const struct vpt_batch *b, struct vpt_err *err)
{
	const struct {
		const char *name;
		uint64_t listed, found;
	} facts[] = {{"number", info->sequence, b->sequence},
		{"t_min", info->t_min_ns, b->t_min_ns}, {"t_max", info->t_max_ns, b->t_max_ns},
		{"event count", info->event_count, b->event_count},
		{"lost events", info->lost_events, b->lost_events},
		{"flags", info->flags & VPT_BATCH_LAST, b->flags & VPT_BATCH_LAST}};
	size_t i;

	for (i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (facts[i].listed != facts[i].found)
			return vpt_fail(err, VPT_EDATA,
				"the contents of the file say %s %llu, the chunk says %llu",
				facts[i].name, (unsigned long long)facts[i].listed,
				(unsigned long long)facts[i].found);
	return VPT_OK;
}

int vpt_reader_chunk(const struct vpt_reader *r, struct vpt_decoder *d, size_t index,
	struct vpt_batch *out, struct vpt_err *err)
{
	const struct vpt_chunk_info *info;
	char where[64];
	size_t got;
	int rc, torn;

	vpt_batch_reset(out);
	if (index >= r->chunk_count)
		return vpt_fail(
			err, VPT_EINVAL, "chunk %zu of %zu asked for", index, r->chunk_count);
	info = &r->chunks[index];
	if (info->state == VPT_CHUNK_DAMAGED)
		return vpt_fail(err, VPT_EDATA, "%llu bytes at offset %llu are damaged",
			(unsigned long long)info->size, (unsigned long long)info->offset);
	torn = info->state == VPT_CHUNK_TORN;
	rc = read_frame(d, r->src, info->offset, info->size, err);
	if (!rc)
		rc = inflate_frame(d, (size_t)info->size, info->content_size, torn, &got, err);
	if (!rc)
		rc = vpt_chunk_decode(d->payload, got, torn, out, err);
	if (!rc && r->contents.count)
		rc = compare_contents(info, out, err);
	if (rc)
		vpt_batch_reset(out);
	if (!rc && out->packs)
		give_payload(d, out);
	/* The header's values include the missing rows. */
	if (!rc && torn)
		rc = measure(out, err);
	if (rc && err) {
		snprintf(where, sizeof(where), "chunk %zu at offset %llu", index,
			(unsigned long long)info->offset);
		vpt_err_at(err, where);
	}
	return rc;
}

/* ---- opening ---- */

static int parse_file_header(struct vpt_reader *r, const unsigned char *p, struct vpt_err *err)
{
	struct vpt_header *h = &r->header;

	h->major = (uint16_t)vpt_le_get(p + 8, 2);
	h->minor = (uint16_t)vpt_le_get(p + 10, 2);
	if (h->major > VPT_MAJOR)
		return vpt_fail(err, VPT_EVERSION,
			"this capture has format version %u.%u, this program reads up to %u.x: "
			"use a newer vptrace-analyze",
			h->major, h->minor, VPT_MAJOR);
	h->flags = (uint32_t)vpt_le_get(p + 56, 4);
	if (h->flags & VPT_FLAGS_CRITICAL)
		return vpt_fail(err, VPT_EVERSION,
			"this capture requires a feature of a newer version (flags %08x): use a "
			"newer vptrace-analyze",
			h->flags);
	h->t0_ns = vpt_le_get(p + 16, 8);
	h->t0_unix_ns = vpt_le_get(p + 24, 8);
	h->capture_id = vpt_le_get(p + 32, 8);
	h->pid = (uint32_t)vpt_le_get(p + 40, 4);
	h->cpu_tick_ns = (uint32_t)vpt_le_get(p + 44, 4);
	h->gpu_tick_ns = (uint32_t)vpt_le_get(p + 48, 4);
	h->clock_id = (uint32_t)vpt_le_get(p + 52, 4);
	return VPT_OK;
}

/* Reads the header frame if the first frame is one. VPT_END: it is not, or it is damaged. */
static int read_header(struct vpt_reader *r, struct vpt_decoder *d,
	const struct vpt_zstd_frame *first, struct vpt_err *err)
{
	size_t got;
	int rc;

	if (first->state != VPT_ZSTD_FRAME_WHOLE || first->content_size < VPT_HEADER_SIZE ||
		first->content_size > 4096)
		return VPT_END;
	rc = read_frame(d, r->src, first->offset, first->size, err);
	if (!rc)
		rc = inflate_frame(d, (size_t)first->size, first->content_size, 0, &got, err);
	if (rc)
		return rc == VPT_EDATA ? VPT_END : rc;
	if (memcmp(d->payload, VPT_CAPTURE_MAGIC, 8))
		return VPT_END;
	return parse_file_header(r, d->payload, err);
}

static void add_chunk(struct vpt_reader *r, struct vpt_decoder *d, const struct vpt_zstd_frame *f)
{
	struct vpt_chunk_info *info = &r->chunks[r->chunk_count++];
	unsigned char head[VPT_CHUNK_HEADER_SIZE];
	struct vpt_chunk_header h;
	size_t got = 0;

	memset(info, 0, sizeof(*info));
	info->offset = f->offset;
	info->size = f->size;
	info->content_size = f->content_size;
	info->t_min_ns = UINT64_MAX;
	info->state = VPT_CHUNK_DAMAGED;
	if (f->state != VPT_ZSTD_FRAME_DAMAGED)
		got = decode_head(d, r->src, f->offset, f->size, head, sizeof(head));
	if (got < sizeof(head) || vpt_chunk_header_decode(head, got, &h, NULL)) {
		r->damaged_bytes += f->size;
		return;
	}
	info->sequence = h.sequence;
	info->t_min_ns = h.t_min_ns;
	info->t_max_ns = h.t_max_ns;
	info->event_count = h.event_count;
	info->lost_events = h.lost_events;
	info->section_count = h.section_count;
	info->flags = h.flags;
	info->state = f->state == VPT_ZSTD_FRAME_TORN ? VPT_CHUNK_TORN : VPT_CHUNK_WHOLE;
}

static int read_chunks(struct vpt_reader *r, struct vpt_decoder *d, const struct vpt_frames *f,
	size_t first, struct vpt_err *err)
{
	size_t i, good = 0;

	r->chunks = vpt_alloc(f->count, sizeof(*r->chunks));
	if (!r->chunks)
		return vpt_fail(err, VPT_ENOMEM, "no memory for the list of %zu chunks", f->count);
	for (i = first; i < f->count; i++) {
		add_chunk(r, d, &f->items[i]);
		good += r->chunks[r->chunk_count - 1].state != VPT_CHUNK_DAMAGED;
	}
	if (r->header_damaged && !good)
		return vpt_fail(err, VPT_EDATA,
			"not a vptrace capture: expected a zstd frame with the "
			"header \"VPTRACE\", found neither it nor any chunk");
	return VPT_OK;
}

/* A row of the contents, as the chunk's header would have it. */
static struct vpt_chunk_info info_of(const struct vpt_contents_entry *entry)
{
	const uint64_t *values = entry->values;

	return (struct vpt_chunk_info){.offset = entry->offset,
		.size = values[VPT_CONTENTS_SIZE],
		.sequence = values[VPT_CONTENTS_SEQUENCE],
		.t_min_ns = values[VPT_CONTENTS_T_MIN],
		.t_max_ns = values[VPT_CONTENTS_T_MAX],
		.content_size = (uint32_t)values[VPT_CONTENTS_CONTENT],
		.event_count = (uint32_t)values[VPT_CONTENTS_EVENTS],
		.lost_events = (uint32_t)values[VPT_CONTENTS_LOST],
		.section_count = (uint32_t)values[VPT_CONTENTS_SECTIONS],
		.flags = (uint32_t)values[VPT_CONTENTS_FLAGS],
		.state = VPT_CHUNK_WHOLE};
}

/* Opens a capture by its header and its contents, which must describe all bytes between. VPT_END: it has to be
 * walked. */
static int open_by_contents(struct vpt_reader *r, struct vpt_decoder *d, struct vpt_err *err)
{
	struct vpt_zstd_frame first;
	size_t i;
	int rc = vpt_frames_first(r->src, &first, err);

	if (!rc)
		rc = vpt_contents_read(r->src, first.size, &r->contents, err);
	if (!rc)
		rc = read_header(r, d, &first, err);
	if (rc) {
		vpt_contents_free(&r->contents);
		return rc;
	}
	r->chunk_count = r->contents.count;
	r->chunks = vpt_alloc(r->chunk_count, sizeof(*r->chunks));
	if (!r->chunks)
		return vpt_fail(
			err, VPT_ENOMEM, "no memory for the list of %zu chunks", r->chunk_count);
	for (i = 0; i < r->chunk_count; i++)
		r->chunks[i] = info_of(&r->contents.items[i]);
	return VPT_OK;
}

static int open_by_walk(struct vpt_reader *r, struct vpt_decoder *d, struct vpt_err *err)
{
	struct vpt_frame_check check = {begins_chunk, d};
	struct vpt_frames frames = {0};
	int rc = vpt_frames_walk(r->src, &check, &frames, err);

	if (!rc)
		rc = frames.count ? read_header(r, d, &frames.items[0], err) : VPT_END;
	if (rc >= 0) {
		r->header_damaged = rc == VPT_END;
		rc = read_chunks(r, d, &frames, !r->header_damaged, err);
	}
	vpt_frames_free(&frames);
	return rc;
}

int vpt_reader_open(struct vpt_source *src, struct vpt_reader **out, struct vpt_err *err)
{
	struct vpt_reader *r = vpt_calloc(1, sizeof(*r));
	struct vpt_decoder *d = vpt_decoder_new();
	int rc;

	*out = NULL;
	if (!r || !d) {
		rc = vpt_fail(err, VPT_ENOMEM, "no memory for a capture reader");
		vpt_source_close(src);
		goto out;
	}
	r->src = src;
	rc = open_by_contents(r, d, err);
	if (rc == VPT_END)
		rc = open_by_walk(r, d, err);
	if (rc)
		goto out;
	*out = r;
	r = NULL;
out:
	vpt_decoder_free(d);
	vpt_reader_free(r);
	return rc;
}

void vpt_reader_free(struct vpt_reader *r)
{
	if (!r)
		return;
	vpt_source_close(r->src);
	vpt_free(r->chunks);
	vpt_contents_free(&r->contents);
	vpt_free(r);
}

const struct vpt_header *vpt_reader_header(const struct vpt_reader *r)
{
	return &r->header;
}

int vpt_reader_header_damaged(const struct vpt_reader *r)
{
	return r->header_damaged;
}

size_t vpt_reader_chunks(const struct vpt_reader *r)
{
	return r->chunk_count;
}

const struct vpt_chunk_info *vpt_reader_info(const struct vpt_reader *r, size_t index)
{
	return &r->chunks[index];
}

const struct vpt_contents *vpt_reader_contents(const struct vpt_reader *r)
{
	return r->contents.count ? &r->contents : NULL;
}

int vpt_reader_is_recorded(const struct vpt_reader *r)
{
	return r->src->is_locked && r->src->is_locked(r->src);
}

uint64_t vpt_reader_damaged_bytes(const struct vpt_reader *r)
{
	return r->damaged_bytes;
}
