/* session.c - the capture's life.
 *
 *	STOPPED --start--> RUNNING or RANGES_ONLY --stop--> STOPPED
 *	                     |  ^                             any --the file fails--> FAILED --stop--> STOPPED
 *	               pause v  | resume                      any --fork, in the child--> INERT
 *	                    PAUSED
 *
 * One lock guards it, taken by the public functions alone; no callback and none of our threads ever
 * takes it. What a stop could not bring to an end in time (a CUPTI that hangs, a disk that blocks)
 * is left alone with everything it uses: leaking is better than freeing under somebody's feet. */
#include "tracer/session.h"

#include "formats/memory.h"
#include "tracer/capture_file.h"
#include "tracer/clock.h"
#include "tracer/cupti.h"
#include "tracer/facts.h"
#include "tracer/flusher.h"
#include "tracer/last_error.h"
#include "tracer/mail.h"
#include "tracer/names.h"
#include "tracer/options.h"
#include "tracer/tell.h"
#include "tracer/thread.h"
#include "tracer/threads.h"
#include "tracer/writer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#ifndef VPT_VERSION
#define VPT_VERSION "0.1.0"
#endif

enum {
	POOL_MEMORY_MIN = 4 << 20,
	EXIT_PATIENCE_MS =
		1000 /* how long an exiting process waits for a function of ours that another thread is in */
};

struct session {
	struct vtr_options options;
	struct vtr_mailbox mail;
	struct vtr_writer *writer;
	struct vtr_flusher *flusher;
	struct vtr_cupti *cupti; /* NULL: ranges only */
	uint64_t start_ns;
	uint64_t names_refused; /* by then, in this process */
	/* The last letters, written without allocating: the process may be exiting from anywhere. */
	struct vtr_mail end_of_clock, end_of_buffers, end_of_cupti;
};

static struct {
	pthread_mutex_t lock;
	atomic_int state; /* enum vptrace_state */
	struct session *now;
	struct vtr_pool *pool;  /* one for life: CUPTI may hold its buffers for ever */
	struct session *stuck;  /* whose writer was blocked in a write when it was to end */
	int cupti_stuck;        /* CUPTI hung in a stop: never touched again */
	int exits;              /* handlers registered: 1 without CUPTI, 2 with */
	pid_t owner;            /* the process that started a capture last; 0: none did */
	atomic_int driver_came; /* the driver loaded us while the lock was taken */
	_Atomic(struct vtr_cupti *)
		wait_for; /* whose work a stop waits for first; NULL: it does not */
	struct vtr_facts facts;
	struct vptrace_stats last;
	char path[VTR_PATH_MAX]; /* of the file; "": there is none yet */
	atomic_int told;         /* the host has read a line of ours about this capture */
} all = {.lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP};

/* ---- what it is doing ---- */

const char *vptrace_version(void)
{
	return VPT_VERSION;
}

enum vptrace_state vptrace_status(void)
{
	return (enum vptrace_state)atomic_load(&all.state);
}

/* A child made without the C library's knowledge is one as well. */
static int inert(void)
{
	return atomic_load(&all.state) == VPTRACE_INERT || (all.owner && all.owner != getpid());
}

static int fail_inert(void)
{
	return vtr_fail(VPTRACE_EFORKED,
		"this process was forked from a traced one; only its parent records. "
		"A process started with exec records by itself");
}

/* Called by the writer's thread: the file cannot be written. */
static void file_failed(const char *why)
{
	if (!inert())
		atomic_store(&all.state, VPTRACE_FAILED);
	if (!atomic_exchange(&all.told, 1))
		vtr_tell("%s; nothing more is recorded", why);
}

/* Called by the flusher's thread: CUPTI is dead. Ranges go on. */
static void cupti_failed(const char *why)
{
	int running = VPTRACE_RUNNING;

	atomic_compare_exchange_strong(&all.state, &running, VPTRACE_RANGES_ONLY);
	if (!atomic_exchange(&all.told, 1))
		vtr_tell("%s; only ranges are recorded from here on", why);
}

/* ---- the lock ---- */

static int join_cupti(struct vpt_err *err);

