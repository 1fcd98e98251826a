/* test_tracer_recorder.c - what reaches the file and what is counted: received = written + dropped,
 * whatever happens. */
#include "tracer/write/recorder.h"

#include "formats/base/memory.h"
#include "formats/file/capture_reader.h"
#include "tracer/clock/capture_clock.h"
#include "tracer/ranges/words/range_strings.h"
#include "tracer/write/writer_sources.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A sink that keeps what it is given until a write must fail. */
struct disk {
	struct vpt_sink sink;
	char data[4 << 20];
	size_t size;
	int writes, fail_at; /* the fail_at-th write and all after it fail; 0: none */
	int finished;
};

static struct disk disk;
static struct vtr_recorder *recorder;
static int closings;

static int disk_write(struct vpt_sink *sink, const void *data, size_t size, struct vpt_err *err)
{
	struct disk *d = (struct disk *)sink;

	if (d->fail_at && ++d->writes >= d->fail_at)
		return vpt_fail(err, VPT_EIO, "the disk is full");
	assert_true(d->size + size <= sizeof(d->data));
	memcpy(d->data + d->size, data, size);
	d->size += size;
	d->sink.written_bytes += size;
	return VPT_OK;
}

static int disk_finish(struct vpt_sink *sink, int commit, struct vpt_err *err)
{
	(void)commit;
	(void)err;
	((struct disk *)sink)->finished = 1;
	return VPT_OK;
}

static uint64_t edge_ns; /* of a chunk: what ended by then is in rows; 0: not told */

static void count_closing(void *ctx)
{
	(void)ctx;
	closings++;
	if (edge_ns)
		vtr_recorder_edges(recorder, edge_ns, edge_ns);
}

static uint64_t max_bytes;

static void open_recorder(int fail_at, int always)
{
	struct vtr_recorder_options o = {.sink = &disk.sink,
		.header = {.major = VPT_MAJOR, .t0_ns = 1000, .pid = 7},
		.always = always,
		.max_bytes = max_bytes,
		.closing = count_closing};

	memset(&disk, 0, sizeof(disk));
	disk.sink.write = disk_write;
	disk.sink.finish = disk_finish;
	disk.fail_at = fail_at;
	closings = 0;
	vtr_names_init();
	assert_int_equal(vtr_recorder_new(&o, &recorder, NULL), VPT_OK);
}

static int teardown(void **state)
{
	(void)state;
	vtr_recorder_free(recorder);
	recorder = NULL;
	max_bytes = edge_ns = 0;
	return 0;
}

static void put_range(uint32_t tid, uint64_t start_ns, const char *name)
{
	struct vpt_range row = {.start_ns = start_ns, .duration_ns = 10};

	vtr_recorder_room(recorder);
	row.name = vtr_recorder_name(recorder, vtr_name(name, strlen(name)));
	vtr_recorder_put(recorder, VPT_RANGE, vtr_recorder_thread(recorder, tid), &row);
}

/* ---- reading back ---- */

struct content {
	uint64_t ranges, losses, paused, lanes, chunks, last_chunks, lost_events;
	uint64_t received, dropped; /* of the last STATS row of lane 0 */
	uint64_t paused_ns;         /* where the last loss of that kind begins */
	uint64_t lane_rows_of_used; /* chunks in which a lane with rows is not described */
	char names[256];
	uint64_t samples, first_sample_ns, last_sample_ns;
};

