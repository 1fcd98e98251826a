/* test_damage.c - every prefix and every flipped bit of a capture: what is whole is read, what is not is said. */
#include "formats/base/memory.h"
#include "formats/file/capture_reader.h"
#include "tests/support/traces/hand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { CHUNKS_MAX = 8 };

static struct vpt_buffer file;
static size_t ends[CHUNKS_MAX + 1], chunks; /* ends[0] is the header's */
static struct vpt_batch made[CHUNKS_MAX], batch;
static struct vpt_decoder *decoder;

static struct vpt_reader *open_bytes(const void *data, size_t size)
{
	struct vpt_source *src;
	struct vpt_reader *r;

	assert_int_equal(vpt_source_memory(data, size, &src, NULL), VPT_OK);
	vpt_reader_open(src, &r, NULL);
	return r;
}

static void make_file(size_t count, uint32_t rows)
{
	struct vpt_reader *r;
	size_t i;

	chunks = count;
	vpt_free(file.data);
	vpt_hand_capture(&file, 42, count, rows, ends);
	r = open_bytes(file.data, file.size);
	for (i = 0; i < count; i++)
		assert_int_equal(vpt_reader_chunk(r, decoder, i, &made[i], NULL), VPT_OK);
	vpt_reader_free(r);
}

static void expect_whole(const struct vpt_reader *r, size_t listed, size_t chunk, size_t where)
{
	const char *differ;

	if (vpt_reader_info(r, listed)->state != VPT_CHUNK_WHOLE ||
		vpt_reader_chunk(r, decoder, listed, &batch, NULL))
		fail_msg("byte %zu: chunk %zu cannot be read", where, chunk);
	differ = vpt_hand_differ(&made[chunk], &batch);
	if (differ)
		fail_msg("byte %zu: chunk %zu: %s differ", where, chunk, differ);
}

/* A torn chunk holds the first sections of the whole one, each of them complete. Returns how many. */
static size_t expect_torn(const struct vpt_reader *r, size_t chunk, size_t size)
{
	const struct vpt_batch *full = &made[chunk];
	size_t i;
	unsigned c;

	if (vpt_reader_chunk(r, decoder, chunk, &batch, NULL))
		fail_msg("prefix of %zu: the torn chunk %zu cannot be read", size, chunk);
	assert_int_equal(batch.flags & VPT_BATCH_TORN, VPT_BATCH_TORN);
	assert_true(batch.section_count <= full->section_count);
	assert_true(!batch.strings.count || batch.strings.count == full->strings.count);
	for (i = 0; i < batch.section_count; i++) {
		const struct vpt_section *a = &batch.sections[i], *b = &full->sections[i];

		assert_int_equal(a->kind, b->kind);
		assert_int_equal(a->row_count, b->row_count);
		for (c = 0; c < vpt_kind_desc(a->kind)->n_columns; c++)
			assert_memory_equal(
				a->col[c], b->col[c], a->row_count * sizeof(*a->col[c]));
	}
	return batch.section_count + (batch.strings.count > 0);
}

static void check_prefix(size_t size, size_t *sections, int thoroughly)
{
	struct vpt_reader *r = open_bytes(file.data, size);
	size_t whole = 0, i, n;

	if (size < ends[0]) {
		assert_null(r);
		return;
	}
	assert_non_null(r);
	assert_false(vpt_reader_header_damaged(r));
	for (i = 1; i <= chunks; i++)
		whole += size >= ends[i];
	n = vpt_reader_chunks(r);
	assert_int_equal(n, whole + (size > ends[whole]));
	/* The bytes of earlier chunks are those of the prefix before; now and then they are read all the same. */
	for (i = thoroughly || !whole ? 0 : whole - 1; i < whole; i++)
		if (thoroughly || size == ends[whole])
			expect_whole(r, i, i, size);
		else
			assert_int_equal(vpt_reader_info(r, i)->state, VPT_CHUNK_WHOLE);
	if (size == ends[whole])
		*sections = 0;
	if (n > whole && vpt_reader_info(r, whole)->state == VPT_CHUNK_TORN) {
		size_t found = expect_torn(r, whole, size);

		assert_true(found >= *sections); /* more bytes never give less */
		*sections = found;
	}
	vpt_reader_free(r);
}

static void every_prefix_gives_all_its_whole_chunks(void **state)
{
	size_t size, sections = 0, torn_sections = 0;

	(void)state;
	make_file(8, 400);
	print_message("8 chunks, %zu bytes\n", file.size);
	assert_in_range(file.size, 56 << 10, 80 << 10);
	for (size = 0; size <= file.size; size++) {
		check_prefix(size, &sections, size % 512 == 0);
		torn_sections = sections > torn_sections ? sections : torn_sections;
	}
	/* A torn chunk gave more than nothing: all its sections when only the checksum is missing. */
	assert_int_equal(torn_sections, made[0].section_count + 1);
}

