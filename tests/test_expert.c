/* test_expert.c - the checklist and the experts' tables, on traces whose figures a person can compute. */
#include "analysis/report.h"
#include "formats/count.h"
#include "formats/io.h"
#include "formats/memory.h"
#include "tests/support/script.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct vpa_report *analyze(const char *script)
{
	struct vpt_trace *trace = NULL;
	struct vpa_report *report = NULL;
	struct vpt_err err = {0};

	if (vpt_script_trace(script, &trace, &err) ||
		vpa_analyze(trace, "case", NULL, &report, &err))
		fail_msg("%s\n%s", err.text, script);
	vpt_trace_close(trace);
	return report;
}

static const struct vpa_check *check(const struct vpa_report *r, const char *id)
{
	size_t i;

	for (i = 0; i < r->expert.check_count; i++)
		if (!strcmp(r->expert.checks[i].id, id))
			return &r->expert.checks[i];
	fail_msg("there is no check %s", id);
	return NULL;
}

/* ---- the checklist ---- */

/* Three steps of 1 ms without a block: a launch, a kernel of 900 us that begins 5 us after it, a wait, and
 * the scheduler's kernel. */
#define STEP(ms, n)                                                                                \
	"range t1 " ms "000us-" ms "990us \"step " n "\"\n"                                        \
	"call t1 cudaLaunchKernel " ms "000us-" ms "002us corr " n "1\n"                           \
	"kernel s7 " ms "005us-" ms "905us corr " n "1 \"ampere_sgemm_128x64_nn\"\n"               \
	"range t1 " ms "906us-" ms "989us \"scheduler_step\"\n"                                    \
	"call t1 cudaLaunchKernel " ms "907us-" ms "909us corr " n "2\n"                           \
	"kernel s7 " ms "915us-" ms "985us corr " n "2 \"vectorized_elementwise_kernel\"\n"
#define START  "start 1ms\ndevice 0 \"GPU\" cc 9.0 sms 132 memory 80GiB\n"
#define STEPS3 STEP("1", "1") STEP("2", "2") STEP("3", "3")

static const struct {
	const char *rule, *script, *id;
	enum vpa_check_status status;
	double value;
} checks[] = {
	/* In a step from 5 to 985 us, 970 us busy. */
	{"busy in the steps", START STEPS3, "gpu-busy", VPA_CHECK_PASS, 970.0 / 980},
	/* 3 x 70 us of 3 steps / (3 per 2,980 us). */
	{"the scheduler's ops", START STEPS3, "scheduler", VPA_CHECK_FAIL, 3 * 70.0 / 2980},
	/* 907 to 915 and, of later steps, 0 to 5 us: medians of 5 5 8 8 8. */
	{"from a launch to its start", START STEPS3, "launch-to-start", VPA_CHECK_PASS, 8000},
	{"no blocking call", START STEPS3, "blocking-calls", VPA_CHECK_PASS, 0},
	{"nothing says what memory does", START STEPS3, "memory-flat", VPA_CHECK_UNKNOWN, -1},
	{"without steps nothing is a loop",
		START "call t1 cudaLaunchKernel 1000us-1002us corr 1\n"
		      "kernel s7 1005us-1905us corr 1 \"k\"\n",
		"blocking-calls", VPA_CHECK_UNKNOWN, -1},
	{"then busy is of the active time",
		START "call t1 cudaLaunchKernel 1000us-1002us corr 1\n"
		      "kernel s7 1005us-1905us corr 1 \"k\"\n",
		"gpu-busy", VPA_CHECK_PASS, 1},
	{"and without a gap no launch shows a latency",
		START "call t1 cudaLaunchKernel 1000us-1002us corr 1\n"
		      "kernel s7 1005us-1905us corr 1 \"k\"\n",
		"launch-to-start", VPA_CHECK_UNKNOWN, -1},
	/* The device is idle from 905 until the launch at 907, late because of the call. */
	{"a blocking call in the loop",
		START STEPS3 "call t1 cudaStreamSynchronize 1003us-1906us\n", "blocking-calls",
		VPA_CHECK_PASS, 2.0 / 2980},
	{"memory that grows by a tenth",
		START STEPS3
		"series mem device 0 unit \"B\" \"Memory used\"\ncounter mem 1000us 900\n"
		"counter mem 1980us 900\ncounter mem 3000us 1000\n",
		"memory-flat", VPA_CHECK_FAIL, 0.1},
	{"memory that shrinks is flat",
		START STEPS3
		"series mem device 0 unit \"B\" \"Memory used\"\ncounter mem 1000us 900\n"
		"counter mem 1980us 900\ncounter mem 3000us 800\n",
		"memory-flat", VPA_CHECK_PASS, 0},
	{"growth in the first step is none in the loop",
		START STEPS3
		"series mem device 0 unit \"B\" \"Memory used\"\ncounter mem 1000us 100\n"
		"counter mem 1980us 900\ncounter mem 3000us 900\n",
		"memory-flat", VPA_CHECK_PASS, 0},
	/* What was lost may have been a blocking call. */
	{"nothing passes in a lossy capture",
		START STEPS3 "loss all dropped 1500us-1501us count 5\n", "gpu-busy",
		VPA_CHECK_UNKNOWN, 970.0 / 980},
	{"nor a count of calls", START STEPS3 "loss all dropped 1500us-1501us count 5\n",
		"blocking-calls", VPA_CHECK_UNKNOWN, 0},
	{"what fails, fails there too", START STEPS3 "loss all dropped 1500us-1501us count 5\n",
		"scheduler", VPA_CHECK_FAIL, 3 * 70.0 / 2980},
};

static void checks_are_judged(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(checks); i++) {
		struct vpa_report *r = analyze(checks[i].script);
		const struct vpa_check *c = check(r, checks[i].id);

		if (c->status != checks[i].status || c->value < checks[i].value - 1e-9 ||
			c->value > checks[i].value + 1e-9)
			fail_msg("%s: %s is %f, status %d, expected %f, %d (%s)", checks[i].rule,
				c->id, c->value, c->status, checks[i].value, checks[i].status,
				c->note ? c->note : "");
		vpa_report_free(r);
	}
}

static void the_loop_counts_its_calls(void **state)
{
	struct vpa_report *r =
		analyze(START STEPS3 "call t1 cudaDeviceSynchronize 1003us-1905us\n"
				     "call t1 cudaDeviceSynchronize 4000us-4001us\n");
	const struct vpa_check_loop *l = &r->expert.loop;

	(void)state;
	assert_string_equal(l->kind, "step");
	assert_int_equal(l->count, 3);
	assert_int_equal(l->blocking_calls, 1); /* the other is after the last step */
	assert_int_equal(l->ops, 6);
	assert_int_equal(l->ops_count, 3);
	assert_int_equal(l->start_ns, 1000000);
	assert_int_equal(l->first_end_ns, 1990000);
	assert_int_equal(l->end_ns, 3990000);
	vpa_report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checks_are_judged),
		cmocka_unit_test(the_loop_counts_its_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
