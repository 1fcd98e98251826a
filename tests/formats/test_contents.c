/* test_contents.c - the contents at the end of a capture: they describe its chunks, a reader believes them only as far as the
 * file bears them out, and a capture without is read as before. */
#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "formats/capture_layout.h"
#include "formats/file/capture_reader.h"
#include "formats/file/capture_writer.h"
#include "formats/file/contents.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { CHUNKS = 40, TAIL = 16 };

/* Chunk i has i % 3 kernels, a call that launches the kernel of the next one, i % 4 ranges "r", and each fifth an "s". */
static void fill(struct vpt_batch *b, unsigned i)
{
	uint64_t t = 1000 + i * 100, k;

	vpt_batch_reset(b);
	for (k = 0; k < i % 3; k++)
		vpt_batch_put(b, VPT_KERNEL, 7,
			&(struct vpt_kernel){.start_ns = t + 10 * k,
				.duration_ns = 5,
				.correlation = i,
				.config = vpt_batch_config(
					b, &(struct vpt_config){.name = vpt_batch_string(b,
									i == 22 ? "b" : "a", 1)})});
	vpt_batch_put(b, VPT_CALL, 1,
		&(struct vpt_call){
			.start_ns = t + 50, .duration_ns = 3, .id = 1, .correlation = i + 1});
	if (i == 11)
		vpt_batch_put(b, VPT_META, 0,
			&(struct vpt_meta){.key = vpt_batch_string(b, "key", 3),
				.value = vpt_batch_string(b, "value", 5)});
	for (k = 0; k < i % 4 + (i % 5 == 0); k++)
		vpt_batch_put(b, VPT_RANGE, 1,
			&(struct vpt_range){.start_ns = t + 60 + k,
				.duration_ns = 1,
				.name = vpt_batch_string(b, k < i % 4 ? "r" : "s", 1)});
	b->lost_events = i == 13;
}

static struct vpt_buffer write_chunks(unsigned count, int has_last, uint64_t max_bytes)
{
	struct vpt_header header = {.major = 1, .t0_ns = 1000};
	struct vpt_buffer file = {0};
	struct vpt_writer *w;
	struct vpt_sink *sink;
	struct vpt_batch b;
	unsigned i;

	vpt_batch_init(&b);
	assert_int_equal(vpt_sink_memory(&file, &sink, NULL), 0);
	assert_int_equal(vpt_writer_open(sink, &header, 0, &w, NULL), 0);
	vpt_writer_limit(w, max_bytes);
	for (i = 0; i < count; i++) {
		uint64_t before = sink->written_bytes, room = vpt_writer_contents_bytes(w);

		fill(&b, i);
		b.flags = has_last && i + 1 == count ? VPT_BATCH_LAST : 0;
		assert_int_equal(vpt_writer_put(w, &b, NULL), 0);
		if (b.flags)
			assert_true(sink->written_bytes - before < room + 400);
	}
	vpt_writer_free(w);
	assert_int_equal(sink->finish(sink, 1, NULL), 0);
	vpt_batch_free(&b);
	return file;
}

static int has_tail(const struct vpt_buffer *file)
{
	return !memcmp(file->data + file->size - 8, "VPTCNTS\n", 8);
}

static size_t table_size(const struct vpt_buffer *file)
{
	uint32_t size;

	memcpy(&size, file->data + file->size - TAIL, 4);
	return size;
}

static struct vpt_reader *open_bytes(const void *data, size_t size)
{
	struct vpt_source *src;
	struct vpt_reader *r;

	assert_int_equal(vpt_source_memory(data, size, &src, NULL), 0);
	assert_int_equal(vpt_reader_open(src, &r, NULL), 0);
	return r;
}

static void expect_same(const struct vpt_reader *a, const struct vpt_reader *b, size_t i)
{
	const struct vpt_chunk_info *x = vpt_reader_info(a, i), *y = vpt_reader_info(b, i);

	assert_int_equal(x->offset, y->offset);
	assert_int_equal(x->size, y->size);
	assert_int_equal(x->sequence, y->sequence);
	assert_int_equal(x->t_min_ns, y->t_min_ns);
	assert_int_equal(x->t_max_ns, y->t_max_ns);
	assert_int_equal(x->content_size, y->content_size);
	assert_int_equal(x->event_count, y->event_count);
	assert_int_equal(x->lost_events, y->lost_events);
	assert_int_equal(x->section_count, y->section_count);
	assert_int_equal(x->flags, y->flags);
	assert_int_equal(x->state, y->state);
}

