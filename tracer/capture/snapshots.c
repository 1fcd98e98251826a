/* snapshots.c - one thread, one semaphore.
 *
 * The semaphore is the process's, since a signal handler cannot follow a capture's life: the
 * handler may run while a capture ends. It only sets a flag and posts. */
#include "tracer/capture/snapshots.h"

#include "formats/base/memory.h"
#include "formats/metadata.h"
#include "tracer/flight/flight_file.h"
#include "tracer/clock/capture_clock.h"
#include "tracer/guest/own_thread.h"
#include "tracer/guest/tell.h"
#include "tracer/handover/gate.h"
#include "tracer/ranges/words/range_strings.h"
#include "tracer/window/slow_steps.h"
#include "tracer/files/capture_file.h"
#include "tracer/files/run_list.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CAUSE_MAX = 300, FLUSH_MS = 1000 };

/* Why the thread was woken. */
enum { BY_REQUEST = 1, BY_MARK = 2, BY_SLOW = 4, BY_SIGNAL = 8, BY_END = 16, LEAVE = 32 };

static sem_t wake;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_uint asked; /* BY_* */

struct vtr_snapshots {
	const struct vtr_options *o;
	struct vtr_flight *flight;
	struct vtr_writer *writer;
	struct vtr_flusher *flusher;
	pthread_t thread;
	int has_thread, is_ending; /* is_ending: the writer has ended */
	uint32_t mark;             /* name of the trigger; 0: none */
	struct vtr_slow_steps slow;

	pthread_mutex_t lock; /* guards the rest */
	char asked_path[VTR_PATH_MAX];
	char path[VTR_PATH_MAX];
	uint64_t request, answered; /* numbers of requests: the newest, and that which has `rc` */
	int rc;                     /* of a request, or of the end */
	struct vpt_err err;
	struct vtr_gate done, ended;
};

static void make_semaphore(void)
{
	sem_init(&wake, 0, 0);
}

/* Async-signal-safe. */
static void ask(unsigned why)
{
	atomic_fetch_or(&asked, why);
	sem_post(&wake);
}

static void on_signal(void)
{
	ask(BY_SIGNAL);
}

/* ---- a file ---- */

static int write_file(struct vtr_snapshots *s, struct vtr_flight_view *view, const char *path,
	const struct vtr_flight_why *why, struct vpt_err *err)
{
	struct vpt_sink *file;
	char name[VTR_PATH_MAX];
	int rc = vtr_capture_file_new(
		path, s->o->overwrite && !vtr_run_list_has(NULL, path), &file, err);

	if (rc)
		return rc;
	rc = vtr_flight_write(view, why, file, err);
	snprintf(name, sizeof(name), "%s", vtr_capture_file_path(file));
	if (!rc)
		rc = file->finish(file, 1, err);
	else
		file->finish(file, 0, NULL);
	if (rc) {
		/* Half a snapshot would look like a whole run that was killed. */
		if (*name)
			unlink(name);
		return rc;
	}
	vtr_run_list_file(name);
	pthread_mutex_lock(&s->lock);
	snprintf(s->path, sizeof(s->path), "%s", name);
	pthread_mutex_unlock(&s->lock);
	return VPT_OK;
}

/* Everything that has happened by now becomes a chunk. CUPTI keeps a buffer while a record in it has
 * no end, so beside a host that runs ahead of its GPU some may be missing; where the writer hangs,
 * the file ends earlier. */
static void cut(struct vtr_snapshots *s, struct vtr_flight_why *why)
{
	uint64_t deadline_ns = vtr_clock_ns(CLOCK_MONOTONIC) + (uint64_t)FLUSH_MS * 1000000;

	why->asked_ns = vtr_now();
	why->held_ns = vtr_flusher_flush(s->flusher, deadline_ns);
	deadline_ns = vtr_clock_ns(CLOCK_MONOTONIC) + (uint64_t)FLUSH_MS * 1000000;
	why->is_cut_off = vtr_writer_cut(s->writer, deadline_ns) != 0;
}

