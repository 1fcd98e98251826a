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
#include "tracer/flusher.h"
#include "tracer/last_error.h"
#include "tracer/mail.h"
#include "tracer/names.h"
#include "tracer/options.h"
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
	KEYS_MAX = 256,
	KEY_MAX = 256,
	VALUE_MAX = 4096,
	/* Of the memory limit: rings, the chunk being filled and its compression. */
	OTHER_MEMORY = 24 << 20,
	POOL_MEMORY_MIN = 4 << 20
};

struct session {
	struct vtr_options options;
	struct vtr_mailbox mail;
	struct vtr_writer *writer;
	struct vtr_flusher *flusher;
	struct vtr_cupti *cupti; /* NULL: ranges only */
	uint64_t start_ns;
	uint64_t names_refused; /* by then, in this process */
};

struct pair {
	char *key, *value;
};

static struct {
	pthread_mutex_t lock;
	atomic_int state; /* enum vptrace_state */
	struct session *now;
	struct vtr_pool *pool; /* one for life: CUPTI may hold its buffers for ever */
	const char *stuck;     /* what an earlier stop had to leave behind; NULL: nothing */
	int cupti_stuck, exit_registered;
	struct pair keys[KEYS_MAX]; /* for the next capture */
	size_t key_count;
	struct vptrace_stats last;
	char path[4096]; /* of the file; "": there is none yet */
	atomic_int failed_told;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- what it is doing ---- */

const char *vptrace_version(void)
{
	return VPT_VERSION;
}

enum vptrace_state vptrace_status(void)
{
	return (enum vptrace_state)atomic_load(&all.state);
}

static int inert(void)
{
	return atomic_load(&all.state) == VPTRACE_INERT;
}

static int fail_inert(void)
{
	return vtr_fail(VPTRACE_EFORKED,
		"this process was forked from a traced one; only its parent records. "
		"A process started with exec records by itself");
}

/* Called by the writer's thread: the file cannot be written. The host goes on, and reads this line
 * at most once. */
static void file_failed(const char *why)
{
	if (!inert())
		atomic_store(&all.state, VPTRACE_FAILED);
	if (!atomic_exchange(&all.failed_told, 1))
		dprintf(STDERR_FILENO, "vptrace: %s; nothing more is recorded\n", why);
}

/* ---- facts about the run ---- */

static void post_meta(struct session *s, const char *key, const char *value)
{
	struct vtr_mail mail = {.type = VTR_MAIL_META,
		.key = (char *)(uintptr_t)key,
		.value = (char *)(uintptr_t)value};

	vtr_mailbox_post(&s->mail, &mail);
}

static void post_time(struct session *s, enum vtr_mail_type type, uint64_t time_ns)
{
	struct vtr_mail mail = {.type = type, .time_ns = time_ns};

	vtr_mailbox_post(&s->mail, &mail);
}

static void post_clock(struct session *s, uint64_t trace_ns)
{
	struct vtr_mail mail = {.type = VTR_MAIL_CLOCK};
	int64_t skew_ns;

	vtr_clock_point(NULL, NULL, &mail.clock, &skew_ns);
	mail.clock.trace_ns = trace_ns; /* the capture's very edge */
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
	for (i = 0; i < all.key_count; i++) {
		post_meta(s, all.keys[i].key, all.keys[i].value);
		vpt_free(all.keys[i].key);
		vpt_free(all.keys[i].value);
	}
	all.key_count = 0;
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
	rc = vtr_writer_start(&o, &s->writer, err);
	if (rc)
		o.sink->finish(o.sink, 0, NULL);
	return rc;
}

static int start_flusher(struct session *s, struct vpt_err *err)
{
	struct vtr_flusher_options o = {
		.mail = &s->mail, .interval_ns = (uint64_t)s->options.flush_interval_ms * 1000000};

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
	rc = vtr_cupti_start(&o, &cupti, err);
	if (rc) {
		post_meta(s, "cupti.unavailable", err->text);
		return rc;
	}
	s->cupti = cupti;
	vtr_writer_attach(s->writer, cupti);
	vtr_flusher_attach(s->flusher, cupti);
	return VPTRACE_OK;
}

static int ensure_pool(const struct vtr_options *o, struct vpt_err *err)
{
	uint64_t bytes = o->memory_limit_bytes > OTHER_MEMORY + POOL_MEMORY_MIN
				 ? o->memory_limit_bytes - OTHER_MEMORY
				 : POOL_MEMORY_MIN;

	if (!all.pool)
		all.pool = vtr_pool_new(bytes);
	return all.pool ? VPT_OK : vpt_fail(err, VPT_ENOMEM, "no memory for CUPTI's buffers");
}

static void end_of_process(void)
{
	vptrace_stop(NULL);
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
	int rc;

	if (!s)
		return vpt_fail(err, VPTRACE_ENOMEM, "no memory for a capture");
	vtr_mailbox_init(&s->mail);
	rc = vtr_options_resolve(options, &s->options, err);
	if (!rc)
		rc = ensure_pool(&s->options, err);
	if (rc)
		goto out;
	vtr_pool_begin(all.pool);
	s->start_ns = vtr_now();
	s->names_refused = vtr_names_refused();
	describe_run(s);
	rc = start_writer(s, how == VTR_START_API, err);
	if (!rc)
		rc = start_flusher(s, err);
	if (rc)
		goto out;
	vtr_threads_record(s->start_ns);
	all.now = s;
	atomic_store(&all.failed_told, 0);
	if (how != VTR_START_RANGES && s->options.profile != VPTRACE_PROFILE_NONE)
		rc = start_cupti(s, err);
	atomic_store(&all.state, s->cupti ? VPTRACE_RUNNING : VPTRACE_RANGES_ONLY);
	/* After libcupti has been mapped: handlers run in the opposite order of their registration. */
	if (!all.exit_registered || s->cupti)
		atexit(end_of_process);
	all.exit_registered = 1;
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
	int rc;

	if (all.now->cupti || all.now->options.profile == VPTRACE_PROFILE_NONE)
		return vpt_fail(err, VPTRACE_EBUSY, "a capture is running already");
	rc = start_cupti(all.now, err);
	if (!rc) {
		atomic_store(&all.state, VPTRACE_RUNNING);
		atexit(end_of_process);
	}
	return rc;
}

int vtr_session_start(const struct vptrace_options *options, enum vtr_start how)
{
	struct vpt_err err = {0};
	int rc;

	if (inert())
		return fail_inert();
	pthread_mutex_lock(&all.lock);
	if (all.stuck)
		rc = vpt_fail(&err, VPTRACE_EBUSY, "%s", all.stuck);
	else if (!all.now)
		rc = begin(options, how, &err);
	else if (how == VTR_START_CUDA)
		rc = join_cupti(&err);
	else
		rc = vpt_fail(&err, VPTRACE_EBUSY,
			"a capture is running already; vptrace_stop() ends it");
	pthread_mutex_unlock(&all.lock);
	if (rc && how != VTR_START_API && rc != VPTRACE_EBUSY)
		dprintf(STDERR_FILENO, "vptrace: %s\n", err.text);
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
	struct vtr_mail mail = {.type = VTR_MAIL_LOSS};
	struct vtr_pool_state state;

	vtr_pool_state(all.pool, &state);
	mail.loss.loss_kind = VPT_LOSSKIND_UNKNOWN;
	mail.loss.start_ns = state.outstanding ? state.oldest_ns : s->start_ns;
	mail.loss.duration_ns = stop_ns > mail.loss.start_ns ? stop_ns - mail.loss.start_ns : 0;
	vtr_mailbox_post(&s->mail, &mail);
}

static int end(struct session *s, struct vpt_err *err)
{
	uint64_t patience = (uint64_t)s->options.stop_timeout_ms * 1000000, stop_ns, deadline;
	const char *why;
	int rc = VPTRACE_OK;

	if (s->options.synchronize && s->cupti)
		vtr_cupti_synchronize(s->cupti);
	stop_ns = vtr_now();
	deadline = vtr_clock_ns(CLOCK_MONOTONIC) + patience;
	vtr_threads_stop();
	if (vtr_flusher_finish(s->flusher, deadline)) {
		all.cupti_stuck = 1;
		rc = vpt_fail(err, VPTRACE_ETIMEOUT,
			"CUPTI did not stop within %u ms: its newest records are missing",
			s->options.stop_timeout_ms);
	} else if (s->cupti && wait_for_buffers(deadline)) {
		rc = vpt_fail(err, VPTRACE_ETIMEOUT,
			"CUPTI kept buffers longer than %u ms: their records are missing",
			s->options.stop_timeout_ms);
	}
	if (rc)
		post_kept(s, stop_ns);
	post_clock(s, stop_ns);
	if (vtr_writer_finish(s->writer, stop_ns, vtr_clock_ns(CLOCK_MONOTONIC) + patience)) {
		all.stuck = "the writer of an earlier capture is still blocked in a write";
		rc = vpt_fail(err, VPTRACE_EFILE, "writing '%s' did not end within %u ms",
			s->options.path, s->options.stop_timeout_ms);
	}
	why = vtr_writer_failure(s->writer);
	if (why)
		rc = vpt_fail(err, VPTRACE_EFILE, "%s", why);
	return rc;
}

int vptrace_stop(struct vptrace_stats *stats)
{
	struct vpt_err err = {0};
	struct session *s;
	int rc;

	if (inert())
		return fail_inert();
	pthread_mutex_lock(&all.lock);
	s = all.now;
	if (!s) {
		give_stats(stats);
		pthread_mutex_unlock(&all.lock);
		return vtr_fail(VPTRACE_EIDLE, "no capture is running");
	}
	rc = end(s, &err);
	take_stats(s, &all.last);
	all.last.stop_code = rc;
	give_stats(stats);
	all.now = NULL;
	atomic_store(&all.state, VPTRACE_STOPPED);
	if (!all.stuck && !(rc == VPTRACE_ETIMEOUT && all.cupti_stuck))
		discard_session(s);
	pthread_mutex_unlock(&all.lock);
	return rc ? vtr_fail(rc, "%s", err.text) : VPTRACE_OK;
}

/* ---- while it runs ---- */

static int switch_pause(int pausing)
{
	int from = pausing ? VPTRACE_RUNNING : VPTRACE_PAUSED;
	int ranges = VPTRACE_RANGES_ONLY, to, rc = VPTRACE_OK;

	if (inert())
		return fail_inert();
	pthread_mutex_lock(&all.lock);
	to = pausing ? VPTRACE_PAUSED
		     : (all.now && all.now->cupti ? VPTRACE_RUNNING : VPTRACE_RANGES_ONLY);
	if (!all.now)
		rc = vtr_fail(VPTRACE_EIDLE, "no capture is running");
	else if (atomic_compare_exchange_strong(&all.state, &from, to) ||
		 (pausing && atomic_compare_exchange_strong(&all.state, &ranges, to)))
		post_time(all.now, pausing ? VTR_MAIL_PAUSE : VTR_MAIL_RESUME, vtr_now());
	pthread_mutex_unlock(&all.lock);
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

static int remember(const char *key, const char *value)
{
	struct pair fresh = {vpt_strndup(key, strlen(key)), vpt_strndup(value, strlen(value))};
	size_t i;

	for (i = 0; fresh.key && i < all.key_count && strcmp(all.keys[i].key, key); i++)
		;
	if (!fresh.key || !fresh.value || i == KEYS_MAX) {
		vpt_free(fresh.key);
		vpt_free(fresh.value);
		return i == KEYS_MAX ? vtr_fail(VPTRACE_EINVAL, "more than %d keys", KEYS_MAX)
				     : vtr_fail(VPTRACE_ENOMEM, "no memory for metadata");
	}
	if (i < all.key_count) {
		vpt_free(all.keys[i].key);
		vpt_free(all.keys[i].value);
	} else {
		all.key_count++;
	}
	all.keys[i] = fresh;
	return VPTRACE_OK;
}

int vptrace_metadata(const char *key, const char *value)
{
	int rc = VPTRACE_OK;

	if (inert())
		return fail_inert();
	if (!key || !value || !*key || strlen(key) > KEY_MAX || strlen(value) > VALUE_MAX)
		return vtr_fail(VPTRACE_EINVAL,
			"metadata: expected a key of 1 to %d bytes and a value of at most %d",
			KEY_MAX, VALUE_MAX);
	pthread_mutex_lock(&all.lock);
	if (all.now)
		post_meta(all.now, key, value);
	else
		rc = remember(key, value);
	pthread_mutex_unlock(&all.lock);
	return rc;
}

int vptrace_statistics(struct vptrace_stats *stats)
{
	if (inert())
		return fail_inert();
	if (!stats || stats->struct_bytes < sizeof(stats->struct_bytes))
		return vtr_fail(VPTRACE_EINVAL, "statistics: expected struct_bytes = sizeof(struct "
						"vptrace_stats)");
	pthread_mutex_lock(&all.lock);
	if (all.now)
		take_stats(all.now, &all.last);
	give_stats(stats);
	pthread_mutex_unlock(&all.lock);
	return VPTRACE_OK;
}

const char *vptrace_path(void)
{
	if (inert())
		return "";
	pthread_mutex_lock(&all.lock);
	if (all.now)
		take_stats(all.now, &all.last);
	pthread_mutex_unlock(&all.lock);
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
