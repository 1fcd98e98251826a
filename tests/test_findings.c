/* test_findings.c - what limits a run and what to do about it, on traces whose answer a person can compute. A case is a
 * rule, a script (tests/support/script.h), and what the findings, or the page, say. */
#include "analysis/analyze.h"
#include "analysis/host_code.h"
#include "analysis/limit.h"
#include "analysis/render/renderer.h"
#include "formats/count.h"
#include "formats/io.h"
#include "formats/memory.h"
#include "tests/support/script.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/page.h"

/* Of families GEMM, elementwise, eager-softmax, communication. */
#define GEMM    " \"ampere_sgemm_128x64_nn\"\n"
#define BF16    " \"ampere_bf16_s16816gemm_bf16_64x64_ldg8_f2f_stages_64x5_tn\"\n"
#define ADD     " \"vectorized_elementwise_kernel\"\n"
#define SOFTMAX " \"softmax_warp_forward\"\n"
#define REDUCE  " \"ncclDevKernel_AllReduce_Sum_f32_RING_LL\""

static struct vpa_report *analyze(const char *script, const struct vpa_options *options)
{
	struct vpt_trace *trace = NULL;
	struct vpa_report *report = NULL;
	struct vpt_err err = {0};

	if (vpt_script_trace(script, &trace, &err) ||
		vpa_analyze(trace, "case", options, &report, &err))
		fail_msg("%s\n%s", err.text, script);
	vpt_trace_close(trace);
	return report;
}

static const struct vpa_finding *finding(const struct vpa_report *r, const char *id)
{
	size_t i;

	for (i = 0; i < r->finding_count; i++)
		if (!strcmp(r->findings[i].id, id))
			return &r->findings[i];
	return NULL;
}

static void expect_page(const char *rule, const struct vpa_report *r, const char *words, int there)
{
	char *page = page_of(r);

	if ((strstr(page, words) != NULL) != there)
		fail_msg("%s: %s \"%s\" in\n%s", rule, there ? "no" : "there is", words, page);
	vpt_free(page);
}

/* ---- what limits a device ---- */

static const struct {
	const char *rule, *script, *limit, *words;
} limits[] = {
	{"nine tenths of active and a quarter of the window are bound",
		"start 1ms\nend 5ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		"kernel s7 1000us-1500us corr 1" ADD
		"call t1 cudaLaunchKernel 1001us-1002us corr 2\n"
		"kernel s7 1500us-2000us corr 2" GEMM,
		"gpu", "busy 100.0 % of active, 25.0 % of window: GPU-BOUND"},
	{"less of the window is not",
		"start 1ms\nend 5ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		"kernel s7 1000us-1500us corr 1" ADD
		"call t1 cudaLaunchKernel 1001us-1002us corr 2\n"
		"kernel s7 1500us-1999us corr 2" GEMM,
		"unused", "25.0 % of window: HARDLY USED in this window"},
	{"1.8 us of work in 13 s is no bound",
		"start 1ms\nend 13s\ncall t1 cudaLaunchKernel 6s+1us corr 1\n"
		"kernel s7 6000002us-6000003800ns corr 1" GEMM,
		"unused", "<0.1 % of window: HARDLY USED in this window"},
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
		"WAITS FOR OTHER RANKS busy 998 us: compute 199 us, exposed communication 799 us "
		"communication 799 us in total, up to 699 us of it waiting for other "
		"ranks"},
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
		"idle", "limited by sync: host waited for the GPU"},
};

