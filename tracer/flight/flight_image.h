/* flight_image.h - a flight recorder's memory, as another process finds it after this one has died.
 *
 *	head    4 KiB   who this is, the file's name, the layout; written once
 *	entries         one for each kept frame: where it is, what it holds
 *	abouts  2 slots the opening chunk's frame, the newer one counts
 *	data            the frames: compressed chunks, in a ring
 *
 * The writer invalidates the entries of what it overwrites, copies a frame, and publishes its entry
 * with a release store of its mark. So at every instant an entry with a valid mark has its frame
 * whole. A reader believes nothing: it checks each entry, the bounds, and the frame's own hash. */
#ifndef VPTRACE_TRACER_FLIGHT_FLIGHT_IMAGE_H
#define VPTRACE_TRACER_FLIGHT_FLIGHT_IMAGE_H

#include "formats/capture_layout.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum {
	VTR_IMAGE_ENTRIES = 16384,
	VTR_IMAGE_ABOUT_BYTES = 1 << 20, /* of a slot */
	VTR_IMAGE_FRAME_MAX = 17 << 20,  /* a chunk's content cannot be more than 16 MiB */
	VTR_IMAGE_PATH_MAX = 3840,
	VTR_IMAGE_RING_MAX = 32
};

#define VTR_IMAGE_MAGIC    0x31474e4952545056u /* "VPTRING1" */
#define VTR_IMAGE_DATA_MAX (1ull << 40)

/* Fields of a frame. Counts are of the whole recording: before this chunk, and with it. */
struct vtr_image_frame {
	uint64_t number; /* of the chunk; that of an entry is its place in the table, too */
	uint64_t offset, bytes;
	uint64_t from_ns, to_ns;     /* trace clock: the time in which it was filled */
	uint64_t cut_ns;             /* ranges that ended by then are in it or before it */
	uint64_t complete_until_ns;  /* GPU work that had ended by then is in it or before it */
	uint64_t before[3], with[3]; /* received, dropped, invalid */
	uint64_t hash;               /* of the frame's bytes */
};

struct vtr_image_entry {
	struct vtr_image_frame frame;
	uint64_t check;        /* of the fields above */
	_Atomic uint64_t mark; /* number + 1; 0: there is none */
};

struct vtr_image_head {
	uint64_t magic, bytes; /* of the whole image */
	uint64_t data_offset, data_bytes;
	uint64_t pid;
	struct vpt_header header;      /* of the recording */
	char ring[VTR_IMAGE_RING_MAX]; /* how much was asked for, in the user's words */
	char path[VTR_IMAGE_PATH_MAX]; /* of the file to write */
	uint64_t check;                /* of all fields above */
	_Atomic uint32_t settled;      /* the process has written what it wanted to: 1 */
};

struct vtr_image {
	union {
		struct vtr_image_head head;
		unsigned char page[8192];
	};
	struct vtr_image_entry entries[VTR_IMAGE_ENTRIES];
	struct vtr_image_entry about_entries[2];
	unsigned char padding[4096 - 2 * sizeof(struct vtr_image_entry)];
	unsigned char abouts[2][VTR_IMAGE_ABOUT_BYTES];
};
_Static_assert(sizeof(struct vtr_image_head) <= 8192, "within its pages");
_Static_assert(sizeof(struct vtr_image) % 4096 == 0, "the data begins on a page");

/* The bytes of an image with this much data. */
static inline uint64_t vtr_image_bytes(uint64_t data_bytes)
{
	return sizeof(struct vtr_image) + data_bytes;
}

/* FNV-1a over words, then bytes: finds accidents, not forgeries. */
uint64_t vtr_image_hash(const void *data, size_t bytes);

uint64_t vtr_image_check_frame(const struct vtr_image_frame *frame);
uint64_t vtr_image_check_head(const struct vtr_image_head *head);

#endif
