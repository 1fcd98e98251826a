/* test_chunk_damage.c - chunks that this version does not know, that nobody should write, or that are torn: each is
 * read or refused, in bounded memory. */
#include "tests/formats/chunk_rig.h"

#include <cmocka.h>

/* ---- what this version does not know, and what nobody should write ---- */

static int decode_hand(struct vpt_err *err)
{
	return vpt_chunk_decode((unsigned char *)hand.data, hand.size, 0, &decoded, err);
}

static void unknown_parts_are_skipped(void **state)
{
	static const struct {
		const char *rule;
		unsigned type, section_flags, column, enc, column_flags;
		uint32_t kernels, unknown, critical;
	} cases[] = {
		{"all is known", VPT_KERNEL, 0, 1, VPT_ENC_PLAIN, 0, 2, 0, 0},
		{"an unknown section", 99, 0, 1, 0, 0, 1, 1, 0},
		{"an unknown section with invalid columns", 99, 0, 1, 200, 0, 1, 1, 0},
		{"an unknown section that is needed", 99, 1, 1, 0, 0, 1, 1, 1},
		{"a gap in the numbers is unknown too", 15, 0, 1, 0, 0, 1, 1, 0},
		{"an unknown column", VPT_KERNEL, 0, 77, 0, 0, 2, 0, 0},
		{"an unknown encoding of an unknown column", VPT_KERNEL, 0, 77, 200, 0, 2, 0, 0},
		{"an unknown column that is needed", VPT_KERNEL, 0, 77, 0, 1, 1, 1, 1},
		{"an unknown encoding reads as 0", VPT_KERNEL, 0, 1, 4, 0, 2, 0, 0},
		{"an unknown encoding that is needed", VPT_KERNEL, 0, 1, 4, 1, 1, 1, 1},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vpt_err err = {0};
		size_t s;

		vpt_hand_chunk(&hand);
		s = vpt_hand_section(&hand, cases[i].type, cases[i].section_flags, 3, 1);
		vpt_hand_column(&hand, s, cases[i].column, cases[i].enc, 1, cases[i].column_flags,
			40, "\1\2\3", 3);
		vpt_hand_section_end(&hand, s);
		s = vpt_hand_section(&hand, VPT_KERNEL, 0, 1, 2);
		vpt_hand_column(&hand, s, 1, VPT_ENC_PLAIN, 0, 0, 7, NULL, 0);
		vpt_hand_section_end(&hand, s);
		vpt_hand_chunk_end(&hand);
		if (decode_hand(&err) || decoded.section_count != cases[i].kernels ||
			decoded.unknown_sections != cases[i].unknown ||
			decoded.skipped_critical != cases[i].critical)
			fail_msg("%s: %zu sections, %u unknown, %u needed, %s", cases[i].rule,
				decoded.section_count, decoded.unknown_sections,
				decoded.skipped_critical, err.text);
		/* The section after it is read in any case. */
		assert_int_equal(decoded.sections[decoded.section_count - 1].lane, 2);
		assert_int_equal(decoded.sections[decoded.section_count - 1].col[0][0], 7);
	}
}

static void any_encoding_is_read_where_it_makes_sense(void **state)
{
	size_t s;

	(void)state;
	vpt_hand_chunk(&hand);
	s = vpt_hand_section(&hand, VPT_KERNEL, 0, 3, 1);
	vpt_hand_column(&hand, s, 4, VPT_ENC_PLAIN, 1, 0, 10, "\1\2\3", 3);
	vpt_hand_column(&hand, s, 3, VPT_ENC_DELTA, 1, 0, 10, "\2\2\1", 3);
	vpt_hand_column(&hand, s, 1, VPT_ENC_DELTA, 1, 0, 10, "\0\2\2", 3);
	vpt_hand_section_end(&hand, s);
	vpt_hand_chunk_end(&hand);
	assert_int_equal(decode_hand(NULL), VPT_OK);
	assert_int_equal(decoded.sections[0].col[VPT_KERNEL_CORRELATION][2], 13);
	assert_int_equal(decoded.sections[0].col[VPT_KERNEL_CONFIG][2], 11);
	assert_int_equal(decoded.sections[0].col[VPT_KERNEL_START][2], 12);
}

