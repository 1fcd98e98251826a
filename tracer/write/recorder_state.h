/* recorder_state.h - the state of a recorder. Private to recorder*.c.
 *
 *	recorder.c         rows, the file's limit, chunks
 *	recorder_pauses.c  when it records
 *	recorder_lanes.c   which lanes and names the open chunk uses */
#ifndef VPTRACE_TRACER_WRITE_RECORDER_STATE_H
#define VPTRACE_TRACER_WRITE_RECORDER_STATE_H

#include "formats/file/capture_writer.h"
#include "tracer/flight/flight.h"
#include "tracer/window/pauses.h"
#include "tracer/write/recorder.h"

#include <stddef.h>
#include <stdint.h>

/* ---- refused.c: what finds no room in a file that has reached its limit, though it belongs before the end.
 *
 * The recording ends where the first row of the host begins that finds no room: a moment that moves back as long as
 * rows come late. What was launched before it belongs to the recording, and the GPU may begin it much later. A
 * record of an op has the id of its launch but not the time, so the newest calls are remembered with both, and how
 * many ops were launched before the end is known once the end is. */

enum { VTR_REFUSED_CALLS = 1 << 16, VTR_REFUSED_OPS_MAX = 1 << 16 };

struct vtr_refused_call {
	uint64_t id, start_ns;
};

/* Ops with the same id, as the nodes of a graph. */
struct vtr_refused_ops {
	uint64_t id, count;
};

/* All zeros is empty. The recorder's. */
struct vtr_refused {
	struct vtr_refused_call *calls; /* NULL, or VTR_REFUSED_CALLS of them, a ring */
	uint64_t call_count;            /* ever */
	int is_sorted;                  /* by id: no call may be noted any more */
	struct vtr_refused_ops *ops;
	size_t op_count, op_cap;
	uint64_t more_ops; /* beyond VTR_REFUSED_OPS_MAX ids, or without memory: they count */
	uint64_t ranges;   /* that were open at the end */
	uint64_t from_ns;  /* the earliest start of these */
};

void vtr_refused_call(struct vtr_refused *r, uint64_t id, uint64_t start_ns);
void vtr_refused_op(struct vtr_refused *r, uint64_t id);
void vtr_refused_range(struct vtr_refused *r, uint64_t start_ns);

/* Whether an op was launched before `end_ns`, as far as the calls show it: no if none was noted. After the last call. */
int vtr_refused_is_before(struct vtr_refused *r, uint64_t id, uint64_t end_ns);

/* How many of the ops were. After the last call. */
uint64_t vtr_refused_ops_before(struct vtr_refused *r, uint64_t end_ns);

void vtr_refused_free(struct vtr_refused *r);

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
