/* test_reader.c - captures as files: what is written is read, and what others made of them is survived.
 * Long, since each damaged capture is a case of the same rig. */
#include "formats/file/capture_reader.h"

#include "formats/base/memory.h"
#include "formats/chunk/chunk.h"
#include "formats/file/capture_writer.h"
#include "tests/support/traces/hand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

#include <cmocka.h>

static struct vpt_buffer file, hand, source_bytes;
static struct vpt_reader *reader;
static struct vpt_decoder *decoder;
static struct vpt_batch batch;

static int setup(void **state)
{
	(void)state;
	vpt_batch_init(&batch);
	decoder = vpt_decoder_new();
	return !decoder;
}

static int teardown(void **state)
{
	struct vpt_buffer *buffers[] = {&file, &hand, &source_bytes};
	size_t i;

	(void)state;
	vpt_reader_free(reader);
	reader = NULL;
	vpt_decoder_free(decoder);
	vpt_batch_free(&batch);
	for (i = 0; i < 3; i++) {
		vpt_free(buffers[i]->data);
		*buffers[i] = (struct vpt_buffer){0};
	}
	return 0;
}

static int open_file(struct vpt_err *err)
{
	struct vpt_source *src;

	vpt_reader_free(reader);
	reader = NULL;
	assert_int_equal(vpt_source_memory(file.data, file.size, &src, NULL), VPT_OK);
	return vpt_reader_open(src, &reader, err);
}

/* A chunk with one kernel that starts at `start`; `sequence` makes it known again. */
static void put_chunk(uint64_t sequence, uint64_t start)
{
	size_t s;

	vpt_hand_chunk(&hand);
	vpt_le_put((unsigned char *)hand.data + 16, 8, sequence);
	s = vpt_hand_section(&hand, VPT_KERNEL, 0, 1, 1);
	vpt_hand_column(&hand, s, 1, VPT_ENC_PLAIN, 0, 0, start, NULL, 0);
	vpt_hand_section_end(&hand, s);
	vpt_hand_chunk_end(&hand);
	vpt_hand_frame(&file, hand.data, hand.size, VPT_CHUNK_HEADER_SIZE);
}

static void a_capture_comes_back(void **state)
{
	struct vpt_header header = {.t0_ns = 5,
		.t0_unix_ns = 6,
		.capture_id = UINT64_MAX,
		.pid = 7,
		.cpu_tick_ns = 32,
		.clock_id = 4,
		.flags = 0x00008001};
	const struct vpt_header *h;
	struct vpt_random r = {1};
	struct vpt_sink *sink;
	struct vpt_writer *w;
	struct vpt_batch made[3];
	size_t i;

	(void)state;
	assert_int_equal(vpt_sink_memory(&file, &sink, NULL), VPT_OK);
	assert_int_equal(vpt_writer_open(sink, &header, 0, &w, NULL), VPT_OK);
	for (i = 0; i < 3; i++) {
		vpt_batch_init(&made[i]);
		vpt_hand_batch(&made[i], &r, i == 1 ? 0 : 3000);
		made[i].lost_events = (uint32_t)i * 5;
		made[i].flags = i == 2 ? VPT_BATCH_LAST : 0;
		assert_int_equal(vpt_writer_put(w, &made[i], NULL), VPT_OK);
		assert_int_equal(made[i].sequence, i);
	}
	vpt_writer_free(w);
	assert_int_equal(sink->finish(sink, 1, NULL), VPT_OK);

	assert_int_equal(open_file(NULL), VPT_OK);
	h = vpt_reader_header(reader);
	assert_int_equal(h->major, VPT_MAJOR);
	assert_int_equal(h->t0_ns, 5);
	assert_int_equal(h->t0_unix_ns, 6);
	assert_true(h->capture_id == UINT64_MAX);
	assert_int_equal(h->pid, 7);
	assert_int_equal(h->cpu_tick_ns, 32);
	assert_int_equal(h->gpu_tick_ns, 1); /* 0 is written as 1 */
	assert_int_equal(h->clock_id, 4);
	assert_int_equal(h->flags, 0x00008001);
	assert_int_equal(vpt_reader_chunks(reader), 3);
	assert_int_equal(vpt_reader_damaged_bytes(reader), 0);
	assert_false(vpt_reader_header_damaged(reader));
	for (i = 0; i < 3; i++) {
		const struct vpt_chunk_info *info = vpt_reader_info(reader, i);

		assert_int_equal(info->state, VPT_CHUNK_WHOLE);
		assert_int_equal(info->sequence, i);
		assert_int_equal(info->t_min_ns, made[i].t_min_ns);
		assert_int_equal(info->t_max_ns, made[i].t_max_ns);
		assert_int_equal(info->event_count, i == 1 ? 0 : 9000);
		assert_int_equal(info->lost_events, i * 5);
		assert_int_equal(info->flags, i == 2 ? VPT_BATCH_LAST : 0);
		assert_int_equal(vpt_reader_chunk(reader, decoder, i, &batch, NULL), VPT_OK);
		assert_null(vpt_hand_differ(&made[i], &batch));
		vpt_batch_free(&made[i]);
	}
}

