/* writer.c - the writer's thread.
 *
 * One round: mail, rings, every full buffer, drops, and the chunk if it is due. The end of a chunk
 * takes care that each range open around a call in the chunk stands in the chunk too. The stacks
 * are copied first and the rings drained second:
 *
 *	copy of the stacks    drain of the rings       in the chunk
 *	open                  not there                OPEN: it is open still
 *	open                  there: it just ended     RANGE, and no OPEN
 *	not there             there                    RANGE
 *
 * The other way round, a range that ended in between would be in neither. What ended after the
 * stacks were copied is held over to the next chunk, since a range around it may have begun after
 * them too and stand in neither. */
#include "tracer/writer.h"

#include "formats/memory.h"
#include "tracer/capture_file.h"
#include "tracer/clock.h"
#include "tracer/gate.h"
#include "tracer/names.h"
#include "tracer/note.h"
#include "tracer/threads.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

enum {
	/* A ring of 256 KiB holds some 6,500 ranges: at most 1.3 million a second and thread are kept while it is quiet, five
	 * times as many once the writer has seen a crowd. */
	ROUND_MS = 5,
	ROUND_QUIET_MS = 10, /* after QUIET rounds in which nothing came */
	QUIET = 100,
	ROUND_CROWDED_MS = 1,
	CROWD = 512, /* events of one round */
	POINTS_MAX = 16,
	BUFFERS_A_ROUND = 16,
	IDLE_CHUNKS =
		10 /* flush intervals after which a chunk is written though nothing happened */
};

/* A range that was open when the end of a chunk began to be prepared. */
struct open_range {
	struct vtr_event event;
	unsigned char blob[VTR_BLOB_MAX];
	int ended; /* it came out of a ring after all */
};

struct thread_drops {
	uint32_t tid;
	uint64_t counted; /* of this capture, in the recorder already */
};

struct vtr_writer {
	struct vtr_writer_options o;
	struct vtr_recorder *recorder;
	_Atomic(struct vtr_cupti *) cupti;
	atomic_int finish;
	int keeps_tsc;     /* its thread does */
	uint64_t stop_ns;  /* written before `finish` */
	atomic_int broken; /* the reason stands in `why` */
	char why[512];

	pthread_mutex_t lock; /* guards the numbers */
	struct vtr_writer_numbers numbers;
	uint64_t cupti_dropped;

	pthread_t thread;
	struct vtr_gate ended;
	int described;                       /* CUPTI's facts are in the capture */
	struct vpt_clock points[POINTS_MAX]; /* of the open chunk */
	size_t point_count;
	uint64_t names_refused; /* in this process when the capture began */
	uint64_t chunk_end_ns;  /* CLOCK_MONOTONIC at the end of the last chunk */
	uint64_t drops_from_ns; /* trace clock: rings were asked for drops then */
	struct thread_drops *drops;
	size_t drop_count, drop_cap;
	struct open_range *open;
	size_t open_count, open_cap;
	uint64_t cut_ns; /* when the stacks were copied; ranges that ended later wait in `held` */
	struct open_range *held;
	size_t held_count, held_cap;
	size_t drained; /* events of this round */
	unsigned quiet; /* rounds since anything came */
	int draining, closing, last;
};

/* ---- events of the host's threads ---- */

struct payload {
	uint64_t type, value, schema;
};

static struct payload take_payload(struct vtr_writer *w, const struct vtr_payload *p)
{
	struct payload out = {.type = p->type, .value = p->value};
	char text[VTR_NOTE_TEXT_MAX];
	struct vptrace_note note;
	size_t len;

	if (p->type != VPT_PAYLOAD_BLOB && p->type != VPT_PAYLOAD_JSON)
		return out;
	if (p->type == VPT_PAYLOAD_BLOB && p->schema == VTR_SCHEMA_NOTE &&
		p->bytes >= sizeof(note)) {
		memcpy(&note, p->blob, sizeof(note));
		len = vtr_note_text(&note, text);
		out.type = len ? VPT_PAYLOAD_JSON : VPT_PAYLOAD_NONE;
		out.value = vpt_batch_string(vtr_recorder_batch(w->recorder), text, len);
		return out;
	}
	out.value = vpt_batch_string(vtr_recorder_batch(w->recorder), p->blob, p->bytes);
	out.schema = p->schema;
	return out;
}

