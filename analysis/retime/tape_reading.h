/* tape_reading.h - a tape that is being read. Private to tape.c and tape_join.c. */
#ifndef VPA_ANALYSIS_RETIME_TAPE_READING_H
#define VPA_ANALYSIS_RETIME_TAPE_READING_H

#include "analysis/base/index.h"
#include "analysis/retime/order.h"
#include "analysis/retime/tape.h"
#include "formats/chunk/batch.h"

/* A call as it is read: nested ones too. */
struct vpa_tape_row {
	uint64_t start_ns, end_ns, correlation;
	uint32_t thread, name;
	uint8_t klass;
};

struct vpa_tape_reading {
	struct vpa_tape *tape;
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
	const struct vpt_batch *batch;
	uint64_t most; /* calls and ops */
};

/* Of the rows that were read, puts those of the current chunk in order. 0 or VPT_ENOMEM. */
int vpa_tape_order(struct vpa_tape_reading *r, int is_last);

/* Joins all rows: finds the outermost calls, the call of each op, the rows of each call. 0 or VPT_ENOMEM. */
int vpa_tape_join(struct vpa_tape_reading *r);

#endif
