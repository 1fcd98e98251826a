/* cupti_unfinished.h - work that the GPU had not finished when recording stopped.
 *
 * After a stop that does not wait, CUPTI returns records of queued or running work without an end.
 * They become rows like all others, with invalid times. They are counted here per stream, so the
 * capture can say since when a stream's work is unknown. If later work of the same stream has
 * ended, the earlier work has too, since a stream works in launch order; it is not counted. The
 * writer's thread only. */
#ifndef VPTRACE_TRACER_CUPTI_RECORDS_CUPTI_UNFINISHED_H
#define VPTRACE_TRACER_CUPTI_RECORDS_CUPTI_UNFINISHED_H

#include "tracer/cupti/library/cupti_sizes.h"
#include "tracer/handover/buffer_pool.h"
#include "tracer/write/recorder.h"

/* All zeros: none. */
struct vtr_unfinished {
	struct vtr_unfinished_stream *streams;
	size_t stream_count, stream_cap;
	struct vtr_unfinished_op *ops; /* without an end, overtaken or not */
	size_t op_count, op_cap;
};

/* Scans a buffer that came back after recording had stopped, before it is recycled. */
void vtr_unfinished_buffer(
	struct vtr_unfinished *u, const struct vtr_sizes *sizes, const struct vtr_full *full);

/* Puts a LOSS row of the kind UNFINISHED for each stream with unfinished work, from its last known
 * end to `stop_ns`. What was launched while nothing was recorded is not counted. `newest`: some id of the last
 * 2^31, with all its bits. Returns the number of unfinished ops. Once, after all buffers. */
uint64_t vtr_unfinished_put(
	struct vtr_unfinished *u, struct vtr_recorder *r, uint64_t newest, uint64_t stop_ns);

void vtr_unfinished_reset(struct vtr_unfinished *u);

#endif
