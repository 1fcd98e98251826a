/* packet_container.h - packs groups of packets for a file.
 *
 * Each group is packed by itself and the results are concatenated. So several threads can pack
 * groups, and in a truncated file every group before the cut is intact. */
#ifndef VPT_FORMATS_PERFETTO_PACKET_CONTAINER_H
#define VPT_FORMATS_PERFETTO_PACKET_CONTAINER_H

#include "formats/base/error.h"
#include "formats/perfetto/protobuf.h"

enum vpt_container {
	VPT_CONTAINER_PACKETS, /* one compressed packet per group: any Perfetto opens it */
	VPT_CONTAINER_ZSTD,    /* one zstd frame per group */
	VPT_CONTAINER_GZIP,    /* one gzip member per group */
	VPT_CONTAINER_NONE
};

/* Levels if the caller gives none, with the best ratio of savings to cost. */
#define VPT_PACK_ZSTD_LEVEL 1
#ifdef VPT_HAVE_LIBDEFLATE
#define VPT_PACK_DEFLATE_LEVEL 4
#else
#define VPT_PACK_DEFLATE_LEVEL 6
#endif

/* Whether this build supports it: packets and gzip need libdeflate or zlib. */
int vpt_container_available(enum vpt_container kind);

/* The suffix of a file's name: ".pftrace.zst". */
const char *vpt_container_suffix(enum vpt_container kind);

struct vpt_packer;

/* `level` 0: the default. NULL: no memory, or not available. A packer serves one thread at a
 * time. */
struct vpt_packer *vpt_packer_new(enum vpt_container kind, int level);
void vpt_packer_free(struct vpt_packer *p); /* accepts NULL */

/* Packs a group of whole packets into `out`, which is emptied first. The result does not depend on
 * earlier groups. 0 or VPT_ENOMEM. */
int vpt_packer_run(struct vpt_packer *p, const void *data, size_t size, struct vpt_pb *out);

#endif
