/* test_chunk.c - filling batches, and their way through bytes: exact for what we write, careful with what
 * others did.
 * Long, since each way to damage a chunk is a case beside the others. */
#include "tests/formats/chunk_rig.h"

#include <cmocka.h>

static void expect_round_trip(const char *what)
{
	struct vpt_err err = {0};
	const char *differ;

	vpt_batch_measure(&batch);
	if (vpt_chunk_encode(&batch, &payload, &err) ||
		vpt_chunk_decode(payload.data, payload.size, 0, &decoded, &err))
		fail_msg("%s: %s", what, err.text);
	differ = vpt_hand_differ(&batch, &decoded);
	if (differ)
		fail_msg("%s: %s differ", what, differ);
	/* What was decoded says the same thing in the same bytes. */
	if (vpt_chunk_encode(&decoded, &again, &err))
		fail_msg("%s: %s", what, err.text);
	assert_int_equal(again.size, payload.size);
	assert_memory_equal(again.data, payload.data, payload.size);
}

/* ---- round trips ---- */

static void every_column_of_every_kind_comes_back(void **state)
{
	enum {
#define VPT_KIND(KIND, kind, type, lane, flags, help) NUMBER_OF_##KIND,
#include "formats/events.def"
		KINDS
	};
	unsigned type, c;
	size_t kinds = 0;

	(void)state;
	for (type = 0; type < VPT_KIND_LIMIT + 2; type++) {
		const struct vpt_kind_desc *kind = vpt_kind_desc(type);
		uint64_t row[VPT_COLUMNS_MAX], other[VPT_COLUMNS_MAX];

		if (!kind || type == VPT_STRING)
			continue;
		kinds++;
		if (type == VPT_STACK) /* not any number will do: see test_stacks.c */
			continue;
		for (c = 0; c < kind->n_columns; c++) {
			row[c] = 1000 + c;
			other[c] = UINT64_MAX - 7 * c;
		}
		vpt_batch_reset(&batch);
		vpt_batch_put(&batch, type, 5, row);
		vpt_batch_put(&batch, type, 5, other);
		vpt_batch_put(&batch, type, UINT64_MAX, other);
		expect_round_trip(kind->name);
		assert_int_equal(decoded.section_count, 2);
		for (c = 0; c < kind->n_columns; c++)
			assert_int_equal(decoded.sections[0].col[c][1], other[c]);
	}
	assert_int_equal(kinds, KINDS - 1);
}

static void put_random_row(
	struct vpt_random *r, unsigned type, uint64_t lane, uint64_t *clock, int calm)
{
	const struct vpt_kind_desc *kind = vpt_kind_desc(type);
	uint64_t row[VPT_COLUMNS_MAX];
	unsigned c;

	for (c = 0; c < kind->n_columns; c++)
		row[c] = vpt_random_below(r, 3) ? vpt_random_nasty(r) : 0;
	if (calm && kind->flags & VPT_KIND_SPAN) {
		row[0] = *clock += vpt_random_below(r, 1000);
		row[1] = vpt_random_below(r, 100);
	}
	vpt_batch_put(&batch, type, lane, row);
}

static void fill_randomly(struct vpt_random *r)
{
	static const uint8_t kinds[] = {
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 17, 18, 19, 20, 21, 22, 23};
	uint64_t strings = vpt_random_below(r, 20), runs = vpt_random_below(r, 40), clock = 1;
	int calm = (int)vpt_random_below(r, 2);
	char text[300];

	while (strings--) {
		size_t len = vpt_random_below(r, sizeof(text)), i;

		for (i = 0; i < len; i++)
			text[i] = (char)vpt_random(r);
		vpt_batch_string(&batch, text, len);
	}
	while (runs--) {
		unsigned type = kinds[vpt_random_below(r, sizeof(kinds))];
		uint64_t lane = vpt_random_below(r, 4), rows = vpt_random_below(r, 60);

		if (!vpt_random_below(r, 20))
			rows = 1100; /* beyond VPT_FLUSH_ROWS */
		while (rows--)
			put_random_row(r, type, lane, &clock, calm);
	}
	batch.sequence = vpt_random(r);
	batch.lost_events = (uint32_t)vpt_random(r);
	batch.flags = vpt_random_below(r, 2) ? VPT_BATCH_LAST : 0;
}

