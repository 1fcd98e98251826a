/* test_expert.c - the checklist and the experts' tables, on traces whose figures a person can compute. */
#include "analysis/analyze.h"
#include "formats/base/count.h"
#include "formats/io/io.h"
#include "formats/base/memory.h"
#include "tests/support/traces/script.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct vpa_report *analyze(const char *script)
{
	static const struct vpa_options options = {.step_parts = 1};

	return vpt_script_report(script, &options);
}

static const struct vpa_check *check(const struct vpa_report *r, const char *id)
{
	size_t i;

	for (i = 0; i < r->expert.check_count; i++)
		if (!strcmp(r->expert.checks[i].id, id))
			return &r->expert.checks[i];
	fail_msg("there is no check %s", id);
	return NULL;
}

/* ---- the checklist ---- */

/* Three steps of 1 ms without a block: a launch, a kernel of 900 us that begins 5 us after it, a wait, and
 * the scheduler's kernel. */
#define STEP(ms, n)                                                                                \
	"range t1 " ms "000us-" ms "990us \"step " n "\"\n"                                        \
	"call t1 cudaLaunchKernel " ms "000us-" ms "002us corr " n "1\n"                           \
	"kernel s7 " ms "005us-" ms "905us corr " n "1 \"ampere_sgemm_128x64_nn\"\n"               \
	"range t1 " ms "906us-" ms "989us \"scheduler_step\"\n"                                    \
	"call t1 cudaLaunchKernel " ms "907us-" ms "909us corr " n "2\n"                           \
	"kernel s7 " ms "915us-" ms "985us corr " n "2 \"vectorized_elementwise_kernel\"\n"
/* 1,020 us between two steps, 999 of them in a call that waits. */
#define STEPS2_LATE                                                                                \
	STEP("1", "1")                                                                             \
	"call t1 cudaStreamSynchronize 1991us-2990us\n" STEP("3", "2")
/* Schedulers after forward passes, and an op after the last one. */
#define PASS(ms, n)                                                                                \
	"range t1 " ms "000us-" ms "904us \"transformer_forward\"\n"                               \
	"call t1 cudaLaunchKernel " ms "000us-" ms "002us corr " n "1\n"                           \
	"kernel s7 " ms "005us-" ms "905us corr " n "1 \"ampere_sgemm_128x64_nn\"\n"               \
	"range t1 " ms "906us-" ms "989us \"scheduler_step\"\n"                                    \
	"call t1 cudaLaunchKernel " ms "907us-" ms "909us corr " n "2\n"                           \
	"kernel s7 " ms "915us-" ms "985us corr " n "2 \"vectorized_elementwise_kernel\"\n"
#define MARKED                                                                                     \
	PASS("1", "1")                                                                             \
	PASS("2", "2")                                                                             \
	"range t1 4000us-4004us \"transformer_forward\"\n"                                         \
	"call t1 cudaLaunchKernel 4000us-4002us corr 31\nkernel s7 4005us-4905us "                 \
	"corr 31 \"k\"\n"
/* Two requests of two steps, and a copy of frames that the host waits for after each. */
#define REQUESTS2                                                                                  \
	"range t1 1999us-6500us \"pipeline_call\"\n" STEP("2", "1")                                \
		STEP("3", "2") "call t1 cudaMemcpy 4000us-6000us corr 90\n"                        \
			       "copy s7 DtoH device->pageable 5000us-5990us corr 90 bytes 4\n"     \
			       "range t1 6900us-11996us \"pipeline_call\"\n" STEP("7", "7") STEP(  \
				       "8", "8") "call t1 cudaMemcpy 9000us-11995us corr 91\n"     \
						 "copy s7 DtoH device->pageable 11000us-11998us "  \
						 "corr 91 bytes 4\n"
/* A launch of a graph of two nodes, 50 us apart. */
#define GRAPH(ms, n)                                                                               \
	"call t1 cudaGraphLaunch " ms "100us+20us corr " n "8\n"                                   \
	"kernel s7 " ms "126us+10us corr " n "8 \"first\" node 1\n"                                \
	"kernel s7 " ms "186us+10us corr " n "8 \"second\" node 2\n"
#define START  "start 1ms\ndevice 0 \"GPU\" cc 9.0 sms 132 memory 80GiB\n"
#define STEPS3 STEP("1", "1") STEP("2", "2") STEP("3", "3")

