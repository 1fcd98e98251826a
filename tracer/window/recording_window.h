/* recording_window.h - when the running capture records. One for the process.
 *
 *	the host's pause, cudaProfilerStart, ranges, steps --> changes --> the writer, which
 *	                                                                  discards rows by their time
 *
 * Recording is on while the host has not paused it, the trigger's window is open, and the window is
 * not over for good. Each change carries its time; the times of changes made now are in the order of
 * the changes. Rows are kept or discarded by these times alone, so each lies on one side of a change:
 * what another thread launches while a change is being made, on the side that its time says.
 * Changes are kept in a ring without locks: they come from callbacks and from every push of a range.
 * A window that opens while the ring has no room for its end as well is not recorded, and counted. */
#ifndef VPTRACE_TRACER_WINDOW_RECORDING_WINDOW_H
#define VPTRACE_TRACER_WINDOW_RECORDING_WINDOW_H

#include "tracer/ranges/words/thread_event.h"
#include "tracer/settings/trigger.h"

#include <stdatomic.h>
#include <stdint.h>

/* ---- the session ---- */

/* A capture begins at `start_ns`. `started`: by the program's own vptrace_start(), which opens the
 * window of VTR_TRIGGER_API. Before the first event of the capture. */
void vtr_window_begin(const struct vtr_trigger *trigger, int started, uint64_t start_ns);

/* The capture ends: events change nothing any more. */
void vtr_window_end(void);

/* The host's pause begins or ends; its vptrace_start() in a running capture. Returns whether that
 * changed anything. */
int vtr_window_pause(int pausing);
int vtr_window_start(void);

/* Whether records of this moment are kept, and whether any were so far. Any thread. */
int vtr_window_is_open(void);
int vtr_window_was_open(void);

/* ---- events: no lock, no memory, no system call; nothing unless the trigger waits for them ---- */

void vtr_window_profiler(int starts);
void vtr_window_step(void);

/* What pushes and pops of ranges must look out for. */
enum { VTR_WINDOW_NAME = 1, VTR_WINDOW_UNIT = 2 };
#pragma GCC visibility push(hidden)
extern _Atomic uint32_t vtr_window_watch;
#pragma GCC visibility pop

static inline uint32_t vtr_window_watches(void)
{
	return atomic_load_explicit(&vtr_window_watch, memory_order_relaxed);
}

/* Around the push of a range, so that its start lies in the window that it opens: before its start
 * is stamped; then, with what that returned, once it is on the stack. */
int vtr_window_pushing(const struct vtr_attributes *a);
void vtr_window_pushed(int opens);
/* After the end of a range of this name was stamped, or it was forgotten. */
void vtr_window_popped(uint32_t name);
/* The same of a range of the process; `id` as from vtr_range_start(), 0: it was not started. */
void vtr_window_started(int opens, uint64_t id);
void vtr_window_ended(uint64_t id);
/* The calling thread ends, and its open ranges with it. */
void vtr_window_thread_ended(void);

/* ---- the writer ---- */

struct vtr_window_change {
	uint64_t time_ns;
	int records; /* from then on */
	int is_last; /* nothing more will be recorded */
};

/* The number of changes so far; compare it to see whether there are new ones. */
extern _Atomic uint64_t vtr_window_changes;

/* The next change, in order. 0: none. */
int vtr_window_next(struct vtr_window_change *out);

/* Windows that were not recorded because the writer could not keep up. */
uint64_t vtr_window_missed(void);

#endif