static void add_section(struct content *c, const struct vpt_batch *b, const struct vpt_section *s)
{
	const struct vpt_section *lanes = vpt_batch_find(b, VPT_LANE);
	uint32_t i, described = 0;

	if (s->kind == VPT_RANGE) {
		c->ranges += s->row_count;
		for (i = 0; lanes && i < lanes->row_count; i++)
			described |= lanes->col[VPT_LANE_KEY][i] == s->lane;
		c->lane_rows_of_used += !described;
		for (i = 0; i < s->row_count && i < 3; i++) {
			struct vpt_text t = vpt_batch_text(b, s->col[VPT_RANGE_NAME][i]);

			if (strlen(c->names) + t.len < sizeof(c->names))
				strncat(c->names, t.text, t.len);
		}
	}
	for (i = 0; s->kind == VPT_LOSS && i < s->row_count; i++) {
		c->losses++;
		if (s->col[VPT_LOSS_LOSS_KIND][i] != VPT_LOSSKIND_PAUSED)
			continue;
		c->paused++;
		c->paused_ns = s->col[VPT_LOSS_START][i];
	}
	for (i = 0; s->kind == VPT_STATS && i < s->row_count; i++)
		if (!s->col[VPT_STATS_LANE][i]) {
			c->received = s->col[VPT_STATS_RECEIVED][i];
			c->dropped = s->col[VPT_STATS_DROPPED][i];
		}
	for (i = 0; s->kind == VPT_COUNTER && i < s->row_count; i++, c->samples++) {
		c->last_sample_ns = s->col[VPT_COUNTER_TIME][i];
		if (!c->samples)
			c->first_sample_ns = c->last_sample_ns;
	}
	if (s->kind == VPT_LANE)
		c->lanes += s->row_count;
}

static struct content read_back(void)
{
	struct content c = {0};
	struct vpt_source *src;
	struct vpt_reader *reader;
	struct vpt_decoder *decoder = vpt_decoder_new();
	struct vpt_batch batch;
	struct vpt_err err = {0};
	size_t i;
	int rc;

	assert_int_equal(vpt_source_memory(disk.data, disk.size, &src, NULL), VPT_OK);
	if (vpt_reader_open(src, &reader, &err))
		fail_msg("%s", err.text);
	vpt_batch_init(&batch);
	for (i = 0; i < vpt_reader_chunks(reader); i++) {
		size_t s;

		rc = vpt_reader_chunk(reader, decoder, i, &batch, &err);
		if (rc)
			fail_msg("%s", err.text);
		c.chunks++;
		c.last_chunks += (batch.flags & VPT_BATCH_LAST) != 0;
		c.lost_events += batch.lost_events;
		for (s = 0; s < batch.section_count; s++)
			add_section(&c, &batch, &batch.sections[s]);
	}
	vpt_batch_free(&batch);
	vpt_decoder_free(decoder);
	vpt_reader_free(reader);
	return c;
}

static struct vtr_recorder_totals totals(void)
{
	struct vtr_recorder_totals t;

	vtr_recorder_totals(recorder, &t);
	assert_int_equal(t.received, t.written + t.dropped);
	return t;
}

/* ---- tests ---- */

static void rows_arrive_with_their_lanes(void **state)
{
	struct content c;

	(void)state;
	open_recorder(0, 0);
	put_range(1, 2000, "a");
	put_range(2, 2000, "b");
	vtr_recorder_flush(recorder, VTR_FLUSH_ALWAYS);
	put_range(2, 3000, "c");
	vtr_recorder_drop(recorder, vtr_recorder_thread(recorder, 2), 5);
	vtr_recorder_flush(recorder, VTR_FLUSH_LAST);
	c = read_back();
	assert_string_equal(c.names, "abc");
	assert_int_equal(c.chunks, 2);
	assert_int_equal(c.last_chunks, 1);
	assert_int_equal(c.lane_rows_of_used, 0);
	assert_int_equal(c.received, 8);
	assert_int_equal(c.dropped, 5);
	assert_int_equal(c.lost_events, 5);
	assert_int_equal(totals().written, 3);
	assert_int_equal(closings, 2);
}

static void nothing_makes_no_file_unless_asked(void **state)
{
	(void)state;
	open_recorder(0, 0);
	vtr_recorder_meta(recorder, "host", "h");
	vtr_recorder_flush(recorder, VTR_FLUSH_ALWAYS);
	vtr_recorder_flush(recorder, VTR_FLUSH_LAST);
	assert_int_equal(disk.size, 0);
	vtr_recorder_free(recorder);
	open_recorder(0, 1);
	vtr_recorder_flush(recorder, VTR_FLUSH_ALWAYS);
	assert_int_equal(disk.size, 0);
	vtr_recorder_flush(recorder, VTR_FLUSH_LAST);
	assert_int_equal(read_back().last_chunks, 1);
}

/* Samples at 1001, 1002 ... */
static void put_samples(struct vtr_counter_rows *rows, size_t first, size_t count)
{
	struct vtr_sample sample = {.name = vtr_name("power", 5), .device = -1};
	size_t i;

	for (i = first; i < first + count; i++) {
		sample.time_ns = 1000 + i;
		vtr_counter_rows_put(rows, &sample, recorder);
	}
}

