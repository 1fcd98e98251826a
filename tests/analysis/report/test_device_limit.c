/* test_device_limit.c - what RESULT says of a run: what limits a device, and which request it is of; on
 * traces whose answer a person can compute. */
#include "analysis/report/device_limit.h"
#include "formats/base/count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/traces/findings_rig.h"

static const struct {
	const char *rule, *script, *limit, *words;
} limits[] = {
	{"nine tenths of active and a quarter of the window are bound",
		"start 1ms\nend 5ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		"kernel s7 1000us-1500us corr 1" ADD
		"call t1 cudaLaunchKernel 1001us-1002us corr 2\n"
		"kernel s7 1500us-2000us corr 2" GEMM,
		"gpu", "CAUSE IDLE AFTER ITS LAST OP: the GPU waits 3.00 ms."},
	{"less of the window is not",
		"start 1ms\nend 5ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		"kernel s7 1000us-1500us corr 1" ADD
		"call t1 cudaLaunchKernel 1001us-1002us corr 2\n"
		"kernel s7 1500us-1999us corr 2" GEMM,
		"unused", "CAUSE HARDLY USED: the GPU waits 3.00 ms."},
	{"1.8 us of work in 13 s is no bound",
		"start 1ms\nend 13s\ncall t1 cudaLaunchKernel 6s+1us corr 1\n"
		"kernel s7 6000002us-6000003800ns corr 1" GEMM,
		"unused", "CAUSE HARDLY USED: the GPU waits 13.0 s."},
	{"two devices that work one after the other",
		"start 1ms\nend 3ms\ncall t1 cudaLaunchKernel 990us-991us corr 1\n"
		"kernel s7 1000us-1500us corr 1" GEMM
		"call t1 cudaLaunchKernel 991us-992us corr 2\n"
		"kernel s1.7 1500us-2000us corr 2" GEMM
		"call t1 cudaLaunchKernel 992us-993us corr 3\n"
		"kernel s7 2000us-2500us corr 3" GEMM
		"call t1 cudaLaunchKernel 993us-994us corr 4\n"
		"kernel s1.7 2500us-3000us corr 4" GEMM,
		"idle", "GPUS WORK IN TURNS"},
	{"two devices that wait at the same time",
		"start 1ms\nend 3ms\ncall t1 cudaLaunchKernel 990us-991us corr 1\n"
		"kernel s7 1000us-1500us corr 1" GEMM
		"call t1 cudaLaunchKernel 991us-992us corr 2\n"
		"kernel s1.7 1000us-1500us corr 2" GEMM
		"call t1 cudaLaunchKernel 1992us-1993us corr 3\n"
		"kernel s7 2500us-3000us corr 3" GEMM
		"call t1 cudaLaunchKernel 1993us-1994us corr 4\n"
		"kernel s1.7 2500us-3000us corr 4" GEMM,
		"idle", "HOST-BOUND"},
	{"copies with nothing beside them that take more than any family of kernels",
		"start 1ms\ncall t1 cudaMemcpyAsync 1000us-1001us corr 1\n"
		"copy s7 HtoD pinned->device 1000us-1410us corr 1 bytes 100000000\n"
		"call t1 cudaLaunchKernel 1001us-1002us corr 2\nkernel s7 1410us-1710us corr 2" GEMM
		"call t1 cudaLaunchKernel 1002us-1003us corr 3\nkernel s7 1710us-2000us corr 3" ADD,
		"copies", "COPY-BOUND"},
	{"copies behind kernels bound nothing",
		"start 1ms\ncall t1 cudaMemcpyAsync 1000us-1001us corr 1\n"
		"copy s8 HtoD pinned->device 1300us-1710us corr 1 bytes 100000000\n"
		"call t1 cudaLaunchKernel 1001us-1002us corr 2\nkernel s7 1000us-1710us corr 2" GEMM
		"call t1 cudaLaunchKernel 1002us-1003us corr 3\nkernel s7 1710us-2000us corr 3" ADD,
		"gpu", "GPU-BOUND"},
	{"communication of equal length that leads",
		"start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		"kernel s7 1001us-1300us corr 1" GEMM
		"call t1 cudaLaunchKernel 1001us-1002us corr 2\n"
		"kernel s7 1300us-1700us corr 2 grid 24" REDUCE "\n"
		"call t1 cudaLaunchKernel 1002us-1003us corr 3\n"
		"kernel s7 1700us-2100us corr 3 grid 24" REDUCE "\nend 3ms\n",
		"communication", "COMM-BOUND"},
	{"communication that mostly waits for its peers",
		"start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		"kernel s7 1001us-1200us corr 1" GEMM
		"call t1 cudaLaunchKernel 1001us-1002us corr 2\n"
		"kernel s7 1200us-1250us corr 2 grid 24" REDUCE "\n"
		"call t1 cudaLaunchKernel 1002us-1003us corr 3\n"
		"kernel s7 1250us-1999us corr 3 grid 24" REDUCE "\nend 2ms\n",
		"other ranks",
		"CAUSE WAITS FOR OTHER RANKS: the GPU waits 2.00 us. Most of the work: comm 799 "
		"us, gemm 199 us. "
		"799 us of communication, all of it exposed, up to 699 us of it waits for "
		"other ranks."},
	{"calls of another grid are not compared",
		"start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		"kernel s7 1001us-1200us corr 1" GEMM
		"call t1 cudaLaunchKernel 1001us-1002us corr 2\n"
		"kernel s7 1200us-1250us corr 2 grid 2" REDUCE "\n"
		"call t1 cudaLaunchKernel 1002us-1003us corr 3\n"
		"kernel s7 1250us-1999us corr 3 grid 24" REDUCE "\nend 2ms\n",
		"communication", "COMM-BOUND"},
	{"a call that the window cuts is no measure of the shortest",
		"start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 2\n"
		"kernel s7 1000us-1001us corr 2 grid 24" REDUCE "\n"
		"call t1 cudaLaunchKernel 1002us-1003us corr 3\n"
		"kernel s7 1001us-2000us corr 3 grid 24" REDUCE "\nend 2001us\n",
		"communication", "COMM-BOUND"},
	{"idle time is reported by its cause",
		"start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		"kernel s7 1000us-1100us corr 1" GEMM
		"call t1 cudaStreamSynchronize 1001us-1401us corr 2\n"
		"call t1 cudaLaunchKernel 1401us-1402us corr 3\n"
		"kernel s7 1405us-1500us corr 3" GEMM,
		"idle", "For 301 us the host waited for the GPU, cudaStreamSynchronize."},
};

