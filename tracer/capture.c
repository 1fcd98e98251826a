/* capture.c - one capture: a writer, a flusher, perhaps CUPTI, and how they begin and end together.
 *
 * What could not be ended in time (a CUPTI that hangs, a disk that blocks) is leaked with
 * everything it uses: that is better than freeing memory in use. Long, since start and stop undo each
 * other step by step. */
#include "tracer/capture.h"

#include "formats/memory.h"
#include "tracer/budget.h"
#include "tracer/capture_file.h"
#include "tracer/capture_ring.h"
#include "tracer/clock.h"
#include "tracer/disk.h"
#include "tracer/flusher.h"
#include "tracer/mail.h"
#include "tracer/names.h"
#include "tracer/options.h"
#include "tracer/pool.h"
#include "tracer/run_list.h"
#include "tracer/sampler.h"
#include "tracer/threads.h"
#include "tracer/window.h"
#include "tracer/writer.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum {
	TAKEN_MS = 100,    /* buffers of another client come back at once or never */
	COUNT_MS = 5000,   /* at most, to count what is no longer written; quick */
	LEAST_MS = 1000,   /* at most, for CUPTI's stop if the wait for the GPU used up all */
	COUNTERS_MS = 500, /* between samples, unless an option says otherwise */
	SAMPLE_MS = 200,   /* at most, for the last sample; a reading takes a few ms */
	MOMENT_MS = 500    /* in which CUPTI gets the records of ended work */
};

struct vtr_capture {
	struct vtr_options options;
	struct vtr_mailbox mail;
	struct vtr_writer *writer;
	struct vtr_flusher *flusher;
	struct vtr_capture_ring ring; /* in place of a file */
	struct vtr_cupti *cupti;      /* NULL: ranges only */
	struct vtr_sampler *sampler;  /* NULL: no counters */
	uint64_t start_ns;
	uint64_t names_refused; /* by then, in this process */
	int writer_ended;
	int cupti_hangs; /* in the stop: keep what it uses meanwhile */
	/* the deadline of the wait for the GPU, CLOCK_MONOTONIC; 0: there was none. Another thread
	 * may exit the process meanwhile: then it reads both. */
	_Atomic uint64_t waited_until_ns;
	atomic_int gave_up; /* it came */
	/* The last mail, sent without allocating: the process may exit at any point. */
	struct vtr_mail end_of_clock, end_of_buffers, end_of_cupti, end_of_watch, end_of_sampler;
};

/* One for the life of the process: CUPTI may hold its buffers for ever. */
static struct vtr_pool *pool;
/* The capture in whose stop CUPTI hangs: while it does, touch neither the capture nor CUPTI. NULL:
 * none. */
static struct vtr_capture *hanging;

/* ---- mail to the writer ---- */

int vtr_capture_meta(struct vtr_capture *c, const char *key, const char *value)
{
	struct vtr_mail mail = {.type = VTR_MAIL_META,
		.key = (char *)(uintptr_t)key,
		.value = (char *)(uintptr_t)value};

	return vtr_mailbox_post(&c->mail, &mail);
}

static void describe_machine(struct vtr_capture *c)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES);
	struct utsname os;
	char text[32];

	if (!uname(&os)) {
		vtr_capture_meta(c, "os.sysname", os.sysname);
		vtr_capture_meta(c, "os.release", os.release);
		vtr_capture_meta(c, "os.version", os.version);
		vtr_capture_meta(c, "os.machine", os.machine);
	}
	if (cpus > 0) {
		snprintf(text, sizeof(text), "%ld", cpus);
		vtr_capture_meta(c, "cpus", text);
	}
	if (pages > 0) {
		snprintf(text, sizeof(text), "%lld", (long long)pages * sysconf(_SC_PAGESIZE));
		vtr_capture_meta(c, "ram_bytes", text);
	}
}

