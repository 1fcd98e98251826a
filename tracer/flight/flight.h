/* flight.h - the flight recorder: keeps the newest chunks of a capture in memory, in place of a file.
 *
 *	recorder --frames--> flight --kept frames--> snapshot's file
 *	                       |
 *	                       +--> the launcher, after this process has died (flight_image.h)
 *
 * One thread writes frames, another reads what is kept meanwhile. What a reader has pinned stays
 * until it is released; a writer that needs the room waits for that, but not for ever. */
#ifndef VPTRACE_TRACER_FLIGHT_FLIGHT_H
#define VPTRACE_TRACER_FLIGHT_FLIGHT_H

#include "formats/io/io.h"
#include "tracer/flight/flight_image.h"

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

#endif
