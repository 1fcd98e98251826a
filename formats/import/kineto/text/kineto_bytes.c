/* kineto_bytes.c - reads the text of a profiler's file, plain, gzip or zstd.
 *
 * Long recordings often end with a kill, so half a file is a normal input: all text that can be
 * inflated is delivered, and the cut is a flag, not an error. Several gzip members in one file are
 * one text. What follows the last one, but for zeros, is no part of it: only its length is told. */
#include "formats/import/kineto/text/kineto_bytes.h"

#include "formats/base/cost_limits.h"
#include "formats/base/memory.h"
#include "formats/import/kineto/text/kineto_scan.h"
#include "formats/import/refused_formats.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum {
	INPUT_BYTES = 64 << 10,
	BLOCK_BYTES = 256 << 10,
	GZIP_ONLY = 15 + 16 /* zlib's window bits: the largest window, gzip header required */
};

struct vpt_kineto_inflate {
	z_stream z;
	int between_members;
	unsigned char input[INPUT_BYTES];
};

struct vpt_kineto_unzstd {
	ZSTD_DCtx *zstd;
	ZSTD_inBuffer in;
	int in_frame; /* a frame has begun and not ended */
	unsigned char input[INPUT_BYTES];
};

static voidpf zlib_alloc(voidpf opaque, uInt count, uInt size)
{
	(void)opaque;
	return vpt_alloc(count, size);
}

static void zlib_free(voidpf opaque, voidpf ptr)
{
	(void)opaque;
	vpt_free(ptr);
}

static int begin_inflate(struct vpt_kineto_bytes *b, struct vpt_err *err)
{
	struct vpt_kineto_inflate *inf = vpt_calloc(1, sizeof(*inf));

	if (!inf)
		return vpt_fail(err, VPT_ENOMEM, "no memory to decompress the trace");
	inf->z.zalloc = zlib_alloc;
	inf->z.zfree = zlib_free;
	if (inflateInit2(&inf->z, GZIP_ONLY) != Z_OK) {
		vpt_free(inf);
		return vpt_fail(err, VPT_ENOMEM, "no memory to decompress the trace");
	}
	b->inflate = inf;
	return 0;
}

static int begin_unzstd(struct vpt_kineto_bytes *b, struct vpt_err *err)
{
	struct vpt_kineto_unzstd *u = vpt_calloc(1, sizeof(*u));

	b->unzstd = u;
	if (u)
		u->zstd = ZSTD_createDCtx();
	if (!u || !u->zstd)
		return vpt_fail(err, VPT_ENOMEM, "no memory to decompress the trace");
	u->in.src = u->input;
	return 0;
}

static void end_text(struct vpt_kineto_bytes *b)
{
	memset(b->block + (b->end - b->block), 0, VPT_SCAN_BYTES);
}

static int begin_unpacking(
	struct vpt_kineto_bytes *b, const unsigned char *magic, size_t size, struct vpt_err *err)
{
	if (size >= 2 && magic[0] == 0x1f && magic[1] == 0x8b) {
		b->packer = "gzip";
		return begin_inflate(b, err);
	}
	if (vpt_is_zstd(magic, size)) {
		b->packer = "zstd";
		return begin_unzstd(b, err);
	}
	return 0;
}

int vpt_kineto_bytes_open(struct vpt_kineto_bytes *b, struct vpt_source *src, struct vpt_err *err)
{
	unsigned char magic[4];
	size_t got;
	int rc;

	memset(b, 0, sizeof(*b));
	b->src = src;
	b->text_max = vpt_limits_text_bytes(src->size_bytes);
	rc = src->read_at(src, 0, magic, sizeof(magic), &got, err);
	if (rc)
		return rc;
	if (vpt_grow(&b->block, &b->block_bytes, VPT_SCAN_BYTES + BLOCK_BYTES, 1))
		return vpt_fail(err, VPT_ENOMEM, "no memory to read the trace");
	b->cur = b->end = b->block;
	end_text(b);
	return begin_unpacking(b, magic, got, err);
}

void vpt_kineto_bytes_close(struct vpt_kineto_bytes *b)
{
	if (b->inflate)
		inflateEnd(&b->inflate->z);
	vpt_free(b->inflate);
	if (b->unzstd)
		ZSTD_freeDCtx(b->unzstd->zstd);
	vpt_free(b->unzstd);
	vpt_free(b->block);
	b->inflate = NULL;
	b->unzstd = NULL;
	b->block = NULL;
	b->cur = b->end = b->keep = NULL;
}

/* Moves what must be retained to the start of the block, and makes room for another part after it. */
static int make_room(struct vpt_kineto_bytes *b, struct vpt_err *err)
{
	const unsigned char *from = b->keep ? b->keep : b->cur;
	size_t retained = (size_t)(b->end - from), before_cur = (size_t)(b->cur - from);

	if (retained && from != b->block)
		memmove(b->block, from, retained);
	if (vpt_grow(&b->block, &b->block_bytes, retained + VPT_SCAN_BYTES + BLOCK_BYTES, 1))
		return vpt_fail(err, VPT_ENOMEM, "no memory to read the trace");
	b->keep = b->keep ? b->block : NULL;
	b->cur = b->block + before_cur;
	b->end = b->block + retained;
	return 0;
}

static void hand_out(struct vpt_kineto_bytes *b, size_t size)
{
	b->end += size;
	b->end_offset += size;
}