static void a_device_is_limited_by_what_leads(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(limits); i++) {
		struct vpa_report *r = analyze(limits[i].script, NULL);
		struct vpa_load load = vpa_load_of_device(r, &r->devices[0]);
		const char *found = vpa_limit_text(vpa_limit_of(&load));

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
			"busy 100.0 % of active, 55.0 % of window: GPU-BOUND while it worked busy"},
		{"a tenth of it is elsewhere, before and after",
			"start 1ms\nend 101ms\ncall t1 cudaLaunchKernel 5ms+1us corr 1\n"
			"kernel s7 6ms-96ms corr 1" GEMM,
			"90.0 % of window: GPU-BOUND while it worked busy"},
		{"less than that",
			"start 1ms\nend 101ms\ncall t1 cudaLaunchKernel 5ms+1us corr 1\n"
			"kernel s7 6ms-97ms corr 1" GEMM,
			"91.0 % of window: GPU-BOUND busy"},
		{"copies",
			"start 1ms\nend 101ms\ncall t1 cudaMemcpyAsync 45ms+1us corr 1\n"
			"copy s7 HtoD pinned->device 46ms-101ms corr 1 bytes 100000000\n",
			"55.0 % of window: COPY-BOUND while it worked busy"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(parts); i++) {
		struct vpa_report *r = analyze(parts[i].script, NULL);

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
		r = analyze(script, NULL);
		expect_page("all hidden", r,
			"communication 74.0 ms in total, up to 64.0 ms of it waiting for other "
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
	r = analyze(script, &options);
	expect_page("several", r,
		"3 requests, 6 steps RESULT 2 steps, 10.0 ms from one to the next. This is "
		"request 1 of 3. GPU 0 busy",
		1);
	vpa_report_free(r);
}

/* ---- findings in few words ---- */

/* An eager sequence of GEMMs of 30 and 20 us and a softmax of 50 us, from `at` on. */
#define EAGER                                                                                      \
	"call t1 cudaLaunchKernel 1000us-1001us corr 1\nkernel s7 1001us-1031us corr 1" GEMM       \
	"call t1 cudaLaunchKernel 1001us-1002us corr 2\nkernel s7 1031us-1081us corr 2" SOFTMAX    \
	"call t1 cudaLaunchKernel 1002us-1003us corr 3\nkernel s7 1081us-1101us corr 3" GEMM

/* "id 12.3-45.6 (1.0 shared) of 100.0 base" for each with a gain, "id" for each without; no information. */
static const struct {
	const char *rule, *script, *findings;
} cases[] = {
	{"a toy raises none", "start 1ms\nend 13s\n" EAGER, "after-last-work"},
	{"unfused attention is bound by a range, of the active time",
		"start 1ms\nend 1201us\n" EAGER
		"call t1 cudaLaunchKernel 1003us-1004us corr 4\nkernel s7 1101us-1201us corr 4" ADD,
		"eager-attention 0.050-0.100 of 0.200 active"},
	{"matrix products of unfused attention are not sold as those in FP32 again",
		"start 1ms\nend 1401us\n" EAGER
		"call t1 cudaLaunchKernel 1003us-1004us corr 4\nkernel s7 1101us-1201us corr 4" GEMM
		"call t1 cudaLaunchKernel 1004us-1005us corr 5\n"
		"kernel s7 1201us-1401us corr 5" BF16,
		"eager-attention 0.050-0.100 of 0.400 active, fp32-gemm 0.100 of 0.400 active"},
	{"waiting and transfer share the communication that nothing hides",
		"start 1ms\nend 2ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		"kernel s7 1001us-1401us corr 1" GEMM
		"call t1 cudaLaunchKernel 1001us-1002us corr 2\n"
		"kernel s7 1401us-1501us corr 2 grid 24" REDUCE "\n"
		"call t1 cudaLaunchKernel 1002us-1003us corr 3\n"
		"kernel s7 1501us-1801us corr 3 grid 24" REDUCE "\n"
		"call t1 cudaLaunchKernel 1003us-1004us corr 4\nkernel s7 1801us-2000us corr 4" ADD,
		"exposed-comm 0.200 of 0.999 active, peer-wait 0.200 of 0.999 active"},
	{"a cause is bound by what would be saved without it, launch latency too",
		"start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		"kernel s7 1000us-1100us corr 1" GEMM
		"call t1 cudaStreamSynchronize 1001us-1401us corr 2\n"
		"call t1 cudaLaunchKernel 1401us-1402us corr 3\n"
		"kernel s7 1405us-1500us corr 3" GEMM
		"call t1 cudaStreamSynchronize 1402us-1700us corr 4\n"
		"call t1 cudaLaunchKernel 1700us-1701us corr 5\n"
		"kernel s7 1702us-1800us corr 5" GEMM,
		"sync-drain 0.507 (0.006 shared) of 0.800 active"},
	{"what either of two repairs saves is shared",
		"start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		"kernel s7 1000us-1100us corr 1" GEMM
		"call t1 cudaStreamSynchronize 1001us-1105us corr 2\n"
		"call t1 cudaLaunchKernel 1405us-1406us corr 3\n"
		"kernel s7 1408us-1508us corr 3" GEMM,
		"host-stall 0.300 (0.099 shared) of 0.508 active, sync-drain 0.104 of 0.508 "
		"active"},
	{"an allocation whose time a later wait would take over saves nothing",
		"start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		"kernel s7 1000us-1400us corr 1" GEMM "call t1 cudaMalloc 1001us-1301us corr 2\n"
		"call t1 cudaStreamSynchronize 1301us-1401us corr 3\n"
		"call t1 cudaLaunchKernel 1601us-1602us corr 4\n"
		"kernel s7 1602us-1700us corr 4" GEMM,
		"host-stall 0.200 (0.099 shared) of 0.700 active, sync-drain 0.100 of 0.700 "
		"active"},
	{"launch latency is a matter of course where it is small",
		"start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		"kernel s7 1000us-1100us corr 1" GEMM
		"call t1 cudaLaunchKernel 1095us-1096us corr 2\n"
		"kernel s7 1104us-1200us corr 2" GEMM,
		""},
	{"where most is idle something is said, whatever it is",
		"start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		"kernel s7 1000us-1010us corr 1" GEMM
		"call t1 cudaLaunchKernel 1005us-1006us corr 2\n"
		"kernel s7 1500us-1510us corr 2" GEMM,
		"queued 0.484 of 0.510 active"},
	{"also where nothing had been launched yet",
		"start 1ms\nend 9800us\ncall t1 cudaLaunchKernel 9100us-9101us corr 1\n"
		"kernel s7 9101us-9800us corr 1" GEMM,
		"before-first-work"},
	{"also where launches are not recorded",
		"start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		"kernel s7 1000us-1010us corr 1" GEMM "kernel s7 1500us-1510us corr 2" GEMM,
		"no-launch"},
};

static void say_findings(const struct vpa_report *r, char *text, size_t size)
{
	size_t i, used = 0;
	char shared[32];

	text[0] = '\0';
	for (i = 0; i < r->finding_count; i++) {
		const struct vpa_finding *f = &r->findings[i];

		if (!strcmp(f->status, "info"))
			continue;
		shared[0] = '\0';
		if (f->gain_shared_ms > 0)
			snprintf(shared, sizeof(shared), " (%.3f shared)", f->gain_shared_ms);
		used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", f->id);
		if (f->gain_from_ms > 0)
			used += (size_t)snprintf(text + used, size - used, " %.3f-%.3f of %.3f %s",
				f->gain_from_ms, f->gain_at_most_ms, f->base_ms, f->base);
		else if (f->gain_at_most_ms > 0)
			used += (size_t)snprintf(text + used, size - used, " %.3f%s of %.3f %s",
				f->gain_at_most_ms, shared, f->base_ms, f->base);
	}
}

static void findings_say_what_is_worth_it(void **state)
{
	char text[1024];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpa_report *r = analyze(cases[i].script, NULL);

		say_findings(r, text, sizeof(text));
		if (strcmp(text, cases[i].findings))
			fail_msg("%s:\n  found    %s\n  expected %s", cases[i].rule, text,
				cases[i].findings);
		expect_page(cases[i].rule, r, "FIX FIRST", text[0] != '\0');
		vpa_report_free(r);
	}
}

/* Ten launches 90 us apart, of kernels of 8 us: 9 us of 100 are busy. */
static void a_gpu_that_mostly_waits_is_said_to(void **state)
{
	static char script[4096];
	const struct vpa_finding *f;
	struct vpa_report *r;
	size_t used, i;

	(void)state;
	used = (size_t)snprintf(script, sizeof(script), "start 1ms\n");
	for (i = 0; i < 10; i++) {
		size_t t = 1000 + i * 100;

		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"call t1 cudaMemcpyAsync %zuus+1us corr %zu\n"
			"copy s7 HtoD pinned->device %zuus+8us corr %zu bytes 4096\n",
			t, i + 1, t + 1, i + 1);
	}
	r = analyze(script, NULL);
	f = finding(r, "exposed-copy");
	assert_non_null(f);
	assert_non_null(strstr(f->note, "the GPU is busy only 8.8 % of its active time"));
	assert_int_equal(finding(r, "launch-rate") != NULL, 1);
	assert_string_equal(r->findings[0].id, "launch-rate");
	vpa_report_free(r);
}

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
	struct vpa_report *r = analyze(script, NULL);
	const struct vpa_finding *f = finding(r, "exposed-copy");

	(void)state;
	assert_non_null(f);
	assert_true(f->gain_from_ms == 0.05 && f->gain_at_most_ms == 0.95);
	assert_true(f->base_ms == 1 && f->base_gain_from_ms == 0.05 && f->base_gain_ms == 0.95);
	assert_string_equal(f->title,
		"copy less: keep reused data on the GPU; there is too little compute to hide these "
		"copies");
	assert_non_null(strstr(f->note, "the lower bound if they overlap all compute without"));
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
	struct vpa_report *r = analyze(script, NULL);
	const struct vpa_finding *f = finding(r, "exposed-copy");

	(void)state;
	assert_non_null(f);
	assert_true(f->gain_from_ms == 0.01 && f->gain_at_most_ms == 0.4);
	assert_int_equal(strncmp(f->title, "pin the memory that is copied", 29), 0);
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
	return analyze(script, NULL);
}