/* The promise that stock tools read the file: zstd's own decoder gives header and payloads in a row. */
static void zstd_alone_can_decompress_a_capture(void **state)
{
	size_t at = 0, frames = 0, size;

	(void)state;
	vpt_hand_capture(&file, 1, 4, 2000, NULL);
	while (at < file.size) {
		unsigned long long content =
			ZSTD_getFrameContentSize(file.data + at, file.size - at);
		size_t frame = ZSTD_findFrameCompressedSize(file.data + at, file.size - at);

		assert_in_range(content, 1, VPT_PAYLOAD_MAX);
		assert_false(ZSTD_isError(frame));
		hand.size = 0;
		vpt_hand_fill(&hand, 0, (size_t)content);
		size = ZSTD_decompress(hand.data, hand.size, file.data + at, frame);
		assert_int_equal(size, content);
		assert_memory_equal(hand.data, frames ? "VPCK" : "VPTRACE\n", frames ? 4 : 8);
		at += frame;
		frames++;
	}
	assert_int_equal(frames, 5);
}

static void every_level_gives_the_same_rows(void **state)
{
	static const int levels[] = {-5, 0, 1, 3, 19};
	struct vpt_random r = {9};
	struct vpt_batch made;
	size_t i;

	(void)state;
	vpt_batch_init(&made);
	vpt_hand_batch(&made, &r, 500);
	for (i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		struct vpt_header header = {0};
		struct vpt_sink *sink;
		struct vpt_writer *w;

		vpt_free(file.data);
		assert_int_equal(vpt_sink_memory(&file, &sink, NULL), VPT_OK);
		assert_int_equal(vpt_writer_open(sink, &header, levels[i], &w, NULL), VPT_OK);
		assert_int_equal(vpt_writer_put(w, &made, NULL), VPT_OK);
		vpt_writer_free(w);
		assert_int_equal(sink->finish(sink, 1, NULL), VPT_OK);
		assert_int_equal(open_file(NULL), VPT_OK);
		assert_int_equal(vpt_reader_chunk(reader, decoder, 0, &batch, NULL), VPT_OK);
		assert_null(vpt_hand_differ(&made, &batch));
	}
	vpt_batch_free(&made);
}

/* ---- files that others touched ----
 *
 * Pieces, a letter each: H header, 0-9 a chunk of that number, s a skippable frame, g garbage, t a torn
 * chunk, b a chunk with a wrong checksum, x a frame that is neither header nor chunk, e an empty frame. */
static void build(const char *pieces)
{
	file.size = 0;
	for (; *pieces; pieces++) {
		switch (*pieces) {
		case 'H':
			vpt_hand_header(&file, VPT_MAJOR, VPT_MINOR, 77);
			break;
		case 's':
			vpt_hand_skippable(&file, 40, 40);
			break;
		case 'g':
			vpt_hand_fill(&file, 'g', 100);
			break;
		case 't':
			put_chunk(8, 1000);
			file.size -= 6;
			break;
		case 'b':
			put_chunk(8, 1000);
			file.data[file.size - 1] = (char)(file.data[file.size - 1] ^ 1);
			break;
		case 'x':
			vpt_hand_frame(&file, "a frame of somebody else", 24, 24);
			break;
		case 'e':
			vpt_hand_frame(&file, "", 0, 0);
			break;
		default:
			put_chunk((uint64_t)(*pieces - '0'), 1000);
		}
	}
}