static void put_range(struct vtr_writer *w, const struct vtr_event *e)
{
	struct vtr_lane *lane = vtr_recorder_thread(w->recorder, e->tid);
	struct payload payload = take_payload(w, &e->payload);
	struct vpt_range row = {.start_ns = e->start_ns,
		.duration_ns = e->end_ns - e->start_ns,
		.range_kind = e->range_kind,
		.name = vtr_recorder_name(w->recorder, e->name),
		.domain = vtr_recorder_name(w->recorder, e->domain),
		.category = e->category,
		.colour = e->colour,
		.payload = payload.type,
		.value = payload.value,
		.schema = payload.schema,
		.unmatched = e->unmatched};

	if (e->end_tid && e->end_tid != e->tid) {
		struct vtr_lane *end = vtr_recorder_thread(w->recorder, e->end_tid);

		vtr_recorder_refer(w->recorder, end);
		row.end_thread = end->key;
	}
	if (vtr_recorder_put(w->recorder, VPT_RANGE, lane, &row) && e->end_ns < e->start_ns)
		vtr_recorder_invalid(w->recorder, lane);
}

static void put_mark(struct vtr_writer *w, const struct vtr_event *e)
{
	struct payload payload = take_payload(w, &e->payload);
	struct vpt_mark row = {.time_ns = e->start_ns,
		.name = vtr_recorder_name(w->recorder, e->name),
		.domain = vtr_recorder_name(w->recorder, e->domain),
		.category = e->category,
		.colour = e->colour,
		.payload = payload.type,
		.value = payload.value,
		.schema = payload.schema};

	vtr_recorder_put(w->recorder, VPT_MARK, vtr_recorder_thread(w->recorder, e->tid), &row);
}

static void put_counter(struct vtr_writer *w, const struct vtr_event *e)
{
	struct vpt_counter row = {.time_ns = e->start_ns, .value = e->payload.value};

	vtr_recorder_put(w->recorder, VPT_COUNTER,
		vtr_recorder_series(w->recorder, e->name, e->domain), &row);
}

static void put_graph(struct vtr_writer *w, const struct vtr_event *e)
{
	struct vpt_graph row = {.time_ns = e->start_ns,
		.graph_op = e->graph_op,
		.graph = e->graph,
		.node = e->node,
		.origin = e->origin,
		.range = vtr_recorder_name(w->recorder, e->name)};

	vtr_recorder_put(w->recorder, VPT_GRAPH, vtr_recorder_thread(w->recorder, e->tid), &row);
}

static int same_range(const struct vtr_event *a, const struct vtr_event *b)
{
	return a->type == b->type && a->tid == b->tid && a->start_ns == b->start_ns &&
	       a->name == b->name && a->domain == b->domain && a->range_kind == b->range_kind;
}

static int copy_event(
	struct open_range **list, size_t *count, size_t *cap, const struct vtr_event *e)
{
	struct open_range *o;

	if (vpt_grow(list, cap, *count + 1, sizeof(**list)))
		return VPT_ENOMEM;
	o = &(*list)[(*count)++];
	o->event = *e;
	o->ended = 0;
	if (e->payload.blob) {
		o->event.payload.bytes =
			e->payload.bytes < VTR_BLOB_MAX ? e->payload.bytes : VTR_BLOB_MAX;
		memcpy(o->blob, e->payload.blob, o->event.payload.bytes);
	}
	return VPT_OK;
}

/* Its payload, which may have moved with the array. */
static struct vtr_event *open_event(struct open_range *o)
{
	if (o->event.payload.blob)
		o->event.payload.blob = o->blob;
	return &o->event;
}

static void take_open(void *ctx, const struct vtr_event *e)
{
	struct vtr_writer *w = ctx;

	copy_event(&w->open, &w->open_count, &w->open_cap, e);
}

static int hold(struct vtr_writer *w, const struct vtr_event *e)
{
	return copy_event(&w->held, &w->held_count, &w->held_cap, e);
}

static void put_event(struct vtr_writer *w, const struct vtr_event *e)
{
	switch (e->type) {
	case VTR_EVENT_RANGE:
		put_range(w, e);
		break;
	case VTR_EVENT_MARK:
		put_mark(w, e);
		break;
	case VTR_EVENT_COUNTER:
		put_counter(w, e);
		break;
	case VTR_EVENT_GRAPH:
		put_graph(w, e);
		break;
	}
}

static void take_event(void *ctx, const struct vtr_event *e)
{
	struct vtr_writer *w = ctx;
	uint64_t time_ns = e->type == VTR_EVENT_RANGE ? e->end_ns : e->start_ns;
	size_t i;

	vtr_recorder_bound(w->recorder);
	if (w->closing && time_ns > w->cut_ns && !hold(w, e))
		return;
	put_event(w, e);
	for (i = 0; w->closing && i < w->open_count; i++)
		w->open[i].ended |= same_range(&w->open[i].event, e);
}

