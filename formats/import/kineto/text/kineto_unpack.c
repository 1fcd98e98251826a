/* kineto_unpack.c - the text of a profiler's file, plain, gzip or zstd, in slabs.
 *
 * Long recordings often end with a kill, so half a file is a normal input: all text that can be
 * inflated is delivered, and the cut is a flag, not an error. Several gzip members in one file are
 * one text. What follows the last one, but for zeros, is no part of it: only its length is told. */
#include "formats/import/kineto/text/kineto_unpack.h"

#include "formats/base/cost_limits.h"
#include "formats/base/memory.h"
#include "formats/import/refused_formats.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum {
	INPUT_BYTES = 64 << 10,
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

static int begin_inflate(struct vpt_kineto_unpack *u, struct vpt_err *err)
{
	struct vpt_kineto_inflate *inf = vpt_alloc(1, sizeof(*inf));

	if (!inf)
		return vpt_fail(err, VPT_ENOMEM, "no memory to decompress the trace");
	inf->z = (z_stream){.zalloc = zlib_alloc, .zfree = zlib_free};
	inf->between_members = 0;
	if (inflateInit2(&inf->z, GZIP_ONLY) != Z_OK) {
		vpt_free(inf);
		return vpt_fail(err, VPT_ENOMEM, "no memory to decompress the trace");
	}
	u->inflate = inf;
	return 0;
}

static int begin_unzstd(struct vpt_kineto_unpack *u, struct vpt_err *err)
{
	struct vpt_kineto_unzstd *z = vpt_alloc(1, sizeof(*z));

	u->unzstd = z;
	if (z) {
		z->zstd = ZSTD_createDCtx();
		z->in = (ZSTD_inBuffer){.src = z->input};
		z->in_frame = 0;
	}
	if (!z || !z->zstd)
		return vpt_fail(err, VPT_ENOMEM, "no memory to decompress the trace");
	return 0;
}

static int begin_unpacking(
	struct vpt_kineto_unpack *u, const unsigned char *magic, size_t size, struct vpt_err *err)
{
	if (size >= 2 && magic[0] == 0x1f && magic[1] == 0x8b) {
		u->packer = "gzip";
		return begin_inflate(u, err);
	}
	if (vpt_is_zstd(magic, size)) {
		u->packer = "zstd";
		return begin_unzstd(u, err);
	}
	return 0;
}

int vpt_kineto_unpack_open(struct vpt_kineto_unpack *u, struct vpt_source *src, struct vpt_err *err)
{
	unsigned char magic[4];
	size_t got;
	int rc;

	memset(u, 0, sizeof(*u));
	u->src = src;
	u->text_max = vpt_limits_text_bytes(src->size_bytes);
	rc = src->read_at(src, 0, magic, sizeof(magic), &got, err);
	return rc ? rc : begin_unpacking(u, magic, got, err);
}

void vpt_kineto_unpack_close(struct vpt_kineto_unpack *u)
{
	if (u->inflate)
		inflateEnd(&u->inflate->z);
	vpt_free(u->inflate);
	if (u->unzstd)
		ZSTD_freeDCtx(u->unzstd->zstd);
	vpt_free(u->unzstd);
	u->inflate = NULL;
	u->unzstd = NULL;
}

static int read_plain(struct vpt_kineto_unpack *u, unsigned char *to, size_t size, size_t *made,
	struct vpt_err *err)
{
	int rc = u->src->read_at(u->src, u->offset, to, size, made, err);

	if (rc)
		return rc;
	u->offset += *made;
	u->finished = !*made;
	return *made ? 0 : VPT_END;
}

/* Looks at what follows the last member: padding with zeros is usual. VPT_END. */
static int look_after(struct vpt_kineto_unpack *u, struct vpt_err *err)
{
	struct vpt_kineto_inflate *inf = u->inflate;
	size_t got = inf->z.avail_in, i;
	const unsigned char *p = inf->z.next_in;
	int rc;

	for (;;) {
		for (i = 0; i < got && !p[i]; i++) {}
		if (i < got)
			break;
		rc = u->src->read_at(u->src, u->offset, inf->input, INPUT_BYTES, &got, err);
		if (rc)
			return rc;
		if (!got)
			return VPT_END;
		u->offset += got;
		p = inf->input;
	}
	u->after_gzip = u->src->size_bytes - (u->offset - got + i);
	u->another_gzip = p[i] == 0x1f && i + 1 < got && p[i + 1] == 0x8b;
	return VPT_END;
}

