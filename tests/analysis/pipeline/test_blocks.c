/* test_blocks.c - where blocks and requests begin and end. */
#include "formats/base/memory.h"
#include "tests/support/traces/block_rig.h"
#include "tests/support/traces/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- the reference case ---- */

#define REFERENCE                                                                                  \
	"blocks 7, warmup 1, frames 72, FPS 24, BPS 2, busy 24, denoise 30, latent 6, all 81, "    \
	"end to "                                                                                  \
	"end 23.143, TTFB ms 500, steps 28, a block 4, steps/s 10, s/it 0.1, context 7"

static void the_reference_case(void **state)
{
	struct vpa_report *r;

	(void)state;
	begin();
	request(0, 3500, "clip");
	reference_blocks(0, 7, 100);
	expect_report("seven blocks of 500 ms", NULL, REFERENCE);
	r = analyze(NULL);
	assert_true(r->requests[0].blocks.fps == 24.0);
	assert_true(r->requests[0].blocks.bps == 2.0);
	assert_true(r->requests[0].steps.steps_per_s == 10.0);
	assert_true(r->requests[0].fps_end_to_end == 81.0 / 3.5);
	assert_string_equal(r->requests[0].name, "clip");
	assert_int_equal(r->requests[0].blocks.attention.p50_ns, 300 * MS);
	vpa_report_free(r);

	begin();
	reference_blocks(0, 7, 100);
	expect_report("without a request the window is one", NULL, REFERENCE);

	begin();
	request(0, 35, "clip");
	reference_blocks(0, 7, 1);
	expect_report("ranges that are over before their kernels begin", NULL, REFERENCE);
}

static void the_window_is_a_request_from_its_start(void **state)
{
	(void)state;
	begin();
	reference_blocks(1000, 7, 100);
	expect_report("start-up counts", NULL,
		"blocks 7, warmup 1, frames 72, FPS 24, BPS 2, busy 24, denoise 30, latent 6, all "
		"81, end "
		"to end 18, TTFB ms 1500, steps 28, a block 4, steps/s 10, s/it 0.1, context 7");
}

/* ---- where blocks end ---- */

/* Up to four chunks in flight: each forward works on all that are open. */
static void overlapping_blocks_have_long_latencies_and_short_periods(void **state)
{
	struct vpa_report *r;
	struct words w = {.len = 0};
	unsigned k, forward;

	(void)state;
	begin();
	for (k = 0; k < 6; k++) {
		char json[64];

		snprintf(json, sizeof(json), "{'kind':'block','index':%u,'frames':24}", k);
		annotated("startend", k * 100, k * 100 + 400, "chunk", json);
	}
	for (forward = 0; forward < 9; forward++)
		kernel(forward * 100, forward * 100 + 10, forward * 100 + 110, GEMM);
	r = analyze(NULL);
	check_sums(r);
	expect_request("overlap", r, 0,
		"blocks 6, warmup 1, frames 120, FPS 240, BPS 10, busy 240, all 144, end to end "
		"158.242, "
		"TTFB ms 410");
	say_periods(&w, &r->requests[0]);
	expect("latency is four periods", &w,
		"0: 400, 1: 100 (400), 2: 100 (400), 3: 100 (400), 4: 100 (400), 5: 100 (400)");
	vpa_report_free(r);
}

static void a_mark_says_when_frames_are_ready(void **state)
{
	struct vpa_report *r;
	struct words w = {.len = 0};
	unsigned k;

	(void)state;
	/* Denoising in the block, the VAE behind it; the host runs ahead all the time. */
	begin();
	for (k = 0; k < 4; k++) {
		unsigned host = k * 10, device = k * 100 + 100;

		block(host, host + 4, k, k ? 12 : 9);
		kernel(host + 1, device, device + 60, GEMM);
		annotated("range", host + 4, host + 6, "vae_decode", "{'kind':'stage'}");
		kernel(host + 5, device + 60, device + 90, CONV);
		ready(host + 7, k, 12);
		kernel(host + 8, device + 90, device + 95, GEMM); /* behind the mark */
	}
	r = analyze(NULL);
	check_sums(r);
	expect_request("with marks", r, 0,
		"blocks 4, warmup 1, frames 36, FPS 120, BPS 10, busy 126.316, latent 30, all 45, "
		"end to "
		"end 90.909, TTFB ms 190, TTFF ms 190");
	say_periods(&w, &r->requests[0]);
	expect("with marks", &w, "0: 90, 1: 100 (90), 2: 100 (90), 3: 100 (90)");
	vpa_report_free(r);
}

