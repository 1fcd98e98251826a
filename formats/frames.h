/* frames.h - where the zstd frames of a file lie, found without decompressing them.
 *
 * The walk hops from block header to block header. Where the chain breaks it looks for the next frame that
 * really begins a chunk, so that a damaged place costs only itself. */
#ifndef VPT_FORMATS_FRAMES_H
#define VPT_FORMATS_FRAMES_H

#include "formats/error.h"
#include "formats/io.h"

#include <stddef.h>
#include <stdint.h>

enum vpt_frame_state {
	VPT_FRAME_WHOLE, /* its last block and checksum are there; whether they are right is not known yet */
	VPT_FRAME_TORN,   /* the file ends inside it */
	VPT_FRAME_DAMAGED /* no frame: bytes that belong to none */
};

struct vpt_frame {
	uint64_t offset, size; /* compressed bytes */
	uint32_t content_size; /* declared, at most VPT_PAYLOAD_MAX */
	uint8_t state;         /* enum vpt_frame_state */
};

struct vpt_frames {
	struct vpt_frame *items; /* in file order; skippable frames are left out */
	size_t count, cap;
};

/* Tells whether a frame that starts at `offset` is one of ours; asked when the chain broke. */
struct vpt_frame_check {
	int (*ours)(void *ctx, struct vpt_source *src, uint64_t offset);
	void *ctx;
};

/* Walks the whole source. Damage is not an error: it becomes items. 0, VPT_ENOMEM or VPT_EIO. */
int vpt_frames_walk(struct vpt_source *src, const struct vpt_frame_check *check,
	struct vpt_frames *out, struct vpt_err *err);

void vpt_frames_free(struct vpt_frames *f);

#endif
