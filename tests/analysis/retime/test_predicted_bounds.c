/* test_predicted_bounds.c - a bound of work on the GPU leaves the host's pace, and a gain is a part of what holds it. */
#include "analysis/advice/finding.h"
#include "analysis/retime/predictions.h"
#include "analysis/retime/retime.h"
#include "formats/base/count.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/traces/findings_rig.h"

enum { LAUNCHES = 10 };

/* A launch of 5 us each `pace_us`, the kernel from its end on, or from the end of the one before; then one of another
 * family. */
static void write_script(
	char *script, size_t size, unsigned pace_us, unsigned kernel_us, unsigned last_us)
{
	int at = snprintf(script, size, "start 0us\ndevice 0 \"GPU\" cc 8.0 sms 108\n");
	unsigned free_us = 0, i;

	for (i = 1; i <= LAUNCHES + 1; i++) {
		unsigned launched_us = i * pace_us + 5,
			 start_us = free_us > launched_us ? free_us : launched_us;

		free_us = start_us + (i <= LAUNCHES ? kernel_us : last_us);
		at += snprintf(script + at, size - (size_t)at,
			"call t1 cudaLaunchKernel %uus-%uus corr %u\nkernel s7 %uus-%uus corr %u "
			"\"%s\"\n",
			i * pace_us, launched_us, i, start_us, free_us, i,
			i <= LAUNCHES ? "ampere_sgemm_128x64_nn" : "nchwToNhwcKernel");
		assert_true((size_t)at < size);
	}
}

static void work_on_the_gpu_leaves_the_hosts_pace(void **state)
{
	static const struct {
		const char *rule;
		unsigned pace_us, kernel_us, last_us;
		double base_ms, gain_ms; /* gain_ms 0: it vanishes */
	} cases[] = {
		/* 15/16 of the products, and half of the kernel beside them, is less than what the host leaves, 2040 - 100 us. */
		{"the GPU limits", 10, 200, 40, 2.040, 2.0 * 15 / 16 + 0.020},
		/* All but the last kernel run while the host prepares the next launch. */
		{"the host limits", 100, 60, 40, 1.040, 0.040},
		{"the host limits, and nothing is left", 100, 60, 1, 1.001, 0},
	};
	char script[4000];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpt_trace *trace = NULL;
		struct vpa_report *r = NULL;
		struct vpt_err err = {0};
		const struct vpa_finding *f;

		write_script(script, sizeof(script), cases[i].pace_us, cases[i].kernel_us,
			cases[i].last_us);
		if (vpt_script_trace(script, &trace, &err) ||
			vpa_analyze(trace, "case", NULL, &r, &err) ||
			vpa_predict(trace, 1, VPA_REPLAYED_MOST, r, &err))
			fail_msg("%s: %s\n%s", cases[i].rule, err.text, script);
		f = finding(r, "fp32-gemm");
		if (!f || r->forecast.confidence != VPA_CONFIDENCE_HIGH)
			fail_msg("%s: no finding, or no confidence", cases[i].rule);
		assert_int_equal(f->base, VPA_BASE_ACTIVE);
		if (fabs(f->base_ms - cases[i].base_ms) > 1e-6)
			fail_msg("%s: base %g", cases[i].rule, f->base_ms);
		if (vpa_finding_vanishes(f) != !(cases[i].gain_ms > 0))
			fail_msg("%s: predicted %g ms", cases[i].rule, f->predicted_ms);
		if (cases[i].gain_ms > 0 &&
			(fabs(f->base_gain_ms - cases[i].gain_ms) > 1e-6 ||
				fabs(f->gain_at_most_ms - cases[i].gain_ms) > 1e-6))
			fail_msg("%s: expected %g ms, found %g of the base, %g in all",
				cases[i].rule, cases[i].gain_ms, f->base_gain_ms,
				f->gain_at_most_ms);
		vpa_report_free(r);
		vpt_trace_close(trace);
	}
}

/* Ten times 14 kernels of 200 us with a read of a pinned value and a wait after each, and 60 us of host code; then a copy
 * of 8 MB from the GPU to pageable memory, and 60 us of code. */
