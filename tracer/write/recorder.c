/* recorder.c - the writer thread's side of the tracer: lanes, the open chunk, the file.
 *
 * Rows of the open chunk are pending until their frame has reached the file; if it does not, they
 * become dropped, lane by lane, so that the sums stay exact whatever the disk does. After the first
 * failure everything is dropped and counted, without a retry: a file with a hole would misstate
 * time.
 *
 * A kept row is counted once, as pending on its lane; it becomes received when its chunk ends;
 * totals read earlier add it. */
#include "tracer/write/recorder_state.h"

#include "formats/base/memory.h"
#include "formats/calls.h"
#include "tracer/guest/budget.h"
#include "tracer/clock/capture_clock.h"

#include <string.h>

enum {
	EVENT_BYTES = 128,           /* more than any event takes in a chunk */
	ROW_BYTES = 4 * EVENT_BYTES, /* more than nearly all take with their strings */
	/* What the last chunk and the file's frame need: for itself, for each lane. */
	LAST_BYTES = 64 << 10,
	LANE_BYTES = 256,
	/* What is put between two looks at the limit, and the least that a chunk is begun for. */
	LEAST_BYTES = 32 << 10
};

/* The fast path of recorder.h takes rows of the newest time in no pause. */
void vtr_recorder_update_clear(struct vtr_recorder *r)
{
	uint64_t to_ns;

	vtr_pauses_clear(&r->pauses, &r->open.clear_ns, &to_ns);
	r->open.clear_span_ns = r->is_full ? 0 : to_ns - r->open.clear_ns;
}

static void begin_chunk(struct vtr_recorder *r, uint64_t number)
{
	r->open.number = number;
	r->open.stamp = number * VPT_KIND_LIMIT; /* room for the kind */
}

int vtr_recorder_new(
	const struct vtr_recorder_options *options, struct vtr_recorder **out, struct vpt_err *err)
{
	struct vtr_recorder *r = vpt_calloc(1, sizeof(*r));

	*out = NULL;
	if (!r)
		return vpt_fail(err, VPT_ENOMEM, "no memory for a recorder");
	if (vtr_lanes_init(&r->lanes)) {
		vpt_free(r);
		return vpt_fail(err, VPT_ENOMEM, "no memory for a recorder's lanes");
	}
	r->o = *options;
	begin_chunk(r, 1);
	vtr_recorder_update_clear(r);
	vpt_batch_init(&r->open.batch);
	vpt_batch_init(&r->ring.opening);
	*out = r;
	return VPT_OK;
}

void vtr_recorder_disown(struct vtr_recorder *r)
{
	r->o.sink = NULL;
}

void vtr_recorder_free(struct vtr_recorder *r)
{
	if (!r)
		return;
	vpt_writer_free(r->writer);
	vtr_budget_compressor(0);
	if (r->o.sink)
		r->o.sink->finish(r->o.sink, 1, NULL);
	vpt_batch_free(&r->open.batch);
	vpt_batch_free(&r->ring.opening);
	vtr_lanes_free(&r->lanes);
	vtr_about_free(&r->about);
	vtr_pauses_free(&r->pauses);
	vtr_refused_free(&r->refused);
	vpt_free(r->used);
	vpt_free(r->names);
	vpt_free(r);
}

/* ---- rows ---- */

static int close_chunk(struct vtr_recorder *r, int last);

void vtr_recorder_follow(struct vtr_recorder *r)
{
	uint64_t changes;

	if (!r->o.changes)
		return;
	changes = atomic_load_explicit(r->o.changes, memory_order_acquire);
	if (changes == r->changes_seen)
		return;
	r->changes_seen = changes;
	r->o.changed(r->o.closing_ctx);
}

/* More bytes than the open chunk can take when it is written. */
static uint64_t chunk_bound(const struct vtr_recorder *r)
{
	return r->open.batch.event_count * (uint64_t)EVENT_BYTES +
	       vpt_batch_side_bytes(&r->open.batch);
}

