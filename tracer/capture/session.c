/* session.c - captures in the life of a process, one at a time.
 *
 *	STOPPED --start--> RUNNING or RANGES_ONLY --stop--> STOPPED
 *	                                                      any --the file fails--> FAILED --stop--> STOPPED
 *	                                                      any --fork, in the child--> INERT
 *
 * A child of a process that never began a capture is no such child: it is STOPPED, and may record.
 *
 * PAUSED is RUNNING or RANGES_ONLY while the window is closed, see recording_window.h.
 *
 * One lock guards it. Only the public functions take it; callbacks and our threads never do. A stop
 * does not hold it while it waits for the GPU: work there may wait for a host function that calls
 * us. What holds the lock stands in one file, which is long for it. */
#include "tracer/capture/session.h"

#include "tracer/capture/capture.h"
#include "tracer/capture/attached_facts.h"
#include "tracer/guest/cancel.h"
#include "tracer/settings/last_error.h"
#include "tracer/guest/own_thread.h"
#include "tracer/guest/tell.h"
#include "tracer/ranges/app_threads.h"
#include "tracer/settings/capture_options.h"
#include "tracer/settings/misspelt.h"
#include "tracer/window/recording_window.h"
#include "tracer/files/run_list.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	/* How long an exiting process waits for another thread in a function of ours; the same if
	 * that thread is ending a capture by itself. */
	EXIT_PATIENCE_MS = 1000,
	EXIT_OVER_MS = 10000,
	SAID_BYTES = 512
};

static struct {
	pthread_mutex_t lock;
	/* A start's, a stop's or a snapshot's from beginning to end, taken before `lock`: two of them
	 * give `lock` up in between. */
	pthread_mutex_t change;

	/* ---- for any thread, with or without the lock ---- */
	atomic_int state;       /* enum vptrace_state */
	atomic_int driver_came; /* the driver loaded us while the lock was taken */
	atomic_int taken;       /* another client of CUPTI gets the records now */
	atomic_int reported;    /* we have written a line about this capture */
	atomic_uint number;     /* of the capture, from 1 */
	atomic_int ending;      /* a capture ends by itself */
	/* The process that last started a capture; 0: none did. Written with the lock only. */
	atomic_int owner;

	/* ---- guarded by the lock ---- */
	struct vtr_capture *now;
	struct vtr_capture *stuck; /* whose writer was blocked in a write at its end */
	int draining;              /* a stop waits for the GPU */
	char said[SAID_BYTES];     /* the last failure reported on stderr */
	int exits;                 /* handlers registered: 1 without CUPTI, 2 with */
	struct vtr_facts facts;
	struct vptrace_stats last;
	char path[VTR_PATH_MAX]; /* of the file; "": none yet */
	int has_ended; /* a capture has ended by itself, and the host has not stopped it since */
	int was_over;  /* one has, ever */
	int joined;    /* how CUPTI's start went, and why not better */
	char joined_text[SAID_BYTES];
	char ended_text[SAID_BYTES]; /* what a stop of that capture returns besides its code */
} all = {.lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP, .change = PTHREAD_MUTEX_INITIALIZER};

/* ---- what it is doing ---- */

enum vptrace_state vptrace_status(void)
{
	enum vptrace_state state = (enum vptrace_state)atomic_load(&all.state);

	if ((state == VPTRACE_RUNNING || state == VPTRACE_RANGES_ONLY) && !vtr_window_is_open())
		return VPTRACE_PAUSED;
	if (state == VPTRACE_RANGES_ONLY && atomic_load(&all.taken))
		vtr_refuse(VPTRACE_ETAKEN, VTR_WATCH_TAKEN);
	return state;
}

/* A child made without the C library counts too. */
static int inert(void)
{
	pid_t owner = atomic_load_explicit(&all.owner, memory_order_relaxed);

	return atomic_load(&all.state) == VPTRACE_INERT || (owner && owner != getpid());
}

static int fail_inert(void)
{
	return vtr_refuse(VPTRACE_EFORKED,
		"this process was forked from a traced one; only its parent records. "
		"A process started with exec records by itself");
}

/* Called by the writer's thread: the file cannot be written. */
static void file_failed(const char *why)
{
	if (!inert())
		atomic_store(&all.state, VPTRACE_FAILED);
	if (!atomic_exchange(&all.reported, 1))
		vtr_tell("%s; nothing more is recorded", why);
}