/* A chunk that is right: section 0 strings "" and "abc", section 1 two kernels. Then one field is changed. */
enum { CHUNK, STRINGS, LENGTHS, TEXT, KERNELS, STARTS, DURATIONS, PARTS };

static void make_good(size_t at[PARTS])
{
	at[CHUNK] = 0;
	vpt_hand_chunk(&hand);
	at[STRINGS] = vpt_hand_section(&hand, VPT_STRING, 0, 2, 0);
	at[LENGTHS] = vpt_hand_column(&hand, at[STRINGS], 1, VPT_ENC_PLAIN, 1, 0, 0, "\0\3", 2);
	at[TEXT] = vpt_hand_column(&hand, at[STRINGS], 2, VPT_ENC_BYTES, 0, 0, 0, "abc", 3);
	vpt_hand_section_end(&hand, at[STRINGS]);
	at[KERNELS] = vpt_hand_section(&hand, VPT_KERNEL, 0, 2, 1);
	at[STARTS] = vpt_hand_column(&hand, at[KERNELS], 1, VPT_ENC_GAP, 1, 0, 100, "\0\2", 2);
	at[DURATIONS] = vpt_hand_column(&hand, at[KERNELS], 2, VPT_ENC_PLAIN, 0, 0, 5, NULL, 0);
	vpt_hand_section_end(&hand, at[KERNELS]);
	vpt_hand_chunk_end(&hand);
}

/* What becomes of the chunk if `size` bytes at `offset` of a part hold `value`. */
struct changed {
	const char *rule;
	int part;
	unsigned offset, size;
	uint64_t value;
	const char *message; /* NULL: accepted */
};

static void expect_changed(const struct changed *cases, size_t count)
{
	size_t i, at[PARTS];

	for (i = 0; i < count; i++) {
		struct vpt_err err = {0};
		int rc, wanted = cases[i].message ? VPT_EDATA : VPT_OK;

		make_good(at);
		vpt_le_put((unsigned char *)hand.data + at[cases[i].part] + cases[i].offset,
			cases[i].size, cases[i].value);
		rc = decode_hand(&err);
		if (rc != wanted || (rc && !strstr(err.text, cases[i].message)))
			fail_msg("%s: %d, %s", cases[i].rule, rc, err.text);
		if (rc && (decoded.section_count || decoded.strings.count || decoded.event_count))
			fail_msg("%s: something is left in the batch", cases[i].rule);
	}
}

static void each_limit_of_sections_is_enforced(void **state)
{
	static const struct changed cases[] = {
		{"nothing changed", CHUNK, 8, 4, 2, NULL},
		{"no magic", CHUNK, 0, 4, 1, "expected a chunk"},
		{"payload too short", CHUNK, 4, 4, 7, "declares 7 bytes"},
		{"payload too long", CHUNK, 4, 4, UINT32_MAX, "declares 4294967295 bytes"},
		{"a section less", CHUNK, 8, 4, 1, "bytes after its last section"},
		{"a section more", CHUNK, 8, 4, 3, "section 2 of 3"},
		{"4,097 sections", CHUNK, 8, 4, 4097, "at most 4096"},
		{"2^32-1 sections", CHUNK, 8, 4, UINT32_MAX, "at most 4096"},
		{"n_events is not trusted", CHUNK, 12, 4, UINT32_MAX, NULL},
		{"a section longer than the rest", KERNELS, 8, 4, 1000, "section 1"},
		{"a section of 4 GiB", KERNELS, 8, 4, UINT32_MAX, "section 1"},
		{"a section shorter than its columns", KERNELS, 8, 4, 8, "section 1"},
		{"more rows than the planes hold", KERNELS, 4, 4, 3, "section 1"},
		{"fewer rows than the planes hold", KERNELS, 4, 4, 1, "section 1"},
		{"2^20 + 1 rows", KERNELS, 4, 4, (1 << 20) + 1, "section 1"},
		{"2^32-1 rows", KERNELS, 4, 4, UINT32_MAX, "section 1"},
		{"a column more", KERNELS, 12, 2, 3, "section 1"},
		{"33 columns", KERNELS, 12, 2, 33, "section 1"},
		{"65,535 columns", KERNELS, 12, 2, 65535, "section 1"},
		{"two string tables", KERNELS, 0, 2, VPT_STRING, "section 1"},
	};

	(void)state;
	expect_changed(cases, sizeof(cases) / sizeof(cases[0]));
}