static void describe_run(struct vtr_capture *c, const struct vtr_facts *facts)
{
	static const char *const profiles[] = {"default", "lite", "full", "coarse", "none"};
	char text[VTR_PATH_MAX];
	size_t i;

	vtr_capture_meta(c, "vptrace", vptrace_version());
	vtr_capture_meta(c, "profile", profiles[c->options.profile]);
	if (c->options.capture.kind != VTR_TRIGGER_NOW)
		vtr_capture_meta(c, "capture", c->options.capture.text);
	if (c->options.ring.text[0])
		vtr_capture_meta(c, "ring", c->options.ring.text);
	/* What a report of losses needs for its advice. */
	snprintf(text, sizeof(text), "%" PRIu64, c->options.memory_limit_bytes);
	vtr_capture_meta(c, "memory_limit", text);
	snprintf(text, sizeof(text), "%" PRIu32, c->options.flush_interval_ms);
	vtr_capture_meta(c, "flush_ms", text);
	if (!gethostname(text, sizeof(text)))
		vtr_capture_meta(c, "host", text);
	describe_machine(c);
	vtr_command_line(text, sizeof(text));
	vtr_capture_meta(c, "command", text);
	if (c->options.rank >= 0) {
		snprintf(text, sizeof(text), "%ld", c->options.rank);
		vtr_capture_meta(c, "rank", text);
	}
	for (i = 0; i < facts->count; i++)
		vtr_capture_meta(c, facts->all[i].key, facts->all[i].value);
}

/* ---- begin ---- */

static uint64_t patience_ns(const struct vtr_capture *c)
{
	return (uint64_t)c->options.stop_timeout_ms * 1000000;
}

static struct vpt_header header_of(const struct vtr_capture *c)
{
	struct vpt_header h = {.major = VPT_MAJOR,
		.minor = VPT_MINOR,
		.t0_ns = c->start_ns,
		.t0_unix_ns = c->start_ns,
		.pid = (uint32_t)getpid(),
		.cpu_tick_ns = 1,
		.gpu_tick_ns = 1};

	if (getrandom(&h.capture_id, sizeof(h.capture_id), GRND_NONBLOCK) < 0)
		h.capture_id = c->start_ns ^ (uint64_t)getpid() << 48;
	return h;
}

static int make_file(
	struct vtr_capture *c, int always, struct vtr_writer_options *o, struct vpt_err *err)
{
	struct vpt_sink *file;
	/* Processes of one run never replace each other's files. */
	int rc = vtr_capture_file_new(c->options.path,
		c->options.overwrite && !vtr_run_list_has(c->options.path), &file, err);

	if (rc)
		return rc;
	if (always)
		rc = vtr_capture_file_create(file, err);
	if (!rc)
		rc = vtr_disk_new(file, &o->sink, err);
	if (rc)
		file->finish(file, 0, NULL);
	return rc;
}

static int start_writer(struct vtr_capture *c, int always, const struct vtr_capture_hooks *hooks,
	struct vpt_err *err)
{
	struct vtr_writer_options o = {.pool = pool,
		.mail = &c->mail,
		.level = c->options.compression_level,
		.always = always,
		.duration_ns = c->options.duration_ns,
		.max_bytes = c->options.max_bytes,
		.over = hooks->over,
		.flush_interval_ns = (uint64_t)c->options.flush_interval_ms * 1000000,
		.failed = hooks->file_failed};
	int rc;

	o.header = header_of(c);
	rc = c->options.ring.text[0] ? vtr_capture_ring_make(&c->ring, &c->options, &o, err)
				     : make_file(c, always, &o, err);
	if (rc)
		return rc;
	rc = vtr_writer_start(&o, &c->writer, err);
	if (rc)
		o.sink->finish(o.sink, 0, NULL);
	else if (c->ring.snapshots)
		rc = vtr_snapshots_start(c->ring.snapshots, c->writer, c->flusher, err);
	return rc;
}

static int start_flusher(
	struct vtr_capture *c, const struct vtr_capture_hooks *hooks, struct vpt_err *err)
{
	struct vtr_flusher_options o = {.mail = &c->mail,
		.pool = pool,
		.interval_ns = (uint64_t)c->options.flush_interval_ms * 1000000,
		.failed = hooks->cupti_failed,
		.taken = hooks->cupti_taken};

	return vtr_flusher_start(&o, &c->flusher, err);
}

/* Buffers, rings, stacks, names and what the writer allocates share one limit, see budget.h. The
 * pool has addresses for as many buffers as the first capture could have. */
static int share_memory(const struct vtr_options *o, struct vpt_err *err)
{
	vtr_budget_limit(o->memory_limit_bytes);
	if (!pool)
		pool = vtr_pool_new(o->memory_limit_bytes / 4 * 3);
	return pool ? VPT_OK : vpt_fail(err, VPT_ENOMEM, "no memory for CUPTI's buffers");
}

