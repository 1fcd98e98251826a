/* test_frames.c - finding frames by their headers, in files that are whole, torn, damaged or malicious. */
#include "formats/file/zstd_frames.h"

#include "formats/base/memory.h"
#include "formats/capture_layout.h"
#include "formats/chunk/chunk.h"
#include "tests/support/traces/hand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static struct vpt_buffer file;
static struct vpt_frames frames;
static size_t asked;

static int setup(void **state)
{
	(void)state;
	asked = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	vpt_frames_free(&frames);
	vpt_free(file.data);
	file = (struct vpt_buffer){0};
	return 0;
}

/* Raw frames are ours when 'V' follows their header of 6 bytes and one block header. */
static int ours(void *ctx, struct vpt_source *src, uint64_t offset)
{
	unsigned char c = 0;
	size_t got;

	(void)ctx;
	asked++;
	src->read_at(src, offset + 9, &c, 1, &got, NULL);
	return c == 'V';
}

static void walk(void)
{
	struct vpt_frame_check check = {ours, NULL};
	struct vpt_source *src;
	struct vpt_err err = {0};

	vpt_frames_free(&frames);
	assert_int_equal(vpt_source_memory(file.data, file.size, &src, NULL), VPT_OK);
	if (vpt_frames_walk(src, &check, &frames, &err))
		fail_msg("%s", err.text);
	vpt_source_close(src);
}

/* A frame of one stored block, 9 + size bytes: single segment, content size in one byte, no checksum. */
static void put_raw(unsigned char first, unsigned char size)
{
	vpt_hand_le(&file, 4, 0xfd2fb528);
	vpt_hand_le(&file, 1, 0x20);
	vpt_hand_le(&file, 1, size);
	vpt_hand_le(&file, 3, (uint64_t)size << 3 | 1);
	vpt_hand_fill(&file, first, size);
}

/* The pieces a file is made of, a letter each:
 *   F a frame of ours, 30 bytes    O a frame that is not ours, 30    S a skippable frame, 20
 *   g garbage, 7 bytes             z zstd's magic alone, 4           b half a frame, 15 */
static void build(const char *pieces)
{
	file.size = 0;
	for (; *pieces; pieces++) {
		switch (*pieces) {
		case 'F':
			put_raw('V', 21);
			break;
		case 'O':
			put_raw('o', 21);
			break;
		case 'S':
			vpt_hand_skippable(&file, 12, 12);
			break;
		case 'g':
			vpt_hand_fill(&file, 'g', 7);
			break;
		case 'z':
			vpt_hand_le(&file, 4, 0xfd2fb528);
			break;
		case 'b':
			put_raw('V', 21);
			file.size -= 15;
			break;
		}
	}
}

static const char *frames_text(char buf[512])
{
	static const char letters[] = "wtd";
	size_t i, used = 0;

	buf[0] = '\0';
	for (i = 0; i < frames.count && used < 450; i++)
		used += (size_t)snprintf(buf + used, 512 - used, "%s%c%llu+%llu", i ? " " : "",
			letters[frames.items[i].state], (unsigned long long)frames.items[i].offset,
			(unsigned long long)frames.items[i].size);
	return buf;
}

/* w whole, t torn, d damaged; each with offset and size. */
static void each_place_of_a_file_is_judged(void **state)
{
	static const struct {
		const char *rule, *pieces, *frames;
	} cases[] = {
		{"an empty file has no frames", "", ""},
		{"frames follow each other", "FFF", "w0+30 w30+30 w60+30"},
		{"frames need not be ours while the chain holds", "OFO", "w0+30 w30+30 w60+30"},
		{"skippable frames are left out", "SFSSFS", "w20+30 w90+30"},
		{"nothing but skippable frames", "SS", ""},
		{"garbage at the start", "gF", "d0+7 w7+30"},
		{"garbage between frames", "FgF", "w0+30 d30+7 w37+30"},
		{"garbage at the end", "Fg", "w0+30 d30+7"},
		{"nothing but garbage", "gg", "d0+14"},
		{"behind garbage only frames of ours count", "FgOF", "w0+30 d30+37 w67+30"},
		{"garbage and a skippable frame", "FgSF", "w0+30 d30+27 w57+30"},
		{"a lone magic", "FzF", "w0+30 d30+4 w34+30"},
		{"a frame that ends in the middle of the next", "FbFF",
			"w0+30 d30+15 w45+30 w75+30"},
		{"the last frame is torn", "FFb", "w0+30 w30+30 t60+15"},
		{"the only frame is torn", "b", "t0+15"},
		{"the end of the file cuts a header", "Fz", "w0+30 t30+4"},
	};
	char buf[512];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		build(cases[i].pieces);
		walk();
		if (strcmp(frames_text(buf), cases[i].frames))
			fail_msg("%s (%s): %s", cases[i].rule, cases[i].pieces, buf);
	}
}