/* A host's thread that was cancelled in here would leave the lock behind. Returns what leave()
 * wants back. */
static int enter(void)
{
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&all.lock);
	return cancel;
}

/* What the driver's injection could not do, since it must not wait, is done by whoever held the
 * lock. */
static void leave(int cancel)
{
	struct vpt_err err;

	do {
		if (atomic_exchange(&all.driver_came, 0) && all.now && !all.now->cupti)
			join_cupti(&err);
		pthread_mutex_unlock(&all.lock);
	} while (atomic_load(&all.driver_came) && !pthread_mutex_trylock(&all.lock));
	pthread_setcancelstate(cancel, NULL);
}

/* ---- facts about the run ---- */

static int post_meta(struct session *s, const char *key, const char *value)
{
	struct vtr_mail mail = {.type = VTR_MAIL_META,
		.key = (char *)(uintptr_t)key,
		.value = (char *)(uintptr_t)value};

	return vtr_mailbox_post(&s->mail, &mail);
}

static void post_time(struct session *s, enum vtr_mail_type type, uint64_t time_ns)
{
	struct vtr_mail mail = {.type = type, .time_ns = time_ns};

	vtr_mailbox_post(&s->mail, &mail);
}

static void describe_run(struct session *s)
{
	static const char *const profiles[] = {"default", "lite", "full", "coarse", "none"};
	char text[VTR_PATH_MAX];
	size_t i;

	post_meta(s, "vptrace", VPT_VERSION);
	post_meta(s, "profile", profiles[s->options.profile]);
	if (!gethostname(text, sizeof(text)))
		post_meta(s, "host", text);
	vtr_command_line(text, sizeof(text));
	post_meta(s, "command", text);
	if (s->options.rank >= 0) {
		snprintf(text, sizeof(text), "%ld", s->options.rank);
		post_meta(s, "rank", text);
	}
	for (i = 0; i < all.facts.count; i++)
		post_meta(s, all.facts.all[i].key, all.facts.all[i].value);
}

/* ---- start ---- */

static int start_writer(struct session *s, int always, struct vpt_err *err)
{
	struct vtr_writer_options o = {.pool = all.pool,
		.mail = &s->mail,
		.level = s->options.compression_level,
		.always = always,
		.flush_interval_ns = (uint64_t)s->options.flush_interval_ms * 1000000,
		.failed = file_failed};
	int rc;

	o.header = (struct vpt_header){.major = VPT_MAJOR,
		.minor = VPT_MINOR,
		.t0_ns = s->start_ns,
		.t0_unix_ns = s->start_ns,
		.pid = (uint32_t)getpid(),
		.cpu_tick_ns = 1,
		.gpu_tick_ns = 1};
	if (getrandom(&o.header.capture_id, sizeof(o.header.capture_id), GRND_NONBLOCK) < 0)
		o.header.capture_id = s->start_ns ^ (uint64_t)getpid() << 48;
	rc = vtr_capture_file_new(s->options.path, s->options.overwrite, &o.sink, err);
	if (rc)
		return rc;
	if (always)
		rc = vtr_capture_file_create(o.sink, err);
	if (!rc)
		rc = vtr_writer_start(&o, &s->writer, err);
	if (rc)
		o.sink->finish(o.sink, 0, NULL);
	return rc;
}

static int start_flusher(struct session *s, struct vpt_err *err)
{
	struct vtr_flusher_options o = {.mail = &s->mail,
		.interval_ns = (uint64_t)s->options.flush_interval_ms * 1000000,
		.failed = cupti_failed};

	return vtr_flusher_start(&o, &s->flusher, err);
}

/* VPTRACE_OK, or why only ranges are recorded. */
static int start_cupti(struct session *s, struct vpt_err *err)
{
	struct vtr_cupti_options o = {
		.path = s->options.cupti_path[0] ? s->options.cupti_path : NULL,
		.profile = s->options.profile,
		.pool = all.pool};
	struct vtr_cupti *cupti;
	int rc;

	if (all.cupti_stuck)
		return vpt_fail(err, VPTRACE_ENOCUPTI,
			"CUPTI still hangs in the stop of an earlier capture of this process");
	vtr_pool_ready(all.pool);
	rc = vtr_cupti_start(&o, &cupti, err);
	if (rc) {
		post_meta(s, "cupti.unavailable", err->text);
		return rc;
	}
	s->cupti = cupti;
	if (s->options.synchronize)
		atomic_store(&all.wait_for, cupti);
	vtr_writer_attach(s->writer, cupti);
	vtr_flusher_attach(s->flusher, cupti);
	return VPTRACE_OK;
}

