/* test_gain_base.c - what a gain is a part of: a block, a step, a request or the active time; on
 * traces whose answer a person can compute. */
#include "analysis/retime/predictions.h"
#include "formats/base/count.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/traces/findings_rig.h"

/* Blocks of 764 ms, in the first 110 of which the host still waits for the block before. */
static void a_gain_says_what_it_is_of_and_what_it_means(void **state)
{
	static const struct vpa_options options = {
		.frames_per_block = 12, .target_millifps = 20000};
	const struct vpa_finding *f;
	static char script[16384];
	struct vpa_report *r;
	size_t used, i;

	(void)state;
	used = (size_t)snprintf(script, sizeof(script), "start 1s\n");
	for (i = 0; i < 7; i++) {
		size_t t = 1000 + i * 764;

		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"range t1 %zums+700ms \"block %zu\"\n"
			"call t1 cudaLaunchKernel %zums+0us corr %zu\n"
			"kernel s7 %zums+654ms corr %zu" GEMM
			"call t1 cudaStreamSynchronize %zums+764ms corr %zu\n",
			t + 110, i, t + 110, 2 * i + 1, t + 110, 2 * i + 1, t + 110, 2 * i + 2);
	}
	r = vpt_script_report(script, &options);
	f = finding(r, "sync-drain");
	assert_non_null(f);
	assert_int_equal(f->base, vpa_base_of_unit(VPA_UNIT_BLOCK));
	assert_true(f->base_ms == 764 && f->base_gain_ms == 110);
	assert_true(f->fps_from > 15.706 && f->fps_from < 15.708);
	assert_true(f->fps_to > 18.348 && f->fps_to < 18.350);
	expect_page("a block", r, "110 ms of the mean block's 764 ms: 15.7 -> at most 18.3 FPS", 1);
	/* A slow FPS is the result, no finding. */
	assert_null(finding(r, "fps"));
	expect_page("target", r, "TOO SLOW: 15.7 FPS, target 20.0.", 1);
	expect_page("target", r, "slower than", 0);
	vpa_report_free(r);
}

/* Steps of 10 ms, in the last 4 of which the host still waits; `before` has lines of what comes before them. */
static struct vpa_report *waiting_steps(const char *name, size_t count, const char *before)
{
	static const struct vpa_options options = {.step_parts = 1};
	static char script[16384];
	size_t used, i;

	used = (size_t)snprintf(
		script, sizeof(script), "start %s\n%s", *before ? "500ms" : "1s", before);
	for (i = 0; i < count; i++) {
		size_t t = 1000 + i * 10;

		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"range t1 %zums-%zums \"%s%zu\"\n"
			"call t1 cudaLaunchKernel %zums+0us corr %zu\n"
			"kernel s7 %zums+6ms corr %zu" GEMM
			"call t1 cudaStreamSynchronize %zums-%zums corr %zu\n",
			t, t + 9, name, i, t, 2 * i + 1, t, 2 * i + 1, t, t + 10, 2 * i + 2);
	}
	return vpt_script_report(script, &options);
}

