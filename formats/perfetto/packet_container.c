/* packet_container.c - packs groups of packets with zstd, and with libdeflate or else zlib; libdeflate
 * deflates three times as fast. Left out: unpacking. */
#include "formats/perfetto/packet_container.h"

#include "formats/base/memory.h"
#include "formats/perfetto/perfetto_packets.h"

#if defined(VPT_HAVE_LIBDEFLATE)
#include <libdeflate.h>
#elif defined(VPT_HAVE_ZLIB)
#include <zlib.h>
#endif
#include <zstd.h>

#if defined(VPT_HAVE_LIBDEFLATE) || defined(VPT_HAVE_ZLIB)
#define HAVE_DEFLATE 1
#endif

/* Readers refuse larger compressed packets. */
enum { COMPRESSED_MAX = 512 << 10 };

struct vpt_packer {
	enum vpt_container kind;
	int level;
	ZSTD_CCtx *zstd;
#if defined(VPT_HAVE_LIBDEFLATE)
	struct libdeflate_compressor *deflate;
#elif defined(VPT_HAVE_ZLIB)
	z_stream zlib;
	int has_zlib;
#endif
	struct vpt_pb packed;
};

static const struct {
	const char *suffix;
	int needs_deflate, level;
} kinds[] = {
	[VPT_CONTAINER_PACKETS] = {".pftrace", 1, VPT_PACK_DEFLATE_LEVEL},
	[VPT_CONTAINER_ZSTD] = {".pftrace.zst", 0, VPT_PACK_ZSTD_LEVEL},
	[VPT_CONTAINER_GZIP] = {".pftrace.gz", 1, VPT_PACK_DEFLATE_LEVEL},
	[VPT_CONTAINER_NONE] = {".pftrace", 0, 0},
};

int vpt_container_available(enum vpt_container kind)
{
#ifdef HAVE_DEFLATE
	(void)kind;
	return 1;
#else
	return !kinds[kind].needs_deflate;
#endif
}

const char *vpt_container_suffix(enum vpt_container kind)
{
	return kinds[kind].suffix;
}

#if defined(VPT_HAVE_LIBDEFLATE)
static int start_deflate(struct vpt_packer *p)
{
	p->deflate = libdeflate_alloc_compressor(p->level > 9 ? 9 : p->level);
	return p->deflate != NULL;
}

static void stop_deflate(struct vpt_packer *p)
{
	libdeflate_free_compressor(p->deflate);
}

static int run_deflate(struct vpt_packer *p, const void *data, size_t size, struct vpt_pb *out)
{
	int gzip = p->kind == VPT_CONTAINER_GZIP;
	size_t bound = gzip ? libdeflate_gzip_compress_bound(p->deflate, size)
			    : libdeflate_zlib_compress_bound(p->deflate, size),
	       n;

	if (!vpt_pb_room(out, bound))
		return VPT_ENOMEM;
	n = gzip ? libdeflate_gzip_compress(p->deflate, data, size, out->data + out->size, bound)
		 : libdeflate_zlib_compress(p->deflate, data, size, out->data + out->size, bound);
	out->size += n;
	return n ? VPT_OK : VPT_ENOMEM;
}
#elif defined(VPT_HAVE_ZLIB)
static int start_deflate(struct vpt_packer *p)
{
	enum { WINDOW_BITS = 15, GZIP_HEADER = 16, MEMORY_LEVEL = 8 };
	int gzip = p->kind == VPT_CONTAINER_GZIP ? GZIP_HEADER : 0;

	p->has_zlib = deflateInit2(&p->zlib, p->level > 9 ? 9 : p->level, Z_DEFLATED,
			      WINDOW_BITS + gzip, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK;
	return p->has_zlib;
}

static void stop_deflate(struct vpt_packer *p)
{
	if (p->has_zlib)
		deflateEnd(&p->zlib);
}

static int run_deflate(struct vpt_packer *p, const void *data, size_t size, struct vpt_pb *out)
{
	/* Groups are a few megabytes at most. */
	uLong bound = deflateBound(&p->zlib, (uLong)size);

	if (size > UINT32_MAX / 2 || !vpt_pb_room(out, bound) || deflateReset(&p->zlib) != Z_OK)
		return VPT_ENOMEM;
	p->zlib.next_in = (Bytef *)(uintptr_t)data;
	p->zlib.avail_in = (uInt)size;
	p->zlib.next_out = out->data + out->size;
	p->zlib.avail_out = (uInt)bound;
	if (deflate(&p->zlib, Z_FINISH) != Z_STREAM_END)
		return VPT_ENOMEM;
	out->size += bound - p->zlib.avail_out;
	return VPT_OK;
}
#endif

/* At the fastest level the match table is sized to fit the first-level cache: packets are so alike
 * that a larger table finds no more matches. */
static int start_zstd(struct vpt_packer *p)
{
	enum { TABLE_BITS = 12 };

	p->zstd = ZSTD_createCCtx();
	return p->zstd &&
	       !ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, p->level)) &&
	       (p->level != 1 ||
		       !ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_hashLog, TABLE_BITS)));
}

