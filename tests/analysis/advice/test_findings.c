/* test_findings.c - which findings a trace has, what they advise and in which order, on traces
 * whose answer a person can compute. */
#include "formats/base/count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/traces/findings_rig.h"

#define SGEMM " \"ampere_sgemm_128x64_nn\"\n"
#define BF16  " \"ampere_bf16_s16816gemm_bf16_64x64_ldg8_f2f_stages_64x5_tn\"\n"

/* ---- findings in few words ---- */

/* An eager sequence of GEMMs of 30 and 20 us and a softmax of 50 us. */
#define EAGER_OF(gemm)                                                                             \
	"call t1 cudaLaunchKernel 1000us-1001us corr 1\nkernel s7 1001us-1031us corr 1" gemm       \
	"call t1 cudaLaunchKernel 1001us-1002us corr 2\nkernel s7 1031us-1081us corr 2" SOFTMAX    \
	"call t1 cudaLaunchKernel 1002us-1003us corr 3\nkernel s7 1081us-1101us corr 3" gemm
#define EAGER EAGER_OF(GEMM)

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
		"start 1ms\nend 1401us\n" EAGER_OF(
			SGEMM) "call t1 cudaLaunchKernel 1003us-1004us corr 4\nkernel s7 "
			       "1101us-1201us corr 4" SGEMM
			       "call t1 cudaLaunchKernel 1004us-1005us corr 5\n"
			       "kernel s7 1201us-1401us corr 5" BF16,
		"eager-attention 0.050-0.100 of 0.400 active, "
		"fp32-gemm 0.050-0.094 of 0.400 active"},
	{"waiting and transfer share the communication that nothing hides",
		"start 1ms\nend 2ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		"kernel s7 1001us-1401us corr 1" GEMM
		"call t1 cudaLaunchKernel 1001us-1002us corr 2\n"
		"kernel s7 1401us-1501us corr 2 grid 24" REDUCE "\n"
		"call t1 cudaLaunchKernel 1002us-1003us corr 3\n"
		"kernel s7 1501us-1801us corr 3 grid 24" REDUCE "\n"
		"call t1 cudaLaunchKernel 1003us-1004us corr 4\nkernel s7 1801us-2000us corr 4" ADD,
		"exposed-comm 0.200 of 0.999 active, peer-wait 0.200 of 0.999 active"},
	{"a group with a stream of its own may send less",
		"start 1ms\nend 2ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		"kernel s7 1001us-1401us corr 1" GEMM
		"call t1 cudaLaunchKernel 1001us-1002us corr 2\n"
		"kernel s8 1401us-1501us corr 2 grid 24" REDUCE "\n"
		"call t1 cudaLaunchKernel 1002us-1003us corr 3\n"
		"kernel s7 1501us-1801us corr 3 grid 24" REDUCE "\n"
		"call t1 cudaLaunchKernel 1003us-1004us corr 4\nkernel s7 1801us-2000us corr 4" ADD,
		"exposed-comm 0.400 of 0.999 active"},
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
		"launch-rate 0.004 (0.004 shared) of 0.200 active"},
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

		if (f->status == VPA_FINDING_INFO)
			continue;
		shared[0] = '\0';
		if (f->gain_shared_ms > 0)
			snprintf(shared, sizeof(shared), " (%.3f shared)", f->gain_shared_ms);
		used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
			vpa_finding_text(f->id));
		if (f->gain_from_ms > 0)
			used += (size_t)snprintf(text + used, size - used, " %.3f-%.3f of %.3f %s",
				f->gain_from_ms, f->gain_at_most_ms, f->base_ms,
				vpa_base_name(f->base));
		else if (f->gain_at_most_ms > 0)
			used += (size_t)snprintf(text + used, size - used, " %.3f%s of %.3f %s",
				f->gain_at_most_ms, shared, f->base_ms, vpa_base_name(f->base));
	}
}

static void findings_say_what_is_worth_it(void **state)
{
	char text[1024];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpa_report *r = vpt_script_report(cases[i].script, NULL);

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
	r = vpt_script_report(script, NULL);
	f = finding(r, "exposed-copy");
	assert_non_null(f);
	assert_non_null(strstr(f->note, "the GPU is busy only 8.8 % of its active time"));
	assert_int_equal(finding(r, "launch-rate") != NULL, 1);
	assert_int_equal(r->findings[0].id, VPA_FOUND_LAUNCH_RATE);
	vpa_report_free(r);
}