static void samples_wait_for_the_first_record(void **state)
{
	struct vtr_counter_rows rows = {0};
	struct content c;

	(void)state;
	open_recorder(0, 0);
	put_samples(&rows, 1, 60);
	vtr_counter_rows_flush(&rows, recorder);
	vtr_recorder_flush(recorder, VTR_FLUSH_ALWAYS);
	assert_int_equal(rows.written, 0);
	assert_int_equal(disk.size, 0);
	put_range(1, 2000, "a");
	vtr_counter_rows_flush(&rows, recorder);
	assert_int_equal(rows.written, 60);
	put_samples(&rows, 61, 1);
	vtr_recorder_flush(recorder, VTR_FLUSH_LAST);
	c = read_back();
	assert_int_equal(c.samples, 61);
	assert_int_equal(c.first_sample_ns, 1001);
	assert_int_equal(c.last_sample_ns, 1061);
	assert_int_equal(totals().written, 62);
	vtr_counter_rows_free(&rows);
}

static void the_newest_samples_wait(void **state)
{
	struct vtr_counter_rows rows = {0};
	struct content c;

	(void)state;
	open_recorder(0, 0);
	put_samples(&rows, 1, VTR_COUNTERS_HELD + 5);
	put_range(1, 2000, "a");
	put_samples(&rows, VTR_COUNTERS_HELD + 6, 1);
	vtr_recorder_flush(recorder, VTR_FLUSH_LAST);
	c = read_back();
	assert_int_equal(c.samples, VTR_COUNTERS_HELD + 1);
	assert_int_equal(c.first_sample_ns, 1006);
	assert_int_equal(c.last_sample_ns, 1000 + VTR_COUNTERS_HELD + 6);
	vtr_counter_rows_free(&rows);
}

static void a_full_chunk_is_written_by_itself(void **state)
{
	uint32_t i;

	(void)state;
	open_recorder(0, 0);
	for (i = 0; i < 3 * VPT_CHUNK_EVENTS; i++)
		put_range(i % 3, 2000 + i, i % 2 ? "odd" : "even");
	vtr_recorder_flush(recorder, VTR_FLUSH_LAST);
	assert_int_equal(read_back().chunks, 3);
	assert_int_equal(read_back().ranges, 3 * VPT_CHUNK_EVENTS);
	assert_int_equal(read_back().lane_rows_of_used, 0);
}

/* A range that holds all the others ends last. The rows after the limit are missing, not all since it began. */
static void a_range_that_is_open_at_the_limit_is_kept(void **state)
{
	uint64_t begin_ns = vtr_now(), limit_ns;
	struct content c;
	uint32_t i;

	(void)state;
	max_bytes = 256 << 10;
	open_recorder(0, 0);
	for (i = 0; !vtr_recorder_is_full(recorder); i++)
		put_range(i % 3, vtr_now(), i % 2 ? "odd" : "even");
	limit_ns = vtr_now();
	put_range(1, limit_ns, "after");
	put_range(1, begin_ns, "request");
	vtr_recorder_end_pauses(recorder, vtr_now());
	vtr_recorder_flush(recorder, VTR_FLUSH_LAST);
	c = read_back();
	assert_true(disk.size <= max_bytes);
	assert_int_equal(c.ranges, i + 1);
	assert_int_equal(c.paused, 1);
	assert_true(c.paused_ns > begin_ns && c.paused_ns <= limit_ns);
}

static void fill(uint64_t start_ns)
{
	max_bytes = 256 << 10;
	open_recorder(0, 0);
	while (!vtr_recorder_is_full(recorder))
		put_range(1, start_ns, "before");
}

static struct content end_full(uint64_t stop_ns)
{
	vtr_recorder_end_pauses(recorder, stop_ns);
	vtr_recorder_flush(recorder, VTR_FLUSH_LAST);
	assert_true(disk.size <= max_bytes);
	return read_back();
}

