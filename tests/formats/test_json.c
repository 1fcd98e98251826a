/* test_json.c - the JSON writer, compared byte for byte.
 * Long, since each rule is a case of the same writer. */
#include "formats/io/json_writer.h"

#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "tests/support/skip.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* ---- a writer into memory, whose outcome is one string ---- */

static struct vpt_json writer;
static struct vpt_sink *sink;
static struct vpt_buffer bytes;
static struct vpt_err err;

static struct vpt_json *start(int pretty)
{
	assert_int_equal(vpt_sink_memory(&bytes, &sink, NULL), VPT_OK);
	memset(&err, 0, sizeof(err));
	vpt_json_init(&writer, sink, pretty);
	return &writer;
}

static int stop(void)
{
	int rc = vpt_json_finish(&writer, &err);

	assert_int_equal(sink->finish(sink, 1, NULL), VPT_OK);
	return rc;
}

static void expect_bytes(const char *rule, const char *expected, size_t size)
{
	int rc = stop();

	if (rc)
		fail_msg("%s: %s", rule, err.text);
	if (bytes.size != size || (size && memcmp(bytes.data, expected, size)))
		fail_msg(
			"%s: expected %s, found %.*s", rule, expected, (int)bytes.size, bytes.data);
	vpt_free(bytes.data);
}

static void expect(const char *rule, const char *expected)
{
	expect_bytes(rule, expected, strlen(expected));
}

static void expect_failure(const char *rule, const char *words)
{
	int rc = stop();

	if (rc != VPT_EINVAL || !strstr(err.text, words))
		fail_msg("%s: expected \"%s\", found %d \"%s\"", rule, words, rc, err.text);
	vpt_free(bytes.data);
}

/* ---- shapes ---- */

/* A script: { [ open, } closes, n null, l line end; lower case after ':' is the key, "{:a". */
static void play(struct vpt_json *j, const char *script)
{
	for (; *script; script++) {
		char op = *script;
		char key[2] = {0};
		const char *k = NULL;

		if (script[1] == ':') {
			key[0] = script[2];
			k = key;
			script += 2;
		}
		switch (op) {
		case '{':
			vpt_json_object(j, k);
			break;
		case '[':
			vpt_json_array(j, k);
			break;
		case '}':
			vpt_json_end(j);
			break;
		case 'n':
			vpt_json_null(j, k);
			break;
		case 'l':
			vpt_json_newline(j);
			break;
		}
	}
}

