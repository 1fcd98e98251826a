/* test_collect.c - rows that come in any order become chunks in completion order, and none is lost. */
#include "formats/import/collect/collect.h"

#include "formats/base/memory.h"
#include "formats/calls.h"
#include "tests/support/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct vpt_collect *c;
static struct vpt_batch batch;

static int setup(void **state)
{
	(void)state;
	vpt_batch_init(&batch);
	c = vpt_collect_new();
	return !c;
}

static int teardown(void **state)
{
	(void)state;
	vpt_collect_free(c);
	vpt_batch_free(&batch);
	return 0;
}

static void finish(void)
{
	struct vpt_err err = {0};

	if (vpt_collect_finish(c, &err))
		fail_msg("%s", err.text);
}

static void chunk(size_t index)
{
	struct vpt_err err = {0};

	if (vpt_collect_chunk(c, index, &batch, &err))
		fail_msg("%s", err.text);
	assert_int_equal(batch.sequence, index);
	assert_int_equal(batch.t_min_ns, vpt_collect_t_min(c, index));
}

static uint64_t string(const char *text)
{
	return vpt_collect_string(c, text, strlen(text));
}

static int is_text(uint64_t id, const char *text)
{
	struct vpt_text t = vpt_batch_text(&batch, id);

	return t.len == strlen(text) && !memcmp(t.text, text, t.len);
}

static void nothing_gives_one_empty_chunk(void **state)
{
	(void)state;
	finish();
	assert_int_equal(vpt_collect_chunks(c), 1);
	chunk(0);
	assert_int_equal(batch.event_count, 0);
	assert_int_equal(batch.flags, VPT_BATCH_LAST);
	assert_int_equal(vpt_collect_header(c)->t0_ns, 0);
	assert_int_equal(vpt_collect_header(c)->t0_unix_ns, 0);
}

static void the_window_is_what_is_told_if_that_makes_sense(void **state)
{
	static const struct {
		uint64_t start_ns, end_ns, expected_start_ns, expected_end_ns;
	} cases[] = {
		{0, 0, 100, 150},
		{50, 0, 50, 150},
		{50, 900, 50, 900},
		{120, 130, 120, 130},
		{900, 800, 100, 800},
		{900, 0, 100, 150},
		{0, 90, 100, 150},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vpt_kernel k = {.start_ns = 100, .duration_ns = 50};

		vpt_collect_free(c);
		c = vpt_collect_new();
		assert_non_null(c);
		vpt_collect_put(c, VPT_KERNEL, vpt_collect_stream(c, 1, 0, 1, 7), &k);
		vpt_collect_window(c, cases[i].start_ns, cases[i].end_ns);
		finish();
		chunk(0);
		assert_int_equal(vpt_collect_header(c)->t0_ns, cases[i].expected_start_ns);
		assert_int_equal(vpt_batch_find(&batch, VPT_CLOCK)->col[VPT_CLOCK_TRACE][0],
			cases[i].expected_end_ns);
	}
}

/* One that never ends stands in every chunk that closes behind its start. */
static void endless_ranges_are_open_at_each_cut(void **state)
{
	struct vpt_kernel k = {.duration_ns = 1};
	struct vpt_open o = {.start_ns = 70000, .name = string("for ever")};
	size_t i;

	(void)state;
	o.lane = vpt_collect_thread(c, 1, 2);
	vpt_collect_put(c, VPT_OPEN, 0, &o);
	for (k.start_ns = 1; k.start_ns <= 140000; k.start_ns++)
		vpt_collect_put(c, VPT_KERNEL, vpt_collect_stream(c, 1, 0, 1, 7), &k);
	finish();
	assert_int_equal(vpt_collect_chunks(c), 3);
	for (i = 0; i < 3; i++) {
		const struct vpt_section *s;

		chunk(i);
		s = vpt_batch_find(&batch, VPT_OPEN);
		assert_int_equal(s ? s->row_count : 0, i > 0);
		if (s)
			assert_true(is_text(s->col[VPT_OPEN_NAME][0], "for ever"));
	}
}