static void a_device_is_limited_by_what_leads(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(limits); i++) {
		struct vpa_report *r = vpt_script_report(limits[i].script, NULL);
		struct vpa_load load = vpa_load_of_device(r, &r->devices[0]);
		const char *found = vpa_device_limit_text(vpa_device_limit_of(&load));

		if (strcmp(found, limits[i].limit))
			fail_msg("%s: found %s, expected %s", limits[i].rule, found,
				limits[i].limit);
		expect_page(limits[i].rule, r, limits[i].words, 1);
		vpa_report_free(r);
	}
}

/* 45 of 100 ms before the first op; 10 before it and after it; less. */
static void what_bounds_a_part_of_the_window_says_so(void **state)
{
	static const struct {
		const char *rule, *script, *words;
	} parts[] = {
		{"half of the window",
			"start 1ms\nend 101ms\ncall t1 cudaLaunchKernel 45ms+1us corr 1\n"
			"kernel s7 46ms-101ms corr 1" GEMM,
			"CAUSE GPU-BOUND WHILE IT WORKS: the GPU waits 45.0 ms."},
		{"a tenth of it is elsewhere, before and after",
			"start 1ms\nend 101ms\ncall t1 cudaLaunchKernel 5ms+1us corr 1\n"
			"kernel s7 6ms-96ms corr 1" GEMM,
			"CAUSE GPU-BOUND WHILE IT WORKS: the GPU waits 10.0 ms."},
		{"less than that",
			"start 1ms\nend 101ms\ncall t1 cudaLaunchKernel 5ms+1us corr 1\n"
			"kernel s7 6ms-97ms corr 1" GEMM,
			"CAUSE GPU-BOUND: the GPU waits 9.00 ms."},
		{"copies",
			"start 1ms\nend 101ms\ncall t1 cudaMemcpyAsync 45ms+1us corr 1\n"
			"copy s7 HtoD pinned->device 46ms-101ms corr 1 bytes 100000000\n",
			"CAUSE COPY-BOUND WHILE IT WORKS: the GPU waits 45.0 ms."},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(parts); i++) {
		struct vpa_report *r = vpt_script_report(parts[i].script, NULL);

		expect_page(parts[i].rule, r, parts[i].words, 1);
		vpa_report_free(r);
	}
}