static const struct {
	const char *rule, *script, *id;
	enum vpa_check_status status;
	double value;
} checks[] = {
	/* One every 1,000 us, 970 us of which are busy. */
	{"busy from one step to the next", START STEPS3, "gpu-busy", VPA_CHECK_PASS, 0.97},
	/* 70 us of the 1,000 us from one step to the next. */
	{"the scheduler's ops", START STEPS3, "scheduler", VPA_CHECK_FAIL, 0.07},
	/* 907 to 915 and, of later steps, 0 to 5 us: medians of 5 5 8 8 8. */
	{"from a launch to its start", START STEPS3, "launch-to-start", VPA_CHECK_PASS, 8000},
	{"no blocking call", START STEPS3, "blocking-calls", VPA_CHECK_PASS, 0},
	{"nothing says what memory does", START STEPS3, "memory-flat", VPA_CHECK_UNKNOWN, -1},
	{"without steps nothing is a loop",
		START "call t1 cudaLaunchKernel 1000us-1002us corr 1\n"
		      "kernel s7 1005us-1905us corr 1 \"k\"\n",
		"blocking-calls", VPA_CHECK_UNKNOWN, -1},
	{"then busy is of the active time",
		START "call t1 cudaLaunchKernel 1000us-1002us corr 1\n"
		      "kernel s7 1005us-1905us corr 1 \"k\"\n",
		"gpu-busy", VPA_CHECK_PASS, 1},
	{"and without a gap no launch shows a latency",
		START "call t1 cudaLaunchKernel 1000us-1002us corr 1\n"
		      "kernel s7 1005us-1905us corr 1 \"k\"\n",
		"launch-to-start", VPA_CHECK_UNKNOWN, -1},
	/* The call takes 20 us, its first node begins 6 us later; the other nodes are not compared with it. */
	{"a launch of a graph is not judged as one of a kernel",
		START GRAPH("1", "1") GRAPH("2", "2"), "launch-to-start", VPA_CHECK_UNKNOWN, -1},
	{"nor counted with them", START STEPS3 GRAPH("4", "4") GRAPH("5", "5"), "launch-to-start",
		VPA_CHECK_PASS, 8000},
	/* The device is idle from 905 until the launch at 907, late because of the call. */
	{"a blocking call in the loop",
		START STEPS3 "call t1 cudaStreamSynchronize 1003us-1906us\n", "blocking-calls",
		VPA_CHECK_WARN, 2.0 / 2000},
	{"time between the steps is of the loop", START STEPS2_LATE, "gpu-busy", VPA_CHECK_FAIL,
		970.0 / 2000},
	{"and so is a wait in it", START STEPS2_LATE, "blocking-calls", VPA_CHECK_FAIL,
		999.0 / 2000},
	{"a wait between requests is not", START REQUESTS2, "blocking-calls", VPA_CHECK_PASS, 0},
	{"nor is their idle time", START REQUESTS2, "gpu-busy", VPA_CHECK_PASS, 0.97},
	{"the scheduler's ops of all requests in the time of all", START REQUESTS2, "scheduler",
		VPA_CHECK_FAIL, 0.07},
	/* From 1,005 to 2,005 us: the last forward pass is part of a step that never ends. */
	{"steps from mark to mark end with the last mark", START MARKED, "gpu-busy", VPA_CHECK_PASS,
		0.97},
	{"memory that grows by a tenth",
		START STEPS3
		"series mem device 0 unit \"B\" \"Memory used\"\ncounter mem 1000us 900\n"
		"counter mem 1980us 900\ncounter mem 3000us 1000\n",
		"memory-flat", VPA_CHECK_FAIL, 0.1},
	{"memory that shrinks is flat",
		START STEPS3
		"series mem device 0 unit \"B\" \"Memory used\"\ncounter mem 1000us 900\n"
		"counter mem 1980us 900\ncounter mem 3000us 800\n",
		"memory-flat", VPA_CHECK_PASS, 0},
	{"growth in the first step is none in the loop",
		START STEPS3
		"series mem device 0 unit \"B\" \"Memory used\"\ncounter mem 1000us 100\n"
		"counter mem 1980us 900\ncounter mem 3000us 900\n",
		"memory-flat", VPA_CHECK_PASS, 0},
	/* What was lost may have been a blocking call. */
	{"nothing passes in a lossy capture",
		START STEPS3 "loss all dropped 1500us-1501us count 5\n", "gpu-busy",
		VPA_CHECK_UNKNOWN, 0.97},
	{"nor a count of calls", START STEPS3 "loss all dropped 1500us-1501us count 5\n",
		"blocking-calls", VPA_CHECK_UNKNOWN, 0},
	{"what fails, fails there too", START STEPS3 "loss all dropped 1500us-1501us count 5\n",
		"scheduler", VPA_CHECK_FAIL, 0.07},
};