/* The place of the chunk that begins at `offset` in the reader's list. */
static size_t listed_at(const struct vpt_reader *r, uint64_t offset)
{
	size_t i;

	for (i = 0; i < vpt_reader_chunks(r); i++)
		if (vpt_reader_info(r, i)->offset == offset)
			return i;
	return SIZE_MAX;
}

/* Bit `bit` is wrong in `flipped`. Counts the result for its chunk. */
static void check_flip(const char *flipped, size_t bit, int thoroughly, size_t counts[3])
{
	struct vpt_reader *r = open_bytes(flipped, file.size);
	size_t i, hit = 0;

	if (!r)
		fail_msg("bit %zu: the whole file is refused", bit);
	while (bit / 8 >= ends[hit])
		hit++;
	for (i = 0; i < chunks; i++) {
		size_t at = listed_at(r, ends[i]);

		if (i + 1 == hit) {
			if (at == SIZE_MAX || vpt_reader_info(r, at)->state == VPT_CHUNK_DAMAGED ||
				vpt_reader_chunk(r, decoder, at, &batch, NULL)) {
				counts[0]++;
			} else if (batch.flags & VPT_BATCH_TORN) {
				counts[1]++;
			} else {
				if (vpt_hand_differ(&made[i], &batch))
					fail_msg("bit %zu: chunk %zu is silently wrong", bit, i);
				counts[2]++;
			}
			continue;
		}
		if (at == SIZE_MAX || vpt_reader_info(r, at)->state != VPT_CHUNK_WHOLE ||
			vpt_reader_info(r, at)->size != ends[i + 1] - ends[i])
			fail_msg("bit %zu of chunk %zd: chunk %zu is lost too", bit, hit - 1, i);
		if (thoroughly)
			expect_whole(r, at, i, bit / 8);
	}
	vpt_reader_free(r);
}

static void every_flipped_bit_is_noticed_or_harmless(void **state)
{
	size_t bit, counts[3] = {0};
	char *flipped;

	(void)state;
	make_file(4, 205);
	print_message("4 chunks, %zu bytes\n", file.size);
	assert_true(file.size >= 16 << 10);
	flipped = vpt_alloc(file.size, 1);
	memcpy(flipped, file.data, file.size);
	for (bit = 0; bit < file.size * 8; bit++) {
		flipped[bit / 8] = (char)(flipped[bit / 8] ^ 1 << bit % 8);
		check_flip(flipped, bit, bit % 1024 == 0, counts);
		flipped[bit / 8] = file.data[bit / 8];
	}
	print_message("%zu chunks refused, %zu torn, %zu equal\n", counts[0], counts[1], counts[2]);
	/* Nearly all flips must have been noticed, or the checksum is not looked at. */
	assert_true(counts[0] > file.size * 8 * 99 / 100);
	vpt_free(flipped);
}

/* Bytes of the file replaced, removed and doubled at random places; chunks that were not touched are read. */
static void random_surgery_costs_only_what_it_touches(void **state)
{
	struct vpt_random r = {7};
	size_t round, i;

	(void)state;
	make_file(8, 60);
	for (round = 0; round < 1500; round++) {
		size_t from = vpt_random_below(&r, file.size), len = vpt_random_below(&r, 600);
		size_t to = from + len < file.size ? from + len : file.size, shift = 0;
		struct vpt_buffer cut = {0};
		struct vpt_reader *reader;

		vpt_hand_put(&cut, file.data, from);
		if (round % 3 == 0) /* garbage in its place */
			for (i = from; i < to; i++)
				vpt_hand_le(&cut, 1, vpt_random(&r) & 0xff);
		else if (round % 3 == 1) /* doubled */
			for (i = 0; i < 2; i++)
				vpt_hand_put(&cut, file.data + from, to - from);
		vpt_hand_put(&cut, file.data + to, file.size - to);
		shift = cut.size - file.size;
		reader = open_bytes(cut.data, cut.size);
		assert_non_null(reader);
		for (i = 0; i < chunks; i++) {
			size_t at;

			if (ends[i + 1] > from && ends[i] < to)
				continue;
			at = listed_at(reader, ends[i] >= to ? ends[i] + shift : ends[i]);
			if (at == SIZE_MAX)
				fail_msg("round %zu, bytes %zu to %zu: chunk %zu is lost", round,
					from, to, i);
			expect_whole(reader, at, i, from);
		}
		vpt_reader_free(reader);
		vpt_free(cut.data);
	}
}

static int setup(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < CHUNKS_MAX; i++)
		vpt_batch_init(&made[i]);
	vpt_batch_init(&batch);
	decoder = vpt_decoder_new();
	return !decoder;
}

static int teardown(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < CHUNKS_MAX; i++)
		vpt_batch_free(&made[i]);
	vpt_batch_free(&batch);
	vpt_decoder_free(decoder);
	vpt_free(file.data);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_prefix_gives_all_its_whole_chunks),
		cmocka_unit_test(every_flipped_bit_is_noticed_or_harmless),
		cmocka_unit_test(random_surgery_costs_only_what_it_touches),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
