/* recorder.h - collects rows into chunks and writes them to the file. The writer's thread only.
 *
 *	CUPTI's buffers -> cupti_records.c --+
 *	threads' rings  -> writer_thread.c ---------+--> rows on lanes -> batch -> vpt_writer -> file
 *
 * It counts records by lane: received = written + dropped, exactly, even when the disk fails.
 * Chunk-local ids (strings, kernel configurations) end with the chunk: call vtr_recorder_room()
 * before making rows, keep no id across it, and compare vtr_recorder_chunk() to see whether a
 * cached id is still valid. The file is created with the first row. */
#ifndef VPTRACE_TRACER_WRITE_RECORDER_H
#define VPTRACE_TRACER_WRITE_RECORDER_H

#include "formats/capture_layout.h"
#include "formats/chunk/batch.h"
#include "formats/event_schema.h"
#include "formats/io/io.h"
#include "formats/metadata.h"
#include "tracer/files/run_description.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* ---- recorded_lanes.c: the streams, threads and series of a capture, found by identity.
 *
 * Lanes do not move until the table is freed. The writer's thread only. */

/* A stream, thread or series of the capture; valid until the table is freed. */
struct vtr_lane {
	uint64_t key;                        /* in the file; 0: the lane of rows that have none */
	uint64_t received, dropped, invalid; /* invalid rows are written too */
	uint64_t pending;                    /* rows of the open chunk, not in `received` yet */
	uint64_t chunk;                      /* the last that described it */
	uint64_t open;       /* stamp and kind of the section below, see vtr_recorder_append() */
	size_t section;      /* its byte offset in the batch */
	int asked_name;      /* the kernel was asked for the thread's name */
	struct vpt_lane row; /* name and unit as numbers of range_strings.h, not of a chunk */
};

enum { VTR_LANES_MAX = 65536 };

struct vtr_lanes {
	struct vtr_lane_slab **slabs;
	size_t slab_count, slab_cap;
	uint32_t count;
	uint32_t *slots; /* 1 + lane, hashed by identity */
};

/* 0 or VPT_ENOMEM. */
int vtr_lanes_init(struct vtr_lanes *lanes);
void vtr_lanes_free(struct vtr_lanes *lanes); /* accepts all zeros */

/* Rows that describe a lane, for the function below. `name` and `unit`: of range_strings.h. */
struct vpt_lane vtr_lane_of_stream(
	uint32_t pid, uint32_t device, uint32_t context, uint32_t stream);
struct vpt_lane vtr_lane_of_thread(uint32_t pid, uint32_t tid);
struct vpt_lane vtr_lane_of_series(uint32_t pid, int64_t device, uint32_t name, uint32_t unit);

/* The lane that `row` describes, created if new: a stream by device, context and stream, a thread
 * by its id, a series by its device, name and unit. NULL: no memory, or VTR_LANES_MAX exist. */
struct vtr_lane *vtr_lanes_find(struct vtr_lanes *lanes, const struct vpt_lane *row);

/* By number, 0 to count - 1, in order of creation; keys count from 1. */
struct vtr_lane *vtr_lanes_at(const struct vtr_lanes *lanes, uint32_t index);

/* Update a lane; the next chunk that uses it describes it again. */
void vtr_recorder_describe_stream(struct vtr_lane *lane, int64_t priority, uint64_t flags);
void vtr_recorder_name_lane(struct vtr_lane *lane, uint32_t name); /* a number of range_strings.h */

/* An unnamed thread's lane gets the kernel's name for it, read once, while the thread runs. */
void vtr_lane_name_thread(struct vtr_lane *lane);

struct vtr_recorder;

/* ---- lanes ---- */

/* The lane of a stream, of a thread of this process, of a counter's series (`device` -1:
 * of no GPU). Never NULL: without
 * memory, or beyond 65,536 lanes, returns the lane of rows that have none. */
struct vtr_lane *vtr_recorder_stream(
	struct vtr_recorder *r, uint32_t device, uint32_t context, uint32_t stream);
struct vtr_lane *vtr_recorder_thread(struct vtr_recorder *r, uint32_t tid);
struct vtr_lane *vtr_recorder_series(
	struct vtr_recorder *r, int64_t device, uint32_t name, uint32_t unit);

/* ---- chunks ---- */

/* Writes the chunk if it is full. Call it before making the rows of a record. */
void vtr_recorder_room(struct vtr_recorder *r);

/* The same where the chunk should not end yet: writes it only if it is several times over its
 * size. */
void vtr_recorder_bound(struct vtr_recorder *r);

