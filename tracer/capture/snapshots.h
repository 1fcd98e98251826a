/* snapshots.h - the thread that writes a flight recorder's files, and what makes it do so.
 *
 *	vptrace_snapshot() ---------------------+
 *	a mark, a slow step (writer's thread) --+--> thread: flush CUPTI, cut the chunk, pin the
 *	a signal (its handler) -----------------+            ring, write a file
 *	the capture's end ----------------------+
 *
 * Whoever asks only wakes it; a slow disk blocks nobody else until the ring is full. */
#ifndef VPTRACE_TRACER_CAPTURE_SNAPSHOTS_H
#define VPTRACE_TRACER_CAPTURE_SNAPSHOTS_H

#include "tracer/cupti/flusher.h"
#include "tracer/flight/flight.h"
#include "tracer/ranges/app_threads.h"
#include "tracer/settings/capture_options.h"
#include "tracer/capture/writer_thread.h"

struct vtr_snapshots;

/* `options` and `flight` are borrowed. VPT_ENOMEM. */
int vtr_snapshots_new(const struct vtr_options *options, struct vtr_flight *flight,
	struct vtr_snapshots **out, struct vpt_err *err);

/* Starts the thread, with all signals blocked, and installs the handler of the signal that the
 * options name. 0 or VPT_ENOMEM. */
int vtr_snapshots_start(struct vtr_snapshots *s, struct vtr_writer *writer,
	struct vtr_flusher *flusher, struct vpt_err *err);

/* Looks at an event for triggers; NULL: at the calls of vptrace_step() since. The writer's thread;
 * `snapshots` is a struct vtr_snapshots. */
void vtr_snapshots_seen(void *snapshots, const struct vtr_event *event);

/* Writes a file now and waits for it until `deadline_ns` (CLOCK_MONOTONIC). `path` NULL: the name of
 * the options. VPT_EIO with words, also when it is not done by then; VPT_EDATA: nothing is
 * recorded. Any thread; one at a time. */
int vtr_snapshots_take(
	struct vtr_snapshots *s, const char *path, uint64_t deadline_ns, struct vpt_err *err);

/* After the writer's end: writes the end if `is_wanted`, and ends the thread. 0, or VPT_EIO with
 * words. -1: it is still writing at the deadline; it and all it uses must stay allocated. */
int vtr_snapshots_finish(
	struct vtr_snapshots *s, int is_wanted, uint64_t deadline_ns, struct vpt_err *err);

/* The newest file's name; "": none yet. `out` has VTR_PATH_MAX bytes. Any thread. */
void vtr_snapshots_path(struct vtr_snapshots *s, char *out);

/* After it has ended, or was never started; accepts NULL. */
void vtr_snapshots_free(struct vtr_snapshots *s);

/* ---- snapshot_signal.c: the one signal handler of the library, installed only where the user names a
 * signal ---- */

/* From now on the signal calls `act`, which must be async-signal-safe, once, then the handler that was
 * there before; its default action is replaced. 0; -1: there is no room for another handler, since the
 * host has installed too many of its own above ours. One at a time; the session's thread. */
int vtr_snapshot_signal_begin(int number, void (*act)(void));

/* Puts the former handler back, unless the host has installed another one meanwhile: that one may
 * chain ours, which then does nothing but chain in turn. */
void vtr_snapshot_signal_end(void);

#endif