/* Of the limit 5/8 are for CUPTI's buffers and 1/4 for rings and stacks; the chunk that is being
 * filled takes the rest. The pool is as large as the first capture wanted it. */
static int share_memory(const struct vtr_options *o, struct vpt_err *err)
{
	uint64_t bytes = o->memory_limit_bytes / 8 * 5;

	vtr_thread_limit(o->memory_limit_bytes / 4);
	if (!all.pool)
		all.pool = vtr_pool_new(bytes > POOL_MEMORY_MIN ? bytes : POOL_MEMORY_MIN);
	return all.pool ? VPT_OK : vpt_fail(err, VPT_ENOMEM, "no memory for CUPTI's buffers");
}

static void end_of_process(void);

/* Handlers run in the opposite order of their registration, and ours must run before CUPTI's: so a
 * second one is registered once libcupti has been mapped. */
static void register_exit(const struct session *s)
{
	int wanted = s->cupti ? 2 : 1;

	for (; all.exits < wanted; all.exits++)
		if (all.exits + 1 == wanted)
			atexit(end_of_process);
}

static void discard_session(struct session *s)
{
	vtr_flusher_free(s->flusher);
	vtr_writer_free(s->writer);
	vtr_mailbox_free(&s->mail);
	vpt_free(s);
}

/* What other layers' codes are called here. */
static int public_code(int rc)
{
	return rc == VPT_ENOMEM ? VPTRACE_ENOMEM
				: (rc == VPT_EINVAL ? VPTRACE_EINVAL : VPTRACE_EFILE);
}

static int begin(const struct vptrace_options *options, enum vtr_start how, struct vpt_err *err)
{
	struct session *s = vpt_calloc(1, sizeof(*s));
	int stopped = VPTRACE_STOPPED, rc;

	if (!s)
		return vpt_fail(err, VPTRACE_ENOMEM, "no memory for a capture");
	vtr_mailbox_init(&s->mail);
	rc = vtr_options_resolve(options, &s->options, err);
	if (!rc)
		rc = share_memory(&s->options, err);
	if (rc)
		goto out;
	vtr_pool_begin(all.pool);
	all.path[0] = '\0';
	atomic_store(&all.told, 0);
	s->start_ns = vtr_now();
	s->names_refused = vtr_names_refused();
	describe_run(s);
	rc = start_writer(s, how == VTR_START_API, err);
	if (!rc)
		rc = start_flusher(s, err);
	if (rc)
		goto out;
	post_meta(s, "clock.ranges", vtr_tsc_kept() ? "tsc" : "clock_gettime");
	all.owner = getpid();
	vtr_threads_record(s->start_ns);
	all.now = s;
	if (how != VTR_START_RANGES && s->options.profile != VPTRACE_PROFILE_NONE)
		rc = start_cupti(s, err);
	atomic_compare_exchange_strong(
		&all.state, &stopped, s->cupti ? VPTRACE_RUNNING : VPTRACE_RANGES_ONLY);
	register_exit(s);
	return rc;
out:
	if (s->writer)
		vtr_writer_finish(s->writer, vtr_now(), UINT64_MAX / 2);
	discard_session(s);
	return public_code(rc);
}

/* The driver has come up in a process whose ranges are recorded already. */
static int join_cupti(struct vpt_err *err)
{
	int ranges = VPTRACE_RANGES_ONLY, rc;

	if (all.now->cupti || all.now->options.profile == VPTRACE_PROFILE_NONE)
		return vpt_fail(err, VPTRACE_EBUSY, "a capture is running already");
	rc = start_cupti(all.now, err);
	if (rc)
		return rc;
	atomic_compare_exchange_strong(&all.state, &ranges, VPTRACE_RUNNING);
	register_exit(all.now);
	return VPTRACE_OK;
}