/* Maps error codes of other layers to ours. */
static int public_code(int rc)
{
	return rc == VPT_ENOMEM ? VPTRACE_ENOMEM
				: (rc == VPT_EINVAL ? VPTRACE_EINVAL : VPTRACE_EFILE);
}

static void discard(struct vtr_capture *c)
{
	vtr_sampler_free(c->sampler);
	vtr_flusher_free(c->flusher);
	vtr_writer_free(c->writer);
	vtr_capture_ring_free(&c->ring);
	vtr_mailbox_free(&c->mail);
	vpt_free(c);
}

/* A capture without counters is better than none. */
static void start_sampler(struct vtr_capture *c)
{
	uint64_t ms = c->options.counters_ms > 0 ? (uint64_t)c->options.counters_ms : COUNTERS_MS;
	struct vpt_err err;
	char text[32];

	if (c->sampler || c->options.counters_ms < 0)
		return;
	snprintf(text, sizeof(text), "%" PRIu64, ms);
	vtr_capture_meta(c, "counters_ms", text);
	if (vtr_sampler_start(&c->mail, ms * 1000000, &c->sampler, &err))
		vtr_capture_meta(c, "counters.failure", err.text);
}

int vtr_capture_begin(const struct vptrace_options *options, int always,
	const struct vtr_facts *facts, const struct vtr_capture_hooks *hooks,
	struct vtr_capture **out, struct vpt_err *err)
{
	struct vtr_capture *c = vpt_calloc(1, sizeof(*c));
	int rc;

	*out = NULL;
	if (!c)
		return vpt_fail(err, VPTRACE_ENOMEM, "no memory for a capture");
	vtr_mailbox_init(&c->mail);
	rc = vtr_options_resolve(options, &c->options, err);
	if (!rc)
		rc = share_memory(&c->options, err);
	if (rc)
		goto out;
	vtr_pool_begin(pool);
	c->start_ns = vtr_now();
	vtr_window_begin(&c->options.capture, always, c->start_ns);
	c->names_refused = vtr_names_refused();
	describe_run(c, facts);
	rc = start_flusher(c, hooks, err);
	if (!rc)
		rc = start_writer(c, always, hooks, err); /* last: it creates the file */
	if (rc)
		goto out;
	vtr_capture_meta(c, "clock.ranges", vtr_tsc_kept() ? "tsc" : "clock_gettime");
	vtr_threads_record(c->start_ns);
	if (always && c->options.counters_ms > 0)
		start_sampler(c);
	*out = c;
	return VPTRACE_OK;
out:
	if (c->writer) /* the thread for snapshots could not be started */
		vtr_writer_finish(c->writer, c->start_ns, UINT64_MAX / 2);
	if (c->flusher)
		vtr_flusher_finish(c->flusher, UINT64_MAX / 2); /* it has no CUPTI to wait for */
	discard(c);
	return public_code(rc);
}

/* Whether CUPTI is still blocked in the stop of an earlier capture. */
static int still_hangs(void)
{
	if (hanging && vtr_flusher_finish(hanging->flusher, 0))
		return 1;
	if (hanging)
		discard(hanging);
	hanging = NULL;
	return 0;
}

static int start_cupti(struct vtr_capture *c, struct vtr_cupti **out, struct vpt_err *err)
{
	struct vtr_cupti_options o = {
		.path = c->options.cupti_path[0] ? c->options.cupti_path : NULL,
		.profile = c->options.profile,
		.device_buffers = c->options.device_buffers,
		.profiler_api = c->options.capture.kind == VTR_TRIGGER_PROFILER,
		.pool = pool};

	if (still_hangs())
		return vpt_fail(err, VPTRACE_ENOCUPTI,
			"CUPTI is still blocked in the stop of an earlier capture of this process");
	vtr_pool_ready(pool);
	return vtr_cupti_start(&o, out, err);
}