/* Called by the flusher's thread: CUPTI is dead. Ranges go on. */
static void cupti_failed(const char *why)
{
	int running = VPTRACE_RUNNING;

	atomic_compare_exchange_strong(&all.state, &running, VPTRACE_RANGES_ONLY);
	if (!atomic_exchange(&all.reported, 1))
		vtr_tell("%s; only ranges are recorded from now on", why);
}

/* Called by the flusher's thread: another client of CUPTI has come or gone. */
static void cupti_taken(int is_taken)
{
	int from = is_taken ? VPTRACE_RUNNING : VPTRACE_RANGES_ONLY;
	int to = is_taken ? VPTRACE_RANGES_ONLY : VPTRACE_RUNNING;

	atomic_store(&all.taken, is_taken);
	atomic_compare_exchange_strong(&all.state, &from, to);
	if (is_taken && !atomic_exchange(&all.reported, 1))
		vtr_tell(VTR_WATCH_TAKEN
			": they are missing from the capture until it has finished");
}

static void *end_by_itself(void *number);

/* Called by the writer's thread. Without another thread the capture stays
 * as it is, paused, until the host stops it or the process ends. */
static void over(void)
{
	pthread_t thread;

	atomic_store(&all.ending, 1);
	if (inert() ||
		vtr_own_thread(&thread, end_by_itself, (void *)(uintptr_t)atomic_load(&all.number)))
		atomic_store(&all.ending, 0);
	else
		pthread_detach(thread);
}

/* ---- the lock ---- */

static int join_cupti(struct vpt_err *err);

/* The calling thread has the lock, or is about to: what it calls now comes from a signal handler,
 * or from CUPTI's start. */
static _Thread_local volatile sig_atomic_t inside __attribute__((tls_model("initial-exec")));

/* A start or a stop may take this much of the stack: a tenth for us, the rest for the loader, CUPTI and
 * the driver. */
enum { ROOM_KIB = 128 };

static int lacks_room(void)
{
	return vtr_call_stack_left() < ROOM_KIB * 1024;
}

/* A call of a public function, from enter() to leave(). */
struct visit {
	int changing; /* it takes `change` too */
	int starts;   /* and starts or stops a capture */
	int cancel;   /* the thread's, as vtr_cancel_hold() found it */
};

/* A host's thread cancelled in here would leave the lock taken. Returns VPTRACE_OK; or, without the
 * lock, VPTRACE_EFORKED, VPTRACE_EBUSY or VPTRACE_ENOMEM, reported without memory: this thread may hold the heap's
 * lock too. */
static int enter(struct visit *v)
{
	if (inert())
		return fail_inert();
	if (inside)
		return vtr_refuse(VPTRACE_EBUSY, "this thread is already in a function of vptrace, "
						 "which a signal handler interrupted");
	/* From here on: what asks for the stack's size allocates. */
	v->cancel = vtr_cancel_hold_calls();
	if (v->starts && lacks_room()) {
		vtr_cancel_restore(v->cancel);
		return vtr_refuse(VPTRACE_ENOMEM,
			"this thread has less than 128 KiB of its stack left: start and stop "
			"captures in a thread with a larger stack");
	}
	inside = 1;
	if (v->changing)
		pthread_mutex_lock(&all.change);
	pthread_mutex_lock(&all.lock);
	return VPTRACE_OK;
}

/* The driver waits for its injection, and whoever has the lock may wait for the driver: if it is
 * taken, its holder starts what the driver's injection would have. */
static int enter_from_driver(struct visit *v)
{
	v->cancel = vtr_cancel_hold_calls();
	if (!inside && !pthread_mutex_trylock(&all.lock)) {
		inside = 1;
		return VPTRACE_OK;
	}
	atomic_store(&all.driver_came, 1);
	vtr_cancel_restore(v->cancel);
	return VPTRACE_EBUSY;
}

/* The driver's injection must not wait, so the holder of the lock does what it could not do. */
static void leave(const struct visit *v)
{
	struct vpt_err err;

	if (v->changing)
		pthread_mutex_unlock(&all.change);
	do {
		if (atomic_exchange(&all.driver_came, 0) && all.now &&
			!vtr_capture_cupti(all.now)) {
			int rc = join_cupti(&err);

			vtr_run_list_start(rc, rc ? err.text : NULL);
		}
		pthread_mutex_unlock(&all.lock);
	} while (atomic_load(&all.driver_came) && !pthread_mutex_trylock(&all.lock));
	inside = 0;
	vtr_cancel_restore(v->cancel);
}

