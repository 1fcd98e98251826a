/* test_host_did.c - what the host did while a device was idle, and where, on traces whose answer a
 * person can compute. */
#include "analysis/report/host_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/traces/findings_rig.h"

/* ---- the host's own code after a wait ---- */

/* The host waits 5 ms for a kernel and then works for 4 ms, or allocates: the gap of 4 ms counts to the wait. */
/* A kernel ends at 5 ms, a wait for it `late_us` later; then `code_us` of code, then `more`. */
static struct vpa_report *gap_in(
	const char *range, unsigned late_us, unsigned code_us, const char *more)
{
	unsigned t = 6000 + late_us;
	char script[1024];

	snprintf(script, sizeof(script),
		"start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		"kernel s7 1001us-6000us corr 1" GEMM
		"call t1 cudaStreamSynchronize 1002us-%uus corr 2\n"
		"range t1 %uus-%uus \"%s\"\n"
		"call t1 cudaLaunchKernel %uus-%uus corr 3\nkernel s7 %uus-20000us corr 3" GEMM
		"%s",
		t, t, t + code_us + 2, range, t + code_us, t + code_us + 1, t + code_us + 1, more);
	return vpt_script_report(script, NULL);
}

static struct vpa_report *gap_after_a_wait(unsigned late_us, unsigned code_us, const char *more)
{
	return gap_in("collate", late_us, code_us, more);
}

/* Code of 1 ms or longer is the host's own; shorter code counts to the wait that had held it. */
static void a_gap_after_a_wait_says_what_the_host_ran(void **state)
{
	struct vpa_report *r = gap_after_a_wait(1, 3999, "");

	(void)state;
	expect_page("long code", r,
		"G1 host code 4.00 ms, in collate 0.005000 4.00 ms or, for 4.00 ms: do not wait in "
		"cudaStreamSynchronize",
		1);
	vpa_report_free(r);
	/* The wait took 4.998 ms, so without it the rest of the code would have been there all the same. */
	r = gap_after_a_wait(1, 10999, "");
	assert_int_equal(r->gaps[0].pieces[1].ns, 10999000);
	assert_int_equal(r->gaps[0].pieces[1].instead_ns, 4998000);
	expect_page("longer code", r,
		"G1 host code 11.0 ms, in collate 0.005000 11.0 ms or, for 5.00 ms: do not wait in "
		"cudaStreamSynchronize",
		1);
	vpa_report_free(r);
	r = gap_after_a_wait(200, 900, "");
	expect_page("code", r,
		"G1 sync 1.10 ms, cudaStreamSynchronize 0.005000 1.10 ms of which host code 900 us "
		"in collate",
		1);
	vpa_report_free(r);
	r = gap_after_a_wait(10, 980, "");
	assert_int_equal(r->gaps[0].cause, VPA_CAUSE_SYNC);
	expect_page("nearly all is code", r,
		"G1 host code 980 us, in collate, then ampere_bf16...x64_nn 0.005000 991 us or: do "
		"not wait in cudaStreamSynchronize (counts as sync)",
		1);
	vpa_report_free(r);
	r = gap_after_a_wait(1, 3999, "call t1 cudaMalloc 6001us-9001us corr 4\n");
	expect_page("a call", r, "G1 allocation 3.00 ms, cudaMalloc in collate", 1);
	assert_int_equal(r->gaps[0].pieces[0].instead_ns, 0);
	vpa_report_free(r);
}

/* Of 4 ms of code 3 are in the range, or all but 0.3 ms, or all. */
static void a_place_that_does_not_cover_the_code_has_most_of_it(void **state)
{
	static const struct {
		unsigned range_us;
		int is_partly;
		const char *words;
	} cases[] = {{3000, 1, "G1 host code 4.00 ms, mostly in collate"},
		{3700, 0, "G1 host code 4.00 ms, in collate"},
		{4000, 0, "G1 host code 4.00 ms, in collate"}};
	struct vpa_report *r;
	char script[512];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(script, sizeof(script),
			"start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
			"kernel s7 1001us-6000us corr 1" GEMM
			"call t1 cudaStreamSynchronize 1002us-6000us corr 2\n"
			"range t1 6000us+%uus \"collate\"\n"
			"call t1 cudaLaunchKernel 10000us-10001us corr 3\n"
			"kernel s7 10001us-20000us corr 3" GEMM,
			cases[i].range_us);
		r = vpt_script_report(script, NULL);
		expect_page("a part", r, cases[i].words, 1);
		assert_int_equal(r->gaps[0].pieces[0].is_partly, cases[i].is_partly);
		vpa_report_free(r);
	}
}

