/* test_protobuf.c - bytes computed by hand from the description of the wire format. */
#include "formats/perfetto/protobuf.h"

#include "formats/base/error.h"
#include "formats/base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

static void expect(struct vpt_pb *b, const char *want, size_t size)
{
	assert_int_equal(b->failed, 0);
	assert_int_equal(b->size, size);
	assert_memory_equal(b->data, want, size);
	vpt_pb_reset(b);
}

#define EXPECT(b, bytes) expect(b, bytes, sizeof(bytes) - 1)

static void numbers(void **state)
{
	struct vpt_pb b = {0};

	(void)state;
	vpt_pb_uint(&b, 1, 0);
	EXPECT(&b, "\x08\x00");
	vpt_pb_uint(&b, 1, 127);
	EXPECT(&b, "\x08\x7f");
	vpt_pb_uint(&b, 1, 150);
	EXPECT(&b, "\x08\x96\x01");
	vpt_pb_uint(&b, 15, 1);
	EXPECT(&b, "\x78\x01");
	vpt_pb_uint(&b, 16, 1);
	EXPECT(&b, "\x80\x01\x01");
	vpt_pb_uint(&b, 3001, 4);
	EXPECT(&b, "\xc8\xbb\x01\x04");
	vpt_pb_uint(&b, 2, (uint64_t)(int64_t)-1);
	EXPECT(&b, "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	vpt_pb_uint(&b, 536870911, 1); /* the largest field number */
	EXPECT(&b, "\xf8\xff\xff\xff\x0f\x01");
	vpt_pb_double(&b, 5, 1.0);
	EXPECT(&b, "\x29\x00\x00\x00\x00\x00\x00\xf0\x3f");
	vpt_pb_double(&b, 44, -2.5);
	EXPECT(&b, "\xe1\x02\x00\x00\x00\x00\x00\x00\x04\xc0");
	vpt_pb_free(&b);
}

static void messages(void **state)
{
	struct vpt_pb b = {0};
	size_t size, text_size;

	(void)state;
	vpt_pb_begin(&b, 1);
	vpt_pb_end(&b);
	EXPECT(&b, "\x0a\x00");
	vpt_pb_begin(&b, 1);
	vpt_pb_uint(&b, 8, 3);
	vpt_pb_begin(&b, 53);
	vpt_pb_bytes(&b, 2, "ab", 2);
	vpt_pb_end(&b);
	vpt_pb_end(&b);
	EXPECT(&b, "\x0a\x09\x40\x03\xaa\x03\x04\x12\x02"
		   "ab");
	/* The length takes a second byte from 128 on, a third from 16384 on. */
	for (text_size = 120; text_size < 140; text_size++) {
		size_t head = text_size < 128 ? 2 : 3, bytes, i;
		char text[140];

		size = text_size + head;
		memset(text, 'x', sizeof(text));
		vpt_pb_begin(&b, 1);
		vpt_pb_bytes(&b, 1, text, text_size);
		vpt_pb_end(&b);
		bytes = size < 128 ? 2 : 3;
		assert_int_equal(b.size, size + bytes);
		assert_int_equal(b.data[1], size < 128 ? size : (size & 127) | 128);
		if (size >= 128)
			assert_int_equal(b.data[2], 1);
		assert_int_equal(b.data[bytes], 0x0a);
		for (i = bytes + head; i < b.size; i++)
			assert_int_equal(b.data[i], 'x');
		vpt_pb_reset(&b);
	}
	vpt_pb_begin(&b, 1);
	for (size = 0; size < 10000; size++)
		vpt_pb_uint(&b, 1, 1);
	vpt_pb_end(&b);
	assert_int_equal(b.size, 20004);
	assert_memory_equal(b.data, "\x0a\xa0\x9c\x01\x08\x01", 6);
	vpt_pb_free(&b);
}

static void misuse(void **state)
{
	struct vpt_pb b = {0};
	int i;

	(void)state;
	vpt_pb_end(&b);
	assert_int_equal(b.failed, VPT_EINVAL);
	vpt_pb_uint(&b, 1, 1);
	assert_int_equal(b.size, 0);
	vpt_pb_reset(&b);
	for (i = 0; i < VPT_PB_DEPTH; i++)
		vpt_pb_begin(&b, 1);
	assert_int_equal(b.failed, 0);
	vpt_pb_begin(&b, 1);
	assert_int_equal(b.failed, VPT_EINVAL);
	vpt_pb_free(&b);
}

static const struct {
	const char *rule, *in;
	size_t len, max;
	const char *out;
} texts[] = {
	{"plain", "gemm<1>", 7, 99, "gemm<1>"},
	{"empty", "", 0, 99, ""},
	{"two, three and four bytes", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x8e\xac", 9, 99,
		"\xc3\xa9\xe2\x82\xac\xf0\x9f\x8e\xac"},
	{"a lone continuation", "a\x80z", 3, 99, "a\xef\xbf\xbdz"},
	{"an overlong slash", "\xc0\xaf", 2, 99, "\xef\xbf\xbd\xef\xbf\xbd"},
	{"overlong in three bytes", "\xe0\x80\x80", 3, 99, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
	{"a surrogate", "\xed\xa0\x80", 3, 99, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
	{"beyond U+10FFFF", "\xf4\x90\x80\x80", 4, 99,
		"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
	{"cut in the middle by the file", "x\xe2\x82", 3, 99, "x\xef\xbf\xbd\xef\xbf\xbd"},
	{"NUL", "a\0b", 3, 99,
		"a\xef\xbf\xbd"
		"b"},
	{"cut to a length", "abcdef", 6, 3, "abc"},
	{"cut between characters", "ab\xe2\x82\xac", 5, 4, "ab"},
	{"exactly fitting", "ab\xe2\x82\xac", 5, 5, "ab\xe2\x82\xac"},
};

static void text(void **state)
{
	struct vpt_pb b = {0};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		size_t len = strlen(texts[i].out);

		vpt_pb_text(&b, 1, texts[i].in, texts[i].len, texts[i].max);
		if (b.size != len + 2 || b.data[1] != len || memcmp(b.data + 2, texts[i].out, len))
			fail_msg("%s", texts[i].rule);
		vpt_pb_reset(&b);
	}
	vpt_pb_string(&b, 2, "hi");
	vpt_pb_string(&b, 2, NULL);
	EXPECT(&b, "\x12\x02hi");
	vpt_pb_free(&b);
}

static void *no_memory(void *ptr, size_t size)
{
	(void)ptr;
	(void)size;
	return NULL;
}

static void without_memory(void **state)
{
	static const struct vpt_memory_ops none = {no_memory, free};
	const struct vpt_memory_ops *before = vpt_memory_use(&none);
	struct vpt_pb b = {0};

	(void)state;
	vpt_pb_begin(&b, 1);
	vpt_pb_uint(&b, 1, 1);
	vpt_pb_string(&b, 1, "x");
	vpt_pb_double(&b, 1, 1);
	vpt_pb_end(&b);
	vpt_memory_use(before);
	assert_int_equal(b.failed, VPT_ENOMEM);
	assert_int_equal(b.size, 0);
	vpt_pb_free(&b);
}

/* The number without branches is the number of the loop, at each length. */
static void numbers_by_hand(void **state)
{
	unsigned bit;
	int more;

	(void)state;
	for (bit = 0; bit < 64; bit++)
		for (more = -1; more < 2; more++) {
			uint8_t a[VPT_PB_VARINT + 4], b[VPT_PB_VARINT + 4];
			uint64_t value = ((uint64_t)1 << bit) + (uint64_t)(int64_t)more;
			size_t size = (size_t)(vpt_pb_varint_at(a, value) - a);

			assert_int_equal(vpt_pb_varint_loop_at(b, value) - b, size);
			assert_memory_equal(a, b, size);
		}
}

/* A message by hand is what begin and end make, also where its length takes two bytes. */
static void padded_numbers(void **state)
{
	static const struct {
		uint64_t value;
		const char *bytes;
		size_t size;
	} rows[] = {
		{0, "\x80\x80\x00", 3},
		{1, "\x81\x80\x00", 3},
		{0x7f, "\xff\x80\x00", 3},
		{0x80, "\x80\x81\x00", 3},
		{0x3fff, "\xff\xff\x00", 3},
		{0x4000, "\x80\x80\x01", 3},
		{0x1fffff, "\xff\xff\x7f", 3},
		{0x200000, "\x80\x80\x80\x01", 4},
		{UINT64_MAX, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10},
	};
	uint8_t room[VPT_PB_VARINT];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(vpt_pb_padded_at(room, rows[i].value) - room, rows[i].size);
		assert_memory_equal(room, rows[i].bytes, rows[i].size);
	}
}

static void messages_by_hand(void **state)
{
	static const size_t sizes[] = {0, 1, 127, 128, 129, 1000, 16383};
	static uint8_t data[16383], by_hand[16400];
	size_t i;

	(void)state;
	memset(data, 0x5a, sizeof(data));
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct vpt_pb b = {0};
		uint8_t *end;

		vpt_pb_begin(&b, 3);
		vpt_pb_raw(&b, data, sizes[i]);
		vpt_pb_end(&b);
		by_hand[0] = 3 << 3 | 2;
		memcpy(by_hand + 2, data, sizes[i]);
		end = vpt_pb_close_at(by_hand + 2, by_hand + 2 + sizes[i]);
		assert_int_equal(end - by_hand, b.size);
		assert_memory_equal(by_hand, b.data, b.size);
		vpt_pb_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(messages),
		cmocka_unit_test(misuse),
		cmocka_unit_test(text),
		cmocka_unit_test(without_memory),
		cmocka_unit_test(numbers_by_hand),
		cmocka_unit_test(padded_numbers),
		cmocka_unit_test(messages_by_hand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