/* The batches are used again and again, so memory of larger chunks before lies under smaller ones. */
static void any_batch_comes_back(void **state)
{
	struct vpt_random r = {3};
	size_t round;

	(void)state;
	for (round = 0; round < 400; round++) {
		vpt_batch_reset(&batch);
		fill_randomly(&r);
		assert_int_equal(vpt_batch_error(&batch), VPT_OK);
		expect_round_trip("a random batch");
	}
}

/* Reads a section in stretches of any length, and compares with one whose columns are there. */
static void expect_rows(
	struct vpt_random *r, const struct vpt_section *s, const struct vpt_section *plain)
{
	static uint64_t starts[VPT_ROWS_AT_ONCE], ids[VPT_ROWS_AT_ONCE];
	unsigned correlation = s->kind == VPT_CALL ? VPT_CALL_CORRELATION : VPT_KERNEL_CORRELATION;
	uint64_t *const *col = plain->col;
	static struct vpt_rows rows;
	uint32_t at = 0, count, i;
	unsigned c;

	vpt_rows_begin(&rows, s);
	for (; at < plain->row_count; at += count) {
		count = (uint32_t)vpt_random_below(r, 2) ? VPT_ROWS_AT_ONCE
							 : 1 + (uint32_t)vpt_random_below(r, 9);
		count = plain->row_count - at < count ? plain->row_count - at : count;
		vpt_rows_next(&rows, count, 0x3f & ~(1u << correlation), starts, ids);
		for (i = 0; i < count; i++) {
			assert_int_equal(starts[i], col[0][at + i]);
			assert_int_equal(ids[i], col[correlation][at + i]);
			for (c = 1; c < VPT_PACKED_COLUMNS; c++)
				if (c != correlation)
					assert_int_equal(rows.col[c][i], col[c][at + i]);
		}
	}
}

/* Kernels that follow one another, but for one that does not always: `flaw` 1 overlaps the one before, 2 is empty. */
static void fill_with_kernels(struct vpt_random *r, int flaw)
{
	uint32_t rows = VPT_PACKED_ROWS - 2 + (uint32_t)vpt_random_below(r, 1000), i;
	uint32_t at = 1 + (uint32_t)vpt_random_below(r, rows - 1);
	uint64_t clock = 1000;

	for (i = 0; i < rows; i++) {
		struct vpt_kernel k = {.start_ns = clock + vpt_random_below(r, 2000),
			.duration_ns = 1 + vpt_random_below(r, 100000),
			.config = vpt_random_below(r, 300),
			.correlation = vpt_random_below(r, 20) ? i + 1 : vpt_random(r),
			.graph_node = vpt_random_below(r, 2)};

		if (i == at && flaw == 1)
			k.start_ns = clock - 1;
		if (i == at && flaw == 2)
			k.duration_ns = 0;
		clock = k.start_ns + k.duration_ns;
		vpt_batch_put(&batch, VPT_KERNEL, 3, &k);
	}
}

static void kernels_stay_packed_only_where_they_are_in_order(void **state)
{
	struct vpt_random r = {6};
	const char *differ;
	int round;

	(void)state;
	for (round = 0; round < 60; round++) {
		vpt_batch_reset(&batch);
		fill_with_kernels(&r, round % 3);
		vpt_batch_measure(&batch);
		assert_int_equal(vpt_chunk_encode(&batch, &payload, NULL), 0);
		decoded.packs = 1;
		assert_int_equal(
			vpt_chunk_decode(payload.data, payload.size, 0, &decoded, NULL), 0);
		assert_int_equal(decoded.sections[0].is_packed,
			round % 3 == 0 && batch.sections[0].row_count >= VPT_PACKED_ROWS);
		expect_rows(&r, &decoded.sections[0], &batch.sections[0]);
		assert_int_equal(vpt_chunk_unpack(&decoded), 0);
		differ = vpt_hand_differ(&batch, &decoded);
		if (differ)
			fail_msg("unpacked: %s differ", differ);
	}
}

