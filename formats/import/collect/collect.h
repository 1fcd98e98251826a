/* collect.h - turns the unordered rows of a foreign trace into chunks.
 *
 * An importer puts rows as it reads them; ids of strings and configurations are valid for the whole
 * trace. vpt_collect_finish() sorts the rows. vpt_collect_chunk() then builds batches just like
 * those of a capture: rows in completion order, OPEN rows for ranges that are open at each cut,
 * tables per chunk. Memory grows with the trace, by about 80 bytes per event. Fill it from one
 * thread; after finish(), several threads may call chunk(). Filling is sticky as in a batch: check
 * finish(). */
#ifndef VPT_FORMATS_IMPORT_COLLECT_COLLECT_H
#define VPT_FORMATS_IMPORT_COLLECT_COLLECT_H

#include "formats/base/error.h"
#include "formats/capture_layout.h"
#include "formats/chunk/batch.h"
#include "formats/metadata.h"

struct vpt_collect;

struct vpt_collect_doubts {
	uint64_t unclear_ops; /* whose launch is unknown, since they may be of several processes */
	uint64_t mixed_ops;   /* left out: the file mixes those of several processes on one lane */
	uint64_t far_rows;    /* of other kinds, left out: far away from all others in time */
	uint64_t cut_ops;     /* that lasted over later ones of their stream */
};

struct vpt_collect *vpt_collect_new(void);    /* NULL when there is no memory */
void vpt_collect_free(struct vpt_collect *c); /* accepts NULL */

/* Intern for the whole trace. 0 is the empty string. Text beyond 64 KiB is cut. */
uint64_t vpt_collect_string(struct vpt_collect *c, const char *text, size_t len);
uint64_t vpt_collect_config(struct vpt_collect *c, const struct vpt_config *config);
/* As vpt_batch_frame() and vpt_batch_stack() (batch.h), for the whole trace. */
uint64_t vpt_collect_frame(struct vpt_collect *c, const struct vpt_frame *frame);
uint64_t vpt_collect_stack(struct vpt_collect *c, uint64_t caller, uint64_t frame);

/* Appends a row of an event kind, of META or STATS, or of OPEN for a range that never ends.
 * STRING, CONFIG and STACK columns hold ids of this collector; the value of a blob or JSON payload is a
 * string id. A span's duration is end - start even if that is negative: it wraps, and the row is
 * kept and counts as invalid. */
void vpt_collect_put(struct vpt_collect *c, enum vpt_kind kind, uint64_t lane, const void *row);

/* The key of a thread's or stream's lane, never 0. The first call adds its LANE row. A stream
 * belongs to process `pid`; -1 as device, context, stream or tid means unknown. */
uint64_t vpt_collect_thread(struct vpt_collect *c, int64_t pid, int64_t tid);
uint64_t vpt_collect_stream(
	struct vpt_collect *c, int64_t pid, int64_t device, uint64_t context, int64_t stream);
/* The same for a series of samples, identified by device, name and unit; the last two are string
 * ids of this collector. The device's number is that of process `pid`; -1: of all. */
uint64_t vpt_collect_series(
	struct vpt_collect *c, int64_t pid, int64_t device, uint64_t name, uint64_t unit);
/* Names a thread's or stream's lane; the last name wins. */
void vpt_collect_name_lane(struct vpt_collect *c, uint64_t key, uint64_t name);

/* Appends a META row. */
void vpt_collect_fact(struct vpt_collect *c, enum vpt_metadata fact, const char *value);

/* ---- processes ----
 *
 * A CUDA ordinal and a correlation id belong to a process: two ranks may both call their GPU 0, and
 * count from 1. So an importer
 *
 * - gives each thread, stream, series and DEVICE row its process where the file says it;
 * - where the file does not, but some lanes belong together (a GPU's lanes of one rank), gives them an
 *   owner: vpt_collect_finish() finds the process by ids and times;
 * - uses -1 if neither is known: all such lanes are of one process.
 *
 * vpt_collect_finish() then numbers GPUs through: (process, ordinal) is a GPU of its own, unless DEVICE
 * rows of two processes have one UUID or PCI address. The first of them keeps its ordinal as number; META
 * "processes.gpus" lists the others. Ids that a process gave out twice, in two sessions, become unique. */

/* No process of Linux has a larger number; a process that has no number may be given one. */
enum { VPT_COLLECT_PID_MAX = 1 << 22 };

/* A new owner, and its process as soon as it is known. */
uint32_t vpt_collect_owner(struct vpt_collect *c);
void vpt_collect_own(struct vpt_collect *c, uint32_t owner, int64_t pid);
/* The lane of a stream of an owner, see vpt_collect_stream(). */
uint64_t vpt_collect_owned_stream(
	struct vpt_collect *c, uint32_t owner, int64_t device, uint64_t context, int64_t stream);
/* Puts the META row "process.PID.KEY": what KEY is of that process. Both texts are string ids of this collector. */
void vpt_collect_process_fact(struct vpt_collect *c, int64_t pid, uint64_t key, uint64_t value);
/* Puts a DEVICE row whose ordinal is that of process `pid`; -1: of all. */
void vpt_collect_device(struct vpt_collect *c, int64_t pid, const struct vpt_device *row);
/* An op at 0 of this file is one whose time is unknown, as the file says, even if other events are near 0. */
void vpt_collect_zero_is_no_time(struct vpt_collect *c);

/* No writer has rounded the times of this file: calls and ranges of a thread that overlap do so. */
void vpt_collect_times_are_exact(struct vpt_collect *c);

/* The file numbers its GPUs through already: ordinals stay as they are. */
void vpt_collect_gpus_are_numbered(struct vpt_collect *c);
/* Names a process, with a string id: META "process.PID". */
void vpt_collect_name_process(struct vpt_collect *c, int64_t pid, uint64_t name);

/* After finish(): what was doubtful; borrowed. */
const struct vpt_collect_doubts *vpt_collect_doubts(const struct vpt_collect *c);

/* Sets the capture's start and end, which otherwise are the first start and last end of its rows.
 * 0: unknown. A start after the end is ignored, and so is an end before the start. */
void vpt_collect_window(struct vpt_collect *c, uint64_t start_ns, uint64_t end_ns);

/* Sets the time of day: CLOCK_REALTIME is the trace clock plus this offset, which may wrap. */
void vpt_collect_realtime(struct vpt_collect *c, uint64_t unix_offset_ns);

/* Sorts the rows and cuts them into chunks. Unless vpt_collect_window() set them, the header's t0
 * is the first start of any op, call or range, and the last CLOCK row is at their last end. Returns
 * 0 or VPT_ENOMEM. Put nothing afterwards. */
int vpt_collect_finish(struct vpt_collect *c, struct vpt_err *err);

const struct vpt_header *vpt_collect_header(const struct vpt_collect *c);
size_t vpt_collect_chunks(const struct vpt_collect *c);

/* Builds chunk `index` in `out`, which is reset first; sets t_min, t_max and event_count. 0 or
 * VPT_ENOMEM. */
int vpt_collect_chunk(
	const struct vpt_collect *c, size_t index, struct vpt_batch *out, struct vpt_err *err);

/* t_min of a chunk, without building it. */
uint64_t vpt_collect_t_min(const struct vpt_collect *c, size_t index);

#endif
