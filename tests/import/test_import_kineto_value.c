/* test_import_kineto_value.c - nanoseconds from the digits of a number, names byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#ifdef VPT_HAVE_KINETO

#include "formats/base/count.h"
#include "formats/import/kineto/text/kineto_value.h"
#include "tests/support/traces/kineto_rig.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers ---- */

/* Microseconds as written, nanoseconds expected. */
static const struct {
	const char *us;
	int64_t ns;
	enum vpt_kineto_number how;
} times[] = {
	{"1365627862757.064", 1365627862757064, VPT_KINETO_EXACT},
	{"1712867402348289", 1712867402348289000, VPT_KINETO_EXACT},
	{"9007199254740993.001", 9007199254740993001, VPT_KINETO_EXACT}, /* no double holds it */
	{"0", 0, VPT_KINETO_EXACT},
	{"0.001", 1, VPT_KINETO_EXACT},
	{"18.5", 18500, VPT_KINETO_EXACT},
	{"18.50000000000000000000000000", 18500, VPT_KINETO_EXACT},
	{"0.0004", 0, VPT_KINETO_ROUNDED},
	{"0.0005", 0, VPT_KINETO_ROUNDED}, /* half goes to the even neighbour */
	{"0.0015", 2, VPT_KINETO_ROUNDED},
	{"0.0025", 2, VPT_KINETO_ROUNDED},
	{"0.00250000000000000000000000001", 3, VPT_KINETO_ROUNDED},
	{"0.0025100", 3, VPT_KINETO_ROUNDED},
	{"0.0026", 3, VPT_KINETO_ROUNDED},
	{"0.9999", 1000, VPT_KINETO_ROUNDED},
	{"1e3", 1000000, VPT_KINETO_EXACT},
	{"1E+3", 1000000, VPT_KINETO_EXACT},
	{"1.5e-3", 2, VPT_KINETO_ROUNDED},
	{"2.5e-3", 2, VPT_KINETO_ROUNDED},
	{"12345.678e-2", 123457, VPT_KINETO_ROUNDED},
	{"1.365627862757064e12", 1365627862757064, VPT_KINETO_EXACT},
	{"1e-400", 0, VPT_KINETO_ROUNDED},
	{"0e999999999999", 0, VPT_KINETO_EXACT},
	{"-4", -4000, VPT_KINETO_EXACT},
	{"-0.0015", -2, VPT_KINETO_ROUNDED},
	{"9223372036854774", 9223372036854774000, VPT_KINETO_EXACT},
};

static void microseconds_become_nanoseconds_by_their_digits(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(times); i++) {
		int64_t ns = 77;
		enum vpt_kineto_number how =
			vpt_kineto_decimal(times[i].us, strlen(times[i].us), 3, &ns);

		if (how != times[i].how || ns != times[i].ns)
			fail_msg("%s: %" PRId64 " (%d)", times[i].us, ns, (int)how);
	}
}

static void times_are_the_same_as_number_and_as_text(void **state)
{
	static const char *const forms[] = {
		"{'ph': 'X', 'cat': 'overhead', 'ts': %s, 'dur': %s}",
		"{'ph': 'X', 'cat': 'overhead', 'ts': '%s', 'dur': '%s'}",
	};
	char event[256];
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(times); i++) {
		for (k = 0; k < COUNT(forms); k++) {
			snprintf(event, sizeof(event), forms[k], times[i].us, times[i].us);
			rig_events(event);
			if (times[i].ns < 0) {
				assert_int_equal(rig.stats.malformed, 1);
				continue;
			}
			if (rig_rows(VPT_OVERHEAD) != 1)
				fail_msg("%s: no row", event);
			assert_int_equal(rig_value(VPT_OVERHEAD, VPT_OVERHEAD_START), times[i].ns);
			assert_int_equal(
				rig_value(VPT_OVERHEAD, VPT_OVERHEAD_DURATION), times[i].ns);
			assert_int_equal(
				rig.stats.bad_numbers, times[i].how == VPT_KINETO_ROUNDED ? 2 : 0);
		}
	}
	rig_drop();
}

static void what_is_no_number_is_none(void **state)
{
	static const char *const texts[] = {"", "-", "+", ".", "e3", "1e", "1e+", "1.2.3", "1 ",
		" 1", "0x10", "NaN", "inf", "1e19", "9223372036854776",
		"99999999999999999999999999", "1,5"};
	int64_t ns;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(texts); i++)
		if (vpt_kineto_decimal(texts[i], strlen(texts[i]), 3, &ns) != VPT_KINETO_BAD)
			fail_msg("'%s' was taken for %" PRId64, texts[i], ns);
}

/* ---- text ---- */

static void names_keep_their_bytes_and_odd_ones_are_counted(void **state)
{
	static const struct {
		const char *rule, *json, *bytes;
		size_t len;
		int bad;
	} cases[] = {
		{"plain", "aten::mm", "aten::mm", 8, 0},
		{"UTF-8", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
			"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9, 0},
		{"an escape gives UTF-8", "\\u00e9\\ud83d\\ude00", "\xc3\xa9\xf0\x9f\x98\x80", 6,
			0},
		{"a lone byte", "a\xffz", "a\xffz", 3, 1},
		{"overlong", "\xc0\xaf", "\xc0\xaf", 2, 1},
		{"a surrogate", "\xed\xa0\x80", "\xed\xa0\x80", 3, 1},
		{"beyond the last character", "\xf4\x90\x80\x80", "\xf4\x90\x80\x80", 4, 1},
		{"cut", "x\xe2\x82", "x\xe2\x82", 3, 1},
		{"an escaped control character", "a\\u001b[31m", "a\x1b[31m", 6, 1},
		{"a raw control character", "a\x01z", "a\x01z", 3, 1},
		{"the last of ASCII", "a\x7f", "a\x7f", 2, 1},
		{"a line end", "a\\nb", "a\nb", 3, 1},
		{"NUL", "a\\u0000b", "a\0b", 3, 1},
	};
	char event[256];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpt_text t;

		snprintf(event, sizeof(event),
			"{'ph': 'X', 'cat': 'cpu_op', 'name': '%s', 'pid': 1, 'tid': 1, 'ts': 1, "
			"'dur': 1}",
			cases[i].json);
		rig_events(event);
		t = vpt_batch_text(&rig.batch, rig_value(VPT_RANGE, VPT_RANGE_NAME));
		if (t.len != cases[i].len || memcmp(t.text, cases[i].bytes, t.len) ||
			rig.stats.bad_text != (uint64_t)cases[i].bad)
			fail_msg("%s: %zu bytes, %d counted", cases[i].rule, t.len,
				(int)rig.stats.bad_text);
	}
	rig_drop();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(microseconds_become_nanoseconds_by_their_digits),
		cmocka_unit_test(times_are_the_same_as_number_and_as_text),
		cmocka_unit_test(what_is_no_number_is_none),
		cmocka_unit_test(names_keep_their_bytes_and_odd_ones_are_counted),
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
