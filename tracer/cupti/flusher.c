/* flusher.c - the thread that calls CUPTI. */
#include "tracer/cupti/flusher.h"

#include "formats/base/memory.h"
#include "tracer/counters/counter_sampler.h"
#include "tracer/cupti/records/cupti_clock.h"
#include "tracer/clock/capture_clock.h"
#include "tracer/guest/own_thread.h"
#include "tracer/loaded/loaded_symbols.h"
#include "tracer/handover/gate.h"
#include "tracer/python_stacks/stack_sampler.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* The interval for reading a foreign CUPTI clock: records wait for a reading after them. Ours is
 * read whenever the thread is awake, since it may be replaced at any time. */
enum { READING_NS = 100000000 };

/* The interval for checking whether the host is gone, and whether it has loaded a Python. */
enum { LOOK_NS = 1000000000 };

/* A drain's wait between flushes, doubled each time. */
enum { DRAIN_FIRST_NS = 1000000, DRAIN_MOST_NS = 50000000 };

/* How long a thread may be on its way from the launch of work to the buffer for its record; the
 * system may run others in between. */
enum { LAUNCH_NS = 100000000 };

enum { OWN_THREADS = 3 }; /* this one, the writer's and the disk's or the snapshots' */

static unsigned own_threads(void)
{
	return OWN_THREADS + vtr_drain_threads() + vtr_sampler_threads() +
	       vtr_stack_sampler_threads();
}

struct vtr_flusher {
	struct vtr_flusher_options o;
	_Atomic(struct vtr_cupti *) cupti;
	_Atomic(struct vtr_stack_sampler *) stacks; /* NULL: none */
	pthread_t thread;
	struct vtr_gate wake, drained, stop, ended; /* wake: for a drain, a stop, or both */
	uint64_t drain_since_ns, drain_until_ns;    /* trace clock, CLOCK_MONOTONIC */
	atomic_int came_back;                       /* 1: the drain has ended */
	uint64_t polled_ns; /* trace clock: CUPTI was last asked for drops */
	int reported_failure, reported_skew;
	uint64_t foreign_bytes, unread_bytes; /* already reported */
	/* trace clock: since when callbacks are ours, first and now; another client's buffers may
	 * be older */
	uint64_t first_ns, ours_ns;
	struct vtr_cupti_clock clock; /* CUPTI's, if another client has replaced it */
	atomic_int is_far;            /* CUPTI's clock is not the trace clock */
	atomic_uint wanted, flushed;  /* flushes between two intervals: asked for, done */
	/* Of the one asked for, written before: trace clock, CLOCK_MONOTONIC. */
	uint64_t asked_ns, asked_until_ns;
	uint64_t wait_ns; /* until the next try of it; 0: there was none yet */
	uint64_t loaded;  /* libraries that have been searched for NCCL */
	int nccl_is_known;
};

static uint64_t cupti_clock(void *cupti)
{
	return vtr_cupti_clock(cupti);
}

static void tell(struct vtr_flusher *f, enum vpt_metadata fact, const char *value)
{
	vtr_mailbox_fact(f->o.mail, fact, value);
}

static void read_clocks(struct vtr_flusher *f, struct vtr_cupti *cupti)
{
	struct vtr_mail mail = {.type = VTR_MAIL_CLOCK};
	uint64_t doubt_ns;
	int64_t skew_ns;
	char text[32];

	doubt_ns =
		vtr_clock_point(cupti ? cupti_clock : NULL, cupti, &mail.clock, &mail.cupti_time);
	vtr_mailbox_post(f->o.mail, &mail);
	if (!mail.cupti_time)
		return;
	vtr_cupti_clock_reading(&f->clock, mail.cupti_time, &mail.clock);
	skew_ns = vtr_cupti_clock_skew(mail.cupti_time, &mail.clock, doubt_ns);
	if (vtr_clock_is_far(mail.cupti_time, mail.clock.trace_ns)) {
		atomic_store(&f->is_far, 1);
	} else if (skew_ns && !f->reported_skew) {
		f->reported_skew = 1;
		snprintf(text, sizeof(text), "%lld", (long long)skew_ns);
		tell(f, VPT_METADATA_CLOCK_CUPTI_SKEW, text);
	}
}

/* Another client's buffers have come back: returns since when records may be in them. If one has a
 * record from before `ours_ns`, it was in use when the capture began. */
static uint64_t foreign_from(struct vtr_flusher *f, struct vtr_cupti *cupti, uint64_t ours_ns)
{
	return vtr_cupti_foreign_from(cupti, &f->clock) < ours_ns ? f->first_ns : ours_ns;
}

static void begin_loss(struct vpt_loss *loss, uint64_t start_ns)
{
	loss->duration_ns += loss->start_ns - start_ns;
	loss->start_ns = start_ns;
}