static void series_are_told_apart_by_their_texts(void **state)
{
	uint64_t power = vpt_collect_series(c, -1, 0, string("power"), string("W"));
	struct vpt_counter v = {.time_ns = 5};

	(void)state;
	assert_int_equal(power, vpt_collect_series(c, -1, 0, string("power"), string("W")));
	assert_int_not_equal(power, vpt_collect_series(c, -1, 0, string("power"), string("mW")));
	assert_int_not_equal(power, vpt_collect_series(c, -1, 1, string("power"), string("W")));
	vpt_collect_name_lane(c, power, string("other")); /* would make it another one */
	vpt_collect_put(c, VPT_COUNTER, power, &v);
	finish();
	chunk(0);
	assert_true(is_text(vpt_batch_find(&batch, VPT_LANE)->col[VPT_LANE_NAME][0], "power"));
	assert_true(is_text(vpt_batch_find(&batch, VPT_LANE)->col[VPT_LANE_LANE_UNIT][0], "W"));
}

static void lanes_are_made_once_and_described(void **state)
{
	uint64_t main_thread = vpt_collect_thread(c, 10, 11),
		 stream = vpt_collect_stream(c, 10, 0, 1, 7);
	struct vpt_mark mark = {.time_ns = 5};
	struct vpt_sync sync = {.start_ns = 5, .stream = stream};
	const struct vpt_section *s;

	(void)state;
	assert_int_not_equal(main_thread, 0);
	assert_int_not_equal(main_thread, stream);
	assert_int_equal(vpt_collect_thread(c, 10, 11), main_thread);
	assert_int_equal(vpt_collect_stream(c, 10, 0, 1, 7), stream);
	assert_int_not_equal(vpt_collect_stream(c, 10, 0, 1, -1), stream);
	assert_int_not_equal(vpt_collect_stream(c, 10, 1, 1, 7), stream);
	assert_int_not_equal(vpt_collect_stream(c, 10, 0, 2, 7), stream);
	assert_int_not_equal(vpt_collect_thread(c, 11, 11), main_thread);
	vpt_collect_name_lane(c, main_thread, string("first"));
	vpt_collect_name_lane(c, main_thread, string("main"));
	vpt_collect_name_lane(c, 0, string("nobody"));
	vpt_collect_name_lane(c, 999, string("nobody"));
	vpt_collect_put(c, VPT_MARK, main_thread, &mark);
	vpt_collect_put(c, VPT_SYNC, main_thread, &sync);
	finish();
	chunk(0);
	s = vpt_batch_find(&batch, VPT_LANE);
	/* The thread, which has rows, and the stream, which a row refers to; none of the unused ones. */
	assert_int_equal(s->row_count, 2);
	assert_int_equal(s->col[VPT_LANE_KEY][0], main_thread);
	assert_int_equal(s->col[VPT_LANE_TID][0], 11);
	assert_int_equal(s->col[VPT_LANE_DEVICE][0], (uint64_t)-1);
	assert_true(is_text(s->col[VPT_LANE_NAME][0], "main"));
	assert_int_equal(s->col[VPT_LANE_KEY][1], stream);
	assert_int_equal(s->col[VPT_LANE_STREAM][1], 7);
	assert_int_equal(s->col[VPT_LANE_TID][1], (uint64_t)-1);
}

static void many_lanes_keep_their_keys(void **state)
{
	uint64_t keys[2000];
	int64_t i;

	(void)state;
	for (i = 0; i < 2000; i++)
		keys[i] = vpt_collect_thread(c, i % 3, i);
	for (i = 0; i < 2000; i++)
		assert_int_equal(vpt_collect_thread(c, i % 3, i), keys[i]);
}

/* A column may be 0 in a million rows and then not: all values of all rows stay, whichever comes first. */
static void columns_keep_their_values_whenever_they_first_have_one(void **state)
{
	enum { ROWS = 40, RANGES = VPT_RANGE_COLUMNS, SAMPLES = VPT_SAMPLE_COLUMNS };
	struct vpt_random r = {23};
	unsigned round, row, i;

	(void)state;
	for (round = 0; round < 200; round++) {
		uint64_t ranges[ROWS][RANGES] = {0}, samples[ROWS][SAMPLES] = {0}, lane;

		vpt_collect_free(c);
		c = vpt_collect_new();
		assert_non_null(c);
		lane = vpt_collect_thread(c, 1, 2);
		for (row = 0; row < ROWS; row++) {
			ranges[row][VPT_RANGE_START] = samples[row][VPT_SAMPLE_TIME] = 10 * row + 1;
			ranges[row][VPT_RANGE_DURATION] = vpt_random_below(&r, 9);
			ranges[row][VPT_RANGE_CATEGORY + vpt_random_below(&r, 2)] = row % 7;
			ranges[row][VPT_RANGE_SCHEMA] = vpt_random_below(&r, 40) < row / 30;
			samples[row][VPT_SAMPLE_STATE + vpt_random_below(&r, 4)] = row % 5;
			vpt_collect_put(c, VPT_RANGE, lane, ranges[row]);
			vpt_collect_put(c, VPT_SAMPLE, lane, samples[row]);
		}
		finish();
		chunk(0);
		for (row = 0; row < ROWS; row++) {
			for (i = 0; i < RANGES; i++)
				assert_int_equal(vpt_batch_find(&batch, VPT_RANGE)->col[i][row],
					ranges[row][i]);
			for (i = 0; i < SAMPLES; i++)
				assert_int_equal(vpt_batch_find(&batch, VPT_SAMPLE)->col[i][row],
					samples[row][i]);
		}
	}
}