static void packed_calls_are_those_that_were_packed(void **state)
{
	struct vpt_random r = {5};
	size_t round, i, packed = 0;
	const char *differ;

	(void)state;
	for (round = 0; round < 200; round++) {
		vpt_batch_reset(&batch);
		fill_randomly(&r);
		vpt_batch_measure(&batch);
		assert_int_equal(vpt_chunk_encode(&batch, &payload, NULL), 0);
		decoded.packs = 1;
		assert_int_equal(
			vpt_chunk_decode(payload.data, payload.size, 0, &decoded, NULL), 0);
		for (i = 0; i < batch.section_count; i++)
			if (batch.sections[i].kind == VPT_CALL)
				expect_rows(&r, &batch.sections[i], &batch.sections[i]);
		assert_int_equal(decoded.packs, 1);
		for (i = 0; i < decoded.section_count; i++) {
			const struct vpt_section *s = &decoded.sections[i], *plain = batch.sections;

			if (!s->is_packed)
				continue;
			assert_int_equal(s->kind, VPT_CALL);
			while (plain->kind != VPT_CALL || plain->lane != s->lane)
				plain++;
			expect_rows(&r, s, plain);
			packed++;
		}
		assert_int_equal(vpt_chunk_unpack(&decoded), 0);
		differ = vpt_hand_differ(&batch, &decoded);
		if (differ)
			fail_msg("unpacked: %s differ", differ);
	}
	assert_true(packed > 100);
}

static void a_batch_without_rows_comes_back(void **state)
{
	(void)state;
	expect_round_trip("nothing at all");
	assert_int_equal(payload.size, VPT_CHUNK_HEADER_SIZE);
	assert_int_equal(decoded.t_min_ns, UINT64_MAX);
	assert_int_equal(vpt_batch_string(&batch, "", 0), 0);
	assert_int_equal(vpt_strings_put(&batch.strings, "", 0), 0);
	assert_int_equal(vpt_batch_text(&batch, 0).len, 0);
	expect_round_trip("the empty string alone");
	assert_int_equal(decoded.strings.count, 1);
	assert_int_equal(vpt_batch_text(&decoded, 0).len, 0);
}

static void columns_of_zeros_are_left_out_and_read_as_zero(void **state)
{
	struct vpt_copy copy = {.bytes = 9};
	const struct vpt_section *s;
	unsigned c;

	(void)state;
	vpt_batch_put(&batch, VPT_COPY, 1, &copy);
	expect_round_trip("one column");
	/* chunk, section, the first column and the one that says something: two headers and 0 planes */
	assert_int_equal(payload.size, 48 + 32 + 16 + 16);
	s = vpt_batch_find(&decoded, VPT_COPY);
	for (c = 0; c < VPT_COPY_COLUMNS; c++)
		assert_int_equal(s->col[c][0], c == VPT_COPY_BYTES ? 9 : 0);
}

static void blocks_end_behind_large_planes_only(void **state)
{
	struct vpt_mark mark = {0};
	uint32_t i, f;

	(void)state;
	for (i = 0; i < VPT_FLUSH_ROWS; i++) {
		mark.time_ns = i * 100;
		mark.name = i;
		vpt_batch_put(&batch, VPT_MARK, 1, &mark);
	}
	for (i = 0; i < VPT_FLUSH_ROWS - 1; i++)
		vpt_batch_put(&batch, VPT_MARK, 2, &mark);
	expect_round_trip("marks");
	/* the header, one plane of times, two of names */
	assert_int_equal(payload.flush_count, 4);
	assert_int_equal(payload.flushes[0], VPT_CHUNK_HEADER_SIZE);
	for (f = 1; f < payload.flush_count; f++)
		assert_true(payload.flushes[f] > payload.flushes[f - 1]);
}

/* ---- filling ---- */