static void the_contents_say_what_each_chunk_holds(void **state)
{
	struct vpt_buffer file = write_chunks(CHUNKS, 1, 0);
	struct vpt_reader *r = open_bytes(file.data, file.size);
	struct vpt_reader *walked = open_bytes(file.data, file.size - table_size(&file));
	const struct vpt_contents *c = vpt_reader_contents(r);
	struct vpt_decoder *d = vpt_decoder_new();
	struct vpt_batch batch;
	size_t i;

	(void)state;
	vpt_batch_init(&batch);
	assert_non_null(c);
	assert_null(vpt_reader_contents(walked));
	assert_int_equal(c->count, CHUNKS);
	assert_int_equal(vpt_reader_chunks(walked), CHUNKS);
	for (i = 0; i < CHUNKS; i++) {
		const uint64_t *v = c->items[i].values;
		uint64_t t = 1000 + i * 100, kernels = i % 3;

		expect_same(r, walked, i);
		assert_int_equal(v[VPT_CONTENTS_ROWS + VPT_KERNEL], kernels);
		assert_int_equal(v[VPT_CONTENTS_ROWS + VPT_CALL], 1);
		assert_int_equal(v[VPT_CONTENTS_ROWS + VPT_META], i == 11);
		assert_int_equal(v[VPT_CONTENTS_FIRST], kernels ? t : t + 50);
		assert_int_equal(v[VPT_CONTENTS_CALLS_FROM], i + 1);
		assert_int_equal(v[VPT_CONTENTS_CALLS_TO], i + 1);
		assert_int_equal(v[VPT_CONTENTS_OPS_FROM], kernels ? i : UINT64_MAX);
		assert_int_equal(v[VPT_CONTENTS_OPS_TO], kernels ? i : 0);
		assert_int_equal(v[VPT_CONTENTS_LOST], i == 13);
		/* Its first kernel, a fact, another kernel. */
		assert_int_equal(v[VPT_CONTENTS_NEWS], i == 1 || i == 11 || i == 22);
		assert_int_equal(v[VPT_CONTENTS_ODD], 0);
		assert_int_equal(vpt_reader_chunk(r, d, i, &batch, NULL), 0);
	}
	vpt_batch_free(&batch);
	vpt_decoder_free(d);
	vpt_reader_free(r);
	vpt_reader_free(walked);
	vpt_free(file.data);
}

/* Also over several tables. */
static void the_contents_count_ranges_by_name(void **state)
{
	static const unsigned chunks[] = {CHUNKS, 2 * VPT_CONTENTS_ENTRIES + 5};
	size_t k, i, n;

	(void)state;
	for (k = 0; k < COUNT(chunks); k++) {
		struct vpt_buffer file = write_chunks(chunks[k], 1, 0);
		struct vpt_reader *r = open_bytes(file.data, file.size);
		struct vpt_contents_counts c;

		assert_int_equal(vpt_contents_counts_begin(&c, vpt_reader_contents(r)), 0);
		for (i = 0; i < chunks[k]; i++) {
			uint64_t rows[2] = {0, 0};

			assert_int_equal(vpt_contents_counts_next(&c), 0);
			for (n = 0; n < c.count; n++)
				rows[vpt_text_is(c.items[n].name, "s")] += c.items[n].rows;
			assert_int_equal(c.count, (i % 4 != 0) + (i % 5 == 0));
			assert_int_equal(rows[0], i % 4);
			assert_int_equal(rows[1], i % 5 == 0);
		}
		assert_int_equal(vpt_contents_counts_next(&c), VPT_END);
		vpt_contents_counts_end(&c);
		vpt_reader_free(r);
		vpt_free(file.data);
	}
}