/* Eight collectives of 9 ms and two of 1 ms, behind compute of the same length; then 2 ms of three of them alone. */
static void waiting_for_ranks_that_compute_hides_says_so(void **state)
{
	static char script[8192];
	size_t used, i;
	int alone;

	(void)state;
	for (alone = 0; alone < 2; alone++) {
		struct vpa_report *r;
		size_t t = 1100;

		used = (size_t)snprintf(script, sizeof(script), "start 1ms\n");
		for (i = 0; i < 10; i++) {
			size_t ms = i < 8 ? 9 : 1, gap = alone && i < 3 ? 2 : 0;

			used += (size_t)snprintf(script + used, sizeof(script) - used,
				"call t1 cudaLaunchKernel %zuus+1us corr %zu\n"
				"kernel s7 %zuus+%zums corr %zu" GEMM
				"call t1 cudaLaunchKernel %zuus+1us corr %zu\n"
				"kernel s8 %zuus+%zums corr %zu grid 24" REDUCE "\n",
				1000 + 2 * i, 2 * i + 1, t, ms - gap, 2 * i + 1, 1001 + 2 * i,
				2 * i + 2, t, ms, 2 * i + 2);
			t += ms * 1000;
		}
		r = vpt_script_report(script, NULL);
		expect_page("all hidden", r,
			"Communication 74.0 ms in total, up to 64.0 ms of it waiting for other "
			"ranks, if calls of one kernel and grid move equal amounts; all of it is "
			"hidden behind compute",
			!alone);
		expect_page("6 ms are not", r,
			"equal amounts; at least 58.0 ms of the waiting is hidden behind compute",
			alone);
		vpa_report_free(r);
	}
}

/* Three requests of two steps of 10 ms each: RUN counts all, RESULT has those of one. */
static void one_of_several_requests_is_named(void **state)
{
	static const struct vpa_options options = {.step_parts = 1};
	static char script[8192];
	struct vpa_report *r;
	size_t used = (size_t)snprintf(script, sizeof(script), "start 1ms\n"), i, k;

	(void)state;
	for (i = 0; i < 3; i++) {
		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"range t1 %zums-%zums \"pipeline_call\"\n", 1 + 30 * i, 25 + 30 * i);
		for (k = 0; k < 2; k++) {
			size_t t = 1 + 30 * i + 10 * k;

			used += (size_t)snprintf(script + used, sizeof(script) - used,
				"range t1 %zums-%zums \"step %zu\"\n"
				"call t1 cudaLaunchKernel %zums+1us corr %zu\n"
				"kernel s7 %zums+10ms corr %zu" GEMM,
				t, t + 5, k, t, 2 * i + k + 1, t + 1, 2 * i + k + 1);
		}
	}
	r = vpt_script_report(script, &options);
	expect_page("several", r,
		"3 requests, 6 steps RESULT 100 steps/s. A step takes 10.0 ms, the mean of 2. This "
		"is "
		"request 2 of 3, the median without the first. CAUSE",
		1);
	vpa_report_free(r);
}

/* A kernel of 1 ms on one stream; on another all-reduces of 100 us and of 700, so the second waits 600 us, from `start_us` on:
 * at 1,200 all of it beside the kernel, at 1,600 for 300 us after it. */