static void waiting_is_no_longer_than_the_communication_it_is_a_part_of(void **state)
{
	struct vpa_report *r = reduces_beside_compute(1200);

	(void)state;
	/* Half of 800 us are the all-reduces' own. */
	expect_page("hidden", r, " comm 0.400 ", 1);
	expect_page("hidden", r, "of which waiting for other ranks", 0);
	expect_page("hidden", r,
		"communication 800 us in total, up to 600 us of it waiting for other ranks, if "
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

/* A kernel of 400 us and a memset of 600: no copy, so nothing to pin and nothing to offload. */
static void memsets_have_an_advice_of_their_own(void **state)
{
	static const char script[] = "start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
				     "kernel s7 1001us-1401us corr 1" GEMM
				     "call t1 cudaMemsetAsync 1001us-1002us corr 2\n"
				     "memset s7 1401us-2001us corr 2 bytes 300000000\n";
	struct vpa_report *r = analyze(script, NULL);
	const struct vpa_finding *f = finding(r, "exposed-copy"), *bound = finding(r, "copy-bound");

	(void)state;
	assert_non_null(f);
	assert_string_equal(f->title, "clear less memory: do not clear large buffers in the loop, "
				      "and none that a kernel writes as a whole (torch.empty)");
	assert_string_equal(f->note, "the lower bound if they overlap all compute without copies "
				     "beside it, the upper one if nothing is cleared; mostly "
				     "memsets, 0.3 GB at 500.0 GB/s");
	assert_string_equal(f->evidence[0], "C1");
	assert_non_null(bound);
	assert_string_equal(bound->title,
		"memsets are the limit: the GPU clears memory, and does not wait for the host");
	expect_page("memsets", r, "pinned memory", 0);
	expect_page("memsets", r,
		"CAUSE exposed copies and memsets, 60.0 % of busy time (mostly memsets, 500.0 "
		"GB/s)",
		1);
	vpa_report_free(r);
}

/* Of two launches, for which the host then waits, the second has no kernel; of three the same. */
static void time_of_missing_kernels_is_no_waste(void **state)
{
	struct vpa_report *r = analyze("start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
				       "kernel s7 1001us-2000us corr 1" GEMM
				       "call t1 cudaLaunchKernel 1001us-1002us corr 2\n"
				       "call t1 cudaDeviceSynchronize 1002us-4000us corr 3\n",
		NULL);

	(void)state;
	assert_int_equal(r->verdict.launches_lost, 1);
	assert_null(finding(r, "after-last-work"));
	vpa_report_free(r);
	r = analyze("start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		    "kernel s7 1001us-2000us corr 1" GEMM
		    "call t1 cudaLaunchKernel 1001us-1002us corr 2\n"
		    "call t1 cudaLaunchKernel 1002us-1003us corr 3\n"
		    "kernel s7 3ms-4ms corr 3" GEMM
		    "call t1 cudaDeviceSynchronize 1003us-4000us corr 4\n",
		NULL);
	assert_int_equal(r->verdict.launches_lost, 1);
	assert_non_null(strstr(finding(r, "queued")->note,
		"kernels are missing from the recording: the GPU may have worked"));
	vpa_report_free(r);
}

/* ---- inside of CUDA graphs ---- */

/* The advice on time between nodes of a graph: 100 launches of two nodes, `gap_us` apart. */
static void expect_graph_advice(size_t gap_us, const char *title)
{
	static char script[65536];
	const struct vpa_finding *f;
	struct vpa_report *r;
	size_t used, i;

	used = (size_t)snprintf(script, sizeof(script), "start 1ms\n");
	for (i = 0; i < 100; i++) {
		size_t t = 1000 + i * (gap_us + 30);

		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"call t1 cudaGraphLaunch %zuus+1us corr %zu\n"
			"kernel s7 %zuus+10us corr %zu \"first\" node 1\n"
			"kernel s7 %zuus+10us corr %zu \"second\" node 2\n",
			t, i + 1, t + 2, i + 1, t + 12 + gap_us, i + 1);
	}
	r = analyze(script, NULL);
	f = finding(r, "inside-graph");
	assert_non_null(f);
	assert_string_equal(f->title, title);
	vpa_report_free(r);
}

static void long_gaps_inside_graphs_are_not_for_fusing(void **state)
{
	(void)state;
	expect_graph_advice(50, "fuse small kernels inside the CUDA graph");
	expect_graph_advice(51, "find out what nodes of the CUDA graph wait for: other streams, "
				"host functions, or work that was not recorded");
}

/* ---- queued work ---- */

static void queued_work_that_starts_late_is_told_in_words(void **state)
{
	struct vpa_report *r = analyze("start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
				       "kernel s7 1000us-1010us corr 1" GEMM
				       "call t1 cudaLaunchKernel 1005us-1006us corr 2\n"
				       "kernel s7 1500us-1510us corr 2" GEMM,
		NULL);

	(void)state;
	expect_page("result", r,
		"limited by queued work that started late; the trace does not say why", 1);
	expect_page(
		"cause", r, "queued work started late (queued, reason not recorded): 484 us", 1);
	/* The usual profile records all that it could. */
	expect_page("no option", r, "waits of streams for each other", 0);
	vpa_report_free(r);
}

/* ---- the order ---- */

/* Attention that grows from 10 to 40 ms a block, and 5 ms in which the host waits. */
static void the_order_is_by_what_each_would_gain(void **state)
{
	static const struct vpa_options options = {.frames_per_block = 12, .has_warmup = 1};
	static char script[16384];
	struct vpa_report *r;
	size_t used, i, t = 1000;

	(void)state;
	used = (size_t)snprintf(script, sizeof(script), "start 1s\n");
	for (i = 0; i < 7; i++) {
		size_t work = 10 + 5 * i;

		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"range t1 %zums+1ms \"block %zu\"\n"
			"call t1 cudaLaunchKernel %zums+0us corr %zu\n"
			"kernel s7 %zums+%zums corr %zu \"flash_fwd_kernel\"\n"
			"call t1 cudaStreamSynchronize %zums-%zums corr %zu\n",
			t, i, t, 2 * i + 1, t, work, 2 * i + 1, t, t + work + 5, 2 * i + 2);
		t += work + 5;
	}
	r = analyze(script, &options);
	assert_string_equal(r->findings[0].id, "attention-growth");
	assert_string_equal(r->findings[1].id, "sync-drain");
	expect_page(
		"what it costs", r, "with a shorter window the model forgets earlier frames", 1);
	vpa_report_free(r);
}