/* What the end of the chunk before had to leave out. */
static void put_held(struct vtr_writer *w)
{
	size_t i;

	for (i = 0; i < w->held_count; i++)
		put_event(w, open_event(&w->held[i]));
	w->held_count = 0;
}

/* Rings are drained as a whole: a chunk that ended in between would drain them again, from
 * within. */
static void drain(struct vtr_writer *w)
{
	w->draining = 1;
	if (!w->closing)
		put_held(w);
	w->drained += vtr_threads_drain(take_event, w);
	w->draining = 0;
}

/* ---- the end of a chunk ---- */

static void put_open(struct vtr_writer *w, struct open_range *o)
{
	const struct vtr_event *e = open_event(o);
	struct vtr_lane *lane = vtr_recorder_thread(w->recorder, e->tid);
	struct payload payload = take_payload(w, &e->payload);
	struct vpt_open row = {.lane = lane->key,
		.start_ns = e->start_ns,
		.name = vtr_recorder_name(w->recorder, e->name),
		.domain = vtr_recorder_name(w->recorder, e->domain),
		.range_kind = e->range_kind,
		.payload = payload.type,
		.value = payload.value};

	vtr_recorder_refer(w->recorder, lane);
	vpt_batch_put(vtr_recorder_batch(w->recorder), VPT_OPEN, 0, &row);
}

static void take_thread_name(void *ctx, uint32_t tid, uint32_t name)
{
	struct vtr_writer *w = ctx;

	vtr_recorder_name_lane(vtr_recorder_thread(w->recorder, tid), name);
}

static int is_open(const struct vtr_writer *w, const struct vtr_event *e)
{
	size_t i;

	for (i = 0; i < w->open_count; i++)
		if (same_range(&w->open[i].event, e))
			return 1;
	return 0;
}

static void closing(void *ctx)
{
	struct vtr_writer *w = ctx;
	size_t i;

	w->open_count = 0;
	put_held(w);
	w->cut_ns = vtr_now();
	if (!w->last)
		vtr_threads_open(take_open, w);
	if (!w->last && !w->draining) {
		w->closing = 1;
		drain(w);
		w->closing = 0;
	}
	for (i = 0; i < w->open_count; i++)
		if (!w->open[i].ended && open_event(&w->open[i])->start_ns <= w->cut_ns)
			put_open(w, &w->open[i]);
	/* Open at the cut, but ended before its stack was copied. */
	for (i = 0; i < w->held_count; i++)
		if (w->held[i].event.type == VTR_EVENT_RANGE &&
			w->held[i].event.start_ns <= w->cut_ns && !is_open(w, &w->held[i].event))
			put_open(w, &w->held[i]);
	for (i = 0; i < w->point_count; i++)
		vpt_batch_put(vtr_recorder_batch(w->recorder), VPT_CLOCK, 0, &w->points[i]);
	w->point_count = 0;
	vtr_thread_names(take_thread_name, w);
	w->chunk_end_ns = vtr_clock_ns(CLOCK_MONOTONIC);
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
		if (vpt_grow(&w->drops, &w->drop_cap, i + 1, sizeof(*w->drops)))
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

static void count_drops(struct vtr_writer *w)
{
	vtr_threads_dropped(take_drops, w);
	w->drops_from_ns = vtr_now();
}

/* ---- mail ---- */

static void keep_point(struct vtr_writer *w, const struct vpt_clock *point)
{
	/* While nothing happens no chunk is written: of many points the first ones and the newest are kept. */
	if (w->point_count == POINTS_MAX)
		w->point_count--;
	w->points[w->point_count++] = *point;
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
			break;
		case VTR_MAIL_LOSS:
			w->cupti_dropped += m->loss.count;
			vtr_recorder_loss(w->recorder, NULL, (uint32_t)m->loss.loss_kind,
				m->loss.start_ns, m->loss.start_ns + m->loss.duration_ns,
				m->loss.count);
			break;
		case VTR_MAIL_PAUSE:
			vtr_recorder_pause(w->recorder, m->time_ns);
			break;
		case VTR_MAIL_RESUME:
			vtr_recorder_resume(w->recorder, m->time_ns);
			break;
		}
		vtr_mail_free(m);
	}
}

/* ---- rounds ---- */