static struct vpa_report *reduces_beside_compute(unsigned start_us)
{
	char script[1024];

	snprintf(script, sizeof(script),
		"start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		"kernel s7 1001us-2001us corr 1" GEMM
		"call t1 cudaLaunchKernel 1001us-1002us corr 2\n"
		"kernel s8 1050us-1150us corr 2 grid 24" REDUCE "\n"
		"call t1 cudaLaunchKernel 1002us-1003us corr 3\n"
		"kernel s8 %uus+700us corr 3 grid 24" REDUCE
		"\ncall t1 cudaLaunchKernel 1003us-1004us corr 4\n"
		"kernel s7 %uus+100us corr 4" GEMM "end 2500us\n",
		start_us, start_us + 700);
	return vpt_script_report(script, NULL);
}

static void waiting_is_no_longer_than_the_communication_it_is_a_part_of(void **state)
{
	struct vpa_report *r = reduces_beside_compute(1200);

	(void)state;
	/* Half of 800 us are the all-reduces' own. */
	expect_page("hidden", r, " comm 0.400 ", 1);
	expect_page("hidden", r, "of which waiting for other ranks", 0);
	expect_page("hidden", r,
		"Communication 800 us in total, up to 600 us of it waiting for other ranks, if "
		"calls of one kernel and grid move equal amounts; all of it is hidden behind "
		"compute",
		1);
	vpa_report_free(r);

	/* 299 us of 800 are exposed, so 301 of the 600 are hidden, or more. */
	r = reduces_beside_compute(1600);
	expect_page("partly hidden", r, "of which exposed waiting for other ranks 0.299 ", 1);
	expect_page("partly hidden", r,
		"equal amounts; at least 301 us of the waiting is hidden behind compute", 1);
	vpa_report_free(r);
}

static void queued_work_that_starts_late_is_told_in_words(void **state)
{
	struct vpa_report *r =
		vpt_script_report("start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
				  "kernel s7 1000us-1010us corr 1" GEMM
				  "call t1 cudaLaunchKernel 1005us-1006us corr 2\n"
				  "kernel s7 1500us-1510us corr 2" GEMM,
			NULL);

	(void)state;
	expect_page("result", r,
		"CAUSE IDLE, AND THE TRACE DOES NOT SAY WHY: the GPU waits 490 us.", 1);
	expect_page("cause", r, "For 484 us queued work started late, cudaLaunchKernel.", 1);
	/* The usual profile records all that it could. */
	expect_page("no option", r, "waits of streams for each other", 0);
	vpa_report_free(r);
}

/* Of two requests the second has more steps: 3 of 10 ms, 5 in all. */
static void result_says_of_which_request_it_is(void **state)
{
	static char script[4096];
	struct vpa_report *r;
	size_t used, i;

	(void)state;
	used = (size_t)snprintf(script, sizeof(script),
		"start 1s\nrange t1 1000ms-1020ms \"request 0\"\n"
		"range t1 1020ms-1050ms \"request 1\"\n");
	for (i = 0; i < 5; i++)
		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"range t1 %zums+5ms \"step %zu\"\ncall t1 cudaLaunchKernel %zums+1us corr "
			"%zu\n"
			"kernel s7 %zums+10ms corr %zu" GEMM,
			1000 + i * 10, i, 1000 + i * 10, i + 1, 1000 + i * 10, i + 1);
	r = vpt_script_report(script, NULL);
	expect_page("RUN counts all", r, "2 requests, 5 steps", 1);
	expect_page("RESULT", r, "This is request 2 of 2.", 1);
	vpa_report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_bounds_a_part_of_the_window_says_so),
		cmocka_unit_test(waiting_for_ranks_that_compute_hides_says_so),
		cmocka_unit_test(one_of_several_requests_is_named),
		cmocka_unit_test(a_device_is_limited_by_what_leads),
		cmocka_unit_test(waiting_is_no_longer_than_the_communication_it_is_a_part_of),
		cmocka_unit_test(queued_work_that_starts_late_is_told_in_words),
		cmocka_unit_test(result_says_of_which_request_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
