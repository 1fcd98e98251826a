/* test_first_use.c - time that only the first use of something takes, on traces whose answer a
 * person can compute. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/advice/gain_unit.h"
#include "analysis/pipeline/unit.h"
#include "tests/support/traces/findings_rig.h"

static void first_use_is_said_before_cuda_graphs(void **state)
{
	/* Of 142 ms of idle time: 71 ms before the first work in the first cudaMalloc, 40 ms in loading a kernel's code,
	 * 31 ms because the host launches slowly. */
	static const char head[] = "start 1ms\ncall t1 cudaMalloc 1ms-72ms corr 90\n"
				   "call t1 cudaLaunchKernel 72000us-72000us corr 1\n"
				   "kernel s7 72000us-73000us corr 1" GEMM
				   "call t1 cudaLaunchKernel 73000us-113000us corr 2\n"
				   "kernel s7 113000us-114000us corr 2" ADD;
	static char script[65536];
	const struct vpa_finding *f;
	struct vpa_report *r;
	size_t used, i;

	(void)state;
	used = (size_t)snprintf(script, sizeof(script), "%s", head);
	for (i = 0; i < 500; i++)
		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"call t1 cudaLaunchKernel %zuus+1us corr %zu\n"
			"kernel s7 %zuus+10us corr %zu" GEMM,
			114062 + i * 72, i + 3, 114062 + i * 72, i + 3);
	r = vpt_script_report(script, NULL);
	f = &r->findings[0];
	assert_int_equal(f->id, VPA_FOUND_FIRST_USE);
	assert_string_equal(f->title,
		"this trace includes first use (111 ms of 142 ms idle): warm up before tracing");
	assert_null(finding(r, "module-load"));
	assert_non_null(finding(r, "launch-rate"));
	assert_int_equal(r->devices[0].first_use_ns, 111000000);
	assert_int_equal(r->devices[0].first_use_head_ns, 71000000);
	expect_page("first use", r, "1 warm up before the loop", 1);
	vpa_report_free(r);
}

/* Of 151 ms, all but the kernels' 3 idle: 40 ms in loading a kernel's code, 108 because of host code. */
static void first_use_is_said_after_what_takes_longer(void **state)
{
	struct vpa_report *r = vpt_script_report(
		"start 1ms\ncall t1 cudaLaunchKernel 1000us-1000us corr 1\n"
		"kernel s7 1ms-2ms corr 1" GEMM "call t1 cudaLaunchKernel 2ms-42ms corr 2\n"
		"kernel s7 42ms-43ms corr 2" ADD "call t1 cudaLaunchKernel 151ms-151ms corr 3\n"
		"kernel s7 151ms-152ms corr 3" GEMM,
		NULL);

	(void)state;
	assert_int_equal(r->devices[0].first_use_ns, 40000000);
	assert_int_equal(r->findings[0].id, VPA_FOUND_HOST_STALL);
	assert_int_equal(r->findings[1].id, VPA_FOUND_FIRST_USE);
	vpa_report_free(r);
}

/* Twenty iterations load the same module again before the same kernels. A warm-up would save only the first time: 1 ms before the
 * first work, and 10 ms before the first ADD. */
static void code_that_is_loaded_again_is_no_first_use(void **state)
{
	static char script[16384];
	const struct vpa_finding *f;
	struct vpa_report *r;
	size_t used, i;

	(void)state;
	used = (size_t)snprintf(script, sizeof(script),
		"start 0ms\n"
		"call t1 cuModuleLoadData 1ms-2ms corr 901\n"
		"call t1 cudaLaunchKernel 2ms+0us corr 902\nkernel s7 2ms-4ms corr 902" GEMM);
	for (i = 0; i < 20; i++) {
		size_t t = 4 + i * 20;

		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"call t1 cuModuleLoadData %zums+10ms corr %zu\n"
			"call t1 cudaLaunchKernel %zums+0us corr %zu\n"
			"kernel s7 %zums+10ms corr %zu" ADD,
			t, 2 * i + 1, t + 10, 2 * i + 2, t + 10, 2 * i + 2);
	}
	r = vpt_script_report(script, NULL);
	assert_int_equal(r->devices[0].first_use_ns, 11000000);
	assert_null(finding(r, "first-use"));
	f = finding(r, "module-load");
	assert_non_null(f);
	assert_string_equal(
		f->title, "load code once and keep the module: 21 calls of cuModuleLoadData");
	assert_true(f->gain_at_most_ms == 200);
	vpa_report_free(r);
}

