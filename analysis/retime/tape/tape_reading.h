/* tape_reading.h - a tape that is being read. Private to the files of this room. */
#ifndef VPA_ANALYSIS_RETIME_TAPE_READING_H
#define VPA_ANALYSIS_RETIME_TAPE_READING_H

#include "analysis/base/index.h"
#include "analysis/retime/tape/order.h"
#include "analysis/retime/tape/tape.h"
#include "formats/chunk/batch.h"
#include "formats/file/chunk_choice.h"

/* A call as it is read: nested ones too. */
struct vpa_tape_row {
	uint64_t start_ns, end_ns, correlation;
	uint32_t thread, name;
	uint8_t klass;
};

struct vpa_prefetch;

struct vpa_tape_reading {
	const struct vpt_trace *trace;
	struct vpa_tape_limits limits;
	struct vpa_prefetch *chunks;
	struct vpt_chunk_choice chosen; /* chunks in a row, the first of them is `begin` */
	size_t begin, chunk_count, next_chunk;
	size_t first_chunk, skip; /* of this part; how many were left out before it */
	size_t skipped, part_number;
	double stride; /* chunks from the beginning of a part to that of the next; 0: nothing is left out */
	uint64_t enough; /* calls and ops in memory, before the part may be full */
	int has_ended, has_calls, has_ops;
	uint64_t unjoined_ops; /* of parts without calls */
	struct vpa_tape *tape, own_tape;
	struct vpa_tape_row *rows;
	size_t row_count, row_cap;
	uint64_t *correlations; /* by op, as read */
	size_t correlation_cap;
	struct vpa_ordering row_order, op_order;
	struct vpa_index lanes, gpus;
	uint32_t *lane_of;
	size_t lane_cap;
	uint32_t *name_of; /* by string of the current chunk; NONE: not asked yet */
	size_t name_cap;
	uint32_t *known;   /* by the number of a call: 1 + its name; 0: not asked yet */
	uint8_t *class_of; /* by name: 1 + the class of the calls with it; 0: not asked yet */
	size_t known_cap, class_cap;
	uint8_t *family_of, *has_family; /* by name */
	size_t family_cap, has_family_cap;
	uint64_t *frame_lines, *stack_lines; /* by row of the current chunk's FRAME, STACK */
	size_t frame_cap, stack_cap;
	const struct vpt_batch *batch;
};

/* The thread of a lane, by its key. 0 or VPT_ENOMEM. */
int vpa_tape_find_thread(struct vpa_tape_reading *r, uint64_t key, uint32_t *thread);

/* Reads the samples of stacks that have lines that were asked for. 0 or VPT_ENOMEM. */
int vpa_tape_read_samples(struct vpa_tape_reading *r, const struct vpt_batch *b);

/* Of the rows that were read, puts those of the current chunk in order. 0 or VPT_ENOMEM. */
int vpa_tape_order(struct vpa_tape_reading *r, int is_last);

/* The lanes that a chunk describes; then its rows, in order; then the ranges that are open at its end. 0 or
 * VPT_ENOMEM. */
int vpa_tape_read_lanes(struct vpa_tape_reading *r, const struct vpt_batch *b);
int vpa_tape_read_chunk(struct vpa_tape_reading *r, struct vpt_batch *b);
int vpa_tape_read_open(struct vpa_tape_reading *r, const struct vpt_batch *b);

/* Joins all rows: finds the outermost calls, the call of each op, the rows of each call. 0 or VPT_ENOMEM. */
int vpa_tape_join(struct vpa_tape_reading *r);

#endif
