/* zstd_frames.c - walks zstd frames by their headers (RFC 8878, section 3.1).
 *
 * zstd's own ZSTD_findFrameCompressedSize() needs the whole frame in memory. This code reads and
 * parses only headers, of which each block of up to 128 KiB has one. Only where the chain of frames
 * is broken it reads everything, in windows, to find the next frame. */
#include "formats/file/zstd_frames.h"

#include "formats/base/memory.h"
#include "formats/capture_layout.h"
#include "formats/chunk/chunk.h"

#include <string.h>

#define ZSTD_MAGIC      0xfd2fb528u
#define SKIPPABLE_MAGIC 0x184d2a50u /* the low four bits are free */

enum {
	WINDOW = 256 << 10,
	HEADERS = 512, /* read at once to follow the chain */
	/* A file built to break the chain again and again must not cost more than linear time. So
	 * the walk has a budget of BUDGET_BASE bytes plus BUDGET_PER_BYTE per byte of the file;
	 * once it is spent, everything after the next break counts as damaged. Checking whether a
	 * frame is ours decompresses its beginning and costs ASK bytes. */
	BUDGET_PER_BYTE = 8,
	BUDGET_BASE = 256 << 20,
	ASK = 64 << 10
};

struct walker {
	struct vpt_source *src;
	const struct vpt_frame_check *check;
	struct vpt_err *err;
	unsigned char *window;
	uint64_t window_at;
	size_t window_size;
	uint64_t expected; /* the source knows that bytes before it will be read */
	int failed;
	uint64_t budget;
};

static void spend(struct walker *w, uint64_t bytes)
{
	w->budget -= bytes < w->budget ? bytes : w->budget;
}

/* What follows `offset` is read after the walk if not by it: the system may fetch it meanwhile, and
 * finds in one go what the walk would ask for in small pieces. */
static void expect(struct walker *w, uint64_t offset)
{
	if (w->expected < offset)
		w->expected = offset;
	for (; w->src->expect && w->expected < offset + WINDOW; w->expected += WINDOW)
		w->src->expect(w->src, w->expected, WINDOW);
}

/* `size` bytes at `offset`; if they must be read, up to `ahead` are. NULL if the file ends before
 * that, or on a read error, noted in failed. */
static const unsigned char *peek_ahead(struct walker *w, uint64_t offset, size_t size, size_t ahead)
{
	uint64_t end = w->src->size_bytes;

	if (offset > end || size > end - offset || w->failed)
		return NULL;
	if (offset < w->window_at || offset + size > w->window_at + w->window_size) {
		w->window_at = offset;
		w->window_size = 0;
		expect(w, offset);
		w->failed =
			w->src->read_at(w->src, offset, w->window, ahead, &w->window_size, w->err);
		spend(w, w->window_size);
		if (w->failed || w->window_size < size)
			return NULL;
	}
	return w->window + (offset - w->window_at);
}

static const unsigned char *peek(struct walker *w, uint64_t offset, size_t size)
{
	return peek_ahead(w, offset, size, HEADERS);
}

static uint32_t magic_at(struct walker *w, uint64_t offset)
{
	const unsigned char *p = peek(w, offset, 4);

	return p ? (uint32_t)vpt_le_get(p, 4) : 0;
}

static int is_skippable(uint32_t magic)
{
	return (magic & 0xfffffff0u) == SKIPPABLE_MAGIC;
}

/* Reads a frame header: its length and the content size. VPT_EDATA: not a frame that we accept (no
 * declared size, a dictionary, too large). VPT_END: the file ends inside it. */
static int frame_header(
	struct walker *w, uint64_t offset, unsigned *header_len, uint32_t *content, int *checksum)
{
	static const unsigned char size_bytes[4] = {0, 2, 4, 8}, dictionary_bytes[4] = {0, 1, 2, 4};
	const unsigned char *p = peek(w, offset, 5);
	unsigned descriptor, single, fcs, len;
	uint64_t size;

	if (!p)
		return VPT_END;
	descriptor = p[4];
	single = descriptor >> 5 & 1;
	fcs = size_bytes[descriptor >> 6];
	if (!fcs && single)
		fcs = 1;
	if (!fcs || descriptor & 8 || dictionary_bytes[descriptor & 3])
		return VPT_EDATA;
	len = 5u + (single ? 0u : 1u) + fcs;
	p = peek(w, offset, len);
	if (!p)
		return VPT_END;
	if (!single && (p[5] >> 3) + 10 > VPT_WINDOW_LOG_MAX)
		return VPT_EDATA;
	size = vpt_le_get(p + len - fcs, fcs) + (fcs == 2 ? 256 : 0);
	if (size > VPT_PAYLOAD_MAX)
		return VPT_EDATA;
	*header_len = len;
	*content = (uint32_t)size;
	*checksum = descriptor >> 2 & 1;
	return VPT_OK;
}

/* Finds the end of the frame at `offset`. VPT_OK, VPT_EDATA, or VPT_END when the file ends
 * first. */