/* The first load takes 40 ms, nine more 10 ms each: each finding has its own part. */
static void first_use_leaves_what_is_loaded_again(void **state)
{
	static char script[16384];
	char *screen;
	struct vpa_report *r;
	size_t used, i;

	(void)state;
	used = (size_t)snprintf(script, sizeof(script),
		"start 2ms\n"
		"call t1 cudaLaunchKernel 2ms+0us corr 902\nkernel s7 2ms-4ms corr 902" GEMM);
	for (i = 0; i < 10; i++) {
		size_t t = i ? 34 + i * 20 : 4, ms = i ? 10 : 40;

		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"call t1 cuModuleLoadData %zums+%zums corr %zu\n"
			"call t1 cudaLaunchKernel %zums+0us corr %zu\n"
			"kernel s7 %zums+10ms corr %zu" ADD,
			t, ms, 2 * i + 1, t + ms, 2 * i + 2, t + ms, 2 * i + 2);
	}
	r = vpt_script_report(script, NULL);
	assert_true(finding(r, "first-use")->gain_at_most_ms == 40);
	assert_true(finding(r, "module-load")->gain_at_most_ms == 90);
	assert_string_equal(finding(r, "module-load")->title,
		"load code once and keep the module: 10 calls of cuModuleLoadData");
	/* Its title says how much it is, so MORE does not say it again. */
	screen = text_of(r, 0);
	assert_non_null(strstr(screen,
		"this trace includes first use (40.0 ms of 130 ms idle): warm up before tracing "));
	assert_null(strstr(screen, "before tracing; saves"));
	vpt_free(screen);
	vpa_report_free(r);
}

/* A library sets itself up before each of three kernels: 3 ms of host code, in which the driver loads the kernel in 1 ms. Then the
 * host takes 2 ms before a kernel that has run before. Of 11 ms of idle time 9 are first use, 6 of them host code. */
static void host_code_around_a_first_load_is_first_use(void **state)
{
	struct vpa_report *r = vpt_script_report(
		"start 1ms\n"
		"call t1 cudaLaunchKernel 1ms+0us corr 1\n"
		"kernel s7 1ms-2ms corr 1 \"warmed\"\n"
		"overhead - \"Lazy Function Loading\" 4ms-5ms\n"
		"call t1 cudaLaunchKernel 5ms+0us corr 2\n"
		"kernel s7 5ms-6ms corr 2" GEMM "overhead - \"Lazy Function Loading\" 8ms-9ms\n"
		"call t1 cudaLaunchKernel 9ms+0us corr 3\n"
		"kernel s7 9ms-10ms corr 3" ADD "overhead - \"Lazy Function Loading\" 12ms-13ms\n"
		"call t1 cudaLaunchKernel 13ms+0us corr 4\n"
		"kernel s7 13ms-14ms corr 4" SOFTMAX "call t1 cudaLaunchKernel 16ms+0us corr 5\n"
		"kernel s7 16ms-17ms corr 5" ADD,
		NULL);
	const struct vpa_finding *f = &r->findings[0];

	(void)state;
	assert_int_equal(r->devices[0].first_use_ns, 9000000);
	assert_int_equal(r->devices[0].first_use_code_ns, 6000000);
	assert_int_equal(f->id, VPA_FOUND_FIRST_USE);
	assert_string_equal(f->title,
		"this trace includes first use (9.00 ms of 11.0 ms idle): warm up before tracing");
	assert_string_equal(
		f->note, "for 6.00 ms of it the host ran its own code between such loads");
	f = finding(r, "host-stall");
	/* While a kernel runs, the host has 1 ms of code each time: without it the loads would begin earlier. */
	assert_true(f->gain_at_most_ms == 5 && f->gain_shared_ms == 3);
	assert_string_equal(f->note, "another fix would save most of it too");
	vpa_report_free(r);
}