/* The last chunk has room for a few rows more. */
static int has_room_at_end(const struct vtr_recorder *r)
{
	return chunk_bound(r) < LEAST_BYTES;
}

static void drop(struct vtr_recorder *r, struct vtr_lane *lane, uint64_t count)
{
	r->received += count;
	r->dropped += count;
	lane->received += count;
	lane->dropped += count;
}

/* A range that was open when the limit was reached, such as a request, is kept: an end of the
 * recording at its begin would take all it holds out of it. Returns whether there is no room. */
static int is_refused_range(struct vtr_recorder *r, uint64_t start_ns)
{
	if (has_room_at_end(r))
		return 0;
	vtr_refused_range(&r->refused, start_ns);
	drop(r, &r->nowhere, 1);
	return 1;
}

static int is_op(enum vpt_kind kind)
{
	return kind == VPT_KERNEL || kind == VPT_COPY;
}

static uint64_t launch_of(enum vpt_kind kind, const uint64_t *row)
{
	return row[kind == VPT_KERNEL ? (int)VPT_KERNEL_CORRELATION : (int)VPT_COPY_CORRELATION];
}

/* Whether a row belongs to a pause: a host's row that starts in it, an op that was launched in it. The GPU
 * may begin what was launched in one window in a pause, or in the next window; what it begins in a window is
 * recorded whatever launched it: there it was busy. */
static int is_paused(const struct vtr_recorder *r, enum vpt_kind kind, const uint64_t *row)
{
	uint64_t start_ns = row[0];

	if (start_ns && !vtr_pauses_at(&r->pauses, start_ns))
		return 0;
	return is_op(kind) ? vtr_pauses_hide_op(&r->pauses, launch_of(kind, row), start_ns)
			   : start_ns != 0;
}

/* Whether a row is not to be recorded. The recording ends where the first such row begins. Ops whose times are not
 * known are counted elsewhere. */
static int is_refused(struct vtr_recorder *r, enum vpt_kind kind, const uint64_t *row)
{
	uint64_t start_ns = row[0];

	vtr_recorder_follow(r);
	if (is_paused(r, kind, row))
		return 1;
	if (r->is_full && is_op(kind) && start_ns)
		vtr_refused_op(&r->refused, launch_of(kind, row));
	if (r->is_full && start_ns && start_ns < r->full_ns) {
		if (kind == VPT_RANGE)
			return is_refused_range(r, start_ns);
		r->full_ns = start_ns;
	}
	return r->is_full;
}

int vtr_recorder_put(
	struct vtr_recorder *r, enum vpt_kind kind, struct vtr_lane *lane, const void *row)
{
	uint64_t start_ns = *(const uint64_t *)row; /* the first column of every event */
	struct vpt_section *s;

	if (start_ns - r->open.clear_ns >= r->open.clear_span_ns && is_refused(r, kind, row))
		return 0;
	if (!lane)
		lane = &r->nowhere;
	if (!r->err.code)
		vtr_recorder_refer(r, lane);
	/* The second: no memory to remember that it has pending rows. */
	if (r->err.code || lane->chunk != r->open.number) {
		drop(r, lane, 1);
		return 1;
	}
	if (!r->since_ns)
		r->since_ns = vtr_clock_ns(CLOCK_MONOTONIC);
	lane->pending++;
	s = vpt_batch_put(&r->open.batch, kind, lane->key, row);
	if (s) {
		lane->open = r->open.stamp + kind;
		lane->section = (size_t)((char *)s - (char *)r->open.batch.sections);
	}
	return 1;
}

void vtr_recorder_drop(struct vtr_recorder *r, struct vtr_lane *lane, uint64_t count)
{
	drop(r, lane ? lane : &r->nowhere, count);
}

void vtr_recorder_invalid(struct vtr_recorder *r, struct vtr_lane *lane)
{
	r->invalid++;
	(lane ? lane : &r->nowhere)->invalid++;
}

/* Whether nothing is recorded in the whole of [from_ns, to_ns]: it lies in a pause, or after the
 * file's limit was reached. */