static int frame_end(struct walker *w, uint64_t offset, uint64_t *end, uint32_t *content)
{
	unsigned header_len = 0, last = 0;
	int checksum = 0, rc = frame_header(w, offset, &header_len, content, &checksum);
	uint64_t at = offset + header_len, limit;

	if (rc)
		return rc;
	/* Incompressible blocks are stored raw, so a frame is never much longer than its
	 * content. */
	limit = at + *content + *content / 8 + (1 << 20);
	while (!last) {
		const unsigned char *p = peek(w, at, 3);
		uint32_t block;

		if (!p)
			return VPT_END;
		if (at > limit)
			return VPT_EDATA;
		block = (uint32_t)vpt_le_get(p, 3);
		last = block & 1;
		if ((block >> 1 & 3) == 3 || block >> 3 > 128 << 10)
			return VPT_EDATA;
		at += 3 + ((block >> 1 & 3) == 1 ? 1 : block >> 3);
	}
	at += checksum ? 4 : 0;
	*end = at;
	return at <= w->src->size_bytes ? VPT_OK : VPT_END;
}

/* The next offset at or after `from` at which one of our frames begins; the file's end if none
 * does. */
static uint64_t resync(struct walker *w, uint64_t from)
{
	static const unsigned char magic[4] = {0x28, 0xb5, 0x2f, 0xfd};
	uint64_t end = w->src->size_bytes;

	while (from < end && !w->failed && w->budget) {
		const unsigned char *p = peek_ahead(w, from, 4, WINDOW), *hit;
		size_t have;

		if (!p)
			break;
		have = w->window_size - (size_t)(from - w->window_at);
		hit = memmem(p, have, magic, 4);
		if (!hit) {
			from += have - 3;
			continue;
		}
		from += (uint64_t)(hit - p);
		spend(w, ASK);
		if (w->check->ours(w->check->ctx, w->src, from))
			return from;
		from++;
	}
	return end;
}

static int add(struct vpt_frames *f, uint64_t offset, uint64_t size, uint32_t content, int state)
{
	struct vpt_zstd_frame *frame;

	if (vpt_grow(&f->items, &f->cap, f->count + 1, sizeof(*f->items)))
		return VPT_ENOMEM;
	frame = &f->items[f->count++];
	*frame = (struct vpt_zstd_frame){offset, size, content, (uint8_t)state};
	return VPT_OK;
}

/* Handles what is at *at, which is not a skippable frame, and moves *at past it. */
static int step(struct walker *w, struct vpt_frames *f, uint64_t *at)
{
	uint64_t file_end = w->src->size_bytes, offset = *at, end = offset, next;
	uint32_t content = 0;
	int rc = VPT_EDATA;

	if (magic_at(w, offset) == ZSTD_MAGIC)
		rc = frame_end(w, offset, &end, &content);
	if (!rc && (end == file_end || magic_at(w, end) == ZSTD_MAGIC ||
			   is_skippable(magic_at(w, end)))) {
		*at = end;
		return add(f, offset, end - offset, content, VPT_ZSTD_FRAME_WHOLE);
	}
	/* The chain breaks here. A length may be damaged, so search from inside this frame. */
	next = resync(w, offset + 1);
	*at = next;
	if (rc == VPT_END && next == file_end)
		return add(f, offset, file_end - offset, content, VPT_ZSTD_FRAME_TORN);
	if (rc || next < end)
		return add(f, offset, next - offset, 0, VPT_ZSTD_FRAME_DAMAGED);
	rc = add(f, offset, end - offset, content, VPT_ZSTD_FRAME_WHOLE);
	return rc ? rc : add(f, end, next - end, 0, VPT_ZSTD_FRAME_DAMAGED);
}

int vpt_frames_first(struct vpt_source *src, struct vpt_zstd_frame *out, struct vpt_err *err)
{
	struct walker w = {.src = src, .err = err, .budget = BUDGET_BASE};
	int rc;

	*out = (struct vpt_zstd_frame){.state = VPT_ZSTD_FRAME_WHOLE};
	w.window = vpt_alloc(WINDOW, 1);
	if (!w.window)
		return vpt_fail(err, VPT_ENOMEM, "no memory to look for a frame");
	rc = magic_at(&w, 0) == ZSTD_MAGIC ? frame_end(&w, 0, &out->size, &out->content_size)
					   : VPT_END;
	vpt_free(w.window);
	if (w.failed)
		return w.failed;
	return rc ? VPT_END : VPT_OK;
}

int vpt_frames_walk(struct vpt_source *src, const struct vpt_frame_check *check,
	struct vpt_frames *out, struct vpt_err *err)
{
	struct walker w = {.src = src,
		.check = check,
		.err = err,
		.budget = BUDGET_BASE + src->size_bytes * BUDGET_PER_BYTE};
	uint64_t at = 0;
	int rc = VPT_OK;

	memset(out, 0, sizeof(*out));
	w.window = vpt_alloc(WINDOW, 1);
	if (!w.window)
		return vpt_fail(err, VPT_ENOMEM, "no memory to walk a file");
	while (!rc && at < src->size_bytes && !w.failed) {
		const unsigned char *p = is_skippable(magic_at(&w, at)) ? peek(&w, at, 8) : NULL;
		uint64_t skip = p ? 8 + vpt_le_get(p + 4, 4) : 0;

		if (skip && skip <= src->size_bytes - at)
			at += skip;
		else
			rc = step(&w, out, &at);
	}
	vpt_free(w.window);
	if (w.failed)
		rc = w.failed; /* the source has set the message */
	else if (rc)
		rc = vpt_fail(err, VPT_ENOMEM, "no memory for the list of %zu frames", out->count);
	if (rc)
		vpt_frames_free(out);
	return rc;
}

void vpt_frames_free(struct vpt_frames *f)
{
	vpt_free(f->items);
	memset(f, 0, sizeof(*f));
}
