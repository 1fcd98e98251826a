/* test_copies.c - advice on copies and memsets, on traces whose answer a person can compute. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/traces/findings_rig.h"

/* ---- copies, memsets and the compute beside them ---- */

/* Kernels of 50 us and a copy of 950: overlap could hide 50 us of it, no more. */
static void copies_hide_behind_the_compute_there_is(void **state)
{
	static const char script[] =
		"start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		"kernel s7 1000us-1040us corr 1" GEMM
		"call t1 cudaMemcpyAsync 1001us-1002us corr 2\n"
		"copy s7 HtoD pinned->device 1040us-1990us corr 2 bytes 1000000\n"
		"call t1 cudaLaunchKernel 1002us-1003us corr 3\n"
		"kernel s7 1990us-2000us corr 3" GEMM;
	struct vpa_report *r = vpt_script_report(script, NULL);
	const struct vpa_finding *f = finding(r, "exposed-copy");

	(void)state;
	assert_non_null(f);
	assert_true(f->gain_from_ms == 0.05 && f->gain_at_most_ms == 0.95);
	assert_true(f->base_ms == 1 && f->base_gain_from_ms == 0.05 && f->base_gain_ms == 0.95);
	assert_string_equal(f->title,
		"copy less: keep reused data on the GPU; there is too little compute to hide these "
		"copies");
	assert_non_null(strstr(f->note, "the smaller gain if they run beside kernels"));
	/* A factor of 20 would be a promise that the host keeps up. */
	expect_page(
		"copies", r, "50.0-950 us of 1.00 ms active: 1.05x as fast, at best 50.0 us", 1);
	expect_page("copies", r, "20.0x", 0);
	vpa_report_free(r);
}

/* A kernel of 600 us with a copy of 590 beside it, and another copy of 400 us: 10 us of compute are left to hide it. */
static void compute_beside_copies_hides_no_others(void **state)
{
	static const char script[] =
		"start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		"kernel s7 1000us-1600us corr 1" GEMM
		"call t1 cudaMemcpyAsync 1001us-1002us corr 2\n"
		"copy s8 HtoD pageable->device 1010us-1600us corr 2 bytes 1000000\n"
		"call t1 cudaMemcpyAsync 1002us-1003us corr 3\n"
		"copy s8 HtoD pageable->device 1600us-2000us corr 3 bytes 1000000\n";
	struct vpa_report *r = vpt_script_report(script, NULL);
	const struct vpa_finding *f = finding(r, "exposed-copy");

	(void)state;
	assert_non_null(f);
	assert_true(f->gain_from_ms == 0.01 && f->gain_at_most_ms == 0.4);
	assert_int_equal(strncmp(f->title, "pin the memory that is copied", 29), 0);
	vpa_report_free(r);
}

/* A kernel of 400 us and a memset of 600: no copy, so nothing to pin and nothing to offload. */
static void memsets_have_an_advice_of_their_own(void **state)
{
	static const char script[] = "start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
				     "kernel s7 1001us-1401us corr 1" GEMM
				     "call t1 cudaMemsetAsync 1001us-1002us corr 2\n"
				     "memset s7 1401us-2001us corr 2 bytes 300000000\n";
	struct vpa_report *r = vpt_script_report(script, NULL);
	const struct vpa_finding *f = finding(r, "exposed-copy"), *bound = finding(r, "copy-bound");

	(void)state;
	assert_non_null(f);
	assert_string_equal(f->title, "clear less memory: do not clear large buffers in the loop, "
				      "and none that a kernel writes as a whole (torch.empty)");
	assert_string_equal(f->note, "the smaller gain if they run beside kernels, the larger one "
				     "if nothing is cleared; mostly "
				     "memsets, 300 MB at 500.0 GB/s");
	assert_string_equal(f->evidence[0], "C1");
	assert_non_null(bound);
	assert_string_equal(bound->title,
		"memsets are the limit: the GPU clears memory, and does not wait for the host");
	expect_page("memsets", r, "pinned memory", 0);
	expect_page("memsets", r,
		"CAUSE COPY-BOUND: the GPU waits 1.00 us. Most of the work: memset 600 us, gemm "
		"400 us.",
		1);
	vpa_report_free(r);
}

/* ---- small values that are read back ---- */

static void small_values_read_back_are_named(void **state)
{
	static char script[16384];
	const struct vpa_finding *f;
	struct vpa_report *r;
	size_t used, i;

	(void)state;
	used = (size_t)snprintf(script, sizeof(script), "start 1ms\n");
	for (i = 0; i < 5; i++) {
		size_t t = 1000 + i * 400;

		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"range t1 %zuus+390us \"self_attn\"\n"
			"call t1 cudaLaunchKernel %zuus+1us corr %zu\n"
			"kernel s7 %zuus+100us corr %zu" GEMM
			"call t1 cudaMemcpyAsync %zuus+380us corr %zu\n"
			"copy s7 DtoH device->pageable %zuus+1us corr %zu bytes 8\n",
			t, t, 2 * i + 1, t + 1, 2 * i + 1, t + 2, 2 * i + 2, t + 101, 2 * i + 2);
	}
	r = vpt_script_report(script, NULL);
	f = finding(r, "small-reads");
	assert_non_null(f);
	assert_null(finding(r, "blocking-copy"));
	assert_string_equal(
		f->title, "keep small values on the GPU: no .item(), .cpu() or bool() in the loop");
	assert_string_equal(f->note,
		"all of this wait: cudaMemcpyAsync in self_attn; 5 copies of at most "
		"64 bytes, 40 B in all");
	vpa_report_free(r);
}