static void each_limit_of_columns_is_enforced(void **state)
{
	static const struct changed cases[] = {
		{"a column twice", DURATIONS, 0, 1, 1, "section 1"},
		{"a width of 9", STARTS, 2, 1, 9, "section 1"},
		{"a width of 255", DURATIONS, 2, 1, 255, "section 1"},
		{"a width that its length contradicts", STARTS, 2, 1, 2, "section 1"},
		{"a length that its width contradicts", STARTS, 4, 4, 3, "section 1"},
		{"a length beyond the section", STARTS, 4, 4, 400, "section 1"},
		{"a length of 4 GiB", STARTS, 4, 4, UINT32_MAX, "section 1"},
		{"gaps where there is nothing to measure from", DURATIONS, 1, 1, VPT_ENC_GAP,
			"section 1"},
		{"bytes where numbers belong", STARTS, 1, 1, VPT_ENC_BYTES, "section 1"},
	};

	(void)state;
	expect_changed(cases, sizeof(cases) / sizeof(cases[0]));
}

static void each_limit_of_strings_is_enforced(void **state)
{
	static const struct changed cases[] = {
		{"strings without text", TEXT, 0, 1, 3, "section 0"},
		{"strings without lengths", LENGTHS, 0, 1, 3, "section 0"},
		{"text that is numbers", TEXT, 1, 1, VPT_ENC_PLAIN, "section 0"},
		{"lengths as gaps", LENGTHS, 1, 1, VPT_ENC_GAP, "section 0"},
		{"lengths as bytes", LENGTHS, 1, 1, VPT_ENC_BYTES, "section 0"},
		{"strings longer than the text", LENGTHS, 17, 1, 4, "section 0"},
		{"strings shorter than the text", LENGTHS, 17, 1, 2, "section 0"},
		{"a string above 64 KiB", LENGTHS, 8, 8, 65534, "section 0"},
		{"lengths that wrap around", LENGTHS, 8, 8, UINT64_MAX, "section 0"},
	};

	(void)state;
	expect_changed(cases, sizeof(cases) / sizeof(cases[0]));
}

static void rows_without_columns_are_zeros(void **state)
{
	size_t s;

	(void)state;
	vpt_hand_chunk(&hand);
	s = vpt_hand_section(&hand, VPT_KERNEL, 0, 1000, 1);
	vpt_hand_section_end(&hand, s);
	s = vpt_hand_section(&hand, VPT_KERNEL, 0, 0, 2);
	vpt_hand_section_end(&hand, s);
	vpt_hand_chunk_end(&hand);
	assert_int_equal(decode_hand(NULL), VPT_OK);
	assert_int_equal(decoded.section_count, 1);
	assert_int_equal(decoded.sections[0].col[VPT_KERNEL_FLAGS][999], 0);
}

/* ---- torn ---- */