/* ---- start ---- */

static void end_of_process(void);

/* Handlers run in the opposite order of their registration, and ours must run before CUPTI's: so a
 * second one is registered once libcupti has been mapped. */
static void register_exit(void)
{
	int wanted = vtr_capture_cupti(all.now) ? 2 : 1;

	for (; all.exits < wanted; all.exits++)
		if (all.exits + 1 == wanted)
			atexit(end_of_process);
}

/* Updates the process's state after CUPTI has joined the capture, or failed to. */
static void note_cupti(int rc, const struct vpt_err *err)
{
	int ranges = VPTRACE_RANGES_ONLY;

	all.joined = rc;
	snprintf(all.joined_text, sizeof(all.joined_text), "%s", rc ? err->text : "");
	if (vtr_capture_cupti(all.now))
		atomic_compare_exchange_strong(&all.state, &ranges, VPTRACE_RUNNING);
	register_exit();
}

static int begin(const struct vptrace_options *options, enum vtr_start how, struct vpt_err *err)
{
	static const struct vtr_capture_hooks hooks = {
		file_failed, cupti_failed, over, cupti_taken};
	int stopped = VPTRACE_STOPPED, rc;

	all.path[0] = '\0';
	atomic_store(&all.reported, 0);
	atomic_store(&all.taken, 0);
	atomic_fetch_add(&all.number, 1);
	rc = vtr_capture_begin(options, how == VTR_START_API, &all.facts, &hooks, &all.now, err);
	if (rc)
		return rc;
	atomic_store_explicit(&all.owner, getpid(), memory_order_relaxed);
	atomic_compare_exchange_strong(&all.state, &stopped, VPTRACE_RANGES_ONLY);
	if (how != VTR_START_RANGES && vtr_capture_wants_cupti(all.now))
		rc = vtr_capture_join_cupti(all.now, err);
	note_cupti(rc, err);
	return rc;
}

/* The driver has started in a process whose ranges are already recorded. */
static int join_cupti(struct vpt_err *err)
{
	int rc;

	if (vtr_capture_cupti(all.now) || !vtr_capture_wants_cupti(all.now))
		return vpt_fail(err, VPTRACE_EBUSY, "a capture is running already");
	rc = vtr_capture_join_cupti(all.now, err);
	note_cupti(rc, err);
	return rc;
}

/* A writer that was blocked when its capture ended may have finished since. */
static int free_stuck(struct vpt_err *err)
{
	const char *path;

	if (all.stuck && vtr_capture_free(all.stuck, &path))
		return vpt_fail(err, VPTRACE_EBUSY,
			"the writer of an earlier capture is still blocked in a write to '%.200s'",
			path);
	all.stuck = NULL;
	return VPTRACE_OK;
}

/* CUDA and NVTX load us one after the other; a failure for one repeats for the other. */
static void tell_once(const char *text)
{
	if (!strcmp(all.said, text))
		return;
	snprintf(all.said, sizeof(all.said), "%s", text);
	vtr_tell("%s", text);
}

static int start_locked(
	const struct vptrace_options *options, enum vtr_start how, struct vpt_err *err)
{
	int rc = free_stuck(err);

	if (rc)
		return rc;
	/* An injection traces a process once: a capture that has ended by itself was that. */
	if (how != VTR_START_API && all.was_over)
		return vpt_fail(err, VPTRACE_EBUSY, "the capture has ended by itself");
	all.has_ended = 0;
	if (!all.now)
		return begin(options, how, err);
	if (how == VTR_START_CUDA)
		return join_cupti(err);
	if (how == VTR_START_API && vtr_window_start())
		return all.joined ? vpt_fail(err, all.joined, "%s", all.joined_text) : VPTRACE_OK;
	return vpt_fail(err, VPTRACE_EBUSY, "a capture is running already; vptrace_stop() ends it");
}

