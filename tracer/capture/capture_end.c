/* capture_end.c - how a capture ends: CUPTI gives back its records, the writer writes the rest, and
 * whatever does not come in time is left, counted and said.
 *
 * Each wait has a deadline; all of them are derived from the host's stop_timeout_ms. */
#include "tracer/capture/capture_state.h"

#include "tracer/clock/capture_clock.h"
#include "tracer/ranges/app_threads.h"
#include "tracer/window/recording_window.h"

#include <inttypes.h>
#include <time.h>

enum {
	TAKEN_MS = 100,  /* buffers of another client come back at once or never */
	COUNT_MS = 5000, /* at most, to count what is no longer written; quick */
	LEAST_MS = 1000, /* at most, for CUPTI's stop if the wait for the GPU used up all */
	SAMPLE_MS = 200, /* at most, for the last sample; a reading takes a few ms */
	MOMENT_MS = 500  /* in which CUPTI gets the records of ended work */
};

static uint64_t in_ms(unsigned ms)
{
	return vtr_clock_ns(CLOCK_MONOTONIC) + (uint64_t)ms * 1000000;
}

/* The deadline for CUPTI's stop. */
static uint64_t stop_deadline(const struct vtr_capture *c)
{
	unsigned ms = c->options.stop_timeout_ms;
	uint64_t waited_until_ns = atomic_load(&c->waited_until_ns);

	if (!waited_until_ns)
		return in_ms(ms);
	return waited_until_ns + (uint64_t)(ms < LEAST_MS ? ms : LEAST_MS) * 1000000;
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
	until = last = in_ms(c->options.stop_timeout_ms);
	atomic_store(&c->waited_until_ns, last);
	if (!exiting)
		device = vtr_cupti_wait(c->cupti, until);
	if (device == VTR_CAPTURING)
		vtr_capture_fact(c, VPT_METADATA_STOP_WAIT,
			"for records alone: a stream was being captured, so the device was not "
			"synchronized");
	/* All work is done; a host that continues to launch may keep CUPTI from giving back its
	 * buffers. */
	if (device == VTR_DRAINED)
		until = in_ms(MOMENT_MS);
	if (until > last)
		until = last;
	left = vtr_flusher_drain(c->flusher, until, stop_deadline(c));
	atomic_store(&c->gave_up, device == VTR_LATE || (device != VTR_DRAINED && left));
}

/* Buffers that CUPTI has not given back arrive within a moment of its last flush, or never.
 * `hope_ns`: of those that another client seems to have, all that come do so by then. */
static int wait_for_buffers(const struct vtr_capture *c, uint64_t deadline_ns, uint64_t hope_ns)
{
	const struct timespec moment = {0, 1000000};
	struct vtr_pool_state state;
	uint64_t now_ns;

	for (;;) {
		vtr_pool_state(c->pool, &state);
		if (!state.outstanding)
			return 0;
		now_ns = vtr_clock_ns(CLOCK_MONOTONIC);
		if (now_ns >= deadline_ns || (now_ns >= hope_ns && vtr_cupti_is_taken(c->cupti, 1)))
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

	vtr_pool_state(c->pool, &state);
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
	struct vtr_capture *c, struct vtr_mail *m, enum vpt_metadata fact, const char *why)
{
	m->type = VTR_MAIL_META;
	m->key = (char *)(uintptr_t)vpt_metadata_key(fact);
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

static int end_cupti(
	struct vtr_capture *c, uint64_t deadline, uint64_t stop_ns, struct vpt_err *err)
{
	const char *why;
	int late;

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
	late = wait_for_buffers(c, deadline, in_ms(TAKEN_MS));
	if (look_back(c, stop_ns)) {
		if (late && wait_for_buffers(c, 0, 0))
			post_kept(c, stop_ns);
		post_failure(c, &c->end_of_cupti, VPT_METADATA_CUPTI_TAKEN, VTR_WATCH_TAKEN);
		return vpt_fail(err, VPTRACE_ETAKEN, "%s", VTR_WATCH_TAKEN);
	}
	if (late && wait_for_buffers(c, deadline, deadline))
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
	if (!vtr_writer_finish(c->writer, stop_ns, in_ms(c->options.stop_timeout_ms)))
		return 0;
	vtr_writer_give_up(c->writer, c->options.stop_timeout_ms);
	return vtr_writer_finish(c->writer, stop_ns, in_ms(COUNT_MS));
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

int vtr_capture_end(struct vtr_capture *c, struct vpt_err *err)
{
	struct vpt_err ring = {0};
	uint64_t stop_ns = vtr_threads_stop();
	const char *why;
	int rc;

	vtr_window_end();
	vtr_sampler_stop(c->sampler); /* its last round runs beside what follows */
	vtr_stack_sampler_stop(c->stacks);
	rc = end_cupti(c, stop_deadline(c), stop_ns, err);
	if (vtr_sampler_wait(c->sampler, in_ms(SAMPLE_MS)))
		post_failure(c, &c->end_of_sampler, VPT_METADATA_COUNTERS_FAILURE,
			"NVML had not returned at the stop: the last values are missing");
	vtr_stack_sampler_wait(c->stacks, in_ms(SAMPLE_MS));
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