static void checks_are_judged(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(checks); i++) {
		struct vpa_report *r = analyze(checks[i].script);
		const struct vpa_check *c = check(r, checks[i].id);

		if (c->status != checks[i].status || c->value < checks[i].value - 1e-9 ||
			c->value > checks[i].value + 1e-9)
			fail_msg("%s: %s is %f, status %d, expected %f, %d (%s)", checks[i].rule,
				c->id, c->value, c->status, checks[i].value, checks[i].status,
				c->note ? c->note : "");
		vpa_report_free(r);
	}
}

/* ---- what a capture without a loop has instead ---- */

#define KERNEL(ms, n)                                                                              \
	"call t1 cudaLaunchKernel " ms "000us-" ms "002us corr " n "\n"                            \
	"kernel s7 " ms "005us-" ms "905us corr " n " \"k" n "\"\n"
#define INSIDE(name, ms, n) "range t1 " ms "000us-" ms "990us \"" name "\"\n" KERNEL(ms, n)

static const struct {
	const char *script, *note;
} without_loop[] = {
	{START KERNEL("1", "1"), "no blocks or steps are marked, and none can be inferred"},
	{START INSIDE("vae_decode", "1", "1"),
		"no blocks or steps are marked; where stages or requests are, no steps are "
		"inferred"},
};

static void a_loop_that_is_unknown_is_not_passed_over(void **state)
{
	static const char *const ids[] = {"blocking-calls", "scheduler", "memory-flat"};
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(without_loop); i++) {
		struct vpa_report *r = analyze(without_loop[i].script);

		for (k = 0; k < COUNT(ids); k++)
			assert_string_equal(check(r, ids[k])->note, without_loop[i].note);
		vpa_report_free(r);
	}
}