int vtr_session_start(const struct vptrace_options *options, enum vtr_start how)
{
	struct vpt_err err = {0};
	struct visit v = {.changing = how == VTR_START_API, .starts = 1};
	int rc;

	if (inert())
		return fail_inert();
	rc = how == VTR_START_CUDA ? enter_from_driver(&v) : enter(&v);
	if (rc == VPTRACE_ENOMEM && how != VTR_START_API && !atomic_exchange(&all.reported, 1))
		vtr_tell("%s", vptrace_last_error());
	if (rc)
		return how == VTR_START_CUDA ? VPTRACE_OK : rc;
	vtr_misspelt_tell();
	rc = start_locked(options, how, &err);
	if (rc)
		vtr_fail(rc, "%s", err.text);
	if (rc != VPTRACE_EBUSY)
		vtr_run_list_start(rc, rc ? err.text : NULL);
	if (rc && how != VTR_START_API && rc != VPTRACE_EBUSY)
		tell_once(err.text);
	leave(&v);
	return rc;
}

int vptrace_start(const struct vptrace_options *options)
{
	return vtr_session_start(options, VTR_START_API);
}

/* ---- stop ---- */

/* As much as fits the caller's struct, from an older or newer header. */
static void give_stats(struct vptrace_stats *out)
{
	size_t size;

	if (!out || out->struct_bytes < sizeof(out->struct_bytes))
		return;
	size = out->struct_bytes < sizeof(all.last) ? out->struct_bytes : sizeof(all.last);
	all.last.struct_bytes = out->struct_bytes;
	memcpy(out, &all.last, size);
}

/* Reports the end to `vptrace run`. */
static void list_end(const struct vtr_capture *c, int rc, const struct vpt_err *err)
{
	char text[SAID_BYTES];

	snprintf(text, sizeof(text), "the window %s never opened", vtr_capture_window(c));
	vtr_run_list_end(rc, rc ? err->text : (vtr_window_was_open() ? NULL : text));
}

/* Frees nothing if the process is exiting: other threads go on. */
static int stop_locked(struct vptrace_stats *stats, int exiting, struct vpt_err *err)
{
	struct vtr_capture *c = all.now;
	const char *path;
	int rc;

	if (!c) {
		give_stats(stats);
		if (!all.has_ended)
			return vpt_fail(err, VPTRACE_EIDLE, "no capture is running");
		all.has_ended = 0;
		return vpt_fail(err, all.last.stop_code, "%s", all.ended_text);
	}
	rc = vtr_capture_end(c, err);
	list_end(c, rc, err);
	vtr_capture_stats(c, &all.last, all.path);
	all.last.stop_code = rc;
	give_stats(stats);
	all.now = NULL;
	atomic_store(&all.state, VPTRACE_STOPPED);
	if (exiting)
		return rc;
	vtr_facts_clear(&all.facts);
	if (vtr_capture_free(c, &path))
		all.stuck = c;
	return rc;
}

/* Waits for the GPU without the lock. Only a stop frees a capture, and no other stop runs
 * meanwhile; the exit of the process may end the capture, which ends the wait. */
static void drain_unlocked(void)
{
	struct vtr_capture *c = all.now;

	if (!c || !vtr_capture_cupti(c))
		return;
	all.draining = 1;
	pthread_mutex_unlock(&all.lock);
	vtr_capture_drain(c, 0);
	pthread_mutex_lock(&all.lock);
	all.draining = 0;
}

int vptrace_stop(struct vptrace_stats *stats)
{
	struct vpt_err err = {0};
	struct visit v = {.changing = 1, .starts = 1};
	int rc = enter(&v);

	if (rc)
		return rc;
	drain_unlocked();
	rc = stop_locked(stats, 0, &err);
	if (rc)
		vtr_fail(rc, "%s", err.text);
	leave(&v);
	return rc;
}

/* A thread of its own ends the capture of this number, unless it has ended meanwhile. */
static void *end_by_itself(void *number)
{
	struct vpt_err err = {0};
	struct visit v = {.changing = 1};
	int rc;

	pthread_setname_np(pthread_self(), "vptrace-end");
	if (!enter(&v)) {
		if (all.now && (uintptr_t)number == atomic_load(&all.number)) {
			drain_unlocked();
			/* The process's exit may have ended it in between. */
			rc = all.now ? stop_locked(NULL, 0, &err) : VPTRACE_OK;
			snprintf(all.ended_text, sizeof(all.ended_text), "%s", rc ? err.text : "");
			all.has_ended = all.was_over = 1;
		}
		leave(&v);
	}
	atomic_store(&all.ending, 0);
	return NULL;
}

