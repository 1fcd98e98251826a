/* counter_rows.h - samples of counters become rows; those from before the first record wait for it.
 *
 * A process that records nothing else leaves no file, and the first record may arrive long after
 * it was made. At most VTR_COUNTERS_HELD samples wait, the newest ones: a program that does not use
 * its GPU for minutes has only the last of them. All zeros is ready to use. */
#ifndef VPTRACE_TRACER_WRITE_COUNTER_ROWS_H
#define VPTRACE_TRACER_WRITE_COUNTER_ROWS_H

#include "tracer/handover/mail.h"
#include "tracer/write/recorder.h"

#include <stddef.h>
#include <stdint.h>

enum { VTR_COUNTERS_HELD = 32768 }; /* 5 minutes of one GPU, every 100 ms */

struct vtr_counter_rows {
	struct vtr_sample *held; /* a ring once it is full */
	size_t held_cap, held_count, oldest;
	uint64_t written; /* rows */
};

/* Puts a sample, after those that waited. The writer's thread. */
void vtr_counter_rows_put(
	struct vtr_counter_rows *rows, const struct vtr_sample *sample, struct vtr_recorder *r);
/* Puts those that waited, if there is a record now. The writer's thread. */
void vtr_counter_rows_flush(struct vtr_counter_rows *rows, struct vtr_recorder *r);
void vtr_counter_rows_free(struct vtr_counter_rows *rows);

#endif
