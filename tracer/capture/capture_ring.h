/* capture_ring.h - a capture's flight recorder, in place of its file. For capture.c only. */
#ifndef VPTRACE_TRACER_CAPTURE_CAPTURE_RING_H
#define VPTRACE_TRACER_CAPTURE_CAPTURE_RING_H

#include "tracer/flight/flight.h"
#include "tracer/flight/snapshots.h"

/* All zeros: the capture has a file. */
struct vtr_capture_ring {
	struct vtr_flight *flight;
	struct vtr_snapshots *snapshots;
	int hangs; /* a snapshot does: it and the capture are never freed */
};

/* Makes the ring, shows it to the launcher, and fills in what the writer needs of it; `o->header` is
 * set. VPT_ENOMEM. */
int vtr_capture_ring_make(struct vtr_capture_ring *r, const struct vtr_options *options,
	struct vtr_writer_options *o, struct vpt_err *err);

/* For vptrace_snapshot(), whose `path` it is; returns VPT_* codes. */
int vtr_capture_ring_take(struct vtr_capture_ring *r, const struct vtr_options *options,
	const char *path, struct vpt_err *err);

/* After the writer's end, unless it has not ended: writes the end where it is wanted; the launcher
 * has nothing left to do then. 0 or VPT_EIO. */
int vtr_capture_ring_end(struct vtr_capture_ring *r, const struct vtr_options *options,
	int writer_ended, struct vpt_err *err);

void vtr_capture_ring_free(struct vtr_capture_ring *r); /* after the writer's */

#endif