static void without_blocks_a_gain_is_of_the_mean_step(void **state)
{
	static const struct {
		const char *rule, *name, *base, *words;
	} units[] = {
		{"marked steps", "step ", "step",
			"4.00 ms of the mean 10.0 ms from one step to the next: 100 -> at most "
			"167 steps/s"},
		{"iterations of a profiler", "ProfilerStep#", "iteration",
			"4.00 ms of the mean 10.0 ms from one iteration to the next: 100 -> at "
			"most 167 iterations/s"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(units); i++) {
		struct vpa_report *r = waiting_steps(units[i].name, 10, "");
		const struct vpa_finding *f = finding(r, "sync-drain");

		assert_non_null(f);
		assert_string_equal(vpa_base_name(f->base), units[i].base);
		expect_page(units[i].rule, r, units[i].words, 1);
		vpa_report_free(r);
	}
}

/* 36 ms of waiting in the steps, and before them 300 ms for an allocation. */
static void a_gain_outside_the_steps_is_of_the_active_time(void **state)
{
	struct vpa_report *r = waiting_steps("step ", 10,
		"call t1 cudaLaunchKernel 500ms+0us corr 101\nkernel s7 500ms-501ms corr 101" GEMM
		"call t1 cudaMalloc 501ms-801ms corr 102\n"
		"call t1 cudaLaunchKernel 801ms+0us corr 103\nkernel s7 801ms-1000ms corr "
		"103" GEMM);

	(void)state;
	expect_page("steps", r, "4.00 ms of the mean 10.0 ms from one step to the next", 1);
	expect_page("before them", r, "300 ms of 596 ms active: at most 2.01x as fast", 1);
	vpa_report_free(r);
}

/* Four blocks of 12 frames in 40 ms; then the VAE, 100 ms of which are an allocation. */
static void a_gain_after_the_blocks_is_of_the_request(void **state)
{
	static const struct vpa_options options = {.frames_per_block = 12};
	static char script[4096];
	struct vpa_report *r;
	size_t used, i;

	(void)state;
	used = (size_t)snprintf(script, sizeof(script), "start 1s\n");
	for (i = 0; i < 4; i++)
		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"range t1 %zums+1ms \"block %zu\"\n"
			"call t1 cudaLaunchKernel %zums+0us corr %zu\n"
			"kernel s7 %zums+10ms corr %zu" GEMM,
			1000 + 2 * i, i, 1000 + 2 * i, i + 1, 1000 + 10 * i, i + 1);
	snprintf(script + used, sizeof(script) - used,
		"range t1 1009ms-1300ms \"vae_decode\"\n"
		"call t1 cudaLaunchKernel 1009ms+0us corr 11\nkernel s7 1040ms+20ms corr 11" GEMM
		"call t1 cudaMalloc 1060ms-1160ms corr 12\n"
		"call t1 cudaLaunchKernel 1160ms+0us corr 13\nkernel s7 1160ms+40ms corr 13" GEMM);
	r = vpt_script_report(script, &options);
	expect_page("after the blocks", r,
		"100 ms of the request's 200 ms: 240 -> at most 480 FPS end to end", 1);
	/* The rate of RESULT is the steady one. */
	expect_page("the column", r, "allocate before the loop, in vae_decode 480 G1", 1);
	vpa_report_free(r);
}

/* An iteration of 383 ms, in 218 of which the host prepares its input; a softmax of 69 of 160 ms. */
static void the_only_iteration_is_whole_with_what_the_host_does_first(void **state)
{
	static const struct vpa_options options = {.step_parts = 1};
	struct vpa_report *r = vpt_script_report(
		"start 1s\nrange t1 1000ms-1383ms \"ProfilerStep#6\"\n"
		"call t1 cudaLaunchKernel 1218ms+0us corr 1\nkernel s7 1218ms-1249ms corr 1" GEMM
		"call t1 cudaLaunchKernel 1218ms+1us corr 2\nkernel s7 1249ms-1318ms corr 2" SOFTMAX
		"call t1 cudaLaunchKernel 1218ms+2us corr 3\nkernel s7 1318ms-1348ms corr 3" GEMM
		"call t1 cudaLaunchKernel 1218ms+3us corr 4\nkernel s7 1348ms-1378ms corr 4" ADD,
		&options);

	(void)state;
	assert_int_equal(r->findings[0].id, VPA_FOUND_BEFORE_FIRST_WORK);
	assert_int_equal(r->findings[1].id, VPA_FOUND_EAGER_ATTENTION);
	expect_page("the head", r,
		"218 ms of the only iteration's 383 ms from its start on the host: 2.61 -> at most "
		"6.06 iterations/s",
		1);
	expect_page("work", r,
		"69.0-130 ms of the only iteration's 383 ms from its start on the host: 2.61 -> "
		"3.18 to at most 3.95 iterations/s",
		1);
	vpa_report_free(r);
}

/* An iteration of 220 ms: 200 in which the host prepares its input, after a wait or before its first call; then 15 kernels of 1
 * ms, with 120 us of other code after each. */