/* ---- first use ---- */

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
	r = analyze(script, NULL);
	f = &r->findings[0];
	assert_string_equal(f->id, "first-use");
	assert_string_equal(f->title,
		"this trace includes first use (111 of 142 ms idle): warm up before tracing");
	assert_null(finding(r, "module-load"));
	assert_non_null(finding(r, "launch-rate"));
	assert_int_equal(r->devices[0].first_use_ns, 111000000);
	assert_int_equal(r->devices[0].first_use_head_ns, 71000000);
	expect_page("first use", r, "1 this trace includes first use", 1);
	vpa_report_free(r);
}

/* Of 151 ms, all but the kernels' 3 idle: 40 ms in loading a kernel's code, 108 because of host code. */
static void first_use_is_said_after_what_takes_longer(void **state)
{
	struct vpa_report *r = analyze(
		"start 1ms\ncall t1 cudaLaunchKernel 1000us-1000us corr 1\n"
		"kernel s7 1ms-2ms corr 1" GEMM "call t1 cudaLaunchKernel 2ms-42ms corr 2\n"
		"kernel s7 42ms-43ms corr 2" ADD "call t1 cudaLaunchKernel 151ms-151ms corr 3\n"
		"kernel s7 151ms-152ms corr 3" GEMM,
		NULL);

	(void)state;
	assert_int_equal(r->devices[0].first_use_ns, 40000000);
	assert_string_equal(r->findings[0].id, "host-stall");
	assert_string_equal(r->findings[1].id, "first-use");
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
	r = analyze(script, NULL);
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
	r = analyze(script, NULL);
	assert_true(finding(r, "first-use")->gain_at_most_ms == 40);
	assert_true(finding(r, "module-load")->gain_at_most_ms == 90);
	assert_string_equal(finding(r, "module-load")->title,
		"load code once and keep the module: 10 calls of cuModuleLoadData");
	vpa_report_free(r);
}

/* A library sets itself up before each of three kernels: 3 ms of host code, in which the driver loads the kernel in 1 ms. Then the
 * host takes 2 ms before a kernel that has run before. Of 11 ms of idle time 9 are first use, 6 of them host code. */
static void host_code_around_a_first_load_is_first_use(void **state)
{
	struct vpa_report *r = analyze(
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
	assert_string_equal(f->id, "first-use");
	assert_string_equal(f->title,
		"this trace includes first use (9 of 11 ms idle): warm up before tracing");
	assert_string_equal(f->note,
		"6.00 ms of it is host code around code that was loaded for the first time");
	f = finding(r, "host-stall");
	/* While a kernel runs, the host has 1 ms of code each time: without it the loads would begin earlier. */
	assert_true(f->gain_at_most_ms == 5 && f->gain_shared_ms == 3);
	assert_string_equal(f->note,
		"6.00 ms more is first use; fixing another cause would save 60 % of it too");
	vpa_report_free(r);
}

/* Without a load in the gap, before a kernel that has run, or in shorter pieces, host code is what it is called. */
static void other_host_code_is_no_first_use(void **state)
{
	struct vpa_report *r = analyze(
		"start 1ms\n"
		"call t1 cudaLaunchKernel 1ms+0us corr 1\n"
		"kernel s7 1ms-2ms corr 1" GEMM "call t1 cudaLaunchKernel 5ms+0us corr 2\n"
		"kernel s7 5ms-6ms corr 2" ADD "overhead - \"Lazy Function Loading\" 8ms-9ms\n"
		"call t1 cudaLaunchKernel 9ms+0us corr 3\n"
		"kernel s7 9ms-10ms corr 3" ADD
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

/* ---- dependencies ---- */

/* The stream waits for an event behind the other stream's kernel, which ends as the gap begins: its own kernel starts 200 us later all
 * the same. With a second device in the trace, that may be what it waited for. */
static void a_dependency_in_a_gap_is_on_no_stream_of_its_device(void **state)
{
	static const char *const titles[] = {
		"find out what the stream waited for: nothing recorded ran meanwhile "
		"(host functions, other processes, work that was not recorded)",
		"make the GPU that others wait for finish earlier; "
		"if none ran meanwhile, find out what the stream waited for",
	};
	static char script[16384];
	size_t used, i, others;

	(void)state;
	for (others = 0; others < 2; others++) {
		struct vpa_report *r;

		used = (size_t)snprintf(script, sizeof(script), "start 1ms\n%s",
			others ? "call t2 cudaLaunchKernel 1ms+1us corr 99\n"
				 "kernel s1.7 1010us-3ms corr 99" GEMM
			       : "");
		for (i = 0; i < 5; i++) {
			size_t t = 1000 + i * 1000, id = 4 * i;

			used += (size_t)snprintf(script + used, sizeof(script) - used,
				"call t1 cudaLaunchKernel %zuus+1us corr %zu\n"
				"kernel s7 %zuus+700us corr %zu" GEMM
				"call t1 cudaStreamWaitEvent %zuus+1us corr %zu\n"
				"call t1 cudaLaunchKernel %zuus+1us corr %zu\n"
				"kernel s8 %zuus+100us corr %zu" ADD,
				t, id + 1, t + 1, id + 1, t + 4, id + 2, t + 6, id + 3, t + 901,
				id + 3);
		}
		r = analyze(script, NULL);
		assert_non_null(finding(r, "dependency"));
		assert_string_equal(finding(r, "dependency")->title, titles[others]);
		vpa_report_free(r);
	}
}

/* ---- overhead ---- */

/* 21 kernels of 100 us, 400 us from one to the next: of these the profiling library takes 180 us, the driver's loader 30, and the
 * host's code the other 190. Without that code each would begin 190 us earlier, without the loader 30. */
static void overhead_is_no_host_code(void **state)
{
	static char script[16384];
	struct vpa_report *r;
	size_t used, i;

	(void)state;
	used = (size_t)snprintf(script, sizeof(script), "start 1ms\n");
	for (i = 0; i < 21; i++) {
		size_t t = 1000 + i * 400;

		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"call t1 cudaLaunchKernel %zuus+0us corr %zu\n"
			"kernel s7 %zuus+100us corr %zu" GEMM
			"overhead - \"Buffer Flush\" %zuus+180us\n"
			"overhead - \"Lazy Function Loading\" %zuus+30us\n",
			t, i + 1, t, i + 1, t + 110, t + 300);
	}
	r = analyze(script, NULL);
	assert_true(finding(r, "host-stall")->gain_at_most_ms == 20 * 0.19);
	assert_true(finding(r, "module-load")->gain_at_most_ms == 20 * 0.03);
	vpa_report_free(r);
}

/* ---- blocks ---- */

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
	r = analyze(script, &options);
	f = finding(r, "sync-drain");
	assert_non_null(f);
	assert_string_equal(f->base, "block");
	assert_true(f->base_ms == 764 && f->base_gain_ms == 110);
	assert_true(f->fps_from > 15.706 && f->fps_from < 15.708);
	assert_true(f->fps_to > 18.348 && f->fps_to < 18.350);
	expect_page("a block", r, "110 ms of the mean block's 764 ms: 15.7 -> at most 18.3 FPS", 1);
	/* A slow FPS is the result, no finding. */
	assert_null(finding(r, "fps"));
	expect_page("target", r, "15.7 FPS steady, target 20.0: TOO SLOW", 1);
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
	return analyze(script, &options);
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
		assert_string_equal(f->base, units[i].base);
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
	r = analyze(script, &options);
	expect_page("after the blocks", r,
		"100 ms of the request's 200 ms: 240 -> at most 480 FPS end to end", 1);
	/* The rate of RESULT is the steady one. */
	expect_page("the column", r, "480 FPS end to end G1", 1);
	vpa_report_free(r);
}

/* An iteration of 383 ms, in 218 of which the host prepares its input; a softmax of 69 of 160 ms. */
static void the_only_iteration_is_whole_with_what_the_host_does_first(void **state)
{
	static const struct vpa_options options = {.step_parts = 1};
	struct vpa_report *r = analyze(
		"start 1s\nrange t1 1000ms-1383ms \"ProfilerStep#6\"\n"
		"call t1 cudaLaunchKernel 1218ms+0us corr 1\nkernel s7 1218ms-1249ms corr 1" GEMM
		"call t1 cudaLaunchKernel 1218ms+1us corr 2\nkernel s7 1249ms-1318ms corr 2" SOFTMAX
		"call t1 cudaLaunchKernel 1218ms+2us corr 3\nkernel s7 1318ms-1348ms corr 3" GEMM
		"call t1 cudaLaunchKernel 1218ms+3us corr 4\nkernel s7 1348ms-1378ms corr 4" ADD,
		&options);

	(void)state;
	assert_string_equal(r->findings[0].id, "before-first-work");
	assert_string_equal(r->findings[1].id, "eager-attention");
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
	return analyze(script, NULL);
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

		expect_page(names[i].rule, r, " denoising step", names[i].is_denoising);
		expect_page(names[i].rule, r, " denoise step", names[i].is_denoising);
		vpa_report_free(r);
	}
}

