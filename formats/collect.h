/* collect.h - foreign traces, which come in no order, become chunks.
 *
 * An importer puts rows as it meets them, with strings and configurations numbered for the whole trace;
 * vpt_collect_finish() sorts them, and vpt_collect_chunk() then hands out batches that look exactly like
 * those of a capture: rows in completion order, OPEN rows for what is open at each cut, tables per chunk.
 * Memory grows with the trace (about 80 bytes an event). Not thread-safe while filling; chunk() may be
 * called from several threads after finish(). Filling is sticky like a batch: check finish(). */
#ifndef VPT_FORMATS_COLLECT_H
#define VPT_FORMATS_COLLECT_H

#include "formats/batch.h"
#include "formats/capture.h"
#include "formats/error.h"

struct vpt_collect;

struct vpt_collect *vpt_collect_new(void);    /* NULL when there is no memory */
void vpt_collect_free(struct vpt_collect *c); /* accepts NULL */

/* Ids for the whole trace. 0 is the empty string. Text beyond 64 KiB is cut. */
uint64_t vpt_collect_string(struct vpt_collect *c, const char *text, size_t len);
uint64_t vpt_collect_config(struct vpt_collect *c, const struct vpt_config *config);

/* Appends a row of an event kind, or of META, DEVICE, STATS, or OPEN for a range that never ends. Ids in its STRING and CONFIG columns are those
 * of this collector; a blob payload's value is a string id. Span rows carry duration = end - start,
 * also when that is negative (it wraps; such rows are kept and count as invalid). */
void vpt_collect_put(struct vpt_collect *c, enum vpt_kind kind, uint64_t lane, const void *row);

/* The key of a thread's or stream's lane, made on first use: describes it by a LANE row. Of a stream,
 * pid says whose it is; -1 in device, context, stream or tid means unknown. Never 0. */
uint64_t vpt_collect_thread(struct vpt_collect *c, int64_t pid, int64_t tid);
uint64_t vpt_collect_stream(
	struct vpt_collect *c, int64_t pid, int64_t device, uint64_t context, int64_t stream);
/* The same of a series of samples, told apart by its texts; names and units are ids of this collector. */
uint64_t vpt_collect_series(struct vpt_collect *c, int64_t device, uint64_t name, uint64_t unit);
/* Names a thread's or stream's lane; the last one given wins. */
void vpt_collect_name_lane(struct vpt_collect *c, uint64_t key, uint64_t name);

void vpt_collect_meta(struct vpt_collect *c, const char *key, const char *value);

/* What is known of the capture's start and end, in place of the first start and last end of its rows. 0: not told;
 * a start behind the end is not believed. */
void vpt_collect_window(struct vpt_collect *c, uint64_t start_ns, uint64_t end_ns);

/* The time of day is known: CLOCK_REALTIME is the trace clock plus this, which may wrap. */
void vpt_collect_realtime(struct vpt_collect *c, uint64_t unix_offset_ns);

/* Sorts and cuts. The header's t0 becomes the first start of any op, call or range, the last CLOCK row their last
 * end. Returns 0 or VPT_ENOMEM. Nothing may be put afterwards. */
int vpt_collect_finish(struct vpt_collect *c, struct vpt_err *err);

const struct vpt_header *vpt_collect_header(const struct vpt_collect *c);
size_t vpt_collect_chunks(const struct vpt_collect *c);

/* Chunk `index` into `out`, which is reset first. t_min, t_max and event_count are set. */
int vpt_collect_chunk(
	const struct vpt_collect *c, size_t index, struct vpt_batch *out, struct vpt_err *err);

/* t_min of a chunk without building it. */
uint64_t vpt_collect_t_min(const struct vpt_collect *c, size_t index);

#endif
