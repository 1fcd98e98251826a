/* test_utf8.c - every code there is, and every way of two to four bytes to be none, against the definition as arithmetic. */
#include "formats/base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static size_t encode(uint32_t code, unsigned char out[4])
{
	size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4, i;

	for (i = len; i-- > 1; code >>= 6)
		out[i] = (unsigned char)(0x80 | (code & 0x3f));
	out[0] = (unsigned char)(len == 1 ? code : (0xf00u >> len & 0xff) | code);
	return len;
}

static void every_code_is_read(void **state)
{
	unsigned char text[4];
	uint32_t code;

	(void)state;
	for (code = 0; code < 0x110000; code++) {
		size_t len = encode(code, text);
		int surrogate = code >= 0xd800 && code < 0xe000;

		assert_int_equal(vpt_utf8_length((char *)text, len, NULL), surrogate ? 0 : len);
		if (surrogate)
			continue;
		assert_int_equal(vpt_utf8_code((char *)text, len), code);
		if (len > 1) /* cut short */
			assert_int_equal(vpt_utf8_length((char *)text, len - 1, NULL), 0);
	}
}

/* Numbers that are no code point become one replacement. */
static void every_code_is_written(void **state)
{
	unsigned char text[4];
	char put[4];
	uint32_t code;

	(void)state;
	for (code = 0; code < 0x110100; code++) {
		int surrogate = code >= 0xd800 && code < 0xe000;
		size_t len = encode(surrogate || code > 0x10ffff ? 0xfffd : code, text);

		assert_int_equal(vpt_utf8_put(put, code), len);
		assert_memory_equal(put, text, len);
	}
	assert_int_equal(vpt_utf8_put(put, UINT32_MAX), 3);
	assert_memory_equal(put, "\xef\xbf\xbd", 3);
}

/* What is read is always the encoding of what it means; nothing else is read. */
static void nothing_else_is_read(void **state)
{
	uint32_t word;

	(void)state;
	for (word = 0; word < 1u << 24; word += 1 + (word >> 20)) {
		const unsigned char text[4] = {(unsigned char)(word >> 16 | 0x80),
			(unsigned char)(word >> 8), (unsigned char)word,
			(unsigned char)(word * 37)};
		unsigned char again[4];
		size_t bad = 0, len = vpt_utf8_length((const char *)text, 4, &bad);

		if (!len) {
			assert_in_range(bad, 1, 3);
			continue;
		}
		assert_int_equal(encode(vpt_utf8_code((const char *)text, len), again), len);
		assert_memory_equal(again, text, len);
	}
}

/* One replacement for as much as could have begun a sequence (the Unicode Standard, table 3-8). */
static void bad_parts_have_the_standards_length(void **state)
{
	static const struct {
		const char *text;
		size_t bad;
	} cases[] = {{"\x80", 1}, {"\xc0\xaf", 1}, {"\xe0\x80\xbf", 1}, {"\xf0\x81\x82", 1},
		{"\xed\xa0\x80", 1}, {"\xf4\x91\x92\x93", 1}, {"\xff", 1}, {"\xe1\x80\xe2", 2},
		{"\xf0\x91\x92\xf1", 3}, {"\xf1\xbf", 2}, {"\xc2", 1}};
	size_t i, bad;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bad = 0;
		assert_int_equal(vpt_utf8_length(cases[i].text, strlen(cases[i].text), &bad), 0);
		assert_int_equal(bad, cases[i].bad);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_code_is_read),
		cmocka_unit_test(every_code_is_written),
		cmocka_unit_test(nothing_else_is_read),
		cmocka_unit_test(bad_parts_have_the_standards_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