/* The host waits 5 ms for a kernel and then works for 4 ms, or allocates: the gap of 4 ms counts to the wait. */
static void a_gap_after_a_wait_says_what_the_host_ran(void **state)
{
	static const char wait[] = "start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
				   "kernel s7 1001us-6000us corr 1" GEMM
				   "call t1 cudaStreamSynchronize 1002us-6001us corr 2\n"
				   "range t1 6001us-10002us \"collate\"\n"
				   "call t1 cudaLaunchKernel 10000us-10001us corr 3\n"
				   "kernel s7 10001us-11001us corr 3" GEMM;
	char script[1024];
	struct vpa_report *r = analyze(wait, NULL);

	(void)state;
	expect_page("code", r,
		"G1 sync 4.00 ms, cudaStreamSynchronize 0.005000 4.00 ms of which host code 4.00 "
		"ms in "
		"collate",
		1);
	vpa_report_free(r);
	snprintf(script, sizeof(script), "%scall t1 cudaMalloc 6001us-9000us corr 4\n", wait);
	r = analyze(script, NULL);
	expect_page("a call", r, "G1 sync 4.00 ms, cudaStreamSynchronize", 1);
	expect_page("a call", r, "of which host code 1.00 ms", 0);
	vpa_report_free(r);
}

static void a_name_that_does_not_fit_a_title_is_seen_to_be_cut(void **state)
{
	const struct vpa_host_code code = {.ns = 1,
		.range = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__ of rank 3",
		.range_ns = 1,
		.call = "cudaStreamSynchronize"};
	struct vpa_report r = {.device_count = 0};

	(void)state;
	assert_string_equal(vpa_host_code_title(&r, &code, 0),
		"let the GPU work during the host code in "
		"enumerate(DataLoader)#_MultiProcessingDa...er.__next__ of rank 3 after "
		"cudaStreamSynchronize: launch the next work first, shorten that code, or do not "
		"wait");
	vpa_arena_free(&r.arena);
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
	r = analyze(script, NULL);
	expect_page("RUN counts all", r, "2 requests, 5 steps", 1);
	expect_page(
		"RESULT", r, "3 steps, 10.0 ms from one to the next. This is request 2 of 2.", 1);
	vpa_report_free(r);
}

/* RATES has the rate of a step of 20 ms on the device, the host's 30 ms before it are not in that. */
static void the_only_step_has_no_rate(void **state)
{
	static const struct vpa_options options = {.step_parts = 1};
	struct vpa_report *r = analyze("start 1s\nrange t1 1000ms-1050ms \"step 3\"\n"
				       "call t1 cudaLaunchKernel 1030ms+0us corr 1\n"
				       "kernel s7 1030ms-1050ms corr 1" GEMM,
		&options);

	(void)state;
	assert_string_equal(r->findings[0].base, "step");
	assert_true(r->findings[0].steps_per_s_to <= 0);
	expect_page("FIX FIRST", r,
		"30.0 ms of the only step's 50.0 ms from its start on the host: at most 2.50x as "
		"fast",
		1);
	expect_page("RESULT", r,
		"1 step of 20.0 ms. From its start on the host it takes 50.0 ms, 30.0 ms "
		"of that before its first op.",
		1);
	expect_page(
		"RATES", r, "steps/s 50.0, s/it 0.020 (a step's length: none follows another)", 1);
	vpa_report_free(r);
}

/* 8 ms of other work; a step of 3 ms, launched behind it, an elementwise kernel in it; convolutions of 80 ms; a copy of 7.2 ms. The
 * copy is no part of the step, nor is the time in which the step waited behind the work before it. */
