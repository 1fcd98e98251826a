/* test_column.c - every column of numbers comes back exactly, whatever it holds. */
#include "formats/chunk/column.h"

#include "formats/event_schema.h"
#include "tests/support/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS_MAX = 3000 };

static uint64_t values[ROWS_MAX], durations[ROWS_MAX], numbers[ROWS_MAX], back[ROWS_MAX];
static unsigned char planes[ROWS_MAX * 8 + 1]; /* one more, which nobody may touch */

static struct vpt_column_code there_and_back(uint8_t enc, size_t count)
{
	struct vpt_column_code code = vpt_column_plan(enc, values, durations, count);
	size_t i;

	assert_in_range(code.width, 0, 8);
	memset(planes, 0x5a, sizeof(planes));
	vpt_column_planes(&code, values, durations, count, planes);
	assert_int_equal(planes[code.width * count], 0x5a);
	/* As wide as the largest number, no wider. */
	for (i = 0; code.width && i < count && !planes[(code.width - 1u) * count + i]; i++)
		;
	assert_true(!code.width || i < count);
	vpt_column_join(planes, count, code.width, VPT_ENC_PLAIN, 0, numbers);
	memset(back, 0x33, sizeof(back));
	if (code.enc == VPT_ENC_GAP)
		vpt_column_join_gap(planes, count, code.width, code.base, durations, back);
	else
		vpt_column_join(planes, count, code.width, code.enc, code.base, back);
	assert_memory_equal(back, values, count * sizeof(*values));
	return code;
}

/* One row: how columns are made of numbers and the encoding that comes out. Numbers are exact. */
static void numbers_are_transformed_as_the_format_says(void **state)
{
	static const struct {
		const char *rule;
		uint8_t enc, enc_after, width;
		uint64_t base;
		size_t count;
		uint64_t values[4], durations[4], numbers[4];
	} cases[] = {
		{"equal values need no plane", VPT_ENC_PLAIN, VPT_ENC_PLAIN, 0, 7, 3, {7, 7, 7},
			{0}, {0, 0, 0}},
		{"the smallest value is the base", VPT_ENC_PLAIN, VPT_ENC_PLAIN, 1, 5, 3,
			{260, 5, 9}, {0}, {255, 0, 4}},
		{"256 needs a second plane", VPT_ENC_PLAIN, VPT_ENC_PLAIN, 2, 0, 2, {256, 0}, {0},
			{256, 0}},
		{"all bits", VPT_ENC_PLAIN, VPT_ENC_PLAIN, 8, 0, 2, {UINT64_MAX, 0}, {0},
			{UINT64_MAX, 0}},
		{"steps up are even, down odd", VPT_ENC_DELTA, VPT_ENC_DELTA, 1, 10, 4,
			{10, 13, 12, 12}, {0}, {0, 6, 1, 0}},
		{"a step may wrap", VPT_ENC_DELTA, VPT_ENC_DELTA, 1, UINT64_MAX, 2, {UINT64_MAX, 0},
			{0}, {0, 2}},
		{"a serial row counts from the end before", VPT_ENC_GAP, VPT_ENC_GAP, 1, 100, 3,
			{100, 115, 140}, {10, 20, 1}, {0, 10, 10}},
		{"a parent that ends after its child counts its end", VPT_ENC_GAP, VPT_ENC_GAP, 1,
			100, 2, {100, 90}, {10, 25}, {0, 11}},
		{"an end before the end before is negative", VPT_ENC_GAP, VPT_ENC_GAP, 8, 100, 2,
			{100, 90}, {10, 15}, {0, UINT64_MAX - 8}},
		{"the largest gap that fits", VPT_ENC_GAP, VPT_ENC_GAP, 8, 1, 2, {1, 1ull << 62},
			{0, 0}, {0, ((1ull << 62) - 1) << 1}},
		{"a gap of 2^62 falls back to steps", VPT_ENC_GAP, VPT_ENC_DELTA, 8, 1, 2,
			{1, (1ull << 62) + 1}, {0, 0}, {0, 1ull << 63}},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vpt_column_code code;

		memcpy(values, cases[i].values, sizeof(cases[i].values));
		memcpy(durations, cases[i].durations, sizeof(cases[i].durations));
		code = there_and_back(cases[i].enc, cases[i].count);
		if (code.enc != cases[i].enc_after || code.width != cases[i].width ||
			code.base != cases[i].base ||
			memcmp(numbers, cases[i].numbers, cases[i].count * sizeof(*numbers)))
			fail_msg("%s: enc %d width %d base %llu numbers %llu %llu %llu",
				cases[i].rule, code.enc, code.width, (unsigned long long)code.base,
				(unsigned long long)numbers[0], (unsigned long long)numbers[1],
				(unsigned long long)numbers[2]);
	}
}

