/* test_text_line.c - numbers and text of exported rows: each as the plain way to write it has it. */
#include "analysis/export/text_line.h"

#include "formats/io/json_writer.h"
#include "tests/support/random.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct vpa_line line;

static void same(const char *expected, size_t len)
{
	assert_false(line.failed);
	assert_int_equal(line.size, len);
	assert_memory_equal(line.data, expected, len);
	line.size = 0;
}

static void check_number(uint64_t value)
{
	char text[32];

	vpa_line_unsigned(&line, value);
	same(text, (size_t)snprintf(text, sizeof(text), "%" PRIu64, value));
	vpa_line_signed(&line, value);
	same(text, (size_t)snprintf(text, sizeof(text), "%" PRId64, (int64_t)value));
	vpa_line_hex(&line, value);
	same(text, (size_t)snprintf(text, sizeof(text), "0x%" PRIx64, value));
}

static void numbers_of_every_length(void **state)
{
	uint64_t power = 1;
	unsigned i;

	(void)state;
	for (i = 0; i < 20; i++, power *= 10) {
		check_number(power - 1);
		check_number(power);
		check_number(power + 1);
	}
	check_number(INT64_MAX);
	check_number((uint64_t)INT64_MAX + 1);
	check_number(UINT64_MAX);
}

/* Neighbours have their leading digits in common, or just not. */
static void numbers_after_one_another(void **state)
{
	struct vpt_random r = {1};
	uint64_t value = 0;
	unsigned i;

	(void)state;
	for (i = 0; i < 200000; i++) {
		value = i % 3 ? value + vpt_random_below(&r, 300000000)
			      : vpt_random(&r) >> vpt_random_below(&r, 64);
		check_number(value);
	}
}

static void check_json(const char *text, size_t len)
{
	struct vpt_buffer expected = {0};
	struct vpt_sink *sink;
	struct vpt_json j;

	assert_int_equal(vpt_sink_memory(&expected, &sink, NULL), 0);
	vpt_json_init(&j, sink, 0);
	vpt_json_text(&j, NULL, text, len);
	assert_int_equal(vpt_json_finish(&j, NULL), 0);
	assert_int_equal(sink->finish(sink, 1, NULL), 0);
	vpa_line_json(&line, text, len);
	same((const char *)expected.data, expected.size);
	vpt_free(expected.data);
}

/* A byte of any value, at any place of a text of any length up to three words. */
static void json_text_with_any_byte(void **state)
{
	enum { LONGEST = 24 };
	char text[LONGEST];
	unsigned byte;
	size_t len, at;

	(void)state;
	for (byte = 0; byte < 256; byte++)
		for (len = 1; len <= LONGEST; len++)
			for (at = 0; at < len; at++) {
				memset(text, 'a', len);
				text[at] = (char)byte;
				check_json(text, len);
			}
	check_json("", 0);
}

static int free_line(void **state)
{
	(void)state;
	vpt_free(line.data);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_every_length),
		cmocka_unit_test(numbers_after_one_another),
		cmocka_unit_test(json_text_with_any_byte),
	};

	return cmocka_run_group_tests(tests, NULL, free_line);
}
