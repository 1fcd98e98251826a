/* test_line_memory.c - where memory runs out at any allocation, there is no report, or its lines of Python are complete. */
#include "analysis/analyze.h"
#include "formats/base/error.h"
#include "formats/base/memory.h"
#include "tests/support/traces/random_lines.h"
#include "tests/support/traces/script.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* One allocation fails. */
static atomic_uint calls;
static unsigned fail_at;

static void *resize(void *ptr, size_t bytes)
{
	return atomic_fetch_add(&calls, 1) + 1 == fail_at ? NULL : realloc(ptr, bytes);
}

static const struct vpt_memory_ops failing = {resize, free};

/* 100 ms of host code, with samples of many lines, and a wait. */
static struct vpt_trace *make_trace(void)
{
	struct vpt_trace *trace = NULL;
	struct random_text text = {0};
	struct vpt_err err = {0};
	unsigned i;

	random_text_add(&text, "start 0\n"
			       "call t1 cudaLaunchKernel 900000-910000 corr 1; kernel s1 "
			       "1000000-2000000 corr 1 \"a\"\n"
			       "call t1 cudaLaunchKernel 102000000-102005000 corr 2\n");
	random_text_add(&text, "kernel s1 102010000-103000000 corr 2 \"b\"\nend 103000000\n");
	for (i = 0; i < 90; i++)
		random_text_add(&text,
			"sample t1 %u \"main (/app/run.py:3);f%u (/app/model_%u.py:%u)\"\n",
			3000000 + i * 1000000, i % 40, i % 40, i % 40 + 1);
	if (vpt_script_trace(text.data, &trace, &err))
		fail_msg("%s", err.text);
	vpt_free(text.data);
	return trace;
}

/* All that the report says of lines, as text of at most `cap` - 1 bytes. */
static void write_lines(const struct vpa_report *r, char *out, size_t cap)
{
	const struct vpa_lines *l = &r->lines;
	size_t i, n = 0;

	*out = '\0';
	for (i = 0; i < l->idle_count && n < cap; i++)
		n += (size_t)snprintf(out + n, cap - n, "%s %s:%llu %llu\n",
			l->idle[i].line.function ? l->idle[i].line.function : "-",
			l->idle[i].line.file ? l->idle[i].line.file : "-",
			(unsigned long long)l->idle[i].line.number,
			(unsigned long long)l->idle[i].ns);
	for (i = 1; i < l->stack_count && n < cap; i++)
		n += (size_t)snprintf(out + n, cap - n, "%u %s %s\n", l->stacks[i].caller,
			l->stacks[i].frame.function, l->stacks[i].frame.file);
	for (i = 0; i < l->launch_count && n < cap; i++)
		n += (size_t)snprintf(out + n, cap - n, "%llu %llu\n",
			(unsigned long long)l->launches[i].line.number,
			(unsigned long long)l->launches[i].busy_ns);
}

/* 0 and its lines, or why there is no report. */
static int analyze(char *out, size_t cap)
{
	struct vpa_options options = {.min_gap_ns = 1, .jobs = 1};
	struct vpa_report *report = NULL;
	struct vpt_trace *trace;
	struct vpt_err err = {0};
	int rc;

	vpt_memory_use(&failing);
	calls = UINT_MAX / 2; /* what makes the trace does not fail */
	trace = make_trace();
	calls = 0;
	rc = vpa_analyze(trace, "capture", &options, &report, &err);
	if (!rc)
		write_lines(report, out, cap);
	fail_at = 0;
	vpa_report_free(report);
	vpt_trace_close(trace);
	vpt_memory_use(NULL);
	return rc;
}

static void no_line_is_lost(void **state)
{
	static char complete[16384], found[16384];
	unsigned i, all, reports = 0;

	(void)state;
	assert_int_equal(analyze(complete, sizeof(complete)), 0);
	all = calls;
	assert_non_null(strstr(complete, "/app/model_39.py:40"));
	for (i = 1; i <= all; i++) {
		int rc;

		fail_at = i;
		rc = analyze(found, sizeof(found));
		reports += !rc;
		if (!rc && strcmp(complete, found) != 0)
			fail_msg("allocation %u of %u: expected\n%s\nfound\n%s", i, all, complete,
				found);
		if (rc && rc != VPT_ENOMEM)
			fail_msg("allocation %u of %u: failed with %d", i, all, rc);
	}
	assert_true(reports < all / 2);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_line_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