/* Returns whether there may be more. */
static int read_buffers(struct vtr_writer *w)
{
	struct vtr_cupti *cupti = atomic_load(&w->cupti);
	struct vtr_full full;
	int i, more = 0;

	if (!cupti)
		return 0; /* what comes early waits in the pool */
	if (!w->described) {
		vtr_cupti_describe(cupti, w->recorder);
		w->described = 1;
	}
	/* A round ends even if the host is faster than we are: mail, numbers and chunks are due too. */
	for (i = 0; i < BUFFERS_A_ROUND && (more = vtr_pool_next(w->o.pool, &full)); i++) {
		vtr_cupti_decode(cupti, &full, w->recorder);
		vtr_pool_recycle(w->o.pool, &full);
		vtr_pool_grow(w->o.pool);
		drain(w);
	}
	vtr_pool_grow(w->o.pool);
	vtr_cupti_settle(cupti, w->recorder, !more && atomic_load(&w->finish));
	return more;
}

static void publish(struct vtr_writer *w)
{
	struct vtr_cupti *cupti = atomic_load(&w->cupti);
	const char *why = vtr_recorder_failure(w->recorder);

	pthread_mutex_lock(&w->lock);
	if (!w->numbers.path[0])
		strncpy(w->numbers.path, vtr_capture_file_path(w->o.sink),
			sizeof(w->numbers.path) - 1);
	vtr_recorder_totals(w->recorder, &w->numbers.rows);
	w->numbers.cupti_dropped = w->cupti_dropped;
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

static int one_round(struct vtr_writer *w)
{
	int more;

	read_mail(w);
	drain(w);
	vtr_recorder_room(w->recorder);
	more = read_buffers(w);
	if (chunk_is_due(w) || life_sign_is_due(w)) {
		count_drops(w);
		vtr_recorder_flush(w->recorder, VTR_FLUSH_ALWAYS);
	}
	publish(w);
	return more;
}

/* The last round: everything that is left, and ranges that never ended. */
static void finish(struct vtr_writer *w)
{
	struct open_range *open;
	size_t i, count;
	uint64_t refused;

	while (one_round(w))
		;
	w->open_count = 0;
	vtr_threads_open(take_open, w);
	/* Away from w: the end of a chunk in between makes another list there. */
	open = w->open;
	count = w->open_count;
	w->open = NULL;
	w->open_count = w->open_cap = 0;
	for (i = 0; i < count; i++) {
		struct vtr_event *e = open_event(&open[i]);

		if (!e->start_ns)
			continue;
		e->end_ns = w->stop_ns > e->start_ns ? w->stop_ns : e->start_ns;
		e->unmatched = 1;
		vtr_recorder_room(w->recorder);
		put_range(w, e);
	}
	vpt_free(open);
	count_drops(w);
	refused = vtr_names_refused() - w->names_refused;
	if (refused)
		vtr_recorder_loss(
			w->recorder, NULL, VPT_LOSSKIND_CAP, w->stop_ns, w->stop_ns, refused);
	vtr_recorder_resume(w->recorder, w->stop_ns);
	w->last = 1;
	vtr_recorder_flush(w->recorder, VTR_FLUSH_LAST);
	put_held(w); /* there are some only if the file has failed: they count as dropped */
	publish(w);
}

/* How long to wait for something to do, in ms. */
static unsigned patience(const struct vtr_writer *w)
{
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
		.closing = closing,
		.closing_ctx = w};
	sigset_t all, before;
	int rc;

	*out = NULL;
	if (!w)
		return vpt_fail(err, VPT_ENOMEM, "no memory for the writer");
	w->o = *o;
	w->drops_from_ns = o->header.t0_ns;
	w->names_refused = vtr_names_refused();
	pthread_mutex_init(&w->lock, NULL);
	vtr_gate_init(&w->ended);
	rc = vtr_recorder_new(&ro, &w->recorder, err);
	if (rc)
		goto out;
	w->keeps_tsc = vtr_tsc_begin();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&w->thread, NULL, run, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc) {
		rc = vpt_fail(err, VPT_ENOMEM, "no thread for the writer: %s", strerror(rc));
		vtr_recorder_disown(w->recorder);
		if (w->keeps_tsc)
			vtr_tsc_end();
		goto out;
	}
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
	vtr_capture_file_abandon(w->o.sink);
}

void vtr_writer_free(struct vtr_writer *w)
{
	if (!w)
		return;
	vtr_recorder_free(w->recorder);
	vpt_free(w->drops);
	vpt_free(w->held);
	vpt_free(w->open);
	vtr_gate_free(&w->ended);
	pthread_mutex_destroy(&w->lock);
	vpt_free(w);
}