static void write_reads(char *script, size_t size)
{
	unsigned at_us = 1000, corr = 1, i, k;
	int at = snprintf(script, size, "start 0us\ndevice 0 \"GPU\" cc 8.0 sms 108\n");

	for (i = 0; i < 10; i++) {
		for (k = 0; k < 14; k++) {
			at += snprintf(script + at, size - (size_t)at,
				"range t1 %uus+218us \"layer\"\n"
				"call t1 cudaLaunchKernel %uus+5us corr %u\nkernel s7 %uus+200us "
				"corr %u" GEMM "call t1 cudaMemcpyAsync %uus+5us corr %u\n"
				"copy s7 DtoH device->pinned %uus+2us corr %u bytes 8\n"
				"call t1 cudaStreamSynchronize %uus+%uus corr %u\n",
				at_us, at_us, corr, at_us + 8, corr, at_us + 6, corr + 1,
				at_us + 209, corr + 1, at_us + 12, 203, corr + 2);
			at_us += 218 + 60;
			corr += 3;
		}
		at += snprintf(script + at, size - (size_t)at,
			"range t1 %uus+310us \"to_host\"\ncall t1 cudaMemcpyAsync %uus+310us corr "
			"%u\n"
			"copy s7 DtoH device->pageable %uus+300us corr %u bytes 8000000\n",
			at_us, at_us, corr, at_us + 6, corr);
		at_us += 310 + 60;
		corr++;
		assert_true((size_t)at < size);
	}
}

/* Bounds overlap: that of the reads is as large as that of all waits. A replay shows that the host waits for the copy once
 * the reads are gone, which costs the code after it each time. */
static void all_waits_are_a_finding_if_they_bring_more(void **state)
{
	static char script[65536];
	const struct vpa_finding *reads, *all;
	struct vpt_trace *trace = NULL;
	struct vpa_report *r = NULL;
	struct vpt_err err = {0};

	(void)state;
	write_reads(script, sizeof(script));
	if (vpt_script_trace(script, &trace, &err) || vpa_analyze(trace, "case", NULL, &r, &err) ||
		vpa_predict(trace, 1, VPA_REPLAYED_MOST, r, &err))
		fail_msg("%s\n%s", err.text, script);
	reads = finding(r, "small-reads");
	all = finding(r, "host-waits");
	assert_non_null(reads);
	assert_non_null(all);
	assert_true(reads->predicted_ms - all->predicted_ms > 0.5);
	expect_page("the cause of waits", r,
		"reads of a few bytes (.item()), cudaMemcpyAsync in to_host", 0);
	vpa_report_free(r);
	vpt_trace_close(trace);
}

/* Two requests of five steps of 10 ms; after the steps each copies to the GPU for 40 ms. No step gets shorter without the copies. */
static void what_lies_between_loops_shortens_no_step(void **state)
{
	const struct vpa_options options = {.step_parts = 1};
	static char script[8192];
	struct vpt_trace *trace = NULL;
	struct vpa_report *r = NULL;
	struct vpt_err err = {0};
	const struct vpa_finding *f;
	unsigned i, k, corr = 1, t = 1000;
	int at = snprintf(script, sizeof(script), "start 0us\n");

	(void)state;
	for (i = 0; i < 2; i++) {
		at += snprintf(script + at, sizeof(script) - (size_t)at,
			"range t1 %uus+90000us \"request %u\"\n", t, i);
		for (k = 0; k < 5; k++, t += 10000, corr++)
			at += snprintf(script + at, sizeof(script) - (size_t)at,
				"range t1 %uus+9990us \"step %u\"\n"
				"call t1 cudaLaunchKernel %uus+5us corr %u\n"
				"kernel s7 %uus+9900us corr %u" GEMM,
				t, k, t + 1, corr, t + 10, corr);
		at += snprintf(script + at, sizeof(script) - (size_t)at,
			"call t1 cudaMemcpyAsync %uus+39990us corr %u\n"
			"copy s7 HtoD pageable->device %uus+39980us corr %u bytes 400000000\n",
			t, corr, t + 5, corr);
		t += 40000 + 1000;
		corr++;
	}
	if (vpt_script_trace(script, &trace, &err) ||
		vpa_analyze(trace, "case", &options, &r, &err) ||
		vpa_predict(trace, 1, VPA_REPLAYED_MOST, r, &err))
		fail_msg("%s\n%s", err.text, script);
	f = finding(r, "exposed-copy");
	assert_non_null(f);
	assert_true(f->gain_at_most_ms > 70);
	assert_int_equal(f->base, VPA_BASE_ACTIVE);
	assert_true(f->base_ms - f->predicted_ms > 70);
	assert_true(f->steps_per_s_predicted <= 0);
	vpa_report_free(r);
	vpt_trace_close(trace);
}

/* 2,500 launches of 2 us, 1 us apart, and kernels of 10 us: once the queue is full each returns 3 us after the launch `depth` before it has
 * ended. However many that are, the host alone needs 3 us a launch. */