/* Of two launches, for which the host then waits, the second has no kernel; of three the same. */
static void time_of_missing_kernels_is_no_waste(void **state)
{
	struct vpa_report *r =
		vpt_script_report("start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
				  "kernel s7 1001us-2000us corr 1" GEMM
				  "call t1 cudaLaunchKernel 1001us-1002us corr 2\n"
				  "call t1 cudaDeviceSynchronize 1002us-4000us corr 3\n",
			NULL);

	(void)state;
	assert_int_equal(r->verdict.launches_lost, 1);
	assert_null(finding(r, "after-last-work"));
	vpa_report_free(r);
	r = vpt_script_report("start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
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
	r = vpt_script_report(script, NULL);
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
	r = vpt_script_report(script, &options);
	assert_int_equal(r->findings[0].id, VPA_FOUND_ATTENTION_GROWTH);
	assert_int_equal(r->findings[1].id, VPA_FOUND_SYNC_DRAIN);
	expect_page(
		"what it costs", r, "with a shorter window the model forgets earlier frames", 1);
	vpa_report_free(r);
}

/* 20 kernels of 100 us in a chain, which fused would leave 100 us: between nothing and 1.9 ms is saved, 0.95 at the middle. The same
 * code of the host three times between them is likely saved: 3 x 330 or 300 us. */
static void half_of_a_bound_is_likely(void **state)
{
	static const struct {
		unsigned code_us;
		enum vpa_finding_id first;
	} codes[] = {{330, VPA_FOUND_HOST_STALL}, {300, VPA_FOUND_UNFUSED_ELEMENTWISE}};
	static char script[16384];
	size_t k, i, n;

	(void)state;
	for (k = 0; k < COUNT(codes); k++) {
		size_t used = (size_t)snprintf(script, sizeof(script), "start 0\n"), corr = 0,
		       t = 1000;
		struct vpa_report *r;

		for (i = 0; i < 4; i++) {
			for (n = 0; n < 5; n++, corr++)
				used += (size_t)snprintf(script + used, sizeof(script) - used,
					"call t1 cudaLaunchKernel %zuus+1us corr %zu\n"
					"kernel s7 %zuus+100us corr %zu" ADD,
					t + n, corr + 1, t + 10 + 100 * n, corr + 1);
			t += 510 + codes[k].code_us;
		}
		r = vpt_script_report(script, NULL);
		assert_true(r->finding_count >= 2);
		if (r->findings[0].id != codes[k].first)
			fail_msg("%u us: first %s, likely %g of %g ms, then %g of %g",
				codes[k].code_us, vpa_finding_text(r->findings[0].id),
				r->findings[0].base_likely_ms, r->findings[0].base_gain_ms,
				r->findings[1].base_likely_ms, r->findings[1].base_gain_ms);
		vpa_report_free(r);
	}
}

/* ---- dependencies ---- */

/* The stream waits for an event behind the other stream's kernel, which ends as the gap begins: its own kernel starts 200 us later all
 * the same. Only if a second device works meanwhile, it may have waited for that. */
static void a_dependency_in_a_gap_is_on_no_stream_of_its_device(void **state)
{
	static char script[16384];
	size_t used, i, others;

	(void)state;
	for (others = 0; others < 2; others++) {
		struct vpa_report *r;

		used = (size_t)snprintf(script, sizeof(script), "start 1ms\n%s",
			others ? "call t2 cudaLaunchKernel 1ms+1us corr 99\n"
				 "kernel s1.7 1010us-7ms corr 99" GEMM
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
		r = vpt_script_report(script, NULL);
		assert_null(finding(r, "dependency")); /* the other device works all the time */
		assert_int_equal(r->devices[0].causes[0].cause,
			others ? VPA_CAUSE_DEPENDENCY : VPA_CAUSE_QUEUED);
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
	r = vpt_script_report(script, NULL);
	assert_true(finding(r, "host-stall")->gain_at_most_ms == 20 * 0.19);
	assert_true(finding(r, "module-load")->gain_at_most_ms == 20 * 0.03);
	vpa_report_free(r);
}

/* ---- what a wait is about ---- */

/* Twenty iterations: ten kernels of 500 us, launched each 600 us, then one of 5 ms that the host waits for; 250 us of code follow.
 * That code is nearly all of the wait's own time, but without the wait the host would be ahead of the slow launches too. */
static void a_wait_that_saves_more_than_the_code_after_it_is_no_code(void **state)
{
	static char script[65536];
	const struct vpa_finding *f;
	struct vpa_report *r;
	size_t used, i, k, corr = 0;

	(void)state;
	used = (size_t)snprintf(script, sizeof(script), "start 1ms\n");
	for (i = 0; i < 20; i++) {
		size_t t = 1000 + i * 11300;

		for (k = 0; k < 11; k++)
			used += (size_t)snprintf(script + used, sizeof(script) - used,
				"call t1 cudaLaunchKernel %zuus+5us corr %zu\n"
				"kernel s7 %zuus+%uus corr %zu" GEMM,
				t + k * 600, corr + k + 1, t + k * 600 + 5, k < 10 ? 500 : 5000,
				corr + k + 1);
		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"call t1 cudaStreamSynchronize %zuus+4999us corr %zu\n", t + 6006,
			corr + 12);
		corr += 12;
	}
	r = vpt_script_report(script, NULL);
	f = finding(r, "sync-drain");
	assert_non_null(f);
	assert_true(f->host_code_ms >= 19 * 0.24);
	assert_true(f->gain_at_most_ms >= 2 * f->host_code_ms);
	assert_int_equal(f->is_code, 0);
	assert_string_equal(f->title,
		"keep the host from waiting: no .item(), .cpu() or synchronise in the loop");
	vpa_report_free(r);
}

/* ---- waits for other threads ---- */

/* Ten kernels of 1 ms, after each 4 ms in a range with that name. */
static const char *advice_of_code_in(const char *name)
{
	static char script[16384], words[200];
	const struct vpa_finding *f;
	struct vpa_report *r;
	size_t used, i;

	used = (size_t)snprintf(script, sizeof(script), "start 1ms\n");
	for (i = 0; i < 10; i++) {
		size_t t = 1 + i * 5;

		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"call t1 cudaLaunchKernel %zums+0us corr %zu\n"
			"kernel s7 %zums+1ms corr %zu" GEMM "range t1 %zuus-%zuus \"%s\"\n",
			t, i + 1, t, i + 1, t * 1000 + 10, (t + 5) * 1000 - 10, name);
	}
	r = vpt_script_report(script, NULL);
	f = finding(r, "host-stall");
	assert_non_null(f);
	snprintf(words, sizeof(words), "%s, %s", f->words ? f->words : "-", f->title);
	vpa_report_free(r);
	return words;
}

static void what_loads_data_is_for_workers(void **state)
{
	(void)state;
	assert_non_null(strstr(
		advice_of_code_in("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"),
		"load data ahead: num_workers, "));
	assert_null(strstr(advice_of_code_in("enumerate(frames)"), "num_workers"));
}

static void code_that_waits_for_a_thread_is_that_threads(void **state)
{
	static const char *const waits[] = {"queue.put", "Queue.get", "frame_queue.put", "q.get",
		"Thread.join", "worker join", "lock.acquire", "threading::Event::wait",
		"Future.result()"};
	static const char *const codes[] = {"put", "cache.get", "os.path.join", "str.join",
		"wait_for_it_all", "await", "queue.putter", "postprocess", "unlock", "."};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(waits); i++)
		assert_string_equal(advice_of_code_in(waits[i]),
			"wait less for a thread, the host waits for another thread: shorten what "
			"that one does, or give it less");
	for (i = 0; i < COUNT(codes); i++)
		assert_string_equal(advice_of_code_in(codes[i]),
			"-, shorten or overlap the host code between launches");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(findings_say_what_is_worth_it),
		cmocka_unit_test(a_gpu_that_mostly_waits_is_said_to),
		cmocka_unit_test(time_of_missing_kernels_is_no_waste),
		cmocka_unit_test(long_gaps_inside_graphs_are_not_for_fusing),
		cmocka_unit_test(a_dependency_in_a_gap_is_on_no_stream_of_its_device),
		cmocka_unit_test(overhead_is_no_host_code),
		cmocka_unit_test(a_wait_that_saves_more_than_the_code_after_it_is_no_code),
		cmocka_unit_test(code_that_waits_for_a_thread_is_that_threads),
		cmocka_unit_test(what_loads_data_is_for_workers),
		cmocka_unit_test(the_order_is_by_what_each_would_gain),
		cmocka_unit_test(half_of_a_bound_is_likely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