/* A writer that was blocked when its capture ended may have come to its end since. */
static int free_stuck(struct vpt_err *err)
{
	if (!all.stuck)
		return VPTRACE_OK;
	if (vtr_writer_finish(all.stuck->writer, 0, 0))
		return vpt_fail(err, VPTRACE_EBUSY,
			"the writer of an earlier capture is still blocked in a write to '%.200s'",
			all.stuck->options.path);
	discard_session(all.stuck);
	all.stuck = NULL;
	return VPTRACE_OK;
}

static int start_locked(
	const struct vptrace_options *options, enum vtr_start how, struct vpt_err *err)
{
	int rc = free_stuck(err);

	if (rc)
		return rc;
	if (!all.now)
		return begin(options, how, err);
	if (how == VTR_START_CUDA)
		return join_cupti(err);
	return vpt_fail(err, VPTRACE_EBUSY, "a capture is running already; vptrace_stop() ends it");
}

int vtr_session_start(const struct vptrace_options *options, enum vtr_start how)
{
	struct vpt_err err = {0};
	int cancel, rc;

	if (inert())
		return fail_inert();
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (how == VTR_START_CUDA && pthread_mutex_trylock(&all.lock)) {
		/* The driver waits for us, and whoever has the lock may wait for the driver. */
		atomic_store(&all.driver_came, 1);
		pthread_setcancelstate(cancel, NULL);
		return VPTRACE_OK;
	}
	if (how != VTR_START_CUDA)
		pthread_mutex_lock(&all.lock);
	rc = start_locked(options, how, &err);
	leave(cancel);
	if (rc && how != VTR_START_API && rc != VPTRACE_EBUSY)
		vtr_tell("%s", err.text);
	return rc ? vtr_fail(rc, "%s", err.text) : VPTRACE_OK;
}

int vptrace_start(const struct vptrace_options *options)
{
	return vtr_session_start(options, VTR_START_API);
}

/* ---- stop ---- */

static void take_stats(const struct session *s, struct vptrace_stats *out)
{
	struct vtr_writer_numbers n;
	struct vtr_pool_state pool;

	vtr_writer_numbers(s->writer, &n);
	vtr_pool_state(all.pool, &pool);
	if (!all.path[0])
		strcpy(all.path, n.path);
	*out = (struct vptrace_stats){.received = n.rows.received,
		.written = n.rows.written,
		.dropped = n.rows.dropped,
		.cupti_dropped = n.cupti_dropped,
		.invalid = n.rows.invalid,
		.chunks = n.rows.chunks,
		.file_bytes = n.rows.file_bytes,
		.names_dropped = vtr_names_refused() - s->names_refused,
		.buffers_kept = pool.outstanding,
		.cupti_records = n.cupti.records,
		.filtered = n.cupti.filtered + n.cupti.described};
}

/* As much as the caller's struct, made by an older or newer header, can take. */
static void give_stats(struct vptrace_stats *out)
{
	size_t size;

	if (!out || out->struct_bytes < sizeof(out->struct_bytes))
		return;
	size = out->struct_bytes < sizeof(all.last) ? out->struct_bytes : sizeof(all.last);
	all.last.struct_bytes = out->struct_bytes;
	memcpy(out, &all.last, size);
}

/* Buffers that CUPTI has not given back arrive within a moment of its last flush, or never. */
static int wait_for_buffers(uint64_t deadline_ns)
{
	struct vtr_pool_state state;
	const struct timespec moment = {0, 1000000};

	for (;;) {
		vtr_pool_state(all.pool, &state);
		if (!state.outstanding)
			return 0;
		if (vtr_clock_ns(CLOCK_MONOTONIC) >= deadline_ns)
			return -1;
		nanosleep(&moment, NULL);
	}
}

/* What CUPTI keeps is lost from when it got the oldest buffer; what of it the GPU did, nobody
 * knows. */