static void ids_are_translated_into_the_chunk(void **state)
{
	uint64_t thread = vpt_collect_thread(c, 1, 2), stream = vpt_collect_stream(c, 1, 0, 0, 0);
	struct vpt_config config = {.grid_x = 3};
	struct vpt_kernel kernel = {.start_ns = 10, .duration_ns = 1};
	struct vpt_range range = {.start_ns = 20, .duration_ns = 1, .payload = VPT_PAYLOAD_JSON};
	const struct vpt_section *s;
	struct vpt_config other = {.grid_x = 4};

	(void)state;
	string("never used");
	config.name = string("gemm");
	other.name = string("other");
	assert_int_equal(vpt_collect_config(c, &other), 0);
	kernel.config = vpt_collect_config(c, &config);
	assert_int_equal(kernel.config, 1);
	assert_int_equal(vpt_collect_config(c, &config), 1);
	range.name = string("step");
	range.domain = string("cpu_op");
	range.value = string("{\"k\": 1}");
	vpt_collect_put(c, VPT_KERNEL, stream, &kernel);
	vpt_collect_put(c, VPT_RANGE, thread, &range);
	range.payload = VPT_PAYLOAD_UINT64;
	range.start_ns = 30;
	range.domain = 0;
	vpt_collect_put(
		c, VPT_RANGE, thread, &range); /* a value that is no string stays as it is */
	vpt_collect_fact(c, VPT_METADATA_PIPELINE, "value");
	finish();
	chunk(0);
	s = vpt_batch_find(&batch, VPT_KERNEL);
	assert_int_equal(s->col[VPT_KERNEL_CONFIG][0], 0);
	s = vpt_batch_find(&batch, VPT_CONFIG);
	assert_int_equal(s->row_count, 1);
	assert_int_equal(s->col[VPT_CONFIG_GRID_X][0], 3);
	assert_true(is_text(s->col[VPT_CONFIG_NAME][0], "gemm"));
	s = vpt_batch_find(&batch, VPT_RANGE);
	assert_true(is_text(s->col[VPT_RANGE_NAME][0], "step"));
	assert_true(is_text(s->col[VPT_RANGE_DOMAIN][0], "cpu_op"));
	assert_true(is_text(s->col[VPT_RANGE_VALUE][0], "{\"k\": 1}"));
	assert_int_equal(s->col[VPT_RANGE_VALUE][1], range.value);
	assert_int_equal(s->col[VPT_RANGE_DOMAIN][1], 0);
	s = vpt_batch_find(&batch, VPT_META);
	assert_true(is_text(s->col[VPT_META_KEY][0], "pipeline") &&
		    is_text(s->col[VPT_META_VALUE][0], "value"));
	/* "", pipeline, value, gemm, step, cpu_op, the payload: and not the one that nobody uses */
	assert_int_equal(batch.strings.count, 7);
}

