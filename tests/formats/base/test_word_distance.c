/* test_word_distance.c - words against others, and against the same two the other way round. */
#include "formats/base/word_distance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define FORTY "0123456789012345678901234567890123456789"

static const struct {
	const char *a, *b;
	size_t distance;
} cases[] = {
	{"", "", 0},
	{"", "abc", 3},
	{"output", "output", 0},
	{"outpt", "output", 1},
	{"outtput", "output", 1},
	{"oatput", "output", 1},
	{"otuput", "output", 1}, /* neighbours swapped */
	{"uotptu", "output", 2}, /* twice */
	{"ab", "bca", 3},        /* a swap, and nothing between the swapped */
	{"kitten", "sitting", 3},
	{"abc", "cba", 2},
	{FORTY, FORTY "x", VPT_WORD_LETTERS_MAX},
	{FORTY, "x" FORTY, VPT_WORD_LETTERS_MAX},
	{FORTY, "12345678901234567890123456789012345678x", 2},
};

static void distances_are_the_slips_between_words(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vpt_text a = vpt_text_from(cases[i].a), b = vpt_text_from(cases[i].b);

		assert_int_equal(vpt_word_distance(a, b), cases[i].distance);
		assert_int_equal(vpt_word_distance(b, a), cases[i].distance);
	}
}

/* Only as much is read as the text has. */
static void a_word_ends_where_its_text_ends(void **state)
{
	(void)state;
	assert_int_equal(
		vpt_word_distance((struct vpt_text){"output=x", 6}, vpt_text_from("output")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances_are_the_slips_between_words),
		cmocka_unit_test(a_word_ends_where_its_text_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