/* ROCm's profiler does not say what kind of memory the host's is: a call that waits for 8 bytes reads a value all the same, and a
 * copy that does not wait would be a race. More bytes, or the other direction, are none. */
static void a_read_of_unknown_memory_is_one_by_its_size(void **state)
{
	static const struct {
		const char *copy, *id;
		size_t bytes;
	} copies[] = {
		{"DtoH", "small-reads", 64},
		{"DtoH", "blocking-copy", 65},
		{"HtoD", "blocking-copy", 8},
		{"DtoH device->pinned", "small-reads", 8},
	};
	static char script[16384];
	size_t used, i, k;

	(void)state;
	for (k = 0; k < sizeof(copies) / sizeof(copies[0]); k++) {
		struct vpa_report *r;

		used = (size_t)snprintf(script, sizeof(script), "start 1ms\n");
		for (i = 0; i < 5; i++) {
			size_t t = 1000 + i * 400;

			used += (size_t)snprintf(script + used, sizeof(script) - used,
				"call t1 hipLaunchKernel %zuus+1us corr %zu\n"
				"kernel s7 %zuus+100us corr %zu" GEMM
				"call t1 hipMemcpyWithStream %zuus+380us corr %zu\n"
				"copy s7 %s %zuus+1us corr %zu bytes %zu\n",
				t, 2 * i + 1, t + 1, 2 * i + 1, t + 2, 2 * i + 2, copies[k].copy,
				t + 101, 2 * i + 2, copies[k].bytes);
		}
		r = vpt_script_report(script, NULL);
		if (!finding(r, copies[k].id))
			fail_msg("%s, %zu bytes: no %s", copies[k].copy, copies[k].bytes,
				copies[k].id);
		if (k == 0)
			assert_string_equal(finding(r, "small-reads")->note,
				"all of this wait: hipMemcpyWithStream; 5 copies of at most "
				"64 bytes, "
				"320 B in all");
		assert_null(finding(r, copies[k].id[0] == 's' ? "blocking-copy" : "small-reads"));
		vpa_report_free(r);
	}
}

/* After each of five reads of 8 bytes a copy of frames, for each of which the host waits 200 us. */
static void small_reads_and_large_copies_are_sold_apart(void **state)
{
	static char script[16384];
	const struct vpa_finding *reads, *copies;
	struct vpa_report *r;
	size_t used, i;

	(void)state;
	used = (size_t)snprintf(script, sizeof(script), "start 1ms\n");
	for (i = 0; i < 5; i++) {
		size_t t = 1000 + i * 600, id = 4 * i;

		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"range t1 %zuus+290us \"self_attn\"\n"
			"call t1 cudaLaunchKernel %zuus+1us corr %zu\n"
			"kernel s7 %zuus+100us corr %zu" GEMM
			"call t1 cudaMemcpyAsync %zuus+280us corr %zu\n"
			"copy s7 DtoH device->pageable %zuus+1us corr %zu bytes 8\n",
			t, t, id + 1, t + 1, id + 1, t + 2, id + 2, t + 101, id + 2);
		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"range t1 %zuus+290us \"to_host\"\n"
			"call t1 cudaLaunchKernel %zuus+1us corr %zu\n"
			"kernel s7 %zuus+100us corr %zu" GEMM
			"call t1 cudaMemcpyAsync %zuus+280us corr %zu\n"
			"copy s7 DtoH device->pageable %zuus+50us corr %zu bytes 1000000\n",
			t + 300, t + 300, id + 3, t + 301, id + 3, t + 302, id + 4, t + 401,
			id + 4);
	}
	r = vpt_script_report(script, NULL);
	reads = finding(r, "small-reads");
	copies = finding(r, "blocking-copy");
	assert_non_null(reads);
	assert_non_null(copies);
	assert_string_equal(reads->note,
		"all of this wait: cudaMemcpyAsync in self_attn; 5 copies of at "
		"most 64 bytes, 40 B in all");
	assert_string_equal(copies->note,
		"all of this wait: cudaMemcpyAsync in to_host; 5 copies through "
		"pageable memory, 5.00 MB in "
		"all");
	/* 5 times 300 - 101 us after a read, less 1 us of the next launch, and 1 us of its copy, which the
	 * finding about copies has as well; 4 times 300 - 150 us. */
	assert_true(reads->gain_at_most_ms == 1 && reads->gain_shared_ms == 0.01);
	assert_true(copies->gain_at_most_ms == 0.6 && copies->gain_shared_ms == 0.004);
	vpa_report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_hide_behind_the_compute_there_is),
		cmocka_unit_test(compute_beside_copies_hides_no_others),
		cmocka_unit_test(memsets_have_an_advice_of_their_own),
		cmocka_unit_test(small_values_read_back_are_named),
		cmocka_unit_test(a_read_of_unknown_memory_is_one_by_its_size),
		cmocka_unit_test(small_reads_and_large_copies_are_sold_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
