/* writer_thread.c - the writer's thread.
 *
 * One round: mail, rings, every full buffer, drops, and the chunk if it is due. The parts of a round share the writer's state,
 * which no other file sees, so this one is long. */
#include "tracer/capture/writer_thread.h"

#include "formats/base/memory.h"
#include "tracer/clock/capture_clock.h"
#include "tracer/guest/own_thread.h"
#include "tracer/handover/gate.h"
#include "tracer/ranges/app_threads.h"
#include "tracer/ranges/words/range_strings.h"
#include "tracer/ranges/thread_names.h"
#include "tracer/window/recording_window.h"
#include "tracer/write/writer_sources.h"
#include "tracer/files/disk.h"
#include "tracer/files/run_list.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
	/* How long records wait; also decides how many rings a thread faster than the writer
	 * needs. */
	ROUND_MS = 5,
	ROUND_QUIET_MS = 10, /* after QUIET rounds without anything new */
	QUIET = 100,
	ROUND_CROWDED_MS = 1,
	CROWD = 512, /* events of one round */
	POINTS_MAX = 16,
	BUFFERS_A_ROUND = 16,
	CUT_ROUNDS = 200, /* after which a chunk is cut even if more is always there */
	IDLE_CHUNKS =
		10 /* flush intervals after which a chunk is written even if nothing happened */
};

struct thread_drops {
	uint32_t tid;
	uint64_t counted; /* of this capture, in the recorder already */
};

struct vtr_writer {
	struct vtr_writer_options o;
	struct vtr_recorder *recorder;
	_Atomic(struct vtr_cupti *) cupti;
	_Atomic(struct vtr_stack_samples *) stacks; /* NULL: none */
	struct vtr_stack_rows stack_rows;
	struct vtr_counter_rows counter_rows;
	atomic_int finish;
	int keeps_tsc;     /* its thread does */
	uint64_t stop_ns;  /* written before `finish` */
	atomic_int broken; /* `why` has the reason */
	char why[512];

	pthread_mutex_t lock; /* guards the numbers */
	struct vtr_writer_numbers numbers;
	uint64_t cupti_dropped, unfinished;
	uint64_t unmatched; /* pushes, as the file has it */

	pthread_t thread;
	struct vtr_gate ended;
	int described; /* CUPTI's facts are in the capture */
	struct vtr_cupti_clock cupti_clock;
	struct vtr_full full;     /* taken from the pool, not decoded yet, if has_full */
	int has_full, is_foreign; /* is_foreign: its times come from another clock */
	int wrote_converted, wrote_foreign;
	struct vpt_clock points[POINTS_MAX]; /* of the open chunk */
	size_t point_count;
	uint64_t names_refused; /* in this process when the capture began */
	uint64_t chunk_end_ns;  /* CLOCK_MONOTONIC at the end of the last chunk */
	uint64_t drops_from_ns; /* trace clock: drops were last read then */
	struct thread_drops *drops;
	size_t drop_count, drop_cap;
	struct vtr_edge edge;
	struct vtr_limits limits;
	const char *over; /* why the capture ends by itself; NULL: it does not */
	size_t drained;   /* events of this round */
	int is_behind;    /* the rings hold more than one round takes */
	unsigned quiet;   /* rounds since anything arrived */
	int last;         /* the chunk being ended is the last */
	atomic_uint cut_wanted, cut_done;
	unsigned cut_rounds;  /* since it was wanted */
	uint64_t flushed_ns;  /* trace clock: work that had ended by then has arrived */
	uint64_t complete_ns; /* and has become rows */
};

/* ---- the end of a chunk ---- */

static void take_thread_name(void *ctx, uint32_t tid, uint32_t name)
{
	struct vtr_writer *w = ctx;

	vtr_recorder_name_lane(vtr_recorder_thread(w->recorder, tid), name);
}

static void closing(void *ctx)
{
	struct vtr_writer *w = ctx;
	size_t i;

	if (!w->last)
		vtr_edge_close(&w->edge);
	for (i = 0; i < w->point_count; i++)
		vpt_batch_put(vtr_recorder_batch(w->recorder), VPT_CLOCK, 0, &w->points[i]);
	w->point_count = 0;
	vtr_thread_names(take_thread_name, w);
	w->chunk_end_ns = vtr_clock_ns(CLOCK_MONOTONIC);
	vtr_recorder_edges(w->recorder, w->last ? w->stop_ns : w->edge.done_ns,
		atomic_load(&w->cupti) ? w->complete_ns : w->edge.done_ns);
}