static void rows_of_a_lane_stand_in_completion_order(void **state)
{
	/* start, duration; in order of putting. The name is the place where it must come out. */
	static const struct {
		uint64_t start, duration;
	} rows[] = {{100, 50}, {10, 5}, {10, 100}, {20, 5}, {40, 0}, {300, (uint64_t)-100}, {0, 7},
		{10, 100}};
	static const uint64_t expected[] = {6, 1, 3, 4, 7, 2, 0, 5};
	uint64_t thread = vpt_collect_thread(c, 1, 2);
	const struct vpt_section *s;
	uint32_t i;

	(void)state;
	for (i = 0; i < 8; i++) {
		struct vpt_range r = {
			.start_ns = rows[i].start, .duration_ns = rows[i].duration, .category = i};

		vpt_collect_put(c, VPT_RANGE, thread, &r);
	}
	vpt_collect_realtime(c, 1000000);
	finish();
	chunk(0);
	s = vpt_batch_find(&batch, VPT_RANGE);
	assert_int_equal(s->row_count, 8);
	for (i = 0; i < 8; i++)
		assert_int_equal(s->col[VPT_RANGE_CATEGORY][i], expected[i]);
	/* The window leaves a negative duration out: from 0 to 150, not 300. */
	assert_int_equal(vpt_collect_header(c)->t0_ns, 0);
	assert_int_equal(vpt_collect_header(c)->t0_unix_ns, 1000000);
	s = vpt_batch_find(&batch, VPT_CLOCK);
	assert_int_equal(s->col[VPT_CLOCK_TRACE][0], 150);
	assert_int_equal(s->col[VPT_CLOCK_REALTIME][0], 1000150);
}

/* ---- against something dumber ---- */

enum { EVENTS = 150000 };

struct event {
	uint64_t start, end;
	int seen;
};

static struct event events[EVENTS]; /* by correlation - 1 */
static uint64_t chunk_ends[16];

static void put_events(struct vpt_random *r)
{
	uint64_t threads[3], streams[5];
	char name[32];
	uint32_t i;

	for (i = 0; i < 5; i++) {
		streams[i] = vpt_collect_stream(c, 1, 0, 0, i);
		threads[i % 3] = vpt_collect_thread(c, 1, i % 3);
	}
	for (i = 0; i < EVENTS; i++) {
		uint64_t start = 1 + vpt_random_below(r, 1000000000),
			 length = vpt_random_below(r, 5000);
		uint64_t column = i + 1;

		if (i % 1000 == 0)
			length = vpt_random_below(r, 900000000);
		events[i] = (struct event){start, start + length, 0};
		snprintf(name, sizeof(name), "n%u", i % 50);
		if (i % 3 == 0) {
			struct vpt_range row = {.start_ns = start,
				.duration_ns = length,
				.category = column,
				.name = string(name)};

			vpt_collect_put(c, VPT_RANGE, threads[i % 2], &row);
		} else {
			/* Nodes of graphs may run at once on a stream. */
			struct vpt_kernel row = {.start_ns = start,
				.duration_ns = length,
				.correlation = column,
				.graph_node = 1};

			vpt_collect_put(c, VPT_KERNEL, streams[i % 5], &row);
		}
	}
}

/* Marks the rows of a section as seen and checks that they are what was put, in order. */
static void check_section(const struct vpt_section *s, uint64_t floor, uint64_t *ceiling)
{
	int range = s->kind == VPT_RANGE;
	const uint64_t *columns =
		s->col[range ? (int)VPT_RANGE_CATEGORY : (int)VPT_KERNEL_CORRELATION];
	uint64_t before = floor;
	char name[32];
	uint32_t i;

	for (i = 0; i < s->row_count; i++) {
		struct event *e = &events[columns[i] - 1];

		assert_int_equal(e->seen++, 0);
		assert_int_equal(s->col[0][i], e->start);
		assert_int_equal(s->col[0][i] + s->col[1][i], e->end);
		assert_true(e->end >= before);
		before = e->end;
		snprintf(name, sizeof(name), "n%u", (unsigned)((columns[i] - 1) % 50));
		if (range && !is_text(s->col[VPT_RANGE_NAME][i], name))
			fail_msg("event %u has another name", (unsigned)columns[i]);
	}
	*ceiling = before > *ceiling ? before : *ceiling;
}