static void *end_at_exit(void *unused)
{
	const struct timespec moment = {0, 1000000};
	struct vpt_err err;
	int i, rc = 0;

	(void)unused;
	for (i = 0; i < (atomic_load(&all.ending) ? EXIT_OVER_MS : EXIT_PATIENCE_MS); i++) {
		rc = pthread_mutex_trylock(&all.lock);
		if (!rc)
			break;
		nanosleep(&moment, NULL);
	}
	if (rc)
		return NULL;
	if (all.now && !all.draining)
		vtr_capture_drain(all.now, 1);
	stop_locked(NULL, 1, &err);
	pthread_mutex_unlock(&all.lock);
	return NULL;
}

/* exit() was called, perhaps in a signal handler that interrupted a function of ours in this
 * thread, perhaps in a thread with a small stack. */
static void end_of_process(void)
{
	pthread_t thread;

	if (inert())
		return;
	if (!lacks_room())
		end_at_exit(NULL);
	else if (!vtr_own_thread(&thread, end_at_exit, NULL))
		pthread_join(thread, NULL);
}

/* ---- while it runs ---- */

static int switch_pause(int pausing)
{
	struct visit v = {0};
	int rc = enter(&v);

	if (rc)
		return rc;
	if (!all.now && !all.has_ended)
		rc = vtr_fail(VPTRACE_EIDLE, "no capture is running");
	else if (atomic_load(&all.state) == VPTRACE_FAILED)
		rc = vtr_fail(VPTRACE_EFILE, "the capture's file has failed: nothing is recorded");
	else if (all.now)
		vtr_window_pause(pausing);
	leave(&v);
	return rc;
}

int vptrace_pause(void)
{
	return switch_pause(1);
}

int vptrace_resume(void)
{
	return switch_pause(0);
}

int vptrace_snapshot(const char *path)
{
	struct vtr_capture *c;
	struct vpt_err err = {0};
	struct visit v = {.changing = 1};
	int rc = enter(&v);

	if (rc)
		return rc;
	c = all.now;
	if (!c) {
		rc = vtr_fail(VPTRACE_EIDLE, "no capture is running");
	} else {
		/* No other thread ends the capture: that takes `change`. */
		pthread_mutex_unlock(&all.lock);
		rc = vtr_capture_snapshot(c, path, &err);
		pthread_mutex_lock(&all.lock);
		if (rc)
			vtr_fail(rc, "%s", err.text);
	}
	leave(&v);
	return rc;
}

int vptrace_metadata(const char *key, const char *value)
{
	struct visit v = {0};
	int rc = enter(&v);

	if (rc)
		return rc;
	rc = vtr_facts_put(&all.facts, key, value);
	if (!rc && all.now && vtr_capture_meta(all.now, key, value))
		rc = vtr_fail(VPTRACE_ENOMEM, "metadata: the writer is too slow to accept more");
	leave(&v);
	return rc;
}

int vptrace_statistics(struct vptrace_stats *stats)
{
	struct visit v = {0};
	int rc;

	if (inert())
		return fail_inert();
	if (!stats || stats->struct_bytes < sizeof(stats->struct_bytes))
		return vtr_fail(VPTRACE_EINVAL, "statistics: expected struct_bytes = sizeof(struct "
						"vptrace_stats)");
	rc = enter(&v);
	if (rc)
		return rc;
	if (all.now)
		vtr_capture_stats(all.now, &all.last, all.path);
	give_stats(stats);
	leave(&v);
	return VPTRACE_OK;
}

const char *vptrace_path(void)
{
	struct visit v = {0};
	const char *path;

	if (inert() || enter(&v))
		return "";
	if (all.now)
		vtr_capture_stats(all.now, &all.last, all.path);
	path = vtr_own_path(all.path);
	leave(&v);
	return path;
}

/* ---- fork ---- */

/* Whether no capture was ever begun, and no thread was in a function of ours at the fork. */
static int is_untouched(void)
{
	if (atomic_load(&all.number) || inside || pthread_mutex_trylock(&all.change))
		return 0;
	pthread_mutex_unlock(&all.change);
	if (pthread_mutex_trylock(&all.lock))
		return 0;
	pthread_mutex_unlock(&all.lock);
	return 1;
}

void vtr_session_forked(void)
{
	if (is_untouched() && !vtr_threads_forked())
		return;
	atomic_store(&all.state, VPTRACE_INERT);
	vtr_threads_inert();
	if (all.now)
		vtr_capture_abandon(all.now);
}