/* A range may have a name that reports use for places of another kind. */
static void the_name_of_a_range_is_not_taken_apart(void **state)
{
	static const char *const names[] = {"before decode", "(other)", "before "};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct vpa_report *r = gap_in(names[i], 200, 900, "");
		struct vpa_host_code code = vpa_host_code_of(r, UINT32_MAX, NULL, 0);
		char words[80];

		assert_int_equal(code.place.kind, VPA_PLACE_IN);
		assert_string_equal(vpa_place_range(&code.place), names[i]);
		snprintf(words, sizeof(words), "of which host code 900 us in %s", names[i]);
		expect_page(names[i], r, words, 1);
		vpa_report_free(r);
	}
}

static void a_name_that_does_not_fit_a_title_is_seen_to_be_cut(void **state)
{
	const struct vpa_host_code code = {.ns = 1,
		.place = {VPA_PLACE_IN,
			"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__ of rank 3"},
		.place_ns = 1,
		.call = "cudaStreamSynchronize"};
	struct vpa_report r = {.device_count = 0};

	(void)state;
	assert_string_equal(vpa_host_code_title(&r, &code, 0),
		"the GPU idles while the host runs code in "
		"enumerate(DataLoader)#_MultiProcessingDa...er.__next__ of rank 3 after "
		"cudaStreamSynchronize: launch the next work first, or shorten that code");
	vpa_arena_free(&r.arena);
}

static void cause_says_what_the_host_did_after_the_wait(void **state)
{
	struct vpa_report *r =
		vpt_script_report("start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
				  "kernel s7 1001us-2000us corr 1" GEMM
				  "call t1 cudaStreamSynchronize 1002us-2001us corr 2\n"
				  "range t1 2001us-2902us \"collate\"\n"
				  "call t1 cudaLaunchKernel 2901us-2902us corr 3\n"
				  "kernel s7 2902us-3902us corr 3" GEMM,
			NULL);

	(void)state;
	expect_page("CAUSE", r,
		"For 901 us the host waited for the GPU, cudaStreamSynchronize. FIX FIRST", 1);
	expect_page("FIX FIRST", r,
		"for nearly all of it the call had returned, and the host ran its own code in "
		"collate",
		1);
	vpa_report_free(r);
}

/* Five blocks: a kernel of 20 ms; with `copies` a copy of 1 ms to pageable memory that the host waits for; then work on
 * what came of it. */
static struct vpa_report *blocks_with_work_after(int copies, size_t work_us)
{
	static char script[16384];
	size_t used, i;

	used = (size_t)snprintf(script, sizeof(script), "start 1ms\n");
	for (i = 0; i < 5; i++) {
		size_t t = 1000 + i * (21010 + work_us), done = copies ? t + 21005 : t + 20005;

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
			t + 21000 + work_us);
	}
	return vpt_script_report(script, NULL);
}

/* The host waits for a copy, then works for 1 ms on what it got: a copy that does not wait would not help, since the work needs
 * it. */
static void code_after_a_wait_has_two_remedies(void **state)
{
	struct vpa_report *r = blocks_with_work_after(1, 990);
	const struct vpa_finding *f = finding(r, "blocking-copy");

	(void)state;
	assert_non_null(f);
	assert_string_equal(f->title, "the GPU idles while the host runs code in post_process "
				      "after cudaMemcpyAsync: launch "
				      "the next work first, or shorten that code");
	/* Four gaps of 1 ms, of which 5 us are the next launch. */
	assert_string_equal(f->note,
		"all of this wait: cudaMemcpyAsync; 5 copies through pageable memory, 41.5 MB "
		"in all; for all of it the call had returned, and the host ran its own code "
		"in "
		"post_process");
	assert_true(f->host_code_ms == 4 * 0.995);
	assert_true(f->gain_at_most_ms == 4);
	assert_null(finding(r, "host-stall"));
	expect_page("findings", r, "of which host code in post_process", 1);
	vpa_report_free(r);
}

