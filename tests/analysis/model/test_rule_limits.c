/* test_rule_limits.c - patterns of a rules file that regcomp(3) would take too much memory for are refused, and others of their kind
 * are not. */
#include "analysis/names/kernel_rules.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct vpa_rules *read_pattern(const char *pattern, struct vpt_err *err)
{
	char text[8192];
	int len = snprintf(text, sizeof(text), "gemm\t%s\n", pattern);

	assert_in_range(len, 1, sizeof(text) - 1);
	return vpa_rules_read(text, (size_t)len, err);
}

static void patterns_that_are_read(void **state)
{
	static const char *const patterns[] = {"a", "^(sgemm|cutlass)[0-9]{1,3}x", "(ab+)+",
		"a{2000}", "(a{10}){10}", "[(((]", "[]()\\]", "\\(\\(", "((((((((((a))))))))))",
		"a{,3}b{3,}", "(.*)[[:digit:]]+(.*)", "x*?"};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(patterns); i++) {
		struct vpt_err err = {0};
		struct vpa_rules *r = read_pattern(patterns[i], &err);

		if (!r)
			fail_msg("%s: %s", patterns[i], err.text);
		vpa_rules_free(r);
	}
}

static void refuses(const char *pattern, const char *expected)
{
	struct vpt_err err = {0};

	assert_null(read_pattern(pattern, &err));
	if (!strstr(err.text, "line 1 of the rules: expected") || !strstr(err.text, expected))
		fail_msg("%s: expected \"%s\", found \"%s\"", pattern, expected, err.text);
}

static void patterns_that_grow_are_refused(void **state)
{
	static const char *const patterns[] = {"a{2001}", "(a{99}){99}", "a{99}{99}",
		"a{1,99}+{99}", "(a*){9999}", "(ab){1,2000}", "[a-z]{3000}", "\\({3000}",
		"a{99999999999999999999}", "(((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+", "((a{50}){50",
		"a{3000,}", "a{,3000}", "(((a{99}){99}){99}", "[[:alpha:]]{5000}", "[]a]{5000}",
		"(a|b){3000}", "x?{3000}"};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(patterns); i++)
		refuses(patterns[i], "at most 2,000 characters");
	refuses("(a*)\\1", "without back-references");
	refuses("(((((((((((((((((((((((((((((((((((((((((((((((((((a", "50 groups");
}

static void long_files_are_refused(void **state)
{
	enum { RULES = 10001 };
	char *text = malloc(RULES * 7 + 1), *pattern = malloc(4200), *p = text;
	struct vpt_err err = {0};
	size_t i;

	(void)state;
	assert_non_null(text);
	assert_non_null(pattern);
	for (i = 0; i < RULES; i++)
		p += sprintf(p, "gemm\ta\n");
	assert_null(vpa_rules_read(text, strlen(text), &err));
	assert_string_equal(err.text, "line 10001 of the rules: expected at most 10000 rules");
	memset(pattern, '|', 4097);
	pattern[4097] = '\0';
	refuses(pattern, "at most 4,096 bytes");
	free(text);
	free(pattern);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_that_are_read),
		cmocka_unit_test(patterns_that_grow_are_refused),
		cmocka_unit_test(long_files_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