static void every_prefix_ends_in_a_torn_frame_or_none(void **state)
{
	size_t size, full;

	(void)state;
	build("FSFF");
	full = file.size;
	for (size = 0; size <= full; size++) {
		static const size_t ends[] = {30, 80, 110};
		size_t whole = 0, i;

		for (i = 0; i < 3; i++)
			whole += size >= ends[i];
		file.size = size;
		walk();
		for (i = 0; i < whole; i++)
			assert_int_equal(frames.items[i].state, VPT_ZSTD_FRAME_WHOLE);
		/* A piece of a magic or of a skippable frame is damage, a piece of a frame is torn. */
		assert_in_range(frames.count, whole, whole + 1);
	}
	file.size = full;
}

/* One field of a frame header is changed; the frame behind it must be found in any case. */
static void headers_beyond_the_limits_are_no_frames(void **state)
{
	static const struct {
		const char *rule;
		unsigned char header[14];
		size_t size;
		int accepted;
	} cases[] = {
		{"one byte of size, single segment", {0x20, 21}, 2, 1},
		{"two bytes of size count from 256", {0x60, 21, 0}, 3, 1},
		{"four bytes of size", {0xa0, 21, 0, 0, 0}, 5, 1},
		{"eight bytes of size", {0xe0, 21, 0, 0, 0, 0, 0, 0, 0}, 9, 1},
		{"a window of 16 MiB", {0x80, 14 << 3, 21, 0, 0, 0}, 6, 1},
		{"a window of 32 MiB", {0x80, 15 << 3, 21, 0, 0, 0}, 6, 0},
		{"window log 31", {0x80, 21 << 3, 21, 0, 0, 0}, 6, 0},
		{"window log 41", {0x80, 0xff, 21, 0, 0, 0}, 6, 0},
		{"no content size", {0x00, 0x50}, 2, 0},
		{"a dictionary", {0x21, 7, 21}, 3, 0},
		{"the reserved bit", {0x28, 21}, 2, 0},
		{"the unused bit means nothing", {0x30, 21}, 2, 1},
		{"a content of 16 MiB", {0xa0, 0, 0, 0, 1}, 5, 1},
		{"a content of 16 MiB and a byte", {0xa0, 1, 0, 0, 1}, 5, 0},
		{"a content of 4 GiB", {0xa0, 255, 255, 255, 255}, 5, 0},
		{"a content of 2^64-1", {0xe0, 255, 255, 255, 255, 255, 255, 255, 255}, 9, 0},
	};
	size_t i, first;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		file.size = 0;
		vpt_hand_le(&file, 4, 0xfd2fb528);
		vpt_hand_put(&file, cases[i].header, cases[i].size);
		vpt_hand_le(&file, 3, 21 << 3 | 1);
		vpt_hand_fill(&file, 'V', 21);
		first = file.size;
		put_raw('V', 21);
		walk();
		if (frames.count != 2 || frames.items[1].offset != first ||
			frames.items[1].state != VPT_ZSTD_FRAME_WHOLE ||
			frames.items[0].state !=
				(cases[i].accepted ? VPT_ZSTD_FRAME_WHOLE : VPT_ZSTD_FRAME_DAMAGED))
			fail_msg("%s: %zu frames, the first in state %d", cases[i].rule,
				frames.count, frames.items[0].state);
	}
}