static void changed(void *ctx)
{
	struct vtr_writer *w = ctx;

	vtr_limits_follow(&w->limits);
}

/* ---- drops ---- */

static void take_drops(void *ctx, uint32_t tid, uint64_t dropped)
{
	struct vtr_writer *w = ctx;
	struct vtr_lane *lane = vtr_recorder_thread(w->recorder, tid);
	uint64_t fresh;
	size_t i;

	for (i = 0; i < w->drop_count && w->drops[i].tid != tid; i++)
		;
	if (i == w->drop_count) {
		if (i == w->drop_cap)
			return;
		w->drops[w->drop_count++] = (struct thread_drops){.tid = tid};
	}
	fresh = dropped - w->drops[i].counted;
	if (!fresh)
		return;
	w->drops[i].counted = dropped;
	vtr_recorder_drop(w->recorder, lane, fresh);
	vtr_recorder_loss(
		w->recorder, lane, VPT_LOSSKIND_RING_FULL, w->drops_from_ns, vtr_now(), fresh);
}

static void count_unmatched(struct vtr_writer *w)
{
	uint64_t count = vtr_threads_unmatched();
	char text[32];

	if (count == w->unmatched)
		return;
	w->unmatched = count;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)count);
	vtr_recorder_fact(w->recorder, VPT_METADATA_RANGES_UNMATCHED, text);
}

static void count_drops(struct vtr_writer *w)
{
	vtr_threads_dropped(take_drops, w);
	w->drops_from_ns = vtr_now();
	count_unmatched(w);
}

/* ---- mail ---- */

static void keep_point(struct vtr_writer *w, const struct vpt_clock *point)
{
	/* While nothing happens no chunk is written: of many points keep the first ones and the
	 * newest. */
	if (w->point_count == POINTS_MAX)
		w->point_count--;
	w->points[w->point_count++] = *point;
}

/* Samples wait for the first record, which may arrive long after them. */
static void put_samples(struct vtr_writer *w)
{
	struct vtr_stack_samples *stacks = atomic_load(&w->stacks);

	vtr_counter_rows_flush(&w->counter_rows, w->recorder);
	if (stacks && !vtr_recorder_is_empty(w->recorder))
		vtr_stack_rows_put(&w->stack_rows, stacks, w->recorder);
}

static void read_mail(struct vtr_writer *w)
{
	struct vtr_mail *m;

	while ((m = vtr_mailbox_take(w->o.mail))) {
		switch (m->type) {
		case VTR_MAIL_META:
			vtr_recorder_meta(w->recorder, m->key, m->value);
			break;
		case VTR_MAIL_CLOCK:
			keep_point(w, &m->clock);
			vtr_cupti_clock_reading(&w->cupti_clock, m->cupti_time, &m->clock);
			break;
		case VTR_MAIL_FLUSHED:
			w->flushed_ns = m->clock.trace_ns;
			break;
		case VTR_MAIL_LOSS:
			w->cupti_dropped += m->loss.count;
			vtr_recorder_loss(w->recorder, NULL, (uint32_t)m->loss.loss_kind,
				m->loss.start_ns, m->loss.start_ns + m->loss.duration_ns,
				m->loss.count);
			break;
		case VTR_MAIL_SAMPLE:
			vtr_counter_rows_put(&w->counter_rows, &m->sample, w->recorder);
			break;
		}
		vtr_mail_free(m);
	}
}

/* ---- rounds ---- */

/* Whether a buffer's times can be converted. Times of another clock wait for its next reading,
 * which is later than any record, and for one more if that is the first; at the end they are
 * converted as well as possible. */
static int next_buffer(struct vtr_writer *w, const struct vtr_cupti *cupti, int is_end)
{
	if (!w->has_full) {
		w->has_full = vtr_pool_next(w->o.pool, &w->full);
		w->is_foreign =
			w->has_full && !w->full.stale && vtr_cupti_is_foreign(cupti, &w->full);
	}
	if (!w->has_full)
		return 0;
	return !w->is_foreign || vtr_cupti_clock_reaches(&w->cupti_clock, w->full.given_ns) ||
	       is_end;
}