static void the_only_step_gains_what_lies_inside_it(void **state)
{
	static const struct vpa_options options = {.step_parts = 1};
	struct vpa_report *r = analyze(
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
	expect_page("the step", r, "RESULT 1 step of 3.00 ms.", 1);
	expect_page("its length", r, "6.31 ms", 0);
	expect_page("its length", r, "From its start on the host", 0);
	vpa_report_free(r);
	/* Half of the copies, 4 ms, in a step of 10. */
	r = analyze(
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
	struct vpa_report *r = analyze(
		"start 990ms\nrange t1 1000ms-1191ms \"pipeline_call\"\n"
		"range t1 1000ms-1150ms \"text_encode\"\n"
		"call t1 cudaLaunchKernel 1149ms+1us corr 1\nkernel s7 1150ms-1190ms corr 1" GEMM
		"call t1 cudaMemcpyAsync 1150ms+1us corr 2\n"
		"copy s7 HtoD pinned->device 1190ms-1200ms corr 2 bytes 100000000\n",
		&options);

	(void)state;
	assert_string_equal(r->findings[0].id, "before-first-work");
	expect_page("the head", r, "150 ms of the request's 200 ms: at most 4.00x as fast", 1);
	expect_page("work", r, "10.0 ms of the request's 200 ms: at most 1.05x as fast", 1);
	vpa_report_free(r);
	/* Even a seventh of it, which is less than a quarter of the window. */
	r = analyze("start 1ms\nrange t1 1ms-71ms \"pipeline_call\"\n"
		    "call t1 cudaLaunchKernel 11ms+0us corr 1\nkernel s7 11ms-71ms corr 1" GEMM,
		&options);
	expect_page("the head", r, "10.0 ms of the request's 70.0 ms: at most 1.17x as fast", 1);
	vpa_report_free(r);
	/* Of 80 ms, the first cudaMalloc takes 71: first use. */
	r = analyze("start 1ms\nrange t1 1ms-101ms \"pipeline_call\"\n"
		    "call t1 cudaMalloc 10ms-81ms corr 1\n"
		    "call t1 cudaLaunchKernel 81ms+0us corr 2\nkernel s7 81ms-101ms corr 2" GEMM,
		&options);
	assert_true(finding(r, "before-first-work")->gain_at_most_ms == 80);
	assert_true(finding(r, "before-first-work")->gain_shared_ms == 71);
	assert_true(finding(r, "first-use")->gain_at_most_ms == 71);
	vpa_report_free(r);
	/* Work before the request: the request has no head, and is not all that ran. */
	r = analyze("start 500ms\n"
		    "call t1 cudaLaunchKernel 989ms+1us corr 9\nkernel s7 990ms-995ms corr 9" GEMM
		    "range t1 1000ms-1191ms \"pipeline_call\"\n"
		    "call t1 cudaLaunchKernel 1000ms+1us corr 1\n"
		    "kernel s7 1001ms-1190ms corr 1" GEMM
		    "call t1 cudaMemcpyAsync 1150ms+1us corr 2\n"
		    "copy s7 HtoD pinned->device 1190ms-1210ms corr 2 bytes 100000000\n",
		&options);
	assert_true(finding(r, "before-first-work")->gain_at_most_ms == 0);
	expect_page("work", r, "20.0 ms of 220 ms active: at most 1.10x as fast", 1);
	vpa_report_free(r);
}

/* ---- the host's own code after a wait ---- */

/* Five blocks: a kernel of 20 ms; with `copies` a copy of 1 ms to pageable memory that the host waits for; then work of 8 ms on
 * what came of it. */
static struct vpa_report *blocks_with_work_after(int copies)
{
	static char script[16384];
	size_t used, i;

	used = (size_t)snprintf(script, sizeof(script), "start 1ms\n");
	for (i = 0; i < 5; i++) {
		size_t t = 1000 + i * 29020, done = copies ? t + 21005 : t + 20005;

		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"call t1 cudaLaunchKernel %zuus+5us corr %zu\n"
			"kernel s7 %zuus+20000us corr %zu" GEMM,
			t, 2 * i + 1, t + 5, 2 * i + 1);
		if (copies)
			used += (size_t)snprintf(script + used, sizeof(script) - used,
				"call t1 cudaMemcpyAsync %zuus+20995us corr %zu\n"
				"copy s7 DtoH device->pageable %zuus+1000us corr %zu bytes "
				"8294400\n",
				t + 10, 2 * i + 2, t + 20005, 2 * i + 2);
		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"range t1 %zuus-%zuus \"post_process\"\n", copies ? done : t + 5,
			t + 29010);
	}
	return analyze(script, NULL);
}

/* The host waits for a copy, then works for 8 ms on what it got: a copy that does not wait would not help, since the work needs
 * it. */
static void code_after_a_wait_has_two_remedies(void **state)
{
	struct vpa_report *r = blocks_with_work_after(1);
	const struct vpa_finding *f = finding(r, "blocking-copy");

	(void)state;
	assert_non_null(f);
	assert_string_equal(f->title, "let the GPU work during the host code in post_process after "
				      "cudaMemcpyAsync: launch "
				      "the next work first, shorten that code, or do not wait");
	/* Four gaps of 8.02 ms, of which 5 us are the next launch. */
	assert_string_equal(f->note,
		"all of it: cudaMemcpyAsync; 5 copies through pageable memory, 41.5 MB in all; the "
		"host ran code in post_process for 100 % of it; less of that code would save up to "
		"100 % of the gain too");
	assert_true(f->host_code_ms == 4 * 8.015);
	assert_true(f->gain_at_most_ms == 4 * 8.02);
	assert_null(finding(r, "host-stall"));
	expect_page("findings", r, "of which host code in post_process", 1);
	vpa_report_free(r);
}

/* The same work where the host waits for nothing is all there is to name. */
static void code_without_a_wait_has_its_own_finding(void **state)
{
	struct vpa_report *r = blocks_with_work_after(0);
	const struct vpa_finding *f = finding(r, "host-stall");

	(void)state;
	assert_non_null(f);
	assert_string_equal(f->title, "shorten or overlap the host code between launches");
	assert_true(f->host_code_ms == 0);
	assert_null(finding(r, "blocking-copy"));
	vpa_report_free(r);
}

