/* recorder.h - rows become chunks, chunks become the file. Belongs to the writer's thread; nobody
 * else touches it.
 *
 *	CUPTI's buffers -> cupti_records.c --+
 *	threads' rings  -> writer.c ---------+--> rows on lanes -> batch -> vpt_writer -> file
 *
 * It counts what it is handed by lane: received = written + dropped, exactly, also when the disk
 * fails. Chunk-local ids (strings, kernel configurations) die with the chunk: whoever makes rows
 * calls vtr_recorder_room() first, keeps no id across it, and tells from vtr_recorder_chunk()
 * whether a cached one is still good. The file is made with the first row. */
#ifndef VPTRACE_TRACER_RECORDER_H
#define VPTRACE_TRACER_RECORDER_H

#include "formats/batch.h"
#include "formats/capture.h"
#include "formats/io.h"
#include "tracer/about.h"
#include "tracer/lanes.h"

#include <stdint.h>

struct vtr_recorder;

/* ---- lanes ---- */

/* The lane of a stream, of a thread of this process, of a counter's series. Never NULL: without
 * memory, or beyond 65,536 lanes, the lane of rows that have none stands for the rest. */
struct vtr_lane *vtr_recorder_stream(
	struct vtr_recorder *r, uint32_t device, uint32_t context, uint32_t stream);
struct vtr_lane *vtr_recorder_thread(struct vtr_recorder *r, uint32_t tid);
struct vtr_lane *vtr_recorder_series(struct vtr_recorder *r, uint32_t name, uint32_t unit);

/* ---- chunks ---- */

/* Writes the chunk if it is full. Call it before making the rows of a record. */
void vtr_recorder_room(struct vtr_recorder *r);

/* The same where a chunk should rather not end: writes it only when it is several times as large as
 * it should be. */
void vtr_recorder_bound(struct vtr_recorder *r);

/* The beginning of every recorder: what the inline functions here need of it. Theirs alone. */
struct vtr_open_chunk {
	struct vpt_batch batch;
	uint64_t number;   /* of the chunk that is being filled, from 1 */
	uint64_t stamp;    /* the same as a beginning of vtr_lane.open */
	uint64_t clear_ns; /* rows that start from here on are in no pause; never 0 */
};

/* The number of the chunk that is being filled; changes with every chunk, never 0. */
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

/* This chunk's id of a string of names.h. */
uint64_t vtr_recorder_name(struct vtr_recorder *r, uint32_t name);

/* ---- rows ---- */

/* A row of an event kind: one record received. `lane` NULL: the lane of rows that have none. Where
 * the file has failed it counts as dropped. Rows that refer to another lane by its key
 * (RANGE.end_thread, SYNC.stream) need vtr_recorder_refer() for that one. Returns 0 where the row
 * belongs to a pause and is nothing at all, else 1. */
int vtr_recorder_put(
	struct vtr_recorder *r, enum vpt_kind kind, struct vtr_lane *lane, const void *row);
void vtr_recorder_refer(struct vtr_recorder *r, struct vtr_lane *lane);

/* The short way for a KERNEL or CALL whose columns beyond `mask`, a constant, are 0: goes into the
 * section where the lane's last row went, if that was of this chunk and kind. Never a row at 0.
 * Returns 0 where it did nothing: vtr_recorder_put() does it then. `lane` is never NULL. */
static inline __attribute__((always_inline)) int vtr_recorder_append(struct vtr_recorder *r,
	enum vpt_kind kind, struct vtr_lane *lane, uint32_t mask, const uint64_t *row)
{
	struct vtr_open_chunk *c = (struct vtr_open_chunk *)r;
	struct vpt_section *s;

	if (lane->open != c->stamp + kind || row[0] < c->clear_ns)
		return 0;
	s = (struct vpt_section *)((char *)c->batch.sections + lane->section);
	if (!vpt_section_append(s, mask, row))
		return 0;
	lane->pending++;
	c->batch.event_count++;
	return 1;
}

/* So many records that are not kept: received and dropped. */
void vtr_recorder_drop(struct vtr_recorder *r, struct vtr_lane *lane, uint64_t count);

/* A row already put makes no sense in its times. */
void vtr_recorder_invalid(struct vtr_recorder *r, struct vtr_lane *lane);

/* Recording is switched off from `from_ns` on, until resume: rows that start meanwhile are neither
 * received nor written, whenever they arrive. The pause becomes a LOSS row of its own kind. The
 * newest 64 pauses are remembered. */
void vtr_recorder_pause(struct vtr_recorder *r, uint64_t from_ns);
void vtr_recorder_resume(struct vtr_recorder *r, uint64_t to_ns);

/* A LOSS row, which is no record received. `kind`: VPT_LOSSKIND_*; `count` 0: unknown. */
void vtr_recorder_loss(struct vtr_recorder *r, struct vtr_lane *lane, uint32_t kind,
	uint64_t from_ns, uint64_t to_ns, uint64_t count);

/* ---- facts ---- */

/* A device or a fact, written into the next chunk, and again when it changes; see about.h. */
void vtr_recorder_device(struct vtr_recorder *r, const struct vtr_device *device);
void vtr_recorder_meta(struct vtr_recorder *r, const char *key, const char *value);

/* ---- the session ---- */

struct vtr_recorder_options {
	struct vpt_sink *sink; /* taken over by a successful new, and finished by free */
	struct vpt_header header;
	int level;  /* zstd's */
	int always; /* a file is made even if there never is a row */
	void (*closing)(
		void *ctx); /* before a chunk is written: the place for OPEN and CLOCK rows; may be NULL */
	void *closing_ctx;
};

int vtr_recorder_new(
	const struct vtr_recorder_options *options, struct vtr_recorder **out, struct vpt_err *err);

/* Ends the chunk. ALWAYS: even without rows, once there is a file. LAST: the capture's last, with
 * the final STATS of every lane; without rows only where there is a file, or one was asked for. */
enum vtr_flush { VTR_FLUSH_ALWAYS, VTR_FLUSH_LAST };
void vtr_recorder_flush(struct vtr_recorder *r, enum vtr_flush how);

/* Since when the chunk being filled holds rows of events, on CLOCK_MONOTONIC; 0: it does not. */
uint64_t vtr_recorder_since(const struct vtr_recorder *r);

struct vtr_recorder_totals {
	uint64_t received, written, dropped, invalid; /* rows of the open chunk count as written */
	uint64_t chunks, file_bytes;
};
void vtr_recorder_totals(const struct vtr_recorder *r, struct vtr_recorder_totals *out);

/* Why nothing more can be written; NULL: all is well. */
const char *vtr_recorder_failure(const struct vtr_recorder *r);

/* Gives the sink back to the caller: free leaves it alone. */
void vtr_recorder_disown(struct vtr_recorder *r);

void vtr_recorder_free(struct vtr_recorder *r); /* accepts NULL; writes nothing, closes the file */

#endif