int vtr_capture_join_cupti(struct vtr_capture *c, struct vpt_err *err)
{
	struct vtr_cupti *cupti;
	int rc = start_cupti(c, &cupti, err);

	if (!rc || c->options.counters_ms > 0)
		start_sampler(c);
	if (rc) {
		vtr_capture_meta(c, "cupti.unavailable", err->text);
		/* Ranges are recorded, whatever CUPTI lacks. */
		return rc == VPTRACE_ENOMEM ? VPTRACE_ENOCUPTI : rc;
	}
	c->cupti = cupti;
	vtr_flusher_attach(c->flusher, cupti);
	vtr_writer_attach(c->writer, cupti);
	return VPTRACE_OK;
}

/* ---- while it runs ---- */

int vtr_capture_wants_cupti(const struct vtr_capture *c)
{
	return c->options.profile != VPTRACE_PROFILE_NONE;
}

struct vtr_cupti *vtr_capture_cupti(const struct vtr_capture *c)
{
	return c->cupti;
}

const char *vtr_capture_window(const struct vtr_capture *c)
{
	return c->options.capture.text;
}

void vtr_capture_stats(const struct vtr_capture *c, struct vptrace_stats *out, char *path)
{
	struct vtr_writer_numbers n;
	struct vtr_pool_state buffers;
	uint64_t kept;

	vtr_writer_numbers(c->writer, &n);
	vtr_pool_state(pool, &buffers);
	/* What came back after the writer's end is too late as well. */
	kept = c->writer_ended ? buffers.taken - n.cupti.buffers : buffers.outstanding;
	if (c->ring.snapshots)
		vtr_snapshots_path(c->ring.snapshots, path);
	else if (!path[0])
		strcpy(path, n.path);
	*out = (struct vptrace_stats){.received = n.rows.received,
		.written = n.rows.written,
		.dropped = n.rows.dropped,
		.cupti_dropped = n.cupti_dropped,
		.invalid = n.rows.invalid,
		.chunks = n.rows.chunks,
		.file_bytes = n.rows.file_bytes,
		.names_dropped = vtr_names_refused() - c->names_refused,
		.buffers_kept = kept,
		.cupti_records = n.cupti.records,
		.filtered = n.cupti.filtered + n.cupti.described,
		.unfinished = n.unfinished,
		.samples = n.samples};
}

/* ---- end ---- */

/* The deadline for CUPTI's stop. */
static uint64_t stop_deadline(const struct vtr_capture *c)
{
	uint64_t least = (uint64_t)LEAST_MS * 1000000;
	uint64_t waited_until_ns = atomic_load(&c->waited_until_ns);

	if (!waited_until_ns)
		return vtr_clock_ns(CLOCK_MONOTONIC) + patience_ns(c);
	return waited_until_ns + (least < patience_ns(c) ? least : patience_ns(c));
}

void vtr_capture_drain(struct vtr_capture *c, int exiting)
{
	/* An exiting process creates no thread and posts nothing: it may be anywhere, even inside
	 * malloc(). */
	enum vtr_drained device = VTR_NOT_ASKED;
	uint64_t until, last;
	int left;

	if (!c->cupti || !c->options.synchronize)
		return;
	until = last = vtr_clock_ns(CLOCK_MONOTONIC) + patience_ns(c);
	atomic_store(&c->waited_until_ns, last);
	if (!exiting)
		device = vtr_cupti_wait(c->cupti, until);
	if (device == VTR_CAPTURING)
		vtr_capture_meta(c, "stop.wait",
			"for records alone: a stream was being captured, so the device was not "
			"synchronized");
	/* All work is done; a host that continues to launch may keep CUPTI from giving back its
	 * buffers. */
	if (device == VTR_DRAINED)
		until = vtr_clock_ns(CLOCK_MONOTONIC) + (uint64_t)MOMENT_MS * 1000000;
	if (until > last)
		until = last;
	left = vtr_flusher_drain(c->flusher, until, stop_deadline(c));
	atomic_store(&c->gave_up, device == VTR_LATE || (device != VTR_DRAINED && left));
}

/* Buffers that CUPTI has not given back arrive within a moment of its last flush, or never. */
static int wait_for_buffers(uint64_t deadline_ns)
{
	struct vtr_pool_state state;
	const struct timespec moment = {0, 1000000};

	for (;;) {
		vtr_pool_state(pool, &state);
		if (!state.outstanding)
			return 0;
		if (vtr_clock_ns(CLOCK_MONOTONIC) >= deadline_ns)
			return -1;
		nanosleep(&moment, NULL);
	}
}

/* Reports the buffers that CUPTI keeps as lost, since it got the oldest; which of the work the GPU
 * did is unknown. */
