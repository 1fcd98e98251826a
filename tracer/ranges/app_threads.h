/* app_threads.h - what application threads leave for the writer: each a ring of events and a stack of
 * open ranges.
 *
 *	application thread                       writer thread
 *	push  -> own stack                       vtr_threads_drain()  <- all rings
 *	pop   -> own stack -> own ring           vtr_threads_open()   <- all stacks, while they move
 *
 * A thread's first event maps its memory. Later events take no lock, allocate nothing and make no
 * system call, unless the ring is full: then the thread maps another one, and the old one is
 * unmapped once drained. Beyond the memory limit the newest event is dropped and counted, or the
 * outermost range of a stack that cannot grow. Memory of
 * ended threads is reused or unmapped once drained. The stacks are kept up while nothing is
 * recorded, so ranges open when a capture starts are known; they then start with the capture, unless
 * it begins with CUDA's start: such a capture goes back to the earliest of them.
 *
 * Counting is exact, per thread and in total: events made while recording = drained + dropped. */
#ifndef VPTRACE_TRACER_RANGES_APP_THREADS_H
#define VPTRACE_TRACER_RANGES_APP_THREADS_H

#include "tracer/ranges/words/thread_event.h"
#include "tracer/vptrace.h"

#include <stddef.h>
#include <stdint.h>

enum { VTR_LOSERS_MAX = 1024 }; /* threads per capture with a drop count of their own */

/* ---- application threads ---- */

/* Return the depth of the domain's stack before the push, or after the pop; negative: nothing was
 * done. A pop that finds no open range of its domain on this thread does nothing. */
int vtr_range_push(const struct vtr_attributes *a);
int vtr_range_pop(uint32_t domain);

/* Sets what is still negative in the note of this thread's innermost open range of that kind. */
void vtr_range_fill(const struct vptrace_note *note);

/* Returns an id that is never 0 while fewer than VTR_STARTED_MAX are open; an end of an id that is
 * not open does nothing. */
uint64_t vtr_range_start(const struct vtr_attributes *a);
void vtr_range_end(uint64_t id);

void vtr_mark(const struct vtr_attributes *a);
void vtr_counter(uint32_t name, double value, uint32_t unit);
void vtr_graph_event(uint32_t op, uint64_t graph, uint64_t node, uint64_t origin);

/* ---- the session ---- */

/* Sets up what threads need. Once, from the library's constructor. 0 or -1. */
int vtr_threads_init(void);

/* Says whether the first capture will begin by itself, with CUDA: then ranges are stamped before it
 * too. vtr_threads_init() finds out from the environment. */
void vtr_threads_expect(int is_expected);

/* The earliest start of any open range, or `now_ns`: only of ranges that were opened, and stamped,
 * before the first capture. One thread at a time; waits as vtr_threads_open() does. */
uint64_t vtr_threads_earliest(uint64_t now_ns);

/* Start / stop recording events. `start_ns` is the capture's start: ranges that were open then begin
 * there, and are unmatched. It may be earlier than now, in a process's first capture: ranges that
 * were opened since are whole. Older events in the rings are discarded, not counted. A stop returns
 * its time: no event that is drained afterwards is later, and a range that ends afterwards still becomes
 * an event, which ends at the stop and is unmatched. One thread at a time. */
void vtr_threads_record(uint64_t start_ns);
uint64_t vtr_threads_stop(void);

/* In a forked child: never record in this process. */
void vtr_threads_inert(void);

/* In a forked child of a process that has not recorded: its one thread has no open range, and the
 * parent's other threads and start/end ranges are forgotten. 0; -1: the thread forked while it made
 * an event. */
int vtr_threads_forked(void);

/* ---- the writer's thread ---- */

/* Passes everything in the rings to `take`, thread by thread, each in order. Returns the number of
 * events. Pointers in the event are valid during the call. An ended thread's ring becomes free for
 * another one. */
size_t vtr_threads_drain(void (*take)(void *ctx, const struct vtr_event *event), void *ctx);

/* The same for what happened or ended by `cut_ns`: later events stay in their ring, with all that
 * follow. */
struct vtr_drain {
	void (*take)(void *ctx, const struct vtr_event *event);
	uint64_t cut_ns;
	void *ctx;
};
/* Counts the events taken in *count. Returns whether all were taken. */
int vtr_threads_drain_some(const struct vtr_drain *how, size_t *count);

/* How far to drain: until `until_ns`, or an earlier time, by which about `most` of the events in
 * the rings had happened or ended. It is never earlier than the first of them. */
uint64_t vtr_threads_reach(uint64_t until_ns, size_t most);

/* Passes everything in the rings to `see`, and leaves it there. May be called by `take`, whose event
 * is still there too. */
void vtr_threads_look(void (*see)(void *ctx, const struct vtr_event *event), void *ctx);

/* Passes every open range to `take`, as a RANGE event with end_ns 0 and unmatched 1, outermost
 * first; none that was opened after the stop. A thread whose stack keeps changing is retried for
 * a few milliseconds, then left out; after the stop, for 0.2 s, as is a range that is just being
 * ended. What has been drained before is then in no stack. Returns how many were left out. */
size_t vtr_threads_open(void (*take)(void *ctx, const struct vtr_event *event), void *ctx);

/* Events dropped since the capture began: by thread (calls `take` for each thread that lost any),
 * and in all. Each id is emitted once, and its count only grows during a capture; id 0 collects
 * threads beyond VTR_LOSERS_MAX and threads without memory. */
uint64_t vtr_threads_dropped(void (*take)(void *ctx, uint32_t tid, uint64_t dropped), void *ctx);

/* A capture's events dropped by threads that got no memory. */
uint64_t vtr_threads_homeless(uint32_t capture);

/* Ranges of the capture that were forgotten, since VTR_DEPTH_MAX newer ones were open on their thread: its
 * pushes have no pops. Each is an unmatched event, which ends when it was forgotten. */
uint64_t vtr_threads_unmatched(void);

/* Whether any event was made since vtr_threads_record(): a process without events leaves no
 * file. */
int vtr_threads_seen(void);

#endif