/* A value read back in each step, after which the host only launches: the read is what to remove. */
static void launches_after_a_wait_keep_its_remedy(void **state)
{
	static char script[16384];
	const struct vpa_finding *f;
	struct vpa_report *r;
	size_t used, i;

	(void)state;
	used = (size_t)snprintf(script, sizeof(script), "start 1ms\n");
	for (i = 0; i < 5; i++) {
		size_t t = 1000 + i * 260;

		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"call t1 cudaLaunchKernel %zuus+5us corr %zu\n"
			"kernel s7 %zuus+150us corr %zu" GEMM
			"call t1 cudaMemcpyAsync %zuus+160us corr %zu\n"
			"copy s7 DtoH device->pageable %zuus+1us corr %zu bytes 8\n",
			t, 2 * i + 1, t + 5, 2 * i + 1, t + 10, 2 * i + 2, t + 155, 2 * i + 2);
	}
	r = analyze(script, NULL);
	f = finding(r, "small-reads");
	assert_non_null(f);
	assert_string_equal(
		f->title, "keep small values on the GPU: no .item(), .cpu() or bool() in the loop");
	assert_null(strstr(f->note, "host ran code"));
	assert_true(f->host_code_ms == 0);
	assert_int_equal(r->devices[0].host_did[0].host, VPA_CAUSE_LAUNCH_RATE);
	vpa_report_free(r);
}

/* Memory that is freed after a wait, as by empty_cache(), is named: without the wait it may still hold the host. */
static void calls_after_a_wait_are_named(void **state)
{
	static char script[16384];
	const struct vpa_finding *f;
	struct vpa_report *r;
	size_t used, i;

	(void)state;
	used = (size_t)snprintf(script, sizeof(script), "start 1ms\n");
	for (i = 0; i < 5; i++) {
		size_t t = 1000 + i * 28020;

		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"call t1 cudaLaunchKernel %zuus+5us corr %zu\n"
			"kernel s7 %zuus+20000us corr %zu" GEMM
			"call t1 cudaDeviceSynchronize %zuus+20000us corr %zu\n"
			"call t1 cudaFree %zuus+8000us corr %zu\n",
			t, 3 * i + 1, t + 5, 3 * i + 1, t + 10, 3 * i + 2, t + 20015, 3 * i + 3);
	}
	r = analyze(script, NULL);
	f = finding(r, "sync-drain");
	assert_non_null(f);
	assert_string_equal(f->note,
		"all of it: cudaDeviceSynchronize; for 100 % of it the host was allocating or "
		"freeing memory, mostly in cudaFree");
	vpa_report_free(r);
}

/* ---- places ---- */

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
	r = analyze(script, NULL);
	f = finding(r, "small-reads");
	assert_non_null(f);
	assert_null(finding(r, "blocking-copy"));
	assert_string_equal(
		f->title, "keep small values on the GPU: no .item(), .cpu() or bool() in the loop");
	assert_string_equal(f->note, "all of it: cudaMemcpyAsync in self_attn; 5 copies of at most "
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
		r = analyze(script, NULL);
		if (!finding(r, copies[k].id))
			fail_msg("%s, %zu bytes: no %s", copies[k].copy, copies[k].bytes,
				copies[k].id);
		if (k == 0)
			assert_string_equal(finding(r, "small-reads")->note,
				"all of it: hipMemcpyWithStream; 5 copies of at most 64 bytes, "
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
	r = analyze(script, NULL);
	reads = finding(r, "small-reads");
	copies = finding(r, "blocking-copy");
	assert_non_null(reads);
	assert_non_null(copies);
	assert_string_equal(reads->note, "all of it: cudaMemcpyAsync in self_attn; 5 copies of at "
					 "most 64 bytes, 40 B in all");
	assert_string_equal(copies->note, "all of it: cudaMemcpyAsync in to_host; 5 copies through "
					  "pageable memory, 5.00 MB in "
					  "all");
	/* 5 times 300 - 101 us after a read, less 1 us of the next launch, and 1 us of its copy, which the
	 * finding about copies has as well; 4 times 300 - 150 us. */
	assert_true(reads->gain_at_most_ms == 1 && reads->gain_shared_ms == 0.01);
	assert_true(copies->gain_at_most_ms == 0.6 && copies->gain_shared_ms == 0.004);
	vpa_report_free(r);
}

/* Eighty places of sync, each with little: those beyond the table are added up, and never shown as one. */
static void sums_of_small_places_are_no_place(void **state)
{
	static char script[65536];
	struct vpa_report *r;
	size_t used, i, k;
	int sums = 0;

	(void)state;
	used = (size_t)snprintf(script, sizeof(script), "start 1ms\n");
	for (i = 0; i < 80; i++) {
		size_t t = 1000 + i * 100;

		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"range t1 %zuus+99us \"place %zu\"\n"
			"call t1 cudaLaunchKernel %zuus+1us corr %zu\n"
			"kernel s7 %zuus+10us corr %zu" GEMM
			"call t1 cudaStreamSynchronize %zuus+90us corr %zu\n",
			t, i, t, 2 * i + 1, t + 1, 2 * i + 1, t + 2, 2 * i + 2);
	}
	r = analyze(script, NULL);
	for (i = 0; i < r->devices[0].cause_count; i++)
		sums += vpa_is_sum(r->devices[0].causes[i].range);
	assert_true(sums > 0);
	for (i = 0; i < r->finding_count; i++)
		for (k = 0; k < r->findings[i].evidence_count; k++)
			assert_false(vpa_is_sum(r->findings[i].evidence[k]));
	expect_page("sums", r, "(other)", 0);
	vpa_report_free(r);
}

/* Six ranges that differ by their numbers, 400 us of host code in each: no place has half of it, all have. */
static void places_that_differ_by_a_number_are_told_together(void **state)
{
	static char script[8192];
	struct vpa_report *r;
	size_t used, i;

	(void)state;
	used = (size_t)snprintf(script, sizeof(script), "start 1ms\n");
	for (i = 0; i < 7; i++) {
		size_t t = 1000 + i * 500;

		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"call t1 cudaLaunchKernel %zuus+0us corr %zu\nkernel s7 %zuus+100us corr "
			"%zu" GEMM "range t1 %zuus+390us \"IO %zu\"\n",
			t, i + 1, t, i + 1, t + 105, i * 10);
	}
	r = analyze(script, NULL);
	expect_page("alike", r, "All of it: in IO 0 and 5 similar.", 1);
	assert_string_equal(finding(r, "host-stall")->note, "all of it in IO 0 and 5 similar");
	vpa_report_free(r);
}