static void post_kept(struct vtr_capture *c, uint64_t stop_ns)
{
	struct vtr_mail *m = &c->end_of_buffers;
	struct vtr_pool_state state;

	vtr_pool_state(pool, &state);
	m->type = VTR_MAIL_LOSS;
	m->loss.loss_kind = VPT_LOSSKIND_UNKNOWN;
	m->loss.start_ns = state.outstanding ? state.oldest_ns : c->start_ns;
	m->loss.duration_ns = stop_ns > m->loss.start_ns ? stop_ns - m->loss.start_ns : 0;
	vtr_mailbox_lend(&c->mail, m);
}

static void post_end(struct vtr_capture *c, uint64_t stop_ns)
{
	uint64_t cupti_time;

	c->end_of_clock.type = VTR_MAIL_CLOCK;
	vtr_clock_point(NULL, NULL, &c->end_of_clock.clock, &cupti_time);
	c->end_of_clock.clock.trace_ns = stop_ns; /* the capture's very edge */
	vtr_mailbox_lend(&c->mail, &c->end_of_clock);
}

/* Reports in the capture why records are missing. `why` outlives the capture. */
static void post_failure(
	struct vtr_capture *c, struct vtr_mail *m, const char *key, const char *why)
{
	m->type = VTR_MAIL_META;
	m->key = (char *)(uintptr_t)key;
	m->value = (char *)(uintptr_t)why;
	vtr_mailbox_lend(&c->mail, m);
}

static uint64_t foreign_records(struct vtr_capture *c)
{
	struct vtr_cupti_signs signs;

	vtr_cupti_signs(c->cupti, &signs);
	return signs.foreign_bytes;
}

/* Returns whether another client had CUPTI's records at any time; reports since when they are
 * missing. */
static int look_back(struct vtr_capture *c, uint64_t stop_ns)
{
	struct vtr_mail *m = &c->end_of_watch;
	struct vtr_watch_news news;
	uint64_t unread_from_ns;
	int is_taken;

	is_taken = vtr_cupti_looked(c->cupti, stop_ns, &news);
	if (vtr_flusher_unread(c->flusher, &unread_from_ns)) {
		if (!news.lost_to_ns || unread_from_ns < news.lost_from_ns)
			news.lost_from_ns = unread_from_ns;
		news.lost_to_ns = stop_ns;
	}
	if (news.lost_to_ns) {
		m->type = VTR_MAIL_LOSS;
		m->loss.loss_kind = VPT_LOSSKIND_UNKNOWN;
		m->loss.start_ns = news.lost_from_ns;
		m->loss.duration_ns = news.lost_to_ns - news.lost_from_ns;
		vtr_mailbox_lend(&c->mail, m);
	}
	return is_taken;
}

static uint64_t in_ms(unsigned ms)
{
	return vtr_clock_ns(CLOCK_MONOTONIC) + (uint64_t)ms * 1000000;
}

/* TAKEN_MS from now, or the deadline if that is earlier. */
static uint64_t soon(uint64_t deadline_ns)
{
	uint64_t moment_ns = in_ms(TAKEN_MS);

	return moment_ns < deadline_ns ? moment_ns : deadline_ns;
}

static int end_cupti(
	struct vtr_capture *c, uint64_t deadline, uint64_t stop_ns, struct vpt_err *err)
{
	int is_taken, late;
	const char *why;

	if (vtr_flusher_finish(c->flusher, deadline)) {
		c->cupti_hangs = 1;
		return vpt_fail(err, VPTRACE_ETIMEOUT,
			"CUPTI did not stop within %u ms: its newest records are missing",
			c->options.stop_timeout_ms);
	}
	why = c->cupti ? vtr_cupti_failure(c->cupti) : NULL;
	if (why)
		return vpt_fail(err, VPTRACE_ETIMEOUT, "%s: its newest records are missing", why);
	if (!c->cupti)
		return VPTRACE_OK;
	is_taken = vtr_cupti_is_taken(c->cupti);
	late = wait_for_buffers(is_taken ? soon(deadline) : deadline);
	if (look_back(c, stop_ns)) {
		if (late && wait_for_buffers(0))
			post_kept(c, stop_ns);
		post_failure(c, &c->end_of_cupti, "cupti.taken", VTR_WATCH_TAKEN);
		return vpt_fail(err, VPTRACE_ETAKEN, "%s", VTR_WATCH_TAKEN);
	}
	if (late && (!is_taken || wait_for_buffers(deadline)))
		return vpt_fail(err, VPTRACE_ETIMEOUT,
			"CUPTI kept buffers longer than %u ms: their records are missing",
			c->options.stop_timeout_ms);
	if (foreign_records(c))
		return vpt_fail(err, VPTRACE_ETAKEN, "%s", VTR_CUPTI_SHARED);
	return VPTRACE_OK;
}