/* With more names than a table keeps it says nothing of ranges. */
static void a_table_may_say_nothing_of_ranges(void **state)
{
	struct vpt_contents_ranges ranges = {0};
	struct vpt_batch b;
	unsigned i;
	char name[16];

	(void)state;
	vpt_batch_init(&b);
	for (i = 0; i < 1025; i++) {
		snprintf(name, sizeof(name), "%u", i);
		vpt_batch_put(&b, VPT_RANGE, 1,
			&(struct vpt_range){.start_ns = 1 + i,
				.duration_ns = 1,
				.name = vpt_batch_string(&b, name, strlen(name))});
		if (i != 1023)
			continue;
		assert_int_equal(vpt_contents_ranges_add(&ranges, &b), 0);
		assert_int_not_equal(vpt_contents_ranges_room(&ranges), 0);
	}
	assert_int_equal(vpt_contents_ranges_add(&ranges, &b), 0);
	assert_int_equal(vpt_contents_ranges_room(&ranges), 0);
	vpt_batch_reset(&b);
	assert_int_equal(vpt_contents_ranges_add(&ranges, &b), 0);
	assert_int_equal(vpt_contents_ranges_room(&ranges), 0);
	vpt_contents_ranges_reset(&ranges);
	assert_int_equal(vpt_contents_ranges_add(&ranges, &b), 0);
	assert_int_not_equal(vpt_contents_ranges_room(&ranges), 0);
	vpt_contents_ranges_free(&ranges);
	vpt_batch_free(&b);
}

static void short_captures_and_killed_ones_have_none(void **state)
{
	struct vpt_buffer full = write_chunks(CHUNKS, 1, 0);
	struct {
		unsigned chunks;
		int has_last;
		uint64_t max_bytes;
		int has_contents;
	} cases[] = {{VPT_CONTENTS_LEAST - 1, 1, 0, 0}, {VPT_CONTENTS_LEAST, 1, 0, 1},
		{CHUNKS, 0, 0, 0}, {CHUNKS, 1, full.size, 1}, {CHUNKS, 1, full.size - 1, 0}};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpt_buffer file =
			write_chunks(cases[i].chunks, cases[i].has_last, cases[i].max_bytes);
		struct vpt_reader *r = open_bytes(file.data, file.size);

		assert_int_equal(has_tail(&file), cases[i].has_contents);
		assert_int_equal(vpt_reader_contents(r) != NULL, cases[i].has_contents);
		assert_int_equal(vpt_reader_chunks(r), cases[i].chunks);
		vpt_reader_free(r);
		vpt_free(file.data);
	}
	vpt_free(full.data);
}

/* Each table follows the chunks that it describes. */
static void a_long_capture_has_several_tables(void **state)
{
	enum { MANY = 2 * VPT_CONTENTS_ENTRIES + 5 };
	struct vpt_buffer file = write_chunks(MANY, 1, 0);
	struct vpt_reader *r = open_bytes(file.data, file.size);
	struct vpt_reader *cut = open_bytes(file.data, file.size - table_size(&file));
	size_t i;

	(void)state;
	assert_int_equal(vpt_reader_contents(r)->count, MANY);
	/* Only the last chunks lack a table, and so the file is walked. */
	assert_null(vpt_reader_contents(cut));
	assert_int_equal(vpt_reader_chunks(cut), MANY);
	for (i = 0; i < MANY; i++)
		expect_same(r, cut, i);
	vpt_reader_free(r);
	vpt_reader_free(cut);
	vpt_free(file.data);
}

/* What a reader finds: of each chunk its header and how many rows it has, or that it is damaged. */
static void describe(const struct vpt_buffer *file, char *out, size_t size)
{
	struct vpt_reader *r = open_bytes(file->data, file->size);
	struct vpt_decoder *d = vpt_decoder_new();
	struct vpt_batch batch;
	size_t i, len = 0;

	vpt_batch_init(&batch);
	for (i = 0; i < vpt_reader_chunks(r) && len < size; i++) {
		int rc = vpt_reader_chunk(r, d, i, &batch, NULL);

		len += (size_t)snprintf(out + len, size - len, "%zu %d %llu %llu %u %u\n", i, rc,
			(unsigned long long)batch.t_min_ns, (unsigned long long)batch.t_max_ns,
			batch.event_count, batch.flags);
	}
	vpt_batch_free(&batch);
	vpt_decoder_free(d);
	vpt_reader_free(r);
}

/* Any bit of the contents may be wrong: the chunks are read as before. */
static void wrong_bytes_do_not_change_what_is_read(void **state)
{
	struct vpt_buffer file = write_chunks(CHUNKS, 1, 0);
	size_t begin = file.size - table_size(&file), at;
	static char whole[8192], found[8192];
	unsigned bit;

	(void)state;
	describe(&file, whole, sizeof(whole));
	for (at = begin; at < file.size; at++)
		for (bit = 0; bit < 8; bit++) {
			file.data[at] = (char)(file.data[at] ^ 1 << bit);
			describe(&file, found, sizeof(found));
			assert_memory_equal(found, whole, strlen(whole));
			/* The frame is no longer one that is skipped. */
			if (found[strlen(whole)])
				assert_memory_equal(found + strlen(whole), "40 -4 ", 6);
			file.data[at] = (char)(file.data[at] ^ 1 << bit);
		}
	vpt_free(file.data);
}

