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

#include "tracer/cupti/library/cupti_abi.h"
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

/* ---- cupti_unfinished.c: work that the GPU had not finished when recording stopped.
 *
 * After a stop that does not wait, CUPTI returns records of queued or running work without an end.
 * They become rows like all others, with invalid times. They are counted here per stream, so the
 * capture can say since when a stream's work is unknown. If later work of the same stream has
 * ended, the earlier work has too, since a stream works in launch order; it is not counted. The
 * writer's thread only. */

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

/* ---- cupti_attributes.c: CUPTI's attributes, set at each start because another client may have
 * changed them.
 *
 * Buffers per thread. The attribute is read first, and left alone if it is on. If it is off it is
 * switched on, even if another client switched it off while CUPTI had buffers of ours. The manual
 * leaves a change during a session undefined, but that client has made one already; and when it
 * clears the attribute again, its profile is over: see cupti_watch.h.
 *
 * Zeroed buffers. Ours are zeroed already; otherwise CUPTI would zero them on the host's thread.
 * May be changed at any time.
 *
 * Buffers on the device. CUPTI keeps the times of 100,000 ops in a buffer of 3.2 MB. The launching
 * thread allocates more as needed, up to 250 per context; an op beyond that has no times. Graphs
 * with millions of nodes may need more. Only the host can ask for it, since the memory is its own;
 * a new limit applies to contexts created later. The capture's metadata gives CUPTI's values. */

struct vtr_cupti_attributes {
	int one_for_all; /* threads share a buffer, and this could not be changed */
	uint64_t device_bytes, device_limit, device_ready; /* buffers on the device; 0: unknown */
	uint64_t refused_limit; /* the limit asked for; 0: none was refused */
};

/* Call it between subscribing and registering the callbacks. `api`: CUPTI's version;
 * `device_buffers`: limit per context, 0: CUPTI's own. */
void vtr_cupti_attributes_set(const struct vtr_cupti_functions *fn, uint32_t api,
	uint64_t device_buffers, struct vtr_cupti_attributes *out);

/* Facts for the capture's metadata. The writer only. */
void vtr_cupti_attributes_describe(const struct vtr_cupti_attributes *a, struct vtr_recorder *r);

/* ---- cupti_graphs.c: whether CUPTI still records CUDA graphs node by node.
 *
 * Once the kind GRAPH_TRACE was enabled, as by the profile coarse, CUPTI may record graphs as a
 * whole for the rest of the process: its headers say, from 13.5 on, that disabling the kind does
 * not restore node records. A later capture with another profile then lacks its graphs. CUPTI does
 * not reveal which it does, so we check such a suspect capture: if graphs were launched but no op
 * is a node, nodes are missing and the capture reports it. The writer's thread only, except where
 * noted. */

/* All zeros: not suspect. */
struct vtr_graphs {
	int as_a_whole;    /* GRAPH_TRACE was enabled in this process, ever */
	int suspect;       /* and is not in this capture */
	int has_nodes;     /* an op was a node */
	uint64_t whole;    /* graph launches */
	uint64_t since_ns; /* the first of them */
};

/* A capture begins, with GRAPH_TRACE enabled or not. For CUPTI's start, before there is a
 * writer. */
void vtr_graphs_begin(struct vtr_graphs *g, int is_enabled);

/* Scans a buffer of a suspect capture before it is recycled. */
void vtr_graphs_buffer(struct vtr_graphs *g, const struct vtr_sizes *sizes,
	const struct vtr_calls *calls, const struct vtr_full *full);

/* If nodes are missing, puts the reason and a LOSS row from the first graph launch to `stop_ns`.
 * Once, after all buffers. */
void vtr_graphs_put(const struct vtr_graphs *g, struct vtr_recorder *r, uint64_t stop_ns);

/* The reason; NULL: nothing is missing. Any thread, after the writer's end. */
const char *vtr_graphs_failure(const struct vtr_graphs *g);

#endif