static int is_off(const struct vtr_recorder *r, uint64_t from_ns, uint64_t to_ns)
{
	const struct vtr_pause *p = vtr_pauses_at(&r->pauses, from_ns);

	return (r->is_full && from_ns >= r->full_ns) || (p && to_ns <= p->to_ns);
}

void vtr_recorder_loss(struct vtr_recorder *r, struct vtr_lane *lane, uint32_t kind,
	uint64_t from_ns, uint64_t to_ns, uint64_t count)
{
	struct vpt_loss row = {.start_ns = from_ns,
		.duration_ns = to_ns > from_ns ? to_ns - from_ns : 0,
		.loss_kind = kind,
		.count = count};

	if (r->err.code)
		return;
	/* Work that has not ended, or found no room, was launched in a window. */
	if (kind != VPT_LOSSKIND_PAUSED && kind != VPT_LOSSKIND_UNFINISHED &&
		kind != VPT_LOSSKIND_REFUSED && is_off(r, from_ns, to_ns))
		return;
	vtr_recorder_refer(r, lane);
	if (!r->since_ns)
		r->since_ns = vtr_clock_ns(CLOCK_MONOTONIC);
	vpt_batch_put(&r->open.batch, VPT_LOSS, lane ? lane->key : 0, &row);
}

void vtr_recorder_sample(
	struct vtr_recorder *r, struct vtr_lane *lane, const struct vpt_sample *row)
{
	if (r->err.code || vtr_recorder_is_empty(r) || is_off(r, row->time_ns, row->time_ns))
		return;
	vtr_recorder_refer(r, lane);
	if (lane->chunk != r->open.number)
		return;
	if (!r->since_ns)
		r->since_ns = vtr_clock_ns(CLOCK_MONOTONIC);
	vpt_batch_put(&r->open.batch, VPT_SAMPLE, lane->key, row);
}

/* ---- the limit of the file ---- */

int vtr_recorder_is_full(const struct vtr_recorder *r)
{
	return r->is_full;
}

/* Bytes that chunks before the last may still take; 0: none. */
static uint64_t bytes_left(const struct vtr_recorder *r)
{
	uint64_t lanes = (uint64_t)r->lanes.count * LANE_BYTES;
	uint64_t kept = r->o.sink->written_bytes + LAST_BYTES + lanes;

	kept += r->writer ? vpt_writer_contents_bytes(r->writer) : 0;

	return r->o.max_bytes > kept ? r->o.max_bytes - kept : 0;
}

/* Ends the chunk before it could exceed the limit, and recording where no other is worth while. A
 * chunk takes a fraction of its bound, so chunks get smaller and smaller, but are few. */
static void keep_limit(struct vtr_recorder *r)
{
	if (r->is_full || chunk_bound(r) + LEAST_BYTES < bytes_left(r))
		return;
	if (r->open.batch.event_count)
		close_chunk(r, 0);
	r->is_full = bytes_left(r) < 2 * LEAST_BYTES && !r->err.code;
	if (!r->is_full)
		return;
	/* Where the newest chunk ends: ranges in the rings that began later take no room. */
	r->full_ns = r->ring.cut_ns ? r->ring.cut_ns : vtr_now();
	vtr_recorder_update_clear(r);
}

/* ---- facts ---- */

void vtr_recorder_device(struct vtr_recorder *r, const struct vtr_device *device)
{
	vtr_about_device(&r->about, device);
}

void vtr_recorder_meta(struct vtr_recorder *r, const char *key, const char *value)
{
	vtr_about_fact(&r->about, key, value);
}

void vtr_recorder_fact(struct vtr_recorder *r, enum vpt_metadata fact, const char *value)
{
	vtr_recorder_meta(r, vpt_metadata_key(fact), value);
}

/* ---- counts ---- */

static void put_stats_of(struct vtr_recorder *r, const struct vtr_lane *lane)
{
	struct vpt_stats row = {.lane = lane->key,
		.received = lane->received,
		.dropped = lane->dropped,
		.invalid = lane->invalid};

	vpt_batch_put(&r->open.batch, VPT_STATS, 0, &row);
}