/* Bytes that are cut out, doubled or put between, and two captures in one file, are not what the contents describe. */
static void contents_of_other_bytes_are_not_used(void **state)
{
	struct vpt_buffer file = write_chunks(CHUNKS, 1, 0), made = {0};
	struct vpt_reader *r = open_bytes(file.data, file.size);
	const struct vpt_chunk_info second = *vpt_reader_info(r, 1);
	size_t end = (size_t)(second.offset + second.size);

	(void)state;
	vpt_reader_free(r);
	made.data = vpt_alloc(2 * file.size, 1);
	assert_non_null(made.data);

	/* A chunk is cut out. */
	memcpy(made.data, file.data, (size_t)second.offset);
	memcpy(made.data + second.offset, file.data + end, file.size - end);
	r = open_bytes(made.data, file.size - (size_t)second.size);
	assert_null(vpt_reader_contents(r));
	assert_int_equal(vpt_reader_chunks(r), CHUNKS - 1);
	vpt_reader_free(r);

	/* A chunk is there twice. */
	memcpy(made.data, file.data, end);
	memcpy(made.data + end, file.data + second.offset, file.size - (size_t)second.offset);
	r = open_bytes(made.data, file.size + (size_t)second.size);
	assert_null(vpt_reader_contents(r));
	assert_int_equal(vpt_reader_chunks(r), CHUNKS + 1);
	vpt_reader_free(r);

	/* Two captures: the second header is damage, the chunks are read. */
	memcpy(made.data, file.data, file.size);
	memcpy(made.data + file.size, file.data, file.size);
	r = open_bytes(made.data, 2 * file.size);
	assert_null(vpt_reader_contents(r));
	assert_int_equal(vpt_reader_chunks(r), 2 * CHUNKS + 1);
	vpt_reader_free(r);

	vpt_free(made.data);
	vpt_free(file.data);
}

/* Two chunks of the same size have changed places: the contents say other things than they do. */
static void a_chunk_that_contradicts_the_contents_is_damaged(void **state)
{
	struct vpt_buffer file = write_chunks(CHUNKS, 1, 0);
	struct vpt_reader *r = open_bytes(file.data, file.size);
	struct vpt_decoder *d = vpt_decoder_new();
	struct vpt_batch batch;
	struct vpt_err err = {0};
	const struct vpt_chunk_info *a, *b = NULL;
	char *copy = vpt_alloc(file.size, 1);
	size_t i, k, pairs = 0;

	(void)state;
	vpt_batch_init(&batch);
	assert_non_null(copy);
	memcpy(copy, file.data, file.size);
	for (i = 0; i < CHUNKS && !pairs; i++)
		for (k = i + 1; k < CHUNKS && !pairs; k++) {
			a = vpt_reader_info(r, i);
			b = vpt_reader_info(r, k);
			if (a->size != b->size)
				continue;
			memcpy(copy + a->offset, file.data + b->offset, (size_t)a->size);
			memcpy(copy + b->offset, file.data + a->offset, (size_t)a->size);
			pairs = i + 1;
		}
	assert_true(pairs);
	vpt_reader_free(r);
	r = open_bytes(copy, file.size);
	assert_non_null(vpt_reader_contents(r));
	assert_int_equal(vpt_reader_chunk(r, d, pairs - 1, &batch, &err), VPT_EDATA);
	assert_non_null(strstr(err.text, "the contents of the file say number"));
	assert_int_equal(batch.section_count, 0);
	vpt_batch_free(&batch);
	vpt_decoder_free(d);
	vpt_reader_free(r);
	vpt_free(copy);
	vpt_free(file.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_contents_say_what_each_chunk_holds),
		cmocka_unit_test(the_contents_count_ranges_by_name),
		cmocka_unit_test(a_table_may_say_nothing_of_ranges),
		cmocka_unit_test(short_captures_and_killed_ones_have_none),
		cmocka_unit_test(a_long_capture_has_several_tables),
		cmocka_unit_test(wrong_bytes_do_not_change_what_is_read),
		cmocka_unit_test(contents_of_other_bytes_are_not_used),
		cmocka_unit_test(a_chunk_that_contradicts_the_contents_is_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
