/* test_import_kineto_parse.c - JSON as profilers write it, value by value; where it is unreadable, and why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#ifdef VPT_HAVE_KINETO

#include "formats/base/count.h"
#include "formats/base/error.h"
#include "formats/base/hash.h"
#include "formats/base/memory.h"
#include "formats/import/kineto/text/kineto_json.h"
#include "formats/import/kineto/text/kineto_scan.h"
#include "tests/support/traces/kineto_rig.h"
#include "tests/support/traces/random_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a value as text: each with its kind, members with their names ---- */

static void show(struct random_text *out, const struct vpt_kineto_value *v)
{
	static const char *const kinds[] = {"null", "", "int ", "dec ", "", "", "[", "{"};
	const struct vpt_kineto_value *inner;

	if (v->name)
		random_text_add(out, "%.*s:", (int)v->name_len, v->name);
	random_text_add(out, "%s", kinds[v->type]);
	for (inner = vpt_kineto_first(v); inner; inner = vpt_kineto_next(v, inner)) {
		show(out, inner);
		random_text_add(out, ",");
	}
	if (v->type == VPT_KINETO_STRING)
		random_text_add(out, "'%.*s'", (int)v->len, v->text);
	else if (v->type < VPT_KINETO_ARRAY && v->type != VPT_KINETO_NULL)
		random_text_add(out, "%.*s", (int)v->len, v->text);
	if (v->type >= VPT_KINETO_ARRAY)
		random_text_add(out, "%s", v->type == VPT_KINETO_ARRAY ? "]" : "}");
}

/* What the first `size` bytes of a text hold, in memory of their own; *at is where the parser stopped. */
static int parse(const char *text, size_t size, struct random_text *shown, size_t *at)
{
	struct vpt_kineto_parser parser = {0};
	unsigned char *copy = calloc(1, size + VPT_SCAN_BYTES);
	const unsigned char *p = copy;
	int rc;

	assert_non_null(copy);
	memcpy(copy, text, size);
	rc = vpt_kineto_parse(&parser, &p, copy + size);
	*at = (size_t)(p - copy);
	if (!rc)
		show(shown, parser.values);
	else if (rc == VPT_EDATA)
		random_text_add(shown, "%s", parser.wrong ? parser.wrong : "too many");
	vpt_kineto_parser_free(&parser);
	free(copy);
	return rc;
}