static void a_torn_payload_gives_its_complete_sections(void **state)
{
	struct vpt_random r = {5};
	size_t size, i, begin = VPT_CHUNK_HEADER_SIZE, whole = 0, strings_end = 0;

	(void)state;
	vpt_hand_batch(&batch, &r, 20);
	vpt_batch_measure(&batch);
	assert_int_equal(vpt_chunk_encode(&batch, &payload, NULL), VPT_OK);
	for (size = VPT_CHUNK_HEADER_SIZE; size <= payload.size; size++) {
		/* An exact copy lets the address sanitizer see a read behind the end. */
		unsigned char *copy = vpt_alloc(size, 1);

		memcpy(copy, payload.data, size);
		if (size - begin >= VPT_SECTION_HEADER_SIZE &&
			size - begin == VPT_SECTION_HEADER_SIZE + vpt_le_get(copy + begin + 8, 4)) {
			begin = size;
			whole++;
			strings_end = strings_end ? strings_end : size;
		}
		assert_int_equal(vpt_chunk_decode(copy, size, 1, &decoded, NULL), VPT_OK);
		assert_int_equal(decoded.flags, VPT_BATCH_TORN);
		assert_int_equal(decoded.section_count + (decoded.strings.count > 0), whole);
		assert_int_equal(decoded.strings.count, whole ? batch.strings.count : 0);
		assert_int_equal(decoded.t_min_ns, batch.t_min_ns);
		if (size < payload.size)
			assert_int_equal(
				vpt_chunk_decode(copy, size, 0, &decoded, NULL), VPT_EDATA);
		vpt_free(copy);
	}
	assert_int_equal(whole, batch.section_count + 1);
	for (i = 0; i < VPT_CHUNK_HEADER_SIZE; i++)
		assert_int_equal(vpt_chunk_decode(payload.data, i, 1, &decoded, NULL), VPT_EDATA);
}

/* ---- memory ---- */

static size_t used, peak;

static void *metered_resize(void *ptr, size_t size)
{
	size_t *block = ptr ? (size_t *)ptr - 2 : NULL;

	used -= block ? *block : 0;
	block = realloc(block, size + 2 * sizeof(*block));
	*block = size;
	used += size;
	peak = used > peak ? used : peak;
	return block + 2;
}

static void metered_release(void *ptr)
{
	used -= ((size_t *)ptr)[-2];
	free((size_t *)ptr - 2);
}

/* `small` sections of one row, then one of 2^20 rows, all without a single plane. */
static void make_bomb(size_t small)
{
	size_t s, i;

	vpt_hand_chunk(&hand);
	for (i = 0; i <= small; i++) {
		s = vpt_hand_section(&hand, VPT_CONFIG, 0, i < small ? 1 : VPT_ROWS_MAX / 16, i);
		vpt_hand_column(&hand, s, 1, VPT_ENC_PLAIN, 0, 0, 7, NULL, 0);
		vpt_hand_section_end(&hand, s);
	}
	vpt_hand_chunk_end(&hand);
}

/* Sections keep their memory for the next chunk; chunks whose large section has a new place each time must
 * not make that grow without end. */
static void memory_stays_bounded_whatever_the_chunks_claim(void **state)
{
	static const struct vpt_memory_ops metered = {metered_resize, metered_release};
	const size_t limit = (size_t)96 << 20;
	size_t i, s;

	(void)state;
	vpt_memory_use(&metered);
	used = peak = 0;
	for (i = 0; i < 5; i++) {
		make_bomb(i);
		assert_int_equal(decode_hand(NULL), VPT_OK);
	}
	if (peak > limit)
		fail_msg("5 chunks took %zu MiB", peak >> 20);
	/* And within one chunk: 4,096 sections that claim 2^20 rows each. */
	vpt_hand_chunk(&hand);
	for (i = 0; i < VPT_SECTIONS_MAX; i++) {
		s = vpt_hand_section(&hand, VPT_CONFIG, 0, VPT_ROWS_MAX, i);
		vpt_hand_section_end(&hand, s);
	}
	vpt_hand_chunk_end(&hand);
	assert_int_equal(decode_hand(NULL), VPT_EDATA);
	if (peak > limit)
		fail_msg("one chunk took %zu MiB", peak >> 20);
	vpt_batch_free(&decoded);
	vpt_free(hand.data);
	hand = (struct vpt_buffer){0};
	vpt_memory_use(NULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RULE(unknown_parts_are_skipped),
		RULE(any_encoding_is_read_where_it_makes_sense),
		RULE(each_limit_of_sections_is_enforced),
		RULE(each_limit_of_columns_is_enforced),
		RULE(each_limit_of_strings_is_enforced),
		RULE(rows_without_columns_are_zeros),
		RULE(a_torn_payload_gives_its_complete_sections),
		RULE(memory_stays_bounded_whatever_the_chunks_claim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