static void planes_hold_low_bytes_first(void **state)
{
	static const unsigned char expected[] = {0x01, 0x11, 0, 0x02, 0x22, 0, 0x03, 0x33, 0};
	struct vpt_column_code code;

	(void)state;
	values[0] = 0x030201;
	values[1] = 0x332211;
	values[2] = 0;
	code = vpt_column_plan(VPT_ENC_PLAIN, values, NULL, 3);
	assert_int_equal(code.width, 3);
	vpt_column_planes(&code, values, NULL, 3, planes);
	assert_memory_equal(planes, expected, sizeof(expected));
}

/* Columns of any shape: random in size and width, with edges; sorted, constant, or counting. */
static void fill(struct vpt_random *r, uint64_t *column, size_t count)
{
	uint64_t shape = vpt_random_below(r, 5), value = vpt_random_nasty(r),
		 step = vpt_random_nasty(r);
	unsigned shift = (unsigned)vpt_random_below(r, 64);
	size_t i;

	for (i = 0; i < count; i++) {
		if (shape == 0)
			value = vpt_random_nasty(r);
		else if (shape == 1)
			value = vpt_random(r) >> shift;
		else if (shape == 2)
			value += vpt_random(r) >> shift;
		else if (shape == 3)
			value += step;
		column[i] = value;
	}
}

static void any_column_comes_back(void **state)
{
	static const uint8_t encodings[] = {VPT_ENC_PLAIN, VPT_ENC_DELTA, VPT_ENC_GAP};
	struct vpt_random r = {1};
	size_t round, count, seen[VPT_ENC_GAP + 1] = {0}, widths[9] = {0};

	(void)state;
	for (round = 0; round < 6000; round++) {
		struct vpt_column_code code;

		count = 1 + vpt_random_below(&r, round % 100 ? 40 : ROWS_MAX - 1);
		fill(&r, values, count);
		fill(&r, durations, count);
		code = there_and_back(encodings[round % 3], count);
		seen[code.enc]++;
		widths[code.width]++;
	}
	/* The rounds have been everywhere, the fallback of GAP included. */
	assert_true(seen[VPT_ENC_GAP] > 100 && seen[VPT_ENC_DELTA] > 2000 + 100);
	for (count = 0; count < 9; count++)
		assert_true(widths[count] > 10);
}

/* A reader may meet numbers that no writer makes; they must give some value and nothing worse. */
static void any_planes_can_be_joined(void **state)
{
	struct vpt_random r = {2};
	size_t round, i;

	(void)state;
	for (round = 0; round < 300; round++) {
		size_t count = 1 + vpt_random_below(&r, 300);
		unsigned width = (unsigned)vpt_random_below(&r, 9);

		for (i = 0; i < count * width; i++)
			planes[i] = (unsigned char)vpt_random(&r);
		fill(&r, durations, count);
		vpt_column_join_gap(planes, count, width, vpt_random_nasty(&r), durations, back);
		vpt_column_join(planes, count, width, VPT_ENC_DELTA, vpt_random_nasty(&r), back);
		vpt_column_join(planes, count, width, VPT_ENC_PLAIN, 5, back);
		for (i = 0; width && i < count; i++)
			assert_int_equal((back[i] - 5) & 0xff, planes[i]);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_transformed_as_the_format_says),
		cmocka_unit_test(planes_hold_low_bytes_first),
		cmocka_unit_test(any_column_comes_back),
		cmocka_unit_test(any_planes_can_be_joined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