/* Unread records came back. Their number is unknown. */
static void tell_unread(struct vtr_flusher *f, struct vtr_cupti *cupti, struct vtr_mail *loss)
{
	struct vtr_cupti_signs signs;

	vtr_cupti_signs(cupti, &signs);
	if (signs.foreign_bytes == f->foreign_bytes && signs.unread_bytes == f->unread_bytes)
		return;
	if (signs.foreign_bytes != f->foreign_bytes) {
		tell(f, VPT_METADATA_CUPTI_FAILURE, VTR_CUPTI_SHARED);
		begin_loss(&loss->loss, foreign_from(f, cupti, f->ours_ns));
	}
	if (signs.unread_bytes != f->unread_bytes && signs.unread_from_ns < loss->loss.start_ns)
		begin_loss(&loss->loss, signs.unread_from_ns);
	f->foreign_bytes = signs.foreign_bytes;
	f->unread_bytes = signs.unread_bytes;
	loss->loss.loss_kind = VPT_LOSSKIND_UNKNOWN;
	loss->loss.count = 0;
	vtr_mailbox_post(f->o.mail, loss);
}

static void count_drops(struct vtr_flusher *f, struct vtr_cupti *cupti)
{
	struct vtr_mail mail = {.type = VTR_MAIL_LOSS};
	uint64_t now = vtr_now();

	mail.loss.count = vtr_cupti_dropped(cupti);
	mail.loss.loss_kind = VPT_LOSSKIND_DROPPED;
	mail.loss.start_ns = f->polled_ns;
	mail.loss.duration_ns = now > f->polled_ns ? now - f->polled_ns : 0;
	f->polled_ns = now;
	if (mail.loss.count)
		vtr_mailbox_post(f->o.mail, &mail);
	tell_unread(f, cupti, &mail);
}

/* Flushes, and reports what happened to CUPTI. */
static void look_at_cupti(struct vtr_flusher *f, struct vtr_cupti *cupti)
{
	struct vtr_mail mail = {.type = VTR_MAIL_LOSS};
	struct vtr_cupti_signs signs;
	struct vtr_watch_news news;

	vtr_cupti_look(cupti, &news);
	vtr_cupti_signs(cupti, &signs);
	if (news.taken_back && signs.foreign_bytes != f->foreign_bytes) {
		/* The other client's buffers that have arrived are from that time, or older. */
		news.lost_from_ns = foreign_from(f, cupti, news.lost_from_ns);
		f->foreign_bytes = signs.foreign_bytes;
	}
	if (news.lost_to_ns) {
		mail.loss.loss_kind = VPT_LOSSKIND_UNKNOWN;
		mail.loss.start_ns = news.lost_from_ns;
		mail.loss.duration_ns = news.lost_to_ns - news.lost_from_ns;
		vtr_mailbox_post(f->o.mail, &mail);
		tell(f, VPT_METADATA_CUPTI_TAKEN, VTR_WATCH_TAKEN);
	}
	if (news.taken_back)
		f->ours_ns = news.lost_to_ns;
	if (news.begun && f->o.taken)
		f->o.taken(1);
	if (news.over && f->o.taken)
		f->o.taken(0);
}

static void watch(struct vtr_flusher *f, struct vtr_cupti *cupti)
{
	const char *why = vtr_cupti_failure(cupti);

	if (!why || f->reported_failure)
		return;
	f->reported_failure = 1;
	tell(f, VPT_METADATA_CUPTI_FAILURE, why);
	if (f->o.failed)
		f->o.failed(why);
}

/* Reports what a flush at `flushed_ns` brought. CUPTI keeps a buffer that has a record without an
 * end, so the records of work that was launched after it got that buffer may be missing. A thread
 * may also have launched work without having got a buffer for it yet. */
static void tell_flushed(struct vtr_flusher *f, int has_cupti, uint64_t flushed_ns)
{
	struct vtr_mail mail = {.type = VTR_MAIL_FLUSHED, .clock.trace_ns = flushed_ns};
	struct vtr_pool_state state;

	if (has_cupti) {
		vtr_pool_state(f->o.pool, &state);
		if (state.outstanding && state.oldest_ns < mail.clock.trace_ns)
			mail.clock.trace_ns = state.oldest_ns;
		mail.clock.trace_ns -= LAUNCH_NS;
	}
	vtr_mailbox_post(f->o.mail, &mail);
}

/* Libraries may come at any time. */
static void look_for_nccl(struct vtr_flusher *f)
{
	uint64_t loaded = f->nccl_is_known ? f->loaded : vtr_loaded_count();
	char text[32];

	if (loaded == f->loaded)
		return;
	f->loaded = loaded;
	f->nccl_is_known = vtr_nccl_version(text, sizeof(text));
	if (f->nccl_is_known)
		tell(f, VPT_METADATA_NCCL, text);
}