static void blocks_lead_to_the_end_of_a_frame(void **state)
{
	static const struct {
		const char *rule;
		uint32_t block; /* header of the first block, 20 bytes follow */
		int accepted;
	} cases[] = {
		{"a stored block", 20 << 3, 1},
		{"a run is one byte long, whatever it says", 128 << 13 | 2,
			0}, /* 19 bytes are left over */
		{"the reserved type", 20 << 3 | 6, 0},
		{"a block above 128 KiB", ((128 << 10) + 1) << 3, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		file.size = 0;
		vpt_hand_le(&file, 4, 0xfd2fb528);
		vpt_hand_le(&file, 2, 0x2820);
		vpt_hand_le(&file, 3, cases[i].block);
		vpt_hand_fill(&file, 'x', 20);
		vpt_hand_le(&file, 3, 20 << 3 | 1);
		vpt_hand_fill(&file, 'x', 20);
		put_raw('V', 21);
		walk();
		if ((frames.items[0].state == VPT_ZSTD_FRAME_WHOLE) != cases[i].accepted ||
			frames.count != 2)
			fail_msg("%s: state %d of %zu", cases[i].rule, frames.items[0].state,
				frames.count);
	}
}

static void a_skippable_frame_longer_than_the_file_is_damage(void **state)
{
	(void)state;
	build("F");
	vpt_hand_skippable(&file, UINT32_MAX, 10);
	put_raw('V', 21);
	walk();
	assert_int_equal(frames.count, 3);
	assert_int_equal(frames.items[1].state, VPT_ZSTD_FRAME_DAMAGED);
	assert_int_equal(frames.items[1].size, 18);
	assert_int_equal(frames.items[2].state, VPT_ZSTD_FRAME_WHOLE);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Frames that begin as ours and then share one endless chain of empty blocks: each start is a break, and
 * each break walks the chain. Costs must follow the file's size, not its square. */
static void put_shared_chain(size_t starts, size_t tail, size_t block)
{
	size_t i;

	file.size = 0;
	for (i = 0; i < starts; i++) {
		vpt_hand_le(&file, 4, 0xfd2fb528); /* inside the block of the frame before */
		vpt_hand_le(&file, 1, 0xa0);
		vpt_hand_le(&file, 4, VPT_PAYLOAD_MAX);
		vpt_hand_le(&file, 3, 1 << 3);
		vpt_hand_fill(&file, 'V', 1);
		vpt_hand_le(&file, 3, 13 << 3); /* over the next start's header and block */
	}
	vpt_hand_fill(&file, 0, 13);
	while (file.size < tail) {
		vpt_hand_le(&file, 3, block << 3);
		vpt_hand_fill(&file, 0, block);
	}
}

static int ours_always(void *ctx, struct vpt_source *src, uint64_t offset)
{
	(void)ctx;
	(void)src;
	(void)offset;
	asked++;
	return 1;
}

static void breaking_the_chain_again_and_again_costs_linear_time(void **state)
{
	static const size_t blocks[] = {0, 1000, 100000};
	struct vpt_frame_check check = {ours_always, NULL};
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct vpt_source *src;
		double begin, took;

		put_shared_chain(4000, 12 << 20, blocks[i]);
		vpt_frames_free(&frames);
		assert_int_equal(vpt_source_memory(file.data, file.size, &src, NULL), VPT_OK);
		begin = seconds();
		assert_int_equal(vpt_frames_walk(src, &check, &frames, NULL), VPT_OK);
		took = seconds() - begin;
		vpt_source_close(src);
		print_message("blocks of %zu: %zu frames, %zu asked, %.2f s\n", blocks[i],
			frames.count, asked, took);
		if (took > 5)
			fail_msg("12 MiB took %.1f s", took);
	}
}

/* A file of nothing but magics: each one asks whether it is ours. */
static void a_file_of_magics_is_given_up(void **state)
{
	struct vpt_frame_check check = {ours, NULL};
	struct vpt_source *src;
	size_t i;

	(void)state;
	for (i = 0; i < 4 << 20; i++)
		vpt_hand_le(&file, 4, 0xfd2fb528);
	assert_int_equal(vpt_source_memory(file.data, file.size, &src, NULL), VPT_OK);
	assert_int_equal(vpt_frames_walk(src, &check, &frames, NULL), VPT_OK);
	vpt_source_close(src);
	assert_in_range(asked, 4096, 65536);
	assert_int_equal(frames.count, 1);
}

/* A source that notes how much of it is read, and what it is told to expect. */
static struct counting {
	struct vpt_source base;
	size_t read_bytes;
	uint64_t expected;
	int gaps; /* reads of something that was not expected, or expected out of order */
} counting;

static int counting_read(struct vpt_source *src, uint64_t offset, void *buf, size_t size,
	size_t *got, struct vpt_err *err)
{
	(void)src, (void)err;
	*got = file.size - offset < size ? file.size - (size_t)offset : size;
	memcpy(buf, file.data + offset, *got);
	counting.read_bytes += *got;
	counting.gaps += offset + *got > counting.expected;
	return VPT_OK;
}

static void counting_expect(struct vpt_source *src, uint64_t offset, uint64_t size)
{
	(void)src;
	counting.gaps += offset != counting.expected;
	counting.expected = offset + size;
}

/* Of a whole chain only headers are read, although all of it is announced. */
static void a_chain_is_followed_by_its_headers(void **state)
{
	enum { FRAMES = 8, BLOCKS = 4, SIZE = 100 << 10 };
	struct vpt_frame_check check = {ours, NULL};
	int i, k;

	(void)state;
	for (i = 0; i < FRAMES; i++) {
		vpt_hand_le(&file, 4, 0xfd2fb528);
		vpt_hand_le(&file, 1, 0xa0); /* a single segment, its size in four bytes */
		vpt_hand_le(&file, 4, BLOCKS * SIZE);
		for (k = 0; k < BLOCKS; k++) {
			vpt_hand_le(&file, 3, (uint64_t)SIZE << 3 | (k == BLOCKS - 1));
			vpt_hand_fill(&file, 'V', SIZE);
		}
	}
	counting = (struct counting){.base = {.read_at = counting_read,
					     .size_bytes = file.size,
					     .name = "counting",
					     .expect = counting_expect}};
	assert_int_equal(vpt_frames_walk(&counting.base, &check, &frames, NULL), VPT_OK);
	assert_int_equal(frames.count, FRAMES);
	assert_int_equal(frames.items[FRAMES - 1].state, VPT_ZSTD_FRAME_WHOLE);
	assert_int_equal(counting.gaps, 0);
	assert_true(counting.expected >= file.size);
	assert_in_range(counting.read_bytes, 1, file.size / 50);
}

static int failing_read(struct vpt_source *src, uint64_t offset, void *buf, size_t size,
	size_t *got, struct vpt_err *err)
{
	*got = 0;
	(void)src, (void)offset, (void)buf, (void)size;
	return vpt_fail(err, VPT_EIO, "the disk is gone");
}

static void a_read_error_is_not_damage(void **state)
{
	struct vpt_source src = {.read_at = failing_read, .size_bytes = 1000, .name = "disk"};
	struct vpt_frame_check check = {ours, NULL};
	struct vpt_err err;

	(void)state;
	assert_int_equal(vpt_frames_walk(&src, &check, &frames, &err), VPT_EIO);
	assert_string_equal(err.text, "the disk is gone");
	assert_int_equal(frames.count, 0);
	assert_null(frames.items);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RULE(each_place_of_a_file_is_judged),
		RULE(every_prefix_ends_in_a_torn_frame_or_none),
		RULE(headers_beyond_the_limits_are_no_frames),
		RULE(blocks_lead_to_the_end_of_a_frame),
		RULE(a_skippable_frame_longer_than_the_file_is_damage),
		RULE(breaking_the_chain_again_and_again_costs_linear_time),
		RULE(a_file_of_magics_is_given_up),
		RULE(a_chain_is_followed_by_its_headers),
		RULE(a_read_error_is_not_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
