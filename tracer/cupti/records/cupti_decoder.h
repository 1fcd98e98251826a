/* cupti_decoder.h - what the decoders of the record kinds share. For cupti_records.c and
 * cupti_rare_records.c only. */
#ifndef VPTRACE_TRACER_CUPTI_RECORDS_CUPTI_DECODER_H
#define VPTRACE_TRACER_CUPTI_RECORDS_CUPTI_DECODER_H

#include "tracer/cupti/library/cupti_abi.h"
#include "tracer/cupti/library/cupti_sizes.h"
#include "tracer/cupti/records/cupti_records.h"
#include "tracer/ranges/cuda_callers.h"
#include "tracer/write/recorder.h"

/* ---- cupti_configs.c: maps kernel records to configurations of the open chunk, mostly with one cache
 * lookup.
 *
 * A record names its kernel by a pointer into CUPTI's memory, which may be freed or reused when a
 * module is unloaded. So we copy the text, and compare a known pointer with its copy once per
 * buffer that uses it: promptly after delivery, never later. */

struct vtr_configs;

struct vtr_configs *vtr_configs_new(void); /* NULL: no memory */
void vtr_configs_free(struct vtr_configs *c);

/* A new recorder begins, with chunks of its own. */
void vtr_configs_begin(struct vtr_configs *c);

/* A buffer begins, also the first: compare every pointer again before trusting it. */
void vtr_configs_buffer(struct vtr_configs *c);

/* The configuration of a kernel in the open chunk of `r`. */
uint64_t vtr_configs_kernel(
	struct vtr_configs *c, struct vtr_recorder *r, const struct vtr_record_kernel *k);

/* The configuration for a CUDA graph recorded as a whole. */
uint64_t vtr_configs_graph(struct vtr_configs *c, struct vtr_recorder *r, uint32_t graph);

/* ---- cupti_late_ops.c: ops that began in a pause and wait for the record of the call that launched them.
 *
 * That record follows the op's, as a rule in the same buffer, else in the next one of its thread: until it has come
 * nobody knows whether the op was launched in the pause. Records are copied; a kernel's name is read when it is
 * decoded, as that of any record. The writer's thread only. */

enum { VTR_LATE_OPS_MAX = 256 };

/* All zeros: none. */
struct vtr_late_ops {
	struct vtr_late_op *ops; /* VTR_LATE_OPS_MAX of them; NULL: not needed yet */
	size_t count;
};

/* What the caller does with a record; `widen` extends its correlation id. */
struct vtr_late_ops_owner {
	uint64_t (*widen)(void *ctx, uint32_t id);
	void (*decode)(void *ctx, const uint8_t *record, size_t size);
	void *ctx;
};

/* Takes a copy of the record if it is of an op that has to wait, and there is room. Returns whether it did.
 * `now_ns`: CLOCK_MONOTONIC. */
int vtr_late_ops_take(struct vtr_late_ops *l, const struct vtr_late_ops_owner *owner,
	const struct vtr_recorder *r, uint32_t kind, const uint8_t *record, size_t size,
	uint64_t now_ns);

/* Decodes those whose launch is known by now, or that came before `until_ns`, in their order. Returns how
 * many. */
size_t vtr_late_ops_release(struct vtr_late_ops *l, const struct vtr_late_ops_owner *owner,
	struct vtr_recorder *r, uint64_t until_ns);

void vtr_late_ops_free(struct vtr_late_ops *l);

/* ---- cupti_places.c: finds the lane of a record's stream or thread, and the device of its context.
 * One capture, one thread. ---- */

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