/* Reports in the capture that CUPTI's clock was another one, and what happened to its times. */
static void tell_clock(struct vtr_writer *w)
{
	char text[32];

	/* The last report counts: once times were left as they came, it stays with that. */
	if (w->cupti_clock.converted && !w->wrote_converted && !w->wrote_foreign) {
		w->wrote_converted = 1;
		vtr_recorder_fact(w->recorder, VPT_METADATA_CLOCK_CUPTI, VPT_CLOCK_CONVERTED);
	}
	if (w->is_foreign && !vtr_cupti_clock_is_known(&w->cupti_clock) && !w->wrote_foreign) {
		w->wrote_foreign = 1;
		vtr_recorder_fact(w->recorder, VPT_METADATA_CLOCK_CUPTI, VPT_CLOCK_FOREIGN);
	}
	if (w->last && w->wrote_converted) {
		snprintf(text, sizeof(text), "%llu", (unsigned long long)w->cupti_clock.error_ns);
		vtr_recorder_fact(w->recorder, VPT_METADATA_CLOCK_CUPTI_ERROR, text);
	}
}

static void drain_rings(struct vtr_writer *w)
{
	size_t count;

	w->is_behind = !vtr_edge_drain(&w->edge, vtr_now(), &count);
	w->drained += count;
}

/* Every range that ended by now becomes a row: calls of a buffer are put after the ranges around
 * them, or while these are open. */
static void drain_until_now(struct vtr_writer *w)
{
	uint64_t now_ns = vtr_now();
	size_t count;

	do {
		w->is_behind = !vtr_edge_drain(&w->edge, now_ns, &count);
		w->drained += count;
	} while (w->is_behind);
}

/* Returns whether there may be more. `is_end`: no more mail or readings of the clock will come. */
static int read_buffers(struct vtr_writer *w, int is_end)
{
	struct vtr_cupti *cupti = atomic_load(&w->cupti);
	int i, more = 0;

	if (!cupti)
		return 0; /* early buffers wait in the pool */
	if (!w->described) {
		vtr_cupti_describe(cupti, w->recorder);
		w->described = 1;
	}
	/* A round is bounded even if the host is faster than we are: mail, numbers and chunks are
	 * due too. */
	for (i = 0; i < BUFFERS_A_ROUND && (more = next_buffer(w, cupti, is_end)); i++) {
		drain_until_now(w);
		vtr_cupti_decode(cupti, &w->cupti_clock, &w->full, w->recorder);
		vtr_pool_recycle(w->o.pool, &w->full);
		w->has_full = 0;
		tell_clock(w);
		vtr_pool_grow(w->o.pool);
		/* A reader waits one chunk for samples. The first round may write several, while the
		 * samples still wait for the first record. */
		put_samples(w);
	}
	vtr_pool_grow(w->o.pool);
	vtr_cupti_settle(cupti, w->recorder, !more && is_end);
	return more;
}

/* Whether the file is there and was not before. With the lock, or before the thread begins: it alone
 * may ask the disk. */
static int learn_path(struct vtr_writer *w)
{
	if (w->numbers.path[0] || w->o.flight)
		return 0;
	strncpy(w->numbers.path, vtr_disk_path(w->o.sink), sizeof(w->numbers.path) - 1);
	return w->numbers.path[0] != 0;
}

static void publish(struct vtr_writer *w)
{
	struct vtr_cupti *cupti = atomic_load(&w->cupti);
	const char *why = vtr_recorder_failure(w->recorder);

	pthread_mutex_lock(&w->lock);
	if (learn_path(w))
		vtr_run_list_file(w->numbers.path);
	vtr_recorder_totals(w->recorder, &w->numbers.rows);
	w->numbers.cupti_dropped = w->cupti_dropped;
	w->numbers.unfinished = w->unfinished;
	w->numbers.samples = w->counter_rows.written;
	if (cupti)
		vtr_cupti_decoded(cupti, &w->numbers.cupti);
	pthread_mutex_unlock(&w->lock);
	if (why && !atomic_load(&w->broken)) {
		strncpy(w->why, why, sizeof(w->why) - 1);
		atomic_store(&w->broken, 1);
		if (w->o.failed)
			w->o.failed(w->why);
	}
}

static int chunk_is_due(const struct vtr_writer *w)
{
	uint64_t now = vtr_clock_ns(CLOCK_MONOTONIC), since = vtr_recorder_since(w->recorder);

	return since && now - since >= w->o.flush_interval_ns;
}

/* A killed process should not seem to have ended with its last event. */
static int life_sign_is_due(const struct vtr_writer *w)
{
	return w->point_count && w->chunk_end_ns && !vtr_recorder_since(w->recorder) &&
	       vtr_clock_ns(CLOCK_MONOTONIC) - w->chunk_end_ns >=
		       IDLE_CHUNKS * w->o.flush_interval_ns;
}

