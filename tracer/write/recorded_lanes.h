/* recorded_lanes.h - the streams, threads and series of a capture, found by identity.
 *
 * Lanes do not move until the table is freed. The writer's thread only. */
#ifndef VPTRACE_TRACER_WRITE_RECORDED_LANES_H
#define VPTRACE_TRACER_WRITE_RECORDED_LANES_H

#include "formats/event_schema.h"

#include <stddef.h>
#include <stdint.h>

/* A stream, thread or series of the capture; valid until the table is freed. */
struct vtr_lane {
	uint64_t key;                        /* in the file; 0: the lane of rows that have none */
	uint64_t received, dropped, invalid; /* invalid rows are written too */
	uint64_t pending;                    /* rows of the open chunk, not in `received` yet */
	uint64_t chunk;                      /* the last that described it */
	uint64_t open;       /* stamp and kind of the section below, see vtr_recorder_append() */
	size_t section;      /* its byte offset in the batch */
	int asked_name;      /* the kernel was asked for the thread's name */
	struct vpt_lane row; /* name and unit as numbers of range_strings.h, not of a chunk */
};

enum { VTR_LANES_MAX = 65536 };

struct vtr_lanes {
	struct vtr_lane_block **blocks;
	size_t block_count, block_cap;
	uint32_t count;
	uint32_t *slots; /* 1 + lane, hashed by identity */
};

/* 0 or VPT_ENOMEM. */
int vtr_lanes_init(struct vtr_lanes *lanes);
void vtr_lanes_free(struct vtr_lanes *lanes); /* accepts all zeros */

/* Rows that describe a lane, for the function below. `name` and `unit`: of range_strings.h. */
struct vpt_lane vtr_lane_of_stream(
	uint32_t pid, uint32_t device, uint32_t context, uint32_t stream);
struct vpt_lane vtr_lane_of_thread(uint32_t pid, uint32_t tid);
struct vpt_lane vtr_lane_of_series(uint32_t pid, int64_t device, uint32_t name, uint32_t unit);

/* The lane that `row` describes, created if new: a stream by device, context and stream, a thread
 * by its id, a series by its device, name and unit. NULL: no memory, or VTR_LANES_MAX exist. */
struct vtr_lane *vtr_lanes_find(struct vtr_lanes *lanes, const struct vpt_lane *row);

/* By number, 0 to count - 1, in order of creation; keys count from 1. */
struct vtr_lane *vtr_lanes_at(const struct vtr_lanes *lanes, uint32_t index);

/* Update a lane; the next chunk that uses it describes it again. */
void vtr_recorder_describe_stream(struct vtr_lane *lane, int64_t priority, uint64_t flags);
void vtr_recorder_name_lane(struct vtr_lane *lane, uint32_t name); /* a number of range_strings.h */

/* An unnamed thread's lane gets the kernel's name for it, read once, while the thread runs. */
void vtr_lane_name_thread(struct vtr_lane *lane);

#endif
