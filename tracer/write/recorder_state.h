/* recorder_state.h - the state of a recorder. Private to recorder*.c.
 *
 *	recorder.c         rows, the file's limit, chunks
 *	recorder_pauses.c  when it records
 *	recorder_lanes.c   which lanes and names the open chunk uses */
#ifndef VPTRACE_TRACER_WRITE_RECORDER_STATE_H
#define VPTRACE_TRACER_WRITE_RECORDER_STATE_H

#include "formats/file/capture_writer.h"
#include "tracer/flight/ring_chunk.h"
#include "tracer/window/pauses.h"
#include "tracer/write/recorder.h"
#include "tracer/write/refused.h"

struct known_name {
	uint64_t chunk;
	uint64_t id;
};

struct vtr_recorder {
	struct vtr_open_chunk open; /* first: the inline functions of recorder.h read only this */
	struct vtr_recorder_options o;
	struct vpt_writer *writer; /* NULL until the first chunk */
	struct vpt_err err;        /* why nothing is written any more */
	uint64_t since_ns;         /* the open chunk's first row, CLOCK_MONOTONIC */
	uint64_t chunks;
	uint64_t lost_reported; /* dropped records reported in chunk headers */
	int closing;

	struct vtr_lane nowhere;
	struct vtr_lanes lanes;
	struct vtr_lane **used; /* lanes of the open chunk */
	size_t used_count, used_cap;
	struct vtr_lane *last_stream, *last_thread;

	struct known_name *names; /* by number of range_strings.h */
	size_t name_cap;

	struct vtr_about about;
	struct vtr_ring_chunk ring; /* the newest chunk's edges, and for a flight recorder */

	struct vtr_pauses pauses;
	int is_full;      /* the file has reached its limit */
	uint64_t full_ns; /* the start of the first row that this has refused */
	struct vtr_refused refused;
	uint64_t changes_seen;
	uint64_t received, dropped, invalid; /* without what is pending */
};

/* Follows the changes of the window that the recorder has not seen. */
void vtr_recorder_follow(struct vtr_recorder *r);
/* The fast path of recorder.h takes rows of the newest time in no pause: after every change of pauses or the limit. */
void vtr_recorder_update_clear(struct vtr_recorder *r);

/* Puts the rows that describe the open chunk's lanes. Last, since a thread may have got its name
 * meanwhile. */
void vtr_recorder_put_lanes(struct vtr_recorder *r);

#endif