/* Notices once that nothing more will be recorded. */
static void follow_window(struct vtr_writer *w)
{
	uint64_t now = vtr_now();

	vtr_limits_follow(&w->limits);
	vtr_recorder_now(w->recorder, now);
	if (w->over)
		return;
	w->over = vtr_limits_over(&w->limits, now);
	if (!w->over)
		return;
	vtr_recorder_fact(w->recorder, VPT_METADATA_CAPTURE_ENDED, w->over);
	if (w->o.over && !atomic_load(&w->finish))
		w->o.over();
}

/* Ends the chunk for a snapshot. `wanted` was read before the round. */
static void cut(struct vtr_writer *w, unsigned wanted, int more)
{
	if (wanted == atomic_load(&w->cut_done))
		return;
	if ((more || w->is_behind) && ++w->cut_rounds < CUT_ROUNDS)
		return;
	w->cut_rounds = 0;
	count_drops(w);
	vtr_recorder_flush(w->recorder, VTR_FLUSH_ALWAYS);
	atomic_store(&w->cut_done, wanted);
}

static int one_round(struct vtr_writer *w)
{
	/* Read these before the mail: the flusher then posts nothing more. */
	int is_end = atomic_load(&w->finish), more;
	unsigned wanted = atomic_load(&w->cut_wanted);

	read_mail(w);
	put_samples(w);
	follow_window(w);
	drain_rings(w);
	if (w->o.seen)
		w->o.seen(w->o.seen_ctx, NULL);
	vtr_recorder_room(w->recorder);
	more = read_buffers(w, is_end);
	if (!more)
		w->complete_ns = w->flushed_ns;
	cut(w, wanted, more);
	if (chunk_is_due(w) || life_sign_is_due(w)) {
		count_drops(w);
		vtr_recorder_flush(w->recorder, VTR_FLUSH_ALWAYS);
	}
	publish(w);
	return more || w->is_behind;
}

/* The last round: everything left, and ranges that never ended. */
static void finish(struct vtr_writer *w)
{
	struct vtr_cupti *cupti = atomic_load(&w->cupti);
	uint64_t refused;
	char missed[32];

	while (one_round(w))
		;
	if (cupti)
		w->unfinished = vtr_cupti_unfinished(cupti, w->recorder, w->stop_ns);
	vtr_edge_end_open(&w->edge, w->stop_ns);
	put_samples(w);
	count_drops(w);
	refused = vtr_names_refused() - w->names_refused;
	if (refused)
		vtr_recorder_loss(
			w->recorder, NULL, VPT_LOSSKIND_CAP, w->stop_ns, w->stop_ns, refused);
	vtr_recorder_end_pauses(w->recorder, w->stop_ns);
	if (vtr_window_missed()) {
		snprintf(missed, sizeof(missed), "%llu", (unsigned long long)vtr_window_missed());
		vtr_recorder_fact(w->recorder, VPT_METADATA_WINDOWS_MISSED, missed);
	}
	w->last = 1;
	tell_clock(w);
	vtr_recorder_flush(w->recorder, VTR_FLUSH_LAST);
	publish(w);
}

/* How long to wait for work, in ms. */
static unsigned patience(const struct vtr_writer *w)
{
	if (w->is_behind)
		return 0;
	if (w->drained >= CROWD)
		return ROUND_CROWDED_MS;
	return w->quiet < QUIET ? ROUND_MS : ROUND_QUIET_MS;
}

static void *run(void *arg)
{
	struct vtr_writer *w = arg;

	pthread_setname_np(pthread_self(), "vptrace-writer");
	while (!atomic_load(&w->finish)) {
		vtr_pool_wait(w->o.pool, patience(w));
		if (w->keeps_tsc)
			vtr_tsc_keep();
		w->drained = 0;
		w->quiet++;
		if (one_round(w) || w->drained)
			w->quiet = 0;
	}
	finish(w);
	if (w->keeps_tsc)
		vtr_tsc_end();
	vtr_gate_open(&w->ended);
	return NULL;
}

/* ---- for the session ---- */