/* Those of a moment before the limit, which were in the rings then. */
static void short_ranges_take_no_room_from_those_that_are_open_at_the_limit(void **state)
{
	struct content c;
	uint64_t kept, i;

	(void)state;
	edge_ns = 5000;
	fill(4000);
	kept = totals().received;
	for (i = 0; i < 1000; i++)
		put_range(1, 5001 + i, "short");
	put_range(1, 2000, "request");
	c = end_full(7000);
	assert_int_equal(c.ranges, kept + 1);
	assert_int_equal(c.dropped, 0);
	assert_int_equal(c.paused_ns, 5000);
}

static void an_open_range_without_room_is_a_loss_and_moves_nothing(void **state)
{
	struct vtr_recorder_totals t;
	struct content c;
	uint64_t i;

	(void)state;
	edge_ns = 5000;
	fill(4000);
	for (i = 0; i < 1000; i++)
		put_range(1, 2000 + i, "request");
	c = end_full(7000);
	t = totals();
	assert_true(t.dropped > 0 && t.dropped < 1000);
	assert_int_equal(t.received, t.written + t.dropped);
	assert_int_equal(c.ranges, t.written);
	assert_int_equal(c.losses, 2);
	assert_int_equal(c.paused_ns, 5000);
}

/* The disk fails at its n-th write, for every n: what was written before is whole, the rest is
 * counted as dropped. */
static void a_failing_disk_loses_nothing_from_the_count(void **state)
{
	int fail_at, i;

	(void)state;
	for (fail_at = 1; fail_at < 8; fail_at++) {
		struct vtr_recorder_totals t;

		open_recorder(fail_at, 0);
		for (i = 0; i < 50; i++) {
			put_range(1 + (uint32_t)i % 2, 2000, "r");
			if (i % 10 == 9)
				vtr_recorder_flush(recorder, VTR_FLUSH_ALWAYS);
		}
		vtr_recorder_flush(recorder, VTR_FLUSH_LAST);
		t = totals();
		assert_int_equal(t.received, 50);
		/* The first write is the header's. */
		assert_int_equal(t.written, fail_at < 2 ? 0 : 10 * (fail_at < 7 ? fail_at - 2 : 5));
		assert_string_equal(
			fail_at < 8 ? vtr_recorder_failure(recorder) : "", "the disk is full");
		if (fail_at > 2)
			assert_int_equal(read_back().ranges, t.written);
		vtr_recorder_free(recorder);
		assert_true(disk.finished);
		recorder = NULL;
	}
}

static void *no_memory(void *ptr, size_t size_bytes)
{
	(void)ptr;
	(void)size_bytes;
	return NULL;
}

static void a_chunk_without_memory_costs_itself(void **state)
{
	const struct vpt_memory_ops empty = {.resize = no_memory, .release = free};
	const struct vpt_memory_ops *full;
	struct content c;

	(void)state;
	open_recorder(0, 0);
	put_range(1, 2000, "lost");
	full = vpt_memory_use(&empty);
	vtr_recorder_flush(recorder, VTR_FLUSH_ALWAYS);
	vpt_memory_use(full);
	assert_null(vtr_recorder_failure(recorder));
	put_range(1, 3000, "kept");
	vtr_recorder_flush(recorder, VTR_FLUSH_LAST);
	c = read_back();
	assert_string_equal(c.names, "kept");
	assert_int_equal(c.losses, 1);
	assert_int_equal(c.received, 2);
	assert_int_equal(c.dropped, 1);
	assert_int_equal(totals().written, 1);
}

static void rows_of_a_pause_are_not_received(void **state)
{
	struct content c;

	(void)state;
	open_recorder(0, 0);
	put_range(1, 2000, "before");
	vtr_recorder_pause(recorder, 3000);
	put_range(1, 2999, ",late");
	put_range(1, 3000, ",during");
	vtr_recorder_resume(recorder, 4000);
	vtr_recorder_resume(recorder, 5000); /* no pause: nothing */
	put_range(1, 3999, ",during too");
	put_range(1, 4000, ",after");
	vtr_recorder_flush(recorder, VTR_FLUSH_LAST);
	c = read_back();
	assert_string_equal(c.names, "before,late,after");
	assert_int_equal(c.paused, 1);
	assert_int_equal(totals().received, 3);
}

/* ---- the short way for kernels and calls ---- */

static int short_ways; /* how many rows went it */

