/* zstd_frames.h - locates the zstd frames of a file without decompressing them.
 *
 * The walk goes from block header to block header. Where the chain breaks, it searches for the next
 * frame that really begins a chunk, so that damage costs only the bytes it hit. */
#ifndef VPT_FORMATS_FILE_ZSTD_FRAMES_H
#define VPT_FORMATS_FILE_ZSTD_FRAMES_H

#include "formats/base/error.h"
#include "formats/io/io.h"

#include <stddef.h>
#include <stdint.h>

enum vpt_frame_state {
	VPT_ZSTD_FRAME_WHOLE,  /* its last block and checksum are there, but not verified yet */
	VPT_ZSTD_FRAME_TORN,   /* the file ends inside it */
	VPT_ZSTD_FRAME_DAMAGED /* bytes that belong to no frame */
};

struct vpt_zstd_frame {
	uint64_t offset, size; /* compressed bytes */
	uint32_t content_size; /* declared, at most VPT_PAYLOAD_MAX */
	uint8_t state;         /* enum vpt_frame_state */
};

struct vpt_frames {
	struct vpt_zstd_frame *items; /* in file order; skippable frames are left out */
	size_t count, cap;
};

/* Checks whether a frame that starts at `offset` is one of ours; called where the chain breaks. */
struct vpt_frame_check {
	int (*ours)(void *ctx, struct vpt_source *src, uint64_t offset);
	void *ctx;
};

/* Walks the whole source. Damage is not an error: it becomes items. 0, VPT_ENOMEM or VPT_EIO. */
int vpt_frames_walk(struct vpt_source *src, const struct vpt_frame_check *check,
	struct vpt_frames *out, struct vpt_err *err);

/* The first frame of a source. VPT_END: it begins with something else, or ends inside it. VPT_ENOMEM, VPT_EIO. */
int vpt_frames_first(struct vpt_source *src, struct vpt_zstd_frame *out, struct vpt_err *err);

void vpt_frames_free(struct vpt_frames *f);

#endif