/* Work of 8 ms is the host's own; the copy is what it could do without instead. */
static void long_code_after_a_wait_is_its_own_cause(void **state)
{
	struct vpa_report *r = blocks_with_work_after(1, 8010);
	const struct vpa_finding *f = finding(r, "host-stall");

	(void)state;
	assert_non_null(f);
	assert_string_equal(f->title, "the launching thread works on results that were copied to "
				      "the host: do that in another thread");
	assert_string_equal(f->note, "all of this wait with the host in post_process; without the "
				     "wait in cudaMemcpyAsync all "
				     "of it would go too");
	assert_true(f->gain_at_most_ms == 4 * 8.015);
	assert_null(finding(r, "blocking-copy"));
	vpa_report_free(r);
}

/* The same work where the host waits for nothing is all there is to name. */
static void code_without_a_wait_has_its_own_finding(void **state)
{
	struct vpa_report *r = blocks_with_work_after(0, 8010);
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
	r = vpt_script_report(script, NULL);
	f = finding(r, "small-reads");
	assert_non_null(f);
	assert_string_equal(
		f->title, "keep small values on the GPU: no .item(), .cpu() or bool() in the loop");
	assert_null(strstr(f->note, "host ran its own code"));
	assert_true(f->host_code_ms == 0);
	assert_int_equal(r->devices[0].instead[0].host, VPA_CAUSE_LAUNCH_RATE);
	vpa_report_free(r);
}

/* Memory that is freed after a wait, as by empty_cache(), has the finding and the time: freeing waits itself. */
static void calls_after_a_wait_have_the_finding(void **state)
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
	r = vpt_script_report(script, NULL);
	assert_null(finding(r, "sync-drain"));
	f = finding(r, "allocation");
	assert_non_null(f);
	assert_string_equal(f->note, "all of this wait: cudaFree");
	expect_page("CAUSE", r, "the host allocated or freed memory, cudaFree.", 1);
	expect_page("FIX FIRST", r, "free no memory in the loop: empty_cache()", 1);
	expect_page("the gap", r, "allocation 8.00 ms, cudaFree", 1);
	vpa_report_free(r);
}

/* Of 2.6 ms 1.6 are the call's: neither they nor the wait's 1 ms are worth a line where 2 ms are. */
static void an_allocation_that_is_worth_no_line_keeps_its_time(void **state)
{
	struct vpa_report *r =
		vpt_script_report("start 1ms\ncall t1 cudaLaunchKernel 1000us+5us corr 1\n"
				  "kernel s7 1005us-51000us corr 1" GEMM
				  "call t1 cudaStreamSynchronize 1010us-51000us corr 2\n"
				  "call t1 cudaFree 51300us+1600us corr 3\n"
				  "call t1 cudaLaunchKernel 53595us+5us corr 4\n"
				  "kernel s7 53600us-101000us corr 4" GEMM,
			NULL);

	(void)state;
	assert_null(finding(r, "allocation"));
	assert_null(finding(r, "sync-drain"));
	assert_int_equal(r->devices[0].causes[0].cause, VPA_CAUSE_ALLOCATION);
	assert_int_equal(r->devices[0].causes[0].ns, 1600000);
	vpa_report_free(r);
}

/* Five blocks after each of which the host captures a graph in `runner`, then instantiates it: 8.2 ms in all, with launches that
 * are not work. */
static void a_graph_that_is_built_anew_has_the_finding(void **state)
{
	static char script[16384];
	const struct vpa_finding *f;
	struct vpa_report *r;
	size_t used, i, k;

	(void)state;
	used = (size_t)snprintf(script, sizeof(script), "start 1ms\n");
	for (i = 0; i < 5; i++) {
		size_t t = 1000 + i * 28220;

		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"call t1 cudaLaunchKernel %zuus+5us corr %zu\n"
			"kernel s7 %zuus+20000us corr %zu" GEMM
			"call t1 cudaStreamSynchronize %zuus+20000us corr %zu\n"
			"range t1 %zuus+8150us \"runner\"\n"
			"call t1 cudaStreamBeginCapture %zuus+5us corr %zu\n",
			t, 20 * i + 1, t + 5, 20 * i + 1, t + 10, 20 * i + 2, t + 20020, t + 20030,
			20 * i + 3);
		for (k = 0; k < 10; k++)
			used += (size_t)snprintf(script + used, sizeof(script) - used,
				"call t1 cudaLaunchKernel %zuus+5us corr %zu\n",
				t + 20100 + 700 * k, 20 * i + 4 + k);
		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"call t1 cudaStreamEndCapture %zuus+5us corr %zu\n"
			"call t1 cudaGraphInstantiate %zuus+1000us corr %zu\n",
			t + 27100, 20 * i + 15, t + 27110, 20 * i + 16);
	}
	r = vpt_script_report(script, NULL);
	assert_null(finding(r, "sync-drain"));
	f = finding(r, "graph-build");
	assert_non_null(f);
	assert_string_equal(f->where, "in runner");
	assert_int_equal(f->is_code, 0);
	expect_page("FIX FIRST", r, "build CUDA graphs once in runner", 1);
	expect_page("CAUSE", r,
		"the host waited for the GPU, cudaStreamSynchronize. For nearly all of it the GPU "
		"had finished, and the host built a CUDA graph, in runner.",
		1);
	expect_page("the gap", r, "mostly graph build in runner", 1);
	vpa_report_free(r);
}