/* What is read of each chunk: its number, D damaged, T torn but decoded, E an error when decoded. */
static const char *chunks_text(char buf[64])
{
	size_t i, n = vpt_reader_chunks(reader);

	for (i = 0; i < n && i < 63; i++) {
		const struct vpt_chunk_info *info = vpt_reader_info(reader, i);
		int rc = vpt_reader_chunk(reader, decoder, i, &batch, NULL);

		if (info->state == VPT_CHUNK_DAMAGED)
			buf[i] = 'D';
		else if (rc)
			buf[i] = rc == VPT_EDATA ? 'E' : '!';
		else if (info->state == VPT_CHUNK_TORN)
			buf[i] = batch.flags & VPT_BATCH_TORN ? 'T' : '!';
		else
			buf[i] = (char)('0' + batch.sequence);
		if (rc && (rc != VPT_EDATA || batch.section_count))
			buf[i] = '!';
	}
	buf[i] = '\0';
	return buf;
}

static void damage_costs_only_itself(void **state)
{
	static const struct {
		const char *rule, *pieces, *chunks;
		int header_damaged;
	} cases[] = {
		{"as written", "H012", "012", 0},
		{"nothing but a header", "H", "", 0},
		{"skippable frames anywhere", "sHs01ss2s", "012", 0},
		{"garbage between chunks", "H0g1", "0D1", 0},
		{"garbage at the end", "H01g", "01D", 0},
		{"garbage before the header hides it", "gH01", "D01", 1},
		{"the header is missing", "01", "01", 1},
		{"the first chunk is missing", "H12", "12", 0},
		{"a chunk twice is a chunk twice", "H0011", "0011", 0},
		{"chunks out of order", "H210", "210", 0},
		{"a wrong checksum", "H0b1", "0E1", 0},
		{"a torn chunk at the end", "H0t", "0T", 0},
		{"a torn chunk in the middle", "H0t1", "0D1", 0},
		{"two captures one after the other", "H01H23", "01D23", 0},
		{"a frame of somebody else", "H0x1", "0D1", 0},
		{"an empty frame", "H0e1", "0D1", 0},
		{"all chunks damaged", "Hbg", "ED", 0},
	};
	char buf[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vpt_err err = {0};

		build(cases[i].pieces);
		if (open_file(&err))
			fail_msg("%s: %s", cases[i].rule, err.text);
		if (strcmp(chunks_text(buf), cases[i].chunks) ||
			vpt_reader_header_damaged(reader) != cases[i].header_damaged)
			fail_msg("%s: %s, header damaged: %d", cases[i].rule, buf,
				vpt_reader_header_damaged(reader));
		assert_int_equal(vpt_reader_damaged_bytes(reader) > 0, strchr(buf, 'D') != NULL);
	}
}

static void what_is_no_capture_is_refused(void **state)
{
	static const char *const cases[] = {"", "g", "x", "s", "ggg", "xgx", "e", "eg"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vpt_err err = {0};

		build(cases[i]);
		if (open_file(&err) != VPT_EDATA || !strstr(err.text, "not a vptrace capture"))
			fail_msg("\"%s\": %s", cases[i], err.text);
		assert_null(reader);
	}
}

static void versions_are_judged_by_their_major_number(void **state)
{
	static const struct {
		unsigned major, minor;
		int rc;
	} cases[] = {
		{1, 0, VPT_OK}, {1, 65535, VPT_OK}, {2, 0, VPT_EVERSION}, {65535, 0, VPT_EVERSION}};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vpt_err err = {0};

		file.size = 0;
		vpt_hand_header(&file, cases[i].major, cases[i].minor, 5);
		put_chunk(0, 1000);
		assert_int_equal(open_file(&err), cases[i].rc);
		if (cases[i].rc)
			assert_non_null(strstr(err.text, "use a newer vptrace-analyze"));
	}
}

