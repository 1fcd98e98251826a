/* test_json_key.c - values of keys, also in objects that are none. */
#include "analysis/base/json_key.h"
#include "formats/base/count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const struct {
	const char *object, *text;
	uint64_t number;
} cases[] = {
	{"{\"flop\":120}", "120", 120},
	{"{\"a\":1,\"flop\" : 120,\"b\":2}", "120", 120},
	{"{\"flop\":\"120\"}", "120", 120},
	{"{\"flop\":\"12x\"}", "12x", 0},
	{"{\"flop\":\"2x3 3x4\",\"b\":2}", "2x3 3x4", 0},
	{"{\"flop\":12.5}", "12", 12},
	{"{\"flop\":-12}", "", 0},
	{"{\"flop\":null}", "", 0},
	{"{\"flops\":12}", "", 0},
	{"", "", 0},
	{"\"flop\"", "", 0},
	{"\"flop\":", "", 0},
	{"\"flop\":\"", "", 0},
	{"\"flop\":\"12", "12", 12},
	{"\"flop\":12", "12", 12},
	{"{\"flop\":9223372036854775807}", "9223372036854775807", INT64_MAX},
	{"{\"flop\":9223372036854775808}", "9223372036854775808", 0},
	{"{\"flop\":18446744073709551616}", "18446744073709551616", 0},
};

static void values_are_found_by_their_key(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpt_text object = vpt_text_from(cases[i].object);

		if (!vpt_text_is(vpa_json_key_text(object, "\"flop\""), cases[i].text))
			fail_msg("%s: expected \"%s\"", cases[i].object, cases[i].text);
		assert_int_equal(vpa_json_key_number(object, "\"flop\""), cases[i].number);
	}
}

/* Bytes behind the object are not read. */
static void an_object_ends_where_its_text_ends(void **state)
{
	struct vpt_text cut = {"{\"flop\":120}", 9}, value;

	(void)state;
	value = vpa_json_key_text(cut, "\"flop\"");
	assert_int_equal(value.len, 1);
	assert_int_equal(vpa_json_key_number(cut, "\"flop\""), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_found_by_their_key),
		cmocka_unit_test(an_object_ends_where_its_text_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