/* As the decoder puts rows: the short way first. */
static void put_short(enum vpt_kind kind, struct vtr_lane *lane, uint64_t start_ns)
{
	const uint64_t row[] = {start_ns, 10, 1, kind == VPT_KERNEL, kind == VPT_CALL, 0};
	const int kernel = kind == VPT_KERNEL;

	if (kernel ? vtr_recorder_append(recorder, VPT_KERNEL, lane, VPT_KERNEL_USUAL, row)
		   : vtr_recorder_append(recorder, VPT_CALL, lane, VPT_CALL_USUAL, row))
		short_ways++;
	else
		vtr_recorder_put(recorder, kind, lane, row);
}

/* Rows in a file by kind and lane. */
struct counts {
	uint64_t kernels, calls, lanes[4];
};

static struct counts count_rows(void)
{
	struct counts n = {0};
	struct vpt_source *src;
	struct vpt_reader *reader;
	struct vpt_decoder *decoder = vpt_decoder_new();
	struct vpt_batch batch;
	size_t i, k;

	assert_int_equal(vpt_source_memory(disk.data, disk.size, &src, NULL), VPT_OK);
	assert_int_equal(vpt_reader_open(src, &reader, NULL), VPT_OK);
	vpt_batch_init(&batch);
	for (i = 0; i < vpt_reader_chunks(reader); i++) {
		assert_int_equal(vpt_reader_chunk(reader, decoder, i, &batch, NULL), VPT_OK);
		for (k = 0; k < batch.section_count; k++) {
			const struct vpt_section *s = &batch.sections[k];

			if (s->kind != VPT_KERNEL && s->kind != VPT_CALL)
				continue;
			*(s->kind == VPT_KERNEL ? &n.kernels : &n.calls) += s->row_count;
			assert_in_range(s->lane, 1, 3);
			n.lanes[s->lane] += s->row_count;
		}
	}
	vpt_batch_free(&batch);
	vpt_decoder_free(decoder);
	vpt_reader_free(reader);
	return n;
}

/* Kinds and lanes in turn, with chunks ending in between and sections moving: each row is found
 * where it belongs. */
static void the_short_way_leads_to_the_same_rows(void **state)
{
	struct vtr_lane *lanes[3];
	struct vtr_recorder_totals t;
	struct counts n;
	uint64_t i;

	(void)state;
	open_recorder(0, 0);
	lanes[0] = vtr_recorder_stream(recorder, 0, 1, 7);
	lanes[1] = vtr_recorder_thread(recorder, 1);
	lanes[2] = vtr_recorder_thread(recorder, 2);
	short_ways = 0;
	for (i = 0; i < 9000; i++) {
		vtr_recorder_room(recorder);
		put_short(i % 3 ? VPT_CALL : VPT_KERNEL, lanes[i % 3], 2000 + i);
		if (i % 1000 == 7)
			put_range(2, 2000 + i, "between");
		if (i % 2500 == 2499)
			vtr_recorder_flush(recorder, VTR_FLUSH_ALWAYS);
		/* A kind of lanes of its own makes the list of sections grow. */
		if (i % 100 == 0)
			put_range(100 + (uint32_t)i, 2000 + i, "many");
		assert_int_equal(totals().received, i + 1 + i / 100 + 1 + (i + 993) / 1000);
	}
	vtr_recorder_flush(recorder, VTR_FLUSH_LAST);
	assert_in_range(short_ways, 8800, 8990);
	n = count_rows();
	assert_int_equal(n.kernels, 3000);
	assert_int_equal(n.calls, 6000);
	for (i = 0; i < 3; i++)
		assert_int_equal(n.lanes[lanes[i]->key], 3000);
	t = totals();
	assert_int_equal(t.written, 9000 + 90 + 9);
	assert_int_equal(lanes[0]->received, 3000);
	assert_int_equal(lanes[0]->dropped, 0);
}

static void the_short_way_ends_where_the_disk_does(void **state)
{
	struct vtr_lane *lane;
	struct vtr_recorder_totals t;
	int i;

	(void)state;
	open_recorder(3, 0);
	lane = vtr_recorder_stream(recorder, 0, 1, 7);
	for (i = 0; i < 100; i++) {
		put_short(VPT_KERNEL, lane, 2000);
		if (i % 30 == 29)
			vtr_recorder_flush(recorder, VTR_FLUSH_ALWAYS);
	}
	/* One chunk is there, one failed, the rest was never kept. */
	t = totals();
	assert_int_equal(t.received, 100);
	assert_int_equal(t.written, 30);
	assert_int_equal(lane->received, 100);
	assert_int_equal(lane->dropped, 70);
	assert_int_equal(count_rows().kernels, 30);
}