static void post_kept(struct session *s, uint64_t stop_ns)
{
	struct vtr_mail *m = &s->end_of_buffers;
	struct vtr_pool_state state;

	vtr_pool_state(all.pool, &state);
	m->type = VTR_MAIL_LOSS;
	m->loss.loss_kind = VPT_LOSSKIND_UNKNOWN;
	m->loss.start_ns = state.outstanding ? state.oldest_ns : s->start_ns;
	m->loss.duration_ns = stop_ns > m->loss.start_ns ? stop_ns - m->loss.start_ns : 0;
	vtr_mailbox_lend(&s->mail, m);
}

static void post_end(struct session *s, uint64_t stop_ns)
{
	int64_t skew_ns;

	s->end_of_clock.type = VTR_MAIL_CLOCK;
	vtr_clock_point(NULL, NULL, &s->end_of_clock.clock, &skew_ns);
	s->end_of_clock.clock.trace_ns = stop_ns; /* the capture's very edge */
	vtr_mailbox_lend(&s->mail, &s->end_of_clock);
}

/* Says in the capture too why CUPTI's records are missing. `why` outlives the session. */
static void post_failure(struct session *s, const char *why)
{
	s->end_of_cupti.type = VTR_MAIL_META;
	s->end_of_cupti.key = (char *)(uintptr_t) "cupti.failure";
	s->end_of_cupti.value = (char *)(uintptr_t)why;
	vtr_mailbox_lend(&s->mail, &s->end_of_cupti);
}

/* Buffers went to CUPTI, and none ever came back: they, and the records, go to somebody else's callbacks. */
static int callbacks_are_taken(struct session *s)
{
	struct vtr_cupti_signs signs;

	vtr_cupti_signs(s->cupti, &signs);
	return signs.buffers_requested && !signs.buffers_completed;
}

static int end_cupti(struct session *s, uint64_t deadline, struct vpt_err *err)
{
	const char *why;

	if (vtr_flusher_finish(s->flusher, deadline)) {
		all.cupti_stuck = 1;
		return vpt_fail(err, VPTRACE_ETIMEOUT,
			"CUPTI did not stop within %u ms: its newest records are missing",
			s->options.stop_timeout_ms);
	}
	why = s->cupti ? vtr_cupti_failure(s->cupti) : NULL;
	if (why)
		return vpt_fail(err, VPTRACE_ETIMEOUT, "%s: its newest records are missing", why);
	if (!s->cupti || !wait_for_buffers(deadline))
		return VPTRACE_OK;
	if (callbacks_are_taken(s)) {
		why = "CUPTI gave no buffer back: another client in this process, perhaps "
		      "torch.profiler, has replaced the tracer's callbacks";
		post_failure(s, why);
		return vpt_fail(err, VPTRACE_ETIMEOUT, "%s", why);
	}
	return vpt_fail(err, VPTRACE_ETIMEOUT,
		"CUPTI kept buffers longer than %u ms: their records are missing",
		s->options.stop_timeout_ms);
}

static int end(struct session *s, struct vpt_err *err)
{
	uint64_t patience = (uint64_t)s->options.stop_timeout_ms * 1000000, stop_ns = vtr_now();
	const char *why;
	int rc;

	vtr_threads_stop();
	rc = end_cupti(s, vtr_clock_ns(CLOCK_MONOTONIC) + patience, err);
	if (rc)
		post_kept(s, stop_ns);
	post_end(s, stop_ns);
	if (vtr_writer_finish(s->writer, stop_ns, vtr_clock_ns(CLOCK_MONOTONIC) + patience)) {
		all.stuck = s;
		rc = vpt_fail(err, VPTRACE_EFILE, "writing '%.200s' did not end within %u ms",
			s->options.path, s->options.stop_timeout_ms);
	}
	why = vtr_writer_failure(s->writer);
	if (why)
		rc = vpt_fail(err, VPTRACE_EFILE, "%s", why);
	return rc;
}

/* Leaves s->writer and all it uses alone if it is stuck, and everything if the process is
 * exiting. */
