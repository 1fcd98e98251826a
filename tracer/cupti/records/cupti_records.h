/* cupti_records.h - CUPTI's records to rows. The writer's thread only.
 *
 * Counting. For the records walked in this capture's buffers,
 *
 *	records = rows + dropped + filtered + described + held
 *
 *	rows       handed to the recorder, one row each
 *	dropped    handed to the recorder as dropped: those of discard buffers
 *	filtered   calls not asked for (CUPTI before 12.5 delivers all), driver calls inside
 *	           of runtime calls, unknown kinds
 *	described  DEVICE, CONTEXT and STREAM records, which describe lanes and make no rows
 *	held       driver calls that still wait for a runtime call around them, ops that began in a
 *	           pause and wait for their launch; 0 after vtr_decoder_settle(..., 0)
 *
 * The recorder's "received" is rows + dropped, less the rows that start in a pause. `records` is
 * what CUPTI delivered, unless a buffer was damaged. Buffers of an earlier capture are not
 * counted. */
#ifndef VPTRACE_TRACER_CUPTI_RECORDS_CUPTI_RECORDS_H
#define VPTRACE_TRACER_CUPTI_RECORDS_CUPTI_RECORDS_H

#include "tracer/cupti/library/cupti_calls.h"
#include "tracer/cupti/library/cupti_sizes.h"
#include "tracer/handover/buffer_pool.h"
#include "tracer/write/recorder.h"

struct vtr_decoded {
	uint64_t records, rows, dropped, filtered, described, held;
	uint64_t buffers, stale_buffers, damaged_buffers;
	uint64_t nested; /* of filtered: driver calls inside runtime calls */
};

struct vtr_decoder;

/* One per process: 64-bit correlation numbers continue from capture to capture. NULL: no memory. */
struct vtr_decoder *vtr_decoder_new(void);
void vtr_decoder_free(struct vtr_decoder *d);

/* Begins a capture, with another recorder. Both tables are borrowed until the next begin. */
void vtr_decoder_begin(
	struct vtr_decoder *d, const struct vtr_sizes *sizes, const struct vtr_calls *calls);

/* Makes rows of a buffer; returns the number of records walked. A record that cannot be understood
 * ends the buffer, which becomes a LOSS from the time the buffer was handed out until now. A
 * discard buffer's records are dropped and become a LOSS over their times. A stale buffer is walked
 * only to free what its records own. */
uint64_t vtr_decoder_buffer(
	struct vtr_decoder *d, const struct vtr_full *full, struct vtr_recorder *r);

/* Makes rows of calls and ops held for at least `age_ns`; 0: of all of them, to be done before the
 * recorder's last chunk. */
void vtr_decoder_settle(struct vtr_decoder *d, struct vtr_recorder *r, uint64_t age_ns);

/* How far times of two buffers may be off against each other, since they were converted from another clock;
 * 0, the default: not at all. A driver call that reaches out of its runtime call by no more is inside it. */
void vtr_decoder_doubt(struct vtr_decoder *d, uint64_t doubt_ns);

/* The newest correlation id decoded, with all its bits. */
uint64_t vtr_decoder_newest(const struct vtr_decoder *d);

void vtr_decoder_counts(const struct vtr_decoder *d, struct vtr_decoded *out);

#endif