/* Gets more compressed bytes, and begins a new member after the last one. VPT_END: no more of
 * either. */
static int feed(struct vpt_kineto_unpack *u, struct vpt_err *err)
{
	struct vpt_kineto_inflate *inf = u->inflate;
	size_t got;
	int rc;

	if (!inf->z.avail_in) {
		rc = u->src->read_at(u->src, u->offset, inf->input, INPUT_BYTES, &got, err);
		if (rc)
			return rc;
		u->offset += got;
		inf->z.next_in = inf->input;
		inf->z.avail_in = (uInt)got;
		if (!got) {
			u->torn |= !inf->between_members;
			return VPT_END;
		}
	}
	if (!inf->between_members)
		return 0;
	if (inf->z.next_in[0] != 0x1f || (inf->z.avail_in > 1 && inf->z.next_in[1] != 0x8b))
		return look_after(u, err);
	inflateReset(&inf->z);
	inf->between_members = 0;
	return 0;
}

static int check_length(const struct vpt_kineto_unpack *u, size_t made, struct vpt_err *err)
{
	if (made <= u->text_max - u->made)
		return 0;
	return vpt_fail(err, VPT_ENOMEM,
		"expected %llu bytes of %s to hold at most %llu bytes of text, found more: if you "
		"trust the file, raise --memory",
		(unsigned long long)u->src->size_bytes, u->packer, (unsigned long long)u->text_max);
}

static int read_gzip(struct vpt_kineto_unpack *u, unsigned char *to, size_t size, size_t *made,
	struct vpt_err *err)
{
	struct vpt_kineto_inflate *inf = u->inflate;
	int rc;

	while (!u->finished) {
		rc = feed(u, err);
		u->finished = rc == VPT_END;
		if (rc)
			return rc;
		inf->z.next_out = to;
		inf->z.avail_out = (uInt)size;
		rc = inflate(&inf->z, Z_NO_FLUSH);
		if (rc == Z_MEM_ERROR)
			return vpt_fail(err, VPT_ENOMEM, "no memory to decompress the trace");
		inf->between_members = rc == Z_STREAM_END;
		/* Z_BUF_ERROR only means that it needs more input. */
		if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
			u->torn = u->finished = 1;
		*made = size - inf->z.avail_out;
		rc = check_length(u, *made, err);
		if (rc || *made)
			return rc;
	}
	return VPT_END;
}

/* VPT_END: there is no more input. */
static int feed_zstd(struct vpt_kineto_unpack *u, struct vpt_err *err)
{
	struct vpt_kineto_unzstd *z = u->unzstd;
	size_t got;
	int rc;

	if (z->in.pos < z->in.size)
		return 0;
	rc = u->src->read_at(u->src, u->offset, z->input, INPUT_BYTES, &got, err);
	if (rc)
		return rc;
	u->offset += got;
	z->in.pos = 0;
	z->in.size = got;
	return got ? 0 : VPT_END;
}

static int read_zstd(struct vpt_kineto_unpack *u, unsigned char *to, size_t size, size_t *made,
	struct vpt_err *err)
{
	struct vpt_kineto_unzstd *z = u->unzstd;
	int rc;

	while (!u->finished) {
		ZSTD_outBuffer out = {to, size, 0};
		int at_end = feed_zstd(u, err);
		size_t left;

		if (at_end && at_end != VPT_END)
			return at_end;
		left = ZSTD_decompressStream(z->zstd, &out, &z->in);
		/* Without input it asks for the next frame, which need not come. */
		if (!ZSTD_isError(left) && (!at_end || !left))
			z->in_frame = left != 0;
		u->finished = ZSTD_isError(left) || (at_end && !out.pos);
		u->torn |= ZSTD_isError(left) || (u->finished && z->in_frame);
		*made = out.pos;
		rc = check_length(u, *made, err);
		if (rc || *made)
			return rc;
	}
	return VPT_END;
}

int vpt_kineto_unpack(struct vpt_kineto_unpack *u, unsigned char *to, size_t size, size_t *made,
	struct vpt_err *err)
{
	int rc;

	*made = 0;
	if (u->finished)
		return VPT_END;
	rc = u->inflate  ? read_gzip(u, to, size, made, err)
	     : u->unzstd ? read_zstd(u, to, size, made, err)
			 : read_plain(u, to, size, made, err);
	if (rc)
		*made = 0;
	u->made += *made;
	return rc;
}
