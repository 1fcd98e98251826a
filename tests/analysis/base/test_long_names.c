/* test_long_names.c - what is kept of names, and that the others stay as they are. */
#include "analysis/names/long_names.h"

#include "formats/chunk/strings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char text[1 << 16];

/* Strings of these lengths, the i-th of letters 'a' + i. */
static void put(struct vpt_strings *s, const size_t *lengths, size_t count)
{
	size_t i;

	vpt_strings_reset(s);
	for (i = 0; i < count; i++) {
		memset(text, 'a' + (int)(i % 26), lengths[i]);
		assert_int_equal(vpt_strings_append(s, text, lengths[i]), 0);
	}
}

static void expect(const struct vpt_strings *s, size_t i, size_t len)
{
	struct vpt_text t = vpt_strings_get(s, i);

	assert_int_equal(t.len, len);
	memset(text, 'a' + (int)(i % 26), len);
	assert_memory_equal(t.text, text, len);
}

static void a_long_name_is_cut_and_the_others_are_not(void **state)
{
	static const size_t lengths[] = {0, 5, VPA_NAME_MAX + 1, 256, 60000, VPA_NAME_MAX, 0, 3};
	static const size_t kept[] = {0, 5, VPA_NAME_MAX, 256, VPA_NAME_MAX, VPA_NAME_MAX, 0, 3};
	struct vpa_long_names l;
	struct vpt_strings s = {0};
	size_t i;

	(void)state;
	vpa_long_names_begin(&l, 0);
	put(&s, lengths, 8);
	vpa_long_names_cut(&l, &s);
	for (i = 0; i < 8; i++)
		expect(&s, i, kept[i]);
	assert_int_equal(l.cut, 2);
	vpt_strings_free(&s);
}

/* A larger file may have more of them. */
static void all_long_names_together_are_limited(void **state)
{
	enum { LONG = 8000, NAMES = 100 };
	static const uint64_t files[] = {0, 100000, 1000000};
	struct vpt_strings s = {0};
	size_t lengths[NAMES], k, i;

	(void)state;
	for (i = 0; i < NAMES; i++)
		lengths[i] = LONG;
	for (k = 0; k < 3; k++) {
		uint64_t kept = 0,
			 limit = VPA_LONG_NAMES_BASE + VPA_LONG_NAMES_A_FILE_BYTE * files[k];
		struct vpa_long_names l;
		int chunk;

		vpa_long_names_begin(&l, files[k]);
		for (chunk = 0; chunk < 200; chunk++) {
			put(&s, lengths, NAMES);
			vpa_long_names_cut(&l, &s);
			for (i = 0; i < NAMES; i++)
				kept += vpt_strings_get(&s, i).len == LONG;
		}
		assert_in_range(kept * LONG, limit - LONG, limit);
		assert_int_equal(l.cut, 200 * NAMES - kept);
		expect(&s, NAMES - 1, VPA_NAME_USUAL);
	}
	vpt_strings_free(&s);
}

/* U+00E9 is two bytes: at an even place it is cut in front of one, at an odd place inside one. */
static void no_character_is_cut_in_half(void **state)
{
	enum { LONG = 20000 };
	struct vpt_strings s = {0};
	struct vpa_long_names l;
	size_t odd, i;

	(void)state;
	for (odd = 0; odd < 2; odd++) {
		text[0] = 'x';
		for (i = odd; i < LONG; i++)
			text[i] = (i + odd) % 2 ? '\xa9' : '\xc3';
		vpa_long_names_begin(&l, 0);
		vpt_strings_reset(&s);
		assert_int_equal(vpt_strings_append(&s, text, LONG), 0);
		vpa_long_names_cut(&l, &s);
		assert_int_equal(vpt_strings_get(&s, 0).len, VPA_NAME_MAX - odd);
	}
	vpt_strings_free(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_name_is_cut_and_the_others_are_not),
		cmocka_unit_test(all_long_names_together_are_limited),
		cmocka_unit_test(no_character_is_cut_in_half),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