static struct vpa_report *predicted_head(const char *first_call)
{
	static const struct vpa_options options = {.step_parts = 1};
	struct vpt_trace *trace = NULL;
	struct vpa_report *r = NULL;
	struct vpt_err err = {0};
	char script[4096];
	size_t used, i;

	used = (size_t)snprintf(script, sizeof(script),
		"start 1s\nrange t1 1000ms-1220ms \"ProfilerStep#6\"\n%s", first_call);
	for (i = 0; i < 15; i++)
		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"call t1 cudaLaunchKernel %zuus+5us corr %zu\n"
			"kernel s7 %zuus+1ms corr %zu" GEMM,
			1200000 + 1120 * i, i + 1, 1200005 + 1120 * i, i + 1);
	assert_int_equal(vpt_script_trace(script, &trace, &err), 0);
	assert_int_equal(vpa_analyze(trace, "case", &options, &r, &err), 0);
	assert_int_equal(vpa_predict(trace, 1, 1000000, r, &err), 0);
	vpt_trace_close(trace);
	return r;
}

static void half_of_the_code_before_the_first_op_is_predicted(void **state)
{
	struct vpa_report *r = predicted_head("call t1 cudaDeviceSynchronize 1000ms+0us corr 99\n");
	const struct vpa_finding *f = finding(r, "before-first-work");

	(void)state;
	assert_non_null(f);
	assert_string_equal(f->change, "host 0.5 over 100ms in ProfilerStep#6");
	assert_true(f->takes_half);
	/* The iteration is the base, though it is ten times as long as what follows the first op. */
	assert_int_equal(f->base, vpa_base_of_unit(VPA_UNIT_ITERATION));
	assert_true(f->base_ms == 220);
	assert_true(fabs(f->base_gain_ms - 200.005) < 1e-9);
	assert_true(fabs(f->predicted_ms - 120) < 0.1);
	/* Other code has a change of its own, without what that has. */
	f = finding(r, "host-stall");
	assert_non_null(f);
	assert_string_equal(f->change, "host 0.5 over 100us under 100ms");
	assert_true(f->takes_half);
	assert_true(f->base_ms - f->predicted_ms < 2);
	vpa_report_free(r);
	r = predicted_head("");
	f = finding(r, "before-first-work");
	assert_non_null(f);
	/* Nothing says what the thread did before its first call, so the replay leaves it. */
	assert_true(f->predicted_ms == 0);
	vpa_report_free(r);
}

/* Two steps of 10 ms; `name` is that of the first, `other` a range after them. */
static struct vpa_report *two_steps(const char *name, const char *other)
{
	char script[1024];

	snprintf(script, sizeof(script),
		"start 1s\nrange t1 1000ms-1001ms %s\ncall t1 cudaLaunchKernel 1000ms+1us corr 1\n"
		"kernel s7 1001ms-1010ms corr 1" GEMM "range t1 1010ms-1011ms \"Step 10 to 20\"\n"
		"call t1 cudaLaunchKernel 1010ms+1us corr 2\nkernel s7 1011ms-1020ms corr 2" GEMM
		"range t1 1020ms-1021ms \"%s\"\ncall t1 cudaLaunchKernel 1020ms+1us corr 3\n"
		"kernel s7 1021ms-1030ms corr 3" GEMM,
		name, other);
	return vpt_script_report(script, NULL);
}