static void strings_and_configs_are_kept_once(void **state)
{
	static char large[VPT_STRING_MAX + 10];
	struct vpt_config a = {.name = 1, .grid_x = 5}, b = {.name = 1, .grid_x = 6};
	uint64_t i;

	(void)state;
	assert_int_equal(vpt_batch_string(&batch, NULL, 0), 0);
	assert_int_equal(vpt_batch_string(&batch, "a", 1), 1);
	assert_int_equal(vpt_batch_string(&batch, "a\0b", 3), 2);
	assert_int_equal(vpt_batch_string(&batch, "a", 1), 1);
	assert_int_equal(vpt_batch_text(&batch, 2).len, 3);
	assert_memory_equal(vpt_batch_text(&batch, 2).text, "a\0b", 3);
	assert_string_equal(vpt_batch_text(&batch, 3).text, "?");
	assert_string_equal(vpt_batch_text(&batch, UINT64_MAX).text, "?");
	assert_int_equal(vpt_batch_string(&batch, large, sizeof(large)), 3);
	assert_int_equal(vpt_batch_text(&batch, 3).len, VPT_STRING_MAX);

	assert_int_equal(vpt_batch_config(&batch, &a), 0);
	assert_int_equal(vpt_batch_config(&batch, &b), 1);
	assert_int_equal(vpt_batch_config(&batch, &a), 0);
	for (i = 0; i < 500; i++) {
		b.graph = i + 1;
		assert_int_equal(vpt_batch_config(&batch, &b), i + 2);
	}
	for (i = 0; i < 500; i++) {
		b.graph = i + 1;
		assert_int_equal(vpt_batch_config(&batch, &b), i + 2);
	}
	vpt_batch_reset(&batch);
	assert_int_equal(vpt_batch_config(&batch, &b), 0);
	assert_int_equal(vpt_batch_string(&batch, "b", 1), 1);
}

/* Rows of two sections in turn, so that the memory of one chunk's large section meets the next one's. */
static void sections_grow_and_are_used_again(void **state)
{
	static const uint32_t sizes[] = {1, 5000, 33, 32, 31, 70, 20000, 1};
	size_t round;
	uint32_t i;

	(void)state;
	for (round = 0; round < sizeof(sizes) / sizeof(sizes[0]); round++) {
		vpt_batch_reset(&batch);
		for (i = 0; i < sizes[round]; i++) {
			struct vpt_kernel k = {i + 1, i + 2, i + 3, i + 4, i + 5, i + 6};
			struct vpt_clock c = {i + 7, i + 8, i + 9, i + 10};

			vpt_batch_put(&batch, round % 2 ? VPT_KERNEL : VPT_CLOCK, 3,
				round % 2 ? &k : (void *)&c);
			vpt_batch_put(&batch, round % 2 ? VPT_CLOCK : VPT_KERNEL, 4,
				round % 2 ? &c : (void *)&k);
		}
		assert_int_equal(batch.section_count, 2);
		for (i = 0; i < sizes[round]; i++) {
			const struct vpt_section *k = vpt_batch_find(&batch, VPT_KERNEL);
			const struct vpt_section *c = vpt_batch_find(&batch, VPT_CLOCK);

			assert_int_equal(k->col[VPT_KERNEL_START][i], i + 1);
			assert_int_equal(k->col[VPT_KERNEL_FLAGS][i], i + 6);
			assert_int_equal(c->col[VPT_CLOCK_BOOTTIME][i], i + 10);
		}
	}
}

/* A column gets memory with its first value; what stood there before reads as 0, in that row too. */
/* Two buffers arrived in the wrong order. Calls 1 and 2 are inside call 3, and end with it; a query of no
 * length begins with call 4. */
static void rows_of_a_lane_are_put_in_order_of_their_ends(void **state)
{
	static const struct vpt_call calls[] = {
		{.start_ns = 80, .duration_ns = 20, .correlation = 5},
		{.start_ns = 60, .duration_ns = 0, .correlation = 6},
		{.start_ns = 60, .duration_ns = 10, .correlation = 4},
		{.start_ns = 20, .duration_ns = 5, .correlation = 1},
		{.start_ns = 30, .duration_ns = 10, .correlation = 2},
		{.start_ns = 10, .duration_ns = 30, .correlation = 3},
	};
	static const uint64_t ordered[] = {1, 2, 3, 6, 4, 5}, ends_ns[] = {25, 40, 40, 60, 70, 100};
	const struct vpt_section *s;
	size_t i;

	(void)state;
	for (i = 0; i < 6; i++) {
		vpt_batch_put(&batch, VPT_CALL, 7, &calls[i]);
		vpt_batch_put(&batch, VPT_CALL, 8, &calls[5]); /* in order: all end together */
	}
	assert_int_equal(vpt_batch_order(&batch), VPT_OK);
	s = &batch.sections[0];
	assert_int_equal(s->lane, 7);
	for (i = 0; i < 6; i++) {
		assert_int_equal(s->col[VPT_CALL_CORRELATION][i], ordered[i]);
		assert_int_equal(
			s->col[VPT_CALL_START][i] + s->col[VPT_CALL_DURATION][i], ends_ns[i]);
		assert_int_equal(batch.sections[1].col[VPT_CALL_CORRELATION][i], 3);
	}
}

