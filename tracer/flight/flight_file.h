/* flight_file.h - writes what a flight recorder has kept as a capture of its own. */
#ifndef VPTRACE_TRACER_FLIGHT_FLIGHT_FILE_H
#define VPTRACE_TRACER_FLIGHT_FLIGHT_FILE_H

#include "tracer/flight/flight.h"

struct vtr_flight_why {
	const char *cause, *ring; /* for META: ring.cause and ring */
	int is_complete;          /* the recording was stopped: nothing is missing at its end */
	uint64_t held_ns;  /* GPU work launched since then has not been delivered; 0: all has */
	int is_cut_off;    /* some that was delivered is not in the ring yet */
	uint64_t asked_ns; /* trace clock: what happened by then should be there; 0: unknown */
};

/* Writes header, opening chunk, kept chunks and a last chunk to `sink`, which the caller finishes.
 * VPT_EDATA: nothing is kept, or frames went away meanwhile; VPT_EIO, VPT_ENOMEM. */
int vtr_flight_write(struct vtr_flight_view *view, const struct vtr_flight_why *why,
	struct vpt_sink *sink, struct vpt_err *err);

/* ---- a dead process's ring ---- */

struct vtr_flight_image; /* its memory, read with pread(2) */

/* Reads who a ring is, which its process writes once and may change later: a reader that does not trust
 * it takes this at once. VPT_EDATA: the descriptor, which stays the caller's, is no ring's memory, or a
 * file that might make a reader wait. */
int vtr_flight_image_head(int fd, struct vtr_image_head *out, struct vpt_err *err);

/* Reads the image behind a descriptor, which stays the caller's, as `head` describes it, and finds the
 * newest unbroken run of frames that are intact. `out` is valid until the image is freed. VPT_EDATA: it
 * is none. VPT_ENOMEM. */
int vtr_flight_image_open(int fd, const struct vtr_image_head *head, struct vtr_flight_image **out,
	struct vtr_flight_view *view, struct vpt_err *err);
/* Whether the process itself has written what it wanted to. */
int vtr_flight_image_is_settled(int fd);
void vtr_flight_image_free(struct vtr_flight_image *image); /* accepts NULL */

#endif