/* How many rows may be put, if their names and payloads are short, before vtr_recorder_bound()
 * writes the chunk; writes it now if these are few. Never 0. */
size_t vtr_recorder_space(struct vtr_recorder *r);

/* The beginning of every recorder. For the inline functions in this header only. */
struct vtr_open_chunk {
	struct vpt_batch batch;
	uint64_t number; /* of the open chunk, from 1 */
	uint64_t stamp;  /* the same, as the base of vtr_lane.open */
	/* rows that start in these ns from here on are in no pause; clear_ns is never 0 */
	uint64_t clear_ns, clear_span_ns;
};

/* The number of the open chunk; changes with every chunk, never 0. */
static inline uint64_t vtr_recorder_chunk(const struct vtr_recorder *r)
{
	return ((const struct vtr_open_chunk *)r)->number;
}

/* The batch of that chunk, for its strings and configurations; rows of events go through
 * vtr_recorder_put(), rows of tables may be put directly. */
static inline struct vpt_batch *vtr_recorder_batch(struct vtr_recorder *r)
{
	return &((struct vtr_open_chunk *)r)->batch;
}

/* The open chunk's id of a string of range_strings.h. */
uint64_t vtr_recorder_name(struct vtr_recorder *r, uint32_t name);

/* ---- rows ---- */

/* A row of an event kind: one record received. `lane` NULL: the lane of rows that have none. Where
 * the file has failed it counts as dropped. Rows that refer to another lane by its key
 * (RANGE.end_thread, SYNC.stream) need vtr_recorder_refer() for that one. Returns 0 if the row
 * belongs to a pause and is discarded, else 1. */
int vtr_recorder_put(
	struct vtr_recorder *r, enum vpt_kind kind, struct vtr_lane *lane, const void *row);
void vtr_recorder_refer(struct vtr_recorder *r, struct vtr_lane *lane);

/* The fast path for a KERNEL or CALL whose columns outside `mask`, a constant, are 0: appends to
 * the section of the lane's last row, if that has the same chunk and kind. Never for a row that
 * starts at 0. Returns 0 if it did nothing: call vtr_recorder_put() then. `lane` is never NULL. */
static inline __attribute__((always_inline)) int vtr_recorder_append(struct vtr_recorder *r,
	enum vpt_kind kind, struct vtr_lane *lane, uint32_t mask, const uint64_t *row)
{
	struct vtr_open_chunk *c = (struct vtr_open_chunk *)r;
	struct vpt_section *s;

	if (lane->open != c->stamp + kind || row[0] - c->clear_ns >= c->clear_span_ns)
		return 0;
	s = (struct vpt_section *)((char *)c->batch.sections + lane->section);
	if (!vpt_section_append(s, mask, row))
		return 0;
	lane->pending++;
	c->batch.event_count++;
	return 1;
}

/* A SAMPLE row, which is no record: it does not count, creates no file, and is discarded where
 * nothing is recorded. */
void vtr_recorder_sample(
	struct vtr_recorder *r, struct vtr_lane *lane, const struct vpt_sample *row);

/* Counts records as received and dropped. */
void vtr_recorder_drop(struct vtr_recorder *r, struct vtr_lane *lane, uint64_t count);

/* Counts a row already put as having invalid times. */
void vtr_recorder_invalid(struct vtr_recorder *r, struct vtr_lane *lane);

/* Recording is off from `from_ns` until resume: rows that start meanwhile are neither received nor
 * written, whenever they arrive, except ops that were launched outside all pauses. The pause becomes a LOSS row of its own
 * kind. Both times may be in the future: a pause that is to begin may be moved to an earlier time by another call, and the row
 * is put by vtr_recorder_now(). See pauses.h. */
void vtr_recorder_pause(struct vtr_recorder *r, uint64_t from_ns);
void vtr_recorder_resume(struct vtr_recorder *r, uint64_t to_ns);
void vtr_recorder_now(struct vtr_recorder *r, uint64_t now_ns);

/* Whether to note the calls of a buffer that was in use from `since_ns` on, before its ops are put: they show
 * which ops that began in a pause were launched outside. After each buffer, note its newest id. See pauses.h. */
int vtr_recorder_wants_calls(struct vtr_recorder *r, uint64_t since_ns);
void vtr_recorder_note_id(struct vtr_recorder *r, uint64_t newest);
void vtr_recorder_note_call(struct vtr_recorder *r, uint64_t correlation, uint64_t start_ns);
/* Whether the call that launched an op that began in a pause was not noted yet: put it when it was. */
int vtr_recorder_doubts_op(const struct vtr_recorder *r, uint64_t correlation, uint64_t start_ns);
/* Whether an op that never began was launched in a pause, or after the file was full, and hence is no part of the recording. */
int vtr_recorder_hides_op(struct vtr_recorder *r, uint64_t correlation);