/* The whole capture's row in each chunk; the lanes' once, at the end. */
static void put_stats(struct vtr_recorder *r, int last)
{
	struct vpt_stats whole = {
		.received = r->received, .dropped = r->dropped, .invalid = r->invalid};
	uint32_t i;

	vpt_batch_put(&r->open.batch, VPT_STATS, 0, &whole);
	if (!last)
		return;
	for (i = 0; i < r->lanes.count; i++) {
		vtr_recorder_refer(r, vtr_lanes_at(&r->lanes, i));
		put_stats_of(r, vtr_lanes_at(&r->lanes, i));
	}
}

/* ---- chunks ---- */

static int open_file(struct vtr_recorder *r)
{
	int rc;

	if (r->writer)
		return VPT_OK;
	rc = vpt_writer_open(r->o.sink, &r->o.header, r->o.level, &r->writer, &r->err);
	if (!rc)
		vpt_writer_limit(r->writer, r->o.max_bytes);
	return rc;
}

void vtr_recorder_edges(struct vtr_recorder *r, uint64_t cut_ns, uint64_t complete_until_ns)
{
	r->ring.cut_ns = cut_ns;
	r->ring.complete_until_ns = complete_until_ns;
}

/* Counts pending rows as received, per lane and in total; they stay pending until the chunk is
 * settled. */
static void receive_pending(struct vtr_recorder *r)
{
	size_t i;

	for (i = 0; i < r->used_count; i++) {
		r->used[i]->received += r->used[i]->pending;
		r->received += r->used[i]->pending;
	}
}

/* What the chunk held has, or has not, reached the file. */
static void settle_chunk(struct vtr_recorder *r, int written)
{
	size_t i;

	for (i = 0; i < r->used_count; i++) {
		struct vtr_lane *lane = r->used[i];

		if (!written) {
			lane->dropped += lane->pending;
			r->dropped += lane->pending;
		}
		lane->pending = 0;
	}
	r->used_count = 0;
	r->chunks += written != 0;
	begin_chunk(r, r->open.number + 1);
	r->since_ns = 0;
	vpt_batch_reset(&r->open.batch);
}

/* A chunk that finds no memory, or that the format cannot hold, is lost, but the file stays valid.
 * The next chunk reports it. */
static void lose_chunk(struct vtr_recorder *r, uint64_t from_ns, uint64_t to_ns, uint64_t events)
{
	memset(&r->err, 0, sizeof(r->err));
	vtr_about_again(&r->about);
	vtr_recorder_loss(
		r, NULL, VPT_LOSSKIND_DROPPED, from_ns < to_ns ? from_ns : to_ns, to_ns, events);
}

static int write_chunk(struct vtr_recorder *r, int last)
{
	uint64_t from_ns, to_ns, events;
	int rc;

	receive_pending(r);
	put_stats(r, last);
	vtr_recorder_put_lanes(r);
	if (!r->o.flight)
		vtr_about_put(&r->about, &r->open.batch);
	r->open.batch.flags = last ? VPT_BATCH_LAST : 0;
	r->open.batch.lost_events = r->dropped - r->lost_reported > UINT32_MAX
					    ? UINT32_MAX
					    : (uint32_t)(r->dropped - r->lost_reported);
	rc = vpt_batch_error(&r->open.batch);
	if (!rc)
		vpt_batch_order(&r->open.batch); /* without memory rows stay as they came */
	if (!rc)
		rc = open_file(r);
	if (!rc && r->o.flight)
		vtr_ring_chunk_describe(&r->ring, r->o.flight, &r->about, r->writer, r->chunks,
			(const uint64_t[]){r->received, r->dropped, r->invalid});
	if (!rc)
		rc = vpt_writer_put(r->writer, &r->open.batch, &r->err);
	if (r->writer)
		vtr_budget_compressor(vpt_writer_zstd_bytes(r->writer));
	if (!rc)
		r->lost_reported = r->dropped;
	from_ns = r->open.batch.t_min_ns;
	to_ns = r->open.batch.t_max_ns;
	events = r->open.batch.event_count;
	settle_chunk(r, !rc);
	if (rc && rc != VPT_EIO)
		lose_chunk(r, from_ns, to_ns, events);
	return rc;
}