/* Without a load in the gap, before a kernel that has run, or in shorter stretches, host code is what it is called. */
static void other_host_code_is_no_first_use(void **state)
{
	struct vpa_report *r = vpt_script_report(
		"start 1ms\n"
		"call t1 cudaLaunchKernel 1ms+0us corr 1\n"
		"kernel s7 1ms-2ms corr 1" GEMM "call t1 cudaLaunchKernel 5ms+0us corr 2\n"
		"kernel s7 5ms-6ms corr 2" ADD "overhead - \"Lazy Function Loading\" 8ms-9ms\n"
		"call t1 cudaLaunchKernel 9ms+0us corr 3\n"
		"kernel s7 9ms-10ms corr 3" ADD "call t1 cudaLaunchKernel 9500us+1us corr 5\n"
		"kernel s7 12ms-13ms corr 5" ADD "call t1 cudaLaunchKernel 10300us+1us corr 6\n"
		"kernel s7 13ms-14ms corr 6" ADD
		"overhead - \"Lazy Function Loading\" 10990us-11ms\n"
		"call t1 cudaLaunchKernel 11ms+0us corr 4\n"
		"kernel s7 11ms-12ms corr 4" SOFTMAX,
		NULL);

	(void)state;
	assert_int_equal(r->devices[0].first_use_ns, 10000);
	assert_int_equal(r->devices[0].first_use_code_ns, 0);
	assert_null(finding(r, "first-use"));
	vpa_report_free(r);
}

/* Eight iterations of 8 ms of work and 2 ms of host code. In the fifth a compiler loads code for 40 ms and runs other
 * code for 30 ms, each after a kernel of 1 ms: it takes 72 ms longer than the others. The compiler's code is no
 * other finding's. */
static void an_iteration_with_first_use_is_as_the_others_are(void **state)
{
	static char script[16384];
	const struct vpa_finding *f;
	struct vpa_report *r;
	size_t used = 0, at = 1, corr = 0, i;

	(void)state;
	used = (size_t)snprintf(script, sizeof(script), "start 1ms\n");
	for (i = 0; i < 8; i++) {
		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"range t1 %zums-%zums \"ProfilerStep#%zu\"\n", at, at + (i == 4 ? 82 : 10),
			i);
		if (i == 4) {
			used += (size_t)snprintf(script + used, sizeof(script) - used,
				"call t1 cudaLaunchKernel %zums+0us corr %zu\n"
				"kernel s7 %zums+1ms corr %zu" GEMM
				"call t1 cuModuleLoadData %zums+40ms corr %zu\n"
				"call t1 cudaLaunchKernel %zums+0us corr %zu\n"
				"kernel s7 %zums+1ms corr %zu" ADD,
				at, corr + 1, at, corr + 1, at + 1, corr + 2, at + 41, corr + 3,
				at + 41, corr + 3);
			corr += 3;
			at += 72;
		}
		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"call t1 cudaLaunchKernel %zums+0us corr %zu\n"
			"kernel s7 %zums+8ms corr %zu" GEMM
			"call t1 cudaStreamSynchronize %zums+8ms corr %zu\n",
			at, corr + 1, at, corr + 1, at, corr + 2);
		corr += 2;
		at += 10;
	}
	r = vpt_script_report(script, &(struct vpa_options){.step_parts = 1});
	f = finding(r, "first-use");
	assert_non_null(f);
	assert_true(f->base == vpa_base_of_unit(VPA_UNIT_ITERATION));
	assert_true(f->base_ms > 20.285 && f->base_ms < 20.286);
	assert_true(f->base_gain_ms > 10.285 && f->base_gain_ms < 10.286);
	assert_true(f->steps_per_s_to > 99.999 && f->steps_per_s_to < 100.001);
	assert_string_equal(f->note, "1 of 7 takes 72.0 ms longer, the others 10.0 ms on average");
	f = finding(r, "host-stall");
	assert_non_null(f);
	/* 2 ms after each of seven waits, and 1 ms that the compiler runs beside its last kernel. */
	assert_true(f->gain_at_most_ms == 15);
	assert_string_equal(f->change, "host 0.5 over 100us under 30ms");
	vpa_report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_use_is_said_before_cuda_graphs),
		cmocka_unit_test(first_use_is_said_after_what_takes_longer),
		cmocka_unit_test(code_that_is_loaded_again_is_no_first_use),
		cmocka_unit_test(first_use_leaves_what_is_loaded_again),
		cmocka_unit_test(host_code_around_a_first_load_is_first_use),
		cmocka_unit_test(other_host_code_is_no_first_use),
		cmocka_unit_test(an_iteration_with_first_use_is_as_the_others_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