static void columns_appear_with_their_first_value(void **state)
{
	enum { ROWS = 200 };
	static const struct {
		enum vpt_kind kind;
		unsigned column, columns; /* that gets a value, that there are then */
		uint32_t at;
	} cases[] = {
		{VPT_KERNEL, VPT_KERNEL_GRAPH_NODE, VPT_KERNEL_COLUMNS, 0},
		{VPT_KERNEL, VPT_KERNEL_FLAGS, VPT_KERNEL_COLUMNS, 31},
		{VPT_KERNEL, VPT_KERNEL_FLAGS, VPT_KERNEL_COLUMNS, 32},
		{VPT_CALL, VPT_CALL_NAME, VPT_CALL_COLUMNS, 33},
		{VPT_CALL, VPT_CALL_RESULT, VPT_CALL_COLUMNS, ROWS - 1},
		{VPT_RANGE, VPT_RANGE_UNMATCHED, 2, 100},
		{VPT_MARK, VPT_MARK_TIME, 1, 5},
	};
	size_t n;

	(void)state;
	for (n = 0; n < 2 * sizeof(cases) / sizeof(cases[0]); n++) {
		const unsigned column = cases[n / 2].column;
		const struct vpt_section *s;
		uint64_t row[VPT_COLUMNS_MAX];
		unsigned c, present = 0;
		uint32_t i;

		/* Every other time in memory that is full of another chunk. */
		memset(row, 0x77, sizeof(row));
		for (i = 0; n % 2 && i < ROWS; i++)
			vpt_batch_put(&batch, VPT_COPY, 1, row);
		vpt_batch_reset(&batch);
		memset(row, 0, sizeof(row));
		for (i = 0; i < ROWS; i++) {
			row[0] = i + 1;
			row[column] = i == cases[n / 2].at ? 5 : column ? 0 : i + 1;
			s = vpt_batch_put(&batch, cases[n / 2].kind, 1, row);
			assert_ptr_equal(s, vpt_batch_find(&batch, cases[n / 2].kind));
		}
		for (i = 0; i < ROWS; i++)
			for (c = 0; c < vpt_kind_desc(s->kind)->n_columns; c++) {
				uint64_t value = c == 0 ? i + 1 : 0;

				if (i == cases[n / 2].at && c == column)
					value = 5;
				assert_int_equal(s->col[c][i], value);
				present += i ? 0 : (unsigned)vpt_section_has(s, c);
			}
		assert_int_equal(present, cases[n / 2].columns);
		assert_int_equal(batch.event_count, ROWS);
	}
}

/* The short way into a section does all or nothing. */
static void appended_rows_are_those_that_fit(void **state)
{
	struct vpt_kernel k = {1, 2, 3, 4, 0, 0};
	struct vpt_section *s = vpt_batch_put(&batch, VPT_KERNEL, 1, &k);
	uint32_t i;

	(void)state;
	assert_false(vpt_section_append(s, VPT_KERNEL_ALL, &k.start_ns));
	for (i = 1; i < s->row_cap; i++) {
		k.config = i;
		assert_true(vpt_section_append(s, VPT_KERNEL_USUAL, &k.start_ns));
	}
	assert_false(vpt_section_append(s, VPT_KERNEL_USUAL, &k.start_ns));
	k.graph_node = 9;
	s = vpt_batch_put(&batch, VPT_KERNEL, 1, &k);
	assert_false(vpt_section_append(s, VPT_KERNEL_USUAL, &k.start_ns));
	k.graph_node = 10;
	assert_true(vpt_section_append(s, VPT_KERNEL_ALL, &k.start_ns));
	assert_int_equal(s->row_count, i + 2);
	assert_int_equal(s->col[VPT_KERNEL_CONFIG][i - 1], i - 1);
	assert_int_equal(s->col[VPT_KERNEL_GRAPH_NODE][i - 1], 0);
	assert_int_equal(s->col[VPT_KERNEL_GRAPH_NODE][i], 9);
	assert_int_equal(s->col[VPT_KERNEL_GRAPH_NODE][i + 1], 10);
	assert_int_equal(s->col[VPT_KERNEL_CORRELATION][i + 1], 4);
}

