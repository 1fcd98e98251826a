/* definitions_rig.h - what tests of definitions share: the report of a script, and its figures in few words. */
#ifndef TESTS_ANALYSIS_REPORT_DEFINITIONS_RIG_H
#define TESTS_ANALYSIS_REPORT_DEFINITIONS_RIG_H

#include "analysis/advice/finding.h"
#include "analysis/analyze.h"
#include "analysis/render/renderer.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "tests/support/traces/script.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct words {
	char text[2048];
	size_t len;
};

__attribute__((format(printf, 2, 3))) static void say(struct words *w, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(w->text + w->len, sizeof(w->text) - w->len, format, args);
	va_end(args);
	assert_in_range(n, 0, sizeof(w->text) - w->len - 1);
	w->len += (size_t)n;
}

/* Members of the report that a case asks for by name. */
static inline void say_number(struct words *w, const char *name, uint64_t value)
{
	if (value)
		say(w, "%s%s %" PRIu64, w->len ? ", " : "", name, value);
}

static inline void expect(
	const char *rule, const char *script, const struct words *found, const char *expected)
{
	if (strcmp(found->text, expected))
		fail_msg("%s:\n  found    %s\n  expected %s\n%s", rule, found->text, expected,
			script);
}

/* A launch of 1 ns; the op is far behind, as the host runs ahead. */
#define RUN(thread, at, op, corr)                                                                  \
	"call " thread " cudaLaunchKernel " at "+1 corr " corr "\nkernel s7 " op " corr " corr     \
	" \"k\"\n"

static inline const struct vpa_finding *finding_called(const struct vpa_report *r, const char *id)
{
	size_t i;

	for (i = 0; i < r->finding_count; i++)
		if (!strcmp(vpa_finding_text(r->findings[i].id), id))
			return &r->findings[i];
	fail_msg("no finding \"%s\"", id);
	return NULL;
}

#endif