/* Writes the rest. If the disk takes too long we give it up, so the writer can count what was not
 * written. */
static int end_writer(struct vtr_capture *c, uint64_t stop_ns)
{
	if (!vtr_writer_finish(c->writer, stop_ns, vtr_clock_ns(CLOCK_MONOTONIC) + patience_ns(c)))
		return 0;
	vtr_writer_give_up(c->writer, c->options.stop_timeout_ms);
	return vtr_writer_finish(
		c->writer, stop_ns, vtr_clock_ns(CLOCK_MONOTONIC) + (uint64_t)COUNT_MS * 1000000);
}

/* What the writer found missing: what CUPTI did not record and, if the wait for the GPU failed, the
 * times of work. */
static int judge_records(struct vtr_capture *c, struct vpt_err *err)
{
	const char *why = c->cupti ? vtr_cupti_missing(c->cupti) : NULL;
	struct vtr_writer_numbers n;

	if (why)
		return vpt_fail(err, VPTRACE_ETIMEOUT, "%s", why);
	vtr_writer_numbers(c->writer, &n);
	if (!atomic_load(&c->gave_up) || !n.unfinished)
		return VPTRACE_OK;
	return vpt_fail(err, VPTRACE_ETIMEOUT,
		"the GPU had %" PRIu64 " unfinished operation%s after %u ms: %s times are unknown",
		n.unfinished, n.unfinished == 1 ? "" : "s", c->options.stop_timeout_ms,
		n.unfinished == 1 ? "its" : "their");
}

int vtr_capture_snapshot(struct vtr_capture *c, const char *path, struct vpt_err *err)
{
	int rc = vtr_capture_ring_take(&c->ring, &c->options, path, err);

	if (rc == VPT_EDATA)
		return VPTRACE_EIDLE;
	return rc ? public_code(rc) : VPTRACE_OK;
}

int vtr_capture_end(struct vtr_capture *c, struct vpt_err *err)
{
	struct vpt_err ring = {0};
	uint64_t stop_ns = vtr_now();
	const char *why;
	int rc;

	vtr_threads_stop();
	vtr_window_end();
	vtr_sampler_stop(c->sampler); /* its last round runs beside what follows */
	rc = end_cupti(c, stop_deadline(c), stop_ns, err);
	if (vtr_sampler_wait(c->sampler, in_ms(SAMPLE_MS)))
		post_failure(c, &c->end_of_sampler, "counters.failure",
			"NVML had not returned at the stop: the last values are missing");
	if (rc && rc != VPTRACE_ETAKEN) /* already reported by the flusher */
		post_kept(c, stop_ns);
	post_end(c, stop_ns);
	c->writer_ended = !end_writer(c, stop_ns);
	if (!c->writer_ended)
		rc = vpt_fail(err, VPTRACE_EFILE, "'%.200s': the tracer's writer did not finish",
			c->options.path);
	else if (!rc)
		rc = judge_records(c, err);
	if (vtr_capture_ring_end(&c->ring, &c->options, c->writer_ended, &ring))
		rc = vpt_fail(err, VPTRACE_EFILE, "%s", ring.text);
	why = vtr_writer_failure(c->writer);
	if (why)
		rc = vpt_fail(err, VPTRACE_EFILE, "%s", why);
	return rc;
}

int vtr_capture_free(struct vtr_capture *c, const char **path)
{
	*path = c->options.path;
	if (!c->writer_ended && vtr_writer_finish(c->writer, 0, 0))
		return -1;
	if (c->cupti_hangs)
		hanging = c;
	else if (!c->ring.hangs) /* else it stays until the process ends */
		discard(c);
	return 0;
}

void vtr_capture_abandon(struct vtr_capture *c)
{
	vtr_writer_abandon(c->writer);
}
