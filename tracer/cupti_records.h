/* cupti_records.h - CUPTI's records to rows. The writer's thread only.
 *
 * What counts. Of the records walked over in buffers of this capture
 *
 *	records = rows + dropped + filtered + described + held
 *
 *	rows       handed to the recorder, one row each
 *	dropped    handed to the recorder as dropped: those of discard buffers
 *	filtered   calls that nobody asked for (CUPTI before 12.5 delivers all), driver calls inside
 *	           of runtime calls, kinds we do not read
 *	described  DEVICE, CONTEXT and STREAM records, which tell of lanes and make no rows
 *	held       driver calls that still wait for a runtime call around them; 0 after
 *	           vtr_decoder_settle(..., 0)
 *
 * The recorder's "received" counts rows and dropped, but for rows that start in a pause. What CUPTI
 * delivered is `records`, if no buffer was damaged. Buffers of an earlier capture are not walked for
 * this sum. */
#ifndef VPTRACE_TRACER_CUPTI_RECORDS_H
#define VPTRACE_TRACER_CUPTI_RECORDS_H

#include "tracer/cupti_calls.h"
#include "tracer/cupti_sizes.h"
#include "tracer/pool.h"
#include "tracer/recorder.h"

struct vtr_decoded {
	uint64_t records, rows, dropped, filtered, described, held;
	uint64_t buffers, stale_buffers, damaged_buffers;
	uint64_t nested; /* of filtered: driver calls inside of runtime calls */
};

struct vtr_decoder;

/* One a process: 64-bit correlation numbers go on from capture to capture. NULL: no memory. */
struct vtr_decoder *vtr_decoder_new(void);
void vtr_decoder_free(struct vtr_decoder *d);

/* Another capture, with another recorder. Both tables are borrowed until the next begin. */
void vtr_decoder_begin(
	struct vtr_decoder *d, const struct vtr_sizes *sizes, const struct vtr_calls *calls);

/* Makes rows of a buffer; returns the number of records walked. A record that cannot be understood
 * ends the buffer, which becomes a LOSS from the time the buffer was handed out until now. A
 * discard buffer's records are dropped and become a LOSS over their times. A stale buffer is walked
 * only to free what hangs on its records. */
uint64_t vtr_decoder_buffer(
	struct vtr_decoder *d, const struct vtr_full *full, struct vtr_recorder *r);

/* Makes rows of driver calls that have been held for so long; with 0 of all, which is due before the
 * recorder's last chunk. */
void vtr_decoder_settle(struct vtr_decoder *d, struct vtr_recorder *r, uint64_t age_ns);

void vtr_decoder_counts(const struct vtr_decoder *d, struct vtr_decoded *out);

/* A 32-bit correlation id as the 64-bit number that it stands for: the one nearest to the last ones
 * seen. 0 is none. */
uint64_t vtr_decoder_correlation(struct vtr_decoder *d, uint32_t id);

#endif
