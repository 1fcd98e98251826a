/* test_units.c - how numbers and names look on a terminal. */
#include "analysis/base/numbers.h"
#include "formats/base/count.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void check(const char *rule, const char *expected, const char *found)
{
	if (strcmp(expected, found))
		fail_msg("%s: expected \"%s\", found \"%s\"", rule, expected, found);
}

static void counts_have_separators_every_three_digits(void **state)
{
	static const struct {
		uint64_t n;
		const char *text;
	} cases[] = {
		{0, "0"},
		{7, "7"},
		{999, "999"},
		{1000, "1,000"},
		{131204, "131,204"},
		{UINT64_MAX, "18,446,744,073,709,551,615"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		check("count", cases[i].text, vpa_count(cases[i].n).text);
}

static void numbers_in_sentences_have_separators_and_names_do_not(void **state)
{
	static const struct {
		const char *sentence, *shown;
	} cases[] = {
		{"2274 operations have no launch record", "2,274 operations have no launch record"},
		{"428.7 ms in 12202 gaps, 24.7 %", "428.7 ms in 12,202 gaps, 24.7 %"},
		{"copies: 1880.9 ms, 97.0 %", "copies: 1,880.9 ms, 97.0 %"},
		{"0.123456 of 999", "0.123456 of 999"},
		{"lost (1234567)", "lost (1,234,567)"},
		{"10000", "10,000"},
		{"", ""},
		{"sm_9000 in /tmp/2026/run.1234 at 1024M, 0007 and 2026-11-23",
			"sm_9000 in /tmp/2026/run.1234 at 1024M, 0007 and 2026-11-23"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		check("sentence", cases[i].shown, vpa_grouped(cases[i].sentence).text);
	check("sentence", "", vpa_grouped(NULL).text);
}

static void durations_have_three_digits_and_the_unit_that_fits(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{0, "0 ns"},
		{1, "1 ns"},
		{999, "999 ns"},
		{1000, "1.00 us"},
		{9994, "9.99 us"},
		{9995, "10.0 us"},
		{22049, "22.0 us"},
		{99949, "99.9 us"},
		{99950, "100 us"},
		{374000, "374 us"},
		{999499, "999 us"},
		{999500, "1.00 ms"},
		{26819873, "26.8 ms"},
		{999500000, "1.00 s"},
		{7312000000, "7.31 s"},
		{999499999999, "999 s"},
		{1234567000000000, "1,234,567 s"},
		{UINT64_MAX, "18,446,744,074 s"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		check("duration", cases[i].text, vpa_duration(cases[i].ns).text);
}

static void bytes_are_counted_in_powers_of_1000(void **state)
{
	(void)state;
	check("bytes", "8 B", vpa_bytes(8).text);
	check("bytes", "58.0 MB", vpa_bytes(58000000).text);
	check("bytes", "85.9 GB", vpa_bytes(85899345920).text);
	check("bytes", "18,446,744 TB", vpa_bytes(UINT64_MAX).text);
}

static void scaled_numbers_round_half_up(void **state)
{
	(void)state;
	check("ms", "0.0", vpa_scaled(49999, 1000000, 1).text);
	check("ms", "0.1", vpa_scaled(50000, 1000000, 1).text);
	check("ms", "1,120.457", vpa_scaled(1120456789, 1000000, 3).text);
	check("s", "3.118412", vpa_scaled(3118412345, 1000000000, 6).text);
	check("no decimals", "3", vpa_scaled(3499, 1000, 0).text);
	check("at most six", "1.500000", vpa_scaled(3, 2, 9).text);
	check("largest", "18,446,744,073,709.551615", vpa_scaled(UINT64_MAX, 1000000, 6).text);
	check("no unit", "-", vpa_scaled(1, 0, 1).text);
}

static void percentages_never_hide_that_something_is_there(void **state)
{
	(void)state;
	check("percent", "79.9", vpa_percent(799, 1000).text);
	check("percent", "100.0", vpa_percent(7, 7).text);
	check("nothing", "0.0", vpa_percent(0, 7).text);
	check("a little", "<0.1", vpa_percent(1, 1000000).text);
	check("of nothing", "-", vpa_percent(1, 0).text);
	check("no overflow", "100.0", vpa_percent(UINT64_MAX, UINT64_MAX).text);
	check("share", "44.4", vpa_share(0.4444).text);
	check("share", "<0.1", vpa_share(1e-9).text);
	check("share", "0.0", vpa_share(0).text);
	check("share", "-", vpa_share(-1).text);
	check("share", "-", vpa_share(NAN).text);
	check("share", "-", vpa_share(INFINITY).text);
}

static void fixed_numbers_have_their_decimals_and_no_negative_zero(void **state)
{
	(void)state;
	check("fixed", "345.7", vpa_fixed(345.678, 1).text);
	check("fixed", "-1,345.68", vpa_fixed(-1345.678, 2).text);
	check("fixed", "0.0", vpa_fixed(-0.01, 1).text);
	check("fixed", "-", vpa_fixed(NAN, 1).text);
	check("fixed", "-", vpa_fixed(-INFINITY, 1).text);
	check("fixed", "-", vpa_fixed(1e300, 1).text);
}

static void numbers_look_the_same_in_every_locale(void **state)
{
	const char *names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C.UTF-8", "C"};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(names); i++) {
		if (!setlocale(LC_ALL, names[i]))
			continue;
		check(names[i], "1,234.5", vpa_fixed(1234.5, 1).text);
		check(names[i], "22.0 us", vpa_duration(22000).text);
	}
	setlocale(LC_ALL, "C");
}

static const struct {
	const char *rule, *text, *shown;
	size_t columns;
} texts[] = {
	{"ASCII stays", "flash_fwd<128>", "flash_fwd<128>", 14},
	{"an escape sequence is shown, not obeyed", "\x1b[31mred", "\\x1b[31mred", 11},
	{"a line end too", "a\nb", "a\\x0ab", 6},
	{"and DEL", "\x7f", "\\x7f", 4},
	{"letters beyond ASCII stay", "gr\xc3\xb6\xc3\x9f", "gr\xc3\xb6\xc3\x9f", 4},
	{"wide ones take two columns", "\xe8\xa7\x86\xe9\xa2\x91", "\xe8\xa7\x86\xe9\xa2\x91", 4},
	{"pictures too", "\xf0\x9f\x8e\xac", "\xf0\x9f\x8e\xac", 2},
	{"a control character of two bytes", "\xc2\x9b", "\\x9b", 4},
	{"a soft hyphen is unseen", "\xc2\xad", "\\xad", 4},
	{"no change of direction", "\xe2\x80\xae!", "\\u202e!", 7},
	{"unseen tags", "\xf3\xa0\x81\x81", "\\ue0041", 7},
	{"a lone continuation byte", "\x80", "\\x80", 4},
	{"a cut sequence", "\xe8\xa7", "\\xe8\\xa7", 8},
	{"an overlong form", "\xc0\xaf", "\\xc0\\xaf", 8},
	{"an overlong form of three", "\xe0\x80\xaf", "\\xe0\\x80\\xaf", 12},
	{"a surrogate", "\xed\xa0\x80", "\\xed\\xa0\\x80", 12},
	{"beyond the last code", "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", 16},
	{"a byte that never begins one", "\xff", "\\xff", 4},
	{"nothing", "", "", 0},
	{"no text", NULL, "", 0},
};

static void foreign_text_is_shown_and_never_obeyed(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(texts); i++) {
		check(texts[i].rule, texts[i].shown, vpa_fit(texts[i].text, 100).text);
		if (vpa_columns(texts[i].text) != texts[i].columns)
			fail_msg("%s: %zu columns", texts[i].rule, vpa_columns(texts[i].text));
	}
}

static void long_text_loses_its_middle(void **state)
{
	static const struct {
		const char *rule, *text;
		size_t columns;
		const char *shown;
	} cases[] = {
		{"it fits", "0123456789", 10, "0123456789"},
		{"one too long", "0123456789a", 10, "0123...89a"},
		{"no room for dots", "0123456789", 4, "0189"},
		{"no room at all", "0123456789", 0, ""},
		{"an escape is not cut apart",
			"012345\x1b"
			"67890123456789",
			13, "012345...6789"},
		{"nor a wide character",
			"\xe8\xa7\x86\xe8\xa7\x86\xe8\xa7\x86\xe8\xa7\x86\xe8\xa7\x86", 8,
			"\xe8\xa7\x86...\xe8\xa7\x86"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		check(cases[i].rule, cases[i].shown, vpa_fit(cases[i].text, cases[i].columns).text);
}

static void a_nul_inside_a_name_is_shown(void **state)
{
	static const char text[] = "nul \0 inside";

	(void)state;
	check("a part with a NUL", "nul \\x00 inside",
		vpa_fit_part(text, sizeof(text) - 1, 40).text);
	check("a part that ends before the text", "nul ", vpa_fit_part(text, 4, 40).text);
}

static void any_length_fits_any_width(void **state)
{
	static const char *const pieces[] = {
		"x", "\xc3\xb6", "\xe8\xa7\x86", "\xf0\x90\x80\x80", "\x1b", "\xe8"};
	char text[40001];
	size_t i, columns;

	(void)state;
	for (i = 0; i < COUNT(pieces); i++) {
		size_t len = strlen(pieces[i]), at;

		for (at = 0; at + len < sizeof(text); at += len)
			memcpy(text + at, pieces[i], len);
		text[at] = '\0';
		for (columns = 0; columns < 200; columns += 7) {
			size_t shown = vpa_columns(vpa_fit(text, columns).text);

			assert_true(shown <= columns && shown <= VPA_COLUMNS_MAX);
			if (columns >= 40)
				assert_true(shown + 8 > columns || shown + 8 > VPA_COLUMNS_MAX);
		}
	}
}

static void parts_in_words(void **state)
{
	static const struct {
		uint64_t part;
		const char *word;
	} cases[] = {{10000, "all"}, {9995, "all"}, {9994, "nearly all"}, {9500, "nearly all"},
		{9499, "most"}, {6000, "most"}, {5999, "about half"}, {4000, "about half"},
		{3999, "about a third"}, {2800, "about a third"}, {2799, "some"}, {1, "some"}};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(vpa_part_word(cases[i].part, 10000), cases[i].word);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_in_words),
		cmocka_unit_test(counts_have_separators_every_three_digits),
		cmocka_unit_test(numbers_in_sentences_have_separators_and_names_do_not),
		cmocka_unit_test(durations_have_three_digits_and_the_unit_that_fits),
		cmocka_unit_test(bytes_are_counted_in_powers_of_1000),
		cmocka_unit_test(scaled_numbers_round_half_up),
		cmocka_unit_test(percentages_never_hide_that_something_is_there),
		cmocka_unit_test(fixed_numbers_have_their_decimals_and_no_negative_zero),
		cmocka_unit_test(numbers_look_the_same_in_every_locale),
		cmocka_unit_test(foreign_text_is_shown_and_never_obeyed),
		cmocka_unit_test(long_text_loses_its_middle),
		cmocka_unit_test(a_nul_inside_a_name_is_shown),
		cmocka_unit_test(any_length_fits_any_width),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