/* The same at the capture's end: a pause that goes on ends there, one to come is forgotten. If
 * nothing was ever put, neither is the pause: without an event there is no file. */
void vtr_recorder_end_pauses(struct vtr_recorder *r, uint64_t stop_ns);

/* A span that began in a pause and ended after it begins with the end of the pause: moves *start_ns
 * there. 1: it was moved; 0: it was not; -1: the span lies in a pause as a whole. */
int vtr_recorder_cut(struct vtr_recorder *r, uint64_t *start_ns, uint64_t end_ns);

/* Whether the file has reached its limit: rows are no longer received then, as in a pause, which
 * begins with the first of them. */
int vtr_recorder_is_full(const struct vtr_recorder *r);

/* Puts a LOSS row, which does not count as received. `kind`: VPT_LOSSKIND_*; `count` 0: unknown. A
 * loss where nothing is recorded anyway is none. */
void vtr_recorder_loss(struct vtr_recorder *r, struct vtr_lane *lane, uint32_t kind,
	uint64_t from_ns, uint64_t to_ns, uint64_t count);

/* ---- facts ---- */

/* A device or a fact, written into the next chunk, and again when it changes; see run_description.h. */
void vtr_recorder_device(struct vtr_recorder *r, const struct vtr_device *device);
void vtr_recorder_meta(struct vtr_recorder *r, const char *key, const char *value);
void vtr_recorder_fact(struct vtr_recorder *r, enum vpt_metadata fact, const char *value);

/* ---- the flight recorder ---- */

/* For the chunk that is about to be written; called by `closing`. `cut_ns`: ranges that ended by
 * then are in it or before it; `complete_until_ns`: so is work of the GPU. */
void vtr_recorder_edges(struct vtr_recorder *r, uint64_t cut_ns, uint64_t complete_until_ns);

/* ---- the session ---- */

struct vtr_flight;

struct vtr_recorder_options {
	struct vpt_sink *sink; /* owned after a successful new; finished by free */
	struct vpt_header header;
	int level;          /* zstd's */
	int always;         /* create a file even without any row */
	uint64_t max_bytes; /* of the file; 0: no limit, else at least 1 MiB */
	/* `sink` is its ring, in place of a file; NULL: there is none. Then chunks have neither
	 * facts nor devices: its opening chunk has them all. */
	struct vtr_flight *flight;
	uint64_t chunk_bytes; /* a chunk ends before it could be larger than this; 0: see batch.h */
	/* called before a chunk is written, to put OPEN and CLOCK rows; may be NULL */
	void (*closing)(void *ctx);
	/* If `changes` counts on, pauses have changed: called before the next row. May be NULL. */
	void (*changed)(void *ctx);
	const _Atomic uint64_t *changes;
	void *closing_ctx; /* of both */
};

int vtr_recorder_new(
	const struct vtr_recorder_options *options, struct vtr_recorder **out, struct vpt_err *err);

/* Ends the chunk. ALWAYS: even without rows, once there is a file. LAST: the capture's last chunk,
 * with the final STATS of every lane; without rows only if there is a file, or one is required. */
enum vtr_flush { VTR_FLUSH_ALWAYS, VTR_FLUSH_LAST };
void vtr_recorder_flush(struct vtr_recorder *r, enum vtr_flush how);

/* Whether nothing is recorded yet, and no file is required. */
int vtr_recorder_is_empty(const struct vtr_recorder *r);

/* Since when the open chunk has rows of events, CLOCK_MONOTONIC; 0: it has none. */
uint64_t vtr_recorder_since(const struct vtr_recorder *r);

struct vtr_recorder_totals {
	uint64_t received, written, dropped, invalid; /* rows of the open chunk count as written */
	uint64_t chunks, file_bytes;
};
void vtr_recorder_totals(const struct vtr_recorder *r, struct vtr_recorder_totals *out);

/* Why nothing more can be written; NULL: no failure. */
const char *vtr_recorder_failure(const struct vtr_recorder *r);

/* Gives the sink back to the caller: free does not touch it. */
void vtr_recorder_disown(struct vtr_recorder *r);

void vtr_recorder_free(struct vtr_recorder *r); /* accepts NULL; writes nothing, closes the file */

#endif
