/* rows_rig.h - the rows of a table of reports as one text, case by case. Include cmocka.h first. */
#ifndef VPT_TESTS_SUPPORT_ROWS_RIG_H
#define VPT_TESTS_SUPPORT_ROWS_RIG_H

#include "tests/support/traces/findings_rig.h"

#include <stdarg.h>
#include <stdio.h>

struct rows_case {
	const char *rule, *script, *rows;
};

struct rows_text {
	char text[2048];
	size_t used;
};

__attribute__((format(printf, 2, 3))) static inline void add_row(
	struct rows_text *to, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	to->used += (size_t)vsnprintf(to->text + to->used, sizeof(to->text) - to->used, fmt, args);
	va_end(args);
	assert_true(to->used < sizeof(to->text));
}

/* Fails the test where the report of a script has other rows than its case. */
static inline void expect_rows(const struct rows_case *cases, size_t count,
	void (*list)(struct rows_text *to, const struct vpa_report *r))
{
	size_t i;

	for (i = 0; i < count; i++) {
		struct vpa_report *r = vpt_script_report(cases[i].script, NULL);
		struct rows_text found = {.used = 0};

		list(&found, r);
		if (strcmp(found.text, cases[i].rows) != 0)
			fail_msg("%s: found\n%s\nexpected\n%s", cases[i].rule, found.text,
				cases[i].rows);
		vpa_report_free(r);
	}
}

#endif