/* ---- places ---- */

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
	r = vpt_script_report(script, NULL);
	for (i = 0; i < r->devices[0].cause_count; i++)
		sums += r->devices[0].causes[i].place.kind == VPA_PLACE_SEVERAL;
	assert_true(sums > 0);
	for (i = 0; i < r->finding_count; i++)
		for (k = 0; k < r->findings[i].evidence_count; k++)
			assert_string_not_equal(r->findings[i].evidence[k], VPA_SEVERAL_TEXT);
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
	r = vpt_script_report(script, NULL);
	expect_page("alike", r, "For 2.40 ms the host ran other code, in IO 0..50 (6 of them).", 1);
	assert_string_equal(finding(r, "host-stall")->note,
		"all of this wait with the host in IO 0..50 (6 of them)");
	vpa_report_free(r);
}

static void a_place_before_a_range_is_before_it(void **state)
{
	/* The host was busy for 500 us; then "add_" began, and launched 1 us later. */
	struct vpa_report *r = vpt_script_report(
		"start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
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
	struct vpa_report *r = vpt_script_report(
		"start 1ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		"kernel s7 1000us-1100us corr 1" GEMM "call t1 cudaMalloc 1100us-1200us corr 2\n"
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
	static const char *const calls[][2] = {
		{"call t1 cudaMalloc 2000us-2100us corr 3\n",
			"allocating or freeing memory, mostly in cudaMalloc"},
		{"call t1 cudaFree 2000us-2100us corr 3\n",
			"allocating or freeing memory, mostly in cudaFree"}};
	struct vpa_report *r;
	char script[1024];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		snprintf(script, sizeof(script), "%s%scall t1 cudaFree 2100us-2160us corr 4\n%s",
			sync, calls[i][0], launch);
		r = vpt_script_report(script, NULL);
		expect_page("calls", r, calls[i][1], 1);
		vpa_report_free(r);
	}
}

static void what_the_host_did_before_the_first_work_is_told(void **state)
{
	struct vpa_report *r = vpt_script_report("start 1ms\nrange t1 1ms-9ms \"import\"\n"
						 "call t1 cudaMalloc 9000us-9300us corr 1\n"
						 "call t1 cudaLaunchKernel 9300us-9301us corr 2\n"
						 "kernel s7 9302us-9802us corr 2" GEMM,
		NULL);

	(void)state;
	expect_page("head", r, "For 8.30 ms nothing had been launched yet, in import.", 1);
	vpa_report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_name_of_a_range_is_not_taken_apart),
		cmocka_unit_test(a_place_that_does_not_cover_the_code_has_most_of_it),
		cmocka_unit_test(a_name_that_does_not_fit_a_title_is_seen_to_be_cut),
		cmocka_unit_test(a_gap_after_a_wait_says_what_the_host_ran),
		cmocka_unit_test(cause_says_what_the_host_did_after_the_wait),
		cmocka_unit_test(code_after_a_wait_has_two_remedies),
		cmocka_unit_test(long_code_after_a_wait_is_its_own_cause),
		cmocka_unit_test(code_without_a_wait_has_its_own_finding),
		cmocka_unit_test(launches_after_a_wait_keep_its_remedy),
		cmocka_unit_test(calls_after_a_wait_have_the_finding),
		cmocka_unit_test(a_graph_that_is_built_anew_has_the_finding),
		cmocka_unit_test(an_allocation_that_is_worth_no_line_keeps_its_time),
		cmocka_unit_test(sums_of_small_places_are_no_place),
		cmocka_unit_test(places_that_differ_by_a_number_are_told_together),
		cmocka_unit_test(a_place_before_a_range_is_before_it),
		cmocka_unit_test(a_gap_shows_each_cause_of_a_quarter),
		cmocka_unit_test(calls_that_a_sync_delayed_are_named),
		cmocka_unit_test(what_the_host_did_before_the_first_work_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
