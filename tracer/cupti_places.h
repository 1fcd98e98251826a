/* cupti_places.h - where records belong: lanes of streams and threads, devices of contexts. For one
 * capture, one thread. */
#ifndef VPTRACE_TRACER_CUPTI_PLACES_H
#define VPTRACE_TRACER_CUPTI_PLACES_H

#include "tracer/cupti_abi.h"
#include "tracer/recorder.h"

/* A driver call that waits for the runtime call around it, see cupti_records.c. */
struct vtr_held_call {
	uint64_t start, end, correlation;
	uint32_t result, cbid;
};

struct vtr_call_thread {
	uint32_t tid;
	struct vtr_lane *lane;
	struct vtr_held_call *held;
	size_t held_count, held_cap;
	uint64_t held_since_ns;                          /* the first of them, CLOCK_MONOTONIC */
	uint64_t last_correlation, last_start, last_end; /* of its last recorded runtime call */
};

struct vtr_places;

struct vtr_places *vtr_places_new(void); /* NULL: no memory */
void vtr_places_free(struct vtr_places *p);

/* Another recorder: its lanes are others. What is known of contexts and streams stays. Held calls
 * are forgotten. */
void vtr_places_begin(struct vtr_places *p);

struct vtr_lane *vtr_places_stream(struct vtr_places *p, struct vtr_recorder *r, uint32_t device,
	uint32_t context, uint32_t stream);
/* The same where the record does not tell the device. NULL: the context's device is not known, or
 * there is no stream. */
struct vtr_lane *vtr_places_stream_of(
	struct vtr_places *p, struct vtr_recorder *r, uint32_t context, uint32_t stream);
/* A stream of the device for what names none: the context's default one, or any that is known; NULL: none is. */
struct vtr_lane *vtr_places_any_stream(
	struct vtr_places *p, struct vtr_recorder *r, uint32_t device, uint32_t context);

/* NULL: no memory; the lane is then to be asked of the recorder. */
struct vtr_call_thread *vtr_places_thread(
	struct vtr_places *p, struct vtr_recorder *r, uint32_t tid);
/* All threads seen so far, in no order; NULL: no more. */
struct vtr_call_thread *vtr_places_thread_at(struct vtr_places *p, size_t index);

/* A DEVICE record in the recorder's words. A GPU whose name begins with "Simulated" is none. */
void vtr_places_device(const struct vtr_record_device *g, struct vtr_device *out);

/* What CONTEXT and STREAM records tell. */
void vtr_places_context(struct vtr_places *p, const struct vtr_record_context *c);
void vtr_places_describe(struct vtr_places *p, const struct vtr_record_stream *s);

#endif