static int fill_plain(struct vpt_kineto_bytes *b, struct vpt_err *err)
{
	size_t got;
	int rc = b->src->read_at(
		b->src, b->offset, b->block + (b->end - b->block), BLOCK_BYTES, &got, err);

	if (rc)
		return rc;
	if (!got) {
		b->finished = 1;
		return VPT_END;
	}
	b->offset += got;
	hand_out(b, got);
	return 0;
}

/* Looks at what follows the last member: padding with zeros is usual. VPT_END. */
static int look_after(struct vpt_kineto_bytes *b, struct vpt_err *err)
{
	struct vpt_kineto_inflate *inf = b->inflate;
	size_t got = inf->z.avail_in, i;
	const unsigned char *p = inf->z.next_in;
	int rc;

	for (;;) {
		for (i = 0; i < got && !p[i]; i++) {}
		if (i < got)
			break;
		rc = b->src->read_at(b->src, b->offset, inf->input, INPUT_BYTES, &got, err);
		if (rc)
			return rc;
		if (!got)
			return VPT_END;
		b->offset += got;
		p = inf->input;
	}
	b->after_gzip = b->src->size_bytes - (b->offset - got + i);
	b->another_gzip = p[i] == 0x1f && i + 1 < got && p[i + 1] == 0x8b;
	return VPT_END;
}

/* Gets more compressed bytes, and begins a new member after the last one. VPT_END: no more of
 * either. */
static int feed(struct vpt_kineto_bytes *b, struct vpt_err *err)
{
	struct vpt_kineto_inflate *inf = b->inflate;
	size_t got;
	int rc;

	if (!inf->z.avail_in) {
		rc = b->src->read_at(b->src, b->offset, inf->input, INPUT_BYTES, &got, err);
		if (rc)
			return rc;
		b->offset += got;
		inf->z.next_in = inf->input;
		inf->z.avail_in = (uInt)got;
		if (!got) {
			b->torn |= !inf->between_members;
			return VPT_END;
		}
	}
	if (!inf->between_members)
		return 0;
	if (inf->z.next_in[0] != 0x1f || (inf->z.avail_in > 1 && inf->z.next_in[1] != 0x8b))
		return look_after(b, err);
	inflateReset(&inf->z);
	inf->between_members = 0;
	return 0;
}

static int check_length(const struct vpt_kineto_bytes *b, size_t made, struct vpt_err *err)
{
	if (made <= b->text_max - b->end_offset)
		return 0;
	return vpt_fail(err, VPT_ENOMEM,
		"expected %llu bytes of %s to hold at most %llu bytes of text, found more: if you "
		"trust the file, raise --memory",
		(unsigned long long)b->src->size_bytes, b->packer, (unsigned long long)b->text_max);
}

static int fill_gzip(struct vpt_kineto_bytes *b, struct vpt_err *err)
{
	struct vpt_kineto_inflate *inf = b->inflate;
	size_t made;
	int rc;

	while (!b->finished) {
		rc = feed(b, err);
		b->finished = rc == VPT_END;
		if (rc)
			return rc;
		inf->z.next_out = b->block + (b->end - b->block);
		inf->z.avail_out = BLOCK_BYTES;
		rc = inflate(&inf->z, Z_NO_FLUSH);
		if (rc == Z_MEM_ERROR)
			return vpt_fail(err, VPT_ENOMEM, "no memory to decompress the trace");
		inf->between_members = rc == Z_STREAM_END;
		/* Z_BUF_ERROR only means that it needs more input. */
		if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
			b->torn = b->finished = 1;
		made = BLOCK_BYTES - inf->z.avail_out;
		rc = check_length(b, made, err);
		if (rc)
			return rc;
		if (made) {
			hand_out(b, made);
			return 0;
		}
	}
	return VPT_END;
}

/* VPT_END: there is no more input. */
static int feed_zstd(struct vpt_kineto_bytes *b, struct vpt_err *err)
{
	struct vpt_kineto_unzstd *u = b->unzstd;
	size_t got;
	int rc;

	if (u->in.pos < u->in.size)
		return 0;
	rc = b->src->read_at(b->src, b->offset, u->input, INPUT_BYTES, &got, err);
	if (rc)
		return rc;
	b->offset += got;
	u->in.pos = 0;
	u->in.size = got;
	return got ? 0 : VPT_END;
}

static int fill_zstd(struct vpt_kineto_bytes *b, struct vpt_err *err)
{
	struct vpt_kineto_unzstd *u = b->unzstd;
	int rc;

	while (!b->finished) {
		ZSTD_outBuffer out = {b->block + (b->end - b->block), BLOCK_BYTES, 0};
		int at_end = feed_zstd(b, err);
		size_t left;

		if (at_end && at_end != VPT_END)
			return at_end;
		left = ZSTD_decompressStream(u->zstd, &out, &u->in);
		/* Without input it asks for the next frame, which need not come. */
		if (!ZSTD_isError(left) && (!at_end || !left))
			u->in_frame = left != 0;
		b->finished = ZSTD_isError(left) || (at_end && !out.pos);
		b->torn |= ZSTD_isError(left) || (b->finished && u->in_frame);
		rc = check_length(b, out.pos, err);
		if (rc)
			return rc;
		if (out.pos) {
			hand_out(b, out.pos);
			return 0;
		}
	}
	return VPT_END;
}

int vpt_kineto_bytes_fill(struct vpt_kineto_bytes *b, struct vpt_err *err)
{
	int rc;

	if (b->finished)
		return VPT_END;
	rc = make_room(b, err);
	if (rc)
		return rc;
	rc = b->inflate ? fill_gzip(b, err) : b->unzstd ? fill_zstd(b, err) : fill_plain(b, err);
	end_text(b);
	return rc;
}