static void a_full_queue_is_no_cost_of_a_launch(void **state)
{
	enum { LAUNCHED = 2500, KERNEL_NS = 10000 };
	static const unsigned depths[] = {1024, 1025, 1010, 512};
	static char script[300000];
	static unsigned ends[LAUNCHED];
	size_t k;

	(void)state;
	for (k = 0; k < COUNT(depths); k++) {
		int at = snprintf(script, sizeof(script), "start 0\n");
		unsigned free_ns = 0, t = 1000, i;
		struct vpt_trace *trace = NULL;
		struct vpa_report *r = NULL;
		struct vpt_err err = {0};

		for (i = 0; i < LAUNCHED; i++) {
			unsigned start = t + 1000, end = start + 2000, begins;

			if (i >= depths[k] && ends[i - depths[k]] + 3000 > end)
				end = ends[i - depths[k]] + 3000;
			begins = end + 1000 > free_ns + 1000 ? end + 1000 : free_ns + 1000;
			ends[i] = free_ns = begins + KERNEL_NS;
			at += snprintf(script + at, sizeof(script) - (size_t)at,
				"call t1 cudaLaunchKernel %u-%u corr %u\n"
				"kernel s7 %u-%u corr %u \"k\"\n",
				start, end, i + 1, begins, ends[i], i + 1);
			t = end;
			assert_true((size_t)at < sizeof(script));
		}
		if (vpt_script_trace(script, &trace, &err) ||
			vpa_analyze(trace, "case", NULL, &r, &err) ||
			vpa_predict(trace, 1, VPA_REPLAYED_MOST, r, &err))
			fail_msg("%u: %s", depths[k], err.text);
		if (fabs(r->forecast.host_ms - LAUNCHED * 0.003) > LAUNCHED * 0.003 / 50)
			fail_msg("%u: the host needs %g ms", depths[k], r->forecast.host_ms);
		vpa_report_free(r);
		vpt_trace_close(trace);
	}
}

/* Eight steps of 20 rounds: five kernels of 60 us, launched every 30 us, a read of a value, which the call waits for, and 73 us of
 * code. A round takes 393 us; the GPU works 302 of them. */
static void write_rounds(char *script, size_t size)
{
	unsigned at_us = 1000, corr = 1, i, k;
	int at = snprintf(script, size, "start 0us\ndevice 0 \"GPU\" cc 8.0 sms 108\n");

	for (i = 0; i < 160; i++, at_us += 393) {
		if (i % 20 == 0)
			at += snprintf(script + at, size - (size_t)at,
				"range t1 %uus+7859us \"step %u\"\n", at_us, i / 20);
		for (k = 0; k < 5; k++, corr++)
			at += snprintf(script + at, size - (size_t)at,
				"call t1 cudaLaunchKernel %uus+5us corr %u\n"
				"kernel s7 %uus+60us corr %u" GEMM,
				at_us + 30 * k, corr, at_us + 8 + 60 * k, corr);
		at += snprintf(script + at, size - (size_t)at,
			"call t1 cudaMemcpyAsync %uus+170us corr %u\n"
			"copy s7 DtoH device->pageable %uus+2us corr %u bytes 4\n",
			at_us + 150, corr, at_us + 309, corr);
		corr++;
		assert_true((size_t)at < size);
	}
}

/* 83 us of each round are the wait and the code after it, 8 us the next launch: a step waits 1.66 and 0.16 ms for them, and without
 * reads their copies, of 0.04 ms, go too. */
static void not_to_wait_saves_what_follows_too(void **state)
{
	static const char *const sentences[] = {
		"Not to read saves at most 1.86 ms.", "Not to read saves 1.86 ms."};
	const struct vpa_options options = {.step_parts = 1};
	static char script[1 << 18];
	struct vpt_trace *trace = NULL;
	struct vpa_report *r = NULL;
	struct vpt_err err = {0};
	size_t i;

	(void)state;
	write_rounds(script, sizeof(script));
	for (i = 0; i < COUNT(sentences); i++) {
		if (vpt_script_trace(script, &trace, &err) ||
			vpa_analyze(trace, "case", &options, &r, &err) ||
			(i && vpa_predict(trace, 1, VPA_REPLAYED_MOST, r, &err)))
			fail_msg("%s\n%s", err.text, script);
		expect_page("the host's waits and what they delay", r, sentences[i], 1);
		vpa_report_free(r);
		vpt_trace_close(trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_on_the_gpu_leaves_the_hosts_pace),
		cmocka_unit_test(not_to_wait_saves_what_follows_too),
		cmocka_unit_test(all_waits_are_a_finding_if_they_bring_more),
		cmocka_unit_test(what_lies_between_loops_shortens_no_step),
		cmocka_unit_test(a_full_queue_is_no_cost_of_a_launch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