static const struct {
	const char *rule, *text;
	int rc;
	size_t at;
	const char *shown;
} cases[] = {
	{"an object", "{\"a\": 1, \"b\":[true,null]} ,", 0, 26, "{a:int 1,b:[true,null,],}"},
	{"none and none", "{\"a\":{},\"b\":[]},", 0, 15, "{a:{},b:[],}"},
	{"a number ends before what is no part of it", "12]", 0, 2, "int 12"},
	{"decimals", "[1.5, -2.25, 1e3, -1E+3, 1., -.5]", 0, 33,
		"[dec 1.5,dec -2.25,dec 1e3,dec -1E+3,dec 1.,dec -.5,]"},
	{"an exponent without digits is none", "[1e, 2.5e+]", 0, 11, "[dec 1,dec 2.5,]"},
	{"leading zeros", "[007, -0]", 0, 9, "[int 007,int -0,]"},
	{"words in any case", "[TRUE, False, nUll, nan, NaN, infinity, -Infinity]", 0, 50,
		"[true,false,null,NaN,NaN,Infinity,-Infinity,]"},
	{"strings of either quotes", "{'a': 'say \"x\"', \"b\": \"it's\"}", 0, 29,
		"{a:'say \"x\"',b:'it's',}"},
	{"escapes", "\"a\\\"\\\\\\/\\b\\f\\n\\r\\tz\",", 0, 20, "'a\"\\/\b\f\n\r\tz'"},
	{"UTF-16 escapes", "[\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"]", 0, 34,
		"['A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80',]"},
	{"half a surrogate pair",
		"[\"\\ud83d\", \"\\ude00x\", \"\\ud83d\\n\", \"\\ud83d\\ud83d\\ude00\"]", 0, 55,
		"['\xef\xbf\xbd','\xef\xbf\xbdx','\xef\xbf\xbd\n','\xef\xbf\xbd\xf0\x9f\x98\x80',"
		"]"},
	{"a name has no NUL", "{\"pid\\u0000x\": 1}", 0, 17, "{pid:int 1,}"},
	{"any bytes", "[\"\x01\xff\n\"]", 0, 7, "['\x01\xff\n',]"},
	{"commas too many", "{\"a\":[1,],}", 0, 11, "{a:[int 1,],}"},
	{"comments", "/*x*/{//y\n\"a\"/*:*/:1/**/}// z\n,", 0, 30, "{a:int 1,}"},
	{"what is no value", "[x]", VPT_EDATA, 1, "unexpected character"},
	{"a comma too few", "{\"a\":1 \"b\":2}", VPT_EDATA, 7,
		"object value separator ',' expected"},
	{"the same in an array", "[1 2]", VPT_EDATA, 3, "array value separator ',' expected"},
	{"a comma alone", "[,]", VPT_EDATA, 1, "unexpected character"},
	{"a member without quotes", "{a:1}", VPT_EDATA, 1, "quoted object property name expected"},
	{"a member without value", "{\"a\",}", VPT_EDATA, 4,
		"object property name separator ':' expected"},
	{"the other bracket", "[1}", VPT_EDATA, 2, "array value separator ',' expected"},
	{"an unknown escape", "[\"C:\\dir\"]", VPT_EDATA, 5, "invalid string sequence"},
	{"half an escape", "[\"\\u12g4\"]", VPT_EDATA, 6, "invalid string sequence"},
	{"a quote inside", "[\"a\"b\"]", VPT_EDATA, 4, "array value separator ',' expected"},
	{"what printf writes", "[inf]", VPT_EDATA, 4, "unexpected character"},
	{"the same, less than nothing", "[-nan]", VPT_EDATA, 2, "number expected"},
	{"two points", "[1.2.3]", VPT_EDATA, 4, "number expected"},
	{"a sign inside", "[1-2]", VPT_EDATA, 2, "number expected"},
	{"a sign alone", "[-]", VPT_EDATA, 2, "number expected"},
	{"half a word", "[nul]", VPT_EDATA, 4, "null expected"},
	{"more of a word", "[tru1]", VPT_EDATA, 4, "boolean expected"},
	{"a slash alone", "[/]", VPT_EDATA, 2, "expected comment"},
};

static void values_are_what_is_written_and_faults_have_a_place(void **state)
{
	size_t i, at;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct random_text shown = {0};
		int rc = parse(cases[i].text, strlen(cases[i].text), &shown, &at);

		if (rc != cases[i].rc || at != cases[i].at ||
			strcmp(shown.data, cases[i].shown) != 0)
			fail_msg("%s: %d at %zu: %s", cases[i].rule, rc, at, shown.data);
		vpt_free(shown.data);
	}
}

/* A cut text never reads as another value, and a fault is found as soon as its byte is there. */
static void a_cut_text_has_no_other_value(void **state)
{
	size_t i, size, at, cuts = 0;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		for (size = 0; size < strlen(cases[i].text); size++) {
			struct random_text shown = {0};
			int rc = parse(cases[i].text, size, &shown, &at);

			if (rc != VPT_END &&
				(rc != cases[i].rc || strcmp(shown.data, cases[i].shown) != 0))
				fail_msg("%s, %zu bytes: %d %s", cases[i].rule, size, rc,
					shown.data);
			if (cases[i].rc && (rc == VPT_END) != (size <= cases[i].at))
				fail_msg("%s, %zu bytes: the fault is not found", cases[i].rule,
					size);
			cuts += rc == VPT_END;
			vpt_free(shown.data);
		}
	}
	assert_true(cuts > 300);
}