static int stop_locked(struct vptrace_stats *stats, int exiting, struct vpt_err *err)
{
	struct session *s = all.now;
	int rc;

	if (!s) {
		give_stats(stats);
		return vpt_fail(err, VPTRACE_EIDLE, "no capture is running");
	}
	atomic_store(&all.wait_for, NULL);
	rc = end(s, err);
	take_stats(s, &all.last);
	all.last.stop_code = rc;
	give_stats(stats);
	all.now = NULL;
	atomic_store(&all.state, VPTRACE_STOPPED);
	if (exiting)
		return rc;
	vtr_facts_clear(&all.facts);
	if (all.stuck != s && !(rc == VPTRACE_ETIMEOUT && all.cupti_stuck))
		discard_session(s);
	return rc;
}

int vptrace_stop(struct vptrace_stats *stats)
{
	struct vtr_cupti *wait_for = atomic_load(&all.wait_for);
	struct vpt_err err = {0};
	int cancel, rc;

	if (inert())
		return fail_inert();
	if (wait_for) /* before the lock: the driver has locks of its own */
		vtr_cupti_synchronize(wait_for);
	cancel = enter();
	rc = stop_locked(stats, 0, &err);
	leave(cancel);
	return rc ? vtr_fail(rc, "%s", err.text) : VPTRACE_OK;
}

/* exit() was called, somewhere: perhaps in a signal handler that interrupted a function of ours in
 * this very thread. */
static void end_of_process(void)
{
	const struct timespec moment = {0, 1000000};
	struct vpt_err err;
	int i, rc = 0;

	if (inert())
		return;
	for (i = 0; i < EXIT_PATIENCE_MS; i++) {
		rc = pthread_mutex_trylock(&all.lock);
		if (!rc)
			break;
		nanosleep(&moment, NULL);
	}
	if (rc)
		return;
	stop_locked(NULL, 1, &err);
	pthread_mutex_unlock(&all.lock);
}

/* ---- while it runs ---- */

static int switch_pause(int pausing)
{
	int from = pausing ? VPTRACE_RUNNING : VPTRACE_PAUSED;
	int ranges = VPTRACE_RANGES_ONLY, to, cancel, rc = VPTRACE_OK;

	if (inert())
		return fail_inert();
	cancel = enter();
	to = pausing ? VPTRACE_PAUSED
		     : (all.now && all.now->cupti ? VPTRACE_RUNNING : VPTRACE_RANGES_ONLY);
	if (!all.now)
		rc = vtr_fail(VPTRACE_EIDLE, "no capture is running");
	else if (atomic_load(&all.state) == VPTRACE_FAILED)
		rc = vtr_fail(VPTRACE_EFILE, "the capture's file has failed: nothing is recorded");
	else if (atomic_compare_exchange_strong(&all.state, &from, to) ||
		 (pausing && atomic_compare_exchange_strong(&all.state, &ranges, to)))
		post_time(all.now, pausing ? VTR_MAIL_PAUSE : VTR_MAIL_RESUME, vtr_now());
	leave(cancel);
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

int vptrace_metadata(const char *key, const char *value)
{
	int cancel, rc;

	if (inert())
		return fail_inert();
	cancel = enter();
	rc = vtr_facts_put(&all.facts, key, value);
	if (!rc && all.now && post_meta(all.now, key, value))
		rc = vtr_fail(
			VPTRACE_ENOMEM, "metadata: the writer is too far behind to take more");
	leave(cancel);
	return rc;
}

int vptrace_statistics(struct vptrace_stats *stats)
{
	int cancel;

	if (inert())
		return fail_inert();
	if (!stats || stats->struct_bytes < sizeof(stats->struct_bytes))
		return vtr_fail(VPTRACE_EINVAL, "statistics: expected struct_bytes = sizeof(struct "
						"vptrace_stats)");
	cancel = enter();
	if (all.now)
		take_stats(all.now, &all.last);
	give_stats(stats);
	leave(cancel);
	return VPTRACE_OK;
}

const char *vptrace_path(void)
{
	int cancel;

	if (inert())
		return "";
	cancel = enter();
	if (all.now)
		take_stats(all.now, &all.last);
	leave(cancel);
	return all.path;
}

/* ---- fork ---- */

void vtr_session_inert(void)
{
	atomic_store(&all.state, VPTRACE_INERT);
	vtr_threads_inert();
	if (all.now)
		vtr_writer_abandon(all.now->writer);
}