static void a_mark_of_a_block_that_only_has_a_name(void **state)
{
	struct vpa_report *r;
	struct words w = {.len = 0};
	unsigned cut;

	(void)state;
	for (cut = 0; cut < 2; cut++) {
		begin();
		w.len = 0;
		line("range t1 %ums-%ums \"block 0\"", at(0), at(10));
		kernel(1, 1, 5, GEMM);
		kernel(20, 20, 30, GEMM);
		if (cut)
			line("chunk");
		ready(40, 0, 9);
		line("range t1 %ums-%ums \"block 1\"", at(50), at(60));
		kernel(51, 51, 55, GEMM);
		r = analyze(NULL);
		say_periods(&w, &r->requests[0]);
		expect("wherever chunks end", &w, "0: 29, 1: 25 (4)");
		vpa_report_free(r);
	}
}

static void a_mark_belongs_to_the_newest_block_of_its_index(void **state)
{
	struct vpa_report *r;
	struct words w = {.len = 0};

	(void)state;
	begin();
	block(0, 10, 0, 0);
	kernel(1, 1, 5, GEMM);
	kernel(20, 20, 30, GEMM);
	ready(40, 0, 9);
	block(50, 60, 1, 0);
	kernel(51, 51, 55, GEMM);
	ready(60, 7, 9); /* there is no such block */
	kernel(61, 61, 70, GEMM);
	line("mark t2 %ums \"frames\" domain vptrace json \"{\\\"kind\\\":\\\"frames\\\"}\"",
		at(80)); /* launched nothing */
	ready(90, 1, 12);
	line("mark t1 %ums \"frames\" domain other json \"{\\\"kind\\\":\\\"frames\\\"}\"", at(95));
	kernel(91, 91, 99, GEMM);
	r = analyze(NULL);
	check_sums(r);
	say_periods(&w, &r->requests[0]);
	expect("ends", &w, "0: 29, 1: 40 (19)");
	assert_int_equal(r->requests[0].frames, 21);
	vpa_report_free(r);
}

static void an_op_of_another_thread_inside_the_period_is_in_it(void **state)
{
	struct vpa_report *r;

	(void)state;
	begin();
	block(0, 10, 0, 4);
	kernel(1, 0, 10, GEMM);
	line("call t2 cudaLaunchKernel %ums+1us corr 900", at(5));
	line("kernel s8 %ums-%ums corr 900 \"%s\"", at(12), at(14), CONV);
	block(10, 30, 1, 4);
	kernel(11, 20, 30, GEMM);
	r = analyze(NULL);
	check_sums(r);
	assert_int_equal(r->requests[0].blocks.busy_ns, 12 * MS);
	assert_int_equal(r->requests[0].blocks.idle_ns, 8 * MS);
	vpa_report_free(r);
}

/* ---- requests ---- */

static void indices_restart_with_each_request(void **state)
{
	struct vpa_report *r;

	(void)state;
	begin();
	request(0, 3500, "first");
	reference_blocks(0, 7, 100);
	request(5000, 8500, "second");
	reference_blocks(5000, 7, 100);
	r = analyze(NULL);
	check_sums(r);
	assert_int_equal(r->request_count, 2);
	expect_request("the first", r, 0, REFERENCE);
	expect_request("no period spans two", r, 1, REFERENCE);
	assert_string_equal(r->requests[1].name, "second");
	assert_int_equal(r->stages[0].count, 56);
	assert_int_equal(r->stages[0].in_blocks, 48);
	vpa_report_free(r);
}

static void a_request_of_another_thread_is_around_by_time(void **state)
{
	struct vpa_report *r;
	unsigned k;

	(void)state;
	begin();
	for (k = 0; k < 2; k++) {
		unsigned t = k * 5000;

		line("range t2 %ums-%ums \"served %u\" domain vptrace json "
		     "\"{\\\"kind\\\":\\\"request\\\"}\"",
			at(t), at(t + 4500), k);
		reference_blocks(t, 7, 100);
		if (k)
			kernel(t + 3500, t + 3500, t + 4000, CONV);
	}
	r = analyze(NULL);
	check_sums(r);
	assert_int_equal(r->request_count, 2);
	expect_request("it ends on the host", r, 0,
		"blocks 7, warmup 1, frames 72, FPS 24, BPS 2, busy 24, denoise 30, latent 6, all "
		"81, end to "
		"end 18, TTFB ms 500, steps 28, a block 4, steps/s 10, s/it 0.1, context 7");
	expect_request("what comes behind the blocks is its own", r, 1,
		"blocks 7, warmup 1, frames 72, denoise rate 24, BPS 2, busy 24, denoise 30, "
		"latent 6, all 81, "
		"end to end 18, TTFB ms 500, steps 28, a block 4, steps/s 10, s/it 0.1, context "
		"7");
	assert_string_equal(r->requests[0].name, "served 0");
	vpa_report_free(r);
}