static void nesting_ends_at_64(void **state)
{
	char text[256];
	int depth;
	size_t at;

	(void)state;
	for (depth = 60; depth < 70; depth++) {
		struct random_text shown = {0};
		int rc;

		memset(text, '[', (size_t)depth);
		memset(text + depth, ']', (size_t)depth);
		rc = parse(text, 2 * (size_t)depth, &shown, &at);
		assert_int_equal(rc, depth > 64 ? VPT_EDATA : 0);
		assert_int_equal(at, depth > 64 ? 64 : 2 * depth);
		if (rc)
			assert_string_equal(shown.data, "nesting too deep");
		vpt_free(shown.data);
	}
}

/* A NUL is no end: the text has one. */
static void a_NUL_is_unreadable(void **state)
{
	static const char text[] = "{\"a\\n\": [1.5, true, \"x\"]}";
	size_t i, at;

	(void)state;
	for (i = 0; i < sizeof(text) - 1; i++) {
		struct random_text shown = {0};
		char copy[sizeof(text)];

		memcpy(copy, text, sizeof(text));
		copy[i] = '\0';
		assert_int_equal(parse(copy, sizeof(text) - 1, &shown, &at), VPT_EDATA);
		assert_string_equal(shown.data, "unexpected end of data");
		assert_true(at == i || at == i + 1);
		vpt_free(shown.data);
	}
}

static void the_last_of_two_members_counts(void **state)
{
	struct vpt_kineto_parser parser = {0};
	char text[64] = "{\"a\":1,\"b\":{\"a\":3},\"a\":2,\"b\":null}";
	const unsigned char *p = (const unsigned char *)text;
	int64_t number = 0;

	(void)state;
	assert_int_equal(vpt_kineto_parse(&parser, &p, p + strlen(text)), 0);
	assert_int_equal(vpt_kineto_number(vpt_kineto_member(parser.values, "a"), 0, &number), 0);
	assert_int_equal(number, 2);
	assert_null(vpt_kineto_member(parser.values, "b"));
	assert_non_null(vpt_kineto_find(parser.values, "b"));
	assert_null(vpt_kineto_find(parser.values, "c"));
	vpt_kineto_parser_free(&parser);
}

/* ---- blocks ---- */

/* A source that gives no more than `most` bytes at a time, and fails at a read, the first being 1; 0: at none. It
 * may claim to be of any size. */
struct slow {
	struct vpt_source source;
	const char *text;
	size_t size, most, fails_at;
};

static int read_slowly(struct vpt_source *src, uint64_t offset, void *buf, size_t size, size_t *got,
	struct vpt_err *err)
{
	struct slow *slow = (struct slow *)src;
	size_t left = slow->size - (size_t)offset;

	*got = 0;
	if (slow->fails_at && !--slow->fails_at)
		return vpt_fail(err, VPT_EIO, "the disk is gone");
	*got = size < left ? size : left;
	*got = *got < slow->most ? *got : slow->most;
	memcpy(buf, slow->text + offset, *got);
	return 0;
}

/* All rows of the first chunk in one number. */
static uint64_t fold_rows(void)
{
	uint64_t all = rig.batch.section_count;
	size_t s, row;
	unsigned i;

	for (s = 0; s < rig.batch.section_count; s++)
		for (i = 0; i < vpt_kind_desc(rig.batch.sections[s].kind)->n_columns; i++)
			for (row = 0; row < rig.batch.sections[s].row_count; row++)
				all = vpt_mix(all * 31 + rig.batch.sections[s].col[i][row]);
	return all;
}

/* Of a short file; and of one that is long enough to be read ahead by a thread. */
static const uint64_t claims[] = {1 << 10, 8 << 20};