static void a_place_before_a_range_is_before_it(void **state)
{
	/* The host was busy for 500 us; then "add_" began, and launched 1 us later. */
	struct vpa_report *r =
		analyze("start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
			"kernel s7 1000us-1010us corr 1" GEMM "range t1 1510us-1520us \"add_\"\n"
			"call t1 cudaLaunchKernel 1511us-1512us corr 2\n"
			"kernel s7 1513us-1600us corr 2" GEMM,
			NULL);

	(void)state;
	expect_page("before", r, "before add_", 1);
	expect_page("before", r, "in before", 0);
	vpa_report_free(r);
}

/* ---- gaps ---- */

/* 210 us: 100 in a cudaMalloc, 100 in host code, 10 on the way. */
static void a_gap_shows_each_cause_of_a_quarter(void **state)
{
	static const struct vpa_options options = {.min_gap_ns = 1};
	struct vpa_report *r = analyze("start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
				       "kernel s7 1000us-1100us corr 1" GEMM
				       "call t1 cudaMalloc 1100us-1200us corr 2\n"
				       "call t1 cudaLaunchKernel 1310us-1311us corr 3\n"
				       "kernel s7 1313us-1400us corr 3" GEMM,
		&options);

	(void)state;
	expect_page("headline", r, "G1 host code 110 us", 1);
	expect_page("another", r, "and allocation 100 us, cudaMalloc", 1);
	expect_page("a small one", r, "and launch latency", 0);
	vpa_report_free(r);
}

/* The sync held the host for 990 us, so the gap of 162 us is its: 100 in a cudaMalloc, 60 in a cudaFree. */
static void calls_that_a_sync_delayed_are_named(void **state)
{
	static const char sync[] = "start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
				   "kernel s7 1000us-2000us corr 1" GEMM
				   "call t1 cudaStreamSynchronize 1010us-2000us corr 2\n";
	static const char launch[] = "call t1 cudaLaunchKernel 2160us-2161us corr 5\n"
				     "kernel s7 2162us-2400us corr 5" GEMM;
	static const char *const calls[][2] = {{"call t1 cudaMalloc 2000us-2100us corr 3\n",
						       "160 us inside cudaMalloc and other calls:"},
		{"call t1 cudaFree 2000us-2100us corr 3\n", "160 us inside cudaFree:"}};
	struct vpa_report *r;
	char script[1024];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		snprintf(script, sizeof(script), "%s%scall t1 cudaFree 2100us-2160us corr 4\n%s",
			sync, calls[i][0], launch);
		r = analyze(script, NULL);
		expect_page("calls", r, calls[i][1], 1);
		vpa_report_free(r);
	}
}

static void what_the_host_did_before_the_first_work_is_told(void **state)
{
	struct vpa_report *r = analyze("start 1ms\nrange t1 1ms-9ms \"import\"\n"
				       "call t1 cudaMalloc 9000us-9300us corr 1\n"
				       "call t1 cudaLaunchKernel 9300us-9301us corr 2\n"
				       "kernel s7 9302us-9802us corr 2" GEMM,
		NULL);

	(void)state;
	expect_page("head", r,
		"no work for 8.30 ms before the first op: host code 8.00 ms in import", 1);
	vpa_report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_bounds_a_part_of_the_window_says_so),
		cmocka_unit_test(waiting_for_ranks_that_compute_hides_says_so),
		cmocka_unit_test(one_of_several_requests_is_named),
		cmocka_unit_test(a_device_is_limited_by_what_leads),
		cmocka_unit_test(findings_say_what_is_worth_it),
		cmocka_unit_test(a_gpu_that_mostly_waits_is_said_to),
		cmocka_unit_test(copies_hide_behind_the_compute_there_is),
		cmocka_unit_test(compute_beside_copies_hides_no_others),
		cmocka_unit_test(waiting_is_no_longer_than_the_communication_it_is_a_part_of),
		cmocka_unit_test(memsets_have_an_advice_of_their_own),
		cmocka_unit_test(time_of_missing_kernels_is_no_waste),
		cmocka_unit_test(long_gaps_inside_graphs_are_not_for_fusing),
		cmocka_unit_test(first_use_is_said_before_cuda_graphs),
		cmocka_unit_test(first_use_is_said_after_what_takes_longer),
		cmocka_unit_test(code_that_is_loaded_again_is_no_first_use),
		cmocka_unit_test(first_use_leaves_what_is_loaded_again),
		cmocka_unit_test(a_dependency_in_a_gap_is_on_no_stream_of_its_device),
		cmocka_unit_test(overhead_is_no_host_code),
		cmocka_unit_test(host_code_around_a_first_load_is_first_use),
		cmocka_unit_test(other_host_code_is_no_first_use),
		cmocka_unit_test(queued_work_that_starts_late_is_told_in_words),
		cmocka_unit_test(the_order_is_by_what_each_would_gain),
		cmocka_unit_test(a_gain_says_what_it_is_of_and_what_it_means),
		cmocka_unit_test(without_blocks_a_gain_is_of_the_mean_step),
		cmocka_unit_test(a_gain_outside_the_steps_is_of_the_active_time),
		cmocka_unit_test(a_gain_after_the_blocks_is_of_the_request),
		cmocka_unit_test(the_only_iteration_is_whole_with_what_the_host_does_first),
		cmocka_unit_test(steps_are_denoising_steps_only_where_something_says_so),
		cmocka_unit_test(result_says_of_which_request_it_is),
		cmocka_unit_test(a_name_that_does_not_fit_a_title_is_seen_to_be_cut),
		cmocka_unit_test(a_gap_after_a_wait_says_what_the_host_ran),
		cmocka_unit_test(the_only_step_has_no_rate),
		cmocka_unit_test(the_only_step_gains_what_lies_inside_it),
		cmocka_unit_test(what_the_host_does_first_is_part_of_the_only_request),
		cmocka_unit_test(code_after_a_wait_has_two_remedies),
		cmocka_unit_test(code_without_a_wait_has_its_own_finding),
		cmocka_unit_test(launches_after_a_wait_keep_its_remedy),
		cmocka_unit_test(calls_after_a_wait_are_named),
		cmocka_unit_test(small_values_read_back_are_named),
		cmocka_unit_test(a_read_of_unknown_memory_is_one_by_its_size),
		cmocka_unit_test(small_reads_and_large_copies_are_sold_apart),
		cmocka_unit_test(sums_of_small_places_are_no_place),
		cmocka_unit_test(places_that_differ_by_a_number_are_told_together),
		cmocka_unit_test(a_place_before_a_range_is_before_it),
		cmocka_unit_test(a_gap_shows_each_cause_of_a_quarter),
		cmocka_unit_test(calls_that_a_sync_delayed_are_named),
		cmocka_unit_test(what_the_host_did_before_the_first_work_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