static void values_nest(void **state)
{
	static const struct {
		const char *rule, *script, *compact, *pretty;
	} cases[] = {
		{"nothing gives nothing", "", "", ""},
		{"a value alone", "n", "null", "null"},
		{"an empty object stays on its line", "{}", "{}", "{}"},
		{"an empty array too", "[}", "[]", "[]"},
		{"members are parted by commas", "{n:an:b}", "{\"a\":null,\"b\":null}",
			"{\n  \"a\": null,\n  \"b\": null\n}"},
		{"elements have no key", "[nn}", "[null,null]", "[\n  null,\n  null\n]"},
		{"levels indent by two", "{[:a{n:b}}{:c}}", "{\"a\":[{\"b\":null}],\"c\":{}}",
			"{\n  \"a\": [\n    {\n      \"b\": null\n    }\n  ],\n  \"c\": {}\n}"},
		{"a closed level does not touch its parent", "[[n}n}", "[[null],null]",
			"[\n  [\n    null\n  ],\n  null\n]"},
		{"JSON lines", "{}l{n:a}l", "{}\n{\"a\":null}\n", "{}\n{\n  \"a\": null\n}\n"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		play(start(0), cases[i].script);
		expect(cases[i].rule, cases[i].compact);
		play(start(1), cases[i].script);
		expect(cases[i].rule, cases[i].pretty);
	}
}

static void misuse_is_told_at_the_end(void **state)
{
	static const struct {
		const char *rule, *script, *words;
	} cases[] = {
		{"an object left open", "{", "an open one"},
		{"an array left open inside", "{[:a}", "an open one"},
		{"an end too many", "{}}", "found an end"},
		{"an end of nothing", "}", "found an end"},
		{"two values on one line", "nn", "a line end between"},
		{"a member without key", "{n}", "a key in an object"},
		{"an element with key", "[n:a}", "no key in an array"},
		{"a key at top level", "n:a", "no key at top level"},
		{"a line end inside", "[l}", "a line end at top level"},
		{"the first fault is the one reported", "nn}}}{n}", "a line end between"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		play(start(0), cases[i].script);
		expect_failure(cases[i].rule, cases[i].words);
	}
}

static void sixty_four_levels_are_the_limit(void **state)
{
	char text[129] = {0};
	int level;

	(void)state;
	start(0);
	for (level = 0; level < 64; level++)
		vpt_json_array(&writer, NULL);
	for (level = 0; level < 64; level++)
		vpt_json_end(&writer);
	memset(text, '[', 64);
	memset(text + 64, ']', 64);
	expect("64 levels", text);

	start(0);
	for (level = 0; level < 65; level++)
		vpt_json_array(&writer, NULL);
	for (level = 0; level < 65; level++)
		vpt_json_end(&writer);
	expect_failure("65 levels", "at most 64 levels");
}

/* ---- text ---- */

struct text {
	const char *rule, *text, *expected;
};

/* As a string, and as a key. */
static void expect_texts(const struct text *cases, size_t count)
{
	char quoted[128];
	size_t i;

	for (i = 0; i < count; i++) {
		snprintf(quoted, sizeof(quoted), "\"%s\"", cases[i].expected);
		vpt_json_string(start(0), NULL, cases[i].text);
		expect(cases[i].rule, quoted);

		snprintf(quoted, sizeof(quoted), "{\"%s\":null}", cases[i].expected);
		vpt_json_object(start(0), NULL);
		vpt_json_null(&writer, cases[i].text);
		vpt_json_end(&writer);
		expect(cases[i].rule, quoted);
	}
}

static void characters_are_copied_or_escaped(void **state)
{
	static const struct text cases[] = {
		{"plain text is copied", "void f<int>(a&, b*)", "void f<int>(a&, b*)"},
		{"nothing is text too", "", ""},
		{"quote and backslash", "a\"b\\c", "a\\\"b\\\\c"},
		{"a slash needs no escape", "a/b", "a/b"},
		{"two, three and four bytes", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x8e\xac",
			"\xc3\xa9\xe2\x82\xac\xf0\x9f\x8e\xac"},
		{"the first and last of two bytes", "\xc2\xa0\xdf\xbf", "\xc2\xa0\xdf\xbf"},
		{"the first and last of three", "\xe0\xa0\x80\xef\xbf\xbf",
			"\xe0\xa0\x80\xef\xbf\xbf"},
		{"either side of the surrogates", "\xed\x9f\xbf\xee\x80\x80",
			"\xed\x9f\xbf\xee\x80\x80"},
		{"the first and last of four", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
			"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"},
		{"line and paragraph separators",
			"\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa",
			"\xe2\x80\xa7\\u2028\\u2029\\u202a"},
		{"marks that turn the direction",
			"a\xe2\x80\xae"
			"b\xe2\x81\xa7",
			"a\\u202eb\\u2067"},
		{"an unseen character beyond 16 bits", "\xf3\xa0\x81\x81\xf0\x9f\x98\x80",
			"\\udb40\\udc41\xf0\x9f\x98\x80"},
		{"C1 control characters", "\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0",
			"\\u0080\\u009b\\u009f\xc2\xa0"},
	};

	(void)state;
	expect_texts(cases, COUNT(cases));
}

static void bytes_that_are_no_text_are_replaced(void **state)
{
	/* one U+FFFD per longest part that could have begun a character */
#define BAD "\xef\xbf\xbd"
	static const struct text cases[] = {
		{"a lone continuation byte", "a\x80z", "a" BAD "z"},
		{"each of several", "\x80\xbf\x80", BAD BAD BAD},
		{"bytes that never occur", "\xc0\xc1\xf5\xff\xfe", BAD BAD BAD BAD BAD},
		{"an overlong slash, two bytes", "\xc0\xaf", BAD BAD},
		{"an overlong slash, three bytes", "\xe0\x80\xaf", BAD BAD BAD},
		{"an overlong slash, four bytes", "\xf0\x80\x80\xaf", BAD BAD BAD BAD},
		{"the longest overlong forms", "\xe0\x9f\xbf\xf0\x8f\xbf\xbf",
			BAD BAD BAD BAD BAD BAD BAD},
		{"the first surrogate", "\xed\xa0\x80", BAD BAD BAD},
		{"the last surrogate", "\xed\xbf\xbf", BAD BAD BAD},
		{"the first past U+10FFFF", "\xf4\x90\x80\x80", BAD BAD BAD BAD},
		{"two bytes cut at the end", "a\xc3", "a" BAD},
		{"three cut after one", "a\xe2", "a" BAD},
		{"three cut after two", "a\xe2\x82", "a" BAD},
		{"four cut after three", "a\xf0\x9f\x8e", "a" BAD},
		{"cut by a plain character", "\xf0\x9f\x8ez", BAD "z"},
		{"cut by a quote, which keeps its escape", "\xe2\x82\"", BAD "\\\""},
		{"cut by another character", "\xe2\x82\xc3\xa9", BAD "\xc3\xa9"},
		{"a start cut by itself", "\xe2\xe2\x82\xac", BAD "\xe2\x82\xac"},
	};
#undef BAD

	(void)state;
	expect_texts(cases, COUNT(cases));
}

/* Nothing past the given length may decide what a cut character is. */
static void text_ends_where_it_is_told(void **state)
{
	(void)state;
	vpt_json_text(start(0), NULL, "\xe2\x82\xac", 2);
	expect("a character cut by the length", "\"\xef\xbf\xbd\"");
	vpt_json_text(start(0), NULL, "abc", 2);
	expect("plain text cut by the length", "\"ab\"");
	vpt_json_text(start(0), NULL, NULL, 0);
	expect("no bytes at all", "\"\"");
	vpt_json_string(start(0), NULL, NULL);
	expect("no text at all", "null");
}

static void every_control_character_is_escaped(void **state)
{
	static const char *const expected[] = {"\\u0000", "\\u0001", "\\u0002", "\\u0003",
		"\\u0004", "\\u0005", "\\u0006", "\\u0007", "\\b", "\\t", "\\n", "\\u000b", "\\f",
		"\\r", "\\u000e", "\\u000f", "\\u0010", "\\u0011", "\\u0012", "\\u0013", "\\u0014",
		"\\u0015", "\\u0016", "\\u0017", "\\u0018", "\\u0019", "\\u001a", "\\u001b",
		"\\u001c", "\\u001d", "\\u001e", "\\u001f"};
	char quoted[16], c;
	int code;

	(void)state;
	for (code = 0; code < 0x80; code++) {
		c = (char)code;
		if (code < 0x20)
			snprintf(quoted, sizeof(quoted), "\"%s\"", expected[code]);
		else if (code == 0x7f)
			snprintf(quoted, sizeof(quoted), "\"\\u007f\"");
		else
			snprintf(quoted, sizeof(quoted), "\"%s%c\"",
				c == '"' || c == '\\' ? "\\" : "", c);
		vpt_json_text(start(0), NULL, &c, 1);
		expect("one character", quoted);
	}
}

/* The same text at every distance from the end of the writer's buffer. */
static void text_survives_the_end_of_the_buffer(void **state)
{
	static const char tail[] = "a\xe2\x80\xa8\x01\xf0\x9f\x8e\xac\xe2\x82\"z";
	static const char escaped[] = "a\\u2028\\u0001\xf0\x9f\x8e\xac\xef\xbf\xbd\\\"z";
	size_t size = sizeof(writer.buf), pad;
	char *text = malloc(size + 64), *expected = malloc(size + 64);

	(void)state;
	assert_non_null(text);
	assert_non_null(expected);
	memset(text, 'p', size);
	expected[0] = '"';
	memset(expected + 1, 'p', size);
	for (pad = size - 40; pad < size + 2; pad++) {
		memcpy(text + pad, tail, sizeof(tail));
		snprintf(expected + 1 + pad, 64, "%s\"", escaped);
		vpt_json_string(start(0), NULL, text);
		expect("text across the buffer's end", expected);
		memset(text + pad, 'p', sizeof(tail));
		memset(expected + 1 + pad, 'p', sizeof(escaped));
	}
	free(text);
	free(expected);
}

/* ---- numbers ---- */

static void whole_numbers_have_every_digit(void **state)
{
	uint64_t power = 1, value;
	char expected[32];
	int digits, step;

	(void)state;
	for (digits = 1; digits <= 20; digits++, power *= 10) {
		for (step = -1; step <= 1; step++) {
			value = power + (uint64_t)(int64_t)step;
			snprintf(expected, sizeof(expected), "%llu", (unsigned long long)value);
			vpt_json_u64(start(0), NULL, value);
			expect("near a power of ten", expected);
			snprintf(expected, sizeof(expected), "%lld", (long long)(0 - value));
			vpt_json_i64(start(0), NULL, (int64_t)(0 - value));
			expect("near a negative power of ten", expected);
		}
	}
	vpt_json_u64(start(0), NULL, UINT64_MAX);
	expect("the largest", "18446744073709551615");
	vpt_json_i64(start(0), NULL, INT64_MAX);
	expect("the largest with sign", "9223372036854775807");
	vpt_json_i64(start(0), NULL, INT64_MIN);
	expect("the smallest", "-9223372036854775808");
}

static const struct {
	double value;
	const char *text;
} doubles[] = {
	{0.0, "0"},
	{-0.0, "-0"},
	{1.0, "1"},
	{-1.0, "-1"},
	{0.1, "0.1"},
	{0.1 + 0.2, "0.30000000000000004"},
	{1.5, "1.5"},
	{-2.75, "-2.75"},
	{1.0 / 3, "0.3333333333333333"},
	{2.0 / 3, "0.6666666666666666"},
	{0.001, "0.001"},
	{0.0009, "0.0009"},
	{-0.25, "-0.25"},
	{7.03, "7.03"},
	{-1234.567, "-1234.567"},
	{1234.5678, "1234.5678"},
	{100.1, "100.1"},
	{100.0, "100"},
	{42.596, "42.596"},
	{42.596000000000004, "42.596000000000004"}, /* a thousand times this is 42596, rounded */
	{307.99399999999997, "307.99399999999997"},
	{999999999999.0, "999999999999"},
	{999999999999.999, "999999999999.999"},
	{1000000000000.5, "1000000000000.5"},
	{1e14, "100000000000000"},
	{999999999999999.0, "999999999999999"},
	{1e15, "1e+15"},
	{9007199254740992.0, "9007199254740992"},
	{9007199254740994.0, "9007199254740994"},
	{1e22, "1e+22"},
	{1e23, "1e+23"},
	{1e-4, "0.0001"},
	{1e-5, "1e-05"},
	{123456.789, "123456.789"},
	{5e-324, "5e-324"},
	{-5e-324, "-5e-324"},
	{1.5e-323, "1.5e-323"},
	{DBL_MIN, "2.2250738585072014e-308"},
	{DBL_MAX, "1.7976931348623157e+308"},
	{-DBL_MAX, "-1.7976931348623157e+308"},
	{INFINITY, "null"},
	{-INFINITY, "null"},
	{NAN, "null"},
};

static const struct {
	double value;
	int decimals;
	const char *text;
} fixed[] = {
	{0.0, 0, "0"},
	{0.0, 2, "0.00"},
	{-0.0, 2, "0.00"},
	{-0.001, 2, "0.00"},
	{-0.006, 2, "-0.01"},
	{1.5, 3, "1.500"},
	{12.3456, 2, "12.35"},
	{-12.3456, 1, "-12.3"},
	{99.999, 2, "100.00"},
	{1e15, 1, "1000000000000000.0"},
	{1.5, -3, "2"},
	{1.5, 99, "1.50000000000000000000"},
	{NAN, 2, "null"},
	{INFINITY, 2, "null"},
};

static void check_doubles(void)
{
	size_t i;

	for (i = 0; i < COUNT(doubles); i++) {
		vpt_json_double(start(0), NULL, doubles[i].value);
		expect("shortest", doubles[i].text);
	}
	for (i = 0; i < COUNT(fixed); i++) {
		vpt_json_fixed(start(0), NULL, fixed[i].value, fixed[i].decimals);
		expect("fixed", fixed[i].text);
	}
}

static void doubles_are_short_and_exact(void **state)
{
	(void)state;
	check_doubles();
	vpt_json_fixed(start(0), NULL, -DBL_MAX, 20);
	assert_int_equal(stop(), VPT_OK);
	assert_int_equal(bytes.size, 1 + 309 + 1 + 20);
	vpt_free(bytes.data);
}

static void any_double_reads_back_as_itself(void **state)
{
	uint64_t bits = 88172645463325252u;
	double value, back;
	char text[64];
	int i;

	(void)state;
	for (i = 0; i < 20000; i++) {
		bits ^= bits << 13;
		bits ^= bits >> 7;
		bits ^= bits << 17;
		memcpy(&value, &bits, sizeof(value));
		if (!isfinite(value))
			continue;
		vpt_json_double(start(0), NULL, value);
		assert_int_equal(stop(), VPT_OK);
		assert_in_range(bytes.size, 1, 24);
		memcpy(text, bytes.data, bytes.size);
		text[bytes.size] = '\0';
		vpt_free(bytes.data);
		back = strtod(text, NULL);
		assert_memory_equal(&back, &value, sizeof(value));
	}
}

/* The fast way for few decimals must write what the slow way does. */
static void three_decimals_are_the_shortest(void **state)
{
	uint64_t seed = 1, thousandths;
	char expected[64];
	double value;
	int i;

	(void)state;
	for (i = 0; i < 20000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		thousandths = (seed >> 14) % 1000000000000000u >> i % 50;
		value = (i % 2 ? -1.0 : 1.0) * (double)thousandths / 1000;
		snprintf(expected, sizeof(expected), "%.15g", value);
		vpt_json_double(start(0), NULL, value);
		expect("three decimals", expected);
	}
}

static void numbers_ignore_the_locale(void **state)
{
	static const char *const with_comma[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE",
		"fr_FR.UTF-8", "fr_FR.utf8", "ru_RU.UTF-8", "es_ES.UTF-8", "nl_NL.UTF-8",
		"ps_AF.UTF-8", "ps_AF"};
	int checked = 0;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(with_comma); i++) {
		if (!setlocale(LC_ALL, with_comma[i]))
			continue;
		assert_string_not_equal(localeconv()->decimal_point, ".");
		check_doubles();
		checked++;
	}
	setlocale(LC_ALL, "C");
	if (!checked) {
		vpt_skip("no locale with a decimal comma is installed");
	}
}

static void words_are_words(void **state)
{
	(void)state;
	vpt_json_array(start(0), NULL);
	vpt_json_bool(&writer, NULL, 0);
	vpt_json_bool(&writer, NULL, 1);
	vpt_json_bool(&writer, NULL, -7);
	vpt_json_null(&writer, NULL);
	vpt_json_end(&writer);
	expect("words", "[false,true,true,null]");
}

/* ---- failure below ---- */

struct failing_sink {
	struct vpt_sink base;
	int calls, fail_from;
};

static int failing_write(struct vpt_sink *s, const void *data, size_t size, struct vpt_err *e)
{
	struct failing_sink *f = (struct failing_sink *)s;

	(void)data;
	if (++f->calls >= f->fail_from)
		return vpt_fail(e, VPT_EIO, "the disk is full at call %d", f->calls);
	s->written_bytes += size;
	return VPT_OK;
}

static void a_failing_sink_is_asked_once_and_quoted(void **state)
{
	char words[64];
	int from, i;

	(void)state;
	for (from = 1; from <= 3; from++) {
		struct failing_sink f = {.base.write = failing_write, .fail_from = from};

		vpt_json_init(&writer, &f.base, 1);
		vpt_json_array(&writer, NULL);
		for (i = 0; i < 20000; i++)
			vpt_json_u64(&writer, NULL, 1234567890);
		vpt_json_end(&writer);
		assert_int_equal(vpt_json_finish(&writer, &err), VPT_EIO);
		snprintf(words, sizeof(words), "the disk is full at call %d", from);
		assert_string_equal(err.text, words);
		assert_int_equal(f.calls, from);
		assert_int_equal(f.base.written_bytes, (uint64_t)(from - 1) * sizeof(writer.buf));
	}
}

static void a_failure_may_come_with_the_last_bytes(void **state)
{
	struct failing_sink f = {.base.write = failing_write, .fail_from = 1};

	(void)state;
	vpt_json_init(&writer, &f.base, 0);
	vpt_json_null(&writer, NULL);
	assert_int_equal(f.calls, 0);
	assert_int_equal(vpt_json_finish(&writer, NULL), VPT_EIO);
	assert_int_equal(f.calls, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_nest),
		cmocka_unit_test(misuse_is_told_at_the_end),
		cmocka_unit_test(sixty_four_levels_are_the_limit),
		cmocka_unit_test(characters_are_copied_or_escaped),
		cmocka_unit_test(bytes_that_are_no_text_are_replaced),
		cmocka_unit_test(text_ends_where_it_is_told),
		cmocka_unit_test(every_control_character_is_escaped),
		cmocka_unit_test(text_survives_the_end_of_the_buffer),
		cmocka_unit_test(whole_numbers_have_every_digit),
		cmocka_unit_test(doubles_are_short_and_exact),
		cmocka_unit_test(any_double_reads_back_as_itself),
		cmocka_unit_test(three_decimals_are_the_shortest),
		cmocka_unit_test(numbers_ignore_the_locale),
		cmocka_unit_test(words_are_words),
		cmocka_unit_test(a_failing_sink_is_asked_once_and_quoted),
		cmocka_unit_test(a_failure_may_come_with_the_last_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
