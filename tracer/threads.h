/* threads.h - what application threads leave for the writer: a ring of events and a stack of open
 * ranges each.
 *
 *	application thread                       writer thread
 *	push  -> own stack                       vtr_threads_drain()  <- all rings
 *	pop   -> own stack -> own ring           vtr_threads_open()   <- all stacks, while they move
 *
 * A thread's first event maps its memory; from then on an event takes no lock, no allocation and no
 * system call, unless its ring is full: then it maps another one, and one that was left is unmapped once it has been drained.
 * Beyond the limit of memory the newest event is dropped and counted. Memory of ended threads is used again, or given back,
 * once it has been drained. The stacks are kept while nothing is recorded, so ranges
 * that are open when a capture starts are known; their start is then the capture's.
 *
 * Counting is exact: of every thread, and of all together, events made while recording = drained +
 * dropped. */
#ifndef VPTRACE_TRACER_THREADS_H
#define VPTRACE_TRACER_THREADS_H

#include "tracer/vptrace.h"

#include <stddef.h>
#include <stdint.h>

enum {
	VTR_DEPTH_MAX = 256,    /* ranges open on one thread */
	VTR_BLOB_MAX = 256,     /* bytes of a payload that are kept */
	VTR_STARTED_MAX = 4096, /* start/end ranges open in the process */
	VTR_LOSERS_MAX = 1024   /* threads of a capture whose losses are told apart */
};

enum vtr_event_type {
	VTR_EVENT_RANGE, /* a range that ended */
	VTR_EVENT_MARK,
	VTR_EVENT_COUNTER,
	VTR_EVENT_GRAPH /* a CUDA graph node came or went; told by the CUPTI callbacks */
};

/* What hangs on a range or mark. All zeros: nothing. */
struct vtr_payload {
	uint32_t type;    /* VPT_PAYLOAD_* of formats/names.def; BLOB: `bytes` bytes at `blob` */
	uint32_t bytes;   /* at most VTR_BLOB_MAX */
	uint64_t value;   /* the bits of a number */
	uint64_t schema;  /* of a blob: NVTX's schema id; VTR_SCHEMA_NOTE: a struct vptrace_note */
	const void *blob; /* borrowed for the call */
};
#define VTR_SCHEMA_NOTE UINT64_MAX

struct vtr_event {
	enum vtr_event_type type;
	uint32_t tid, end_tid;     /* the thread that opened it, and that closed it */
	uint64_t start_ns, end_ns; /* CLOCK_REALTIME; a mark, counter or graph event: start_ns */
	uint32_t name,
		domain; /* names.h; a counter's unit stands in `domain`, a graph event's innermost range in `name` */
	uint32_t range_kind; /* VPT_RANGEKIND_* */
	uint32_t unmatched;  /* 1: it was open when the capture began, or is when it ends */
	uint32_t category, colour;
	struct vtr_payload payload; /* a counter: value = bits of the double */
	uint32_t graph_op;          /* VPT_GRAPHOP_* */
	uint64_t graph, node, origin;
};

/* ---- application threads ---- */

struct vtr_attributes {        /* of a range or mark; all zeros but the name will do */
	uint32_t name, domain; /* names.h */
	uint32_t category, colour;
	struct vtr_payload payload;
};

/* Return the depth of the domain's stack before the push, after the pop; negative: nothing was
 * done. A pop that finds no open range of its domain on this thread does nothing. */
int vtr_range_push(const struct vtr_attributes *a);
int vtr_range_pop(uint32_t domain);

/* Returns an id that is never 0 while fewer than VTR_STARTED_MAX are open; an end of an id that is
 * not open does nothing. */
uint64_t vtr_range_start(const struct vtr_attributes *a);
void vtr_range_end(uint64_t id);

void vtr_mark(const struct vtr_attributes *a);
void vtr_counter(uint32_t name, double value, uint32_t unit);
void vtr_graph_event(uint32_t op, uint64_t graph, uint64_t node, uint64_t origin);

/* The calling thread's id as gettid(2) says, cached. */
uint32_t vtr_tid(void);
/* How the host named a thread; remembered for vtr_thread_names(). */
void vtr_thread_name(uint32_t tid, uint32_t name);

/* ---- the session ---- */

/* Registers what threads need, once, from the library's constructor. 0 or -1. */
int vtr_threads_init(void);

/* From here on events are recorded / no longer recorded. `start_ns` is the capture's start: ranges
 * that are open already begin there. Events that were in a ring before are gone and not counted.
 * One thread at a time. */
void vtr_threads_record(uint64_t start_ns);
void vtr_threads_stop(void);

/* In a forked child: this process never records. */
void vtr_threads_inert(void);

/* ---- the writer's thread ---- */

/* Hands out everything in the rings, a thread after the other, each in the order it was made.
 * Returns the number of events. Pointers in the event are good during the call. A ring of an ended
 * thread is freed for the next one. */
size_t vtr_threads_drain(void (*take)(void *ctx, const struct vtr_event *event), void *ctx);

/* The same with an end, however fast the threads are. */
struct vtr_drain {
	void (*take)(void *ctx, const struct vtr_event *event);
	/* What happened or ended after `cut_ns` stays, and what comes after it in its ring; `look`, unless NULL, sees it, as far
	 * as `look_ns`. */
	void (*look)(void *ctx, const struct vtr_event *event);
	uint64_t cut_ns, look_ns;
	unsigned rings; /* of a thread that are followed beyond the first; 0: all */
	void *ctx;
};
/* Counts the events taken. Returns whether all were. */
int vtr_threads_drain_some(const struct vtr_drain *how, size_t *count);

/* Every range that is open now, as a RANGE event with end_ns 0 and unmatched 1, outermost first;
 * none that was opened after the stop. A thread that keeps moving is tried a few times, then left
 * out; the number of such threads is returned. */
size_t vtr_threads_open(void (*take)(void *ctx, const struct vtr_event *event), void *ctx);

/* Events dropped since the capture began: by thread (calls `take` for each thread that lost any),
 * and in all. An id is told once, and its number only grows during a capture; id 0 stands for
 * threads that cannot be told apart. */
uint64_t vtr_threads_dropped(void (*take)(void *ctx, uint32_t tid, uint64_t dropped), void *ctx);

/* Those of a capture of threads that found no memory of their own. */
uint64_t vtr_threads_homeless(uint32_t capture);

/* Names given by vtr_thread_name(), each once a capture and when it changes. */
void vtr_thread_names(void (*take)(void *ctx, uint32_t tid, uint32_t name), void *ctx);

/* The number of the capture that runs, or of the last one. Any thread. */
uint32_t vtr_threads_capture(void);

/* Whether any event was made since vtr_threads_record(): a process that never does anything leaves
 * no file. */
int vtr_threads_seen(void);

/* Bytes that rings and stacks take from the limit of budget.h. */
uint64_t vtr_threads_memory(void);

#endif