static void the_short_way_sees_pauses(void **state)
{
	struct vtr_lane *lane;
	int before;

	(void)state;
	open_recorder(0, 0);
	lane = vtr_recorder_stream(recorder, 0, 1, 7);
	short_ways = 0;
	put_short(VPT_KERNEL, lane, 1000);
	put_short(VPT_KERNEL, lane, 1001);
	assert_int_equal(short_ways, 1);
	put_short(VPT_KERNEL, lane, 0); /* invalid, but still a row */
	vtr_recorder_pause(recorder, 3000);
	put_short(VPT_KERNEL, lane, 2999);
	put_short(VPT_KERNEL, lane, 3000);
	put_short(VPT_KERNEL, lane, 99000);
	vtr_recorder_resume(recorder, 4000);
	put_short(VPT_KERNEL, lane, 3999);
	before = short_ways;
	put_short(VPT_KERNEL, lane, 4000);
	assert_int_equal(short_ways, before + 1);
	/* The clock was set back in between: the first pause is the later one. */
	vtr_recorder_pause(recorder, 2000);
	vtr_recorder_resume(recorder, 2500);
	put_short(VPT_KERNEL, lane, 2200);
	put_short(VPT_KERNEL, lane, 3500);
	put_short(VPT_KERNEL, lane, 2600);
	vtr_recorder_flush(recorder, VTR_FLUSH_LAST);
	assert_int_equal(totals().received, 6);
	assert_int_equal(count_rows().kernels, 6);
}

static void lanes_are_found_again(void **state)
{
	struct vtr_lane *a, *b;
	uint32_t i;

	(void)state;
	open_recorder(0, 0);
	a = vtr_recorder_stream(recorder, 0, 1, 7);
	b = vtr_recorder_stream(recorder, 1, 1, 7);
	assert_ptr_not_equal(a, b);
	assert_ptr_not_equal(a, vtr_recorder_thread(recorder, 7));
	assert_ptr_equal(a, vtr_recorder_stream(recorder, 0, 1, 7));
	for (i = 0; i < 70000; i++)
		assert_non_null(vtr_recorder_thread(recorder, 100 + i));
	assert_ptr_equal(b, vtr_recorder_stream(recorder, 1, 1, 7));
	/* Beyond the limit one lane stands for the rest. */
	assert_int_equal(vtr_recorder_thread(recorder, 200000)->key, 0);
	assert_ptr_equal(
		vtr_recorder_thread(recorder, 200000), vtr_recorder_thread(recorder, 200001));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(rows_arrive_with_their_lanes, teardown),
		cmocka_unit_test_teardown(nothing_makes_no_file_unless_asked, teardown),
		cmocka_unit_test_teardown(samples_wait_for_the_first_record, teardown),
		cmocka_unit_test_teardown(the_newest_samples_wait, teardown),
		cmocka_unit_test_teardown(a_full_chunk_is_written_by_itself, teardown),
		cmocka_unit_test_teardown(a_range_that_is_open_at_the_limit_is_kept, teardown),
		cmocka_unit_test_teardown(
			short_ranges_take_no_room_from_those_that_are_open_at_the_limit, teardown),
		cmocka_unit_test_teardown(
			an_open_range_without_room_is_a_loss_and_moves_nothing, teardown),
		cmocka_unit_test_teardown(a_failing_disk_loses_nothing_from_the_count, teardown),
		cmocka_unit_test_teardown(a_chunk_without_memory_costs_itself, teardown),
		cmocka_unit_test_teardown(rows_of_a_pause_are_not_received, teardown),
		cmocka_unit_test_teardown(lanes_are_found_again, teardown),
		cmocka_unit_test_teardown(the_short_way_leads_to_the_same_rows, teardown),
		cmocka_unit_test_teardown(the_short_way_ends_where_the_disk_does, teardown),
		cmocka_unit_test_teardown(the_short_way_sees_pauses, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
