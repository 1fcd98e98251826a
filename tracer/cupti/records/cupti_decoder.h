/* cupti_decoder.h - what the decoders of the record kinds share. For cupti_records.c and
 * cupti_rare_records.c only. */
#ifndef VPTRACE_TRACER_CUPTI_RECORDS_CUPTI_DECODER_H
#define VPTRACE_TRACER_CUPTI_RECORDS_CUPTI_DECODER_H

#include "tracer/cupti/records/cupti_configs.h"
#include "tracer/cupti/records/cupti_late_ops.h"
#include "tracer/cupti/records/cupti_places.h"
#include "tracer/cupti/records/cupti_records.h"
#include "tracer/ranges/cuda_callers.h"

struct vtr_decoder {
	const struct vtr_sizes *sizes;
	const struct vtr_calls *calls;
	struct vtr_configs *configs;
	struct vtr_places *places;
	struct vtr_recorder *r; /* during a call */
	struct vtr_lane *lane;  /* of the stream below; NULL: look it up */
	uint32_t device, context, stream;
	struct vtr_call_thread *thread; /* of the last call; NULL: look it up */
	int discard;                    /* drop the rows of the current buffer */
	uint64_t from_ns, to_ns;        /* times seen in a discard buffer */
	uint64_t newest_correlation;
	uint64_t now_ns;   /* CLOCK_MONOTONIC at the start of the current buffer */
	uint64_t doubt_ns; /* see vtr_decoder_doubt() */
	struct vtr_late_ops late;
	struct vtr_decoded n;
};

/* Extends a record's 32-bit correlation id to 64 bits. 0: none. */
static inline uint64_t vtr_decoder_widen(struct vtr_decoder *d, uint32_t id)
{
	uint64_t newest = d->newest_correlation, wide;
	int32_t step = (int32_t)(id - (uint32_t)newest);

	if (!id)
		return 0;
	/* The first id of the process is kept as it is: a step of more than 2^31 would go below
	 * 0. */
	wide = newest ? newest + (uint64_t)(int64_t)step : id;
	if (step > 0 || !newest)
		d->newest_correlation = wide;
	return wide;
}

/* Puts a record's row on its lane; NULL: none. Returns whether the capture has it. */
static inline int vtr_decoder_put(
	struct vtr_decoder *d, enum vpt_kind kind, struct vtr_lane *lane, const void *row)
{
	if (d->discard) {
		vtr_recorder_drop(d->r, lane, 1);
		d->n.dropped++;
		return 0;
	}
	d->n.rows++;
	return vtr_recorder_put(d->r, kind, lane, row);
}

static inline void vtr_decoder_note(struct vtr_decoder *d, uint64_t start, uint64_t end)
{
	if (start && start < d->from_ns)
		d->from_ns = start;
	if (end > d->to_ns)
		d->to_ns = end;
}

/* The same for a row with a start and an end. */
static inline void vtr_decoder_put_span(struct vtr_decoder *d, enum vpt_kind kind,
	struct vtr_lane *lane, const void *row, uint64_t start, uint64_t end)
{
	if (vtr_decoder_put(d, kind, lane, row) && (!start || end < start))
		vtr_recorder_invalid(d->r, lane);
	if (d->discard)
		vtr_decoder_note(d, start, end);
}

/* Records of one stream come in runs. */
static inline struct vtr_lane *vtr_decoder_stream(
	struct vtr_decoder *d, uint32_t dev, uint32_t ctx, uint32_t str)
{
	if (d->lane && d->stream == str && d->context == ctx && d->device == dev)
		return d->lane;
	d->device = dev;
	d->context = ctx;
	d->stream = str;
	d->lane = vtr_places_stream(d->places, d->r, dev, ctx, str);
	return d->lane;
}

/* A thread's first record of a buffer: see "across the edges of buffers" in cupti_records.c. */
void vtr_decoder_edge(struct vtr_decoder *d, struct vtr_call_thread *t);

/* NULL: no memory; get the lane from the recorder then. */
static inline struct vtr_call_thread *vtr_decoder_thread(struct vtr_decoder *d, uint32_t tid)
{
	if (!d->thread || d->thread->tid != tid) {
		d->thread = vtr_places_thread(d->places, d->r, tid);
		vtr_callers_saw(tid, d->now_ns);
		if (d->thread && d->thread->buffer != d->n.buffers + 1)
			vtr_decoder_edge(d, d->thread);
	}
	return d->thread;
}

/* One function per kind; NULL for kernels, CUDA calls and unknown kinds. */
extern void (*const vtr_rare_records[VTR_KINDS])(struct vtr_decoder *d, const void *record);

#endif
