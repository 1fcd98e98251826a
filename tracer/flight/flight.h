/* flight.h - the flight recorder: keeps the newest chunks of a capture in memory, in place of a file.
 *
 *	recorder --frames--> flight --kept frames--> snapshot's file
 *	                       |
 *	                       +--> the launcher, after this process has died (flight_image.c)
 *
 * One thread writes frames, another reads what is kept meanwhile. What a reader has pinned stays
 * until it is released; a writer that needs the room waits for that, but not for ever. */
#ifndef VPTRACE_TRACER_FLIGHT_FLIGHT_H
#define VPTRACE_TRACER_FLIGHT_FLIGHT_H

#include "formats/capture_layout.h"
#include "formats/file/capture_writer.h"
#include "formats/io/io.h"
#include "tracer/files/run_description.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* ---- flight_image.c: a flight recorder's memory, as another process finds it after this one has died.
 *
 *	head    4 KiB   who this is, the file's name, the layout; written once
 *	entries         one for each kept frame: where it is, what it holds
 *	abouts  2 slots the opening chunk's frame, the newer one counts
 *	data            the frames: compressed chunks, in a ring
 *
 * The writer invalidates the entries of what it overwrites, copies a frame, and publishes its entry
 * with a release store of its mark. So at every instant an entry with a valid mark has its frame
 * whole. A reader believes nothing: it checks each entry, the bounds, and the frame's own hash. */

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

struct vtr_flight;

struct vtr_flight_options {
	uint64_t data_bytes;  /* the most that is kept */
	uint64_t keep_ns;     /* of time; 0: as much as there is room for */
	uint64_t patience_ns; /* how long the writer waits for a reader */
	struct vpt_header header;
	const char *path, *ring; /* of the file; how much to keep, in the user's words */
};

/* Makes the memory, which takes pages only as it is filled. VPT_ENOMEM. */
int vtr_flight_new(
	const struct vtr_flight_options *o, struct vtr_flight **out, struct vpt_err *err);
void vtr_flight_free(struct vtr_flight *f); /* accepts NULL */

/* The memory's descriptor, for the launcher; -1: there is none. Borrowed. */
int vtr_flight_descriptor(const struct vtr_flight *f);

/* The process has written its end: the launcher has nothing to do. Frees the memory's pages; only
 * vtr_flight_free() may follow. */
void vtr_flight_settle(struct vtr_flight *f);

/* ---- the recorder ---- */

/* The sink of the frames, each one write: the first is the file's header, which is not kept, the
 * others are chunks, described before. A frame larger than the ring is VPT_ENOMEM. Freed with the
 * flight, not by finish(). */
struct vpt_sink *vtr_flight_sink(struct vtr_flight *f);

/* Describes the next frame. Its number follows the one before; offset, bytes, hash and the state
 * before are filled in here. */
void vtr_flight_describe(struct vtr_flight *f, const struct vtr_image_frame *frame);

/* The next frame is the opening chunk, which replaces the one before. */
void vtr_flight_describe_about(struct vtr_flight *f);

/* ---- reading what is kept ---- */

/* What a snapshot is written from; either this process's ring or a dead one's image. */
struct vtr_flight_view {
	struct vpt_header header;
	uint64_t first, count; /* numbers of the chunks; the first may be any */
	size_t most_bytes;     /* of a frame */
	/* Copies the frame of a chunk into `buffer`, which has room for that many bytes.
	 * VPT_EDATA: it is no longer there. */
	int (*frame)(struct vtr_flight_view *v, uint64_t number, struct vtr_image_frame *out,
		void *buffer, struct vpt_err *err);
	/* The same for the opening chunk. *bytes 0: there is none. */
	int (*about)(struct vtr_flight_view *v, void *buffer, size_t *bytes, struct vpt_err *err);
	void *ctx;
};

/* Pins all that is kept. A frame is released when it is read. One reader at a time. */
void vtr_flight_pin(struct vtr_flight *f, struct vtr_flight_view *out);
void vtr_flight_unpin(struct vtr_flight *f);

/* ---- ring_chunk.c: what a chunk needs besides its rows to go into a flight recorder's ring: its
 * description, and the opening chunk that repeats facts and devices. The writer's thread only. ---- */

/* All zeros but for the batch, which is initialised. */
struct vtr_ring_chunk {
	struct vpt_batch opening;
	uint64_t cut_ns, complete_until_ns; /* as in struct vtr_image_frame */
};

/* Before a chunk is put: writes the opening chunk again if a fact or a device is new, and describes
 * the chunk, which has this number. `counts`: received, dropped, invalid, with this chunk. Without
 * memory the opening chunk stays as it is, and the next call tries again. */
void vtr_ring_chunk_describe(struct vtr_ring_chunk *c, struct vtr_flight *flight,
	struct vtr_about *about, struct vpt_writer *writer, uint64_t number,
	const uint64_t counts[3]);

#endif