/* The upper half of the flags says what a reader must know; none of it is defined yet. */
static void files_that_need_what_is_not_known_are_refused(void **state)
{
	unsigned bit;

	(void)state;
	for (bit = 0; bit < 32; bit++) {
		unsigned char bytes[VPT_HEADER_SIZE] = VPT_CAPTURE_MAGIC;
		struct vpt_err err = {0};

		vpt_le_put(bytes + 8, 2, 1);
		vpt_le_put(bytes + 12, 4, sizeof(bytes));
		vpt_le_put(bytes + 56, 4, 1u << bit);
		file.size = 0;
		vpt_hand_frame(&file, bytes, sizeof(bytes), sizeof(bytes));
		put_chunk(0, 1000);
		assert_int_equal(open_file(&err), bit < 16 ? VPT_OK : VPT_EVERSION);
		if (bit >= 16)
			assert_non_null(strstr(err.text, "use a newer vptrace-analyze"));
	}
}

static void a_longer_header_of_a_later_minor_version_is_read(void **state)
{
	unsigned char bytes[200] = VPT_CAPTURE_MAGIC;

	(void)state;
	vpt_le_put(bytes + 8, 2, 1);
	vpt_le_put(bytes + 10, 2, 3);
	vpt_le_put(bytes + 12, 4, sizeof(bytes));
	vpt_le_put(bytes + 16, 8, 99);
	vpt_hand_frame(&file, bytes, sizeof(bytes), sizeof(bytes));
	put_chunk(0, 1000);
	assert_int_equal(open_file(NULL), VPT_OK);
	assert_int_equal(vpt_reader_header(reader)->t0_ns, 99);
	assert_int_equal(vpt_reader_chunks(reader), 1);
}

static void there_is_no_chunk_behind_the_last(void **state)
{
	struct vpt_err err;

	(void)state;
	build("H0");
	assert_int_equal(open_file(NULL), VPT_OK);
	assert_int_equal(vpt_reader_chunk(reader, decoder, 1, &batch, &err), VPT_EINVAL);
	assert_string_equal(err.text, "chunk 1 of 1 asked for");
}

static void errors_say_where(void **state)
{
	struct vpt_err err;

	(void)state;
	build("H0b");
	assert_int_equal(open_file(NULL), VPT_OK);
	assert_int_equal(vpt_reader_chunk(reader, decoder, 1, &batch, &err), VPT_EDATA);
	assert_non_null(strstr(err.text, "chunk 1 at offset "));
	assert_non_null(strstr(err.text, "checksum"));
}

/* ---- malicious ---- */

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* 16 MiB of one string, cut in 256: about 1.5 KB of file. */
static void put_bomb(void)
{
	static unsigned char lengths[8];
	const uint32_t strings = 255;
	size_t s, t;

	vpt_hand_chunk(&hand);
	s = vpt_hand_section(&hand, VPT_STRING, 0, strings, 0);
	vpt_hand_column(&hand, s, 1, VPT_ENC_PLAIN, 0, 0, VPT_STRING_MAX, lengths, 0);
	t = vpt_hand_column(&hand, s, 2, VPT_ENC_BYTES, 0, 0, 0, NULL, 0);
	vpt_hand_fill(&hand, 'a', (size_t)strings * VPT_STRING_MAX);
	vpt_le_put((unsigned char *)hand.data + t + 4, 4, (uint64_t)strings * VPT_STRING_MAX);
	vpt_hand_section_end(&hand, s);
	vpt_hand_chunk_end(&hand);
	vpt_hand_frame(&file, hand.data, hand.size, VPT_CHUNK_HEADER_SIZE);
}