static int take(struct vtr_snapshots *s, const char *path, const char *cause, struct vpt_err *err)
{
	struct vtr_flight_why why = {
		.cause = cause, .ring = s->o->ring.text, .is_complete = s->is_ending};
	struct vtr_flight_view view;
	int rc;

	if (!s->is_ending)
		cut(s, &why);
	vtr_flight_pin(s->flight, &view);
	rc = view.count || !s->is_ending ? write_file(s, &view, path, &why, err) : VPT_OK;
	vtr_flight_unpin(s->flight);
	return rc;
}

/* ---- the thread ---- */

static void answer(struct vtr_snapshots *s, uint64_t request, int rc, const struct vpt_err *err)
{
	pthread_mutex_lock(&s->lock);
	s->answered = request;
	s->rc = rc;
	s->err = *err;
	pthread_mutex_unlock(&s->lock);
}

static void take_requested(struct vtr_snapshots *s)
{
	struct vpt_err err = {0};
	char path[VTR_PATH_MAX];
	uint64_t request;
	int rc;

	pthread_mutex_lock(&s->lock);
	snprintf(path, sizeof(path), "%s", s->asked_path);
	request = s->request;
	pthread_mutex_unlock(&s->lock);
	rc = take(s, path, VPT_RING_REQUEST, &err);
	answer(s, request, rc, &err);
	vtr_gate_open(&s->done);
}

static void take_triggered(struct vtr_snapshots *s, const char *cause)
{
	struct vpt_err err = {0};

	if (take(s, s->o->path, cause, &err))
		vtr_tell("no snapshot on %s: %s", cause, err.text);
}

static void take_all(struct vtr_snapshots *s, unsigned why)
{
	const struct vtr_snapshot_on *on = &s->o->snapshot_on;
	char cause[CAUSE_MAX];
	struct vpt_err err = {0};

	if (why & BY_REQUEST)
		take_requested(s);
	if (why & BY_MARK) {
		snprintf(cause, sizeof(cause), "mark:%s", on->mark);
		take_triggered(s, cause);
	}
	if (why & BY_SLOW) {
		snprintf(cause, sizeof(cause), "slow:%g", on->slow);
		take_triggered(s, cause);
	}
	if (why & BY_SIGNAL) {
		snprintf(cause, sizeof(cause), "signal:%s", on->signal_name);
		take_triggered(s, cause);
	}
	if (why & BY_END)
		answer(s, 0, take(s, s->o->path, VPT_RING_END, &err), &err);
}

static void *run(void *arg)
{
	struct vtr_snapshots *s = arg;
	unsigned why = 0;

	pthread_setname_np(pthread_self(), "vptrace-snap");
	while (!(why & LEAVE)) {
		while (sem_wait(&wake))
			;
		why = atomic_exchange(&asked, 0);
		s->is_ending = (why & LEAVE) != 0;
		take_all(s, why);
	}
	vtr_gate_open(&s->ended);
	return NULL;
}

/* ---- triggers ---- */

void vtr_snapshots_seen(void *snapshots, const struct vtr_event *event)
{
	struct vtr_snapshots *s = snapshots;

	if (!event) {
		if (s->o->snapshot_on.slow > 0 && vtr_slow_steps_poll(&s->slow))
			ask(BY_SLOW);
		return;
	}
	if (s->mark && event->type == VTR_EVENT_MARK && event->name == s->mark)
		ask(BY_MARK);
	if (s->o->snapshot_on.slow > 0 && vtr_slow_steps_see(&s->slow, event))
		ask(BY_SLOW);
}

/* ---- the session ---- */

int vtr_snapshots_new(const struct vtr_options *options, struct vtr_flight *flight,
	struct vtr_snapshots **out, struct vpt_err *err)
{
	struct vtr_snapshots *s = vpt_calloc(1, sizeof(*s));

