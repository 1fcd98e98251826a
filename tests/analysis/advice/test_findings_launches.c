/* test_findings_launches.c - launches that return only when their kernels have ended are told from any others, and the replay lets
 * them return at once. */
#include "formats/base/count.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/retime/predictions.h"
#include "tests/support/traces/findings_rig.h"

enum { KERNELS = 120 };

/* A launch each 100 us, whose kernel begins 7 us after it. */
static const struct {
	const char *rule;
	unsigned kernel_us, call_us; /* lengths */
	unsigned others;             /* launches that take 5 us */
	int is_found;
} cases[] = {
	{"launches that return after their kernels", 50, 61, 0, 1},
	{"one of a hundred may be another", 50, 61, 1, 1},
	{"two are too many", 50, 61, 2, 0},
	{"a launch that does not wait", 50, 5, 0, 0},
	{"a short kernel may end while its launch returns", 10, 21, 0, 0},
	{"a launch that is long, but not as long as its kernel", 50, 40, 0, 0},
};

static struct vpt_trace *trace_of(size_t at)
{
	static char script[32768];
	struct vpt_trace *trace = NULL;
	struct vpt_err err = {0};
	size_t i;
	int used = snprintf(script, sizeof(script), "start 0us\n");

	for (i = 0; i < KERNELS; i++)
		used += snprintf(script + used, sizeof(script) - (size_t)used,
			"call t1 cudaLaunchKernel %zuus+%uus corr %zu\n"
			"kernel s7 %zuus+%uus corr %zu" GEMM,
			100 * (i + 1), i < cases[at].others ? 5 : cases[at].call_us, i + 1,
			100 * (i + 1) + 7, cases[at].kernel_us, i + 1);
	if (vpt_script_trace(script, &trace, &err))
		fail_msg("%s: %s", cases[at].rule, err.text);
	return trace;
}

static void launches_that_block_are_found(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpt_trace *trace = trace_of(i);
		struct vpa_report *r = NULL;
		struct vpt_err err = {0};
		const struct vpa_finding *f;

		if (vpa_analyze(trace, "case", NULL, &r, &err) ||
			vpa_predict(trace, 1, VPA_REPLAYED_MOST, r, &err))
			fail_msg("%s: %s", cases[i].rule, err.text);
		f = finding(r, "launch-blocking");
		if (!f != !cases[i].is_found)
			fail_msg("%s: %s", cases[i].rule, f ? "found" : "not found");
		/* The GPU waits 50 us before each kernel but the first. A launch of 5 us and 39 us of code before it take
		 * less than a kernel, so the kernels follow each other. */
		if (f && !cases[i].others) {
			assert_true(fabs(f->gain_at_most_ms - 119 * 0.05) < 1e-9);
			assert_true(fabs(f->predicted_ms - 120 * 0.05) < 1e-9);
		}
		/* How long a launch takes is not known. */
		if (f && finding(r, "launch-call"))
			fail_msg("%s: launch calls are advice, too", cases[i].rule);
		vpa_report_free(r);
		vpt_trace_close(trace);
	}
}

/* The host runs code of 20 ms before each tenth launch. All kernels take 6 ms, and launches as such take 11 us before each kernel: if
 * no launch waits, no more than that is saved. */
static void code_of_the_host_stays_as_long(void **state)
{
	static char script[32768];
	struct vpt_trace *trace = NULL;
	struct vpa_report *r = NULL;
	struct vpt_err err = {0};
	const struct vpa_finding *f;
	size_t i, at_us = 0;
	int used = snprintf(script, sizeof(script), "start 0us\n");

	(void)state;
	for (i = 0; i < KERNELS; i++) {
		at_us += i && i % 10 == 0 ? 20100 : 100;
		used += snprintf(script + used, sizeof(script) - (size_t)used,
			"call t1 cudaLaunchKernel %zuus+61us corr %zu\n"
			"kernel s7 %zuus+50us corr %zu" GEMM,
			at_us, i + 1, at_us + 7, i + 1);
	}
	if (vpt_script_trace(script, &trace, &err) || vpa_analyze(trace, "case", NULL, &r, &err) ||
		vpa_predict(trace, 1, VPA_REPLAYED_MOST, r, &err))
		fail_msg("%s", err.text);
	f = finding(r, "launch-blocking");
	assert_non_null(f);
	assert_true(f->gain_at_most_ms > 6 - 1e-9);
	assert_true(f->gain_at_most_ms < 6 + 119 * 0.011 + 1e-9);
	assert_true(f->base_ms - f->predicted_ms < f->gain_at_most_ms + 1e-9);
	vpa_report_free(r);
	vpt_trace_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(launches_that_block_are_found),
		cmocka_unit_test(code_of_the_host_stays_as_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