int vtr_writer_start(
	const struct vtr_writer_options *o, struct vtr_writer **out, struct vpt_err *err)
{
	struct vtr_writer *w = vpt_calloc(1, sizeof(*w));
	struct vtr_recorder_options ro = {.sink = o->sink,
		.header = o->header,
		.level = o->level,
		.always = o->always,
		.max_bytes = o->max_bytes,
		.flight = o->flight,
		.chunk_bytes = o->chunk_bytes,
		.closing = closing,
		.changed = changed,
		.changes = &vtr_window_changes,
		.closing_ctx = w};
	int has_file, rc;

	*out = NULL;
	if (!w)
		return vpt_fail(err, VPT_ENOMEM, "no memory for the writer");
	w->o = *o;
	w->drops_from_ns = o->start_ns;
	w->names_refused = vtr_names_refused();
	pthread_mutex_init(&w->lock, NULL);
	vtr_gate_init(&w->ended);
	/* Now, since drops for lack of memory must be counted: these threads and id 0. */
	if (vpt_grow(&w->drops, &w->drop_cap, VTR_LOSERS_MAX + 1, sizeof(*w->drops))) {
		rc = vpt_fail(err, VPT_ENOMEM, "no memory for the writer");
		goto out;
	}
	rc = vtr_recorder_new(&ro, &w->recorder, err);
	if (rc)
		goto out;
	w->edge.recorder = w->recorder;
	w->edge.done_ns = w->edge.cut_ns = o->header.t0_ns;
	w->edge.seen = o->seen;
	w->edge.seen_ctx = o->seen_ctx;
	w->limits = (struct vtr_limits){.recorder = w->recorder, .duration_ns = o->duration_ns};
	vtr_limits_begin(&w->limits, o->start_ns);
	w->keeps_tsc = vtr_tsc_begin();
	/* Whoever has begun the capture may ask for it at once. */
	has_file = learn_path(w);
	rc = vtr_own_thread(&w->thread, run, w);
	if (rc) {
		rc = vpt_fail(err, VPT_ENOMEM, "no thread for the writer: %s", strerror(rc));
		vtr_recorder_disown(w->recorder);
		if (w->keeps_tsc)
			vtr_tsc_end();
		goto out;
	}
	if (has_file)
		vtr_run_list_file(w->numbers.path);
	*out = w;
	w = NULL;
out:
	vtr_writer_free(w);
	return rc;
}

void vtr_writer_attach(struct vtr_writer *w, struct vtr_cupti *cupti)
{
	atomic_store(&w->cupti, cupti);
}

void vtr_writer_attach_stacks(struct vtr_writer *w, struct vtr_stack_samples *stacks)
{
	atomic_store(&w->stacks, stacks);
}

int vtr_writer_cut(struct vtr_writer *w, uint64_t deadline_ns)
{
	const struct timespec moment = {0, 1000000};
	unsigned wanted = atomic_fetch_add(&w->cut_wanted, 1) + 1;

	vtr_pool_wake(w->o.pool);
	while ((int)(atomic_load(&w->cut_done) - wanted) < 0) {
		/* Its end makes the chunk too. */
		if (atomic_load(&w->finish))
			return vtr_gate_wait(&w->ended, deadline_ns) ? 0 : -1;
		if (vtr_clock_ns(CLOCK_MONOTONIC) >= deadline_ns)
			return -1;
		nanosleep(&moment, NULL);
	}
	return 0;
}

int vtr_writer_finish(struct vtr_writer *w, uint64_t stop_ns, uint64_t deadline_ns)
{
	if (!atomic_load(&w->finish))
		w->stop_ns = stop_ns;
	atomic_store(&w->finish, 1);
	vtr_pool_wake(w->o.pool);
	if (!vtr_gate_wait(&w->ended, deadline_ns))
		return -1;
	pthread_join(w->thread, NULL);
	return 0;
}

void vtr_writer_give_up(struct vtr_writer *w, unsigned waited_ms)
{
	if (!w->o.flight)
		vtr_disk_give_up(w->o.sink, waited_ms);
}

void vtr_writer_numbers(struct vtr_writer *w, struct vtr_writer_numbers *out)
{
	pthread_mutex_lock(&w->lock);
	*out = w->numbers;
	pthread_mutex_unlock(&w->lock);
}

const char *vtr_writer_failure(struct vtr_writer *w)
{
	return atomic_load(&w->broken) ? w->why : NULL;
}

void vtr_writer_abandon(struct vtr_writer *w)
{
	if (!w->o.flight)
		vtr_disk_abandon(w->o.sink);
}

void vtr_writer_free(struct vtr_writer *w)
{
	if (!w)
		return;
	vtr_recorder_free(w->recorder);
	vtr_stack_rows_free(&w->stack_rows);
	vtr_counter_rows_free(&w->counter_rows);
	vpt_free(w->drops);
	vtr_edge_free(&w->edge);
	vtr_gate_free(&w->ended);
	pthread_mutex_destroy(&w->lock);
	vpt_free(w);
}
