/* cupti_unfinished.h - work that the GPU had not done when recording stopped.
 *
 * A stop that does not wait makes CUPTI give back records of work that is still queued or running: they come without an end.
 * They are rows like all others, with times that make no sense; here they are counted by stream, so that the capture says
 * from when on a stream's work is not known. Work without an end that other work of its stream has overtaken was done, and is
 * not counted: a stream works in the order of its launches. The writer's thread only. */
#ifndef VPTRACE_TRACER_CUPTI_UNFINISHED_H
#define VPTRACE_TRACER_CUPTI_UNFINISHED_H

#include "tracer/cupti_sizes.h"
#include "tracer/pool.h"
#include "tracer/recorder.h"

/* All zeros: none. */
struct vtr_unfinished {
	struct vtr_unfinished_stream *streams;
	size_t stream_count, stream_cap;
	struct vtr_unfinished_op *ops; /* without an end, overtaken or not */
	size_t op_count, op_cap;
};

/* Looks through a buffer that came back after recording had stopped, before it is recycled. */
void vtr_unfinished_buffer(
	struct vtr_unfinished *u, const struct vtr_sizes *sizes, const struct vtr_full *full);

/* A LOSS row of the kind UNFINISHED for each stream that has any, from its last known end to `stop_ns`. Returns how many ops
 * they are. Once, after all buffers. */
uint64_t vtr_unfinished_put(struct vtr_unfinished *u, struct vtr_recorder *r, uint64_t stop_ns);

void vtr_unfinished_reset(struct vtr_unfinished *u);

#endif