	*out = NULL;
	if (!s)
		return vpt_fail(err, VPT_ENOMEM, "no memory for snapshots");
	pthread_once(&once, make_semaphore);
	s->o = options;
	s->flight = flight;
	s->mark = options->snapshot_on.mark[0] ? vtr_name_of(options->snapshot_on.mark) : 0;
	vtr_slow_steps_begin(&s->slow, options->snapshot_on.slow, options->ring.keep_ns);
	pthread_mutex_init(&s->lock, NULL);
	vtr_gate_init(&s->done);
	vtr_gate_init(&s->ended);
	*out = s;
	return VPT_OK;
}

int vtr_snapshots_start(struct vtr_snapshots *s, struct vtr_writer *writer,
	struct vtr_flusher *flusher, struct vpt_err *err)
{
	int rc;

	s->writer = writer;
	s->flusher = flusher;
	atomic_store(&asked, 0);
	rc = vtr_own_thread(&s->thread, run, s);
	if (rc)
		return vpt_fail(err, VPT_ENOMEM, "no thread for snapshots: %s", strerror(rc));
	s->has_thread = 1;
	if (s->o->snapshot_on.signal &&
		vtr_snapshot_signal_begin(s->o->snapshot_on.signal, on_signal))
		vtr_tell("no snapshots on signal:%s: the program has installed too many handlers "
			 "of its own; use vptrace_snapshot()",
			s->o->snapshot_on.signal_name);
	return VPT_OK;
}

/* Whether this request has been answered; then *rc, and the error if there is one. */
static int is_answered(struct vtr_snapshots *s, uint64_t request, int *rc, struct vpt_err *err)
{
	int answered;

	pthread_mutex_lock(&s->lock);
	answered = s->answered == request;
	*rc = answered ? s->rc : 0;
	if (*rc)
		*err = s->err;
	pthread_mutex_unlock(&s->lock);
	return answered;
}

int vtr_snapshots_take(
	struct vtr_snapshots *s, const char *path, uint64_t deadline_ns, struct vpt_err *err)
{
	uint64_t request;
	int rc;

	pthread_mutex_lock(&s->lock);
	snprintf(s->asked_path, sizeof(s->asked_path), "%s", path ? path : s->o->path);
	request = ++s->request;
	pthread_mutex_unlock(&s->lock);
	vtr_gate_close(&s->done);
	ask(BY_REQUEST);
	/* The gate may be opened by an earlier request, which nobody waits for any more. Closed before
	 * the look, so that an answer after the look is not missed. */
	while (vtr_gate_wait(&s->done, deadline_ns)) {
		vtr_gate_close(&s->done);
		if (is_answered(s, request, &rc, err))
			return rc;
	}
	return vpt_fail(
		err, VPT_EIO, "%.200s: writing did not end in time", path ? path : s->o->path);
}

int vtr_snapshots_finish(
	struct vtr_snapshots *s, int is_wanted, uint64_t deadline_ns, struct vpt_err *err)
{
	int rc;

	if (!s->has_thread)
		return VPT_OK;
	if (s->o->snapshot_on.signal)
		vtr_snapshot_signal_end();
	pthread_mutex_lock(&s->lock);
	s->rc = VPT_OK;
	pthread_mutex_unlock(&s->lock);
	ask(LEAVE | (is_wanted ? (unsigned)BY_END : 0u));
	if (!vtr_gate_wait(&s->ended, deadline_ns))
		return -1;
	pthread_join(s->thread, NULL);
	s->has_thread = 0;
	rc = s->rc;
	if (rc)
		*err = s->err;
	return rc;
}

void vtr_snapshots_path(struct vtr_snapshots *s, char *out)
{
	pthread_mutex_lock(&s->lock);
	snprintf(out, VTR_PATH_MAX, "%s", s->path);
	pthread_mutex_unlock(&s->lock);
}

void vtr_snapshots_free(struct vtr_snapshots *s)
{
	if (!s)
		return;
	vtr_gate_free(&s->done);
	vtr_gate_free(&s->ended);
	pthread_mutex_destroy(&s->lock);
	vpt_free(s);
}