/* Two requests at once, each on a thread of its own, with marks that tell the frames. */
static void a_mark_belongs_to_the_request_of_its_thread(void **state)
{
	unsigned t, b;

	(void)state;
	begin();
	for (t = 0; t < 2; t++) {
		unsigned first = t * 50;

		line("range t%u %ums-%ums \"request %u\"", t + 1, at(first), at(first + 300), t);
		for (b = 0; b < 3; b++) {
			unsigned from = first + b * 100;

			script.corr++;
			line("range t%u %ums-%ums \"block %u\"", t + 1, at(from), at(from + 100),
				b);
			line("call t%u cudaLaunchKernel %u001us+1us corr %u", t + 1, at(from),
				script.corr);
			line("kernel s%u %ums-%ums corr %u \"k\"", t + 7, at(from), at(from + 100),
				script.corr);
			line("mark t%u %ums \"frames\" domain vptrace json "
			     "\"{\\\"kind\\\":\\\"frames\\\",\\\"index\\\":%u,"
			     "\\\"frames\\\":%u}\"",
				t + 1, at(from + 99), b, 12 * (t + 1));
		}
	}
	expect_report("the first one", NULL,
		"blocks 3, warmup 1, frames 24, FPS 120, BPS 10, busy 120, all 36, end to end 120, "
		"TTFB ms 100, TTFF ms 100");
}

static void without_any_of_it_there_is_no_request(void **state)
{
	struct vpa_report *r;

	(void)state;
	begin();
	kernel(0, 0, 100, GEMM);
	line("range t1 %ums-%ums \"forward\"", at(0), at(100));
	r = analyze(NULL);
	assert_int_equal(r->request_count, 0);
	assert_int_equal(r->stage_count, 0);
	assert_int_equal(r->verdict.reason_count, 0);
	vpa_report_free(r);
}

/* ---- no memory ---- */

static size_t allocations_left;

static void *scarce(void *ptr, size_t size)
{
	if (!allocations_left)
		return NULL;
	allocations_left--;
	return realloc(ptr, size);
}

/* Whichever allocation fails: an error and nothing left behind, which the sanitizers watch. */
static void without_memory_there_is_an_error(void **state)
{
	static const struct vpt_memory_ops ops = {scarce, free};
	struct vpt_trace *trace = NULL;
	struct vpa_report *report;
	struct vpt_err err = {0};
	size_t count;
	int rc = VPT_ENOMEM;

	(void)state;
	begin();
	request(0, 3500, "clip");
	reference_blocks(0, 7, 100);
	ready(3500, 6, 12);
	assert_int_equal(vpt_script_trace(script.text, &trace, &err), VPT_OK);
	for (count = 0; rc; count++) {
		struct vpa_options options = {.jobs = 1, .target_millifps = 16000};

		allocations_left = count;
		vpt_memory_use(&ops);
		rc = vpa_analyze(trace, "scarce", &options, &report, &err);
		vpt_memory_use(NULL);
		if (rc) {
			assert_int_equal(rc, VPT_ENOMEM);
			assert_null(report);
		}
	}
	assert_in_range(count, 50, 5000);
	expect_request("with just enough", report, 0,
		"blocks 7, warmup 1, frames 72, FPS 24, BPS 2, busy 24, denoise 30, latent 6, all "
		"81, end "
		"to end 23.143, TTFB ms 500, TTFF ms 3500, steps 28, a block 4, steps/s 10, s/it "
		"0.1, "
		"context 7");
	vpa_report_free(report);
	vpt_trace_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reference_case),
		cmocka_unit_test(the_window_is_a_request_from_its_start),
		cmocka_unit_test(overlapping_blocks_have_long_latencies_and_short_periods),
		cmocka_unit_test(a_mark_says_when_frames_are_ready),
		cmocka_unit_test(a_mark_of_a_block_that_only_has_a_name),
		cmocka_unit_test(a_mark_belongs_to_the_newest_block_of_its_index),
		cmocka_unit_test(an_op_of_another_thread_inside_the_period_is_in_it),
		cmocka_unit_test(indices_restart_with_each_request),
		cmocka_unit_test(a_request_of_another_thread_is_around_by_time),
		cmocka_unit_test(a_mark_belongs_to_the_request_of_its_thread),
		cmocka_unit_test(without_any_of_it_there_is_no_request),
		cmocka_unit_test(without_memory_there_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
