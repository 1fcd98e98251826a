/* container.h - how groups of packets are put into a file.
 *
 * Each group is packed by itself and the results stand one after the other, so groups can be packed by several
 * threads, and of a file that is cut the groups before the cut are whole. */
#ifndef VPT_FORMATS_CONTAINER_H
#define VPT_FORMATS_CONTAINER_H

#include "formats/error.h"
#include "formats/protobuf.h"

enum vpt_container {
	VPT_CONTAINER_PACKETS, /* a compressed packet a group: any Perfetto opens it */
	VPT_CONTAINER_ZSTD,    /* a zstd frame a group */
	VPT_CONTAINER_GZIP,    /* a gzip member a group */
	VPT_CONTAINER_NONE
};

/* Whether this build has it: packets and gzip need libdeflate or zlib. */
int vpt_container_available(enum vpt_container kind);

/* What a file's name ends in: ".pftrace.zst". */
const char *vpt_container_suffix(enum vpt_container kind);

struct vpt_packer;

/* `level` 0: the usual one. NULL: no memory, or not available. One thread at a time uses a packer. */
struct vpt_packer *vpt_packer_new(enum vpt_container kind, int level);
void vpt_packer_free(struct vpt_packer *p); /* accepts NULL */

/* Packs a group of whole packets into `out`, which is emptied first. Its bytes do not depend on the groups before. 0 or
 * VPT_ENOMEM. */
int vpt_packer_run(struct vpt_packer *p, const void *data, size_t size, struct vpt_pb *out);

#endif
