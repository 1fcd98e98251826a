/* test_rank_unit.c - what a rank counts in and its stages, as texts of a file of several ranks: read back they are the same, whatever
 * the kind of unit; what could be none is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/base/arena.h"
#include "analysis/ranks/rank/rank_unit.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"

static void each_kind_of_unit_is_read_back(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < VPA_UNIT_KINDS; i++) {
		struct vpa_rank rank = {.unit = (enum vpa_unit_kind)i,
			.first_ns = 1000,
			.units = 7,
			.unit_ns = 500,
			.units_from_ns = 900,
			.units_to_ns = 4400,
			.fps = 16.25,
			.blocks_per_1e9s = i == VPA_UNIT_BLOCK ? 123 : 0};
		struct vpa_rank back = {.first_ns = 1000};
		char text[VPA_RANK_UNIT_SIZE];

		assert_int_equal(vpa_rank_unit_write(&rank, text), i != VPA_UNIT_WINDOW);
		if (i == VPA_UNIT_WINDOW)
			continue;
		assert_true(vpa_rank_unit_read(&back, text));
		assert_int_equal(back.unit, i);
		assert_int_equal(back.units, 7);
		assert_int_equal(back.unit_ns, 500);
		assert_int_equal(back.units_from_ns, 900);
		assert_int_equal(back.units_to_ns, 4400);
		assert_true(back.fps == 16.25);
		assert_int_equal(back.blocks_per_1e9s, rank.blocks_per_1e9s);
		assert_int_equal(back.is_end_to_end, i != VPA_UNIT_BLOCK);
	}
}

static void a_text_that_is_no_unit_sets_nothing(void **state)
{
	static const char *const texts[] = {"", "7", "7 500 0 0 16 0", "7 500 0 0 16 0 window",
		"7 500 0 0 16 0 blocks", "0 500 0 0 16 0 block", "7 0 0 0 16 0 block",
		"7 18446744073709551615 0 0 16 0 block", "7 500 0 0 nan 0 block",
		"7 500 0 0 inf 0 block", "7 500 0 0 -1 0 block"};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(texts); i++) {
		struct vpa_rank rank = {.unit = VPA_UNIT_WINDOW};

		assert_false(vpa_rank_unit_read(&rank, texts[i]));
		assert_int_equal(rank.unit, VPA_UNIT_WINDOW);
		assert_int_equal(rank.units, 0);
	}
}

static size_t stages_of(const char *text, const char **first, uint64_t *first_ns)
{
	struct vpa_rank rank = {.stages = NULL};
	static char name[64];
	size_t count;

	assert_int_equal(vpa_rank_stages_read(&rank, text), 0);
	count = rank.stage_count;
	*first = name;
	name[0] = 0;
	if (count) {
		strncpy(name, rank.stages[0].name, sizeof(name) - 1);
		*first_ns = rank.stages[0].time_ns;
	}
	vpt_free(rank.stages);
	vpa_arena_free(&rank.arena);
	return count;
}

static void stages_are_read_back_up_to_a_line_that_is_none(void **state)
{
	struct vpa_rank_stage stages[] = {
		{"text encode", 0, 1, 300}, {"two\nlines", 1, 4, 5}, {"vae", 1, 1, 9}};
	struct vpa_rank rank = {.stages = stages, .stage_count = COUNT(stages)};
	struct vpa_arena a = {.failed = 0};
	char many[64 * 16];
	const char *first;
	uint64_t ns;
	size_t i;

	(void)state;
	assert_string_equal(
		vpa_rank_stages_write(&rank, &a), "1 300 0 text encode\n4 5 1 two\n1 9 1 vae\n");
	assert_int_equal(stages_of(vpa_rank_stages_write(&rank, &a), &first, &ns), 3);
	assert_string_equal(first, "text encode");
	assert_int_equal(ns, 300);
	rank.stage_count = 0;
	assert_null(vpa_rank_stages_write(&rank, &a));
	vpa_arena_free(&a);

	assert_int_equal(stages_of("1 5 0 a\n1 5 2 b\n1 5 0 c\n", &first, &ns), 1);
	assert_int_equal(stages_of("0 5 0 a\n", &first, &ns), 0);
	assert_int_equal(stages_of("1 0 0 a\n", &first, &ns), 0);
	assert_int_equal(stages_of("1 5 0 \n1 5 0 b\n", &first, &ns), 0);
	assert_int_equal(stages_of("1 18446744073709551615 0 a\n", &first, &ns), 0);
	for (i = 0, many[0] = 0; i < 40; i++)
		strcat(many, "1 5 0 stage\n");
	assert_int_equal(stages_of(many, &first, &ns), VPA_RANK_STAGES_MOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_of_unit_is_read_back),
		cmocka_unit_test(a_text_that_is_no_unit_sets_nothing),
		cmocka_unit_test(stages_are_read_back_up_to_a_line_that_is_none),
	};

	return cmocka_run_group_tests_name("rank unit", tests, NULL, NULL);
}