static int start_library(struct vpt_packer *p)
{
#ifdef HAVE_DEFLATE
	if (kinds[p->kind].needs_deflate)
		return start_deflate(p);
#endif
	return p->kind == VPT_CONTAINER_ZSTD ? start_zstd(p) : p->kind == VPT_CONTAINER_NONE;
}

struct vpt_packer *vpt_packer_new(enum vpt_container kind, int level)
{
	struct vpt_packer *p = vpt_calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->kind = kind;
	p->level = level ? level : kinds[kind].level;
	if (!start_library(p)) {
		vpt_packer_free(p);
		return NULL;
	}
	return p;
}

void vpt_packer_free(struct vpt_packer *p)
{
	if (!p)
		return;
	ZSTD_freeCCtx(p->zstd);
#ifdef HAVE_DEFLATE
	stop_deflate(p);
#endif
	vpt_pb_free(&p->packed);
	vpt_free(p);
}

#ifdef HAVE_DEFLATE
/* Wraps the packets in a compressed one; packets that hardly shrink stay as they are. */
static int run_packets(struct vpt_packer *p, const void *data, size_t size, struct vpt_pb *out)
{
	int rc;

	vpt_pb_reset(&p->packed);
	rc = run_deflate(p, data, size, &p->packed);
	if (rc)
		return rc;
	if (p->packed.size >= COMPRESSED_MAX || p->packed.size >= size) {
		vpt_pb_raw(out, data, size);
	} else {
		vpt_pb_begin(out, VPT_PF_TRACE_PACKET);
		vpt_pb_bytes(out, VPT_PF_PACKET_COMPRESSED, p->packed.data, p->packed.size);
		vpt_pb_end(out);
	}
	return out->failed;
}
#endif

static int run_zstd(struct vpt_packer *p, const void *data, size_t size, struct vpt_pb *out)
{
	size_t bound = ZSTD_compressBound(size), n;

	if (!vpt_pb_room(out, bound))
		return VPT_ENOMEM;
	n = ZSTD_compress2(p->zstd, out->data + out->size, bound, data, size);
	if (ZSTD_isError(n))
		return VPT_ENOMEM;
	out->size += n;
	return VPT_OK;
}

int vpt_packer_run(struct vpt_packer *p, const void *data, size_t size, struct vpt_pb *out)
{
	vpt_pb_reset(out);
	switch (p->kind) {
#ifdef HAVE_DEFLATE
	case VPT_CONTAINER_PACKETS:
		return run_packets(p, data, size, out);
	case VPT_CONTAINER_GZIP:
		return run_deflate(p, data, size, out);
#endif
	case VPT_CONTAINER_ZSTD:
		return run_zstd(p, data, size, out);
	default:
		vpt_pb_raw(out, data, size);
		return out->failed;
	}
}
