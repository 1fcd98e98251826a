/* cupti_places.h - finds the lane of a record's stream or thread, and the device of its context.
 * One capture, one thread. */
#ifndef VPTRACE_TRACER_CUPTI_RECORDS_CUPTI_PLACES_H
#define VPTRACE_TRACER_CUPTI_RECORDS_CUPTI_PLACES_H

#include "tracer/cupti/library/cupti_abi.h"
#include "tracer/write/recorder.h"

/* A driver call that waits for the runtime call around it, see cupti_records.c. */
struct vtr_held_call {
	uint64_t start, end, correlation;
	uint32_t result, cbid;
};

/* CUPTI returns a buffer once the work in it has ended, so it may come after many that were filled later: so many of a
 * thread are looked at across their edges. A launch waits for 1,024 before it, which are far fewer buffers. */
enum { VTR_EDGES = 32, VTR_EDGE_BUFFERS = 32 };

struct vtr_call_thread {
	uint32_t tid;
	struct vtr_lane *lane;
	struct vtr_held_call *held;
	size_t held_count, held_cap;
	/* CLOCK_MONOTONIC: since when the first one is held */
	uint64_t held_since_ns;
	/* the thread's last recorded runtime call */
	uint64_t last_correlation, last_start, last_end;
	uint64_t buffer;      /* number of its newest buffer, from 1 */
	uint64_t own_buffers; /* in which it has been met */
	size_t is_first;      /* no runtime call of that buffer has come yet */
	/* The first runtime call of each of the last buffers: a driver call inside it may end another buffer. */
	struct vtr_held_call firsts[VTR_EDGES];
	unsigned first_count; /* so far; the newest is at first_count - 1, modulo VTR_EDGES */
	/* Driver calls at the ends of buffers, whose runtime calls may begin others. */
	struct vtr_stray {
		struct vtr_held_call call;
		uint64_t own_buffer, since_ns;
	} strays[VTR_EDGES];
	size_t stray_count;
};

struct vtr_places;

struct vtr_places *vtr_places_new(void); /* NULL: no memory */
void vtr_places_free(struct vtr_places *p);

/* A new recorder begins, with lanes of its own. Keeps what is known of contexts and streams; drops
 * held calls. */
void vtr_places_begin(struct vtr_places *p);

struct vtr_lane *vtr_places_stream(struct vtr_places *p, struct vtr_recorder *r, uint32_t device,
	uint32_t context, uint32_t stream);
/* The same for a record without a device. NULL: the context's device is unknown, or there is no
 * stream. */
struct vtr_lane *vtr_places_stream_of(
	struct vtr_places *p, struct vtr_recorder *r, uint32_t context, uint32_t stream);
/* A stream for a record that names none: the context's default stream, or any known one of the
 * device; NULL: none is known. */
struct vtr_lane *vtr_places_any_stream(
	struct vtr_places *p, struct vtr_recorder *r, uint32_t device, uint32_t context);

/* NULL: no memory; get the lane from the recorder then. */
struct vtr_call_thread *vtr_places_thread(
	struct vtr_places *p, struct vtr_recorder *r, uint32_t tid);
/* All threads seen so far, in no order; NULL: no more. */
struct vtr_call_thread *vtr_places_thread_at(struct vtr_places *p, size_t index);

/* Converts a DEVICE record. A GPU whose name begins with "Simulated" is marked as simulated. */
void vtr_places_device(const struct vtr_record_device *g, struct vtr_device *out);

/* Take in CONTEXT and STREAM records. */
void vtr_places_context(struct vtr_places *p, const struct vtr_record_context *c);
void vtr_places_describe(struct vtr_places *p, const struct vtr_record_stream *s);

#endif