/* What the reader filled shares memory with others: it takes rows only after a reset, and then again. */
static void a_decoded_batch_takes_no_rows_before_it_is_reset(void **state)
{
	struct vpt_mark mark = {.time_ns = 5};

	(void)state;
	vpt_batch_put(&batch, VPT_MARK, 1, &mark);
	vpt_batch_measure(&batch);
	assert_int_equal(vpt_chunk_encode(&batch, &payload, NULL), VPT_OK);
	assert_int_equal(vpt_chunk_decode(payload.data, payload.size, 0, &decoded, NULL), VPT_OK);
	vpt_batch_put(&decoded, VPT_MARK, 2, &mark);
	assert_int_equal(vpt_batch_error(&decoded), VPT_EINVAL);
	vpt_batch_reset(&decoded);
	vpt_batch_put(&decoded, VPT_MARK, 2, &mark);
	assert_int_equal(vpt_batch_error(&decoded), VPT_OK);
	assert_int_equal(vpt_batch_find(&decoded, VPT_MARK)->row_count, 1);
}

static void limits_stick_and_are_worded(void **state)
{
	struct vpt_stats row = {0};
	struct vpt_err err;
	uint64_t lane;
	uint32_t i;

	(void)state;
	for (lane = 0; lane < VPT_SECTIONS_MAX - 1; lane++)
		vpt_batch_put(&batch, VPT_STATS, lane, &row);
	assert_int_equal(vpt_batch_error(&batch), VPT_OK);
	assert_true(vpt_batch_full(&batch));
	assert_int_equal(vpt_chunk_encode(&batch, &payload, &err), VPT_OK);
	vpt_batch_put(&batch, VPT_STATS, lane, &row);
	assert_int_equal(vpt_batch_error(&batch), VPT_ENOMEM);
	assert_int_equal(vpt_batch_string(&batch, "a", 1), 0);
	assert_int_equal(vpt_chunk_encode(&batch, &payload, &err), VPT_ENOMEM);
	assert_string_equal(
		err.text, "chunk 0 could not be filled: no memory or too many sections");

	vpt_batch_reset(&batch);
	assert_int_equal(vpt_batch_error(&batch), VPT_OK);
	for (i = 0; i < VPT_ROWS_MAX; i++)
		vpt_batch_put(&batch, VPT_META, 0, &row);
	assert_int_equal(vpt_batch_error(&batch), VPT_OK);
	vpt_batch_put(&batch, VPT_META, 0, &row);
	assert_int_equal(vpt_chunk_encode(&batch, &payload, &err), VPT_EINVAL);
	assert_string_equal(err.text, "chunk 0 could not be filled: too many rows in one section");
}

static void a_chunk_is_full_in_time(void **state)
{
	static char text[VPT_STRING_MAX];
	struct vpt_mark mark = {0};
	size_t i;

	(void)state;
	assert_false(vpt_batch_full(&batch));
	for (i = 0; i < VPT_CHUNK_EVENTS; i++) {
		assert_false(vpt_batch_full(&batch));
		vpt_batch_put(&batch, VPT_MARK, 1, &mark);
	}
	assert_true(vpt_batch_full(&batch));
	vpt_batch_reset(&batch);
	for (i = 0; i < VPT_CHUNK_PAYLOAD / VPT_STRING_MAX; i++) {
		assert_false(vpt_batch_full(&batch));
		text[0] = (char)i;
		vpt_batch_string(&batch, text, sizeof(text));
	}
	assert_true(vpt_batch_full(&batch));
}