static void a_bomb_stays_within_the_limits(void **state)
{
	size_t before;

	(void)state;
	build("H0");
	before = file.size;
	put_bomb();
	assert_true(hand.size / (file.size - before) > 5000);
	assert_int_equal(open_file(NULL), VPT_OK);
	assert_int_equal(vpt_reader_chunk(reader, decoder, 1, &batch, NULL), VPT_OK);
	assert_int_equal(batch.strings.size, (size_t)255 * VPT_STRING_MAX);
	/* One byte of content above the limit, and the frame is not looked into. */
	file.size = before;
	hand.size = 0;
	vpt_hand_fill(&hand, 0, VPT_PAYLOAD_MAX + 1);
	memcpy(hand.data, "VPCK", 4);
	vpt_hand_frame(&file, hand.data, hand.size, VPT_CHUNK_HEADER_SIZE);
	put_chunk(2, 1000);
	assert_int_equal(open_file(NULL), VPT_OK);
	assert_int_equal(vpt_reader_chunks(reader), 3);
	assert_int_equal(vpt_reader_info(reader, 1)->state, VPT_CHUNK_DAMAGED);
	assert_int_equal(vpt_reader_info(reader, 2)->state, VPT_CHUNK_WHOLE);
}

/* Frames written by hand, of one stored block: what the frame's header claims is not what is there. */
static void put_lying_frame(uint64_t claimed, size_t there)
{
	vpt_hand_chunk(&hand);
	vpt_hand_fill(&hand, 0, there - hand.size);
	vpt_hand_chunk_end(&hand);
	vpt_hand_le(&file, 4, 0xfd2fb528);
	vpt_hand_le(&file, 1, 0xa0);
	vpt_hand_le(&file, 4, claimed);
	vpt_hand_le(&file, 3, there << 3 | 1);
	vpt_hand_put(&file, hand.data, there);
}

static void frames_whose_size_lies_are_errors(void **state)
{
	static const struct {
		const char *rule;
		uint64_t claimed;
		size_t there;
		const char *chunks;
	} cases[] = {
		{"a stored chunk is a chunk", 48, 48, "0"},
		{"more is claimed than there is", VPT_PAYLOAD_MAX, 48, "D"},
		{"less is claimed than there is", 48, 60, "D"},
		{"nothing is claimed", 0, 48, "D"},
	};
	char buf[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		build("H");
		put_lying_frame(cases[i].claimed, cases[i].there);
		assert_int_equal(open_file(NULL), VPT_OK);
		if (strcmp(chunks_text(buf), cases[i].chunks))
			fail_msg("%s: %s", cases[i].rule, buf);
	}
}

static void ids_beyond_the_tables_are_harmless(void **state)
{
	const struct vpt_section *range;
	size_t s;

	(void)state;
	build("H");
	vpt_hand_chunk(&hand);
	s = vpt_hand_section(&hand, VPT_RANGE, 0, 2, 1);
	vpt_hand_column(&hand, s, 1, VPT_ENC_PLAIN, 0, 0, 5, NULL, 0);
	vpt_hand_column(&hand, s, 5, VPT_ENC_PLAIN, 0, 0, 0xffffffff, NULL, 0);
	vpt_hand_column(&hand, s, 6, VPT_ENC_PLAIN, 0, 0, UINT64_MAX, NULL, 0);
	vpt_hand_section_end(&hand, s);
	vpt_hand_chunk_end(&hand);
	vpt_hand_frame(&file, hand.data, hand.size, VPT_CHUNK_HEADER_SIZE);
	assert_int_equal(open_file(NULL), VPT_OK);
	assert_int_equal(vpt_reader_chunk(reader, decoder, 0, &batch, NULL), VPT_OK);
	range = vpt_batch_find(&batch, VPT_RANGE);
	assert_memory_equal(vpt_batch_text(&batch, range->col[VPT_RANGE_NAME][1]).text, "?", 1);
	assert_memory_equal(vpt_batch_text(&batch, range->col[VPT_RANGE_DOMAIN][1]).text, "?", 1);
}