static int close_chunk(struct vtr_recorder *r, int last)
{
	if (r->err.code)
		return r->err.code;
	if (r->o.closing && !r->closing) {
		r->closing = 1;
		r->o.closing(r->o.closing_ctx);
		r->closing = 0;
	}
	return write_chunk(r, last);
}

/* If the last chunk is lost, another one reports it: it has only a LOSS row and needs little
 * memory. */
static void close_last_chunk(struct vtr_recorder *r)
{
	int rc = close_chunk(r, 1);

	if (rc && rc != VPT_EIO)
		rc = write_chunk(r, 1);
	if (rc && !r->err.code)
		vpt_fail(&r->err, rc, "no memory for the capture's last chunk");
}

static int is_large(const struct vtr_recorder *r)
{
	return r->o.chunk_bytes && chunk_bound(r) > r->o.chunk_bytes && r->open.batch.event_count;
}

void vtr_recorder_room(struct vtr_recorder *r)
{
	vtr_recorder_follow(r);
	if (vpt_batch_full(&r->open.batch) || is_large(r))
		close_chunk(r, 0);
	if (r->o.max_bytes)
		keep_limit(r);
}

void vtr_recorder_bound(struct vtr_recorder *r)
{
	vtr_recorder_follow(r);
	if (vpt_batch_crowded(&r->open.batch) || is_large(r))
		close_chunk(r, 0);
	if (r->o.max_bytes)
		keep_limit(r);
}

/* Rows that the open chunk takes before it is too large, if their names and payloads are short. */
static uint64_t space_for_rows(const struct vtr_recorder *r)
{
	uint64_t rows = vpt_batch_space(&r->open.batch), bytes = UINT64_MAX;

	if (r->o.chunk_bytes)
		bytes = r->o.chunk_bytes;
	if (r->o.max_bytes && !r->is_full && bytes_left(r) < bytes)
		bytes = bytes_left(r);
	bytes = bytes > chunk_bound(r) ? bytes - chunk_bound(r) : 0;
	return bytes / ROW_BYTES < rows ? bytes / ROW_BYTES : rows;
}

size_t vtr_recorder_space(struct vtr_recorder *r)
{
	uint64_t space;

	vtr_recorder_bound(r);
	space = space_for_rows(r);
	if (space < LEAST_BYTES / ROW_BYTES && r->open.batch.event_count) {
		close_chunk(r, 0);
		space = space_for_rows(r);
	}
	return space ? (size_t)space : 1;
}

void vtr_recorder_flush(struct vtr_recorder *r, enum vtr_flush how)
{
	int last = how == VTR_FLUSH_LAST;

	if (!r->since_ns && !r->chunks && !(last && r->o.always))
		return;
	/* A snapshot ends with a chunk of its own. */
	if (last && !r->o.flight)
		close_last_chunk(r);
	else
		close_chunk(r, 0);
}

int vtr_recorder_is_empty(const struct vtr_recorder *r)
{
	return !r->since_ns && !r->chunks && !r->o.always;
}

uint64_t vtr_recorder_since(const struct vtr_recorder *r)
{
	return r->since_ns;
}

void vtr_recorder_totals(const struct vtr_recorder *r, struct vtr_recorder_totals *out)
{
	uint64_t received = r->received;
	size_t i;

	for (i = 0; i < r->used_count; i++)
		received += r->used[i]->pending;
	*out = (struct vtr_recorder_totals){.received = received,
		.written = received - r->dropped,
		.dropped = r->dropped,
		.invalid = r->invalid,
		.chunks = r->chunks,
		.file_bytes = r->o.sink->written_bytes};
}

const char *vtr_recorder_failure(const struct vtr_recorder *r)
{
	return r->err.code ? r->err.text : NULL;
}
