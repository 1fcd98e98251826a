/* capture.c - one capture: a writer, a flusher, perhaps CUPTI, and how they begin and end together.
 *
 * What could not be ended in time (a CUPTI that hangs, a disk that blocks) is leaked with
 * everything it uses: that is better than freeing memory in use. */
#include "tracer/capture/capture_state.h"

#include "formats/base/memory.h"
#include "tracer/guest/budget.h"
#include "tracer/clock/capture_clock.h"
#include "tracer/ranges/app_threads.h"
#include "tracer/ranges/words/range_strings.h"
#include "tracer/window/recording_window.h"
#include "tracer/files/capture_file.h"
#include "tracer/files/disk.h"
#include "tracer/files/run_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* One for the life of the process: CUPTI may hold its buffers for ever. */
static struct vtr_pool *pool;
/* The capture in whose stop CUPTI hangs: while it does, touch neither the capture nor CUPTI. NULL:
 * none. */
static struct vtr_capture *hanging;

/* ---- begin ---- */

static struct vpt_header header_of(const struct vtr_capture *c)
{
	struct vpt_header h = {.major = VPT_MAJOR,
		.minor = VPT_MINOR,
		.t0_ns = c->from_ns,
		.t0_unix_ns = c->from_ns,
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
		c->options.overwrite && !vtr_run_list_has(NULL, c->options.path), &file, err);

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
		.start_ns = c->start_ns,
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
	vtr_stack_sampler_free(c->stacks);
	vtr_flusher_free(c->flusher);
	vtr_writer_free(c->writer);
	vtr_capture_ring_free(&c->ring);
	vtr_mailbox_free(&c->mail);
	vpt_free(c);
}

/* A capture without counters is better than none. */
static void start_sampler(struct vtr_capture *c)
{
	const struct vtr_monitors *m = &c->options.monitors;
	uint32_t ms = vtr_monitors_same(m);
	struct vpt_err err;
	char text[32];

	if (c->sampler || !vtr_monitors_any(m))
		return;
	snprintf(text, sizeof(text), "%" PRIu32, ms);
	if (ms)
		vtr_capture_fact(c, VPT_METADATA_COUNTERS_INTERVAL, text);
	else
		vtr_capture_fact(c, VPT_METADATA_COUNTERS, m->text);
	if (vtr_sampler_start(&c->mail, m, &c->sampler, &err))
		vtr_capture_fact(c, VPT_METADATA_COUNTERS_FAILURE, err.text);
}

/* A capture without stacks is better than none. */
static void start_stacks(struct vtr_capture *c)
{
	struct vpt_err err;

	if (c->stacks || c->options.stacks_hz < 0)
		return;
	if (vtr_stack_sampler_start(&c->mail, (uint32_t)c->options.stacks_hz, &c->stacks, &err)) {
		vtr_capture_fact(c, VPT_METADATA_STACKS_UNAVAILABLE, err.text);
		return;
	}
	vtr_writer_attach_stacks(c->writer, vtr_stack_sampler_samples(c->stacks));
	vtr_flusher_attach_stacks(c->flusher, c->stacks);
}

/* A capture that begins with CUDA's start misses nothing of what was open then: no work of this
 * process has run before. So it contains the request in which a program first uses the GPU. One that
 * the host begins may lack work, and begins when the host says. */
static void find_start(struct vtr_capture *c, int by_host)
{
	c->start_ns = c->from_ns = vtr_now();
	if (!by_host && c->options.capture.kind == VTR_TRIGGER_NOW)
		c->from_ns = vtr_threads_earliest(c->start_ns);
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
	c->pool = pool;
	vtr_pool_begin(pool);
	find_start(c, always);
	vtr_window_begin(&c->options.capture, always, c->start_ns);
	c->names_refused = vtr_names_refused();
	vtr_capture_describe(c, facts);
	rc = start_flusher(c, hooks, err);
	if (!rc)
		rc = start_writer(c, always, hooks, err); /* last: it creates the file */
	if (rc)
		goto out;
	vtr_capture_fact(c, VPT_METADATA_CLOCK_RANGES, vtr_tsc_kept() ? "tsc" : "clock_gettime");
	vtr_threads_record(c->from_ns);
	if (always && c->options.monitors.wanted)
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
		.flush_interval_ns = (uint64_t)c->options.flush_interval_ms * 1000000,
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
	int rc;

	if (c->options.stacks_hz > 0)
		vtr_stack_sampler_expect();
	rc = start_cupti(c, &cupti, err);
	if (!rc || c->options.monitors.wanted)
		start_sampler(c);
	if (rc) {
		vtr_capture_fact(c, VPT_METADATA_CUPTI_UNAVAILABLE, err->text);
		/* Ranges are recorded, whatever CUPTI lacks. */
		return rc == VPTRACE_ENOMEM ? VPTRACE_ENOCUPTI : rc;
	}
	c->cupti = cupti;
	vtr_flusher_attach(c->flusher, cupti);
	vtr_writer_attach(c->writer, cupti);
	start_stacks(c);
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
	vtr_pool_state(c->pool, &buffers);
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

int vtr_capture_snapshot(struct vtr_capture *c, const char *path, struct vpt_err *err)
{
	int rc = vtr_capture_ring_take(&c->ring, &c->options, path, err);

	if (rc == VPT_EDATA)
		return VPTRACE_EIDLE;
	return rc ? public_code(rc) : VPTRACE_OK;
}

/* ---- after the end ---- */

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