static void many_empty_chunks_take_linear_time(void **state)
{
	struct vpt_err err;
	size_t i, one, count = 100000;
	double begin;

	(void)state;
	build("H");
	one = file.size;
	vpt_hand_chunk(&hand);
	vpt_hand_chunk_end(&hand);
	vpt_hand_frame(&file, hand.data, hand.size, VPT_CHUNK_HEADER_SIZE);
	source_bytes.size = 0;
	vpt_hand_put(&source_bytes, file.data + one, file.size - one);
	for (i = 1; i < count; i++)
		vpt_hand_put(&file, source_bytes.data, source_bytes.size);
	begin = seconds();
	if (open_file(&err))
		fail_msg("%s", err.text);
	assert_int_equal(vpt_reader_chunks(reader), count);
	assert_int_equal(vpt_reader_chunk(reader, decoder, count - 1, &batch, NULL), VPT_OK);
	assert_true(seconds() - begin < 5);
}

/* Puts each frame of `from` into the file as zstd's plain compressor makes it, in blocks of its own choice. */
static void compress_again(const struct vpt_buffer *from, int level)
{
	size_t at = 0;

	file.size = 0;
	while (at < from->size) {
		size_t size = (size_t)ZSTD_getFrameContentSize(from->data + at, from->size - at);
		size_t frame = ZSTD_findFrameCompressedSize(from->data + at, from->size - at);
		size_t bound = ZSTD_compressBound(size);

		assert_int_equal(vpt_grow(&hand.data, &hand.cap, size, 1), 0);
		assert_int_equal(vpt_grow(&file.data, &file.cap, file.size + bound, 1), 0);
		assert_int_equal(ZSTD_decompress(hand.data, size, from->data + at, frame), size);
		file.size += ZSTD_compress(file.data + file.size, bound, hand.data, size, level);
		at += frame;
	}
}

static void frames_of_any_compressor_are_read(void **state)
{
	static const int levels[] = {-5, 1, 3, 19};
	size_t i, k;

	(void)state;
	vpt_hand_capture(&source_bytes, 7, 4, 3000, NULL);
	for (i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		struct vpt_err err = {0};

		compress_again(&source_bytes, levels[i]);
		if (open_file(&err))
			fail_msg("level %d: %s", levels[i], err.text);
		assert_int_equal(vpt_reader_chunks(reader), 4);
		assert_int_equal(vpt_reader_damaged_bytes(reader), 0);
		for (k = 0; k < 4; k++)
			if (vpt_reader_chunk(reader, decoder, k, &batch, &err))
				fail_msg("level %d: %s", levels[i], err.text);
	}
}

/* The search behind damage knows them too. */
static void frames_of_any_compressor_are_found_behind_damage(void **state)
{
	(void)state;
	vpt_hand_capture(&source_bytes, 7, 3, 3000, NULL);
	compress_again(&source_bytes, 3);
	memset(file.data, 0, ZSTD_findFrameCompressedSize(file.data, file.size));
	assert_int_equal(open_file(NULL), VPT_OK);
	assert_int_equal(vpt_reader_chunks(reader), 4);
	assert_int_equal(vpt_reader_info(reader, 1)->state, VPT_CHUNK_WHOLE);
}

static void a_skippable_frame_of_4_gib_is_not_believed(void **state)
{
	char buf[64];

	(void)state;
	build("H0");
	vpt_hand_skippable(&file, UINT32_MAX, 8);
	put_chunk(1, 1000);
	assert_int_equal(open_file(NULL), VPT_OK);
	assert_string_equal(chunks_text(buf), "0D1");
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RULE(a_capture_comes_back),
		RULE(zstd_alone_can_decompress_a_capture),
		RULE(every_level_gives_the_same_rows),
		RULE(damage_costs_only_itself),
		RULE(what_is_no_capture_is_refused),
		RULE(files_that_need_what_is_not_known_are_refused),
		RULE(versions_are_judged_by_their_major_number),
		RULE(a_longer_header_of_a_later_minor_version_is_read),
		RULE(there_is_no_chunk_behind_the_last),
		RULE(errors_say_where),
		RULE(a_bomb_stays_within_the_limits),
		RULE(frames_whose_size_lies_are_errors),
		RULE(ids_beyond_the_tables_are_harmless),
		RULE(many_empty_chunks_take_linear_time),
		RULE(frames_of_any_compressor_are_read),
		RULE(frames_of_any_compressor_are_found_behind_damage),
		RULE(a_skippable_frame_of_4_gib_is_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