/* Between the first and the last op of a GPU nothing shows how long a launch takes: what was measured is said. */
static void a_latency_that_is_unknown_says_why(void **state)
{
	static const struct {
		const char *script, *note;
	} latencies[] = {
		{START KERNEL("1", "1"), "there is no gap between two ops"},
		/* The second call begins while the first kernel runs, and takes longer than it. */
		{START KERNEL("1", "1") "call t1 cudaLaunchKernel 1900us-1920us corr 2\n"
					"kernel s7 1921us-1930us corr 2 \"k\"\n",
			"no launch call is known to have begun in the gap that its op ended"},
		{START "kernel s7 1005us-1905us corr 1 \"k\"\n",
			"CUDA calls are not in the capture"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(latencies); i++) {
		struct vpa_report *r = analyze(latencies[i].script);

		assert_string_equal(check(r, "launch-to-start")->note, latencies[i].note);
		vpa_report_free(r);
	}
}

static void the_loop_counts_its_calls(void **state)
{
	struct vpa_report *r =
		analyze(START STEPS3 "call t1 cudaDeviceSynchronize 1003us-1905us\n"
				     "call t1 cudaDeviceSynchronize 4000us-4001us\n");
	const struct vpa_check_loop *l = &r->expert.loop;

	(void)state;
	assert_int_equal(l->kind, VPA_UNIT_STEP);
	assert_int_equal(l->count, 3);
	assert_int_equal(l->blocking_calls, 1); /* the other is after the last step */
	assert_int_equal(l->ops, 6);
	assert_int_equal(l->ops_count, 3);
	assert_int_equal(l->start_ns, 1000000);
	assert_int_equal(l->first_end_ns, 1990000);
	assert_int_equal(l->end_ns, 3990000);
	vpa_report_free(r);
}

static void calls_between_requests_are_not_in_the_loop(void **state)
{
	struct vpa_report *r =
		analyze(START REQUESTS2 "call t1 cudaStreamSynchronize 2986us-2990us\n");
	const struct vpa_check_loop *l = &r->expert.loop;

	(void)state;
	assert_int_equal(l->count, 4);
	assert_int_equal(l->blocking_calls, 1); /* both copies are after the last step */
	assert_int_equal(l->span_ns, 4 * 1000000);
	assert_int_equal(l->busy_ns, 2 * 970000);
	assert_int_equal(l->busy_ns + l->idle_ns, 2 * 1000000);
	vpa_report_free(r);
}

/* The first request began before the capture, so neither its steps nor its scheduler count. */
static void a_request_cut_off_is_not_in_the_loop(void **state)
{
	struct vpa_report *r = analyze(START "range t1 900us-1998us \"pipeline_call\"\n" STEP(
		"1", "3") "call t1 cudaStreamSynchronize 1986us-1990us\n" REQUESTS2);
	const struct vpa_check_loop *l = &r->expert.loop;
	double share = check(r, "scheduler")->value;

	(void)state;
	assert_int_equal(r->request_count, 2);
	assert_int_equal(l->count, 4);
	assert_int_equal(l->blocking_calls, 0);
	assert_int_equal(l->span_ns, 4 * 1000000);
	assert_true(share > 0.07 - 1e-9 && share < 0.07 + 1e-9);
	vpa_report_free(r);
}

/* ---- overlap ---- */

/* Compute 100-300 and 400-500, communication 200-350, a copy 250-450 and one at 600-620. */
static const char overlapping[] =
	"start 1us\nkernel s7 1100-1300 corr 1 \"ampere_sgemm_128x64_nn\"\n"
	"kernel s9 1200-1350 corr 2 \"ncclDevKernel_AllReduce_Sum_f32_RING_LL\"\n"
	"copy s8 HtoD pinned->device 1250-1450 corr 3 bytes 100\n"
	"kernel s7 1400-1500 corr 4 \"ampere_sgemm_128x64_nn\"\n"
	"memset s8 1600-1620 corr 5 bytes 16\n";

static void overlaps_sum_to_busy_time(void **state)
{
	struct vpa_report *r = analyze(overlapping);
	const struct vpa_overlap_row *o = r->expert.overlaps;
	uint64_t sum = 0;
	size_t i;

	(void)state;
	assert_int_equal(r->expert.overlap_count, 1);
	assert_int_equal(o->ns[VPA_OVERLAP_COMPUTE], 100 + 50); /* 100, 450 */
	assert_int_equal(o->ns[VPA_OVERLAP_COMM], 0);
	assert_int_equal(o->ns[VPA_OVERLAP_COPY], 50 + 20);                  /* 350, 600 */
	assert_int_equal(o->ns[VPA_OVERLAP_COMPUTE | VPA_OVERLAP_COMM], 50); /* 200 */
	assert_int_equal(o->ns[VPA_OVERLAP_COMPUTE | VPA_OVERLAP_COPY], 50); /* 400 */
	assert_int_equal(o->ns[VPA_OVERLAP_COMM | VPA_OVERLAP_COPY], 50);    /* 300 */
	assert_int_equal(o->ns[VPA_OVERLAPS - 1], 50);                       /* 250 */
	for (i = 0; i < VPA_OVERLAPS; i++)
		sum += o->ns[i];
	assert_int_equal(sum, r->devices[0].busy_ns);
	assert_int_equal(o->ns[2] + o->ns[6], r->devices[0].exposed_comm_ns);
	assert_int_equal(o->ns[4], r->devices[0].exposed_copy_ns);
	vpa_report_free(r);
}

static void streams_are_busy_for_the_union_of_their_ops(void **state)
{
	struct vpa_report *r =
		analyze("start 1us\nkernel s7 1100-1300 corr 1 \"a\"\n"
			"kernel s7 1200-1350 corr 2 \"b\"\n"
			"kernel s8 1250-1260 corr 3 \"a\"\n"
			"kernel s7 1400-1410 corr 4 \"a\"\nkernel s7 1420-1430 corr 5 \"a\"\n"
			"kernel s8 1500-1600 corr 6 \"a\"\n");
	const struct vpa_expert *e = &r->expert;

	(void)state;
	assert_int_equal(e->stream_count, 2);
	assert_int_equal(e->streams[0].stream, 7);
	assert_int_equal(e->streams[0].ops, 4);
	assert_int_equal(e->streams[0].busy_ns, 250 + 20);
	assert_int_equal(e->streams[1].stream, 8);
	assert_int_equal(e->streams[1].busy_ns, 10 + 100);
	vpa_report_free(r);
}

/* The same sums the slow way: what runs at each nanosecond. */
static uint32_t seed = 1;

static unsigned below(unsigned n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

enum { SPAN = 4000, RANDOM_OPS = 60 };

static void random_overlaps_equal_a_count_of_nanoseconds(void **state)
{
	static const char *const ops[] = {"kernel s%u %u-%u corr %u \"gemm\"\n",
		"kernel s%u %u-%u corr %u \"ncclDevKernel_AllReduce_Sum_f32_RING_LL\"\n",
		"copy s%u HtoD pinned->device %u-%u corr %u bytes 8\n"};
	static uint8_t kinds[SPAN], streams[3][SPAN];
	static char script[RANDOM_OPS * 128];
	unsigned round, i, at;

	(void)state;
	for (round = 0; round < 200; round++) {
		size_t used = (size_t)sprintf(script, "start 1\n");
		uint64_t ns[VPA_OVERLAPS] = {0}, busy[3] = {0};
		unsigned kind_limit = round % 4 ? 3 : 1, dense = round % 3 ? 200 : 30;
		struct vpa_report *r;

		memset(kinds, 0, sizeof(kinds));
		memset(streams, 0, sizeof(streams));
		for (i = 0; i < RANDOM_OPS; i++) {
			unsigned kind = below(kind_limit), stream = below(3);
			unsigned start = 10 + below(SPAN - 300), end = start + 1 + below(dense);

			used += (size_t)sprintf(
				script + used, ops[kind], stream + 7, start, end, i + 1);
			for (at = start; at < end; at++) {
				kinds[at] |= (uint8_t)(1u << kind);
				streams[stream][at] = 1;
			}
		}
		for (at = 0; at < SPAN; at++) {
			ns[kinds[at]] += kinds[at] != 0;
			for (i = 0; i < 3; i++)
				busy[i] += streams[i][at];
		}
		r = analyze(script);
		for (i = 1; i < VPA_OVERLAPS; i++)
			if (r->expert.overlaps[0].ns[i] != ns[i])
				fail_msg("round %u: overlap %u is %" PRIu64 ", expected %" PRIu64
					 "\n%s",
					round, i, r->expert.overlaps[0].ns[i], ns[i], script);
		for (i = 0; i < r->expert.stream_count; i++)
			assert_int_equal(r->expert.streams[i].busy_ns,
				busy[r->expert.streams[i].stream - 7]);
		vpa_report_free(r);
	}
}

/* ---- CUDA graphs ---- */

/* A graph of two nodes launched twice, and one of one node; a capture of 50 us with an instantiation
 * whose driver call is inside; a module. */
static const char graphs[] =
	"start 1ms\n"
	"call t1 cudaStreamBeginCapture 1000us-1001us\ncall t1 cudaStreamEndCapture 1049us-1050us\n"
	"call t1 cuGraphInstantiate 1052us-1058us\ncall t1 cudaGraphInstantiate 1051us-1060us\n"
	"call t1 cuModuleLoadData 1060us-1070us\n"
	"range t1 1090us-1400us \"denoise\"\n"
	"call t1 cudaGraphLaunch 1100us-1101us corr 1\n"
	"kernel s7 1110us-1120us corr 1 \"a\" node 5 grid 4\nkernel s7 1130us-1140us corr 1 \"b\" "
	"node 6\n"
	"call t1 cudaGraphLaunch 1200us-1201us corr 2\n"
	"kernel s7 1210us-1220us corr 2 \"a\" node 5 grid 4\nkernel s7 1230us-1250us corr 2 \"b\" "
	"node 6\n"
	"call t1 cudaGraphLaunch 1300us-1301us corr 3\n"
	"kernel s7 1310us-1320us corr 3 \"a\" node 5 grid 8\n";

static const struct vpa_setup_row *setup(const struct vpa_report *r, const char *call)
{
	size_t i;

	for (i = 0; i < r->expert.graphs.setup_count; i++)
		if (!strcmp(r->expert.graphs.setup[i].call, call))
			return &r->expert.graphs.setup[i];
	return NULL;
}

static void graphs_are_counted_by_their_nodes(void **state)
{
	struct vpa_report *r = analyze(graphs);
	const struct vpa_graphs *g = &r->expert.graphs;

	(void)state;
	assert_int_equal(g->launches, 3);
	assert_int_equal(g->nodes, 5);
	assert_int_equal(g->distinct, 2);
	assert_int_equal(g->rows[0].replays, 2);
	assert_int_equal(g->rows[0].nodes, 2);
	assert_int_equal(g->rows[0].total_ns, 30000 + 40000);
	assert_int_equal(g->rows[0].kernel_ns, 20000 + 30000);
	assert_string_equal(g->rows[0].place.text, "denoise");
	assert_string_equal(g->rows[0].kernel, "a");
	assert_int_equal(g->rows[1].replays, 1);
	vpa_report_free(r);
}

static void nested_setup_counts_once(void **state)
{
	struct vpa_report *r = analyze(graphs);

	(void)state;
	assert_int_equal(setup(r, "begin to end")->total_ns, 50000);
	assert_int_equal(setup(r, "cudaGraphInstantiate")->total_ns, 9000);
	assert_int_equal(setup(r, "cuModuleLoadData")->count, 1);
	assert_null(setup(r, "cuGraphInstantiate"));
	vpa_report_free(r);
}

/* Steps of two launches each, 20 us apart; the last one has another grid. Between them the device waits
 * for the host: after its kernel of 10 us for 10 us, of which 5 us in the call. */
#define SMALL(at, n, grid)                                                                         \
	"range t1 " at "00us-" at "39us \"step " n "\"\n"                                          \
	"call t1 cudaLaunchKernel " at "00us-" at "05us corr " n "1\n"                             \
	"kernel s7 " at "05us-" at "15us corr " n "1 \"a\" grid 4\n"                               \
	"call t1 cudaLaunchKernel " at "20us-" at "25us corr " n "2\n"                             \
	"kernel s7 " at "25us-" at "35us corr " n "2 \"b\" grid " grid "\n"

static void steps_that_repeat_could_be_graphs(void **state)
{
	struct vpa_report *r = analyze(
		"start 1ms\n" SMALL("10", "1", "8") SMALL("11", "2", "8") SMALL("12", "3", "9"));
	const struct vpa_repeats *p = &r->expert.graphs.repeats;

	(void)state;
	assert_int_equal(p->all_steps, 3);
	assert_int_equal(p->steps, 2);
	assert_int_equal(p->distinct, 1);
	assert_int_equal(p->ops, 4);
	/* Idle from the first op on: 10 us in each of 3 steps and 70 us between them, twice, all while
	 * the host launches; 4 of 6 ops repeat; a launch takes 5 us to start. */
	assert_int_equal(p->save_at_most_ns, (3 * 10 + 2 * 70) * 1000 * 4 / 6 - 2 * 5000);
	vpa_report_free(r);
}

static void compiled_regions_tell_recompiles(void **state)
{
	struct vpa_report *r =
		analyze("start 1ms\nrange t1 1001us-1002us \"Torch-Compiled Region: 0/0\"\n"
			"range t1 1003us-1004us \"Torch-Compiled Region: 0/1\"\n"
			"range t1 1005us-1006us \"Torch-Compiled Region: 0/1\"\n"
			"range t1 1007us-1017us \"entire_frame_compile (dynamo_timed)\"\n"
			"range t1 1008us-1010us \"_compile.compile_inner (dynamo_timed)\"\n"
			"kernel s7 1110us-1120us corr 1 \"a\"\n");
	const struct vpa_graphs *g = &r->expert.graphs;

	(void)state;
	assert_int_equal(g->compiled_regions, 2);
	assert_int_equal(g->recompiles, 1);
	assert_int_equal(g->compiler_ranges, 1);
	assert_int_equal(g->compiler_ns, 10000);
	vpa_report_free(r);
}

/* ---- formats ---- */

static void misfits_are_found_by_name(void **state)
{
	static const struct {
		const char *id;
		uint64_t calls, ns;
	} wanted[] = {{"align1-gemm", 2, 300}, {"fp32-gemm", 1, 150}, {"layout-copy", 1, 50}};
	struct vpa_report *r = analyze(
		"start 1us\n"
		"kernel s7 1100-1300 corr 1 "
		"\"cutlass_80_tensorop_bf16_s16816gemm_bf16_64x64_nn_align1\"\n"
		"kernel s7 1300-1400 corr 2 "
		"\"cutlass_80_tensorop_bf16_s16816gemm_bf16_64x64_nn_align1\"\n"
		"kernel s7 1400-1550 corr 3 \"ampere_sgemm_128x64_nn\"\n"
		"kernel s7 1550-1600 corr 4 \"void cudnn::ops::nchwToNhwcKernel<float>(int)\"\n"
		"kernel s7 1600-1900 corr 5 "
		"\"cutlass_80_tensorop_bf16_s16816gemm_bf16_64x64_nn_align16\"\n");
	size_t i;

	(void)state;
	assert_int_equal(r->expert.misfit_count, COUNT(wanted));
	for (i = 0; i < COUNT(wanted); i++) {
		assert_string_equal(r->expert.misfits[i].id, wanted[i].id);
		assert_int_equal(r->expert.misfits[i].calls, wanted[i].calls);
		assert_int_equal(r->expert.misfits[i].exclusive_ns, wanted[i].ns);
	}
	vpa_report_free(r);
	/* What libraries fall back to: cuDNN's plain kernels count beside others with tensor cores. */
	r = analyze("start 1us\n"
		    "kernel s7 1100-1900 corr 1 "
		    "\"naive_conv_ab_nonpacked_fwd_ncdhw_ushort_double_ushort\"\n"
		    "kernel s7 1900-2300 corr 2 "
		    "\"Cijk_Ailk_Bljk_HB_MT64x64x16_SE_1LDSB0_ISA000_K1\"\n"
		    "kernel s7 2300-2500 corr 3 "
		    "\"void implicit_convolve_sgemm<__half, __half, 1024, 5, 5, 3>(int)\"\n"
		    "kernel s7 2500-2600 corr 4 \"Cijk_Ailk_Bljk_HB_MT64x64x16_SE_ISA90a_K1\"\n"
		    "kernel s7 2600-2700 corr 5 "
		    "\"sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc\"\n");
	assert_int_equal(r->expert.misfit_count, 3);
	assert_string_equal(r->expert.misfits[0].id, "naive-conv");
	assert_int_equal(r->expert.misfits[0].exclusive_ns, 800);
	assert_string_equal(r->expert.misfits[1].id, "fallback-gemm");
	assert_int_equal(r->expert.misfits[1].exclusive_ns, 400);
	assert_string_equal(r->expert.misfits[2].id, "plain-conv");
	assert_int_equal(r->expert.misfits[2].exclusive_ns, 200);
	vpa_report_free(r);
	r = analyze("start 1us\nkernel s7 2300-2500 corr 3 "
		    "\"void implicit_convolve_sgemm<float, float, 1024, 5, 5, 3>(int)\"\n");
	assert_int_equal(r->expert.misfit_count, 0);
	vpa_report_free(r);
	/* FP32 throughout is a choice, not a misfit. */
	r = analyze("start 1us\nkernel s7 1400-1550 corr 3 \"ampere_sgemm_128x64_nn\"\n");
	assert_int_equal(r->expert.misfit_count, 0);
	vpa_report_free(r);
}

#define COPY_KERNEL                                                                                \
	"\"void at::native::elementwise_kernel<128, 4, "                                           \
	"at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)>(int)\"\n"
#define IN_OPERATOR(from, to, name) "range t1 " from "-" to " \"" name "\" domain cpu_op\n"
#define LAUNCHED(at, from, to, corr)                                                               \
	"call t1 cudaLaunchKernel " at "-" at " corr " corr "\nkernel s7 " from "-" to             \
	" corr " corr " "

/* Copies of 100, 200, 400 and 800 ns: in a convolution, in one as a cast, outside all, and again in one. */
static void copies_that_convolutions_make_are_found_by_their_operators(void **state)
{
	struct vpa_report *r = analyze("start 1us\n" IN_OPERATOR(
		"1000", "1100", "aten::conv2d") IN_OPERATOR("1010", "1090",
		"aten::cudnn_convolution") IN_OPERATOR("1020", "1040",
		"aten::contiguous") IN_OPERATOR("1025", "1035", "aten::copy_") LAUNCHED("1030",
		"2000", "2100", "1") COPY_KERNEL IN_OPERATOR("1050", "1080",
		"aten::to") LAUNCHED("1060", "2100", "2300", "2") COPY_KERNEL LAUNCHED("1085",
		"2300", "3300", "3") "\"sm90_xmma_fprop_implicit_gemm_bf16\"\n" IN_OPERATOR("1200",
		"1300", "aten::contiguous") LAUNCHED("1210", "3300", "3700", "4")
			COPY_KERNEL IN_OPERATOR("1400", "1500", "aten::conv3d")
				IN_OPERATOR("1410", "1490", "aten::contiguous")
					LAUNCHED("1420", "3700", "4500", "5") COPY_KERNEL);
	const struct vpa_misfit_row *m = r->expert.misfits;

	(void)state;
	assert_int_equal(r->expert.misfit_count, 1);
	assert_string_equal(m->id, "pytorch-layout-copy");
	assert_int_equal(m->calls, 2);
	assert_int_equal(m->total_ns, 900);
	assert_int_equal(m->exclusive_ns, 900);
	assert_non_null(strstr(m->kernel, "direct_copy_kernel_cuda"));
	assert_true(
		m->share_of_busy > 900.0 / 2500 - 1e-9 && m->share_of_busy < 900.0 / 2500 + 1e-9);
	vpa_report_free(r);
	/* Without ranges nothing tells. */
	r = analyze("start 1us\n" LAUNCHED("1030", "2000", "2100", "1") COPY_KERNEL);
	assert_int_equal(r->expert.misfit_count, 0);
	vpa_report_free(r);
}

/* ---- what stages are made of ---- */

#define FLASH                                                                                      \
	"\"void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, "          \
	"cutlass::bfloat16_t>>(Flash_fwd_params)\""

/* A step with a product of 100 ns and, at its end, the VAE's convolution from 1300 on, of which 50 ns run
 * at the same time as the step's last kernel on another stream; and a memset outside. */
static const char stages[] =
	"start 1us\n"
	"range t1 1000-1200 \"step 1\"\nrange t1 1010-1040 \"blocks.0.self_attn\"\n"
	"range t1 1050-1080 \"blocks.0.cross_attn\"\nrange t1 1210-1260 \"vae_decode\"\n"
	"call t1 cudaLaunchKernel 1001-1005 corr 1\nkernel s7 1010-1110 corr 1 "
	"\"ampere_sgemm_128x64_nn\"\n"
	"call t1 cudaLaunchKernel 1011-1015 corr 2\nkernel s7 1110-1170 corr 2 grid 64 " FLASH "\n"
	"call t1 cudaLaunchKernel 1051-1055 corr 3\nkernel s7 1170-1190 corr 3 grid 64 " FLASH "\n"
	"call t1 cudaLaunchKernel 1101-1105 corr 4\nkernel s7 1250-1350 corr 4 "
	"\"ampere_sgemm_128x64_nn\"\n"
	"call t1 cudaLaunchKernel 1211-1215 corr 5\n"
	"kernel s8 1300-1400 corr 5 "
	"\"sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc\"\n"
	"call t1 cudaMemsetAsync 1300-1305 corr 6\nmemset s7 1500-1510 corr 6 bytes 4\n";

static void stages_are_made_of_families(void **state)
{
	static const struct {
		const char *stage, *family;
		uint64_t ns, stage_ns, tensor_ns;
	} wanted[] = {
		{"denoise step", "gemm", 100 + 50 + 25, 255, 0},
		{"denoise step", "attention", 60 + 20, 255, 60 + 20},
		{"vae_decode", "conv", 25 + 50, 75, 25 + 50},
		{"outside all stages", "memset", 10, 10, 0},
	};
	struct vpa_report *r = analyze(stages);
	uint64_t sum = 0;
	size_t i;

	(void)state;
	assert_int_equal(r->expert.stage_family_count, COUNT(wanted));
	for (i = 0; i < COUNT(wanted); i++) {
		const struct vpa_stage_family_row *f = &r->expert.stage_families[i];

		assert_string_equal(f->stage, wanted[i].stage);
		assert_string_equal(vpa_family_name(f->family), wanted[i].family);
		assert_int_equal(f->exclusive_ns, wanted[i].ns);
		assert_int_equal(f->stage_ns, wanted[i].stage_ns);
		assert_int_equal(f->tensor_ns, wanted[i].tensor_ns);
		sum += f->exclusive_ns;
	}
	assert_int_equal(sum, r->devices[0].busy_ns);
	vpa_report_free(r);
}

static void ranges_tell_self_from_cross_attention(void **state)
{
	struct vpa_report *r = analyze(stages);
	const struct vpa_attention_shape *s = r->expert.shapes;

	(void)state;
	assert_int_equal(r->expert.shapes_used, 2);
	assert_int_equal(s[0].kind, VPA_ATTENTION_SELF);
	assert_int_equal(s[0].total_ns, 60);
	assert_int_equal(s[1].kind, VPA_ATTENTION_CROSS);
	assert_int_equal(s[1].total_ns, 20);
	assert_int_equal(s[1].blocks, 64);
	vpa_report_free(r);
	r = analyze("start 1us\nrange t1 1000-1100 \"attention\"\n"
		    "call t1 cudaLaunchKernel 1001-1005 corr 1\nkernel s7 1010-1110 corr 1 grid "
		    "8 " FLASH "\ncall t1 cudaLaunchKernel 1006-1009 corr 2\nkernel s7 1110-1150 "
		    "corr 2 grid 8 " FLASH "\n");
	assert_int_equal(r->expert.shapes_used, 1);
	assert_int_equal(r->expert.shapes[0].kind, VPA_ATTENTION_UNKNOWN);
	assert_int_equal(r->expert.shapes[0].min_ns, 40);
	assert_int_equal(r->expert.shapes[0].max_ns, 100);
	vpa_report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checks_are_judged),
		cmocka_unit_test(a_request_cut_off_is_not_in_the_loop),
		cmocka_unit_test(calls_between_requests_are_not_in_the_loop),
		cmocka_unit_test(a_loop_that_is_unknown_is_not_passed_over),
		cmocka_unit_test(a_latency_that_is_unknown_says_why),
		cmocka_unit_test(the_loop_counts_its_calls),
		cmocka_unit_test(overlaps_sum_to_busy_time),
		cmocka_unit_test(streams_are_busy_for_the_union_of_their_ops),
		cmocka_unit_test(random_overlaps_equal_a_count_of_nanoseconds),
		cmocka_unit_test(graphs_are_counted_by_their_nodes),
		cmocka_unit_test(nested_setup_counts_once),
		cmocka_unit_test(steps_that_repeat_could_be_graphs),
		cmocka_unit_test(compiled_regions_tell_recompiles),
		cmocka_unit_test(misfits_are_found_by_name),
		cmocka_unit_test(copies_that_convolutions_make_are_found_by_their_operators),
		cmocka_unit_test(stages_are_made_of_families),
		cmocka_unit_test(ranges_tell_self_from_cross_attention),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