/* A flush at the end of an interval, or the first of one that was asked for. */
static void flush(struct vtr_flusher *f, struct vtr_cupti *cupti)
{
	uint64_t flushed_ns = vtr_now();

	look_for_nccl(f);
	if (cupti)
		look_at_cupti(f, cupti);
	tell_flushed(f, cupti != NULL, flushed_ns);
	if (cupti) {
		count_drops(f, cupti);
		watch(f, cupti);
	}
}

/* Another try of a flush that was asked for; a look would take a buffer each time. */
static void flush_again(struct vtr_flusher *f, struct vtr_cupti *cupti)
{
	uint64_t flushed_ns = vtr_now();

	vtr_cupti_flush(cupti, 0);
	tell_flushed(f, 1, flushed_ns);
}

/* When the thread has something to do next. */
static uint64_t wake_ns(const struct vtr_flusher *f, uint64_t look_ns, uint64_t next_ns)
{
	uint64_t wake = look_ns < next_ns ? look_ns : next_ns, reading;

	if (f->wait_ns && vtr_clock_ns(CLOCK_MONOTONIC) + f->wait_ns < wake)
		wake = vtr_clock_ns(CLOCK_MONOTONIC) + f->wait_ns;
	if (!atomic_load(&f->is_far))
		return wake;
	reading = vtr_clock_ns(CLOCK_MONOTONIC) + READING_NS;
	return reading < wake ? reading : wake;
}

/* Whether all buffers that CUPTI had at `since_ns` have come back. */
static int is_back(struct vtr_flusher *f, uint64_t since_ns)
{
	struct vtr_pool_state state;

	vtr_pool_state(f->o.pool, &state);
	return !state.outstanding || state.oldest_ns > since_ns;
}

/* Whether there is no more to wait for until `until_ns`. What another client has taken does not come
 * back. */
static int is_over(struct vtr_cupti *cupti, uint64_t until_ns)
{
	return vtr_clock_ns(CLOCK_MONOTONIC) >= until_ns || vtr_cupti_is_taken(cupti, 0) ||
	       vtr_cupti_failure(cupti);
}

static uint64_t longer(uint64_t wait_ns)
{
	return wait_ns * 2 < DRAIN_MOST_NS ? wait_ns * 2 : DRAIN_MOST_NS;
}

static void drain(struct vtr_flusher *f, struct vtr_cupti *cupti)
{
	uint64_t wait_ns = DRAIN_FIRST_NS;

	for (;;) {
		vtr_cupti_flush(cupti, 0); /* a look would take a buffer each time */
		read_clocks(f, cupti);
		atomic_store(&f->came_back, is_back(f, f->drain_since_ns));
		if (atomic_load(&f->came_back) || is_over(cupti, f->drain_until_ns) ||
			vtr_gate_wait(&f->stop, vtr_clock_ns(CLOCK_MONOTONIC) + wait_ns))
			return;
		wait_ns = longer(wait_ns);
	}
}

/* Flushes at the end of an interval (`is_due`), and if it was asked for until what CUPTI had then has
 * come back. */
static void keep_flushed(struct vtr_flusher *f, struct vtr_cupti *cupti, int is_due)
{
	unsigned wanted = atomic_load(&f->wanted);
	int is_asked = wanted != atomic_load(&f->flushed);

	if (is_due || (is_asked && !f->wait_ns))
		flush(f, cupti);
	else if (is_asked)
		flush_again(f, cupti);
	read_clocks(f, cupti);
	if (!is_asked)
		return;
	if (!cupti || is_back(f, f->asked_ns) || is_over(cupti, f->asked_until_ns)) {
		f->wait_ns = 0;
		atomic_store(&f->flushed, wanted);
	} else {
		f->wait_ns = f->wait_ns ? longer(f->wait_ns) : DRAIN_FIRST_NS;
	}
}

