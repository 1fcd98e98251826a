/* container.c - packing groups of packets.
 *
 * zlib and zstd do the work. Left out: unpacking. */
#include "formats/container.h"

#include "formats/memory.h"
#include "formats/perfetto.h"

#ifdef VPT_HAVE_ZLIB
#include <zlib.h>
#endif
#include <zstd.h>

/* Readers refuse compressed packets of more. */
enum { COMPRESSED_MAX = 512 << 10 };

struct vpt_packer {
	enum vpt_container kind;
	int level;
	ZSTD_CCtx *zstd;
#ifdef VPT_HAVE_ZLIB
	z_stream zlib;
	int has_zlib;
#endif
	struct vpt_pb packed;
};

static const struct {
	const char *suffix;
	int needs_zlib, level;
} kinds[] = {
	[VPT_CONTAINER_PACKETS] = {".pftrace", 1, 6},
	[VPT_CONTAINER_ZSTD] = {".pftrace.zst", 0, 1},
	[VPT_CONTAINER_GZIP] = {".pftrace.gz", 1, 6},
	[VPT_CONTAINER_NONE] = {".pftrace", 0, 0},
};

int vpt_container_available(enum vpt_container kind)
{
#ifdef VPT_HAVE_ZLIB
	(void)kind;
	return 1;
#else
	return !kinds[kind].needs_zlib;
#endif
}

const char *vpt_container_suffix(enum vpt_container kind)
{
	return kinds[kind].suffix;
}

static int start_library(struct vpt_packer *p)
{
#ifdef VPT_HAVE_ZLIB
	enum { WINDOW_BITS = 15, GZIP_HEADER = 16, MEMORY_LEVEL = 8 };
	int gzip = p->kind == VPT_CONTAINER_GZIP ? GZIP_HEADER : 0;

	if (kinds[p->kind].needs_zlib) {
		p->has_zlib = deflateInit2(&p->zlib, p->level > 9 ? 9 : p->level, Z_DEFLATED,
				      WINDOW_BITS + gzip, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK;
		return p->has_zlib;
	}
#endif
	if (p->kind == VPT_CONTAINER_ZSTD)
		return (p->zstd = ZSTD_createCCtx()) != NULL;
	return p->kind == VPT_CONTAINER_NONE;
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
#ifdef VPT_HAVE_ZLIB
	if (p->has_zlib)
		deflateEnd(&p->zlib);
#endif
	vpt_pb_free(&p->packed);
	vpt_free(p);
}

#ifdef VPT_HAVE_ZLIB
static int run_zlib(struct vpt_packer *p, const void *data, size_t size, struct vpt_pb *out)
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

/* A packet that holds the others; those that hardly shrink stay as they are. */
static int run_packets(struct vpt_packer *p, const void *data, size_t size, struct vpt_pb *out)
{
	int rc;

	vpt_pb_reset(&p->packed);
	rc = run_zlib(p, data, size, &p->packed);
	if (rc)
		return rc;
	if (p->packed.size >= COMPRESSED_MAX || p->packed.size >= size) {
		vpt_pb_raw(out, data, size);
	} else {
		vpt_pb_begin(out, 1);
		vpt_pb_bytes(out, VPT_PF_COMPRESSED, p->packed.data, p->packed.size);
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
	n = ZSTD_compressCCtx(p->zstd, out->data + out->size, bound, data, size, p->level);
	if (ZSTD_isError(n))
		return VPT_ENOMEM;
	out->size += n;
	return VPT_OK;
}

int vpt_packer_run(struct vpt_packer *p, const void *data, size_t size, struct vpt_pb *out)
{
	vpt_pb_reset(out);
	switch (p->kind) {
#ifdef VPT_HAVE_ZLIB
	case VPT_CONTAINER_PACKETS:
		return run_packets(p, data, size, out);
	case VPT_CONTAINER_GZIP:
		return run_zlib(p, data, size, out);
#endif
	case VPT_CONTAINER_ZSTD:
		return run_zstd(p, data, size, out);
	default:
		vpt_pb_raw(out, data, size);
		return out->failed;
	}
}