static void a_payload_beyond_the_limit_is_not_written(void **state)
{
	static char text[VPT_STRING_MAX];
	struct vpt_err err;
	size_t i;

	(void)state;
	for (i = 0; i < VPT_PAYLOAD_MAX / VPT_STRING_MAX; i++) {
		memcpy(text, &i, sizeof(i));
		vpt_batch_string(&batch, text, sizeof(text));
	}
	assert_int_equal(vpt_chunk_encode(&batch, &payload, &err), VPT_EINVAL);
	assert_non_null(strstr(err.text, "at most 16777216 are allowed"));
}

/* One row of a kind; what it does to the times of its chunk. */
static void times_are_measured_as_the_format_says(void **state)
{
	static const struct {
		const char *rule;
		enum vpt_kind kind;
		uint64_t start, duration, id, t_min, t_max;
	} cases[] = {
		{"an op moves both", VPT_KERNEL, 10, 5, 0, 10, 15},
		{"so does a copy", VPT_COPY, 10, 5, 0, 10, 15},
		{"and a loss", VPT_LOSS, 10, 5, 0, 10, 15},
		{"and overhead", VPT_OVERHEAD, 10, 5, 0, 10, 15},
		{"a launch too (cudaLaunchKernel)", VPT_CALL, 10, 5, 1, 10, 15},
		{"another call may enclose a launch", VPT_CALL, 10, 5, 0, 10, 15},
		{"unless it lasts for more than a second", VPT_CALL, 10, 1000000001, 0, UINT64_MAX,
			1000000011},
		{"a call that waits only lasts (cudaDeviceSynchronize)", VPT_CALL, 10, 5, 100,
			UINT64_MAX, 15},
		{"a query too (cudaEventQuery)", VPT_CALL, 10, 5, 110, UINT64_MAX, 15},
		{"and the record of an event (cudaEventRecord)", VPT_CALL, 10, 5, 122, UINT64_MAX,
			15},
		{"a range only lasts", VPT_RANGE, 10, 5, 0, UINT64_MAX, 15},
		{"a synchronisation only lasts", VPT_SYNC, 10, 5, VPT_SYNCKIND_STREAM, UINT64_MAX,
			15},
		{"a wait queued on a stream moves both", VPT_SYNC, 10, 5, VPT_SYNCKIND_STREAM_WAIT,
			10, 15},
		{"a mark only lasts", VPT_MARK, 10, 0, 0, UINT64_MAX, 10},
		{"a sample moves neither", VPT_SAMPLE, 10, 0, 0, UINT64_MAX, 0},
		{"time 0 is invalid", VPT_KERNEL, 0, 5, 0, UINT64_MAX, 0},
		{"a negative duration is invalid", VPT_KERNEL, 10, UINT64_MAX, 0, UINT64_MAX, 0},
		{"a row of a table has no time", VPT_STATS, 10, 5, 0, UINT64_MAX, 0},
		{"an open range has not ended", VPT_OPEN, 10, 5, 0, UINT64_MAX, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t row[VPT_COLUMNS_MAX] = {cases[i].start, cases[i].duration, cases[i].id};

		vpt_batch_reset(&batch);
		vpt_batch_put(&batch, cases[i].kind, 1, row);
		vpt_batch_measure(&batch);
		if (batch.t_min_ns != cases[i].t_min || batch.t_max_ns != cases[i].t_max)
			fail_msg("%s: %llu - %llu", cases[i].rule,
				(unsigned long long)batch.t_min_ns,
				(unsigned long long)batch.t_max_ns);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RULE(every_column_of_every_kind_comes_back),
		RULE(any_batch_comes_back),
		RULE(packed_calls_are_those_that_were_packed),
		RULE(kernels_stay_packed_only_where_they_are_in_order),
		RULE(a_batch_without_rows_comes_back),
		RULE(columns_of_zeros_are_left_out_and_read_as_zero),
		RULE(blocks_end_behind_large_planes_only),
		RULE(strings_and_configs_are_kept_once),
		RULE(sections_grow_and_are_used_again),
		RULE(rows_of_a_lane_are_put_in_order_of_their_ends),
		RULE(columns_appear_with_their_first_value),
		RULE(appended_rows_are_those_that_fit),
		RULE(a_decoded_batch_takes_no_rows_before_it_is_reset),
		RULE(limits_stick_and_are_worded),
		RULE(a_chunk_is_full_in_time),
		RULE(a_payload_beyond_the_limit_is_not_written),
		RULE(times_are_measured_as_the_format_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