static void *run(void *arg)
{
	struct vtr_flusher *f = arg;
	uint64_t now = vtr_clock_ns(CLOCK_MONOTONIC), next = now + f->o.interval_ns;
	uint64_t look = f->o.interval_ns < LOOK_NS ? next : now + LOOK_NS;
	struct vtr_cupti *cupti;
	int alone = 0;

	pthread_setname_np(pthread_self(), "vptrace-flush");
	look_for_nccl(f);
	while (!vtr_gate_wait(&f->wake, wake_ns(f, look, next))) {
		now = vtr_clock_ns(CLOCK_MONOTONIC);
		cupti = atomic_load(&f->cupti);
		if (now >= look && !alone && vtr_alone(own_threads())) {
			alone = 1;
			vtr_alone_exit();
		}
		if (now >= look) {
			vtr_stack_sampler_look(atomic_load(&f->stacks));
			look = now + LOOK_NS;
		}
		keep_flushed(f, cupti, now >= next);
		if (now >= next)
			next = now + f->o.interval_ns;
	}
	cupti = atomic_load(&f->cupti);
	if (cupti && f->drain_until_ns)
		drain(f, cupti);
	atomic_store(&f->flushed, atomic_load(&f->wanted)); /* nobody waits for the end */
	vtr_gate_open(&f->drained);
	vtr_gate_wait(&f->stop, UINT64_MAX / 2);
	look_for_nccl(f);
	if (cupti) {
		read_clocks(f, cupti);
		look_at_cupti(f, cupti);
		vtr_cupti_stop(cupti);
		count_drops(f, cupti);
		watch(f, cupti);
	}
	vtr_gate_open(&f->ended);
	return NULL;
}

int vtr_flusher_start(
	const struct vtr_flusher_options *o, struct vtr_flusher **out, struct vpt_err *err)
{
	struct vtr_flusher *f = vpt_calloc(1, sizeof(*f));
	int rc;

	*out = NULL;
	if (!f)
		return vpt_fail(err, VPT_ENOMEM, "no memory for the flusher");
	f->o = *o;
	f->polled_ns = f->first_ns = f->ours_ns = vtr_now();
	vtr_gate_init(&f->wake);
	vtr_gate_init(&f->drained);
	vtr_gate_init(&f->stop);
	vtr_gate_init(&f->ended);
	rc = vtr_own_thread(&f->thread, run, f);
	if (rc) {
		vtr_flusher_free(f);
		return vpt_fail(err, VPT_ENOMEM, "no thread for the flusher: %s", strerror(rc));
	}
	*out = f;
	return VPT_OK;
}

void vtr_flusher_attach(struct vtr_flusher *f, struct vtr_cupti *cupti)
{
	/* The thread has no CUPTI yet: of what this changes it reads only `is_far`. */
	read_clocks(f, cupti);
	atomic_store(&f->cupti, cupti);
}

void vtr_flusher_attach_stacks(struct vtr_flusher *f, struct vtr_stack_sampler *s)
{
	atomic_store(&f->stacks, s);
}

uint64_t vtr_flusher_flush(struct vtr_flusher *f, uint64_t deadline_ns)
{
	const struct timespec moment = {0, 1000000};
	struct vtr_pool_state state;
	unsigned wanted;

	f->asked_ns = vtr_now();
	f->asked_until_ns = deadline_ns;
	wanted = atomic_fetch_add(&f->wanted, 1) + 1;
	vtr_gate_nudge(&f->wake);
	while ((int)(atomic_load(&f->flushed) - wanted) < 0) {
		if (vtr_clock_ns(CLOCK_MONOTONIC) >= deadline_ns + DRAIN_MOST_NS)
			break;
		nanosleep(&moment, NULL);
	}
	vtr_pool_state(f->o.pool, &state);
	return state.outstanding && state.oldest_ns <= f->asked_ns ? state.oldest_ns : 0;
}

int vtr_flusher_drain(struct vtr_flusher *f, uint64_t until_ns, uint64_t deadline_ns)
{
	f->drain_since_ns = vtr_now();
	f->drain_until_ns = until_ns;
	vtr_gate_open(&f->wake);
	return vtr_gate_wait(&f->drained, deadline_ns) && atomic_load(&f->came_back) ? 0 : -1;
}

int vtr_flusher_finish(struct vtr_flusher *f, uint64_t deadline_ns)
{
	vtr_gate_open(&f->stop);
	vtr_gate_open(&f->wake);
	if (!vtr_gate_wait(&f->ended, deadline_ns))
		return -1;
	pthread_join(f->thread, NULL);
	return 0;
}

int vtr_flusher_unread(struct vtr_flusher *f, uint64_t *from_ns)
{
	struct vtr_cupti *cupti = atomic_load(&f->cupti);
	struct vtr_cupti_signs signs;

	*from_ns = f->ours_ns;
	if (!cupti)
		return 0;
	vtr_cupti_signs(cupti, &signs);
	if (signs.foreign_bytes != f->foreign_bytes)
		*from_ns = foreign_from(f, cupti, f->ours_ns);
	return signs.foreign_bytes != f->foreign_bytes || signs.unread_bytes != f->unread_bytes;
}

void vtr_flusher_free(struct vtr_flusher *f)
{
	if (!f)
		return;
	vtr_gate_free(&f->wake);
	vtr_gate_free(&f->drained);
	vtr_gate_free(&f->stop);
	vtr_gate_free(&f->ended);
	vpt_free(f);
}
