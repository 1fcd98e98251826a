/* ring_options.h - the texts of VPTRACE_RING and VPTRACE_SNAPSHOT_ON, read once. */
#ifndef VPTRACE_TRACER_SETTINGS_RING_OPTIONS_H
#define VPTRACE_TRACER_SETTINGS_RING_OPTIONS_H

#include "formats/base/error.h"

#include <stdint.h>

enum { VTR_RING_TEXT_MAX = 32, VTR_SNAPSHOT_TEXT_MAX = 512, VTR_SNAPSHOT_NAME_MAX = 256 };

/* The least that a ring may hold: several chunks, which are smaller in a small ring. */
enum { VTR_RING_BYTES_MIN = 1 << 20, VTR_RING_CHUNKS = 8 };

/* How much a flight recorder keeps: of time or of bytes; both 0: there is no ring. */
struct vtr_ring {
	uint64_t keep_ns, bytes;
	char text[VTR_RING_TEXT_MAX]; /* as it was given */
};

/* When it is written, besides vptrace_snapshot() and the end; all 0: at the end. */
struct vtr_snapshot_on {
	char mark[VTR_SNAPSHOT_NAME_MAX]; /* a mark of this name */
	double slow;                      /* a step slower than this many medians */
	int signal;
	char signal_name[8];
	char text[VTR_SNAPSHOT_TEXT_MAX];
};

/* Reads "30s", "2m", "1h"; "64M", "1G", "64MiB". NULL and "" are no ring. VPT_EINVAL: the error says
 * what is expected and what was found. */
int vtr_ring_read(const char *text, struct vtr_ring *out, struct vpt_err *err);

/* Reads "mark:NAME", "slow:K", "signal:USR2", or several of them with commas between. */
int vtr_snapshot_on_read(const char *text, struct vtr_snapshot_on *out, struct vpt_err *err);

/* Whether the end of a capture is written too. */
static inline int vtr_snapshot_at_end(const struct vtr_snapshot_on *on)
{
	return !on->text[0];
}

#endif