/* Blocks end anywhere: in events, in what is skipped, in what is unreadable, and where it goes on. */
static void blocks_of_any_size_read_the_same(void **state)
{
	static const char text[] =
		"{'unknown': [{'a': 'b\\'}'}, -1.5e3], 'deviceProperties': [{'id': 0, 'name': "
		"'G'}],"
		"'traceEvents': [{'ph': 'X', 'cat': 'cpu_op', 'name': 'q\\u00e9\\n', 'pid': 1, "
		"'tid': 2,"
		"'ts': 1365627862757.064, 'dur': 1.25, 'args': {'Input Dims': [[2, 3], [3, 4]]}}, "
		"\n"
		"{'ph': 's', 'cat': 'ac2g', 'id': 1, 'name': 'a\\'}'}, /* x */ {'ph': 'X', 'cat': "
		"'kernel',"
		"'name': 'k', 'pid': 0, 'tid': 7, 'ts': 1365627862758, 'dur': 3, 'args': {}},"
		"{'ph': 'X', 'cat': 'cpu_op', 'name': 'C:\\dir', 'pid': 1}, {'ph': 'X', 'cat': "
		"'kernel', "
		"'name': 'two', 'pid': 0, 'tid': 7, 'ts': 1365627862768.5, 'dur': inf}, {'ph': "
		"'X', "
		"'cat': 'kernel', 'name': 'l', 'pid': 0, 'tid': 7, 'ts': 1365627862778.125, 'dur': "
		"3},],"
		"'distributedInfo': {'rank': 3}, 'traceName': 'n'} {'traceEvents': [{'ph': 'X', "
		"'cat': "
		"'python_function', 'name': 'a.py(3): f', 'pid': 1, 'tid': 2, 'ts': 1365627862758, "
		"'dur': 4}]}"
		" and more {'ph': 'X', 'cat': 'kernel', 'name': 'm', 'pid': 0, 'tid': 7, 'ts': "
		"1365627862798.125, 'dur': 3}";
	char quoted[sizeof(text)];
	struct slow slow = {.source = {.read_at = read_slowly, .size_bytes = sizeof(text) - 1},
		.text = quoted,
		.size = sizeof(text) - 1,
		.most = sizeof(text)};
	struct vpt_import_stats whole;
	uint64_t rows;
	size_t i;

	(void)state;
	memcpy(quoted, text, sizeof(text));
	rig_quote(quoted, sizeof(text) - 1);
	assert_int_equal(rig_import(&slow.source), 0);
	whole = rig.stats;
	rows = fold_rows();
	assert_int_equal(whole.events, 6);
	assert_int_equal(whole.unreadable, 3);
	assert_int_equal(whole.skipped, 1);
	for (i = 0; i < 2 * 200; i++) {
		slow.source.size_bytes = claims[i % 2];
		slow.most = 1 + i / 2;
		assert_int_equal(rig_import(&slow.source), 0);
		if (memcmp(&whole, &rig.stats, sizeof(whole)) != 0 || fold_rows() != rows)
			fail_msg("%zu bytes at a time, of %llu: %s", slow.most,
				(unsigned long long)claims[i % 2], rig.stats.first_unreadable);
	}
	rig_drop();
}

static void a_read_that_fails_later_is_an_error_of_reading(void **state)
{
	static const char text[] =
		"{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
		"\"k\", \"pid\": 0, \"tid\": 7, \"ts\": 5, \"dur\": 3, \"args\": {}}]}";
	struct slow slow = {.source = {.read_at = read_slowly},
		.text = text,
		.size = sizeof(text) - 1,
		.most = 10};
	/* The first bytes, all blocks, and the end. */
	size_t i, reads = 1 + (sizeof(text) - 1 + 9) / 10 + 1;

	(void)state;
	for (i = 0; i < 2 * (reads + 1); i++) {
		slow.source.size_bytes = claims[i % 2];
		slow.fails_at = 1 + i / 2;
		assert_int_equal(rig_import(&slow.source), i / 2 < reads ? VPT_EIO : 0);
		if (i / 2 < reads)
			assert_string_equal(rig.err.text, "the disk is gone");
	}
	rig_drop();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_what_is_written_and_faults_have_a_place),
		cmocka_unit_test(a_cut_text_has_no_other_value),
		cmocka_unit_test(nesting_ends_at_64),
		cmocka_unit_test(a_NUL_is_unreadable),
		cmocka_unit_test(the_last_of_two_members_counts),
		cmocka_unit_test(blocks_of_any_size_read_the_same),
		cmocka_unit_test(a_read_that_fails_later_is_an_error_of_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	print_message("SKIPPED: built without zlib\n");
	return 77;
}

#endif
