/* test_samples.c - samples of stacks in a capture: the report is the one of the same capture without them. */
#include "analysis/analyze.h"
#include "analysis/render/renderer.h"
#include "formats/io/io.h"
#include "formats/base/memory.h"
#include "tests/support/random.h"
#include "tests/support/traces/random_causes.h"
#include "tests/support/traces/random_samples.h"
#include "tests/support/traces/script.h"
#include "tests/support/outputs/strip_lines.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct vpt_buffer report_of(
	const char *script, const struct vpa_options *options, int as_json)
{
	struct vpt_err err = {0};
	struct vpt_buffer out = {0};
	struct vpa_report *report = NULL;
	struct vpt_trace *trace = NULL;
	struct vpt_sink *sink;

	if (vpt_script_trace(script, &trace, &err) ||
		vpa_analyze(trace, "capture", options, &report, &err))
		fail_msg("%s", err.text);
	strip_lines(report);
	if (vpt_sink_memory(&out, &sink, &err) ||
		(as_json ? vpa_render_json(report, sink, &err)
			 : vpa_render_text(report, &(struct vpa_text){.full = 1, .width = 100},
				   sink, &err)) ||
		sink->finish(sink, 1, &err))
		fail_msg("%s", err.text);
	vpa_report_free(report);
	vpt_trace_close(trace);
	return out;
}

static void expect_same_report(uint64_t seed, const char *script, const char *sampled,
	const struct vpa_options *options, int as_json)
{
	struct vpt_buffer plain = report_of(script, options, as_json);
	struct vpt_buffer found = report_of(sampled, options, as_json);
	size_t at;

	for (at = 0; at < plain.size && at < found.size && plain.data[at] == found.data[at];)
		at++;
	if (at < plain.size || at < found.size)
		fail_msg("seed %" PRIu64 ": expected ...%.*s\nfound ...%.*s", seed,
			(int)(plain.size - at < 300 ? plain.size - at : 300), plain.data + at,
			(int)(found.size - at < 300 ? found.size - at : 300), found.data + at);
	vpt_free(plain.data);
	vpt_free(found.data);
}

static void samples_change_no_report(void **state)
{
	struct vpt_random r = {23};
	size_t samples = 0;
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 150; seed++) {
		struct random_causes how = {.seed = seed, .cuts = (unsigned)(seed % 5)};
		struct vpa_options options = {0};
		char *script = random_causes_script(&how, &options);
		char *sampled = random_samples(script, &r, &samples);

		expect_same_report(seed, script, sampled, &options, 0);
		expect_same_report(seed, script, sampled, &options, 1);
		vpt_free(script);
		vpt_free(sampled);
	}
	assert_true(samples > 800);
}

/* Where the end of a capture is not known it is that of its last event, and a sample is none. */
static void samples_do_not_prolong_a_capture_that_was_killed(void **state)
{
	static const char script[] = "start 1000; call t1 cudaLaunchKernel 1010-1020 corr 1\n"
				     "kernel s1 1030-2000 corr 1 \"k\"; killed\n";
	static const char sampled[] = "start 1000; call t1 cudaLaunchKernel 1010-1020 corr 1\n"
				      "kernel s1 1030-2000 corr 1 \"k\"\n"
				      "sample t1 900000000 \"main\"; killed\n";
	struct vpa_options options = {0};

	(void)state;
	expect_same_report(0, script, sampled, &options, 0);
	expect_same_report(0, script, sampled, &options, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_change_no_report),
		cmocka_unit_test(samples_do_not_prolong_a_capture_that_was_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