static void steps_are_denoising_steps_only_where_something_says_so(void **state)
{
	static const struct {
		const char *rule, *name, *other;
		int is_denoising;
	} names[] = {
		{"a step of any loop", "\"Step 0 to 10\"", "loss", 0},
		{"its words", "\"denoising step 0\"", "loss", 1},
		{"a timestep", "\"step 0 t=999\"", "loss", 1},
		{"an annotation", "\"a\" domain vptrace json \"{\\\"kind\\\":\\\"step\\\"}\"",
			"loss", 1},
		{"a scheduler", "\"Step 0 to 10\"", "scheduler_step", 1},
		{"a stage of denoising", "\"Step 0 to 10\"", "DenoisingStage", 1},
		{"a stage of any pipeline", "\"Step 0 to 10\"", "postprocess", 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(names); i++) {
		struct vpa_report *r = two_steps(names[i].name, names[i].other);

		expect_page(names[i].rule, r, " denoise step", names[i].is_denoising);
		vpa_report_free(r);
	}
}

/* RATES has the rate of a step of 20 ms on the device, the host's 30 ms before it are not in that. */
static void the_only_step_has_no_rate(void **state)
{
	static const struct vpa_options options = {.step_parts = 1};
	struct vpa_report *r = vpt_script_report("start 1s\nrange t1 1000ms-1050ms \"step 3\"\n"
						 "call t1 cudaLaunchKernel 1030ms+0us corr 1\n"
						 "kernel s7 1030ms-1050ms corr 1" GEMM,
		&options);

	(void)state;
	assert_int_equal(r->findings[0].base, vpa_base_of_unit(VPA_UNIT_STEP));
	assert_true(r->findings[0].steps_per_s_to <= 0);
	expect_page("FIX FIRST", r,
		"30.0 ms of the only step's 50.0 ms from its start on the host: at most 2.50x as "
		"fast",
		1);
	expect_page(
		"RESULT", r, "The only step takes 50.0 ms. Its first op begins after 30.0 ms.", 1);
	expect_page(
		"RATES", r, "steps/s 50.0, s/it 0.020 (a step's length: none follows another)", 1);
	vpa_report_free(r);
}

/* 8 ms of other work; a step of 3 ms, launched behind it, an elementwise kernel in it; convolutions of 80 ms; a copy of 7.2 ms. The
 * copy is no part of the step, nor is the time in which the step waited behind the work before it. */
static void the_only_step_gains_what_lies_inside_it(void **state)
{
	static const struct vpa_options options = {.step_parts = 1};
	struct vpa_report *r = vpt_script_report(
		"start 1s\ncall t1 cudaLaunchKernel 1000ms+0us corr 1\nkernel s7 1000ms-1008ms "
		"corr 1" GEMM "range t1 1004ms-1005ms \"step 0\"\n"
		"call t1 cudaLaunchKernel 1004ms+1us corr 2\nkernel s7 1008ms-1010ms corr 2" GEMM
		"call t1 cudaLaunchKernel 1004ms+2us corr 3\nkernel s7 1010ms-1011ms corr 3" ADD
		"call t1 cudaLaunchKernel 1006ms+0us corr 4\nkernel s7 1011ms-1091ms corr 4" GEMM
		"call t1 cudaMemcpyAsync 1007ms-1099ms corr 5\n"
		"copy s7 DtoH device->pageable 1091ms-1098200us corr 5 bytes 43000000\n",
		&options);

	(void)state;
	expect_page("a copy after the step", r, "7.20 ms of 98.2 ms active", 1);
	expect_page("the step", r, "RESULT The only step takes 3.00 ms.", 1);
	expect_page("its length", r, "6.31 ms", 0);
	expect_page("its length", r, "Its first op begins after", 0);
	vpa_report_free(r);
	/* Half of the copies, 4 ms, in a step of 10. */
	r = vpt_script_report(
		"start 1s\ncall t1 cudaLaunchKernel 1000ms+0us corr 1\nkernel s7 1000ms-1010ms "
		"corr 1" GEMM "range t1 1004ms-1005ms \"step 0\"\n"
		"call t1 cudaLaunchKernel 1004ms+1us corr 2\nkernel s7 1010ms-1016ms corr 2" GEMM
		"call t1 cudaMemcpyAsync 1004ms+2us corr 3\n"
		"copy s7 HtoD pinned->device 1016ms-1020ms corr 3 bytes 43000000\n"
		"call t1 cudaMemcpyAsync 1006ms+2us corr 4\n"
		"copy s7 HtoD pinned->device 1020ms-1024ms corr 4 bytes 43000000\n",
		&options);
	expect_page("a copy in the step", r,
		"4.00 ms of the only step's 10.0 ms: at most 1.67x as fast", 1);
	vpa_report_free(r);
}

/* A request of 200 ms, which begins 10 ms into the window and whose first work starts after 150; all that ran
 * is in it, or the host has done something else before. */
static void what_the_host_does_first_is_part_of_the_only_request(void **state)
{
	static const struct vpa_options options = {.step_parts = 1};
	struct vpa_report *r = vpt_script_report(
		"start 990ms\nrange t1 1000ms-1191ms \"pipeline_call\"\n"
		"range t1 1000ms-1150ms \"text_encode\"\n"
		"call t1 cudaLaunchKernel 1149ms+1us corr 1\nkernel s7 1150ms-1190ms corr 1" GEMM
		"call t1 cudaMemcpyAsync 1150ms+1us corr 2\n"
		"copy s7 HtoD pinned->device 1190ms-1200ms corr 2 bytes 100000000\n",
		&options);

	(void)state;
	assert_int_equal(r->findings[0].id, VPA_FOUND_BEFORE_FIRST_WORK);
	expect_page("the head", r, "150 ms of the request's 200 ms: at most 4.00x as fast", 1);
	expect_page("work", r, "10.0 ms of the request's 200 ms: at most 1.05x as fast", 1);
	vpa_report_free(r);
	/* Even a seventh of it, which is less than a quarter of the window. */
	r = vpt_script_report(
		"start 1ms\nrange t1 1ms-71ms \"pipeline_call\"\n"
		"call t1 cudaLaunchKernel 11ms+0us corr 1\nkernel s7 11ms-71ms corr 1" GEMM,
		&options);
	expect_page("the head", r, "10.0 ms of the request's 70.0 ms: at most 1.17x as fast", 1);
	vpa_report_free(r);
	/* Of 80 ms, the first cudaMalloc takes 71: first use. */
	r = vpt_script_report(
		"start 1ms\nrange t1 1ms-101ms \"pipeline_call\"\n"
		"call t1 cudaMalloc 10ms-81ms corr 1\n"
		"call t1 cudaLaunchKernel 81ms+0us corr 2\nkernel s7 81ms-101ms corr 2" GEMM,
		&options);
	assert_true(finding(r, "before-first-work")->gain_at_most_ms == 80);
	assert_true(finding(r, "before-first-work")->gain_shared_ms == 71);
	assert_true(finding(r, "first-use")->gain_at_most_ms == 71);
	vpa_report_free(r);
	/* Work before the request: the request has no head, and is not all that ran. */
	r = vpt_script_report(
		"start 500ms\n"
		"call t1 cudaLaunchKernel 989ms+1us corr 9\nkernel s7 990ms-995ms corr 9" GEMM
		"range t1 1000ms-1191ms \"pipeline_call\"\n"
		"call t1 cudaLaunchKernel 1000ms+1us corr 1\n"
		"kernel s7 1001ms-1190ms corr 1" GEMM "call t1 cudaMemcpyAsync 1150ms+1us corr 2\n"
		"copy s7 HtoD pinned->device 1190ms-1210ms corr 2 bytes 100000000\n",
		&options);
	assert_true(finding(r, "before-first-work")->gain_at_most_ms == 0);
	expect_page("work", r, "20.0 ms of 220 ms active: at most 1.10x as fast", 1);
	vpa_report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gain_says_what_it_is_of_and_what_it_means),
		cmocka_unit_test(without_blocks_a_gain_is_of_the_mean_step),
		cmocka_unit_test(a_gain_outside_the_steps_is_of_the_active_time),
		cmocka_unit_test(a_gain_after_the_blocks_is_of_the_request),
		cmocka_unit_test(the_only_iteration_is_whole_with_what_the_host_does_first),
		cmocka_unit_test(half_of_the_code_before_the_first_op_is_predicted),
		cmocka_unit_test(steps_are_denoising_steps_only_where_something_says_so),
		cmocka_unit_test(the_only_step_has_no_rate),
		cmocka_unit_test(the_only_step_gains_what_lies_inside_it),
		cmocka_unit_test(what_the_host_does_first_is_part_of_the_only_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