static void a_long_trace_is_cut_in_time_and_loses_nothing(void **state)
{
	struct vpt_random r = {11};
	size_t k, i, chunks, total = 0;
	uint64_t floor = 0;

	(void)state;
	put_events(&r);
	finish();
	chunks = vpt_collect_chunks(c);
	assert_int_equal(chunks, 3); /* 65,536 events each */
	for (k = 0; k < chunks; k++) {
		uint64_t ceiling = floor, t_min = UINT64_MAX;

		chunk(k);
		total += batch.event_count;
		for (i = 0; i < batch.section_count; i++) {
			const struct vpt_section *s = &batch.sections[i];
			uint32_t row;

			if (s->kind == VPT_RANGE || s->kind == VPT_KERNEL)
				check_section(s, floor, &ceiling);
			for (row = 0; s->kind == VPT_KERNEL && row < s->row_count; row++)
				t_min = s->col[0][row] < t_min ? s->col[0][row] : t_min;
		}
		assert_int_equal(batch.t_min_ns, t_min);
		chunk_ends[k] = floor = ceiling;
		assert_int_equal(
			batch.flags & VPT_BATCH_LAST, k + 1 == chunks ? VPT_BATCH_LAST : 0);
	}
	assert_int_equal(total, EVENTS);
	/* Open when a chunk closes: the ranges begun by then whose rows stand in a later chunk. */
	for (k = 0; k < chunks; k++) {
		const struct vpt_section *open;
		size_t expected = 0;

		chunk(k);
		open = vpt_batch_find(&batch, VPT_OPEN);
		for (i = 0; i < EVENTS; i += 3)
			expected += k + 1 < chunks && events[i].start <= chunk_ends[k] &&
				    events[i].end > chunk_ends[k];
		assert_int_equal(open ? open->row_count : 0, expected);
		assert_true(k + 1 == chunks || expected > 10);
	}
}

static void long_names_cut_chunks_before_their_limit(void **state)
{
	static char text[VPT_STRING_MAX];
	uint64_t thread = vpt_collect_thread(c, 1, 1), i;
	size_t k, rows = 0;

	(void)state;
	for (i = 0; i < 200; i++) {
		struct vpt_mark mark = {.time_ns = i + 1};

		memcpy(text, &i, sizeof(i));
		mark.name = vpt_collect_string(c, text, sizeof(text));
		vpt_collect_put(c, VPT_MARK, thread, &mark);
	}
	finish();
	assert_in_range(vpt_collect_chunks(c), 3, 5);
	for (k = 0; k < vpt_collect_chunks(c); k++) {
		chunk(k);
		assert_true(batch.strings.size <= VPT_CHUNK_PAYLOAD + VPT_STRING_MAX);
		rows += batch.event_count;
	}
	assert_int_equal(rows, 200);
}

static void many_lanes_cut_chunks_before_their_limit(void **state)
{
	struct vpt_mark mark = {0};
	size_t k, rows = 0;
	int64_t i;

	(void)state;
	for (i = 0; i < 20000; i++) {
		mark.time_ns = (uint64_t)i + 1;
		vpt_collect_put(c, VPT_MARK, vpt_collect_thread(c, 1, i), &mark);
	}
	finish();
	assert_true(vpt_collect_chunks(c) > 4);
	for (k = 0; k < vpt_collect_chunks(c); k++) {
		chunk(k);
		assert_true(batch.section_count < VPT_SECTIONS_MAX);
		rows += batch.event_count;
	}
	assert_int_equal(rows, 20000);
}

static void tables_stand_in_the_first_chunk_alone(void **state)
{
	struct vpt_device device = {.device = 3};
	struct vpt_random r = {12};

	(void)state;
	device.name = string("GPU");
	vpt_collect_device(c, -1, &device);
	vpt_collect_fact(c, VPT_METADATA_HOST, "h");
	put_events(&r);
	finish();
	chunk(0);
	assert_int_equal(vpt_batch_find(&batch, VPT_DEVICE)->row_count, 1);
	assert_int_equal(vpt_batch_find(&batch, VPT_META)->row_count, 1);
	assert_null(vpt_batch_find(&batch, VPT_CLOCK));
	chunk(1);
	assert_null(vpt_batch_find(&batch, VPT_DEVICE));
	assert_null(vpt_batch_find(&batch, VPT_META));
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RULE(nothing_gives_one_empty_chunk),
		RULE(the_window_is_what_is_told_if_that_makes_sense),
		RULE(endless_ranges_are_open_at_each_cut),
		RULE(series_are_told_apart_by_their_texts),
		RULE(lanes_are_made_once_and_described),
		RULE(many_lanes_keep_their_keys),
		RULE(columns_keep_their_values_whenever_they_first_have_one),
		RULE(ids_are_translated_into_the_chunk),
		RULE(rows_of_a_lane_stand_in_completion_order),
		RULE(a_long_trace_is_cut_in_time_and_loses_nothing),
		RULE(long_names_cut_chunks_before_their_limit),
		RULE(many_lanes_cut_chunks_before_their_limit),
		RULE(tables_stand_in_the_first_chunk_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
