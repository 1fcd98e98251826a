/* writer_sources.h - where the writer's thread gets rows from, and where a chunk ends: used by writer_thread.c. */
#ifndef VPTRACE_TRACER_WRITE_WRITER_SOURCES_H
#define VPTRACE_TRACER_WRITE_WRITER_SOURCES_H

#include "tracer/handover/mail.h"
#include "tracer/python_stacks/stack_samples.h"
#include "tracer/ranges/app_threads.h"
#include "tracer/ranges/event_words.h"
#include "tracer/write/recorder.h"

#include <stddef.h>
#include <stdint.h>

/* ---- event_rows.c: application threads' events as rows of a capture. The writer's thread only. ---- */

/* Puts an event as a row of its kind; the recorder counts what cannot be written. */
void vtr_event_put(struct vtr_recorder *r, const struct vtr_event *e);
/* Puts a range that has not ended, as an OPEN row. */
void vtr_event_put_open(struct vtr_recorder *r, const struct vtr_event *e);

/* ---- stack_rows.c: samples of stacks become SAMPLE rows, and their stacks rows of FRAME and STACK. The
 * writer's thread only.
 *
 * A stack is put into a chunk when the first sample there needs it. */

/* All zeros is the beginning. */
struct vtr_stack_rows {
	uint64_t chunk; /* of `ids` */
	uint32_t *ids;  /* of a chunk's STACK, by the number of the stack; 0: not put yet */
	size_t id_cap;
};

/* Puts all samples that wait. */
void vtr_stack_rows_put(
	struct vtr_stack_rows *rows, struct vtr_stack_samples *samples, struct vtr_recorder *r);

void vtr_stack_rows_free(struct vtr_stack_rows *rows);

/* ---- counter_rows.c: samples of counters become rows; those from before the first record wait for it.
 *
 * A process that records nothing else leaves no file, and the first record may arrive long after
 * it was made. At most VTR_COUNTERS_HELD samples wait, the newest ones: a program that does not use
 * its GPU for minutes has only the last of them. All zeros is ready to use. */

enum { VTR_COUNTERS_HELD = 32768 }; /* 5 minutes of one GPU, every 100 ms */

struct vtr_counter_rows {
	struct vtr_sample *held; /* a ring once it is full */
	size_t held_cap, held_count, oldest;
	uint64_t written; /* rows */
};

/* Puts a sample, after those that waited. The writer's thread. */
void vtr_counter_rows_put(
	struct vtr_counter_rows *rows, const struct vtr_sample *sample, struct vtr_recorder *r);
/* Puts those that waited, if there is a record now. The writer's thread. */
void vtr_counter_rows_flush(struct vtr_counter_rows *rows, struct vtr_recorder *r);
void vtr_counter_rows_free(struct vtr_counter_rows *rows);

/* ---- chunk_edge.c: cuts the threads' events into chunks so that every range open around a call is in
 * the chunk of that call, or an earlier one, and no range comes after one that began later.
 *
 * Events leave the rings in steps of time: all that ended by the cut are in rows, all later ones in
 * the rings. A chunk may therefore end at any moment. Its OPEN rows are the ranges that were open at
 * the cut: they have begun, and no row of theirs has been made. They are on a stack still, or have
 * ended since and are in a ring. The stacks are copied first, and the rings looked at second:
 *
 *	copy of the stacks    look at the rings    in the chunk
 *	open                  not there            OPEN: it is still open
 *	open                  there                OPEN: it just ended, its RANGE follows
 *	not there             there                OPEN, if it began before the cut
 *
 * In the other order, a range that ended in between would be in neither. Very long names may force a
 * chunk to end inside a step; OPEN rows then tell the rest of that step too. Calls may be put once the
 * cut is after their ends. The writer's thread only. */

struct vtr_edge_list {
	struct vtr_edge_event *events;
	size_t count, cap;
};

/* All zeros is a valid empty edge, at the beginning of time. */
struct vtr_edge {
	struct vtr_recorder *recorder; /* borrowed */
	struct vtr_edge_list open;     /* when the stacks were copied */
	struct vtr_edge_list late;     /* open at the cut, not when the stacks were copied */
	/* What ended by `done_ns` is in rows, what ended after `cut_ns` in the rings. Equal, except
	 * while a step is drained. */
	uint64_t done_ns, cut_ns;
	void (*seen)(void *ctx, const struct vtr_event *event); /* each event; may be NULL */
	void *seen_ctx;
};

/* Makes rows of what the rings hold that ended by `now_ns`, the time of the call, or of a part of
 * it; counts them in *drained. Ends chunks that are full. Returns whether that was all; the rest
 * follows in the next round. */
int vtr_edge_drain(struct vtr_edge *e, uint64_t now_ns, size_t *drained);
/* The open chunk ends: puts the ranges open at the cut as OPEN rows. */
void vtr_edge_close(struct vtr_edge *e);
/* After vtr_threads_stop(): makes rows of what is still in the rings, and of ranges that are still
 * open, which end at `stop_ns`. */
void vtr_edge_end_open(struct vtr_edge *e, uint64_t stop_ns);
void vtr_edge_free(struct vtr_edge *e);

/* ---- window_limits.c: the writer's side of the window: applies its changes to the recorder, and ends the
 * recording where a limit of time or size is reached.
 *
 * A limit of time is exact: the pause that follows it is known from the moment that the window
 * opens. */

struct vtr_limits {
	struct vtr_recorder *recorder;
	uint64_t duration_ns; /* of recorded time; 0: no limit */

	uint64_t spent_ns; /* of the duration, in windows that are closed */
	uint64_t open_ns;  /* when the open window opened */
	int is_open, is_over;
};

/* A capture begins at `start_ns`, with its window open. */
void vtr_limits_begin(struct vtr_limits *l, uint64_t start_ns);

/* Applies all new changes. */
void vtr_limits_follow(struct vtr_limits *l);

/* Why nothing more will be recorded: "duration", "max-bytes", or "window" where the trigger has
 * closed it for good; NULL: there may be more. */
const char *vtr_limits_over(struct vtr_limits *l, uint64_t now_ns);

#endif
